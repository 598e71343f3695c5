//! A lock that waits by polling, around a value.

use super::machine;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

/// A value that one lane at a time uses.
pub(crate) struct Spin<T> {
    lock: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: `with` hands the value to one lane at a time.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { lock: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Runs `f` while nobody else uses the value. `f` takes no other lock of which a holder may want this one, and
    /// makes no call to the host.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let mut attempt = 0;
        // Acquire pairs with the release below: what the former holder did to the value is seen.
        while self.lock.swap(1, Ordering::Acquire) != 0 {
            machine::end_if_ending();
            attempt += 1;
            machine::pause(attempt);
        }
        // SAFETY: whoever found the lock free has the value until it is free again.
        let result = f(unsafe { &mut *self.value.get() });
        self.lock.store(0, Ordering::Release);
        result
    }

    /// The value, whose only user is the caller.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_threads_are_in_it_together() {
        static COUNT: Spin<u64> = Spin::new(0);
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..10_000).for_each(|_| COUNT.with(|count| *count += 1)))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(COUNT.with(|count| *count), 40_000);
    }
}
