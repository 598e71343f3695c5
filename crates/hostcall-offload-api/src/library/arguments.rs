//! The arguments of a launch: a copy of the values that the caller pointed to.

use std::ffi::c_void;
use std::ptr;

use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// The most bytes that all arguments of a launch may have. CUDA's limit is 32 764.
const MOST: usize = 64 << 10;

/// The arguments of a launch where the caller has them: not copied, and checked ([`Given::new`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    count: usize,
    pointers: *mut *mut c_void,
    sizes: *const usize,
}

impl Given {
    /// No arguments.
    pub(super) const NONE: Given = Given { count: 0, pointers: ptr::null_mut(), sizes: ptr::null() };

    /// Arguments, if they can be: not too many or too large, and none of them null.
    ///
    /// # Safety
    /// Unless `count` is 0, `pointers` and `sizes` have `count` elements, and each pointer is null or to as many bytes
    /// as its size says, for as long as the result is used.
    #[inline]
    pub(super) unsafe fn new(count: usize, pointers: *mut *mut c_void, sizes: *const usize) -> Result<Given, Error> {
        if count > MOST {
            let text = "NumArgs is {}; a launch has at most {} bytes of arguments";
            return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_SIZE, text, [count, MOST]));
        }
        let given = Given { count, pointers, sizes };
        let mut at = 0;
        for index in 0..count {
            let (pointer, size) = given.element(index);
            if pointer.is_null() && size > 0 {
                return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "ArgPtrs[{}] must not be NULL", [index]));
            }
            if size > MOST - MOST.min(at) {
                let text = "ArgSizes[{}] is {}; a launch has at most {} bytes of arguments";
                return Err(Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_SIZE, text, [index, size, MOST]));
            }
            at += units(size) * 16;
        }
        Ok(given)
    }

    fn element(&self, index: usize) -> (*mut c_void, usize) {
        debug_assert!(index < self.count);
        // SAFETY: `new`'s caller says that there are as many elements.
        unsafe { (self.pointers.add(index).read_unaligned(), self.sizes.add(index).read_unaligned()) }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The size of each argument, in order.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        (0..self.count).map(|index| self.element(index).1)
    }

    /// Where the caller has each argument.
    pub(super) fn pointers(&self) -> *mut *mut c_void {
        self.pointers
    }

    /// A copy, for a launch that has its turn later.
    pub(super) fn copy(&self) -> Arguments {
        let mut arguments = Arguments::default();
        for index in 0..self.count {
            let (pointer, size) = self.element(index);
            let at = arguments.units.len() * 16;
            arguments.units.resize(arguments.units.len() + units(size), 0);
            if size > 0 {
                // SAFETY: `new`'s caller says that there are `size` bytes; as many are in `units` from `at` on.
                unsafe { ptr::copy_nonoverlapping(pointer.cast::<u8>(), arguments.units.as_mut_ptr().cast::<u8>().add(at), size) };
            }
            arguments.list.push((at, size));
        }
        arguments
    }
}

/// How many units of 16 bytes an argument takes.
fn units(size: usize) -> usize {
    size.div_ceil(16).max(1)
}

/// Copies of arguments, each at a multiple of 16.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    units: Vec<u128>,
    /// Offset in bytes, and size.
    list: Vec<(usize, usize)>,
}

impl Arguments {
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
        let mut arguments = unsafe { Given::new(3, pointers.as_mut_ptr(), [1, 24, 0].as_ptr()) }.unwrap().copy();
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
            let error = unsafe { Given::new(2, pointers.as_mut_ptr(), sizes.as_ptr()) }.unwrap_err();
            assert_eq!(error.code, ol_errc_t::OL_ERRC_INVALID_SIZE, "{error}");
        }
        let mut null = [ptr::null_mut()];
        // SAFETY: one element, and a null pointer is not read.
        let error = unsafe { Given::new(1, null.as_mut_ptr(), [4].as_ptr()) }.unwrap_err();
        assert_eq!(error.details(), "ArgPtrs[0] must not be NULL");
    }
}
