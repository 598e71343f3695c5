//! The heap on the host. Threads stand for waves, and each thread does the steps of its lanes.

use super::lanes::Lanes;
use super::*;
use crate::random::Random;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::boxed::Box;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::vec::Vec;

/// Waves of one lane.
#[derive(Clone, Copy)]
struct Solo(u32);

impl Lanes for Solo {
    fn lane(self) -> u32 {
        0
    }
    fn converged(self, _: &'static u8) -> u64 {
        1
    }
    fn ballot(self, _: u64, predicate: bool) -> u64 {
        u64::from(predicate)
    }
    fn shuffle(self, _: u64, value: u64, _: u32) -> u64 {
        value
    }
    fn fence(self) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
    fn place(self) -> u32 {
        self.0
    }
    fn pause(self, _: u32) {
        std::thread::yield_now();
    }
}

/// A meeting of the lanes of one mask: the values of those that have come, and of the last that was complete.
#[derive(Default)]
struct Meeting {
    coming: HashMap<u32, u64>,
    met: HashMap<u32, u64>,
    round: u64,
}

/// A wave whose lanes are threads. Lanes of one mask meet at each collective; different masks are apart.
struct ThreadWave {
    place: u32,
    lanes: u32,
    meetings: Mutex<HashMap<u64, Meeting>>,
    changed: Condvar,
}

impl ThreadWave {
    fn meet(&self, mask: u64, lane: u32, value: u64) -> HashMap<u32, u64> {
        let mut all = self.meetings.lock().unwrap();
        let meeting = all.entry(mask).or_default();
        let round = meeting.round;
        meeting.coming.insert(lane, value);
        if meeting.coming.len() == mask.count_ones() as usize {
            meeting.met = std::mem::take(&mut meeting.coming);
            meeting.round += 1;
            self.changed.notify_all();
            return meeting.met.clone();
        }
        // Nobody can complete the next round before this lane has left this one.
        let all = self.changed.wait_while(all, |all| all[&mask].round == round).unwrap();
        all[&mask].met.clone()
    }
}

#[derive(Clone, Copy)]
struct ThreadLane {
    wave: &'static ThreadWave,
    lane: u32,
}

impl Lanes for ThreadLane {
    fn lane(self) -> u32 {
        self.lane
    }
    fn converged(self, _: &'static u8) -> u64 {
        (1 << self.wave.lanes) - 1
    }
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        self.wave.meet(mask, self.lane, u64::from(predicate)).into_iter().fold(0, |bits, (lane, value)| bits | value << lane)
    }
    fn shuffle(self, mask: u64, value: u64, from: u32) -> u64 {
        self.wave.meet(mask, self.lane, value)[&from]
    }
    fn fence(self) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
    fn place(self) -> u32 {
        self.wave.place
    }
    fn pause(self, _: u32) {
        std::thread::yield_now();
    }
}

struct Memory(*mut u8, Layout);

// SAFETY: only an address.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, CHUNK).unwrap();
        // SAFETY: not of size zero.
        Self(unsafe { alloc_zeroed(layout) }, layout)
    }
    fn heap<L: Lanes>(&self, lanes: L) -> Heap<L> {
        // SAFETY: zeroed memory that outlives the test's heaps.
        unsafe { Heap::new(lanes, self.0 as usize, self.1.size()) }.unwrap()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: as it was allocated.
        unsafe { dealloc(self.0, self.1) };
    }
}

#[test]
fn every_size_gets_the_smallest_class_that_holds_it() {
    for size in 1..=LARGEST_BLOCK {
        let class = class_of(size, 1).unwrap() as usize;
        assert!(SIZES[class] as usize >= size);
        assert!(class == 0 || (SIZES[class - 1] as usize) < size, "{size} is put into {}", SIZES[class]);
    }
    assert_eq!(class_of(LARGEST_BLOCK + 1, 1), None);
}

#[test]
fn every_alignment_is_kept() {
    let memory = Memory::new(4 << 20);
    let heap = memory.heap(Solo(3));
    for shift in 0..=16 {
        let align = 1usize << shift;
        for size in [1, 17, 40, 100, 3000, 40000, 100_000] {
            let block = heap.alloc(size, align);
            assert!(!block.is_null() && (block as usize).is_multiple_of(align), "{size} at {align}");
            // SAFETY: just allocated.
            unsafe { heap.free(block) };
        }
    }
    assert!(heap.alloc(16, CHUNK * 2).is_null());
    assert_eq!(heap.count().used_bytes, 0);
}

#[test]
fn the_nth_set_bit_is_found_in_any_pattern() {
    let mut random = Random::stream(5, 5);
    for _ in 0..2000 {
        let bits = random.next_u64() & random.next_u64() | 1 << random.below(64);
        let places: Vec<u32> = (0..64).filter(|i| bits >> i & 1 == 1).collect();
        for (n, place) in places.iter().enumerate() {
            assert_eq!(nth_bit(bits, n as u32), *place);
        }
    }
}

#[test]
fn an_exhausted_heap_says_null_and_is_whole_again_when_all_is_freed() {
    let memory = Memory::new(2 << 20);
    let heap = memory.heap(Solo(0));
    let total = heap.count().total_bytes;
    for size in [16usize, 48, 512, 12288, 32768, 65536, 200_000] {
        let mut blocks = Vec::new();
        loop {
            let block = heap.alloc(size, 8);
            if block.is_null() {
                break;
            }
            blocks.push(block);
        }
        let chunks = total / CHUNK;
        let run = size.div_ceil(CHUNK);
        let expected = if run == 1 { CHUNK / size * chunks } else { chunks / run };
        assert_eq!(blocks.len(), expected, "of {size} bytes");
        let mut places: Vec<usize> = blocks.iter().map(|b| *b as usize).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= size));
        // Another class finds only what no run could use.
        let small = heap.alloc(24, 8);
        assert_eq!(small.is_null(), chunks.is_multiple_of(run), "after blocks of {size} bytes");
        for block in blocks.into_iter().chain((!small.is_null()).then_some(small)) {
            // SAFETY: allocated above, freed once.
            unsafe { heap.free(block) };
        }
        assert_eq!(heap.count().used_bytes, 0);
    }
}

#[test]
fn blocks_that_are_taken_together_are_linked_and_come_back_one_by_one() {
    let memory = Memory::new(2 << 20);
    let heap = memory.heap(Solo(3));
    let chunks = heap.count().total_bytes / CHUNK;
    for (class, size) in SIZES.into_iter().enumerate() {
        for want in [1, 5, 16] {
            let mut places = Vec::new();
            while let Some((first, count)) = heap.take(class as u32, want) {
                assert!((1..=want).contains(&count), "{count} of {want}");
                let mut block = first;
                for _ in 0..count {
                    places.push(block as usize);
                    // SAFETY: a block that was taken holds the address of the next.
                    block = unsafe { block.read() }.cast();
                }
                assert!(block.is_null(), "the last one leads nowhere");
            }
            places.sort_unstable();
            assert_eq!(places.len(), CHUNK / size as usize * chunks, "of {size} bytes");
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= size as usize), "of {size} bytes");
            for block in places {
                // SAFETY: taken above, freed once.
                unsafe { heap.free(block as *mut u8) };
            }
            assert_eq!(heap.count().used_bytes, 0, "of {size} bytes");
        }
    }
}

#[test]
fn too_little_memory_is_no_heap() {
    let memory = Memory::new(CHUNK);
    // SAFETY: as in `Memory::heap`.
    assert!(unsafe { Heap::new(Solo(0), memory.0 as usize, CHUNK) }.is_none());
    // SAFETY: no memory at all is never touched.
    assert!(unsafe { Heap::new(Solo(0), 0, 0) }.is_none());
    // SAFETY: as above.
    assert!(unsafe { Heap::new(Solo(0), usize::MAX - 3, 2) }.is_none());
}

/// Allocates and frees at random, and checks that nobody else touches a block meanwhile.
fn churn<L: Lanes>(heap: Heap<L>, lane: u64, rounds: u32, largest: u32) {
    let mut random = Random::stream(99, lane);
    let mut blocks: BTreeMap<u32, (*mut u8, usize)> = BTreeMap::new();
    for round in 0..rounds {
        let size = 1 + random.below(largest) as usize;
        let block = heap.alloc(size, 1 << random.below(5));
        if !block.is_null() {
            // SAFETY: a block of `size` bytes that is this lane's.
            unsafe { block.write_bytes(lane as u8, size) };
            blocks.insert(random.next_u32(), (block, size));
        }
        if round % 4 != 0 || blocks.len() > 40 {
            let Some((_, (block, size))) = blocks.pop_first() else { continue };
            // SAFETY: this lane's block.
            let whole = unsafe { std::slice::from_raw_parts(block, size) }.iter().all(|byte| *byte == lane as u8);
            assert!(whole, "a block of {size} bytes was written by somebody else");
            // SAFETY: this lane's block, freed once.
            unsafe { heap.free(block) };
        }
    }
    while let Some((_, (block, _))) = blocks.pop_first() {
        // SAFETY: this lane's block, freed once.
        unsafe { heap.free(block) };
    }
}

#[test]
fn blocks_of_many_waves_never_overlap_and_all_come_back() {
    let memory = Memory::new(24 << 20);
    std::thread::scope(|scope| {
        for wave in 0..8u32 {
            let memory = &memory;
            scope.spawn(move || churn(memory.heap(Solo(wave * 17)), u64::from(wave) + 1, 20_000, 700));
        }
        for wave in 8..10u32 {
            let memory = &memory;
            scope.spawn(move || churn(memory.heap(Solo(wave)), u64::from(wave) + 1, 1500, 150_000));
        }
    });
    assert_eq!(memory.heap(Solo(0)).count().used_bytes, 0);
}

#[test]
fn waves_that_share_a_hint_never_overlap_in_a_full_heap() {
    // About 2 MiB for 8 waves that want more than that at times.
    let memory = Memory::new(2 << 20);
    std::thread::scope(|scope| {
        for wave in 0..8u64 {
            let memory = &memory;
            scope.spawn(move || {
                let heap = memory.heap(Solo(1));
                let mut random = Random::stream(3, wave);
                for _ in 0..300 {
                    let size = 1 << (4 + random.below(10));
                    let blocks: Vec<*mut u8> = (0..random.below(200)).map(|_| heap.alloc(size, 8)).filter(|b| !b.is_null()).collect();
                    for block in &blocks {
                        // SAFETY: this wave's block of `size` bytes.
                        unsafe { block.write_bytes(wave as u8, size) };
                    }
                    for block in blocks {
                        // SAFETY: this wave's block, freed once.
                        unsafe {
                            assert!(std::slice::from_raw_parts(block, size).iter().all(|byte| *byte == wave as u8));
                            heap.free(block);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(memory.heap(Solo(0)).count().used_bytes, 0);
}

#[test]
fn lanes_that_allocate_together_get_blocks_of_their_own() {
    let memory = Arc::new(Memory::new(16 << 20));
    let waves: Vec<&'static ThreadWave> = (0..2)
        .map(|place| &*Box::leak(Box::new(ThreadWave { place, lanes: 8, meetings: Mutex::default(), changed: Condvar::new() })))
        .collect();
    std::thread::scope(|scope| {
        for wave in waves {
            let barrier = Arc::new(Barrier::new(8));
            for lane in 0..8 {
                let (memory, barrier) = (Arc::clone(&memory), Arc::clone(&barrier));
                scope.spawn(move || {
                    let heap = memory.heap(ThreadLane { wave, lane });
                    let mut random = Random::stream(11, u64::from(wave.place * 8 + lane));
                    let mark = (wave.place * 8 + lane + 1) as u8;
                    let mut kept: Vec<(*mut u8, usize)> = Vec::new();
                    for round in 0..400u32 {
                        // Sometimes all the same size, sometimes each its own.
                        let size = if round % 3 == 0 { 32 } else { 1 + random.below(600) as usize };
                        let block = heap.alloc(size, 8);
                        assert!(!block.is_null());
                        // SAFETY: this lane's block of `size` bytes.
                        unsafe { block.write_bytes(mark, size) };
                        kept.push((block, size));
                        barrier.wait();
                        if kept.len() > 5 {
                            let (block, size) = kept.swap_remove(random.below(5) as usize);
                            // SAFETY: this lane's block, freed once.
                            unsafe {
                                assert!(std::slice::from_raw_parts(block, size).iter().all(|byte| *byte == mark));
                                heap.free(block);
                            }
                        }
                    }
                    for (block, _) in kept {
                        // SAFETY: this lane's block, freed once.
                        unsafe { heap.free(block) };
                    }
                });
            }
        }
    });
    assert_eq!(memory.heap(Solo(0)).count().used_bytes, 0);
}
