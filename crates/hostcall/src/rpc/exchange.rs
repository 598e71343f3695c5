//! What a session reads and writes, and what a poll of it knows.

use std::cell::Cell;
use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hostcall_abi::llvm_rpc::{PACKET_BYTES, PACKET_WORDS};

use super::memory::Packet;

/// The host's side of what a client does with a port, from its `open` to its `close`.
pub(crate) type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a poll of a session knows of the thread that it is on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// Whether it may block here.
    pub(super) may_block: bool,
    /// Exchanges that it may still wait for in this turn: a client that is always ready keeps no thread.
    pub(super) exchanges: u32,
    /// Whether it waits for a thread that may block.
    pub(super) wants_to_block: bool,
    /// Whether who polls the session tells the client what was given to it.
    pub(super) tells: bool,
}

impl Turn {
    /// No session is polled.
    pub(super) const NONE: Self = Self { may_block: false, exchanges: 0, wants_to_block: false, tells: false };
}

thread_local! {
    /// Of the session that this thread polls.
    pub(super) static TURN: Cell<Turn> = const { Cell::new(Turn::NONE) };
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |lane| mask >> lane & 1 != 0)
}

/// Who serves ports by LLVM's own header: a function that gets an `rpc::Server::Port` and how many lanes it has, and
/// returns an `rpc::Status`.
pub(crate) type Callback = Arc<dyn Fn(*mut c_void, u32) -> u32 + Send + Sync>;

/// What a session reads and writes: a client's side of one `open` to `close`.
pub(crate) trait Exchange: Send + Sync {
    /// The lanes that have opened it.
    fn mask(&self) -> u64;

    /// Lanes that it has packets for.
    fn width(&self) -> usize;

    /// The share of the client's ports that it belongs to.
    fn share(&self) -> usize {
        0
    }

    /// Whether a session that begins now waits neither for what the client sends first nor to answer it.
    fn has_come(&self) -> bool;

    /// Whether what the client sends next is there: `packet` then gives it.
    fn receives(&mut self) -> bool;

    /// What a lane has sent: a copy of what is there now.
    fn packet(&self, lane: u32) -> Packet;

    /// Whether packets can be put.
    fn sends(&mut self) -> bool;

    /// Puts what a lane gets.
    fn put(&mut self, lane: u32, packet: &Packet);

    /// The packets of all lanes have been put.
    fn sent(&mut self);

    /// Takes as many whole packets of the only lane's as are there at once, but for what is more than so many bytes;
    /// how many bytes. 0: they come one by one.
    fn take_ahead(&mut self, _most: u64, _take: &mut dyn FnMut(&[u8])) -> u64 {
        0
    }

    /// Lets somebody serve it who knows LLVM's own object of a port: what is returned. `None`: there is no such object.
    fn served_by(&mut self, _callback: &Callback) -> Option<u32> {
        None
    }
}

/// The first of these bytes, as words.
pub(super) fn packed(bytes: &[u8], words: usize) -> Packet {
    let mut packet = [0; PACKET_WORDS];
    for (word, bytes) in packet[..words].iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(whole);
    }
    packet
}

/// The bytes of a packet.
pub(super) fn bytes_of(packet: &Packet) -> [u8; PACKET_BYTES] {
    let mut bytes = [0; PACKET_BYTES];
    bytes.chunks_exact_mut(8).zip(packet).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
    bytes
}
