//! Queues.

use std::ffi::c_void;
use std::sync::Arc;

use super::gone;
use crate::library::error::fail;
use crate::library::info::Value;
use crate::library::leaks::Origin;
use crate::library::program::no_handles;
use crate::library::queue::{Queue, in_host_function, refuse_in_host_function};
use crate::library::{Core, Owner};
use crate::runtime::Error;
use crate::sys::*;

/// Calls a caller's function with a caller's pointer, on another thread.
struct HostFunction(unsafe extern "C" fn(*mut c_void), *mut c_void);

// SAFETY: whoever launches the function says that it may run on another thread.
unsafe impl Send for HostFunction {}

impl HostFunction {
    fn run(self) {
        // SAFETY: the caller passed this function with this data.
        in_host_function(|| unsafe { (self.0)(self.1) });
    }
}

impl Core {
    pub(in crate::library) fn create_queue(&self, owner: Owner, device: ol_device_handle_t) -> Result<ol_queue_handle_t, Error> {
        let device = self.device_in(owner, device)?;
        let made = Queue::new(owner, device, device.driver.queue()?, Origin::here());
        Ok(self.queues.insert(Arc::new(made)).ok_or_else(no_handles)?.cast())
    }

    pub(in crate::library) fn destroy_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        match self.queues.remove(queue.cast()) {
            Some(_) => {
                self.launches.forget_queue(self, queue.addr());
                Ok(())
            }
            None => Err(gone(ol_errc_t::OL_ERRC_INVALID_QUEUE, "queue")),
        }
    }

    pub(in crate::library) fn sync_queue(&self, queue: ol_queue_handle_t) -> Result<(), Error> {
        refuse_in_host_function("olSyncQueue")?;
        self.queue(queue)?.synchronize()
    }

    pub(in crate::library) fn query_queue(&self, queue: ol_queue_handle_t) -> Result<bool, Error> {
        self.queue(queue)?.driver.is_idle()
    }

    /// # Safety
    /// There are `num_events` handles at `events`.
    pub(in crate::library) unsafe fn wait_events(
        &self,
        queue: ol_queue_handle_t,
        events: *mut ol_event_handle_t,
        num_events: usize,
    ) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        // All are looked up before the queue waits for any.
        // SAFETY: the caller says that there are that many.
        let events = (0..num_events).map(|index| self.event(unsafe { events.add(index).read_unaligned() }));
        for event in events.collect::<Result<Vec<_>, _>>()? {
            queue.driver.wait(&event.driver)?;
        }
        Ok(())
    }

    pub(in crate::library) fn queue_info(&self, queue: ol_queue_handle_t, name: ol_queue_info_t) -> Result<Value<'static>, Error> {
        let queue = self.queue(queue)?;
        match name {
            ol_queue_info_t::OL_QUEUE_INFO_DEVICE => Ok(Value::Pointer(self.session.device_handle(queue.device))),
            #[cfg(llvm24)]
            ol_queue_info_t::OL_QUEUE_INFO_CONTEXT if self.contexts.is_live(std::ptr::without_provenance(queue.owner)) => {
                Ok(Value::Pointer(std::ptr::without_provenance_mut(queue.owner)))
            }
            #[cfg(llvm24)]
            ol_queue_info_t::OL_QUEUE_INFO_CONTEXT => fail(ol_errc_t::OL_ERRC_INVALID_CONTEXT, "the queue's context has been destroyed"),
            ol_queue_info_t::OL_QUEUE_INFO_EMPTY => Ok(Value::Bool(queue.driver.is_idle()?)),
            other => fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of queues", other.0)),
        }
    }

    /// # Safety
    /// `callback` may be called with `user_data` on another thread, until the queue is done.
    pub(in crate::library) unsafe fn launch_host_function(
        &self,
        queue: ol_queue_handle_t,
        callback: ol_host_function_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let Some(callback) = callback else { return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL") };
        let function = HostFunction(callback, user_data);
        self.queue(queue)?.driver.call(Box::new(move || function.run()))
    }
}
