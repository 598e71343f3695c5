//! A chunk's state word.
//!
//! | bits | |
//! |---|---|
//! | 0–31 | blocks reserved, plus what failed reservations have added and not yet taken back |
//! | 32–39 | class, [`LARGE`] or [`LARGE_BODY`] |
//! | 40–63 | of a [`LARGE`] run: its chunks |
//!
//! One access to this word decides everything about a chunk. All accesses are relaxed. The bitmap says which blocks are
//! whose, and the heap's fences order what the users of a block see.

use super::{CLASSES, capacity};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The first chunk of a run.
pub(super) const LARGE: u32 = 0xfe;
/// The other chunks of a run.
pub(super) const LARGE_BODY: u32 = 0xff;

const _: () = assert!(CLASSES < LARGE as usize);

pub(super) const fn class(state: u64) -> u32 {
    (state >> 32) as u32 & 0xff
}

pub(super) const fn taken(state: u64) -> u32 {
    state as u32
}

pub(super) const fn length(state: u64) -> u32 {
    (state >> 40) as u32
}

/// Whether blocks of `wanted` may be had.
pub(super) const fn has_room(state: u64, wanted: u32) -> bool {
    class(state) == wanted && taken(state) < capacity(wanted)
}

/// Whether no block of it is in use, so that it may change its class.
pub(super) const fn unused(state: u64) -> bool {
    taken(state) == 0 && class(state) < LARGE
}

const fn word(class: u32, taken: u32) -> u64 {
    (class as u64) << 32 | taken as u64
}

const fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// One chunk's word.
#[derive(Clone, Copy)]
pub(super) struct State<'a>(pub(super) &'a AtomicU64);

impl State<'_> {
    pub(super) fn load(self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Reserves up to `want` blocks if the chunk has them; returns how many. Whatever is there, by one access.
    pub(super) fn reserve(self, wanted: u32, want: u32) -> u32 {
        let old = self.0.fetch_add(u64::from(want), Relaxed);
        let got = if class(old) == wanted { least(capacity(wanted).saturating_sub(taken(old)), want) } else { 0 };
        if got < want {
            self.release(want - got);
        }
        got
    }

    /// As `reserve`, but changes the word only if it succeeds, so that others who look at the chunk do not
    /// take it for full.
    pub(super) fn reserve_exact(self, wanted: u32, want: u32) -> Option<u32> {
        let mut old = self.load();
        while has_room(old, wanted) {
            let got = least(capacity(wanted) - taken(old), want);
            match self.0.compare_exchange(old, old + u64::from(got), Relaxed, Relaxed) {
                Ok(_) => return Some(got),
                Err(now) => old = now,
            }
        }
        None
    }

    /// Gives `count` blocks back.
    pub(super) fn release(self, count: u32) {
        self.0.fetch_sub(u64::from(count), Relaxed);
    }

    /// Makes the chunk one of `wanted` if it has no blocks in use, with up to `want` of its blocks reserved.
    pub(super) fn adopt(self, wanted: u32, want: u32) -> Option<u32> {
        let got = least(capacity(wanted), want);
        self.change_unused(word(wanted, got)).then_some(got)
    }

    /// Makes the chunk part of a run if it has no blocks in use.
    pub(super) fn seize(self) -> bool {
        self.change_unused(word(LARGE_BODY, 0))
    }

    fn change_unused(self, to: u64) -> bool {
        let old = self.load();
        // If the count comes back to 0 in between (with whatever class), nothing is in use either.
        unused(old) && self.0.compare_exchange(old, to, Relaxed, Relaxed).is_ok()
    }

    /// Makes a seized chunk the first of a run of `length`. Keeps what failed reservations have added.
    pub(super) fn make_head(self, length: u32) {
        self.0.fetch_add((u64::from(length) << 40).wrapping_sub(1 << 32), Relaxed);
        const { assert!(LARGE + 1 == LARGE_BODY) };
    }

    /// Ends a seized chunk's part in a run.
    pub(super) fn clear(self) {
        self.0.fetch_and(u64::from(u32::MAX), Relaxed);
    }
}
