//! The smaller commands.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::steps::Steps;

/// Everything CI checks.
pub(crate) fn ci(sh: &Shell) -> Result<()> {
    let mut steps = Steps::begin();
    let before = changed(sh)?;
    // First: build scripts look for the device toolchain once.
    steps.run("setup", || super::test::setup(sh, true).and_then(|()| super::test::lint()));
    steps.run("formatting", || {
        cmd!(sh, "cargo fmt --all --check").run()?;
        for krate in kernels(sh)? {
            cmd!(sh, "cargo fmt --manifest-path {krate}/Cargo.toml --check").run()?;
        }
        Ok(())
    });
    steps.run("generated files", || super::generated::run(sh, true, false));
    let workspace = super::test::workspace();
    steps.run("clippy, compiling all that is tested", || super::test::succeed(&format!("test {workspace} --no-run --quiet")));
    steps.run("clippy of the device library, as the simulator builds it", || {
        let clippy = cmd!(sh, "cargo clippy --package hostcall --target-dir target/clippy-device --quiet -- -D warnings");
        Ok(clippy.env("RUSTFLAGS", "--cfg hostcall_device").run()?)
    });
    steps.run("rustdoc", || {
        // An example is named so that crates are taken with the features that they have been built with. Without one,
        // cargo leaves out what only tests depend on, and checks nearly everything again.
        let mut doc = super::test::cargo(&format!("doc {workspace} --no-deps --quiet --lib --bins --example add42"));
        let status = doc.env("RUSTDOCFLAGS", "-D warnings").status()?;
        ensure!(status.success(), "rustdoc: {status}");
        // The device library as a module of it, which no program may have: its words would be found for a kernel's.
        let doc = cmd!(sh, "cargo doc --package hostcall --features docs --no-deps --quiet --target-dir target/docs");
        Ok(doc.env("RUSTDOCFLAGS", "-D warnings").run()?)
    });
    super::test::whole(sh, &mut steps);
    steps.run("Rust's own tests of core, alloc and std, on the simulator", || {
        // The tests of cargo-hostcall have built it.
        let tool = super::target_directory().join("debug/cargo-hostcall");
        super::rust_tests::run(sh, &super::rust_tests::Arguments::in_ci(tool))
    });
    // A lock file that is out of date is written anew by whoever builds.
    steps.run("what git knows is as it was", || {
        let after = changed(sh)?;
        ensure!(after == before, "changed meanwhile, so commit it:\n{after}");
        Ok(())
    });
    steps.finish()
}

/// The files that git knows and that are not as they were committed.
pub(crate) fn changed(sh: &Shell) -> Result<String> {
    Ok(cmd!(sh, "git status --porcelain --untracked-files=no").quiet().read()?)
}

/// The kernel crates, which are no members of the workspace.
fn kernels(sh: &Shell) -> Result<Vec<PathBuf>> {
    let listed = cmd!(sh, "git ls-files *Cargo.toml").quiet().read()?;
    let elsewhere =
        |manifest: &&str| *manifest != "Cargo.toml" && !["crates/", "tests/programs/"].iter().any(|place| manifest.starts_with(place));
    let manifests = listed.lines().filter(elsewhere).map(Path::new);
    let kernel = |manifest: &&Path| sh.read_file(manifest).is_ok_and(|text| text.contains("cfg(hostcall_device)"));
    Ok(manifests.filter(kernel).filter_map(|manifest| manifest.parent().map(Path::to_path_buf)).collect())
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
            seeds.extend(["ok", "error"].map(|kind| format!("crates/hostcall-tablegen/tests/corpus/{kind}")));
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
pub(crate) fn soak(sh: &Shell, calls: u64, stream_values: Option<u64>, device: &str, seconds: Option<u64>) -> Result<()> {
    let what = match stream_values {
        Some(values) => ["--stream-values".to_owned(), values.to_string()],
        None => ["--calls".to_owned(), calls.to_string()],
    };
    let limit: Vec<String> = seconds.into_iter().flat_map(|seconds| ["--seconds".to_owned(), seconds.to_string()]).collect();
    cmd!(sh, "cargo run --release --package hostcall-tests --bin soak -- {what...} --device {device} {limit...}").run()?;
    Ok(())
}

/// The registry's crates and programs.
pub(crate) fn crates(sh: &Shell, device: &str) -> Result<()> {
    let test = [
        "--package",
        "cargo-hostcall",
        "--test",
        "crates",
        "--test",
        "registry",
        "--test",
        "c_programs",
        "--test",
        "c_suites",
        "--",
        "--nocapture",
        "--test-threads=1",
    ];
    let suites = crate::c_suites::fetch(sh)?;
    let test = cmd!(sh, "cargo test {test...}").env("HOSTCALL_TEST_DEVICE", device).env("HOSTCALL_REGISTRY", "all");
    test.env("HOSTCALL_C_SUITES", suites).run()?;
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
    cmd!(sh, "cargo test --package hostcall-idl-tests --test snapshots").env("INSTA_UPDATE", "always").run()?;
    cmd!(sh, "cargo test --package hostcall-tablegen --test corpus").env("HOSTCALL_BLESS", "1").env("INSTA_UPDATE", "always").run()?;
    Ok(())
}
