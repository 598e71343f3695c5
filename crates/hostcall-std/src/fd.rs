//! Descriptors, as C's functions have them: what they stand for is in `local::table`.

use crate::abi::O_CLOEXEC;
use crate::abi::errno::{EBADF, EINVAL, ENOTSOCK, ESPIPE};
use crate::error::{Errno, answered, returned};
use crate::local::table;
pub(crate) use crate::local::table::{Target, held};
use crate::services::{StdFiles, StdSystem};
use core::sync::atomic::{AtomicU64, Ordering};

/// What a descriptor stands for.
pub(crate) fn target(fd: i32) -> Result<Target, Errno> {
    Ok(match table::target(fd)? {
        Target::Input => input(),
        target => target,
    })
}

/// Standard input: a file of the host, if whoever started the program gave it one.
fn input() -> Target {
    /// Nobody has asked. (No handle is below 2³².)
    const UNKNOWN: u64 = 0;
    const NONE: u64 = 1;
    static FILE: AtomicU64 = AtomicU64::new(UNKNOWN);
    // Relaxed: the host knows all that the handle stands for.
    let known = match FILE.load(Ordering::Relaxed) {
        UNKNOWN => {
            let handle = match answered(StdSystem::input()) {
                Ok(handle) => handle,
                Err(Errno(ESPIPE)) => NONE,
                // Who asks before the program begins, as initialisers do, is answered by no host.
                Err(_) => return Target::Input,
            };
            match FILE.compare_exchange(UNKNOWN, handle, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => handle,
                Err(others) => {
                    if handle != NONE {
                        // It was one more for the same file, and nobody could do anything about an error.
                        let _ = table::give_back(Target::File(handle));
                    }
                    others
                }
            }
        }
        known => known,
    };
    if known == NONE { Target::Input } else { Target::File(known) }
}

/// The lowest free descriptor for something the host opened, with `O_CLOEXEC`, the access mode and what else of `flags`
/// belongs to it. If there is none left, it is closed again.
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

/// Waits until the host has closed a handle, with which its lock goes: closing is posted, and whoever tries the lock
/// next must find it free.
fn given_back(handle: u64) {
    /// More than it ever takes; it only ends what would not end.
    const LOOKS: u32 = 1 << 16;
    for _ in 0..LOOKS {
        // It does nothing to a file, and says so while the handle is open.
        if answered(StdFiles::rewind(handle)) == Err(Errno(EBADF)) {
            break;
        }
    }
}

/// Closes a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn libc_close(fd: i32) -> i32 {
    let locked = table::own_flags(fd) & table::LOCKED != 0;
    let target = table::target(fd);
    let closed = table::close(fd).map(|()| 0);
    if let (true, Ok(Target::File(handle) | Target::Dir(handle))) = (locked, target) {
        given_back(handle);
    }
    returned(closed)
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
