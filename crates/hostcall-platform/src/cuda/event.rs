//! Points in a queue's work that can be waited for, and timed.

use std::any::Any;
use std::sync::Arc;

use super::sys;

use super::context::Context;
use super::driver::Status;
use super::release::Resource;
use crate::backend::BackendEvent;
use crate::error::Error;

/// An event. Waiting for it sleeps instead of spinning (`CU_EVENT_BLOCKING_SYNC`).
pub(super) struct Event {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUevent,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// With timing, which is on unless disabled.
const TIMED: u32 = sys::CU_EVENT_BLOCKING_SYNC;

impl Event {
    /// For an event that is only waited for.
    pub(super) const UNTIMED: u32 = TIMED | sys::CU_EVENT_DISABLE_TIMING;

    pub(super) fn timed(context: &Arc<Context>) -> Result<Event, Error> {
        Event::new(context, TIMED)
    }

    pub(super) fn untimed(context: &Arc<Context>) -> Result<Event, Error> {
        Event::new(context, Event::UNTIMED)
    }

    fn new(context: &Arc<Context>, flags: u32) -> Result<Event, Error> {
        let entered = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: an out parameter; the context is current.
        entered.check(unsafe { entered.driver.event_create(&mut raw, flags) })?;
        drop(entered);
        Ok(Event { context: context.clone(), raw })
    }

    /// The plugin's own event behind a trait object, if it is one of `context`.
    pub(super) fn of<'a>(context: &Arc<Context>, event: &'a dyn BackendEvent, what: &'static str) -> Result<&'a Event, Error> {
        let event = event.as_any().downcast_ref::<Event>();
        event.filter(|event| Arc::ptr_eq(&event.context, context)).ok_or(Error::WrongDevice { what })
    }
}

impl BackendEvent for Event {
    fn is_complete(&self) -> Result<bool, Error> {
        let entered = self.context.enter()?;
        // SAFETY: `raw` is live.
        match unsafe { entered.driver.event_query(self.raw) } {
            Ok(()) => Ok(true),
            Err(failed) if failed.status == Status::NOT_READY => Ok(false),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    fn synchronize(&self) -> Result<(), Error> {
        let may = self.context.may_wait("waiting for an event")?;
        let entered = self.context.enter()?;
        // SAFETY: `raw` is live.
        entered.check(unsafe { entered.driver.event_synchronize(may, self.raw) })
    }

    fn nanoseconds_since(&self, earlier: &dyn BackendEvent) -> Result<Option<u64>, Error> {
        let earlier = Event::of(&self.context, earlier, "the earlier event")?;
        let entered = self.context.enter()?;
        let mut milliseconds = 0.0f32;
        // SAFETY: both handles are live.
        match unsafe { entered.driver.event_elapsed(&mut milliseconds, earlier.raw, self.raw) } {
            // `as` saturates: an event recorded before the earlier one gives 0.
            Ok(()) => Ok(Some((f64::from(milliseconds) * 1e6) as u64)),
            // Not happened yet, or never recorded.
            Err(failed) if matches!(failed.status, Status::NOT_READY | Status::INVALID_HANDLE) => Ok(None),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // The driver keeps a recorded event until it has happened.
        self.context.release(Resource::Event(self.raw));
    }
}
