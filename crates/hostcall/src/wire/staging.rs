//! Staged bytes: memory that a client and the host hand to each other, one call at a time.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes of a staging area that belong to one lane's call.
///
/// The device may change them at any time: read each byte once, and decide nothing on bytes that are read again.
/// Copying through the methods, or handing the pointer to `pread`/`pwrite`, is fine; making a reference to it is not.
#[derive(Clone, Copy, Debug)]
pub struct StagedRegion<'a> {
    start: NonNull<u8>,
    len: usize,
    area: PhantomData<&'a ()>,
}

// SAFETY: a region is only an address and a length into memory that outlives `'a`; all access goes through raw pointers
// whose users accept concurrent change, whichever thread they are on.
unsafe impl Send for StagedRegion<'_> {}
// SAFETY: as above; the methods take no reference to the bytes.
unsafe impl Sync for StagedRegion<'_> {}

impl<'a> StagedRegion<'a> {
    /// # Safety
    /// `start` is valid for reads and writes of `len` bytes during `'a`.
    pub(crate) const unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len, area: PhantomData }
    }

    /// Its first byte.
    pub const fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The `len` bytes from `at` on, if they are inside.
    pub fn part(&self, at: usize, len: usize) -> Option<StagedRegion<'a>> {
        if at.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: `at + len` is within the region, so the sum stays in its allocation; valid during `'a` as the whole
        // is.
        Some(unsafe { Self::new(self.start.add(at), len) })
    }

    /// Copies the first bytes out, as many as `to` holds or the region has; returns how many.
    pub fn copy_to(&self, to: &mut [u8]) -> usize {
        let n = to.len().min(self.len);
        // SAFETY: both sides are valid for `n` bytes, and a Rust slice never overlaps a staging area, to which no
        // references exist.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr(), to.as_mut_ptr(), n) };
        n
    }

    /// Appends all of its bytes.
    pub(crate) fn append_to(&self, to: &mut Vec<u8>) {
        to.reserve(self.len);
        // SAFETY: as in `copy_to`; there is room for `len` bytes behind what `to` has, and then they are written.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr(), to.as_mut_ptr().add(to.len()), self.len);
            to.set_len(to.len() + self.len);
        }
    }

    /// Copies the first bytes in, as many as `from` has or the region holds; returns how many.
    pub fn copy_from(&self, from: &[u8]) -> usize {
        let n = from.len().min(self.len);
        // SAFETY: as in `copy_to`, the other way round.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr(), n) };
        n
    }
}

/// The staging area of one port buffer: slots of equal size, one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Staging<'a> {
    area: StagedRegion<'a>,
    slot_bytes: usize,
}

impl<'a> Staging<'a> {
    pub(crate) const fn new(area: StagedRegion<'a>, slot_bytes: usize) -> Self {
        Self { area, slot_bytes }
    }

    /// The whole.
    #[cfg(feature = "test-utils")]
    pub(crate) const fn area(self) -> StagedRegion<'a> {
        self.area
    }

    /// Bytes of a slot.
    pub(crate) const fn slot_bytes(self) -> usize {
        self.slot_bytes
    }

    /// What begins `offset` units of 16 bytes from the area's start and ends with the slot that this is in. A call owns
    /// one slot: whatever its lanes say, it reads and writes no more than that.
    pub(crate) fn region(self, offset: u32) -> Option<StagedRegion<'a>> {
        let start = (offset as usize).checked_mul(16)?;
        let left = self.slot_bytes - start.checked_rem(self.slot_bytes)?;
        self.area.part(start, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_ends_with_its_slot() {
        let mut bytes = vec![0u8; 4 * 4096];
        // SAFETY: the vector's bytes, which nobody else uses meanwhile.
        let area = unsafe { StagedRegion::new(NonNull::from(bytes.as_mut_slice()).cast(), bytes.len()) };
        let staging = Staging::new(area, 4096);
        let len = |offset| staging.region(offset).map(|region| region.len());
        assert_eq!([0, 1, 255, 256, 1023].map(len), [Some(4096), Some(4080), Some(16), Some(4096), Some(16)]);
        assert_eq!([1024, u32::MAX].map(len), [None, None], "outside the area");
        assert!(Staging::new(area, 0).region(0).is_none(), "no slots at all");
    }
}
