//! What was made is used as its users do: the archive unpacked elsewhere, and the packages in an empty Debian.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hostcall_build::{ProgramSpec, Target, build_program};
use xshell::{Shell, cmd};

use super::{Machine, debian};
use crate::arm;

/// What the example in C says when its calls were answered.
const ANSWERED: &str = "42 43 44 45 46 47 48 49";

/// The archive, unpacked elsewhere.
pub(super) struct Archive {
    elsewhere: tempfile::TempDir,
    prefix: PathBuf,
    /// The examples' program for the simulator.
    program: PathBuf,
}

impl Archive {
    pub(super) fn unpack(sh: &Shell, out: &Path, name: &str, machine: &Machine) -> Result<Self> {
        let elsewhere = tempfile::tempdir()?;
        let dir = elsewhere.path();
        cmd!(sh, "tar -C {dir} -xJf {out}/{name}.tar.xz").quiet().run()?;
        let (prefix, program) = (dir.join(name), dir.join("add42.program"));
        kernels(sh, machine, &program)?;
        Ok(Self { elsewhere, prefix, program })
    }

    fn library(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// The demo of the command line.
    pub(super) fn demo(&self, sh: &Shell, machine: &Machine) -> Result<()> {
        let demo = ["hostcall", "demo", "--device", "sim", "--output"];
        let words = self.elsewhere.path().join("words.txt");
        let said = machine.command(sh, &self.prefix.join("bin/cargo-hostcall")).args(demo).arg(words).quiet().read()?;
        ensure!(said.lines().count() == 10, "the demo prints its ten most frequent words: {said}");
        Ok(())
    }

    /// The example in C, compiled with what pkg-config says.
    pub(super) fn pkg_config(&self, sh: &Shell, machine: &Machine) -> Result<()> {
        let (program, library, examples) = (&self.program, self.library(), examples());
        let flags = cmd!(sh, "pkg-config --cflags --libs hostcall").env("PKG_CONFIG_PATH", library.join("pkgconfig")).quiet().read()?;
        let (flags, add42, compiler) = (flags.split_whitespace(), self.elsewhere.path().join("add42"), machine.compiler());
        cmd!(sh, "{compiler} -std=c99 {examples}/add42.c -o {add42} {flags...}").quiet().run()?;
        let said = machine.command(sh, &add42).arg(program).env("LD_LIBRARY_PATH", &library).quiet().read()?;
        ensure!(said.contains(ANSWERED), "no call was answered: {said}");
        Ok(())
    }

    /// The examples in C and C++, by CMake's `find_package`.
    pub(super) fn cmake(&self, sh: &Shell, machine: &Machine) -> Result<()> {
        let (prefix, program, build, examples) = (&self.prefix, &self.program, self.elsewhere.path().join("build"), examples());
        let mut options = vec!["-DCMAKE_BUILD_TYPE=Release".to_owned()];
        if let Some(qemu) = &machine.qemu {
            let [c, cpp] = arm::COMPILERS;
            let emulator = format!("{};-L;{}", qemu.display(), arm::LIBRARIES);
            options.extend(["-DCMAKE_SYSTEM_NAME=Linux".to_owned(), format!("-DCMAKE_SYSTEM_PROCESSOR={}", machine.arch)]);
            options.extend([format!("-DCMAKE_C_COMPILER={c}"), format!("-DCMAKE_CXX_COMPILER={cpp}")]);
            options.push(format!("-DCMAKE_CROSSCOMPILING_EMULATOR={emulator}"));
        }
        cmd!(sh, "cmake -S {examples} -B {build} -DCMAKE_PREFIX_PATH={prefix} -DADD42_PROGRAM={program} {options...}")
            .quiet()
            .ignore_stdout()
            .run()?;
        cmd!(sh, "cmake --build {build}").quiet().ignore_stdout().run()?;
        cmd!(sh, "ctest --test-dir {build} --output-on-failure").quiet().run()?;
        Ok(())
    }

    /// A program in CUDA C++, by the nvcc of Python's registry. Without a GPU it ends with the words of CUDA's runtime.
    pub(super) fn nvcc(&self, sh: &Shell) -> Result<()> {
        crate::cuda::packages(sh)?;
        let (prefix, library) = (&self.prefix, self.library());
        let nvcc = crate::root().join("target/cuda/nvidia/cu13/bin/nvcc");
        let (source, existing) = (crate::root().join("examples/existing/existing.cu"), self.elsewhere.path().join("existing"));
        cmd!(sh, "{nvcc} -std=c++17 -arch=sm_90 {source} -o {existing} -I {prefix}/include -L {library} -lhostcall").quiet().run()?;
        let output = cmd!(sh, "{existing}").env("LD_LIBRARY_PATH", &library).quiet().ignore_status().output()?;
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        ensure!(output.status.success() && said.contains(ANSWERED) || said.contains("CUDA"), "neither answered nor refused: {said}");
        Ok(())
    }
}

fn examples() -> PathBuf {
    crate::root().join("examples/c")
}

/// The examples' kernels for the simulator of `machine`, by this program in a process of its own: who they are for is
/// said as cargo tells build scripts, by variables.
fn kernels(sh: &Shell, machine: &Machine, program: &Path) -> Result<()> {
    let command = sh.cmd(std::env::current_exe()?).args(["kernels", "examples/add42/kernel"]).arg(program);
    let own = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let linker = crate::target_variable(&machine.triple(), "LINKER");
    let script = [("HOST", own), ("TARGET", machine.triple()), ("OUT_DIR", program.display().to_string())];
    let command = if machine.qemu.is_some() { command.envs(script).env(linker, &machine.linker) } else { command };
    Ok(command.run()?)
}

/// Builds a package of kernels into a file that `hc_program_load` takes.
pub(crate) fn build_kernels(package: &Path, file: &Path) -> Result<()> {
    let built = build_program(&ProgramSpec { targets: vec![Target::Sim], ..ProgramSpec::new(package) })?;
    Ok(std::fs::write(file, built.bundle.to_bytes())?)
}

/// An empty Debian of this machine's kind, with compilers.
pub(super) struct Debian {
    elsewhere: tempfile::TempDir,
}

impl Debian {
    pub(super) fn empty(sh: &Shell, out: &Path, machine: &Machine, archive: &Archive) -> Result<Self> {
        if cmd!(sh, "mmdebstrap --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
            crate::debian::install(sh, &["mmdebstrap"])?;
        }
        let debian = Self { elsewhere: tempfile::tempdir()? };
        let root = debian.root();
        let include = "--include=gcc,g++,libc6-dev,make,cmake,pkg-config";
        cmd!(sh, "mmdebstrap --quiet --variant=minbase {include} stable {root} http://deb.debian.org/debian")
            .quiet()
            .run()
            .context("an empty Debian needs root, or `--no-root` leaves this out")?;
        let home = root.join("home/user");
        sh.create_dir(&home)?;
        for package in debian::file_names(machine) {
            sh.copy_file(out.join(package), &home)?;
        }
        let examples = examples();
        cmd!(sh, "cp -rL {examples} {home}/c").quiet().run()?;
        sh.copy_file(&archive.program, &home)?;
        Ok(debian)
    }

    fn root(&self) -> PathBuf {
        self.elsewhere.path().join("root")
    }

    /// Runs a script there: what it printed.
    fn run(&self, sh: &Shell, script: &str) -> Result<String> {
        let (root, script) = (self.root(), format!("set -e; cd /home/user; {script}"));
        let clean = ["-i", "HOME=/home/user", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"];
        // The simulator loads its images by what `/proc` says of the process.
        let there = "mount -t proc proc \"$0/proc\" && exec chroot \"$0\" sh -c \"$1\"";
        Ok(cmd!(sh, "env {clean...} unshare --mount --pid --fork sh -c {there} {root} {script}").quiet().read()?)
    }

    /// Installs the packages, and nothing but them: `apt` would fetch what they lack, `dpkg` does not. Then the example in
    /// C, compiled with what pkg-config says.
    pub(super) fn pkg_config(&self, sh: &Shell) -> Result<()> {
        let said = self.run(
            sh,
            "dpkg -i ./*.deb >/dev/null; \
             gcc -std=c99 c/add42.c -o add42 $(pkg-config --cflags --libs hostcall); ./add42 add42.program",
        )?;
        ensure!(said.contains(ANSWERED), "no call was answered in the empty Debian: {said}");
        Ok(())
    }

    /// The examples in C and C++, by CMake's `find_package`.
    pub(super) fn cmake(&self, sh: &Shell) -> Result<()> {
        self.run(
            sh,
            "cmake -S c -B build -DADD42_PROGRAM=/home/user/add42.program >/dev/null; cmake --build build >/dev/null; \
             ctest --test-dir build --output-on-failure >/dev/null",
        )?;
        Ok(())
    }

    /// The demo of the command line.
    pub(super) fn demo(&self, sh: &Shell) -> Result<()> {
        let said = self.run(sh, "cargo-hostcall hostcall demo --device sim --output /tmp/words.txt")?;
        ensure!(said.lines().count() >= 10, "the demo prints its ten most frequent words: {said}");
        Ok(())
    }
}
