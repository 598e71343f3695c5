//! Locks of files.

use crate::abi::errno::EBADF;
use crate::abi::{F_GETLK, F_OFD_GETLK, F_UNLCK};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::table;
use crate::services::StdFiles;

/// `flock`: the lock is the open file's on the host, and whoever else has the file open there sees it. Waiting for one
/// holds no thread of the host.
#[unsafe(no_mangle)]
pub extern "C" fn libc_flock(fd: i32, operation: i32) -> i32 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => {
            // Before it is: another thread may close it at once.
            table::set_own_flags(fd, table::LOCKED, table::LOCKED);
            answered(StdFiles::lock(handle, operation.cast_unsigned())).map(|()| 0)
        }
        _ => Err(Errno(EBADF)),
    })())
}

/// Locks of parts of files, which belong to a process. There is one, so that nobody else has any: taking one succeeds,
/// and whoever asks is told that it is free.
pub(crate) fn of_process(command: i32, kind: Option<&mut i16>) -> i32 {
    if let (F_GETLK | F_OFD_GETLK, Some(kind)) = (command, kind) {
        *kind = F_UNLCK;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_is_never_locked_by_another() {
        let mut kind = 1;
        assert_eq!((of_process(crate::abi::F_SETLKW, Some(&mut kind)), kind), (0, 1));
        assert_eq!((of_process(F_GETLK, Some(&mut kind)), kind), (0, F_UNLCK));
    }
}
