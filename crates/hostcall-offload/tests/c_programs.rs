//! C programs over the library, on the host: simulator images and host images.

mod common;

use std::process::Command;

use common::{command, example, image, kernels, liboffload, program, source};
use hostcall_test_support::{has, succeed, text};

#[test]
fn what_the_api_promises_holds_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), "suite", &[source("suite.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(command(&suite).arg(simulated).arg(host)).stdout);
    assert!(output.ends_with(" 0 failed\n") && output.contains("(simulator images)"), "{output}");
}

#[test]
fn kernels_in_cpp_are_those_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), "suite", &[source("suite.c")]);
    let cpp = folder.path().join("kernels.cpp");
    std::fs::copy(kernels(), &cpp).unwrap();
    let (simulated, host) = (image(folder.path(), &cpp, false), image(folder.path(), &cpp, true));
    let output = text(&succeed(command(&suite).arg(simulated).arg(host)).stdout);
    assert!(output.ends_with(" 0 failed\n") && output.contains("(simulator images)"), "{output}");
}

#[test]
fn kernels_that_know_clangs_header_for_gpus_only_run_in_the_simulator() {
    if !has("clang-22", "clang-22") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sources = program(folder.path(), "gpu_sources", &[source("gpu_sources.c")]);
    let image = folder.path().join("image.so");
    let mut compile = Command::new("clang-22");
    compile.args(["-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"]);
    compile.arg(liboffload().join("include/simulator")).arg(liboffload().join("tests/images/gpuintrin.cpp"));
    succeed(compile.arg("-o").arg(&image));
    let output = text(&succeed(command(&sources).arg(image)).stdout);
    assert!(output.ends_with(" 0 failed\n"), "{output}");
}

#[test]
fn what_programs_do_with_many_things_and_threads_at_once_works_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let uses = program(folder.path(), "uses", &[source("uses.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(command(&uses).arg(simulated).arg(host)).stdout);
    assert!(output.ends_with(" 0 failed\n") && output.contains("(simulator images)"), "{output}");
}

#[test]
fn without_checks_of_arguments_a_fill_ends_where_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let unchecked = program(folder.path(), "unchecked", &[source("unchecked.c")]);
    let output = text(&succeed(command(&unchecked).env("OFFLOAD_DISABLE_VALIDATION", "1")).stdout);
    assert!(output.ends_with(" 0 failed\n"), "{output}");
}

#[test]
fn it_holds_without_checks_of_arguments_that_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let add = program(folder.path(), "vector_add", &[example("vector_add.c")]);
    let image = image(folder.path(), &example("vector_add_kernel.c"), false);
    let output = text(&succeed(command(&add).arg(image).env("OFFLOAD_DISABLE_VALIDATION", "1")).stdout);
    assert!(output.contains("1024 sums are right"), "{output}");
}

#[test]
fn the_examples_in_c_and_cpp_add_vectors_in_the_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let image = image(folder.path(), &example("vector_add_kernel.c"), false);
    for (name, file) in [("c", "vector_add.c"), ("cpp", "vector_add.cpp")] {
        let add = program(folder.path(), name, &[example(file)]);
        let output = text(&succeed(command(&add).arg(&image)).stdout);
        assert!(output.contains("1024 sums are right"), "{file}: {output}");
    }
}

#[test]
fn the_conformance_tests_pass_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let conformance = program(folder.path(), "conformance", &[source("conformance.c"), source("device_fixture.c")]);
    let simulated = image(folder.path(), &kernels(), false);
    let output = text(&succeed(command(&conformance).env("OFFLOAD_TEST_IMAGE", simulated)).stdout);
    let summary = output.lines().last().expect("a summary");
    let passed: usize = summary.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    assert!(passed >= 90 && summary.contains(" 0 failed"), "{output}");
    assert!(!output.contains("the fixture has no call"), "every function has a call that succeeds: {output}");
}

#[test]
fn what_is_not_destroyed_is_listed_with_where_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let leaks = program(folder.path(), "leaks", &[source("leaks.c")]);
    let image = image(folder.path(), &kernels(), true);
    let output = succeed(command(&leaks).arg(&image).env("OFFLOAD_CHECK", "leaks"));
    let lines: Vec<_> = text(&output.stderr).lines().filter(|line| line.starts_with("offload: ")).map(str::to_owned).collect();
    assert_eq!(lines[0], "offload: 4 not destroyed at the last olShutDown", "{lines:?}");
    for (line, (kind, place)) in lines[1..].iter().zip([
        ("leak: queue 0x", ", made by olCreateQueue at leaks.c:31:5 (main)"),
        ("leak: event 0x", ", made by olCreateEvent"),
        ("leak: program 0x", ", made by olCreateProgram"),
        ("leak: 64 bytes at 0x", ", made by olMemAlloc at leaks.c:34:5 (main)"),
    ]) {
        assert!(line.contains(kind) && line.ends_with(place), "{line}");
    }
    let quiet = succeed(command(&leaks).arg(&image));
    assert!(!text(&quiet.stderr).contains("leak"), "{quiet:?}");
}

#[test]
fn a_hundred_threads_make_and_destroy_everything_at_random() {
    let folder = tempfile::tempdir().unwrap();
    let stress = program(folder.path(), "stress", &[source("stress.c")]);
    let image = image(folder.path(), &kernels(), true);
    let output = text(&succeed(command(&stress).arg(image).args(["100", "400", "1"])).stdout);
    assert!(output.contains("100 threads, 40000 steps, 0 surprises"), "{output}");
}

#[test]
fn a_platform_that_the_environment_misspells_is_an_error_that_names_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let add = program(folder.path(), "vector_add", &[example("vector_add.c")]);
    let output = command(&add).arg("/dev/null").env("OFFLOAD_PLATFORMS", "cda").output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("OFFLOAD_PLATFORMS names `cda`, which is none of cuda, amdgpu, host"), "{output:?}");
}

#[test]
fn a_fault_in_the_simulator_is_an_error_of_the_next_wait_and_the_device_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let faults = program(folder.path(), "device_faults", &[source("device_faults.c")]);
    let image = image(folder.path(), &liboffload().join("tests/images/faults.c"), false);
    let output = text(&succeed(command(&faults).arg(image)).stdout);
    assert!(output.contains("fault: 17: kernel `touch_nothing` ended by a fault: access to address"), "{output}");
    assert!(output.ends_with("after it: 7\n"), "{output}");
}
