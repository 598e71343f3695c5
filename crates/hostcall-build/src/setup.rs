//! Installing what is missing: the device toolchain from Debian's packages or by rustup, `ptxas` and `nvlink` from
//! PyPI, clang and musl's sources from Debian.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{Scratch, cache_directory};
use crate::command::Run;
use crate::nvlink::Nvlink;
use crate::probe::Parts;
use crate::stdlib::c::{compiler, musl};
use crate::toolchain::which;
use crate::{BuildError, DeviceToolchain, Machine, Piece, Ptxas, Sysroot};

/// Debian's packages that make a device toolchain together.
const PACKAGES: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "llvm-22", "lld-22"];
/// Debian's package with the compiler of C.
const CLANG: [&str; 1] = ["clang-22"];
/// The wheel with `ptxas`. CUDA 12.8 brought sm_120, CUDA 13 dropped sm_70: 12.9 knows all that lie between.
const PTXAS_WHEEL: &str = "nvidia-cuda-nvcc-cu12==12.9.86";

/// The wheel with `nvlink`, which those before 13 did not have; 13.0 is the oldest, and its machine code what most
/// drivers take.
const NVLINK_WHEEL: &str = "nvidia-cuda-nvcc==13.0.88";

/// What [`setup`] did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SetupReport {
    /// One line for each piece: found, or installed and how.
    pub done: Vec<String>,
    /// One line for each piece that is still missing: why, and what to do.
    pub failed: Vec<String>,
}

/// Installs the device toolchain, `ptxas`, `nvlink`, clang and musl's sources, each if it is missing, and builds std
/// for the simulator and NVIDIA GPUs, telling `progress` each command before it is run. Debian's packages are
/// installed by `apt-get` (through
/// `sudo` if we are not root); where there is no `apt-get`, rustup installs a nightly.
///
/// A piece that cannot be installed is reported and does not keep the others from being installed.
pub fn setup(mut progress: impl FnMut(&str)) -> SetupReport {
    let mut report = SetupReport::default();
    let device = install(|| DeviceToolchain::find().map(|device| device.version), &mut |progress| install_device(progress), &mut progress);
    report.add("device toolchain", device);
    let found = || Ptxas::find().map(|ptxas| format!("{} {}", ptxas.version, ptxas.path.display()));
    report.add("ptxas", install(found, &mut |progress| install_ptxas(progress), &mut progress));
    let found = || Nvlink::find().map(|nvlink| nvlink.describe());
    report.add("nvlink", install(found, &mut |progress| install_nvlink(progress), &mut progress));
    let found = || DeviceToolchain::find().and_then(|device| compiler::clang(&device)).map(|clang| clang.display().to_string());
    report.add("clang", install(found, &mut |progress| install_clang(progress), &mut progress));
    let found = || musl::find().map(|dir| dir.display().to_string());
    report.add("musl's sources", install(found, &mut |progress| musl::install(progress), &mut progress));
    if let Ok(device) = DeviceToolchain::find() {
        let found = || Parts::find(&device).map(|parts| parts.describe());
        report.add("instrumentation", install(found, &mut |progress| install_headers(device.llvm_major, progress), &mut progress));
        for machine in [Machine::Sim, Machine::Nvptx] {
            let prepared = Sysroot::prepare(&machine, None, &mut progress);
            report.add(&format!("std for {machine}"), prepared.map(|sysroot| format!("in {}", sysroot.dir.display())));
        }
    }
    report
}

impl SetupReport {
    fn add(&mut self, name: &str, outcome: Result<String, BuildError>) {
        match outcome {
            Ok(line) => self.done.push(format!("{name}: {line}")),
            Err(error) => self.failed.push(format!("{name}: {error}")),
        }
    }
}

type Progress<'a> = dyn FnMut(&str) + 'a;

/// Finds a piece, or installs it and finds it then: an installation that does not leave the piece findable has failed.
fn install(
    find: impl Fn() -> Result<String, BuildError>,
    install: &mut dyn FnMut(&mut Progress<'_>) -> Result<(), BuildError>,
    progress: &mut Progress<'_>,
) -> Result<String, BuildError> {
    match find() {
        Ok(found) => Ok(format!("found {found}")),
        Err(BuildError::Missing { .. }) => {
            install(progress)?;
            find().map(|found| format!("installed {found}"))
        }
        Err(error) => Err(error),
    }
}

fn install_device(progress: &mut Progress<'_>) -> Result<(), BuildError> {
    if let Some(apt) = which("apt-get").first() {
        return install_packages(apt, &PACKAGES, progress);
    }
    if let Some(rustup) = which("rustup").first() {
        let arguments = ["toolchain", "install", "nightly", "--profile", "minimal", "--component", "rust-src,llvm-tools"];
        return step(Run::new(rustup).args(arguments), progress);
    }
    Err(BuildError::Missing { piece: Piece::DeviceToolchain, tried: "neither apt-get nor rustup is on PATH".into() })
}

/// What the pass that instruments is compiled with.
fn install_headers(llvm_major: u32, progress: &mut Progress<'_>) -> Result<(), BuildError> {
    let apt = which("apt-get").into_iter().next();
    let apt = apt.ok_or_else(|| BuildError::Missing { piece: Piece::LlvmHeaders, tried: "apt-get is not on PATH".into() })?;
    install_packages(&apt, &[&format!("llvm-{llvm_major}-dev"), "g++"], progress)
}

fn install_clang(progress: &mut Progress<'_>) -> Result<(), BuildError> {
    match which("apt-get").first() {
        Some(apt) => install_packages(apt, &CLANG, progress),
        None => Err(BuildError::Missing { piece: Piece::Clang, tried: "no apt-get on PATH".into() }),
    }
}

fn install_packages(apt: &Path, packages: &[&str], progress: &mut Progress<'_>) -> Result<(), BuildError> {
    let apt_run = || {
        let sudo = which("sudo").into_iter().next().filter(|_| !is_root());
        let run = match &sudo {
            Some(sudo) => Run::new(sudo).arg(apt),
            None => Run::new(apt),
        };
        run.env("DEBIAN_FRONTEND", "noninteractive")
    };
    let installed = step(apt_run().args(["update", "-q"]), progress)
        .and_then(|()| step(apt_run().args(["install", "-y", "-q", "--no-install-recommends"]).args(packages), progress));
    installed.map_err(|source| BuildError::Install { packages: packages.join(", "), source: Box::new(source) })
}

/// A Python that has pip.
fn python() -> Option<PathBuf> {
    which("python3").into_iter().find(|python| Run::new(python).args(["-m", "pip", "--version"]).output().is_ok())
}

fn install_ptxas(progress: &mut Progress<'_>) -> Result<(), BuildError> {
    install_wheel(Piece::Ptxas, &Ptxas::install_directory(), PTXAS_WHEEL, Ptxas::in_install_directory, progress)
}

fn install_nvlink(progress: &mut Progress<'_>) -> Result<(), BuildError> {
    install_wheel(Piece::Nvlink, &Nvlink::install_directory(), NVLINK_WHEEL, Nvlink::in_install_directory, progress)
}

/// Installs the wheel with a `program` in the directory `dir`, which holds nothing else. It appears there when all of
/// it has been written: nobody uses half of it, after a disk was full.
fn install_wheel(
    piece: Piece,
    dir: &Path,
    wheel: &str,
    program: fn(&Path) -> PathBuf,
    progress: &mut Progress<'_>,
) -> Result<(), BuildError> {
    let missing = |tried: &str| BuildError::Missing { piece, tried: tried.into() };
    if python().is_none()
        && let Some(apt) = which("apt-get").first()
    {
        install_packages(apt, &["python3-pip"], progress)?;
    }
    let python = python().ok_or_else(|| missing("it comes by pip, and no python3 on PATH has pip"))?;
    let scratch = Scratch::new(&cache_directory("work")?)?;
    let fresh = scratch.0.join("wheel");
    let pip = Run::new(python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]);
    // (Pip writes into the directory for temporary files first, which may be another disk's.)
    let installed = step(pip.arg(&fresh).arg(wheel).env("TMPDIR", &scratch.0), progress);
    installed.map_err(|source| BuildError::Install { packages: wheel.to_owned(), source: Box::new(source) })?;
    make_executable(&program(&fresh))?;
    // What is there did not run.
    let _ = fs::remove_dir_all(dir);
    fs::rename(&fresh, dir).map_err(BuildError::io("create", dir))
}

fn step(run: Run, progress: &mut Progress<'_>) -> Result<(), BuildError> {
    progress(&run.line());
    run.output().map(drop)
}

/// A wheel does not always carry the execute permission.
#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(BuildError::io("make executable", path))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), BuildError> {
    Ok(())
}

/// Whether `id -u` says 0; if there is no `id`, there is no `sudo` either.
fn is_root() -> bool {
    Run::new("id").arg("-u").text().is_ok_and(|text| text.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn missing() -> BuildError {
        BuildError::Missing { piece: Piece::Ptxas, tried: String::new() }
    }

    #[test]
    fn what_is_there_is_not_installed() {
        let outcome = install(|| Ok("12.9".into()), &mut |_| panic!("it is there"), &mut |_| {});
        assert_eq!(outcome.expect("found"), "found 12.9");
    }

    #[test]
    fn what_is_missing_is_installed_and_then_found() {
        let there = Cell::new(false);
        let find = || if there.get() { Ok("12.9".to_owned()) } else { Err(missing()) };
        let mut steps = Vec::new();
        let mut run = |progress: &mut Progress<'_>| {
            there.set(true);
            step(Run::new("true"), progress)
        };
        let outcome = install(find, &mut run, &mut |line| steps.push(line.to_owned()));
        assert_eq!(outcome.expect("installed"), "installed 12.9");
        assert_eq!(steps, ["true"]);
    }

    #[test]
    fn an_installation_after_which_the_piece_is_still_missing_is_a_failure() {
        let outcome = install(|| Err(missing()), &mut |_| Ok(()), &mut |_| {});
        let mut report = SetupReport::default();
        report.add("ptxas", outcome);
        assert!(report.done.is_empty() && report.failed[0].starts_with("ptxas: no ptxas found"), "{report:?}");
    }
}
