//! Properties, and how they are written to a caller.

use std::ffi::{c_char, c_void};
use std::ptr;

use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Without its terminating zero, which is written after it.
    Text(&'a str),
    Bool(bool),
    U32(u32),
    U64(u64),
    Size(usize),
    Pointer(*mut c_void),
    Dimensions([u32; 3]),
    /// Handles, one after the other.
    #[cfg(llvm24)]
    Words(&'a [usize]),
}

impl Value<'_> {
    /// How many bytes it needs.
    #[inline]
    pub(super) fn size(&self) -> usize {
        match self {
            Value::Text(text) => text.len() + 1,
            Value::Bool(_) => size_of::<bool>(),
            Value::U32(_) => 4,
            Value::U64(_) => 8,
            Value::Size(_) => size_of::<usize>(),
            Value::Pointer(_) => size_of::<*mut c_void>(),
            Value::Dimensions(_) => 12,
            #[cfg(llvm24)]
            Value::Words(words) => size_of_val(*words),
        }
    }

    /// Writes it.
    ///
    /// # Safety
    /// There is room for `room` bytes at `to`.
    #[inline]
    pub(super) unsafe fn write(&self, room: usize, to: *mut c_void) -> Result<(), Error> {
        let size = self.size();
        if room < size {
            let text = "the property needs {} bytes, and PropSize is {}";
            return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_SIZE, text, [size, room]));
        }
        // SAFETY: there is room for `size` bytes; `to` need not be aligned.
        unsafe {
            match *self {
                Value::Text(text) => {
                    ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
                    to.cast::<c_char>().add(text.len()).write(0);
                }
                Value::Bool(value) => to.cast::<bool>().write(value),
                Value::U32(value) => to.cast::<u32>().write_unaligned(value),
                Value::U64(value) => to.cast::<u64>().write_unaligned(value),
                Value::Size(value) => to.cast::<usize>().write_unaligned(value),
                Value::Pointer(value) => to.cast::<*mut c_void>().write_unaligned(value),
                Value::Dimensions(value) => to.cast::<[u32; 3]>().write_unaligned(value),
                #[cfg(llvm24)]
                Value::Words(words) => ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), to.cast(), size),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_where_there_is_room_and_nowhere_else() {
        let mut room = [0xffu8; 16];
        // SAFETY: there is more room than is said.
        assert_eq!(unsafe { Value::Text("abc").write(3, room.as_mut_ptr().cast()) }.unwrap_err().code, ol_errc_t::OL_ERRC_INVALID_SIZE);
        assert_eq!(room, [0xff; 16]);
        // SAFETY: as above; not aligned.
        unsafe { Value::Text("abc").write(5, room.as_mut_ptr().add(1).cast()) }.unwrap();
        assert_eq!(&room[..6], b"\xffabc\0\xff");
        // SAFETY: 12 bytes from the third on.
        unsafe { Value::Dimensions([1, 2, 3]).write(12, room.as_mut_ptr().add(3).cast()) }.unwrap();
        assert_eq!((room[3], room[7], room[11], room[15]), (1, 2, 3, 0xff));
    }
}
