//! A wave's part of mailboxes, where each word has one writer.

use super::words;
use super::{Answer, CallError, Group, Lanes, Payload, WORDS, answer_words, lane_words, machine, of_first, send_words, wave};

/// A buffer of mailboxes.
#[repr(C)]
pub(super) struct Mailboxes {
    device_phase: *mut u32,
    host_phase: *mut u32,
    occupied: *mut u32,
    headers: *mut Header,
    payloads: *mut Payload,
    doorbell: u64,
    packets: u32,
}

/// What a packet says of itself.
#[repr(C)]
struct Header {
    active_mask: u64,
    service: u32,
}

const _: () = assert!(size_of::<Header>() == 16 && size_of::<Mailboxes>() == 56, "as ROCm lays it out");

/// The word of a packet's claim, and its bit.
///
/// # Safety
/// `buffer` is the address of a buffer that has the packet.
#[inline(always)]
unsafe fn claim_of(buffer: *const Mailboxes, packet: u32) -> (*mut u32, u32) {
    // SAFETY: the caller's.
    unsafe { ((*buffer).occupied.add(packet as usize / 32), 1 << (packet % 32)) }
}

/// Claims a packet that nobody holds. Waits as long as there is none.
///
/// # Safety
/// `buffer` is the address of a buffer of so many packets, and there is one.
#[inline(always)]
unsafe fn claim(buffer: *const Mailboxes, packets: u32) -> u32 {
    let first = wave::wave_index() as u32 % packets;
    let (mut packet, mut rounds) = (first, 0u32);
    loop {
        // SAFETY: the number is below that of packets.
        let (word, bit) = unsafe { claim_of(buffer, packet) };
        // SAFETY: a word of claims. It pairs with `unclaim` of who held the packet.
        if unsafe { words::claim(word, bit) } & bit == 0 {
            return packet;
        }
        packet = if packet + 1 < packets { packet + 1 } else { 0 };
        if packet == first {
            machine().pause_for_waves(rounds);
            rounds = rounds.saturating_add(1);
        }
    }
}

/// One call of a group through a mailbox.
///
/// # Safety
/// `buffer` is the address of a buffer that is served, or of as many zeros.
#[inline(always)]
pub(super) unsafe fn call(buffer: *mut Mailboxes, service: u32, sent: [u64; WORDS], group: &Group) -> Answer {
    // SAFETY: the caller's. It does not change while kernels use the buffer.
    let packets = unsafe { (*buffer).packets };
    if packets == 0 {
        return Err(CallError::Detached);
    }
    // SAFETY: there are packets, so the buffer is laid out.
    let packet = if group.leads() { unsafe { claim(buffer, packets) } } else { 0 };
    let packet = of_first(group, packet.into()) as usize;
    // SAFETY: the group holds that packet from here until the claim is taken back.
    let at = unsafe { lane_words((*buffer).payloads.add(packet)) };
    // SAFETY: the group's.
    unsafe { send_words(group, at, sent) };
    if group.leads() {
        // SAFETY: as above. Relaxed: the store of the phase releases these. Only who holds the packet writes its phase,
        // which pairs with the host's acquire.
        let (asked, answered) = unsafe {
            let (header, phase) = ((*buffer).headers.add(packet), (*buffer).device_phase.add(packet));
            words::store32(&raw mut (*header).service, service);
            words::store64(&raw mut (*header).active_mask, group.mask);
            let asked = words::load32(phase) ^ 1;
            words::release32(phase, asked);
            words::ring((*buffer).doorbell);
            (asked, (*buffer).host_phase.add(packet))
        };
        let mut attempt = 0u32;
        // SAFETY: as above. Acquire: pairs with the host's release when it answers.
        while unsafe { words::acquire32(answered) } != asked {
            machine().pause(attempt);
            attempt = attempt.saturating_add(1);
        }
    }
    machine().sync(group.mask);
    // SAFETY: answered.
    let answer = unsafe { answer_words(group, at) };
    if group.leads() {
        // SAFETY: all lanes have read. It pairs with `claim` of who holds the packet next.
        unsafe {
            let (word, bit) = claim_of(buffer, packet as u32);
            words::unclaim(word, bit);
        }
    }
    Ok(answer)
}
