//! Locks of files.

use crate::abi::errno::EBADF;
use crate::abi::{F_GETLK, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_SETLK, F_SETLKW, F_UNLCK};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::services::StdFiles;

/// `flock`: the lock is the open file's on the host, and whoever else has the file open there sees it. Waiting for one holds no thread of the host.
#[unsafe(no_mangle)]
pub extern "C" fn libc_flock(fd: i32, operation: i32) -> i32 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => answered(StdFiles::lock(handle, operation.cast_unsigned())).map(|()| 0),
        _ => Err(Errno(EBADF)),
    })())
}

/// Locks of parts of files, which belong to a process. There is one, so that nobody else has any: taking one succeeds, and whoever asks is told that it is free.
///
/// # Safety
/// `lock` says null or the address of a `struct flock`.
pub(crate) unsafe fn of_process(command: i32, lock: impl FnOnce() -> *mut i16) -> Option<Result<i32, Errno>> {
    match command {
        F_SETLK | F_SETLKW | F_OFD_SETLK | F_OFD_SETLKW => Some(Ok(0)),
        F_GETLK | F_OFD_GETLK => {
            // SAFETY: the caller's; its first field is the kind.
            if let Some(kind) = unsafe { lock().as_mut() } {
                *kind = F_UNLCK;
            }
            Some(Ok(0))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_is_never_locked_by_another() {
        let mut kind = 1i16;
        // SAFETY: a field, and none.
        unsafe {
            assert_eq!(of_process(F_SETLKW, core::ptr::null_mut), Some(Ok(0)));
            assert_eq!(of_process(F_GETLK, || &raw mut kind), Some(Ok(0)));
            assert_eq!(of_process(crate::abi::F_GETFL, core::ptr::null_mut), None);
        }
        assert_eq!(kind, F_UNLCK);
    }
}
