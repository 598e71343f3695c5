//! Running programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Bytes that a program wrote.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must succeed.
///
/// # Panics
/// If it does not, with what it wrote.
pub fn succeed(command: &mut Command) -> Output {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error} (a C and a C++ compiler are needed: Debian's gcc, g++)"));
    assert!(output.status.success(), "{command:?}: {:?}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    output
}

/// Compiles a program in C that is linked to no library of ours: it opens one by name.
pub fn opener(to: &Path, source: &Path, include: &Path) -> PathBuf {
    let program = to.join(source.file_stem().expect("a file has a name"));
    let mut compile = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compile.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(include).arg(source).arg("-o").arg(&program).arg("-ldl");
    succeed(&mut compile);
    program
}

/// Whether a tool is there. Where it is not, tests that need it say so and end, but not in CI.
///
/// # Panics
/// In CI, where it is not there.
pub fn has(tool: &str, package: &str) -> bool {
    if Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "{tool} is not installed, and CI has to run this test (Debian: {package})");
    println!("skipped: {tool} is not installed (Debian: {package})");
    false
}
