//! Programs of messages, the scheduler that runs them, and what must come of them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::{Counter, Found, MAX_UNITS, MIN_RING_LOG2, Packet, Policy, Reader, Sent, Subject, send};

use crate::common::Random;
use crate::ring::{Fault, HostSide, Lane, Ring};

/// The sizes of messages, in units of each lane. A stream's number is its place in this list, from 1.
pub const UNITS: [u32; 8] = [1, 2, 3, 4, 6, 7, 16, MAX_UNITS];

/// One message.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub mask: u64,
    pub units: u32,
    pub policy: Policy,
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
    /// After so many steps the kernel is killed, wherever its waves are. When what it left has been cleared away, it is launched again.
    pub killed: Option<u32>,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub dropped: u32,
    pub waited: u32,
}

/// Unit `index` that lane `lane` sends in message `op` of wave `wave`. None is 0 without its top bit.
fn value(wave: u32, op: usize, lane: u32, index: u32) -> u32 {
    let mixed =
        (wave * 64 + lane).wrapping_mul(0x9e37_79b9) ^ (op as u32 + 1).wrapping_mul(0x85eb_ca6b) ^ (index + 1).wrapping_mul(0xc2b2_ae35);
    (mixed ^ mixed >> 15) | 1
}

fn send_units(lane: Lane<'_>, wave: u32, number: usize, op: &Op) -> Sent {
    let group = Group::new(op.mask, lane.lane);
    // Lanes find out that they are a group when all of them have come.
    lane.sync(op.mask);
    let stream = UNITS.iter().position(|units| *units == op.units).expect("a size of the list") as u32 + 1;
    // The site says which message of the wave it is.
    let subject = Subject { stream, site: number as u32 + 1, policy: op.policy, timed: number.is_multiple_of(2), values: 1 };
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
    let outcomes: Rc<RefCell<HashMap<(usize, usize), Sent>>> = Rc::default();
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
                        let before = outcomes.borrow_mut().insert((wave, number), sent);
                        assert!(before.is_none_or(|before| before == sent), "lanes of one message were told different things");
                    }
                }));
            }
        }
        fibers
    };

    let (mut fibers, mut launched) = (launch(0..first), first);
    let mut received = Received::default();
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
        assert!(idle < 1_000_000 && steps < 6_000_000, "nothing goes on");
    }
    received.must_be(&program, if program.killed.is_some() { first } else { 0 }, &outcomes.borrow(), &ring)
}

/// Units that each lane of a stream sends.
fn units(stream: u32) -> Option<u32> {
    UNITS.get(stream.wrapping_sub(1) as usize).copied()
}

/// The reader looks once, and returns credit. Whether it has got on.
fn look(ring: &Ring, reader: &mut Reader, received: &mut Received) -> bool {
    let memory = HostSide { ring, position: reader.position() };
    let before = reader.position();
    match reader.next(&memory, units) {
        // What a search finds may be anything.
        Found::Packet(message) if message.after_gap => {}
        Found::Packet(message) => received.take(&message),
        Found::Malformed => received.malformed += 1,
        Found::Absent | Found::Partial => {}
    }
    if let Some(credit) = reader.credit(false) {
        ring.credit.set(credit as u32);
    }
    reader.position() != before
}

#[derive(Default)]
struct Received {
    /// Messages of each wave, in order.
    of: HashMap<u32, Vec<usize>>,
    malformed: u32,
}

impl Received {
    fn take(&mut self, message: &Packet<'_>) {
        let (wave, number) = (message.header.from.wave, message.header.site as usize - 1);
        assert_eq!(message.header.from.group, 1 << 40 | u64::from(wave));
        assert_eq!((message.header.from.sm, message.header.from.launch), (3, 5));
        assert_eq!(message.header.time.is_some(), number.is_multiple_of(2));
        let mut rows = vec![0; (message.rows() * message.units()) as usize];
        assert_eq!(message.copy_rows(&mut rows), rows.len());
        let expected: Vec<u32> =
            message.lanes().flat_map(|lane| (0..message.units()).map(move |index| value(wave, number, lane, index))).collect();
        assert_eq!(rows, expected, "message {number} of wave {wave} is garbled");
        self.of.entry(wave).or_default().push(number);
    }

    /// What was received is what was sent; of the first `killed` waves, at most.
    fn must_be(&self, program: &Program, killed: usize, outcomes: &HashMap<(usize, usize), Sent>, ring: &Ring) -> Counted {
        let mut dropped = 0;
        for (wave, ops) in program.waves.iter().enumerate() {
            let got = self.of.get(&(wave as u32)).map_or(&[][..], Vec::as_slice);
            // Groups of disjoint lanes are as independent as waves; so messages that share a lane are in order.
            for (i, first) in got.iter().enumerate() {
                let overtaken = got[..i].iter().find(|before| *before > first && ops[**before].mask & ops[*first].mask != 0);
                assert_eq!(overtaken, None, "wave {wave}: {got:?}");
            }
            let count = |number| got.iter().filter(|other| **other == number).count();
            let killed = wave < killed;
            for (number, op) in ops.iter().enumerate() {
                match outcomes.get(&(wave, number)) {
                    Some(Sent::Sent) if killed => assert!(count(number) <= 1),
                    Some(Sent::Sent) => assert_eq!(count(number), 1, "wave {wave}, message {number}"),
                    Some(Sent::Dropped) => {
                        assert_eq!((count(number), op.policy), (0, Policy::Drop));
                        dropped += 1;
                    }
                    None if killed => assert!(count(number) <= 1),
                    other => panic!("message {number} of wave {wave}: {other:?}"),
                }
            }
        }
        let counted = Counted { dropped: ring.counter(Counter::Dropped), waited: ring.counter(Counter::Waited) };
        assert!(counted.dropped == dropped || program.killed.is_some(), "{counted:?}, but {dropped} were dropped");
        assert!(self.malformed == 0 || killed > 0, "{} granules were malformed", self.malformed);
        counted
    }
}
