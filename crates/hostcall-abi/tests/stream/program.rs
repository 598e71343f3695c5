//! Programs of messages, the scheduler that runs them, and what must come of them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::{
    Bounds, Counter, Found, Gate, Header, Kind, MAX_UNITS, MIN_RING_LOG2, Policy, Reader, Rows, Sent, Subject, bytes, send, send_bytes,
};

use crate::common::Random;
use crate::ring::{Fault, HostSide, Lane, Ring};

/// The sizes of messages, in units of each lane. A stream's number is its place in this list, from 1.
pub const UNITS: [u32; 8] = [1, 2, 3, 4, 6, 7, 16, MAX_UNITS];
/// In place of a size: each lane sends bytes, of a length of its own. Their stream's number is behind those of the
/// others.
pub const BYTES: u32 = 0;

/// One message.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub mask: u64,
    pub units: u32,
    pub policy: Policy,
    /// Whether it looks at its stream's gate.
    pub live: bool,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub waves: Vec<Vec<Op>>,
    pub wide: bool,
    /// Granules that have been read before.
    pub first: u64,
    pub seed: u64,
    /// The reader looks once in so many steps.
    pub slowness: u32,
    pub fault: Fault,
    /// The gate of all live streams, and another one which takes its place now and then.
    pub gates: [Gate; 2],
    /// The bounds of all streams, for gates that are bounded.
    pub bounds: Bounds,
    /// After so many steps the kernel is killed, wherever its waves are. When what it left has been cleared away, it is
    /// launched again.
    pub killed: Option<u32>,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub dropped: u32,
    pub waited: u32,
    pub filtered: u32,
    /// Messages received, and for how many they stand.
    pub received: u64,
    pub stand_for: u64,
}

/// What each lane of each message of each wave was told.
type Outcomes = HashMap<(usize, usize), BTreeMap<u32, Sent>>;

/// Unit `index` that lane `lane` sends in message `op` of wave `wave`. None is 0 without its top bit.
fn value(wave: u32, op: usize, lane: u32, index: u32) -> u32 {
    let mixed =
        (wave * 64 + lane).wrapping_mul(0x9e37_79b9) ^ (op as u32 + 1).wrapping_mul(0x85eb_ca6b) ^ (index + 1).wrapping_mul(0xc2b2_ae35);
    (mixed ^ mixed >> 15) | 1
}

/// Byte `index` of what a lane sends.
pub fn byte(wave: u32, op: u32, lane: u32, index: u32) -> u8 {
    (value(wave, op as usize, lane, index) >> 8) as u8
}

/// How many bytes a lane sends: mostly few, sometimes as many as there can be, and one more.
pub fn length(wave: u32, op: u32, lane: u32) -> u32 {
    let random = value(wave, op as usize, lane, 0x10_0000) >> 4;
    let most = bytes::most_bytes(MIN_RING_LOG2);
    match random % 128 {
        0 => most + 1,
        1 => most,
        2..8 => random >> 7 & 0x7ff,
        _ => (random >> 7) % 130,
    }
}

/// The lanes whose bytes are sent: sometimes only the first one's.
fn senders(number: usize, op: &Op) -> u64 {
    if number % 4 == 3 { op.mask & op.mask.wrapping_neg() } else { op.mask }
}

fn send_units(lane: Lane<'_>, wave: u32, number: usize, op: &Op) -> Sent {
    let group = Group::new(op.mask, lane.lane);
    // Lanes find out that they are a group when all of them have come.
    lane.sync(op.mask);
    let stream = UNITS.iter().position(|units| *units == op.units).unwrap_or(UNITS.len()) as u32 + 1;
    // The site says which message of the wave it is.
    let subject = Subject {
        stream,
        site: number as u32 + 1,
        policy: op.policy,
        timed: number.is_multiple_of(2),
        values: 1,
        live: op.live,
        weight: 0,
    };
    if op.units == BYTES {
        let (address, length) = (Lane::address(wave, number as u32, lane.lane), length(wave, number as u32, lane.lane));
        // SAFETY: the model makes up what is read there, and looks that it is within the length.
        return unsafe { send_bytes(lane, &group, senders(number, op), subject, address, length) };
    }
    macro_rules! of {
        ($($n:literal)+) => {
            match op.units {
                $($n => send(lane, &group, subject, &std::array::from_fn::<u32, $n, _>(|i| value(wave, number, lane.lane, i as u32))),)+
                other => panic!("no message of {other} units"),
            }
        };
    }
    of!(1 2 3 4 6 7 16 31)
}

/// Runs a program to its end.
///
/// # Panics
/// When anything is not as it should be.
pub fn run(program: &Program) -> Counted {
    let random = Random(Cell::new(program.seed));
    let ring = Rc::new(Ring::new(MIN_RING_LOG2, program.wide, program.first, program.fault));
    let outcomes: Rc<RefCell<Outcomes>> = Rc::default();
    ring.gate.set(program.gates[0]);
    ring.bounds.set(program.bounds);
    // A second kernel, behind one that was killed, does the same once more.
    let (first, mut program) = (program.waves.len(), program.clone());
    if program.killed.is_some() {
        program.waves.extend_from_within(..);
    }
    let program = Rc::new(program);
    let launch = |waves: Range<usize>| {
        let mut fibers = Vec::new();
        for wave in waves {
            let used = program.waves[wave].iter().fold(0, |mask, op| mask | op.mask);
            for lane in (0..64).filter(|lane| used >> lane & 1 == 1) {
                let (ring, outcomes, program) = (Rc::clone(&ring), Rc::clone(&outcomes), Rc::clone(&program));
                fibers.push(Coroutine::new(move |fiber, ()| {
                    let lane = Lane { ring: &ring, fiber, wave: wave as u32, lane };
                    for (number, op) in program.waves[wave].iter().enumerate().filter(|(_, op)| op.mask >> lane.lane & 1 == 1) {
                        let sent = send_units(lane, wave as u32, number, op);
                        outcomes.borrow_mut().entry((wave, number)).or_default().insert(lane.lane, sent);
                    }
                }));
            }
        }
        fibers
    };

    let (mut fibers, mut launched) = (launch(0..first), first);
    let mut received = Received { always_short: program.seed.is_multiple_of(2), ..Received::default() };
    let mut reader = Reader::behind(program.first, MIN_RING_LOG2, program.wide);
    let (mut steps, mut idle) = (0u32, 0u32);
    loop {
        steps += 1;
        ring.clock.set(u64::from(steps));
        if program.killed == Some(steps) && launched == first {
            // What is on their stacks is dropped.
            fibers.clear();
        }
        match random.below(4) {
            0 => ring.deliver(&random),
            1 if random.below(program.slowness) == 0 => idle = if look(&ring, &mut reader, &mut received) { 0 } else { idle },
            2 if random.below(8) == 0 => ring.deliver_credit(),
            2 if random.below(32) == 0 => ring.gate.set(program.gates[random.below(2) as usize]),
            _ if !fibers.is_empty() => {
                let chosen = random.below(fibers.len() as u32) as usize;
                if let CoroutineResult::Return(()) = fibers[chosen].resume(()) {
                    drop(fibers.swap_remove(chosen));
                }
                idle = 0;
            }
            _ if ring.is_quiet() => {
                // No kernel runs. What is whole is read; what is not never will be.
                while look(&ring, &mut reader, &mut received) {}
                if reader.position() as u32 != ring.head.get() {
                    assert!(program.killed.is_some() && launched == first, "nothing is on its way, and the ring is not empty");
                    reader.give_up(&HostSide { ring: &ring, position: reader.position() }, ring.head.get(), units);
                    continue;
                }
                if launched == program.waves.len() {
                    break;
                }
                if let Some(credit) = reader.credit(true) {
                    ring.credit.set(credit as u32);
                }
                (fibers, launched) = (launch(first..program.waves.len()), program.waves.len());
            }
            _ => idle += 1,
        }
        assert!(idle < 1_000_000 && steps < 20_000_000, "nothing goes on");
    }
    received.must_be(&program, if program.killed.is_some() { first } else { 0 }, &outcomes.borrow(), &ring)
}

/// Units that each lane of a stream sends.
fn units(stream: u32) -> Option<u32> {
    if stream as usize == UNITS.len() + 1 { Some(0) } else { UNITS.get(stream.wrapping_sub(1) as usize).copied() }
}

/// The reader looks once, and returns credit. Whether it has got on.
fn look(ring: &Ring, reader: &mut Reader, received: &mut Received) -> bool {
    let memory = HostSide { ring, position: reader.position() };
    let before = reader.position();
    // Both ways of reading, in turns: each is to find what the other would.
    let short = before.is_multiple_of(3) || received.always_short;
    let mut room = Room::default();
    if short && let Some(taken) = reader.take(&memory, &mut room) {
        let header = Header::decode(taken.header).expect("it was decoded");
        assert_eq!((header.stream, header.mask.count_ones() * header.values), (taken.stream, taken.values));
        assert_eq!((room.0.len() as u32, before + u64::from(header.granules)), (taken.units, reader.position()));
        if !taken.after_gap {
            received.count(&header, &room.0);
        }
    } else {
        find(&memory, reader, received, short);
    }
    if let Some(credit) = reader.credit(false) {
        ring.credit.set(credit as u32);
    }
    reader.position() != before
}

/// Room for the rows of a message.
#[derive(Default)]
struct Room(Vec<u32>);

impl Rows for Room {
    fn units(&self, stream: u32) -> Option<u32> {
        units(stream)
    }
    fn room(&mut self, stream: u32, units: usize) -> &mut [u32] {
        assert!(self.units(stream).is_some_and(|of_value| units.is_multiple_of(of_value as usize)));
        // What was there before is no row's.
        self.0 = vec![0xdead_beef; units];
        &mut self.0
    }
}

/// The long way; `short`: the other has found nothing.
fn find(memory: &HostSide<'_>, reader: &mut Reader, received: &mut Received, short: bool) {
    let found = match reader.next(memory, units) {
        Found::Packet(message) if short => panic!("the short way did not find {message:?}"),
        Found::Long(granules) => {
            received.copy.resize(reader.longest(), 0);
            let found = reader.next_long(memory, &mut received.copy, units);
            if let Found::Packet(message) = &found {
                assert_eq!((message.header.granules, message.header.kind), (granules, Kind::Bytes));
            }
            found
        }
        found => found,
    };
    match found {
        Found::Long(_) => panic!("it has been read"),
        // What a search finds may be anything.
        Found::Packet(message) if message.after_gap => {}
        Found::Packet(message) => {
            let (header, bytes) = (message.header, message.bytes());
            let mut rows = vec![0; (message.rows() * message.units()) as usize];
            assert_eq!(message.copy_rows(&mut rows), rows.len());
            assert_eq!(message.lanes().count() as u32, message.rows());
            let mut slice = vec![0xee; bytes.unwrap_or_default() as usize];
            message.copy_bytes(&mut slice);
            match bytes {
                Some(_) => received.count_bytes(&header, &slice),
                None => received.count(&header, &rows),
            }
        }
        Found::Malformed => received.malformed += 1,
        Found::Absent | Found::Partial => {}
    }
}

#[derive(Default)]
struct Received {
    /// Messages of each wave, in order, and the lanes of each.
    of: HashMap<u32, Vec<(usize, u64)>>,
    stand_for: u64,
    malformed: u32,
    /// Whether it is always the short way.
    always_short: bool,
    /// Room for messages of bytes.
    copy: Vec<u32>,
}

impl Received {
    fn count_bytes(&mut self, header: &Header, bytes: &[u8]) {
        let (wave, number) = self.origin(header);
        let lane = header.mask.trailing_zeros();
        let expected: Vec<u8> = (0..length(wave, number as u32, lane)).map(|index| byte(wave, number as u32, lane, index)).collect();
        assert_eq!(bytes, expected, "message {number} of lane {lane} of wave {wave} is garbled");
    }

    /// Wave and message.
    fn origin(&mut self, header: &Header) -> (u32, usize) {
        let (wave, number) = (header.from.wave, header.site as usize - 1);
        assert_eq!(header.from.group, 1 << 40 | u64::from(wave));
        assert_eq!((header.from.sm, header.from.launch), (3, 5));
        assert_eq!(header.time.is_some(), number.is_multiple_of(2));
        self.of.entry(wave).or_default().push((number, header.mask));
        self.stand_for += 1 << header.weight;
        (wave, number)
    }

    fn count(&mut self, header: &Header, rows: &[u32]) {
        let (wave, number) = self.origin(header);
        let units = rows.len() as u32 / header.mask.count_ones();
        let lanes = (0..64).filter(|lane| header.mask >> lane & 1 == 1);
        let expected: Vec<u32> = lanes.flat_map(|lane| (0..units).map(move |index| value(wave, number, lane, index))).collect();
        assert_eq!(rows, expected, "message {number} of wave {wave} is garbled");
    }

    /// What was received is what was sent; of the first `killed` waves, at most.
    fn must_be(&self, program: &Program, killed: usize, outcomes: &Outcomes, ring: &Ring) -> Counted {
        let (mut dropped, mut filtered, mut received) = (0, 0, 0);
        for (wave, ops) in program.waves.iter().enumerate() {
            let got = self.of.get(&(wave as u32)).map_or(&[][..], Vec::as_slice);
            received += got.len() as u64;
            // Groups of disjoint lanes are as independent as waves; so messages that share a lane are in order.
            for (i, (first, mask)) in got.iter().enumerate() {
                let overtaken = got[..i].iter().find(|(before, lanes)| before > first && lanes & mask != 0);
                assert_eq!(overtaken, None, "wave {wave}: {got:?}");
            }
            let killed = wave < killed;
            for (number, op) in ops.iter().enumerate() {
                let told = outcomes.get(&(wave, number)).cloned().unwrap_or_default();
                let lanes_told = |what: Sent| told.iter().filter(|(_, sent)| **sent == what).map(|(lane, _)| 1u64 << lane).sum::<u64>();
                let (sent, whole) = (lanes_told(Sent::Sent), told.len() as u32 == op.mask.count_ones());
                let masks: Vec<u64> = got.iter().filter(|(other, _)| *other == number).map(|(_, mask)| *mask).collect();
                if op.units == BYTES {
                    let (lost, left_out) = bytes_must_be((wave, number), op, &told, &masks, killed);
                    (dropped, filtered) = (dropped + lost, filtered + left_out);
                    continue;
                }
                match masks[..] {
                    // Those who were not told that it was sent cannot be among them, unless nobody was told anything
                    // more.
                    [mask] => {
                        assert!(mask == sent || killed && mask & op.mask == mask && sent & !mask == 0, "wave {wave}, message {number}")
                    }
                    [] => assert!(sent == 0 || killed, "wave {wave}, message {number}: {told:?}"),
                    _ => panic!("wave {wave}, message {number} arrived twice"),
                }
                if killed && !whole {
                    continue;
                }
                assert!(whole, "wave {wave}, message {number}: not all lanes came back");
                let (lost, left_out) = (lanes_told(Sent::Dropped), lanes_told(Sent::Filtered));
                assert!(lost == 0 || op.policy != Policy::Block);
                assert!(sent == 0 || lost == 0, "lanes of one message were told different things");
                assert_eq!(sent | lost | left_out | lanes_told(Sent::Off), op.mask);
                assert!(op.live || op.policy == Policy::Sample || left_out == 0);
                dropped += u32::from(lost != 0);
                filtered += u32::from(left_out == op.mask);
            }
        }
        let counted = Counted {
            dropped: ring.counter(Counter::Dropped),
            waited: ring.counter(Counter::Waited),
            filtered: ring.counter(Counter::Filtered),
            received,
            stand_for: self.stand_for,
        };
        let exact = program.killed.is_none();
        assert!(counted.dropped == dropped || !exact, "{counted:?}, but {dropped} were dropped");
        // A sample that is left out may be of the lanes that the gate let through, and a gate that changes may be seen
        // by some lanes only.
        let live = program.waves.iter().flatten().any(|op| op.live);
        assert!(counted.filtered == filtered || !exact || live, "{counted:?}, but {filtered} were filtered");
        assert!(
            counted.filtered >= filtered || !exact || program.gates[0] != program.gates[1],
            "{counted:?}, but {filtered} were filtered"
        );
        assert!(self.malformed == 0 || killed > 0, "{} granules were malformed", self.malformed);
        counted
    }
}

/// Of a message of bytes of each lane, those that were received are those that were sent; how many were dropped, and
/// filtered.
fn bytes_must_be((wave, number): (usize, usize), op: &Op, told: &BTreeMap<u32, Sent>, masks: &[u64], killed: bool) -> (u32, u32) {
    let (mut dropped, mut filtered) = (0, 0);
    for lane in (0..64).filter(|lane| op.mask >> lane & 1 == 1) {
        let (arrived, told) = (masks.iter().filter(|mask| **mask == 1 << lane).count(), told.get(&lane));
        let large = length(wave as u32, number as u32, lane) > bytes::most_bytes(MIN_RING_LOG2);
        let sends = senders(number, op) >> lane & 1 == 1;
        let right = match told {
            Some(Sent::Sent) => (arrived == 1 || killed && arrived == 0) && sends && !large,
            Some(Sent::Dropped) => arrived == 0 && sends && op.policy != Policy::Block,
            Some(Sent::Filtered) => arrived == 0 && sends && (op.live || op.policy == Policy::Sample),
            Some(Sent::TooLarge) => arrived == 0 && sends && large,
            Some(Sent::Off) => arrived == 0 && (!sends || op.live),
            Some(Sent::Closed) => false,
            None => killed && arrived <= 1,
        };
        assert!(right, "wave {wave}, message {number} of lane {lane}: it was told {told:?}, and {arrived} arrived");
        dropped += u32::from(told == Some(&Sent::Dropped));
        filtered += u32::from(told == Some(&Sent::Filtered));
    }
    (dropped, filtered)
}
