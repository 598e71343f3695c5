//! The 16-byte word, whose tag shows that it is complete.

/// One word of the wire: 14 bytes of payload and the 2-byte tag of the message it belongs to.
///
/// It is written by one 128-bit store and read by one 128-bit load, so payload and tag are always
/// of the same write: `st/ld.relaxed.sys.b128` in PTX, an aligned 16-byte vector move on x86-64
/// processors with AVX (Intel SDM vol. 3A §10.1.1, AMD APM vol. 2 §7.3.2), an aligned `ldp/stp` pair
/// with `FEAT_LSE2` on AArch64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Word(
    /// Payload, native-endian (all supported machines are little-endian); the upper half of the last unit is the raw
    /// tag: [`Tag::header`] on the first word of a request, [`Tag::payload`] on every other.
    pub [u32; 4],
);

const _: () = {
    assert!(size_of::<Word>() == 16);
    assert!(align_of::<Word>() == 16);
};

/// Payload bytes of one word.
pub const WORD_BYTES: u32 = 14;
/// Payload of one word in 16-bit halves of a unit.
const WORD_HALVES: u32 = WORD_BYTES / 2;

impl Word {
    /// A word of this payload (what is in the upper half of its last unit is replaced) and this raw tag.
    #[inline(always)]
    pub const fn new(payload: [u32; 4], tag: u16) -> Self {
        let [a, b, c, d] = payload;
        Self([a, b, c, d & 0xffff | (tag as u32) << 16])
    }

    /// The raw tag.
    #[inline(always)]
    pub const fn tag(self) -> u16 {
        (self.0[3] >> 16) as u16
    }
}

/// Payload of word `index` of a stream of 32-bit units, of which `unit(i)` gives the `i`-th (anything behind the last).
///
/// Words carry the stream's bytes one after another, 14 each: an even word begins with a whole unit, an odd one in the
/// middle of one.
#[inline(always)]
pub fn pack(index: u32, unit: impl Fn(u32) -> u32) -> [u32; 4] {
    let first = index * WORD_HALVES / 2;
    let [a, b, c, d] = [unit(first), unit(first + 1), unit(first + 2), unit(first + 3)];
    if index.is_multiple_of(2) { [a, b, c, d] } else { [a >> 16 | b << 16, b >> 16 | c << 16, c >> 16 | d << 16, d >> 16] }
}

/// Unit `index` of a stream, of which `word(j)` gives the `j`-th word: what [`pack`] packed.
#[inline(always)]
pub fn unpack(index: u32, word: impl Fn(u32) -> Word) -> u32 {
    let half = |h: u32| word(h / WORD_HALVES).0[(h % WORD_HALVES / 2) as usize] >> (h % WORD_HALVES % 2 * 16) & 0xffff;
    half(2 * index) | half(2 * index + 1) << 16
}

/// Words that carry `units` units. From 2³⁰ units on it is those of 2³⁰ − 1: more than any area has.
#[inline(always)]
pub const fn words_of(units: u32) -> u32 {
    let units = if units < 1 << 30 { units } else { (1 << 30) - 1 };
    (units * 4).div_ceil(WORD_BYTES)
}

/// Whole units that `words` words carry.
#[inline(always)]
pub const fn units_in(words: u32) -> u32 {
    words * WORD_HALVES / 2
}

/// A port's sequence number: 15 bits, one more for each message.
///
/// The 16th bit of a raw tag separates a request's first word from all others, so that a reader who
/// expects a message at one of two places cannot take payload for a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(u16);

impl Tag {
    const MASK: u16 = 0x7fff;
    const HEADER: u16 = 0x8000;
    /// Messages between two scrubs, see [`Tag::scrubs`].
    pub const SCRUB_PERIOD: u16 = 1 << 14;

    /// The tag with sequence number `seq` modulo 2^15.
    #[inline(always)]
    pub const fn new(seq: u16) -> Self {
        Self(seq & Self::MASK)
    }

    /// The sequence number.
    #[inline(always)]
    pub const fn seq(self) -> u16 {
        self.0
    }

    /// The next message's tag.
    #[inline(always)]
    #[must_use]
    pub const fn next(self) -> Self {
        Self::new(self.0.wrapping_add(1))
    }

    /// Messages from `earlier` to this one, modulo 2^15.
    #[inline(always)]
    pub const fn since(self, earlier: Tag) -> u16 {
        self.0.wrapping_sub(earlier.0) & Self::MASK
    }

    /// Raw tag of a request's first word.
    #[inline(always)]
    pub const fn header(self) -> u16 {
        self.0 | Self::HEADER
    }

    /// Raw tag of every other word.
    #[inline(always)]
    pub const fn payload(self) -> u16 {
        self.0
    }

    /// Whether this message rewrites *every* word of its port.
    ///
    /// Two messages in each lap of the 15-bit counter do. So no word of a port is ever more than
    /// 2^14 messages old, and a stale word's tag can never equal the tag that is expected now: the
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
        assert_eq!(Tag::new(0x7fff).next(), Tag::new(0));
        assert_ne!(Tag::new(0x7fff).header(), Tag::new(0x7fff).payload());
        assert_eq!(Tag::new(1).since(Tag::new(0x7fff)), 2);
    }

    #[test]
    fn exactly_two_messages_of_a_lap_scrub() {
        let scrubbing: Vec<u16> = (0..=0x7fff).filter(|&seq| Tag::new(seq).scrubs()).collect();
        assert_eq!(scrubbing, [0, 1 << 14]);
    }

    #[test]
    fn words_are_counted_for_any_number_of_units() {
        for units in (0..100).chain((1 << 30) - 50..1 << 30) {
            assert_eq!(u64::from(words_of(units)), (u64::from(units) * 4).div_ceil(u64::from(WORD_BYTES)), "{units} units");
        }
        for units in [1 << 30, (1 << 30) + 1, 1 << 31, u32::MAX - 1, u32::MAX] {
            assert_eq!(words_of(units), words_of((1 << 30) - 1), "{units} units");
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let units: Vec<u32> = (0..40u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        for count in 0..=units.len() as u32 {
            let unit = |i: u32| if i < count { units[i as usize] } else { 0 };
            let words: Vec<Word> = (0..words_of(count)).map(|j| Word::new(pack(j, unit), 0xabcd)).collect();
            assert!(units_in(words.len() as u32) >= count);
            for i in 0..count {
                assert_eq!(unpack(i, |j| words[j as usize]), units[i as usize], "unit {i} of {count}");
            }
            assert!(words.iter().all(|word| word.tag() == 0xabcd));
        }
    }
}
