//! The Offload API's C programs, and the tests of the packet library, under AddressSanitizer and ThreadSanitizer, with the standard library
//! instrumented as well.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use xshell::Shell;

use crate::{offload, steps::Steps};

pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Where is built what is built for a sanitizer. Each has its own: builds that differ in flags alone have the same names.
pub(crate) fn directory(sanitizer: &str) -> PathBuf {
    crate::target_directory().join("sanitizer").join(sanitizer)
}

/// What is missing, if anything.
fn missing() -> Option<&'static str> {
    let sysroot = Command::new("rustc").args(["+nightly", "--print", "sysroot"]).output().ok().filter(|output| output.status.success());
    let Some(sysroot) = sysroot else { return Some("there is no nightly toolchain: rustup toolchain install nightly") };
    let sources = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim()).join("lib/rustlib/src/rust/library/std");
    (!sources.is_dir()).then_some("nightly has no sources of std: rustup component add rust-src --toolchain nightly")
}

/// Tests of the packet library that run within one process, under a sanitizer.
fn tests(sanitizer: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "test", "-Zbuild-std", "--target", TARGET, "--package", "amd-hostcall", "--quiet"]);
    command.args(["--lib", "--test", "consumers", "--test", "hostile"]).current_dir(crate::root());
    command.arg("--target-dir").arg(directory(sanitizer));
    command.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer}")).env("HOSTCALL_AMD_DOORBELL", "own");
    // Doorbells are left to whoever rings late, and threads that wait for a turn end with the process.
    command.env("ASAN_OPTIONS", "detect_leaks=0").env_remove("CARGO").env_remove("RUSTC");
    command
}

/// Runs them, or only one.
pub(crate) fn run(sh: &Shell, only: Option<&str>) -> Result<()> {
    ensure!(missing().is_none(), "{}", missing().unwrap_or_default());
    let known = [("AddressSanitizer", "address"), ("ThreadSanitizer", "thread")];
    ensure!(only.is_none_or(|only| known.iter().any(|(_, kind)| *kind == only)), "the sanitizers are `address` and `thread`");
    let mut steps = Steps::begin();
    for (name, sanitizer) in known.into_iter().filter(|(_, kind)| only.is_none_or(|only| only == *kind)) {
        steps.run(format!("the Offload API's C programs under {name}"), || offload::sanitize(sh, sanitizer));
        steps.tests(format!("the packet library under {name}"), [tests(sanitizer)]);
    }
    steps.finish()
}
