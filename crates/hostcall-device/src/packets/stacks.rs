//! A wave's part of stacks, which waves and the host change by atomic operations on the same words.

use super::words;
use super::{Answer, CallError, Group, Lanes, Payload, WORDS, answer_words, lane_words, machine, of_first, send_words};

/// The packet waits for the host.
const READY: u32 = 1;
/// No handler ran for some lane.
const REFUSED: u32 = 2;
/// The host is to say whether it refused: other clients wait until the word is 0.
const TELL: u32 = 8;

/// A buffer of stacks: AMD's library has the bits of an index at its end, ROCm's device libraries have a mask.
#[repr(C)]
pub(super) struct Stacks {
    headers: *mut Header,
    payloads: *mut Payload,
    doorbell: u64,
    free_stack: u64,
    ready_stack: u64,
    index: u32,
    index_high: u32,
}

/// What a packet says of itself.
#[repr(C)]
struct Header {
    next: u64,
    active_mask: u64,
    service: u32,
    control: u32,
}

const _: () = assert!(size_of::<Header>() == 24 && size_of::<Stacks>() == 48, "as AMD lays it out");

/// The mask of an index whose number of bits the buffer says; 0 if it is no such number.
///
/// # Safety
/// `buffer` is the address of a buffer, or of as many zeros.
#[inline(always)]
pub(super) unsafe fn mask_of_bits(buffer: *const Stacks) -> u64 {
    // SAFETY: the caller's. It does not change while kernels use the buffer.
    let bits = unsafe { (*buffer).index };
    if bits <= u32::BITS { (1 << bits) - 1 } else { 0 }
}

/// The mask that the buffer says; 0 if it is none.
///
/// # Safety
/// As [`mask_of_bits`].
#[inline(always)]
pub(super) unsafe fn mask(buffer: *const Stacks) -> u64 {
    // SAFETY: as above.
    let (mask, high) = unsafe { ((*buffer).index, (*buffer).index_high) };
    if high == 0 && mask & mask.wrapping_add(1) == 0 { u64::from(mask) } else { 0 }
}

/// The packet of a tagged pointer.
///
/// # Safety
/// `buffer` is the address of a buffer, and `pointer` was in one of its stacks.
#[inline(always)]
unsafe fn header(buffer: *const Stacks, pointer: u64, mask: u64) -> *mut Header {
    // SAFETY: the caller's.
    unsafe { (*buffer).headers.add((pointer & mask) as usize) }
}

/// Takes a free packet. Waits as long as there is none.
///
/// # Safety
/// `buffer` is the address of a buffer, whose index has the bits of `mask`.
#[inline(always)]
unsafe fn pop(buffer: *mut Stacks, mask: u64) -> u64 {
    let mut attempt = 0u32;
    loop {
        // SAFETY: the caller's. Acquire: pairs with the exchange of who pushed the packet, as `next` was stored before
        // that.
        let top = unsafe { words::acquire64(&raw const (*buffer).free_stack) };
        if top != 0 {
            // SAFETY: a packet of the buffer. If another wave has taken it meanwhile the exchange fails, because of the
            // tag.
            let below = unsafe { words::load64(&raw const (*header(buffer, top, mask)).next) };
            // SAFETY: as above.
            if unsafe { words::exchange64(&raw mut (*buffer).free_stack, top, below) } == top {
                return top;
            }
        }
        // Waves that met part: each waits longer than before.
        machine().pause_for_waves(attempt);
        attempt = attempt.saturating_add(1);
    }
}

/// Pushes a packet that the caller holds.
///
/// # Safety
/// As [`header`]; `stack` is one of the buffer's.
#[inline(always)]
unsafe fn push(buffer: *const Stacks, stack: *mut u64, pointer: u64, mask: u64) {
    // SAFETY: the caller's.
    let (next, mut below) = unsafe { (&raw mut (*header(buffer, pointer, mask)).next, words::load64(stack)) };
    let mut attempt = 0u32;
    loop {
        // SAFETY: the caller holds the packet. The exchange releases it: pairs with the acquire of who pops, or of the
        // host.
        let now = unsafe {
            words::store64(next, below);
            words::exchange64(stack, below, pointer)
        };
        if now == below {
            return;
        }
        below = now;
        machine().pause_for_waves(attempt);
        attempt = attempt.saturating_add(1);
    }
}

/// One call of a group through stacks whose index has the bits of `mask`.
///
/// # Safety
/// `buffer` is the address of a buffer that is served, or of as many zeros.
#[inline(always)]
pub(super) unsafe fn call(buffer: *mut Stacks, mask: u64, service: u32, sent: [u64; WORDS], group: &Group) -> Answer {
    if mask == 0 {
        return Err(CallError::Detached);
    }
    // SAFETY: an index has bits, so the buffer is laid out.
    let held = if group.leads() { unsafe { pop(buffer, mask) } } else { 0 };
    let held = of_first(group, held);
    // SAFETY: the group holds that packet from here until it is pushed.
    let (header, at) = unsafe { (header(buffer, held, mask), lane_words((*buffer).payloads.add((held & mask) as usize))) };
    // SAFETY: the group's.
    unsafe { send_words(group, at, sent) };
    let mut control = 0;
    if group.leads() {
        // SAFETY: as above. Relaxed: the push releases these.
        unsafe {
            words::store32(&raw mut (*header).service, service);
            words::store64(&raw mut (*header).active_mask, group.mask);
            words::store32(&raw mut (*header).control, READY | TELL);
            push(buffer, &raw mut (*buffer).ready_stack, held, mask);
            words::ring((*buffer).doorbell);
        }
        let mut attempt = 0u32;
        loop {
            // SAFETY: as above. Acquire: pairs with the host's release when it answers.
            control = unsafe { words::acquire32(&raw const (*header).control) };
            if control & READY == 0 {
                break;
            }
            machine().pause(attempt);
            attempt = attempt.saturating_add(1);
        }
    }
    machine().sync(group.mask);
    let control = machine().broadcast(group.mask, control, group.leader);
    // SAFETY: answered.
    let answer = unsafe { answer_words(group, at) };
    if group.leads() {
        // SAFETY: all lanes have read.
        unsafe { push(buffer, &raw mut (*buffer).free_stack, next_tag(held, mask), mask) };
    }
    if control & REFUSED == 0 { Ok(answer) } else { Err(CallError::Refused { code: 0 }) }
}

/// The pointer with the next tag. That of packet 0 skips the value that means no packet.
#[inline(always)]
pub(super) const fn next_tag(pointer: u64, mask: u64) -> u64 {
    let next = pointer.wrapping_add(mask + 1);
    if next == 0 { mask + 1 } else { next }
}
