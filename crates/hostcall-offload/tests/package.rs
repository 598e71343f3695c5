//! What a C or C++ programmer installs, found by CMake and pkg-config.

mod common;

use std::path::Path;
use std::process::Command;

use hostcall_test_support::{has, succeed, text};

fn install(prefix: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/install.sh");
    let from = common::archive().parent().expect("a file is in a folder");
    succeed(Command::new("sh").arg(script).arg("--prefix").arg(prefix).arg("--from").arg(from).arg("--as-llvm"));
}

#[test]
fn cmake_finds_the_library_and_the_examples_run() {
    if !has("cmake", "cmake") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (prefix, build) = (folder.path().join("prefix"), folder.path().join("build"));
    install(&prefix);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/offload");
    let prefix_path = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    succeed(Command::new("cmake").arg("-S").arg(sources).arg("-B").arg(&build).arg(prefix_path).arg("-DCMAKE_BUILD_TYPE=Release"));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    let tests = succeed(Command::new("ctest").arg("--test-dir").arg(&build).env("OFFLOAD_PLATFORMS", "host"));
    assert!(text(&tests.stdout).contains("100% tests passed, 0 tests failed out of 3"), "{}", text(&tests.stdout));
}

#[test]
fn a_program_that_was_linked_to_llvm_s_library_runs_on_ours() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("prefix");
    install(&prefix);
    // What a program is linked to decides the name and the versions that it asks for.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/offload/vector_add.c");
    let program = folder.path().join("vector_add");
    let mut compile = Command::new(common::compiler(false));
    compile.args(["-std=c11", "-O1", "-I"]).arg(prefix.join("include/offload")).arg(source).arg("-o").arg(&program);
    succeed(compile.arg("-L").arg(prefix.join("lib/offload-llvm")).arg("-lLLVMOffload"));
    let needed = text(&succeed(Command::new("objdump").arg("-p").arg(&program)).stdout);
    assert!(needed.contains("NEEDED               libLLVMOffload.so") && needed.contains("VERS1.0"), "{needed}");
    let kernel =
        common::image(folder.path(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/offload/vector_add_kernel.c"), false);
    let output = succeed(common::command(&program).arg(kernel).env("LD_LIBRARY_PATH", prefix.join("lib/offload-llvm")));
    assert!(text(&output.stdout).contains("1024 sums are right"), "{output:?}");
}

#[test]
fn pkg_config_tells_how_to_compile_and_link() {
    if !has("pkg-config", "pkg-config") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "hostcall_offload"]).env("PKG_CONFIG_PATH", folder.path().join("lib/pkgconfig"));
    let flags = text(&succeed(&mut ask).stdout);
    assert!(flags.contains("include/offload") && flags.contains("-lhostcall_offload"), "{flags}");
    // What it tells is enough, for the shared library and for the static one.
    let kernel = common::image(folder.path(), &common::example("vector_add_kernel.c"), false);
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "--static", "hostcall_offload"]).env("PKG_CONFIG_PATH", folder.path().join("lib/pkgconfig"));
    let static_flags = text(&succeed(&mut ask).stdout).replace("-lhostcall_offload", "-l:libhostcall_offload.a");
    for (name, flags) in [("shared", &flags), ("static", &static_flags)] {
        let program = folder.path().join(name);
        let mut compile = Command::new(common::compiler(false));
        compile.args(["-std=c11", "-O1"]).arg(common::example("vector_add.c")).args(flags.split_whitespace()).arg("-o").arg(&program);
        succeed(&mut compile);
        let needed = text(&succeed(Command::new("objdump").arg("-p").arg(&program)).stdout);
        assert_eq!(needed.contains("NEEDED               libhostcall_offload.so.0"), name == "shared", "{needed}");
        let output = succeed(common::command(&program).arg(&kernel).env("LD_LIBRARY_PATH", folder.path().join("lib")));
        assert!(text(&output.stdout).contains("1024 sums are right"), "{output:?}");
    }
}

#[test]
fn the_comparison_with_llvms_library_compiles_and_measures_every_call() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    let program = folder.path().join("calls");
    let mut compile = Command::new(common::compiler(false));
    compile.args(["-std=c11", "-O2", "-I"]).arg(folder.path().join("include/offload"));
    compile.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-offload-api/bench/calls.c")).arg("-o").arg(&program);
    succeed(compile.arg("-L").arg(folder.path().join("lib")).arg("-lhostcall_offload"));
    let output = succeed(common::command(&program).env("LD_LIBRARY_PATH", folder.path().join("lib")));
    let said = text(&output.stdout);
    assert!(said.lines().count() == 7 && !said.contains("refused"), "{said}");
}

#[test]
fn the_installed_libraries_export_the_functions_with_the_version_that_llvm_gives_them() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    for library in ["lib/libhostcall_offload.so.0", "lib/offload-llvm/libLLVMOffload.so"] {
        common::assert_exports_as_llvm_does(&folder.path().join(library));
    }
}
