//! C programs against LLVM 24's header and its library, on the host.

#[path = "../../hostcall-offload/tests/common/mod.rs"]
mod common;

use common::{command, example, image, kernels, ported, program, program_of, shared, source};
use hostcall_test_support::{exported, succeed, text};

#[test]
fn what_llvm_24_adds_holds_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), "suite24", &[source("suite24.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(command(&suite).arg(simulated).arg(host)).stdout);
    assert!(output.ends_with(" 0 failed\n") && output.contains("1 devices, "), "{output}");
}

#[test]
fn what_both_versions_promise_holds_with_a_context_for_each_device() {
    let folder = tempfile::tempdir().unwrap();
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    for name in ["suite", "uses"] {
        let suite = ported(folder.path(), name, &[source(&format!("{name}.c"))]);
        let output = text(&succeed(command(&suite).arg(&simulated).arg(&host)).stdout);
        assert!(output.ends_with(" 0 failed\n") && output.contains("(simulator images)"), "{name}: {output}");
    }
}

#[test]
fn what_goes_with_its_context_stays_until_no_queue_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let given_back = ported(folder.path(), "given_back", &[source("given_back.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(command(&given_back).arg(simulated).arg(host)).stdout);
    assert!(output.ends_with(" 0 failed\n") && output.contains("kernels-host.so"), "{output}");
}

#[test]
fn the_conformance_tests_pass_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let conformance = program(folder.path(), "conformance", &[source("conformance24.c"), source("device_fixture.c")]);
    let simulated = image(folder.path(), &kernels(), false);
    let output = text(&succeed(command(&conformance).env("OFFLOAD_TEST_IMAGE", simulated)).stdout);
    let summary = output.lines().last().expect("a summary");
    let passed: usize = summary.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    assert!(passed >= 120 && summary.contains(" 0 failed"), "{output}");
    assert!(!output.contains("the fixture has no call"), "every function has a call that succeeds: {output}");
}

#[test]
fn a_hundred_threads_make_and_destroy_everything_at_random() {
    let folder = tempfile::tempdir().unwrap();
    let stress = ported(folder.path(), "stress", &[source("stress.c")]);
    let image = image(folder.path(), &kernels(), true);
    let output = text(&succeed(command(&stress).arg(image).args(["100", "100", "1"])).stdout);
    assert!(output.contains("100 threads, 10000 steps, 0 surprises"), "{output}");
}

#[test]
fn a_program_that_was_compiled_with_the_other_header_is_told_so_by_ol_init() {
    let folder = tempfile::tempdir().unwrap();
    let add = program_of(folder.path(), "vector_add", &[example("vector_add.c")], false, &[]);
    let image = image(folder.path(), &example("vector_add_kernel.c"), false);
    let output = command(&add).arg(image).output().unwrap();
    let said = text(&output.stderr) + &text(&output.stdout);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("the program was compiled with the header of LLVM 23's Offload API, and this library has LLVM 24's"), "{said}");
    assert!(said.contains("link it to libhostcall_offload,"), "{said}");
}

#[test]
fn the_shared_library_exports_the_functions_of_the_api_and_nothing_else() {
    let exported = exported(shared());
    assert_eq!(exported, common::listed());
    assert_eq!(exported.len(), 102);
}
