//! Streams in C++ against streams in Rust: the same random messages, of values, of bytes and of text, over the same
//! machine. Every access, in order, must be equal, and what becomes of each message.
//!
//! Lanes of a wave are threads. What they do together they do as on a device: each learns what the others said. So
//! nothing depends on which thread runs first, because only the first lane of a group changes what others read, and
//! only while they wait for it.
#![allow(missing_docs, reason = "a test")]

use std::cell::RefCell;
use std::mem::offset_of;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::sim::{GroupMemory, LaneInfo, SimOps};
use hostcall_abi::stream::message::word;
use hostcall_abi::stream::rings::{RingState, STRIDE};
use hostcall_abi::stream::{self, Bounds, Counter, Counters, Credit, From, Gate, Place, Policy, RingLink, Rings, Sent, Subject, bytes};
use hostcall_cpp_tests::stream_clients;

/// What a lane did with its machine.
#[derive(Clone, Debug, PartialEq)]
enum Access {
    Ballot(u64, bool),
    /// What the lane passed that is listened to.
    Broadcast(u64, Option<u32>, u32),
    Sync(u64),
    Dice,
    LoadCredit(u64),
    StoreCredit(u64, u64),
    LoadHead(u64),
    AddHead(u64, u32),
    LoadGate(u64),
    AddCount(u64),
    Store(u64, Vec<u32>),
    Nap(u32),
}

impl Access {
    /// Whether the device's or the host's memory sees it. The others are only the lanes' way of agreeing.
    fn is_of_memory(&self) -> bool {
        !matches!(self, Self::Ballot(..) | Self::Broadcast(..) | Self::Sync(_))
    }
}

/// What a wave's lanes share: memory, and what they said together.
#[derive(Clone, Debug)]
struct Memory {
    rings: Rings,
    gate: Gate,
    bounds: Bounds,
    head: u32,
    /// What the device knows of the reader, and what the reader has said. With a window there is only the first.
    credit: u64,
    control: u64,
    /// Granules that the reader frees while a lane naps, and after how many naps it closes, if not 0.
    reads: u32,
    closes: u32,
    naps: u32,
}

#[derive(Default)]
struct Said {
    arrived: u64,
    values: Vec<u64>,
    /// Lanes that wait for what all of them have said. Each is told by itself: if all were woken for one lock, they
    /// would wait for one another.
    waiting: Vec<Sender<Arc<Vec<u64>>>>,
}

struct Wave {
    mask: u64,
    memory: Mutex<Memory>,
    said: Mutex<Said>,
}

impl Wave {
    fn new(mask: u64, memory: Memory) -> Self {
        Self { mask, memory: Mutex::new(memory), said: Mutex::default() }
    }

    /// What each lane of `mask` says here.
    fn together(&self, mask: u64, lane: u32, value: u64) -> Arc<Vec<u64>> {
        let mut said = self.said.lock().expect("no lane panicked");
        said.values.resize(64, 0);
        said.values[lane as usize] = value;
        said.arrived |= 1 << lane;
        if said.arrived != mask {
            let (tell, told) = channel();
            said.waiting.push(tell);
            drop(said);
            return told.recv().expect("no lane panicked");
        }
        let values = Arc::new(said.values.clone());
        said.arrived = 0;
        let waiting = std::mem::take(&mut said.waiting);
        drop(said);
        for lane in waiting {
            lane.send(values.clone()).expect("it waits");
        }
        values
    }
}

/// The lane that this thread is.
struct Lane {
    wave: Arc<Wave>,
    info: LaneInfo,
    /// Its bytes are on its own stack.
    private: bool,
    clock: u64,
    dice: u32,
    trace: Vec<Access>,
}

thread_local! {
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
}

fn with<T>(act: impl FnOnce(&mut Lane) -> T) -> T {
    LANE.with_borrow_mut(|lane| act(lane.as_mut().expect("this thread is a lane")))
}

fn memory<T>(access: impl FnOnce(&mut Memory) -> (Access, T)) -> T {
    with(|lane| {
        let (access, value) = access(&mut lane.wave.memory.lock().expect("no lane panicked"));
        lane.trace.push(access);
        value
    })
}

/// A collective of more than one lane; `note`: what the trace says of it.
fn together(mask: u64, value: u64, note: Access) -> Arc<Vec<u64>> {
    let (wave, lane) = with(|lane| {
        lane.trace.push(note);
        (lane.wave.clone(), lane.info.lane)
    });
    wave.together(mask, lane, value)
}

/// The machine of both clients, by addresses: `ring_table` of `cpp/recorded_streams.cc`, and what `hostcall-device`
/// asks of each machine.
#[derive(Clone, Copy, Debug)]
struct Machine;

impl Lanes for Machine {
    fn lane(self) -> u32 {
        with(|lane| lane.info.lane)
    }
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        if mask.is_power_of_two() {
            return if predicate { mask } else { 0 };
        }
        let all = together(mask, predicate.into(), Access::Ballot(mask, predicate));
        (0..64).filter(|lane| mask >> lane & all[*lane as usize] & 1 == 1).map(|lane| 1 << lane).sum()
    }
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
        if mask.is_power_of_two() {
            return value;
        }
        let passed = (self.lane() == from).then_some(value);
        together(mask, value.into(), Access::Broadcast(mask, passed, from))[from as usize] as u32
    }
    fn sync(self, mask: u64) {
        if !mask.is_power_of_two() {
            together(mask, 0, Access::Sync(mask));
        }
    }
    fn pause(self, _: u32) {
        unreachable!("streams nap");
    }
    fn now_ns(self) -> u64 {
        // Rust's client looks at the clock also for a message that is not sent, so looks are no accesses, and do not
        // move it. Naps do.
        with(|lane| lane.clock + 1000 * u64::from(lane.wave.memory.lock().expect("no lane panicked").naps))
    }
}

impl Machine {
    fn rings(self) -> Rings {
        with(|lane| lane.wave.memory.lock().expect("no lane panicked").rings)
    }
    fn load_credit(self, at: u64) -> u64 {
        memory(|m| (Access::LoadCredit(at), if at >= m.rings.control && m.rings.control != 0 { m.control } else { m.credit }))
    }
    fn store_credit(self, at: u64, credit: u64) {
        memory(|m| {
            m.credit = credit;
            (Access::StoreCredit(at, credit), ())
        });
    }
    fn load_head(self, at: u64) -> u32 {
        memory(|m| (Access::LoadHead(at), m.head))
    }
    fn add_head(self, at: u64, granules: u32) -> u32 {
        memory(|m| {
            let old = m.head;
            m.head = old.wrapping_add(granules);
            (Access::AddHead(at, granules), old)
        })
    }
    fn load_gate(self, at: u64) -> Gate {
        // Bounds, which lie before the gates, are loaded as gates are.
        memory(|m| (Access::LoadGate(at), if at < m.rings.gates { Gate::of_words(m.bounds.words()) } else { m.gate }))
    }
    fn dice(self) -> u32 {
        with(|lane| {
            lane.trace.push(Access::Dice);
            lane.dice = lane.dice.wrapping_mul(0x915f_77f5).wrapping_add(12345);
            lane.dice
        })
    }
    fn add_count(self, at: u64) {
        memory(|_| (Access::AddCount(at), ()));
    }
    fn store_units(self, at: u64, values: &[u32]) {
        with(|lane| lane.trace.push(Access::Store(at, values.to_vec())));
    }
    fn nap(self, attempt: u32) {
        memory(|m| {
            m.naps += 1;
            let closed = u64::from(m.closes != 0 && m.naps >= m.closes) << 32;
            let said = if m.rings.control != 0 { &mut m.control } else { &mut m.credit };
            // The reader gets no further than the head.
            let open = m.head.wrapping_sub(*said as u32);
            *said = u64::from((*said as u32).wrapping_add(open.min(m.reads))) | closed;
            (Access::Nap(attempt), ())
        });
    }
    fn is_private(self) -> bool {
        with(|lane| lane.private)
    }

    /// The number of the workgroup, and of the wave in it.
    fn numbers(self) -> (u64, u32) {
        with(|lane| {
            let LaneInfo { group: [x, y, z], groups: [nx, ny, _], local: [lx, ly, lz], local_size: [sx, sy, _], wave_size, .. } = lane.info;
            let group = (u64::from(z) * u64::from(ny) + u64::from(y)) * u64::from(nx) + u64::from(x);
            (group, ((lz * sy + ly) * sx + lx) / wave_size)
        })
    }
    fn ring(self) -> u32 {
        let (group, wave) = self.numbers();
        Rings::ring_of(self.rings().rings_log2, (group as u32).wrapping_mul(32).wrapping_add(wave))
    }
    fn own(self, first: u64) -> u64 {
        first + u64::from(self.ring()) * STRIDE as u64
    }
    fn unit(self, index: u32) -> u64 {
        let rings = self.rings();
        rings.data + u64::from(self.ring()) * rings.stride + u64::from(index) * 4
    }
}

impl RingLink for Machine {
    fn ring_log2(self) -> u32 {
        self.rings().ring_log2
    }
    fn is_wide(self) -> bool {
        with(|lane| lane.info.wave_size == 64)
    }
    fn from(self) -> From {
        let (group, wave) = self.numbers();
        with(|lane| From { group, wave, sm: lane.info.sm, launch: lane.info.launch })
    }
    fn head(self) -> u32 {
        self.load_head(self.own(self.rings().states))
    }
    fn reserve(self, granules: u32) -> u32 {
        self.add_head(self.own(self.rings().states), granules)
    }
    fn reserve_latest(self, granules: u32) -> u32 {
        self.add_head(self.own(self.rings().states) + offset_of!(RingState, latest) as u64, granules)
    }
    fn credit(self) -> Credit {
        let credit = self.load_credit(self.own(self.rings().credit));
        Credit { freed: credit as u32, closed: (credit >> 32) as u32 }
    }
    fn learn(self) {
        if self.rings().control != 0 {
            self.store_credit(self.own(self.rings().credit), self.load_credit(self.own(self.rings().control)));
        }
    }
    fn pause_for_room(self, attempt: u32) {
        self.nap(attempt);
    }
    fn gate(self, stream: u32) -> Gate {
        self.load_gate(Rings::gate_of(self.rings().gates, stream))
    }
    fn bounds(self, stream: u32) -> Bounds {
        Bounds::of_words(self.load_gate(Rings::bounds_of(self.rings().gates, stream)).words())
    }
    fn place(self) -> Place {
        with(|lane| Place { group: lane.info.group, lane: lane.info.local })
    }
    fn dice(self) -> u32 {
        Machine::dice(self)
    }
    fn count(self, stream: u32, what: Counter) {
        let field = match what {
            Counter::Dropped => offset_of!(Counters, dropped),
            Counter::Waited => offset_of!(Counters, waited),
            Counter::Filtered => offset_of!(Counters, filtered),
            Counter::Sent => offset_of!(Counters, sent),
        };
        let index = Rings::counters_of(self.rings().rings_log2, stream, self.ring());
        self.add_count(self.rings().counters + u64::from(index) * size_of::<Counters>() as u64 + field as u64);
    }
    fn store(self, unit: u32, value: u32) {
        self.store_units(self.unit(unit), &[value]);
    }
    fn store_two(self, unit: u32, values: [u32; 2]) {
        self.store_units(self.unit(unit), &values);
    }
    fn store_four(self, unit: u32, values: [u32; 4]) {
        self.store_units(self.unit(unit), &values);
    }
}

impl bytes::ByteLink for Machine {
    fn is_private(self, _: u64) -> bool {
        Machine::is_private(self)
    }
    unsafe fn load_bytes(self, address: u64, count: u32) -> [u32; 4] {
        let mut all = [0u8; 16];
        // SAFETY: the caller's: so many bytes can be read there.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, all.as_mut_ptr(), count as usize) };
        [0, 4, 8, 12].map(|at| u32::from_le_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]))
    }
}

#[path = "stream_words/messages.rs"]
mod messages;
#[path = "stream_words/table.rs"]
mod table;

use messages::{Message, Random};
use table::Library;

/// What a lane did, and what it was told.
type Told = (Vec<Access>, u32);

/// Sends a message by all of its lanes at once; what each did, and the memory behind it.
fn send(m: &Message, before: &Memory, by: impl Fn(&Message, u32) -> u32 + Sync) -> (Vec<Told>, Memory) {
    let wave = Arc::new(Wave::new(m.mask, before.clone()));
    let lanes: Vec<_> = (0..64).filter(|lane| m.mask >> lane & 1 == 1).collect();
    let one = |number: u32| {
        let info = LaneInfo { lane: number, ..m.info };
        let clock = 1 << 40 | u64::from(number) << 29;
        let (private, dice) = (m.private >> number & 1 == 1, m.dice ^ number);
        LANE.set(Some(Lane { wave: wave.clone(), info, private, clock, dice, trace: Vec::new() }));
        let sent = by(m, number);
        (LANE.take().expect("this thread is a lane").trace, sent)
    };
    let told = if let [alone] = lanes[..] {
        vec![one(alone)]
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(move || one(lane))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a lane ends")).collect()
        })
    };
    let memory = wave.memory.lock().expect("no lane panicked").clone();
    (told, memory)
}

/// `hc_ring_send`, in Rust.
fn in_rust(m: &Message, lane: u32) -> u32 {
    let (mask, policy) = (m.mask, word::policy(m.word));
    let (timed, live, values) = (m.word & word::UNTIMED == 0, m.word & word::LIVE != 0, if m.kind < 2 { m.values } else { 1 });
    let subject = Subject { stream: m.word & word::NUMBER, site: 0, policy, timed, values, live, weight: 0 };
    let group = Group::new(mask, lane);
    if m.kind < 2 {
        return messages::with_units(m, lane, |send_units| send_units(&group, subject)) as u32;
    }
    let (address, length) = m.bytes_of(lane);
    let senders = if m.kind == 3 { 1 << group.leader } else { mask };
    // SAFETY: bytes of the message, which live as long as it does and which nobody writes.
    let sent = unsafe { stream::send_bytes(Machine, &group, senders, subject, address, length) } as u32;
    if m.kind == 3 { Machine.broadcast(mask, sent, group.leader) } else { sent }
}

#[test]
fn every_access_of_streams_in_cpp_is_that_of_streams_in_rust() {
    let clients: Vec<_> = stream_clients().into_iter().map(|(compiler, image)| (compiler, Library::load(&image))).collect();
    let (mut ends, mut stores, mut waits) = ([[0u32; 6]; 4], 0, 0);
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut before = messages::memory(&mut random);
        for step in 0..4 {
            let m = messages::message(&mut random, before.rings.ring_log2);
            let (rust, after) = send(&m, &before, in_rust);
            for (compiler, library) in &clients {
                library.begin(&before.rings);
                let (cpp, cpp_after) = send(&m, &before, |m, lane| library.send(m, lane));
                for (lane, ((rust, told), (cpp, cpp_told))) in rust.iter().zip(&cpp).enumerate() {
                    let place = || format!("{compiler}, seed {seed}, message {step}, {m:?}, lane {lane} of the group");
                    assert_eq!(told, cpp_told, "{}", place());
                    // Rust's client makes its ballots also for a message that is not sent.
                    let sent = *told == Sent::Sent as u32;
                    let kept = |all: &[Access]| all.iter().filter(|access| sent || access.is_of_memory()).cloned().collect::<Vec<_>>();
                    let (rust, cpp) = (kept(rust), kept(cpp));
                    let first = rust.iter().zip(&cpp).position(|(a, b)| a != b);
                    assert_eq!(rust, cpp, "{}: access {first:?}", place());
                }
                assert_eq!((after.head, after.credit, after.control), (cpp_after.head, cpp_after.credit, cpp_after.control));
            }
            for (trace, told) in &rust {
                ends[m.kind as usize][*told as usize] += 1;
                stores += trace.iter().filter(|access| matches!(access, Access::Store(..))).count();
                waits += trace.iter().filter(|access| matches!(access, Access::Nap(_))).count();
            }
            before = after;
        }
    }
    println!("{stores} stores, {waits} waits; lanes by kind and by what became of their message: {ends:?}");
    let [sent, dropped, closed, too_large, off, filtered] = [0, 1, 2, 3, 4, 5].map(|end| ends.iter().map(|kind| kind[end]).sum::<u32>());
    assert!([sent, dropped, closed, too_large, off, filtered].iter().all(|count| *count > 20) && waits > 20, "{ends:?}, {waits} waits");
    assert!(ends.iter().all(|kind| kind[Sent::Sent as usize] > 100), "{ends:?}");
}

/// The policies among which messages choose.
const POLICIES: [Policy; 4] = Policy::CHOICES;
