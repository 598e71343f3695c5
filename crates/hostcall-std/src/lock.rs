//! A lock that waits as C's mutexes do, around a value. Its holder may call the host.

use crate::mutex::{self, Mutex};
use core::cell::UnsafeCell;

/// A value that one lane at a time uses.
pub(crate) struct Lock<T> {
    mutex: Mutex,
    value: UnsafeCell<T>,
}

// SAFETY: `with` hands the value to one lane at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { mutex: Mutex::checking(), value: UnsafeCell::new(value) }
    }

    /// Runs `f` while nobody else uses the value; nothing, if this lane does already: it ends the process from within.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: a mutex, which stays where it is.
        if unsafe { mutex::libc_pthread_mutex_lock(&raw const self.mutex) } != 0 {
            return None;
        }
        // SAFETY: whoever has the mutex has the value.
        let result = f(unsafe { &mut *self.value.get() });
        // SAFETY: as above.
        unsafe { mutex::libc_pthread_mutex_unlock(&raw const self.mutex) };
        Some(result)
    }
}
