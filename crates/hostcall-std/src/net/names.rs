//! Names: the host resolves them.

use super::address::c_form;
use crate::abi::errno::{EAGAIN, ENOENT};
use crate::abi::{AF_INET, AF_INET6, AF_UNSPEC, EAI_AGAIN, EAI_FAMILY, EAI_NONAME, EAI_SYSTEM, addrinfo, sockaddr_in6, socklen_t};
use crate::error::{Errno, answered};
use crate::services::StdNet;
use crate::{arguments, lane};
use alloc::boxed::Box;
use alloc::vec;
use core::ffi::c_char;
use core::ptr::null_mut;

/// An entry of the list that `libc_getaddrinfo` makes.
#[repr(C)]
struct Entry {
    /// First, so that its address is the entry's.
    info: addrinfo,
    address: sockaddr_in6,
}

/// Addresses that the first call offers room for.
const FIRST: usize = 16;

fn resolve(name: &str) -> Result<vec::Vec<[u32; 5]>, Errno> {
    let mut room = FIRST;
    loop {
        let mut found = vec![[0u32; 5]; room];
        let count = answered(StdNet::resolve(name, &mut found))? as usize;
        if count <= room {
            found.truncate(count);
            return Ok(found);
        }
        room = count;
    }
}

/// The addresses of a name. The service is not looked at: `std` fills the port in itself.
///
/// # Safety
/// `node` is null or a C string; `hints` is null or valid; `result` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getaddrinfo(
    node: *const c_char,
    _service: *const c_char,
    hints: *const addrinfo,
    result: *mut *mut addrinfo,
) -> i32 {
    // SAFETY: the caller's.
    let name = unsafe { arguments::path(node) }.ok().and_then(|name| core::str::from_utf8(name).ok());
    let Some(name) = name else { return EAI_NONAME };
    // SAFETY: the caller's.
    let (family, kind) = unsafe { hints.as_ref() }.map_or((AF_UNSPEC, 0), |hints| (hints.ai_family, hints.ai_socktype));
    let wanted = match family {
        AF_UNSPEC => None,
        AF_INET => Some(4),
        AF_INET6 => Some(6),
        _ => return EAI_FAMILY,
    };
    let found = match resolve(name) {
        Ok(found) => found,
        Err(Errno(ENOENT)) => return EAI_NONAME,
        Err(Errno(EAGAIN)) => return EAI_AGAIN,
        Err(Errno(error)) => {
            lane::here().set_errno(error);
            return EAI_SYSTEM;
        }
    };
    let mut first: *mut addrinfo = null_mut();
    // From the last, each in front of those made before.
    for [version, a, b, c, d] in found.into_iter().rev().filter(|found| wanted.is_none_or(|wanted| found[0] == wanted)) {
        let (address, len) = c_form([version, 0, a, b, c, d, 0, 0]);
        let info = addrinfo {
            ai_flags: 0,
            ai_family: if version == 4 { AF_INET } else { AF_INET6 },
            ai_socktype: kind,
            ai_protocol: 0,
            ai_addrlen: len as socklen_t,
            ai_canonname: null_mut(),
            ai_addr: null_mut(),
            ai_next: first,
        };
        let entry = Box::into_raw(Box::new(Entry { info, address }));
        // SAFETY: just made; its address stays as long as it does.
        unsafe { (*entry).info.ai_addr = (&raw mut (*entry).address).cast() };
        first = entry.cast();
    }
    if first.is_null() {
        return EAI_NONAME;
    }
    // SAFETY: the caller's.
    unsafe { result.write(first) };
    0
}

/// Frees what [`libc_getaddrinfo`] made.
///
/// # Safety
/// `list` is null or came from there, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_freeaddrinfo(mut list: *mut addrinfo) {
    while !list.is_null() {
        // SAFETY: the caller's: every entry of the list is the first field of an `Entry` from a box.
        let entry = unsafe { Box::from_raw(list.cast::<Entry>()) };
        list = entry.info.ai_next;
    }
}

/// What an error of [`libc_getaddrinfo`] means.
#[unsafe(no_mangle)]
pub extern "C" fn libc_gai_strerror(error: i32) -> *const c_char {
    let text = match error {
        EAI_AGAIN => c"Temporary failure in name resolution",
        EAI_FAMILY => c"Address family for hostname not supported",
        EAI_SYSTEM => c"System error",
        EAI_NONAME => c"Name or service not known",
        _ => c"Unknown error",
    };
    text.as_ptr()
}
