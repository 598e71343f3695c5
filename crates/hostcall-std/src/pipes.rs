//! Pipes, pairs of sockets and counters: what is made on the device.

use crate::abi::errno::{EAFNOSUPPORT, EFAULT, EINVAL, ENOSYS, EPROTONOSUPPORT};
use crate::abi::{AF_UNIX, O_CLOEXEC, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_STREAM};
use crate::error::{Errno, returned};
use crate::local::counter::Counter;
use crate::local::numbers::EFD_SEMAPHORE;
use crate::local::object::Object;
use crate::local::pair::Pair;
use crate::local::pipe::Pipe;
use crate::local::table;
use alloc::sync::Arc;
use core::ffi::c_void;

/// Gives two descriptors, if there is where to.
///
/// # Safety
/// `into` is null or valid for writes of two numbers.
unsafe fn give(into: *mut i32, made: impl FnOnce() -> Result<[i32; 2], Errno>) -> Result<i32, Errno> {
    if into.is_null() {
        return Err(Errno(EFAULT));
    }
    // SAFETY: the caller's.
    unsafe { into.cast::<[i32; 2]>().write(made()?) };
    Ok(0)
}

/// A pipe: the descriptor to read from, and the one to write to.
///
/// # Safety
/// `into` is null or valid for writes of two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pipe(into: *mut i32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_pipe2(into, 0) }
}

/// As [`libc_pipe`]; `flags` may have `O_CLOEXEC` and `O_NONBLOCK`.
///
/// # Safety
/// As [`libc_pipe`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pipe2(into: *mut i32, flags: i32) -> i32 {
    let made = || {
        if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
            return Err(Errno(EINVAL));
        }
        let pipe = Arc::new(Pipe::new());
        table::open_two([Object::PipeReader(pipe.clone()), Object::PipeWriter(pipe)], [flags | O_RDONLY, flags | O_WRONLY])
    };
    // SAFETY: the caller's.
    returned(unsafe { give(into, made) })
}

/// Two sockets that speak to each other: streams or datagrams of `AF_UNIX`.
///
/// # Safety
/// `into` is null or valid for writes of two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_socketpair(family: i32, kind: i32, protocol: i32, into: *mut i32) -> i32 {
    let made = || {
        if family != AF_UNIX {
            return Err(Errno(EAFNOSUPPORT));
        }
        let pair = match kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC) {
            _ if protocol != 0 => return Err(Errno(EPROTONOSUPPORT)),
            SOCK_STREAM => Pair::streams(),
            SOCK_DGRAM => Pair::datagrams(),
            _ => return Err(Errno(EPROTONOSUPPORT)),
        };
        // The options have the numbers of descriptors' flags.
        let (pair, flags) = (Arc::new(pair), kind & (SOCK_NONBLOCK | SOCK_CLOEXEC) | O_RDWR);
        table::open_two([Object::Socket(pair.clone(), 0), Object::Socket(pair, 1)], [flags; 2])
    };
    // SAFETY: the caller's.
    returned(unsafe { give(into, made) })
}

/// A counter that can be waited for.
#[unsafe(no_mangle)]
pub extern "C" fn libc_eventfd(value: u32, flags: i32) -> i32 {
    returned(if flags & !(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK) != 0 {
        Err(Errno(EINVAL))
    } else {
        let counter = Counter::new(value.into(), flags & EFD_SEMAPHORE != 0);
        table::open_object(Object::Counter(counter), flags & !EFD_SEMAPHORE | O_RDWR)
    })
}

/// There are no timers that can be waited for: `epoll` and `poll` have deadlines.
#[unsafe(no_mangle)]
pub extern "C" fn libc_timerfd_create(_clock: i32, _flags: i32) -> i32 {
    returned(Err(Errno(ENOSYS)))
}

/// As [`libc_timerfd_create`].
#[unsafe(no_mangle)]
pub extern "C" fn libc_timerfd_settime(_fd: i32, _flags: i32, _new: *const c_void, _old: *mut c_void) -> i32 {
    returned(Err(Errno(ENOSYS)))
}

/// As [`libc_timerfd_create`].
#[unsafe(no_mangle)]
pub extern "C" fn libc_timerfd_gettime(_fd: i32, _into: *mut c_void) -> i32 {
    returned(Err(Errno(ENOSYS)))
}
