//! Files of Debian's packages that tests compare with, without installing the packages: they are large, and only root
//! can.
//!
//! `target/debian/` then holds them as the packages would lay them out below `/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Packages, and which of their files are unpacked: TableGen sources, the header that LLVM's generator made, a server
/// of NATS, which the package would start with the system, Slurm's commands, whose package brings a daemon, and hipcc
/// with the clang that it runs: the oldest that compiles the header.
const FILES: [(&str, &str); 14] = [
    ("llvm-22-dev", "*.td"),
    ("libmlir-22-dev", "*.td"),
    ("libflang-22-dev", "*.td"),
    ("liboffload-22-dev", "*/include/offload/*"),
    ("nats-server", "*/sbin/nats-server"),
    ("slurm-client", "*/bin/s[br][au][tn]*"),
    ("slurm-wlm-basic-plugins", "*/slurm-wlm/*"),
    ("hipcc", "*/usr/bin/*"),
    ("libamdhip64-dev", "*/usr/include/*"),
    ("rocm-device-libs", "*/amdgcn/*"),
    ("clang-15", "*/llvm-15/bin/*"),
    ("libclang-common-15-dev", "*/include/*"),
    ("libclang-cpp15", "*/lib/*"),
    ("libllvm15", "*/lib/*"),
];

/// Downloads what is missing and unpacks it.
pub(crate) fn unpack(sh: &Shell) -> Result<()> {
    let root = super::root().join("target/debian");
    sh.create_dir(&root)?;
    for (package, files) in FILES {
        let stamp = root.join(format!(".{package}"));
        if stamp.exists() {
            continue;
        }
        println!("   {files} of {package}");
        let download = sh.create_temp_dir()?;
        let _there = sh.push_dir(download.path());
        let fetch = || cmd!(sh, "apt-get download -q {package}").quiet().ignore_stdout().ignore_stderr().run();
        // Without lists of packages, or with old ones.
        if fetch().is_err() {
            update(sh)?;
            fetch().with_context(|| format!("cannot download {package}: tests of TableGen and of sinks need Debian's repositories"))?;
        }
        let archive = sh.read_dir(download.path())?.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "deb"));
        let archive = archive.with_context(|| format!("apt-get downloaded no {package}"))?;
        let tar = download.path().join("files.tar");
        cmd!(sh, "bash -c 'dpkg-deb --fsys-tarfile \"$0\" > \"$1\"' {archive} {tar}").quiet().run()?;
        cmd!(sh, "tar -x -f {tar} -C {root} --wildcards {files}").quiet().run()?;
        sh.write_file(&stamp, package)?;
    }
    ensure!(root.join("usr").is_dir(), "the packages hold nothing of what was asked for");
    Ok(())
}

/// Programs of tests that are looked for by name, and the packages that bring each.
const PROGRAMS: [(&str, &[&str]); 10] = [
    // C and C++ compilers of two makers, which generated headers have to satisfy, and what C programs find libraries
    // with.
    ("gcc", &["gcc"]),
    ("g++", &["g++"]),
    ("clang-22", &["clang-22"]),
    ("cmake", &["cmake"]),
    ("pkg-config", &["pkg-config"]),
    // What the HTML reports of `hostcall-report` are opened with, and letters for it.
    ("chromium-headless-shell", &["chromium-headless-shell", "fonts-liberation"]),
    // Two launchers of ranks, which say them by other variables.
    ("mpirun.openmpi", &["openmpi-bin"]),
    ("mpiexec.hydra", &["mpich"]),
    // What looks at the scripts and the compose file of the documentation.
    ("shellcheck", &["shellcheck"]),
    ("docker-compose", &["docker-compose"]),
];

/// Installs those programs that are not there.
pub(crate) fn programs(sh: &Shell) -> Result<()> {
    let is_there = |program: &str| cmd!(sh, "{program} --version").quiet().ignore_stdout().ignore_stderr().run().is_ok();
    let missing: Vec<_> = PROGRAMS.into_iter().filter(|(program, _)| !is_there(program)).flat_map(|(_, packages)| packages).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("   {}", missing.iter().map(|package| **package).collect::<Vec<_>>().join(", "));
    install(sh, &missing.into_iter().copied().collect::<Vec<_>>())
        .context("cannot install compilers, a browser and launchers, which tests run")
}

/// Installs packages.
pub(crate) fn install(sh: &Shell, packages: &[&str]) -> Result<()> {
    update(sh)?;
    let root = cmd!(sh, "id -u").quiet().read()? == "0";
    let install = if root { cmd!(sh, "apt-get") } else { cmd!(sh, "sudo apt-get") };
    let install = install.args(["install", "-q", "-y", "--no-install-recommends"]).args(packages);
    Ok(install.quiet().ignore_stdout().run()?)
}

/// Unpacks what is below these paths in packages of another Debian than this machine's, for processors as Debian calls
/// them, into `folder`.
pub(crate) fn unpack_from(sh: &Shell, debian: &str, arch: &str, packages: &[&str], paths: &[&str], folder: &Path) -> Result<()> {
    let own = sh.create_temp_dir()?;
    let own = own.path();
    let apt = Apt::new(sh, own, "deb", debian, &[format!("APT::Architecture={arch}"), format!("APT::Architectures={arch}")])?;
    let download: Vec<&str> = std::iter::once("download").chain(packages.iter().copied()).collect();
    apt.run(&["update"]).and_then(|()| apt.run(&download)).with_context(|| format!("cannot download {packages:?} of Debian {debian}"))?;
    sh.create_dir(folder)?;
    let archives: Vec<_> =
        sh.read_dir(own)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "deb")).collect();
    ensure!(archives.len() == packages.len(), "apt-get downloaded {archives:?}, and {packages:?} were wanted");
    for archive in archives {
        let script = "dpkg-deb --fsys-tarfile \"$0\" | tar -x -C \"$@\"";
        cmd!(sh, "bash -o pipefail -c {script} {archive} {folder} {paths...}").quiet().run()?;
    }
    Ok(())
}

/// Unpacks into `folder` what a source package of Debian's has from the program's authors; the directory of it.
pub(crate) fn sources(sh: &Shell, debian: &str, package: &str, folder: &Path) -> Result<PathBuf> {
    let apt = Apt::new(sh, folder, "deb-src", debian, &[])?;
    let download = ["source", "--download-only", package];
    apt.run(&["update"]).and_then(|()| apt.run(&download)).with_context(|| format!("cannot download {package}'s sources"))?;
    let is_original = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".orig.tar."));
    let archive = sh.read_dir(folder)?.into_iter().find(|path| is_original(path));
    let archive = archive.with_context(|| format!("the source package {package} has no archive"))?;
    cmd!(sh, "tar -xf {archive} -C {folder}").quiet().run()?;
    let unpacked = sh.read_dir(folder)?.into_iter().find(|path| path.join("configure").is_file());
    unpacked.with_context(|| format!("{package}'s sources are not as they were"))
}

/// `apt-get` over lists of its own, which needs no right to change this system.
struct Apt<'a> {
    sh: &'a Shell,
    /// Its lists are here, and it writes what it downloads here.
    place: &'a Path,
    options: Vec<String>,
}

impl<'a> Apt<'a> {
    /// For a Debian's archive of programs (`deb`) or sources (`deb-src`).
    fn new(sh: &'a Shell, place: &'a Path, kind: &str, debian: &str, more: &[String]) -> Result<Apt<'a>> {
        let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
        let list = format!("{kind} [signed-by={keys}] http://deb.debian.org/debian {debian} main\n");
        sh.write_file(place.join("sources.list"), list)?;
        for part in ["lists/partial", "cache/archives/partial"] {
            sh.create_dir(place.join(part))?;
        }
        let options = [
            format!("Dir::Etc::sourcelist={}", place.join("sources.list").display()),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("Dir::State::lists={}", place.join("lists").display()),
            // What is installed here is of no interest.
            "Dir::State::status=/dev/null".to_owned(),
            format!("Dir::Cache={}", place.join("cache").display()),
            // What is downloaded lies in a directory of the caller's.
            "APT::Sandbox::User=root".to_owned(),
        ];
        Ok(Apt { sh, place, options: [&options, more].concat() })
    }

    fn run(&self, words: &[&str]) -> xshell::Result<()> {
        let (sh, options) = (self.sh, self.options.iter().flat_map(|option| ["-o", option]));
        let _there = sh.push_dir(self.place);
        cmd!(sh, "apt-get -q {options...} {words...}").quiet().ignore_stdout().ignore_stderr().run()
    }
}

fn update(sh: &Shell) -> Result<()> {
    let root = cmd!(sh, "id -u").quiet().read()? == "0";
    let update = if root { cmd!(sh, "apt-get update -q") } else { cmd!(sh, "sudo apt-get update -q") };
    Ok(update.quiet().ignore_stdout().run()?)
}
