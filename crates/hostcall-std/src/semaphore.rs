//! C's semaphores: a count, and a futex on it.

use crate::abi::errno::{EAGAIN, EINVAL, ETIMEDOUT};
use crate::abi::timespec;
use crate::error::{Errno, returned};
use crate::{futex, time};
use core::sync::atomic::{AtomicU32, Ordering};

/// As large as musl's, on x86-64: eight numbers, of which the first is the count.
#[repr(C)]
pub struct Semaphore {
    count: AtomicU32,
    spare: [u32; 7],
}

/// The highest count.
const MOST: u32 = i32::MAX.cast_unsigned();

impl Semaphore {
    fn take(&self) -> bool {
        // Acquire pairs with the release of `libc_sem_post`: what was done before it is seen.
        self.count.fetch_update(Ordering::Acquire, Ordering::Relaxed, |count| count.checked_sub(1)).is_ok()
    }

    fn wait(&self, deadline: Option<u64>) -> Result<i32, Errno> {
        loop {
            if self.take() {
                return Ok(0);
            }
            // SAFETY: an atomic word. That it has changed is as good as a wake.
            if let Err(Errno(ETIMEDOUT)) = unsafe { futex::wait_until(self.count.as_ptr(), 0, deadline) } {
                return Err(Errno(ETIMEDOUT));
            }
        }
    }
}

/// Makes a semaphore with a count.
///
/// # Safety
/// `semaphore` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sem_init(semaphore: *mut Semaphore, _shared: i32, count: u32) -> i32 {
    if count > MOST {
        return returned(Err(Errno(EINVAL)));
    }
    // SAFETY: the caller's.
    unsafe { semaphore.write(Semaphore { count: AtomicU32::new(count), spare: [0; 7] }) };
    0
}

/// Nothing is left of a semaphore that nobody waits for.
#[unsafe(no_mangle)]
pub extern "C" fn libc_sem_destroy(_semaphore: *mut Semaphore) -> i32 {
    0
}

/// Adds one, and wakes one who waits.
///
/// # Safety
/// `semaphore` was made by [`libc_sem_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sem_post(semaphore: *const Semaphore) -> i32 {
    // SAFETY: the caller's.
    let count = unsafe { &(*semaphore).count };
    // Release pairs with the acquire of `take`.
    count.fetch_add(1, Ordering::Release);
    futex::wake(count.as_ptr(), 1);
    0
}

/// Takes one, when there is one.
///
/// # Safety
/// `semaphore` was made by [`libc_sem_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sem_wait(semaphore: *const Semaphore) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { &*semaphore }.wait(None))
}

/// Takes one, if there is one.
///
/// # Safety
/// `semaphore` was made by [`libc_sem_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sem_trywait(semaphore: *const Semaphore) -> i32 {
    // SAFETY: the caller's.
    returned(if unsafe { &*semaphore }.take() { Ok(0) } else { Err(Errno(EAGAIN)) })
}

/// Takes one, when there is one before a time of the wall clock.
///
/// # Safety
/// `semaphore` was made by [`libc_sem_init`]; `until` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sem_timedwait(semaphore: *const Semaphore, until: *const timespec) -> i32 {
    // SAFETY: the caller's.
    let (semaphore, until) = unsafe { (&*semaphore, time::nanos(&*until)) };
    returned(time::monotonic_of_wall(until).and_then(|deadline| semaphore.wait(Some(deadline))))
}
