//! `cargo xtask dist`: what people without Rust install. An archive that may be unpacked anywhere, and packages for
//! Debian and what is made of it.
//!
//! Everything runs with the oldest libc that is served ([`GLIBC`]), whatever this machine has: zig brings the stubs to
//! link with. Times, owners and paths in the files are those of the commit, not of the machine, so that two builds of
//! a commit can be equal: `--compare` makes both, and has not run to its end yet. No file names a directory of the
//! machine ([`paths`]).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use xshell::{Cmd, Shell, cmd};

use crate::arm;
use crate::steps::Steps;
use crate::ways;

mod compare;
mod debian;
mod parts;
mod paths;
mod python;
mod used;

/// The oldest libc that is served: that of Debian 10 and RHEL 8.
const GLIBC: [u32; 2] = [2, 28];
/// The most bytes of a library, and of the command line.
const MOST: [u64; 2] = [5 << 20, 25 << 20];
/// What links with stubs of old libcs, from PyPI.
const ZIG: &str = "ziglang==0.17.1";
/// Libraries: the package in cargo, and further words for its `install.sh`.
const LIBRARIES: [(&str, &str, &[&str]); 4] = [
    ("hostcall-c", "hostcall-c", &[]),
    ("hostcall-amd", "hostcall-amd", &[]),
    ("hostcall-offload", "hostcall-offload", &["--llvm", "23"]),
    ("hostcall-offload24", "hostcall-offload", &["--llvm", "24"]),
];
const COMMAND_LINE: &str = "cargo-hostcall";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const SUMS: &str = "SHA256SUMS";
/// Where it is built, below the repository's root: with another linker all of it is built again.
const BUILD: &str = "target/dist-build";

#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// For machines with these processors: `x86_64`, or `aarch64`, which QEMU runs to try what was made
    #[arg(long, default_value = std::env::consts::ARCH)]
    arch: String,
    /// Make it a second time in a clone elsewhere, and compare
    #[arg(long)]
    compare: bool,
    /// Make and use only what is for Python: the wheel, and the source distribution
    #[arg(long, conflicts_with = "compare")]
    python: bool,
    /// Do not install the packages into an empty Debian, which needs root
    #[arg(long)]
    no_root: bool,
    /// Write what the ways in cost into the documentation
    #[arg(long)]
    figures: bool,
}

/// What is built for.
struct Machine {
    arch: String,
    /// What runs its programs here; none if it is this machine.
    qemu: Option<PathBuf>,
    linker: PathBuf,
}

impl Machine {
    fn of(sh: &Shell, arch: &str) -> Result<Self> {
        let is_own = arch == std::env::consts::ARCH;
        ensure!(is_own || arm::TRIPLE.starts_with(arch), "nothing is made for {arch}: only x86_64 and aarch64");
        let qemu = if is_own { None } else { Some(arm::setup(sh)?) };
        Ok(Self { arch: arch.to_owned(), qemu, linker: zig(sh, arch)? })
    }

    fn triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.arch)
    }

    /// What Debian calls it.
    fn debian(&self) -> &'static str {
        if self.arch == "aarch64" { "arm64" } else { "amd64" }
    }

    /// A program of such a machine.
    fn command<'a>(&self, sh: &'a Shell, program: &Path) -> Cmd<'a> {
        match &self.qemu {
            Some(qemu) => sh.cmd(qemu).args(["-L", arm::LIBRARIES]).arg(program),
            None => sh.cmd(program),
        }
    }

    /// Debian's compilers of C and C++ for it.
    fn compilers(&self) -> [&'static str; 2] {
        if self.qemu.is_some() { arm::COMPILERS } else { ["gcc", "g++"] }
    }

    /// Where cargo leaves what it builds.
    fn release(&self) -> PathBuf {
        crate::root().join(BUILD).join(self.triple()).join("release")
    }
}

/// Makes `target/dist/`.
pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let out = crate::root().join("target/dist");
    let commit = ways::commit(sh)?;
    let mut steps = Steps::begin();
    let mut machine = None;
    steps.run("the linker", || {
        machine = Some(Machine::of(sh, &arguments.arch)?);
        Ok(())
    });
    let Some(machine) = machine else { return steps.finish() };
    let epoch = cmd!(sh, "git log -1 --format=%ct").quiet().read()?;
    if arguments.python {
        python::steps(sh, &mut steps, &out, &machine, &epoch);
        return finish(sh, steps, arguments, &commit);
    }
    let made = steps.run("libraries and the command line", || build(sh, &machine));
    let name = format!("hostcall-{VERSION}-{}-linux", machine.arch);
    let tree = out.join(&name);
    // What one makes the next takes.
    let made = made
        && steps.run("what is installed", || stage(sh, &tree, &machine))
        && steps.run("which crates are in it", || parts::write(sh, &tree, &machine, &epoch))
        && steps.run("sizes, and the libc that is needed", || check(sh, &tree))
        && steps.run("no directory of this machine", || paths::none_in(&tree, &paths::of_this_machine(sh)?))
        && steps.run("the archive", || archive(sh, &out, &name, &epoch))
        && steps.run("packages for Debian", || debian::make(sh, &out, &tree, &machine, &epoch));
    if !made {
        return steps.finish();
    }
    python::steps(sh, &mut steps, &out, &machine, &epoch);
    if !steps.run("sums", || sums(sh, &out)) {
        return steps.finish();
    }
    let mut archive = None;
    steps.run(ways::UNPACKED, || {
        archive = Some(used::Archive::unpack(sh, &out, &name)?);
        Ok(())
    });
    if let Some(archive) = archive {
        steps.run(ways::UNPACKED_C, || archive.pkg_config(sh, &machine));
        steps.run(ways::UNPACKED_CMAKE, || archive.cmake(sh, &machine));
        if machine.qemu.is_none() {
            steps.run(ways::UNPACKED_CUDA, || archive.nvcc(sh));
        }
        steps.run(ways::UNPACKED_COMMAND, || archive.demo(sh, &machine));
        if machine.qemu.is_none() && !arguments.no_root {
            in_debian(sh, &mut steps, &out, &machine);
        }
    }
    if arguments.compare {
        steps.run("the same again elsewhere, compared", || compare::again(sh, &out, &machine, &given(&name, &machine)));
    }
    finish(sh, steps, arguments, &commit)
}

fn finish(sh: &Shell, steps: Steps, arguments: &Arguments, commit: &str) -> Result<()> {
    if arguments.figures {
        ways::record(sh, &steps, commit)?;
    }
    steps.finish()
}

/// Looks at the packages as Debian does, installs them into an empty Debian, and uses them there.
fn in_debian(sh: &Shell, steps: &mut Steps, out: &Path, machine: &Machine) {
    steps.run("the packages, by lintian", || debian::lint(sh, out, machine));
    let mut debian = None;
    steps.run("an empty Debian", || {
        debian = Some(used::Debian::empty(sh, out, machine)?);
        Ok(())
    });
    let Some(debian) = debian else { return };
    let installed = steps.run(ways::DEBIAN_C, || debian.pkg_config(sh));
    if installed {
        steps.run("in it: programs in C and C++, by CMake", || debian.cmake(sh));
        steps.run("in it: the command line", || debian.demo(sh));
    }
}

/// Installs zig, and writes the command that links with it.
fn zig(sh: &Shell, arch: &str) -> Result<PathBuf> {
    let root = crate::root().join("target/zig");
    let linker = root.join(format!("cc-{arch}"));
    if !sh.read_file(root.join(".hostcall")).is_ok_and(|there| there == ZIG) {
        sh.remove_path(&root)?;
        let options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", "--target"];
        cmd!(sh, "python3 -m pip install {options...} {root} {ZIG}").quiet().run().context("needs Python with `pip`")?;
        sh.write_file(root.join(".hostcall"), ZIG)?;
    }
    let (zig, [major, minor]) = (root.join("ziglang/zig"), GLIBC);
    // Rust's programs ask for GCC's unwinder, and zig has LLVM's.
    let script = format!(
        "#!/bin/sh\nfor a; do shift; case $a in -lgcc_s) a=-lunwind ;; esac; set -- \"$@\" \"$a\"; done\nexec {} cc -target {arch}-linux-gnu.{major}.{minor} \"$@\"\n",
        zig.display()
    );
    sh.write_file(&linker, script)?;
    cmd!(sh, "chmod +x {linker} {zig}").quiet().run()?;
    Ok(linker)
}

/// What the compiler is told, so that no path of this machine is in what is made: neither that of the sources nor those
/// of the registry's and of the standard library's.
fn remapped(sh: &Shell) -> Result<String> {
    let remapped = [(crate::root(), "/hostcall"), (paths::cargo_home()?, "/cargo"), (paths::sysroot(sh)?, "/rust")];
    Ok(remapped.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).join("\u{1f}"))
}

fn build(sh: &Shell, machine: &Machine) -> Result<()> {
    let triple = machine.triple();
    let linker_of = crate::target_variable(&triple, "LINKER");
    let flags = remapped(sh)?;
    // Whoever gets it built does not wait for its compilation, but for what it links.
    let faster = ["--config", "profile.release.package.hostcall-build.opt-level=3"];
    let libraries: Vec<&str> = LIBRARIES.iter().flat_map(|(package, ..)| ["--package", package]).collect();
    for what in [&libraries[..], &["--package", COMMAND_LINE, "--bins"]] {
        cmd!(sh, "cargo build --release --locked --target {triple} --target-dir {BUILD} {faster...} {what...}")
            .env(&linker_of, &machine.linker)
            .env("CARGO_ENCODED_RUSTFLAGS", &flags)
            .env("HOSTCALL_TARGETS", "sim,nvptx")
            .env("HOSTCALL_BUILT_TO_GIVE_AWAY", "1")
            .run()?;
    }
    Ok(())
}

/// Fills `tree` with what `/usr/local` gets.
fn stage(sh: &Shell, tree: &Path, machine: &Machine) -> Result<()> {
    sh.remove_path(tree)?;
    let (bin, doc) = (tree.join("bin"), tree.join("share/doc/hostcall"));
    for dir in [&bin, &doc] {
        sh.create_dir(dir)?;
    }
    let (from, objcopy) = (machine.release(), tool("llvm-objcopy"));
    for (_, folder, words) in LIBRARIES {
        let script = format!("crates/{folder}/packaging/install.sh");
        cmd!(sh, "sh {script} --prefix {tree} --from {from} {words...}")
            .env("CC", &machine.linker)
            .env("OBJCOPY", &objcopy)
            .quiet()
            .run()?;
    }
    sh.copy_file(from.join(COMMAND_LINE), &bin)?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        sh.copy_file(file, &doc)?;
    }
    let (shared, archives, programs) = elves(tree)?;
    let strip = tool("llvm-strip");
    cmd!(sh, "{strip} --strip-unneeded {shared...} {programs...}").quiet().run().context("needs llvm-22: `cargo xtask setup`")?;
    cmd!(sh, "{strip} --strip-debug --enable-deterministic-archives {archives...}").quiet().run()?;
    Ok(())
}

/// A tool of LLVM's, which knows files of every machine.
fn tool(name: &str) -> String {
    format!("/usr/lib/llvm-22/bin/{name}")
}

/// Shared libraries, archives and programs below a directory.
fn elves(tree: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut shared, mut archives, mut programs) = (Vec::new(), Vec::new(), Vec::new());
    let mut dirs = vec![tree.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_symlink() {
            } else if path.is_dir() {
                dirs.push(path);
            } else if name.contains(".so") {
                shared.push(path);
            } else if name.ends_with(".a") {
                archives.push(path);
            } else if dir.ends_with("bin") {
                programs.push(path);
            }
        }
    }
    for found in [&mut shared, &mut archives, &mut programs] {
        found.sort();
    }
    Ok((shared, archives, programs))
}

/// The newest version of libc's of which `dynamic` (of `objdump -T`) has a symbol.
fn newest(dynamic: &str) -> Option<Vec<u32>> {
    let versions = dynamic.split("GLIBC_").skip(1).filter_map(|rest| rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next());
    versions.map(|version| version.split('.').filter_map(|part| part.parse().ok()).collect()).max()
}

fn check(sh: &Shell, tree: &Path) -> Result<()> {
    let (shared, _, programs) = elves(tree)?;
    let objdump = &tool("llvm-objdump");
    ensure!(shared.len() >= 5 && programs.len() == 1, "{shared:?} {programs:?}");
    for (files, most) in [(&shared, MOST[0]), (&programs, MOST[1])] {
        for file in files {
            let name = file.strip_prefix(tree)?.display();
            let needed = newest(&cmd!(sh, "{objdump} -T {file}").quiet().read()?).with_context(|| format!("{name} needs no libc"))?;
            let bytes = fs::metadata(file)?.len();
            println!(
                "{name}: {:.1} MiB, libc {}",
                bytes as f64 / f64::from(1 << 20),
                needed.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
            );
            ensure!(bytes <= most, "{name} has {bytes} bytes, more than {most}");
            ensure!(needed <= GLIBC.to_vec(), "{name} needs libc {needed:?}, newer than {GLIBC:?}");
        }
    }
    Ok(())
}

fn archive(sh: &Shell, out: &Path, name: &str, epoch: &str) -> Result<()> {
    let options = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"];
    cmd!(sh, "tar -C {out} {options...} --mtime=@{epoch} -cJf {out}/{name}.tar.xz {name}").env("XZ_OPT", "-6 -T2").quiet().run()?;
    Ok(())
}

/// What is given away for a machine.
fn given(name: &str, machine: &Machine) -> Vec<String> {
    std::iter::once(format!("{name}.tar.xz")).chain(debian::file_names(machine)).collect()
}

/// Writes the sums of what is given away, also for other machines.
fn sums(sh: &Shell, out: &Path) -> Result<()> {
    let _there = sh.push_dir(out);
    let mut files: Vec<String> =
        sh.read_dir(".")?.iter().filter(|path| path.is_file()).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
    files.retain(|file| file != SUMS);
    let sums = cmd!(sh, "sha256sum {files...}").quiet().read()?;
    println!("{sums}");
    Ok(sh.write_file(SUMS, sums + "\n")?)
}

/// Files and links below a directory, by their paths in it.
fn files(tree: &Path) -> Result<Vec<String>> {
    let (mut found, mut dirs) = (Vec::new(), vec![tree.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                dirs.push(path);
            } else {
                found.push(path.strip_prefix(tree)?.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_that_of_all_symbols_and_compared_by_numbers() {
        let symbols = "0000 DF *UND* 0 (GLIBC_2.9) read\n0000 DF *UND* 0 (GLIBC_2.28) fcntl64\n0000 DF *UND* 0 GLIBC_2.2.5 exit\n";
        assert_eq!(newest(symbols), Some(vec![2, 28]));
        assert_eq!(newest("0000 g DF .text 0 hc_wait"), None);
        assert!(vec![2, 9] < GLIBC.to_vec() && vec![2, 34] > GLIBC.to_vec());
    }
}
