//! `sendmsg` and `recvmsg`: several places at once. There is no control data here: none is sent, and none comes.

use super::socket::{libc_recvfrom, libc_sendto};
use crate::abi::errno::{EINVAL, EMSGSIZE, EOPNOTSUPP};
use crate::abi::{iovec, msghdr};
use crate::arguments::most;
use crate::error::{Errno, returned};
use alloc::vec;
use alloc::vec::Vec;

/// The places of a message.
///
/// # Safety
/// The message's vectors are so many as it says.
unsafe fn places(message: &msghdr) -> Result<&[iovec], Errno> {
    let count = usize::try_from(message.msg_iovlen).map_err(|_| Errno(EMSGSIZE))?;
    if count == 0 {
        return Ok(&[]);
    }
    if message.msg_iov.is_null() {
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's.
    Ok(unsafe { core::slice::from_raw_parts(message.msg_iov, count) })
}

/// Sends what is in several places as one message: how many bytes. More than one call moves is cut off.
///
/// # Safety
/// `message` is valid, its vectors are so many as it says, and each is valid for reads of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sendmsg(fd: i32, message: *const msghdr, flags: i32) -> isize {
    // SAFETY: the caller's.
    let Some(message) = (unsafe { message.as_ref() }) else { return returned(Err(Errno(EINVAL))) };
    // SAFETY: the caller's.
    let places = match unsafe { places(message) } {
        Ok(places) => places,
        Err(error) => return returned(Err(error)),
    };
    if message.msg_controllen > 0 {
        return returned(Err(Errno(EOPNOTSUPP)));
    }
    let mut full = places.iter().filter(|place| place.iov_len > 0);
    let gathered: Vec<u8>;
    let (from, len) = match (full.next(), full.next()) {
        (None, _) => (core::ptr::dangling(), 0),
        (Some(only), None) => (only.iov_base.cast_const().cast::<u8>(), only.iov_len),
        _ => {
            let mut all = Vec::new();
            for place in places.iter().filter(|place| place.iov_len > 0) {
                let room = most() - all.len();
                // SAFETY: the caller's.
                all.extend_from_slice(unsafe { core::slice::from_raw_parts(place.iov_base.cast::<u8>(), place.iov_len.min(room)) });
            }
            gathered = all;
            (gathered.as_ptr(), gathered.len())
        }
    };
    // SAFETY: `len` bytes lie there; the address is the caller's.
    unsafe { libc_sendto(fd, from.cast(), len, flags, message.msg_name.cast(), message.msg_namelen) }
}

/// Receives one message into several places: how many bytes.
///
/// # Safety
/// `message` is valid for reads and writes, its vectors are so many as it says, and each is valid for writes of its
/// length; so is the place for the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_recvmsg(fd: i32, message: *mut msghdr, flags: i32) -> isize {
    // SAFETY: the caller's.
    let Some(message) = (unsafe { message.as_mut() }) else { return returned(Err(Errno(EINVAL))) };
    // SAFETY: the caller's.
    let wanted = match unsafe { places(message) } {
        Ok(places) => places.iter().fold(0usize, |sum, place| sum.saturating_add(place.iov_len)).min(most()),
        Err(error) => return returned(Err(error)),
    };
    let mut all = vec![0u8; wanted];
    let mut name_len = message.msg_namelen;
    // SAFETY: `all` has so many bytes; the name's place is the caller's.
    let received = unsafe { libc_recvfrom(fd, all.as_mut_ptr(), wanted, flags, message.msg_name.cast(), &mut name_len) };
    let Ok(len) = usize::try_from(received) else { return received };
    let mut rest = &all[..len.min(wanted)];
    // SAFETY: as above.
    for place in unsafe { places(message) }.unwrap_or_default() {
        let (now, later) = rest.split_at(rest.len().min(place.iov_len));
        if !now.is_empty() {
            // SAFETY: the caller's: there is room for them.
            unsafe { place.iov_base.cast::<u8>().copy_from_nonoverlapping(now.as_ptr(), now.len()) };
        }
        rest = later;
    }
    (message.msg_namelen, message.msg_controllen, message.msg_flags) = (if message.msg_name.is_null() { 0 } else { name_len }, 0, 0);
    received
}
