//! NVIDIA's compilers, for tests of the C++ headers: `nvcc` and NVRTC from PyPI, in `target/cuda`.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// With their versions: the same on every machine. They unpack into one directory that `nvcc` knows its way in.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.5.37",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-nvrtc==13.5.37",
];

/// Installs what is missing.
pub(crate) fn packages(sh: &Shell) -> Result<()> {
    let root = super::root().join("target/cuda");
    let (stamp, wanted) = (root.join(".hostcall"), PACKAGES.join("\n"));
    if sh.read_file(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    println!("   {}", PACKAGES.join(", "));
    sh.remove_path(&root)?;
    let options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", "--target"];
    cmd!(sh, "python3 -m pip install {options...} {root} {PACKAGES...}").quiet().run().context("tests of nvcc need Python with `pip`")?;
    Ok(sh.write_file(&stamp, wanted)?)
}
