//! The kernel crate as cargo sees it: its name, and the packages by path that it is built from.

use std::path::{Path, PathBuf};

use crate::command::Run;
use crate::one_package::Package;
use crate::toolchain::HostToolchain;
use crate::{BuildError, flags};

/// This crate's directory. None in what is given away as binaries, which `cargo xtask dist` builds with the variable:
/// no directory of the building machine is to be in them, nor one by which somebody else could give them sources.
const OWN: Option<&str> = match option_env!("HOSTCALL_BUILT_TO_GIVE_AWAY") {
    Some(_) => None,
    None => Some(env!("CARGO_MANIFEST_DIR")),
};

/// The directory of another crate of hostcall's, if this program was built from sources beside which it lies: in a
/// checkout.
pub fn beside(name: &str) -> Option<PathBuf> {
    let dir = Path::new(OWN?).with_file_name(name);
    dir.join("Cargo.toml").is_file().then_some(dir)
}

/// A kernel crate.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its directory, absolute.
    pub(crate) dir: PathBuf,
    /// The manifest that it is built by: its own, or that of the device's half of a package that has both
    /// ([`crate::one_package`]).
    pub(crate) manifest: PathBuf,
    /// Where it is built, absolute.
    pub(crate) target_dir: PathBuf,
    /// Its package name.
    pub(crate) package: String,
    /// Name and directory of every package that it is built from and that is no registry's: itself, and path
    /// dependencies.
    pub(crate) packages: Vec<(String, PathBuf)>,
    /// The file with the versions of what it depends on.
    lock: PathBuf,
}

impl Source {
    /// The kernel crate in `dir`, or the device's half of a package that has both, to be built in `target_dir`; `None`:
    /// in a directory of its own.
    pub(crate) fn of_kernels(host: &HostToolchain, dir: &Path, target_dir: Option<&Path>) -> Result<Source, BuildError> {
        Source::read(host, dir, target_dir, true)
    }

    /// The package in `dir` as it is, to be built in `target_dir`; `None`: in `target` in its own directory.
    pub(crate) fn of_package(host: &HostToolchain, dir: &Path, target_dir: Option<&Path>) -> Result<Source, BuildError> {
        Source::read(host, dir, target_dir, false)
    }

    /// Asks cargo. `halves`: whether a package that builds its own kernels stands for these.
    fn read(host: &HostToolchain, dir: &Path, target_dir: Option<&Path>, halves: bool) -> Result<Source, BuildError> {
        let not = |problem: &str| BuildError::NotAPackage { path: dir.to_path_buf(), problem: problem.into() };
        let manifest = dir.join("Cargo.toml");
        let manifest = manifest.canonicalize().map_err(|error| not(&format!("its Cargo.toml: {error}")))?;
        let own_dir = manifest.parent().map(Path::to_path_buf).ok_or_else(|| not("it has no directory"))?;
        // Absolute, because cargo runs in the crate's directory.
        let absolute = |dir: &Path| std::path::absolute(dir).map_err(BuildError::io("find", dir));
        let about = metadata(host, &own_dir, &manifest, &["--no-deps"])?;
        let (built_by, target_dir, lock) = match Package::with_kernels(&about, &manifest).filter(|_| halves) {
            Some(both) => {
                let beside = || both.target_dir().unwrap_or_else(|| own_dir.join("target")).join("hostcall");
                let target_dir = target_dir.map_or_else(|| Ok(beside()), absolute)?;
                (both.write(&target_dir)?, target_dir, both.lock())
            }
            None => (manifest.clone(), absolute(target_dir.unwrap_or(&own_dir.join("target")))?, own_dir.join("Cargo.lock")),
        };
        let about = metadata(host, &own_dir, &built_by, &["--filter-platform", &host.triple])?;
        let mut packages = Vec::new();
        let mut package = None;
        for found in about["packages"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let (Some(name), Some(path)) = (found["name"].as_str(), found["manifest_path"].as_str()) else { continue };
            if !found["source"].is_null() {
                continue;
            }
            if Path::new(path) == built_by {
                package = Some(name.to_owned());
                packages.push((name.to_owned(), own_dir.clone()));
            } else {
                packages.extend(Path::new(path).parent().map(|dir| (name.to_owned(), dir.to_path_buf())));
            }
        }
        let package = package.ok_or_else(|| not("its Cargo.toml has no [package]"))?;
        Ok(Source { dir: own_dir, manifest: built_by, target_dir, package, packages, lock })
    }

    /// Whether it is built by a manifest that is not its own.
    fn is_half(&self) -> bool {
        self.manifest.parent() != Some(&self.dir)
    }

    /// The directories of the packages about which whoever builds them wants to hear the compiler's warnings: those by
    /// path but for hostcall's own, which lie beside this crate.
    pub(crate) fn own(&self) -> Vec<PathBuf> {
        let hostcall = OWN.and_then(|own| Path::new(own).parent());
        let built_by = self.manifest.parent().map(Path::to_path_buf);
        self.packages
            .iter()
            .map(|(_, dir)| dir.clone())
            .filter(|dir| hostcall.is_none_or(|hostcall| dir.parent() != Some(hostcall)))
            .chain(built_by)
            .collect()
    }

    /// The files and directories whose change may change the program.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = Vec::new();
        for (_, dir) in &self.packages {
            inputs.extend(["src", "Cargo.toml", "build.rs"].map(|name| dir.join(name)).into_iter().filter(|path| path.exists()));
        }
        inputs.push(self.lock.clone());
        inputs.retain(|path| path.exists());
        inputs.sort();
        inputs.dedup();
        inputs
    }

    /// The file that the compiler means by a path: rustc runs in the package's directory, or says what
    /// [`Source::remap`] leaves of paths.
    pub(crate) fn place(&self, path: &Path) -> Option<PathBuf> {
        let ancestor = common_ancestor(self.packages.iter().map(|(_, dir)| dir.as_path()));
        let by_name = self.packages.iter().filter_map(|(name, dir)| Some(dir.join(path.strip_prefix(name).ok()?)));
        let places = [Some(self.dir.join(path)), ancestor.map(|ancestor| ancestor.join(path))].into_iter().flatten().chain(by_name);
        places.into_iter().find(|place| place.is_file())
    }

    /// Flags that keep this machine's directories out of the image, so that equal sources give equal images, and panic
    /// messages name `crates/shared/src/lib.rs`.
    ///
    /// Cargo builds crates again whenever a flag changes. So what is cut off is the directory that all packages share:
    /// then all kernel crates of one repository are built with the same flags, and share what they depend on.
    pub(crate) fn remap(&self, flags: &mut Vec<String>) {
        // The last flag that matches wins, so the general one comes first.
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        if let Some(home) = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))) {
            flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
        }
        // Cargo runs rustc in a workspace's directory, with relative paths: a crate by itself needs nothing.
        if self.packages.len() == 1 && !self.is_half() {
            return;
        }
        match common_ancestor(self.packages.iter().map(|(_, dir)| dir.as_path())) {
            Some(ancestor) => flags.push(format!("--remap-path-prefix={}=", ancestor.display())),
            None => flags.extend(self.packages.iter().map(|(name, dir)| format!("--remap-path-prefix={}={name}", dir.display()))),
        }
    }
}

/// What cargo knows, with the kernels' cfg, so that the host face of `hostcall` and what it depends on are not among
/// the packages.
fn metadata(host: &HostToolchain, dir: &Path, manifest: &Path, options: &[&str]) -> Result<serde_json::Value, BuildError> {
    let run = Run::new(&host.cargo).without_outer_cargo().dir(dir).env("CARGO_ENCODED_RUSTFLAGS", flags::common().join("\u{1f}"));
    let run = run.args(["metadata", "--format-version", "1"]).args(options).arg("--manifest-path").arg(manifest);
    let run = if let Some(rustc) = &host.rustc { run.env("RUSTC", rustc) } else { run };
    serde_json::from_slice(&run.output()?)
        .map_err(|error| BuildError::NotAPackage { path: dir.to_path_buf(), problem: format!("cargo metadata is not JSON: {error}") })
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
