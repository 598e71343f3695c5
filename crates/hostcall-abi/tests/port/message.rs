//! What a group of lanes does with one message, and what it must get.

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Arch, Client, Group, Held};
use hostcall_abi::{Flags, Header, ReplyHead, Status, Tag};

use crate::lanes::Lane;
use crate::program::Fault;

/// What a group of lanes does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Waits for the reply.
    Call,
    /// Does not ask for one.
    Post,
    /// Asks, and gives the port back without waiting.
    Drop,
    /// Waits so many steps.
    Timeout(u64),
    /// Takes a port only if one is free that may be kept, and fetches the reply when all else is done.
    Keep,
    /// All lanes send the message of the first, and read its reply.
    Together,
    /// All lanes send the message of the first, which is a post.
    PostTogether,
}

#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub kind: Kind,
    /// The lanes.
    pub mask: u64,
    /// Units of payload.
    pub units: u32,
    /// Units of the longest reply; at most as many as fit.
    pub reply: u32,
}

impl Op {
    /// Whether nobody asks for a reply.
    pub fn is_post(&self) -> bool {
        matches!(self.kind, Kind::Post | Kind::PostTogether)
    }

    /// Whether all lanes send the message of the first.
    pub fn is_together(&self) -> bool {
        matches!(self.kind, Kind::Together | Kind::PostTogether)
    }

    /// The lanes that call, as the message says.
    pub fn callers(&self) -> u64 {
        if self.is_together() { self.mask & self.mask.wrapping_neg() } else { self.mask }
    }

    /// Words of the message.
    pub fn words(&self) -> u32 {
        let lanes = self.callers().count_ones();
        1 + lanes * Header::words_for(self.units, lanes)
    }

    /// Units of the reply to `lane`: not all are as long.
    pub fn reply_of(&self, lane: u32) -> u32 {
        if lane.is_multiple_of(3) { self.reply / 2 } else { self.reply }
    }
}

/// Unit `i` of the payload that `lane` of `wave` sends with operation `op`. Every half of it says whose it is.
pub fn payload(wave: usize, op: usize, lane: u32, i: u32) -> u32 {
    (wave as u32 * 0x0101 + op as u32 * 7 + lane * 0x35 + i * 0x0b).wrapping_mul(0x0001_0007) ^ 0x5a5a_a5a5
}

/// Unit `i` of the reply to message `tag`, which is the operation of number `service`, for `lane`.
pub fn unit(tag: Tag, service: u16, lane: u32, i: u32) -> u32 {
    (u32::from(tag.seq()) << 16 ^ u32::from(service)) ^ (lane << 24 ^ i.wrapping_mul(0x0101_0101))
}

/// What came of a message.
#[derive(Debug)]
pub enum Sent {
    /// Nothing: it was not sent.
    Not,
    /// It was sent, and nothing more is to be done.
    Done,
    /// Its reply is to be [fetched](fetch).
    Kept(Held),
}

/// One message of a group.
pub fn message(arch: Lane<'_>, op: &Op, service: u16, payload: impl Fn(u32) -> u32) -> Sent {
    let group = &Group::new(op.mask, arch.lane);
    // A group is of lanes that have converged: all have come before one of them takes a port.
    arch.sync(group.mask);
    let client = Client(arch);
    let keeps = op.kind == Kind::Keep;
    let knows = group.leads() && arch.device.knows_the_end(arch.bus);
    if knows {
        arch.device.must_not_look.borrow_mut().insert((arch.wave, arch.lane));
    }
    let acquired = match arch.fault {
        Fault::WaitsToKeep => client.acquire(group, true),
        // Who thinks that there is one port more leaves that.
        Fault::KeepsTheLast if keeps => Client(Lane { more_ports: 1, ..arch }).acquire(group, false),
        _ => client.acquire(group, !keeps),
    };
    arch.device.must_not_look.borrow_mut().remove(&(arch.wave, arch.lane));
    assert!(!knows || acquired.is_err(), "a port taken though the end is known");
    let mut held = match acquired {
        Ok(held) => held,
        Err(why) => {
            assert!(why == Status::SERVER_GONE || keeps && why == Status::BUSY, "{why:?}");
            return Sent::Not;
        }
    };
    let flags = if op.is_post() { Flags::default() } else { Flags::REPLY };
    let status = if op.is_together() {
        client.send_together(group, &mut held, service, flags, op.units, payload)
    } else {
        client.send(group, &mut held, service, flags, op.units, payload)
    };
    if op.words() > arch.request_words() {
        assert_eq!(status, Status::TOO_LARGE);
    }
    if status != Status::OK {
        assert!(op.words() > arch.request_words() || gone(arch, status), "{status:?}");
        client.release(group, held);
        return Sent::Not;
    }
    match op.kind {
        Kind::Post | Kind::PostTogether | Kind::Drop => client.release(group, held),
        Kind::Timeout(_) | Kind::Call | Kind::Together => fetch(arch, op, service, held),
        Kind::Keep => return Sent::Kept(held),
    }
    Sent::Done
}

/// The reply to a message that was sent.
pub fn fetch(arch: Lane<'_>, op: &Op, service: u16, mut held: Held) {
    let (group, client) = (&Group::new(op.mask, arch.lane), Client(arch));
    let deadline = if let Kind::Timeout(steps) = op.kind { arch.device.clock.get() + steps } else { 0 };
    if op.kind == Kind::Keep {
        for _ in 0..3 {
            let _ = client.ready(group, &held);
        }
    }
    let reply = if op.is_together() && arch.fault != Fault::ReceivesApart {
        client.receive_together::<2>(group, &mut held)
    } else {
        client.receive::<2>(group, &mut held, deadline)
    };
    if reply.head.status != Status::OK {
        assert!(deadline != 0 && reply.head.status == Status::TIMEOUT || gone(arch, reply.head.status), "{:?}", reply.head);
        return client.release(group, held);
    }
    // Who reads the rest of a reply to a message of one lane is a group of one.
    let (lane, asked) = if op.is_together() { (group.leader, &Group { count: 1, rank: 0, ..*group }) } else { (arch.lane, group) };
    let dwords = op.reply_of(lane);
    assert_eq!(u32::from(reply.head.dwords), dwords, "the length of another lane's reply");
    let mut words = reply.words.to_vec();
    let end = ReplyHead::words(dwords);
    while (words.len() as u32) < end {
        // Behind the end there is nothing to be had, nor to be waited for.
        words.extend(client.reply_words::<3>(asked, &held, words.len() as u32, end));
    }
    for i in 0..dwords {
        let got = hostcall_abi::word::unpack(1 + i, |j| words[j as usize]);
        assert_eq!(got, unit(held.tag(), service, lane, i), "another lane's reply");
        assert!(ReplyHead::words(i + 1) > 2 || reply.unit(i) == got);
    }
    client.release(group, held);
}

/// Whether a call may end so: the buffer is closed. Notes that it is known from now on.
fn gone(arch: Lane<'_>, status: Status) -> bool {
    arch.device.learnt.set(true);
    status == Status::SERVER_GONE && arch.bus.closed() != 0
}
