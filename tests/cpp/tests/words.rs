//! The client in C++ against the client in Rust: the same random programs of messages over the same machine. Every
//! access, in order, must be equal, and what comes of each message.
//!
//! A lane runs alone. What it would learn from the others of its wave, the machine answers: they all agree in ballots,
//! and what the first lane passes to the others was noted when that one ran. So all lanes of a group are run one after
//! another.
#![allow(missing_docs, reason = "a test")]

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Arch, Client, Group, Held, PortState, Reply};
use hostcall_abi::{Flags, ReplyHead, Tag, Word};
use hostcall_cpp_tests::clients;

/// What a lane did with its machine.
#[derive(Clone, Debug, PartialEq)]
enum Access {
    Ballot(u64, bool),
    Broadcast(u64, u32, u32),
    Sync(u64),
    Pause(u32),
    PauseForWaves(u32),
    BeforeFirstPoll(u32),
    Mark(u32),
    Lock(u32, u64),
    Unlock(u32, u64),
    Store(u32, u32, [u32; 4]),
    Load(u32, u32),
    Ring(u32, u32),
    Closed,
    Remember(u32),
}

/// The launch of all that run.
const LAUNCH: u32 = 0xffff_fff0;

/// The machine of the lane that runs, and the device's memory.
#[derive(Clone, Default)]
struct State {
    lane: u32,
    leader: u32,
    /// What the first lane passed to the others.
    passed: VecDeque<u32>,
    words: Vec<u64>,
    marks: Vec<u32>,
    geometry: [u32; 4],
    first_port: u32,
    /// Messages are answered after so many pauses; closed after so many, if not 0.
    delay: u32,
    close: u32,
    known_closed: u32,
    pauses: u32,
    all_pauses: u32,
    now: u64,
    reply_seed: u32,
    tag: Vec<u32>,
    trace: Vec<Access>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

#[derive(Clone, Copy, Debug)]
struct Machine;

impl State {
    fn leads(&self) -> bool {
        self.lane == self.leader
    }

    fn note(&mut self, access: Access) {
        self.trace.push(access);
    }

    /// A word of the reply area: of the last message, if it has been answered.
    fn reply(&mut self, port: u32, index: u32) -> [u32; 4] {
        let tag = self.tag[port as usize];
        let tag = if self.pauses >= self.delay { tag } else { tag.wrapping_sub(1) & 0x7fff };
        let noise = |i: u32| (self.reply_seed ^ index.wrapping_mul(31) ^ i).wrapping_mul(0x85eb_ca6b);
        // A head of a successful call with some units, wherever a head can be.
        let head = ReplyHead { status: hostcall_abi::Status::OK, dwords: (self.reply_seed % 9) as u16 }.encode();
        Word::new([head, noise(1), noise(2), noise(3)], tag as u16).0
    }
}

impl Lanes for Machine {
    fn lane(self) -> u32 {
        with(|s| s.lane)
    }
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        with(|s| {
            s.note(Access::Ballot(mask, predicate));
            if predicate { mask } else { 0 }
        })
    }
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
        with(|s| {
            // What others than the first lane pass is nobody's.
            s.note(Access::Broadcast(mask, if s.leads() { value } else { 0 }, from));
            assert_eq!(from, s.leader);
            if s.leads() {
                s.passed.push_back(value);
                return value;
            }
            s.passed.pop_front().expect("the first lane has passed as much")
        })
    }
    fn sync(self, mask: u64) {
        with(|s| s.note(Access::Sync(mask)));
    }
    fn pause(self, attempt: u32) {
        with(|s| {
            s.note(Access::Pause(attempt));
            s.pauses += 1;
            s.all_pauses += 1;
            s.now += 100;
        });
    }
    fn pause_for_waves(self, attempt: u32) {
        with(|s| {
            s.note(Access::PauseForWaves(attempt));
            s.pauses += 1;
            s.all_pauses += 1;
            // Somebody gives back a port.
            if attempt > 3 {
                s.words[0] &= !1;
            }
        });
    }
    fn now_ns(self) -> u64 {
        with(|s| s.now)
    }
}

impl Arch for Machine {
    fn before_first_poll(self, lanes: u32) {
        with(|s| s.note(Access::BeforeFirstPoll(lanes)));
    }
    fn first_port(self) -> u32 {
        with(|s| s.first_port)
    }
    fn ports(self) -> u32 {
        with(|s| s.words.len() as u32)
    }
    fn request_words(self) -> u32 {
        with(|s| s.geometry[0])
    }
    fn reply_words(self) -> u32 {
        with(|s| s.geometry[1])
    }
    fn lone_stride(self) -> u32 {
        with(|s| s.geometry[2])
    }
    fn has_window(self) -> bool {
        with(|s| s.geometry[3] != 0)
    }
    fn launch(self) -> u32 {
        LAUNCH
    }
    fn mark(self, port: u32) -> u32 {
        with(|s| {
            s.note(Access::Mark(port));
            s.marks[port as usize]
        })
    }
    fn lock_port(self, port: u32) -> u64 {
        with(|s| {
            let old = s.words[port as usize];
            s.words[port as usize] |= 1;
            s.note(Access::Lock(port, old));
            old
        })
    }
    fn unlock_port(self, port: u32, word: u64) {
        with(|s| {
            s.words[port as usize] = word;
            s.note(Access::Unlock(port, word));
        });
    }
    fn store_request(self, port: u32, index: usize, word: Word) {
        with(|s| {
            s.note(Access::Store(port, index as u32, word.0));
            s.tag[port as usize] = u32::from(word.tag()) & 0x7fff;
            s.pauses = 0;
        });
    }
    fn load_reply(self, port: u32, index: usize) -> Word {
        with(|s| {
            s.note(Access::Load(port, index as u32));
            Word(s.reply(port, index as u32))
        })
    }
    fn ring(self, port: u32, tag: Tag) {
        with(|s| s.note(Access::Ring(port, tag.seq().into())));
    }
    fn closed(self) -> u32 {
        with(|s| {
            s.note(Access::Closed);
            if s.close != 0 && s.all_pauses >= s.close { 6 } else { 0 }
        })
    }
    fn known_closed(self) -> u32 {
        with(|s| s.known_closed)
    }
    fn remember_closed(self, status: u32) {
        with(|s| {
            s.note(Access::Remember(status));
            s.known_closed = status;
        });
    }
}

/// `machine_table` of `cpp/recorded.cc`.
#[repr(C)]
struct Table {
    lane: extern "C" fn() -> u32,
    ballot: extern "C" fn(u64, u32) -> u64,
    broadcast: extern "C" fn(u64, u32, u32) -> u32,
    sync: extern "C" fn(u64),
    pause: extern "C" fn(u32),
    pause_for_waves: extern "C" fn(u32),
    now_ns: extern "C" fn() -> u64,
    before_first_poll: extern "C" fn(u32),
    first_port: extern "C" fn() -> u32,
    ports: extern "C" fn() -> u32,
    request_words: extern "C" fn() -> u32,
    reply_words: extern "C" fn() -> u32,
    lone_stride: extern "C" fn() -> u32,
    has_window: extern "C" fn() -> u32,
    launch: extern "C" fn() -> u32,
    mark: extern "C" fn(u32) -> u32,
    lock_port: extern "C" fn(u32) -> u64,
    unlock_port: extern "C" fn(u32, u64),
    store_request: extern "C" fn(u32, u32, &Word),
    load_reply: extern "C" fn(u32, u32, &mut Word),
    ring: extern "C" fn(u32, u32),
    closed: extern "C" fn() -> u32,
    known_closed: extern "C" fn() -> u32,
    remember_closed: extern "C" fn(u32),
}

macro_rules! pass_on {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)? = $body:expr;)+) => {
        $(extern "C" fn $name($($arg: $ty),*) $(-> $out)? { $body })+
    };
}
pass_on! {
    lane() -> u32 = Machine.lane();
    ballot(mask: u64, predicate: u32) -> u64 = Machine.ballot(mask, predicate != 0);
    broadcast(mask: u64, value: u32, from: u32) -> u32 = Machine.broadcast(mask, value, from);
    sync(mask: u64) = Machine.sync(mask);
    pause(attempt: u32) = Machine.pause(attempt);
    pause_for_waves(attempt: u32) = Machine.pause_for_waves(attempt);
    now_ns() -> u64 = Machine.now_ns();
    before_first_poll(lanes: u32) = Machine.before_first_poll(lanes);
    first_port() -> u32 = Machine.first_port();
    ports() -> u32 = Machine.ports();
    request_words() -> u32 = Machine.request_words();
    reply_words() -> u32 = Machine.reply_words();
    lone_stride() -> u32 = Machine.lone_stride();
    has_window() -> u32 = Machine.has_window().into();
    launch() -> u32 = Machine.launch();
    mark(port: u32) -> u32 = Machine.mark(port);
    lock_port(port: u32) -> u64 = Machine.lock_port(port);
    unlock_port(port: u32, word: u64) = Machine.unlock_port(port, word);
    store_request(port: u32, index: u32, word: &Word) = Machine.store_request(port, index as usize, *word);
    load_reply(port: u32, index: u32, word: &mut Word) = *word = Machine.load_reply(port, index as usize);
    ring(port: u32, tag: u32) = Machine.ring(port, Tag::new(tag as u16));
    closed() -> u32 = Machine.closed();
    known_closed() -> u32 = Machine.known_closed();
    remember_closed(status: u32) = Machine.remember_closed(status);
}

static TABLE: Table = Table {
    lane,
    ballot,
    broadcast,
    sync,
    pause,
    pause_for_waves,
    now_ns,
    before_first_poll,
    first_port,
    ports,
    request_words,
    reply_words,
    lone_stride,
    has_window,
    launch,
    mark,
    lock_port,
    unlock_port,
    store_request,
    load_reply,
    ring,
    closed,
    known_closed,
    remember_closed,
};

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Message {
    mask: u64,
    deadline_ns: u64,
    kind: u32,
    service: u32,
    flags: u32,
    units: u32,
    seed: u32,
    reply_words: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
struct Outcome {
    status: u32,
    reply_status: u32,
    dwords: u32,
    units: [u32; 3],
}

type CarryOut = unsafe extern "C" fn(&Table, &Message, &mut Outcome);

fn fill<const N: usize>(out: &mut Outcome, reply: &Reply<N>) {
    (out.reply_status, out.dwords) = (reply.head.status.0.into(), reply.head.dwords.into());
    out.units = [0, 1, 2].map(|i| reply.unit(i));
}

/// A message of the first lane, with the help of the others.
fn together(m: &Message, client: &Client<Machine>, all: &Group, held: &mut Held, out: &mut Outcome) {
    let unit = |i: u32| if i < m.units { m.seed.wrapping_add(i).wrapping_mul(0x9e37_79b9) } else { 0 };
    out.status = client.send_together(all, held, m.service as u16, Flags(m.flags as u8), m.units, unit).0.into();
    if out.status == 0 && m.kind == 4 {
        match m.reply_words {
            1 => fill(out, &client.receive_together::<1>(all, held)),
            2 => fill(out, &client.receive_together::<2>(all, held)),
            _ => fill(out, &client.receive_together::<3>(all, held)),
        }
    }
}

/// `hc_carry_out`, in Rust.
fn carry_out(m: &Message) -> Outcome {
    let client = Client(Machine);
    let all = Group::new(m.mask, Machine.lane());
    let mut out = Outcome::default();
    let mut held = match client.acquire(&all, m.kind != 3) {
        Ok(held) => held,
        Err(why) => return Outcome { status: why.0.into(), ..out },
    };
    if m.kind >= 4 {
        together(m, &client, &all, &mut held, &mut out);
        client.release(&all, held);
        return out;
    }
    let lane = Machine.lane();
    let unit = |i: u32| if i < m.units { m.seed.wrapping_add(i).wrapping_mul(0x9e37_79b9) ^ lane } else { 0 };
    out.status = client.send(&all, &mut held, m.service as u16, Flags(m.flags as u8), m.units, unit).0.into();
    if out.status == 0 && (m.kind == 0 || m.kind == 3) {
        let late = m.kind == 3;
        if late {
            client.ready(&all, &held);
        }
        macro_rules! receive {
            ($n:literal) => {
                if late {
                    client.receive_late::<$n>(&all, &mut held, m.deadline_ns)
                } else {
                    client.receive::<$n>(&all, &mut held, m.deadline_ns)
                }
            };
        }
        match m.reply_words {
            1 => {
                fill(&mut out, &receive!(1));
                let words = ReplyHead::words(out.dwords);
                if out.reply_status == 0 && words > 1 {
                    out.units[2] = client.reply_words::<2>(&all, &held, 1, words)[0].0[0];
                }
            }
            2 => fill(&mut out, &receive!(2)),
            _ => fill(&mut out, &receive!(3)),
        }
    }
    client.release(&all, held);
    out
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(end)) as u32
    }
}

/// A port buffer in some state.
fn state(random: &mut Random) -> State {
    let ports = 1 + random.below(4);
    let period = u32::from(Tag::SCRUB_PERIOD);
    let geometry = [34 + random.below(200), 40 + random.below(200), 1 + random.below(2), random.below(2)];
    let mut tags = Vec::new();
    let mut marks = Vec::new();
    let words = (0..ports).map(|port| {
        let seq = [0, period - 3, 2 * period - 3, period - 1, 2 * period - 1, random.below(2 * period)][random.below(6) as usize];
        tags.push(seq);
        let position = random.below(2) * random.below(geometry[0]);
        // Port 0 comes free in time, others may be held for ever.
        let locked = if port < 2 && random.below(4) == 0 { PortState::LOCKED } else { 0 };
        // The host has seen more, or less, or as much.
        let seen = seq.wrapping_add(
            [0, 0, 1, 2, period - 1, period].map(|by| if random.below(2) == 0 { by } else { 0u32.wrapping_sub(by) })
                [random.below(6) as usize],
        );
        marks.push(u32::from(Tag::new(seen as u16).seq()) | random.below(geometry[0]) << 16);
        let launch = if random.below(3) == 0 { LAUNCH } else { random.below(9) };
        PortState(PortState::new(Tag::new(seq as u16), position, random.below(3) == 0).0 | locked).word(launch)
    });
    let words = words.collect();
    let close = if random.below(6) == 0 { 1 + random.below(200) } else { 0 };
    State {
        words,
        marks,
        geometry,
        first_port: random.below(ports),
        close,
        reply_seed: random.below(1 << 30),
        tag: tags,
        ..State::default()
    }
}

fn message(random: &mut Random) -> (Message, u32) {
    let lone = random.below(2) == 0;
    let mask = if lone { 1 << random.below(64) } else { u64::from(random.below(u32::MAX)) & 0xf0ff | 1 << random.below(64) };
    let kind = [0, 0, 1, 1, 2, 3, 4, 4, 5][random.below(9) as usize];
    let reply = if matches!(kind, 1 | 5) { Flags::default() } else { Flags::REPLY };
    let flags = if random.below(5) == 0 { reply.and(Flags::STAGED) } else { reply };
    let deadline_ns = if random.below(4) == 0 { 1 + u64::from(random.below(5000)) } else { 0 };
    let most = if kind >= 4 { 41 } else { 120 };
    let units = if random.below(8) == 0 { random.below(most) } else { random.below(12) };
    let m = Message {
        mask,
        deadline_ns,
        kind,
        service: 1 + random.below(0xffff),
        flags: flags.0.into(),
        units,
        seed: random.below(u32::MAX),
        reply_words: 1 + random.below(3),
    };
    // Lanes of a group agree in ballots as long as they look together: beyond that the first looks alone, for which one
    // lane is run.
    let delay = if mask.is_power_of_two() { [0, 3, 40, 150][random.below(4) as usize] } else { random.below(20) };
    (m, delay)
}

/// Each lane of a message, the first one first, from the same memory; what each did, what came of it, and the memory
/// behind it.
fn lanes(m: &Message, delay: u32, memory: &State, mut carry_out: impl FnMut(&Message) -> Outcome) -> (Vec<(Vec<Access>, Outcome)>, State) {
    let leader = m.mask.trailing_zeros();
    let mut passed = VecDeque::new();
    let mut after = memory.clone();
    let all = (0..64).filter(|lane| m.mask >> lane & 1 == 1).map(|lane| {
        let seen = if lane == leader { VecDeque::new() } else { passed.clone() };
        // A message without payload is complete with the first lane's word: the others look for replies to a message of
        // which they stored nothing.
        let tag = if lane == leader { memory.tag.clone() } else { after.tag.clone() };
        STATE.set(State { lane, leader, passed: seen, delay, tag, pauses: 0, trace: Vec::new(), ..memory.clone() });
        let outcome = carry_out(m);
        let done = STATE.take();
        if lane == leader {
            passed.clone_from(&done.passed);
            after = State { passed: VecDeque::new(), trace: Vec::new(), ..done.clone() };
        } else {
            assert!(done.passed.is_empty(), "every lane takes what the first one passed");
        }
        (done.trace, outcome)
    });
    (all.collect(), after)
}

/// How many words of the port a message that scrubs has stored, by all its lanes; `None`: it does not scrub.
fn scrubbed<'a>(accesses: impl IntoIterator<Item = &'a Access>) -> Option<usize> {
    let stores = accesses.into_iter().filter_map(|access| match access {
        Access::Store(_, index, word) if Tag::new(Word(*word).tag() & 0x7fff).scrubs() => Some(*index),
        _ => None,
    });
    let places: BTreeSet<u32> = stores.collect();
    (!places.is_empty()).then_some(places.len())
}

#[test]
fn every_access_of_the_client_in_cpp_is_that_of_the_client_in_rust() {
    let (mut statuses, mut accesses, mut scrubs) = ([0u32; 16], 0, [0, 0]);
    for (compiler, image) in clients() {
        // SAFETY: an image of this crate's build script, without initialisers.
        let library = unsafe { libloading::Library::new(&image) }.expect("the client loads");
        // SAFETY: the function of `cpp/recorded.cc`, of this type.
        let cpp = unsafe { library.get::<CarryOut>(b"hc_carry_out") }.expect("the function is there");
        for seed in 0..3000 {
            let mut random = Random(seed);
            let mut memory = state(&mut random);
            for step in 0..6 {
                let (m, delay) = message(&mut random);
                let (rust, after) = lanes(&m, delay, &memory, carry_out);
                let (other, other_after) = lanes(&m, delay, &memory, |m| {
                    let mut out = Outcome::default();
                    // SAFETY: the table's functions do what the machine does, on this thread.
                    unsafe { cpp(&TABLE, m, &mut out) };
                    out
                });
                for (lane, (rust, other)) in rust.iter().zip(&other).enumerate() {
                    let place = || format!("{compiler}, seed {seed}, message {step}, {m:?}, lane {lane} of the group");
                    let first = rust.0.iter().zip(&other.0).position(|(a, b)| a != b);
                    assert_eq!(rust.0, other.0, "{}: access {first:?}", place());
                    assert_eq!(rust.1, other.1, "{}", place());
                    accesses += rust.0.len();
                    statuses[(rust.1.status | rust.1.reply_status) as usize & 15] += 1;
                }
                if let Some(words) = scrubbed(rust.iter().flat_map(|(trace, _)| trace)) {
                    assert_eq!(
                        words, after.geometry[0] as usize,
                        "{compiler}, seed {seed}, message {step}: it rewrites every word of its port"
                    );
                    scrubs[usize::from(!m.mask.is_power_of_two())] += 1;
                }
                assert_eq!(after.words, other_after.words);
                memory = after;
                // Nobody else gives ports back that were held.
                memory.words[0] &= !1;
            }
        }
    }
    println!("{accesses} accesses; messages of one lane and of several that scrub: {scrubs:?}; lanes by status: {statuses:?}");
    assert!(clients().is_empty() || scrubs.iter().all(|scrubs| *scrubs > 100), "{scrubs:?}");
    assert!(clients().is_empty() || [0, 5, 6, 7, 12].iter().all(|status| statuses[*status] > 20), "{statuses:?}");
}
