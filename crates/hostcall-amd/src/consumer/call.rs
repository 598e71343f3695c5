//! One packet's call, copied: handlers get the copy, so that the buffer may be freed while one runs.

use super::words;
use crate::layout::{LANES, PayloadWords, QWORDS};
use crate::memory::expect;

/// The words of a packet's lanes, and what was asked for. A lane is a line.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Call {
    /// The lanes' words as they came.
    before: [[u64; QWORDS]; LANES],
    /// The lanes' words as handlers leave them.
    pub(crate) lanes: [[u64; QWORDS]; LANES],
    pub(crate) service: u32,
    pub(crate) mask: u64,
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
    /// Copies the lanes of the mask. A device that writes them now gets what it deserves: these are copies.
    pub(super) fn read(&mut self, payload: &PayloadWords) {
        for lane in lanes(self.mask) {
            words::read(&payload.lanes[lane], &mut self.before[lane], &mut self.lanes[lane]);
        }
    }

    /// Whether one lane calls, or none.
    pub(super) fn is_lone(&self) -> bool {
        self.mask & self.mask.wrapping_sub(1) == 0
    }

    /// Asks for the lines of a packet that comes next, for writing, as its answer is to come there: all at once, while
    /// handlers run.
    pub(super) fn expect(mask: u64, payload: &PayloadWords) {
        lanes(mask).for_each(|lane| expect(&payload.lanes[lane]));
    }

    /// Writes the words that handlers changed.
    pub(super) fn write(&self, payload: &PayloadWords) {
        if self.is_lone() {
            lanes(self.mask).for_each(|lane| words::write_each(&self.before[lane], &self.lanes[lane], &payload.lanes[lane]));
        } else {
            lanes(self.mask).for_each(|lane| words::write(&self.before[lane], &self.lanes[lane], &payload.lanes[lane]));
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
