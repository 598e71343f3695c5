//! Zeroed pages of this process.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use hostcall_abi::Geometry;

/// Owned, zeroed, aligned to a page.
pub(super) struct Pages {
    pub(super) start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: owned memory.
unsafe impl Send for Pages {}
// SAFETY: nothing is accessed through a shared reference to it.
unsafe impl Sync for Pages {}

impl Pages {
    pub(super) fn zeroed(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.max(1), Geometry::PAGE).expect("a valid geometry is smaller than the address space");
        // SAFETY: the layout's size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
