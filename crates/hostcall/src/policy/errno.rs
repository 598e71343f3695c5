//! Errors of the host's file system as the numbers that cross the wire: Linux's.

use std::io::{Error, ErrorKind};

pub(crate) use hostcall_abi::services::errno::*;

/// No such place in a file, which only programs with std are told.
pub(crate) const ENXIO: u32 = 6;

/// A directory that others are mounted on, or below. Only programs with std are told this number.
pub(crate) const EBUSY: u32 = 16;
/// No terminal, which only programs with std are told.
pub(crate) const ENOTTY: u32 = 25;

/// The number for an error.
pub(crate) fn of(error: &Error) -> u32 {
    // On other systems the numbers mean something else.
    if cfg!(target_os = "linux")
        && let Some(number) = error.raw_os_error()
    {
        return number.cast_unsigned();
    }
    match error.kind() {
        ErrorKind::NotFound => ENOENT,
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
pub(crate) enum Fault {
    /// The path leads out of the directory that it began in, or what it names was exchanged meanwhile: it has to be
    /// walked in the guest's tree, from its start. See [`Mounts`](super::Mounts).
    LedOut,
    /// With this number.
    Errno(u32),
}

impl Fault {
    /// The number of a fault that is final.
    pub(crate) fn number(self) -> u32 {
        match self {
            // As a path of links without an end: somebody goes on exchanging them.
            Self::LedOut => ELOOP,
            Self::Errno(number) => number,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Errno(of(&error))
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
pub(crate) fn check<T>(result: std::io::Result<T>) -> Result<T, u32> {
    result.map_err(|error| of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_systems_number_or_that_of_its_kind() {
        let kinds = [
            (ErrorKind::NotFound, ENOENT),
            (ErrorKind::PermissionDenied, EACCES),
            (ErrorKind::AlreadyExists, EEXIST),
            (ErrorKind::NotADirectory, ENOTDIR),
            (ErrorKind::IsADirectory, EISDIR),
            (ErrorKind::DirectoryNotEmpty, ENOTEMPTY),
            (ErrorKind::ReadOnlyFilesystem, EROFS),
            (ErrorKind::CrossesDevices, EXDEV),
            (ErrorKind::InvalidInput, EINVAL),
            (ErrorKind::InvalidFilename, EINVAL),
            (ErrorKind::StorageFull, ENOSPC),
            (ErrorKind::FileTooLarge, EFBIG),
            (ErrorKind::NotSeekable, ESPIPE),
            (ErrorKind::BrokenPipe, EPIPE),
            (ErrorKind::WouldBlock, EAGAIN),
            (ErrorKind::Interrupted, EINTR),
            (ErrorKind::OutOfMemory, ENOMEM),
            (ErrorKind::Unsupported, ENOTSUP),
            (ErrorKind::TimedOut, ETIMEDOUT),
            (ErrorKind::Other, EIO),
        ];
        for (kind, number) in kinds {
            assert_eq!(of(&kind.into()), number, "{kind:?}");
        }
        if cfg!(target_os = "linux") {
            assert_eq!(of(&Error::from_raw_os_error(71)), 71, "a number without a kind");
        }
    }
}
