//! Looking at another process.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::VARIABLE;
use crate::socket::{directory, path_of};
use crate::view::View;

/// The longest view that is read.
const LONGEST: u64 = 64 << 20;
/// How long a process is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is nothing to see.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Nobody answers there.
    #[error("no process shows itself at {path} ({source}): start it with {VARIABLE}=1 in its environment", path = path.display())]
    Nobody {
        /// The socket.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The process has ended, or does not answer.
    #[error("{path} does not answer: {source}", path = path.display())]
    Lost {
        /// The socket.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// What it answered is no view.
    #[error("what {path} answers is not understood: {source}", path = path.display())]
    Malformed {
        /// The socket.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

hostcall_error::readable!(AskError);

impl AskError {
    /// Whether the process ended after it was found.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}

/// A process that is looked at.
#[derive(Debug)]
pub struct Watched {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Watched {
    /// The process of this number, of this user.
    ///
    /// # Errors
    /// [`AskError::Nobody`].
    pub fn process(pid: u32) -> Result<Self, AskError> {
        Self::at(&path_of(pid))
    }

    /// The process that shows itself at this path.
    ///
    /// # Errors
    /// [`AskError::Nobody`].
    pub fn at(path: &Path) -> Result<Self, AskError> {
        let open = || {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(BufReader::new(stream))
        };
        let stream = open().map_err(|source| AskError::Nobody { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), stream })
    }

    /// What the process shows now.
    ///
    /// # Errors
    /// [`AskError::Lost`]: it has ended, or does not answer within 5 s. [`AskError::Malformed`].
    pub fn view(&mut self) -> Result<View, AskError> {
        let text = self.line().map_err(|source| AskError::Lost { path: self.path.clone(), source })?;
        serde_json::from_slice(&text).map_err(|source| AskError::Malformed { path: self.path.clone(), source })
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        self.stream.get_mut().write_all(b"\n")?;
        let mut text = Vec::new();
        (&mut self.stream).take(LONGEST).read_until(b'\n', &mut text)?;
        if text.last() == Some(&b'\n') { Ok(text) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// A process that shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub pid: u32,
    /// Its program's file name.
    pub command: String,
}

/// The processes of this user that show themselves under their numbers, by number.
pub fn running() -> Vec<Found> {
    let names = fs::read_dir(directory()).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut pids: Vec<u32> = names.filter_map(|name| name.to_str()?.strip_suffix(".sock")?.parse().ok()).collect();
    pids.sort_unstable();
    let found = pids.into_iter().filter_map(|pid| {
        let view = Watched::process(pid).ok()?.view().ok()?;
        Some(Found { pid, command: view.command })
    });
    found.collect()
}
