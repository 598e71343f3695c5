//! One program, three names: cargo calls us as compiler, rustc calls us as linker.
//!
//! A sysroot's `bin` holds links to the program that prepared it, and that program asks, first of all, under which name it was started. So nothing has to
//! be installed beside it, and both tools find their sysroot by their own path.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::sysroot::Sysroot;
use super::{linker, wrapper};
use crate::BuildError;

pub(crate) const COMPILER: &str = "hostcall-rustc";
pub(crate) const LINKER: &str = "hostcall-link";

/// If this process was started as compiler or linker of a sysroot, does that work; `None` if it was not. Programs that prepare sysroots (with `tool`
/// `None`) call it first in their `main`, before they write anything.
pub fn act_as_tool() -> Option<ExitCode> {
    act().map(ExitCode::from)
}

/// [`act_as_tool`]; the exit code as a number.
pub(crate) fn act() -> Option<u8> {
    let mut arguments = std::env::args_os();
    let program = PathBuf::from(arguments.next()?);
    let name = program.file_name()?;
    let act: fn(&Sysroot, Vec<OsString>) -> Result<u8, BuildError> = match name.to_str()? {
        COMPILER => wrapper::run,
        LINKER => linker::run,
        _ => return None,
    };
    let dir = program.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    let outcome = Sysroot::open(dir).and_then(|sysroot| act(&sysroot, arguments.collect()));
    Some(outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        1
    }))
}

/// Makes the links in `dir/bin` lead to `tool`, or to this program.
pub(crate) fn install(dir: &Path, tool: Option<&Path>) -> Result<(), BuildError> {
    let tool = match tool {
        Some(tool) => tool.to_path_buf(),
        None => std::env::current_exe().map_err(BuildError::io("find", "the running program"))?,
    };
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).map_err(BuildError::io("create", &bin))?;
    for name in [COMPILER, LINKER] {
        let link = bin.join(name);
        if fs::read_link(&link).is_ok_and(|to| to == tool) {
            continue;
        }
        // Others may be starting it at this moment: it is replaced, never absent.
        let fresh = bin.join(format!("{name}.{}", std::process::id()));
        let _ = fs::remove_file(&fresh);
        make_link(&tool, &fresh)?;
        fs::rename(&fresh, &link).map_err(BuildError::io("link", &link))?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_link(tool: &Path, link: &Path) -> Result<(), BuildError> {
    std::os::unix::fs::symlink(tool, link).map_err(BuildError::io("link", link))
}

#[cfg(not(unix))]
fn make_link(tool: &Path, link: &Path) -> Result<(), BuildError> {
    fs::copy(tool, link).map(drop).map_err(BuildError::io("copy", link))
}
