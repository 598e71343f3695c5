//! Points in a queue's work that can be waited for, and timed.

use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::sys;

use super::context::Context;
use super::driver::Status;
use crate::error::Error;

/// An event with timing. Waiting for it sleeps instead of spinning (`CU_EVENT_BLOCKING_SYNC`).
pub(super) struct Event {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUevent,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// `CU_EVENT_BLOCKING_SYNC`; timing is on unless disabled.
const TIMED: u32 = sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32;
/// For an event that is only waited for.
pub(super) const UNTIMED: u32 = TIMED | sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;

impl Event {
    pub(super) fn timed(context: &Arc<Context>) -> Result<Event, Error> {
        Event::new(context, TIMED)
    }

    pub(super) fn new(context: &Arc<Context>, flags: u32) -> Result<Event, Error> {
        let entered = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: an out parameter; the context is current.
        entered.check(unsafe { entered.driver.event_create(&mut raw, flags) })?;
        drop(entered);
        Ok(Event { context: context.clone(), raw })
    }

    /// Whether what was recorded has finished (an event never recorded has).
    pub(super) fn is_complete(&self) -> Result<bool, Error> {
        let entered = self.context.enter()?;
        // SAFETY: `raw` is live.
        match unsafe { entered.driver.event_query(self.raw) } {
            Ok(()) => Ok(true),
            Err(failed) if failed.status == Status::NOT_READY => Ok(false),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    pub(super) fn synchronize(&self) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: `raw` is live.
        entered.check(unsafe { entered.driver.event_synchronize(self.raw) })
    }

    /// From `start` to `self`; both must have completed.
    pub(super) fn since(&self, start: &Event) -> Result<Duration, Error> {
        let entered = self.context.enter()?;
        let mut milliseconds = 0.0f32;
        // SAFETY: both handles are live (the driver checks that they are of one device and recorded).
        entered.check(unsafe { entered.driver.event_elapsed(&mut milliseconds, start.raw, self.raw) })?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: made in `new`, destroyed this once; the driver keeps a recorded event until it has happened.
            entered.ignore(unsafe { entered.driver.event_destroy(self.raw) });
        }
    }
}
