//! Descriptors, as C's functions have them: what they stand for is in `local::table`.

use crate::abi::O_CLOEXEC;
use crate::abi::errno::{EINVAL, ENOTSOCK};
use crate::error::{Errno, returned};
use crate::local::table;
pub(crate) use crate::local::table::{Target, held, target};

/// The lowest free descriptor for something the host opened, with `O_CLOEXEC`, the access mode and what else of `flags` belongs to it. If there is none
/// left, it is closed again.
pub(crate) fn open_with(target: Target, flags: i32) -> Result<i32, Errno> {
    table::open(target, flags)
}

/// The socket of the host that a descriptor stands for.
pub(crate) fn socket_of(fd: i32) -> Result<u64, Errno> {
    match target(fd)? {
        Target::Socket(handle) => Ok(handle),
        _ => Err(Errno(ENOTSOCK)),
    }
}

/// Closes a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn libc_close(fd: i32) -> i32 {
    returned(table::close(fd).map(|()| 0))
}

/// The lowest free descriptor for the same thing.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dup(fd: i32) -> i32 {
    returned(table::duplicate(fd, 0, 0))
}

/// Makes `to` another descriptor for the same thing.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dup2(from: i32, to: i32) -> i32 {
    returned(table::duplicate_to(from, to, 0))
}

/// As [`libc_dup2`], with `O_CLOEXEC`; the two must not be the same.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dup3(from: i32, to: i32, flags: i32) -> i32 {
    returned(if from == to || flags & !O_CLOEXEC != 0 { Err(Errno(EINVAL)) } else { table::duplicate_to(from, to, flags) })
}
