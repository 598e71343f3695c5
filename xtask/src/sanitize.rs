//! The packet library under ThreadSanitizer and AddressSanitizer: its tests, with the standard library instrumented as well.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::steps::Steps;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What is missing, if anything.
fn missing() -> Option<&'static str> {
    let sysroot = Command::new("rustc").args(["+nightly", "--print", "sysroot"]).output().ok().filter(|output| output.status.success());
    let Some(sysroot) = sysroot else { return Some("there is no nightly toolchain: rustup toolchain install nightly") };
    let sources = std::path::PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim()).join("lib/rustlib/src/rust/library/std");
    (!sources.is_dir()).then_some("nightly has no sources of std: rustup component add rust-src --toolchain nightly")
}

/// Tests of the packet library that run within one process, under a sanitizer.
fn tests(sanitizer: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "test", "-Zbuild-std", "--target", TARGET, "--package", "amd-hostcall", "--quiet"]);
    command.args(["--lib", "--test", "interface", "--test", "races", "--test", "hostile"]).current_dir(crate::root());
    // A directory for each: builds that differ in flags alone have the same names.
    command.arg("--target-dir").arg(crate::root().join("target/sanitizer").join(sanitizer));
    command.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer}")).env("HOSTCALL_AMD_DOORBELL", "own");
    // Doorbells are left to whoever rings late, and threads that wait for a turn end with the process.
    command.env("ASAN_OPTIONS", "detect_leaks=0").env_remove("CARGO").env_remove("RUSTC");
    command
}

/// Runs them, or only one.
pub(crate) fn run(only: Option<&str>) -> Result<()> {
    ensure!(missing().is_none(), "{}", missing().unwrap_or_default());
    let mut steps = Steps::begin();
    for (name, sanitizer) in [("ThreadSanitizer", "thread"), ("AddressSanitizer", "address")] {
        if only.is_none_or(|only| only == sanitizer) {
            steps.tests(format!("the packet library under {name}"), [tests(sanitizer)]);
        }
    }
    steps.finish()
}
