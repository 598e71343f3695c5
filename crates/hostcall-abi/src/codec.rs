//! How typed arguments and results become a lane's payload, in 32-bit units.
//!
//! | part of a request's payload | units |
//! |---|---|
//! | if the service takes strings or slices: [`VarHead`] | 2 |
//! | each argument in order: a [`Fixed`] value, or for a string or slice its length in bytes | `Fixed::DWORDS`, or 1 |
//! | without [`STAGED`](crate::Flags::STAGED): the bytes of the `&str` and `&[T]` arguments, in order, each padded to 4 | |
//!
//! | part of a reply's payload | units |
//! |---|---|
//! | the result | `Fixed::DWORDS` |
//! | for each `&mut [T]` argument: how many bytes of it are returned | 1 |
//! | without `STAGED`: those bytes, in order, each padded to 4 | |
//!
//! With `STAGED` the bytes lie in the lane's region of a staging slot instead: the arguments' from its
//! start, and the returned ones, after the server has copied the arguments, from its start again.

use core::fmt;

use crate::header::Header;

/// Types that are their bytes: every bit pattern of the right size is a value, there is no padding, and
/// nothing in them means an address on one side only.
///
/// # Safety
/// The type has no padding, no invalid bit pattern, no pointer, no reference and no interior mutability.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot cross from a kernel to its host as plain bytes",
    label = "not a plain type",
    note = "plain are: integers, floats, arrays of plain types, and `#[repr(C)]` structs of plain types without padding under `#[derive(hostcall::Plain)]`",
    note = "host pointers and references mean nothing on the other side: pass `&str`, `&[T]` or `&mut [T]` as an argument, or a handle number"
)]
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty),*) => { $(
        // SAFETY: a primitive number: no padding, every bit pattern is a value.
        unsafe impl Plain for $t {}
    )* };
}
plain!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);

// SAFETY: an array has no padding between elements, and each element is plain.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The bytes of a slice of plain values.
#[inline(always)]
pub const fn bytes<T: Plain>(slice: &[T]) -> &[u8] {
    // SAFETY: `T: Plain` has no padding, so every byte is initialised; length and lifetime are the slice's.
    unsafe { core::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// The bytes of a slice of plain values, to be overwritten.
#[inline(always)]
pub const fn bytes_mut<T: Plain>(slice: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes`; and whatever bytes are written, they are values of `T: Plain`.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

/// Why payload is not a value of the type expected.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The payload ended early.
    Short,
    /// A `bool`, `char`, `Option` or `Result` with an impossible value.
    Value(u32),
    /// A string that is not UTF-8.
    Utf8,
    /// A slice whose byte length is no multiple of its element's size.
    Length {
        /// Length in bytes.
        bytes: u32,
        /// Size of an element.
        element: u32,
    },
    /// A staged region outside the staging area.
    Region {
        /// Offset in units of 16 bytes.
        offset: u32,
        /// Length in bytes.
        bytes: u32,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Short => f.write_str("the payload is shorter than its type"),
            Self::Value(v) => write!(f, "{v} is no value of the type"),
            Self::Utf8 => f.write_str("a string argument is not UTF-8"),
            Self::Length { bytes, element } => write!(f, "{bytes} bytes are no whole number of elements of {element} bytes"),
            Self::Region { offset, bytes } => write!(f, "a region of {bytes} bytes at unit {offset} lies outside the staging area"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// The same text as [`fmt::Display`]'s.
impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Values of a fixed number of 32-bit units.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument or result of a hostcall service",
    label = "not a wire type",
    note = "wire types are: plain types (see `Plain`), `bool`, `char`, `()`, and tuples, `Option`s and `Result`s of wire types",
    note = "`&str`, `&[T]` and `&mut [T]` of plain `T` may be arguments, not results or parts of other types"
)]
pub trait Fixed: Sized {
    /// Units that a value takes.
    const DWORDS: usize;

    /// Writes the value to the first [`Fixed::DWORDS`] units of `out`.
    ///
    /// # Panics
    /// When `out` is shorter.
    fn put(&self, out: &mut [u32]);

    /// Reads a value from the first [`Fixed::DWORDS`] units of `from`.
    ///
    /// # Errors
    /// When `from` is shorter or the units are no value of the type.
    fn get(from: &[u32]) -> Result<Self, DecodeError>;
}

impl<T: Plain> Fixed for T {
    const DWORDS: usize = size_of::<T>().div_ceil(4);

    #[inline(always)]
    fn put(&self, out: &mut [u32]) {
        let out = &mut out[..Self::DWORDS];
        if let Some(last) = out.last_mut() {
            *last = 0;
        }
        // SAFETY: `out` has `size_of::<T>()` bytes rounded up to units; `T: Plain` has no padding, so all
        // its bytes are initialised.
        unsafe { core::ptr::copy_nonoverlapping(core::ptr::from_ref(self).cast::<u8>(), out.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    }

    #[inline(always)]
    fn get(from: &[u32]) -> Result<Self, DecodeError> {
        let from = from.get(..Self::DWORDS).ok_or(DecodeError::Short)?;
        let mut value = core::mem::MaybeUninit::<T>::uninit();
        // SAFETY: `from` has at least `size_of::<T>()` bytes; any bit pattern is a `T: Plain`.
        unsafe {
            core::ptr::copy_nonoverlapping(from.as_ptr().cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size_of::<T>());
            Ok(value.assume_init())
        }
    }
}

#[inline(always)]
fn unit(from: &[u32]) -> Result<u32, DecodeError> {
    from.first().copied().ok_or(DecodeError::Short)
}

impl Fixed for () {
    const DWORDS: usize = 0;
    #[inline(always)]
    fn put(&self, _: &mut [u32]) {}
    #[inline(always)]
    fn get(_: &[u32]) -> Result<Self, DecodeError> {
        Ok(())
    }
}

impl Fixed for bool {
    const DWORDS: usize = 1;
    #[inline(always)]
    fn put(&self, out: &mut [u32]) {
        out[0] = u32::from(*self);
    }
    #[inline(always)]
    fn get(from: &[u32]) -> Result<Self, DecodeError> {
        match unit(from)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(DecodeError::Value(other)),
        }
    }
}

impl Fixed for char {
    const DWORDS: usize = 1;
    #[inline(always)]
    fn put(&self, out: &mut [u32]) {
        out[0] = *self as u32;
    }
    #[inline(always)]
    fn get(from: &[u32]) -> Result<Self, DecodeError> {
        let value = unit(from)?;
        char::from_u32(value).ok_or(DecodeError::Value(value))
    }
}

impl<T: Fixed> Fixed for Option<T> {
    const DWORDS: usize = 1 + T::DWORDS;
    #[inline(always)]
    fn put(&self, out: &mut [u32]) {
        let out = &mut out[..Self::DWORDS];
        out.fill(0);
        if let Some(value) = self {
            out[0] = 1;
            value.put(&mut out[1..]);
        }
    }
    #[inline(always)]
    fn get(from: &[u32]) -> Result<Self, DecodeError> {
        let from = from.get(..Self::DWORDS).ok_or(DecodeError::Short)?;
        match from[0] {
            0 => Ok(None),
            1 => T::get(&from[1..]).map(Some),
            other => Err(DecodeError::Value(other)),
        }
    }
}

impl<T: Fixed, E: Fixed> Fixed for Result<T, E> {
    const DWORDS: usize = 1 + if T::DWORDS > E::DWORDS { T::DWORDS } else { E::DWORDS };
    #[inline(always)]
    fn put(&self, out: &mut [u32]) {
        let out = &mut out[..Self::DWORDS];
        out.fill(0);
        match self {
            Ok(value) => value.put(&mut out[1..]),
            Err(error) => {
                out[0] = 1;
                error.put(&mut out[1..]);
            }
        }
    }
    #[inline(always)]
    fn get(from: &[u32]) -> Result<Self, DecodeError> {
        let from = from.get(..Self::DWORDS).ok_or(DecodeError::Short)?;
        match from[0] {
            0 => T::get(&from[1..]).map(Ok),
            1 => E::get(&from[1..]).map(Err),
            other => Err(DecodeError::Value(other)),
        }
    }
}

macro_rules! tuples {
    ($($($t:ident)+;)+) => { $(
        impl<$($t: Fixed),+> Fixed for ($($t,)+) {
            const DWORDS: usize = 0 $(+ $t::DWORDS)+;
            #[inline(always)]
            #[allow(non_snake_case, unused_assignments, reason = "one name per type parameter; the last advance of the position is not read")]
            fn put(&self, out: &mut [u32]) {
                let ($($t,)+) = self;
                let mut at = 0;
                $( $t.put(&mut out[at..]); at += <$t as Fixed>::DWORDS; )+
            }
            #[inline(always)]
            #[allow(unused_assignments, reason = "the last advance of the position is not read")]
            fn get(from: &[u32]) -> Result<Self, DecodeError> {
                let from = from.get(..Self::DWORDS).ok_or(DecodeError::Short)?;
                let mut at = 0;
                Ok(($({ let value = <$t as Fixed>::get(&from[at..])?; at += <$t as Fixed>::DWORDS; value },)+))
            }
        }
    )+ };
}
tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

/// Head of the payload of a call that takes strings or slices: where its bytes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VarHead {
    /// Start of the lane's staged region in units of 16 bytes from the staging area's start;
    /// [`VarHead::INLINE`] if the bytes follow in the payload.
    pub offset: u32,
    /// Bytes of all `&str` and `&[T]` arguments together, each padded to 4.
    pub bytes: u32,
}

impl VarHead {
    /// The bytes follow the fixed part.
    pub const INLINE: u32 = u32::MAX;
    /// Units that it takes.
    pub const DWORDS: usize = 2;
    /// The most units of the result of a call that takes strings or slices: 256 bytes.
    pub const MOST_RESULT: usize = 64;
}

/// Ends a compilation whose service can never be called: no message carries its arguments, or its result. `units` are
/// those of all arguments, one for each string or slice and [`VarHead::DWORDS`] more if there are any (`takes_var`).
///
/// # Panics
/// Then.
#[track_caller]
pub const fn check_sizes(units: usize, takes_var: bool, result: usize) {
    assert!(
        units <= Header::MOST_UNITS,
        "the arguments of this function need more than the 3576 bytes that a message carries: pass what is large as a slice (`&[u8]`), which may be longer"
    );
    assert!(
        takes_var || result <= Header::MOST_UNITS,
        "the result of this function needs more than the 3576 bytes that a message carries: let the host fill a slice (`out: &mut [u8]`), which may be longer"
    );
    assert!(
        !takes_var || result <= VarHead::MOST_RESULT,
        "the result of a function that takes strings or slices is at most 256 bytes: let the host fill a slice (`out: &mut [u8]`), which may be longer"
    );
}

const _: () = assert!(Header::MOST_UNITS * 4 == 3576 && VarHead::MOST_RESULT * 4 == 256, "as `check_sizes` says");

/// Bytes that `len` bytes take among the variable parts.
#[inline(always)]
pub const fn padded(len: u32) -> u32 {
    (len + 3) & !3
}

/// Hash of a service's definition (FNV-1a), by which a program and a server that were built from
/// different definitions find out. `units` are the `DWORDS` of its arguments and result.
pub const fn signature(text: &str, units: &[usize]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(PRIME);
        i += 1;
    }
    let mut i = 0;
    while i < units.len() {
        hash = (hash ^ units[i] as u64).wrapping_mul(PRIME);
        i += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: Fixed + PartialEq + fmt::Debug>(value: T) {
        let mut units = vec![0xdead_beef; T::DWORDS];
        value.put(&mut units);
        assert_eq!(T::get(&units), Ok(value));
        if T::DWORDS > 0 {
            assert!(T::get(&units[1..]).is_err());
        }
    }

    #[test]
    fn values_of_every_wire_type_come_back() {
        round(());
        round((1u8, -2i64, 3.5f32, true, 'ß'));
        round([7u8; 5]);
        round(Some((1u16, Some(2u128))));
        round(None::<u64>);
        round(Ok::<u64, u8>(9));
        round(Err::<u64, (u8, bool)>((4, true)));
    }

    #[test]
    fn impossible_values_are_refused() {
        assert_eq!(bool::get(&[2]), Err(DecodeError::Value(2)));
        assert_eq!(char::get(&[0xd800]), Err(DecodeError::Value(0xd800)));
        assert_eq!(Option::<u8>::get(&[7, 0]), Err(DecodeError::Value(7)));
        assert_eq!(Result::<u8, u8>::get(&[2, 0]), Err(DecodeError::Value(2)));
    }
}
