//! One program, several names: cargo calls us as compiler, rustc as linker, build scripts as compilers of C and C++.
//!
//! Each program that prepares a sysroot has a directory in it, named by a hash of the program's own path (and of where
//! it has the runtime's sources):
//!
//! ```text
//! for/PROGRAM/hostcall-rustc, hostcall-link, hostcall-cc, hostcall-c++     links to that program
//! for/PROGRAM/runtime.key                       the state of the runtime that it links with: see `runtime`
//! ```
//!
//! The program asks, first of all, under which name it was started, so nothing has to be installed beside it, and both
//! tools find their sysroot by their own path. Two checkouts are two programs, and neither ever runs the other's
//! compiler or links the other's runtime. A program that would not understand its names is refused when the links are
//! made.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;

use crate::BuildError;
use crate::command::Run;

pub(crate) const COMPILER: &str = "hostcall-rustc";
pub(crate) const LINKER: &str = "hostcall-link";
pub(crate) const CC: &str = "hostcall-cc";
pub(crate) const CXX: &str = "hostcall-c++";
/// All of them.
pub(crate) const NAMES: [&str; 4] = [COMPILER, LINKER, CC, CXX];

/// What a program that knows these names is asked, and what it answers under each of them.
pub(crate) const HANDSHAKE: &str = "--hostcall-tool";

pub(crate) fn answer(name: &OsStr) -> String {
    format!("{} is hostcall's", name.to_string_lossy())
}

/// The directory in `sysroot` that belongs to one program, which has its runtime's sources in `sources`.
pub(crate) fn directory(sysroot: &Path, program: &Path, sources: &Path) -> PathBuf {
    let hash = Sha256::of([program, sources].map(|path| Sha256::of(path.as_os_str().as_encoded_bytes()).0).as_flattened()).to_string();
    sysroot.join("for").join(&hash[..16])
}

/// The sysroot that a directory of [`directory`] lies in.
pub(crate) fn sysroot_of(directory: &Path) -> Option<&Path> {
    directory.parent().and_then(Path::parent)
}

/// The program that is to act as the tools: `tool`, or this one.
pub(crate) fn program(tool: Option<&Path>) -> Result<PathBuf, BuildError> {
    let program = match tool {
        Some(tool) => tool.to_path_buf(),
        None => std::env::current_exe().map_err(BuildError::io("find", "the running program"))?,
    };
    program.canonicalize().map_err(BuildError::io("find", program))
}

/// Makes the links in `dir`, which is `program`'s, once it has shown that it knows their names.
pub(crate) fn install(dir: &Path, program: &Path) -> Result<(), BuildError> {
    let leads_to_it = |name: &str| fs::read_link(dir.join(name)).is_ok_and(|to| to == program);
    if NAMES.iter().all(|name| leads_to_it(name)) {
        return Ok(());
    }
    fs::create_dir_all(dir).map_err(BuildError::io("create", dir))?;
    for name in NAMES {
        check(program, name)?;
        let link = dir.join(name);
        // Others may be starting it at this moment: it is replaced, never absent.
        let fresh = dir.join(format!("{name}.{}", std::process::id()));
        let _ = fs::remove_file(&fresh);
        make_link(program, &fresh)?;
        fs::rename(&fresh, &link).map_err(BuildError::io("link", &link))?;
    }
    Ok(())
}

/// Whether the program, started as `name`, says that it is that tool.
fn check(program: &Path, name: &str) -> Result<(), BuildError> {
    let run = Run::new(program).called(name).arg(HANDSHAKE).finish()?;
    if run.status.success() && String::from_utf8_lossy(&run.stdout).trim_end() == answer(name.as_ref()) {
        return Ok(());
    }
    Err(BuildError::NotATool { program: program.to_path_buf(), name: name.to_owned() })
}

#[cfg(unix)]
fn make_link(tool: &Path, link: &Path) -> Result<(), BuildError> {
    std::os::unix::fs::symlink(tool, link).map_err(BuildError::io("link", link))
}

#[cfg(not(unix))]
fn make_link(tool: &Path, link: &Path) -> Result<(), BuildError> {
    fs::copy(tool, link).map(drop).map_err(BuildError::io("copy", link))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_a_directory_of_its_own() {
        let sysroot = Path::new("/cache/machine-0");
        let [one, other] =
            ["/a/cargo-hostcall", "/b/cargo-hostcall"].map(|program| directory(sysroot, Path::new(program), Path::new("/std")));
        assert_ne!(one, other);
        assert_eq!((sysroot_of(&one), sysroot_of(&other)), (Some(sysroot), Some(sysroot)));
    }

    #[test]
    fn a_program_that_does_not_know_the_names_is_refused_and_leaves_no_link() {
        let dir = tempfile::tempdir().expect("a directory");
        for program in ["/bin/true", "/bin/echo", "/bin/false"] {
            let program = Path::new(program).canonicalize().expect("every system has it");
            let error = install(dir.path(), &program).expect_err("it is no tool");
            assert!(matches!(&error, BuildError::NotATool { program: named, .. } if *named == program), "{error}");
            assert!(error.to_string().contains("act_as_tool"), "{error}");
        }
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);
    }
}
