//! Thread-local storage by key, as `std`'s implementation for systems without thread-local variables wants it.
//!
//! Keys are numbers from 1 that are never given out twice: a program has as many as it has `thread_local!`s that were
//! used.

use crate::abi::errno::{EAGAIN, EINVAL};
use crate::lane;
use crate::once::Once;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Runs when a thread ends whose value is not null.
pub type Destructor = unsafe extern "C" fn(*mut u8);

/// The most keys of a program.
const KEYS: usize = 1024;

/// Each key's destructor, as a number; 0 for none.
static DESTRUCTORS: [AtomicUsize; KEYS] = [const { AtomicUsize::new(0) }; KEYS];
/// Keys given out.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// As POSIX's `PTHREAD_DESTRUCTOR_ITERATIONS`, and some more: rounds of destructors that set values again.
const ROUNDS: usize = 8;

/// A new key, or 0 if there are none left.
fn create(destructor: Option<Destructor>) -> usize {
    // Relaxed: only the number must be one's own.
    let key = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    if key >= KEYS {
        return 0;
    }
    // Pairs with the load in `run_destructors`: whoever has a value under the key learnt of the key behind this store.
    DESTRUCTORS[key].store(destructor.map_or(0, |f| f as usize), Ordering::Release);
    key
}

/// The key in `word`, which is made and put there if it is 0.
///
/// # Safety
/// `word` is the address of a word that is used atomically and lives as long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_tls_key(word: *mut usize, destructor: Option<Destructor>) -> usize {
    static MAKING: Once = Once::new();
    // SAFETY: the caller's.
    MAKING.get(unsafe { AtomicUsize::from_ptr(word) }, || create(destructor))
}

/// The calling thread's value under a key; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn sys_tls_get(key: usize) -> *mut u8 {
    lane::value(key)
}

/// Sets the calling thread's value under a key.
#[unsafe(no_mangle)]
pub extern "C" fn sys_tls_set(key: usize, value: *mut u8) {
    if key < KEYS {
        lane::set_value(key, value);
    }
}

fn forget(key: usize) {
    if let Some(destructor) = DESTRUCTORS.get(key) {
        // Relaxed: nobody has a value under a key that is destroyed.
        destructor.store(0, Ordering::Relaxed);
    }
}

/// Runs the destructors of the calling thread's values.
pub(crate) fn run_destructors() {
    for _ in 0..ROUNDS {
        let mut any = false;
        // The room may grow meanwhile.
        let mut key = 1;
        while key < lane::room().min(KEYS) {
            let value = lane::value(key);
            // Pairs with the store in `create`.
            let destructor = DESTRUCTORS[key].load(Ordering::Acquire);
            if !value.is_null() && destructor != 0 {
                any = true;
                lane::set_value(key, null_mut());
                // SAFETY: the number came from a `Destructor`, whose argument is the value of its key.
                unsafe { core::mem::transmute::<usize, Destructor>(destructor)(value) };
            }
            key += 1;
        }
        if !any {
            break;
        }
    }
}

/// C's name for a key.
///
/// # Safety
/// `key` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_key_create(key: *mut u32, destructor: Option<Destructor>) -> i32 {
    match create(destructor) {
        0 => EAGAIN,
        made => {
            // SAFETY: the caller's. Keys are few.
            unsafe { key.write(made as u32) };
            0
        }
    }
}

/// Forgets a key: no destructor will run for it.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_key_delete(key: u32) -> i32 {
    forget(key as usize);
    0
}

/// The calling thread's value under a key; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_getspecific(key: u32) -> *mut u8 {
    lane::value(key as usize)
}

/// Sets the calling thread's value under a key.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_setspecific(key: u32, value: *mut u8) -> i32 {
    if key as usize >= KEYS {
        return EINVAL;
    }
    lane::set_value(key as usize, value);
    0
}
