//! The arguments of a launch: a copy of the values that the caller pointed to.

use std::ffi::c_void;
use std::ptr;

use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// The most bytes that all arguments of a launch may have. CUDA's limit is 32 764.
const MOST: usize = 64 << 10;

/// Copies of arguments, each at a multiple of 16.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    units: Vec<u128>,
    /// Offset in bytes, and size.
    list: Vec<(usize, usize)>,
}

impl Arguments {
    /// Copies arguments.
    ///
    /// # Safety
    /// Unless `count` is 0, `pointers` and `sizes` have `count` elements, and each pointer is null or to as many bytes as its size says.
    pub(super) unsafe fn copy(count: usize, pointers: *mut *mut c_void, sizes: *const usize) -> Result<Arguments, Error> {
        let mut arguments = Arguments::default();
        if count > MOST {
            let text = "NumArgs is {}; a launch has at most {} bytes of arguments";
            return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_SIZE, text, [count, MOST]));
        }
        for index in 0..count {
            // SAFETY: the caller says that there are as many elements.
            let (pointer, size) = unsafe { (pointers.add(index).read_unaligned(), sizes.add(index).read_unaligned()) };
            if pointer.is_null() && size > 0 {
                return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "ArgPtrs[{}] must not be NULL", [index]));
            }
            let at = arguments.units.len() * 16;
            if size > MOST - at.min(MOST) {
                let text = "ArgSizes[{}] is {}; a launch has at most {} bytes of arguments";
                return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_SIZE, text, [index, size, MOST]));
            }
            arguments.units.resize(arguments.units.len() + size.div_ceil(16).max(1), 0);
            if size > 0 {
                // SAFETY: the caller says that there are `size` bytes; as many are in `units` from `at` on.
                unsafe { ptr::copy_nonoverlapping(pointer.cast::<u8>(), arguments.units.as_mut_ptr().cast::<u8>().add(at), size) };
            }
            arguments.list.push((at, size));
        }
        Ok(arguments)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The values, in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &[u8]> {
        // SAFETY: `units` holds that many initialised bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.units.as_ptr().cast::<u8>(), self.units.len() * 16) };
        self.list.iter().map(move |&(at, size)| &bytes[at..at + size])
    }

    /// Where each value is, as long as `self` is not changed.
    pub(super) fn pointers(&mut self) -> Vec<*mut c_void> {
        let start = self.units.as_mut_ptr().cast::<u8>();
        // SAFETY: each offset lies in `units`.
        self.list.iter().map(|&(at, _)| unsafe { start.add(at) }.cast()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_copied_and_aligned() {
        let (mut a, mut b) = (7u8, [1u64, 2, 3]);
        let mut pointers = [ptr::from_mut(&mut a).cast(), ptr::from_mut(&mut b).cast(), ptr::null_mut()];
        // SAFETY: three elements; each size is that of what is pointed to.
        let mut arguments = unsafe { Arguments::copy(3, pointers.as_mut_ptr(), [1, 24, 0].as_ptr()) }.unwrap();
        (a, b) = (0, [0; 3]);
        assert_eq!((a, b[0]), (0, 0));
        let values: Vec<_> = arguments.values().map(<[u8]>::to_vec).collect();
        assert_eq!(values, [vec![7], [1u64, 2, 3].iter().flat_map(|n| n.to_ne_bytes()).collect(), vec![]]);
        assert!(arguments.pointers().iter().all(|pointer| pointer.addr() % 16 == 0));
    }

    #[test]
    fn sizes_that_cannot_be_are_refused_before_anything_is_read() {
        let mut byte = 0u8;
        let mut pointers = [ptr::from_mut(&mut byte).cast(); 2];
        for sizes in [[1, 1 << 63], [1, MOST], [usize::MAX, 1]] {
            // SAFETY: of the first one byte is read, or it is refused; the second is refused.
            let error = unsafe { Arguments::copy(2, pointers.as_mut_ptr(), sizes.as_ptr()) }.unwrap_err();
            assert_eq!(error.code, ol_errc_t::OL_ERRC_INVALID_SIZE, "{error}");
        }
        let mut null = [ptr::null_mut()];
        // SAFETY: one element, and a null pointer is not read.
        let error = unsafe { Arguments::copy(1, null.as_mut_ptr(), [4].as_ptr()) }.unwrap_err();
        assert_eq!(error.details(), "ArgPtrs[0] must not be NULL");
    }
}
