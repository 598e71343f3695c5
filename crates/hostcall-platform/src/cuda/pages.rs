//! Memory of this process on huge pages, if the system gives them.

use std::ptr::{NonNull, null_mut};

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Zeroed memory, aligned to a huge page. It is there page by page when it has been made, so that a driver can lock it.
#[derive(Debug)]
pub(super) struct Pages {
    mapping: NonNull<libc::c_void>,
    mapped: usize,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an address range; what is done with the bytes is the business of who reads and writes them.
unsafe impl Send for Pages {}
// SAFETY: as above; no method writes through the pointer.
unsafe impl Sync for Pages {}

impl Pages {
    /// `None`: the system has no memory left.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let bytes = bytes.max(1).checked_next_multiple_of(HUGE)?;
        let mapped = bytes.checked_add(HUGE)?;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, wherever the system likes.
        let mapping = unsafe { libc::mmap(null_mut(), mapped, access, kind, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return None;
        }
        let mapping = NonNull::new(mapping)?;
        let skipped = mapping.as_ptr().cast::<u8>().align_offset(HUGE);
        // SAFETY: at most a huge page from the start, which the mapping is longer by.
        let start = unsafe { mapping.cast::<u8>().add(skipped) };
        let pages = Self { mapping, mapped, start, bytes };
        // SAFETY: inside the mapping. The first is advice; then each small page is written once, so that it is there.
        unsafe {
            libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
            (0..bytes).step_by(4096).for_each(|at| start.as_ptr().add(at).write_volatile(0));
        }
        Some(pages)
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and nobody else uses it any more.
        unsafe { libc::munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zeroed_and_aligned_and_can_be_written_to_the_end() {
        for bytes in [0, 1, HUGE, 5 * HUGE + 7] {
            let pages = Pages::new(bytes).expect("memory");
            assert!(pages.start().align_offset(HUGE) == 0 && pages.bytes() >= bytes.max(1));
            // SAFETY: the mapping has these bytes, and nobody else uses them.
            let all = unsafe { std::slice::from_raw_parts_mut(pages.start(), pages.bytes()) };
            assert!(all.iter().all(|byte| *byte == 0));
            all.fill(1);
        }
    }
}
