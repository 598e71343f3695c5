//! The AMDGPU platform, over a stand-in for AMD's runtime whose GPUs are simulators (`hsa-on-sim`).

mod common;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use common::{command, example, image, kernels, liboffload, program, source};
use hostcall_test_support::{built, succeed, text};

/// The stand-in for `libhsa-runtime64.so.1`.
fn runtime() -> &'static PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let files = built("hsa-on-sim", &["--lib"]);
        files.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "so")).expect("cargo built it")
    })
}

/// What the stand-in's GPUs call themselves: what their code is compiled for.
fn gpu() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// A program's run with AMD's platform: three GPUs, of which the host reaches the memory of two.
fn with_amd(program: &std::path::Path) -> Command {
    let mut command = command(program);
    command.env("OFFLOAD_PLATFORMS", "amdgpu,host").env("HOSTCALL_HSA_LIBRARY", runtime()).env("HSA_ON_SIM", ";nobar;lanes=64");
    command
}

#[test]
fn what_the_api_promises_holds_on_amd_s_gpus() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), "suite", &[source("suite.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(with_amd(&suite).arg(&simulated).arg(host).arg(&simulated)).stdout);
    assert!(output.ends_with(" 0 failed\n"), "{output}");
    // Each of the three GPUs says what it is.
    assert_eq!(output.matches(&format!("{}: ", gpu())).count(), 3, "{output}");
}

#[test]
fn what_programs_do_with_many_things_and_threads_at_once_works_on_amd_s_gpus() {
    let folder = tempfile::tempdir().unwrap();
    let uses = program(folder.path(), "uses", &[source("uses.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(with_amd(&uses).arg(&simulated).arg(host).arg(&simulated)).stdout);
    assert!(output.ends_with(" 0 failed\n"), "{output}");
}

#[test]
fn the_conformance_tests_pass_on_an_amd_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let conformance = program(folder.path(), "conformance", &[source("conformance.c"), source("device_fixture.c")]);
    let simulated = image(folder.path(), &kernels(), false);
    let output = text(&succeed(with_amd(&conformance).env("OFFLOAD_TEST_IMAGE", simulated)).stdout);
    assert!(output.lines().last().is_some_and(|summary| summary.contains(" 0 failed")), "{output}");
}

#[test]
fn the_example_in_c_adds_vectors_on_an_amd_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let add = program(folder.path(), "vector_add", &[example("vector_add.c")]);
    let image = image(folder.path(), &example("vector_add_kernel.c"), false);
    let output = text(&succeed(with_amd(&add).arg(image)).stdout);
    assert!(output.contains("1024 sums are right") && output.contains(&gpu()), "{output}");
}

#[test]
fn a_broken_runtime_is_a_platform_without_devices() {
    let folder = tempfile::tempdir().unwrap();
    let add = program(folder.path(), "vector_add", &[example("vector_add.c")]);
    let image = image(folder.path(), &example("vector_add_kernel.c"), false);
    let no_runtime = liboffload().join("Cargo.toml");
    let output = text(&succeed(with_amd(&add).arg(image).env("HOSTCALL_HSA_LIBRARY", no_runtime)).stdout);
    assert!(output.contains("1024 sums are right"), "{output}");
}
