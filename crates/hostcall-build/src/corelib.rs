//! `core` and `alloc` for a GPU, compiled once for all kernel crates of this machine.
//!
//! rustup and distributions have none for GPUs, and compiling them takes several times as long as a kernel crate does.
//! So they lie in a sysroot of their own, with which every kernel crate is compiled:
//!
//! ```text
//! ~/.cache/hostcall/core/CPU-KEY/lib/rustlib/TRIPLE/lib/*.rlib      core, alloc, compiler_builtins
//! ```
//!
//! The key is a hash of the toolchain, the flags and the steps here, so a sysroot that is there is right. It is made
//! under another name and appears by a rename, so nobody finds half of one. One that is lost is made again with the
//! same bytes: what was compiled against it stays right.

use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;

use crate::cache::{Lock, Scratch, cache_directory};
use crate::gpu::{Gpu, LAST_CRATE};
use crate::toolchain::vendored;
use crate::{BuildError, cargo};

/// The sysroot for `gpu`, made if it is not there; below `target_dir` where there is no directory for caches.
pub(crate) fn sysroot(gpu: &Gpu<'_>, target_dir: &Path) -> Result<PathBuf, BuildError> {
    sysroot_in(&cache_directory("core").unwrap_or_else(|_| target_dir.join("core")), gpu)
}

fn sysroot_in(cache: &Path, gpu: &Gpu<'_>) -> Result<PathBuf, BuildError> {
    let identity = gpu.toolchain.identity();
    let flags = gpu.flags();
    let steps = concat!(include_str!("corelib.rs"), include_str!("gpu.rs"));
    let key = [&*identity, gpu.triple, &flags.join(" "), steps].map(|part| Sha256::of(part.as_bytes()).0);
    let key = Sha256::of(key.as_flattened()).to_string();
    let dir = cache.join(format!("{}-{}", gpu.cpu, &key[..16]));
    if is_whole(&dir, gpu) {
        return Ok(dir);
    }
    fs::create_dir_all(cache).map_err(BuildError::io("create", cache))?;
    let _lock = Lock::take(&cache.join(format!("{}.lock", gpu.cpu)), || {})?;
    if !is_whole(&dir, gpu) {
        make(cache, gpu, &flags, &dir)?;
    }
    Ok(dir)
}

/// The crates of a sysroot.
const CRATES: [&str; 3] = ["libcore-", "liballoc-", "libcompiler_builtins-"];

fn libraries(dir: &Path, gpu: &Gpu<'_>) -> PathBuf {
    dir.join("lib/rustlib").join(gpu.triple).join("lib")
}

/// Whether all crates are there: a directory for caches is swept now and then.
fn is_whole(dir: &Path, gpu: &Gpu<'_>) -> bool {
    let Ok(entries) = fs::read_dir(libraries(dir, gpu)) else { return false };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    CRATES.iter().all(|start| names.iter().any(|name| name.to_string_lossy().starts_with(start)))
}

fn make(cache: &Path, gpu: &Gpu<'_>, flags: &[String], dir: &Path) -> Result<(), BuildError> {
    let scratch = Scratch::new(cache)?;
    // A library that needs nothing: what is wanted is what cargo builds for it.
    let [package, made] = ["package", "sysroot"].map(|name| scratch.0.join(name));
    for new in [&package, &libraries(&made, gpu)] {
        fs::create_dir_all(new).map_err(BuildError::io("create", new))?;
    }
    let manifest = package.join("Cargo.toml");
    for (file, text) in [(&manifest, MANIFEST), (&package.join("lib.rs"), LIBRARY)] {
        fs::write(file, text).map_err(BuildError::io("write", file))?;
    }
    let run = gpu
        .cargo(&package, &scratch.0.join("target"), flags)?
        .args(["-Zbuild-std=core,alloc", "-Zbuild-std-features=compiler-builtins-mem,optimize_for_size"])
        .args(vendored(&gpu.toolchain.library()))
        .args(["--", LAST_CRATE]);
    let compiled = cargo::compile(run, "core", gpu.triple, &[], &|_| None, false)?;
    for file in compiled.files(".rlib") {
        let Some(name) = file.file_name().filter(|name| CRATES.iter().any(|start| name.to_string_lossy().starts_with(start))) else {
            continue;
        };
        fs::rename(file, libraries(&made, gpu).join(name)).map_err(BuildError::io("move", file))?;
    }
    if !is_whole(&made, gpu) {
        return Err(BuildError::Unexpected { command: compiled.command, problem: format!("not all of {CRATES:?} were made") });
    }
    // What was swept.
    let _ = fs::remove_dir_all(dir);
    fs::rename(&made, dir).map_err(BuildError::io("create", dir))
}

const MANIFEST: &str =
    "[package]\nname = \"hostcall-core\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";

const LIBRARY: &str = "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo<'_>) -> ! {\n    loop {}\n}\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceToolchain;

    /// What was compiled against one sysroot is linked with another if the first is lost; rustc takes no other `core`
    /// than the very one.
    #[test]
    fn a_sysroot_that_is_lost_is_made_again_to_the_byte_and_one_that_is_swept_is_made_whole() {
        let toolchain = match DeviceToolchain::find() {
            Ok(toolchain) => toolchain,
            Err(error) => return println!("skipped: {error}"),
        };
        let gpu = Gpu::nvidia(&toolchain, crate::NVPTX_ARCH);
        let contents = |dir: &Path| {
            let mut files: Vec<PathBuf> =
                fs::read_dir(libraries(dir, &gpu)).expect("it is there").flatten().map(|entry| entry.path()).collect();
            files.sort();
            files.into_iter().map(|file| (file.file_name().map(ToOwned::to_owned), fs::read(&file).expect("readable"))).collect::<Vec<_>>()
        };
        let elsewhere = tempfile::tempdir().expect("a directory");
        let shared = sysroot(&gpu, elsewhere.path()).expect("it is made");
        let again = elsewhere.path().join("core");
        let dir = sysroot_in(&again, &gpu).expect("it is made");
        assert_eq!(dir.file_name(), shared.file_name());
        let first = contents(&shared);
        assert_eq!(first.len(), CRATES.len(), "nothing else is kept");
        assert!(first == contents(&dir), "other bytes");
        assert!(is_whole(&dir, &gpu));
        fs::remove_file(libraries(&dir, &gpu).join(first[0].0.as_ref().expect("a name"))).expect("it is ours");
        assert!(!is_whole(&dir, &gpu));
    }
}
