//! The packet library, and `libhostcall`, under ThreadSanitizer and AddressSanitizer: their tests, with the standard
//! library instrumented as well.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::Steps;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Where nightly is, with the sources of std.
fn nightly() -> Result<PathBuf> {
    let sysroot = Command::new("rustc").args(["+nightly", "--print", "sysroot"]).output().ok().filter(|output| output.status.success());
    let sysroot = sysroot.context("there is no nightly toolchain: rustup toolchain install nightly")?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    let sources = sysroot.join("lib/rustlib/src/rust/library/std");
    ensure!(sources.is_dir(), "nightly has no sources of std: rustup component add rust-src --toolchain nightly");
    Ok(sysroot)
}

/// A command of nightly's cargo that instruments everything, std too.
fn instrumenting(command: &str, sanitizer: &str, package: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", command, "-Zbuild-std", "--target", TARGET, "--package", package, "--quiet"]).current_dir(crate::root());
    // A directory for each: builds that differ in flags alone have the same names.
    cargo.arg("--target-dir").arg(built(sanitizer)).env("RUSTFLAGS", format!("-Zsanitizer={sanitizer}"));
    cargo.env_remove("CARGO").env_remove("RUSTC");
    cargo
}

fn built(sanitizer: &str) -> PathBuf {
    crate::target_directory().join("sanitizer").join(sanitizer)
}

/// Tests of the packet library that run within one process, under a sanitizer.
fn packets(sanitizer: &str) -> Command {
    let mut command = instrumenting("test", sanitizer, "hostcall-amd");
    command
        .args(["--lib", "--test", "interface", "--test", "forms", "--test", "races", "--test", "hostile"])
        .args(["--test", "priority", "--test", "layouts", "--test", "handlers"])
        .env("HOSTCALL_AMD_DOORBELL", "own");
    // Doorbells are left to whoever rings late, and threads that wait for a turn end with the process.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    command
}

/// Builds `libhostcall` under a sanitizer.
fn library(sanitizer: &str) -> Result<()> {
    let mut command = instrumenting("build", sanitizer, "hostcall-c");
    command.arg("--lib");
    if sanitizer == "address" {
        // It is told of the stacks of the simulator's lanes.
        command.args(["--features", "offload/address-sanitizer"]);
    }
    let status = command.status()?;
    ensure!(status.success(), "building libhostcall: {status}");
    Ok(())
}

/// The tests of hosts in C and C++, with that library, and the programs instrumented by clang.
fn hosts(sysroot: &Path, sanitizer: &str, runtime: &str) -> Command {
    let mut command = crate::test::cargo("test --quiet --package hostcall-c --test programs");
    let library = built(sanitizer).join(TARGET).join("debug/libhostcall_c.so");
    let runtime = sysroot.join("lib/rustlib").join(TARGET).join("lib").join(format!("librustc-nightly_rt.{runtime}.a"));
    command.env("HOSTCALL_SANITIZER", sanitizer).env("HOSTCALL_SANITIZER_LIBRARY", library).env("HOSTCALL_SANITIZER_RUNTIME", runtime);
    if sanitizer == "thread" {
        // A thread for each lane. The sanitizer of threads is not told of fibers: several of one thread would be one
        // another's callers.
        command.env("HOSTCALL_TEST_DEVICE", "sim:threads");
    }
    command
}

/// Runs them, or only one.
pub(crate) fn run(only: Option<&str>) -> Result<()> {
    let sysroot = nightly()?;
    let mut steps = Steps::begin();
    for (name, sanitizer, runtime) in [("ThreadSanitizer", "thread", "tsan"), ("AddressSanitizer", "address", "asan")] {
        if only.is_none_or(|only| only == sanitizer) {
            steps.tests(format!("the packet library under {name}"), [packets(sanitizer)]);
            let mut built = false;
            steps.run(format!("libhostcall for {name}"), || library(sanitizer).inspect(|()| built = true));
            if built {
                steps.tests(format!("hosts in C and C++ under {name}"), [hosts(&sysroot, sanitizer, runtime)]);
            }
        }
    }
    steps.finish()
}
