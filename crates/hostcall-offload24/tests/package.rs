//! What a C programmer installs, beside the library of LLVM 23's API.

#[path = "../../hostcall-offload/tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::Command;

use hostcall_test_support::{has, succeed, text};

#[test]
fn it_has_names_of_its_own_and_llvm_s_where_that_is_asked_for() {
    if !has("pkg-config", "pkg-config") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-offload/packaging/install.sh");
    let from = common::archive().parent().expect("a file is in a folder");
    succeed(Command::new("sh").arg(script).args(["--llvm", "24", "--as-llvm", "--prefix"]).arg(folder.path()).arg("--from").arg(from));
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "hostcall_offload24"]).env("PKG_CONFIG_PATH", folder.path().join("lib/pkgconfig"));
    let flags = text(&succeed(&mut ask).stdout);
    assert!(flags.contains("include/offload24"), "{flags}");
    // A program that is linked to it asks for it by its name, and the loader does not find the other one under that.
    let program = folder.path().join("program");
    let mut compile = Command::new(common::compiler(false));
    compile.arg("-std=c11").args(["-include", &common::source("with_contexts.h").display().to_string()]);
    compile.arg(common::example("vector_add.c")).args(flags.split_whitespace()).arg("-pthread").arg("-o").arg(&program);
    succeed(&mut compile);
    let needed = text(&succeed(Command::new("objdump").arg("-p").arg(&program)).stdout);
    assert!(needed.contains("NEEDED               libhostcall_offload24.so.0"), "{needed}");
    let kernel = common::image(folder.path(), &common::example("vector_add_kernel.c"), false);
    let output = succeed(common::command(&program).arg(kernel).env("LD_LIBRARY_PATH", folder.path().join("lib")));
    assert!(text(&output.stdout).contains("1024 sums are right"), "{output:?}");
    let llvm = folder.path().join("lib/offload-llvm24");
    for library in [folder.path().join("lib/libhostcall_offload24.so.0"), llvm.join("libLLVMOffload.so")] {
        common::assert_exports_as_llvm_does(&library);
    }
    assert!(llvm.join("libLLVMOffload.so.24.0").exists() && !llvm.join("libLLVMOffload.so.23.0").exists());
    assert!(Path::new(&folder.path().join("lib/cmake/HostcallOffload24/HostcallOffload24Config.cmake")).exists());
}
