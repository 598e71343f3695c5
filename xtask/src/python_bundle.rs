//! The part of the GPU bundle that tests and measures the Python package.

use std::path::Path;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// Of the package; relative to the repository's root.
const CRATE: &str = "crates/hostcall-python";
/// What lies in the bundle as it does in the repository, beside the tests: they find the programs of the pages from
/// where they are.
const FILES: [&str; 5] = [
    "crates/hostcall-python/tests/doc_programs.py",
    "crates/hostcall-python/bench/calls.py",
    "docs/guide/asserts.md",
    "docs/guide/python-faces.md",
    "docs/reference/python-faces.md",
];

/// The wheel, its tests on a GPU, the page with the programs that they run, and what measures calls, with its kernels.
pub(crate) fn bundle(sh: &Shell, out: &str) -> Result<()> {
    let to = format!("{out}/python");
    sh.remove_path(&to)?;
    crate::python::packages(sh)?;
    let wheel = crate::wheel::build(sh, false, None)?;
    let wheels = format!("{to}/wheels");
    sh.create_dir(&wheels)?;
    sh.copy_file(&wheel, &wheels)?;
    // Where pytest is missing. All that it needs is Python. NumPy is there where a package is whose kernels call.
    let (python, pytest) = (crate::wheel::python(), crate::python::pinned("pytest"));
    cmd!(sh, "{python} -m pip download --quiet --disable-pip-version-check --only-binary :all: --dest {wheels} {pytest}").run()?;
    for file in FILES {
        copy(sh, Path::new(file), &to)?;
    }
    for file in sh.read_dir(format!("{CRATE}/tests/gpu"))?.iter().filter(|path| path.is_file()) {
        copy(sh, file.strip_prefix(sh.current_dir())?, &to)?;
    }
    image(sh, &wheel, &to)
}

/// Copies a file of the repository to the same place below `to`.
fn copy(sh: &Shell, file: &Path, to: &str) -> Result<()> {
    let to = Path::new(to).join(file);
    sh.create_dir(to.parent().context("a file lies in a directory")?)?;
    Ok(sh.copy_file(file, to)?)
}

/// Machine code of the kernels that are measured, because there may be no compiler.
fn image(sh: &Shell, wheel: &Path, to: &str) -> Result<()> {
    let environment = crate::root().join("target/python-bundle");
    let (python, own, numpy) = (crate::wheel::python(), environment.join("bin/python"), crate::python::pinned("numpy"));
    cmd!(sh, "{python} -m venv --clear {environment}").quiet().run()?;
    cmd!(sh, "{own} -m pip install --quiet --disable-pip-version-check --only-binary :all: {wheel} {numpy}").quiet().run()?;
    let ptx = environment.join("calls.ptx");
    cmd!(sh, "{own} {CRATE}/bench/calls.py --write-image {ptx}").run().context("`cargo xtask setup` installs clang")?;
    let ptxas = hostcall_build::Ptxas::find()?.path;
    Ok(cmd!(sh, "{ptxas} -arch=sm_90 {ptx} -o {to}/calls.cubin").run()?)
}
