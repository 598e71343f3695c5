//! The first word of a request, and the first unit of each lane's reply.

use crate::status::Status;
use crate::word::{Tag, WORD_BYTES, Word, pack, units_in, words_of};

/// What a request asks of the server besides its payload. Unknown bits make a request malformed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The lanes wait for the handler's results. Without it the server acknowledges the message when it has
    /// copied it. It must be set if, and only if, the service's definition has a result.
    pub const REPLY: Flags = Flags(1);
    /// The variable parts (strings, slices) lie in a staging slot; each lane's payload names its
    /// region of it. See [`crate::codec`].
    pub const STAGED: Flags = Flags(2);
    /// One lane calls: its payload begins in the header's word. [`Header::encode`] sets it.
    const LONE: Flags = Flags(4);

    /// All bits that have a meaning to whoever handles the message.
    pub const KNOWN: Flags = Flags(3);

    /// Whether every bit of `other` is set.
    #[inline(always)]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[inline(always)]
    #[must_use]
    pub const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// First word of a request: 6 bytes of head, and 8 bytes that are the mask of the calling lanes or, if only one lane
/// calls, its first two units of payload.
///
/// | bytes | many lanes | a lone lane |
/// |---|---|---|
/// | 0–1 | service | the same |
/// | 2 | words of payload per lane | words behind this one |
/// | 3 | flags | flags and `LONE` |
/// | 4–5 | 0 | number of the lane |
/// | 6–13 | mask | units 0 and 1 of the payload |
/// | 14–15 | tag with the header bit | the same |
///
/// The payloads of many lanes follow *interleaved*: with `n` bits set in `mask`, word `j` of the `r`-th active lane is
/// word `1 + j·n + r` of the message, so a wave's stores coalesce. A lone lane's words follow one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the service, given by the host when the program was attached; 0 is nobody's.
    pub service: u16,
    /// Words per lane behind this one.
    pub words: u8,
    /// What is asked.
    pub flags: Flags,
    /// The lanes that call, by lane number.
    pub mask: u64,
}

impl Header {
    /// Units of payload that travel in a lone lane's header word.
    pub const LONE_UNITS: u32 = 2;

    /// The most whole units of payload that a message of one lane can say that it has. A message of several lanes
    /// carries less for each.
    pub const MOST_UNITS: usize = Self::units_in(u8::MAX as u32, 1) as usize;

    /// Words behind the header word that carry `units` units of each of `lanes` lanes.
    #[inline(always)]
    pub const fn words_for(units: u32, lanes: u32) -> u32 {
        if lanes != 1 {
            return words_of(units);
        }
        // `words_of` of the units but the first two, or of none; from 2³⁰ units on, of more than any area has.
        let units = if units < (1 << 30) - 1 { units } else { (1 << 30) - 2 };
        (units * 4 + (WORD_BYTES - 1 - Self::LONE_UNITS * 4)) / WORD_BYTES
    }

    /// Whole units of payload of each lane, of a message with `words` words for each of `lanes` lanes.
    #[inline(always)]
    pub const fn units_in(words: u32, lanes: u32) -> u32 {
        // (A lone lane's first two units leave the stream's halves as they are.)
        units_in(words) + if lanes == 1 { Self::LONE_UNITS } else { 0 }
    }

    /// The header of many lanes as a word of message `tag`.
    #[inline(always)]
    pub const fn encode(self, tag: Tag) -> Word {
        self.encode_with(false, 0, [self.mask as u32, (self.mask >> 32) as u32], tag)
    }

    /// The header of a lone lane, number `lane`, whose payload begins with `units`.
    #[inline(always)]
    pub const fn encode_lone(self, lane: u32, units: [u32; Self::LONE_UNITS as usize], tag: Tag) -> Word {
        self.encode_with(true, lane, units, tag)
    }

    /// The first unit of a header: what is the same in all messages that are alike.
    #[inline(always)]
    pub(crate) const fn first_of(service: u16, words: u8, flags: Flags, lone: bool) -> u32 {
        let form = if lone { Flags::LONE.0 } else { 0 };
        service as u32 | (words as u32) << 16 | ((flags.0 | form) as u32) << 24
    }

    #[inline(always)]
    const fn encode_with(self, lone: bool, lane: u32, rest: [u32; 2], tag: Tag) -> Word {
        let head = Self::first_of(self.service, self.words, self.flags, lone);
        let [a, b] = rest;
        Word::new([head, lane & 0xffff | a << 16, a >> 16 | b << 16, b >> 16], tag.header())
    }

    /// Reads a header back, and the two units behind its head: of a lone lane, the start of its payload. Nothing is
    /// validated here but what any bits can mean; a lane that cannot be is an empty mask.
    #[inline(always)]
    pub const fn decode(word: Word) -> (Self, [u32; 2]) {
        let [head, a, b, c] = word.0;
        let rest = [a >> 16 | b << 16, b >> 16 | c << 16];
        let flags = Flags((head >> 24) as u8);
        let (flags, mask) = if flags.has(Flags::LONE) {
            let lane = a & 0xffff;
            (Flags(flags.0 & !Flags::LONE.0), if lane < 64 { 1 << lane } else { 0 })
        } else {
            let mask = rest[0] as u64 | (rest[1] as u64) << 32;
            // One lane has one form, so that its words are where everybody looks for them.
            (flags, if mask.is_power_of_two() { 0 } else { mask })
        };
        (Self { service: head as u16, words: (head >> 16) as u8, flags, mask }, rest)
    }

    /// Lanes that call.
    #[inline(always)]
    pub const fn lanes(self) -> u32 {
        if self.mask.is_power_of_two() { 1 } else { self.mask.count_ones() }
    }

    /// Words of the whole message, header included.
    #[inline(always)]
    pub const fn message_words(self) -> u32 {
        1 + self.lanes() * self.words as u32
    }
}

/// Payload of a lone lane's word `index` behind the header, of which `unit(i)` gives the payload's `i`-th unit.
#[inline(always)]
pub fn pack_lone(index: u32, unit: impl Fn(u32) -> u32) -> [u32; 4] {
    pack(index, |i| unit(i + Header::LONE_UNITS))
}

/// First unit of one lane's reply: how the call ended and how much follows.
///
/// A reply is a stream of units, this head first, in words of 14 bytes. Of many lanes, word `j` of the `r`-th active
/// lane's reply is word `j·n + r` of the port's reply area, with `n` the number of lanes: a wave's loads coalesce, and
/// the host writes whole lines. Of a lone lane it is word `j·s`, with `s` the descriptor's
/// [`lone_stride`](crate::Descriptor::lone_stride).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// How the call ended for this lane.
    pub status: Status,
    /// Payload in 32-bit units.
    pub dwords: u16,
}

impl ReplyHead {
    /// The head as the first 32-bit unit of the reply.
    #[inline(always)]
    pub const fn encode(self) -> u32 {
        self.status.0 as u32 | (self.dwords as u32) << 16
    }

    /// Reads a head back.
    #[inline(always)]
    pub const fn decode(unit: u32) -> Self {
        Self { status: Status(unit as u16), dwords: (unit >> 16) as u16 }
    }

    /// Words of a lane's reply that carries `dwords` 32-bit units.
    #[inline(always)]
    pub const fn words(dwords: u32) -> u32 {
        // The head is a unit too.
        words_of(if dwords < 1 << 30 { 1 + dwords } else { 1 << 30 })
    }

    /// Whether a reply that carries `dwords` 32-bit units has a word `j`: `j < words(dwords)`, by one comparison where
    /// `j` is known.
    #[inline(always)]
    pub const fn reaches(dwords: u32, j: u32) -> bool {
        // The head is a unit too. Units that fit into the `j` words before, less the head.
        j == 0 || dwords > (WORD_BYTES * j - 4) / 4
    }

    /// Where word `j` of the `rank`-th of `lanes` lanes' reply lies in the reply area.
    #[inline(always)]
    pub const fn place(lanes: u32, rank: u32, j: u32, lone_stride: u32) -> u32 {
        if lanes == 1 { j * lone_stride } else { j * lanes + rank }
    }

    /// Words of the reply area that replies of `words` words to each of `lanes` lanes reach.
    #[inline(always)]
    pub const fn area(lanes: u32, words: u32, lone_stride: u32) -> u32 {
        if lanes == 1 { (words - 1) * lone_stride + 1 } else { lanes * words }
    }

    /// The most words that each of `lanes` lanes' replies can have in an area of `reply_words` words.
    #[inline(always)]
    pub const fn most_words(reply_words: u32, lanes: u32, lone_stride: u32) -> u32 {
        if lanes == 1 { reply_words.div_ceil(lone_stride) } else { reply_words / lanes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let h = Header { service: 0xabcd, words: 255, flags: Flags::REPLY.and(Flags::STAGED), mask: 0x8000_0001_0000_00f1 };
        let w = h.encode(Tag::new(7));
        assert_eq!(Header::decode(w).0, h);
        assert_eq!(w.tag(), 0x8007);
        assert_eq!(h.message_words(), 1 + 7 * 255);
    }

    #[test]
    fn a_lone_lanes_header_carries_its_first_units() {
        for lane in [0, 31, 63] {
            let h = Header { service: 0xabcd, words: 4, flags: Flags::REPLY, mask: 1 << lane };
            let w = h.encode_lone(lane, [0x1234_5678, 0x9abc_def0], Tag::new(0x7fff));
            assert_eq!(Header::decode(w), (h, [0x1234_5678, 0x9abc_def0]));
            assert_eq!(w.tag(), 0xffff);
        }
        let h = Header { service: 1, words: 4, flags: Flags::REPLY, mask: 1 };
        assert_eq!(Header::decode(h.encode_lone(64, [0, 0], Tag::new(1))).0.mask, 0, "no such lane");
        assert_eq!(Header::decode(h.encode(Tag::new(1))).0.mask, 0, "one lane in the form of many");
    }

    #[test]
    fn sixty_four_bytes_are_five_words_of_a_lone_lane_and_161_of_a_wave() {
        for units in (0..1000).chain([(1 << 30) - 2]) {
            assert_eq!(Header::words_for(units, 1), words_of(units.saturating_sub(2)), "{units} units");
        }
        assert_eq!(1 + Header::words_for(16, 1), 5);
        assert_eq!(1 + 32 * Header::words_for(16, 32), 161);
        assert!(Header::units_in(4, 1) == 16 && Header::units_in(5, 32) == 17);
    }

    #[test]
    fn reply_words_count_the_head() {
        assert!(ReplyHead::words(u32::MAX) > crate::Geometry::MAX_WORDS && Header::words_for(u32::MAX, 1) > crate::Geometry::MAX_WORDS);
        assert_eq!([0, 1, 2, 3, 5, 6, 9, 10, 13].map(ReplyHead::words), [1, 1, 1, 2, 2, 2, 3, 4, 4]);
        for (dwords, j) in (0..300).flat_map(|dwords| (0..100).map(move |j| (dwords, j))) {
            assert_eq!(ReplyHead::reaches(dwords, j), j < ReplyHead::words(dwords), "{dwords} units, word {j}");
        }
    }
}
