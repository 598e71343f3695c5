//! The server half: what the host does with a port.
//!
//! The device is untrusted. The host copies every word once, and decides on the copy. A value from shared memory is an
//! index into nothing but the port's own area, and only after its range was checked on the copy.

use crate::codec::bytes;
use crate::geometry::Geometry;
use crate::header::{Flags, Header, ReplyHead};
use crate::word::{Tag, WORD_BYTES, Word, units_in};

/// The words of one port buffer, as the host reads and writes them: relaxed and single-copy atomic.
pub trait HostMemory {
    /// Loads a word of a request area. Pairs, by its tag, with the client's `store_request`.
    ///
    /// # Panics
    /// When the port or the word does not exist.
    fn load_request(&self, port: u32, index: u32) -> Word;

    /// Stores a word of a reply area. Pairs, by its tag, with the client's `load_reply`. Memory that is written in
    /// whole lines has no such store of its own: it implements the two methods below.
    ///
    /// # Panics
    /// When the port or the word does not exist.
    fn store_reply(&self, port: u32, index: u32, word: Word);

    /// Copies the payload of a message, whose `lanes` × `words` words begin at index `at`, to `out`, lane after lane,
    /// and says whether all of them carry the raw tag `tag`. If not, `out` holds anything.
    ///
    /// The lanes' payloads begin [`lane_stride`] units apart; `out` is [`payload_units`] long at least. This is the
    /// server's hottest loop: memory that can do better than word by word does.
    #[inline(always)]
    fn load_payload(&self, port: u32, at: u32, lanes: u32, words: u32, tag: u16, out: &mut [u32]) -> bool {
        let stride = lane_stride(words);
        (0..words).all(|j| {
            (0..lanes).fold(true, |whole, lane| {
                let word = self.load_request(port, at + j * lanes + lane);
                let start = lane as usize * stride + units_in(j) as usize;
                let [a, b, c, d] = word.0;
                if j.is_multiple_of(2) {
                    out[start..start + 4].copy_from_slice(&[a, b, c, d & 0xffff]);
                } else {
                    out[start] |= a << 16;
                    out[start + 1..start + 4].copy_from_slice(&[a >> 16 | b << 16, b >> 16 | c << 16, c >> 16 | d << 16]);
                }
                whole & (word.tag() == tag)
            })
        })
    }

    /// Copies the payload of a lone lane to `out`: what is in its header `head`, and the `words` words that begin at
    /// index `at`; and says whether all of these carry the raw tag `tag`. If not, `out` holds anything. `out` is
    /// [`payload_units`] long at least.
    #[inline(always)]
    fn load_lone(&self, port: u32, head: Word, at: u32, words: u32, tag: u16, out: &mut [u32]) -> bool {
        let (start, rest) = out.split_at_mut(Header::LONE_UNITS as usize);
        start.copy_from_slice(&Header::decode(head).1);
        words == 0 || self.load_payload(port, at, 1, words, tag, rest)
    }

    /// Writes the replies to all lanes of message `tag`, and if the message scrubs, the rest of the port's reply area.
    #[inline(always)]
    fn store_replies(&self, geometry: &Geometry, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        store_replies_by_words(self, geometry, port, tag, replies);
    }

    /// Acknowledges all posts up to message `tag`: all of them have been copied.
    #[inline(always)]
    fn acknowledge(&self, geometry: &Geometry, port: u32, tag: Tag) {
        self.store_replies(geometry, port, tag, &LaneReplies { lanes: 1, words: 1, stride: 1, streams: &[0; LaneReplies::SPARE + 1] });
    }
}

/// [`HostMemory::store_replies`] for memory that is written word by word.
#[inline(always)]
pub fn store_replies_by_words<M: HostMemory + ?Sized>(memory: &M, geometry: &Geometry, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
    if replies.lanes == 1 && replies.words == 1 && !tag.scrubs() {
        // What most replies are.
        return memory.store_reply(port, 0, replies.word(0, 0, tag));
    }
    let stride = geometry.lone_stride();
    // A lane's first word last: when the client sees it, the others are on their way.
    for j in (0..replies.words).rev() {
        for rank in 0..replies.lanes {
            memory.store_reply(port, ReplyHead::place(replies.lanes, rank, j, stride), replies.word(rank, j, tag));
        }
    }
    if tag.scrubs() {
        let written = |at: u32| match replies.lanes {
            1 => at.is_multiple_of(stride) && at / stride < replies.words,
            lanes => at < lanes * replies.words,
        };
        for at in (0..geometry.reply_words).filter(|&at| !written(at)) {
            memory.store_reply(port, at, Word::new([0; 4], tag.payload()));
        }
    }
}

/// Units from one lane's payload to the next in the copy of a message with `words` words for each of several lanes.
#[inline(always)]
pub const fn lane_stride(words: u32) -> usize {
    (words * WORD_BYTES).div_ceil(4) as usize
}

/// Units that the copy of the largest message of a geometry takes: what [`ServerPort::poll`] must be given.
pub const fn payload_units(geometry: &Geometry) -> usize {
    // Words are copied whole, 16 bytes each, over the 2 bytes of tag of the one before; and lanes begin on whole units.
    (geometry.request_words as usize + 1) * size_of::<Word>() / 4
}

/// A request, complete and well-formed. Its payload has been copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What was asked.
    pub header: Header,
    /// The message's tag, with which it must be answered.
    pub tag: Tag,
    /// Where the next one starts, if this is a post.
    end: u16,
    /// See the methods of these names: worked out once.
    lane_units: u16,
    stride: u16,
    lanes: u8,
}

impl Message {
    #[inline(always)]
    const fn new(header: Header, tag: Tag, end: u32, lanes: u32, [lane_units, stride]: [u32; 2]) -> Self {
        Self { header, tag, end: end as u16, lane_units: lane_units as u16, stride: stride as u16, lanes: lanes as u8 }
    }

    /// Lanes that call.
    #[inline(always)]
    pub const fn lanes(&self) -> u32 {
        self.lanes as u32
    }

    /// Whether nobody waits for an answer.
    #[inline(always)]
    pub const fn is_post(&self) -> bool {
        !self.header.flags.has(Flags::REPLY)
    }

    /// Payload per lane in whole 32-bit units.
    #[inline(always)]
    pub const fn lane_units(&self) -> usize {
        self.lane_units as usize
    }

    /// Units from the start of one lane's payload to the next's.
    #[inline(always)]
    pub const fn stride(&self) -> usize {
        self.stride as usize
    }

    /// Units that the whole payload takes.
    #[inline(always)]
    pub const fn units(&self) -> usize {
        self.lanes() as usize * self.stride()
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
    /// A message that makes no sense: consume it, and answer it so that its lanes do not wait.
    Malformed(Malformed),
}

/// What nearly all messages of a service look like whose arguments have a fixed size: not staged, and as long as the
/// arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    /// The first unit of the header, of one lane and of several.
    heads: [u32; 2],
    /// Words of each lane, of one and of several.
    words: [u8; 2],
    flags: Flags,
    service: u16,
}

impl Usual {
    /// The messages of service `service`, whose arguments take `units` units: calls, or posts. `None`: no message has
    /// so many.
    #[inline(always)]
    pub const fn new(service: u16, units: usize, post: bool) -> Option<Self> {
        if units > Header::MOST_UNITS {
            return None;
        }
        let flags = if post { Flags(0) } else { Flags::REPLY };
        let [lone, many] = [Header::words_for(units as u32, 1), Header::words_for(units as u32, 2)];
        // (Several lanes carry less: of one word more there is none.)
        let many = if many > u8::MAX as u32 { u8::MAX } else { many as u8 };
        let heads = [Header::first_of(service, lone as u8, flags, true), Header::first_of(service, many, flags, false)];
        Some(Self { heads, words: [lone as u8, many], flags, service })
    }
}

impl Usual {
    /// Whether a header says so of a message of one lane.
    #[inline(always)]
    pub const fn is_lone(&self, head: &Head) -> bool {
        head.word.0[0] == self.heads[0]
    }

    /// Whether it says so of one of several lanes.
    #[inline(always)]
    pub const fn is_many(&self, head: &Head) -> bool {
        head.word.0[0] == self.heads[1]
    }

    /// The message of lane `lane` alone that has this tag.
    pub const fn lone(&self, tag: Tag, lane: u32) -> Message {
        let words = self.words[0];
        let header = Header { service: self.service, words, flags: self.flags, mask: 1 << lane };
        Message::new(header, tag, 0, 1, [Header::units_in(words as u32, 1); 2])
    }
}

/// The header of a message, as it was read, whose payload has not been looked at.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    word: Word,
    base: u32,
    tag: Tag,
}

impl Head {
    /// The message's tag.
    #[inline(always)]
    pub const fn tag(&self) -> Tag {
        self.tag
    }
}

/// What the host remembers of one port. It is read from shared memory in one case, and checked then: where a tool has
/// put memory back ([`ServerPort::at_mark`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPort {
    /// The last message's sequence number in the low 16 bits, and in the high ones where the next one starts, if not at
    /// 0: below the area's end. (In one word: to be read as one, it must have been written as one.)
    consumed: u32,
    /// Words of the next message that a look has found already, from its header on, one after another; 0: no look has
    /// found a part of it. A hint where to look, which says nothing of what the words are by now.
    found: u16,
}

impl ServerPort {
    /// More words than there are.
    const LEFT: u16 = u16::MAX;

    /// A port whose last message was `tag` (0 for a fresh one).
    pub const fn new(tag: Tag) -> Self {
        Self::behind(tag, 0)
    }

    /// A port whose last message was `tag`, and whose next one starts at `position`.
    #[inline(always)]
    const fn behind(tag: Tag, position: u16) -> Self {
        Self { consumed: tag.seq() as u32 | (position as u32) << 16, found: 0 }
    }

    /// Tag of the last message consumed: what the doorbell shows when nothing is to do.
    #[inline(always)]
    pub const fn tag(&self) -> Tag {
        Tag::new(self.consumed as u16)
    }

    /// What it knows of the messages consumed, in one word: the last one's sequence number in the low 16 bits, and
    /// where the next starts in the high ones.
    #[inline(always)]
    pub const fn mark(&self) -> u32 {
        self.consumed
    }

    /// The port that has such a [mark](ServerPort::mark), if one of this geometry can have it.
    pub const fn at_mark(mark: u32, geometry: &Geometry) -> Option<Self> {
        let (seq, position) = (mark as u16, (mark >> 16) as u16);
        let tag = Tag::new(seq);
        if tag.seq() == seq && (position as u32) < geometry.request_words { Some(Self::behind(tag, position)) } else { None }
    }

    /// Where the next message probably starts: behind the last one, or at 0 if there is nothing left behind it.
    #[inline(always)]
    pub const fn position(&self) -> u32 {
        self.consumed >> 16
    }

    /// Looks for the port's next message, and copies it into `out` if it is complete: the lanes' payloads one after
    /// another, in the order of their numbers, [`Message::stride`] units apart. (The message's words interleave them.)
    ///
    /// The message stays the port's next until it is [consumed](ServerPort::consume).
    ///
    /// A message that is not whole was copied in vain. The next look begins with the first word that was missing, and
    /// goes on from there; it copies when all have been seen. So however slowly a message arrives, each of its words is
    /// loaded three times at most, and three words more for each look.
    ///
    /// # Panics
    /// When `out` is shorter than [`payload_units`].
    #[inline(always)]
    pub fn poll<M: HostMemory>(&mut self, memory: &M, geometry: &Geometry, port: u32, out: &mut [u32]) -> Polled {
        let Some(Head { word, base, .. }) = self.head(memory, port) else { return Polled::Nothing };
        let (header, first) = Header::decode(word);
        // Two copies of what follows: in one of them nearly everything is known beforehand.
        match header.lanes() {
            1 => self.read(memory, geometry, port, base, (header, first), 1, out),
            lanes => self.read(memory, geometry, port, base, (header, first), lanes, out),
        }
    }

    /// The header of the port's next message, if it is there.
    #[inline(always)]
    fn head<M: HostMemory>(&self, memory: &M, port: u32) -> Option<Head> {
        let (tag, base) = (self.tag().next(), self.position());
        let word = memory.load_request(port, base);
        if word.tag() == tag.header() {
            return Some(Head { word, base, tag });
        }
        // Or it begins anew.
        if base == 0 {
            return None;
        }
        let word = memory.load_request(port, 0);
        (word.tag() == tag.header()).then_some(Head { word, base: 0, tag })
    }

    /// The header of the port's next message, if there is nothing special about that message so far: no look has found
    /// a part of it, and it scrubs nothing.
    ///
    /// # Panics
    /// When there is no such port.
    #[inline(always)]
    pub fn peek<M: HostMemory>(&self, memory: &M, port: u32) -> Option<Head> {
        if self.found != 0 || self.tag().next().scrubs() { None } else { self.head(memory, port) }
    }

    /// Copies the message that was [peeked](ServerPort::peek) at, which is [one lane's](Usual::is_lone), to `out`, and
    /// consumes it, if it is complete and well-formed: the number of the lane. `None`: nothing was taken, and
    /// [`ServerPort::poll`] finds out what is there.
    ///
    /// # Panics
    /// When `out` is shorter than [`payload_units`].
    #[inline(always)]
    pub fn take_lone<M: HostMemory>(
        &mut self,
        memory: &M,
        geometry: &Geometry,
        port: u32,
        head: &Head,
        usual: &Usual,
        out: &mut [u32],
    ) -> Option<u32> {
        let words = u32::from(usual.words[0]);
        let (lane, end) = (head.word.0[1] & 0xffff, head.base + 1 + words);
        if lane >= geometry.lanes || end > geometry.request_words {
            return None;
        }
        if !memory.load_lone(port, head.word, head.base + 1, words, head.tag.payload(), out) {
            self.found = 1;
            return None;
        }
        let position = if usual.flags.has(Flags::REPLY) || end == geometry.request_words { 0 } else { end as u16 };
        *self = Self::behind(head.tag, position);
        Some(lane)
    }

    /// The same of a message of [several lanes](Usual::is_many).
    ///
    /// # Panics
    /// When `out` is shorter than [`payload_units`].
    #[inline(always)]
    pub fn take_many<M: HostMemory>(
        &mut self,
        memory: &M,
        geometry: &Geometry,
        port: u32,
        head: &Head,
        usual: &Usual,
        out: &mut [u32],
    ) -> Option<Message> {
        let (Header { mask, .. }, _) = Header::decode(head.word);
        let (service, words, flags) = (usual.service, usual.words[1], usual.flags);
        let header = Header { service, words, flags, mask };
        let lanes = mask.count_ones();
        let end = end_of(header, lanes, head.base, geometry)?;
        let (shape, whole) = copy(memory, port, head.base, head.tag, [0; 2], lanes, words.into(), out);
        if !whole {
            self.found = 1;
            return None;
        }
        let message = Message::new(header, head.tag, end, lanes, shape);
        self.consume(&message, geometry);
        Some(message)
    }

    /// Copies the message of `lanes` lanes that begins at `base`, if it is complete.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the second half of `poll`")]
    fn read<M: HostMemory>(
        &mut self,
        memory: &M,
        geometry: &Geometry,
        port: u32,
        base: u32,
        (header, first): (Header, [u32; 2]),
        lanes: u32,
        out: &mut [u32],
    ) -> Polled {
        let (tag, words) = (self.tag().next(), header.words as u32);
        let Some(end) = end_of(header, lanes, base, geometry) else {
            return Polled::Malformed(Malformed { header, tag });
        };
        if self.found != 0 && !self.find_more(memory, port, base, if tag.scrubs() { geometry.request_words } else { end }, tag) {
            return Polled::Nothing;
        }
        let (shape, whole) = copy(memory, port, base, tag, first, lanes, words, out);
        if !whole || tag.scrubs() && !scrubbed(memory, geometry, port, end, tag) {
            self.found = 1;
            return Polled::Nothing;
        }
        let end = if tag.scrubs() { geometry.request_words } else { end };
        Polled::Message(Message::new(header, tag, end, lanes, shape))
    }

    /// Goes on, behind what has been found already, with looking for the words of the message that begins at `base`;
    /// whether there are none left before `end` that are missing.
    #[cold]
    #[inline(never)]
    fn find_more<M: HostMemory>(&mut self, memory: &M, port: u32, base: u32, end: u32, tag: Tag) -> bool {
        let mut at = base + u32::from(self.found);
        while at < end && memory.load_request(port, at).tag() == tag.payload() {
            at += 1;
        }
        // If the copy finds one missing after all, the device has taken it back; then all is looked for again.
        self.found = if at < end { (at - base) as u16 } else { 0 };
        at >= end
    }

    /// The tag of the last message that is there by now, as far as headers say: the port's next, the one behind it if
    /// that is a post, and so on to the first that somebody waits for. Nothing is promised of the messages. There are
    /// as many as the area has words at most, so a device that goes on sending does not make this take longer.
    pub fn held<M: HostMemory>(&self, memory: &M, geometry: &Geometry, port: u32) -> Tag {
        let (mut last, mut at) = (self.tag(), self.position());
        for _ in 0..geometry.request_words {
            let tag = last.next();
            let mut head = memory.load_request(port, at);
            if head.tag() != tag.header() && at != 0 {
                at = 0;
                head = memory.load_request(port, 0);
            }
            if head.tag() != tag.header() {
                break;
            }
            last = tag;
            let (header, _) = Header::decode(head);
            match end_of(header, header.lanes(), at, geometry) {
                Some(end) if !header.flags.has(Flags::REPLY) => at = if tag.scrubs() || end >= geometry.request_words { 0 } else { end },
                // Whatever follows is sent when this one is answered.
                _ => break,
            }
        }
        last
    }

    /// A message that [`ServerPort::poll`] gave is not taken now, for want of room: the next `poll` copies it again, so
    /// there should be room first.
    #[inline(always)]
    pub const fn leave(&mut self) {
        self.found = Self::LEFT;
    }

    /// Whether the next message was [left](ServerPort::leave): it is whole, and no look has been taken since.
    #[inline(always)]
    pub const fn is_left(&self) -> bool {
        self.found == Self::LEFT
    }

    /// A message that [`ServerPort::poll`] gave has been taken: what follows is looked for from now on.
    #[inline(always)]
    pub const fn consume(&mut self, message: &Message, geometry: &Geometry) {
        let next = if message.is_post() && (message.end as u32) < geometry.request_words { message.end } else { 0 };
        *self = Self::behind(message.tag, next);
    }

    /// As [`ServerPort::consume`], of a message that made no sense. Its length is unknown, so the port restarts at 0,
    /// as after an answered message.
    pub const fn skip(&mut self, malformed: &Malformed) {
        *self = Self::behind(malformed.tag, 0);
    }
}

/// Copies the words of the message that begins at `base`, of a lone lane with the two units `first` of its header:
/// units of each lane, and from one lane's to the next's; and whether all words are of the message.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "what `poll` and `take` have in common")]
fn copy<M: HostMemory>(
    memory: &M,
    port: u32,
    base: u32,
    tag: Tag,
    first: [u32; 2],
    lanes: u32,
    words: u32,
    out: &mut [u32],
) -> ([u32; 2], bool) {
    let units = Header::units_in(words, lanes);
    if lanes == 1 {
        let (start, rest) = out.split_at_mut(Header::LONE_UNITS as usize);
        start.copy_from_slice(&first);
        return ([units; 2], words == 0 || memory.load_payload(port, base + 1, 1, words, tag.payload(), rest));
    }
    ([units, lane_stride(words) as u32], memory.load_payload(port, base + 1, lanes, words, tag.payload(), out))
}

/// Where a message of `lanes` lanes that begins at `base` ends; `None` if its header says what no client says.
#[inline(always)]
const fn end_of(header: Header, lanes: u32, base: u32, geometry: &Geometry) -> Option<u32> {
    let end = base + 1 + lanes * header.words as u32;
    let known = header.mask != 0 && header.mask >> (geometry.lanes - 1) <= 1 && header.flags.0 & !Flags::KNOWN.0 == 0;
    if known && end <= geometry.request_words { Some(end) } else { None }
}

/// Whether everything behind a scrubbing message carries its tag: a scrubbed word that arrived late would overwrite a
/// later message.
#[cold]
fn scrubbed<M: HostMemory>(memory: &M, geometry: &Geometry, port: u32, end: u32, tag: Tag) -> bool {
    (end..geometry.request_words).all(|at| memory.load_request(port, at).tag() == tag.payload())
}

/// The replies to all lanes of one message, as they are about to be written.
#[derive(Clone, Copy, Debug)]
pub struct LaneReplies<'a> {
    /// Lanes that called.
    pub lanes: u32,
    /// Words of each reply: those of the longest. At most [`ReplyHead::most_words`] of the reply area.
    pub words: u32,
    /// Units from one lane's stream to the next.
    pub stride: usize,
    /// Each lane's reply as a stream of units, its [`ReplyHead`] first, and [`LaneReplies::SPARE`] units more, which
    /// may be read but mean nothing.
    pub streams: &'a [u32],
}

impl LaneReplies<'_> {
    /// Units that there must be behind the last stream: words are made of four units, whatever is left of the stream.
    pub const SPARE: usize = 4;

    /// Word `j` of the `rank`-th lane's reply to message `tag`: the bytes that `pack` gives, read at once.
    #[inline(always)]
    pub fn word(&self, rank: u32, j: u32, tag: Tag) -> Word {
        let start = rank as usize * self.stride * 4 + (j * WORD_BYTES) as usize;
        let bytes = bytes(self.streams).get(start..).and_then(|rest| rest.first_chunk::<16>());
        let payload = u128::from_ne_bytes(*bytes.unwrap_or(&[0; 16])) & ((1 << (8 * WORD_BYTES)) - 1);
        let word = payload | u128::from(tag.payload()) << (8 * WORD_BYTES);
        // SAFETY: both are 16 bytes of plain integers. (Made of its units, it would go through four registers.)
        unsafe { core::mem::transmute::<u128, Word>(word) }
    }
}

/// The most 32-bit units of payload that a reply to each of `lanes` lanes can carry.
#[inline(always)]
pub const fn largest_reply_dwords(geometry: &Geometry, lanes: u32) -> usize {
    let room = units_in(ReplyHead::most_words(geometry.reply_words, lanes, geometry.lone_stride())) as usize - 1;
    // A reply's head has 16 bits for its length.
    if room > u16::MAX as usize { u16::MAX as usize } else { room }
}
