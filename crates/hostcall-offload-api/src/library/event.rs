//! Events.

use std::ffi::c_void;
use std::sync::Arc;

use super::backend;
use super::device::Device;
use super::error::fail;
use super::leaks::Origin;
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// What an event's handle names.
pub(super) struct Event {
    pub(super) device: &'static Device,
    pub(super) driver: Arc<dyn backend::Event>,
    /// The handle of its queue, which may be destroyed.
    pub(super) queue: usize,
    /// Whether it measures time.
    pub(super) timed: bool,
    pub(super) origin: Origin,
}

impl Event {
    pub(super) fn queue_handle(&self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.queue)
    }

    /// Milliseconds from `start` to this.
    pub(super) fn since(&self, start: &Event) -> Result<f32, Error> {
        if !start.timed || !self.timed {
            let text = "both events must be made with OL_EVENT_FLAGS_ENABLE_PROFILING to measure time";
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
        if !self.device.is(start.device) {
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, "the events are of different devices");
        }
        match self.driver.milliseconds_since(&*start.driver)? {
            Some(time) => Ok(time),
            None => fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "the events are not complete yet; wait for them with olSyncEvent"),
        }
    }
}
