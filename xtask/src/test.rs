//! `cargo xtask test`: one command for users, developers and CI.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use xshell::Shell;

use crate::steps::Steps;

/// How much is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Unit tests, and the behaviours on the simulator's fibers. Nothing is installed, and nothing built for a GPU.
    Quick,
    /// Every test that needs no GPU.
    Whole {
        /// Whether what is missing may be installed.
        install: bool,
    },
}

/// Installs what is missing, if it may, and runs the tests.
pub(crate) fn run(sh: &Shell, extent: Extent) -> Result<()> {
    let mut steps = Steps::begin();
    match extent {
        Extent::Quick => quick(&mut steps),
        Extent::Whole { install } => {
            steps.run("setup", || setup(sh, install));
            whole(sh, &mut steps);
        }
    }
    steps.finish()
}

/// Every test that needs no GPU, also what other runs leave out. Tests learn that from variables: a run of its own.
/// Hosts with AArch64 come last, because QEMU takes long.
pub(crate) fn all(sh: &Shell, install: bool) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("test").env("HOSTCALL_TEST_ALL", "1").env("HOSTCALL_REGISTRY", "all");
    let status = if install { &mut command } else { command.arg("--no-setup") }.status()?;
    let arm = if install {
        super::arm::run(sh, false)
    } else {
        println!("skipped: hosts with AArch64, for which a compiler, QEMU and a Python are installed");
        Ok(())
    };
    ensure!(status.success(), "`cargo xtask test` with everything: {status}");
    arm
}

/// Installs all that tests and bundles need; an error if something is missing then. For what takes so long that it
/// should not end for want of a tool.
pub(crate) fn setup_all(sh: &Shell) -> Result<()> {
    prepare(sh, true, true)
}

/// Installs what is missing, if it may, and says what is missing then. In CI nothing may be skipped for want of what
/// setup brings.
pub(crate) fn setup(sh: &Shell, install: bool) -> Result<()> {
    prepare(sh, install, std::env::var_os("CI").is_some())
}

fn prepare(sh: &Shell, install: bool, all: bool) -> Result<()> {
    if install {
        println!("   the device toolchain");
        let report = hostcall_build::setup(|line| println!("   {line}"));
        for line in report.done.iter().chain(&report.failed) {
            println!("   {line}");
        }
        println!("   files of Debian's packages to compare with, C compilers, a browser, and launchers of ranks");
        if let Err(error) = super::debian::unpack(sh).and_then(|()| super::debian::programs(sh)) {
            println!("   {error:#}; tests that need them say that they are skipped");
            ensure!(!all, "files or programs of Debian's packages are missing");
        }
        println!("   NVIDIA's compilers of C++");
        if let Err(error) = super::cuda::packages(sh) {
            println!("   {error:#}; tests that need them say that they are skipped");
            ensure!(!all, "nvcc is missing");
        }
        println!("   Python's packages that read what sinks write");
        if let Err(error) = super::python::packages(sh) {
            println!("   {error:#}; tests that need them say that they are skipped");
            ensure!(!all, "Python's packages are missing");
        }
    }
    let missing: Vec<_> = hostcall_build::doctor().into_iter().filter(|check| !check.found).collect();
    for check in &missing {
        println!(
            "   without {}: {}; tests that need it say that they are skipped",
            check.name,
            check.remedy.as_deref().unwrap_or("see `cargo hostcall doctor`")
        );
    }
    ensure!(missing.is_empty() || !all, "the device toolchain is incomplete");
    Ok(())
}

/// A command of cargo's, in the repository's root.
pub(crate) fn cargo(words: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words.split_whitespace()).current_dir(super::root());
    // As `cargo clippy -- -D warnings` says it to clippy's driver, the only one who reads it.
    command.env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__");
    command
}

/// What is off by default because it takes long to build, and is tested all the same.
const FEATURES: &str = "cargo-hostcall/s3,cargo-hostcall/gcs,cargo-hostcall/azure,cargo-hostcall/nats,cargo-hostcall/remote,hostcall-bench/sinks,hostcall-examples/sinks,hostcall-examples/remote,hostcall-tests/sinks";

/// Whether nextest is there.
fn nextest() -> bool {
    cargo("nextest --version").output().is_ok_and(|output| output.status.success())
}

/// What is left out of the quick tests, because others' crates that it depends on take longer to build than all the
/// rest: Parquet, Arrow, clients and servers of S3 and of NATS, Python.
const SLOW_TO_BUILD: &str = "--exclude hostcall-sinks --exclude hostcall-remote --exclude hostcall-python --exclude hostcall-fuzz";

/// Whether what is built is linted too.
static LINTED: AtomicBool = AtomicBool::new(false);

/// From now on clippy compiles this workspace, and its warnings are errors: it is the compiler with lints, and checking
/// everything once without making code of it would take as long as a third of making the code.
pub(crate) fn lint() -> Result<()> {
    let driver = Command::new("clippy-driver").arg("--version").output();
    ensure!(driver.is_ok_and(|output| output.status.success()), "no clippy-driver: `rustup component add clippy` installs it");
    LINTED.store(true, Ordering::Relaxed);
    Ok(())
}

/// What cargo is told wherever the whole workspace is built. With other selections of packages or other features it
/// would build nearly everything again.
pub(crate) fn workspace() -> String {
    let linted = if LINTED.load(Ordering::Relaxed) { "--config build.rustc-workspace-wrapper=\"clippy-driver\" " } else { "" };
    format!("{linted}--workspace --features {FEATURES}")
}

/// The tests of the workspace that `selection` chooses, by nextest if it is there.
pub(crate) fn tests(selection: &str) -> Command {
    tests_of(&workspace(), selection)
}

/// The tests that `selection` chooses of what `workspace` says to cargo.
fn tests_of(workspace: &str, selection: &str) -> Command {
    // `cargo test` alone would also run documentation's examples, which are a step of their own.
    let (runner, all) = if nextest() { ("nextest run", "") } else { ("test", "--lib --bins --tests --examples") };
    let selection = if selection.is_empty() { all } else { selection };
    let mut command = cargo(&format!("{runner} {workspace} --no-fail-fast {selection}"));
    // For tests that have something built (`hostcall_test_support::built`).
    command.env("HOSTCALL_TEST_SELECTION", workspace);
    command
}

/// What takes minutes.
fn quick(steps: &mut Steps) {
    let mut command = tests_of(&format!("--workspace {SLOW_TO_BUILD}"), "--lib --bins --test behaviours");
    command.env("HOSTCALL_TARGETS", "sim");
    steps.tests("unit tests, and every behaviour on the simulator", [command]);
}

/// Every test that needs no GPU.
pub(crate) fn whole(sh: &Shell, steps: &mut Steps) {
    steps.tests("tests of every crate, and every behaviour on the simulator", [tests("")]);
    steps.tests("examples of the documentation", [cargo(&format!("test {} --doc --quiet", workspace()))]);
    let mut behaviours = tests("--test behaviours");
    behaviours.env("HOSTCALL_TEST_DEVICE", "sim:threads").env("HOSTCALL_WINDOW", "off");
    steps.tests("every behaviour on the simulator with a thread per lane, replies in host memory", [behaviours]);
    let mut behaviours = tests("--test behaviours");
    behaviours.env("HOSTCALL_TEST_HELP", "0");
    steps.tests("every behaviour on the simulator, where only threads of the server serve", [behaviours]);
    // Built with the tests of its package.
    let library = sh.current_dir().join("target/debug/deps/libhsa_on_sim.so");
    let over_hsa = |selection: &str| {
        let mut command = tests(selection);
        command.env("HOSTCALL_TEST_DEVICE", "hsa:0").env("HOSTCALL_HSA_LIBRARY", &library);
        command
    };
    let behaviours = over_hsa("--test behaviours --test soak");
    steps.tests("every behaviour, and the soak, through the HSA plugin, over the stand-in for AMD's runtime", [behaviours]);
    let mut behaviours = over_hsa("--test behaviours");
    behaviours.env("HSA_ON_SIM", "lanes=64");
    steps.tests("every behaviour with waves of 64 lanes, through the HSA plugin, over the stand-in", [behaviours]);
    // Another package has tests of the name `programs`, which `cargo test` runs as well.
    let only = if nextest() { "-E package(cargo-hostcall)" } else { "" };
    let mut programs = over_hsa(&format!("--test programs --test kernels --test demo {only}"));
    // As much as programs ask of the simulator: their threads, and stacks for those that call themselves 20 000 times.
    programs.env("HSA_ON_SIM", "sms=16,stack=32m;sms=16,stack=32m,nobar;sms=16,stack=32m,lanes=64");
    steps.tests("programs and kernels with std, and the demo, through the HSA plugin, over the stand-in", [programs]);
    super::amd_bundle::step(sh, steps);
    super::scarcity::some(steps);
    super::wheel::steps(sh, steps, &[]);
    let features = [
        "check --quiet --package hostcall --package hostcall-platform",
        "check --quiet --package hostcall-platform --features cudarc --examples",
        // Another version of CUDA than our own tests choose.
        "check --quiet --package hostcall-platform --features cudarc,cudarc/cuda-13000",
        "check --quiet --package cargo-hostcall",
        "check --quiet --package cargo-hostcall --features sinks",
    ];
    steps.run("crates without and with features that the tests' builds have not", || features.into_iter().try_for_each(succeed));
    steps.tests("loom", loom());
    if std::env::var_os("HOSTCALL_TEST_ALL").is_some() {
        super::api::steps(sh, steps, false);
        super::cudarc::steps(sh, steps);
    }
}

/// The loom models.
pub(crate) fn loom() -> [Command; 2] {
    ["hostcall-abi", "hostcall-amd"].map(|package| {
        let mut command = cargo(&format!("test --package {package} --test loom --profile loom --target-dir target/loom --quiet"));
        command.env("RUSTFLAGS", "--cfg loom");
        command
    })
}

/// Runs a command of cargo's that must succeed.
pub(crate) fn succeed(words: &str) -> Result<()> {
    let status = cargo(words).status()?;
    ensure!(status.success(), "`cargo {words}`: {status}");
    Ok(())
}
