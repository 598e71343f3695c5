//! What each function of the API does, in a few lines over the objects. [`api`](super::api) writes the results where
//! callers want them.

#[cfg(llvm24)]
mod context;
mod device;
mod event;
mod launch;
mod memory;
mod program;
mod queue;

use std::ffi::c_void;
use std::sync::Arc;

use super::device::Device;
use super::error::fail;
use super::event::Event;
use super::program::Symbol;
use super::queue::{Queue, refuse_in_host_function};
use super::{Core, Owner};
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    #[inline]
    fn device(&self, handle: ol_device_handle_t) -> Result<&'static Device, Error> {
        self.session.device(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_DEVICE, "device"))
    }

    /// A device for something that is made in a context: one of the context's.
    #[cfg(llvm24)]
    fn device_in(&self, owner: Owner, handle: ol_device_handle_t) -> Result<&'static Device, Error> {
        let device = self.device(handle)?;
        self.context(std::ptr::without_provenance_mut(owner))?.has(device)?;
        Ok(device)
    }

    /// A device for something that is made. LLVM 23 has no contexts.
    #[cfg(not(llvm24))]
    fn device_in(&self, _owner: Owner, handle: ol_device_handle_t) -> Result<&'static Device, Error> {
        self.device(handle)
    }

    fn queue(&self, handle: ol_queue_handle_t) -> Result<Arc<Queue>, Error> {
        self.queues.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_QUEUE, "queue"))
    }

    fn event(&self, handle: ol_event_handle_t) -> Result<Arc<Event>, Error> {
        self.events.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_EVENT, "event"))
    }

    pub(super) fn symbol_of(&self, handle: ol_symbol_handle_t) -> Result<Arc<Symbol>, Error> {
        self.symbols.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "symbol"))
    }

    /// Puts work into a queue; without one, into one of the device's own, and waits for it.
    fn in_queue(
        &self,
        call: &str,
        queue: Option<&Queue>,
        device: &Device,
        work: impl FnOnce(&dyn super::backend::Queue) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match queue {
            Some(queue) => work(&*queue.driver),
            None => {
                refuse_in_host_function(call)?;
                device.at_once(work)
            }
        }
    }

    fn optional_queue(&self, handle: ol_queue_handle_t) -> Result<Option<Arc<Queue>>, Error> {
        if handle.is_null() { Ok(None) } else { self.queue(handle).map(Some) }
    }
}

/// The object of a handle was destroyed after the entry point saw it, or checks are switched off.
pub(super) fn gone(code: ol_errc_t, noun: &str) -> Error {
    Error::new(code, format!("the {noun} does not exist: it has been destroyed, or this library never made it"))
}

/// An image as the caller says it is.
///
/// # Safety
/// There are `size` bytes at `data`.
unsafe fn image<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], Error> {
    if size == 0 {
        return fail(ol_errc_t::OL_ERRC_INVALID_BINARY, "the image is empty");
    }
    if data.addr().checked_add(size).is_none_or(|end| end > isize::MAX as usize) {
        return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("an image of {size} bytes: there is no such memory"));
    }
    // SAFETY: the caller says so, and the size is one that a slice can have.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) })
}
