//! What is in the libraries, and what a C programmer installs.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use common::{Language, command, folder, program};
use hostcall_test_support::{exported, has, opener, stays_loaded, succeed, text};

/// The functions that the header declares, in both versions.
fn declared() -> BTreeSet<String> {
    let header = std::fs::read_to_string(folder().join("include/amd_hostcall.h")).unwrap();
    let words = header.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned);
    let names: BTreeSet<String> =
        words.filter(|word| (word.starts_with("amd_hostcall_") || word.starts_with("hostcall_amd_")) && !word.ends_with("_t")).collect();
    names.into_iter().filter(|name| name != "hostcall_amd_" && name != "amd_hostcall_").collect()
}

fn install(prefix: &Path) {
    let from = common::archive().parent().expect("a file is in a folder");
    succeed(Command::new("sh").arg(folder().join("packaging/install.sh")).arg("--prefix").arg(prefix).arg("--from").arg(from));
}

#[test]
fn the_libraries_export_what_the_header_declares_and_nothing_else() {
    let declared = declared();
    assert!(declared.contains("amd_hostcall_register_service") && declared.contains("hostcall_amd_v0_on_error"));
    assert_eq!(exported(common::shared()), declared);
    let prefix = tempfile::tempdir().unwrap();
    install(prefix.path());
    let installed = prefix.path().join("lib/libamd_hostcall.so");
    assert_eq!(exported(&installed), declared);
    assert!(stays_loaded(common::shared()) && stays_loaded(&installed));
    // AMD's twelve, ours, and the five that v0 has otherwise.
    assert_eq!(declared.len(), 12 + 8 + 5);
}

#[test]
fn threads_of_a_library_that_was_closed_go_on() {
    let to = tempfile::tempdir().unwrap();
    let closed = opener(to.path(), &folder().join("tests/c/closed.c"), &folder().join("include"));
    install(to.path());
    for library in [common::shared(), &to.path().join("lib/libamd_hostcall.so")] {
        assert_eq!(text(&succeed(command(&closed).arg(library)).stdout), "passed\n");
    }
}

#[test]
fn a_program_that_was_linked_to_another_libamd_hostcall_runs_on_ours() {
    let to = tempfile::tempdir().unwrap();
    // Another library of this name, with AMD's functions and nothing in them.
    let other = to.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let names: Vec<String> = declared().into_iter().filter(|name| name.starts_with("amd_hostcall_")).collect();
    let stubs: String = names.iter().map(|name| format!("void {name}(void) {{}}\n")).collect();
    std::fs::write(other.join("stubs.c"), stubs).unwrap();
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let library = other.join("libamd_hostcall.so");
    let mut link = Command::new(&cc);
    link.args(["-shared", "-fPIC", "-Wl,-soname,libamd_hostcall.so"]).arg(other.join("stubs.c")).arg("-o").arg(&library);
    succeed(&mut link);
    let drop_in = to.path().join("drop_in");
    let mut compile = Command::new(&cc);
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]).arg(folder().join("include"));
    compile.arg(folder().join("tests/c/drop_in.c")).arg("-L").arg(&other).arg("-lamd_hostcall").arg("-o").arg(&drop_in);
    succeed(&mut compile);
    // Only the library changes.
    install(&to.path().join("ours"));
    let mut run = command(&drop_in);
    let output = succeed(run.env("LD_LIBRARY_PATH", to.path().join("ours/lib")));
    assert_eq!(text(&output.stdout), "43\n");
}

#[test]
fn cmake_finds_the_library_and_the_example_runs() {
    if !has("cmake", "cmake") {
        return;
    }
    let to = tempfile::tempdir().unwrap();
    let (prefix, build) = (to.path().join("prefix"), to.path().join("build"));
    install(&prefix);
    let prefix_path = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    let sources = folder().join("../../examples/amd-packets");
    succeed(Command::new("cmake").arg("-S").arg(sources).arg("-B").arg(&build).arg(prefix_path).arg("-DCMAKE_BUILD_TYPE=Release"));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    let tests = succeed(command(Path::new("ctest")).arg("--test-dir").arg(&build));
    assert!(text(&tests.stdout).contains("100% tests passed, 0 tests failed out of 2"), "{}", text(&tests.stdout));
}

#[test]
fn pkg_config_tells_how_to_compile_and_link() {
    if !has("pkg-config", "pkg-config") {
        return;
    }
    let prefix = tempfile::tempdir().unwrap();
    install(prefix.path());
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "amd_hostcall"]).env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig"));
    let flags = text(&succeed(&mut ask).stdout);
    assert!(flags.contains("/include") && flags.contains("-lamd_hostcall"), "{flags}");
}

/// What kernels are written in.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    C,
    Cpp,
    Hip,
}

impl Kernel {
    fn source(self) -> &'static str {
        match self {
            Kernel::C => "__attribute__((amdgpu_kernel))",
            Kernel::Cpp => "extern \"C\" __attribute__((amdgpu_kernel))",
            // HIP's own headers are not needed, but for what a launch calls.
            Kernel::Hip => {
                "#include <stddef.h>\n\
                 struct dim3 { unsigned x, y, z; };\n\
                 extern \"C\" int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);\n\
                 __attribute__((global))"
            }
        }
    }

    fn compiler(self, processor: &str) -> Command {
        let mut compile = Command::new("clang-22");
        match self {
            Kernel::C => compile.args(["-x", "c", "-std=gnu11"]),
            Kernel::Cpp => compile.args(["-x", "c++", "-std=c++17"]),
            Kernel::Hip => compile.args(["-x", "hip", "-nogpuinc", "--cuda-device-only"]).arg(format!("--offload-arch={processor}")),
        };
        if !matches!(self, Kernel::Hip) {
            compile.args(["--target=amdgcn-amd-amdhsa", "-ffreestanding", "-nostdlibinc"]).arg(format!("-mcpu={processor}"));
        }
        compile.args(["-nogpulib", "-O2", "-Wall", "-Wextra", "-Werror", "-S", "-I"]).arg(folder().join("include"));
        compile
    }

    /// A kernel that calls through a packet, as text of the processor's instructions.
    fn compile(self, to: &Path, processor: &str) -> String {
        let source = to.join("kernel");
        let body = "void calls(void *buffer, unsigned long *out) {\n\
                    unsigned i = __builtin_amdgcn_workitem_id_x();\n\
                    if (i % 3) out[i] = hostcall_amd_preview(buffer, 23, i, 1, 2, 3, 4, 5, 6, 7).x; }\n";
        std::fs::write(&source, format!("#include <amd_hostcall_device.h>\n{} {body}", self.source())).unwrap();
        let out = to.join(format!("{processor}-{self:?}.s"));
        succeed(self.compiler(processor).arg(&source).arg("-o").arg(&out));
        if matches!(self, Kernel::Hip) {
            // The host's half of the same file.
            succeed(self.compiler(processor).arg("--cuda-host-only").arg(&source).arg("-o").arg(to.join("host.s")));
        }
        std::fs::read_to_string(out).unwrap()
    }
}

#[test]
fn kernels_for_amd_gpus_in_c_cpp_and_hip_fill_packets_by_the_device_header() {
    if !has("clang-22", "clang-22") {
        return;
    }
    let to = tempfile::tempdir().unwrap();
    for (processor, exchange) in [
        ("gfx90a", "_atomic_cmpswap_x2"),
        ("gfx942", "_atomic_cmpswap_x2"),
        ("gfx1100", "_atomic_cmpswap_b64"),
        ("gfx1200", "_atomic_cmpswap_b64"),
    ] {
        for language in [Kernel::C, Kernel::Cpp, Kernel::Hip] {
            let text = language.compile(to.path(), processor);
            let found = text.matches(exchange).count();
            assert!(found >= 3, "{processor}, {language:?}: one exchange to take a packet, two to push: {text}");
            for needed in ["s_sleep", "s_sendmsg", "v_readfirstlane_b32"] {
                assert!(text.contains(needed), "{processor}, {language:?}: {needed}");
            }
        }
    }
}

#[test]
fn the_device_header_serves_threads_of_the_host_in_both_languages() {
    let to = tempfile::tempdir().unwrap();
    for language in [Language::C11, Language::Cpp17] {
        let example = program(to.path(), &folder().join("tests/c/drop_in.c"), language);
        assert_eq!(text(&succeed(&mut command(&example)).stdout), "43\n");
    }
}
