//! What all kinds of doorbells share: which there are, and how long a consumer sleeps without one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::Error;

/// How long a consumer sleeps at most before it looks by itself.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(10);

/// Doorbells that a process can have of each kind.
const MOST: usize = 1024;

/// Handles of doorbells, so that one can be told from any other number, without a lock. Handles come from buffers,
/// where a device may have written anything.
pub(super) struct Known {
    entries: [AtomicU64; MOST],
    count: AtomicUsize,
}

impl Known {
    pub(super) const fn new() -> Known {
        Known { entries: [const { AtomicU64::new(0) }; MOST], count: AtomicUsize::new(0) }
    }

    pub(super) fn add(&self, handle: u64) -> Result<(), Error> {
        // Relaxed: a number of its own for each caller; what lies behind a handle is published by the entry itself.
        let index = self.count.fetch_add(1, Ordering::Relaxed);
        let Some(entry) = self.entries.get(index) else {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Err(Error::Internal);
        };
        // Release: pairs with the acquire in `has`.
        entry.store(handle, Ordering::Release);
        Ok(())
    }

    pub(super) fn has(&self, handle: u64) -> bool {
        let count = self.count.load(Ordering::Relaxed).min(MOST);
        // Acquire: pairs with the release in `add`.
        handle != 0 && self.entries[..count].iter().any(|entry| entry.load(Ordering::Acquire) == handle)
    }
}
