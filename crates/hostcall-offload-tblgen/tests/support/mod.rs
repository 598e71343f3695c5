//! Running the program.

#![allow(dead_code, reason = "each test file uses a part of it, another one each")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The definitions of this repository.
pub(crate) fn api_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-offload-api/api")
}

/// The program, with the folder of our definitions to include from.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offload-tblgen"));
    command.arg("-I").arg(api_dir());
    command
}

/// Runs the program on a file.
pub(crate) fn run(args: &[&str], file: &Path) -> Output {
    program().args(args).arg(file).output().expect("the program starts")
}

/// What the program writes.
pub(crate) fn generate(args: &[&str], file: &Path) -> String {
    let output = run(args, file);
    assert!(output.status.success(), "{args:?} {}\n{}", file.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Whether a program is not installed.
pub(crate) fn missing(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_err()
}
