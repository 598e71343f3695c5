//! The 16-byte word that says of itself that it is complete.

/// One word of the wire: 12 bytes of payload and the tag of the message it belongs to.
///
/// It is written by one 128-bit store and read by one 128-bit load, so payload and tag are always
/// of the same write: `st/ld.relaxed.sys.b128` in PTX, an aligned 16-byte vector move on x86-64
/// processors with AVX (Intel SDM vol. 3A §10.1.1, AMD APM vol. 2 §7.3.2), an aligned `ldp/stp` pair
/// with `FEAT_LSE2` on AArch64. Where a host has no such access, [`crate::geometry::WordForm::Triple8`] sends the
/// same word as three 8-byte (payload, tag) pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Word {
    /// Payload, three native-endian 32-bit units (all supported machines are little-endian).
    pub data: [u32; 3],
    /// The raw tag: [`Tag::header`] on the first word of a request, [`Tag::payload`] on every other.
    pub tag: u32,
}

const _: () = {
    assert!(size_of::<Word>() == 16);
    assert!(align_of::<Word>() == 16);
};

/// Payload bytes of one word.
pub const WORD_BYTES: u32 = 12;
/// Payload of one word in 32-bit units.
pub const WORD_DWORDS: u32 = 3;

/// A port's sequence number: 31 bits, one more for each message.
///
/// The 32nd bit of a raw tag separates a request's first word from all others, so that a reader who
/// expects a message at one of two places cannot take payload for a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(u32);

impl Tag {
    const MASK: u32 = 0x7fff_ffff;
    const HEADER: u32 = 0x8000_0000;
    /// Messages between two scrubs, see [`Tag::scrubs`].
    pub const SCRUB_PERIOD: u32 = 1 << 30;

    /// The tag with sequence number `seq` modulo 2^31.
    #[inline(always)]
    pub const fn new(seq: u32) -> Self {
        Self(seq & Self::MASK)
    }

    /// The sequence number.
    #[inline(always)]
    pub const fn seq(self) -> u32 {
        self.0
    }

    /// The next message's tag.
    #[inline(always)]
    #[must_use]
    pub const fn next(self) -> Self {
        Self::new(self.0.wrapping_add(1))
    }

    /// Raw tag of a request's first word.
    #[inline(always)]
    pub const fn header(self) -> u32 {
        self.0 | Self::HEADER
    }

    /// Raw tag of every other word.
    #[inline(always)]
    pub const fn payload(self) -> u32 {
        self.0
    }

    /// Whether this message rewrites *every* word of its port.
    ///
    /// Two messages in each lap of the 31-bit counter do. So no word of a port is ever more than
    /// 2^30 messages old, and a stale word's tag can never equal the tag that is expected now: the
    /// wrap-around needs no wider tag and no clearing.
    #[inline(always)]
    pub const fn scrubs(self) -> bool {
        self.0 & (Self::SCRUB_PERIOD - 1) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_of_the_tag_comes_back_to_zero() {
        assert_eq!(Tag::new(0x7fff_ffff).next(), Tag::new(0));
        assert_ne!(Tag::new(0x7fff_ffff).header(), Tag::new(0x7fff_ffff).payload());
    }

    #[test]
    fn exactly_two_messages_of_a_lap_scrub() {
        assert!(Tag::new(0).scrubs() && Tag::new(1 << 30).scrubs());
        assert!(!Tag::new(1).scrubs() && !Tag::new((1 << 30) + 1).scrubs() && !Tag::new(0x7fff_ffff).scrubs());
    }
}
