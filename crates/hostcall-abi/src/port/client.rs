//! The client half: what the lanes of a wave do with a port.

use super::PortState;
use crate::header::{Flags, Header, ReplyHead, pack_lone};
use crate::status::Status;
use crate::word::{Tag, Word, pack, unpack, words_of};

/// What the client needs of the machine it runs on: lanes, and the words of one port buffer.
///
/// Implemented for NVIDIA and AMD GPUs, for the simulator and for loom's model of memory.
///
/// # Memory
///
/// `store_request`, `load_reply` and `ring` are *relaxed* and single-copy atomic; tags carry what order
/// would. `lock_port` and `unlock_port` act on device memory only.
pub trait Arch: Copy {
    /// The calling lane's number in its wave.
    fn lane(self) -> u32;
    /// Bit per lane of `mask` for which `predicate` holds.
    fn ballot(self, mask: u64, predicate: bool) -> u64;
    /// What lane `from` of `mask` passed as `value`.
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32;
    /// Waits for the lanes of `mask`, and orders their memory accesses.
    fn sync(self, mask: u64);
    /// A request of `lanes` lanes has been sent: waits for as long as no reply can be there.
    #[inline(always)]
    fn before_first_poll(self, lanes: u32) {
        let _ = lanes;
    }
    /// A lane waits for the host for the `attempt`-th time in a row: back off.
    fn pause(self, attempt: u32);
    /// The port at which the wave starts looking for a free one, below [`Arch::ports`]: a function of the
    /// wave's place, so that the first look nearly always succeeds.
    fn first_port(self) -> u32;
    /// Nanoseconds of a clock that never goes back.
    fn now_ns(self) -> u64;

    /// Ports of the buffer; 0 if the program is not attached to a server.
    fn ports(self) -> u32;
    /// Words of a port's request area.
    fn request_words(self) -> u32;
    /// Words of a port's reply area.
    fn reply_words(self) -> u32;
    /// Words from one word of a lone lane's reply to its next.
    fn lone_stride(self) -> u32;
    /// Whether replies, and [`Arch::closed`], lie in the device's own memory, where looking costs nothing that others share.
    fn has_window(self) -> bool;
    /// Atomically sets the lock bit of a port's state and returns the old state.
    ///
    /// Pairs with `unlock_port` of the previous owner (acquire where the machine's model is formal).
    fn lock_port(self, port: u32) -> u32;
    /// Stores a port's state, unlocked. Pairs with `lock_port` of the next owner.
    fn unlock_port(self, port: u32, state: u32);
    /// Stores a word of the request area. Pairs, by its tag, with the server's `load_request`.
    fn store_request(self, port: u32, index: usize, word: Word);
    /// Loads a word of the reply area. Pairs, by its tag, with the server's `store_reply`.
    fn load_reply(self, port: u32, index: usize) -> Word;
    /// Stores the port's doorbell. Only a hint: it may be seen before or after the words.
    fn ring(self, port: u32, tag: Tag);
    /// The status with which the server closed the buffer, 0 while it serves. Without a window this reads over the bus.
    fn closed(self) -> u32;
    /// What is known of `closed` without reading over the bus: with a window that itself, else what an earlier call learnt.
    fn known_closed(self) -> u32;
    /// Remembers that the buffer is closed; with a window there is no need.
    fn remember_closed(self, status: u32);
}

/// The lanes that make one call together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The lanes.
    pub mask: u64,
    /// How many they are.
    pub count: u32,
    /// The caller's place among them, from 0.
    pub rank: u32,
    /// The first of them.
    pub leader: u32,
}

impl Group {
    /// The group of the lanes in `mask`, as seen by lane `lane`, which must be one of them.
    #[inline(always)]
    pub const fn new(mask: u64, lane: u32) -> Self {
        Self { mask, count: mask.count_ones(), rank: (mask & ((1u64 << lane) - 1)).count_ones(), leader: first_lane(mask) }
    }

    /// The first of them, as a group that only it is in; and for what concerns its messages, what the others take it for.
    #[inline(always)]
    #[must_use]
    pub const fn alone(&self) -> Self {
        Self { mask: 1 << self.leader, count: 1, rank: 0, leader: self.leader }
    }

    /// Whether the caller is the first of them.
    #[inline(always)]
    pub const fn leads(&self) -> bool {
        self.rank == 0
    }
}

/// The lowest lane of a mask that has one.
#[inline(always)]
pub const fn first_lane(mask: u64) -> u32 {
    match core::num::NonZero::new(mask) {
        // Without the case of no lane at all this is one instruction on a GPU.
        Some(mask) => mask.trailing_zeros(),
        None => 0,
    }
}

/// A port that the group owns. Must be given back by [`Client::release`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a port that is not released is lost to all waves"]
pub struct Held {
    /// Which port.
    pub port: u32,
    /// Its state, as it will be released (the lock bit clear).
    pub state: PortState,
}

impl Held {
    /// Tag of the last message sent.
    #[inline(always)]
    pub const fn tag(&self) -> Tag {
        self.state.tag()
    }
}

/// The first words of one lane's reply. Further words are read by [`Client::reply_word`].
#[derive(Clone, Copy, Debug)]
pub struct Reply<const N: usize> {
    /// Status and length. A status that the client itself found (time-out, server gone) has no payload.
    pub head: ReplyHead,
    /// The words; those past the reply's length hold nothing of use.
    pub words: [Word; N],
}

impl<const N: usize> Reply<N> {
    /// What stands for the reply to a call that got none.
    #[inline(always)]
    pub const fn without(status: Status) -> Self {
        Self { head: ReplyHead { status, dwords: 0 }, words: [Word([0; 4]); N] }
    }

    /// Unit `index` of the payload, which lies in the words.
    #[inline(always)]
    pub fn unit(&self, index: u32) -> u32 {
        // The head is the stream's first unit. What would lie behind the last word is nothing.
        unpack(index + 1, |j| self.words.get(j as usize).copied().unwrap_or_default())
    }
}

/// The client half of the state machine.
///
/// Results on the way are [`Status`] numbers, which stay in registers; who calls makes a [`CallError`](crate::CallError) of
/// them at the end.
#[derive(Clone, Copy, Debug)]
pub struct Client<A>(pub A);

/// Attempts after which a waiting group stops reading every lane's words each time and lets its
/// leader poll one word alone: over the bus, and in the device's own memory. (Under loom, where each attempt multiplies the
/// executions, at once.)
const EAGER_ATTEMPTS: [u32; 2] = if cfg!(loom) { [1, 1] } else { [24, 96] };
/// While it polls alone, the leader looks at the server's `closed` word, and rings again, once in so many attempts.
const CLOSED_CHECK: u32 = if cfg!(loom) { 1 } else { 8 };
/// "No port" among port numbers.
const NO_PORT: u32 = u32::MAX;

impl<A: Arch> Client<A> {
    /// Takes a port: the first free one from the wave's own on.
    ///
    /// `None` if the buffer is closed, or, with `wait` false, if no port was free; [`Client::why_no_port`]
    /// tells which.
    #[inline(always)]
    pub fn acquire(self, group: &Group, wait: bool) -> Option<Held> {
        let arch = self.0;
        let mut port = NO_PORT;
        let mut state = 0;
        if group.leads() && arch.ports() != 0 {
            port = arch.first_port();
            // Two independent accesses to the device's memory: they cost the time of one.
            let closed = arch.known_closed();
            state = arch.lock_port(port);
            if closed != 0 || PortState(state).locked() || PortState(state).abandoned() {
                (port, state) = self.acquire_other(port, state, wait);
            }
        }
        let port = arch.broadcast(group.mask, port, group.leader);
        let state = arch.broadcast(group.mask, state, group.leader);
        if port == NO_PORT { None } else { Some(Held { port, state: PortState(state) }) }
    }

    /// The wave's own port, whose state was `state`, is held or abandoned, or the buffer is closed: looks at all ports, one
    /// after another, round and round.
    #[cold]
    #[inline(never)]
    fn acquire_other(self, first: u32, mut state: u32, wait: bool) -> (u32, u32) {
        let arch = self.0;
        let mut port = first;
        let mut attempt = 0u32;
        loop {
            // Before anything that reads over the bus: once the end is known, all that calls must learn of it at once.
            let closed = arch.known_closed() != 0;
            if !PortState(state).locked() {
                if !closed && (!PortState(state).abandoned() || self.answered(port, PortState(state))) {
                    return (port, state);
                }
                // Closed, or the host still works on a call that was given up. Who took this port now would wait for that
                // handler, however long it takes: as good as held.
                arch.unlock_port(port, state);
            }
            if closed {
                return (NO_PORT, 0);
            }
            port += 1;
            if port == arch.ports() {
                port = 0;
            }
            if port == first {
                // No port is free. Whoever holds one waits for the server only, so one will come free, unless
                // the buffer is closed or everybody waits as we do.
                if !wait || self.check_closed() != 0 {
                    return (NO_PORT, 0);
                }
                attempt += 1;
                arch.pause(attempt);
            }
            state = arch.lock_port(port);
        }
    }

    /// Why [`Client::acquire`] gave no port.
    #[cold]
    pub fn why_no_port(self) -> Status {
        if self.0.ports() == 0 {
            return Status::SERVER_GONE;
        }
        match self.0.known_closed() {
            0 => Status::BUSY,
            status => Status(status as u16),
        }
    }

    /// Whether the last message of a port, abandoned by an earlier owner, has been answered. If not, rings for it:
    /// nobody else waits for it who would.
    #[cold]
    #[inline(never)]
    fn answered(self, port: u32, state: PortState) -> bool {
        let answered = self.0.load_reply(port, 0).tag() == state.tag().payload();
        if !answered {
            self.0.ring(port, state.tag());
        }
        answered
    }

    /// Gives a port back.
    #[inline(always)]
    pub fn release(self, group: &Group, held: Held) {
        // Every lane has read what it wanted before the next owner may cause the words to change.
        self.0.sync(group.mask);
        if group.leads() {
            self.0.unlock_port(held.port, held.state.0);
        }
    }

    /// Sends a message: `units` units of payload per lane, of which `unit(i)` gives the calling lane's `i`-th (anything behind the last).
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
        let (status, base, tag) = self.place(group, held, 1 + group.count * words, words, flags);
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

    /// Sends the message of one lane, the group's first, in which all of the group help: each stores a word of it, all of
    /// them by one instruction. `unit(i)` gives the same for all lanes of the group.
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
        let (status, base, tag) = self.place(group, held, 1 + words, words, flags);
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

    /// Where a message of `need` words, `words` of them behind the header for each lane, goes, and its tag: the port's state is that behind it.
    #[inline(always)]
    fn place(self, group: &Group, held: &mut Held, need: u32, words: u32, flags: Flags) -> (Status, usize, Tag) {
        let room = self.0.request_words();
        let tag = held.state.tag().next();
        if words > u8::MAX as u32 || need > room {
            return (Status::TOO_LARGE, 0, tag);
        }
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
        // Behind a scrub there is no room: the server takes it when it sees all its words, so none may be overwritten before.
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

    /// Whether every lane's reply to the last message is there. For the whole group.
    #[inline(always)]
    pub fn ready(self, group: &Group, held: &Held) -> bool {
        let tag = self.0.load_reply(held.port, self.reply_place(group, 0)).tag();
        self.0.ballot(group.mask, tag != held.tag().payload()) == 0
    }

    /// Where word `j` of the calling lane's reply lies.
    #[inline(always)]
    fn reply_place(self, group: &Group, j: u32) -> usize {
        ReplyHead::place(group.count, group.rank, j, self.0.lone_stride()) as usize
    }

    /// Waits for the replies to the last message and reads each lane's first `N` words, at least 1.
    ///
    /// `N` words of each lane must fit into the reply area ([`ReplyHead::area`]), however short the replies are: all of them are read.
    ///
    /// `deadline_ns` is a time of [`Arch::now_ns`], 0 for none. If it passes, or the server closes the buffer,
    /// the reply's status says so, and the port is left *abandoned*: released as it is, its next owner waits
    /// for the late reply.
    #[inline(always)]
    pub fn receive<const N: usize>(self, group: &Group, held: &mut Held, deadline_ns: u64) -> Reply<N> {
        self.0.before_first_poll(group.count);
        self.receive_late(group, held, deadline_ns)
    }

    /// As [`Client::receive`], of a request that was sent some time ago: looks at once.
    #[inline(always)]
    pub fn receive_late<const N: usize>(self, group: &Group, held: &mut Held, deadline_ns: u64) -> Reply<N> {
        self.await_reply(group, group, held, deadline_ns)
    }

    /// As [`Client::receive`], of a message that one lane sent with the help of all ([`Client::send_together`]): every
    /// lane of the group reads its reply.
    #[inline(always)]
    pub fn receive_together<const N: usize>(self, group: &Group, held: &mut Held) -> Reply<N> {
        self.0.before_first_poll(1);
        self.await_reply(group, &group.alone(), held, 0)
    }

    /// Waits for the reply to what `asked` sent; `group` are those who wait.
    #[inline(always)]
    fn await_reply<const N: usize>(self, group: &Group, asked: &Group, held: &mut Held, deadline_ns: u64) -> Reply<N> {
        const { assert!(N >= 1) };
        let arch = self.0;
        let want = held.tag().payload();
        let eager = EAGER_ATTEMPTS[arch.has_window() as usize];
        let mut words = [Word::default(); N];
        let mut attempt = 0u32;
        loop {
            for (j, word) in words.iter_mut().enumerate() {
                *word = arch.load_reply(held.port, self.reply_place(asked, j as u32));
            }
            let head = ReplyHead::decode(words[0].0[0]);
            let mut missing = words[0].tag() != want;
            for (j, word) in words.iter().enumerate().skip(1) {
                // (No `&&`: without branches this is a few instructions, and each of them is on the way of every reply.)
                missing |= ReplyHead::reaches(head.dwords as u32, j as u32) & (word.tag() != want);
            }
            // A lane alone asks nobody.
            let there = if group.count == 1 { !missing } else { arch.ballot(group.mask, missing) == 0 };
            if there {
                held.state = PortState::new(held.tag(), 0, false);
                return Reply { head, words };
            }
            attempt += 1;
            if attempt >= eager {
                let status = self.wait_slowly(group.mask, asked.count, *held, attempt, deadline_ns);
                if status != Status::OK {
                    return Reply::without(status);
                }
            }
            arch.pause(attempt);
        }
    }

    /// The leader polls one word alone until it is there (or a while has passed), looking at the clock
    /// and at the server's `closed` word now and then. `asked` is the number of lanes that the message is of.
    #[cold]
    #[inline(never)]
    fn wait_slowly(self, mask: u64, asked: u32, held: Held, attempt: u32, deadline_ns: u64) -> Status {
        let group = Group::new(mask, self.0.lane());
        let arch = self.0;
        let want = held.tag().payload();
        let mut verdict = 0;
        if group.leads() {
            let mut tries = attempt;
            loop {
                if arch.load_reply(held.port, 0).tag() == want {
                    // The leader's reply is there; others' may take longer: look at all of them again.
                    break;
                }
                tries += 1;
                if tries.is_multiple_of(CLOSED_CHECK) {
                    // Nothing orders our ring with that of the port's last owner, so the host may be left with
                    // the older one.
                    arch.ring(held.port, held.tag());
                    verdict = self.check_closed();
                    if verdict != 0 {
                        break;
                    }
                }
                if deadline_ns != 0 && arch.now_ns() >= deadline_ns {
                    verdict = Status::TIMEOUT.0 as u32;
                    break;
                }
                arch.pause(tries);
            }
            if verdict == 0 && attempt.is_multiple_of(CLOSED_CHECK) {
                // Lanes other than the leader's are late.
                verdict = self.check_closed();
                if deadline_ns != 0 && arch.now_ns() >= deadline_ns {
                    verdict = Status::TIMEOUT.0 as u32;
                }
            }
        }
        let mut verdict = arch.broadcast(group.mask, verdict, group.leader);
        if verdict != 0 {
            // The server answers everything it has before it closes: one last look decides.
            let at = ReplyHead::place(asked, group.rank, 0, arch.lone_stride()) as usize;
            let missing = arch.load_reply(held.port, at).tag() != want;
            if arch.ballot(group.mask, missing) == 0 {
                verdict = 0;
            }
        }
        Status(verdict as u16)
    }

    /// Reads word `index` of the calling lane's reply, whose length its head gave, waiting for it.
    ///
    /// Before the group sends again over the same port, its lanes must have met ([`Arch::sync`]): a message
    /// without payload is complete with its leader's word, and its replies overwrite these.
    #[inline(always)]
    pub fn reply_word(self, group: &Group, held: &Held, index: u32) -> Word {
        let want = held.tag().payload();
        let mut attempt = 0u32;
        loop {
            let word = self.0.load_reply(held.port, self.reply_place(group, index));
            // The server writes all of a message's replies in one go, so this is at most a matter of the bus.
            if word.tag() == want {
                return word;
            }
            attempt += 1;
            self.0.pause(attempt);
        }
    }

    #[inline(always)]
    fn check_closed(self) -> u32 {
        let known = self.0.known_closed();
        if known != 0 {
            return known;
        }
        let closed = self.0.closed();
        if closed != 0 {
            self.0.remember_closed(closed);
        }
        closed
    }
}
