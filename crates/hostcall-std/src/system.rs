//! What a program may ask about the system that it runs on.

use crate::abi::errno::{EINVAL, ENAMETOOLONG};
use crate::error::{Errno, returned};
use crate::thread;
use core::ffi::{c_char, c_void};

/// Bytes of a page, for those who round by it.
const PAGE: i64 = 4096;

/// Keys of `sysconf`, as musl numbers them.
mod key {
    pub(super) const ARG_MAX: i32 = 0;
    pub(super) const OPEN_MAX: i32 = 4;
    pub(super) const PAGE_SIZE: i32 = 30;
    pub(super) const IOV_MAX: i32 = 60;
    pub(super) const GETPW_R_SIZE_MAX: i32 = 70;
    pub(super) const NPROCESSORS_CONF: i32 = 83;
    pub(super) const NPROCESSORS_ONLN: i32 = 84;
    pub(super) const HOST_NAME_MAX: i32 = 180;
}

/// The longest name of a host, as Linux has it.
const HOST_NAME_MAX: usize = 64;

/// A limit of the system; −1 for what is not known.
#[unsafe(no_mangle)]
pub extern "C" fn libc_sysconf(name: i32) -> i64 {
    match name {
        key::ARG_MAX => 128 << 10,
        key::OPEN_MAX => 1 << 16,
        key::PAGE_SIZE => PAGE,
        key::IOV_MAX => 1024,
        key::GETPW_R_SIZE_MAX => 1024,
        key::NPROCESSORS_CONF | key::NPROCESSORS_ONLN => thread::sys_available_parallelism() as i64,
        key::HOST_NAME_MAX => HOST_NAME_MAX as i64,
        _ => returned(Err(Errno(EINVAL))),
    }
}

/// Bytes of a page.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getpagesize() -> i32 {
    PAGE as i32
}

/// The processors that a thread may run on: the first so many bits of a set of `len` bytes.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sched_getaffinity(_thread: i32, len: usize, into: *mut u8) -> i32 {
    if into.is_null() {
        return returned(Err(Errno(EINVAL)));
    }
    let count = thread::sys_available_parallelism();
    for at in 0..len {
        let bits = count.saturating_sub(at * 8).min(8);
        // SAFETY: the caller's.
        unsafe { into.add(at).write(((1u32 << bits) - 1) as u8) };
    }
    0
}

/// The name of the machine: that of what it is.
const NAME: &[u8] = b"hostcall";

/// # Safety
/// `into` is valid for writes of `text.len() + 1` bytes.
unsafe fn put(text: &[u8], into: *mut c_char) {
    // SAFETY: the caller's.
    unsafe {
        into.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        into.add(text.len()).write(0);
    }
}

/// The name of the machine.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_gethostname(into: *mut c_char, len: usize) -> i32 {
    returned(if into.is_null() {
        Err(Errno(EINVAL))
    } else if len <= NAME.len() {
        Err(Errno(ENAMETOOLONG))
    } else {
        // SAFETY: there is room.
        unsafe { put(NAME, into) };
        Ok(0)
    })
}

/// Bytes of each of the six texts of `uname`.
const UNAME: usize = 65;

/// System, machine's name, release, version, processor, domain.
///
/// # Safety
/// `into` is valid for writes of six times 65 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_uname(into: *mut c_char) -> i32 {
    let processor: &[u8] = if cfg!(target_arch = "nvptx64") {
        b"nvptx64"
    } else if cfg!(target_arch = "amdgpu") {
        b"amdgcn"
    } else {
        b"x86_64"
    };
    let texts: [&[u8]; 6] = [b"Linux", NAME, b"6.1.0-hostcall", b"hostcall", processor, b"(none)"];
    for (i, text) in texts.into_iter().enumerate() {
        // SAFETY: the caller's; no text is longer.
        unsafe { put(text, into.add(i * UNAME)) };
    }
    0
}

/// Limits of a process: none, as many descriptors as there are.
///
/// # Safety
/// `into` is valid for a write of two words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getrlimit(resource: i32, into: *mut [u64; 2]) -> i32 {
    const NOFILE: i32 = 7;
    let limit = if resource == NOFILE { 1 << 16 } else { u64::MAX };
    // SAFETY: the caller's.
    unsafe { into.write([limit; 2]) };
    0
}

/// Limits cannot be changed; what they are may be said again.
#[unsafe(no_mangle)]
pub extern "C" fn libc_setrlimit(_resource: i32, _limit: *const c_void) -> i32 {
    0
}
