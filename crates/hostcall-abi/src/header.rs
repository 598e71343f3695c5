//! The first word of a request, and the first word of each lane's reply.

use crate::status::Status;
use crate::word::{Tag, Word};

/// What a request asks of the server besides its payload. Unknown bits make a request malformed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The lanes wait for the handler's results. Without it the server acknowledges the message as
    /// soon as it has copied it.
    pub const REPLY: Flags = Flags(1);
    /// The variable parts (strings, slices) lie in a staging slot; each lane's payload names its
    /// region of it. See [`crate::codec`].
    pub const STAGED: Flags = Flags(2);

    /// All bits that have a meaning.
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

/// First word of a request.
///
/// Lane payloads follow it *interleaved*: with `n` bits set in `mask`, word `j` of the `r`-th active
/// lane is word `1 + j·n + r` of the message. A wave's stores coalesce, and a single lane's words are
/// contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the service, given by the host when the program was attached; 0 is nobody's.
    pub service: u16,
    /// Words of payload per lane.
    pub words: u8,
    /// What is asked.
    pub flags: Flags,
    /// The lanes that call, by lane number.
    pub mask: u64,
}

impl Header {
    /// The header as a word of message `tag`.
    #[inline(always)]
    pub const fn encode(self, tag: Tag) -> Word {
        let head = self.service as u32 | (self.words as u32) << 16 | (self.flags.0 as u32) << 24;
        Word { data: [head, self.mask as u32, (self.mask >> 32) as u32], tag: tag.header() }
    }

    /// Reads a header back. Nothing is validated here but what any bits can mean.
    #[inline(always)]
    pub const fn decode(data: [u32; 3]) -> Self {
        Self {
            service: data[0] as u16,
            words: (data[0] >> 16) as u8,
            flags: Flags((data[0] >> 24) as u8),
            mask: data[1] as u64 | (data[2] as u64) << 32,
        }
    }

    /// Words of the whole message, header included.
    #[inline(always)]
    pub const fn message_words(self) -> u32 {
        1 + self.mask.count_ones() * self.words as u32
    }
}

/// First word of one lane's reply: how the call ended and how much follows.
///
/// Word `j` of the `r`-th active lane's reply is word `j·s + r` of the port's reply area, with `s` =
/// [`ReplyHead::stride`]. The first word carries 8 bytes of payload after this head, each further word 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHead {
    /// How the call ended for this lane.
    pub status: Status,
    /// Payload in 32-bit units.
    pub dwords: u16,
}

impl ReplyHead {
    /// Payload of a reply's first word in 32-bit units.
    pub const FIRST_DWORDS: u32 = 2;

    /// Words from one word of a lane's reply to its next, when `lanes` lanes are answered.
    ///
    /// At least 2: two polling loads of one lane into the same 32-byte sector of host memory wait for each
    /// other on NVIDIA GPUs (measured on an H200: 1.9 times the floor instead of 1.0).
    #[inline(always)]
    pub const fn stride(lanes: u32) -> u32 {
        if lanes < 2 { 2 } else { lanes }
    }

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
        // The head takes the first unit of the first word.
        (1 + dwords).div_ceil(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_wire() {
        let h = Header { service: 0xabcd, words: 255, flags: Flags::REPLY.and(Flags::STAGED), mask: 0x8000_0001_0000_00f1 };
        let w = h.encode(Tag::new(7));
        assert_eq!(Header::decode(w.data), h);
        assert_eq!(w.tag, 0x8000_0007);
        assert_eq!(h.message_words(), 1 + 7 * 255);
    }

    #[test]
    fn reply_words_count_the_head() {
        assert_eq!([0, 1, 2, 3, 5, 6].map(ReplyHead::words), [1, 1, 1, 2, 2, 3]);
    }
}
