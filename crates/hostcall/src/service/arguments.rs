//! One lane's arguments, decoded one after another.
//!
//! Everything decided here is decided on a copy. The payload was copied out of shared memory before; staged strings and
//! slices are copied once, when they are decoded, into memory that lives as long as the call. The exception is
//! [`Arguments::raw_slice`], which gives services that only move bytes (files) the staged region itself.

use std::ptr::NonNull;

use bumpalo::Bump;
use hostcall_abi::codec::{self, DecodeError, Fixed, Plain, VarHead};

use super::definition::Shape;
use crate::wire::{StagedRegion, Staging};

/// A string or slice argument without a copy: see [`Arguments::raw_slice`].
#[derive(Clone, Copy, Debug)]
pub enum RawSlice<'a> {
    /// It came with the message, and was copied with it.
    Copied(&'a [u8]),
    /// It lies in the staging area.
    Staged(StagedRegion<'a>),
}

/// Where the bytes of a call's strings and slices are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Var<'a> {
    /// Copied with the message (or, of a staged post, before it was acknowledged).
    Copied(&'a [u8]),
    /// In the staging area: everything from the lane's offset to the end of its slot, and how many bytes of it the
    /// arguments are.
    Staged { rest: StagedRegion<'a>, bytes: usize },
}

impl<'a> Var<'a> {
    /// The variable part of a call without one.
    pub(crate) const NONE: Self = Self::Copied(&[]);

    /// The variable part of a post that was staged: its bytes have been copied.
    pub(crate) fn of_copy(units: &[u32], copy: &'a [u8]) -> Result<Self, DecodeError> {
        let &[offset, bytes] = units.first_chunk::<2>().ok_or(DecodeError::Short)?;
        if bytes as usize == copy.len() { Ok(Self::Copied(copy)) } else { Err(DecodeError::Region { offset, bytes }) }
    }

    /// Reads a lane's [`VarHead`] and checks it against the message and the staging area.
    pub(crate) fn of(units: &'a [u32], shape: Shape, staged: Option<Staging<'a>>) -> Result<Self, DecodeError> {
        if !shape.takes_var {
            // A region that nobody reads would be a client's mistake at best.
            return if staged.is_none() { Ok(Self::NONE) } else { Err(DecodeError::Value(VarHead::DWORDS as u32)) };
        }
        let (&[offset, bytes], rest) =
            (units.first_chunk::<2>().ok_or(DecodeError::Short)?, units.get(shape.units..).ok_or(DecodeError::Short)?);
        match staged {
            None if offset == VarHead::INLINE => Ok(Self::Copied(codec::bytes(rest).get(..bytes as usize).ok_or(DecodeError::Short)?)),
            None => Err(DecodeError::Region { offset, bytes }),
            Some(area) => {
                let outside = DecodeError::Region { offset, bytes };
                let rest = area.region(offset).ok_or(outside)?;
                if bytes as usize > rest.len() {
                    return Err(outside);
                }
                Ok(Self::Staged { rest, bytes: bytes as usize })
            }
        }
    }
}

/// One lane's arguments. Each is decoded exactly once, in order; what they borrow lives as long as the call.
#[derive(Debug)]
pub struct Arguments<'a> {
    units: &'a [u32],
    at: usize,
    fixed_end: usize,
    pub(super) var: Var<'a>,
    /// Bytes of the variable arguments consumed.
    var_at: usize,
    pub(super) arena: &'a Bump,
}

impl<'a> Arguments<'a> {
    /// A lane's payload.
    #[inline(always)]
    pub(crate) fn new(units: &'a [u32], shape: Shape, var: Var<'a>, arena: &'a Bump) -> Self {
        let at = if shape.takes_var { VarHead::DWORDS } else { 0 };
        Self { units, at, fixed_end: shape.units, var, var_at: 0, arena }
    }

    /// The lane's payload as it came, for default handlers, which know no shape: the arguments, and zeros up to the end
    /// of the last word.
    pub fn payload(&self) -> &'a [u32] {
        self.units
    }

    /// The next argument, of a fixed-size type.
    ///
    /// # Errors
    /// When the payload is shorter or holds no value of the type.
    #[inline]
    pub fn fixed<T: Fixed>(&mut self) -> Result<T, DecodeError> {
        let end = self.at + T::DWORDS;
        if end > self.fixed_end {
            return Err(DecodeError::Short);
        }
        let value = T::get(self.units.get(self.at..end).ok_or(DecodeError::Short)?)?;
        self.at = end;
        Ok(value)
    }

    /// The next argument, a string.
    ///
    /// # Errors
    /// When it is not there whole, or not UTF-8.
    pub fn str(&mut self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.slice::<u8>()?).map_err(|_| DecodeError::Utf8)
    }

    /// The next argument, a slice, aligned for its type.
    ///
    /// # Errors
    /// When it is not there whole, or no whole number of elements.
    pub fn slice<T: Plain>(&mut self) -> Result<&'a [T], DecodeError> {
        let raw = self.raw_slice()?;
        let bytes = match raw {
            RawSlice::Copied(bytes) => bytes.len(),
            RawSlice::Staged(region) => region.len(),
        };
        let count = count_of::<T>(bytes)?;
        if count == 0 {
            return Ok(&[]);
        }
        let start = match raw {
            RawSlice::Copied(bytes) if bytes.as_ptr().cast::<T>().is_aligned() => bytes.as_ptr().cast::<T>(),
            raw => {
                let from = match raw {
                    RawSlice::Copied(bytes) => bytes.as_ptr(),
                    RawSlice::Staged(region) => region.as_ptr(),
                };
                let to = scratch_for::<T>(self.arena, count);
                // SAFETY: both are valid for `bytes` bytes, which are `count` elements; `to` is fresh. What is staged
                // is read once.
                unsafe { std::ptr::copy_nonoverlapping(from, to.as_ptr().cast::<u8>(), bytes) };
                to.as_ptr()
            }
        };
        // SAFETY: `start` is aligned for `T` and valid for `count` initialised elements during `'a` (the message's copy
        // and the arena both live that long); every bit pattern is a `T: Plain`; nobody writes there any more.
        Ok(unsafe { std::slice::from_raw_parts(start, count) })
    }

    /// The next argument, a string or slice, as bytes where they are: a staged one is *not* copied, and the device may
    /// change it at any time. For services that only move bytes.
    ///
    /// # Errors
    /// When it is not there whole.
    #[doc(hidden)]
    pub fn raw_slice(&mut self) -> Result<RawSlice<'a>, DecodeError> {
        let len = self.fixed::<u32>()?;
        let start = self.var_at;
        let end = start.checked_add(len as usize).ok_or(DecodeError::Short)?;
        let raw = match self.var {
            Var::Copied(bytes) => RawSlice::Copied(bytes.get(start..end).ok_or(DecodeError::Short)?),
            Var::Staged { rest, bytes } => {
                if end > bytes {
                    return Err(DecodeError::Short);
                }
                RawSlice::Staged(rest.part(start, len as usize).ok_or(DecodeError::Short)?)
            }
        };
        // `end` is at most a length in memory, so rounding up cannot overflow.
        self.var_at = end.next_multiple_of(4);
        Ok(raw)
    }

    /// The whole staged region of this call, from its start to the end of what the arguments take; `None` if they came
    /// with the message.
    #[doc(hidden)]
    pub fn staged_region(&self) -> Option<StagedRegion<'a>> {
        match self.var {
            Var::Copied(_) => None,
            Var::Staged { rest, bytes } => rest.part(0, bytes),
        }
    }
}

/// Fresh memory, not yet initialised.
pub(super) fn scratch_for<T: Plain>(arena: &Bump, count: usize) -> NonNull<T> {
    // `count * size_of::<T>()` is the length of bytes that exist (or fit a region that does), so the layout is valid.
    let layout = std::alloc::Layout::array::<T>(count).expect("no longer than the staging area");
    arena.alloc_layout(layout).cast()
}

/// How many elements so many bytes are.
pub(super) fn count_of<T>(bytes: usize) -> Result<usize, DecodeError> {
    let element = size_of::<T>();
    if bytes == 0 {
        return Ok(0);
    }
    if element == 0 || !bytes.is_multiple_of(element) {
        return Err(DecodeError::Length { bytes: bytes as u32, element: element as u32 });
    }
    Ok(bytes / element)
}
