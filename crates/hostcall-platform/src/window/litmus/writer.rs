//! The storing side of the litmus test.

use std::ptr::NonNull;

use super::super::{Line, LineStore};

/// How a writer stores a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stores {
    /// As the window is written.
    Whole(LineStore),
    /// The first half of each word, and the second half later: what the test has to find.
    Torn,
}

impl Stores {
    /// # Safety
    /// As for [`LineStore::store`].
    unsafe fn store(self, to: *mut u8, line: &Line) {
        match self {
            // SAFETY: the caller's.
            Self::Whole(store) => unsafe { store.store(to, line) },
            Self::Torn => {
                for half in 0..2 {
                    for word in 0..4 {
                        let unit = 4 * word + 2 * half;
                        let value = u64::from(line.0[unit]) | u64::from(line.0[unit + 1]) << 32;
                        // SAFETY: inside the caller's line, aligned to 8.
                        unsafe { to.cast::<u64>().add(unit / 2).write_volatile(value) };
                    }
                    LineStore::Plain.order();
                }
            }
        }
    }

    fn fence(self) {
        if let Self::Whole(store) = self {
            store.fence();
        }
    }
}

/// The only writer of some lines.
pub(super) struct Writer {
    stores: Stores,
    first: NonNull<u8>,
    /// The number stored last in each.
    last: Vec<u32>,
    random: u64,
    stored: u64,
}

// SAFETY: the lines are this writer's alone, wherever it runs.
unsafe impl Send for Writer {}

/// Stores of one burst.
const BURST: usize = 256;

impl Writer {
    /// # Safety
    /// `lines` lines from `first` on can be stored to as by [`LineStore::store`] as long as the writer is used.
    pub(super) unsafe fn new(stores: Stores, first: NonNull<u8>, lines: usize, seed: u64) -> Writer {
        Writer { stores, first, last: vec![0; lines], random: seed.wrapping_mul(2).wrapping_add(1), stored: 0 }
    }

    /// What each line was stored last.
    pub(super) fn last(&self) -> &[u32] {
        &self.last
    }

    /// How many stores there were.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// Some stores, in one of the ways in which replies come: one line again and again, one line after another, lines
    /// anywhere, and lines with time between them.
    pub(super) fn burst(&mut self) {
        let lines = self.last.len();
        let way = self.next() % 4;
        let start = self.next() as usize % lines;
        for i in 0..BURST {
            match way {
                0 => self.store(start),
                1 => self.store((start + i) % lines),
                2 => {
                    let line = self.next() as usize % lines;
                    self.store(line);
                }
                _ => {
                    self.store((start + i) % lines);
                    self.stores.fence();
                    (0..i % 32).for_each(|_| std::hint::spin_loop());
                }
            }
        }
        self.stores.fence();
    }

    /// Each line once.
    pub(super) fn lap(&mut self) {
        (0..self.last.len()).for_each(|line| self.store(line));
        self.stores.fence();
    }

    fn store(&mut self, line: usize) {
        self.last[line] = self.last[line].wrapping_add(1);
        self.stored += 1;
        let content = Line([self.last[line]; 16]);
        // SAFETY: a line of ours, as `new` was promised.
        unsafe { self.stores.store(self.first.as_ptr().add(line * Line::BYTES), &content) };
    }

    /// xorshift64 (Marsaglia, "Xorshift RNGs").
    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }
}
