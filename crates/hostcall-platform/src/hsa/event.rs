//! Points in a queue's work that can be waited for, and timed: packets that do nothing but decrement a signal.

use std::any::Any;
use std::sync::{Arc, Mutex};

use super::context::{Context, lock};
use super::signal::Signal;
use super::sys::hsa_amd_profiling_dispatch_time_t;
use crate::backend::BackendEvent;
use crate::error::Error;

/// An event: the signal of its latest recording.
pub(super) struct Event {
    context: Arc<Context>,
    latest: Mutex<Option<Arc<Signal>>>,
}

impl Event {
    pub(super) fn new(context: &Arc<Context>) -> Event {
        Event { context: context.clone(), latest: Mutex::default() }
    }

    /// The plugin's own event behind a trait object, if it is one of `context`.
    pub(super) fn of<'a>(context: &Arc<Context>, event: &'a dyn BackendEvent, what: &'static str) -> Result<&'a Event, Error> {
        let event = event.as_any().downcast_ref::<Event>();
        event.filter(|event| Arc::ptr_eq(&event.context, context)).ok_or(Error::WrongDevice { what })
    }

    pub(super) fn recorded(&self, signal: Arc<Signal>) {
        *lock(&self.latest) = Some(signal);
    }

    pub(super) fn latest(&self) -> Option<Arc<Signal>> {
        lock(&self.latest).clone()
    }

    /// When it happened, in ticks; `None` unless it was recorded and did.
    fn time(&self) -> Result<Option<u64>, Error> {
        let Some(signal) = self.latest() else { return Ok(None) };
        if !signal.is_done()? {
            return Ok(None);
        }
        let mut time = hsa_amd_profiling_dispatch_time_t::default();
        // SAFETY: a live agent, the signal of a packet of a queue with profiling on, an out parameter.
        let asked = unsafe { self.context.runtime.hsa_amd_profiling_get_dispatch_time(self.context.found.agent, signal.raw(), &mut time) };
        self.context.check(asked)?;
        Ok(Some(time.end))
    }
}

impl BackendEvent for Event {
    fn is_complete(&self) -> Result<bool, Error> {
        self.context.usable()?;
        self.latest().map_or(Ok(true), |signal| signal.is_done())
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.context.usable()?;
        self.latest().map_or(Ok(()), |signal| signal.wait())
    }

    fn nanoseconds_since(&self, earlier: &dyn BackendEvent) -> Result<Option<u64>, Error> {
        self.context.usable()?;
        let earlier = Event::of(&self.context, earlier, "the earlier event")?;
        let (Some(start), Some(end)) = (earlier.time()?, self.time()?) else { return Ok(None) };
        Ok(Some(nanoseconds(end.saturating_sub(start), self.context.timestamp_hz)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn nanoseconds(ticks: u64, hz: u64) -> u64 {
    u64::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(hz.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds_without_overflow() {
        assert_eq!(nanoseconds(100, 100_000_000), 1000);
        assert_eq!(nanoseconds(u64::MAX, 1_000_000_000), u64::MAX);
        assert_eq!(nanoseconds(u64::MAX, 1), u64::MAX);
        assert_eq!(nanoseconds(7, 0), 7_000_000_000);
    }
}
