//! The client's machine, played by threads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

use hostcall_abi::descriptor::{Control, Descriptor};
use hostcall_abi::lanes;
use hostcall_abi::port::{Arch, PortState};
use hostcall_abi::{Tag, Word};

use crate::wire::{PortBuffer, load16, store16};

/// Lanes, each on a thread of its own, that go through collectives together.
#[derive(Debug)]
pub struct Lanes {
    mask: u64,
    barrier: Barrier,
    values: [AtomicU64; 64],
}

impl Lanes {
    /// The lanes of `mask`.
    pub fn new(mask: u64) -> Self {
        Self { mask, barrier: Barrier::new(mask.count_ones() as usize), values: [const { AtomicU64::new(0) }; 64] }
    }

    /// The lanes.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Every lane gives a value, and all see everybody's.
    fn exchange<T>(&self, lane: u32, value: u64, read: impl Fn(&[AtomicU64; 64]) -> T) -> T {
        // Relaxed: the barriers order it.
        self.values[lane as usize].store(value, Ordering::Relaxed);
        if self.mask.count_ones() == 1 {
            return read(&self.values);
        }
        self.barrier.wait();
        let result = read(&self.values);
        self.barrier.wait();
        result
    }
}

/// One lane of a wave over an in-process port buffer.
#[derive(Clone, Copy, Debug)]
pub struct MockArch<'a> {
    descriptor: &'a Descriptor,
    lanes: &'a Lanes,
    lane: u32,
    first: u32,
    launch: u32,
}

impl<'a> MockArch<'a> {
    pub(super) fn new(memory: &'a PortBuffer, lanes: &'a Lanes, lane: u32, first: u32, launch: u32) -> Self {
        Self { descriptor: memory.descriptor(), lanes, lane, first, launch }
    }

    /// An in-process buffer's addresses are this process's.
    fn at(self, area: u64, offset: usize) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut::<u8>(area as usize).wrapping_add(offset)
    }

    fn word(&self, area: u64, index: u32) -> &AtomicU32 {
        // SAFETY: the word lies inside the buffer, which outlives the borrow in `descriptor`; all accesses to it are
        // atomic.
        unsafe { AtomicU32::from_ptr(self.at(area, index as usize * 4).cast()) }
    }

    /// Lets a doorbell show any value.
    pub(super) fn show(self, port: u32, value: u32) {
        // Pairs with the server's sweep. Only a hint.
        self.word(self.descriptor.doorbells, port).store(value, Ordering::Relaxed);
    }

    fn state(&self, port: u32) -> &AtomicU64 {
        // SAFETY: as above, for the port's word.
        unsafe { AtomicU64::from_ptr(self.at(self.descriptor.states, port as usize * 8).cast()) }
    }
}

impl lanes::Lanes for MockArch<'_> {
    fn lane(self) -> u32 {
        self.lane
    }

    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        assert_eq!(mask, self.lanes.mask, "mock lanes stay together");
        self.lanes.exchange(self.lane, u64::from(predicate), |values| {
            (0..64).filter(|lane| mask >> lane & 1 == 1).fold(0, |ballot, lane| ballot | values[lane].load(Ordering::Relaxed) << lane)
        })
    }

    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
        assert_eq!(mask, self.lanes.mask, "mock lanes stay together");
        self.lanes.exchange(self.lane, u64::from(value), |values| values[from as usize].load(Ordering::Relaxed) as u32)
    }

    fn sync(self, mask: u64) {
        self.ballot(mask, true);
    }

    fn pause(self, attempt: u32) {
        match attempt {
            0..8 => std::hint::spin_loop(),
            8..1000 => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(20)),
        }
    }

    fn now_ns(self) -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

impl Arch for MockArch<'_> {
    fn first_port(self) -> u32 {
        self.first
    }

    fn ports(self) -> u32 {
        self.descriptor.ports
    }

    fn request_words(self) -> u32 {
        self.descriptor.request_words
    }

    fn reply_words(self) -> u32 {
        self.descriptor.reply_words
    }

    fn lone_stride(self) -> u32 {
        self.descriptor.lone_stride
    }

    fn has_window(self) -> bool {
        self.descriptor.window != 0
    }

    fn launch(self) -> u32 {
        self.launch
    }

    fn mark(self, port: u32) -> u32 {
        // Pairs with the server's stores of marks.
        self.word(self.descriptor.mark(port), 0).load(Ordering::Relaxed)
    }

    fn lock_port(self, port: u32) -> u64 {
        // Pairs with `unlock_port`.
        self.state(port).fetch_or(PortState::LOCKED.into(), Ordering::Acquire)
    }

    fn unlock_port(self, port: u32, word: u64) {
        // Pairs with `lock_port`.
        self.state(port).store(word, Ordering::Release);
    }

    fn store_request(self, port: u32, index: usize, word: Word) {
        assert!(port < self.descriptor.ports && index < self.descriptor.request_words as usize, "the client stays inside its request area");
        let n = port as usize * self.descriptor.request_words as usize + index;
        // SAFETY: an aligned word of the request areas; a port buffer is made only where the processor moves words
        // whole.
        unsafe { store16(self.at(self.descriptor.requests, n * size_of::<Word>()), word) }
    }

    fn load_reply(self, port: u32, index: usize) -> Word {
        assert!(port < self.descriptor.ports && index < self.descriptor.reply_words as usize, "the client stays inside its reply area");
        let n = port as usize * self.descriptor.reply_words as usize + index;
        // SAFETY: an aligned word of the reply areas; a port buffer is made only where the processor moves words whole.
        unsafe { load16(self.at(self.descriptor.replies, n * size_of::<Word>())) }
    }

    fn ring(self, port: u32, tag: Tag) {
        self.show(port, tag.payload().into());
    }

    fn closed(self) -> u32 {
        const { assert!(std::mem::offset_of!(Control, closed) == 0) };
        // Pairs with `PortBuffer::close`.
        self.word(self.descriptor.control, 0).load(Ordering::Acquire)
    }

    fn known_closed(self) -> u32 {
        // Pairs with `remember_closed`.
        self.word(self.descriptor.closed, 0).load(Ordering::Relaxed)
    }

    fn remember_closed(self, status: u32) {
        if self.has_window() {
            return;
        }
        // Pairs with `known_closed`.
        self.word(self.descriptor.closed, 0).store(status, Ordering::Relaxed);
    }
}
