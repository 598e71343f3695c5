//! Room for a message in its ring: by one atomic addition, once there is credit, or as its policy says.

use super::gate;
use super::header::MAX_WEIGHT_LOG2;
use super::policy::{Policy, Sent};
use super::send::{Counter, RingLink, Subject};
use super::unit::Position;
use crate::port::Group;

/// Reserves room for a message, and tells all lanes where it is, or why there is none. Whatever does not depend on that
/// is worked out `meanwhile`. (Also where there is no room: without what it gives, what follows is made once for each
/// way to get there, which costs kernels 25 registers.)
///
/// Lanes do not part here but for the atomic itself, and for what is rare. What they decide they decide together, by a
/// ballot, because each has looked at the credit by itself.
#[inline(always)]
pub(super) fn reserve<A: RingLink, T>(
    arch: A,
    group: &Group,
    granules: u32,
    subject: &mut Subject,
    meanwhile: impl FnOnce(&Subject) -> T,
) -> (Result<Position, Sent>, T) {
    // The largest message takes no more than a quarter of its ring: one of rows of the smallest, one of bytes by its
    // sender's check.
    let ring_log2 = arch.ring_log2();
    let size = 1u32 << ring_log2;
    if subject.policy != Policy::Block {
        match by_leader(arch, group, || room(arch, granules, size, subject)) {
            (Sent::Sent, weight) => subject.weight += weight,
            (why, _) => return (Err(why), meanwhile(subject)),
        }
    }
    // Both are under way together; in which order they are made does not matter, because the reader does not get past
    // what is reserved here.
    let credit = arch.credit();
    let mut first = 0;
    if group.leads() {
        first = arch.reserve(granules);
    }
    let other = meanwhile(subject);
    let first = arch.broadcast(group.mask, first, group.leader);
    let used = first.wrapping_add(granules).wrapping_sub(credit.freed);
    let short = used > size / 2 || credit.closed != 0;
    if arch.ballot(group.mask, short) != 0
        && let (why @ Sent::Closed, _) = by_leader(arch, group, || (wait(arch, first, granules, size, subject), 0))
    {
        // What has been reserved is never stored.
        return (Err(why), other);
    }
    (Ok(Position::new(first, ring_log2)), other)
}

/// What the leader finds out, for all lanes: an outcome, and a weight.
#[inline(always)]
fn by_leader<A: RingLink>(arch: A, group: &Group, find_out: impl FnOnce() -> (Sent, u32)) -> (Sent, u32) {
    let mut told = 0;
    if group.leads() {
        let (sent, weight) = find_out();
        told = sent as u32 | weight << 8;
    }
    let told = arch.broadcast(group.mask, told, group.leader);
    (Sent::new(told & 0xff), told >> 8)
}

/// Whether there is room for a message that does not wait until there is, and how many it then stands for. By the
/// leader alone.
#[inline(always)]
fn room<A: RingLink>(arch: A, granules: u32, size: u32, subject: &Subject) -> (Sent, u32) {
    let (mut attempt, mut since) = (0, 0);
    loop {
        // Less than an eighth is free: others that look at the same time may take that much before this one reserves.
        // (The reader may have got past the head that was seen: what is used is then less than nothing.)
        let (head, credit) = (arch.head(), arch.credit());
        let used = head.wrapping_sub(credit.freed) as i32;
        if used <= (size - granules.max(size / 8)) as i32 {
            let weight = if subject.policy == Policy::Sample { thinned(used, size).min(MAX_WEIGHT_LOG2 - subject.weight) } else { 0 };
            if weight == 0 || gate::is_chosen(arch.dice(), weight) {
                return (Sent::Sent, weight);
            }
            arch.count(subject.stream, Counter::Filtered);
            return (Sent::Filtered, 0);
        }
        if credit.closed != 0 {
            return (Sent::Closed, 0);
        }
        // For the next look, or the next message.
        arch.learn();
        if subject.policy == Policy::Wait {
            let now = arch.now_ns();
            if attempt == 0 {
                since = now;
                arch.count(subject.stream, Counter::Waited);
            }
            if now.wrapping_sub(since) < u64::from(arch.gate(subject.stream).patience) {
                attempt += 1;
                arch.pause_for_room(attempt);
                continue;
            }
        }
        arch.count(subject.stream, Counter::Dropped);
        return (Sent::Dropped, 0);
    }
}

/// For how many messages, as a power of two, one stands with [`Policy::Sample`], where so much of a ring is used: of
/// each further sixteenth above the half four times as many, up to 4096. So the ring does not become full however many
/// messages there are, and what those that are sent stand for is all of them: one that is dropped for want of room is
/// nobody's.
#[inline(always)]
const fn thinned(used: i32, size: u32) -> u32 {
    // (Shifted: a division by what may be zero is a panic, whose text needs a stack. Worked out: a table would be in
    // memory.)
    match (used >> size.trailing_zeros().saturating_sub(4)) - 8 {
        ..0 => 0,
        0 => 1,
        above => 2 * above as u32,
    }
}

/// More than half of the ring is used, or nobody reads it: waits until what has been reserved is free. By the leader
/// alone. (Inlined: a call would cost its callers more registers than it has instructions.)
#[inline(always)]
fn wait<A: RingLink>(arch: A, first: u32, granules: u32, size: u32, subject: &Subject) -> Sent {
    let mut attempt = 0;
    loop {
        // Also long before credit is short, so that few ever wait for it.
        arch.learn();
        let credit = arch.credit();
        if credit.closed != 0 {
            return Sent::Closed;
        }
        if first.wrapping_add(granules).wrapping_sub(credit.freed) <= size {
            return Sent::Sent;
        }
        if attempt == 0 {
            arch.count(subject.stream, Counter::Waited);
        }
        attempt += 1;
        arch.pause_for_room(attempt);
    }
}
