//! Futexes in device memory: waiting for a word to change.
//!
//! Waiters stand in queues, one for each hash of an address, and poll a word of their own until they are woken. So a
//! wake reaches exactly as many waiters as it should, and those that wait do not disturb the word they wait for. A
//! queue's lock is held for a few loads and stores, never across a call or a pause.

use crate::abi::errno::{EAGAIN, EINVAL, ETIMEDOUT};
use crate::abi::timespec;
use crate::error::{Errno, returned};
use crate::lane::{self, Waiter};
use crate::time;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use hostcall_device::__runtime as device;

struct Queue {
    lock: AtomicU32,
    first: AtomicPtr<Waiter>,
    /// Null if there is no first. With thousands of lanes that wait, nobody can afford to look for it.
    last: AtomicPtr<Waiter>,
}

const QUEUES: usize = 256;
static TABLE: [Queue; QUEUES] = [const { Queue::new() }; QUEUES];

fn queue(address: usize) -> &'static Queue {
    // Fibonacci hashing of the word's number.
    &TABLE[((address as u64 / 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize]
}

impl Queue {
    const fn new() -> Self {
        Self { lock: AtomicU32::new(0), first: AtomicPtr::new(null_mut()), last: AtomicPtr::new(null_mut()) }
    }

    /// Runs `f` while nobody else is in the queue. `f` neither waits nor calls.
    fn locked<R>(&self, f: impl FnOnce() -> R) -> R {
        let mut attempt = 0;
        // Acquire pairs with the release below: what the former holder did to the queue is seen.
        while self.lock.swap(1, Ordering::Acquire) != 0 {
            attempt += 1;
            device::pause(attempt);
        }
        let result = f();
        self.lock.store(0, Ordering::Release);
        result
    }

    // All accesses to the list are relaxed: the lock orders them.

    fn push(&self, waiter: &'static Waiter) {
        waiter.next.store(null_mut(), Ordering::Relaxed);
        let new = core::ptr::from_ref(waiter).cast_mut();
        // SAFETY: every waiter in a queue is alive: it leaves before its lane goes on.
        let link = unsafe { self.last.load(Ordering::Relaxed).as_ref() }.map_or(&self.first, |last| &last.next);
        link.store(new, Ordering::Relaxed);
        self.last.store(new, Ordering::Relaxed);
    }

    /// Takes out up to `count` waiters, oldest first, that `chosen` says; tells `taken` of each, which it may not use
    /// afterwards.
    fn take(&self, count: i32, chosen: impl Fn(&Waiter) -> bool, taken: impl Fn(&Waiter)) -> i32 {
        let mut done = 0;
        let mut link = &self.first;
        let mut before = null_mut();
        // SAFETY: as in `push`; one that is taken out is not looked at after `taken`, which lets it go.
        while let Some(waiter) = unsafe { link.load(Ordering::Relaxed).as_ref() } {
            if done >= count {
                break;
            }
            if chosen(waiter) {
                let next = waiter.next.load(Ordering::Relaxed);
                link.store(next, Ordering::Relaxed);
                if next.is_null() {
                    self.last.store(before, Ordering::Relaxed);
                }
                done += 1;
                taken(waiter);
            } else {
                before = core::ptr::from_ref(waiter).cast_mut();
                link = &waiter.next;
            }
        }
        done
    }
}

/// Waits until the word is woken, if it holds `expected`.
///
/// # Safety
/// `word` is the address of a word that is used atomically.
unsafe fn wait(word: *mut u32, expected: u32, deadline: Option<u64>) -> Result<(), Errno> {
    // SAFETY: the caller's.
    let value = unsafe { AtomicU32::from_ptr(word) };
    let waiter: &'static Waiter = &lane::here().waiter;
    let queue = queue(word as usize);
    let waits = queue.locked(|| {
        // Acquire: under the lock, so that a wake that follows a change of the word finds either the waiter or a
        // changed word.
        if value.load(Ordering::Acquire) != expected {
            return false;
        }
        waiter.address.store(word as usize, Ordering::Relaxed);
        waiter.woken.store(0, Ordering::Relaxed);
        queue.push(waiter);
        true
    });
    if !waits {
        return Err(Errno(EAGAIN));
    }
    let mut attempt = 0;
    // Acquire pairs with the release in `wake`: what the waker did before is seen.
    while waiter.woken.load(Ordering::Acquire) == 0 {
        device::end_if_ending();
        if deadline.is_some_and(|deadline| device::now_ns() >= deadline) {
            let still_there = queue.locked(|| queue.take(1, |other| core::ptr::eq(other, waiter), |_| {})) == 1;
            // Otherwise it was woken just now.
            return if still_there { Err(Errno(ETIMEDOUT)) } else { Ok(()) };
        }
        attempt += 1;
        device::pause(attempt);
        if !device::INDEPENDENT_LANES && attempt == SUSPICIOUS {
            suspect();
        }
    }
    Ok(())
}

/// Pauses after which a kernel's lane that waits may be waiting for ever, where lanes of one wave cannot: some seconds.
const SUSPICIOUS: u32 = 1 << 20;

/// Says, once, what a lane may be doing that it may not.
#[cold]
#[inline(never)]
fn suspect() {
    static SAID: AtomicU32 = AtomicU32::new(0);
    // Relaxed: nothing else is told by it.
    if lane::is_kernels() && SAID.swap(1, Ordering::Relaxed) == 0 {
        hostcall_device::eprintln!(
            "note: a lane of a kernel has waited for a lock for seconds; on this GPU it does so for ever if a lane of its own wave holds it"
        );
    }
}

/// Wakes up to `count` waiters of a word; returns how many.
pub(crate) fn wake(word: *const u32, count: i32) -> i32 {
    let queue = queue(word as usize);
    let ours = |waiter: &Waiter| waiter.address.load(Ordering::Relaxed) == word as usize;
    // Release pairs with the acquire in `wait`. From then on the waiter is its lane's again.
    queue.locked(|| queue.take(count, ours, |waiter| waiter.woken.store(1, Ordering::Release)))
}

/// Waits until the word is not `value` any more.
pub(crate) fn wait_while(word: &AtomicU32, value: u32) {
    // Acquire pairs with the store of whoever changes the word and then wakes.
    while word.load(Ordering::Acquire) == value {
        // SAFETY: the word is an atomic. Waking for no reason and a value that has changed are the same here.
        let _ = unsafe { wait(word.as_ptr(), value, None) };
    }
}

/// Waits until the word is woken, if it holds `expected`, at most until a time of the monotonic clock.
///
/// # Safety
/// `word` is the address of a word that is used atomically.
pub(crate) unsafe fn wait_until(word: *mut u32, expected: u32, deadline: Option<u64>) -> Result<(), Errno> {
    if word.is_null() || !word.is_aligned() {
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's; not null and aligned.
    unsafe { wait(word, expected, deadline) }
}

/// Waits until the word is woken, if it holds `expected`, at most until a time of the monotonic clock: 0, or −1 and an
/// error number.
///
/// # Safety
/// `word` is the address of a word that is used atomically; `until` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_futex_wait(word: *mut u32, expected: u32, until: *const timespec) -> i32 {
    // SAFETY: the caller's.
    let deadline = unsafe { until.as_ref() }.map(time::nanos);
    // SAFETY: the caller's.
    returned(unsafe { wait_until(word, expected, deadline) }.map(|()| 0))
}

/// Wakes up to `count` waiters of the word; returns how many.
#[unsafe(no_mangle)]
pub extern "C" fn sys_futex_wake(word: *mut u32, count: i32) -> i32 {
    if word.is_null() { returned(Err(Errno(EINVAL))) } else { wake(word, count) }
}
