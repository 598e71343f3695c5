//! The client half: what the lanes of a wave do with a port. They take one (`acquire`), send messages over it (`send`),
//! and receive replies (`receive`).

mod acquire;
mod receive;
mod send;

use super::{Arch, PortState};
use crate::header::ReplyHead;
use crate::status::Status;
use crate::word::{Tag, Word, unpack};

/// A port that the group owns. Must be given back by [`Client::release`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a port that is not released is lost to all waves"]
pub struct Held {
    /// Which port.
    pub port: u32,
    /// Its state, as it will be released (the lock bit clear).
    pub state: PortState,
}

impl Held {
    /// Tag of the last message sent.
    #[inline(always)]
    pub const fn tag(&self) -> Tag {
        self.state.tag()
    }
}

/// The first words of one lane's reply. Further words are read by [`Client::reply_word`].
#[derive(Clone, Copy, Debug)]
pub struct Reply<const N: usize> {
    /// Status and length. A status that the client itself found (time-out, server gone) has no payload.
    pub head: ReplyHead,
    /// The words; those past the reply's length hold nothing of use.
    pub words: [Word; N],
}

impl<const N: usize> Reply<N> {
    /// What stands for the reply to a call that got none.
    #[inline(always)]
    pub const fn without(status: Status) -> Self {
        Self { head: ReplyHead { status, dwords: 0 }, words: [Word([0; 4]); N] }
    }

    /// Unit `index` of the payload, which lies in the words.
    #[inline(always)]
    pub fn unit(&self, index: u32) -> u32 {
        // The head is the stream's first unit. What would lie behind the last word is nothing.
        unpack(index + 1, |j| self.words.get(j as usize).copied().unwrap_or_default())
    }
}

/// The client half of the state machine.
///
/// Results on the way are [`Status`] numbers, which stay in registers; who calls makes a
/// [`CallError`](crate::CallError) of them at the end.
#[derive(Clone, Copy, Debug)]
pub struct Client<A>(pub A);

/// While it polls alone, the leader looks at the server's `closed` word, and rings again, once in so many attempts.
const CLOSED_CHECK: u32 = if cfg!(loom) { 1 } else { 8 };

impl<A: Arch> Client<A> {
    /// The status with which the server closed the buffer, 0 while it serves; what it finds over the bus is remembered.
    #[inline(always)]
    fn check_closed(self) -> u32 {
        let known = self.0.known_closed();
        if known != 0 {
            return known;
        }
        let closed = self.0.closed();
        if closed != 0 {
            self.0.remember_closed(closed);
        }
        closed
    }
}
