//! What is made once, by whichever of thousands of lanes comes first.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use hostcall_device::__runtime as device;

/// A lock for making things. Those who do not get it look at the thing again, not at the lock: it is there before the
/// lock is free.
pub(crate) struct Once(AtomicU32);

impl Once {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The word's value; `make`'s, which goes there, if it is 0.
    pub(crate) fn get(&self, word: &AtomicUsize, make: impl FnOnce() -> usize) -> usize {
        let mut attempt = 0;
        loop {
            // Acquire pairs with the release below: what the value stands for is seen.
            let value = word.load(Ordering::Acquire);
            if value != 0 {
                return value;
            }
            // Acquire pairs with the release of the lock: one who gets in later finds the value.
            if self.0.swap(1, Ordering::Acquire) == 0 {
                let found = word.load(Ordering::Relaxed);
                let value = if found == 0 { make() } else { found };
                word.store(value, Ordering::Release);
                self.0.store(0, Ordering::Release);
                return value;
            }
            device::end_if_ending();
            attempt += 1;
            device::pause(attempt);
        }
    }
}
