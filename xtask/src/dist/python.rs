//! For people with Python: a wheel, and a source distribution for machines that no wheel is for. Both are used where
//! no checkout is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{BUILD, GLIBC, Machine, VERSION, newest, parts, paths, tool};
use crate::steps::Steps;
use crate::{ways, wheel};

/// What `examples/python/add42.py` prints at its end when its calls were answered.
const ANSWERED: &str = "[42. 43. 44. 45. 46.]";

/// Makes both in `out`, and uses them.
pub(super) fn steps(sh: &Shell, steps: &mut Steps, out: &Path, machine: &Machine, epoch: &str) {
    steps.run("the wheel", || make_wheel(sh, out, machine, epoch));
    steps.run("Python's source distribution", || make_sources(sh, out, epoch));
    if machine.qemu.is_none() {
        steps.run(ways::WHEEL, || use_wheel(sh, &out.join(wheel_name(machine))));
        steps.run(ways::SOURCES, || use_sources(sh, &out.join(sources_name())));
    }
}

/// The wheel's file: for every CPython from 3.10 on, and every Linux with this libc or a newer one (PEP 600).
fn wheel_name(machine: &Machine) -> String {
    let [major, minor] = GLIBC;
    format!("hostcall-{VERSION}-cp310-abi3-manylinux_{major}_{minor}_{}.whl", machine.arch)
}

fn sources_name() -> String {
    format!("hostcall-{VERSION}.tar.gz")
}

fn make_wheel(sh: &Shell, out: &Path, machine: &Machine, epoch: &str) -> Result<()> {
    crate::python::packages(sh)?;
    wheel::prepare(sh)?;
    let (triple, [major, minor]) = (machine.triple(), GLIBC);
    let options = ["--quiet", "--release", "--locked", "--target", &triple, "--target-dir", BUILD];
    let libc = format!("manylinux_{major}_{minor}");
    let (list, lists) = ("hostcall-python.cdx.json".to_owned(), sh.create_temp_dir()?);
    parts::write_into(sh, lists.path(), std::slice::from_ref(&list), machine, epoch)?;
    wheel::maturin(sh, "build")
        .args(options)
        .args(["--compatibility", &libc, "--out"])
        .arg(out)
        .arg("--sbom-include")
        .arg(lists.path().join(list))
        .env(crate::target_variable(&triple, "LINKER"), &machine.linker)
        .env("CARGO_ENCODED_RUSTFLAGS", super::remapped(sh)?)
        .env("SOURCE_DATE_EPOCH", epoch)
        .run()?;
    check(sh, &out.join(wheel_name(machine)))
}

/// What the extension module in the wheel needs is what the wheel's name says.
fn check(sh: &Shell, wheel: &Path) -> Result<()> {
    let unpacked = sh.create_temp_dir()?;
    let unpacked = unpacked.path();
    let python = wheel::python();
    cmd!(sh, "{python} -m zipfile --extract {wheel} {unpacked}").quiet().run().context("the wheel has another name")?;
    paths::none_in(unpacked, &paths::of_this_machine(sh)?)?;
    let module = unpacked.join("hostcall/_hostcall.abi3.so");
    let objdump = tool("llvm-objdump");
    let needed = newest(&cmd!(sh, "{objdump} -T {module}").quiet().read()?).context("the extension module needs no libc")?;
    let bytes = std::fs::metadata(&module)?.len();
    println!("the extension module: {:.1} MiB, libc {needed:?}", bytes as f64 / f64::from(1 << 20));
    ensure!(needed <= GLIBC.to_vec(), "it needs libc {needed:?}, newer than {GLIBC:?}");
    for file in ["hostcall/_triton.bc", "hostcall/_hostcall.pyi", "hostcall/py.typed", "hostcall/include/hostcall.cuh"] {
        ensure!(unpacked.join(file).is_file(), "the wheel has no {file}");
    }
    Ok(())
}

fn make_sources(sh: &Shell, out: &Path, epoch: &str) -> Result<()> {
    wheel::prepare(sh)?;
    wheel::maturin(sh, "sdist").arg("--out").arg(out).env("SOURCE_DATE_EPOCH", epoch).run()?;
    let (sources, unpacked) = (out.join(sources_name()), sh.create_temp_dir()?);
    let unpacked = unpacked.path();
    cmd!(sh, "tar -C {unpacked} -xzf {sources}").quiet().run().context("the source distribution has another name")?;
    paths::none_in(unpacked, &paths::of_this_machine(sh)?)
}

/// An environment of Python's with nothing in it, in a directory that is not in the checkout.
struct Elsewhere {
    dir: tempfile::TempDir,
}

impl Elsewhere {
    fn new(sh: &Shell) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let environment = dir.path().join("environment");
        cmd!(sh, "python3 -m venv {environment}").quiet().run()?;
        Ok(Self { dir })
    }

    fn python(&self) -> PathBuf {
        self.dir.path().join("environment/bin/python")
    }

    /// Installs a wheel with what it depends on, and has a call answered.
    fn install_and_call(&self, sh: &Shell, wheel: &Path) -> Result<()> {
        let (python, example) = (self.python(), self.dir.path().join("add42.py"));
        sh.copy_file("examples/python/add42.py", &example)?;
        let _there = sh.push_dir(self.dir.path());
        cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check --only-binary :all: {wheel}").quiet().run()?;
        let said = cmd!(sh, "{python} {example}").quiet().read()?;
        ensure!(said.trim_end().ends_with(ANSWERED), "no call was answered: {said}");
        Ok(())
    }
}

fn use_wheel(sh: &Shell, wheel: &Path) -> Result<()> {
    Elsewhere::new(sh)?.install_and_call(sh, wheel)
}

/// Builds a wheel as `pip` does where it finds none, of what is in the source distribution alone.
fn use_sources(sh: &Shell, sources: &Path) -> Result<()> {
    let elsewhere = Elsewhere::new(sh)?;
    let (python, wheels) = (elsewhere.python(), elsewhere.dir.path().join("wheels"));
    {
        let _there = sh.push_dir(elsewhere.dir.path());
        reads_nothing_else(sh, sources)?;
        let mut pip = cmd!(sh, "{python} -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir {wheels} {sources}");
        // What cargo tells the program that it runs is not said elsewhere.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CARGO_") && !["CARGO_HOME", "CARGO_BUILD_JOBS"].contains(&&*name.to_string_lossy()) {
                pip = pip.env_remove(name);
            }
        }
        pip.quiet().run()?;
    }
    let mut built = sh.read_dir(&wheels)?;
    ensure!(built.len() == 1, "one wheel, not {built:?}");
    elsewhere.install_and_call(sh, &built.pop().context("one wheel")?)
}

/// Refuses sources whose packages are not all among them, or in the registry.
fn reads_nothing_else(sh: &Shell, sources: &Path) -> Result<()> {
    cmd!(sh, "tar -xzf {sources}").quiet().run()?;
    let root = sh.current_dir().join(sources_name().trim_end_matches(".tar.gz"));
    let manifest = root.join("crates/hostcall-python/Cargo.toml");
    let said = cmd!(sh, "cargo metadata --format-version 1 --manifest-path {manifest}").quiet().ignore_stderr().read()?;
    let metadata: serde_json::Value = serde_json::from_str(&said)?;
    let packages = metadata["packages"].as_array().into_iter().flatten().filter(|package| package["source"].is_null());
    let manifests: Vec<&str> = packages.filter_map(|package| package["manifest_path"].as_str()).collect();
    let outside: Vec<_> = manifests.iter().filter(|manifest| !Path::new(manifest).starts_with(&root)).collect();
    ensure!(manifests.len() > 5 && outside.is_empty(), "packages that are not in {}: {outside:?}", sources.display());
    Ok(())
}
