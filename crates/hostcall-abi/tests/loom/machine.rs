//! One port buffer in loom's memory, and waves over it.
//!
//! A 16-byte word is one atomic: its value is a number of the [`Memory::log`], where the word itself lies. So the model has exactly what
//! the wire relies on, single-copy atomic words and nothing else. Every access is relaxed but the lock's, which acquires and
//! releases: owners of a port follow one another. Between the wave and the host there is nothing but the tags.

use std::cell::Cell;
use std::sync::Mutex;

use hostcall_abi::port::{Arch, Client, Group, HostMemory, PayloadBuf, Polled, PortState, ServerPort, largest_reply_dwords, write_reply};
use hostcall_abi::{CallError, Flags, Geometry, Status, Tag, Word};
use loom::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// Host and device memory of a buffer of one port.
pub struct Memory {
    pub geometry: Geometry,
    /// Every word ever stored. Loom runs one thread at a time, so the lock is never contended.
    log: Mutex<Vec<Word>>,
    state: AtomicU64,
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
    pub fn new(request_words: u32, reply_words: u32, tag: Tag, stale: Word) -> Self {
        let area = |words: u32| (0..words).map(|_| AtomicUsize::new(0)).collect();
        Self {
            geometry: Geometry { request_words, reply_words, slots: 0, ..Geometry::new(1, 32) },
            log: Mutex::new(vec![stale]),
            state: AtomicU64::new(PortState::new(tag, 0, false).0),
            held: loom::sync::Mutex::new(false),
            released: loom::sync::Condvar::new(),
            doorbell: AtomicU32::new(tag.payload()),
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
    pub fn rung(&self) -> u32 {
        // Pairs with `Arch::ring`; a hint.
        self.doorbell.load(Relaxed)
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
}

/// A wave of one lane; or, with `lockstep`, of two lanes that do everything together.
#[derive(Clone, Copy)]
pub struct Wave<'a> {
    memory: &'a Memory,
    clock: &'a Cell<u64>,
    /// The tag of the reply that the second lane saw when the first saw its own.
    second: &'a Cell<u32>,
    lockstep: bool,
    fault: Fault,
}

/// What a [`Wave`] points at.
#[derive(Default)]
pub struct Registers {
    clock: Cell<u64>,
    second: Cell<u32>,
}

impl<'a> Wave<'a> {
    pub fn new(memory: &'a Memory, registers: &'a Registers) -> Self {
        Self { memory, clock: &registers.clock, second: &registers.second, lockstep: false, fault: Fault::None }
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

impl Arch for Wave<'_> {
    fn lane(self) -> u32 {
        0
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
    fn first_port(self) -> u32 {
        0
    }
    fn now_ns(self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
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
    fn lock_port(self, _: u32) -> u64 {
        if self.fault == Fault::TornLock {
            let old = self.memory.state.load(Relaxed);
            self.memory.state.store(old | PortState::LOCKED, Relaxed);
            return old;
        }
        match self.fault {
            // Pairs with `unlock_port` of the last owner: our stores come after its stores to the same words.
            Fault::SpinLock => return self.memory.state.fetch_or(PortState::LOCKED, Acquire),
            Fault::RelaxedLock => return self.memory.state.fetch_or(PortState::LOCKED, Relaxed),
            _ => {}
        }
        // As the spin lock, but it blocks instead of saying that the port is held: loom would let two waves that spin
        // starve the one that could go on.
        let mut held = self.memory.held.lock().unwrap();
        while *held {
            held = self.memory.released.wait(held).unwrap();
        }
        *held = true;
        self.memory.state.load(Relaxed)
    }
    fn unlock_port(self, _: u32, state: u64) {
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
        let header = word.tag >> 31 != 0;
        if self.fault == Fault::NoScrub && !header && word.data == [0; 3] {
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
            self.second.set(word.tag ^ self.memory.load(&self.memory.replies[index + 1]).tag);
        }
        if self.fault == Fault::AnyReply {
            word.tag = PortState(self.memory.state.load(Relaxed)).tag().next().payload();
        }
        word
    }
    fn ring(self, _: u32, tag: u32) {
        // Pairs with `Memory::rung`; a hint.
        self.memory.doorbell.store(tag, Relaxed);
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

/// The payload of a request for `value`: no word is like another's.
pub fn payload(value: u32, j: u32) -> [u32; 3] {
    [value, !value, value.wrapping_mul(31).wrapping_add(j)]
}

/// What the host answers to `value`.
pub fn answer(value: u32) -> u32 {
    value + 1000
}

/// A whole call with `words` words of payload, at most `patience` looks at the clock long if that is not 0.
pub fn call(wave: Wave<'_>, value: u32, words: u32, patience: u64) -> Result<u32, CallError> {
    let (client, group) = (Client(wave), wave.group());
    let mut held = client.acquire(&group, true).ok_or_else(|| CallError::from_status(client.why_no_port(), 0))?;
    let deadline = if patience == 0 { 0 } else { wave.clock.get() + patience };
    let sent = client.send(&group, &mut held, 1, Flags::REPLY, words, |j| payload(value, j));
    if sent != Status::OK {
        client.release(&group, held);
        return Err(CallError::from_status(sent, 0));
    }
    let reply = client.receive::<1>(&group, &mut held, deadline);
    client.release(&group, held);
    if reply.head.status != Status::OK {
        return Err(CallError::from_status(reply.head.status, 0));
    }
    assert_eq!(reply.head.dwords, 2);
    assert_eq!(reply.words[0].data[2], !reply.words[0].data[1], "a torn reply");
    Ok(reply.words[0].data[1])
}

/// A whole post.
pub fn post(wave: Wave<'_>, value: u32, words: u32) -> Result<(), CallError> {
    let (client, group) = (Client(wave), wave.group());
    let mut held = client.acquire(&group, true).ok_or_else(|| CallError::from_status(client.why_no_port(), 0))?;
    let sent = client.send(&group, &mut held, 1, Flags::default(), words, |j| payload(value, j));
    client.release(&group, held);
    if sent == Status::OK { Ok(()) } else { Err(CallError::from_status(sent, 0)) }
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

    /// The port's next message, if the doorbell says that there is one and it is whole.
    pub fn look(&mut self) -> Option<Seen> {
        if self.memory.rung() == self.port.tag().payload() {
            return None;
        }
        let mut units = vec![0; PayloadBuf::units(&self.memory.geometry)];
        let mut payload_buf = PayloadBuf::new(&mut units);
        match self.port.poll(self.words, &self.memory.geometry, 0, &mut payload_buf) {
            Polled::Nothing => None,
            Polled::Message(message) => {
                let units = payload_buf.payload();
                let value = units.first().copied().unwrap_or(0);
                for (i, word) in units.chunks(3).enumerate() {
                    let j = i as u32 % u32::from(message.header.words);
                    assert_eq!(word, payload(value, j), "a payload of two messages");
                }
                Some(Seen { value, tag: message.tag, lanes: message.lanes(), reply: message.header.flags.has(Flags::REPLY) })
            }
            Polled::Malformed(malformed) => panic!("{malformed:?}"),
        }
    }

    /// Waits for the next message.
    pub fn wait(&mut self) -> Seen {
        loop {
            if let Some(seen) = self.look() {
                return seen;
            }
            loom::thread::yield_now();
        }
    }

    /// Writes one lane's reply, or a post's acknowledgement.
    pub fn answer(&self, seen: Seen, rank: u32) {
        let value = answer(seen.value);
        let (lanes, payload) = if seen.reply { (seen.lanes, [value, !value]) } else { (1, [0, 0]) };
        let payload = if seen.reply { &payload[..] } else { &[] };
        assert!(payload.len() <= largest_reply_dwords(&self.memory.geometry, lanes));
        write_reply(self.words, &self.memory.geometry, 0, rank, lanes, seen.tag, Status::OK, payload);
    }

    /// Answers all lanes.
    pub fn answer_all(&self, seen: Seen) {
        for rank in 0..if seen.reply { seen.lanes } else { 1 } {
            self.answer(seen, rank);
        }
    }

    /// Serves `count` messages and says what they asked for.
    pub fn serve(&mut self, count: usize) -> Vec<u32> {
        (0..count)
            .map(|_| {
                let seen = self.wait();
                self.answer_all(seen);
                seen.value
            })
            .collect()
    }
}
