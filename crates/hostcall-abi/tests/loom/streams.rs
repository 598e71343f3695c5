//! The ring of streams: reservations of two waves, credit that comes late, and a reader.
//!
//! A message here is one granule. Three of its units are atomics of loom's: the first, that of the displaced bits, and
//! the last. They are all that tells one message from another; the other units are taken for what the last one's phase
//! says. So the model has units that are seen one by one, in any order, and few enough of them to be explored.

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::unit::PHASE;
use hostcall_abi::stream::{
    Bounds, Counter, Credit, Found, From, GRANULE, Gate, MIN_RING_LOG2, Place, Policy, Reader, RingLink, RingMemory, Sent, Subject, send,
};
use loom::sync::Arc;
use loom::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use loom::thread;

use crate::explore;

const GRANULES: usize = 1 << MIN_RING_LOG2;
/// The units of a granule that are atomics.
const SEEN: [u32; 3] = [0, 8, GRANULE - 1];

/// How the ring is broken, for the models that must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Credit is returned for a granule that has not been read.
    CreditAhead,
    /// Nobody waits for credit.
    NoCredit,
    /// The reader takes the first unit's phase for that of all.
    OnePhase,
    /// A reservation is a load and a store.
    TornReservation,
}

struct Ring {
    units: Vec<AtomicU32>,
    head: AtomicU32,
    credit: AtomicU32,
    closed: AtomicU32,
    dropped: AtomicU32,
    fault: Fault,
    /// Whether the reader goes away.
    closes: bool,
}

impl Ring {
    fn new(fault: Fault) -> Arc<Self> {
        Self::with(fault, false)
    }

    fn with(fault: Fault, closes: bool) -> Arc<Self> {
        Arc::new(Self {
            units: (0..GRANULES * SEEN.len()).map(|_| AtomicU32::new(0)).collect(),
            head: AtomicU32::new(0),
            credit: AtomicU32::new(0),
            closed: AtomicU32::new(0),
            dropped: AtomicU32::new(0),
            fault,
            closes,
        })
    }

    fn at(&self, unit: u32) -> Option<&AtomicU32> {
        let seen = SEEN.iter().position(|seen| *seen == unit % GRANULE)?;
        self.units.get((unit / GRANULE) as usize * SEEN.len() + seen)
    }
}

impl RingMemory for Ring {
    fn load_four(&self, unit: u32) -> [u32; 4] {
        let (first, last) = (unit / GRANULE * GRANULE, unit / GRANULE * GRANULE + GRANULE - 1);
        // Pairs with `RingLink::store`, by the unit's phase alone.
        let load = |unit: u32| self.at(unit).expect("an atomic").load(Relaxed);
        // One load says the phase of all units here that are no atomics, and of the atomic if there is a fault.
        let atomic = (unit..unit + 4).find(|unit| SEEN.contains(&(unit - first)));
        let seen = load(if self.fault == Fault::OnePhase { first } else { atomic.unwrap_or(last) });
        let phase = seen & PHASE;
        std::array::from_fn(|i| match unit + i as u32 - first {
            0 => seen,
            // What `message` sends: lane 0, site 1 or 2 as the last unit says, no time.
            1 => 1 | phase,
            2 => 7 | phase,
            _ if atomic == Some(unit + i as u32) && self.fault == Fault::OnePhase => load(unit + i as u32) & !PHASE | phase,
            _ if atomic == Some(unit + i as u32) => seen,
            _ => phase,
        })
    }
    fn repair(&self, _: u32, _: u32) {
        unreachable!("no wave ends here");
    }
}

/// A wave of one lane.
#[derive(Clone, Copy)]
struct Wave<'a>(&'a Ring);

impl Lanes for Wave<'_> {
    fn lane(self) -> u32 {
        0
    }
    fn ballot(self, _: u64, predicate: bool) -> u64 {
        u64::from(predicate)
    }
    fn broadcast(self, _: u64, value: u32, _: u32) -> u32 {
        value
    }
    fn sync(self, _: u64) {}
    fn pause(self, _: u32) {
        thread::yield_now();
    }
    fn now_ns(self) -> u64 {
        0
    }
}

impl RingLink for Wave<'_> {
    fn ring_log2(self) -> u32 {
        MIN_RING_LOG2
    }
    fn is_wide(self) -> bool {
        false
    }
    fn from(self) -> From {
        From::default()
    }
    fn head(self) -> u32 {
        self.0.head.load(Relaxed)
    }
    fn reserve(self, granules: u32) -> u32 {
        if self.0.fault == Fault::TornReservation {
            let head = self.0.head.load(Relaxed);
            self.0.head.store(head + granules, Relaxed);
            return head;
        }
        self.0.head.fetch_add(granules, Relaxed)
    }
    fn reserve_latest(self, _: u32) -> u32 {
        unreachable!("no message of this policy")
    }
    fn credit(self) -> Credit {
        // Pairs with the store of the model that closes; a hint that waiting is in vain. (For others it would be one
        // more atomic to explore.)
        let closed = if self.0.closes { self.0.closed.load(Relaxed) } else { 0 };
        if self.0.fault == Fault::NoCredit {
            return Credit { freed: self.0.head.load(Relaxed), closed };
        }
        // Pairs with the reader's store of credit: what is stored into the ring depends on it.
        Credit { freed: self.0.credit.load(Acquire), closed }
    }
    fn learn(self) {}
    fn gate(self, _: u32) -> Gate {
        Gate::OPEN
    }
    fn bounds(self, _: u32) -> Bounds {
        Bounds::NONE
    }
    fn place(self) -> Place {
        Place::default()
    }
    fn dice(self) -> u32 {
        0
    }
    fn count(self, _: u32, what: Counter) {
        if what == Counter::Dropped {
            self.0.dropped.fetch_add(1, Relaxed);
        }
    }
    fn store(self, unit: u32, value: u32) {
        if let Some(at) = self.0.at(unit) {
            // Relaxed: the phase says all. Pairs with `load_four`.
            at.store(value, Relaxed);
        }
    }
}

/// Sends `value`, whose top bit is displaced.
fn message(ring: &Ring, policy: Policy, value: u32) -> Sent {
    let subject = Subject { stream: 1, site: 7, policy, timed: false, values: 1, live: false, weight: 0 };
    send(Wave(ring), &Group::new(1, 0), subject, &[value])
}

fn wave(ring: &Arc<Ring>, run: impl FnOnce(&Ring) + Send + 'static) -> thread::JoinHandle<()> {
    let ring = Arc::clone(ring);
    thread::spawn(move || run(&ring))
}

/// Reads `count` messages on a thread of its own, and returns credit for each.
fn read(ring: &Arc<Ring>, count: usize) -> Vec<u32> {
    let ring = Arc::clone(ring);
    let reading = thread::spawn(move || {
        let mut reader = Reader::new(MIN_RING_LOG2, false);
        let mut values = Vec::new();
        let mut looks = 0;
        while values.len() < count {
            // A thread that yields runs again when others have got on, so in vain is for good.
            assert!(looks < 40, "a message is lost");
            looks += 1;
            if ring.fault == Fault::CreditAhead {
                ring.credit.store(reader.position() as u32 + 1, Release);
            }
            match reader.next(&*ring, |stream| (stream == 1).then_some(1)) {
                Found::Packet(message) => {
                    let mut value = [0];
                    message.copy_rows(&mut value);
                    values.push(value[0]);
                    looks = 0;
                }
                Found::Malformed | Found::Long(_) => panic!("no message"),
                Found::Absent | Found::Partial => thread::yield_now(),
            }
            if let Some(credit) = reader.credit(false) {
                // Pairs with `RingLink::credit`: what has been read was read before.
                ring.credit.store(credit as u32, Release);
            }
        }
        values
    });
    reading.join().unwrap()
}

const TOP: u32 = 1 << 31;

/// The ring is full when a wave sends one message more; the reader reads all of them.
fn one_wave_goes_round(fault: Fault) {
    explore(1, move || {
        let ring = Ring::new(fault);
        let values: Vec<u32> = (0..GRANULES as u32 + 1).map(|i| i << 4 | 1 | (i & 1) * TOP).collect();
        for value in &values[..GRANULES] {
            assert_eq!(message(&ring, Policy::Block, *value), Sent::Sent);
        }
        let last = values[GRANULES];
        let sender = wave(&ring, move |ring| assert_eq!(message(ring, Policy::Block, last), Sent::Sent));
        assert_eq!(read(&ring, values.len()), values);
        sender.join().unwrap();
    });
}

/// Two waves send one message each.
fn two_waves_send(fault: Fault) {
    explore(1, move || {
        let ring = Ring::new(fault);
        let waves = [5 | TOP, 9].map(|value| wave(&ring, move |ring| assert_eq!(message(ring, Policy::Block, value), Sent::Sent)));
        let mut values = read(&ring, 2);
        values.sort_unstable();
        assert_eq!(values, [9, 5 | TOP]);
        for wave in waves {
            wave.join().unwrap();
        }
    });
}

#[test]
fn a_wave_waits_for_credit_at_the_rings_end_and_every_message_arrives_in_order() {
    one_wave_goes_round(Fault::None);
}

#[test]
fn two_waves_have_granules_of_their_own() {
    two_waves_send(Fault::None);
}

#[test]
fn messages_are_dropped_and_counted_when_nobody_reads() {
    explore(1, || {
        let ring = Ring::new(Fault::None);
        let outcomes = [1, 2].map(|first| {
            wave(&ring, move |ring| {
                for value in 0..GRANULES as u32 / 2 {
                    assert_eq!(message(ring, Policy::Drop, first + value), Sent::Sent);
                }
            })
        });
        for wave in outcomes {
            wave.join().unwrap();
        }
        assert_eq!(message(&ring, Policy::Drop, 3), Sent::Dropped);
        assert_eq!(ring.dropped.load(Relaxed), 1);
    });
}

#[test]
fn a_wave_that_waits_for_credit_learns_that_the_reader_is_gone() {
    explore(1, || {
        let ring = Ring::with(Fault::None, true);
        for value in 0..GRANULES as u32 {
            assert_eq!(message(&ring, Policy::Block, value), Sent::Sent);
        }
        let waits = wave(&ring, |ring| assert_eq!(message(ring, Policy::Block, 7), Sent::Closed));
        ring.closed.store(1, Relaxed);
        waits.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "a message is lost")]
fn credit_ahead_of_the_reader_lets_a_lap_overwrite_the_one_before() {
    one_wave_goes_round(Fault::CreditAhead);
}

#[test]
#[should_panic(expected = "a message is lost")]
fn without_credit_a_lap_overwrites_the_one_before() {
    one_wave_goes_round(Fault::NoCredit);
}

#[test]
#[should_panic(expected = "left == right")]
fn one_phase_does_not_tell_of_all_units() {
    two_waves_send(Fault::OnePhase);
}

#[test]
#[should_panic(expected = "a message is lost")]
fn a_reservation_that_is_not_atomic_gives_one_granule_to_two_waves() {
    two_waves_send(Fault::TornReservation);
}
