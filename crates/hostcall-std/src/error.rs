//! Errors: numbers, as Linux has them.

use crate::abi::errno::{EAGAIN, EINVAL, EIO, EMSGSIZE, ENOSYS, ERANGE, ETIMEDOUT};
use crate::services::StdSystem;
use crate::{lane, memory};
use core::ffi::c_char;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use hostcall_device::CallError;

/// An error number, positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl From<CallError> for Errno {
    fn from(error: CallError) -> Self {
        Self(match error {
            CallError::UnknownService => ENOSYS,
            CallError::Refused { code } | CallError::HandlerFailed { code } if code != 0 => from_wire(code),
            CallError::TooLarge { .. } => EMSGSIZE,
            CallError::Malformed => EINVAL,
            CallError::Busy => EAGAIN,
            CallError::Timeout => ETIMEDOUT,
            _ => EIO,
        })
    }
}

/// A number that the host sent, which need not be one.
fn from_wire(code: u32) -> i32 {
    i32::try_from(code).ok().filter(|code| (1..4096).contains(code)).unwrap_or(EIO)
}

/// What a call to the host came to.
pub(crate) fn answered<T>(answer: Result<Result<T, u32>, CallError>) -> Result<T, Errno> {
    answer?.map_err(|code| Errno(from_wire(code)))
}

/// As C's functions return it: a number, or −1 and an error number that the lane keeps.
pub(crate) fn returned<T: Returned>(result: Result<T, Errno>) -> T {
    result.unwrap_or_else(|error| {
        lane::here().set_errno(error.0);
        T::FAILED
    })
}

/// As functions return it that say what went wrong themselves: 0, or an error number.
pub(crate) fn number(result: Result<(), Errno>) -> i32 {
    result.err().map_or(0, |error| error.0)
}

/// Where the lane keeps its last error number.
#[unsafe(no_mangle)]
pub extern "C" fn libc___errno_location() -> *mut i32 {
    lane::here().errno()
}

/// What an error number means, in the host's words, as a C string that is cut where there is no room.
///
/// # Safety
/// `into` is null or valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_strerror_r(errno: i32, into: *mut c_char, len: usize) -> i32 {
    if into.is_null() || len == 0 {
        return ERANGE;
    }
    // SAFETY: the caller's; no more than one call moves, and a byte is left for the end.
    let into = unsafe { core::slice::from_raw_parts_mut(into.cast::<u8>(), len.min(MOST_TEXT)) };
    let Some((last, text)) = into.split_last_mut() else { return ERANGE };
    *last = 0;
    let all = StdSystem::error_text(errno.cast_unsigned(), text).map_or(0, |all| all as usize);
    if let Some(end) = text.get_mut(all) {
        *end = 0;
    }
    if all > text.len() { ERANGE } else { 0 }
}

/// As [`libc_strerror_r`], which it is in musl.
///
/// # Safety
/// As [`libc_strerror_r`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc___xpg_strerror_r(errno: i32, into: *mut c_char, len: usize) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_strerror_r(errno, into, len) }
}

/// What an error number means, as a C string that stays, as musl's: it is made once for each number.
#[unsafe(no_mangle)]
pub extern "C" fn libc_strerror(errno: i32) -> *const c_char {
    /// One for each number that Linux has.
    static TEXTS: [AtomicPtr<c_char>; 134] = [const { AtomicPtr::new(null_mut()) }; 134];
    let Some(known) = usize::try_from(errno).ok().and_then(|errno| TEXTS.get(errno)) else { return c"Unknown error".as_ptr() };
    // Acquire pairs with the release below: the text is seen.
    let text = known.load(Ordering::Acquire);
    if !text.is_null() {
        return text;
    }
    let new: *mut c_char = memory::libc_calloc(MOST_TEXT, 1).cast();
    if new.is_null() {
        return c"".as_ptr();
    }
    // SAFETY: it has so many bytes.
    unsafe { libc_strerror_r(errno, new, MOST_TEXT) };
    match known.compare_exchange(null_mut(), new, Ordering::Release, Ordering::Acquire) {
        Ok(_) => new,
        Err(other) => {
            // SAFETY: nobody else has seen it.
            unsafe { memory::libc_free(new.cast()) };
            other
        }
    }
}

/// The longest text of an error.
const MOST_TEXT: usize = 128;

/// Types that C functions return.
pub(crate) trait Returned {
    /// −1.
    const FAILED: Self;
}

macro_rules! returned {
    ($($t:ty),+) => { $(
        impl Returned for $t {
            const FAILED: Self = -1;
        }
    )+ };
}
returned!(i32, i64, isize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::errno::{EACCES, ENOENT};

    #[test]
    fn every_way_a_call_can_end_has_a_number() {
        assert_eq!(answered(Ok(Ok(7))), Ok(7));
        assert_eq!(answered::<()>(Ok(Err(ENOENT as u32))), Err(Errno(ENOENT)));
        assert_eq!(answered::<()>(Err(CallError::Refused { code: EACCES as u32 })), Err(Errno(EACCES)));
        assert_eq!(answered::<()>(Err(CallError::UnknownService)), Err(Errno(ENOSYS)));
        assert_eq!(answered::<()>(Err(CallError::ServerGone)), Err(Errno(EIO)));
    }

    #[test]
    fn a_number_that_is_no_error_number_is_an_input_or_output_error() {
        for hostile in [0, 4096, u32::MAX, 1 << 31] {
            assert_eq!(answered::<()>(Ok(Err(hostile))), Err(Errno(EIO)));
        }
    }
}
