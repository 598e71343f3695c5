//! Local files that appear when they are whole, and what their errors mean.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::Path;

use hostcall_stream::sink::SinkError;
use tempfile::NamedTempFile;

use crate::errors::OpenError;
use crate::intake::Account;

/// A file beside `path` that is to be renamed to it, with the permissions of files that are made in the ordinary way.
/// It vanishes if it is not.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hostcall-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent)
}

/// Makes a directory if it is not there. That files can be made in it is better known now than after the run.
pub(crate) fn writable(directory: &Path) -> Result<(), OpenError> {
    let tried = std::fs::create_dir_all(directory).and_then(|()| tempfile::Builder::new().prefix(".hostcall-").tempfile_in(directory));
    tried.map(drop).map_err(|source| OpenError::Path { path: directory.into(), source })
}

/// What an error of writing a local file means.
pub(crate) fn failed(account: &Account, error: impl Error + 'static) -> SinkError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    let mut kind = ErrorKind::Other;
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            kind = io.kind();
            break;
        }
        cause = inner.source();
    }
    account.error(kind, error.to_string(), "make room, or write to another place")
}
