//! NVIDIA's tools: where one is, and of which release.

use std::env;
use std::path::{Path, PathBuf};

use crate::command::Run;
use crate::toolchain::which;
use crate::{BuildError, Piece};

/// The first that runs, as `at` finds out: the one that `variable` names (and then no other), what was `installed`,
/// `PATH`'s, `/usr/local/cuda/bin`'s.
///
/// # Errors
///
/// [`BuildError::Missing`] if there is none that runs.
pub(crate) fn find<T>(
    name: &str,
    piece: Piece,
    variable: &str,
    installed: Option<PathBuf>,
    at: impl Fn(&Path) -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    let candidates: Vec<PathBuf> = match env::var_os(variable) {
        Some(named) => vec![PathBuf::from(named)],
        None => {
            let usual = Path::new("/usr/local/cuda/bin").join(name);
            installed.into_iter().chain(which(name)).chain([usual]).filter(|path| path.is_file()).collect()
        }
    };
    let mut tried = Vec::new();
    for path in candidates {
        match at(&path) {
            Ok(found) => return Ok(found),
            Err(error) => tried.push(error.to_string()),
        }
    }
    Err(BuildError::Missing { piece, tried: tried.join("; ") })
}

/// The release that a tool says it is of, like `12.9`.
pub(crate) fn release(path: &Path) -> Result<String, BuildError> {
    let run = Run::new(path).arg("--version");
    let command = run.line();
    let text = run.text()?;
    let release = text.split("release ").nth(1).and_then(|rest| rest.split(',').next()).map(str::to_owned);
    release.ok_or_else(|| BuildError::Unexpected { command, problem: "it names no release".into() })
}
