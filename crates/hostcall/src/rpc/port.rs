//! A port while the host serves what a client has opened it for.
//!
//! A *session* is the host's side of one `open` to `close` of the client's: a future, whose only waits are for what the
//! client sends, for the client to take what is sent to it, and for a thread that may block. It is polled by whoever
//! finds that the client has done its part. What it reads and writes is an [`Exchange`].

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hostcall_abi::llvm_rpc::{PACKET_BYTES, PACKET_WORDS};

use super::exchange::{Callback, Exchange, Session, TURN, Turn, bytes_of, lanes, packed};
use super::mailboxes::Mailboxes;
use super::memory::Packet;
use super::recorded::Recorded;
use crate::tenant::{Claim, Tenant, Thing};

/// Bytes that come with the size, in the first packet of several.
const FIRST: u64 = (PACKET_BYTES - 8) as u64;

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

/// The most bytes that clients' messages may take at a time, each program's.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) most: u64,
}

impl Quota {
    /// Bytes that are kept for a program at a time, if nothing less is allowed it.
    const MOST: u64 = 256 << 20;

    /// Of a program that is allowed so many bytes on their way.
    pub(crate) fn new(tenant: &Arc<Tenant>, allowed: u64) -> Self {
        Self { tenant: tenant.clone(), most: allowed.min(Self::MOST) }
    }
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

    /// Takes what comes at a place of the whole, as far as it belongs to it.
    fn push(&mut self, quota: &Quota, bytes: &[u8], at: u64) {
        let left = self.size.saturating_sub(at).min(bytes.len() as u64) as usize;
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
        self.data.extend_from_slice(&bytes[..left]);
    }
}

/// A port that a client has opened. (No box: calls that are over at once allocate nothing.)
pub(crate) enum Port {
    Mailboxes(Mailboxes),
    Recorded(Recorded),
}

impl From<Mailboxes> for Port {
    fn from(port: Mailboxes) -> Self {
        Self::Mailboxes(port)
    }
}

impl From<Recorded> for Port {
    fn from(port: Recorded) -> Self {
        Self::Recorded(port)
    }
}

impl Port {
    /// What it reads and writes.
    fn exchange(&self) -> &dyn Exchange {
        match self {
            Self::Mailboxes(port) => port,
            Self::Recorded(port) => port,
        }
    }

    /// The same, for changes.
    fn exchange_mut(&mut self) -> &mut dyn Exchange {
        match self {
            Self::Mailboxes(port) => port,
            Self::Recorded(port) => port,
        }
    }

    /// The share of the client's ports that it belongs to.
    pub(crate) fn share(&self) -> usize {
        self.exchange().share()
    }

    /// Runs what is over once it has received what a client sends first: on the stack, if that has come.
    pub(crate) fn at_once<S: Future<Output = ()> + Send + 'static>(self, session: impl FnOnce(Self) -> S) -> Option<Session> {
        if !self.exchange().has_come() {
            return Some(Box::pin(session(self)));
        }
        let polled = pin!(session(self)).poll(&mut Context::from_waker(Waker::noop()));
        debug_assert!(polled.is_ready(), "a session that waits has to be kept");
        None
    }

    /// The lanes that have opened it.
    pub(crate) fn mask(&self) -> u64 {
        self.exchange().mask()
    }

    /// Lanes that it has packets for.
    pub(crate) fn width(&self) -> usize {
        self.exchange().width()
    }

    /// Waits for what the client sends next.
    pub(crate) async fn receive(&mut self) {
        poll_fn(|_| if self.exchange_mut().receives() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// What a lane has sent: a copy of what is there now.
    pub(crate) fn packet(&self, lane: u32) -> Packet {
        self.exchange().packet(lane)
    }

    /// Waits until packets can be put.
    async fn until_it_sends(&mut self) {
        poll_fn(|_| if self.exchange_mut().sends() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Sends each lane a packet.
    pub(crate) async fn send(&mut self, mut packet: impl FnMut(u32) -> Packet) {
        self.until_it_sends().await;
        for lane in lanes(self.mask()) {
            self.exchange_mut().put(lane, &packet(lane));
        }
        self.exchange_mut().sent();
    }

    /// Sends each lane one word, and the rest as it is in `packet`.
    pub(crate) async fn send_word(&mut self, mut word: impl FnMut(u32) -> u64) {
        self.send(|lane| [word(lane), 0, 0, 0, 0, 0, 0, 0]).await;
    }

    /// Receives a packet of each lane, and sends it one in its place.
    pub(crate) async fn answer(&mut self, mut answer: impl FnMut(u32, Packet) -> Packet) {
        self.receive().await;
        self.until_it_sends().await;
        for lane in lanes(self.mask()) {
            let answer = answer(lane, self.packet(lane));
            self.exchange_mut().put(lane, &answer);
        }
        self.exchange_mut().sent();
    }

    /// Lets somebody serve it who knows LLVM's own object of a port. It waits for the client on this thread, and trusts
    /// what the client writes. `None`: this client has no such object.
    pub(crate) fn served_by(&mut self, callback: &Callback) -> Option<u32> {
        self.exchange_mut().served_by(callback)
    }

    /// Receives bytes of each lane, over as many exchanges as the longest of them takes. For those of lanes that say no
    /// size, and for what is more than the quota, there is no memory.
    pub(crate) async fn receive_bytes(&mut self, quota: &Quota) -> Vec<Bytes> {
        let mut all: Vec<Bytes> = (0..self.width()).map(|_| Bytes::default()).collect();
        self.receive().await;
        let mut longest = 0;
        for lane in lanes(self.mask()) {
            let (packet, bytes) = (self.packet(lane), &mut all[lane as usize]);
            bytes.size = packet[0];
            longest = longest.max(packet[0]);
            bytes.push(quota, &bytes_of(&packet)[8..], 0);
        }
        let mut at = FIRST;
        while at < longest {
            let ahead = self.exchange_mut().take_ahead(longest - at, &mut |bytes| all[0].push(quota, bytes, at));
            if ahead > 0 {
                at = at.saturating_add(ahead);
                continue;
            }
            self.receive().await;
            for lane in lanes(self.mask()) {
                let bytes = &mut all[lane as usize];
                if at < bytes.size {
                    bytes.push(quota, &bytes_of(&self.packet(lane)), at);
                }
            }
            at = at.saturating_add(PACKET_BYTES as u64);
        }
        all
    }

    /// Sends each lane bytes, over as many exchanges as the longest of them takes. `all` has one for each lane.
    pub(crate) async fn send_bytes(&mut self, all: &[Vec<u8>]) {
        let of = |lane: u32| all.get(lane as usize).map_or(&[][..], |bytes| bytes);
        let longest = lanes(self.mask()).map(|lane| of(lane).len()).max().unwrap_or(0);
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
