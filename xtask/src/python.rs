//! The packages with which tests read what sinks wrote, in a virtual environment of their own: `target/python`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// With their versions: the same on every machine.
const PACKAGES: [&str; 7] = [
    "duckdb==2.0.0",
    "pandas==3.1.1",
    "pyarrow==26.0.1",
    NUMPY,
    // What the wheel is built with, and tested with.
    "maturin==1.16.0",
    "pytest==9.2.0",
    "mypy==2.4.1",
];
const NUMPY: &str = "numpy==2.4.6";

/// Installs what is missing.
pub(crate) fn packages(sh: &Shell) -> Result<()> {
    let root = super::root().join("target/python");
    let (stamp, wanted) = (root.join(".hostcall"), PACKAGES.join("\n"));
    if sh.read_file(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    println!("   {}", PACKAGES.join(", "));
    let python = root.join("bin/python");
    cmd!(sh, "python3 -m venv {root}").quiet().run().context("tests of sinks need Python 3.11 or newer with `venv`")?;
    cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check --only-binary :all: {PACKAGES...}").quiet().run()?;
    Ok(sh.write_file(&stamp, wanted)?)
}

/// With what the faces of the Python package are tested: packages whose kernels call Python, as far as they do without
/// a driver and are not too large.
const FACES: [&str; 6] = [
    "numba-cuda==0.30.4",
    "numba==0.68.1",
    "cuda-core==1.2.2",
    "cupy-cuda13x==14.2.0",
    // Of CUDA as `cuda.rs` has it.
    "nvidia-nvjitlink==13.5.37",
    "pytest==9.2.0",
];

/// Installs what is missing of [`FACES`] into `target/python-faces`, and gives its Python.
pub(crate) fn faces(sh: &Shell) -> Result<PathBuf> {
    let root = super::root().join("target/python-faces");
    let (stamp, wanted, python) = (root.join(".hostcall"), FACES.join("\n"), root.join("bin/python"));
    if sh.read_file(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    println!("   {}", FACES.join(", "));
    cmd!(sh, "python3 -m venv --clear {root}").quiet().run()?;
    cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check --only-binary :all: {NUMPY} {FACES...}").quiet().run()?;
    sh.write_file(&stamp, wanted)?;
    Ok(python)
}

/// A kernel of notebooks, and what drives it: for the wheel's tests. Of this version a thread that says nothing else
/// prints into the cell that started it, so the tests see whether ours says something else. (7.4 takes the cell that
/// runs.)
const NOTEBOOK: [&str; 2] = ["ipykernel==6.31.0", "jupyter_client==8.10.0"];

/// What an example draws a bar with.
pub(crate) const BAR: &str = "tqdm==4.70.1";

/// What the wheel's tests need beside the wheel.
pub(crate) fn for_wheel() -> impl Iterator<Item = &'static str> {
    ["numpy", "pandas", "pyarrow", "pytest", "mypy"].into_iter().map(pinned).chain(NOTEBOOK).chain([BAR])
}

/// A package of [`PACKAGES`], with its version.
pub(crate) fn pinned(name: &str) -> &'static str {
    PACKAGES.into_iter().find(|package| package.split("==").next() == Some(name)).expect("it is one of them")
}
