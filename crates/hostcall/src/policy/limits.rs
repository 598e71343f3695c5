//! Caps on what programs may use of the host.

use std::sync::atomic::{AtomicU64, Ordering};

/// Caps on the built-in services of one server. What exceeds a cap is refused; nothing waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Files and directories open at the same time: `EMFILE` beyond.
    pub open_files: usize,
    /// Bytes of file reads and writes under way at the same time: refused as `EDQUOT` beyond.
    pub bytes_in_flight: u64,
    /// Calls of built-in services in all (but the reports of panics and exits): refused as `EDQUOT` beyond.
    pub calls: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { open_files: 1 << 16, bytes_in_flight: u64::MAX, calls: u64::MAX }
    }
}

impl Limits {
    /// With a cap on open files.
    #[must_use]
    pub fn open_files(self, open_files: usize) -> Self {
        Self { open_files, ..self }
    }

    /// With a cap on bytes of reads and writes under way.
    #[must_use]
    pub fn bytes_in_flight(self, bytes_in_flight: u64) -> Self {
        Self { bytes_in_flight, ..self }
    }

    /// With a cap on calls.
    #[must_use]
    pub fn calls(self, calls: u64) -> Self {
        Self { calls, ..self }
    }
}

/// What has been used of the limits.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, calls: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// Counts a call; false if it is one too many.
    #[inline]
    pub(crate) fn call(&self) -> bool {
        // Nothing is counted that nobody limits: the word would travel between the serving threads.
        // Relaxed, as all below: the counters order nothing but themselves.
        self.limits.calls == u64::MAX || self.calls.fetch_add(1, Ordering::Relaxed) < self.limits.calls
    }

    /// Takes `bytes` of what may be under way, until the guard is dropped.
    pub(crate) fn transfer(&self, bytes: usize) -> Option<Transfer<'_>> {
        if self.limits.bytes_in_flight == u64::MAX {
            return Some(Transfer { budget: self, bytes: 0 });
        }
        let transfer = Transfer { budget: self, bytes: bytes as u64 };
        let before = self.bytes.fetch_add(transfer.bytes, Ordering::Relaxed);
        // One that is too many gives its bytes back by being dropped.
        (before.saturating_add(transfer.bytes) <= self.limits.bytes_in_flight).then_some(transfer)
    }

    pub(crate) fn open_files(&self) -> usize {
        self.limits.open_files
    }
}

/// Bytes under way.
pub(crate) struct Transfer<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_beyond_the_cap_are_refused() {
        let budget = Budget::new(Limits::default().calls(3));
        assert_eq!((0..5).map(|_| budget.call()).collect::<Vec<_>>(), [true, true, true, false, false]);
    }

    #[test]
    fn bytes_in_flight_are_given_back_when_a_transfer_ends() {
        let budget = Budget::new(Limits::default().bytes_in_flight(100));
        let first = budget.transfer(60);
        assert!(first.is_some() && budget.transfer(60).is_none() && budget.transfer(40).is_some());
        drop(first);
        assert!(budget.transfer(100).is_some() && budget.transfer(101).is_none() && budget.transfer(usize::MAX).is_none());
    }
}
