//! Errors of the host's file system as the numbers that cross the wire: Linux's.

use std::io::{Error, ErrorKind};

pub(super) use hostcall_abi::services::errno::*;

/// No such place in a file, which only programs with std are told.
pub(super) const ENXIO: u32 = 6;
/// No terminal, which only programs with std are told.
pub(super) const ENOTTY: u32 = 25;

/// The number for an error.
pub(super) fn of(error: &Error) -> u32 {
    // On other systems the numbers mean something else.
    if cfg!(target_os = "linux")
        && let Some(number) = error.raw_os_error()
    {
        return number.cast_unsigned();
    }
    match error.kind() {
        ErrorKind::NotFound => ENOENT,
        // Also what `cap-std` says of paths that lead out of a directory, see `Fault`.
        ErrorKind::PermissionDenied => EACCES,
        ErrorKind::AlreadyExists => EEXIST,
        ErrorKind::NotADirectory => ENOTDIR,
        ErrorKind::IsADirectory => EISDIR,
        ErrorKind::DirectoryNotEmpty => ENOTEMPTY,
        ErrorKind::ReadOnlyFilesystem => EROFS,
        ErrorKind::CrossesDevices => EXDEV,
        ErrorKind::InvalidInput | ErrorKind::InvalidFilename => EINVAL,
        ErrorKind::StorageFull => ENOSPC,
        ErrorKind::FileTooLarge => EFBIG,
        ErrorKind::NotSeekable => ESPIPE,
        ErrorKind::BrokenPipe => EPIPE,
        ErrorKind::WouldBlock => EAGAIN,
        ErrorKind::Interrupted => EINTR,
        ErrorKind::OutOfMemory => ENOMEM,
        ErrorKind::Unsupported => ENOTSUP,
        ErrorKind::TimedOut => ETIMEDOUT,
        _ => EIO,
    }
}

/// Why something on a path failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The path leads out of the directory that it began in.
    LedOut,
    /// With this number.
    Errno(u32),
}

impl Fault {
    /// The number of a fault that is final.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::LedOut => EACCES,
            Self::Errno(number) => number,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        // Of paths that lead out of a directory `cap-std` says this, without a number. The system's errors have one.
        if error.raw_os_error().is_none() && error.kind() == ErrorKind::PermissionDenied { Self::LedOut } else { Self::Errno(of(&error)) }
    }
}

impl From<rustix::io::Errno> for Fault {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Errno(of(&error.into()))
    }
}

impl From<u32> for Fault {
    fn from(number: u32) -> Self {
        Self::Errno(number)
    }
}

/// A result with the number of its error.
pub(super) fn check<T>(result: std::io::Result<T>) -> Result<T, u32> {
    result.map_err(|error| of(&error))
}
