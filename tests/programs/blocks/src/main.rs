//! Memory of many sizes: `blocks` has threads take, change, hand on and give back blocks, and looks at each byte;
//! `blocks full` fills the heap with small blocks, gives all back and then wants most of it in one piece.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::sync::mpsc::channel;
use std::thread;

const THREADS: u64 = 4;
const ROUNDS: u64 = 3000;
/// Blocks that a thread has at once.
const HELD: usize = 40;

/// A block whose bytes all say whose it is.
struct Block {
    place: *mut u8,
    layout: Layout,
    mark: u8,
}

// SAFETY: memory that nobody else uses.
unsafe impl Send for Block {}

impl Block {
    fn new(layout: Layout, mark: u8, zeroed: bool) -> Block {
        // SAFETY: no layout here is empty.
        let place = unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } };
        assert!(!place.is_null() && (place as usize).is_multiple_of(layout.align()), "{layout:?} at {place:p}");
        let mut block = Block { place, layout, mark };
        assert!(!zeroed || block.bytes().iter().all(|byte| *byte == 0), "{layout:?} is not zero");
        block.bytes().fill(mark);
        block
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block's own memory, all of which was written.
        unsafe { std::slice::from_raw_parts_mut(self.place, self.layout.size()) }
    }

    fn check(&mut self, len: usize) {
        let (layout, mark) = (self.layout, self.mark);
        assert!(self.bytes()[..len].iter().all(|byte| *byte == mark), "{layout:?}: somebody else wrote to it");
    }

    fn resize(&mut self, size: usize) {
        let kept = size.min(self.layout.size());
        let new = Layout::from_size_align(size, self.layout.align()).expect("a layout");
        // SAFETY: allocated with this layout.
        let place = unsafe { realloc(self.place, self.layout, size) };
        assert!(!place.is_null() && (place as usize).is_multiple_of(new.align()), "{new:?} at {place:p}");
        (self.place, self.layout) = (place, new);
        self.check(kept);
        let mark = self.mark;
        self.bytes().fill(mark);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.check(self.layout.size());
        // SAFETY: allocated with this layout, and nobody has it any more.
        unsafe { dealloc(self.place, self.layout) };
    }
}

/// Pseudo-random numbers (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn size(state: &mut u64) -> usize {
    let largest = [16, 64, 200, 1100, 5000][(next(state) % 5) as usize];
    1 + (next(state) % largest) as usize
}

/// Threads in a ring: each hands blocks to the next one, which gives them back.
fn churn() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| channel::<Block>()).unzip();
    thread::scope(|scope| {
        for (number, receiver) in (1u64..).zip(receivers) {
            let sender = senders[number as usize % senders.len()].clone();
            scope.spawn(move || {
                let (mut state, mut held) = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15), Vec::new());
                for round in 0..ROUNDS {
                    let align = 1 << (next(&mut state) % 8);
                    let layout = Layout::from_size_align(size(&mut state), align).expect("a layout");
                    let mut block = Block::new(layout, (number * 37 + round) as u8, round % 3 == 0);
                    if round % 4 == 0 {
                        block.resize(size(&mut state));
                    }
                    match round % 5 {
                        0 => drop(block),
                        // If the next one has ended, it comes back.
                        1 => drop(sender.send(block)),
                        _ if held.len() == HELD => held[(next(&mut state) % HELD as u64) as usize] = block,
                        _ => held.push(block),
                    }
                    receiver.try_iter().take(2).for_each(drop);
                }
                drop(sender);
                drop(held);
                receiver.try_iter().for_each(drop);
            });
        }
    });
    println!("{} blocks were only their owners'", THREADS * ROUNDS);
}

/// Until there is no room.
fn fill(sizes: &[usize]) -> Vec<Vec<u8>> {
    let mut all = Vec::with_capacity(1 << 16);
    while all.len() < all.capacity() {
        let mut block = Vec::<u8>::new();
        if block.try_reserve_exact(sizes[all.len() % sizes.len()]).is_err() {
            return all;
        }
        all.push(block);
    }
    panic!("the heap is too large for this: it had room for {} blocks", all.len());
}

fn full() {
    for sizes in [&[1000][..], &[600, 1000, 400, 900]] {
        let blocks = fill(sizes);
        let bytes: usize = blocks.iter().map(Vec::capacity).sum();
        drop(blocks);
        let mut large = Vec::<u8>::new();
        large.try_reserve_exact(bytes / 2).expect("all of it was given back");
        println!("half of it in one piece");
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        None => churn(),
        Some("full") => full(),
        Some(other) => panic!("{other}: `blocks` or `blocks full`"),
    }
}
