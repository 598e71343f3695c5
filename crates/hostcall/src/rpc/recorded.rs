//! What a session of a recompiled client reads and writes: `include/hostcall_rpc.h`.
//!
//! Such a client records what a lane sends. It goes to the host as one call, when the lane wants an answer, and what
//! the session sends comes back as the call's reply. What both sides send is the same row of packets that LLVM's wire
//! has, so sessions do not know the difference.

use std::cell::{Cell, RefCell};

use hostcall_abi::llvm_rpc::{PACKET_BYTES, PACKET_WORDS};

use super::exchange::{Exchange, bytes_of, packed};
use super::memory::Packet;

/// Bytes that a session may send beyond those that the client has room for, before it waits for the client.
pub(super) const AHEAD: usize = 4096;

/// What a lane and its session exchange in one call.
#[derive(Default)]
pub(super) struct Transcript {
    /// What the lane has sent, as whole packets, and how far that was read.
    sent: Vec<u8>,
    read: usize,
    /// What was read last.
    packet: Packet,
    /// What the lane gets.
    pub(super) answers: Vec<u8>,
    /// Bytes of it that the lane has room for.
    room: usize,
}

/// Memory of a transcript that is larger is not used again.
const SPARE: usize = 1 << 20;

thread_local! {
    /// That of the session which this thread polls.
    pub(super) static CURRENT: RefCell<Box<Transcript>> = RefCell::default();
    /// The memory of one that has ended.
    static LAST: Cell<Option<Box<Transcript>>> = const { Cell::new(None) };
}

impl Transcript {
    /// Of a call that brings these bytes: the last packet is filled up with zeros.
    pub(super) fn new(parts: &[&[u8]], answers: Vec<u8>, room: usize) -> Box<Self> {
        let mut new = LAST.take().unwrap_or_default();
        new.sent.clear();
        parts.iter().for_each(|part| new.sent.extend_from_slice(part));
        new.sent.resize(new.sent.len().next_multiple_of(PACKET_BYTES), 0);
        if answers.is_empty() {
            new.answers.clear();
        } else {
            new.answers = answers;
        }
        (new.read, new.room) = (0, room);
        new
    }

    /// It is not needed any more.
    pub(super) fn recycle(self: Box<Self>) {
        if self.sent.capacity() + self.answers.capacity() <= SPARE {
            LAST.set(Some(self));
        }
    }
}

/// What a session reads and writes while it is polled: the thread's current transcript.
pub(crate) struct Recorded;

impl Recorded {
    /// Whether the session may send a packet more.
    fn has_room(&self) -> bool {
        CURRENT.with_borrow(|transcript| transcript.answers.len() < transcript.room + AHEAD)
    }
}

impl Exchange for Recorded {
    fn mask(&self) -> u64 {
        1
    }

    fn width(&self) -> usize {
        1
    }

    fn has_come(&self) -> bool {
        CURRENT.with_borrow(|transcript| transcript.sent.len() > transcript.read) && self.has_room()
    }

    fn receives(&mut self) -> bool {
        CURRENT.with_borrow_mut(|transcript| {
            let Transcript { sent, read, packet, .. } = &mut **transcript;
            let Some(next) = sent.get(*read..*read + PACKET_BYTES) else { return false };
            *packet = packed(next, PACKET_WORDS);
            *read += PACKET_BYTES;
            true
        })
    }

    fn packet(&self, _: u32) -> Packet {
        CURRENT.with_borrow(|transcript| transcript.packet)
    }

    fn sends(&mut self) -> bool {
        self.has_room()
    }

    fn put(&mut self, _: u32, packet: &Packet) {
        CURRENT.with_borrow_mut(|transcript| transcript.answers.extend_from_slice(&bytes_of(packet)));
    }

    fn sent(&mut self) {}

    fn take_ahead(&mut self, most: u64, take: &mut dyn FnMut(&[u8])) -> u64 {
        CURRENT.with_borrow_mut(|transcript| {
            let Transcript { sent, read, .. } = &mut **transcript;
            let there = &sent[*read..];
            let taken = there.len().min(usize::try_from(most).unwrap_or(usize::MAX));
            take(&there[..taken]);
            *read += taken.next_multiple_of(PACKET_BYTES);
            taken as u64
        })
    }
}
