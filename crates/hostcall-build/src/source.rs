//! The kernel crate as cargo sees it: its name, and the packages by path that it is built from.

use std::path::{Path, PathBuf};

use crate::BuildError;
use crate::command::Run;
use crate::toolchain::HostToolchain;

/// A kernel crate.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its directory, absolute.
    pub(crate) dir: PathBuf,
    /// Its package name.
    pub(crate) package: String,
    /// Name and directory of every package that it is built from and that is no registry's: itself, and path dependencies.
    pub(crate) packages: Vec<(String, PathBuf)>,
}

impl Source {
    /// Asks cargo.
    pub(crate) fn read(host: &HostToolchain, dir: &Path) -> Result<Source, BuildError> {
        let not = |problem: &str| BuildError::NotAPackage { path: dir.to_path_buf(), problem: problem.into() };
        let manifest = dir.join("Cargo.toml");
        let manifest = manifest.canonicalize().map_err(|error| not(&format!("its Cargo.toml: {error}")))?;
        let run = Run::new(&host.cargo).without_outer_cargo().args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest);
        let run = if let Some(rustc) = &host.rustc { run.env("RUSTC", rustc) } else { run };
        let metadata: serde_json::Value =
            serde_json::from_slice(&run.output()?).map_err(|error| not(&format!("cargo metadata is not JSON: {error}")))?;
        let mut packages = Vec::new();
        let mut package = None;
        for found in metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let (Some(name), Some(path)) = (found["name"].as_str(), found["manifest_path"].as_str()) else { continue };
            if !found["source"].is_null() {
                continue;
            }
            if Path::new(path) == manifest {
                package = Some(name.to_owned());
            }
            packages.extend(Path::new(path).parent().map(|dir| (name.to_owned(), dir.to_path_buf())));
        }
        let package = package.ok_or_else(|| not("its Cargo.toml has no [package]"))?;
        let dir = manifest.parent().map(Path::to_path_buf).ok_or_else(|| not("it has no directory"))?;
        Ok(Source { dir, package, packages })
    }

    /// The files and directories whose change may change the program.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = Vec::new();
        for (_, dir) in &self.packages {
            inputs.extend(["src", "Cargo.toml", "build.rs"].map(|name| dir.join(name)).into_iter().filter(|path| path.exists()));
        }
        inputs.push(self.dir.join("Cargo.lock"));
        inputs.retain(|path| path.exists());
        inputs.sort();
        inputs.dedup();
        inputs
    }

    /// Flags that keep this machine's directories out of the image, so that equal sources give equal images, and
    /// panic messages name `wordcount/src/lib.rs`.
    pub(crate) fn remap(&self, flags: &mut Vec<String>) {
        // The last flag that matches wins, so the general ones come first.
        if let Some(home) =
            std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        {
            flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
        }
        for (name, dir) in &self.packages {
            flags.push(format!("--remap-path-prefix={}={name}", dir.display()));
        }
    }
}
