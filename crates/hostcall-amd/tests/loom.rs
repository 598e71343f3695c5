//! The stacks in loom's model: every order of two producers and the host, with tags that wrap.
#![cfg(loom)]

use std::sync::atomic::Ordering;

use amd_hostcall::layout;
use amd_hostcall::stacks::{self, Held, Packets, Word};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;

struct Cell(AtomicU64);

impl Word for Cell {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }
    fn exchange(&self, old: u64, new: u64, order: Ordering) -> Result<u64, u64> {
        self.0.compare_exchange(old, new, order, Ordering::Relaxed)
    }
}

struct Model {
    free: Cell,
    ready: Cell,
    next: Vec<Cell>,
    /// A word of each packet that its holder writes, and whoever takes it from the ready stack reads.
    payload: Vec<loom::cell::UnsafeCell<u64>>,
}

// SAFETY: the cells are only touched by who holds the packet; loom tells if that is wrong.
unsafe impl Sync for Model {}

impl Packets for Model {
    type Word = Cell;
    fn free(&self) -> &Cell {
        &self.free
    }
    fn ready(&self) -> &Cell {
        &self.ready
    }
    fn next(&self, index: u64) -> Option<&Cell> {
        self.next.get(index as usize)
    }
    fn index_size(&self) -> u32 {
        layout::index_size(self.next.len() as u32)
    }
    fn count(&self) -> u32 {
        self.next.len() as u32
    }
}

/// A model of so many packets, whose tags are the last before they wrap.
fn model(packets: u32) -> Model {
    let bits = layout::index_size(packets);
    let mut below = 0;
    let mut next = Vec::new();
    for index in 0..packets {
        next.push(Cell(AtomicU64::new(below)));
        below = u64::from(index) | u64::MAX << bits;
    }
    let payload = (0..packets).map(|_| loom::cell::UnsafeCell::new(0)).collect();
    Model { free: Cell(AtomicU64::new(below)), ready: Cell(AtomicU64::new(0)), next, payload }
}

fn write(model: &Model, held: Held, value: u64) {
    // SAFETY: this thread holds the packet.
    model.payload[held.index(model) as usize].with_mut(|word| unsafe { *word = value });
}

fn free_packets(model: &Model) -> Vec<u64> {
    let mut found = Vec::new();
    while let Some(held) = stacks::pop_free(model, || {}) {
        found.push(held.index(model));
    }
    found.sort_unstable();
    found
}

#[test]
fn a_packet_is_held_by_one_at_a_time_and_none_is_lost_while_tags_wrap() {
    loom::model(|| {
        let shared = Arc::new(model(2));
        let threads: Vec<_> = (1..3)
            .map(|id| {
                let model = shared.clone();
                thread::spawn(move || {
                    let held = stacks::pop_free(&*model, thread::yield_now).expect("as many packets as threads");
                    write(&model, held, id);
                    stacks::give_back(&*model, held, thread::yield_now);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(free_packets(&shared), [0, 1]);
    });
}

#[test]
fn the_host_sees_what_was_written_before_a_packet_was_pushed_and_takes_each_once() {
    loom::model(|| {
        let shared = Arc::new(model(2));
        let threads: Vec<_> = (1..3)
            .map(|id| {
                let model = shared.clone();
                thread::spawn(move || {
                    let held = stacks::pop_free(&*model, thread::yield_now).expect("as many packets as threads");
                    write(&model, held, id);
                    stacks::push_ready(&*model, held, thread::yield_now);
                })
            })
            .collect();
        let mut taken = Vec::new();
        stacks::take_ready(&*shared, &mut taken);
        // SAFETY: what was taken is the host's.
        let read = |index: &u32| shared.payload[*index as usize].with(|word| unsafe { *word });
        let early: Vec<u64> = taken.iter().map(read).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let begin = taken.len();
        stacks::take_ready(&*shared, &mut taken);
        let mut all: Vec<u64> = early.into_iter().chain(taken[begin..].iter().map(read)).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    });
}

/// Loses the order between a packet's words and its push: the model must find it.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_push_without_release_is_found() {
    loom::model(|| {
        let shared = Arc::new(model(1));
        let model = shared.clone();
        let thread = thread::spawn(move || {
            let held = stacks::pop_free(&*model, thread::yield_now).expect("one packet");
            write(&model, held, 7);
            model.next[0].0.store(0, Ordering::Relaxed);
            model.ready.0.store(held.0, Ordering::Relaxed);
        });
        let mut taken = Vec::new();
        stacks::take_ready(&*shared, &mut taken);
        for index in taken {
            // SAFETY: what was taken is the host's; here that is wrong, and found.
            assert_eq!(shared.payload[index as usize].with(|word| unsafe { *word }), 7);
        }
        thread.join().unwrap();
    });
}
