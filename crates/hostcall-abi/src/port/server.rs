//! The server half: what the host does with a port.
//!
//! The device is untrusted. Every word is copied once; everything is decided on the copy; nothing read
//! from shared memory is ever an index into anything but the port's own area, and that only after its
//! range was checked on the copy.

use crate::geometry::Geometry;
use crate::header::{Flags, Header, ReplyHead};
use crate::status::Status;
use crate::word::{Tag, Word};

/// The words of one port buffer, as the host reads and writes them: relaxed and single-copy atomic.
pub trait HostMemory {
    /// Loads a word of a request area. Pairs, by its tag, with the client's `store_request`.
    fn load_request(&self, port: u32, index: u32) -> Word;
    /// Stores a word of a reply area. Pairs, by its tag, with the client's `load_reply`.
    fn store_reply(&self, port: u32, index: u32, word: Word);
}

/// A request, complete and well-formed. Its payload has been copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What was asked.
    pub header: Header,
    /// The message's tag, with which it must be answered.
    pub tag: Tag,
}

impl Message {
    /// Lanes that call.
    pub const fn lanes(&self) -> u32 {
        self.header.mask.count_ones()
    }

    /// Payload per lane in 32-bit units.
    pub const fn lane_dwords(&self) -> usize {
        self.header.words as usize * 3
    }
}

/// What a header said that no client of this version says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The header as read.
    pub header: Header,
    /// Its tag.
    pub tag: Tag,
}

/// What a look at a port gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// The next message is not there, or not yet whole.
    Nothing,
    /// A message; its payload is in the buffer that was passed, lane after lane.
    Message(Message),
    /// A message that makes no sense. It has been consumed; answer it so that its lanes do not wait.
    Malformed(Malformed),
}

/// What the host remembers of one port: never read from shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPort {
    tag: Tag,
    position: u32,
}

impl ServerPort {
    /// A port whose last message was `tag` (0 for a fresh one).
    pub const fn new(tag: Tag) -> Self {
        Self { tag, position: 0 }
    }

    /// Tag of the last message consumed: what the doorbell shows when nothing is to do.
    #[inline(always)]
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// Looks for the port's next message, and copies it into `payload` if it is complete.
    ///
    /// `payload` is resized to `lanes × lane_dwords` units: the lanes' payloads one after another, in the
    /// order of their numbers. (The message's words interleave them.)
    #[inline]
    pub fn poll<M: HostMemory>(&mut self, memory: &M, geometry: &Geometry, port: u32, payload: &mut PayloadBuf) -> Polled {
        let tag = self.tag.next();
        let mut base = self.position;
        let mut head =
            if base < geometry.request_words { memory.load_request(port, base) } else { Word { tag: !tag.header(), ..Word::default() } };
        if head.tag != tag.header() {
            if base == 0 {
                return Polled::Nothing;
            }
            base = 0;
            head = memory.load_request(port, 0);
            if head.tag != tag.header() {
                return Polled::Nothing;
            }
        }
        let header = Header::decode(head.data);
        let lanes = header.mask.count_ones();
        let words = header.words as u32;
        if header.mask == 0
            || header.mask & !geometry.lane_mask() != 0
            || header.flags.0 & !Flags::KNOWN.0 != 0
            || base + header.message_words() > geometry.request_words
        {
            // Its length is unknown, so the port restarts at 0, as after an answered message.
            *self = Self { tag, position: 0 };
            return Polled::Malformed(Malformed { header, tag });
        }
        let lane_dwords = words as usize * 3;
        let out = payload.prepare(lanes as usize * lane_dwords);
        // Tags are gathered and compared once per run of lanes: this loop is the server's hottest.
        for j in 0..words {
            let mut wrong = 0;
            let at = base + 1 + j * lanes;
            for (lane, slot) in (0..lanes).zip(out[j as usize * 3..].chunks_mut(lane_dwords)) {
                let word = memory.load_request(port, at + lane);
                wrong |= word.tag ^ tag.payload();
                slot[..3].copy_from_slice(&word.data);
            }
            if wrong != 0 {
                return Polled::Nothing;
            }
        }
        if tag.scrubs() {
            // A scrubbed word that arrived late would overwrite a later message.
            for at in base + header.message_words()..geometry.request_words {
                if memory.load_request(port, at).tag != tag.payload() {
                    return Polled::Nothing;
                }
            }
        }
        let next = if tag.scrubs() { geometry.request_words } else { base + header.message_words() };
        let position = if header.flags.has(Flags::REPLY) { 0 } else { next };
        *self = Self { tag, position };
        Polled::Message(Message { header, tag })
    }
}

/// Writes the reply of the `rank`-th of `lanes` lanes. `payload` is cut to what the reply area holds.
///
/// The lane's first word is written last: when the client sees it, the others are on their way.
/// An acknowledgement of a post is `write_reply(…, 0, 1, tag, Status::OK, &[])`.
#[inline]
#[expect(clippy::too_many_arguments, reason = "each is one fact of the reply; a struct would be built and taken apart in the same breath")]
pub fn write_reply<M: HostMemory>(
    memory: &M,
    geometry: &Geometry,
    port: u32,
    rank: u32,
    lanes: u32,
    tag: Tag,
    status: Status,
    payload: &[u32],
) {
    let room = largest_reply_dwords(geometry, lanes);
    let payload = &payload[..payload.len().min(room)];
    let words = ReplyHead::words(payload.len() as u32);
    let stride = ReplyHead::stride(lanes);
    let unit = |i: usize| payload.get(i).copied().unwrap_or(0);
    for j in (1..words).rev() {
        let i = j as usize * 3 - 1;
        memory.store_reply(port, j * stride + rank, Word { data: [unit(i), unit(i + 1), unit(i + 2)], tag: tag.payload() });
    }
    if tag.scrubs() {
        // The lane's share of all other words of the area.
        for at in (rank..geometry.reply_words).step_by(lanes as usize) {
            if at % stride != rank || at / stride >= words {
                memory.store_reply(port, at, Word { data: [0; 3], tag: tag.payload() });
            }
        }
    }
    let head = ReplyHead { status, dwords: payload.len() as u16 };
    memory.store_reply(port, rank, Word { data: [head.encode(), unit(0), unit(1)], tag: tag.payload() });
}

/// The most 32-bit units of payload that a reply to each of `lanes` lanes can carry.
#[inline(always)]
pub const fn largest_reply_dwords(geometry: &Geometry, lanes: u32) -> usize {
    (geometry.reply_words / ReplyHead::stride(lanes)) as usize * 3 - 1
}

/// The buffer that [`ServerPort::poll`] copies payloads into. One per server thread; it grows to the
/// largest message of its geometry and stays there.
#[derive(Debug)]
pub struct PayloadBuf<'a>(&'a mut [u32], usize);

impl<'a> PayloadBuf<'a> {
    /// A buffer over `units`, which must hold [`PayloadBuf::units`] of the geometry.
    pub fn new(units: &'a mut [u32]) -> Self {
        Self(units, 0)
    }

    /// Units that the largest message of a geometry takes.
    pub const fn units(geometry: &Geometry) -> usize {
        geometry.request_words as usize * 3
    }

    fn prepare(&mut self, len: usize) -> &mut [u32] {
        self.1 = len;
        &mut self.0[..len]
    }

    /// The payload of the last message.
    pub fn payload(&self) -> &[u32] {
        &self.0[..self.1]
    }
}
