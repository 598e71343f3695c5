//! Programs of `tests/programs/`, for tests of several files: built and run by `cargo hostcall`, and for comparison by
//! `cargo` on this machine.
//!
//! `HOSTCALL_TEST_DEVICE` chooses the device; the default is the simulator. Without a device toolchain there is nothing
//! to build them with, and the tests say so. With `HOSTCALL_TEST_BUNDLE`, the folder that `cargo xtask gpu-bundle`
//! makes, nothing is built: images, programs of this machine, and the command line itself are taken from there.
#![allow(dead_code, reason = "each file of tests uses a part")]

pub(crate) mod package;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of a program left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self { code: output.status.code(), stdout: output.stdout, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.text(), self.stderr);
        self
    }
}

/// The folder with what was built elsewhere.
pub(crate) fn bundle() -> Option<PathBuf> {
    let dir = PathBuf::from(std::env::var_os("HOSTCALL_TEST_BUNDLE")?);
    Some(dir.canonicalize().unwrap_or_else(|error| panic!("HOSTCALL_TEST_BUNDLE={}: {error}", dir.display())))
}

pub(crate) fn programs() -> PathBuf {
    bundle().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")).join("programs")
}

/// Files of text to read.
pub(crate) fn pages() -> PathBuf {
    bundle().map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference"), |bundle| bundle.join("docs"))
}

pub(crate) fn can_build() -> bool {
    if bundle().is_some() {
        return true;
    }
    match hostcall_build::DeviceToolchain::find() {
        Ok(_) => true,
        Err(error) => {
            println!("not run: {error}");
            false
        }
    }
}

pub(crate) fn device() -> String {
    std::env::var("HOSTCALL_TEST_DEVICE").unwrap_or_else(|_| "sim".into())
}

pub(crate) fn output(mut command: Command, stdin: &[u8]) -> Ran {
    command.current_dir(programs()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it was piped");
    std::thread::scope(|scope| {
        // A program that ends early does not read it all.
        scope.spawn(move || drop(input.write_all(stdin)));
        Ran::of(child.wait_with_output().expect("it ends"))
    })
}

/// `cargo hostcall run OPTIONS -p PROGRAM -- ARGUMENTS`
pub(crate) fn command(options: &[&str], program: &str, arguments: &[&str]) -> Command {
    hostcall("run", options, program, arguments)
}

/// The same for any of the commands that build a package and start what it becomes.
pub(crate) fn hostcall(verb: &str, options: &[&str], package: &str, arguments: &[&str]) -> Command {
    on(&device(), verb, options, package, arguments)
}

/// The same on a certain device.
pub(crate) fn on(device: &str, verb: &str, options: &[&str], package: &str, arguments: &[&str]) -> Command {
    let mut command;
    if let Some(dir) = bundle() {
        command = Command::new(dir.join("cargo-hostcall"));
        command.args(["hostcall", "exec", "-q", "--device", device]).args(options);
        command.arg("--").arg(dir.join("programs").join(format!("{package}{}", hostcall_build::SUFFIX)));
    } else {
        command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.args(["hostcall", verb, "-q", "--device", device]).args(options);
        // They are built for GPUs elsewhere.
        if verb == "run" {
            command.arg("--no-check-gpu");
        }
        // A stand-in for AMD's runtime runs the simulator's images, which are built without optimisations elsewhere
        // too.
        if !device.starts_with("sim") && std::env::var_os("HOSTCALL_HSA_LIBRARY").is_none() {
            command.arg("--release");
        }
        command.args(["-p", package, "--"]);
    }
    command.args(arguments);
    command
}

pub(crate) fn run(options: &[&str], program: &str, arguments: &[&str], stdin: &[u8]) -> Ran {
    output(command(options, program, arguments), stdin)
}

/// `cargo run` of the same program, in a directory.
pub(crate) fn on_this_machine(dir: &Path, program: &str, arguments: &[&str], stdin: &[u8]) -> Ran {
    let built = if let Some(bundle) = bundle() {
        bundle.join("programs/here")
    } else {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["build", "-q", "-p", program, "--manifest-path"]).arg(programs().join("Cargo.toml"));
        output(command, b"").succeeded();
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| programs().join("target"), PathBuf::from).join("debug")
    };
    let mut command = Command::new(built.join(program));
    command.args(arguments).current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("it was piped").write_all(stdin).expect("it reads");
    Ran::of(child.wait_with_output().expect("it ends")).succeeded()
}

/// Ends the test, saying why, where nothing can be built.
#[allow(unused_macros, reason = "each file of tests uses a part")]
macro_rules! needs_toolchain {
    () => {
        if !crate::support::can_build() {
            return;
        }
    };
}
#[allow(unused_imports, reason = "each file of tests uses a part")]
pub(crate) use needs_toolchain;
