//! Reading and writing, whatever a descriptor stands for.

use crate::arguments::most;
use crate::error::{Errno, answered, returned};
use crate::fd::{Target, socket_of, target};
use crate::net::socket;
use crate::poll::poll;
use crate::services::StdSystem;
use hermit_abi::errno::{EAGAIN, EBADF, EINVAL, ENOSYS};
use hermit_abi::{iovec, pollfd};
use hostcall_device::__runtime::Files;

fn read_input(into: &mut [u8]) -> Result<isize, Errno> {
    loop {
        // First waits where no other call is kept waiting, then reads.
        poll(&mut [pollfd { fd: 0, events: hermit_abi::POLLIN, revents: 0 }], -1)?;
        match answered(StdSystem::stdin(into)) {
            // Another thread has read what there was, or is about to.
            Err(Errno(EAGAIN)) => {}
            read => return read.map(|n| n as isize),
        }
    }
}

fn print(stream: u32, text: &[u8]) -> Result<isize, Errno> {
    answered(StdSystem::write(stream, text)).map(|n| n as isize)
}

/// Waits until what was written to standard output (1) or standard error (2) has left the host: 0, or the negated number of an error of one of the writes.
#[unsafe(no_mangle)]
pub extern "C" fn sys_flush(stream: i32) -> i32 {
    returned((|| match target(stream)? {
        Target::Output(stream) => answered(StdSystem::flush(stream)).map(|()| 0),
        _ => Err(Errno(EINVAL)),
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
        let into = unsafe { core::slice::from_raw_parts_mut(into, len.min(most())) };
        match target {
            Target::Input => read_input(into),
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
        let from = unsafe { core::slice::from_raw_parts(from, len.min(most())) };
        match target {
            Target::Input => Err(Errno(EBADF)),
            Target::Output(stream) => print(stream, from),
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
