//! One packet's call, copied: handlers get the copy, so that the buffer may be freed while one runs.

use std::sync::atomic::Ordering;

use crate::layout::{LANES, PayloadWords, QWORDS};

/// The words of a packet's lanes, and what was asked for.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) service: u32,
    pub(crate) mask: u64,
    /// The lanes' words as they came.
    before: [[u64; QWORDS]; LANES],
    /// The lanes' words as handlers leave them.
    pub(crate) lanes: [[u64; QWORDS]; LANES],
}

impl Default for Call {
    fn default() -> Call {
        Call { service: 0, mask: 0, before: [[0; QWORDS]; LANES], lanes: [[0; QWORDS]; LANES] }
    }
}

/// The lanes of a mask.
pub(crate) fn lanes(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

impl Call {
    /// Copies the lanes of the mask. Relaxed: they were acquired with what made the packet ready. A device that writes them now gets what it
    /// deserves: these are copies.
    pub(super) fn read(&mut self, payload: &PayloadWords) {
        for lane in lanes(self.mask) {
            let (words, before, after) = (&payload.lanes[lane], &mut self.before[lane], &mut self.lanes[lane]);
            for at in 0..QWORDS {
                // Both from the register: a copy of the copy would be wider than what was just stored, and wait for it.
                let word = words[at].load(Ordering::Relaxed);
                (before[at], after[at]) = (word, word);
            }
        }
    }

    /// Writes the words that handlers changed. Relaxed: what makes the packet answered releases them.
    pub(super) fn write(&self, payload: &PayloadWords) {
        for lane in lanes(self.mask) {
            let (after, before, words) = (&self.lanes[lane], &self.before[lane], &payload.lanes[lane]);
            for word in 0..QWORDS {
                if after[word] != before[word] {
                    words[word].store(after[word], Ordering::Relaxed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lanes_of_a_mask_are_its_bits() {
        assert_eq!(lanes(0).count(), 0);
        assert_eq!(lanes(0x8421).collect::<Vec<_>>(), [0, 5, 10, 15]);
        assert_eq!(lanes(u64::MAX).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
    }
}
