//! The flight recorder over the same bus: nothing is awaited, so stores of several laps may be on their way to one
//! unit, and arrive in any order.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};
use hostcall_abi::port::Group;
use hostcall_abi::stream::latest::{Kept, LAPS};
use hostcall_abi::stream::unit::PHASE;
use hostcall_abi::stream::{Counter, GRANULE, Latest, MIN_RING_LOG2, Policy, RingMemory, Sent, Subject, send_latest, send_latest_once};
use proptest::prelude::*;

use crate::common::Random;
use crate::ring::{Fault, Lane, Ring};

/// Units of the values; a stream's number is the place in this list, from 1.
const UNITS: [u32; 4] = [1, 4, 7, 30];

/// A message: its lanes, its stream, and whether it is the first lane's alone.
#[derive(Clone, Copy, Debug)]
struct Op {
    mask: u64,
    stream: u32,
    once: bool,
}

#[derive(Clone, Debug)]
struct Flight {
    waves: Vec<Vec<Op>>,
    wide: bool,
    seed: u64,
    /// Stores overtake at most so many others.
    disorder: usize,
    /// The reader looks once in about so many steps, and at the end.
    slowness: u32,
}

fn value(wave: u32, op: usize, lane: u32, index: u32) -> u32 {
    (wave * 64 + lane).wrapping_mul(0x9e37_79b9) ^ (op as u32 + 1).wrapping_mul(0x85eb_ca6b) ^ (index + 1).wrapping_mul(0xc2b2_ae35)
}

/// The area as the host sees it.
struct Area<'a>(&'a Ring);

impl RingMemory for Area<'_> {
    fn load_four(&self, unit: u32) -> [u32; 4] {
        self.0.area.borrow()[unit as usize..][..4].try_into().expect("four units")
    }
    fn repair(&self, _: u32, _: u32) {
        unreachable!("areas are not repaired")
    }
}

fn units(stream: u32) -> Option<u32> {
    UNITS.get((stream as usize).wrapping_sub(1)).copied()
}

fn send(lane: Lane<'_>, wave: u32, number: usize, op: &Op) -> Sent {
    let group = Group::new(op.mask, lane.lane);
    let policy = Policy::Latest;
    let subject =
        Subject { stream: op.stream, site: number as u32 + 1, policy, timed: number.is_multiple_of(2), values: 1, live: false, weight: 0 };
    macro_rules! of {
        ($($n:literal)+) => {
            match UNITS[op.stream as usize - 1] + 1 {
                $($n => {
                    // The last is room for the check.
                    let units: [u32; $n] = std::array::from_fn(|i| if i + 1 < $n { value(wave, number, lane.lane, i as u32) } else { 0 });
                    if op.once { send_latest_once(lane, &group, subject, &units) } else { send_latest(lane, &group, subject, &units) }
                })+
                other => panic!("no message of {other} units"),
            }
        };
    }
    of!(2 5 8 31)
}

/// Every message of the area, by place and lap.
fn look(ring: &Ring, found: &mut HashMap<(u32, u32), (u32, usize)>, handed_on: &mut HashSet<(u32, usize)>) {
    let mut reader = Latest::new(MIN_RING_LOG2, ring.wide);
    let mut granule = 0;
    while granule < 1 << MIN_RING_LOG2 {
        let Some(Kept { header, lap, rows, .. }) = reader.look(&Area(ring), granule, units) else {
            granule += 1;
            continue;
        };
        let (wave, number) = (header.from.wave, header.site as usize - 1);
        let lanes = (0..64).filter(|lane| header.mask >> lane & 1 == 1);
        let of_value = units(header.stream).expect("a stream that there is");
        let expected: Vec<u32> = lanes.flat_map(|lane| (0..of_value).map(move |index| value(wave, number, lane, index))).collect();
        assert_eq!(rows, expected, "message {number} of wave {wave} is garbled");
        assert_eq!(header.time.is_some(), number.is_multiple_of(2));
        if found.insert((granule, lap), (wave, number)).is_none() {
            assert!(handed_on.insert((wave, number)), "message {number} of wave {wave} in two places");
        }
        granule += header.granules;
    }
}

/// Runs it, and says how many messages were sent, how many found, and of which granules there were messages at the end.
fn run(flight: &Flight) -> (u32, u32, u32) {
    let random = Random(Cell::new(flight.seed));
    let ring = Rc::new(Ring::new(MIN_RING_LOG2, flight.wide, 0, Fault::None));
    let program = Rc::new(flight.clone());
    let told: Rc<RefCell<u32>> = Rc::default();
    let mut fibers = Vec::new();
    for wave in 0..flight.waves.len() {
        let used = flight.waves[wave].iter().fold(0, |mask, op| mask | op.mask);
        for lane in (0..64).filter(|lane| used >> lane & 1 == 1) {
            let (ring, program, told) = (Rc::clone(&ring), Rc::clone(&program), Rc::clone(&told));
            fibers.push(Coroutine::new(move |fiber, ()| {
                let lane = Lane { ring: &ring, fiber, wave: wave as u32, lane };
                for (number, op) in program.waves[wave].iter().enumerate().filter(|(_, op)| op.mask >> lane.lane & 1 == 1) {
                    assert_eq!(send(lane, wave as u32, number, op), Sent::Sent, "it waits for nothing");
                    *told.borrow_mut() += u32::from(op.mask.trailing_zeros() == lane.lane);
                }
            }));
        }
    }
    let (mut found, mut handed_on) = (HashMap::new(), HashSet::new());
    while !fibers.is_empty() || ring.latest_on_their_way() > 0 {
        if fibers.is_empty() || ring.latest_on_their_way() > flight.disorder || random.below(3) == 0 {
            ring.deliver_latest(&random, flight.disorder);
        } else {
            let chosen = random.below(fibers.len() as u32) as usize;
            if let CoroutineResult::Return(()) = fibers[chosen].resume(()) {
                drop(fibers.swap_remove(chosen));
            }
        }
        if random.below(flight.slowness) == 0 {
            look(&ring, &mut found, &mut handed_on);
        }
    }
    look(&ring, &mut found, &mut handed_on);
    assert_eq!(*told.borrow(), ring.counter(Counter::Sent));
    (ring.counter(Counter::Sent), handed_on.len() as u32, ring.area_head.get())
}

fn flight() -> impl Strategy<Value = Flight> {
    any::<bool>().prop_flat_map(|wide| {
        let lanes = prop_oneof![Just(1u64 << 31), Just(0x8000_0005), Just(0x2014), Just(if wide { u64::MAX } else { u64::from(u32::MAX) })];
        let op = (lanes, 1..=UNITS.len() as u32, prop::bool::weighted(0.2)).prop_map(|(mask, stream, once)| Op { mask, stream, once });
        let waves = prop::collection::vec(prop::collection::vec(op, 1..40), 1..4);
        let disorder = prop_oneof![Just(1usize), Just(200), Just(100_000)];
        let slowness = prop_oneof![Just(2000u32), Just(u32::MAX)];
        (waves, any::<u64>(), disorder, slowness).prop_map(move |(waves, seed, disorder, slowness)| Flight {
            waves,
            wide,
            seed,
            disorder,
            slowness,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_was_sent_and_is_found_once_and_while_nothing_is_overwritten_all_of_it_is(flight in flight()) {
        let (sent, found, granules) = run(&flight);
        prop_assert!(found <= sent);
        if granules <= 1 << MIN_RING_LOG2 {
            prop_assert_eq!(found, sent);
        }
    }
}

/// Each wave sends more than the area holds.
fn laps(disorder: usize) -> Flight {
    let op = |i: usize| Op { mask: u64::from(u32::MAX), stream: if i.is_multiple_of(3) { 3 } else { 4 }, once: false };
    Flight { waves: vec![(0..60).map(op).collect(); 3], wide: false, seed: 5, disorder, slowness: u32::MAX }
}

#[test]
fn the_last_messages_remain_when_many_laps_are_written() {
    let (sent, found, granules) = run(&laps(1));
    assert!(granules > 4 << MIN_RING_LOG2, "{granules}");
    // The area has room for 15 of the larger ones.
    assert!(found >= 10 && found < sent / 4, "{found} of {sent}");
}

#[test]
fn stores_that_arrive_laps_late_are_noticed() {
    let (sent, found, _) = run(&laps(100_000));
    assert!(found < sent / 4, "{found} of {sent}");
}

#[test]
fn a_unit_of_another_lap_in_a_message_is_noticed_although_its_phase_is_right() {
    // The same messages in each lap, of other values: two laps later each lies where it lay, with the same phases.
    let one_lap = |number: usize| {
        let ring = Rc::new(Ring::new(MIN_RING_LOG2, false, 0, Fault::None));
        let theirs = Rc::clone(&ring);
        ring.area_head.set((number as u32) << MIN_RING_LOG2);
        let mut fibers: Vec<_> = (0..32)
            .map(|lane| {
                let ring = Rc::clone(&theirs);
                Coroutine::new(move |fiber, ()| {
                    let op = Op { mask: u64::from(u32::MAX), stream: 2, once: false };
                    send(Lane { ring: &ring, fiber, wave: 0, lane }, 0, number, &op)
                })
            })
            .collect();
        while !fibers.is_empty() {
            fibers.retain_mut(|fiber| matches!(fiber.resume(()), CoroutineResult::Yield(())));
        }
        let random = Random(Cell::new(1));
        while ring.latest_on_their_way() > 0 {
            ring.deliver_latest(&random, 1);
        }
        ring
    };
    // After as many laps as have numbers of their own the check's hash tells messages apart.
    let of_lap = |number| Latest::new(MIN_RING_LOG2, false).look(&Area(&one_lap(number)), 0, units).map(|kept| (kept.lap, kept.check));
    let [first, again] = [0, LAPS as usize].map(|number| of_lap(number).expect("a message"));
    assert!(first.0 == again.0 && first.1 != again.1, "{first:?} and {again:?}");
    let (early, late) = (one_lap(0), one_lap(2));
    let mut reader = Latest::new(MIN_RING_LOG2, false);
    for ring in [&early, &late] {
        assert_eq!(
            reader.look(&Area(ring), 0, units).map(|kept| kept.rows[5]),
            Some(value(0, if Rc::ptr_eq(ring, &early) { 0 } else { 2 }, 1, 1))
        );
    }
    let length = reader.look(&Area(&late), 0, units).expect("a message").header.granules * GRANULE;
    let mut differ = 0;
    for unit in 0..length as usize {
        let (was, is) = (early.area.borrow()[unit], late.area.borrow()[unit]);
        assert_eq!(was & PHASE, is & PHASE);
        if was == is {
            continue;
        }
        differ += 1;
        late.area.borrow_mut()[unit] = was;
        assert_eq!(reader.look(&Area(&late), 0, units), None, "unit {unit} is of another lap");
        late.area.borrow_mut()[unit] = is;
    }
    assert!(differ > 32 * 4, "{differ} units differ");
}

#[test]
fn junk_in_an_area_is_no_message_and_costs_bounded_work() {
    let random = Random(Cell::new(9));
    let ring = Ring::new(MIN_RING_LOG2, true, 0, Fault::None);
    for _ in 0..20 {
        ring.area.borrow_mut().iter_mut().for_each(|unit| *unit = (random.below(u32::MAX) << random.below(2)) | (PHASE * random.below(2)));
        let (mut found, mut handed_on) = (HashMap::new(), HashSet::new());
        look(&ring, &mut found, &mut handed_on);
        assert!(handed_on.is_empty());
    }
}
