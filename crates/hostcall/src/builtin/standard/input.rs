//! Standard input: always a descriptor, so that waiting for it is waiting for any descriptor.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Where the standard input of a program comes from.
#[derive(Default)]
#[non_exhaustive]
pub enum Input {
    /// It is at its end.
    #[default]
    Null,
    /// This process's own.
    Stdin,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Any reader, on a thread of its own.
    Reader(Box<dyn Read + Send>),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "Null",
            Self::Stdin => "Stdin",
            Self::Bytes(_) => "Bytes",
            Self::Reader(_) => "Reader",
        })
    }
}

/// Standard input, open.
#[derive(Debug, Default)]
pub(super) enum Source {
    #[default]
    End,
    Process,
    /// Of a pipe that a thread fills.
    Pipe(OwnedFd),
}

impl Source {
    pub(super) fn open(input: Input) -> io::Result<Self> {
        Ok(match input {
            Input::Null => Self::End,
            Input::Stdin => Self::Process,
            Input::Bytes(bytes) => Self::pumped(Box::new(io::Cursor::new(bytes)))?,
            Input::Reader(reader) => Self::pumped(reader)?,
        })
    }

    fn pumped(mut reader: Box<dyn Read + Send>) -> io::Result<Self> {
        let (from, mut to) = io::pipe()?;
        std::thread::Builder::new().name("hostcall-stdin".into()).spawn(move || {
            // A reader that fails is at its end, and a program that reads no more is none of the reader's business.
            if let Err(error) = io::copy(&mut reader, &mut to) {
                tracing::debug!(%error, "standard input ends");
            }
        })?;
        Ok(Self::Pipe(from.into()))
    }

    /// The descriptor to read from, if it is not at its end anyway.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::End => None,
            Self::Process => Some(rustix::stdio::stdin()),
            Self::Pipe(pipe) => Some(pipe.as_fd()),
        }
    }

    /// Reads; 0 at the end.
    pub(super) fn read(&self, into: &mut [u8]) -> rustix::io::Result<usize> {
        let Some(from) = self.descriptor() else { return Ok(0) };
        rustix::io::retry_on_intr(|| rustix::io::read(from, &mut *into))
    }
}
