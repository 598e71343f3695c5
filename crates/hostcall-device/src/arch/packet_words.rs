//! The accesses of packets (`packets.rs`), by `core`'s atomics: on AMD GPUs these are of system scope.
//!
//! All addresses are of words that are valid and aligned, and that others access by atomic operations only; callers
//! promise it, and name the pair of each access.
#![allow(clippy::missing_safety_doc, reason = "the promise is the same for all of them: above")]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[inline(always)]
pub(crate) unsafe fn load32(at: *const u32) -> u32 {
    // SAFETY: the caller's. Relaxed: the caller orders it.
    unsafe { AtomicU32::from_ptr(at.cast_mut()) }.load(Ordering::Relaxed)
}

#[inline(always)]
pub(crate) unsafe fn load64(at: *const u64) -> u64 {
    // SAFETY: as above.
    unsafe { AtomicU64::from_ptr(at.cast_mut()) }.load(Ordering::Relaxed)
}

#[inline(always)]
pub(crate) unsafe fn acquire32(at: *const u32) -> u32 {
    // SAFETY: the caller's, who names the pair.
    unsafe { AtomicU32::from_ptr(at.cast_mut()) }.load(Ordering::Acquire)
}

#[inline(always)]
pub(crate) unsafe fn acquire64(at: *const u64) -> u64 {
    // SAFETY: as above.
    unsafe { AtomicU64::from_ptr(at.cast_mut()) }.load(Ordering::Acquire)
}

#[inline(always)]
pub(crate) unsafe fn store32(at: *mut u32, value: u32) {
    // SAFETY: the caller's. Relaxed: the caller orders it.
    unsafe { AtomicU32::from_ptr(at) }.store(value, Ordering::Relaxed);
}

#[inline(always)]
pub(crate) unsafe fn store64(at: *mut u64, value: u64) {
    // SAFETY: as above.
    unsafe { AtomicU64::from_ptr(at) }.store(value, Ordering::Relaxed);
}

#[inline(always)]
pub(crate) unsafe fn release32(at: *mut u32, value: u32) {
    // SAFETY: the caller's, who names the pair.
    unsafe { AtomicU32::from_ptr(at) }.store(value, Ordering::Release);
}

/// What the word was: `expected`, if it is `desired` now.
#[inline(always)]
pub(crate) unsafe fn exchange64(at: *mut u64, expected: u64, desired: u64) -> u64 {
    // SAFETY: the caller's, who names the pairs. (Both results say what the word was.)
    match unsafe { AtomicU64::from_ptr(at) }.compare_exchange(expected, desired, Ordering::AcqRel, Ordering::Relaxed) {
        Ok(was) | Err(was) => was,
    }
}

/// Sets a bit, for waves only, and returns what the word was.
#[inline(always)]
pub(crate) unsafe fn claim(at: *mut u32, bit: u32) -> u32 {
    // SAFETY: the caller's. Acquire: pairs with the release in `unclaim` of the former owner.
    unsafe { AtomicU32::from_ptr(at) }.fetch_or(bit, Ordering::Acquire)
}

/// Clears a bit.
#[inline(always)]
pub(crate) unsafe fn unclaim(at: *mut u32, bit: u32) {
    // SAFETY: the caller's. Release: pairs with the acquire in `claim` of the next owner.
    unsafe { AtomicU32::from_ptr(at) }.fetch_and(!bit, Ordering::Release);
}

/// Adds one to the signal whose handle `doorbell` is, and wakes who sleeps on it.
#[inline(always)]
pub(crate) unsafe fn ring(doorbell: u64) {
    // SAFETY: the caller's: the value of a signal. Release: pairs with the consumer's look, which sees the packet that
    // was handed over before.
    unsafe { AtomicU64::from_ptr((doorbell + 8) as *mut u64) }.fetch_add(1, Ordering::Release);
    // SAFETY: the same signal.
    unsafe { super::wake(doorbell) };
}
