//! Packages of a few lines, each in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A package in a directory of its own; `None`, and why, where there is no device toolchain.
pub(crate) struct Package(TempDir);

impl Package {
    pub(crate) fn new(manifest: &str, files: &[(&str, &str)]) -> Option<Package> {
        if !can_build() {
            return None;
        }
        let package = Package(TempDir::new().expect("a directory"));
        let head = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        package.write("Cargo.toml", &format!("{head}{manifest}"));
        for (name, text) in files {
            package.write(name, text);
        }
        Some(package)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().expect("it is in a directory")).expect("made");
        fs::write(file, text).expect("written");
    }

    /// `src/main.rs`, built for this machine.
    pub(crate) fn here(&self) -> PathBuf {
        let program = self.path().join("here");
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command.args(["--edition=2024", "-Copt-level=1", "src/main.rs", "-o"]).arg(&program).current_dir(self.path());
        succeeded(&command.output().expect("a compiler"));
        program
    }

    /// The program's image, once it has been built for the simulator.
    pub(crate) fn image(&self) -> PathBuf {
        self.path().join(format!("target/{}-hostcall-sim/debug/sample.program", std::env::consts::ARCH))
    }

    pub(crate) fn hostcall(&self, arguments: &[&str]) -> Output {
        hostcall(self.path(), arguments)
    }
}

pub(crate) fn can_build() -> bool {
    let found = hostcall_build::DeviceToolchain::find();
    if let Err(error) = &found {
        println!("not run: {error}");
    }
    found.is_ok()
}

pub(crate) fn hostcall(dir: &Path, arguments: &[&str]) -> Output {
    command(dir, arguments).output().expect("it starts")
}

/// The same, not started.
pub(crate) fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.arg("hostcall").args(arguments).current_dir(dir).env_remove("CARGO_TARGET_DIR");
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
pub(crate) fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
