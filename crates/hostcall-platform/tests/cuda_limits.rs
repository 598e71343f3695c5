//! What a driver may refuse, on the stand-in for CUDA's driver: memory of the host's beyond a limit, as under WSL2 and
//! in containers, and memory that the process has and the driver is to register.

use std::path::Path;
use std::process::Command;

use offload::{Device, Error};

/// Of the process that has the stand-in for its driver.
const INSIDE: &str = "HOSTCALL_TEST_INSIDE";
/// How much memory may be pinned there, and half of it.
const LIMIT: usize = 1 << 20;
const HALF: usize = LIMIT / 2;

/// Runs the test of this name in a process of its own, with the stand-in for its driver. Whether this is that process.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let folder = tempfile::tempdir().expect("a directory");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-c/tests/c/fake_cuda.c");
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1"]).arg(driver);
    let compiled = compile.arg("-o").arg(folder.path().join("libcuda.so.1")).output().expect("cc starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut inside = Command::new(std::env::current_exe().expect("this program"));
    inside.args(["--exact", test, "--nocapture"]).env(INSIDE, "1").env("LD_LIBRARY_PATH", folder.path());
    let output = inside.env("FAKE_CUDA_PINNED", LIMIT.to_string()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    false
}

#[test]
fn pinned_memory_beyond_the_limit_is_an_error_that_says_who_limits_it_and_what_was_freed_is_there_again() {
    if !is_inside("pinned_memory_beyond_the_limit_is_an_error_that_says_who_limits_it_and_what_was_freed_is_there_again") {
        return;
    }
    let device = Device::cuda(0).expect("the stand-in has one");
    for _ in 0..3 {
        let first = device.alloc_host::<u8>(HALF).expect("half of it");
        let error = device.alloc_host::<u8>(LIMIT).expect_err("more than there is");
        assert!(matches!(error, Error::OutOfHostMemory { asked, .. } if asked == LIMIT as u64), "{error:?}");
        let said = error.to_string();
        assert!(said.contains("limited by RAM, by the container's limits, and under WSL2"), "{said}");
        drop(first);
    }
}

#[test]
fn memory_that_the_driver_does_not_register_is_taken_from_the_driver() {
    if !is_inside("memory_that_the_driver_does_not_register_is_taken_from_the_driver") {
        return;
    }
    let device = Device::cuda(0).expect("the stand-in has one");
    let huge = device.alloc_host_huge::<u8>(HALF).expect("the driver's own");
    assert_eq!(huge.len(), HALF);
    // Of what the driver gives there is as much less.
    assert!(matches!(device.alloc_host::<u8>(LIMIT), Err(Error::OutOfHostMemory { .. })));
    drop(huge);
    device.alloc_host::<u8>(LIMIT).expect("all of it");
}
