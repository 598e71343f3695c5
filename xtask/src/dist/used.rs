//! What was made is used as its users do: the archive unpacked elsewhere, and the packages in an empty Debian.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{Machine, debian};
use crate::arm;

/// What the example in C says when its calls were answered.
const ANSWERED: &str = "42 43 44 45 46 47 48 49";

/// What a compiler of C++ is told for an image of the simulator.
const SIMULATOR: &str = "-std=c++17 -O1 -DHOSTCALL_SIM -shared -fPIC";

/// The archive, unpacked elsewhere.
pub(super) struct Archive {
    elsewhere: tempfile::TempDir,
    prefix: PathBuf,
}

impl Archive {
    pub(super) fn unpack(sh: &Shell, out: &Path, name: &str) -> Result<Self> {
        let elsewhere = tempfile::tempdir()?;
        let dir = elsewhere.path();
        cmd!(sh, "tar -C {dir} -xJf {out}/{name}.tar.xz").quiet().run()?;
        let prefix = dir.join(name);
        Ok(Self { elsewhere, prefix })
    }

    fn examples(&self) -> PathBuf {
        self.prefix.join(debian::EXAMPLES)
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

    /// The example in C, compiled with what pkg-config says, and its kernel.
    pub(super) fn pkg_config(&self, sh: &Shell, machine: &Machine) -> Result<()> {
        let (library, examples, dir) = (self.library(), self.examples(), self.elsewhere.path());
        let asked = |what| cmd!(sh, "pkg-config {what} hostcall").env("PKG_CONFIG_PATH", library.join("pkgconfig")).quiet().read();
        let (include, libs) = (asked("--cflags")?, asked("--libs")?);
        let (include, libs) = (&include.split_whitespace().collect::<Vec<_>>(), libs.split_whitespace());
        let [c, cpp] = machine.compilers();
        let sim = SIMULATOR.split_whitespace();
        cmd!(sh, "{cpp} {sim...} {include...} -x c++ {examples}/cuda/add42.cu -o {dir}/add42.so").quiet().run()?;
        cmd!(sh, "{c} -std=c99 {examples}/c/add42.c -o {dir}/add42 {include...} {libs...}").quiet().run()?;
        let said = machine.command(sh, &dir.join("add42")).arg(dir.join("add42.so")).env("LD_LIBRARY_PATH", &library).quiet().read()?;
        ensure!(said.contains(ANSWERED), "no call was answered: {said}");
        Ok(())
    }

    /// The examples in C and C++, by CMake's `find_package`.
    pub(super) fn cmake(&self, sh: &Shell, machine: &Machine) -> Result<()> {
        let (prefix, build, examples) = (&self.prefix, self.elsewhere.path().join("build"), self.examples().join("c"));
        let mut options = vec!["-DCMAKE_BUILD_TYPE=Release".to_owned()];
        if let Some(qemu) = &machine.qemu {
            let [c, cpp] = machine.compilers();
            let emulator = format!("{};-L;{}", qemu.display(), arm::LIBRARIES);
            options.extend(["-DCMAKE_SYSTEM_NAME=Linux".to_owned(), format!("-DCMAKE_SYSTEM_PROCESSOR={}", machine.arch)]);
            options.extend([format!("-DCMAKE_C_COMPILER={c}"), format!("-DCMAKE_CXX_COMPILER={cpp}")]);
            options.push(format!("-DCMAKE_CROSSCOMPILING_EMULATOR={emulator}"));
        }
        cmd!(sh, "cmake -S {examples} -B {build} -DCMAKE_PREFIX_PATH={prefix} {options...}").quiet().ignore_stdout().run()?;
        cmd!(sh, "cmake --build {build}").quiet().ignore_stdout().run()?;
        cmd!(sh, "ctest --test-dir {build} --output-on-failure").quiet().run()?;
        Ok(())
    }

    /// A program in CUDA C++, by the nvcc of Python's registry. Without a GPU it ends with the words of CUDA's runtime.
    pub(super) fn nvcc(&self, sh: &Shell) -> Result<()> {
        crate::cuda::packages(sh)?;
        let (prefix, library) = (&self.prefix, self.library());
        let nvcc = crate::root().join("target/cuda/nvidia/cu13/bin/nvcc");
        let (source, existing) = (self.examples().join("existing/existing.cu"), self.elsewhere.path().join("existing"));
        cmd!(sh, "{nvcc} -std=c++17 -arch=sm_90 {source} -o {existing} -I {prefix}/include -L {library} -lhostcall").quiet().run()?;
        let output = cmd!(sh, "{existing}").env("LD_LIBRARY_PATH", &library).quiet().ignore_status().output()?;
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        ensure!(output.status.success() && said.contains(ANSWERED) || said.contains("CUDA"), "neither answered nor refused: {said}");
        Ok(())
    }
}

/// An empty Debian of this machine's kind, with compilers.
pub(super) struct Debian {
    elsewhere: tempfile::TempDir,
}

impl Debian {
    pub(super) fn empty(sh: &Shell, out: &Path, machine: &Machine) -> Result<Self> {
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

    /// Installs the packages, and nothing but them: `apt` would fetch what they lack, `dpkg` does not. Then the example
    /// in C, compiled with what pkg-config says.
    pub(super) fn pkg_config(&self, sh: &Shell) -> Result<()> {
        let said = self.run(
            sh,
            &format!(
                "dpkg -i ./*.deb >/dev/null; cp -r /usr/share/doc/libhostcall-dev/examples .; \
                 g++ {SIMULATOR} $(pkg-config --cflags hostcall) -x c++ examples/cuda/add42.cu -o add42.so; \
                 gcc -std=c99 examples/c/add42.c -o add42 $(pkg-config --cflags --libs hostcall); ./add42 ./add42.so"
            ),
        )?;
        ensure!(said.contains(ANSWERED), "no call was answered in the empty Debian: {said}");
        Ok(())
    }

    /// The examples in C and C++, by CMake's `find_package`.
    pub(super) fn cmake(&self, sh: &Shell) -> Result<()> {
        self.run(
            sh,
            "cmake -S examples/c -B build >/dev/null; cmake --build build >/dev/null; \
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
