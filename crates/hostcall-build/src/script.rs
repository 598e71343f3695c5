//! The `build.rs` helper.

use std::env;
use std::path::{Path, PathBuf};

use crate::stdlib::{act, build_std_program};
use crate::{BuildError, BuiltProgram, DeviceToolchain, INSTRUMENT_VARIABLE, Piece, ProgramSpec, Target, build_program, probe};

/// Variables that decide what is built, so that a change of one must run the script again.
const VARIABLES: [&str; 6] =
    ["HOSTCALL_TARGETS", "HOSTCALL_DEVICE_RUSTC", "HOSTCALL_LLVM_BIN", "HOSTCALL_PTXAS", "HOSTCALL_PTXAS_FLAGS", INSTRUMENT_VARIABLE];

/// A kernel crate that a `build.rs` builds: see [`program`].
#[derive(Clone, Debug)]
#[must_use = "nothing is built before `emit`"]
pub struct Program {
    crate_dir: PathBuf,
    targets: Option<Vec<Target>>,
    features: Vec<String>,
    with_std: bool,
}

/// The kernel crate in `crate_dir`, relative to the package whose build script this is.
///
/// ```no_run
/// // build.rs
/// hostcall_build::program("../kernels/wordcount").emit();
/// ```
///
/// and in the crate `offload::include_program!("wordcount")`.
///
/// `program(".")` is the package itself: services, kernels and host program are in one. Its sources are compiled a
/// second time for the device, with `cfg(hostcall_device)`: its library if it has one, else its program, which begins
/// with `#![cfg_attr(hostcall_device, no_std)]`. What is only for one of the two sides says so
/// (`#[cfg(hostcall_device)] mod kernels { … }`, `#[cfg(not(hostcall_device))] fn main() { … }`), as do dependencies
/// that only the host has: they are in `[target.'cfg(not(hostcall_device))'.dependencies]`. `cargo hostcall new
/// --kernel` writes such a package.
///
/// The simulator's image is always built. Which others are is said by the environment variable `HOSTCALL_TARGETS` (the
/// lists of [`Target::parse_list`]), else by [`Program::targets`]; else PTX is, if there is a device toolchain; if
/// there is none the bundle says so in its note, and the build goes on.
pub fn program(crate_dir: impl Into<PathBuf>) -> Program {
    Program { crate_dir: crate_dir.into(), targets: None, features: Vec::new(), with_std: false }
}

/// The package in `crate_dir`, an ordinary program with `fn main()`, as a device program: what [`program`] is for
/// kernel crates.
///
/// It must be the first thing that the build script's `main` does: cargo and rustc, which it runs, call the script
/// again as their compiler and linker (see [`act_as_tool`](crate::act_as_tool)).
pub fn std_program(crate_dir: impl Into<PathBuf>) -> Program {
    if let Some(code) = act::act() {
        std::process::exit(code.into());
    }
    Program { with_std: true, ..program(crate_dir) }
}

impl Program {
    /// Builds for these targets, and the simulator, when `HOSTCALL_TARGETS` does not say otherwise.
    pub fn targets(mut self, targets: impl IntoIterator<Item = Target>) -> Program {
        self.targets = Some(targets.into_iter().collect());
        self
    }

    /// Enables features of the kernel crate.
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> Program {
        self.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// Builds, writes `OUT_DIR/NAME.program` and tells cargo when to do so again. An error ends the build script with
    /// its text. A package of both halves that has no kernel yet gets an empty program and a warning, so that the
    /// errors of its other half are seen.
    pub fn emit(self) {
        match self.try_emit() {
            Ok(_) => {}
            Err(error) => {
                for line in directives(&error.to_string()) {
                    println!("cargo::error={line}");
                }
                // Cargo takes the script for a failed one because of these lines. If its exit code said so as well,
                // cargo would show all of them again.
                std::process::exit(0);
            }
        }
    }

    /// [`Program::emit`], for scripts that handle errors themselves.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`]. A missing device toolchain is one only if a target that needs it was asked for by name.
    pub fn try_emit(self) -> Result<BuiltProgram, BuildError> {
        let out_dir = variable("OUT_DIR")?;
        let manifest_dir = variable("CARGO_MANIFEST_DIR")?;
        for name in VARIABLES {
            println!("cargo::rerun-if-env-changed={name}");
        }
        // The package may share sources with its kernels, and say which side they are compiled for.
        println!("cargo::rustc-check-cfg=cfg(hostcall_device)");
        let (targets, note) = self.chosen_targets()?;
        let crate_dir = manifest_dir.join(&self.crate_dir);
        // The kernels of this very package have the features that it is being built with, and no others.
        let is_this_package = crate_dir.canonicalize().ok() == manifest_dir.canonicalize().ok();
        let mut features = self.features;
        if is_this_package && let Ok(enabled) = env::var("CARGO_CFG_FEATURE") {
            features.extend(enabled.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
        }
        let spec = ProgramSpec {
            crate_dir,
            targets,
            features,
            default_features: !is_this_package,
            target_dir: Some(shared_target_dir(&out_dir)),
            echo: false,
            instrument: probe::asked_for()?,
        };
        println!("cargo::rerun-if-changed={}", spec.crate_dir.join("Cargo.toml").display());
        let mut built = match self.with_std {
            // A warning is what cargo shows of a build script that is still at work.
            true => build_std_program(&spec, None, |step| println!("cargo::warning={step}"))?,
            false => match build_program(&spec) {
                Err(error @ BuildError::NoKernel { .. }) if is_this_package => {
                    println!("cargo::warning={error}");
                    println!("cargo::rerun-if-changed={}", spec.crate_dir.join("src").display());
                    let name = env::var("CARGO_PKG_NAME").unwrap_or_default();
                    return BuiltProgram::empty(name, error.to_string()).include(&out_dir);
                }
                built => built?,
            },
        };
        built.bundle.note = note.map(Into::into);
        built.warnings.iter().flat_map(|warning| directives(warning)).for_each(|line| println!("cargo::warning={line}"));
        for input in &built.inputs {
            println!("cargo::rerun-if-changed={}", input.display());
        }
        built.include(&out_dir)
    }

    /// What to build, and what to note about what is not.
    fn chosen_targets(&self) -> Result<(Vec<Target>, Option<String>), BuildError> {
        let named = match env::var("HOSTCALL_TARGETS") {
            Ok(list) => Some(Target::parse_list(&list)?),
            Err(_) => self.targets.clone(),
        };
        let mut targets = vec![Target::Sim];
        if let Some(named) = named {
            targets.extend(named.into_iter().filter(|target| *target != Target::Sim));
            let note = targets.len() == 1;
            return Ok((targets, note.then(|| "built for the simulator only; HOSTCALL_TARGETS=sim,nvptx builds PTX too".into())));
        }
        match DeviceToolchain::find() {
            Ok(_) => targets.push(Target::nvptx()),
            Err(error @ BuildError::Missing { piece: Piece::DeviceToolchain, .. }) => {
                return Ok((targets, Some(format!("built for the simulator only: {error}"))));
            }
            Err(error) => return Err(error),
        }
        Ok((targets, Some("no AMD code objects; HOSTCALL_TARGETS=all builds them too".into())))
    }
}

/// A text as cargo's directives: one is one line, and cargo writes "warning: " or "error: " before each of them.
fn directives(text: &str) -> impl Iterator<Item = &str> {
    let text = ["warning: ", "error: "].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    text.lines().filter(|line| !line.trim().is_empty())
}

fn variable(name: &'static str) -> Result<PathBuf, BuildError> {
    env::var_os(name).map(PathBuf::from).ok_or(BuildError::NotABuildScript { variable: name })
}

/// One directory for all build scripts of a workspace, so that `core` is built once: `target/hostcall`. `OUT_DIR` is
/// `target[/TRIPLE]/PROFILE/build/PACKAGE-HASH/out`, or something that this does not know, and then it is
/// `OUT_DIR/hostcall`.
fn shared_target_dir(out_dir: &Path) -> PathBuf {
    let build = out_dir.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == "build"));
    match build.and_then(Path::parent).and_then(Path::parent) {
        Some(target) => target.join("hostcall"),
        None => out_dir.join("hostcall"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_is_a_line_that_does_not_repeat_what_cargo_writes() {
        let lines = |text| directives(text).collect::<Vec<_>>().join("|");
        assert_eq!(lines("warning: unused\n --> a.rs\n\n  |\n"), "unused| --> a.rs|  |");
        assert_eq!(lines("error[E0308]: mismatched"), "error[E0308]: mismatched");
        assert_eq!(lines("error: no such crate"), "no such crate");
    }

    #[test]
    fn build_scripts_of_one_workspace_share_a_target_directory() {
        let shared = |out_dir| shared_target_dir(Path::new(out_dir));
        assert_eq!(shared("/w/target/debug/build/a-12/out"), Path::new("/w/target/hostcall"));
        assert_eq!(shared("/w/target/debug/build/a/12/out"), Path::new("/w/target/hostcall"));
        assert_eq!(shared("/elsewhere/out"), Path::new("/elsewhere/out/hostcall"));
    }
}
