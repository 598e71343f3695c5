//! Programs with std for AMD's GPUs: compiled, linked and taken apart again. There is no such GPU here, so nothing of
//! it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hostcall_build::{AMDGPU_ARCHES, DeviceToolchain, ImageKind, ProgramBundle};
use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{LittleEndian, elf};

/// `EF_AMDGPU_MACH` in the flags of the ELF file, and lanes of a wave (LLVM's AMDGPUUsage, "ELF header").
fn processor(arch: &str) -> (u32, &'static str) {
    match arch {
        "gfx90a" => (0x3f, "64"),
        "gfx942" => (0x4c, "64"),
        "gfx950" => (0x4f, "64"),
        "gfx1100" => (0x41, "32"),
        "gfx1200" => (0x48, "32"),
        _ => panic!("{arch}: no test knows it"),
    }
}

/// The toolchain, unless there is none; says why then.
fn toolchain() -> Option<DeviceToolchain> {
    DeviceToolchain::find().inspect_err(|error| println!("not run: {error}")).ok()
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// `cargo hostcall build` in `dir`; the code object for each architecture.
fn build(dir: &Path, package: &str, arches: &[&str]) -> Vec<(String, Vec<u8>)> {
    let left = tempfile::tempdir().expect("a directory");
    let targets: Vec<String> = arches.iter().map(|arch| format!("amdgpu:{arch}")).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", "build", "-q", "--release", "--package", package, "--for", &targets.join(","), "--output"]);
    output(command.arg(left.path()).current_dir(dir).env_remove("CARGO_TARGET_DIR"));
    let bytes = fs::read(left.path().join(format!("{package}.program"))).expect("it was left there");
    let bundle = ProgramBundle::from_bytes(&bytes).expect("a bundle");
    let images: Vec<_> = bundle.images.into_iter().map(|image| (image.kind, image.arch.to_string(), image.bytes.to_vec())).collect();
    assert!(images.iter().all(|(kind, ..)| *kind == ImageKind::AmdCodeObject));
    let images: Vec<_> = images.into_iter().map(|(_, arch, bytes)| (arch, bytes)).collect();
    assert_eq!(images.iter().map(|(arch, _)| &**arch).collect::<Vec<_>>(), arches);
    images
}

/// Looks at all that a loader would.
fn inspect(toolchain: &DeviceToolchain, arch: &str, code: &[u8], words: &[&str]) {
    let (mach, lanes) = processor(arch);
    let header = FileHeader64::<LittleEndian>::parse(code).expect("ELF");
    let endian = header.endian().expect("little");
    // `EI_ABIVERSION` of code object version 5 is 3.
    assert_eq!((header.e_machine(endian), header.e_ident().abi_version, header.e_flags(endian).0 & 0xff), (EM_AMDGPU, 3, mach), "{arch}");
    let sections = header.sections(endian, code).expect("sections");
    let symbols = sections.symbols(endian, code, elf::SHT_DYNSYM).expect("symbols");
    let name = |symbol: &<FileHeader64<LittleEndian> as FileHeader>::Sym| {
        String::from_utf8_lossy(symbol.name(endian, symbols.strings()).expect("a name")).into_owned()
    };
    // The first is the empty one that every table begins with.
    let undefined: Vec<String> = symbols.iter().skip(1).filter(|symbol| symbol.is_undefined(endian)).map(name).collect();
    assert!(undefined.is_empty(), "{arch}: nobody defines {undefined:?}");
    let defined: Vec<String> = symbols.iter().filter(|symbol| !symbol.is_undefined(endian)).map(name).collect();
    // The last two: where the host says where threads' stacks are, and that nobody can tell how much of its own memory
    // a lane needs.
    let always =
        ["hostcall_std", "hostcall_std.kd", "__hostcall_device", "__hostcall_abi", "__hostcall_stacks", "__HOSTCALL_STACK__hostcall_std"];
    for word in always.iter().chain(words) {
        assert!(defined.iter().any(|name| name == word), "{arch}: {word} not in {defined:?}");
    }
    let text = sections.section_by_name(endian, b".text").expect("code").1.sh_size(endian);
    assert!(text > 100_000, "{arch}: {text} bytes of code are no program with std");

    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("image.co");
    fs::write(&file, code).expect("written");
    let tool = |name: &str, arguments: &[&str]| output(Command::new(toolchain.llvm_bin.join(name)).args(arguments).arg(&file));
    let notes = tool("llvm-readobj", &["--notes"]);
    for (key, value) in [
        ("amdhsa.target", &*format!("amdgcn-amd-amdhsa--{arch}")),
        (".name", "hostcall_std"),
        (".symbol", "hostcall_std.kd"),
        (".wavefront_size", lanes),
        // A thread's two words about its stack, and the one about the lane's own memory.
        (".group_segment_fixed_size", "24"),
    ] {
        let found = notes
            .lines()
            .any(|line| line.trim_start_matches([' ', '-']).split_once(':').is_some_and(|(k, v)| k == key && v.trim() == value));
        assert!(found, "{arch}: no `{key}: {value}` in {notes}");
    }
    let disassembly = tool("llvm-objdump", &["--disassemble"]);
    let kernel = disassembly.split_once("<hostcall_std>:\n").expect("the kernel").1;
    let kernel = kernel.split("\n\n").next().unwrap_or(kernel);
    assert!(kernel.contains("s_endpgm"), "{arch}: {kernel}");
    // std's main is in another function, or here: something calls what is not in the kernel itself.
    assert!(disassembly.contains("s_swappc_b64"), "{arch}");
    let unknown: Vec<&str> =
        disassembly.lines().filter(|line| line.contains("<unknown>") || line.trim_start().starts_with(".long")).collect();
    assert!(unknown.is_empty(), "{arch}: no instructions of it are {unknown:?}");
}

/// Architectures for which std is built: one of waves of 64 lanes and one of 32, because each takes minutes, or all.
fn arches() -> Vec<&'static str> {
    if std::env::var_os("HOSTCALL_TEST_ALL").is_some() {
        return AMDGPU_ARCHES.to_vec();
    }
    let (some, others): (Vec<_>, Vec<_>) = AMDGPU_ARCHES.into_iter().partition(|arch| ["gfx90a", "gfx1100"].contains(arch));
    println!("not run: {}; HOSTCALL_TEST_ALL=1 builds std for them too", others.join(", "));
    some
}

#[test]
fn hello_becomes_a_code_object_for_amd_architectures() {
    let Some(toolchain) = toolchain() else { return };
    let programs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    for (arch, code) in build(&programs, "hello", &arches()) {
        inspect(&toolchain, &arch, &code, &["__HOSTCALL__StdSystem__write"]);
    }
}

/// rustc's list of such statics is one that nothing reads back; see `REPAIR` in `hostcall-build`.
#[test]
fn statics_that_are_marked_used_are_linked() {
    let Some(toolchain) = toolchain() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let file = dir.path().join(name);
        fs::create_dir_all(file.parent().expect("it has one")).expect("made");
        fs::write(file, text).expect("written");
    };
    write("Cargo.toml", "[package]\nname = \"sample\"\nedition = \"2024\"\n[workspace]\n[profile.release]\ncodegen-units = 4\n");
    // In two modules, which are two units.
    write(
        "src/one.rs",
        "#[used] #[unsafe(no_mangle)] pub static __hostcall_one: [u32; 2] = [1, 2];\npub fn f(n: usize) -> u32 { __hostcall_one[n] }",
    );
    write(
        "src/two.rs",
        "#[used] #[unsafe(no_mangle)] pub static __hostcall_two: u64 = 3;\npub fn f(n: usize) -> u64 { __hostcall_two << n }",
    );
    write("src/main.rs", "mod one; mod two; fn main() { let n = std::env::args().count(); println!(\"{} {}\", one::f(n), two::f(n)) }");
    for (arch, code) in build(dir.path(), "sample", &AMDGPU_ARCHES[..1]) {
        inspect(&toolchain, &arch, &code, &["__hostcall_one", "__hostcall_two"]);
    }
}
