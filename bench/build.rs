//! Builds the kernels that are measured, and finds out which commit this is.

use std::process::Command;

fn main() {
    hostcall_build::program("kernels").emit();
    println!("cargo::rustc-env=HOSTCALL_COMMIT={}", commit().unwrap_or_else(|| "unknown".into()));
}

/// The commit that is checked out, if this is a checkout and there is a git; with a `+` if files were changed since.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // Every commit and every checkout appends to this file.
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { commit + "+" } else { commit })
}
