//! What the steps need to know of a GPU, and the cargo that compiles for it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::command::Run;
use crate::{BuildError, DeviceToolchain, cargo, flags};

/// A kind of GPU, and the toolchain that compiles for it.
pub(crate) struct Gpu<'a> {
    pub(crate) toolchain: &'a DeviceToolchain,
    pub(crate) triple: &'static str,
    pub(crate) cpu: &'a str,
    /// For `-Ctarget-feature`; may be empty.
    pub(crate) features: String,
    /// How LLVM writes the calling convention of kernels.
    pub(crate) convention: &'static str,
}

impl<'a> Gpu<'a> {
    /// AMD's `arch`.
    pub(crate) fn amd(toolchain: &'a DeviceToolchain, arch: &'a str) -> Gpu<'a> {
        Gpu { toolchain, triple: "amdgcn-amd-amdhsa", cpu: arch, features: String::new(), convention: "amdgpu_kernel" }
    }

    /// NVIDIA's from `arch` on.
    pub(crate) fn nvidia(toolchain: &'a DeviceToolchain, arch: &'a str) -> Gpu<'a> {
        let features = format!("+{}", crate::PTX_VERSION);
        Gpu { toolchain, triple: "nvptx64-nvidia-cuda", cpu: arch, features, convention: "ptx_kernel" }
    }

    /// The flags of every crate that is compiled for it, `core` included.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = vec!["-Cno-prepopulate-passes".to_owned(), format!("-Ctarget-cpu={}", self.cpu)];
        if self.triple.starts_with("amdgcn") {
            flags.push(flags::REPAIR.into());
        }
        if !self.features.is_empty() {
            flags.push(format!("-Ctarget-feature={}", self.features));
        }
        flags.push(format!("--remap-path-prefix={}=rust", self.toolchain.sysroot.join("lib/rustlib/src/rust").display()));
        flags
    }

    /// The cargo that makes one archive of unoptimised bitcode of a package and what it depends on, below `target_dir`.
    pub(crate) fn cargo(&self, dir: &Path, target_dir: &Path, flags: &[String]) -> Result<Run, BuildError> {
        // One directory for each architecture: cargo gives builds that differ in flags alone the same file names, and
        // would build crates again at every change from one to another.
        let own = target_dir.join(self.cpu);
        share_host_crates(target_dir, &own)?;
        Ok(Run::new(&self.toolchain.cargo)
            .without_outer_cargo()
            .dir(dir)
            .env("RUSTC", &self.toolchain.rustc)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", own)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_PROFILE_RELEASE_INCREMENTAL", "false")
            .args(["rustc", "--release", "--lib", "--crate-type", "staticlib", "--target", self.triple, cargo::MESSAGES]))
    }
}

/// What only the last crate is compiled with, behind a `--`: earlier ones are bitcode already. It makes the archive
/// bitcode instead of machine code, and so keeps rustc from asking a back end for code, which for AMD it would then
/// hand to a linker.
pub(crate) const LAST_CRATE: &str = "-Clinker-plugin-lto";

/// Makes the directory `own` of one architecture, below `target_dir`, one whose build scripts and procedural macros are
/// those of all architectures: they run on this machine, and no flag of a GPU's reaches them. Cargo keeps them in
/// `release`, and locks it while it builds.
fn share_host_crates(target_dir: &Path, own: &Path) -> Result<(), BuildError> {
    let (shared, link) = (target_dir.join(HOST_CRATES), own.join("release"));
    for dir in [&shared, own] {
        fs::create_dir_all(dir).map_err(BuildError::io("create", dir))?;
    }
    match std::os::unix::fs::symlink(Path::new("..").join(HOST_CRATES), &link) {
        // Another build has made it, or a version before this one a directory.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(BuildError::io("create", link)),
    }
}

/// The directory of what runs on this machine while a kernel crate is compiled for GPUs.
const HOST_CRATES: &str = "gpu-host";
