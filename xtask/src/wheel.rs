//! The wheel of the Python package: built by maturin, and tested where it was installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

use crate::steps::Steps;

/// Of `crates/hostcall-python`; relative to the repository's root.
const CRATE: &str = "crates/hostcall-python";
/// Programs that the tests run.
const PROGRAMS: [&str; 6] = ["asks", "cat", "endings", "hello", "surroundings", "wordcount"];

/// The packages' Python: maturin is there.
pub(crate) fn python() -> PathBuf {
    crate::root().join("target/python/bin/python")
}

/// What building the wheel needs and `runs` says that this machine lacks, each with what brings it. `triple`: for other
/// processors than this machine's.
fn lacking(triple: Option<&str>, mut runs: impl FnMut(&str, &[&str]) -> bool) -> Vec<String> {
    let mut lacking = Vec::new();
    let mut need = |program: &str, words: &[&str], what: &str| {
        if !runs(program, words) {
            // The shell itself is there.
            lacking.push(if program == "sh" { what.to_owned() } else { format!("`{program}`: {what}") });
        }
    };
    need("python3", &["-c", "import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))"], PYTHON);
    need(&clang(), &["--version"], CLANG);
    if let Some(triple) = triple {
        let linker = linker(triple);
        need(&linker, &["--version"], &format!("it links for {triple}; CARGO_TARGET_…_LINKER names another"));
        let there = "test -d \"$(rustc --print target-libdir --target $0)\"";
        need("sh", &["-c", there, triple], &format!("Rust's standard library for {triple}: `rustup target add {triple}`"));
    }
    lacking
}

const PYTHON: &str = "Python 3.11 or newer with `venv`, in which maturin is installed; Debian's package is `python3-venv`";
const CLANG: &str = "clang 22, which compiles hostcall's client for kernels of Triton; `cargo xtask setup` installs it on Debian, and \
    the variable CLANG names another";

/// The compiler of `triton/build.py`.
fn clang() -> String {
    std::env::var("CLANG").unwrap_or_else(|_| "clang++-22".to_owned())
}

/// What links for other processors: what cargo is told, or Debian's name of the cross compiler.
fn linker(triple: &str) -> String {
    let told = std::env::var(crate::target_variable(triple, "LINKER"));
    told.unwrap_or_else(|_| format!("{}-gcc", triple.replace("-unknown", "")))
}

/// Says at once, before anything is installed or compiled, what the wheel needs and this machine lacks.
pub(crate) fn check(triple: Option<&str>) -> Result<()> {
    let runs = |program: &str, words: &[&str]| Command::new(program).args(words).output().is_ok_and(|output| output.status.success());
    let lacking = lacking(triple, runs);
    ensure!(lacking.is_empty(), "the wheel cannot be built, for this machine lacks\n   {}", lacking.join("\n   "));
    Ok(())
}

/// Puts into the package what is no Python and no Rust.
pub(crate) fn prepare(sh: &Shell) -> Result<()> {
    headers(sh)?;
    bitcode(sh)
}

/// A command of maturin's for the package.
pub(crate) fn maturin<'a>(sh: &'a Shell, command: &str) -> Cmd<'a> {
    let (python, manifest) = (python(), format!("{CRATE}/Cargo.toml"));
    cmd!(sh, "{python} -m maturin {command} --manifest-path {manifest}")
}

/// Builds the wheel, and says where it is. `triple`: for other processors than this machine's.
pub(crate) fn build(sh: &Shell, debug: bool, triple: Option<&str>) -> Result<PathBuf> {
    prepare(sh)?;
    let wheels = crate::root().join("target/wheels").join(triple.unwrap_or_default()).join(if debug { "debug" } else { "release" });
    sh.remove_path(&wheels)?;
    let profile = if debug { "dev" } else { "release" };
    let target = crate::target_directory();
    let mut build = maturin(sh, "build").args(["--quiet", "--profile", profile, "--target-dir"]).arg(target).arg("--out").arg(&wheels);
    if let Some(triple) = triple {
        build = build.args(["--target", triple]).env(crate::target_variable(triple, "LINKER"), linker(triple));
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
    Ok(cmd!(sh, "{python} {CRATE}/triton/build.py {to}").quiet().run()?)
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
        // CUDA's runtime, which they look for, is among NVIDIA's compilers.
        crate::cuda::packages(sh)?;
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
        cmd!(sh, "{own} -m pip install --quiet --disable-pip-version-check --only-binary :all: {wheel} numpy pandas pyarrow tqdm pytest")
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
fn what_a_machine_lacks_is_named_with_what_brings_it_and_what_it_has_is_not() {
    let lacking_without = |missing: &[&str], triple| lacking(triple, |program, _| !missing.contains(&program));
    assert_eq!(lacking_without(&[], Some("aarch64-unknown-linux-gnu")), Vec::<String>::new());
    let [clang] = &lacking_without(&["clang++-22"], None)[..] else { panic!("one is missing") };
    assert!(clang.contains("clang++-22") && clang.contains("cargo xtask setup"), "{clang}");
    let all = lacking(Some("aarch64-unknown-linux-gnu"), |_, _| false);
    assert!(all.len() == 4 && all[2].contains("aarch64-linux-gnu-gcc"), "{all:?}");
}

#[test]
fn the_package_has_the_licences() {
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let [own, of_all] = [CRATE, "."].map(|dir| std::fs::read(crate::root().join(dir).join(file)).unwrap());
        assert_eq!(own, of_all, "{file}");
    }
}

#[test]
fn a_wheel_says_by_its_name_whom_it_is_for() {
    assert!(is_for_all("hostcall-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl"));
    assert!(!is_for_all("hostcall-0.1.0-cp311-cp311-manylinux_2_34_x86_64.whl"));
    assert!(!is_for_all("hostcall-0.1.0-cp310-abi3-linux_x86_64.whl"));
}
