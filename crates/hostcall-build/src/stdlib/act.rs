//! The program under its other names: which tool it is asked to be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::c::driver;
use super::sysroot::Sysroot;
use super::tools::{CC, COMPILER, CXX, HANDSHAKE, LINKER, NAMES, answer};
use super::{linker, wrapper};
use crate::BuildError;

/// If this process was started as compiler or linker of a sysroot, does that work; `None` if it was not. Programs that
/// prepare sysroots (with `tool` `None`) call it first in their `main`, before they write anything.
pub fn act_as_tool() -> Option<ExitCode> {
    act().map(ExitCode::from)
}

/// [`act_as_tool`]; the exit code as a number.
pub(crate) fn act() -> Option<u8> {
    let mut arguments = std::env::args_os().peekable();
    let program = PathBuf::from(arguments.next()?);
    let name = program.file_name()?;
    if NAMES.iter().any(|tool| name == *tool) && arguments.peek().is_some_and(|first| first == HANDSHAKE) {
        println!("{}", answer(name));
        return Some(0);
    }
    let act: fn(&Sysroot, Vec<OsString>) -> Result<u8, BuildError> = match name.to_str()? {
        COMPILER => wrapper::run,
        LINKER => linker::run,
        CC => |sysroot, arguments| driver::run(sysroot, arguments, false),
        CXX => |sysroot, arguments| driver::run(sysroot, arguments, true),
        _ => return None,
    };
    let tools = program.parent().unwrap_or(Path::new(""));
    // Under a name on `PATH`, of no sysroot's: which one, its arguments say.
    if [CC, CXX].iter().any(|tool| name == *tool) && !Sysroot::has_tools(tools) {
        return Some(said(driver::compile(arguments.collect(), name == CXX, |step| eprintln!("{step}"))));
    }
    let outcome = Sysroot::of_tool(tools).and_then(|sysroot| act(&sysroot, arguments.collect()));
    Some(said(outcome))
}

fn said(outcome: Result<u8, BuildError>) -> u8 {
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        1
    })
}
