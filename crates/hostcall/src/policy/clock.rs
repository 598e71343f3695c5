//! The clock by which the addresses of a look-up expire.

use std::time::{Duration, Instant};

/// A clock that only goes forward. Tests can move it.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// Nanoseconds by which a test has moved it.
    #[cfg(test)]
    moved: std::sync::atomic::AtomicU64,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            #[cfg(test)]
            moved: Default::default(),
        }
    }
}

impl Clock {
    /// The time since the clock was made.
    #[cfg(not(test))]
    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    #[cfg(test)]
    pub(crate) fn now(&self) -> Duration {
        // Relaxed: the word orders nothing but itself. Pairs with `advance`.
        self.start.elapsed() + Duration::from_nanos(self.moved.load(std::sync::atomic::Ordering::Relaxed))
    }

    #[cfg(test)]
    pub(crate) fn advance(&self, by: Duration) {
        // Pairs with `now`.
        self.moved.fetch_add(by.as_nanos() as u64, std::sync::atomic::Ordering::Relaxed);
    }
}
