//! The packages with which tests read what sinks wrote, and a server that stands for S3, in a virtual environment of their own: `target/python`.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// With their versions: the same on every machine.
const PACKAGES: [&str; 8] = [
    "duckdb==2.0.0",
    "pandas==3.1.1",
    "pyarrow==26.0.1",
    NUMPY,
    "moto[server]==5.2.5",
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

/// What the wheel's tests need beside the wheel.
pub(crate) fn for_wheel() -> impl Iterator<Item = &'static str> {
    let wanted = ["numpy", "pytest", "mypy"];
    PACKAGES.into_iter().filter(move |package| package.split("==").next().is_some_and(|name| wanted.contains(&name)))
}
