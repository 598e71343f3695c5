//! A copy in a queue's order, done by the runtime.
//!
//! The runtime can be told to wait for signals before it copies. But then its engine waits, and so does every later
//! copy of that engine, also one that a running kernel depends on. So a copy is handed to the runtime when the work
//! before it has ended: at once, or by a handler of that work's signal.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use super::context::{Context, lock};
use super::copy;
use super::signal::Signal;
use super::sys::*;
use crate::error::Error;

/// A copy, perhaps in parts.
pub(super) struct Job {
    context: Arc<Context>,
    to: (u64, hsa_agent_t),
    from: (u64, hsa_agent_t),
    bytes: usize,
    /// Bytes of each part but the last.
    part: usize,
    /// Whether all parts come from the same place.
    again: bool,
    /// What is before it.
    pub(super) after: Option<Arc<Signal>>,
    /// Fires when it has ended.
    pub(super) done: Arc<Signal>,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Job {
    /// A copy in one part. What goes wrong later is left in `failure`.
    pub(super) fn new(
        context: &Arc<Context>,
        to: (u64, hsa_agent_t),
        from: (u64, hsa_agent_t),
        bytes: usize,
        failure: &Arc<Mutex<Option<Error>>>,
    ) -> Result<Job, Error> {
        let done = Signal::new(context, 1)?;
        Ok(Job { context: context.clone(), to, from, bytes, part: bytes, again: false, after: None, done, failure: failure.clone() })
    }

    /// The same in parts of `part` bytes, each from the same place: a fill.
    pub(super) fn again_each(self, part: usize) -> Result<Job, Error> {
        let done = Signal::new(&self.context, self.bytes.div_ceil(part) as i64)?;
        Ok(Job { part, again: true, done, ..self })
    }

    /// Starts it now, or has it started when what is before it has ended.
    ///
    /// # Safety
    /// Both sides have these bytes, of memory of these agents that lives until it has ended.
    ///
    /// # Errors
    /// It will not be started.
    pub(super) unsafe fn begin(self) -> Result<(), Error> {
        let before = match &self.after {
            Some(after) if !after.is_done()? => after.raw(),
            _ => {
                // SAFETY: the caller's.
                unsafe { self.start() };
                return Ok(());
            }
        };
        let context = self.context.clone();
        let data = Box::into_raw(Box::new(self));
        // SAFETY: a live signal, which the job keeps; `ready` takes this data, once.
        let asked = unsafe { context.runtime.hsa_amd_signal_async_handler(before, CONDITION_LT, 1, ready, data.cast()) };
        asked.map_err(|failed| {
            // SAFETY: not given to the runtime.
            drop(unsafe { Box::from_raw(data) });
            context.error(&failed)
        })
    }

    /// Starts all parts.
    ///
    /// # Safety
    /// As for [`Job::begin`].
    unsafe fn start(&self) {
        let mut at = 0;
        while at < self.bytes {
            let part = (self.bytes - at).min(self.part);
            let source = if self.again { self.from.0 } else { self.from.0 + at as u64 };
            // SAFETY: the caller's; each part is inside.
            let started =
                unsafe { copy::start(&self.context, (self.to.0 + at as u64, self.to.1), (source, self.from.1), part, &self.done) };
            if let Err(error) = started {
                // The parts that are not started count as ended, so that nothing waits for them.
                let left = (self.bytes - at).div_ceil(self.part);
                lock(&self.failure).get_or_insert(error);
                // SAFETY: a live signal, which these parts would have decremented.
                unsafe { self.context.runtime.hsa_signal_subtract_screlease(self.done.raw(), left as i64) };
                return;
            }
            at += part;
        }
    }
}

/// The handler of the signal of what is before a copy, on a thread of the runtime. Starting a copy waits for nothing.
///
/// # Safety
/// `data` is a boxed [`Job`], used this once, and its memory still lives: its entry in the table is behind this signal.
unsafe extern "C" fn ready(_value: i64, data: *mut c_void) -> bool {
    // SAFETY: the caller's.
    let job = unsafe { Box::from_raw(data.cast::<Job>()) };
    if !job.context.is_lost() {
        // SAFETY: the caller's.
        unsafe { job.start() };
    }
    false
}
