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
    assert_eq!(declared.len(), 12 + 11 + 5);
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
fn a_program_that_was_compiled_with_amd_s_own_header_of_v0_runs_on_the_library_of_v0() {
    let to = tempfile::tempdir().unwrap();
    install(to.path());
    let library = to.path().join("lib/amd_hostcall_v0");
    let v1s = ["create_consumer", "destroy_consumer", "register_service", "register_buffer", "on_error"];
    let mut expected = declared();
    expected.extend(v1s.map(|name| format!("hostcall_amd_v1_{name}")));
    assert_eq!(exported(&library.join("libamd_hostcall.so")), expected);
    for (compiler, language) in [("cc", "-std=c11"), ("c++", "-std=c++17")] {
        // Linked to the library by its name in either folder, and to the archive: AMD's name is what counts when it
        // runs.
        for (at, links) in [(&library, "-lamd_hostcall"), (&to.path().join("lib"), "-lamd_hostcall"), (&library, "-l:libamd_hostcall.a")] {
            let program = to.path().join("amd_v0");
            let mut compile = Command::new(compiler);
            compile.args([language, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
            compile.args(["-x", if compiler == "cc" { "c" } else { "c++" }]).arg(folder().join("tests/c/amd_v0.c")).args(["-x", "none"]);
            compile.arg("-L").arg(at).arg(links).args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]).arg("-o").arg(&program);
            succeed(&mut compile);
            let run = |arguments: &[&str], on: &[(&str, &str)]| {
                let mut run = command(&program);
                run.env("LD_LIBRARY_PATH", &library).args(arguments).envs(on.iter().copied()).output().unwrap()
            };
            let output = run(&[], &[]);
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "passed\n".into()), "{links}: {output:?}");
            let output = run(&["end"], &[]);
            let told = "told: AMD_HOSTCALL_ERROR_SERVICE_UNKNOWN once\n";
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), told.into()), "{links}: {output:?}");
            // A refused packet's control word is 0, for which such programs wait.
            let output = run(&["end"], &[("HOSTCALL_AMD_NO_HALT", "1")]);
            assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), format!("{told}0\npassed\n")), "{links}: {output:?}");
        }
    }
}

/// Whether so many tests ran under CTest and all passed, in the words of its older and newer versions.
fn all_passed(said: &str, tests: usize) -> bool {
    said.lines().any(|line| line.starts_with("100% tests passed") && line.ends_with(&format!(" out of {tests}")))
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
    succeed(Command::new("cmake").arg("-S").arg(sources).arg("-B").arg(&build).arg(&prefix_path).arg("-DCMAKE_BUILD_TYPE=Release"));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    let tests = succeed(command(Path::new("ctest")).arg("--test-dir").arg(&build));
    assert!(all_passed(&text(&tests.stdout), 2), "{}", text(&tests.stdout));
    // The versions that it says it is.
    for (version, fits) in [("", true), ("1", true), ("1.0", true), ("1.0.0 EXACT", true), ("0.1", false), ("1.1", false), ("2.0", false)] {
        let asks = to.path().join("asks");
        std::fs::create_dir_all(&asks).unwrap();
        let lists = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(asks NONE)\nfind_package(amd_hostcall {version} QUIET)\n\
             if(amd_hostcall_FOUND AND TARGET amd_hostcall AND TARGET amd_hostcall_v0)\nmessage(STATUS \"it fits\")\nendif()\n"
        );
        std::fs::write(asks.join("CMakeLists.txt"), lists).unwrap();
        let build = to.path().join("asks-build");
        let _ = std::fs::remove_dir_all(&build);
        let output = succeed(Command::new("cmake").arg("-S").arg(&asks).arg("-B").arg(&build).arg(&prefix_path));
        assert_eq!(text(&output.stdout).contains("it fits"), fits, "{version}: {}", text(&output.stdout));
    }
}

#[test]
fn cmake_builds_tests_and_installs_the_library_as_amd_s_is_built() {
    if !has("cmake", "cmake") || !has("make", "make") {
        return;
    }
    let to = tempfile::tempdir().unwrap();
    let (build, prefix) = (to.path().join("build"), to.path().join("prefix"));
    std::fs::create_dir(&build).unwrap();
    // What is built here already, so that cargo has nothing to do.
    let target = common::archive().parent().and_then(Path::parent).expect("a file is in a folder of a folder");
    let mut configure = Command::new("cmake");
    configure.arg(format!("-DCMAKE_INSTALL_PREFIX={}", prefix.display())).arg("-DCMAKE_BUILD_TYPE=Debug");
    configure.arg(format!("-DAMD_HOSTCALL_TARGET_DIR={}", target.display()));
    succeed(configure.args(["-G", "Unix Makefiles"]).arg(folder()).current_dir(&build));
    for what in [&[][..], &["build-tests"], &["test"], &["install"]] {
        let mut make = command(Path::new("make"));
        // In it cargo has its own library, of the same name.
        make.env_remove("LD_LIBRARY_PATH");
        let output = succeed(make.args(what).current_dir(&build));
        let said = text(&output.stdout);
        assert!(what != ["test"] || all_passed(&said, 7), "{said}");
    }
    for file in ["lib/libamd_hostcall.so", "lib/libamd_hostcall.a", "lib/amd_hostcall_v0/libamd_hostcall.so", "include/amd_hostcall.h"] {
        assert!(prefix.join(file).exists(), "{file}");
    }
    assert_eq!(exported(&prefix.join("lib/libamd_hostcall.so")), declared());
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
    for (what, expected) in [("--libs", "lib/amd_hostcall_v0 -lamd_hostcall"), ("--modversion", "1.0.0")] {
        let mut ask = Command::new("pkg-config");
        ask.args([what, "amd_hostcall_v0"]).env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig"));
        let said = text(&succeed(&mut ask).stdout);
        assert!(said.contains(expected), "{said}");
    }
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
