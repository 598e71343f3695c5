//! The wheel of the Python package: built by maturin, and tested where it was installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::steps::Steps;

/// Of `crates/hostcall-python`; relative to the repository's root.
const CRATE: &str = "crates/hostcall-python";
/// Programs that the tests run.
const PROGRAMS: [&str; 6] = ["asks", "cat", "endings", "hello", "surroundings", "wordcount"];

/// The packages' Python: maturin is there.
pub(crate) fn python() -> PathBuf {
    crate::root().join("target/python/bin/python")
}

/// Builds the wheel, and says where it is. `triple`: for other processors than this machine's.
pub(crate) fn build(sh: &Shell, debug: bool, triple: Option<&str>) -> Result<PathBuf> {
    headers(sh)?;
    bitcode(sh)?;
    let wheels = crate::root().join("target/wheels").join(triple.unwrap_or_default()).join(if debug { "debug" } else { "release" });
    sh.remove_path(&wheels)?;
    let profile = if debug { "dev" } else { "release" };
    let (python, manifest) = (python(), format!("{CRATE}/Cargo.toml"));
    let target = crate::target_directory();
    let mut build =
        cmd!(sh, "{python} -m maturin build --quiet --profile {profile} --manifest-path {manifest} --target-dir {target} --out {wheels}");
    if let Some(triple) = triple {
        let linker = crate::target_variable(triple, "LINKER");
        build = build.args(["--target", triple]);
        if std::env::var_os(&linker).is_none() {
            // Debian's name of the cross compiler.
            build = build.env(linker, format!("{}-gcc", triple.replace("-unknown", "")));
        }
    }
    build.run()?;
    let mut built = sh.read_dir(&wheels)?;
    ensure!(built.len() == 1, "one wheel in {}, not {}", wheels.display(), built.len());
    let wheel = built.pop().context("one wheel")?;
    let name = wheel.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ensure!(debug || is_for_all(name), "{name} is not for every CPython from 3.10 on, or not for every Linux of its libc's age");
    Ok(wheel)
}

/// Whether the wheel of this name is for every CPython from 3.10 on, and for distributions by the age of their libc
/// (PEP 600).
fn is_for_all(name: &str) -> bool {
    name.contains("-cp310-abi3-") && name.contains("-manylinux_2_")
}

/// The headers go into the package: compilers of kernels find them where it is installed.
fn headers(sh: &Shell) -> Result<()> {
    let (from, to) = (crate::root().join("include"), crate::root().join(CRATE).join("python/hostcall/include"));
    sh.remove_path(&to)?;
    copy(sh, &from, &to)?;
    // Its links lead to other folders of the repository.
    Ok(sh.remove_path(to.join("README.md"))?)
}

/// The client for Triton's kernels, and beside it what reports their asserts.
fn bitcode(sh: &Shell) -> Result<()> {
    let (python, to) = (python(), format!("{CRATE}/python/hostcall/_triton.bc"));
    cmd!(sh, "{python} {CRATE}/triton/build.py {to}").quiet().run().context("needs clang-22: cargo xtask setup installs it")
}

fn copy(sh: &Shell, from: &Path, to: &Path) -> Result<()> {
    sh.create_dir(to)?;
    for path in sh.read_dir(from)? {
        let to = to.join(path.file_name().context("a file has a name")?);
        if path.is_dir() { copy(sh, &path, &to)? } else { sh.copy_file(path, to)? }
    }
    Ok(())
}

/// Builds the wheel, installs it into an environment of its own, and runs its tests and type checks there.
///
/// The tests of the core run with each of the interpreters `with`, too.
pub(crate) fn steps(sh: &Shell, steps: &mut Steps, with: &[PathBuf]) {
    let has_maturin = Command::new(python()).args(["-m", "maturin", "--version"]).output().is_ok_and(|output| output.status.success());
    if !has_maturin && std::env::var_os("CI").is_none() {
        println!("skipped: the Python package, because `target/python` has no maturin; `cargo xtask setup` installs it");
        return;
    }
    let (mut wheel, mut programs) = (None, None);
    steps.run("the wheel of the Python package", || {
        wheel = Some(build(sh, true, None)?);
        Ok(())
    });
    let Some(wheel) = wheel else { return };
    let environment = crate::root().join("target/python-wheel");
    let mut installed = false;
    steps.run("the wheel installed into a new environment", || {
        let (python, own) = (python(), environment.join("bin/python"));
        cmd!(sh, "{python} -m venv --clear {environment}").quiet().run()?;
        let packages = crate::python::for_wheel();
        cmd!(sh, "{own} -m pip install --quiet --disable-pip-version-check --only-binary :all: {wheel} {packages...}").quiet().run()?;
        installed = true;
        Ok(())
    });
    steps.run("programs for the Python package's tests", || {
        programs = Some(build_programs(sh)?);
        Ok(())
    });
    if !installed {
        return;
    }
    let own = environment.join("bin/python");
    let in_crate = |words: &[&str]| {
        let mut command = Command::new(&own);
        command.args(words).current_dir(crate::root().join(CRATE));
        command
    };
    let mut tests = in_crate(&["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/core"]);
    if let Some(programs) = &programs {
        tests.env("HOSTCALL_TEST_PROGRAMS", programs);
    }
    steps.tests("tests of the Python package, and examples of its page", [tests]);
    for (number, python) in with.iter().enumerate() {
        other(sh, steps, python, &crate::root().join(format!("target/python-other-{number}")), &wheel, programs.as_deref());
    }
    let mut faces = None;
    steps.run("the wheel beside Numba, CuPy and cuda.core", || {
        let python = crate::python::faces(sh)?;
        cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall {wheel}").quiet().run()?;
        faces = Some(python);
        Ok(())
    });
    if let Some(python) = faces {
        let mut tests = Command::new(python);
        tests.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests/faces"]).current_dir(crate::root().join(CRATE));
        steps.tests("tests of the Python package's faces", [tests]);
    }
    steps.run("types of the Python package", || {
        let cache = crate::root().join("target/mypy");
        let status = in_crate(&["-m", "mypy", "--cache-dir"]).arg(cache).status()?;
        ensure!(status.success(), "mypy: {status}");
        Ok(())
    });
}

/// The tests of the core with another interpreter, in an environment of its own. Types are checked with one only.
fn other(sh: &Shell, steps: &mut Steps, python: &Path, environment: &Path, wheel: &Path, programs: Option<&Path>) {
    let own = environment.join("bin/python");
    let mut installed = false;
    steps.run(format!("the wheel installed for {}", python.display()), || {
        cmd!(sh, "{python} -m venv --clear {environment}").quiet().run()?;
        // The versions that there are for it.
        cmd!(sh, "{own} -m pip install --quiet --disable-pip-version-check --only-binary :all: {wheel} numpy pyarrow pytest")
            .quiet()
            .run()?;
        installed = true;
        Ok(())
    });
    if !installed {
        return;
    }
    let mut tests = Command::new(own);
    tests.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests/core", "--ignore=tests/core/test_mypy.py"]);
    tests.current_dir(crate::root().join(CRATE));
    if let Some(programs) = programs {
        tests.env("HOSTCALL_TEST_PROGRAMS", programs);
    }
    steps.tests(format!("tests of the Python package with {}", python.display()), [tests]);
}

/// Builds programs with `std` for the simulator.
fn build_programs(sh: &Shell) -> Result<PathBuf> {
    let tool = crate::target_directory().join("debug/cargo-hostcall");
    // The workspace's tests have built it. A build without tests has other features, and builds nearly everything
    // again.
    if !tool.exists() {
        crate::test::succeed("build --quiet --package cargo-hostcall")?;
    }
    let out = crate::root().join("target/python-programs");
    let _in = sh.push_dir("tests/programs");
    let packages = PROGRAMS.iter().flat_map(|package| ["-p", package]);
    cmd!(sh, "{tool} build --quiet --for sim {packages...} -o {out}").run()?;
    Ok(out)
}

#[test]
fn a_wheel_says_by_its_name_whom_it_is_for() {
    assert!(is_for_all("hostcall-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl"));
    assert!(!is_for_all("hostcall-0.1.0-cp311-cp311-manylinux_2_34_x86_64.whl"));
    assert!(!is_for_all("hostcall-0.1.0-cp310-abi3-linux_x86_64.whl"));
}
