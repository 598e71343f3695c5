//! What a launch must bring for a kernel on each AMD target, as its code object says: arguments, memory of the
//! workgroup, stack; and what a loader must know: version, target, no relocations to what is elsewhere.

use std::path::Path;
use std::process::Command;

use hostcall_build::{AMDGPU_ARCHES, AMDGPU_GENERIC, DeviceToolchain, ProgramSpec, Target, build_program};
use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::FileHeader;
use object::{LittleEndian, Object, ObjectSymbol, ObjectSymbolTable};

/// Stack that the fixture's kernel may say it needs. It grows with what a call writes about its failure.
const STACK: u64 = 4096;

/// "Relocation Records" in LLVM's user guide for AMDGPU.
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_RELATIVE64: u32 = 13;

/// The kernels of the fixture, and whether nobody can tell how much stack each needs: it calls itself, or through a
/// pointer (what formats errors does).
const KERNELS: [(&str, bool); 3] = [("demo", true), ("leaf", false), ("recursive", true)];

/// A key of one kernel's metadata.
fn value<'a>(kernel: &'a str, key: &str) -> &'a str {
    let line = kernel.lines().find_map(|line| line.trim_start_matches([' ', '-']).strip_prefix(key)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {key} in {kernel}")).trim()
}

fn number(kernel: &str, key: &str) -> u64 {
    value(kernel, key).parse().unwrap_or_else(|_| panic!("{key} in {kernel}"))
}

fn inspect(toolchain: &DeviceToolchain, arch: &str, version: u8) {
    let mut spec = ProgramSpec::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/calls"));
    spec.targets = vec![Target::Amdgpu { arch: arch.into() }];
    // Where the other tests build it.
    spec.target_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostcall-calls"));
    let image = build_program(&spec).unwrap_or_else(|error| panic!("{arch}: {error}")).bundle.images.remove(0);

    let header = FileHeader64::<LittleEndian>::parse(&*image.bytes).expect("ELF");
    // `EI_ABIVERSION` of code object version 5 is 3, of version 6 it is 4.
    assert_eq!((header.e_machine(LittleEndian), header.e_ident().abi_version), (EM_AMDGPU, version), "{arch}");
    let file = object::File::parse(&*image.bytes).expect("an object file");
    // A loader adds where it put the image to some words of it, and the addresses of the image's own symbols; it looks
    // for no other.
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let object::RelocationFlags::Elf { r_type } = relocation.flags() else { panic!("{arch}: {relocation:?}") };
        match (r_type.0, relocation.target()) {
            (R_AMDGPU_RELATIVE64, _) => {}
            (R_AMDGPU_ABS64, object::RelocationTarget::Symbol(index)) => {
                let table = file.dynamic_symbol_table().expect("an image has one");
                let symbol = table.symbol_by_index(index).expect("in the table");
                assert!(symbol.is_definition(), "{arch}, at {at:#x}: {:?} is in no image", symbol.name());
            }
            _ => panic!("{arch}, at {at:#x}: {relocation:?}"),
        }
    }
    let symbols: Vec<String> = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    for (kernel, unbounded) in KERNELS {
        assert_eq!(symbols.contains(&format!("__HOSTCALL_STACK__{kernel}")), unbounded, "{arch}, {kernel}: {symbols:?}");
    }

    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("image.co");
    std::fs::write(&path, &image.bytes).expect("written");
    let notes = Command::new(toolchain.llvm_bin.join("llvm-readobj")).arg("--notes").arg(&path).output().expect("it runs");
    let notes = String::from_utf8(notes.stdout).expect("text");
    assert!(notes.contains(&format!("amdgcn-amd-amdhsa--{arch}")), "{arch}: {notes}");
    // An element of the list for each kernel.
    let kernels: Vec<&str> = notes.split("\n  - .").filter(|text| text.contains(".kernarg_segment_size:")).collect();
    let mut names: Vec<&str> = kernels.iter().map(|kernel| value(kernel, ".name")).collect();
    names.sort_unstable();
    assert_eq!(names, KERNELS.map(|(name, _)| name), "{arch}");
    for kernel in kernels {
        // One slice: address and length, and perhaps the compiler's own behind it.
        let arguments = number(kernel, ".kernarg_segment_size");
        assert!(arguments == 16 || (16 + 24..=16 + 256).contains(&arguments), "{arch}: {arguments} bytes of arguments of {kernel}");
        assert_eq!(number(kernel, ".group_segment_fixed_size"), 0, "{arch}: memory of the workgroup that nobody asked for: {kernel}");
        let stack = number(kernel, ".private_segment_fixed_size");
        assert!(stack <= STACK, "{arch}: {stack} bytes of stack of {kernel}");
        assert!(number(kernel, ".max_flat_workgroup_size") >= 1024, "{arch}: {kernel}");
    }
}

#[test]
fn a_kernel_says_what_a_launch_must_bring_on_each_amd_architecture() {
    let toolchain = match DeviceToolchain::find() {
        Ok(toolchain) => toolchain,
        Err(error) => return println!("skipped: {error}"),
    };
    for arch in AMDGPU_ARCHES {
        inspect(&toolchain, arch, 3);
    }
}

#[test]
fn images_for_generic_targets_are_of_the_version_that_has_them_and_say_the_same() {
    let toolchain = match DeviceToolchain::find() {
        Ok(toolchain) => toolchain,
        Err(error) => return println!("skipped: {error}"),
    };
    // `core` is built for each: one of waves of 64 lanes and one of 32, or all.
    let all = std::env::var_os("HOSTCALL_TEST_ALL").is_some();
    let (some, others): (Vec<_>, Vec<_>) =
        AMDGPU_GENERIC.into_iter().partition(|family| all || ["gfx9-4-generic", "gfx10-1-generic"].contains(family));
    some.iter().for_each(|family| inspect(&toolchain, family, 4));
    if !others.is_empty() {
        println!("not run: {}; HOSTCALL_TEST_ALL=1 builds for them too", others.join(", "));
    }
}
