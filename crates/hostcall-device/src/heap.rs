//! The global allocator: a heap in device memory for many thousands of lanes at once.
//!
//! The idea. The heap is an array of *chunks* of 64 KiB. A chunk in use holds blocks of one size class; its blocks are
//! bits of a bitmap, and its state word (`state`) counts the blocks taken. To allocate, the lanes of a wave that ask
//! for the same class elect a leader. The leader *reserves* as many blocks as there are such lanes by one `fetch_add`
//! on a chunk's count, and then *claims* them by `fetch_or` on bitmap words, of which a reservation guarantees enough
//! clear bits; so a whole wave is served by two atomics. Which chunk to try first is a *hint* per class and per group
//! of waves: a mere number that may be wrong. Nothing is locked, so no lane ever waits for another: a reservation that
//! fails is undone, and a lane that finds a bit taken looks at the next.
//!
//! A chunk without blocks in use (count 0) may be given to another class by one `compare_exchange`: nothing else
//! records which chunks a class has. Requests above the largest class take runs of whole chunks, from the heap's end.
//!
//! The host zeroes the memory; all zero is an empty heap.
//!
//! | from the start, aligned to a chunk | |
//! |---|---|
//! | `HINTS` × `CLASSES` × `u32` | hints: number of a chunk; 0 for none |
//! | chunks × `u64` | state words |
//! | chunks × 512 bytes | bitmaps |
//! | the rest | blocks: chunk `i` lies at `i` × 64 KiB from the start (chunks that would overlap the above are never used) |

mod global;
mod lanes;
mod state;

#[cfg(test)]
mod tests;

pub use global::{DeviceHeap, HeapStats, class, stats, stays, take};

use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use hostcall_abi::port::Group;
use lanes::{Lanes, SITES, nth_bit, peers};
use state::{LARGE, LARGE_BODY, State};

/// Bytes of a chunk.
pub(crate) const CHUNK: usize = 1 << 16;
/// Bytes of a chunk's bitmap: a bit per block of the smallest class.
const BITMAP: usize = CHUNK / 16 / 8;
/// Sizes of the classes.
const SIZES: [u32; 21] = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768];
const CLASSES: usize = SIZES.len();
/// The largest request that is a block of a class.
const LARGEST_BLOCK: usize = SIZES[CLASSES - 1] as usize;
/// Groups of waves that have hints of their own, at most.
const HINTS: usize = 1024;
const HINT_BYTES: usize = HINTS * CLASSES * 4;
/// Bytes before the state words; keeps them aligned to cache lines.
const STATES_AT: usize = HINT_BYTES.next_multiple_of(256) + 256;
/// Number of the next chunk that was never used; behind the hints.
const FRONTIER_AT: usize = HINT_BYTES.next_multiple_of(256);
/// Chunks looked at after the hint before a fresh one is taken.
const NEAR: u32 = 16;
/// Chunk states loaded at once when searching.
const BATCH: u32 = 8;
/// Searches of the whole heap before it counts as exhausted. Blocks that others free meanwhile may be missed by one.
const SEARCHES: u32 = 3;

/// A heap at some place in memory, used by some machine's lanes.
#[derive(Clone, Copy)]
pub(crate) struct Heap<L> {
    lanes: L,
    start: usize,
    /// Chunks, those that hold tables included.
    chunks: u32,
    /// The first chunk that holds blocks.
    first: u32,
}

/// Where the leader found blocks: a word of a chunk's bitmap and the bits that are now its group's.
#[derive(Clone, Copy)]
struct Grant {
    chunk: u32,
    word: u32,
    bits: u64,
}

/// Blocks of one chunk that are reserved and not yet claimed.
#[derive(Clone, Copy)]
struct Reservation {
    chunk: u32,
    count: u32,
    /// The bitmap word to look at next.
    word: u32,
}

/// Whether every lane that allocates is a thread of a program with std, alone in its wave. The linker of programs
/// answers so for those that have no kernels (`hostcall-build`, `lanes`).
#[inline(never)]
fn only_threads() -> bool {
    false
}

/// Blocks of a class in a chunk.
const fn capacity(class: u32) -> u32 {
    CHUNK as u32 / SIZES[class as usize]
}

/// The class for a request, if it is not too large for any.
fn class_of(size: usize, align: usize) -> Option<u32> {
    if size > LARGEST_BLOCK || align > LARGEST_BLOCK {
        return None;
    }
    let size = size.max(1) as u32;
    let mut class = match size {
        0..=16 => 0,
        17..=32 => 1,
        _ => {
            // Two classes per power of two: 2ⁿ and 1.5 × 2ⁿ.
            let top = 31 - (size - 1).leading_zeros();
            let half = u32::from((size - 1) >> (top - 1) & 1 == 0);
            // From 33: top 5 → classes 2 (48) and 3 (64).
            // There is no class of 24576 bytes: two of them fill a chunk as badly as two of 32768.
            (2 * (top - 5) + 3 - half).min(CLASSES as u32 - 1)
        }
    };
    // A block lies at a multiple of its size from the chunk's start.
    while !SIZES[class as usize].is_multiple_of(align as u32) {
        class += 1;
    }
    Some(class)
}

impl<L: Lanes> Heap<L> {
    /// The heap in the `bytes` at `start`, or nothing if they are too few for one.
    ///
    /// # Safety
    /// The memory is valid for reads and writes as long as the heap is used, was zero when the first heap was made
    /// there, and is touched by such heaps (all with the same arguments) and the users of their blocks only.
    pub(crate) unsafe fn new(lanes: L, start: usize, bytes: usize) -> Option<Self> {
        let end = start.checked_add(bytes)?;
        let start = start.checked_next_multiple_of(CHUNK)?;
        let chunks = u32::try_from(end.checked_sub(start)? / CHUNK).unwrap_or(u32::MAX).min(1 << 23);
        let first = (STATES_AT + chunks as usize * (8 + BITMAP)).div_ceil(CHUNK) as u32;
        (start != 0 && first < chunks).then_some(Self { lanes, start, chunks, first })
    }

    fn word32(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: callers give the offset of a 32-bit word of the tables, inside the memory that `new` was promised.
        unsafe { AtomicU32::from_ptr((self.start + offset) as *mut u32) }
    }

    fn state(&self, chunk: u32) -> State<'_> {
        debug_assert!(chunk < self.chunks);
        // SAFETY: `chunk` is below `chunks`, so this is a state word of the tables.
        State(unsafe { AtomicU64::from_ptr((self.start + STATES_AT + chunk as usize * 8) as *mut u64) })
    }

    fn bits(&self, chunk: u32, word: u32) -> &AtomicU64 {
        debug_assert!(chunk < self.chunks && (word as usize) < BITMAP / 8);
        let at = self.start + STATES_AT + self.chunks as usize * 8 + chunk as usize * BITMAP + word as usize * 8;
        // SAFETY: a word of the bitmap of a chunk below `chunks`.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }
    }

    /// The hint of `class` for the caller's group of waves. A number that may be out of date: nothing depends on it.
    fn hint(&self, class: u32) -> &AtomicU32 {
        // As many groups as leave each class a few chunks per group.
        let groups = (self.chunks / (CLASSES as u32 * 2)).min(HINTS as u32).max(1);
        let group = self.lanes.place() % groups;
        self.word32((group as usize * CLASSES + class as usize) * 4)
    }

    /// Memory of `size` bytes, or null. All lanes converged at the call take part.
    pub(crate) fn alloc(&self, size: usize, align: usize) -> *mut u8 {
        let Some(class) = class_of(size, align) else { return self.alloc_large(size, align) };
        let alone = || self.take(class, 1).map_or(null_mut(), |(block, _)| block.cast());
        if only_threads() {
            return alone();
        }
        let mask = self.lanes.converged(&SITES[0]);
        if mask.is_power_of_two() {
            return alone();
        }
        let same = peers(self.lanes, mask, u64::from(class));
        let group = Group::new(same, self.lanes.lane());
        let mut left = group.count;
        let mut rank = group.rank;
        let mut own: *mut u8 = null_mut();
        let mut held = None;
        // Each round gives blocks to the next lanes of the group; all of it stay until all have theirs.
        while left > 0 {
            let grant = if group.leads() { self.claim(&mut held, class, left) } else { None };
            let (at, bits) = grant.map_or((0, 0), |g| (u64::from(g.chunk) << 32 | u64::from(g.word), g.bits));
            let at = self.lanes.shuffle(same, at, group.leader);
            let bits = self.lanes.shuffle(same, bits, group.leader);
            if bits == 0 {
                break;
            }
            let got = bits.count_ones();
            if own.is_null() && rank < got {
                let block = (at as u32) * 64 + nth_bit(bits, rank);
                own = (self.start + (at >> 32) as usize * CHUNK + block as usize * SIZES[class as usize] as usize) as *mut u8;
            }
            // A lane that has its block counts itself out by a rank that is never reached.
            rank = if own.is_null() { rank - got } else { u32::MAX };
            left -= got;
        }
        // Pairs with the fence in `free`: what the block's former owner did to it is over.
        self.lanes.fence();
        own
    }

    /// Claims blocks for up to `want` lanes: all from one bitmap word.
    fn claim(&self, held: &mut Option<Reservation>, class: u32, want: u32) -> Option<Grant> {
        let mut r = match held.take() {
            Some(r) => r,
            None => self.reserve(class, want)?,
        };
        let capacity = capacity(class);
        let words = capacity.div_ceil(64);
        loop {
            let word = if r.word < words { r.word } else { 0 };
            r.word = word + 1;
            let valid = if capacity - word * 64 >= 64 { u64::MAX } else { (1 << (capacity - word * 64)) - 1 };
            let bitmap = self.bits(r.chunk, word);
            // Relaxed: the word's own order of changes says whose a bit is.
            let free = !bitmap.load(Relaxed) & valid;
            if free == 0 {
                continue;
            }
            let take = if free.count_ones() <= r.count { free } else { free & ((2 << nth_bit(free, r.count - 1)) - 1) };
            let bits = take & !bitmap.fetch_or(take, Relaxed);
            if bits != 0 {
                r.count -= bits.count_ones();
                if r.count > 0 {
                    *held = Some(r);
                }
                return Some(Grant { chunk: r.chunk, word, bits });
            }
        }
    }

    /// Reserves between 1 and `want` blocks of `class` in some chunk.
    fn reserve(&self, class: u32, want: u32) -> Option<Reservation> {
        let hint = self.hint(class);
        // Relaxed, here and in the store below: a hint.
        let near = hint.load(Relaxed);
        if near >= self.first && near < self.chunks {
            let count = self.state(near).reserve(class, want);
            if count > 0 {
                return Some(self.reserved(near, count, class));
            }
        }
        let (chunk, count) = self.find(class, want, near.min(self.chunks - 1).max(self.first))?;
        hint.store(chunk, Relaxed);
        Some(self.reserved(chunk, count, class))
    }

    /// A reservation that begins its search of the bitmap where others of this class probably do not.
    fn reserved(&self, chunk: u32, count: u32, class: u32) -> Reservation {
        let words = capacity(class).div_ceil(64);
        Reservation { chunk, count, word: self.lanes.place() / 7 % words }
    }

    /// Looks for blocks beyond the hint: near it, then in a chunk that was never used, then everywhere.
    #[inline(never)]
    fn find(&self, class: u32, want: u32, near: u32) -> Option<(u32, u32)> {
        if let Some(found) = self.search(class, want, near, NEAR, false) {
            return Some(found);
        }
        let frontier = self.word32(FRONTIER_AT);
        // Relaxed: only a number is taken; the chunk itself is taken by its state word.
        while frontier.load(Relaxed) < self.chunks - self.first {
            let chunk = self.first + frontier.fetch_add(1, Relaxed);
            if chunk >= self.chunks {
                break;
            }
            if let Some(count) = self.state(chunk).adopt(class, want) {
                return Some((chunk, count));
            }
        }
        for attempt in 0..SEARCHES {
            if let Some(found) = self.search(class, want, near, self.chunks - self.first, true) {
                return Some(found);
            }
            self.lanes.pause(attempt + 1);
        }
        None
    }

    /// Looks at `count` chunks from `from` on, round about: for one of `class` with room, or, with `adopt`, for
    /// one that has no blocks in use.
    fn search(&self, class: u32, want: u32, from: u32, count: u32, adopt: bool) -> Option<(u32, u32)> {
        let usable = self.chunks - self.first;
        let base = from - self.first;
        let mut done = 0;
        while done < count.min(usable) {
            // The loads of a batch are under way together.
            let mut seen = [0u64; BATCH as usize];
            let at = |i: u32| self.first + (base + done + i) % usable;
            for (i, state) in seen.iter_mut().enumerate() {
                *state = self.state(at(i as u32)).load();
            }
            for (i, state) in seen.into_iter().enumerate() {
                let chunk = at(i as u32);
                let taken = if state::has_room(state, class) {
                    self.state(chunk).reserve_exact(class, want)
                } else if adopt && state::unused(state) {
                    self.state(chunk).adopt(class, want)
                } else {
                    None
                };
                if let Some(taken) = taken {
                    return Some((chunk, taken));
                }
            }
            done += BATCH;
        }
        None
    }

    /// Up to `want` blocks of `class`, of the calling lane alone: the address of the first, and how many. Each holds
    /// the address of the next, the last one null.
    pub(crate) fn take(&self, class: u32, want: u32) -> Option<(*mut *mut u8, u32)> {
        let mut held = None;
        let Grant { chunk, word, bits } = self.claim(&mut held, class, want)?;
        if let Some(rest) = held {
            self.state(chunk).release(rest.count);
        }
        // Pairs with the fence in `free`, as in `alloc`.
        self.lanes.fence();
        let (size, count) = (SIZES[class as usize] as usize, bits.count_ones());
        let first = self.start + chunk as usize * CHUNK + word as usize * 64 * size;
        let mut left = bits;
        let mut next = null_mut();
        while left != 0 {
            let bit = 63 - left.leading_zeros();
            left ^= 1 << bit;
            let block = (first + bit as usize * size) as *mut *mut u8;
            // SAFETY: a block that is the caller's now, of 16 bytes at least, aligned to them.
            unsafe { block.write(next) };
            next = block.cast();
        }
        Some((next.cast(), count))
    }

    /// Gives a block back. All lanes converged at the call take part.
    ///
    /// # Safety
    /// `block` came from [`Heap::alloc`] of a heap over the same memory, and nobody uses it any more.
    pub(crate) unsafe fn free(&self, block: *mut u8) {
        let offset = (block as usize).wrapping_sub(self.start);
        let chunk = (offset / CHUNK) as u32;
        debug_assert!(chunk >= self.first && chunk < self.chunks);
        let state = self.state(chunk);
        let class = state::class(state.load());
        // Pairs with the fence in `alloc`: this owner's accesses come before the next one's.
        self.lanes.fence();
        if class == LARGE {
            self.give_back(chunk, chunk + state::length(state.load()));
            return;
        }
        let index = (offset % CHUNK) as u32 / SIZES[class as usize];
        let (word, bit) = (index / 64, 1u64 << (index % 64));
        // Bits first, here and below: whoever reserves by the count finds them clear, if not at once then soon.
        if only_threads() {
            self.bits(chunk, word).fetch_and(!bit, Relaxed);
            state.release(1);
            return;
        }
        let mask = self.lanes.converged(&SITES[1]);
        // Lanes whose blocks are in one word free them together.
        let same = peers(self.lanes, mask, u64::from(chunk) << 32 | u64::from(word));
        let group = Group::new(same, self.lanes.lane());
        let mut bits = 0;
        let mut others = same;
        while others != 0 {
            bits |= self.lanes.shuffle(same, bit, others.trailing_zeros());
            others &= others - 1;
        }
        if group.leads() {
            self.bits(chunk, word).fetch_and(!bits, Relaxed);
            state.release(group.count);
        }
    }

    /// A run of whole chunks.
    #[inline(never)]
    fn alloc_large(&self, size: usize, align: usize) -> *mut u8 {
        if align > CHUNK {
            return null_mut();
        }
        let Some(need) = u32::try_from(size.div_ceil(CHUNK)).ok().filter(|&n| n <= self.chunks - self.first) else { return null_mut() };
        for _ in 0..SEARCHES {
            // `end` is one past the run's last chunk; the run grows downwards.
            let mut end = self.chunks;
            let mut chunk = end;
            while chunk > self.first && end - self.first >= need {
                chunk -= 1;
                if !self.state(chunk).seize() {
                    self.give_back(chunk + 1, end);
                    end = chunk;
                } else if end - chunk == need {
                    self.state(chunk).make_head(need);
                    self.lanes.fence();
                    return (self.start + chunk as usize * CHUNK) as *mut u8;
                }
            }
            self.give_back(chunk.max(self.first), end);
        }
        null_mut()
    }

    /// Ends the run of the chunks from `from` up to `to`, which the caller has seized.
    fn give_back(&self, from: u32, to: u32) {
        // The head last: until then it says how long the run is.
        for chunk in (from..to).rev() {
            self.state(chunk).clear();
        }
    }

    /// Bytes that can be used of an allocation that was made for `size`.
    pub(crate) fn usable(size: usize, align: usize) -> usize {
        class_of(size, align).map_or(size.next_multiple_of(CHUNK), |class| SIZES[class as usize] as usize)
    }

    /// Bytes of all blocks and runs in use, and of all that could be. Looks at every chunk.
    pub(crate) fn count(&self) -> HeapStats {
        let mut used = 0;
        for chunk in self.first..self.chunks {
            let state = self.state(chunk).load();
            used += match state::class(state) {
                LARGE => state::length(state) as usize * CHUNK,
                LARGE_BODY => 0,
                class => state::taken(state).min(capacity(class)) as usize * SIZES[class as usize] as usize,
            };
        }
        HeapStats { used_bytes: used, total_bytes: (self.chunks - self.first) as usize * CHUNK }
    }
}
