//! The kernel crate as cargo sees it: its name, and the packages by path that it is built from.

use std::path::{Path, PathBuf};

use crate::command::Run;
use crate::toolchain::HostToolchain;
use crate::{BuildError, bitcode};

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
        // With the kernels' cfg, so that the host face of `hostcall` and what it depends on are not among the packages.
        let run = Run::new(&host.cargo)
            .without_outer_cargo()
            .env("CARGO_ENCODED_RUSTFLAGS", bitcode::common_flags().join("\u{1f}"))
            .args(["metadata", "--format-version", "1", "--filter-platform", &host.triple, "--manifest-path"])
            .arg(&manifest);
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

    /// Flags that keep this machine's directories out of the image, so that equal sources give equal images, and panic messages
    /// name `crates/shared/src/lib.rs`.
    ///
    /// Cargo builds `core` again whenever a flag changes. So what is cut off is the directory that all packages share: then all kernel
    /// crates of one repository are built with the same flags, and with one `core`.
    pub(crate) fn remap(&self, flags: &mut Vec<String>) {
        // The last flag that matches wins, so the general one comes first.
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        if let Some(home) = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))) {
            flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
        }
        // Cargo runs rustc in a workspace's directory, with relative paths: a crate by itself needs nothing.
        if self.packages.len() == 1 {
            return;
        }
        match common_ancestor(self.packages.iter().map(|(_, dir)| dir.as_path())) {
            Some(ancestor) => flags.push(format!("--remap-path-prefix={}=", ancestor.display())),
            None => flags.extend(self.packages.iter().map(|(name, dir)| format!("--remap-path-prefix={}={name}", dir.display()))),
        }
    }
}

/// The deepest directory that all of `dirs` are in, unless it is the root.
fn common_ancestor<'a>(dirs: impl IntoIterator<Item = &'a Path>) -> Option<&'a Path> {
    let common = dirs.into_iter().reduce(|common, dir| {
        let shared = common.ancestors().find(|ancestor| dir.starts_with(ancestor));
        // Two absolute paths share at least the root; anything else has no name either.
        shared.unwrap_or(Path::new(""))
    })?;
    common.file_name().map(|_| common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_the_directory_that_all_packages_share() {
        let common = |dirs: &[&'static str]| common_ancestor::<'static>(dirs.iter().copied().map(Path::new));
        assert_eq!(common(&["/w/kernels/a"]), Some(Path::new("/w/kernels/a")));
        assert_eq!(common(&["/w/kernels/a", "/w/crates/hostcall", "/w/crates/hostcall-abi"]), Some(Path::new("/w")));
        assert_eq!(common(&["/w/a", "/v/b"]), None);
        assert_eq!(common(&[]), None);
    }
}
