//! The assembler that Triton is told to use (`TRITON_PTXAS_PATH`): this program, under the name `ptxas`. It puts
//! hostcall's calls into the PTX that it is given, and has the real one assemble that.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use hostcall_build::Ptxas;
use hostcall_build::ptx::{Chosen, Library, PtxError, instrument};
use regex_lite::Regex;

/// By which Triton is told of an assembler.
pub(crate) const VARIABLE: &str = "TRITON_PTXAS_PATH";
/// What that said before.
pub(crate) const OWN: &str = "HOSTCALL_PROBE_PTXAS";
const NAME: &str = "ptxas";

/// Makes this program the assembler of that directory; its path.
pub(crate) fn install(dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join(NAME);
    symlink(std::env::current_exe()?, &path)?;
    Ok(path)
}

/// If this program was started as that assembler, what it ends with.
pub(crate) fn act() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    let is_meant = Path::new(&name).file_name() == Some(OsStr::new(NAME)) && std::env::var_os("HOSTCALL_PROBE_INSTRUMENT").is_some();
    is_meant.then(|| {
        assemble(std::env::args_os().skip(1).collect()).unwrap_or_else(|error| {
            eprintln!("ptxas of hostcall probe: {error}");
            ExitCode::FAILURE
        })
    })
}

/// Runs the real assembler, with instrumented PTX where there is a kernel that is meant.
fn assemble(mut arguments: Vec<OsString>) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    if let Some(at) = arguments.iter().position(|argument| Path::new(argument).extension() == Some(OsStr::new("ptx"))) {
        let file = PathBuf::from(&arguments[at]);
        match with_calls(&file, &arguments) {
            Ok(text) => {
                let probed = scratch.path().join("probed.ptx");
                fs::write(&probed, text)?;
                arguments[at] = probed.into();
            }
            Err(error) => match error.downcast::<PtxError>() {
                Ok(error) if matches!(*error, PtxError::NoSuchKernel { .. }) => {}
                Ok(error) => eprintln!("hostcall probe: {} is not instrumented: {error}", file.display()),
                Err(error) => return Err(error),
            },
        }
    }
    let status = Command::new(real()?).args(&arguments).env_remove("LD_PRELOAD").status()?;
    Ok(super::code(status))
}

/// A file's PTX with hostcall's calls. `arguments`: those with which it is assembled.
fn with_calls(file: &Path, arguments: &[OsString]) -> Result<String, Box<dyn std::error::Error>> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let kernels = variable("HOSTCALL_PROBE_KERNELS").lines().map(Regex::new).collect::<Result<Vec<_>, _>>()?;
    let is_meant = |name: &str| kernels.is_empty() || kernels.iter().any(|kernel| kernel.is_match(name));
    let library = Library::new(&fs::read_to_string(variable("HOSTCALL_PROBE_LIBRARY"))?)?;
    let wanted = variable("HOSTCALL_PROBE_INSTRUMENT").parse()?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let made = instrument(&fs::read(file)?, &name, &wanted, Chosen::Of(&is_meant, "that is meant"), &library)?;
    let own = registers(arguments)?;
    Ok(made.limited(|kernel| own.get(kernel).copied())?.ptx)
}

/// The registers of each kernel, as the assembler says them (`--verbose`).
fn registers(arguments: &[OsString]) -> Result<HashMap<String, u32>, Box<dyn std::error::Error>> {
    // What it makes goes nowhere: of several outputs the last counts.
    let mut command = Command::new(real()?);
    let output = command.args(arguments).args(["--verbose", "-o", "/dev/null"]).env_remove("LD_PRELOAD").output()?;
    Ok(said_registers(&[output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat()))
}

fn said_registers(said: &str) -> HashMap<String, u32> {
    let mut all = HashMap::new();
    let mut kernel = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next();
        }
        let used = line.split_once("Used ").and_then(|(_, rest)| rest.split_once(" registers")?.0.parse().ok());
        if let (Some(kernel), Some(used)) = (kernel, used) {
            all.insert(kernel.to_owned(), used);
        }
    }
    all
}

/// The assembler that would have been used: that which was named before, Triton's own, or one that is found.
fn real() -> Result<PathBuf, Box<dyn std::error::Error>> {
    if let Some(own) = std::env::var_os(OWN) {
        return Ok(own.into());
    }
    let maps = fs::read_to_string(format!("/proc/{}/maps", parent_id())).unwrap_or_default();
    match of_triton(&maps).filter(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => Ok(Ptxas::find()?.path),
    }
}

/// The assembler that lies beside the library of Triton's that a process has loaded.
fn of_triton(maps: &str) -> Option<PathBuf> {
    let loaded = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let library = loaded.map(Path::new).find(|path| path.file_name() == Some(OsStr::new("libtriton.so")))?;
    Some(library.parent()?.parent()?.join("backends/nvidia/bin").join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_those_that_the_assembler_says_of_each_kernel() {
        let said = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n\
                    ptxas info    : Function properties for _Z1kPf\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                    ptxas info    : Used 10 registers, used 0 barriers, 24 bytes smem\n\
                    ptxas info    : Compiling entry function 'j' for 'sm_90'\nptxas info    : Used 255 registers\n";
        assert_eq!(said_registers(said), HashMap::from([("_Z1kPf".to_owned(), 10), ("j".to_owned(), 255)]));
        assert!(said_registers("").is_empty());
    }

    #[test]
    fn tritons_own_assembler_lies_beside_its_library() {
        let maps = "7f00-7f01 r--p 00000000 08:01 1   /usr/lib/libc.so.6\n7f02-7f03 rw-p 0 00:00 0 [heap]\n\
                    7f04-7f05 r-xp 0 08:01 2    /a b/triton/_C/libtriton.so\n";
        assert_eq!(of_triton(maps), Some("/a b/triton/backends/nvidia/bin/ptxas".into()));
        assert_eq!(of_triton("7f00-7f01 r--p 00000000 08:01 1 /usr/lib/libc.so.6\n"), None);
    }
}
