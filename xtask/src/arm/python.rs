//! The wheel is used as on a machine with such processors: by Debian's interpreter for them, which QEMU runs. Nothing
//! of it is installed here: the packages are unpacked into `target/arm/python`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{COMPILERS, DEBIAN};

/// Debian's packages: the interpreter, and those of its libraries that the tests' imports open.
const PACKAGES: [&str; 13] = [
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "zlib1g",
    "libexpat1",
    "libffi8",
    "libbz2-1.0",
    "liblzma5",
    "libzstd1",
    "libssl3t64",
    "libpython3.13-minimal",
    "libpython3.13-stdlib",
    "python3.13-minimal",
];
const VERSION: &str = "3.13";

/// What is left out of the tests of the core: types, which no processor changes, and a notebook's kernel, which is
/// others' code by ZeroMQ.
const LEFT_OUT: [&str; 2] = ["tests/core/test_mypy.py", "tests/core/test_notebook.py"];

/// The one test of pip's own words: this interpreter has no pip.
const OF_PIP: &str = "tests/core/test_system.py::test_pip_shows_the_line";

/// What answers in the simulator, on a processor that says its name.
const CALL: &str = r#"
import platform
import numpy as np
import hostcall as hc

@hc.service(batch=True)
def add42(x: hc.f32) -> hc.f32:
    return x + np.float32(42)

KERNEL = """
HOSTCALL_KERNEL(demo, float* y, unsigned long long n) {
    const auto i = hostcall::global_id();
    if (i < n) y[i] = Host::add42(y[i]).value_or(-1);
}
"""

y = np.arange(100, dtype=np.float32)
with hc.Server("sim") as server:
    server.register(add42)
    kernels = hc.sim.Module(KERNEL, [add42])
    server.attach(kernels)
    kernels.launch("demo", 4, 32, y, len(y))
    server.wait()
assert (y == np.arange(100, dtype=np.float32) + 42).all(), y
print(platform.machine(), "answered", len(y))
"#;

/// An interpreter with packages.
pub(super) struct Python {
    /// What starts it: it starts others by this name as well.
    program: PathBuf,
    packages: PathBuf,
}

impl Python {
    /// Unpacks what is missing, and installs the wheel beside what its tests need.
    pub(super) fn with(sh: &Shell, qemu: &Path, wheel: &Path) -> Result<Self> {
        let folder = crate::root().join("target/arm/python");
        let (root, stamp, wanted) = (folder.join("root"), folder.join(".hostcall"), format!("{DEBIAN} {}", PACKAGES.join(" ")));
        if !sh.read_file(&stamp).is_ok_and(|there| there == wanted) {
            println!("   Python {VERSION} of Debian {DEBIAN}, for AArch64");
            sh.remove_path(&folder)?;
            crate::debian::unpack_from(sh, DEBIAN, "arm64", &PACKAGES, &["./usr"], &root)?;
            // The loader's name begins with `/lib`, which is a link since this Debian.
            std::os::unix::fs::symlink("usr/lib", root.join("lib"))?;
            sh.write_file(&stamp, wanted)?;
        }
        let (program, packages) = (folder.join("python"), folder.join("packages"));
        let script = format!(
            "#!/bin/sh\nPYTHONHOME={0}/usr exec {1} -L {0} -0 \"$0\" {0}/usr/bin/python{VERSION} \"$@\"\n",
            root.display(),
            qemu.display()
        );
        sh.write_file(&program, script)?;
        cmd!(sh, "chmod +x {program}").quiet().run()?;
        sh.remove_path(&packages)?;
        // Every libc of those that wheels are named by, up to this Debian's.
        let platforms = (17..=41).flat_map(|minor| ["--platform".to_owned(), format!("manylinux_2_{minor}_aarch64")]);
        let own = ["numpy", "pandas", "pyarrow", "pytest"].map(crate::python::pinned).into_iter().chain([crate::python::BAR]);
        let options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--implementation", "cp"];
        let python = crate::wheel::python();
        cmd!(sh, "{python} -m pip install {options...} --python-version {VERSION} {platforms...} --target {packages} {wheel} {own...}")
            .quiet()
            .run()
            .context("packages of Python's for AArch64")?;
        Ok(Self { program, packages })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).env("PYTHONPATH", &self.packages).env("CXX", COMPILERS[1]).env("PYTHONDONTWRITEBYTECODE", "1");
        command.current_dir(crate::root().join("crates/hostcall-python"));
        command
    }

    /// A call in the simulator.
    pub(super) fn call(&self) -> Result<()> {
        let output = self.command(&["-c", CALL]).output()?;
        let [said, complaints] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        print!("{said}");
        ensure!(output.status.success() && said.contains("aarch64 answered 100"), "{}: {said}{complaints}", output.status);
        Ok(())
    }

    /// The tests of the package's core.
    pub(super) fn tests(&self) -> Command {
        let mut tests = self.command(&["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests/core"]);
        tests.args(LEFT_OUT.map(|file| format!("--ignore={file}"))).arg(format!("--deselect={OF_PIP}"));
        tests
    }
}
