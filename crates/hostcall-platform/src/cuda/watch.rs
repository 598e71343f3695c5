//! Who finds out that a context was lost while nobody calls the driver.
//!
//! The driver tells of a fault only by what a call returns, and in a lost context it runs no host function any more. So
//! whoever waits for a completion, or for the end of a launch, waits for ever unless somebody asks. As long as anything
//! is outstanding in a context, a thread of the context's asks every [`EVERY`]. When the answer is a fault, the context
//! empties its table ([`Outstanding::settle`]), and everybody who waits learns it.
//!
//! The thread lets no device go on, and asks by calls that wait for no device. It holds no lock meanwhile but the one
//! that keeps the context open.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::context::{Context, Entered};
use super::driver::Status;
use super::flight::{Id, Outstanding, Pending};
use crate::error::Error;

/// How often the driver is asked. A call takes microseconds, and a fault is to be told within a second.
const EVERY: Duration = Duration::from_millis(100);

impl Context {
    /// Enters what waits for the device into the table, and sees to it that somebody asks whether the context lives.
    pub(super) fn await_end(self: &Arc<Self>, pending: Pending) -> Id {
        let id = self.outstanding.add(pending);
        if self.outstanding.begins_to_be_watched() {
            let (context, outstanding) = (Arc::downgrade(self), self.outstanding.clone());
            let started = std::thread::Builder::new().name("cuda-watch".into()).spawn(move || watch(&context, &outstanding));
            if let Err(error) = started {
                tracing::warn!(%error, "no thread looks for faults of {}: they are told when a queue is synchronised", self.name);
            }
        }
        id
    }
}

/// The life of the thread: as long as the context's, unless that is lost before.
fn watch(context: &Weak<Context>, outstanding: &Outstanding) {
    while outstanding.is_busy_after(EVERY) {
        let Some(context) = context.upgrade() else { return };
        // A loss is noted, and told to whoever uses the context. One that is closed or lost has no later entries.
        if let Err(error) = look(&context) {
            tracing::debug!(%error, "looking whether a context lives");
            if context.loss().is_some() || !context.is_open() {
                return;
            }
        }
    }
}

/// Asks for the context's side stream. An event is recorded there, unless the last one has yet to happen: that a stream without work is at its end,
/// the driver may know without a look at the device.
fn look(context: &Context) -> Result<(), Error> {
    let entered = context.enter()?;
    entered.relax_capture();
    if is_ready(&entered)? {
        // SAFETY: live handles; nobody else uses the event.
        entered.check(unsafe { entered.driver.event_record(context.probe, context.side) })?;
    }
    is_ready(&entered).map(drop)
}

/// Whether the event has happened, or was never recorded, and nothing is left in the stream.
fn is_ready(entered: &Entered<'_>) -> Result<bool, Error> {
    let Context { probe, side, .. } = *entered.context;
    // SAFETY: live handles, both.
    match unsafe { entered.driver.event_query(probe).and_then(|()| entered.driver.stream_query(side)) } {
        Ok(()) => Ok(true),
        Err(failed) if failed.status == Status::NOT_READY => Ok(false),
        Err(failed) => Err(entered.error(&failed)),
    }
}
