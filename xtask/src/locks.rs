//! The committed lock files: each says what its manifest asks for.
//!
//! A crate of the workspace that gets a dependency changes the lock file of every package outside of it that depends on
//! that crate by its path. Cargo would write those anew at the next build, behind the back of whoever committed them.

use anyhow::{Result, bail};
use std::path::Path;
use xshell::{Shell, cmd};

/// Writes the lock files that do not fit their manifests, or, to check, fails and names them.
pub(crate) fn run(sh: &Shell, check: bool) -> Result<()> {
    println!("== lock files");
    let mut unfit = Vec::new();
    for lock in cmd!(sh, "git ls-files Cargo.lock **/Cargo.lock").quiet().read()?.lines() {
        let manifest = Path::new(lock).with_file_name("Cargo.toml");
        let locked = check.then_some("--locked");
        // What is locked stays; only packages of the workspace itself, and what they newly ask for, are looked at.
        if cmd!(sh, "cargo update --quiet --workspace {locked...} --manifest-path {manifest}").quiet().run().is_err() {
            unfit.push(lock.to_owned());
        }
    }
    match unfit.as_slice() {
        [] => Ok(()),
        files if check => bail!("do not fit their manifests: {}; run `cargo xtask generate`, and commit them", files.join(", ")),
        files => bail!("not written: {}", files.join(", ")),
    }
}
