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

    /// Copies the payload of a message, whose `lanes` × `words` words begin at index `at`, to `out`, lane after lane, and says whether all of
    /// them carry the raw tag `tag`. If not, `out` holds anything.
    ///
    /// `out` is one unit longer than the payload, so that words can be copied whole, each over the tag of the one before. The message is
    /// inside the request area. This is the server's hottest loop: memory that can do better than word by word does.
    #[inline(always)]
    fn load_payload(&self, port: u32, at: u32, lanes: u32, words: u32, tag: u32, out: &mut [u32]) -> bool {
        let lane_dwords = words as usize * 3;
        (0..words).all(|j| {
            let mut wrong = 0;
            for (lane, slot) in (0..lanes).zip(out[j as usize * 3..].chunks_mut(lane_dwords)) {
                let word = self.load_request(port, at + j * lanes + lane);
                wrong |= word.tag ^ tag;
                slot[..3].copy_from_slice(&word.data);
            }
            wrong == 0
        })
    }
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

    /// Where the next message probably starts: behind the last one, or at 0 if there is nothing left behind it.
    #[inline(always)]
    pub const fn position(&self, geometry: &Geometry) -> u32 {
        if self.position < geometry.request_words { self.position } else { 0 }
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
        let end = base + 1 + lanes * words;
        if header.mask == 0
            || header.mask & !geometry.lane_mask() != 0
            || header.flags.0 & !Flags::KNOWN.0 != 0
            || end > geometry.request_words
        {
            // Its length is unknown, so the port restarts at 0, as after an answered message.
            *self = Self { tag, position: 0 };
            return Polled::Malformed(Malformed { header, tag });
        }
        let lane_dwords = words as usize * 3;
        let out = payload.prepare(lanes as usize * lane_dwords);
        if !memory.load_payload(port, base + 1, lanes, words, tag.payload(), out) {
            return Polled::Nothing;
        }
        if tag.scrubs() {
            // A scrubbed word that arrived late would overwrite a later message.
            for at in end..geometry.request_words {
                if memory.load_request(port, at).tag != tag.payload() {
                    return Polled::Nothing;
                }
            }
        }
        let next = if tag.scrubs() { geometry.request_words } else { end };
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
    Replies::new(geometry, port, lanes, tag).write(memory, geometry, rank, status, payload);
}

/// A unit that was probably stored a moment ago, by itself. A load of two such units at once, into which compilers merge plain loads, would have
/// to wait until the stores have left the processor's store buffer; that alone took half of the time of a lane's call.
#[inline(always)]
fn fresh(unit: &u32) -> u32 {
    // SAFETY: a reference is valid for reads.
    unsafe { core::ptr::from_ref(unit).read_volatile() }
}

/// What the replies to one message's lanes have in common: worked out once per message, not per lane.
#[derive(Clone, Copy, Debug)]
pub struct Replies {
    port: u32,
    lanes: u32,
    tag: Tag,
    stride: u32,
    room: usize,
}

impl Replies {
    /// The replies to message `tag` of `lanes` lanes.
    #[inline(always)]
    pub const fn new(geometry: &Geometry, port: u32, lanes: u32, tag: Tag) -> Self {
        Self { port, lanes, tag, stride: ReplyHead::stride(lanes), room: largest_reply_dwords(geometry, lanes) }
    }

    /// The most 32-bit units of payload that each carries.
    #[inline(always)]
    pub const fn room(&self) -> usize {
        self.room
    }

    /// Writes the reply of the `rank`-th lane, as [`write_reply`] does.
    #[inline(always)]
    pub fn write<M: HostMemory>(&self, memory: &M, geometry: &Geometry, rank: u32, status: Status, payload: &[u32]) {
        let Self { port, tag, stride, room, .. } = *self;
        let payload = if payload.len() > room { &payload[..room] } else { payload };
        let (first, rest) = match payload {
            [] => ([0, 0], &[][..]),
            [a] => ([fresh(a), 0], &[][..]),
            [a, b, rest @ ..] => ([fresh(a), fresh(b)], rest),
        };
        let mut at = rank;
        for part in rest.chunks(3) {
            at += stride;
            let data = match part {
                [a, b, c] => [fresh(a), fresh(b), fresh(c)],
                [a, b] => [fresh(a), fresh(b), 0],
                [a] => [fresh(a), 0, 0],
                _ => [0; 3],
            };
            memory.store_reply(port, at, Word { data, tag: tag.payload() });
        }
        if tag.scrubs() {
            self.scrub(memory, geometry, rank, ReplyHead::words(payload.len() as u32));
        }
        let head = ReplyHead { status, dwords: payload.len() as u16 };
        memory.store_reply(port, rank, Word { data: [head.encode(), first[0], first[1]], tag: tag.payload() });
    }

    /// The most units of a reply that [`Replies::write_short`] writes.
    pub const SHORT: usize = 8;

    /// As [`Replies::write`], of the first `len` of `units`, which fit. (What is in the others may travel along in the last word.)
    #[inline(always)]
    pub fn write_short<M: HostMemory>(
        &self,
        memory: &M,
        geometry: &Geometry,
        rank: u32,
        status: Status,
        units: &[u32; Self::SHORT],
        len: usize,
    ) {
        let Self { port, tag, stride, .. } = *self;
        let [a, b, rest @ ..] = units.each_ref().map(fresh);
        for (j, data) in [[rest[0], rest[1], rest[2]], [rest[3], rest[4], rest[5]]].into_iter().enumerate() {
            if len > 2 + 3 * j {
                memory.store_reply(port, rank + (j as u32 + 1) * stride, Word { data, tag: tag.payload() });
            }
        }
        if tag.scrubs() {
            self.scrub(memory, geometry, rank, ReplyHead::words(len as u32));
        }
        let head = ReplyHead { status, dwords: len as u16 };
        memory.store_reply(port, rank, Word { data: [head.encode(), a, b], tag: tag.payload() });
    }

    /// Writes the lane's share of all words of the area that its reply of `words` words leaves.
    #[cold]
    fn scrub<M: HostMemory>(self, memory: &M, geometry: &Geometry, rank: u32, words: u32) {
        for at in (rank..geometry.reply_words).step_by(self.lanes as usize) {
            if at % self.stride != rank || at / self.stride >= words {
                memory.store_reply(self.port, at, Word { data: [0; 3], tag: self.tag.payload() });
            }
        }
    }
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

    /// Room for a payload of `len` units and one more. (The largest message has a header, whose room here is never needed.)
    fn prepare(&mut self, len: usize) -> &mut [u32] {
        self.1 = len;
        &mut self.0[..=len]
    }

    /// The payload of the last message.
    pub fn payload(&self) -> &[u32] {
        &self.0[..self.1]
    }
}
