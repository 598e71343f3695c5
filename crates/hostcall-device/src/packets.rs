//! Packets of AMD's hostcall interface, beside the calls of services: a wave fills one, and a consumer of
//! `libamd_hostcall` answers it.
//!
//! [`hostcall_amd_preview`] is one call of all lanes that run together: each sends eight words and gets two.
//! [`hostcall_amd_mail`] is the same through mailboxes, for GPUs whose atomic operations on the host's memory are not
//! atomic for the host. The host lays the buffer out and registers it; `docs/guide/amd-hostcall.md` describes the
//! memory, and says which form of a buffer a GPU can use. No server is needed.
//!
//! ```
//! # extern crate hostcall_device as hostcall; // what `hostcall` is in kernels
//! use core::ffi::c_void;
//! use hostcall::packets::hostcall_amd_mail;
//! use hostcall::prelude::*;
//!
//! /// Each lane sends its number to service 77, and keeps the first word of the answer.
//! ///
//! /// `mail` is a buffer of mailboxes that a consumer serves until the kernel has ended.
//! #[kernel]
//! pub fn ask(mail: *mut c_void, out: &mut [u64]) -> Result<(), CallError> {
//!     let i = global_id();
//!     if i < out.len() {
//!         // SAFETY: what the kernel's documentation asks of who launches it.
//!         let [first, _] = unsafe { hostcall_amd_mail(mail, 77, [i as u64, 0, 0, 0, 0, 0, 0, 0])? };
//!         out[i] = first;
//!     }
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! Lanes that give another service or another buffer than their neighbours call apart from them. Where no packet is
//! free a wave waits for one. So it does for the host, however long that takes: these calls know of no server that
//! could be gone.

mod mailboxes;
mod stacks;

use crate::arch::current as arch;
use crate::context::{agreeing, machine};
use crate::wave;
use arch::packet_words as words;
use core::ffi::c_void;
use core::panic::Location;
use hostcall_abi::CallError;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Group, first_lane};

use mailboxes::Mailboxes;
use stacks::Stacks;

/// Words that a lane sends.
const WORDS: usize = 8;

/// The two words that a lane gets.
type Answer = Result<[u64; 2], CallError>;

/// What lanes send and get back: eight words of each of 64 lanes.
#[repr(C)]
struct Payload {
    lanes: [[u64; WORDS]; 64],
}

const _: () = assert!(size_of::<Payload>() == 4096, "as AMD lays it out");

/// A call through stacks, as `amd_hostcall_initialize_buffer` lays them out: each lane that runs sends eight words and
/// gets two.
///
/// For GPUs whose atomic operations on the host's memory are atomic for the host as well, and the simulator.
///
/// # Errors
/// [`CallError::Refused`] if the host did not run a handler for some lane of the packet; [`CallError::Detached`] if
/// nobody has laid the buffer out.
///
/// # Safety
/// `buffer` is the address of memory of the host that both sides see at once, as large as a buffer of stacks, and zero
/// or laid out as one. No other form of a buffer is in it, and it stays until the call returns. If it is laid out, a
/// consumer serves it.
#[inline(always)]
#[track_caller]
pub unsafe fn hostcall_amd_preview(buffer: *mut c_void, service: u32, words: [u64; 8]) -> Result<[u64; 2], CallError> {
    let buffer: *mut Stacks = buffer.cast();
    // SAFETY: the caller's.
    unsafe {
        in_turns(Location::caller(), buffer, service, |group| stacks::call(buffer, stacks::mask_of_bits(buffer), service, words, group))
    }
}

/// The same through stacks whose buffer ends with a mask, as ROCm's device libraries expect them
/// (`HOSTCALL_AMD_MASKED_STACKS`).
///
/// # Errors
/// As [`hostcall_amd_preview`].
///
/// # Safety
/// As [`hostcall_amd_preview`], for a buffer of that form.
#[inline(always)]
#[track_caller]
pub unsafe fn hostcall_amd_masked(buffer: *mut c_void, service: u32, words: [u64; 8]) -> Result<[u64; 2], CallError> {
    let buffer: *mut Stacks = buffer.cast();
    // SAFETY: the caller's.
    unsafe { in_turns(Location::caller(), buffer, service, |group| stacks::call(buffer, stacks::mask(buffer), service, words, group)) }
}

/// The same through a mailbox (`HOSTCALL_AMD_MAILBOXES`). For every GPU.
///
/// A refused call looks like an answered one: its words are as they were sent.
///
/// # Errors
/// [`CallError::Detached`] if nobody has laid the buffer out.
///
/// # Safety
/// As [`hostcall_amd_preview`], for a buffer of that form. On an NVIDIA GPU the page of its doorbell is pinned.
#[inline(always)]
#[track_caller]
pub unsafe fn hostcall_amd_mail(buffer: *mut c_void, service: u32, words: [u64; 8]) -> Result<[u64; 2], CallError> {
    let buffer: *mut Mailboxes = buffer.cast();
    // SAFETY: the caller's.
    unsafe { in_turns(Location::caller(), buffer, service, |group| mailboxes::call(buffer, service, words, group)) }
}

/// Adds one to a word of the host by the exchange that stacks rely on. A host that adds to the same word meanwhile
/// learns whether these are atomic for each other: otherwise some additions are lost.
///
/// # Safety
/// `word` is the address of a word of the host that both sides see at once, and that others use by atomic operations
/// only.
#[inline(always)]
pub unsafe fn hostcall_amd_add_one(word: *mut u64) {
    // SAFETY: the caller's.
    let mut now = unsafe { words::load64(word) };
    loop {
        // SAFETY: as above.
        let was = unsafe { words::exchange64(word, now, now.wrapping_add(1)) };
        if was == now {
            return;
        }
        now = was;
    }
}

/// Runs `call` for the lanes that call together: those that run converged at a place, and agree on the buffer and the
/// service.
///
/// Lanes of a wave that do not agree call one group after another where a lane that waits keeps the others from
/// running: one group may wait for the packet that another holds.
#[inline(always)]
fn in_turns<B>(place: &Location<'_>, buffer: *mut B, service: u32, call: impl Fn(&Group) -> Answer) -> Answer {
    let address = buffer as u64;
    let all = arch::converged_at(core::ptr::from_ref(place) as usize);
    let agree = agreeing(agreeing(agreeing(all, service), address as u32), (address >> 32) as u32);
    let group = Group::new(agree, machine().lane());
    if arch::INDEPENDENT_LANES || group.mask == all {
        return call(&group);
    }
    // Replaced: each lane has its turn.
    let mut answer = Err(CallError::Detached);
    let mut rest = all;
    while rest != 0 {
        let turn = of_lane(all, group.mask, first_lane(rest));
        rest &= !turn;
        if turn == group.mask {
            answer = call(&group);
        }
        machine().sync(all);
    }
    answer
}

/// What lane `from` of `mask` has.
#[inline(always)]
fn of_lane(mask: u64, value: u64, from: u32) -> u64 {
    let [low, high] = [value as u32, (value >> 32) as u32].map(|half| machine().broadcast(mask, half, from));
    u64::from(low) | u64::from(high) << 32
}

/// What the first lane of a call has.
#[inline(always)]
fn of_first(group: &Group, value: u64) -> u64 {
    of_lane(group.mask, value, group.leader)
}

/// Where the calling lane's words lie in a payload.
///
/// # Safety
/// `payload` is the address of a payload.
#[inline(always)]
unsafe fn lane_words(payload: *mut Payload) -> *mut u64 {
    // SAFETY: the caller's; a wave has at most 64 lanes.
    unsafe { (&raw mut (*payload).lanes).cast::<u64>().add(machine().lane() as usize * WORDS) }
}

/// Stores what a lane sends. The host sees it when it sees the packet that is handed over later: all lanes of the group
/// have been here then.
///
/// # Safety
/// `at` is the address of the lane's words in a payload that the group holds.
#[inline(always)]
unsafe fn send_words(group: &Group, at: *mut u64, sent: [u64; WORDS]) {
    for (i, word) in sent.into_iter().enumerate() {
        // SAFETY: the caller's. Relaxed: the fence and what hands the packet over order it. Pairs with the host's copy.
        unsafe { words::store64(at.add(i), word) };
    }
    arch::fence_system();
    machine().sync(group.mask);
}

/// Loads what a lane gets, once the first lane has seen that it is there.
///
/// # Safety
/// As [`send_words`], and the host has answered.
#[inline(always)]
unsafe fn answer_words(group: &Group, at: *const u64) -> [u64; 2] {
    arch::fence_system();
    // SAFETY: the caller's. Relaxed: the fence orders it behind the first lane's acquire.
    let answer = unsafe { [words::load64(at), words::load64(at.add(1))] };
    // The packet is given back when all lanes have read.
    machine().sync(group.mask);
    answer
}

#[cfg(test)]
mod tests;
