//! The pass that instruments: a plug-in of LLVM's `opt` (`probe/probe.cpp`), compiled when it is first needed, with the
//! headers of the LLVM that runs it, and kept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;

use crate::cache::{Lock, Scratch, cache_directory};
use crate::command::Run;
use crate::toolchain::which;
use crate::{BuildError, DeviceToolchain, INSTRUMENT_VARIABLE, Instrument, Piece};

/// What the environment asks for, for build scripts and for the tools that cargo runs.
pub(crate) fn asked_for() -> Result<Option<Instrument>, BuildError> {
    match env::var(INSTRUMENT_VARIABLE) {
        Ok(text) if !text.is_empty() => text.parse().map(Some).map_err(|source| BuildError::Instrument { text, source }),
        _ => Ok(None),
    }
}

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
    fn the_pass_names_the_kernel_that_it_has_not_found() {
        assert_eq!(missing("x\nhostcall-probe: there is no kernel `a_b` in the module"), Some("a_b"));
        assert_eq!(missing("hostcall-probe: 3 accesses"), None);
    }
}
