//! Packages for Debian and what is made of it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{Machine, VERSION, elves, files, parts};

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
        has: |file| (file.starts_with("lib/") && !is_runtime(file)) || file.starts_with("include/") || file.starts_with(EXAMPLES),
    },
    Package {
        name: "hostcall-tools",
        section: "devel",
        summary: "calls from running GPU kernels to their host: command line",
        depends: "libc6 (>= 2.28)",
        has: |file| file.starts_with("bin/"),
    },
];

/// Where the archive has its examples.
pub(super) const EXAMPLES: &str = "share/doc/hostcall/examples/";

/// Libraries that programs need to run.
fn is_runtime(file: &str) -> bool {
    file.starts_with("lib/") && !file.contains("/cmake/") && (file.contains(".so.") || file.ends_with("libamd_hostcall.so"))
}

/// Makes the packages of what is in `tree`.
pub(super) fn make(sh: &Shell, out: &Path, tree: &Path, machine: &Machine, epoch: &str) -> Result<()> {
    let (arch, triplet) = (machine.debian(), format!("{}-linux-gnu", machine.arch));
    let mut left = files(tree)?;
    left.retain(|file| !file.starts_with("share/") || file.starts_with(EXAMPLES));
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
        sh.write_file(control.join("control"), control_of(package, arch, size))?;
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
            let help = machine.command(sh, &tree.join("bin/cargo-hostcall")).args(["hostcall", "--help"]).quiet().read()?;
            sh.write_file(manuals.join("cargo-hostcall.1"), manual(&help))?;
            cmd!(sh, "gzip -9n {manuals}/cargo-hostcall.1").quiet().run()?;
        }
        let md5sums = {
            let _there = sh.push_dir(&root);
            let files: Vec<String> =
                files(&root)?.into_iter().filter(|file| file.starts_with("usr/") && !root.join(file).is_symlink()).collect();
            cmd!(sh, "md5sum {files...}").quiet().read()?
        };
        sh.write_file(control.join("md5sums"), md5sums + "\n")?;
        cmd!(sh, "chmod -R u+rwX,go=rX {root}").quiet().run()?;
        let (libraries, ..) = elves(&root)?;
        if !libraries.is_empty() {
            cmd!(sh, "chmod a-x {libraries...}").quiet().run()?;
        }
        for list in parts::names(name == "hostcall-tools") {
            sh.copy_file(tree.join("share/doc/hostcall").join(list), &doc)?;
        }
        let deb = out.join(file_name(name, machine));
        // By one thread: how xz divides the data depends on how many processors there are.
        cmd!(sh, "dpkg-deb --root-owner-group -Zxz --build {root} {deb}")
            .envs([("SOURCE_DATE_EPOCH", epoch), ("DPKG_DEB_THREADS_MAX", "1")])
            .ignore_stdout()
            .quiet()
            .run()?;
    }
    ensure!(left.is_empty(), "no package has {left:?}");
    Ok(())
}

/// What lintian says of the packages is nothing.
pub(super) fn lint(sh: &Shell, out: &Path, machine: &Machine) -> Result<()> {
    if cmd!(sh, "lintian --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        crate::debian::install(sh, &["lintian"])?;
    }
    let packages = file_names(machine).into_iter().map(|name| out.join(name));
    let said = cmd!(sh, "lintian {packages...}").quiet().ignore_status().ignore_stderr().read()?;
    ensure!(said.is_empty(), "lintian says:\n{said}");
    Ok(())
}

/// The file of a package.
fn file_name(package: &str, machine: &Machine) -> String {
    format!("{package}_{VERSION}_{}.deb", machine.debian())
}

/// The files of all packages.
pub(super) fn file_names(machine: &Machine) -> Vec<String> {
    PACKAGES.iter().map(|package| file_name(package.name, machine)).collect()
}

/// Where a file goes below `/usr`: pkg-config looks for what is of one architecture in its own directory, and people
/// for examples in that of the package.
fn placed(file: &str, triplet: &str) -> String {
    file.replace("share/doc/hostcall/", "share/doc/libhostcall-dev/").replace("lib/pkgconfig/", &format!("lib/{triplet}/pkgconfig/"))
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

#[cfg(test)]
mod tests {
    use super::*;

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
            "share/doc/hostcall/examples/c/add42.c",
        ] {
            assert_eq!(of(file), ["libhostcall-dev"], "{file}");
        }
        assert_eq!(of("bin/cargo-hostcall"), ["hostcall-tools"]);
        assert_eq!(placed("lib/pkgconfig/hostcall.pc", "x86_64-linux-gnu"), "lib/x86_64-linux-gnu/pkgconfig/hostcall.pc");
        assert_eq!(placed(EXAMPLES, "x86_64-linux-gnu"), "share/doc/libhostcall-dev/examples/");
        assert_eq!(placed("lib/libhostcall.a", "x86_64-linux-gnu"), "lib/libhostcall.a");
        assert!(manual("a-b\n.c\n").ends_with(".nf\na\\-b\n\\&.c\n.fi\n"));
        let text = control_of(&PACKAGES[1], "amd64", 7);
        assert!(text.contains(&format!("Depends: libhostcall0 (= {VERSION}), libc6-dev\n")) && !text.contains("\n\n"), "{text}");
    }
}
