//! C's mutexes: a word that says whether somebody holds it and whether others wait, and a futex on it. Attributes are
//! not looked at: whoever locks one that it holds waits for ever, as POSIX allows.

use crate::abi::errno::{EBUSY, EPERM};
use crate::futex;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

/// As large as musl's, on x86-64, and like it free where it is all zeros.
#[repr(C, align(8))]
pub struct Mutex {
    state: AtomicU32,
    spare: [u32; 9],
}

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and perhaps somebody waits.
const WANTED: u32 = 2;

/// Makes a mutex that nobody holds.
///
/// # Safety
/// `mutex` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_init(mutex: *mut Mutex, _attributes: *const c_void) -> i32 {
    // SAFETY: the caller's.
    unsafe { mutex.write(Mutex { state: AtomicU32::new(FREE), spare: [0; 9] }) };
    0
}

/// Nothing is left of a mutex that nobody holds.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_mutex_destroy(_mutex: *mut Mutex) -> i32 {
    0
}

/// Takes a mutex, when nobody holds it.
///
/// # Safety
/// `mutex` was made by [`libc_pthread_mutex_init`], or of zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_lock(mutex: *const Mutex) -> i32 {
    // SAFETY: the caller's.
    let state = unsafe { &(*mutex).state };
    // Acquire, here and below, pairs with the release of whoever gives it back.
    if state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
        while state.swap(WANTED, Ordering::Acquire) != FREE {
            // SAFETY: an atomic word. That it has changed is as good as a wake.
            let _ = unsafe { futex::wait_until(state.as_ptr(), WANTED, None) };
        }
    }
    0
}

/// Takes a mutex, if nobody holds it.
///
/// # Safety
/// As [`libc_pthread_mutex_lock`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_trylock(mutex: *const Mutex) -> i32 {
    // SAFETY: the caller's.
    let state = unsafe { &(*mutex).state };
    // Acquire, as in `lock`.
    if state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok() { 0 } else { EBUSY }
}

/// Gives a mutex back, and wakes one who waits.
///
/// # Safety
/// As [`libc_pthread_mutex_lock`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_unlock(mutex: *const Mutex) -> i32 {
    // SAFETY: the caller's.
    let state = unsafe { &(*mutex).state };
    // Release pairs with the acquire of whoever takes it next.
    match state.swap(FREE, Ordering::Release) {
        FREE => return EPERM,
        HELD => {}
        _ => {
            futex::wake(state.as_ptr(), 1);
        }
    }
    0
}
