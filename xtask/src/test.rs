//! `cargo xtask test`: one command for users, developers and CI.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

/// Installs what is missing, if it may, and runs every test that needs no GPU.
pub(crate) fn run(sh: &Shell, install: bool) -> Result<()> {
    setup(sh, install)?;
    run_all(sh)
}

/// Installs what is missing, if it may, and says what is missing then.
pub(crate) fn setup(sh: &Shell, install: bool) -> Result<()> {
    if install {
        println!("== setup: the device toolchain");
        let report = hostcall_build::setup(|line| println!("   {line}"));
        for line in report.done.iter().chain(&report.failed) {
            println!("   {line}");
        }
        println!("== setup: files of Debian's packages to compare with, and C compilers");
        if let Err(error) = super::debian::unpack(sh).and_then(|()| super::debian::compilers(sh)) {
            println!("   {error:#}; tests that need them say that they are skipped");
            // In CI nothing may be skipped for want of what setup brings.
            ensure!(std::env::var_os("CI").is_none(), "files of Debian's packages, or compilers, are missing");
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
    // Always of the whole workspace: cargo builds other selections of packages with other features, and so builds nearly everything again.
    let nextest = cmd!(sh, "cargo nextest --version").quiet().ignore_stderr().ignore_stdout().run().is_ok();
    println!("== tests of every crate, and every behaviour on the simulator");
    if nextest {
        cmd!(sh, "cargo nextest run --workspace --no-fail-fast").run()?;
        cmd!(sh, "cargo test --workspace --doc --quiet").run()?;
    } else {
        cmd!(sh, "cargo test --workspace --no-fail-fast").run()?;
    }
    println!("== every behaviour on the simulator with a thread per lane");
    let behaviours = if nextest {
        cmd!(sh, "cargo nextest run --workspace --test behaviours --no-fail-fast")
    } else {
        cmd!(sh, "cargo test --workspace --test behaviours --quiet")
    };
    behaviours.env("HOSTCALL_TEST_DEVICE", "sim:threads").run()?;
    println!("== crates without and with features that the tests' builds have not");
    cmd!(sh, "cargo check --quiet --package hostcall --package offload").run()?;
    cmd!(sh, "cargo check --quiet --package offload --features cudarc --examples").run()?;
    super::checks::loom(sh)?;
    println!("== seeds of the fuzz targets");
    // As this workspace builds, where this workspace does: most of what they need is there.
    let target = super::root().join("target");
    cmd!(sh, "cargo test --manifest-path fuzz/Cargo.toml --target-dir {target} --lib --tests --quiet")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .run()?;
    Ok(())
}
