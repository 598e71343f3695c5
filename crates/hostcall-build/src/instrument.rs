//! Instrumented programs: what `--instrument` asks for, and the pass that puts it into a module.
//!
//! The pass is a plug-in of LLVM's `opt` (`probe/probe.cpp`), compiled when it is first needed, with the headers of the
//! LLVM that runs it, and kept. A program that is instrumented is compiled like any other, but that its crates keep
//! their line tables, that `hostcall-device` has the functions which the pass calls (`cfg(hostcall_probe)`), and that
//! the pass runs when its module has been optimised. It is built in a directory of its own, so no other build changes.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use offload_image::Sha256;

use crate::cache::{Lock, Scratch, cache_directory};
use crate::command::Run;
use crate::toolchain::which;
use crate::{BuildError, DeviceToolchain, Piece};

/// What kernels are to tell of themselves, as streams, though their source says nothing of it.
///
/// As text it is a list: `access`, `blocks`, `loops`, `barriers`, at least one of them, and `kernel=NAME` for each
/// kernel that is meant; without any, all are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instrument {
    /// Each load, store and atomic operation on memory of the device or of the workgroup, as an `Access`.
    pub accesses: bool,
    /// The beginning of each kernel and of each block of instructions, as a `Step`, and kernels as `Interval`s.
    pub blocks: bool,
    /// The same of kernels and of loops.
    pub loops: bool,
    /// How long each wave waits at each barrier, as an `Interval`.
    pub barriers: bool,
    /// The kernels that are meant; none: all. The code of others is what it would be without.
    pub kernels: Vec<String>,
}

/// A list that asks for something that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseInstrumentError {
    /// A word that means nothing.
    #[error("`{word}` is none of access, blocks, loops, barriers and kernel=NAME")]
    Unknown {
        /// The word.
        word: String,
    },
    /// Only kernels.
    #[error("say what is to be told of: some of access, blocks, loops and barriers")]
    Nothing,
    /// A name that no kernel has.
    #[error("`{name}` is not a kernel's name: letters, digits and `_`")]
    Name {
        /// The name.
        name: String,
    },
}

impl FromStr for Instrument {
    type Err = ParseInstrumentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "access" => all.accesses = true,
                "blocks" => all.blocks = true,
                "loops" => all.loops = true,
                "barriers" => all.barriers = true,
                _ => match word.strip_prefix("kernel=") {
                    Some(name) if is_symbol(name) => all.kernels.push(name.to_owned()),
                    Some(name) => return Err(ParseInstrumentError::Name { name: name.into() }),
                    None => return Err(ParseInstrumentError::Unknown { word: word.into() }),
                },
            }
        }
        all.kernels.sort();
        all.kernels.dedup();
        if all.accesses || all.blocks || all.loops || all.barriers { Ok(all) } else { Err(ParseInstrumentError::Nothing) }
    }
}

fn is_symbol(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Instrument {
    fn words(&self) -> impl Iterator<Item = String> {
        let asked = [("access", self.accesses), ("blocks", self.blocks), ("loops", self.loops), ("barriers", self.barriers)];
        let asked = asked.into_iter().filter(|(_, asked)| *asked).map(|(word, _)| word.to_owned());
        asked.chain(self.kernels.iter().map(|name| format!("kernel={name}")))
    }

    /// What the environment asks for, for the tools that cargo runs.
    ///
    /// # Errors
    /// [`BuildError::Instrument`].
    pub(crate) fn of_environment() -> Result<Option<Self>, BuildError> {
        match env::var(INSTRUMENT_VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse().map(Some).map_err(|source| BuildError::Instrument { text, source }),
            _ => Ok(None),
        }
    }
}

impl fmt::Display for Instrument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().collect::<Vec<_>>().join(","))
    }
}

/// Holds what an [`Instrument`] is as text, for cargo's builds of programs with std and for build scripts.
pub const INSTRUMENT_VARIABLE: &str = "HOSTCALL_INSTRUMENT";

/// The directory of instrumented builds, in the one of all others.
pub const INSTRUMENTED_DIR: &str = "instrumented";

/// Flags of each crate of an instrumented program: the functions that are called, and line tables.
pub(crate) fn flags() -> impl Iterator<Item = String> {
    ["--cfg", "hostcall_probe", "--check-cfg", "cfg(hostcall_probe)", "-Cdebuginfo=1"].map(String::from).into_iter()
}

/// Flags besides for the simulator's processor: bitcode instead of machine code, and no pass before all are together.
pub(crate) const AS_BITCODE: [&str; 3] = ["-Clinker-plugin-lto", "-Cembed-bitcode=yes", "-Cno-prepopulate-passes"];

const SOURCE: &str = include_str!("../probe/probe.cpp");

/// The pass, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    plugin: PathBuf,
    opt: PathBuf,
    wanted: Instrument,
}

impl Probe {
    /// The pass for modules of this toolchain, compiled if it is not there.
    pub(crate) fn new(wanted: &Instrument, toolchain: &DeviceToolchain) -> Result<Self, BuildError> {
        let Parts { llvm, compiler } = Parts::find(toolchain)?;
        let opt = llvm.join("bin/opt");
        let about = fs::metadata(&opt).map_err(BuildError::io("read", &opt))?;
        let identity = format!("{} {} {:?} {}", opt.display(), about.len(), about.modified().ok(), compiler.display());
        let key = Sha256::of([SOURCE.as_bytes(), identity.as_bytes()].map(|part| Sha256::of(part).0).as_flattened()).to_string();
        let cache = cache_directory("probe")?;
        let plugin = cache.join(&key[..16]).join("hostcall-probe.so");
        if !plugin.is_file() {
            let _lock = Lock::take(&cache.join("lock"), || {})?;
            if !plugin.is_file() {
                compile(&llvm, &compiler, &cache, &plugin)?;
            }
        }
        Ok(Self { plugin, opt, wanted: wanted.clone() })
    }

    /// What tells modules that it makes from others.
    pub(crate) fn identity(&self) -> Vec<u8> {
        [self.wanted.to_string().as_bytes(), SOURCE.as_bytes()].concat()
    }

    /// An optimised module with what was asked for, and without debug information; its path.
    pub(crate) fn run(&self, module: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
        let probed = dir.join("probed.bc");
        let words: Vec<String> = self.wanted.words().collect();
        let opt = Run::new(&self.opt).arg("-load-pass-plugin").arg(&self.plugin);
        let run = opt.arg(format!("-passes=hostcall-probe<{}>", words.join(";"))).arg(module).arg("-o").arg(&probed);
        match run.output() {
            Err(BuildError::Failed { command, status, tail }) => match missing(&tail) {
                Some(kernel) => Err(BuildError::NoSuchKernel { kernel: kernel.to_owned() }),
                None => Err(BuildError::Failed { command, status, tail }),
            },
            run => run.map(|_| probed),
        }
    }
}

/// From what the pass says, the kernel that it has not found.
fn missing(said: &str) -> Option<&str> {
    said.lines().find_map(|line| line.strip_prefix("hostcall-probe: there is no kernel `")?.split('`').next())
}

/// What the pass is compiled with.
pub(crate) struct Parts {
    /// The directory of an LLVM with headers and `opt`, which reads what the toolchain writes.
    pub(crate) llvm: PathBuf,
    pub(crate) compiler: PathBuf,
}

impl Parts {
    pub(crate) fn describe(&self) -> String {
        format!("headers in {}, compiled by {}", self.llvm.join("include").display(), self.compiler.display())
    }

    pub(crate) fn find(toolchain: &DeviceToolchain) -> Result<Self, BuildError> {
        let major = toolchain.llvm_major;
        let mut places: Vec<PathBuf> = toolchain.llvm_bin.parent().map(Path::to_path_buf).into_iter().collect();
        places.extend([format!("/usr/lib/llvm-{major}"), format!("/usr/lib64/llvm{major}")].map(PathBuf::from));
        places.dedup();
        let is_whole = |place: &&PathBuf| place.join("include/llvm/IR/IRBuilder.h").is_file() && place.join("bin/opt").is_file();
        let llvm = places.iter().find(is_whole).cloned().ok_or_else(|| {
            let tried = places.iter().map(|place| place.join("include").display().to_string()).collect::<Vec<_>>().join(", ");
            BuildError::Missing { piece: Piece::LlvmHeaders, tried: format!("headers of LLVM {major} are not in {tried}") }
        })?;
        let named = env::var_os("CXX").filter(|name| !name.is_empty()).map(PathBuf::from);
        let beside = [llvm.join("bin/clang++")].into_iter().filter(|path| path.is_file());
        let names = [format!("clang++-{major}"), "clang++".into(), "c++".into(), "g++".into()];
        let compiler = named.into_iter().chain(beside).chain(names.iter().flat_map(|name| which(name))).next();
        let compiler =
            compiler.ok_or_else(|| BuildError::Missing { piece: Piece::CppCompiler, tried: format!("no {} on PATH", names.join(", ")) })?;
        Ok(Self { llvm, compiler })
    }
}

fn compile(llvm: &Path, compiler: &Path, cache: &Path, plugin: &Path) -> Result<(), BuildError> {
    let scratch = Scratch::new(cache)?;
    let [source, made] = ["probe.cpp", "hostcall-probe.so"].map(|name| scratch.0.join(name));
    fs::write(&source, SOURCE).map_err(BuildError::io("write", &source))?;
    // As LLVM itself is compiled; `opt` has all that stays open.
    let run = Run::new(compiler).args(["-std=c++17", "-shared", "-fPIC", "-O1", "-fno-rtti", "-fno-exceptions", "-w"]);
    let run = run.args(["-D_GNU_SOURCE", "-D__STDC_CONSTANT_MACROS", "-D__STDC_FORMAT_MACROS", "-D__STDC_LIMIT_MACROS"]);
    run.arg("-I").arg(llvm.join("include")).arg(&source).arg("-o").arg(&made).output()?;
    let dir = plugin.parent().unwrap_or(cache);
    fs::create_dir_all(dir).map_err(BuildError::io("create", dir))?;
    fs::rename(&made, plugin).map_err(BuildError::io("write", plugin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_and_written_alike() {
        for (text, written) in [
            ("access", "access"),
            (" barriers ,access,", "access,barriers"),
            ("loops,kernel=b,blocks,kernel=a,kernel=b", "blocks,loops,kernel=a,kernel=b"),
        ] {
            let read: Instrument = text.parse().expect("good");
            assert_eq!((read.to_string().as_str(), read.to_string().parse()), (written, Ok(read.clone())), "{text}");
        }
    }

    #[test]
    fn a_list_that_means_nothing_is_told_so() {
        let error = |text: &str| text.parse::<Instrument>().expect_err("bad").to_string();
        assert_eq!(error("acess"), "`acess` is none of access, blocks, loops, barriers and kernel=NAME");
        assert_eq!(error("kernel=a"), "say what is to be told of: some of access, blocks, loops and barriers");
        assert_eq!(error(""), error("kernel=a"));
        // What the pass's own list is separated by is in no name.
        for name in ["", "a;b", "a>", "a b"] {
            assert_eq!(format!("access,kernel={name}").parse::<Instrument>(), Err(ParseInstrumentError::Name { name: name.trim().into() }));
        }
    }

    #[test]
    fn the_pass_names_the_kernel_that_it_has_not_found() {
        assert_eq!(missing("x\nhostcall-probe: there is no kernel `a_b` in the module"), Some("a_b"));
        assert_eq!(missing("hostcall-probe: 3 accesses"), None);
    }
}
