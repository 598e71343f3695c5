//! The two stacks of packets: free ones, which waves take one by one, and ready ones, which the host takes all at once.
//!
//! Written over two traits, so that the same code runs on a buffer's memory and in loom's model of it.

use std::sync::atomic::Ordering;

use crate::layout;

/// A word of 64 bits that several parties change.
pub trait Word {
    /// Reads it.
    fn load(&self, order: Ordering) -> u64;
    /// Writes it.
    fn store(&self, value: u64, order: Ordering);
    /// Writes it and returns what it was.
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Writes it if it is `old`. A failure may have no reason, and reads relaxed.
    ///
    /// # Errors
    /// What it is instead.
    fn exchange(&self, old: u64, new: u64, order: Ordering) -> Result<u64, u64>;
}

impl Word for std::sync::atomic::AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.swap(value, order)
    }
    fn exchange(&self, old: u64, new: u64, order: Ordering) -> Result<u64, u64> {
        self.compare_exchange_weak(old, new, order, Ordering::Relaxed)
    }
}

/// The words that the stacks are made of.
pub trait Packets {
    /// Their type.
    type Word: Word;
    /// Top of the free stack.
    fn free(&self) -> &Self::Word;
    /// Top of the ready stack.
    fn ready(&self) -> &Self::Word;
    /// The link of a packet, or `None` if there is no such packet.
    fn next(&self, index: u64) -> Option<&Self::Word>;
    /// Told that a packet's words will be used soon.
    fn expect(&self, _index: u64) {}
    /// Bits of a tagged pointer that are an index.
    fn index_size(&self) -> u32;
    /// Number of packets.
    fn count(&self) -> u32;
}

/// A packet that a client holds, as the tagged pointer by which it took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held(pub u64);

impl Held {
    /// The packet's index.
    pub fn index(self, packets: &impl Packets) -> u64 {
        layout::index(self.0, packets.index_size())
    }
}

/// Takes a free packet; `None` if all are in use, or if the stack's top names none.
pub fn pop_free<P: Packets>(packets: &P, mut contended: impl FnMut()) -> Option<Held> {
    let top = packets.free();
    loop {
        // Acquire: pairs with the release of `give_back`, so that the link read below is the one that was written
        // before it.
        let pointer = top.load(Ordering::Acquire);
        if pointer == 0 {
            return None;
        }
        // The packet may be taken and given back by others meanwhile; then its tag has changed, and the exchange fails.
        let below = packets.next(layout::index(pointer, packets.index_size()))?.load(Ordering::Relaxed);
        // Acquire: as above, for the packet's other words, which its last holder has read before it gave it back.
        if top.exchange(pointer, below, Ordering::Acquire).is_ok() {
            return Some(Held(pointer));
        }
        contended();
    }
}

fn push<P: Packets>(packets: &P, top: &P::Word, pointer: u64, order: Ordering, mut contended: impl FnMut()) {
    let Some(next) = packets.next(layout::index(pointer, packets.index_size())) else { return };
    let mut below = top.load(Ordering::Relaxed);
    loop {
        next.store(below, Ordering::Relaxed);
        // A release: pairs with the acquire of `pop_free` or `take_ready`. Other pushes in between keep it, being
        // read-modify-writes.
        match top.exchange(below, pointer, order) {
            Ok(_) => return,
            Err(now) => below = now,
        }
        contended();
    }
}

/// Hands a packet to the host. Sequentially consistent, for who looks afterwards whether the host looks here any more.
pub fn push_ready<P: Packets>(packets: &P, held: Held, contended: impl FnMut()) {
    push(packets, packets.ready(), held.0, Ordering::SeqCst, contended);
}

/// Gives a packet back.
pub fn give_back<P: Packets>(packets: &P, held: Held, contended: impl FnMut()) {
    push(packets, packets.free(), layout::next_tag(held.0, packets.index_size()), Ordering::Release, contended);
}

/// Takes all ready packets, the one that has waited longest first, and appends their indices.
///
/// A device that writes what it likes can lose its own packets. It cannot make this read outside the buffer, or go on
/// for longer than there are packets.
pub fn take_ready<P: Packets>(packets: &P, taken: &mut Vec<u32>) {
    // Looks before it writes: an exchange would take the line from the waves each time.
    if packets.ready().load(Ordering::Relaxed) == 0 {
        return;
    }
    // Acquire: pairs with the release of `push_ready`, of each packet on the stack.
    let mut pointer = packets.ready().swap(0, Ordering::Acquire);
    let begin = taken.len();
    while pointer != 0 && taken.len() - begin < packets.count() as usize {
        let index = layout::index(pointer, packets.index_size());
        let Some(next) = packets.next(index) else { break };
        packets.expect(index);
        taken.push(index as u32);
        // Acquired with the top; nobody changes the link of a packet that waits.
        pointer = next.load(Ordering::Relaxed);
    }
    taken[begin..].reverse();
}
