//! Blocks of memory, moved or filled in pieces by one lane or by several.
//!
//! A piece is as wide as both ends allow. Of several lanes each takes every so-manyth piece, so that neighbours work
//! next to each other. A lane loads four pieces before it stores the first, because each load may take as long as a way
//! to the host and back.
//!
//! Nothing here is a call of `memcpy` in disguise: how pieces are loaded and stored is the caller's, who sees to it
//! that no compiler makes one of them.

/// The widest piece.
pub(crate) const WIDEST: u32 = 16;

/// Which pieces of a block are a lane's: those from number `lane` on, one in every `lanes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) lane: u32,
    pub(crate) lanes: u32,
}

impl Share {
    /// A lane's that works alone.
    pub(crate) const ALL: Self = Self { lane: 0, lanes: 1 };

    /// Moves the lane's pieces, of `size` bytes each, of a block of `bytes` bytes, a whole number of them: what `load`
    /// gives for a piece's offset goes to `store`.
    #[inline(always)]
    pub(crate) fn each<T: Copy>(self, size: u32, bytes: u32, load: impl Fn(u32) -> T, store: impl Fn(u32, T)) {
        let stride = self.lanes * size;
        let mut at = self.lane * size;
        while u64::from(at) + 3 * u64::from(stride) < u64::from(bytes) {
            let four = [load(at), load(at + stride), load(at + 2 * stride), load(at + 3 * stride)];
            let [first, second, third, fourth] = four;
            store(at, first);
            store(at + stride, second);
            store(at + 2 * stride, third);
            store(at + 3 * stride, fourth);
            at += 4 * stride;
        }
        while at < bytes {
            store(at, load(at));
            at += stride;
        }
    }
}

/// A block as it is moved: a few bytes until both ends are aligned as well as they can be together, whole pieces, and a
/// few bytes that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes before the first piece.
    pub(crate) head: u32,
    /// Bytes of a piece: 16, 4 or 1.
    pub(crate) piece: u32,
    /// Bytes of all pieces, a multiple of 16.
    pub(crate) body: u32,
}

impl Cut {
    /// That of `bytes` bytes at `to` that come from `from`; for a fill both are the same.
    #[inline(always)]
    pub(crate) fn of(to: u64, from: u64, bytes: u32) -> Self {
        let apart = to ^ from;
        let piece = if apart.is_multiple_of(16) {
            WIDEST
        } else if apart.is_multiple_of(4) {
            4
        } else {
            1
        };
        let head = ((to as u32).wrapping_neg() & (piece - 1)).min(bytes);
        Self { head, piece, body: (bytes - head) & !(WIDEST - 1) }
    }
}

/// Whether lanes may move the block in any order: its ends do not overlap.
#[inline(always)]
pub(crate) fn apart(to: u64, from: u64, bytes: u64) -> bool {
    to.wrapping_sub(from) >= bytes && from.wrapping_sub(to) >= bytes
}

/// Whether a lane that goes from the first piece to the last stores none that it has yet to load.
#[inline(always)]
pub(crate) fn forwards(to: u64, from: u64, bytes: u64) -> bool {
    to.wrapping_sub(from) >= bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::vec::Vec;

    /// The bytes of each lane of `lanes` that move a block together, and how often each byte was stored.
    fn moved(lanes: u32, size: u32, bytes: u32) -> (Vec<u32>, Vec<u32>) {
        let stored: Vec<Cell<u32>> = (0..bytes).map(|_| Cell::new(0)).collect();
        let by_lane = (0..lanes).map(|lane| {
            let count = Cell::new(0);
            let store = |at: u32, from: u32| {
                assert_eq!(at, from, "a piece goes where it came from");
                for byte in at..at + size {
                    stored[byte as usize].set(stored[byte as usize].get() + 1);
                }
                count.set(count.get() + size);
            };
            Share { lane, lanes }.each(size, bytes, |at| at, store);
            count.get()
        });
        (by_lane.collect(), stored.iter().map(Cell::get).collect())
    }

    #[test]
    fn every_byte_is_moved_once_and_helpers_move_most_of_them() {
        for size in [1, 4, 16] {
            for bytes in (0..4096).step_by(16) {
                let (by_lane, stored) = moved(32, size, bytes);
                assert!(stored.iter().all(|times| *times == 1), "{size} {bytes}: {stored:?}");
                assert_eq!(by_lane.iter().sum::<u32>(), bytes);
                if bytes >= 32 * size {
                    let helped: u32 = by_lane[1..].iter().sum();
                    assert!(helped >= bytes / 2, "{size} {bytes}: {by_lane:?}");
                }
            }
        }
        let (by_lane, _) = moved(32, 16, 64 << 10);
        assert_eq!(by_lane, [2048; 32], "a whole block is shared evenly");
    }

    #[test]
    fn a_block_is_cut_so_that_both_ends_of_its_pieces_are_aligned() {
        for to in 64..96u64 {
            for from in 256..288u64 {
                for bytes in 0..80 {
                    let Cut { head, piece, body } = Cut::of(to, from, bytes);
                    assert!(head + body <= bytes && bytes - head - body < 16 + 16 && head < 16);
                    assert!(body.is_multiple_of(16));
                    if body > 0 {
                        assert!(
                            (to + u64::from(head)).is_multiple_of(piece.into()) && (from + u64::from(head)).is_multiple_of(piece.into())
                        );
                    }
                }
            }
        }
        assert_eq!(Cut::of(3, 19, 100), Cut { head: 13, piece: 16, body: 80 });
        assert_eq!(Cut::of(1, 2, 100), Cut { head: 0, piece: 1, body: 96 });
    }

    #[test]
    fn overlapping_blocks_are_moved_in_the_order_that_loses_nothing() {
        let bytes = 40usize;
        for (to, from) in [(0usize, 8usize), (8, 0), (0, 0), (0, 40), (5, 6), (6, 5)] {
            let mut memory: Vec<u8> = (0..100).collect();
            let mut expected = memory.clone();
            expected.copy_within(from..from + bytes, to);
            let cells = Cell::from_mut(&mut *memory).as_slice_of_cells();
            assert_eq!(apart(to as u64, from as u64, bytes as u64), to.abs_diff(from) >= bytes);
            if forwards(to as u64, from as u64, bytes as u64) {
                Share::ALL.each(1, bytes as u32, |at| cells[from + at as usize].get(), |at, byte| cells[to + at as usize].set(byte));
            } else {
                // From the last byte to the first.
                let last = bytes as u32 - 1;
                Share::ALL.each(
                    1,
                    bytes as u32,
                    |at| cells[from + (last - at) as usize].get(),
                    |at, byte| cells[to + (last - at) as usize].set(byte),
                );
            }
            assert_eq!(memory, expected, "{to} {from}");
        }
    }
}
