//! The client half: what the lanes of a wave do with a port.

use super::PortState;
use crate::header::{Flags, Header, ReplyHead};
use crate::status::Status;
use crate::word::{Tag, Word};

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
    /// Atomically sets the lock bit of a port's state and returns the old state.
    ///
    /// Pairs with `unlock_port` of the previous owner (acquire where the machine's model is formal).
    fn lock_port(self, port: u32) -> u64;
    /// Stores a port's state, unlocked. Pairs with `lock_port` of the next owner.
    fn unlock_port(self, port: u32, state: u64);
    /// Stores a word of the request area. Pairs, by its tag, with the server's `load_request`.
    fn store_request(self, port: u32, index: usize, word: Word);
    /// Loads a word of the reply area. Pairs, by its tag, with the server's `store_reply`.
    fn load_reply(self, port: u32, index: usize) -> Word;
    /// Stores the port's doorbell. Only a hint: it may be seen before or after the words.
    fn ring(self, port: u32, tag: u32);
    /// The status with which the server closed the buffer, 0 while it serves. May read over the bus.
    fn closed(self) -> u32;
    /// What an earlier call learnt of `closed`, without reading over the bus.
    fn known_closed(self) -> u32;
    /// Remembers that the buffer is closed.
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

/// The client half of the state machine.
///
/// Results on the way are [`Status`] numbers, which stay in registers; who calls makes a [`CallError`](crate::CallError) of
/// them at the end.
#[derive(Clone, Copy, Debug)]
pub struct Client<A>(pub A);

/// Attempts after which a waiting group stops reading every lane's words each time and lets its
/// leader poll one word alone. (Under loom, where each attempt multiplies the executions, at once.)
const EAGER_ATTEMPTS: u32 = if cfg!(loom) { 1 } else { 24 };
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
            state = arch.lock_port(port);
            if PortState(state).locked() || PortState(state).abandoned() {
                (port, state) = self.acquire_other(port, state, wait);
            }
        }
        let port = arch.broadcast(group.mask, port, group.leader);
        let low = arch.broadcast(group.mask, state as u32, group.leader);
        let high = arch.broadcast(group.mask, (state >> 32) as u32, group.leader);
        if port == NO_PORT { None } else { Some(Held { port, state: PortState(u64::from(low) | u64::from(high) << 32) }) }
    }

    /// The wave's own port, whose state was `state`, is held or abandoned: looks at all, one after another,
    /// round and round.
    #[cold]
    #[inline(never)]
    fn acquire_other(self, first: u32, mut state: u64, wait: bool) -> (u32, u64) {
        let arch = self.0;
        let mut port = first;
        let mut attempt = 0u32;
        loop {
            if !PortState(state).locked() {
                if !PortState(state).abandoned() || self.answered(port, PortState(state)) {
                    return (port, state);
                }
                // The host still works on a call that was given up. Who took this port now would wait for that
                // handler, however long it takes: as good as held.
                arch.unlock_port(port, state);
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
        let want = state.tag().payload();
        let answered = self.0.load_reply(port, 0).tag == want;
        if !answered {
            self.0.ring(port, want);
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

    /// Sends a message: `words` words of payload per lane, of which `payload(j)` gives the calling
    /// lane's `j`-th.
    ///
    /// All arguments but `payload` must be the same for all lanes of the group. The port stays with the group.
    ///
    /// Gives [`Status::OK`]; [`Status::TOO_LARGE`] if the message does not fit into the request area; or the
    /// status with which the server closed the buffer, if the last message was never acknowledged.
    #[inline(always)]
    pub fn send(self, group: &Group, held: &mut Held, service: u16, flags: Flags, words: u32, payload: impl Fn(u32) -> [u32; 3]) -> Status {
        let arch = self.0;
        let room = arch.request_words();
        if words > u8::MAX as u32 || 1 + group.count * words > room {
            return Status::TOO_LARGE;
        }
        let need = 1 + group.count * words;
        let tag = held.state.tag().next();
        let mut base = held.state.position();
        // A restart of the ring: see the module's text. `base == 0` with `unacked` is an abandoned call.
        if base + need > room || tag.scrubs() || base == 0 {
            if held.state.unacked() {
                let status = self.await_ack(group.mask, *held);
                if status != Status::OK {
                    return status;
                }
            }
            base = 0;
        }
        let header = Header { service, words: words as u8, flags, mask: group.mask };
        if group.leads() {
            arch.store_request(held.port, base as usize, header.encode(tag));
        }
        let mut at = (base + 1 + group.rank) as usize;
        for j in 0..words {
            arch.store_request(held.port, at, Word { data: payload(j), tag: tag.payload() });
            at += group.count as usize;
        }
        if tag.scrubs() {
            self.scrub(group.mask, held.port, need, tag);
        }
        if group.leads() {
            arch.ring(held.port, tag.payload());
        }
        // Behind a scrub there is no room: the server takes it when it sees all its words, so none may be overwritten before.
        let next = if tag.scrubs() { room } else { base + need };
        held.state = PortState::new(tag, if flags.has(Flags::REPLY) { 0 } else { next }, true);
        Status::OK
    }

    /// The most payload bytes per lane that a message of `count` lanes can carry.
    #[inline(always)]
    pub fn largest(self, count: u32) -> u32 {
        let words = (self.0.request_words() - 1) / count;
        crate::word::WORD_BYTES * if words > u8::MAX as u32 { u8::MAX as u32 } else { words }
    }

    /// Rewrites the rest of the request area, so that no word is ever a lap old.
    #[cold]
    #[inline(never)]
    fn scrub(self, mask: u64, port: u32, from: u32, tag: Tag) {
        let group = Group::new(mask, self.0.lane());
        let mut at = (from + group.rank) as usize;
        while at < self.0.request_words() as usize {
            self.0.store_request(port, at, Word { data: [0; 3], tag: tag.payload() });
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
        let want = held.state.tag().payload();
        let mut closed = 0;
        if group.leads() {
            let mut attempt = 0u32;
            while arch.load_reply(held.port, 0).tag != want {
                attempt += 1;
                if attempt.is_multiple_of(CLOSED_CHECK) {
                    arch.ring(held.port, want);
                    closed = self.check_closed();
                    // The server acknowledges everything it has before it closes; look once more.
                    if closed != 0 && arch.load_reply(held.port, 0).tag != want {
                        break;
                    }
                    closed = 0;
                }
                arch.pause(attempt);
            }
        }
        Status(arch.broadcast(group.mask, closed, group.leader) as u16)
    }

    /// Whether the first lane's reply to the last message is there. For the whole group.
    #[inline(always)]
    pub fn ready(self, group: &Group, held: &Held) -> bool {
        let tag = self.0.load_reply(held.port, group.rank as usize).tag;
        self.0.ballot(group.mask, tag != held.tag().payload()) == 0
    }

    /// Waits for the replies to the last message and reads each lane's first `N` words, at least 1.
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
        const { assert!(N >= 1) };
        let arch = self.0;
        let want = held.tag().payload();
        let mut words = [Word::default(); N];
        let mut attempt = 0u32;
        loop {
            let mut at = group.rank as usize;
            for word in &mut words {
                *word = arch.load_reply(held.port, at);
                at += ReplyHead::stride(group.count) as usize;
            }
            let head = ReplyHead::decode(words[0].data[0]);
            let mut missing = words[0].tag != want;
            if !missing {
                let used = ReplyHead::words(head.dwords as u32);
                for (j, word) in words.iter().enumerate().skip(1) {
                    missing |= (j as u32) < used && word.tag != want;
                }
            }
            if arch.ballot(group.mask, missing) == 0 {
                held.state = PortState::new(held.tag(), 0, false);
                return Reply { head, words };
            }
            attempt += 1;
            if attempt >= EAGER_ATTEMPTS {
                let status = self.wait_slowly(group.mask, *held, attempt, deadline_ns);
                if status != Status::OK {
                    return Reply { head: ReplyHead { status, dwords: 0 }, words: [Word::default(); N] };
                }
            }
            arch.pause(attempt);
        }
    }

    /// The leader polls one word alone until it is there (or a while has passed), looking at the clock
    /// and at the server's `closed` word now and then.
    #[cold]
    #[inline(never)]
    fn wait_slowly(self, mask: u64, held: Held, attempt: u32, deadline_ns: u64) -> Status {
        let group = Group::new(mask, self.0.lane());
        let arch = self.0;
        let want = held.tag().payload();
        let mut verdict = 0;
        if group.leads() {
            let mut tries = attempt;
            loop {
                if arch.load_reply(held.port, 0).tag == want {
                    // The leader's reply is there; others' may take longer: look at all of them again.
                    break;
                }
                tries += 1;
                if tries.is_multiple_of(CLOSED_CHECK) {
                    // Nothing orders our ring with that of the port's last owner, so the host may be left with
                    // the older one.
                    arch.ring(held.port, want);
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
            let missing = arch.load_reply(held.port, group.rank as usize).tag != want;
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
            let word = self.0.load_reply(held.port, (index * ReplyHead::stride(group.count) + group.rank) as usize);
            // The server writes a lane's first word last, so this is at most a matter of the bus.
            if word.tag == want {
                return word;
            }
            attempt += 1;
            self.0.pause(attempt);
        }
    }

    #[inline(always)]
    fn check_closed(self) -> u32 {
        let closed = self.0.closed();
        if closed != 0 {
            self.0.remember_closed(closed);
        }
        closed
    }
}
