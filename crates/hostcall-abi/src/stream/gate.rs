//! What the host says of a stream while kernels run: which of its messages are wanted.
//!
//! A stream whose word has [`word::LIVE`](super::message::word::LIVE) is *live*: each message looks at the stream's
//! [`Gate`], in device memory, which the host writes at any time. A look may be stale, and lanes of a wave may see
//! different gates for a moment, so nothing rests on it: lanes agree by a ballot which of them send.

use super::header::From;
use super::policy::Sent;
use super::send::{Counter, RingLink, Subject};
use crate::port::Group;

/// Which messages of a stream are wanted. In device memory, one for each stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct Gate {
    /// Lanes whose values are wanted, one bit each.
    pub lanes: u64,
    /// The first workgroup whose messages are wanted, by the low 32 bits of its number in the grid.
    pub first: u32,
    /// How many workgroups from there on. `u32::MAX`: all.
    pub groups: u32,
    /// Of 2 to this power messages one is sent, which stands for all of them. At most [`Gate::MAX_RATE_LOG2`].
    pub rate_log2: u32,
    /// Not 0: none is wanted.
    pub shut: u32,
    /// How long a message of [`Policy::Wait`](super::Policy::Wait) waits for room, in nanoseconds. It holds whether the
    /// stream is live or not.
    pub patience: u32,
    /// Not 0: the stream's [`Bounds`](super::Bounds) hold, too. They are loaded only then.
    pub bounded: u32,
}

const _: () = assert!(size_of::<Gate>() == 32);

impl Gate {
    /// Everything is wanted, and waits for a millisecond.
    pub const OPEN: Self = Self { lanes: u64::MAX, first: 0, groups: u32::MAX, rate_log2: 0, shut: 0, patience: 1_000_000, bounded: 0 };
    /// The most that a gate thins out. What [`Policy::Sample`](super::Policy::Sample) does comes on top, as far as a
    /// weight still fits into its bits.
    pub const MAX_RATE_LOG2: u32 = 11;

    /// The words in memory.
    pub const fn words(&self) -> [u32; 8] {
        let Self { lanes, first, groups, rate_log2, shut, patience, bounded } = *self;
        [lanes as u32, (lanes >> 32) as u32, first, groups, rate_log2, shut, patience, bounded]
    }

    /// The gate in these words.
    #[inline(always)]
    pub const fn of_words(words: [u32; 8]) -> Self {
        let [low, high, first, groups, rate_log2, shut, patience, bounded] = words;
        Self { lanes: low as u64 | (high as u64) << 32, first, groups, rate_log2, shut, patience, bounded }
    }

    /// The lanes of a wave there whose values are wanted.
    #[inline(always)]
    pub const fn wanted(&self, from: From) -> u64 {
        let inside = (from.group as u32).wrapping_sub(self.first) < self.groups || self.groups == u32::MAX;
        if inside && self.shut == 0 { self.lanes } else { 0 }
    }
}

/// The lanes of `group` that the stream's gate lets through, and what their message stands for; for a lane that it does
/// not, what to tell it. Every lane of the group must call.
#[inline(always)]
pub(super) fn admit<A: RingLink>(arch: A, group: &Group, subject: &Subject) -> Result<(Group, u32), Sent> {
    let (gate, lane) = (arch.gate(subject.stream), arch.lane());
    let weight = gate.rate_log2.min(Gate::MAX_RATE_LOG2);
    // One number for all of them. (To ask by a ballot first whether any lane has seen a rate takes longer: this is
    // under way while the gate is loaded.)
    let dice = arch.broadcast(group.mask, arch.dice(), group.leader);
    let mut wanted = gate.wanted(arch.from()) >> lane & 1 != 0 && is_chosen(dice, weight);
    if gate.bounded != 0 {
        wanted &= arch.bounds(subject.stream).take(&arch.place(), arch.from().wave);
    }
    let mask = arch.ballot(group.mask, wanted);
    if mask >> lane & 1 != 0 {
        return Ok((Group::new(mask, lane), weight));
    }
    if gate.shut != 0 {
        return Err(Sent::Off);
    }
    if mask == 0 && group.leads() {
        arch.count(subject.stream, Counter::Filtered);
    }
    Err(Sent::Filtered)
}

/// Whether a message that stands for 2 to the power `weight` is sent.
#[inline(always)]
pub(super) const fn is_chosen(dice: u32, weight: u32) -> bool {
    // The high bits: clocks have low bits that never change, which a product spreads upwards.
    dice.wrapping_mul(0x9e37_79b9) as u64 >> (32 - weight) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_the_same_in_words() {
        let gate = Gate { lanes: 0x1_0000_0002, first: 3, groups: 4, rate_log2: 5, shut: 6, patience: 7, bounded: 8 };
        assert_eq!(gate.words(), [2, 1, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Gate::of_words(gate.words()), gate);
    }

    #[test]
    fn workgroups_in_the_range_pass_and_no_other() {
        let gate = Gate { first: 5, groups: 2, ..Gate::OPEN };
        let of = |gate: Gate, group| gate.wanted(From { group, ..From::default() });
        assert_eq!([4, 5, 6, 7, 1 << 32 | 5].map(|group| of(gate, group) != 0), [false, true, true, false, true]);
        assert_eq!([0, u64::from(u32::MAX)].map(|group| of(Gate::OPEN, group)), [u64::MAX; 2]);
        assert_eq!(of(Gate { shut: 1, ..Gate::OPEN }, 0), 0);
    }

    #[test]
    fn of_many_dice_each_weight_chooses_its_share() {
        for weight in 0..=8 {
            let chosen = (0..1 << 16).filter(|dice| is_chosen(*dice * 32, weight)).count();
            let expected = (1 << 16) >> weight;
            assert!(chosen.abs_diff(expected) <= 2 + expected / 16, "{chosen} of {expected} for a weight of {weight}");
        }
    }
}
