//! NVIDIA's compilers, for tests of the C++ headers: `nvcc` and NVRTC from PyPI, in `target/cuda`, and the oldest that
//! are served in `target/cuda-12.4`.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// With their versions: the same on every machine. They unpack into one directory that `nvcc` knows its way in.
const NEWEST: [&str; 5] = [
    "nvidia-cuda-nvcc==13.5.37",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-nvrtc==13.5.37",
];

/// CUDA 12.4 was the first whose PTX has 16-byte accesses. Its `nvcc` is not at PyPI; NVRTC, which is the same
/// compiler, and the assembler are.
const OLDEST: [&str; 2] = ["nvidia-cuda-nvrtc-cu12==12.4.127", "nvidia-cuda-nvcc-cu12==12.4.131"];

/// The newest, and a package beside them.
pub(crate) fn with(package: &str) -> Vec<&str> {
    NEWEST.into_iter().chain([package]).collect()
}

/// Installs what is missing.
pub(crate) fn packages(sh: &Shell) -> Result<()> {
    install(sh, "target/cuda", &NEWEST)?;
    install(sh, "target/cuda-12.4", &OLDEST)
}

/// Installs packages into a directory of the repository, unless just these are there.
pub(crate) fn install(sh: &Shell, to: &str, packages: &[&str]) -> Result<()> {
    let root = super::root().join(to);
    let (stamp, wanted) = (root.join(".hostcall"), packages.join("\n"));
    if sh.read_file(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    println!("   {}", packages.join(", "));
    sh.remove_path(&root)?;
    let options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", "--target"];
    cmd!(sh, "python3 -m pip install {options...} {root} {packages...}").quiet().run().context("tests of nvcc need Python with `pip`")?;
    Ok(sh.write_file(&stamp, wanted)?)
}
