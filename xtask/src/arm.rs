//! `cargo xtask arm`: hosts with AArch64 processors, from a machine with x86-64. Tests are built for them here, and
//! QEMU runs them: version 8.1 or later, because older ones move words of 16 bytes in two pieces, and say so. The wheel
//! is used by a Python for such machines.
//!
//! No AArch64 processor has run any of it: no Grace Hopper, no GB200, no Jetson.
//!
//! QEMU has this machine's memory model, which is a stronger one. So this says that the code is right on such a
//! processor, and nothing of its barriers: the loom models look at these.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::steps::Steps;
use crate::wheel;

mod python;

pub(crate) const TRIPLE: &str = "aarch64-unknown-linux-gnu";
/// Debian's cross compilers, which bring the C library of such machines along.
pub(crate) const COMPILERS: [&str; 2] = ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"];
const COMPILER_PACKAGES: [&str; 2] = ["gcc-aarch64-linux-gnu", "g++-aarch64-linux-gnu"];
pub(crate) const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// The Debian whose QEMU is new enough, and linked so that it runs on others.
const DEBIAN: &str = "trixie";
/// The first version that moves words whole.
const QEMU: [u32; 2] = [8, 1];

/// Tests that are left out, as nextest selects them, and why.
const LEFT_OUT: [(&str, &str); 4] = [
    ("test(every_seed)", "models that try orders of events know nothing of processors, and take minutes"),
    ("binary(stream) & test(/^faults::/)", "that tests notice rules which they break says nothing of processors, and takes minutes"),
    ("test(messages_that_wait_for_a_while_lose_nothing)", "they wait for four seconds at most, in which QEMU does too little"),
    ("test(no_link_leads_out_of_what_is_granted)", "it lists the root, in whose place QEMU shows its libraries"),
];

/// Builds and runs the tests; `only_python`: those that use the wheel.
pub(crate) fn run(sh: &Shell, only_python: bool) -> Result<()> {
    let mut steps = Steps::begin();
    let mut qemu = None;
    steps.run("a compiler, and QEMU", || {
        let found = setup(sh)?;
        qemu = Some(found.canonicalize().unwrap_or(found));
        Ok(())
    });
    let Some(qemu) = qemu else { return steps.finish() };
    if !only_python {
        in_rust(&mut steps, &qemu);
    }
    let mut wheel = None;
    steps.run("the wheel of the Python package", || {
        crate::python::packages(sh)?;
        wheel = Some(wheel::build(sh, false, Some(TRIPLE))?);
        Ok(())
    });
    if let Some(wheel) = wheel {
        with_python(sh, &mut steps, &qemu, &wheel);
    }
    steps.finish()
}

/// The tests in Rust.
fn in_rust(steps: &mut Steps, qemu: &Path) {
    let runner = format!("{} -L {LIBRARIES}", qemu.display());
    let variable = |what| crate::target_variable(TRIPLE, what);
    let of = |packages: &str, selection: &str| {
        let mut command = crate::test::cargo(&format!("nextest run --profile arm --target {TRIPLE} --no-fail-fast {packages}"));
        command.args(["-E", selection]).env(variable("LINKER"), COMPILERS[0]).env(variable("RUNNER"), &runner);
        // For tests that start their own program: QEMU starts none of such a processor.
        command.env("HOSTCALL_TEST_RUNNER", &runner);
        // A tenth of the random inputs: QEMU is ten times as slow.
        command.env("PROPTEST_CASES", "25").env("HOSTCALL_TARGETS", "sim");
        // Tests of broken rules panic, and QEMU takes seconds for the names in a backtrace.
        command.env("RUST_BACKTRACE", "0");
        command
    };
    for (tests, reason) in LEFT_OUT {
        println!("not run: {tests}: {reason}");
    }
    let selection = format!("not ({})", LEFT_OUT.map(|(tests, _)| format!("({tests})")).join(" + "));
    steps.tests("the wire, and the server", [of("-p hostcall-abi -p hostcall", &selection)]);
    steps.tests("every behaviour on the simulator", [of("-p hostcall-tests --test behaviours", &selection)]);
}

/// Uses the wheel.
fn with_python(sh: &Shell, steps: &mut Steps, qemu: &Path, wheel: &Path) {
    let mut python = None;
    steps.run("the wheel beside a Python for such machines", || {
        python = Some(python::Python::with(sh, qemu, wheel)?);
        Ok(())
    });
    let Some(python) = python else { return };
    steps.run("a call of Python's in the simulator", || python.call());
    steps.tests("tests of the Python package", [python.tests()]);
}

/// Installs what is missing, and says where QEMU is.
pub(crate) fn setup(sh: &Shell) -> Result<PathBuf> {
    cmd!(sh, "rustup target add {TRIPLE}").quiet().run().context("needs rustup, for the standard library of such machines")?;
    if COMPILERS.iter().any(|compiler| cmd!(sh, "{compiler} --version").quiet().ignore_stdout().ignore_stderr().run().is_err()) {
        crate::debian::install(sh, &COMPILER_PACKAGES).context("cannot install a compiler for AArch64")?;
    }
    let own = crate::root().join("target/arm/usr/bin/qemu-aarch64");
    for qemu in [Path::new("qemu-aarch64"), &own] {
        if version(qemu).is_some_and(|version| version >= QEMU) {
            return Ok(qemu.to_path_buf());
        }
    }
    println!("   qemu-user of Debian {DEBIAN}");
    let folder = crate::root().join("target/arm");
    let own_arch = cmd!(sh, "dpkg --print-architecture").quiet().read()?;
    crate::debian::unpack_from(sh, DEBIAN, &own_arch, &["qemu-user"], &["./usr/bin/qemu-aarch64"], &folder)?;
    let found = version(&own);
    ensure!(found.is_some_and(|version| version >= QEMU), "QEMU {QEMU:?} or later is needed, and Debian {DEBIAN} has {found:?}");
    Ok(own)
}

/// Major and minor version of a QEMU.
fn version(qemu: &Path) -> Option<[u32; 2]> {
    let said = Command::new(qemu).arg("--version").output().ok()?;
    read_version(&String::from_utf8_lossy(&said.stdout))
}

/// `qemu-aarch64 version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)`
fn read_version(said: &str) -> Option<[u32; 2]> {
    let (_, version) = said.split_once(" version ")?;
    let mut parts = version.split(['.', ' ']).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??])
}

#[test]
fn versions_of_qemu_are_compared_by_their_numbers() {
    let of = |number: &str| read_version(&format!("qemu-aarch64 version {number} (Debian 1:{number})\nCopyright"));
    assert_eq!(of("10.0.13"), Some([10, 0]));
    assert!(of("10.0.13") > Some(QEMU) && of("7.2.15") < Some(QEMU) && of("8.1.0") >= Some(QEMU));
    assert_eq!(read_version("no such thing"), None);
    assert_eq!(crate::target_variable(TRIPLE, "LINKER"), "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
}
