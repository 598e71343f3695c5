//! Memory of the host.

use std::alloc::{Layout, alloc, dealloc};
use std::sync::Arc;

use super::properties;
use crate::library::backend::{Block, Pin};
use crate::library::error::fail;
use crate::runtime::Error;
use crate::sys::ol_errc_t;

struct Allocated {
    address: usize,
    layout: Layout,
}

impl Block for Allocated {
    fn address(&self) -> usize {
        self.address
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: from `alloc` with this layout, and freed this once.
        unsafe { dealloc(std::ptr::with_exposed_provenance_mut(self.address), self.layout) };
    }
}

/// Memory, not initialised.
pub(super) fn allocate(size: usize, alignment: usize) -> Result<Arc<dyn Block>, Error> {
    let most = properties::memory();
    let refused = || {
        let text = format!("no {size} bytes of host memory: the machine has {most}");
        fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, text)
    };
    // The system may promise more than it has, and ends processes when they use it.
    if size as u64 > most {
        return refused();
    }
    let Ok(layout) = Layout::from_size_align(size.max(1), alignment) else { return refused() };
    // SAFETY: the layout has at least one byte.
    let address = unsafe { alloc(layout) };
    if address.is_null() { refused() } else { Ok(Arc::new(Allocated { address: address.expose_provenance(), layout })) }
}

/// Host memory, which the host can use as it is.
pub(super) struct Unpinned(pub(super) usize);

impl Pin for Unpinned {
    fn address(&self) -> usize {
        self.0
    }
}
