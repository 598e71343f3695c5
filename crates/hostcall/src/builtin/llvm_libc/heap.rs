//! Device memory that kernels ask for by calls: where it lies is known here, and nothing of it is ever touched.

use std::collections::{BTreeMap, HashMap};

/// Pieces are multiples of this, and aligned to it.
const PIECE: u64 = 256;
/// What is as large is aligned to this: LLVM's allocator asks for slabs of this size, and finds them by their
/// addresses.
const SLAB: u64 = 2 << 20;
/// Pieces at a time. They are looked for one after another.
const MOST: usize = 1 << 14;

/// Addresses that are given out.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// What is free: where it begins, and its bytes.
    free: BTreeMap<u64, u64>,
    used: HashMap<u64, u64>,
}

impl Heap {
    /// Of so many bytes at an address.
    pub(super) fn new(start: u64, bytes: u64) -> Self {
        let first = start.next_multiple_of(PIECE);
        let bytes = (start + bytes).saturating_sub(first) / PIECE * PIECE;
        let free = if bytes == 0 { BTreeMap::new() } else { BTreeMap::from([(first, bytes)]) };
        Self { free, used: HashMap::new() }
    }

    /// An address of so many bytes; `None`, if there is no room.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        if self.used.len() >= MOST {
            return None;
        }
        let bytes = bytes.max(1).checked_next_multiple_of(PIECE)?;
        let align = bytes.checked_next_power_of_two()?.min(SLAB);
        let fits = |(&start, &room): (&u64, &u64)| {
            let at = start.checked_next_multiple_of(align)?;
            (at - start <= room && room - (at - start) >= bytes).then_some((start, room, at))
        };
        let (start, room, at) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        if at > start {
            self.free.insert(start, at - start);
        }
        if start + room > at + bytes {
            self.free.insert(at + bytes, start + room - at - bytes);
        }
        self.used.insert(at, bytes);
        Some(at)
    }

    /// Takes an address back; false, if nobody has it.
    pub(super) fn give_back(&mut self, at: u64) -> bool {
        let Some(mut bytes) = self.used.remove(&at) else { return false };
        let mut start = at;
        if let Some(room) = self.free.remove(&(at + bytes)) {
            bytes += room;
        }
        if let Some((&before, &room)) = self.free.range(..at).next_back().filter(|&(&before, &room)| before + room == at) {
            self.free.remove(&before);
            (start, bytes) = (before, bytes + room);
        }
        self.free.insert(start, bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_all_of_it_is_there_again_when_they_came_back() {
        let mut heap = Heap::new(0x1001, 1 << 20);
        let whole = heap.free.clone();
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for bytes in [1, 255, 256, 257, 5000, 0, 100_000] {
            let at = heap.take(bytes).unwrap();
            assert!(at.is_multiple_of(PIECE) && at > 0x1001 && at + bytes <= 0x1001 + (1 << 20));
            assert!(taken.iter().all(|&(other, size)| at >= other + size.max(1) || at + bytes.max(1) <= other), "{at:#x}");
            taken.push((at, bytes));
        }
        // In another order.
        taken.rotate_left(3);
        assert!(taken.iter().all(|&(at, _)| heap.give_back(at)));
        assert_eq!(heap.free, whole);
    }

    #[test]
    fn what_nobody_has_does_not_come_back() {
        let mut heap = Heap::new(1 << 20, 1 << 20);
        let at = heap.take(64).unwrap();
        assert!(!heap.give_back(0) && !heap.give_back(at + 256) && !heap.give_back(u64::MAX));
        assert!(heap.give_back(at) && !heap.give_back(at));
    }

    #[test]
    fn there_is_an_end_to_it() {
        let mut heap = Heap::new(1 << 20, 1 << 20);
        assert!([u64::MAX, u64::MAX - 300, 1 << 63, (1 << 20) + 1].iter().all(|&bytes| heap.take(bytes).is_none()));
        assert_eq!((0..5000).filter(|_| heap.take(256).is_some()).count(), 4096);
        assert_eq!(Heap::default().take(1), None);
        assert_eq!(Heap::new(1 << 20, 4 << 20).take(2 << 20), Some(2 << 20), "slabs are aligned to their size");
        let mut large = Heap::new(1 << 30, 1 << 30);
        assert_eq!((0..2 * MOST).filter(|_| large.take(1).is_some()).count(), MOST);
    }
}
