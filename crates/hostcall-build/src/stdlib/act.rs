//! The program under its other names: which tool it is asked to be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::sysroot::Sysroot;
use super::tools::{COMPILER, HANDSHAKE, LINKER, answer};
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
    if [COMPILER, LINKER].iter().any(|tool| name == *tool) && arguments.peek().is_some_and(|first| first == HANDSHAKE) {
        println!("{}", answer(name));
        return Some(0);
    }
    let act: fn(&Sysroot, Vec<OsString>) -> Result<u8, BuildError> = match name.to_str()? {
        COMPILER => wrapper::run,
        LINKER => linker::run,
        _ => return None,
    };
    let outcome = Sysroot::of_tool(program.parent().unwrap_or(Path::new(""))).and_then(|sysroot| act(&sysroot, arguments.collect()));
    Some(outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        1
    }))
}
