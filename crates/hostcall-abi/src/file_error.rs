//! Why a file operation failed. Kernels see it as `hostcall::fs::Error`. It is in this crate because the host writes
//! its text when a kernel returns it.

use crate::services::errno;
use crate::{CallError, Status};
use core::fmt;

/// Why a file operation failed: an errno number of the host, or how the call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error(Reason);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Errno(u32),
    Call(CallError),
    Kind(ErrorKind),
}

/// What kind of failure it was, as `std::io::ErrorKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No such file or directory.
    NotFound,
    /// The host did not grant it, or its user may not.
    PermissionDenied,
    /// Exists already.
    AlreadyExists,
    /// A part of the path is no directory.
    NotADirectory,
    /// A directory where a file was wanted.
    IsADirectory,
    /// The directory is not empty.
    DirectoryNotEmpty,
    /// The grant or file system is read-only.
    ReadOnlyFilesystem,
    /// From one grant or file system to another.
    CrossesDevices,
    /// An argument that makes no sense.
    InvalidInput,
    /// A name that is too long or not allowed.
    InvalidFilename,
    /// Contents that are not what was asked for, such as text that is not UTF-8.
    InvalidData,
    /// The file ended too early.
    UnexpectedEof,
    /// Nothing could be written.
    WriteZero,
    /// No space left.
    StorageFull,
    /// The file would be too large.
    FileTooLarge,
    /// The file has no positions (a pipe).
    NotSeekable,
    /// Nobody reads the pipe any more.
    BrokenPipe,
    /// Too many open files: a cap of the host's policy.
    TooManyOpenFiles,
    /// The device's heap, or the host's memory, is too small.
    OutOfMemory,
    /// No such handle: closed, or never given to this program.
    InvalidHandle,
    /// The host does not offer it.
    Unsupported,
    /// The call itself failed: see [`Error::call_error`].
    Call,
    /// Anything else: see [`Error::errno`].
    Other,
}

impl ErrorKind {
    /// All of them, in order.
    const ALL: [Self; 23] = [
        Self::NotFound,
        Self::PermissionDenied,
        Self::AlreadyExists,
        Self::NotADirectory,
        Self::IsADirectory,
        Self::DirectoryNotEmpty,
        Self::ReadOnlyFilesystem,
        Self::CrossesDevices,
        Self::InvalidInput,
        Self::InvalidFilename,
        Self::InvalidData,
        Self::UnexpectedEof,
        Self::WriteZero,
        Self::StorageFull,
        Self::FileTooLarge,
        Self::NotSeekable,
        Self::BrokenPipe,
        Self::TooManyOpenFiles,
        Self::OutOfMemory,
        Self::InvalidHandle,
        Self::Unsupported,
        Self::Call,
        Self::Other,
    ];
}

impl Error {
    /// One that the device itself found.
    pub const fn from_kind(kind: ErrorKind) -> Self {
        Self(Reason::Kind(kind))
    }

    /// One that the host gave.
    pub const fn from_errno(errno: u32) -> Self {
        Self(Reason::Errno(errno))
    }

    /// What kind of failure it was.
    pub fn kind(&self) -> ErrorKind {
        match self.0 {
            Reason::Kind(kind) => kind,
            Reason::Call(CallError::Refused { code }) | Reason::Errno(code) => kind_of(code),
            Reason::Call(CallError::UnknownService) => ErrorKind::Unsupported,
            Reason::Call(_) => ErrorKind::Call,
        }
    }

    /// The host's errno number, if it gave one.
    pub fn errno(&self) -> Option<u32> {
        match self.0 {
            Reason::Call(CallError::Refused { code }) | Reason::Errno(code) => Some(code),
            Reason::Call(_) | Reason::Kind(_) => None,
        }
    }

    /// How the call ended, if it did not reach its handler.
    pub fn call_error(&self) -> Option<CallError> {
        match self.0 {
            Reason::Call(error) => Some(error),
            Reason::Errno(_) | Reason::Kind(_) => None,
        }
    }

    /// The error as a number that is not 0, to cross between lanes and to the host.
    pub fn to_wire(self) -> u64 {
        match self.0 {
            Reason::Errno(n) => 1 << 62 | u64::from(n),
            Reason::Call(error) => {
                let (status, detail) = error.to_status();
                2 << 62 | u64::from(status.0) << 32 | u64::from(detail)
            }
            Reason::Kind(kind) => 3 << 62 | kind as u64,
        }
    }

    /// Any number is some error.
    pub fn from_wire(wire: u64) -> Self {
        match wire >> 62 {
            2 => Self(Reason::Call(CallError::from_status(Status((wire >> 32) as u16), wire as u32))),
            3 => Self(Reason::Kind(ErrorKind::ALL.get(wire as u32 as usize).copied().unwrap_or(ErrorKind::Other))),
            _ => Self::from_errno(wire as u32),
        }
    }
}

fn kind_of(number: u32) -> ErrorKind {
    match number {
        errno::ENOENT => ErrorKind::NotFound,
        errno::EPERM | errno::EACCES => ErrorKind::PermissionDenied,
        errno::EEXIST => ErrorKind::AlreadyExists,
        errno::ENOTDIR => ErrorKind::NotADirectory,
        errno::EISDIR => ErrorKind::IsADirectory,
        errno::ENOTEMPTY => ErrorKind::DirectoryNotEmpty,
        errno::EROFS => ErrorKind::ReadOnlyFilesystem,
        errno::EXDEV => ErrorKind::CrossesDevices,
        errno::EINVAL => ErrorKind::InvalidInput,
        errno::ENAMETOOLONG | errno::ELOOP => ErrorKind::InvalidFilename,
        errno::ENOSPC => ErrorKind::StorageFull,
        errno::EFBIG => ErrorKind::FileTooLarge,
        errno::ESPIPE => ErrorKind::NotSeekable,
        errno::EPIPE => ErrorKind::BrokenPipe,
        errno::EMFILE => ErrorKind::TooManyOpenFiles,
        errno::ENOMEM => ErrorKind::OutOfMemory,
        errno::EBADF => ErrorKind::InvalidHandle,
        errno::ENOSYS | errno::ENOTSUP => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Self(Reason::Call(error))
    }
}

impl From<u32> for Error {
    /// From an errno number.
    fn from(errno: u32) -> Self {
        Self::from_errno(errno)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.kind() {
            ErrorKind::NotFound => "no such file or directory",
            ErrorKind::PermissionDenied => "permission denied: the host grants directories with `.dir(…)` or `--dir HOST::GUEST`",
            ErrorKind::AlreadyExists => "it exists already",
            ErrorKind::NotADirectory => "not a directory",
            ErrorKind::IsADirectory => "is a directory",
            ErrorKind::DirectoryNotEmpty => "the directory is not empty",
            ErrorKind::ReadOnlyFilesystem => "read-only",
            ErrorKind::CrossesDevices => "from one grant or file system to another",
            ErrorKind::InvalidInput => "invalid argument",
            ErrorKind::InvalidFilename => "invalid name",
            ErrorKind::InvalidData => "the contents are not UTF-8",
            ErrorKind::UnexpectedEof => "the file ended too early",
            ErrorKind::WriteZero => "nothing could be written",
            ErrorKind::StorageFull => "no space left",
            ErrorKind::FileTooLarge => "the file would be too large",
            ErrorKind::NotSeekable => "the file has no positions",
            ErrorKind::BrokenPipe => "broken pipe",
            ErrorKind::TooManyOpenFiles => "too many open files",
            ErrorKind::OutOfMemory => "out of memory: raise the device heap with `.heap(bytes)` or `--heap`",
            ErrorKind::InvalidHandle => "no such handle",
            ErrorKind::Unsupported => "the host does not offer it",
            ErrorKind::Call => "the call failed",
            ErrorKind::Other => "failed",
        };
        match self.0 {
            Reason::Errno(n) => write!(f, "{text} (errno {n})"),
            Reason::Call(error) => write!(f, "{text}: {error}"),
            Reason::Kind(_) => f.write_str(text),
        }
    }
}

/// The same text as [`fmt::Display`]'s: it is what a kernel shows that unwraps a result.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_crosses_as_a_number_and_every_number_is_an_error() {
        for (number, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(Error::from_wire(Error::from_kind(kind).to_wire()).kind(), kind);
        }
        for error in [Error::from(errno::ENOENT), Error::from(CallError::Refused { code: errno::EDQUOT }), Error::from(CallError::Timeout)]
        {
            assert_eq!(Error::from_wire(error.to_wire()), error);
        }
        for wire in [0, 1, u64::MAX, u64::MAX >> 1, 3 << 62] {
            assert!(!Error::from_wire(wire).to_string().is_empty());
        }
    }
}
