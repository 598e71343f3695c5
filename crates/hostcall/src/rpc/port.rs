//! A port while the host serves what a client has opened it for.
//!
//! A *session* is the host's side of one `open` to `close` of the client's: a future, whose only waits are for the
//! packets to become the host's, and for a thread that may block. It is polled by whoever finds that its packets are.

use std::cell::Cell;
use std::ffi::c_void;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use hostcall_abi::llvm_rpc::{PACKET_BYTES, PACKET_WORDS};

use super::memory::{Home, Memory, Packet};
use crate::record::stats::Padded;
use crate::tenant::{Claim, Tenant, Thing};

/// Bytes that come with the size, in the first packet of several.
const FIRST: u64 = (PACKET_BYTES - 8) as u64;

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

/// Goes on on a thread that may block.
pub(crate) async fn on_the_pool() {
    poll_fn(|_| {
        let turn = TURN.get();
        if turn.may_block {
            return Poll::Ready(());
        }
        TURN.set(Turn { wants_to_block: true, ..turn });
        Poll::Pending
    })
    .await;
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |lane| mask >> lane & 1 != 0)
}

/// The most bytes that clients' messages may take at a time, each program's.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) most: u64,
}

/// Bytes that a lane sends.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    /// As many as it says.
    size: u64,
    data: Vec<u8>,
    claims: Vec<Claim>,
    /// Whether there was no room for all of them.
    cut: bool,
}

impl Bytes {
    /// What came, if it is all.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (!self.cut).then_some(&*self.data)
    }

    /// What came up to its first zero, if it is all.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        self.whole()?.split(|byte| *byte == 0).next()
    }

    fn push(&mut self, quota: &Quota, packet: &[u64], at: u64) {
        let left = self.size.saturating_sub(at).min(8 * packet.len() as u64) as usize;
        if self.cut || left == 0 {
            return;
        }
        if self.data.len() + left > self.data.capacity() {
            // Twice as much each time, and no more than what is still to come.
            let rest = usize::try_from(self.size - self.data.len() as u64).unwrap_or(usize::MAX);
            let more = self.data.capacity().max(256).min(rest).max(left);
            match Claim::of(quota.tenant.clone(), Thing::Byte, more as u64, quota.most) {
                Some(claim) => self.claims.push(claim),
                None => {
                    *self = Self { size: self.size, cut: true, ..Self::default() };
                    return;
                }
            }
            self.data.reserve_exact(more);
        }
        let bytes = packet.iter().flat_map(|word| word.to_ne_bytes());
        self.data.extend(bytes.take(left));
    }
}

/// LLVM's own object of a port on the host's side, `rpc::Port<true>`.
#[repr(C)]
struct LlvmPort {
    process: *mut u64,
    lane_mask: u64,
    lane_size: u32,
    index: u32,
    out: u32,
    receive: bool,
    owns_buffer: bool,
}

const _: () = assert!(size_of::<LlvmPort>() == 32 && std::mem::offset_of!(LlvmPort, owns_buffer) == 29);

/// Who serves ports by LLVM's own header: a function that gets an `rpc::Server::Port` and how many lanes it has, and
/// returns an `rpc::Status`.
pub(crate) type Callback = Arc<dyn Fn(*mut c_void, u32) -> u32 + Send + Sync>;

/// A port that a client has opened.
pub(crate) struct Port {
    home: Arc<Padded<Home>>,
    index: u32,
    mask: u64,
    /// Whether the packets are the host's.
    owns: bool,
    /// Whether what was received last has not been given back.
    received: bool,
}

impl Port {
    /// Of a port whose packets are the host's, for these lanes.
    pub(super) fn new(home: Arc<Padded<Home>>, index: u32, mask: u64) -> Self {
        Self { home, index, mask, owns: true, received: false }
    }

    fn memory(&self) -> &Memory {
        &self.home.0.memory
    }

    /// The share of the client's ports that it belongs to.
    pub(crate) fn share(&self) -> usize {
        self.home.0.share
    }

    /// The lanes that have opened it.
    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    /// Lanes that it has packets for.
    pub(crate) fn width(&self) -> usize {
        self.memory().shape().lanes as usize
    }

    /// Waits until the packets are the host's.
    async fn own(&mut self) {
        if self.owns {
            return;
        }
        let (memory, index) = (self.memory(), self.index);
        poll_fn(|_| {
            let turn = TURN.get();
            if turn.exchanges == 0 || !memory.is_hosts(index) {
                return Poll::Pending;
            }
            TURN.set(Turn { exchanges: turn.exchanges - 1, ..turn });
            memory.acquire();
            Poll::Ready(())
        })
        .await;
        self.owns = true;
    }

    fn give(&mut self) {
        let (memory, index) = (self.memory(), self.index);
        memory.give(index);
        if !TURN.get().tells {
            memory.tell(&[(index, memory.told(index))]);
        }
        self.owns = false;
    }

    /// Waits for what the client sends next.
    pub(crate) async fn receive(&mut self) {
        if self.received {
            self.give();
        }
        self.own().await;
        self.received = true;
    }

    /// What a lane has sent: a copy of what is there now.
    pub(crate) fn packet(&self, lane: u32) -> Packet {
        self.memory().load(self.index, lane)
    }

    /// Sends each lane a packet.
    pub(crate) async fn send(&mut self, mut packet: impl FnMut(u32) -> Packet) {
        self.own().await;
        for lane in lanes(self.mask) {
            self.memory().store(self.index, lane, &packet(lane));
        }
        self.give();
        self.received = false;
    }

    /// Sends each lane one word, and the rest as it is in `packet`.
    pub(crate) async fn send_word(&mut self, mut word: impl FnMut(u32) -> u64) {
        self.send(|lane| [word(lane), 0, 0, 0, 0, 0, 0, 0]).await;
    }

    /// Receives a packet of each lane, and sends it one in its place.
    pub(crate) async fn answer(&mut self, mut answer: impl FnMut(u32, Packet) -> Packet) {
        self.receive().await;
        for lane in lanes(self.mask) {
            let answer = answer(lane, self.packet(lane));
            self.memory().store(self.index, lane, &answer);
        }
        // They have been the host's since they were received.
        self.give();
        self.received = false;
    }

    /// Lets somebody serve it who knows LLVM's own object of a port. It waits for the client on this thread, and trusts
    /// what the client writes.
    pub(crate) fn served_by(&mut self, callback: &Callback) -> u32 {
        let (memory, index) = (self.memory(), self.index);
        let mut port = LlvmPort {
            process: std::ptr::null_mut(),
            lane_mask: 1,
            lane_size: memory.shape().lanes,
            index,
            out: memory.told(index),
            receive: self.received,
            owns_buffer: self.owns,
        };
        let status = memory.lend(index, |process| {
            port.process = process.as_mut_ptr();
            callback((&raw mut port).cast(), memory.shape().lanes)
        });
        memory.was_told(index, port.out);
        (self.received, self.owns) = (port.receive, port.owns_buffer);
        status
    }

    /// Receives bytes of each lane, over as many exchanges as the longest of them takes. For those of lanes that say no
    /// size, and for what is more than the quota, there is no memory.
    pub(crate) async fn receive_bytes(&mut self, quota: &Quota) -> Vec<Bytes> {
        let mut all: Vec<Bytes> = (0..self.width()).map(|_| Bytes::default()).collect();
        self.receive().await;
        let mut longest = 0;
        for lane in lanes(self.mask) {
            let (packet, bytes) = (self.packet(lane), &mut all[lane as usize]);
            bytes.size = packet[0];
            longest = longest.max(packet[0]);
            bytes.push(quota, &packet[1..], 0);
        }
        let mut at = FIRST;
        while at < longest {
            self.receive().await;
            for lane in lanes(self.mask) {
                let bytes = &mut all[lane as usize];
                if at < bytes.size {
                    bytes.push(quota, &self.packet(lane), at);
                }
            }
            at = at.saturating_add(PACKET_BYTES as u64);
        }
        all
    }

    /// Sends each lane bytes, over as many exchanges as the longest of them takes. `all` has one for each lane.
    pub(crate) async fn send_bytes(&mut self, all: &[Vec<u8>]) {
        let of = |lane: u32| all.get(lane as usize).map_or(&[][..], |bytes| bytes);
        let longest = lanes(self.mask).map(|lane| of(lane).len()).max().unwrap_or(0);
        self.send(|lane| {
            let bytes = of(lane);
            let mut packet = packed(bytes, PACKET_WORDS - 1);
            packet.rotate_right(1);
            packet[0] = bytes.len() as u64;
            packet
        })
        .await;
        let mut at = FIRST as usize;
        while at < longest {
            self.send(|lane| packed(of(lane).get(at..).unwrap_or(&[]), PACKET_WORDS)).await;
            at += PACKET_BYTES;
        }
    }
}

/// The first of these bytes, as words.
fn packed(bytes: &[u8], words: usize) -> Packet {
    let mut packet = [0; PACKET_WORDS];
    for (word, bytes) in packet[..words].iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(whole);
    }
    packet
}

impl Drop for Port {
    /// The client goes on, however the session ends.
    fn drop(&mut self) {
        if self.owns {
            if std::thread::panicking() {
                lanes(self.mask).for_each(|lane| self.memory().store(self.index, lane, &[0; PACKET_WORDS]));
            }
            self.give();
        }
    }
}
