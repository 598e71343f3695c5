//! `cargo hostcall bench` starts the benchmark, which is a program of its own (`bench/`): what it draws and measures
//! with is of no use to anything else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::Outcome;

/// The benchmark's name, with what this system adds to names of programs.
const NAME: &str = if cfg!(windows) { "hostcall-bench.exe" } else { "hostcall-bench" };

/// What the benchmark is told.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Its own arguments: `cargo hostcall bench --help` prints them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Why there is no benchmark.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(
        "`{NAME}` is neither beside this program nor in PATH: build it in a checkout of hostcall by `cargo build --release -p hostcall-bench`, \
         and call target/release/{NAME}"
    )]
    Missing,
    #[error("`{}` does not start: {source}", path.display())]
    Start { path: PathBuf, source: std::io::Error },
}

/// The benchmark beside the program `own`, else in one of the directories of `path`.
fn find(own: Option<&Path>, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let listed = path.into_iter().flat_map(std::env::split_paths);
    beside.into_iter().chain(listed).map(|dir| dir.join(NAME)).find(|file| file.is_file())
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let path = find(std::env::current_exe().ok().as_deref(), std::env::var_os("PATH").as_deref()).ok_or(Error::Missing)?;
    let status = Command::new(&path).args(&arguments.arguments).status().map_err(|source| Error::Start { path, source })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_is_looked_for_beside_this_program_first() {
        let [beside, listed] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let (own, path) = (beside.path().join("cargo-hostcall"), std::env::join_paths([listed.path()]).expect("a list"));
        let found = || find(Some(&own), Some(&path));
        assert_eq!(found(), None);
        std::fs::write(listed.path().join(NAME), "").expect("written");
        assert_eq!(found(), Some(listed.path().join(NAME)));
        std::fs::write(beside.path().join(NAME), "").expect("written");
        assert_eq!(found(), Some(beside.path().join(NAME)));
    }
}
