//! Finding the two toolchains.
//!
//! The *host* toolchain is whatever builds the crate that calls us; stable is enough. The *device* toolchain is a
//! second one: it has the standard library's source (there is no prebuilt `core` for GPUs), takes `-Z` flags through
//! `RUSTC_BOOTSTRAP`, and comes with LLVM's tools of the version inside its `rustc`, because bitcode is only readable
//! by the LLVM that wrote it or a later one. A candidate that lacks a piece is passed over, and the error says what
//! each lacked.

use std::env;
use std::path::{Path, PathBuf};

use crate::command::Run;
use crate::{BuildError, Piece};

/// The `cargo` and `rustc` that build for the host and the simulator.
#[derive(Clone, Debug)]
pub struct HostToolchain {
    /// The cargo.
    pub cargo: PathBuf,
    /// The rustc, if it is known; else cargo decides.
    pub rustc: Option<PathBuf>,
    /// The target triple of this machine.
    pub triple: String,
    /// `rustc --version`.
    pub version: String,
}

impl HostToolchain {
    /// The toolchain that runs us (`CARGO`, `RUSTC`), else the `cargo` on `PATH`.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] if there is none.
    pub fn find() -> Result<HostToolchain, BuildError> {
        let cargo = env::var_os("CARGO").map(PathBuf::from).filter(|cargo| cargo.is_file());
        let cargo = cargo
            .or_else(|| which("cargo").into_iter().next())
            .ok_or_else(|| BuildError::Missing { piece: Piece::HostToolchain, tried: "no `cargo` on PATH".into() })?;
        let sibling = cargo.with_file_name("rustc");
        let rustc = env::var_os("RUSTC").map(PathBuf::from).or_else(|| sibling.is_file().then_some(sibling));
        let shown = rustc.clone().unwrap_or_else(|| "rustc".into());
        let about =
            RustcVersion::of(&shown).map_err(|error| BuildError::Missing { piece: Piece::HostToolchain, tried: error.to_string() })?;
        Ok(HostToolchain { cargo, rustc, triple: about.host, version: about.version })
    }
}

/// The `cargo`, `rustc` and LLVM tools that build for GPUs.
#[derive(Clone, Debug)]
pub struct DeviceToolchain {
    /// The cargo, of the same release.
    pub cargo: PathBuf,
    /// The rustc.
    pub rustc: PathBuf,
    /// Where it keeps its libraries; the standard library's source is in `lib/rustlib/src/rust/library`.
    pub sysroot: PathBuf,
    /// `rustc --version`.
    pub version: String,
    /// The major version of the LLVM inside it.
    pub llvm_major: u32,
    /// The directory of `llvm-link`, `llvm-dis`, `opt` and `llc`, of that version.
    pub llvm_bin: PathBuf,
    /// `ld.lld` or `rust-lld`; only AMD images need it.
    pub lld: Option<PathBuf>,
}

const LLVM_TOOLS: [&str; 6] = ["llvm-link", "llvm-dis", "opt", "llc", "llvm-nm", "llvm-objcopy"];

impl DeviceToolchain {
    /// The first complete one of: `HOSTCALL_DEVICE_RUSTC` (and then nothing else is tried), rustup's nightlies, the
    /// `rustc`s on `PATH`, `/usr/bin/rustc`. One whose LLVM tools came with it goes before one that has to use others'
    /// of the same version, because those may be another release. `HOSTCALL_LLVM_BIN` names the directory of the LLVM
    /// tools if they are nowhere usual.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`], which says what each candidate lacks.
    pub fn find() -> Result<DeviceToolchain, BuildError> {
        let mut tried = Vec::new();
        let mut with_others_tools = None;
        for rustc in candidates() {
            match DeviceToolchain::at(&rustc) {
                Ok(found) if found.has_tools_of_its_own() => return Ok(found),
                Ok(found) => with_others_tools = with_others_tools.or(Some(found)),
                Err(problem) => {
                    let line = format!("{}: {problem}", rustc.display());
                    if !tried.contains(&line) {
                        tried.push(line);
                    }
                }
            }
        }
        if let Some(found) = with_others_tools {
            return Ok(found);
        }
        if tried.is_empty() {
            tried.push("no `rustc` on PATH".into());
        }
        Err(BuildError::Missing { piece: Piece::DeviceToolchain, tried: tried.join("; ") })
    }

    /// Whether compiler and LLVM tools came together: from rustup, or from one distribution.
    fn has_tools_of_its_own(&self) -> bool {
        self.llvm_bin.starts_with(&self.sysroot)
    }

    /// The toolchain of one `rustc`, or what it lacks.
    fn at(rustc: &Path) -> Result<DeviceToolchain, String> {
        let about = RustcVersion::of(rustc).map_err(|error| error.to_string())?;
        let sysroot = Run::new(rustc).args(["--print", "sysroot"]).without_outer_cargo().text().map_err(|error| error.to_string())?;
        let sysroot = PathBuf::from(sysroot.trim());
        let source = sysroot.join("lib/rustlib/src/rust/library/Cargo.lock");
        if !source.is_file() {
            return Err(format!("{} has no rust-src", about.version));
        }
        // A proxy like rustup's would choose again, by directory: what is used is the real one.
        let real = sysroot.join("bin/rustc");
        let rustc = if real.is_file() { real } else { rustc.to_path_buf() };
        let cargo = rustc.with_file_name("cargo");
        if !cargo.is_file() {
            return Err(format!("{} has no cargo beside it", about.version));
        }
        let llvm_major = about.llvm_major.ok_or_else(|| format!("{} does not say which LLVM it has", about.version))?;
        let bundled = sysroot.join("lib/rustlib").join(&about.host).join("bin");
        let llvm_bin = llvm_directory(&bundled, llvm_major)
            .ok_or_else(|| format!("{} has LLVM {llvm_major}, whose tools ({}) are not there", about.version, LLVM_TOOLS.join(", ")))?;
        let lld = [llvm_bin.join("ld.lld"), bundled.join("rust-lld"), PathBuf::from(format!("/usr/bin/ld.lld-{llvm_major}"))];
        let lld = lld.into_iter().find(|lld| lld.is_file());
        Ok(DeviceToolchain { cargo, rustc, sysroot, version: about.version, llvm_major, llvm_bin, lld })
    }

    /// The standard library's source.
    pub(crate) fn library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust/library")
    }

    /// The linker for ELF files.
    pub(crate) fn ld(&self) -> Result<Run, BuildError> {
        let lld = self.lld.as_ref().ok_or_else(|| BuildError::Missing { piece: Piece::Lld, tried: self.llvm_bin.display().to_string() })?;
        // rust-lld is told what to be; ld.lld knows from its name.
        let flavour: &[&str] = if lld.ends_with("rust-lld") { &["-flavor", "gnu"] } else { &[] };
        Ok(Run::new(lld).args(flavour))
    }

    /// One of LLVM's tools.
    pub(crate) fn llvm(&self, tool: &str) -> Run {
        Run::new(self.llvm_bin.join(tool))
    }

    /// What tells these tools from others that would make another image of the same bitcode.
    pub(crate) fn identity(&self) -> String {
        let llc = std::fs::metadata(self.llvm_bin.join("llc"));
        let (len, modified) = llc.map_or((0, None), |metadata| (metadata.len(), metadata.modified().ok()));
        format!("{} llvm {} {} {len} {modified:?}", self.version, self.llvm_major, self.llvm_bin.display())
    }
}

/// Arguments for a cargo that builds the standard library in `library`: what that depends on comes with rust-src, where
/// it is not missing, and not over the network.
pub(crate) fn vendored(library: &Path) -> Vec<String> {
    let vendor = library.join("vendor");
    if !vendor.is_dir() {
        return Vec::new();
    }
    let directory = format!("source.vendored-sources.directory={vendor:?}");
    ["--offline", "--config", "source.crates-io.replace-with=\"vendored-sources\"", "--config", &directory].map(String::from).to_vec()
}

/// The directory with all of [`LLVM_TOOLS`] of that version.
fn llvm_directory(bundled: &Path, major: u32) -> Option<PathBuf> {
    let mut directories: Vec<PathBuf> = env::var_os("HOSTCALL_LLVM_BIN").map(PathBuf::from).into_iter().collect();
    directories.push(bundled.to_path_buf());
    directories.push(format!("/usr/lib/llvm-{major}/bin").into());
    directories.push(format!("/usr/lib64/llvm{major}/bin").into());
    directories.push(format!("/opt/homebrew/opt/llvm@{major}/bin").into());
    directories.extend(which("llc").iter().filter_map(|llc| llc.parent()).map(Path::to_path_buf));
    directories.into_iter().find(|directory| {
        LLVM_TOOLS.iter().all(|tool| directory.join(tool).is_file())
            && Run::new(directory.join("llc")).arg("--version").text().ok().as_deref().and_then(llvm_version) == Some(major)
    })
}

/// The major version in what an LLVM tool or `rustc -vV` says: "LLVM version 22.1.8" or "LLVM version: 22.1.8".
fn llvm_version(text: &str) -> Option<u32> {
    let rest = text.split("LLVM version").nth(1)?.trim_start_matches([':', ' ']);
    rest.split('.').next()?.trim().parse().ok()
}

/// The `rustc`s that may belong to a device toolchain, best first.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("HOSTCALL_DEVICE_RUSTC") {
        return vec![named.into()];
    }
    let mut found = Vec::new();
    if let Some(rustup) = which("rustup").first() {
        // Without rustup or without toolchains there are just no such candidates.
        let list = Run::new(rustup).args(["toolchain", "list"]).text().unwrap_or_default();
        for name in list.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| name.starts_with("nightly")) {
            if let Ok(path) = Run::new(rustup).args(["which", "--toolchain", name, "rustc"]).text() {
                found.push(PathBuf::from(path.trim()));
            }
        }
    }
    found.extend(which("rustc"));
    let debian = PathBuf::from("/usr/bin/rustc");
    if debian.is_file() && !found.contains(&debian) {
        found.push(debian);
    }
    found
}

/// All files called `name` in the directories of `PATH`, in order.
pub(crate) fn which(name: &str) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for file in env::split_paths(&path).map(|directory| directory.join(name)) {
        if file.is_file() && !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

/// What `rustc -vV` says.
struct RustcVersion {
    version: String,
    host: String,
    llvm_major: Option<u32>,
}

impl RustcVersion {
    fn of(rustc: &Path) -> Result<RustcVersion, BuildError> {
        let run = Run::new(rustc).arg("-vV").without_outer_cargo();
        let command = run.line();
        let text = run.text()?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
        let version = text.lines().next().unwrap_or_default().to_owned();
        match host {
            Some(host) => Ok(RustcVersion { version, host, llvm_major: llvm_version(&text) }),
            None => Err(BuildError::Unexpected { command, problem: "there is no line `host: …`".into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_llvm_is_read_from_rustc_and_from_its_tools() {
        assert_eq!(llvm_version("release: 1.96.0\nLLVM version: 22.1.8\n"), Some(22));
        assert_eq!(llvm_version("Debian LLVM version 22.1.8\n  Optimized build."), Some(22));
        assert_eq!(llvm_version("clang 22"), None);
    }

    #[test]
    fn tools_that_came_with_a_compiler_are_told_from_others() {
        let toolchain = |sysroot: &str, llvm_bin: &str| DeviceToolchain {
            cargo: PathBuf::new(),
            rustc: PathBuf::new(),
            sysroot: sysroot.into(),
            version: String::new(),
            llvm_major: 22,
            llvm_bin: llvm_bin.into(),
            lld: None,
        };
        assert!(toolchain("/usr", "/usr/lib/llvm-22/bin").has_tools_of_its_own());
        let nightly = "/home/me/.rustup/toolchains/nightly";
        assert!(toolchain(nightly, &format!("{nightly}/lib/rustlib/x86_64-unknown-linux-gnu/bin")).has_tools_of_its_own());
        assert!(!toolchain(nightly, "/usr/lib/llvm-22/bin").has_tools_of_its_own());
    }

    #[test]
    fn a_rustc_without_source_is_passed_over_by_name() {
        let host = HostToolchain::find().expect("cargo runs this test");
        let rustc = host.rustc.expect("cargo has a rustc beside it");
        if let Err(problem) = DeviceToolchain::at(&rustc) {
            assert!(problem.contains("rust-src") || problem.contains("LLVM"), "{problem}");
        }
        let problem = DeviceToolchain::at(Path::new("/no/such/rustc")).expect_err("it is not there");
        assert!(problem.contains("/no/such/rustc"), "{problem}");
    }
}
