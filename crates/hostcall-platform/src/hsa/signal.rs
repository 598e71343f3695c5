//! Signals: packets and copies decrement them when they have ended, and the host waits for them.
//!
//! Making one costs a call of the kernel driver, so signals are kept and used again. A signal starts at the number of
//! things that decrement it. All of them have ended when it is below 1. A negative value means that one failed.

use std::sync::Arc;
use std::time::Duration;

use super::context::{Context, lock};
use super::fault;
use super::sys::*;
use crate::error::Error;

/// A signal, kept for the next user when dropped.
pub(super) struct Signal {
    context: Arc<Context>,
    raw: hsa_signal_t,
}

/// How long a wait spins before it sleeps. Waking a sleeper costs tens of microseconds, which a short kernel should not
/// pay.
const SPIN: Duration = Duration::from_micros(50);
/// How long a wait sleeps before it looks whether the device was lost.
const SLEEP: Duration = Duration::from_millis(20);

impl Signal {
    /// A signal of this value.
    pub(super) fn new(context: &Arc<Context>, value: i64) -> Result<Arc<Signal>, Error> {
        let kept = lock(&context.signals).pop();
        let raw = match kept {
            Some(raw) => {
                // SAFETY: a live signal that nobody uses.
                unsafe { context.runtime.hsa_signal_store_screlease(raw, value) };
                raw
            }
            None => {
                let mut raw = hsa_signal_t::default();
                // SAFETY: an out parameter; without a list, every agent may wait for it.
                context.check(unsafe { context.runtime.hsa_signal_create(value, 0, std::ptr::null(), &mut raw) })?;
                raw
            }
        };
        Ok(Arc::new(Signal { context: context.clone(), raw }))
    }

    pub(super) fn raw(&self) -> hsa_signal_t {
        self.raw
    }

    /// Whether what decrements it has ended.
    ///
    /// # Errors
    /// It never will, for the device is lost; or it failed.
    pub(super) fn is_done(&self) -> Result<bool, Error> {
        // SAFETY: a live signal.
        let value = unsafe { self.context.runtime.hsa_signal_load_scacquire(self.raw) };
        match value {
            1.. => self.context.good().map(|()| false),
            0 => Ok(true),
            _ => Err(fault::copy_failed(&self.context.name, value)),
        }
    }

    /// Waits for what decrements it.
    ///
    /// # Errors
    /// As for [`Signal::is_done`].
    pub(super) fn wait(&self) -> Result<(), Error> {
        let (mut how, mut duration) = (WAIT_ACTIVE, SPIN);
        loop {
            // SAFETY: a live signal.
            unsafe { self.context.runtime.hsa_signal_wait_scacquire(self.raw, CONDITION_LT, 1, self.ticks(duration), how) };
            // A wait may return early, so it is the value that counts.
            if self.is_done()? {
                return Ok(());
            }
            (how, duration) = (WAIT_BLOCKED, SLEEP);
        }
    }

    fn ticks(&self, duration: Duration) -> u64 {
        let ticks = duration.as_nanos() * u128::from(self.context.timestamp_hz) / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX).max(1)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        // What a lost device left in it may still be decremented: it is not given to anybody else.
        if !self.context.is_lost() {
            lock(&self.context.signals).push(self.raw);
        }
    }
}
