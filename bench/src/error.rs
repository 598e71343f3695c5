//! Why there is no figure.

use std::path::PathBuf;

/// Why a measurement, or the whole benchmark, ended without one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum Error {
    #[error(transparent)]
    Device(#[from] offload::Error),
    #[error(transparent)]
    Server(#[from] hostcall::ServerError),
    #[error(transparent)]
    Attach(#[from] hostcall::AttachError),
    #[error(transparent)]
    Grant(#[from] hostcall::GrantError),
    #[error(transparent)]
    Kernel(#[from] hostcall::WaitError),
    #[error(transparent)]
    Streams(#[from] hostcall_stream::StartError),
    #[error(transparent)]
    Rings(#[from] hostcall_stream::AttachError),
    #[error(transparent)]
    Messages(Box<hostcall_stream::WaitError>),
    #[error(transparent)]
    Window(#[from] offload::WindowError),
    #[error("{doing} {path}: {source}", path = path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{path}: {source}", path = path.display())]
    Image { path: PathBuf, source: Box<offload::BundleError> },
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    #[error("{what}: only {right} of {all} are right, so the row has no figure")]
    Wrong { what: String, right: u64, all: u64 },
    #[error("the device does not say how long `{kernel}` took")]
    NoTime { kernel: String },
    #[error("cannot draw {path}: {reason}", path = path.display())]
    Plot { path: PathBuf, reason: String },
    #[error("there is no row `{name}`; the rows are {}", rows.join(", "))]
    Name { name: String, rows: &'static [&'static str] },
    #[error("{path} ended with {status}, and said: {said}", path = path.display())]
    Program { path: PathBuf, status: std::process::ExitStatus, said: String },
    #[error("`{command}` printed no row: a row is a line such as {{\"row\": \"python.call\", \"us\": 9.5}}")]
    NoRow { command: String },
    #[error("{why}: {line}")]
    Row { line: String, why: &'static str },
    /// Another row of the same measurement has the error itself.
    #[error("{0}")]
    Also(String),
    /// Nothing went wrong: the device has no such thing.
    #[error("{0}")]
    NotHere(&'static str),
    /// Nothing went wrong: the machine has no window, or nobody wants it.
    #[error("{0}")]
    NoWindow(String),
}

impl From<hostcall_stream::WaitError> for Error {
    fn from(error: hostcall_stream::WaitError) -> Self {
        Self::Messages(Box::new(error))
    }
}

impl Error {
    /// `{right} of {all}`, unless all are.
    pub(super) fn unless_all(what: impl Into<String>, right: u64, all: u64) -> Result<(), Error> {
        if right == all { Ok(()) } else { Err(Error::Wrong { what: what.into(), right, all }) }
    }
}
