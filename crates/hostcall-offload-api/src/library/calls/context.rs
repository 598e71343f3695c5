//! Contexts.

use std::sync::Arc;

use super::gone;
use crate::library::Core;
use crate::library::context::Context;
use crate::library::error::fail;
use crate::library::info::Value;
use crate::library::program::no_handles;
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    pub(super) fn context(&self, handle: ol_context_handle_t) -> Result<Arc<Context>, Error> {
        self.contexts.get(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_CONTEXT, "context"))
    }

    /// # Safety
    /// There are `count` handles at `devices`.
    pub(in crate::library) unsafe fn create_context(
        &self,
        count: usize,
        devices: *mut ol_device_handle_t,
    ) -> Result<ol_context_handle_t, Error> {
        /// No machine has more devices. What says that there are more is not read.
        const MOST: usize = 1 << 16;
        if count > MOST {
            return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("DevicesCount is {count}: there are not that many devices"));
        }
        // SAFETY: the caller says that there are that many.
        let handles: Vec<_> = (0..count).map(|index| unsafe { devices.add(index).read_unaligned() }).collect();
        let made = Context::new(self, &handles)?;
        Ok(self.contexts.insert(Arc::new(made)).ok_or_else(no_handles)?.cast())
    }

    pub(in crate::library) fn destroy_context(&self, handle: ol_context_handle_t) -> Result<(), Error> {
        match self.contexts.remove(handle.cast()) {
            Some(_) => {
                self.memory.free_all_of(handle.addr());
                Ok(())
            }
            None => Err(gone(ol_errc_t::OL_ERRC_INVALID_CONTEXT, "context")),
        }
    }

    pub(in crate::library) fn context_info<R>(
        &self,
        handle: ol_context_handle_t,
        name: ol_context_info_t,
        use_it: impl FnOnce(&Value<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        use_it(&self.context(handle)?.info(self, name)?)
    }

    /// What is made in a context belongs to it.
    pub(in crate::library) fn owner(&self, handle: ol_context_handle_t) -> Result<usize, Error> {
        self.context(handle).map(|_| handle.addr())
    }
}
