//! How programs of the registry are built: by the tests, and for machines where nothing can be built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::Program;

/// Who builds, and for what.
pub(super) struct Made {
    /// `cargo-hostcall`, and what it builds for; `None` for this machine itself.
    device: Option<(PathBuf, &'static str)>,
}

impl Made {
    /// For this machine.
    pub(super) fn here() -> Made {
        Made { device: None }
    }

    /// By a `cargo-hostcall`, for a device.
    pub(super) fn by(command: &Path, target: &'static str) -> Made {
        Made { device: Some((command.to_owned(), target)) }
    }

    pub(super) fn is_native(&self) -> bool {
        self.device.is_none()
    }

    /// What it builds for, in a word.
    pub(super) fn kind(&self) -> &'static str {
        self.device.as_ref().map_or("native", |(_, target)| target)
    }

    /// Builds a program from its published sources, with its own lock file; the file.
    pub(super) fn program(&self, root: &Path, program: &Program, target: &Path) -> PathBuf {
        let mut command = self.build(program.bin, target);
        succeeded(command.args(program.build).current_dir(sources(root, program)).env("RUSTFLAGS", program.flags));
        self.file(program.bin, target)
    }

    fn build(&self, bin: &str, target: &Path) -> Command {
        let mut command = match &self.device {
            None => {
                let mut command = cargo();
                command.arg("build");
                command
            }
            Some((hostcall, kind)) => {
                let mut command = Command::new(hostcall);
                command.args(["hostcall", "build", "--for", kind, "--output"]).arg(target.join("images"));
                command
            }
        };
        // What the program is, not what this build is of it. For GPUs what is not to be optimised is assembled in
        // parts, which takes far less time.
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.args(["-q", "--locked", "--bin", bin, "--target-dir"]).arg(target);
        command
    }

    fn file(&self, bin: &str, target: &Path) -> PathBuf {
        if self.is_native() { target.join("debug").join(bin) } else { target.join("images").join(format!("{bin}.program")) }
    }
}

/// Programs over larger libraries.
pub(super) struct Libraries<'a> {
    /// This repository.
    pub(super) root: &'a Path,
    pub(super) target: &'a Path,
}

/// What a native build of a program printed.
pub(super) const SAID: &str = "stdout";

impl Libraries<'_> {
    pub(super) const NAMES: [&'static str; 3] = ["scripts", "stores", "tables"];

    /// Builds all of them; `to` has `NAME.program.gz` then, and what a native build prints and leaves in a directory
    /// `NAME`.
    pub(super) fn make(&self, device: &Made, to: &Path) {
        let manifest = self.root.join("tests/suites/registry-libraries/Cargo.toml");
        for bin in Self::NAMES {
            let built = |made: &Made| {
                succeeded(made.build(bin, self.target).arg("--manifest-path").arg(&manifest).env_remove("RUSTFLAGS"));
                made.file(bin, self.target)
            };
            let (native, image) = (built(&Made::here()), built(device));
            let here = to.join(bin);
            if here.exists() {
                fs::remove_dir_all(&here).expect("removed");
            }
            fs::create_dir_all(&here).expect("made");
            let output = Command::new(native).current_dir(&here).output().expect("it starts");
            assert!(output.status.success(), "{bin}: {}", String::from_utf8_lossy(&output.stderr));
            fs::write(here.join(SAID), output.stdout).expect("written");
            packed(&image, &to.join(format!("{bin}.program.gz")));
        }
    }
}

/// Writes a file compressed.
pub(super) fn packed(from: &Path, to: &Path) {
    let out = fs::File::create(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    succeeded(Command::new("gzip").arg("-c").arg(from).stdout(out));
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The program's sources, in a directory of its own.
fn sources(root: &Path, program: &Program) -> PathBuf {
    let which = if program.usual { "registry-programs" } else { "registry-programs-more" };
    let manifest = root.join(format!("tests/suites/{which}/Cargo.toml"));
    succeeded(cargo().args(["fetch", "--locked", "--manifest-path"]).arg(&manifest));
    // Cargo tells the place of no package without a library.
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("a home")).join(".cargo"));
    let name = format!("{}-{}", program.package, program.version);
    let registries = fs::read_dir(home.join("registry/src")).expect("cargo has fetched them");
    let from = registries.map(|registry| registry.expect("an entry").path().join(&name)).find(|path| path.is_dir());
    let from = from.expect("cargo has fetched it");
    // Outside of this workspace, and always the same, so that what was built is found again.
    let to = std::env::temp_dir().join("hostcall-registry").join(&name);
    if !to.exists() {
        fs::create_dir_all(to.parent().expect("it has one")).expect("made");
        succeeded(Command::new("cp").arg("-r").arg(from).arg(&to));
    }
    to
}

#[track_caller]
fn succeeded(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
