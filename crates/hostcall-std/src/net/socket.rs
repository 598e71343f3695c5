//! Sockets.

use super::address::{self, Address};
use crate::abi::errno::{EAFNOSUPPORT, EAGAIN, EINPROGRESS, EINTR, EINVAL, EISCONN, EPROTONOSUPPORT};
use crate::abi::{AF_INET, AF_INET6, MSG_DONTWAIT, MSG_PEEK, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_STREAM, sockaddr, socklen_t};
use crate::arguments::most;
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target, held, socket_of, target};
use crate::local::pair::Ended;
use crate::local::transfer;
use crate::services::StdNet;
use core::ffi::c_void;
use hostcall_abi::std_services::{event, option};

/// No address.
const NONE: Address = [0; 8];

/// Makes a call; while it says that it would wait, and is not to be over `now`, waits for `events` as the socket's mode
/// wants, and makes it again.
fn waiting<T>(handle: u64, events: u32, now: bool, mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            // There may be more that the host has not looked at.
            Err(Errno(EINTR)) => {}
            Err(Errno(EAGAIN)) if !now => answered(StdNet::wait(handle, events))?,
            result => return result,
        }
    }
}

pub(crate) fn receive(handle: u64, peek: bool, now: bool, into: &mut [u8]) -> Result<(isize, Address), Errno> {
    let (n, from) = waiting(handle, event::IN, now, || answered(StdNet::receive(handle, peek, into)))?;
    Ok(((n as usize).min(into.len()) as isize, from))
}

pub(crate) fn send(handle: u64, to: Address, now: bool, from: &[u8]) -> Result<isize, Errno> {
    let n = waiting(handle, event::OUT, now, || answered(StdNet::send(handle, to, from)))?;
    Ok((n as usize).min(from.len()) as isize)
}

pub(crate) fn set_nonblocking(handle: u64, on: bool) -> Result<i32, Errno> {
    answered(StdNet::set_option(handle, option::NONBLOCKING, u64::from(on))).map(|()| 0)
}

pub(crate) fn is_nonblocking(handle: u64) -> Result<bool, Errno> {
    Ok(answered(StdNet::option(handle, option::NONBLOCKING))? != 0)
}

/// A socket.
#[unsafe(no_mangle)]
pub extern "C" fn libc_socket(family: i32, kind: i32, _protocol: i32) -> i32 {
    returned((|| {
        let family = match family {
            AF_INET => 4,
            AF_INET6 => 6,
            _ => return Err(Errno(EAFNOSUPPORT)),
        };
        let stream = match kind & !(SOCK_NONBLOCK | SOCK_CLOEXEC) {
            SOCK_STREAM => 1,
            SOCK_DGRAM => 2,
            _ => return Err(Errno(EPROTONOSUPPORT)),
        };
        let handle = answered(StdNet::socket(family, stream))?;
        if kind & SOCK_NONBLOCK != 0 {
            set_nonblocking(handle, true)?;
        }
        // The options have the numbers of descriptors' flags.
        fd::open_with(Target::Socket(handle), kind & SOCK_CLOEXEC)
    })())
}

/// Gives a socket an address.
///
/// # Safety
/// `name` is an address of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_bind(fd: i32, name: *const sockaddr, len: socklen_t) -> i32 {
    // SAFETY: the caller's.
    let address = unsafe { address::read(name, len) };
    returned(address.and_then(|address| answered(StdNet::bind(socket_of(fd)?, address))).map(|()| 0))
}

/// Lets others connect.
#[unsafe(no_mangle)]
pub extern "C" fn libc_listen(fd: i32, backlog: i32) -> i32 {
    returned(socket_of(fd).and_then(|handle| answered(StdNet::listen(handle, u32::try_from(backlog).unwrap_or(128)))).map(|()| 0))
}

fn connect(handle: u64, address: Address) -> Result<i32, Errno> {
    match answered(StdNet::connect(handle, address)) {
        Ok(()) => return Ok(0),
        Err(Errno(EINPROGRESS)) => {}
        Err(error) => return Err(error),
    }
    match answered(StdNet::wait(handle, event::OUT)) {
        // It does not wait, or not any longer: it is still connecting.
        Err(Errno(EAGAIN)) => Err(Errno(EINPROGRESS)),
        Err(error) => Err(error),
        Ok(()) => match answered(StdNet::option(handle, option::ERROR))? {
            0 => Ok(0),
            error => Err(Errno(i32::try_from(error).unwrap_or(EINVAL))),
        },
    }
}

/// Connects.
///
/// # Safety
/// `name` is an address of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_connect(fd: i32, name: *const sockaddr, len: socklen_t) -> i32 {
    // SAFETY: the caller's.
    let address = unsafe { address::read(name, len) };
    returned(address.and_then(|address| connect(socket_of(fd)?, address)))
}

/// Waits for a connection.
///
/// # Safety
/// `len` is null or valid, and `name` null or valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_accept(fd: i32, name: *mut sockaddr, len: *mut socklen_t) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_accept4(fd, name, len, 0) }
}

/// As [`libc_accept`]; `flags` may have `SOCK_NONBLOCK`.
///
/// # Safety
/// As [`libc_accept`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_accept4(fd: i32, name: *mut sockaddr, len: *mut socklen_t, flags: i32) -> i32 {
    returned((|| {
        let handle = socket_of(fd)?;
        let (connection, from) = waiting(handle, event::IN, false, || answered(StdNet::accept(handle)))?;
        let fd = fd::open_with(Target::Socket(connection), flags & SOCK_CLOEXEC)?;
        if flags & SOCK_NONBLOCK != 0 {
            set_nonblocking(connection, true)?;
        }
        // SAFETY: the caller's.
        unsafe { address::write(from, name, len) };
        Ok(fd)
    })())
}

/// Receives: how many bytes.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_recv(fd: i32, into: *mut u8, len: usize, flags: i32) -> isize {
    // SAFETY: the caller's.
    unsafe { libc_recvfrom(fd, into, len, flags, core::ptr::null_mut(), core::ptr::null_mut()) }
}

/// Receives: how many bytes, and from where.
///
/// # Safety
/// `into` is valid for writes of `len` bytes; `name_len` is null or valid, and `name` null or valid for writes of
/// `*name_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_recvfrom(
    fd: i32,
    into: *mut u8,
    len: usize,
    flags: i32,
    name: *mut sockaddr,
    name_len: *mut socklen_t,
) -> isize {
    returned((|| {
        if into.is_null() && len > 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let into = if len == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(into, len.min(most())) } };
        let (peek, now) = (flags & MSG_PEEK != 0, flags & MSG_DONTWAIT != 0);
        let (n, from) = match target(fd)? {
            Target::Object(reference) => {
                let held = held(reference)?;
                held.socket()?;
                (transfer::receive(&held, into, peek, now)? as isize, NONE)
            }
            _ => receive(socket_of(fd)?, peek, now, into)?,
        };
        // SAFETY: the caller's.
        unsafe { address::write(from, name, name_len) };
        Ok(n)
    })())
}

/// Sends to whom the socket is connected: how many bytes.
///
/// # Safety
/// `from` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_send(fd: i32, from: *const c_void, len: usize, flags: i32) -> isize {
    // SAFETY: the caller's.
    unsafe { libc_sendto(fd, from, len, flags, core::ptr::null(), 0) }
}

/// Sends to an address: how many bytes.
///
/// # Safety
/// `from` is valid for reads of `len` bytes; `to` is null or an address of `to_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sendto(
    fd: i32,
    from: *const c_void,
    len: usize,
    flags: i32,
    to: *const sockaddr,
    to_len: socklen_t,
) -> isize {
    returned((|| {
        // SAFETY: the caller's.
        let to = if to.is_null() { NONE } else { unsafe { address::read(to, to_len) }? };
        if from.is_null() && len > 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let from = if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(from.cast::<u8>(), len.min(most())) } };
        let now = flags & MSG_DONTWAIT != 0;
        match target(fd)? {
            Target::Object(reference) => {
                let held = held(reference)?;
                held.socket()?;
                if to == NONE { transfer::send(&held, from, now).map(|n| n as isize) } else { Err(Errno(EISCONN)) }
            }
            _ => send(socket_of(fd)?, to, now, from),
        }
    })())
}

/// # Safety
/// `len` is null or valid, and `name` null or valid for writes of `*len` bytes.
unsafe fn name(fd: i32, peer: bool, name: *mut sockaddr, len: *mut socklen_t) -> i32 {
    if let Ok(Target::Object(reference)) = target(fd) {
        // SAFETY: the caller's.
        return returned(held(reference).and_then(|held| held.socket().map(drop)).map(|()| unsafe { address::write_unnamed(name, len) }));
    }
    returned(socket_of(fd).and_then(|handle| answered(StdNet::name(handle, peer))).map(|address| {
        // SAFETY: the caller's.
        unsafe { address::write(address, name, len) };
        0
    }))
}

/// The address of the other side.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getpeername(fd: i32, into: *mut sockaddr, len: *mut socklen_t) -> i32 {
    // SAFETY: the caller's.
    unsafe { name(fd, true, into, len) }
}

/// A socket's own address.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getsockname(fd: i32, into: *mut sockaddr, len: *mut socklen_t) -> i32 {
    // SAFETY: the caller's.
    unsafe { name(fd, false, into, len) }
}

/// Ends reading, writing or both.
#[unsafe(no_mangle)]
pub extern "C" fn libc_shutdown(fd: i32, how: i32) -> i32 {
    returned((|| {
        let how = u32::try_from(how).ok().filter(|how| *how <= 2).ok_or(Errno(EINVAL))?;
        if let Target::Object(reference) = target(fd)? {
            let held = held(reference)?;
            let (pair, end) = held.socket()?;
            pair.shut(end, Ended { reading: how != 1, writing: how != 0 });
            return Ok(0);
        }
        answered(StdNet::shutdown(socket_of(fd)?, how)).map(|()| 0)
    })())
}
