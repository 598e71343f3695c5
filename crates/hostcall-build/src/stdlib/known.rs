//! Which sysroot a machine had last, so that an unchanged program starts without asking every compiler on this machine
//! who it is.
//!
//! A note says what was found and what was looked at: the variables that choose a toolchain, the directories that
//! toolchains are installed in, the compiler itself. If all of that is as it was, the answer is as it was.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;

use super::machine::Machine;
use super::overlay;
use super::sysroot::{RECIPE, Sysroot, flags};
use crate::BuildError;

/// The sysroot that is noted for `machine`, if nothing has changed.
pub(crate) fn read(cache: &Path, machine: &Machine) -> Option<Sysroot> {
    let text = fs::read_to_string(file(cache, machine)).ok()?;
    let (seen, dir) = text.trim_end().split_once('\n')?;
    let sysroot = Sysroot::open(Path::new(dir)).ok()?;
    (seen == surroundings(&sysroot) && sysroot.is_built()).then_some(sysroot)
}

/// Notes `sysroot` for next time.
pub(crate) fn write(cache: &Path, sysroot: &Sysroot) -> Result<(), BuildError> {
    let text = format!("{}\n{}\n", surroundings(sysroot), sysroot.dir.display());
    let file = file(cache, &sysroot.machine);
    fs::write(&file, text).map_err(BuildError::io("write", file))
}

fn file(cache: &Path, machine: &Machine) -> PathBuf {
    cache.join(format!("{machine}.known"))
}

/// A hash of all that the choice of a toolchain depends on.
fn surroundings(sysroot: &Sysroot) -> String {
    let flags = flags(&sysroot.machine, &sysroot.toolchain).join(" ");
    let mut seen = format!("{RECIPE}\n{}\n{flags}\n", overlay::identity());
    for name in ["HOSTCALL_DEVICE_RUSTC", "HOSTCALL_LLVM_BIN", "PATH", "RUSTUP_HOME"] {
        seen += &format!("{name}={:?}\n", env::var_os(name));
    }
    let rustup =
        env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| env::home_dir().map(|home| home.join(".rustup"))).unwrap_or_default();
    let toolchain = &sysroot.toolchain;
    let tools = [&toolchain.rustc, &toolchain.cargo, &toolchain.llvm_bin.join("llc")].map(PathBuf::clone);
    let looked_at = [rustup.join("toolchains"), rustup.join("update-hashes"), toolchain.library().join("Cargo.lock")];
    for path in looked_at.iter().chain(&tools).chain(&toolchain.lld) {
        let about = fs::metadata(path).ok();
        seen += &format!(
            "{} {:?} {:?}\n",
            path.display(),
            about.as_ref().map(fs::Metadata::len),
            about.and_then(|about| about.modified().ok())
        );
    }
    Sha256::of(seen.as_bytes()).to_string()
}
