//! Handlers of opcodes that the user of a server gives.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::rpc::{Packet, Port, Quota, Session, lanes, on_the_pool};

/// Begins a session of an opcode.
pub(crate) type Handler = Arc<dyn Fn(RpcSession) -> Session + Send + Sync>;

/// The handlers, by their opcodes.
#[derive(Clone, Default)]
pub(crate) struct Handlers(Arc<BTreeMap<u32, Handler>>);

impl Handlers {
    /// Gives an opcode a handler.
    pub(crate) fn add(&mut self, opcode: u32, handler: Handler) {
        Arc::make_mut(&mut self.0).insert(opcode, handler);
    }

    pub(super) fn of(&self, opcode: u32) -> Option<&Handler> {
        self.0.get(&opcode)
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The host's side of what kernels do between `open` and `close` of a port of LLVM's `rpc.h`: what
/// [`ServerBuilder::rpc`](crate::ServerBuilder::rpc)'s handlers get.
///
/// Each of the client's `send`s is received by one `recv`, and each of its `recv`s gets what one `send` sends; the same
/// holds for `send_n` and `recv_n`. All lanes that have opened the port do so together. Of a client that was recompiled
/// (`hostcall_rpc.h`) each lane has a session of its own, as if it had opened a port alone.
///
/// A handler waits for nothing but this object's functions: for anything else nobody would wake it.
pub struct RpcSession {
    port: Port,
    quota: Quota,
}

impl fmt::Debug for RpcSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcSession").field("lanes", &self.port.mask()).finish_non_exhaustive()
    }
}

impl RpcSession {
    pub(super) fn new(port: Port, quota: Quota) -> Self {
        Self { port, quota }
    }

    /// The lanes that have opened the port.
    pub fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        lanes(self.port.mask())
    }

    /// Waits for what the lanes send next, which [`packet`](Self::packet) then gives.
    pub async fn recv(&mut self) {
        self.port.receive().await;
    }

    /// The eight words that a lane has sent; zeros of a lane that is none of [`lanes`](Self::lanes).
    pub fn packet(&self, lane: u32) -> Packet {
        if lanes(self.port.mask()).any(|one| one == lane) { self.port.packet(lane) } else { Packet::default() }
    }

    /// Sends each lane eight words.
    pub async fn send(&mut self, packet: impl FnMut(u32) -> Packet) {
        self.port.send(packet).await;
    }

    /// Receives bytes of each lane. `None` of lanes that have not opened the port, and of those that send more than a
    /// program's messages may take at a time ([`Limits::bytes_in_flight`](crate::Limits), at most 256 MiB).
    pub async fn recv_n(&mut self) -> Vec<Option<Vec<u8>>> {
        let mask = self.port.mask();
        let all = self.port.receive_bytes(&self.quota).await;
        let of = |(lane, bytes): (usize, crate::rpc::Bytes)| if mask >> lane & 1 == 0 { None } else { bytes.whole().map(<[u8]>::to_vec) };
        all.into_iter().enumerate().map(of).collect()
    }

    /// Sends each lane bytes: `all` has those of lane 0 first. A lane for which there are none gets no bytes.
    pub async fn send_n(&mut self, all: &[Vec<u8>]) {
        self.port.send_bytes(all).await;
    }

    /// Goes on on a thread that may block. Before this the handler is on a serving thread, which it must not delay.
    pub async fn may_block(&mut self) {
        on_the_pool().await;
    }
}
