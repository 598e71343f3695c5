//! How many kernels of one context are launched and not finished, without asking the driver.
//!
//! Counted up before a launch and down by a host function behind it (`cuLaunchHostFunc`), so the count is never too low while a kernel runs.
//! In a lost context the driver runs no host functions any more: [`Outstanding::settle`] then takes the rest off at once. Both ways take only
//! what is there, so a host function that was already under way when the context died counts nothing twice.

use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::flight::InFlight;

/// Called once, when the work before it has finished.
pub(super) type Completion = Box<dyn FnOnce() + Send>;

/// The launches and completions of one context.
pub(super) struct Outstanding {
    /// The device's count, which servers watch.
    device: Arc<InFlight>,
    /// This context's share of it. Every access is one read-modify-write and nothing else hangs on its value, so relaxed is enough;
    /// publishing the device's count is `InFlight`'s business.
    launches: AtomicU64,
    completions: Mutex<Completions>,
}

#[derive(Default)]
struct Completions {
    next: u64,
    waiting: HashMap<u64, Completion>,
}

impl Outstanding {
    pub(super) fn new(device: Arc<InFlight>) -> Arc<Outstanding> {
        Arc::new(Outstanding { device, launches: AtomicU64::new(0), completions: Mutex::default() })
    }

    pub(super) fn begin(&self) {
        self.launches.fetch_add(1, Ordering::Relaxed);
        self.device.begin();
    }

    /// One launch has ended, unless `settle` said so before.
    pub(super) fn end(&self) {
        if self.launches.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
            self.device.end();
        }
    }

    /// Nothing of this context runs or ever will: ends what is counted, and drops completions that will not be called, so that who waits
    /// for one through what it captured (a channel, a waker) learns of it.
    pub(super) fn settle(&self) {
        for _ in 0..self.launches.swap(0, Ordering::Relaxed) {
            self.device.end();
        }
        let never = std::mem::take(&mut self.completions.lock().unwrap_or_else(PoisonError::into_inner).waiting);
        drop(never);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.launches.load(Ordering::Relaxed) == 0
    }

    /// Keeps `completion` for the host function [`complete`] to call with the data returned here.
    pub(super) fn expect(self: &Arc<Self>, completion: Completion) -> (u64, *mut c_void) {
        let mut completions = self.completions.lock().unwrap_or_else(PoisonError::into_inner);
        let id = completions.next;
        completions.next += 1;
        completions.waiting.insert(id, completion);
        (id, Box::into_raw(Box::new((Arc::clone(self), id))).cast())
    }

    /// Takes a completion back, if it was neither called nor settled.
    pub(super) fn take(&self, id: u64) -> Option<Completion> {
        self.completions.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id)
    }

    /// The data of a [`finished`] host function: one reference, which it gives back (a lost context leaks it: a few bytes, once).
    pub(super) fn token(self: &Arc<Self>) -> *mut c_void {
        Arc::into_raw(Arc::clone(self)).cast_mut().cast()
    }
}

/// The host function behind each launch. Calls no driver function, as `cuLaunchHostFunc` demands.
///
/// # Safety
/// `data` is from [`Outstanding::token`], used this once.
pub(super) unsafe extern "C" fn finished(data: *mut c_void) {
    // SAFETY: the caller's.
    let outstanding = unsafe { Arc::from_raw(data.cast::<Outstanding>().cast_const()) };
    // A subscriber of the device's count that panics must not unwind into the driver.
    if catch_unwind(AssertUnwindSafe(|| outstanding.end())).is_err() {
        tracing::error!("a subscriber to a device's kernels in flight panicked");
    }
}

/// The host function behind [`Outstanding::expect`].
///
/// # Safety
/// `data` is from [`Outstanding::expect`], used this once.
pub(super) unsafe extern "C" fn complete(data: *mut c_void) {
    // SAFETY: the caller's.
    let (outstanding, id) = *unsafe { Box::from_raw(data.cast::<(Arc<Outstanding>, u64)>()) };
    if let Some(completion) = outstanding.take(id)
        && catch_unwind(AssertUnwindSafe(completion)).is_err()
    {
        tracing::error!("a queue's completion panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_host_function_that_runs_after_the_context_was_lost_counts_nothing_twice() {
        let device = Arc::new(InFlight::default());
        let lost = Outstanding::new(device.clone());
        let other = Outstanding::new(device.clone());
        other.begin();
        lost.begin();
        lost.begin();
        let late = lost.token();
        lost.settle();
        assert_eq!(device.count(), 1);
        // SAFETY: a token, used once.
        unsafe { finished(late) };
        assert_eq!(device.count(), 1);
        assert!(lost.is_idle() && !other.is_idle());
    }

    #[test]
    fn a_completion_is_called_once_and_dropped_when_the_context_is_lost() {
        let outstanding = Outstanding::new(Arc::new(InFlight::default()));
        let (sender, receiver) = mpsc::channel();
        let again = sender.clone();
        let (_, first) = outstanding.expect(Box::new(move || sender.send(1).unwrap()));
        let (_, second) = outstanding.expect(Box::new(move || again.send(2).unwrap()));
        // SAFETY: from `expect`, used once.
        unsafe { complete(first) };
        assert_eq!(receiver.recv(), Ok(1));
        outstanding.settle();
        assert!(receiver.recv().is_err(), "the second sender was dropped unsent");
        // SAFETY: from `expect`, used once.
        unsafe { complete(second) };
    }

    #[test]
    fn a_completion_that_panics_does_not_unwind_into_the_driver() {
        let outstanding = Outstanding::new(Arc::new(InFlight::default()));
        let (_, data) = outstanding.expect(Box::new(|| panic!("from a completion")));
        // SAFETY: from `expect`, used once.
        unsafe { complete(data) };
    }
}
