//! Words joined to a payload: 14 bytes of each, one behind the other.
//!
//! They are joined in registers and stored 16 bytes at a time. A word that is stored whole, 14 bytes behind the one
//! before, takes fewer instructions; but whoever reads a payload that has just been copied then reads over the ends of
//! two stores, and waits until both have left the processor's buffers (Intel's optimization manual, "Store
//! Forwarding").

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cmpeq_epi16, _mm_move_epi64, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi16, _mm_set1_epi16,
    _mm_setzero_si128, _mm_slli_si128, _mm_srli_si128, _mm_storeu_si128, _mm_xor_si128,
};

use hostcall_abi::Word;

use super::whole::load16;

/// The most words behind its header of a lone lane's payload that is joined.
pub(super) const LONE: u32 = 7;

/// The words of one lane, and where their payload goes.
pub(super) struct Row {
    from: *const u8,
    to: *mut u8,
    /// Bytes from one word to the next.
    apart: usize,
    tag: __m128i,
    /// The differences of all words' tags from the expected one.
    wrong: __m128i,
    /// What has been joined and not stored.
    carry: __m128i,
}

/// A word's 16 bytes as the processor has them.
#[inline(always)]
fn vector(word: Word) -> __m128i {
    // SAFETY: both are 16 bytes of plain integers.
    unsafe { std::mem::transmute::<Word, __m128i>(word) }
}

impl Row {
    #[inline(always)]
    pub(super) fn new(from: *const u8, apart: usize, to: *mut u8, tag: u16) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let (tag, zero) = (_mm_set1_epi16(tag.cast_signed()), _mm_setzero_si128());
            Self { from, to, apart, tag, wrong: zero, carry: zero }
        }
    }

    /// Whether all words so far carried the tag.
    #[inline(always)]
    pub(super) fn is_whole(&self) -> bool {
        // SAFETY: SSE2 is part of x86-64.
        let same = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi16(self.wrong, _mm_setzero_si128())) };
        // Only the last of the eight halves is the tag.
        same >> 14 == 3
    }

    /// # Safety
    /// The row has one word more.
    #[inline(always)]
    unsafe fn word(&mut self) -> __m128i {
        // SAFETY: as the caller says. SSE2 is part of x86-64.
        unsafe {
            let word = vector(load16(self.from));
            self.wrong = _mm_or_si128(self.wrong, _mm_xor_si128(word, self.tag));
            self.from = self.from.wrapping_add(self.apart);
            word
        }
    }

    /// # Safety
    /// There is room for 16 bytes.
    #[inline(always)]
    unsafe fn put(&mut self, bytes: __m128i) {
        // SAFETY: as the caller says. SSE2 is part of x86-64.
        unsafe { _mm_storeu_si128(self.to.cast(), bytes) };
        self.to = self.to.wrapping_add(16);
    }

    /// Behind 16 bytes that are whole: keeps the payload of the next word.
    ///
    /// # Safety
    /// As [`Row::word`].
    #[inline(always)]
    unsafe fn keep(&mut self) {
        // SAFETY: as the caller says.
        self.carry = without_tag(unsafe { self.word() });
    }

    /// Behind `UP` bytes that are kept: stores 16, and keeps what is left of the next word, without its first `DOWN`
    /// bytes.
    ///
    /// # Safety
    /// As [`Row::word`] and [`Row::put`].
    #[inline(always)]
    unsafe fn join<const UP: i32, const DOWN: i32>(&mut self) {
        const { assert!(UP + DOWN == 16 && UP >= 2) };
        // SAFETY: as the caller says. SSE2 is part of x86-64.
        unsafe {
            let word = self.word();
            // (Its tag, its last two bytes, is shifted out.)
            self.put(_mm_or_si128(self.carry, _mm_slli_si128::<UP>(word)));
            self.carry = _mm_srli_si128::<DOWN>(without_tag(word));
        }
    }

    /// Stores the payloads of so many lanes, of `words` words each, `stride` bytes apart. The rows of lanes follow one
    /// another: this is the first.
    ///
    /// # Safety
    /// As [`Row::each`], of each lane.
    #[inline(always)]
    pub(super) unsafe fn lanes(&mut self, lanes: u32, words: u32, stride: usize) {
        let (from, to) = (self.from, self.to);
        for lane in 0..lanes as usize {
            self.from = from.wrapping_add(lane * size_of::<Word>());
            self.to = to.wrapping_add(lane * stride);
            // SAFETY: as the caller says.
            unsafe { self.each(words) };
        }
    }

    /// Stores the payload of words one by one: where there are many, who reads it comes late enough.
    ///
    /// # Safety
    /// The row has `words` words more, and there is room for their payload and 2 bytes more.
    #[inline(always)]
    pub(super) unsafe fn each(&mut self, words: u32) {
        for _ in 0..words {
            // SAFETY: as the caller says. SSE2 is part of x86-64.
            unsafe {
                let word = self.word();
                _mm_storeu_si128(self.to.cast(), word);
            }
            self.to = self.to.wrapping_add(hostcall_abi::word::WORD_BYTES as usize);
        }
    }
}

#[inline(always)]
fn without_tag(word: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_and_si128(word, _mm_set_epi16(0, -1, -1, -1, -1, -1, -1, -1)) }
}

/// The payload of a lone lane: the 8 bytes behind the first 6 of its header, and `words` words, [`LONE`] at most.
///
/// # Safety
/// The row has these words. There is room for the payload, rounded up to 16 bytes.
#[inline(always)]
pub(super) unsafe fn join_lone(row: &mut Row, head: Word, words: u32) {
    // SAFETY: as the caller says: `words` words are read, and as many 16 bytes stored as the payload has, rounded up.
    // SSE2 is part of x86-64.
    unsafe {
        row.carry = _mm_move_epi64(_mm_srli_si128::<6>(vector(head)));
        if words > 0 {
            row.join::<8, 8>();
        }
        if words > 1 {
            row.join::<6, 10>();
        }
        if words > 2 {
            row.join::<4, 12>();
        }
        if words > 3 {
            row.join::<2, 14>();
        }
        if words > 4 {
            row.keep();
        }
        if words > 5 {
            row.join::<14, 2>();
        }
        if words > 6 {
            row.join::<12, 4>();
        }
        if words != 4 {
            row.put(row.carry);
        }
    }
}

#[cfg(test)]
mod tests {
    use hostcall_abi::port::lane_stride;
    use hostcall_abi::word::{pack, units_in};
    use hostcall_abi::{Flags, Header, Tag};

    use super::*;

    fn unit(i: u32) -> u32 {
        (i + 1).wrapping_mul(0x9e37_79b9)
    }

    #[test]
    fn any_number_of_words_is_joined_to_what_was_sent_and_nothing_is_written_behind_it() {
        const BEHIND: u32 = 0x5555_5555;
        let tag = Tag::new(0x1234);
        for words in 0..20 {
            let sent: Vec<Word> = (0..words).map(|j| Word::new(pack(j, unit), tag.payload())).collect();
            let mut out = vec![BEHIND; lane_stride(words) + 8];
            let mut row = Row::new(sent.as_ptr().cast(), size_of::<Word>(), out.as_mut_ptr().cast(), tag.payload());
            // SAFETY: the row has as many words; the output is longer than they are.
            unsafe { row.each(words) };
            assert!(row.is_whole());
            assert!((0..units_in(words)).all(|i| out[i as usize] == unit(i)), "{words} words: {out:x?}");
            assert!(out[lane_stride(words) + 1..].iter().all(|unit| *unit == BEHIND), "{words} words: {out:x?}");
        }
        for words in 0..=LONE {
            let header = Header { service: 7, words: words as u8, flags: Flags::REPLY, mask: 1 };
            let head = header.encode_lone(0, [unit(0), unit(1)], tag);
            let sent: Vec<Word> = (0..words).map(|j| Word::new(pack(j, |i| unit(i + 2)), tag.payload())).collect();
            let bytes = (8 + 14 * words as usize).next_multiple_of(16);
            let mut out = vec![BEHIND; bytes / 4 + 4];
            let mut row = Row::new(sent.as_ptr().cast(), size_of::<Word>(), out.as_mut_ptr().cast(), tag.payload());
            // SAFETY: the row has as many words; the output is longer than they are.
            unsafe { join_lone(&mut row, head, words) };
            assert!(row.is_whole());
            assert!((0..Header::units_in(words, 1)).all(|i| out[i as usize] == unit(i)), "{words} words: {out:x?}");
            assert!(out[bytes / 4..].iter().all(|unit| *unit == BEHIND), "{words} words: {out:x?}");
        }
    }

    #[test]
    fn a_word_of_another_message_is_noticed_wherever_it_is() {
        let (tag, old) = (Tag::new(9), Tag::new(8));
        for words in 1..=LONE {
            for bad in 0..words {
                let tag_of = |j| if j == bad { old } else { tag }.payload();
                let sent: Vec<Word> = (0..words).map(|j| Word::new(pack(j, unit), tag_of(j))).collect();
                for lone in [false, true] {
                    let mut out = vec![0; lane_stride(words) + 8];
                    let mut row = Row::new(sent.as_ptr().cast(), size_of::<Word>(), out.as_mut_ptr().cast(), tag.payload());
                    // SAFETY: as above.
                    unsafe { if lone { join_lone(&mut row, Word::default(), words) } else { row.each(words) } };
                    assert!(!row.is_whole(), "word {bad} of {words}");
                }
            }
        }
    }
}
