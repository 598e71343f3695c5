//! Addresses: as C has them, and as they travel.

use crate::abi::errno::{EAFNOSUPPORT, EINVAL};
use crate::abi::{AF_INET, AF_INET6, AF_UNIX, in_addr, in6_addr, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};
use crate::error::Errno;
use core::mem::size_of;

/// An address as it travels: 4 or 6, port, the address in four units whose bytes are in the order of the network, flow
/// label, scope.
pub(crate) type Address = [u32; 8];

/// # Safety
/// `from` is null or an address of `len` bytes.
pub(crate) unsafe fn read(from: *const sockaddr, len: socklen_t) -> Result<Address, Errno> {
    if from.is_null() || (len as usize) < size_of::<sockaddr>().min(size_of::<sockaddr_in>()) {
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's: at least the family is there.
    match i32::from(unsafe { (*from).sa_family }) {
        AF_INET => {
            // SAFETY: the caller's: as long as a `sockaddr_in`.
            let v4 = unsafe { from.cast::<sockaddr_in>().read_unaligned() };
            Ok([4, u32::from(u16::from_be(v4.sin_port)), v4.sin_addr.s_addr, 0, 0, 0, 0, 0])
        }
        AF_INET6 if len as usize >= size_of::<sockaddr_in6>() => {
            // SAFETY: the caller's: as long as a `sockaddr_in6`.
            let v6 = unsafe { from.cast::<sockaddr_in6>().read_unaligned() };
            let [a, b, c, d] = units(v6.sin6_addr.s6_addr);
            Ok([6, u32::from(u16::from_be(v6.sin6_port)), a, b, c, d, v6.sin6_flowinfo, v6.sin6_scope_id])
        }
        AF_INET6 => Err(Errno(EINVAL)),
        _ => Err(Errno(EAFNOSUPPORT)),
    }
}

/// The bytes of an address of version 6 as they travel.
pub(crate) fn units(bytes: [u8; 16]) -> [u32; 4] {
    core::array::from_fn(|i| u32::from_ne_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
}

fn bytes(units: [u32; 4]) -> [u8; 16] {
    core::array::from_fn(|i| units[i / 4].to_ne_bytes()[i % 4])
}

/// An address as C has it, and its length.
pub(crate) fn c_form(address: Address) -> (sockaddr_in6, usize) {
    let [family, port, a, b, c, d, flow, scope] = address;
    let mut v6 = sockaddr_in6 {
        sin6_family: AF_INET6 as u16,
        sin6_port: (port as u16).to_be(),
        sin6_flowinfo: flow,
        sin6_addr: in6_addr { s6_addr: bytes([a, b, c, d]) },
        sin6_scope_id: scope,
    };
    if family == 4 {
        let v4 =
            sockaddr_in { sin_family: AF_INET as u16, sin_port: (port as u16).to_be(), sin_addr: in_addr { s_addr: a }, sin_zero: [0; 8] };
        // SAFETY: a `sockaddr_in` is smaller than a `sockaddr_in6`, and both may hold any bytes.
        unsafe { (&raw mut v6).cast::<sockaddr_in>().write_unaligned(v4) };
        return (v6, size_of::<sockaddr_in>());
    }
    (v6, size_of::<sockaddr_in6>())
}

/// Writes an address, as much of it as fits, and its length. Nothing without an address.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
pub(crate) unsafe fn write(address: Address, into: *mut sockaddr, len: *mut socklen_t) {
    // SAFETY: the caller's.
    let Some(len) = (unsafe { len.as_mut() }) else { return };
    if into.is_null() {
        return;
    }
    if address[0] == 0 {
        *len = 0;
        return;
    }
    let (form, size) = c_form(address);
    let copied = size.min(*len as usize);
    // SAFETY: `into` has `*len` bytes, and `form` at least `size`.
    unsafe { core::ptr::copy_nonoverlapping((&raw const form).cast::<u8>(), into.cast(), copied) };
    *len = size as socklen_t;
}

/// Writes the address of one of a pair: it has a family and no name.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
pub(crate) unsafe fn write_unnamed(into: *mut sockaddr, len: *mut socklen_t) -> i32 {
    // SAFETY: the caller's.
    if let Some(len) = unsafe { len.as_mut() }
        && !into.is_null()
    {
        let family = (AF_UNIX as u16).to_ne_bytes();
        let copied = family.len().min(*len as usize);
        // SAFETY: the caller's: `into` has `*len` bytes.
        unsafe { core::ptr::copy_nonoverlapping(family.as_ptr(), into.cast(), copied) };
        *len = family.len() as socklen_t;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(address: Address) -> Address {
        let (form, size) = c_form(address);
        // SAFETY: `form` is an address of `size` bytes.
        unsafe { read((&raw const form).cast(), size as socklen_t) }.unwrap()
    }

    #[test]
    fn addresses_come_back_as_they_were() {
        let v4 = [4, 8080, u32::from_ne_bytes([127, 0, 0, 1]), 0, 0, 0, 0, 0];
        assert_eq!(round(v4), v4);
        let v6 = [6, 65535, 1, 2, 3, 4, 5, 6];
        assert_eq!(round(v6), v6);
    }

    #[test]
    fn an_address_that_is_too_short_or_of_no_family_is_refused() {
        let (form, _) = c_form([6, 1, 0, 0, 0, 1, 0, 0]);
        // SAFETY: fewer bytes than `form` has.
        assert_eq!(unsafe { read((&raw const form).cast(), 16) }, Err(Errno(EINVAL)));
        // SAFETY: as above.
        assert_eq!(unsafe { read((&raw const form).cast(), 4) }, Err(Errno(EINVAL)));
        // SAFETY: null is refused.
        assert_eq!(unsafe { read(core::ptr::null(), 28) }, Err(Errno(EINVAL)));
        let (mut form, size) = c_form([4, 1, 1, 0, 0, 0, 0, 0]);
        form.sin6_family = 99;
        // SAFETY: `form` is an address of `size` bytes.
        assert_eq!(unsafe { read((&raw const form).cast(), size as socklen_t) }, Err(Errno(EAFNOSUPPORT)));
    }

    #[test]
    fn an_address_is_cut_where_there_is_no_room() {
        let mut into = [0xffu8; 28];
        let mut len = 4;
        // SAFETY: `into` has more than `len` bytes.
        unsafe { write([4, 0x1234, 0x01010101, 0, 0, 0, 0, 0], into.as_mut_ptr().cast(), &mut len) };
        assert_eq!((len as usize, into[2], into[3], into[4]), (size_of::<sockaddr_in>(), 0x12, 0x34, 0xff));
    }
}
