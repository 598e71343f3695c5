//! File descriptors: small numbers for the host's handles.
//!
//! 0, 1 and 2 are the standard streams. The others are places of a table; an entry is a handle, and two of its bits that handles leave
//! free say what it stands for.

use crate::error::{Errno, answered, returned};
use crate::file;
use crate::net::socket;
use crate::services::StdFiles;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use hermit_abi::errno::{EBADF, EINVAL, EMFILE, ENOSYS, ENOTSOCK};
use hermit_abi::{iovec, pollfd};
use hostcall_device::__runtime::Files;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard input.
    Input,
    /// Standard output (1) or standard error (2).
    Output(u32),
    /// A file.
    File(u64),
    /// A directory.
    Dir(u64),
    /// A socket.
    Socket(u64),
}

/// The most descriptors open at a time.
const TABLE: usize = 1 << 16;
/// The first that is not a standard stream.
const FIRST: usize = 3;

const KIND_SHIFT: u32 = 30;
const KIND_MASK: u64 = 3 << KIND_SHIFT;

/// Handles with their kinds; 0 is free. (A handle's upper half is never 0.)
static OPEN: [AtomicU64; TABLE] = [const { AtomicU64::new(0) }; TABLE];
/// Where the search for a free place begins.
static NEXT: AtomicU32 = AtomicU32::new(0);

fn pack(target: Target) -> Option<u64> {
    let (kind, handle) = match target {
        Target::File(handle) => (1, handle),
        Target::Dir(handle) => (2, handle),
        Target::Socket(handle) => (3, handle),
        Target::Input | Target::Output(_) => return None,
    };
    (handle & KIND_MASK == 0 && handle != 0).then_some(handle | kind << KIND_SHIFT)
}

fn unpack(entry: u64) -> Option<Target> {
    let handle = entry & !KIND_MASK;
    match (entry & KIND_MASK) >> KIND_SHIFT {
        1 => Some(Target::File(handle)),
        2 => Some(Target::Dir(handle)),
        3 => Some(Target::Socket(handle)),
        _ => None,
    }
}

/// A descriptor for something the host opened. If there is none left, it is closed again.
pub(crate) fn open(target: Target) -> Result<i32, Errno> {
    let entry = pack(target).ok_or(Errno(EINVAL))?;
    // Relaxed: a hint.
    let first = NEXT.fetch_add(1, Ordering::Relaxed) as usize;
    for i in 0..TABLE - FIRST {
        let index = FIRST + (first + i) % (TABLE - FIRST);
        // Release pairs with the acquire in `target`.
        if OPEN[index].load(Ordering::Relaxed) == 0 && OPEN[index].compare_exchange(0, entry, Ordering::Release, Ordering::Relaxed).is_ok()
        {
            return Ok(index as i32);
        }
    }
    let (Target::File(handle) | Target::Dir(handle) | Target::Socket(handle)) = target else { unreachable!("it was packed") };
    // Nobody could do anything about it.
    let _ = Files::close(handle);
    Err(Errno(EMFILE))
}

/// What a descriptor stands for.
pub(crate) fn target(fd: i32) -> Result<Target, Errno> {
    match fd {
        0 => Ok(Target::Input),
        1 | 2 => Ok(Target::Output(fd as u32)),
        // Acquire pairs with the release in `open`: a descriptor may come from another thread.
        _ => {
            usize::try_from(fd).ok().and_then(|fd| OPEN.get(fd)).and_then(|entry| unpack(entry.load(Ordering::Acquire))).ok_or(Errno(EBADF))
        }
    }
}

/// The socket that a descriptor stands for.
pub(crate) fn socket_of(fd: i32) -> Result<u64, Errno> {
    match target(fd)? {
        Target::Socket(handle) => Ok(handle),
        _ => Err(Errno(ENOTSOCK)),
    }
}

fn close(fd: i32) -> Result<i32, Errno> {
    if (0..FIRST as i32).contains(&fd) {
        return Ok(0);
    }
    let entry = usize::try_from(fd).ok().and_then(|fd| OPEN.get(fd)).ok_or(Errno(EBADF))?;
    // Acquire and release: between whoever opened it and whoever opens the next in its place.
    let (Target::File(handle) | Target::Dir(handle) | Target::Socket(handle)) =
        unpack(entry.swap(0, Ordering::AcqRel)).ok_or(Errno(EBADF))?
    else {
        return Err(Errno(EBADF));
    };
    Files::close(handle)?;
    Ok(0)
}

/// Closes a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn sys_close(fd: i32) -> i32 {
    returned(close(fd))
}

/// Another descriptor for the same thing.
#[unsafe(no_mangle)]
pub extern "C" fn sys_dup(fd: i32) -> i32 {
    returned((|| {
        let another = |handle| answered(StdFiles::duplicate(handle));
        open(match target(fd)? {
            Target::File(handle) => Target::File(another(handle)?),
            Target::Dir(handle) => Target::Dir(another(handle)?),
            Target::Socket(handle) => Target::Socket(another(handle)?),
            Target::Input | Target::Output(_) => return Err(Errno(EINVAL)),
        })
    })())
}

/// Reads: how many bytes; 0 at the end.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_read(fd: i32, into: *mut u8, len: usize) -> isize {
    returned((|| {
        let target = target(fd)?;
        if len == 0 {
            return Ok(0);
        }
        if into.is_null() {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's. No more than one call moves, so the length is never beyond what a slice may have.
        let into = unsafe { core::slice::from_raw_parts_mut(into, len.min(file::most())) };
        match target {
            Target::Input => file::read_input(into),
            Target::Output(_) => Err(Errno(EBADF)),
            Target::File(handle) | Target::Dir(handle) => answered(Files::read(handle, into)).map(|n| n as isize),
            Target::Socket(handle) => socket::receive(handle, false, into).map(|(n, _)| n),
        }
    })())
}

/// Writes: how many bytes.
///
/// # Safety
/// `from` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_write(fd: i32, from: *const u8, len: usize) -> isize {
    returned((|| {
        let target = target(fd)?;
        if len == 0 {
            return Ok(0);
        }
        if from.is_null() {
            return Err(Errno(EINVAL));
        }
        // SAFETY: as in `sys_read`.
        let from = unsafe { core::slice::from_raw_parts(from, len.min(file::most())) };
        match target {
            Target::Input => Err(Errno(EBADF)),
            Target::Output(stream) => file::print(stream, from),
            Target::File(handle) | Target::Dir(handle) => answered(Files::write(handle, from)).map(|n| n as isize),
            Target::Socket(handle) => socket::send(handle, [0; 8], from),
        }
    })())
}

/// Reads into the first of several places that is not empty.
///
/// # Safety
/// `vectors` are `count` vectors, each valid for writes of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_readv(fd: i32, vectors: *const iovec, count: usize) -> isize {
    // SAFETY: the caller's.
    let vector = (0..count).map(|i| unsafe { &*vectors.add(i) }).find(|vector| vector.iov_len > 0);
    match vector {
        // SAFETY: the caller's.
        Some(vector) => unsafe { sys_read(fd, vector.iov_base.cast(), vector.iov_len) },
        None => returned(target(fd).map(|_| 0)),
    }
}

/// Writes from several places, one after another, as far as it goes.
///
/// # Safety
/// `vectors` are `count` vectors, each valid for reads of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_writev(fd: i32, vectors: *const iovec, count: usize) -> isize {
    let mut sum = 0;
    for i in 0..count {
        // SAFETY: the caller's.
        let vector = unsafe { &*vectors.add(i) };
        if vector.iov_len == 0 {
            continue;
        }
        // SAFETY: the caller's.
        let written = unsafe { sys_write(fd, vector.iov_base.cast_const().cast(), vector.iov_len) };
        if written < 0 {
            return if sum > 0 { sum } else { written };
        }
        sum += written;
        if (written as usize) < vector.iov_len {
            break;
        }
    }
    sum
}

/// `FIONBIO`: whether calls on a socket wait.
///
/// # Safety
/// `argument` is null or the address of an `i32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_ioctl(fd: i32, command: i32, argument: *mut core::ffi::c_void) -> i32 {
    returned((|| {
        let handle = socket_of(fd)?;
        // SAFETY: the caller's.
        match unsafe { argument.cast::<i32>().as_ref() } {
            Some(&on) if command == hermit_abi::FIONBIO => socket::set_nonblocking(handle, on != 0),
            _ => Err(Errno(EINVAL)),
        }
    })())
}

/// Flags of a descriptor: of sockets, whether calls wait.
#[unsafe(no_mangle)]
pub extern "C" fn sys_fcntl(fd: i32, command: i32, argument: i32) -> i32 {
    returned((|| match (command, target(fd)?) {
        (hermit_abi::F_GETFD, _) => Ok(hermit_abi::FD_CLOEXEC),
        (hermit_abi::F_SETFD, _) => Ok(0),
        (hermit_abi::F_GETFL, Target::Socket(handle)) => {
            Ok(hermit_abi::O_RDWR | if socket::is_nonblocking(handle)? { hermit_abi::O_NONBLOCK } else { 0 })
        }
        (hermit_abi::F_SETFL, Target::Socket(handle)) => socket::set_nonblocking(handle, argument & hermit_abi::O_NONBLOCK != 0),
        _ => Err(Errno(EINVAL)),
    })())
}

/// There are none.
#[unsafe(no_mangle)]
pub extern "C" fn sys_eventfd(_value: u64, _flags: i16) -> i32 {
    returned(Err(Errno(ENOSYS)))
}

/// Waits until something happens to one of several descriptors: to how many.
///
/// # Safety
/// `fds` are `count` entries, valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_poll(fds: *mut pollfd, count: usize, timeout: i32) -> i32 {
    if fds.is_null() && count > 0 {
        return returned(Err(Errno(EINVAL)));
    }
    // SAFETY: the caller's.
    let fds = if count == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(fds, count) } };
    match socket::poll(fds, timeout) {
        Ok(ready) => ready,
        Err(error) => {
            // `std` takes -1 for an error here, and looks the number up.
            crate::lane::here().set_errno(error.0);
            -1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_its_handle_stands_for() {
        for target in [Target::File(1 << 32), Target::Dir(7 << 32 | 5), Target::Socket(u64::from(u32::MAX) << 32 | 0x3fff_ffff)] {
            assert_eq!(unpack(pack(target).unwrap()), Some(target));
        }
        assert_eq!(unpack(0), None);
    }

    #[test]
    fn handles_that_cannot_be_are_refused() {
        for hostile in [0, 1 << 30, 1 << 31, u64::MAX] {
            assert_eq!(pack(Target::File(hostile)), None, "{hostile:#x}");
        }
    }

    #[test]
    fn descriptors_out_of_range_are_refused() {
        for fd in [-1, i32::MIN, 3, TABLE as i32, i32::MAX] {
            assert_eq!(target(fd), Err(Errno(EBADF)), "{fd}");
            assert_eq!(close(fd), Err(Errno(EBADF)), "{fd}");
        }
    }
}
