//! A lane's eight words, copied out of a buffer and back.
//!
//! On x86-64 a lane is four registers: packets of many lanes are mostly such copies. The loads are assembly's, because
//! a device may write the same words meanwhile: the compiler knows nothing of them, so nothing is read twice, and a
//! copy is whatever it is.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::QWORDS;

/// Copies the words twice: as they came, and for handlers to change. Relaxed: they were acquired with what made the
/// packet ready.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn read(words: &[AtomicU64; QWORDS], before: &mut [u64; QWORDS], after: &mut [u64; QWORDS]) {
    // SAFETY: reads and writes 64 bytes behind each reference, which are as many, at any alignment, by instructions
    // that every processor of this kind has. Eight bytes that are aligned are not torn by them, which nothing here
    // relies on.
    unsafe {
        std::arch::asm!(
            "movups {a}, [{words}]",
            "movups {b}, [{words} + 16]",
            "movups {c}, [{words} + 32]",
            "movups {d}, [{words} + 48]",
            "movups [{before}], {a}",
            "movups [{before} + 16], {b}",
            "movups [{before} + 32], {c}",
            "movups [{before} + 48], {d}",
            "movups [{after}], {a}",
            "movups [{after} + 16], {b}",
            "movups [{after} + 32], {c}",
            "movups [{after} + 48], {d}",
            words = in(reg) words.as_ptr(),
            before = in(reg) before.as_mut_ptr(),
            after = in(reg) after.as_mut_ptr(),
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// The same, word for word.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn read(words: &[AtomicU64; QWORDS], before: &mut [u64; QWORDS], after: &mut [u64; QWORDS]) {
    for at in 0..QWORDS {
        let word = words[at].load(Ordering::Relaxed);
        (before[at], after[at]) = (word, word);
    }
}

/// A bit for each word that differs.
#[cfg(target_arch = "x86_64")]
#[inline]
fn changed(before: &[u64; QWORDS], after: &[u64; QWORDS]) -> u32 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
    let (before, after) = (before.as_ptr().cast::<__m128i>(), after.as_ptr().cast::<__m128i>());
    // SAFETY: four registers are the 64 bytes behind each reference; the instructions are those of every processor of
    // this kind.
    let equal = unsafe {
        let equal = |at: usize| _mm_cmpeq_epi32(_mm_loadu_si128(before.add(at)), _mm_loadu_si128(after.add(at)));
        let halves = (_mm_packs_epi32(equal(0), equal(1)), _mm_packs_epi32(equal(2), equal(3)));
        // A bit for each half of a word.
        _mm_movemask_epi8(_mm_packs_epi16(halves.0, halves.1)) as u32
    };
    let halves = !equal & 0xffff;
    // Both halves into the lower one's bit.
    (halves | halves >> 1) & 0x5555
}

/// Writes the words that were changed. Relaxed: what makes the packet answered releases them.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn write(before: &[u64; QWORDS], after: &[u64; QWORDS], words: &[AtomicU64; QWORDS]) {
    let mut left = changed(before, after);
    while left != 0 {
        let at = left.trailing_zeros() as usize / 2 % QWORDS;
        left &= left - 1;
        words[at].store(after[at], Ordering::Relaxed);
    }
}

/// The same.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn write(before: &[u64; QWORDS], after: &[u64; QWORDS], words: &[AtomicU64; QWORDS]) {
    write_each(before, after, words);
}

/// The same, word for word, for a lane whose handler has just returned: a register's load of what was just written in
/// smaller pieces waits until that is in the cache.
#[inline]
pub(super) fn write_each(before: &[u64; QWORDS], after: &[u64; QWORDS], words: &[AtomicU64; QWORDS]) {
    for at in 0..QWORDS {
        if after[at] != before[at] {
            words[at].store(after[at], Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_read_and_those_that_changed_are_written() {
        let words: [AtomicU64; QWORDS] = std::array::from_fn(|at| AtomicU64::new(u64::MAX / (at as u64 + 1)));
        let (mut before, mut after) = ([0; QWORDS], [1; QWORDS]);
        read(&words, &mut before, &mut after);
        assert_eq!(before, std::array::from_fn(|at| u64::MAX / (at as u64 + 1)));
        assert_eq!(before, after);
        // Each set of words, changed in the lower half, in the upper, and in both.
        for set in 0..1u32 << QWORDS {
            for change in [1, 1 << 63, u64::MAX] {
                let changed: [u64; QWORDS] = std::array::from_fn(|at| before[at] ^ if set >> at & 1 == 1 { change } else { 0 });
                for write in [write, write_each] {
                    // What a device writes meanwhile stays where nothing was changed.
                    words.iter().for_each(|word| word.store(7, Ordering::Relaxed));
                    write(&before, &changed, &words);
                    for at in 0..QWORDS {
                        let expected = if set >> at & 1 == 1 { changed[at] } else { 7 };
                        assert_eq!(words[at].load(Ordering::Relaxed), expected, "set {set:#x}, word {at}");
                    }
                }
            }
        }
    }
}
