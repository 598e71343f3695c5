//! The library that stands before CUDA's driver (`hostcall-probe`): where it is, or how it is made.

use std::env;
use std::path::PathBuf;

use super::ours::package;
use crate::cache::cache_directory;
use crate::cargo::{self, MESSAGES};
use crate::command::Run;
use crate::{BuildError, HostToolchain};

/// Its file.
const FILE: &str = "libhostcall_probe.so";

/// What is compiled in each build of it: nothing of it waits for a processor but what reads PTX and takes messages.
const MANIFEST: &str = "[lib]\ncrate-type = [\"cdylib\"]\n\n[profile.release]\ndebug = false\n\n";

/// Every function of the crate is one of the library's, too.
const SOURCE: &str = "pub use hostcall_probe::*;\n";

/// The library that is to be preloaded into a program that is looked into: beside this program, or of its version,
/// compiled when it is first needed, and kept.
///
/// # Errors
///
/// Any [`BuildError`]: where it is not there it needs Rust.
pub fn preloaded() -> Result<PathBuf, BuildError> {
    let own = env::current_exe().map_err(BuildError::io("find", "the running program"))?;
    if let Some(file) = own.parent().map(|dir| dir.join(FILE)).filter(|file| file.is_file()) {
        return Ok(file);
    }
    let host = HostToolchain::find()?;
    let dir = package(&cache_directory("probe")?, "preloaded", "hostcall-probe", MANIFEST, SOURCE)?;
    let run = Run::new(&host.cargo).args(["build", "--release", "--lib", MESSAGES, "--target-dir"]).arg(dir.join("target"));
    let run = run.arg("--manifest-path").arg(dir.join("Cargo.toml"));
    let compiled = cargo::compile(run, "hostcall-probe", "this machine", &[], &|_| None, false)?;
    let made = compiled.files("libpreloaded.so").next().map(PathBuf::from);
    made.ok_or_else(|| BuildError::Unexpected { command: compiled.command, problem: "it made no library".into() })
}
