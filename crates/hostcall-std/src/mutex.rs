//! C's mutexes: a word that says whether somebody holds it and whether others wait, and a futex on it.
//!
//! Of attributes the kind is looked at. Whoever locks an ordinary mutex that it holds waits for ever, as POSIX
//! allows; a recursive one counts, and one that checks says so.

use crate::abi::errno::{EAGAIN, EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT};
use crate::abi::timespec;
use crate::error::Errno;
use crate::{futex, lane, time};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// As large as musl's, on x86-64, and like it free and ordinary where it is all zeros.
#[repr(C, align(8))]
pub struct Mutex {
    state: AtomicU32,
    /// As [`Attributes`] have it.
    kind: u32,
    /// The holder's lane, of a mutex that is not ordinary: an address; 0 for nobody's.
    holder: AtomicUsize,
    /// How often the holder has locked it besides, of a recursive one.
    again: AtomicU32,
    spare: [u32; 5],
}

const _: () = assert!(size_of::<Mutex>() == 40);

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and perhaps somebody waits.
const WANTED: u32 = 2;

/// What a mutex is made with, as musl has it: the kind is the lowest bits of a word.
pub type Attributes = u32;

const ORDINARY: u32 = 0;
const RECURSIVE: u32 = 1;
const CHECKING: u32 = 2;
const KINDS: u32 = 3;

/// What is one thread's and no other's.
fn own() -> usize {
    core::ptr::from_ref(lane::here()) as usize
}

impl Mutex {
    /// One that nobody holds, and that says so to whoever holds it and locks it again.
    pub(crate) const fn checking() -> Self {
        Self { state: AtomicU32::new(FREE), kind: CHECKING, holder: AtomicUsize::new(0), again: AtomicU32::new(0), spare: [0; 5] }
    }

    /// Whether the calling thread holds it, of one that is not ordinary. Relaxed, here and below: only the holder finds
    /// its own address there.
    fn is_mine(&self) -> bool {
        self.kind != ORDINARY && self.holder.load(Ordering::Relaxed) == own()
    }

    /// One lock more of its holder's: 0, or an error number.
    fn lock_again(&self) -> i32 {
        if self.kind != RECURSIVE {
            return EDEADLK;
        }
        match self.again.load(Ordering::Relaxed).checked_add(1) {
            Some(again) => {
                self.again.store(again, Ordering::Relaxed);
                0
            }
            None => EAGAIN,
        }
    }

    fn try_take(&self) -> bool {
        // Acquire, here and below, pairs with the release of whoever gives it back.
        let taken = self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            self.note_holder();
        }
        taken
    }

    fn note_holder(&self) {
        if self.kind != ORDINARY {
            self.holder.store(own(), Ordering::Relaxed);
        }
    }

    /// Takes it when nobody holds it, or gives up at a time of the device's clock: 0, or an error number.
    fn take_until(&self, deadline: Option<u64>) -> i32 {
        if self.is_mine() {
            return self.lock_again();
        }
        if self.try_take() {
            return 0;
        }
        while self.state.swap(WANTED, Ordering::Acquire) != FREE {
            // SAFETY: an atomic word. That it has changed is as good as a wake.
            if unsafe { futex::wait_until(self.state.as_ptr(), WANTED, deadline) } == Err(Errno(ETIMEDOUT)) {
                return ETIMEDOUT;
            }
        }
        self.note_holder();
        0
    }
}

/// Makes a mutex that nobody holds.
///
/// # Safety
/// `mutex` is valid for a write, and `attributes` null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_init(mutex: *mut Mutex, attributes: *const Attributes) -> i32 {
    // SAFETY: the caller's.
    let kind = match unsafe { attributes.as_ref() }.map_or(ORDINARY, |attributes| attributes & KINDS) {
        kind @ (RECURSIVE | CHECKING) => kind,
        _ => ORDINARY,
    };
    let new = Mutex { kind, ..Mutex::checking() };
    // SAFETY: the caller's.
    unsafe { mutex.write(new) };
    0
}

/// Nothing is left of a mutex that nobody holds.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_mutex_destroy(_mutex: *mut Mutex) -> i32 {
    0
}

/// Takes a mutex, when nobody else holds it.
///
/// # Safety
/// `mutex` was made by [`libc_pthread_mutex_init`], or of zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_lock(mutex: *const Mutex) -> i32 {
    // SAFETY: the caller's.
    unsafe { &*mutex }.take_until(None)
}

/// As [`libc_pthread_mutex_lock`], until a time of the wall clock.
///
/// # Safety
/// As [`libc_pthread_mutex_lock`]; `until` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_timedlock(mutex: *const Mutex, until: *const timespec) -> i32 {
    // SAFETY: the caller's.
    let (mutex, until) = unsafe { (&*mutex, &*until) };
    if !(0..1_000_000_000).contains(&until.tv_nsec) {
        return EINVAL;
    }
    match time::monotonic_of_wall(time::nanos(until)) {
        Ok(deadline) => mutex.take_until(Some(deadline)),
        Err(Errno(error)) => error,
    }
}

/// Takes a mutex, if nobody else holds it.
///
/// # Safety
/// As [`libc_pthread_mutex_lock`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_trylock(mutex: *const Mutex) -> i32 {
    // SAFETY: the caller's.
    let mutex = unsafe { &*mutex };
    match mutex.kind {
        RECURSIVE if mutex.is_mine() => mutex.lock_again(),
        _ if mutex.try_take() => 0,
        _ => EBUSY,
    }
}

/// Gives a mutex back, and wakes one who waits.
///
/// # Safety
/// As [`libc_pthread_mutex_lock`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_mutex_unlock(mutex: *const Mutex) -> i32 {
    // SAFETY: the caller's.
    let mutex = unsafe { &*mutex };
    if mutex.kind != ORDINARY {
        if !mutex.is_mine() {
            return EPERM;
        }
        let again = mutex.again.load(Ordering::Relaxed);
        if again > 0 {
            mutex.again.store(again - 1, Ordering::Relaxed);
            return 0;
        }
        mutex.holder.store(0, Ordering::Relaxed);
    }
    // Release pairs with the acquire of whoever takes it next.
    match mutex.state.swap(FREE, Ordering::Release) {
        FREE => return EPERM,
        HELD => {}
        _ => {
            futex::wake(mutex.state.as_ptr(), 1);
        }
    }
    0
}
