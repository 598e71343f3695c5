//! The port's state machine: the client half that waves run and the server half that the host runs.
//!
//! # States
//!
//! | state | who may write what | leaves it |
//! |---|---|---|
//! | **idle** | nobody | a wave sets the lock bit of the port's [`PortState`] → acquired |
//! | **acquired** | the wave: request area, doorbell | it writes a message tagged `seq + 1` → requested; or it releases → idle |
//! | **requested** | the wave: further posts behind the first | the server has copied the whole message → serving (a post: → acknowledged) |
//! | **serving** | the server: reply area | all lanes' replies are written, tagged `seq` → answered |
//! | **answered** | nobody | all lanes have read their replies; the wave releases → idle |
//! | **acknowledged** | nobody | (posts) the server wrote the tag of the last of them into the first reply word; the port may already be idle or acquired again |
//! | **abandoned** | the server: reply area | a wave released the port without waiting (time-out, dropped `Pending`): idle with the `unacked` bit at position 0; nobody takes it before the reply's tag is there |
//! | **shut down**, **detached** | the server: `Control::closed` | waiting lanes get the status; every later call fails at once |
//!
//! # Positions
//!
//! The request area is a small ring. After a post the next message starts behind it, so that a wave can post many times
//! without waiting for the host. After a message that was answered, the next message starts at position 0. A message
//! never straddles the end. If it would, or if its tag [scrubs](crate::Tag::scrubs), the client waits until the server
//! has acknowledged the last message, and starts at
//! 0. So the server expects the next header at one of two places. The header's tag says which, because its top bit is
//!    set in no payload word.
//!
//! # Doorbells
//!
//! A port's lock orders its owners, but nothing orders their *stores to the host's memory*: the doorbell may be left
//! with the older owner's value. So a doorbell is only a hint. A wave that waits rings again now and then. A server
//! that must not miss a post, because it drains or goes to sleep, looks at the ports themselves. The words of a scrub
//! could be overtaken in the same way. So the server takes a scrubbing message only when all of its area carries the
//! new tag.

mod arch;
mod client;
mod group;
mod server;

pub use arch::Arch;
pub use client::{Client, Held, Reply};
pub use group::{Group, first_lane};
pub use server::{
    Head, HostMemory, LaneReplies, Malformed, Message, Polled, ServerPort, Usual, lane_stride, largest_reply_dwords, payload_units,
    store_replies_by_words,
};

use crate::word::Tag;

/// What a port's next owner must know, and the lock: the lower half of the port's word in device memory.
///
/// | bits of the word | |
/// |---|---|
/// | 0 | locked |
/// | 1–15 | sequence number of the last message |
/// | 16 | the last message is not known to be acknowledged |
/// | 17–31 | position of the next message in the request area |
/// | 32–63 | low bits of the number of the [launch](Arch::launch) that gave the port back last |
///
/// The launch tells memory that was put back: a tool that runs a kernel again over device memory as it was before, and
/// leaves the host's as it is, takes the port's state back behind what the host has seen. So the first owner of a
/// launch asks the host's [mark](ServerPort::mark), and [believes it](PortState::caught_up_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortState(pub u32);

impl PortState {
    /// The lock bit.
    pub const LOCKED: u32 = 1;
    const UNACKED: u32 = 1 << 16;

    /// An unlocked port whose last message was `tag`. `position` is at most
    /// [`Geometry::MAX_WORDS`](crate::Geometry::MAX_WORDS).
    #[inline(always)]
    pub const fn new(tag: Tag, position: u32, unacked: bool) -> Self {
        Self((tag.seq() as u32) << 1 | position << 17 | if unacked { Self::UNACKED } else { 0 })
    }

    /// The state in a port's word.
    #[inline(always)]
    pub const fn of(word: u64) -> Self {
        Self(word as u32)
    }

    /// The launch in a port's word.
    #[inline(always)]
    pub const fn launch_of(word: u64) -> u32 {
        (word >> 32) as u32
    }

    /// The port's word, left by an owner of a launch.
    #[inline(always)]
    pub const fn word(self, launch: u32) -> u64 {
        self.0 as u64 | (launch as u64) << 32
    }

    /// The state of an unlocked port of which the host has left this [mark](ServerPort::mark): this one, or that behind
    /// the mark's message if the host has seen others than the device remembers. What is not acknowledged may lie there
    /// still, in an area of `request_words` words.
    #[must_use]
    pub const fn caught_up_with(self, mark: u32, request_words: u32) -> Self {
        let seen = Tag::new(mark as u16);
        let unseen = self.tag().since(seen) as u32;
        if unseen == 0 || self.unacked() && unseen <= request_words { self } else { Self::new(seen, 0, false) }
    }

    /// Whether a wave owns the port.
    #[inline(always)]
    pub const fn locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// Tag of the last message.
    #[inline(always)]
    pub const fn tag(self) -> Tag {
        Tag::new((self.0 >> 1) as u16)
    }

    /// Where the next message starts.
    #[inline(always)]
    pub const fn position(self) -> u32 {
        self.0 >> 17
    }

    /// Whether the last message was a call that nobody waited for: its reply may still be to come.
    #[inline(always)]
    pub const fn abandoned(self) -> bool {
        self.unacked() && self.position() == 0
    }

    /// Whether the last message's acknowledgement has not been seen.
    #[inline(always)]
    pub const fn unacked(self) -> bool {
        self.0 & Self::UNACKED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_state_keeps_its_parts_apart() {
        let s = PortState::new(Tag::new(0x7fff), 0x7fff, true);
        assert_eq!((s.tag().seq(), s.position(), s.unacked(), s.locked()), (0x7fff, 0x7fff, true, false));
        let s = PortState(PortState::new(Tag::new(3), 0, false).0 | PortState::LOCKED);
        assert_eq!((s.tag().seq(), s.position(), s.unacked(), s.locked()), (3, 0, false, true));
        let word = s.word(0x8000_0001);
        assert_eq!((PortState::of(word), PortState::launch_of(word)), (s, 0x8000_0001));
    }

    #[test]
    fn a_state_catches_up_with_a_mark_unless_that_is_of_what_is_not_acknowledged() {
        let state = |seq: u16, position, unacked| PortState::new(Tag::new(seq), position, unacked);
        for (seq, position, unacked) in [(0, 0, false), (3, 0, false), (9, 20, true), (0x7fff, 0, true), (0x4000, 7, true)] {
            let before = state(seq, position, unacked);
            for ahead in [0, 1, 2, 0x3fff, 0x4000, 0x7fff - 40, 0x7fff - 39, 0x7fff] {
                let mark = seq.wrapping_add(ahead) & 0x7fff;
                let remembered = ahead == 0 || unacked && ahead >= 0x7fff - 39;
                let expected = if remembered { before } else { state(mark, 0, false) };
                assert_eq!(before.caught_up_with(u32::from(mark) | 12 << 16, 40), expected, "{seq} and a mark {ahead} ahead");
            }
        }
    }
}
