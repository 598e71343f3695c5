//! Events.

use std::sync::Arc;

use super::gone;
use crate::library::Core;
use crate::library::error::fail;
use crate::library::event::Event;
use crate::library::info::Value;
use crate::library::leaks::Origin;
use crate::library::program::no_handles;
use crate::library::queue::refuse_in_host_function;
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    pub(in crate::library) fn create_event(&self, queue: ol_queue_handle_t, flags: ol_event_flags_t) -> Result<ol_event_handle_t, Error> {
        let owner = self.queue(queue)?;
        let timed = flags == ol_event_flags_t::OL_EVENT_FLAGS_ENABLE_PROFILING;
        let driver = owner.driver.record(timed)?;
        let made = Event { device: owner.device, driver, queue: queue.addr(), timed, origin: Origin::here() };
        Ok(self.events.insert(Arc::new(made)).ok_or_else(no_handles)?.cast())
    }

    pub(in crate::library) fn destroy_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        match self.events.remove(event.cast()) {
            Some(_) => Ok(()),
            None => Err(gone(ol_errc_t::OL_ERRC_INVALID_EVENT, "event")),
        }
    }

    pub(in crate::library) fn sync_event(&self, event: ol_event_handle_t) -> Result<(), Error> {
        refuse_in_host_function("olSyncEvent")?;
        self.event(event)?.driver.synchronize()
    }

    pub(in crate::library) fn elapsed_time(&self, start: ol_event_handle_t, end: ol_event_handle_t) -> Result<f32, Error> {
        self.event(end)?.since(&*self.event(start)?)
    }

    pub(in crate::library) fn event_info(&self, event: ol_event_handle_t, name: ol_event_info_t) -> Result<Value<'static>, Error> {
        let event = self.event(event)?;
        match name {
            ol_event_info_t::OL_EVENT_INFO_QUEUE if self.queues.is_live(event.queue_handle()) => Ok(Value::Pointer(event.queue_handle())),
            ol_event_info_t::OL_EVENT_INFO_QUEUE => fail(ol_errc_t::OL_ERRC_INVALID_QUEUE, "the event's queue has been destroyed"),
            ol_event_info_t::OL_EVENT_INFO_IS_COMPLETE => Ok(Value::Bool(event.driver.is_complete()?)),
            other => fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of events", other.0)),
        }
    }
}
