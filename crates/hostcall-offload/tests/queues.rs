//! Queues whose memory, objects and programs are given back while they use them: on the host, and over a driver without
//! a GPU that waits for its streams, with its lock held, whenever it frees.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{command, compiler, image, kernels, liboffload, program, source};
use hostcall_test_support::{succeed, text};

/// What the driver takes for an image: it looks at the names only.
const PTX: &str = "\
.version 6.3
.target sm_70
.address_size 64
.visible .global .align 4 .b8 table[256];
.visible .entry count(.param .u64 pointer) { ret; }
.visible .entry foo(.param .u64 pointer) { ret; }
";

/// The driver.
fn driver(folder: &Path) -> PathBuf {
    let path = folder.join("libcuda.so.1");
    let mut compile = Command::new(compiler(false));
    compile.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1", "-pthread"]);
    compile.arg("-Wl,-soname,libcuda.so.1").arg(source("fake_cuda_streams.c"));
    succeed(compile.arg(liboffload().join("../hostcall-c/tests/c/fake_cuda.c")).arg("-o").arg(&path));
    path
}

/// A run over the driver.
fn over_the_driver(folder: &Path, program: &Path, arguments: &[&str]) -> String {
    driver(folder);
    let ptx = folder.join("image.ptx");
    std::fs::write(&ptx, PTX).unwrap();
    let mut run = command(program);
    run.args(arguments).arg(ptx).env("LD_LIBRARY_PATH", folder).env("OFFLOAD_PLATFORMS", "cuda").env("FAKE_CUDA_MAKING_WAITS", "1");
    text(&succeed(&mut run).stdout)
}

#[test]
fn sequences_of_launches_functions_events_and_frees_over_eight_queues_end_where_the_driver_waits_when_it_frees() {
    let folder = tempfile::tempdir().unwrap();
    let queues = program(folder.path(), "queues", &[source("queues.c")]);
    let output = over_the_driver(folder.path(), &queues, &["4000", "1"]);
    assert!(output.ends_with(" 0 failed\n") && output.contains("a fake GPU, loading and registering: 2000 sequences"), "{output}");
}

#[test]
fn what_is_given_back_stays_on_a_gpu_until_no_queue_uses_it_and_functions_may_give_back() {
    let folder = tempfile::tempdir().unwrap();
    let given_back = program(folder.path(), "given_back", &[source("given_back.c")]);
    let output = over_the_driver(folder.path(), &given_back, &[]);
    assert!(output.ends_with(" 0 failed\n") && output.contains("a fake GPU: "), "{output}");
}

#[test]
fn what_is_given_back_stays_on_the_host_until_no_queue_uses_it_and_functions_may_give_back() {
    let folder = tempfile::tempdir().unwrap();
    let given_back = program(folder.path(), "given_back", &[source("given_back.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let output = text(&succeed(command(&given_back).arg(simulated).arg(host)).stdout);
    assert!(output.ends_with(" 0 failed\n") && output.contains("kernels-host.so") && output.contains("kernels-sim.so"), "{output}");
}

#[test]
fn sequences_of_launches_functions_events_and_frees_over_eight_queues_end_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let queues = program(folder.path(), "queues", &[source("queues.c")]);
    for is_host in [true, false] {
        let image = image(folder.path(), &kernels(), is_host);
        let output = text(&succeed(command(&queues).args(["1000", "1"]).arg(image)).stdout);
        assert!(output.ends_with(" 0 failed\n") && output.contains(", loading and registering: 500 sequences"), "{output}");
    }
}
