//! What a machine is to the client: lanes, and the words of one port buffer.

use crate::lanes::Lanes;
use crate::word::{Tag, Word};

/// What the client needs of the machine it runs on besides lanes: the words of one port buffer.
///
/// Implemented for NVIDIA and AMD GPUs, for the simulator and for loom's model of memory.
///
/// # Memory
///
/// `store_request`, `load_reply` and `ring` are *relaxed* and single-copy atomic; tags carry what order
/// would. `lock_port` and `unlock_port` act on device memory only.
pub trait Arch: Lanes {
    /// A request of `lanes` lanes has been sent: waits for as long as no reply can be there.
    #[inline(always)]
    fn before_first_poll(self, lanes: u32) {
        let _ = lanes;
    }
    /// The port at which the wave starts looking for a free one, below [`Arch::ports`]: a function of the
    /// wave's place, so that the first look nearly always succeeds.
    fn first_port(self) -> u32;
    /// Ports of the buffer; 0 if the program is not attached to a server.
    fn ports(self) -> u32;
    /// Words of a port's request area.
    fn request_words(self) -> u32;
    /// Words of a port's reply area.
    fn reply_words(self) -> u32;
    /// Words from one word of a lone lane's reply to its next.
    fn lone_stride(self) -> u32;
    /// Whether replies, and [`Arch::closed`], lie in the device's own memory, where looking costs nothing that others
    /// share.
    fn has_window(self) -> bool;
    /// Low bits of a number that each launch has of its own, also one that a tool makes to run a kernel again. Machines
    /// that know none say 0.
    fn launch(self) -> u32;
    /// Atomically sets the lock bit of a port's [word](crate::port::PortState) and returns the old word.
    ///
    /// Pairs with `unlock_port` of the previous owner (acquire where the machine's model is formal).
    fn lock_port(self, port: u32) -> u64;
    /// Stores a port's word, unlocked. Pairs with `lock_port` of the next owner.
    fn unlock_port(self, port: u32, word: u64);
    /// Loads the host's [mark](crate::port::ServerPort::mark) of a port, over the bus. Pairs with the server's store,
    /// whose message's reply, or acknowledgement, an earlier launch has seen.
    fn mark(self, port: u32) -> u32;
    /// Stores a word of the request area. Pairs, by its tag, with the server's `load_request`.
    fn store_request(self, port: u32, index: usize, word: Word);
    /// Loads a word of the reply area. Pairs, by its tag, with the server's `store_reply`.
    fn load_reply(self, port: u32, index: usize) -> Word;
    /// Stores the port's doorbell. Only a hint: it may be seen before or after the words.
    fn ring(self, port: u32, tag: Tag);
    /// The status with which the server closed the buffer, 0 while it serves. Without a window this reads over the bus.
    fn closed(self) -> u32;
    /// What is known of `closed` without reading over the bus: with a window that itself, else what an earlier call
    /// learnt.
    fn known_closed(self) -> u32;
    /// Remembers that the buffer is closed; with a window there is no need.
    fn remember_closed(self, status: u32);
}
