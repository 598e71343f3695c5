//! What is in the libraries.

mod common;

use std::process::Command;

use hostcall_test_support::{exported, opener, stays_loaded, succeed, text};

#[test]
fn the_shared_library_exports_the_functions_of_the_api_and_nothing_else() {
    let exported = exported(common::shared());
    assert_eq!(exported, common::listed());
    assert_eq!(exported.len(), 82);
}

#[test]
fn the_library_stays_where_it_is_after_a_dlclose() {
    let to = tempfile::tempdir().unwrap();
    let closed = opener(to.path(), &common::source("closed.c"), &common::liboffload().join("include"));
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/install.sh");
    let from = common::archive().parent().expect("a file is in a folder");
    succeed(Command::new("sh").arg(script).arg("--prefix").arg(to.path()).arg("--from").arg(from));
    for library in [common::shared(), &to.path().join("lib/libhostcall_offload.so")] {
        assert!(stays_loaded(library), "{}", library.display());
        assert_eq!(text(&succeed(common::command(&closed).arg(library)).stdout), "passed\n");
    }
}

#[test]
fn the_archive_makes_a_library_with_the_versions_that_programs_linked_to_llvm_s_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libLLVMOffload.so");
    let map = common::liboffload().join("OffloadAPI.map");
    let mut link = Command::new(common::compiler(false));
    link.args(["-shared", "-Wl,-soname,libLLVMOffload.so", "-Wl,--gc-sections"]).arg(format!("-Wl,--version-script={}", map.display()));
    link.arg("-Wl,--whole-archive").arg(common::archive()).arg("-Wl,--no-whole-archive").args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    succeed(link.arg("-o").arg(&path));
    common::assert_exports_as_llvm_does(&path);
}

#[test]
fn a_program_that_was_compiled_with_llvm_24_s_header_is_told_so_by_ol_init() {
    let folder = tempfile::tempdir().unwrap();
    let suite = common::program_of(folder.path(), "mismatch", &[common::source("mismatch.c")], true, &[]);
    let output = text(&succeed(&mut common::command(&suite)).stdout);
    assert!(
        output.contains("the program was compiled with the header of LLVM 24's Offload API, and this library has LLVM 23's"),
        "{output}"
    );
    assert!(output.contains("link it to libhostcall_offload24,"), "{output}");
}
