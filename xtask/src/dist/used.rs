//! What was made is used as its users do: the archive unpacked elsewhere, and the packages in an empty Debian.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hostcall_build::{ProgramSpec, Target, build_program};
use xshell::{Shell, cmd};

use super::{Machine, debian};
use crate::arm;

/// What the example in C says when its calls were answered.
const ANSWERED: &str = "42 43 44 45 46 47 48 49";

/// Unpacks the archive elsewhere, and compiles and runs the examples in C and C++ by what is in it alone. Gives their
/// program for the simulator, in a folder of its own.
pub(super) fn archive(sh: &Shell, out: &Path, name: &str, machine: &Machine) -> Result<tempfile::TempDir> {
    let elsewhere = tempfile::tempdir()?;
    let (dir, examples) = (elsewhere.path(), crate::root().join("examples/c"));
    cmd!(sh, "tar -C {dir} -xJf {out}/{name}.tar.xz").quiet().run()?;
    let (prefix, program) = (dir.join(name), dir.join("add42.program"));
    kernels(sh, machine, &program)?;
    let demo = ["hostcall", "demo", "--device", "sim", "--output"];
    let said = machine.command(sh, &prefix.join("bin/cargo-hostcall")).args(demo).arg(dir.join("words.txt")).quiet().read()?;
    ensure!(said.lines().count() == 10, "the demo prints its ten most frequent words: {said}");
    let (build, library) = (dir.join("build"), prefix.join("lib"));
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
    let flags = cmd!(sh, "pkg-config --cflags --libs hostcall").env("PKG_CONFIG_PATH", library.join("pkgconfig")).quiet().read()?;
    let (flags, add42, compiler) = (flags.split_whitespace(), dir.join("add42"), machine.compiler());
    cmd!(sh, "{compiler} -std=c99 {examples}/add42.c -o {add42} {flags...}").quiet().run()?;
    let said = machine.command(sh, &add42).arg(&program).env("LD_LIBRARY_PATH", &library).quiet().read()?;
    ensure!(said.contains(ANSWERED), "no call was answered: {said}");
    Ok(elsewhere)
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

/// Installs the packages into an empty Debian of this machine's kind, and uses them there: a program in C by
/// pkg-config, the examples by CMake, the command line.
pub(super) fn packages(sh: &Shell, out: &Path, machine: &Machine, program: &tempfile::TempDir) -> Result<()> {
    if cmd!(sh, "mmdebstrap --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        crate::debian::install(sh, &["mmdebstrap"])?;
    }
    let elsewhere = tempfile::tempdir()?;
    let root: PathBuf = elsewhere.path().join("root");
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
    let examples = crate::root().join("examples/c");
    cmd!(sh, "cp -rL {examples} {home}/c").quiet().run()?;
    sh.copy_file(program.path().join("add42.program"), &home)?;
    // Nothing but the packages: `apt` would fetch what they lack, `dpkg` does not.
    let script = "set -e; cd /home/user; dpkg -i ./*.deb >/dev/null; \
        gcc -std=c99 c/add42.c -o add42 $(pkg-config --cflags --libs hostcall); ./add42 add42.program; \
        cmake -S c -B build -DADD42_PROGRAM=/home/user/add42.program >/dev/null; cmake --build build >/dev/null; \
        ctest --test-dir build --output-on-failure >/dev/null; \
        cargo-hostcall hostcall demo --device sim --output /tmp/words.txt";
    let clean = ["-i", "HOME=/home/user", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"];
    // The simulator loads its images by what `/proc` says of the process.
    let there = "mount -t proc proc \"$0/proc\" && exec chroot \"$0\" sh -c \"$1\"";
    let said = cmd!(sh, "env {clean...} unshare --mount --pid --fork sh -c {there} {root} {script}").quiet().read()?;
    ensure!(said.contains(ANSWERED) && said.lines().count() > 10, "not everything was answered in the empty Debian: {said}");
    Ok(())
}
