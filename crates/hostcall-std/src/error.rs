//! Errors: numbers, as Linux has them.

use crate::lane;
use crate::services::StdSystem;
use hermit_abi::errno::{EAGAIN, EINVAL, EIO, EMSGSIZE, ENOSYS, ETIMEDOUT};
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

/// As the C functions return it: a number, or a negated error number, which the lane keeps.
pub(crate) fn returned<T: Returned>(result: Result<T, Errno>) -> T {
    result.unwrap_or_else(|error| {
        lane::here().set_errno(error.0);
        T::failed(error)
    })
}

/// What an error number means, in the host's words: copies as much as fits, and returns how much that is. Nothing, if the host does not say.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sys_error_text(errno: i32, into: *mut u8, len: usize) -> usize {
    if into.is_null() {
        return 0;
    }
    // SAFETY: the caller's; no more than one call moves.
    let into = unsafe { core::slice::from_raw_parts_mut(into, len.min(MOST_TEXT)) };
    StdSystem::error_text(errno.cast_unsigned(), into).map_or(0, |all| (all as usize).min(into.len()))
}

/// The longest text of an error.
const MOST_TEXT: usize = 128;

/// Types that C functions return.
pub(crate) trait Returned {
    fn failed(error: Errno) -> Self;
}

macro_rules! returned {
    ($($t:ty),+) => { $(
        impl Returned for $t {
            fn failed(error: Errno) -> Self {
                -error.0 as $t
            }
        }
    )+ };
}
returned!(i32, i64, isize);

#[cfg(test)]
mod tests {
    use super::*;
    use hermit_abi::errno::{EACCES, ENOENT};

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
