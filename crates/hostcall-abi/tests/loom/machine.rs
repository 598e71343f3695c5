//! One port buffer in loom's memory, and waves over it.
//!
//! A 16-byte word is one atomic: its value is a number of the [`Memory::log`], where the word itself lies. So the model
//! has exactly what the wire relies on, single-copy atomic words and nothing else. Every access is relaxed but the
//! lock's, which acquires and releases: owners of a port follow one another. Between the wave and the host there is
//! nothing but the tags.

use std::cell::Cell;
use std::sync::Mutex;

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{
    Arch, Client, Group, HostMemory, LaneReplies, Message, Polled, PortState, ServerPort, largest_reply_dwords, payload_units,
};
use hostcall_abi::{CallError, Flags, Geometry, Header, ReplyHead, Status, Tag, Word};
use loom::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// Host and device memory of a buffer of one port.
pub struct Memory {
    pub geometry: Geometry,
    /// Every word ever stored. Loom runs one thread at a time, so the lock is never contended.
    log: Mutex<Vec<Word>>,
    state: AtomicU32,
    /// The lock bit of `state`, see `Arch::lock_port`.
    held: loom::sync::Mutex<bool>,
    released: loom::sync::Condvar,
    doorbell: AtomicU32,
    requests: Vec<AtomicUsize>,
    replies: Vec<AtomicUsize>,
    closed: AtomicU32,
    known_closed: AtomicU32,
}

impl Memory {
    /// A port whose last message was `tag`, answered, and whose words are all from long ago: `stale` makes them.
    pub fn new(request_words: u32, reply_words: u32, window: bool, tag: Tag, stale: Word) -> Self {
        let area = |words: u32| (0..words).map(|_| AtomicUsize::new(0)).collect();
        Self {
            geometry: Geometry { request_words, reply_words, window, slots: 0, ..Geometry::new(1, 32) },
            log: Mutex::new(vec![stale]),
            state: AtomicU32::new(PortState::new(tag, 0, false).0),
            held: loom::sync::Mutex::new(false),
            released: loom::sync::Condvar::new(),
            doorbell: AtomicU32::new(u32::from(tag.seq())),
            requests: area(request_words),
            replies: area(reply_words),
            closed: AtomicU32::new(0),
            known_closed: AtomicU32::new(0),
        }
    }

    fn store(&self, at: &AtomicUsize, word: Word) {
        let mut log = self.log.lock().unwrap();
        log.push(word);
        let number = log.len() - 1;
        drop(log);
        // Pairs with `load` on the other side, by the word's tag alone.
        at.store(number, Relaxed);
    }

    fn load(&self, at: &AtomicUsize) -> Word {
        // Pairs with `store` on the other side, by the word's tag alone.
        let number = at.load(Relaxed);
        self.log.lock().unwrap()[number]
    }

    /// The server shuts the buffer.
    pub fn close(&self, status: Status) {
        // Pairs with `Arch::closed`: a hint that waiting is in vain.
        self.closed.store(u32::from(status.0), Relaxed);
    }

    /// What the doorbell shows.
    pub fn rung(&self) -> Tag {
        // Pairs with `Arch::ring`; a hint.
        Tag::new(self.doorbell.load(Relaxed) as u16)
    }
}

/// The memory with its replies in a window: they are written in whole lines, which the bus may tear.
pub struct Lines<'a> {
    pub memory: &'a Memory,
    /// The tag of what fills a line up, for a message's; that message's own is right.
    pub filler: fn(Tag) -> Tag,
}

impl HostMemory for Lines<'_> {
    fn load_request(&self, port: u32, index: u32) -> Word {
        self.memory.load_request(port, index)
    }
    fn store_reply(&self, _: u32, _: u32, _: Word) {
        unreachable!("a window is written in lines");
    }
    fn store_replies(&self, geometry: &Geometry, port: u32, tag: Tag, replies: &LaneReplies<'_>) {
        let (stride, LaneReplies { lanes, words, .. }) = (geometry.lone_stride(), *replies);
        let end = if tag.scrubs() { geometry.reply_words } else { ReplyHead::area(lanes, words, stride) };
        let filler = Word::new([0xdead_beef; 4], (self.filler)(tag).payload());
        let mut area = vec![filler; end.next_multiple_of(Geometry::LINE_WORDS) as usize];
        for (rank, j) in (0..lanes).flat_map(|rank| (0..words).map(move |j| (rank, j))) {
            area[ReplyHead::place(lanes, rank, j, stride) as usize] = replies.word(rank, j, tag);
        }
        for (index, word) in area.into_iter().enumerate() {
            self.memory.store_reply(port, index as u32, word);
        }
    }
}

impl HostMemory for Memory {
    fn load_request(&self, _: u32, index: u32) -> Word {
        self.load(&self.requests[index as usize])
    }
    fn store_reply(&self, _: u32, index: u32, word: Word) {
        self.store(&self.replies[index as usize], word);
    }
}

/// How a wave's machine is broken, for the models that must fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Taking the lock is a load and a store.
    TornLock,
    /// No fault: the lock as the simulator has it, one atomic that says when it is held.
    SpinLock,
    /// The same, but it orders nothing.
    RelaxedLock,
    /// Replies are read without looking at their tags.
    AnyReply,
    /// Scrubbing stores nothing.
    NoScrub,
    /// The first ring never arrives. (No fault: doorbells are hints.)
    FirstRingLost,
}

/// A wave of one lane; or, with `lockstep`, of two lanes that do everything together.
#[derive(Clone, Copy)]
pub struct Wave<'a> {
    memory: &'a Memory,
    clock: &'a Cell<u64>,
    /// The tag of the reply that the second lane saw when the first saw its own.
    second: &'a Cell<u16>,
    rings: &'a Cell<u32>,
    lane: u32,
    lockstep: bool,
    fault: Fault,
}

/// What a [`Wave`] points at.
#[derive(Default)]
pub struct Registers {
    clock: Cell<u64>,
    second: Cell<u16>,
    rings: Cell<u32>,
}

impl<'a> Wave<'a> {
    pub fn new(memory: &'a Memory, registers: &'a Registers) -> Self {
        let Registers { clock, second, rings } = registers;
        Self { memory, clock, second, rings, lane: 0, lockstep: false, fault: Fault::None }
    }
    pub fn lockstep(self) -> Self {
        Self { lockstep: true, ..self }
    }
    pub fn broken(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }
    pub fn group(self) -> Group {
        Group::new(if self.lockstep { 0b11 } else { 0b1 }, 0)
    }
}

impl Lanes for Wave<'_> {
    fn lane(self) -> u32 {
        self.lane
    }
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        // The predicate is always "my reply's tag is not the one I want". If the first lane's is, the second lane's
        // predicate is whether its own differs from that.
        let second = self.lockstep && (predicate || self.second.get() != 0);
        (u64::from(predicate) | u64::from(second) << 1) & mask
    }
    fn broadcast(self, _: u64, value: u32, _: u32) -> u32 {
        value
    }
    fn sync(self, _: u64) {}
    fn pause(self, _: u32) {
        loom::thread::yield_now();
    }
    fn now_ns(self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }
}

impl Arch for Wave<'_> {
    fn first_port(self) -> u32 {
        0
    }
    fn ports(self) -> u32 {
        1
    }
    fn request_words(self) -> u32 {
        self.memory.geometry.request_words
    }
    fn reply_words(self) -> u32 {
        self.memory.geometry.reply_words
    }
    fn lone_stride(self) -> u32 {
        self.memory.geometry.lone_stride()
    }
    fn has_window(self) -> bool {
        self.memory.geometry.window
    }
    fn launch(self) -> u32 {
        0
    }
    fn mark(self, _: u32) -> u32 {
        unreachable!("there is one launch")
    }
    fn lock_port(self, _: u32) -> u64 {
        if self.fault == Fault::TornLock {
            let old = self.memory.state.load(Relaxed);
            self.memory.state.store(old | PortState::LOCKED, Relaxed);
            return old.into();
        }
        match self.fault {
            // Pairs with `unlock_port` of the last owner: our stores come after its stores to the same words.
            Fault::SpinLock => return self.memory.state.fetch_or(PortState::LOCKED, Acquire).into(),
            Fault::RelaxedLock => return self.memory.state.fetch_or(PortState::LOCKED, Relaxed).into(),
            _ => {}
        }
        // As the spin lock, but it blocks instead of saying that the port is held: loom would let two waves that spin
        // starve the one that could go on.
        let mut held = self.memory.held.lock().unwrap();
        while *held {
            held = self.memory.released.wait(held).unwrap();
        }
        *held = true;
        self.memory.state.load(Relaxed).into()
    }
    fn unlock_port(self, _: u32, word: u64) {
        let PortState(state) = PortState::of(word);
        // Pairs with `lock_port` of the next owner. A swap for a store: loom does not know that a store comes after the
        // others' attempts to lock that have read the owner's, and would let them read their own for ever.
        match self.fault {
            Fault::SpinLock => {
                self.memory.state.swap(state, Release);
                return;
            }
            Fault::RelaxedLock => {
                self.memory.state.swap(state, Relaxed);
                return;
            }
            _ => {}
        }
        self.memory.state.store(state, Relaxed);
        *self.memory.held.lock().unwrap() = false;
        self.memory.released.notify_one();
    }
    fn store_request(self, _: u32, index: usize, word: Word) {
        let header = word.tag() & Tag::default().header() != 0;
        if self.fault == Fault::NoScrub && word == Word::new([0; 4], word.tag()) {
            return;
        }
        self.memory.store(&self.memory.requests[index], word);
        // The second lane's word lies behind the first's. (A scrub may end with the first's.)
        if self.lockstep && !header && index + 1 < self.memory.requests.len() {
            self.memory.store(&self.memory.requests[index + 1], word);
        }
    }
    fn load_reply(self, _: u32, index: usize) -> Word {
        let mut word = self.memory.load(&self.memory.replies[index]);
        if self.lockstep {
            self.second.set(word.tag() ^ self.memory.load(&self.memory.replies[index + 1]).tag());
        }
        if self.fault == Fault::AnyReply {
            word = Word::new(word.0, PortState(self.memory.state.load(Relaxed)).tag().next().payload());
        }
        word
    }
    fn ring(self, _: u32, tag: Tag) {
        self.rings.set(self.rings.get() + 1);
        if self.fault == Fault::FirstRingLost && self.rings.get() == 1 {
            return;
        }
        // Pairs with `Memory::rung`; a hint.
        self.memory.doorbell.store(u32::from(tag.seq()), Relaxed);
    }
    fn closed(self) -> u32 {
        // Pairs with `Memory::close`.
        self.memory.closed.load(Relaxed)
    }
    fn known_closed(self) -> u32 {
        self.memory.known_closed.load(Relaxed)
    }
    fn remember_closed(self, status: u32) {
        self.memory.known_closed.store(status, Relaxed);
    }
}

/// Unit `i` of the payload of a request for `value`: units that are not of one message do not go together.
pub fn payload(value: u32, i: u32) -> u32 {
    match i % 3 {
        0 => value,
        1 => !value,
        _ => value.wrapping_mul(31).wrapping_add(i),
    }
}

/// What the host answers to `value`.
pub fn answer(value: u32) -> u32 {
    value + 1000
}

/// Units of the answer to `value`: from 10 on it takes a second word.
fn units_of_answer(value: u32) -> u32 {
    if value < 10 { 2 } else { 6 }
}

/// Takes a port, if the buffer is not closed.
fn acquire(wave: Wave<'_>, group: &Group) -> Result<hostcall_abi::port::Held, CallError> {
    let client = Client(wave);
    client.acquire(group, true).map_err(|why| CallError::from_status(why, 0))
}

/// A whole call with `words` words behind its header for each lane, at most `patience` looks at the clock long if that
/// is not 0.
pub fn call(wave: Wave<'_>, value: u32, words: u32, patience: u64) -> Result<u32, CallError> {
    let (client, group) = (Client(wave), wave.group());
    let mut held = acquire(wave, &group)?;
    let deadline = if patience == 0 { 0 } else { wave.clock.get() + patience };
    let units = Header::units_in(words, group.count);
    let sent = client.send(&group, &mut held, 1, Flags::REPLY, units, |i| payload(value, i));
    if sent != Status::OK {
        client.release(&group, held);
        return Err(CallError::from_status(sent, 0));
    }
    let result = if value < 10 {
        understood(client.receive::<1>(&group, &mut held, deadline))
    } else {
        understood(client.receive::<2>(&group, &mut held, deadline))
    };
    client.release(&group, held);
    result
}

/// The number in a reply, all of whose units must be of the same.
fn understood<const N: usize>(reply: hostcall_abi::port::Reply<N>) -> Result<u32, CallError> {
    if reply.head.status != Status::OK {
        return Err(CallError::from_status(reply.head.status, 0));
    }
    let got = reply.unit(0);
    assert_eq!(u32::from(reply.head.dwords), units_of_answer(got.wrapping_sub(1000)), "an answer to nobody's call");
    for i in 0..u32::from(reply.head.dwords) {
        assert_eq!(reply.unit(i), if i % 2 == 0 { got } else { !got }, "a torn reply");
    }
    Ok(got)
}

/// A whole post.
pub fn post(wave: Wave<'_>, value: u32, words: u32) -> Result<(), CallError> {
    let (client, group) = (Client(wave), wave.group());
    let mut held = acquire(wave, &group)?;
    let sent = client.send(&group, &mut held, 1, Flags::default(), Header::units_in(words, group.count), |i| payload(value, i));
    client.release(&group, held);
    if sent == Status::OK { Ok(()) } else { Err(CallError::from_status(sent, 0)) }
}

/// A message of the first of `lanes` lanes, which all of them send, or all but the last so many that do not help; and,
/// with `reply`, its answer. (The lanes run one after another, the first first: whatever it waits for, they wait for.)
pub fn together(wave: Wave<'_>, value: u32, words: u32, lanes: u32, idle: u32, reply: bool) -> Result<u32, CallError> {
    let group = |lane| Group::new((1 << lanes) - 1, lane);
    let (client, first) = (Client(wave), group(0));
    let mut held = acquire(wave, &first)?;
    let flags = if reply { Flags::REPLY } else { Flags::default() };
    let before = held;
    let send = |lane: u32, held: &mut hostcall_abi::port::Held| {
        let client = Client(Wave { lane, ..wave });
        client.send_together(&group(lane), held, 1, flags, Header::units_in(words, 1), |i| payload(value, i))
    };
    let sent = send(0, &mut held);
    if sent != Status::OK {
        client.release(&first, held);
        return Err(CallError::from_status(sent, 0));
    }
    for lane in 1..lanes - idle {
        let mut of_lane = before;
        assert_eq!(send(lane, &mut of_lane), Status::OK);
        assert_eq!(of_lane.state, held.state, "all lanes know the same of the port");
    }
    let result = if reply { understood(client.receive_together::<1>(&first, &mut held)) } else { Ok(0) };
    client.release(&first, held);
    result
}

/// A message as the host saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub value: u32,
    pub tag: Tag,
    pub lanes: u32,
    pub reply: bool,
}

/// The host: one server thread over the port.
pub struct Server<'a, M: HostMemory> {
    pub memory: &'a Memory,
    words: &'a M,
    port: ServerPort,
}

impl<'a> Server<'a, Memory> {
    pub fn new(memory: &'a Memory, tag: Tag) -> Self {
        Self { memory, words: memory, port: ServerPort::new(tag) }
    }
}

impl<'a, M: HostMemory> Server<'a, M> {
    /// A server that reads and writes through `words`.
    pub fn through(memory: &'a Memory, words: &'a M, tag: Tag) -> Self {
        Self { memory, words, port: ServerPort::new(tag) }
    }

    /// The port's next message, if the doorbell says that there is one and it is whole. It is not taken yet.
    pub fn peek(&mut self) -> Option<(Seen, Message)> {
        if self.memory.rung() == self.port.tag() {
            return None;
        }
        let mut units = vec![0; payload_units(&self.memory.geometry)];
        match self.port.poll(self.words, &self.memory.geometry, 0, &mut units) {
            Polled::Nothing => None,
            Polled::Message(message) => {
                let value = if message.units() == 0 { 0 } else { units[0] };
                for rank in 0..message.lanes() as usize {
                    for i in 0..message.lane_units() {
                        assert_eq!(units[rank * message.stride() + i], payload(value, i as u32), "a payload of two messages");
                    }
                }
                let seen = Seen { value, tag: message.tag, lanes: message.lanes(), reply: message.header.flags.has(Flags::REPLY) };
                Some((seen, message))
            }
            Polled::Malformed(malformed) => panic!("{malformed:?}"),
        }
    }

    /// As [`Server::peek`], and takes it.
    pub fn look(&mut self) -> Option<Seen> {
        let (seen, message) = self.peek()?;
        self.port.consume(&message, &self.memory.geometry);
        Some(seen)
    }

    /// Waits for the next message, and takes it.
    pub fn wait(&mut self) -> Seen {
        loop {
            if let Some(seen) = self.look() {
                return seen;
            }
            loom::thread::yield_now();
        }
    }

    /// The lanes' replies.
    fn replies(&self, seen: Seen, store: impl FnOnce(&LaneReplies<'_>)) {
        let (value, dwords) = (answer(seen.value), units_of_answer(seen.value));
        assert!(dwords as usize <= largest_reply_dwords(&self.memory.geometry, seen.lanes));
        let head = ReplyHead { status: Status::OK, dwords: dwords as u16 }.encode();
        let one = (0..=dwords).map(|i| {
            if i == 0 {
                head
            } else if i % 2 == 1 {
                value
            } else {
                !value
            }
        });
        let mut streams: Vec<u32> = (0..seen.lanes).flat_map(|_| one.clone()).collect();
        streams.extend([0; LaneReplies::SPARE]);
        store(&LaneReplies { lanes: seen.lanes, words: ReplyHead::words(dwords), stride: 1 + dwords as usize, streams: &streams });
    }

    /// Writes the first word of one lane's reply alone.
    pub fn answer_one(&self, seen: Seen, rank: u32) {
        self.replies(seen, |replies| {
            let at = ReplyHead::place(seen.lanes, rank, 0, self.memory.geometry.lone_stride());
            self.words.store_reply(0, at, replies.word(rank, 0, seen.tag));
        });
    }

    /// Answers all lanes of a call, or acknowledges a post.
    pub fn answer_all(&self, seen: Seen) {
        if seen.reply {
            self.replies(seen, |replies| self.words.store_replies(&self.memory.geometry, 0, seen.tag, replies));
        } else {
            self.acknowledge(seen.tag);
        }
    }

    /// Acknowledges all posts up to `tag`.
    pub fn acknowledge(&self, tag: Tag) {
        self.words.acknowledge(&self.memory.geometry, 0, tag);
    }

    /// Serves `count` messages one by one and says what they asked for.
    pub fn serve(&mut self, count: usize) -> Vec<u32> {
        (0..count)
            .map(|_| {
                let seen = self.wait();
                self.answer_all(seen);
                seen.value
            })
            .collect()
    }

    /// Serves `count` messages as a serving thread does: a look takes all posts that are there, up to a call, and
    /// acknowledges the last of them once.
    pub fn serve_in_looks(&mut self, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < count {
            let mut seen = self.wait();
            values.push(seen.value);
            while values.len() < count && !seen.reply {
                let Some(next) = self.look() else { break };
                // (The answer to a call tells as much as an acknowledgement of the posts before it.)
                seen = next;
                values.push(seen.value);
            }
            self.answer_all(seen);
        }
        values
    }
}
