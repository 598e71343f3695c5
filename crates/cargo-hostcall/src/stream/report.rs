//! A recording as an HTML page.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hostcall_report::Digest;

use super::{Filters, beside, cannot_write, code};
use crate::Outcome;

/// Writes the page, which appears under its name when it is whole. Of a recording that is damaged it shows what is
/// there, and the exit code is 1.
pub(super) fn run(path: &Path, out: Option<PathBuf>, filters: &Filters) -> Outcome {
    let out = out.unwrap_or_else(|| path.with_extension("html"));
    if out == path {
        return Err(format!("the page would replace the recording `{}`: name another with -o", path.display()).into());
    }
    let title = filters.named(path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
    let digest = match hostcall_stream::open(path) {
        Ok(mut reader) => {
            reader.select(&filters.filters)?;
            Digest::read(reader)
        }
        // Without the file there is nothing to show.
        Err(error @ (hostcall_stream::file::Error::Open { .. } | hostcall_stream::file::Error::Magic)) => {
            return Err(format!("{}: {error}", path.display()).into());
        }
        Err(error) => Digest::unreadable(&error),
    };
    let mut file = beside(&out)?;
    file.write_all(digest.to_html(&title).as_bytes()).map_err(|error| cannot_write(&out, &error))?;
    file.persist(&out).map_err(|error| cannot_write(&out, &error.error))?;
    if let Some(problem) = digest.problem() {
        eprintln!("note: {}: {problem}", path.display());
    }
    eprintln!("{} values on {}", digest.values(), out.display());
    Ok(code(!digest.is_damaged()))
}
