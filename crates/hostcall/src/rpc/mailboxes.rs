//! A session over the mailboxes and packets that a client of LLVM's wire shares with its host.

use std::ffi::c_void;
use std::sync::Arc;

use hostcall_abi::llvm_rpc::PACKET_WORDS;

use super::exchange::{Callback, Exchange, TURN, Turn, lanes};
use super::memory::{Home, Memory, Packet};
use crate::record::stats::Padded;

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

/// A port that a client has opened.
pub(crate) struct Mailboxes {
    home: Arc<Padded<Home>>,
    index: u32,
    mask: u64,
    /// Whether the packets are the host's.
    owns: bool,
    /// Whether what was received last has not been given back.
    received: bool,
}

impl Mailboxes {
    /// Of a port whose packets are the host's, for these lanes.
    pub(super) fn new(home: Arc<Padded<Home>>, index: u32, mask: u64) -> Self {
        Self { home, index, mask, owns: true, received: false }
    }

    fn memory(&self) -> &Memory {
        &self.home.0.memory
    }

    /// Whether the packets are the host's.
    fn own(&mut self) -> bool {
        if !self.owns {
            let turn = TURN.get();
            if turn.exchanges == 0 || !self.memory().is_hosts(self.index) {
                return false;
            }
            TURN.set(Turn { exchanges: turn.exchanges - 1, ..turn });
            self.memory().acquire();
            self.owns = true;
        }
        true
    }

    fn give(&mut self) {
        let (memory, index) = (self.memory(), self.index);
        memory.give(index);
        if !TURN.get().tells {
            memory.tell(&[(index, memory.told(index))]);
        }
        (self.owns, self.received) = (false, false);
    }
}

impl Exchange for Mailboxes {
    fn mask(&self) -> u64 {
        self.mask
    }

    fn width(&self) -> usize {
        self.memory().shape().lanes as usize
    }

    fn share(&self) -> usize {
        self.home.0.share
    }

    fn has_come(&self) -> bool {
        self.owns
    }

    fn receives(&mut self) -> bool {
        if self.received {
            self.give();
        }
        self.received = self.own();
        self.received
    }

    fn packet(&self, lane: u32) -> Packet {
        self.memory().load(self.index, lane)
    }

    fn sends(&mut self) -> bool {
        self.own()
    }

    fn put(&mut self, lane: u32, packet: &Packet) {
        self.memory().store(self.index, lane, packet);
    }

    fn sent(&mut self) {
        self.give();
    }

    fn served_by(&mut self, callback: &Callback) -> Option<u32> {
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
            callback((&raw mut port).cast::<c_void>(), memory.shape().lanes)
        });
        memory.was_told(index, port.out);
        (self.received, self.owns) = (port.receive, port.owns_buffer);
        Some(status)
    }
}

impl Drop for Mailboxes {
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
