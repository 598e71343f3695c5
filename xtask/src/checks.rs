//! The smaller commands.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// Everything CI checks.
pub(crate) fn ci(sh: &Shell) -> Result<()> {
    // First: build scripts look for the device toolchain once.
    super::test::setup(sh, true)?;
    println!("== formatting");
    cmd!(sh, "cargo fmt --all --check").run()?;
    for krate in kernels(sh)? {
        cmd!(sh, "cargo fmt --manifest-path {krate}/Cargo.toml --check").run()?;
    }
    cmd!(sh, "cargo fmt --manifest-path fuzz/Cargo.toml --check").run()?;
    super::generated::run(sh, true, false)?;
    println!("== clippy");
    cmd!(sh, "cargo clippy --workspace --all-targets --quiet -- -D warnings").run()?;
    println!("== clippy of the device library, as the simulator builds it");
    cmd!(sh, "cargo clippy --package hostcall --target-dir target/clippy-device --quiet -- -D warnings")
        .env("RUSTFLAGS", "--cfg hostcall_device")
        .run()?;
    println!("== rustdoc");
    cmd!(sh, "cargo doc --workspace --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings").run()?;
    super::test::run_all(sh)?;
    println!("== Rust's own tests of core, alloc and std, on the simulator");
    // The tests of cargo-hostcall have built it.
    super::rust_tests::run(sh, &super::rust_tests::Arguments::in_ci(super::target_directory().join("debug/cargo-hostcall")))
}

/// The kernel crates, which are no members of the workspace.
fn kernels(sh: &Shell) -> Result<Vec<std::path::PathBuf>> {
    Ok(sh.read_dir("kernels")?.into_iter().filter(|dir| dir.join("Cargo.toml").exists()).collect())
}

/// The loom models.
pub(crate) fn loom(sh: &Shell) -> Result<()> {
    println!("== loom");
    cmd!(sh, "cargo test --package hostcall-abi --test loom --release --target-dir target/loom --quiet")
        .env("RUSTFLAGS", "--cfg loom")
        .run()?;
    Ok(())
}

/// The fuzz targets.
pub(crate) fn fuzz(sh: &Shell, seconds: u32, only: Option<&str>) -> Result<()> {
    let targets =
        cmd!(sh, "cargo +nightly fuzz list").read().context("fuzzing needs a nightly toolchain and `cargo install cargo-fuzz`")?;
    for target in targets.lines().filter(|target| only.is_none_or(|only| only == *target)) {
        let time = format!("-max_total_time={seconds}");
        sh.create_dir(format!("fuzz/corpus/{target}"))?;
        let mut seeds = vec![format!("fuzz/seeds/{target}")];
        if target == "tablegen" {
            seeds.extend(["ok", "error"].map(|kind| format!("crates/tablegen/tests/corpus/{kind}")));
        }
        let dictionary = format!("fuzz/dictionaries/{target}.dict");
        let dictionary = sh.path_exists(&dictionary).then(|| format!("-dict={dictionary}"));
        cmd!(
            sh,
            "cargo +nightly fuzz run --features libfuzzer {target} fuzz/corpus/{target} {seeds...} -- {time} -timeout=10 {dictionary...}"
        )
        .run()?;
    }
    Ok(())
}

/// The soak.
pub(crate) fn soak(sh: &Shell, calls: u64, device: &str) -> Result<()> {
    let calls = calls.to_string();
    cmd!(sh, "cargo run --release --package hostcall-tests --bin soak -- --calls {calls} --device {device}").run()?;
    Ok(())
}

/// The registry's crates.
pub(crate) fn crates(sh: &Shell, device: &str) -> Result<()> {
    let test = ["--package", "cargo-hostcall", "--test", "crates", "--", "--nocapture", "--test-threads=1"];
    cmd!(sh, "cargo test {test...}").env("HOSTCALL_TEST_DEVICE", device).run()?;
    Ok(())
}

/// Licences, bans and advisories.
pub(crate) fn audit(sh: &Shell) -> Result<()> {
    cmd!(sh, "cargo deny check").run().context("needs `cargo install cargo-deny`")?;
    Ok(())
}

/// Golden files.
pub(crate) fn bless(sh: &Shell) -> Result<()> {
    cmd!(sh, "cargo test --package hostcall-macros").env("TRYBUILD", "overwrite").env("INSTA_UPDATE", "always").run()?;
    cmd!(sh, "cargo test --package tablegen --test corpus").env("HOSTCALL_BLESS", "1").env("INSTA_UPDATE", "always").run()?;
    Ok(())
}
