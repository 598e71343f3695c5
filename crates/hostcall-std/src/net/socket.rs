//! Sockets.

use super::address::{self, Address};
use crate::arguments::most;
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target, socket_of};
use crate::services::StdNet;
use core::ffi::c_void;
use hermit_abi::errno::{EAGAIN, EBADF, EINPROGRESS, EINVAL, EPROTONOSUPPORT};
use hermit_abi::{AF_INET, AF_INET6, MSG_PEEK, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_STREAM, sockaddr, socklen_t};
use hostcall_abi::std_services::{event, option};

/// No address.
const NONE: Address = [0; 8];

/// Makes a call; while it says that it would wait, waits for `events` as the socket's mode wants, and makes it again.
fn waiting<T>(handle: u64, events: u32, mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno(EAGAIN)) => answered(StdNet::wait(handle, events))?,
            result => return result,
        }
    }
}

pub(crate) fn receive(handle: u64, peek: bool, into: &mut [u8]) -> Result<(isize, Address), Errno> {
    let (n, from) = waiting(handle, event::IN, || answered(StdNet::receive(handle, peek, into)))?;
    Ok(((n as usize).min(into.len()) as isize, from))
}

pub(crate) fn send(handle: u64, to: Address, from: &[u8]) -> Result<isize, Errno> {
    let n = waiting(handle, event::OUT, || answered(StdNet::send(handle, to, from)))?;
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
pub extern "C" fn sys_socket(family: i32, kind: i32, _protocol: i32) -> i32 {
    returned((|| {
        let family = match family {
            AF_INET => 4,
            AF_INET6 => 6,
            _ => return Err(Errno(hermit_abi::errno::EAFNOSUPPORT)),
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
        fd::open(Target::Socket(handle))
    })())
}

/// Gives a socket an address.
///
/// # Safety
/// `name` is an address of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_bind(fd: i32, name: *const sockaddr, len: socklen_t) -> i32 {
    // SAFETY: the caller's.
    let address = unsafe { address::read(name, len) };
    returned(address.and_then(|address| answered(StdNet::bind(socket_of(fd)?, address))).map(|()| 0))
}

/// Lets others connect.
#[unsafe(no_mangle)]
pub extern "C" fn sys_listen(fd: i32, backlog: i32) -> i32 {
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
pub unsafe extern "C" fn sys_connect(fd: i32, name: *const sockaddr, len: socklen_t) -> i32 {
    // SAFETY: the caller's.
    let address = unsafe { address::read(name, len) };
    returned(address.and_then(|address| connect(socket_of(fd)?, address)))
}

/// Waits for a connection.
///
/// # Safety
/// `len` is null or valid, and `name` null or valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_accept(fd: i32, name: *mut sockaddr, len: *mut socklen_t) -> i32 {
    returned((|| {
        let handle = socket_of(fd)?;
        let (connection, from) = waiting(handle, event::IN, || answered(StdNet::accept(handle)))?;
        let fd = fd::open(Target::Socket(connection))?;
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
pub unsafe extern "C" fn sys_recv(fd: i32, into: *mut u8, len: usize, flags: i32) -> isize {
    // SAFETY: the caller's.
    unsafe { sys_recvfrom(fd, into, len, flags, core::ptr::null_mut(), core::ptr::null_mut()) }
}

/// Receives: how many bytes, and from where.
///
/// # Safety
/// `into` is valid for writes of `len` bytes; `name_len` is null or valid, and `name` null or valid for writes of `*name_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_recvfrom(
    fd: i32,
    into: *mut u8,
    len: usize,
    flags: i32,
    name: *mut sockaddr,
    name_len: *mut socklen_t,
) -> isize {
    returned((|| {
        let handle = socket_of(fd)?;
        if into.is_null() && len > 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let into = if len == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(into, len.min(most())) } };
        let (n, from) = receive(handle, flags & MSG_PEEK != 0, into)?;
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
pub unsafe extern "C" fn sys_send(fd: i32, from: *const c_void, len: usize, flags: i32) -> isize {
    // SAFETY: the caller's.
    unsafe { sys_sendto(fd, from, len, flags, core::ptr::null(), 0) }
}

/// Sends to an address: how many bytes.
///
/// # Safety
/// `from` is valid for reads of `len` bytes; `to` is null or an address of `to_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_sendto(
    fd: i32,
    from: *const c_void,
    len: usize,
    _flags: i32,
    to: *const sockaddr,
    to_len: socklen_t,
) -> isize {
    returned((|| {
        let handle = socket_of(fd)?;
        // SAFETY: the caller's.
        let to = if to.is_null() { NONE } else { unsafe { address::read(to, to_len) }? };
        if from.is_null() && len > 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let from = if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(from.cast::<u8>(), len.min(most())) } };
        send(handle, to, from)
    })())
}

/// # Safety
/// `len` is null or valid, and `name` null or valid for writes of `*len` bytes.
unsafe fn name(fd: i32, peer: bool, name: *mut sockaddr, len: *mut socklen_t) -> i32 {
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
pub unsafe extern "C" fn sys_getpeername(fd: i32, into: *mut sockaddr, len: *mut socklen_t) -> i32 {
    // SAFETY: the caller's.
    unsafe { name(fd, true, into, len) }
}

/// A socket's own address.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_getsockname(fd: i32, into: *mut sockaddr, len: *mut socklen_t) -> i32 {
    // SAFETY: the caller's.
    unsafe { name(fd, false, into, len) }
}

/// Ends reading, writing or both.
#[unsafe(no_mangle)]
pub extern "C" fn sys_shutdown(fd: i32, how: i32) -> i32 {
    returned((|| {
        let how = u32::try_from(how).ok().filter(|how| *how <= 2).ok_or(Errno(EINVAL))?;
        answered(StdNet::shutdown(socket_of(fd)?, how)).map(|()| 0)
    })())
}

/// As [`sys_shutdown`].
#[unsafe(no_mangle)]
pub extern "C" fn sys_shutdown_socket(fd: i32, how: i32) -> i32 {
    sys_shutdown(fd, how)
}

const _: () = assert!(EBADF == 9 && EAGAIN == 11, "hermit-abi has Linux's error numbers, as the wire does");
