//! `cargo xtask dist`: what people without Rust install. An archive that may be unpacked anywhere, and packages for
//! Debian and what is made of it.
//!
//! Everything runs with the oldest libc that is served ([`GLIBC`]), whatever this machine has: zig brings the stubs to
//! link with. Times and owners in the files are those of the commit, not of the machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::steps::Steps;

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
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes `target/dist/`.
pub(crate) fn run(sh: &Shell) -> Result<()> {
    let out = crate::root().join("target/dist");
    let mut steps = Steps::begin();
    let linker = crate::root().join("target/zig/cc");
    steps.run("the linker", || zig(sh, &linker));
    steps.run("libraries and the command line", || build(sh, &linker));
    let name = format!("hostcall-{VERSION}-{}-linux", std::env::consts::ARCH);
    let tree = out.join(&name);
    steps.run("what is installed", || stage(sh, &tree, &linker));
    steps.run("sizes, and the libc that is needed", || check(sh, &tree));
    let epoch = cmd!(sh, "git log -1 --format=%ct").quiet().read()?;
    steps.run("the archive", || archive(sh, &out, &name, &epoch));
    steps.run("packages for Debian", || debian(sh, &out, &tree, &epoch));
    steps.run("sums", || {
        let _there = sh.push_dir(&out);
        let mut files: Vec<String> = sh
            .read_dir(".")?
            .iter()
            .filter(|path| path.is_file())
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .collect();
        files.retain(|file| file != "SHA256SUMS");
        let sums = cmd!(sh, "sha256sum {files...}").quiet().read()?;
        println!("{sums}");
        Ok(sh.write_file("SHA256SUMS", sums + "\n")?)
    });
    steps.run("the archive, unpacked elsewhere and used", || used(sh, &out, &name));
    steps.finish()
}

/// Installs zig, and writes the command that links with it.
fn zig(sh: &Shell, linker: &Path) -> Result<()> {
    let root = linker.parent().context("it is in a directory")?;
    let wanted = format!("{ZIG} {GLIBC:?}");
    if sh.read_file(root.join(".hostcall")).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    sh.remove_path(root)?;
    let options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", "--target"];
    cmd!(sh, "python3 -m pip install {options...} {root} {ZIG}").quiet().run().context("needs Python with `pip`")?;
    let (zig, arch, [major, minor]) = (root.join("ziglang/zig"), std::env::consts::ARCH, GLIBC);
    // Rust's programs ask for GCC's unwinder, and zig has LLVM's.
    let script = format!(
        "#!/bin/sh\nfor a; do shift; case $a in -lgcc_s) a=-lunwind ;; esac; set -- \"$@\" \"$a\"; done\nexec {} cc -target {arch}-linux-gnu.{major}.{minor} \"$@\"\n",
        zig.display()
    );
    sh.write_file(linker, script)?;
    cmd!(sh, "chmod +x {linker} {zig}").quiet().run()?;
    Ok(sh.write_file(root.join(".hostcall"), wanted)?)
}

fn build(sh: &Shell, linker: &Path) -> Result<()> {
    let packages: Vec<&str> = LIBRARIES.iter().flat_map(|(package, ..)| ["--package", package]).collect();
    cmd!(sh, "cargo build --release {packages...}").run()?;
    // In a directory of its own: with another linker all of it is built again.
    let linker_of = format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_LINKER", std::env::consts::ARCH.to_uppercase());
    let targets = "sim,nvptx";
    cmd!(sh, "cargo build --release --package cargo-hostcall --bins --target-dir target/dist-build")
        .env(linker_of, linker)
        .env("HOSTCALL_TARGETS", targets)
        .run()?;
    Ok(())
}

/// Fills `tree` with what `/usr/local` gets.
fn stage(sh: &Shell, tree: &Path, linker: &Path) -> Result<()> {
    sh.remove_path(tree)?;
    let (bin, doc) = (tree.join("bin"), tree.join("share/doc/hostcall"));
    for dir in [&bin, &doc] {
        sh.create_dir(dir)?;
    }
    let from = crate::target_directory().join("release");
    for (_, folder, words) in LIBRARIES {
        cmd!(sh, "sh crates/{folder}/packaging/install.sh --prefix {tree} --from {from} {words...}").env("CC", linker).quiet().run()?;
    }
    sh.copy_file("target/dist-build/release/cargo-hostcall", &bin)?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        sh.copy_file(file, &doc)?;
    }
    let (shared, archives, programs) = elves(tree)?;
    cmd!(sh, "strip --strip-unneeded {shared...} {programs...}").quiet().run().context("needs binutils")?;
    cmd!(sh, "strip --strip-debug --enable-deterministic-archives {archives...}").quiet().run()?;
    Ok(())
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
    ensure!(shared.len() >= 5 && programs.len() == 1, "{shared:?} {programs:?}");
    for (files, most) in [(&shared, MOST[0]), (&programs, MOST[1])] {
        for file in files {
            let name = file.strip_prefix(tree)?.display();
            let needed = newest(&cmd!(sh, "objdump -T {file}").quiet().read()?).with_context(|| format!("{name} needs no libc"))?;
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

/// A package for Debian: its name, what it is, what it depends on, and which of the files it has.
struct Package {
    name: &'static str,
    section: &'static str,
    summary: &'static str,
    depends: &'static str,
    has: fn(&str) -> bool,
}

const PACKAGES: [Package; 3] = [
    Package {
        name: "libhostcall0",
        section: "libs",
        summary: "calls from running GPU kernels to their host: shared libraries",
        depends: "libc6 (>= 2.28)",
        has: |file| is_runtime(file),
    },
    Package {
        name: "libhostcall-dev",
        section: "libdevel",
        summary: "calls from running GPU kernels to their host: development files",
        depends: "libhostcall0 (= VERSION), libc6-dev",
        has: |file| (file.starts_with("lib/") && !is_runtime(file)) || file.starts_with("include/"),
    },
    Package {
        name: "hostcall-tools",
        section: "devel",
        summary: "calls from running GPU kernels to their host: command line",
        depends: "libc6 (>= 2.28)",
        has: |file| file.starts_with("bin/"),
    },
];

/// Libraries that programs need to run.
fn is_runtime(file: &str) -> bool {
    file.starts_with("lib/") && !file.contains("/cmake/") && (file.contains(".so.") || file.ends_with("libamd_hostcall.so"))
}

fn debian(sh: &Shell, out: &Path, tree: &Path, epoch: &str) -> Result<()> {
    let arch = cmd!(sh, "dpkg --print-architecture").quiet().read().context("needs dpkg")?;
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let mut left = files(tree)?;
    left.retain(|file| !file.starts_with("share/"));
    for package in &PACKAGES {
        let name = package.name;
        let root = out.join("deb").join(name);
        sh.remove_path(&root)?;
        let (doc, control) = (root.join("usr/share/doc").join(name), root.join("DEBIAN"));
        for dir in [&doc, &control] {
            sh.create_dir(dir)?;
        }
        let own: Vec<String> = left.iter().filter(|file| (package.has)(file)).cloned().collect();
        ensure!(!own.is_empty(), "{name} has no files");
        left.retain(|file| !own.contains(file));
        for file in &own {
            let to = root.join("usr").join(placed(file, &triplet));
            sh.create_dir(to.parent().context("it is in a directory")?)?;
            cmd!(sh, "cp -P {tree}/{file} {to}").quiet().run()?;
            if file.ends_with(".pc") {
                sh.write_file(&to, sh.read_file(&to)?.replace("${pcfiledir}/../..", "/usr"))?;
            }
        }
        sh.write_file(doc.join("copyright"), copyright(&sh.read_file("LICENSE-MIT")?))?;
        let changes = format!(
            "hostcall ({VERSION}) unstable; urgency=low\n\n  * See CHANGELOG.md.\n\n -- The hostcall developers <developers@hostcall.invalid>  {}\n",
            cmd!(sh, "date -u -R -d @{epoch}").quiet().read()?
        );
        sh.write_file(doc.join("changelog"), changes)?;
        cmd!(sh, "gzip -9n {doc}/changelog").quiet().run()?;
        let size: u64 =
            files(&root)?.iter().filter_map(|file| fs::symlink_metadata(root.join(file)).ok()).map(|meta| meta.len().div_ceil(1024)).sum();
        sh.write_file(control.join("control"), control_of(package, &arch, size))?;
        if name == "libhostcall0" {
            sh.write_file(control.join("triggers"), "activate-noawait ldconfig\n")?;
            let shlibs =
                ["hostcall", "hostcall_offload", "hostcall_offload24"].map(|library| format!("lib{library} 0 {name} (>= {VERSION})\n"));
            sh.write_file(control.join("shlibs"), shlibs.concat())?;
            let overrides = root.join("usr/share/lintian/overrides");
            sh.create_dir(&overrides)?;
            sh.write_file(overrides.join(name), OVERRIDES)?;
        }
        if name == "hostcall-tools" {
            let manuals = root.join("usr/share/man/man1");
            sh.create_dir(&manuals)?;
            let help = cmd!(sh, "{tree}/bin/cargo-hostcall hostcall --help").quiet().read()?;
            sh.write_file(manuals.join("cargo-hostcall.1"), manual(&help))?;
            cmd!(sh, "gzip -9n {manuals}/cargo-hostcall.1").quiet().run()?;
        }
        let sums = {
            let _there = sh.push_dir(&root);
            let files: Vec<String> =
                files(&root)?.into_iter().filter(|file| file.starts_with("usr/") && !root.join(file).is_symlink()).collect();
            cmd!(sh, "md5sum {files...}").quiet().read()?
        };
        sh.write_file(control.join("md5sums"), sums + "\n")?;
        cmd!(sh, "chmod -R u+rwX,go=rX {root}").quiet().run()?;
        let (libraries, ..) = elves(&root)?;
        if !libraries.is_empty() {
            cmd!(sh, "chmod a-x {libraries...}").quiet().run()?;
        }
        let deb = out.join(format!("{name}_{VERSION}_{arch}.deb"));
        cmd!(sh, "dpkg-deb --root-owner-group -Zxz --build {root} {deb}").env("SOURCE_DATE_EPOCH", epoch).ignore_stdout().quiet().run()?;
    }
    ensure!(left.is_empty(), "no package has {left:?}");
    Ok(())
}

/// Where a file goes below `/usr`: pkg-config looks for what is of one architecture in its own directory.
fn placed(file: &str, triplet: &str) -> String {
    file.replace("lib/pkgconfig/", &format!("lib/{triplet}/pkgconfig/"))
}

/// AMD's library has no version in its name, and programs that were linked to it ask for that name.
const OVERRIDES: &str = "libhostcall0: lacks-unversioned-link-to-shared-library\nlibhostcall0: shared-library-lacks-version *\n";

/// The licences, of which Debian has one.
fn copyright(mit: &str) -> String {
    format!(
        "hostcall is under either of these licences, at your choice.\n\nThe Apache License, Version 2.0: on Debian systems its text is in\n\
         /usr/share/common-licenses/Apache-2.0.\n\nOr:\n\n{mit}"
    )
}

/// A page of the manual that shows what the program says of itself.
fn manual(help: &str) -> String {
    let help = help.replace('\\', "\\e").replace('-', "\\-");
    let help: String =
        help.lines().map(|line| if line.starts_with(['.', '\'']) { format!("\\&{line}\n") } else { format!("{line}\n") }).collect();
    format!(
        ".TH CARGO\\-HOSTCALL 1 \"\" \"hostcall {VERSION}\"\n.SH NAME\ncargo\\-hostcall \\- runs programs and kernels on a GPU and answers their calls\n\
         .SH DESCRIPTION\n.nf\n{help}.fi\n"
    )
}

fn control_of(package: &Package, arch: &str, kilobytes: u64) -> String {
    let Package { name, section, summary, depends, .. } = package;
    let depends = depends.replace("VERSION", VERSION);
    format!(
        "Package: {name}\nSource: hostcall\nVersion: {VERSION}\nArchitecture: {arch}\nMaintainer: The hostcall developers <developers@hostcall.invalid>\n\
         Installed-Size: {kilobytes}\nDepends: {depends}\nSection: {section}\nPriority: optional\nHomepage: {}\nDescription: {summary}\n \
         Code that runs on a GPU calls the host it runs beside, while the kernel is\n still running: functions, files, sockets, printing, message streams.\n",
        env!("CARGO_PKG_REPOSITORY")
    )
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

/// Unpacks the archive elsewhere, and compiles and runs the examples in C and C++ by what is in it alone.
fn used(sh: &Shell, out: &Path, name: &str) -> Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let (dir, examples) = (elsewhere.path(), crate::root().join("examples/c"));
    cmd!(sh, "tar -C {dir} -xJf {out}/{name}.tar.xz").quiet().run()?;
    let (prefix, program) = (dir.join(name), dir.join("add42.program"));
    let kernels = ["--release", "--package", "hostcall-c", "--example", "kernels"];
    cmd!(sh, "cargo run --quiet {kernels...} -- --targets sim examples/add42/kernel {program}").run()?;
    let command = prefix.join("bin/cargo-hostcall");
    let said = cmd!(sh, "{command} hostcall demo --device sim --output {dir}/words.txt").quiet().read()?;
    ensure!(said.lines().count() == 10, "the demo prints its ten most frequent words: {said}");
    let (build, library) = (dir.join("build"), prefix.join("lib"));
    cmd!(sh, "cmake -S {examples} -B {build} -DCMAKE_PREFIX_PATH={prefix} -DADD42_PROGRAM={program} -DCMAKE_BUILD_TYPE=Release")
        .quiet()
        .ignore_stdout()
        .run()?;
    cmd!(sh, "cmake --build {build}").quiet().ignore_stdout().run()?;
    cmd!(sh, "ctest --test-dir {build} --output-on-failure").quiet().run()?;
    let flags = cmd!(sh, "pkg-config --cflags --libs hostcall").env("PKG_CONFIG_PATH", library.join("pkgconfig")).quiet().read()?;
    let (flags, add42) = (flags.split_whitespace(), dir.join("add42"));
    cmd!(sh, "gcc -std=c99 {examples}/add42.c -o {add42} {flags...}").quiet().run()?;
    let said = cmd!(sh, "{add42} {program}").env("LD_LIBRARY_PATH", &library).quiet().read()?;
    ensure!(said.contains("42 43 44 45 46 47 48 49"), "no call was answered: {said}");
    Ok(())
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

    #[test]
    fn each_file_is_in_one_package() {
        let of = |file: &str| PACKAGES.iter().filter(|package| (package.has)(file)).map(|package| package.name).collect::<Vec<_>>();
        for file in [
            "lib/libhostcall.so.0",
            "lib/libhostcall_offload24.so.0.1.0",
            "lib/libamd_hostcall.so",
            "lib/amd_hostcall_v0/libamd_hostcall.so",
        ] {
            assert_eq!(of(file), ["libhostcall0"], "{file}");
        }
        for file in [
            "lib/libhostcall.so",
            "lib/libhostcall.a",
            "lib/pkgconfig/hostcall.pc",
            "lib/cmake/hostcall/hostcallConfig.cmake",
            "include/hostcall.h",
        ] {
            assert_eq!(of(file), ["libhostcall-dev"], "{file}");
        }
        assert_eq!(of("bin/cargo-hostcall"), ["hostcall-tools"]);
        assert_eq!(placed("lib/pkgconfig/hostcall.pc", "x86_64-linux-gnu"), "lib/x86_64-linux-gnu/pkgconfig/hostcall.pc");
        assert_eq!(placed("lib/libhostcall.a", "x86_64-linux-gnu"), "lib/libhostcall.a");
        assert!(manual("a-b\n.c\n").ends_with(".nf\na\\-b\n\\&.c\n.fi\n"));
        let text = control_of(&PACKAGES[1], "amd64", 7);
        assert!(text.contains(&format!("Depends: libhostcall0 (= {VERSION}), libc6-dev\n")) && !text.contains("\n\n"), "{text}");
    }
}
