//! Checks of arguments, as entry points make them.

use std::fmt::Debug;
use std::sync::OnceLock;

use hostcall_error::{Forked, Origin};

use super::handle::HandleState;
use super::{Error, Print, Shown};
use crate::sys::ol_errc_t;

/// Whether arguments are checked: unless `OFFLOAD_DISABLE_VALIDATION` is set (to anything but nothing and `0`) when the
/// first call is made.
#[inline]
pub fn enabled() -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    *ENABLED.get_or_init(|| std::env::var_os("OFFLOAD_DISABLE_VALIDATION").is_none_or(|value| value.is_empty() || value == "0"))
}

/// Whether the library has been started.
///
/// # Errors
///
/// It has not.
#[inline]
pub fn initialized(is_initialized: bool, function: &str) -> Result<(), Error> {
    if is_initialized {
        return Ok(());
    }
    not_initialized(function)
}

#[cold]
fn not_initialized(function: &str) -> Result<(), Error> {
    own_process()?;
    Err(Error::new(ol_errc_t::OL_ERRC_UNINITIALIZED, format!("{function} was called before olInit, or after the last olShutDown")))
}

/// The process that started the library first. What it has opened stays open, and is no child's.
static STARTED: OnceLock<Origin> = OnceLock::new();

/// The library is started in this process.
pub fn started_here() {
    STARTED.get_or_init(Origin::here);
}

/// Refuses in a process that was forked from one that had started the library. It takes no lock: a thread of the parent
/// may have held it.
///
/// # Errors
///
/// This is such a process.
#[inline]
pub fn own_process() -> Result<(), Error> {
    let refused = |forked: Forked| Error::new(ol_errc_t::OL_ERRC_UNINITIALIZED, forked.to_string());
    STARTED.get().map_or(Ok(()), |origin| origin.check("library").map_err(refused))
}

/// Whether a condition that a function refuses does not hold.
///
/// # Errors
///
/// `code`, with the condition as text, if it holds.
#[inline]
pub fn refuse_if(holds: bool, code: ol_errc_t, condition: &'static str) -> Result<(), Error> {
    if holds { Err(Error::new(code, condition)) } else { Ok(()) }
}

/// Whether a number is that of an enumerator.
///
/// # Errors
///
/// It is none of `all`. (`number` is the number that `value` is.)
#[inline]
pub fn enumerator<E: PartialEq + Print>(value: &E, number: u32, all: &[E], argument: &str, enumeration: &str) -> Result<(), Error> {
    // Most enumerations count from 0, without gaps.
    if all.get(number as usize) == Some(value) || all.contains(value) {
        return Ok(());
    }
    no_enumerator(value, argument, enumeration)
}

#[cold]
fn no_enumerator<E: Print>(value: &E, argument: &str, enumeration: &str) -> Result<(), Error> {
    Err(Error::new(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{argument} is {}, which is no value of {enumeration}", Shown(value))))
}

/// Whether all bits of a number are bits that an enumeration names.
///
/// # Errors
///
/// There are others.
#[inline]
pub fn flags(value: u32, mask: u32, argument: &str, enumeration: &str) -> Result<(), Error> {
    if value & !mask == 0 {
        return Ok(());
    }
    let details = format!("{argument} is {value:#x}, of which {:#x} are no bits of {enumeration}", value & !mask);
    Err(Error::new(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, details))
}

/// Whether a handle is live and of the right kind.
///
/// # Errors
///
/// `code`, if it is not.
#[inline]
pub fn handle<K: Debug>(state: HandleState<K>, wanted: K, code: ol_errc_t, argument: &str) -> Result<(), Error> {
    let details = match state {
        HandleState::Live => return Ok(()),
        HandleState::OtherKind(kind) => format!("{argument} is a handle of kind {kind:?}, and one of kind {wanted:?} is needed"),
        HandleState::Unknown => {
            format!("{argument} is no handle of kind {wanted:?} that exists: it has been destroyed, or this library never made it")
        }
    };
    Err(Error::new(code, details))
}

/// Adds which element it is to an error about an element of an array.
pub fn element(result: Result<(), Error>, argument: &str, index: usize) -> Result<(), Error> {
    result.map_err(|error| Error::new(error.code, format!("{argument}[{index}]: {}", error.details())))
}

/// A number in a condition, where numbers are those of mathematics.
pub trait Number {
    /// It.
    fn number(self) -> i128;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn number(self) -> i128 {
                self as i128
            }
        }
    )*};
}
numbers!(bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize);

/// `left / right`, and 0 where `right` is 0.
pub fn quotient(left: i128, right: i128) -> i128 {
    left.checked_div(right).unwrap_or(0)
}

/// `left % right`, and `left` where `right` is 0, as nothing is taken away from it.
pub fn remainder(left: i128, right: i128) -> i128 {
    left.checked_rem(right).unwrap_or(left)
}

/// `left << right`, and 0 where that cannot be done.
pub fn shift_left(left: i128, right: i128) -> i128 {
    u32::try_from(right).ok().and_then(|right| left.checked_shl(right)).unwrap_or(0)
}

/// `left >> right`, and 0 where that cannot be done.
pub fn shift_right(left: i128, right: i128) -> i128 {
    u32::try_from(right).ok().and_then(|right| left.checked_shr(right)).unwrap_or(0)
}

/// How many elements an array has, and where they begin.
pub fn range(begin: i128, end: i128) -> std::ops::Range<usize> {
    let bound = |value: i128| usize::try_from(value.max(0)).unwrap_or(usize::MAX);
    bound(begin)..bound(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_by_zero_is_a_number_and_no_panic() {
        assert_eq!((quotient(7, 0), remainder(7, 0)), (0, 7));
        assert_eq!((quotient(7, 2), remainder(7, 2)), (3, 1));
        assert_eq!((shift_left(1, 200), shift_right(1, -1), shift_left(1, 4)), (0, 0, 16));
    }

    #[test]
    fn numbers_do_not_wrap_around() {
        let alignment = 0usize;
        assert_eq!(alignment.number() & (alignment.number() - 1), 0);
        assert!(usize::MAX.number() + 1 > usize::MAX.number());
    }

    #[test]
    fn flags_name_the_bits_that_have_no_name() {
        assert_eq!(flags(3, 3, "Flags", "ol_x_flag_t"), Ok(()));
        let error = flags(0x15, 0x5, "Flags", "ol_x_flag_t").unwrap_err();
        assert_eq!(error.details(), "Flags is 0x15, of which 0x10 are no bits of ol_x_flag_t");
    }
}
