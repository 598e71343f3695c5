//! `cargo hostcall probe -- PROGRAM…`: runs a program that uses CUDA and knows nothing of hostcall, and has its kernels
//! tell of what they do.
//!
//! The work is done in the program itself, by the library that is preloaded into it (`crates/hostcall-probe`). Here is
//! what it is told, in the environment; and the assembler that Triton is given in the place of its own
//! ([`assembler`]), because it hands machine code to the driver.

pub(crate) mod assembler;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use hostcall_build::Instrument;
use hostcall_build::ptx::{Library, preloaded};
use hostcall_stream::{NamedFilter, Policy};
use regex_lite::Regex;

use crate::{Outcome, options, values};

/// What to look for, in which program.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What kernels are to tell of: access, blocks, loops, barriers, some of these, and kernel=NAME for kernels that
    /// are meant
    #[arg(long, value_name = "LIST", default_value = "access")]
    instrument: Instrument,
    /// Only kernels in whose names (their symbols, mangled in C++) this regular expression finds something. May be
    /// given several times
    #[arg(long, value_name = "REGEX")]
    kernel: Vec<Regex>,
    /// Only these launches of each kernel, counted from 0: 3..5 are the fourth and the fifth
    #[arg(long, value_name = "A..B", value_parser = launches)]
    launch: Option<Launches>,
    /// Keep all messages in a recording, FILE.hcs, which `cargo hostcall stream` reads. %p in it becomes the number of
    /// the process, for programs that start others
    #[arg(long, value_name = "FILE")]
    stream: Option<PathBuf>,
    /// Which messages of a stream are wanted: `NAME: groups=0..8, group.x=0, waves=0..2, lanes=0xff, lane.y=0..4,
    /// rate=1/64`, some of these, or `NAME: none`. May be given for several streams
    #[arg(long, value_name = "FILTER", value_parser = options::filter)]
    stream_filter: Vec<NamedFilter>,
    /// What messages do when their ring is full: block, drop, wait, sample
    #[arg(long, value_name = "POLICY", value_parser = options::policy)]
    stream_policy: Option<Policy>,
    /// Memory of the host for messages of each module, in bytes, or with k, m or g [default: 16m]
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    stream_memory: Option<usize>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// hostcall's functions, as PTX.
const FUNCTIONS: &str = "HOSTCALL_PROBE_LIBRARY";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Launches(Range<u64>);

fn launches(text: &str) -> Result<Launches, String> {
    let wrong = || "give a range, as 3..5, 3.. or ..5".to_owned();
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, otherwise| if text.is_empty() { Ok(otherwise) } else { text.parse().map_err(|_| wrong()) };
    let range = number(start, 0)?..number(end, u64::MAX)?;
    if range.is_empty() { Err(format!("there is no launch in {text}")) } else { Ok(Launches(range)) }
}

/// Why a program is not looked into.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("`{}` does not start: {source}", program.display())]
    Start { program: PathBuf, source: std::io::Error },
    #[error("cannot {what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error("programs are looked into by a library that the system's loader preloads: this system has none")]
    System,
}

/// Runs the program. The exit code is its own.
pub(crate) fn run(arguments: Arguments) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err(Error::System.into());
    }
    let library = preloaded()?;
    let dir = tempfile::tempdir().map_err(|source| Error::Io { what: "make", path: std::env::temp_dir(), source })?;
    let functions = match std::env::var_os(FUNCTIONS).filter(|path| !path.is_empty()) {
        // Made elsewhere, for a machine that has no device toolchain.
        Some(path) => path.into(),
        None => {
            let path = dir.path().join("hostcall.ptx");
            fs::write(&path, Library::text_of_device()?).map_err(|source| Error::Io { what: "write", path: path.clone(), source })?;
            path
        }
    };
    let assembler = assembler::install(dir.path()).map_err(|source| Error::Io { what: "write", path: dir.path().to_owned(), source })?;
    let (program, rest) = arguments.command.split_first().expect("clap wants one");
    let mut command = Command::new(program);
    command.args(rest).envs(arguments.environment(&library, &functions, &assembler, dir.path()));
    let status = command.status().map_err(|source| Error::Start { program: program.into(), source })?;
    Ok(code(status))
}

/// The exit code, or 128 and the number of the signal, as shells have it.
fn code(status: std::process::ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

impl Arguments {
    /// What the program's environment has besides.
    fn environment(&self, library: &Path, functions: &Path, assembler: &Path, dir: &Path) -> Vec<(&'static str, OsString)> {
        let mut all: Vec<(&'static str, OsString)> = Vec::new();
        let listed = |all: &[String]| OsString::from(all.join("\n"));
        let kernels: Vec<String> = self.kernel.iter().map(ToString::to_string).collect();
        let filters: Vec<String> = self.stream_filter.iter().map(ToString::to_string).collect();
        all.push(("LD_PRELOAD", before(library, std::env::var_os("LD_PRELOAD").as_deref())));
        all.push(("HOSTCALL_PROBE_INSTRUMENT", self.instrument.to_string().into()));
        all.push((FUNCTIONS, functions.into()));
        all.push(("HOSTCALL_PROBE_KERNELS", listed(&kernels)));
        all.push(("HOSTCALL_PROBE_FILTERS", listed(&filters)));
        if let Some(Launches(range)) = &self.launch {
            all.push(("HOSTCALL_PROBE_LAUNCHES", format!("{}..{}", range.start, range.end).into()));
        }
        if let Some(path) = &self.stream {
            all.push(("HOSTCALL_PROBE_RECORD", std::path::absolute(path).unwrap_or_else(|_| path.clone()).into()));
        }
        if let Some(policy) = self.stream_policy {
            all.push(("HOSTCALL_PROBE_POLICY", policy.name().into()));
        }
        if let Some(memory) = self.stream_memory {
            all.push(("HOSTCALL_PROBE_MEMORY", memory.to_string().into()));
        }
        // Triton assembles in a process of its own, and keeps what comes out: not beside what others have kept.
        if let Some(own) = std::env::var_os(assembler::VARIABLE) {
            all.push((assembler::OWN, own));
        }
        all.push((assembler::VARIABLE, assembler.into()));
        all.push(("TRITON_CACHE_DIR", dir.join("triton").into()));
        all.push(("TORCHINDUCTOR_CACHE_DIR", dir.join("inductor").into()));
        // CuPy has NVRTC make PTX then, and not machine code.
        all.push(("CUPY_COMPILE_WITH_PTX", "1".into()));
        all.push(("CUPY_CACHE_DIR", dir.join("cupy").into()));
        all
    }
}

/// The library before all that are preloaded already.
fn before(library: &Path, others: Option<&OsStr>) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_a_range_with_something_in_it() {
        assert_eq!(launches("3..5"), Ok(Launches(3..5)));
        assert_eq!(launches("..2"), Ok(Launches(0..2)));
        assert_eq!(launches("7.."), Ok(Launches(7..u64::MAX)));
        for bad in ["", "3", "5..3", "3..3", "a..", "-1..2"] {
            assert!(launches(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_preloaded_already_stays() {
        let library = Path::new("/a/libhostcall_probe.so");
        assert_eq!(before(library, None), "/a/libhostcall_probe.so");
        assert_eq!(before(library, Some(OsStr::new(""))), "/a/libhostcall_probe.so");
        assert_eq!(before(library, Some(OsStr::new("/b.so"))), "/a/libhostcall_probe.so:/b.so");
    }
}
