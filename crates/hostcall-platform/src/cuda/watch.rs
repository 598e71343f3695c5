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

use super::context::Context;
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

/// Asks for the context's side stream. On an H100 a query of a stream that never had work tells of a fault as soon as
/// one of the stream that faulted does, 0.15 s after the launch.
fn look(context: &Context) -> Result<(), Error> {
    let entered = context.enter()?;
    entered.relax_capture();
    // SAFETY: live handle.
    match unsafe { entered.driver.stream_query(context.side) } {
        Err(failed) if failed.status != Status::NOT_READY => Err(entered.error(&failed)),
        _ => Ok(()),
    }
}
