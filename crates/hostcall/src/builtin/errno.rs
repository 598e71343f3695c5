//! Errors of the host's file system as the numbers that cross the wire: Linux's.

use std::io::{Error, ErrorKind};

pub(super) use hostcall_abi::services::errno::*;

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
        // `cap-std` says this, without a number, of paths that lead out of a directory.
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

/// A result with the number of its error.
pub(super) fn check<T>(result: std::io::Result<T>) -> Result<T, u32> {
    result.map_err(|error| of(&error))
}
