//! Which numbers are taken: the lowest free one is given out first, as POSIX wants it.
//!
//! A bit for each number, and a bit for each word of 64 of them that is full. Lanes that want a number at the same time
//! would all see the same lowest one; who finds it taken meanwhile takes another free one of the same word, not the
//! lowest, so that thousands do not queue for one bit.

use core::sync::atomic::{AtomicU64, Ordering};

/// Numbers that there are.
pub(crate) const NUMBERS: usize = 1 << 16;
const WORDS: usize = NUMBERS / 64;

pub(crate) struct Numbering {
    taken: [AtomicU64; WORDS],
    /// Which words had no free number: a hint that may say "full" of one that is not for the moment between two stores,
    /// never for long.
    full: [AtomicU64; WORDS / 64],
}

/// Bit `n` of a word, the `n`-th of those that are not set; the lowest, if there are fewer.
fn free_bit(word: u64, n: u32) -> Option<u32> {
    let mut free = !word;
    if free == 0 {
        return None;
    }
    for _ in 0..n % free.count_ones() {
        free &= free - 1;
    }
    Some(free.trailing_zeros())
}

impl Numbering {
    /// All free but the first `taken`, fewer than 64.
    pub(crate) const fn new(taken: u32) -> Self {
        let mut words = [const { AtomicU64::new(0) }; WORDS];
        words[0] = AtomicU64::new((1 << taken) - 1);
        Self { taken: words, full: [const { AtomicU64::new(0) }; WORDS / 64] }
    }

    /// Takes the lowest free number from `least` on.
    pub(crate) fn take(&self, least: usize) -> Option<usize> {
        let mut word = least / 64;
        // Of its first word, numbers below `least` are as good as taken.
        let mut below = (1u64 << (least % 64)) - 1;
        while word < WORDS {
            // Relaxed, all: a number says nothing of what it stands for; the table's entry does.
            let skipped = (!self.full[word / 64].load(Ordering::Relaxed) >> (word % 64)).trailing_zeros() as usize;
            if skipped > 0 {
                word = (word + skipped).min((word / 64 + 1) * 64);
                below = 0;
                continue;
            }
            let mut seen = self.taken[word].load(Ordering::Relaxed);
            let mut failed = 0;
            while let Some(bit) = free_bit(seen | below, failed) {
                seen = self.taken[word].fetch_or(1 << bit, Ordering::Relaxed);
                if seen >> bit & 1 == 0 {
                    if seen | 1 << bit == u64::MAX {
                        self.note_full(word);
                    }
                    return Some(word * 64 + bit as usize);
                }
                failed += 1;
            }
            word += 1;
            below = 0;
        }
        None
    }

    fn note_full(&self, word: usize) {
        self.full[word / 64].fetch_or(1 << (word % 64), Ordering::SeqCst);
        // One of its numbers may have been given back in between: whoever did so either saw the bit and cleared it, or
        // is seen here.
        if self.taken[word].load(Ordering::SeqCst) != u64::MAX {
            self.full[word / 64].fetch_and(!(1 << (word % 64)), Ordering::SeqCst);
        }
    }

    /// Takes this number: whether it was free.
    pub(crate) fn claim(&self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1 << (number % 64));
        let Some(taken) = self.taken.get(word) else { return false };
        let seen = taken.fetch_or(bit, Ordering::Relaxed);
        if seen & bit == 0 && seen | bit == u64::MAX {
            self.note_full(word);
        }
        seen & bit == 0
    }

    /// Gives a number back.
    pub(crate) fn give_back(&self, number: usize) {
        let (word, bit) = (number / 64, 1 << (number % 64));
        if let Some(taken) = self.taken.get(word) {
            taken.fetch_and(!bit, Ordering::SeqCst);
            // Pairs with `note_full`.
            if self.full[word / 64].load(Ordering::SeqCst) >> (word % 64) & 1 == 1 {
                self.full[word / 64].fetch_and(!(1 << (word % 64)), Ordering::SeqCst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_comes_first() {
        static NUMBERS: Numbering = Numbering::new(3);
        assert_eq!((0..200).map(|_| NUMBERS.take(0).unwrap()).collect::<Vec<_>>(), (3..203).collect::<Vec<_>>());
        [150, 7, 64].into_iter().for_each(|number| NUMBERS.give_back(number));
        assert_eq!([0, 8, 0, 0].map(|least| NUMBERS.take(least)), [Some(7), Some(64), Some(150), Some(203)]);
        assert_eq!(
            (NUMBERS.take(1000), NUMBERS.take(1000), NUMBERS.claim(1001), NUMBERS.claim(999)),
            (Some(1000), Some(1001), false, true)
        );
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        static ALL: Numbering = Numbering::new(0);
        assert!((0..NUMBERS).all(|number| ALL.take(0) == Some(number)));
        assert_eq!((ALL.take(0), ALL.take(NUMBERS), ALL.claim(NUMBERS)), (None, None, false));
        ALL.give_back(40_000);
        assert_eq!((ALL.take(40_001), ALL.take(5)), (None, Some(40_000)));
    }

    #[test]
    fn threads_that_take_and_give_back_never_have_the_same_number() {
        static NUMBERS: Numbering = Numbering::new(0);
        static OWNERS: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];
        let threads: Vec<_> = (1..=4u64)
            .map(|me| {
                std::thread::spawn(move || {
                    let mut mine = Vec::new();
                    for round in 0..20_000usize {
                        if round % 200 < 150 {
                            let number = NUMBERS.take(0).unwrap();
                            assert_eq!(OWNERS[number].swap(me, Ordering::AcqRel), 0);
                            mine.push(number);
                        }
                        if round % 200 >= 50
                            && let Some(number) = mine.pop()
                        {
                            assert_eq!(OWNERS[number].swap(0, Ordering::AcqRel), me);
                            NUMBERS.give_back(number);
                        }
                    }
                    mine.into_iter().for_each(|number| NUMBERS.give_back(number));
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!((0..1024).all(|number| NUMBERS.take(0) == Some(number)), "none is lost");
    }
}
