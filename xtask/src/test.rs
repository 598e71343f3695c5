//! `cargo xtask test`: one command for users, developers and CI.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

/// Installs what is missing, if it may, and runs every test that needs no GPU.
pub(crate) fn run(sh: &Shell, install: bool) -> Result<()> {
    setup(install)?;
    run_all(sh)
}

/// Installs what is missing, if it may, and says what is missing then.
pub(crate) fn setup(install: bool) -> Result<()> {
    if install {
        println!("== setup: the device toolchain");
        let report = hostcall_build::setup(|line| println!("   {line}"));
        for line in report.done.iter().chain(&report.failed) {
            println!("   {line}");
        }
    }
    let missing: Vec<_> = hostcall_build::doctor().into_iter().filter(|check| !check.found).collect();
    for check in &missing {
        println!(
            "== without {}: {}; tests that need it say that they are skipped",
            check.name,
            check.remedy.as_deref().unwrap_or("see `cargo hostcall doctor`")
        );
    }
    // In CI nothing may be skipped for want of a tool that setup installs.
    ensure!(missing.is_empty() || std::env::var_os("CI").is_none(), "the device toolchain is incomplete");
    Ok(())
}

/// Every test that needs no GPU.
pub(crate) fn run_all(sh: &Shell) -> Result<()> {
    println!("== tests of every crate, and every behaviour on the simulator");
    if cmd!(sh, "cargo nextest --version").quiet().ignore_stderr().ignore_stdout().run().is_ok() {
        cmd!(sh, "cargo nextest run --workspace --no-fail-fast").run()?;
        cmd!(sh, "cargo test --workspace --doc --quiet").run()?;
    } else {
        cmd!(sh, "cargo test --workspace --no-fail-fast").run()?;
    }
    println!("== every behaviour on the simulator with a thread per lane");
    cmd!(sh, "cargo test --package hostcall-tests --test behaviours --quiet").env("HOSTCALL_TEST_DEVICE", "sim:threads").run()?;
    println!("== the host runtime's async handlers");
    cmd!(sh, "cargo test --package hostcall --features tokio,test-utils --lib --quiet").run()?;
    super::checks::loom(sh)?;
    println!("== seeds of the fuzz targets");
    cmd!(sh, "cargo test --manifest-path fuzz/Cargo.toml --lib --tests --quiet").run()?;
    Ok(())
}
