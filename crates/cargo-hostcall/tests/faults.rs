//! Faults end a run at once, whatever the device, with what is known of them and the exit code that a shell shows for a
//! program that the system ends.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use hostcall_build::ProgramBundle;
use hostcall_test_support::succeed;
use offload::{Image, ImageKind};
use support::Ran;

/// Seconds after which a run that hangs is ended.
const LIMIT: &str = "60";

/// Of `CUresult`: what kernels fault by.
const ILLEGAL_ADDRESS: u32 = 700;
const LAUNCH_TIMEOUT: u32 = 702;

/// The driver of a GPU whose kernels fault, in a folder of its own.
fn driver(folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1"]);
    compile.arg(here.join("tests/c/lost_cuda.c")).arg(here.join("../hostcall-c/tests/c/fake_cuda.c"));
    let driver = folder.join("libcuda.so.1");
    succeed(compile.arg("-o").arg(&driver));
    driver
}

/// `cargo hostcall exec` of an image that consists of this kernel, on the GPU whose kernels fault by this `CUresult`.
fn on_lost_gpu(fault: u32, options: &[&str], kernel: &str) -> Ran {
    let folder = tempfile::tempdir().expect("a directory");
    driver(folder.path());
    let ptx = format!(".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry {kernel}() {{ ret; }}\n");
    let bundle = ProgramBundle::new("faults", vec![Image::new(ImageKind::Ptx, "sm_70".to_owned(), ptx.into_bytes())]);
    let image = folder.path().join("faults.program");
    std::fs::write(&image, bundle.to_bytes()).expect("written");
    let mut run = Command::new("timeout");
    run.args(["-s", "KILL", LIMIT, env!("CARGO_BIN_EXE_cargo-hostcall"), "hostcall", "exec", "-q", "--device", "cuda:0"]);
    run.args(options).arg(&image).env("LD_LIBRARY_PATH", folder.path());
    run.env("FAKE_CUDA_FAULT", fault.to_string())
        .env("FAKE_CUDA_ABI", hostcall_abi::ABI_VERSION.to_string())
        .env("HOSTCALL_PTXAS", folder.path().join("none"));
    Ran::of(run.output().expect("it starts"))
}

#[test]
fn a_gpu_that_is_lost_while_nobody_calls_the_driver_ends_the_run() {
    let ran = on_lost_gpu(ILLEGAL_ADDRESS, &[], "hostcall_std");
    assert_eq!(ran.code, Some(139), "{ran:?}");
    assert!(ran.stderr.contains("error: a fault ended the program: cuda:0 (a fake GPU) is lost"), "{ran:?}");
    assert!(ran.stderr.contains("--device sim"), "{ran:?}");
    let ran = on_lost_gpu(ILLEGAL_ADDRESS, &["--kernel", "mine", "--lanes", "32"], "mine");
    assert!(ran.code == Some(139) && ran.stderr.contains("a fault ended the kernel"), "{ran:?}");
    assert!(!ran.stderr.contains("watchdog"), "{ran:?}");
}

/// A GPU that has a display ends kernels that run for seconds, and one that calls the host may well do so.
#[test]
fn a_kernel_that_the_watchdog_of_the_display_ended_is_told_of_it() {
    let ran = on_lost_gpu(LAUNCH_TIMEOUT, &["--kernel", "mine", "--lanes", "32"], "mine");
    assert!(ran.code == Some(139) && ran.stderr.contains("a GPU with a display ends kernels that run for seconds"), "{ran:?}");
}
