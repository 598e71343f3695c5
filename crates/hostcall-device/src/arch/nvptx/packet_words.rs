//! The accesses of packets (`packets.rs`): of system scope, to memory of the host that is pinned.
//!
//! All addresses are of words that are valid and aligned, and that others access by atomic operations only; callers
//! promise it, and name the pair of each access.
#![allow(clippy::missing_safety_doc, reason = "the promise is the same for all of them: above")]

use super::{Machine, resident_wave};
use core::arch::asm;
use hostcall_abi::lanes::Lanes;

macro_rules! loads {
    ($($name:ident: $type:ident $reg:ident $how:literal),+) => { $(
        #[inline(always)]
        pub(crate) unsafe fn $name(at: *const $type) -> $type {
            let value: $type;
            // SAFETY: the caller's.
            unsafe { asm!(concat!("ld.", $how, " {value}, [{at}];"), value = out($reg) value, at = in(reg64) at, options(nostack)) };
            value
        }
    )+ };
}
loads! {
    load32: u32 reg32 "relaxed.sys.global.u32",
    load64: u64 reg64 "relaxed.sys.global.u64",
    acquire32: u32 reg32 "acquire.sys.global.u32",
    acquire64: u64 reg64 "acquire.sys.global.u64"
}

macro_rules! stores {
    ($($name:ident: $type:ident $reg:ident $how:literal),+) => { $(
        #[inline(always)]
        pub(crate) unsafe fn $name(at: *mut $type, value: $type) {
            // SAFETY: the caller's.
            unsafe { asm!(concat!("st.", $how, " [{at}], {value};"), at = in(reg64) at, value = in($reg) value, options(nostack)) };
        }
    )+ };
}
stores! {
    store32: u32 reg32 "relaxed.sys.global.u32",
    store64: u64 reg64 "relaxed.sys.global.u64",
    release32: u32 reg32 "release.sys.global.u32",
    release64: u64 reg64 "release.sys.global.u64"
}

/// What the word was: `expected`, if it is `desired` now.
#[inline(always)]
pub(crate) unsafe fn exchange64(at: *mut u64, expected: u64, desired: u64) -> u64 {
    let was: u64;
    // SAFETY: the caller's, who names the pairs.
    unsafe {
        asm!("atom.acq_rel.sys.global.cas.b64 {was}, [{at}], {expected}, {desired};", was = out(reg64) was, at = in(reg64) at,
            expected = in(reg64) expected, desired = in(reg64) desired, options(nostack));
    }
    was
}

/// Sets a bit, for waves only, and returns what the word was.
#[inline(always)]
pub(crate) unsafe fn claim(at: *mut u32, bit: u32) -> u32 {
    let was: u32;
    // SAFETY: the caller's. Acquire, of the device: pairs with the release in `unclaim` of the former owner.
    unsafe {
        asm!("atom.acquire.gpu.global.or.b32 {was}, [{at}], {bit};", was = out(reg32) was, at = in(reg64) at, bit = in(reg32) bit, options(nostack))
    };
    was
}

/// Clears a bit.
#[inline(always)]
pub(crate) unsafe fn unclaim(at: *mut u32, bit: u32) {
    // SAFETY: the caller's. Release, of the device: pairs with the acquire in `claim` of the next owner.
    unsafe { asm!("red.release.gpu.global.and.b32 [{at}], {rest};", at = in(reg64) at, rest = in(reg32) !bit, options(nostack)) };
}

/// Stores a value that no other ring has had into the signal whose handle `doorbell` is: an addition over the bus may
/// undo the host's own.
#[inline(always)]
pub(crate) unsafe fn ring(doorbell: u64) {
    let value = Machine.now_ns() << 16 | u64::from(resident_wave() & 0xffff);
    // SAFETY: the caller's: the value of a signal. Release: pairs with the consumer's look, which sees the packet that
    // was handed over before.
    unsafe { release64((doorbell + 8) as *mut u64, value) };
}
