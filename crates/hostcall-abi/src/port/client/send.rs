//! Storing a message, where it goes in the ring, and the wait for room.

use super::{CLOSED_CHECK, Client, Held};
use crate::header::{Flags, Header, pack_lone};
use crate::port::{Arch, Group, PortState};
use crate::status::Status;
use crate::word::{Tag, Word, pack, words_of};

impl<A: Arch> Client<A> {
    /// Sends a message: `units` units of payload per lane, of which `unit(i)` gives the calling lane's `i`-th (anything
    /// behind the last).
    ///
    /// All arguments but `unit` must be the same for all lanes of the group. The port stays with the group.
    ///
    /// Gives [`Status::OK`]; [`Status::TOO_LARGE`] if the message does not fit into the request area; or the
    /// status with which the server closed the buffer, if the last message was never acknowledged.
    #[inline(always)]
    pub fn send(self, group: &Group, held: &mut Held, service: u16, flags: Flags, units: u32, unit: impl Fn(u32) -> u32) -> Status {
        self.send_as::<true>(group, held, service, flags, units, unit)
    }

    /// As [`Client::send`], where `units` are no constant, or many: less code, and `unit` may as well look into memory.
    #[inline(always)]
    pub fn send_long(self, group: &Group, held: &mut Held, service: u16, flags: Flags, units: u32, unit: impl Fn(u32) -> u32) -> Status {
        self.send_as::<false>(group, held, service, flags, units, unit)
    }

    #[inline(always)]
    fn send_as<const STRAIGHT: bool>(
        self,
        group: &Group,
        held: &mut Held,
        service: u16,
        flags: Flags,
        units: u32,
        unit: impl Fn(u32) -> u32,
    ) -> Status {
        let words = Header::words_for(units, group.count);
        let (status, base, tag) = self.place(group, held, group.count, words, flags);
        if status != Status::OK {
            return status;
        }
        let arch = self.0;
        let header = Header { service, words: words as u8, flags, mask: group.mask };
        if group.count == 1 {
            arch.store_request(held.port, base, header.encode_lone(group.leader, [unit(0), unit(1)], tag));
            let store = |j: u32| arch.store_request(held.port, base + 1 + j as usize, Word::new(pack_lone(j, &unit), tag.payload()));
            if STRAIGHT {
                unrolled!(for j in 0..Header::words_for(units, 1) => { store(j) });
            } else {
                (0..Header::words_for(units, 1)).for_each(store);
            }
        } else {
            if group.leads() {
                arch.store_request(held.port, base, header.encode(tag));
            }
            let first = base + 1 + group.rank as usize;
            let store = |j: u32| {
                arch.store_request(held.port, first + (j * group.count) as usize, Word::new(pack(j, &unit), tag.payload()));
            };
            if STRAIGHT {
                unrolled!(for j in 0..words_of(units) => { store(j) });
            } else {
                (0..words_of(units)).for_each(store);
            }
        }
        self.sent(group, held.port, 1 + group.count * words, tag);
        status
    }

    /// Sends the message of one lane, the group's first, in which all of the group help: each stores a word of it, all
    /// of them by one instruction. `unit(i)` gives the same for all lanes of the group.
    ///
    /// Otherwise as [`Client::send`].
    #[inline(always)]
    pub fn send_together(
        self,
        group: &Group,
        held: &mut Held,
        service: u16,
        flags: Flags,
        units: u32,
        unit: impl Fn(u32) -> u32,
    ) -> Status {
        let words = Header::words_for(units, 1);
        let (status, base, tag) = self.place(group, held, 1, words, flags);
        if status != Status::OK {
            return status;
        }
        let arch = self.0;
        let header = Header { service, words: words as u8, flags, mask: 1 << group.leader };
        let mut mine = header.encode_lone(group.leader, [unit(0), unit(1)], tag);
        // The word of lane 0 in this round, and the lane whose word was the last.
        let (mut first, mut last) = (base, 0);
        unrolled!(for j in 0..words => {
            let word = Word::new(pack_lone(j, &unit), tag.payload());
            last += 1;
            if last == group.count {
                // More words than lanes: each has one now.
                arch.store_request(held.port, first + group.rank as usize, mine);
                (first, last) = (first + group.count as usize, 0);
            }
            if last == group.rank {
                mine = word;
            }
        });
        if group.rank <= last {
            arch.store_request(held.port, first + group.rank as usize, mine);
        }
        self.sent(group, held.port, 1 + words, tag);
        status
    }

    /// Where a message of `words` words behind the header for each of `lanes` lanes goes, and its tag: the port's state
    /// is that behind it.
    #[inline(always)]
    fn place(self, group: &Group, held: &mut Held, lanes: u32, words: u32, flags: Flags) -> (Status, usize, Tag) {
        let room = self.0.request_words();
        let tag = held.state.tag().next();
        if words > u8::MAX as u32 || 1 + lanes * words > room {
            return (Status::TOO_LARGE, 0, tag);
        }
        let need = 1 + lanes * words;
        let mut base = held.state.position();
        // A restart of the ring: see the module's text. `base == 0` with `unacked` is an abandoned call.
        if base + need > room || tag.scrubs() || base == 0 {
            if held.state.unacked() {
                let status = self.await_ack(group.mask, *held);
                if status != Status::OK {
                    return (status, 0, tag);
                }
            }
            base = 0;
        }
        // Behind a scrub there is no room: the server takes it when it sees all its words, so none may be overwritten
        // before.
        let next = if tag.scrubs() { room } else { base + need };
        held.state = PortState::new(tag, if flags.has(Flags::REPLY) { 0 } else { next }, true);
        (Status::OK, base as usize, tag)
    }

    /// The words of a message are stored: scrubs if it is one that does, and rings.
    #[inline(always)]
    fn sent(self, group: &Group, port: u32, need: u32, tag: Tag) {
        if tag.scrubs() {
            self.scrub(group.mask, port, need, tag);
        }
        if group.leads() {
            self.0.ring(port, tag);
        }
    }

    /// The most payload bytes per lane that a message of `count` lanes can carry.
    #[inline(always)]
    pub fn largest(self, count: u32) -> u32 {
        let words = (self.0.request_words() - 1) / count;
        4 * Header::units_in(if words > u8::MAX as u32 { u8::MAX as u32 } else { words }, count)
    }

    /// Rewrites the rest of the request area, so that no word is ever a lap old.
    #[cold]
    #[inline(never)]
    fn scrub(self, mask: u64, port: u32, from: u32, tag: Tag) {
        let group = Group::new(mask, self.0.lane());
        let mut at = (from + group.rank) as usize;
        while at < self.0.request_words() as usize {
            self.0.store_request(port, at, Word::new([0; 4], tag.payload()));
            at += group.count as usize;
        }
    }

    /// Waits until the server has acknowledged the last message of the port: has copied all of it. `mask` is the
    /// group's. (It and what else crosses into the rare paths is passed as numbers, which stay in registers.)
    ///
    /// Gives [`Status::OK`] or the status with which the server closed the buffer.
    #[cold]
    #[inline(never)]
    pub fn await_ack(self, mask: u64, held: Held) -> Status {
        let group = Group::new(mask, self.0.lane());
        let arch = self.0;
        let want = held.tag().payload();
        let mut closed = 0;
        if group.leads() {
            let mut attempt = 0u32;
            while arch.load_reply(held.port, 0).tag() != want {
                attempt += 1;
                if attempt.is_multiple_of(CLOSED_CHECK) {
                    arch.ring(held.port, held.tag());
                    closed = self.check_closed();
                    // The server acknowledges everything it has before it closes; look once more.
                    if closed != 0 && arch.load_reply(held.port, 0).tag() != want {
                        break;
                    }
                    closed = 0;
                }
                arch.pause(attempt);
            }
        }
        Status(arch.broadcast(group.mask, closed, group.leader) as u16)
    }
}
