//! One ring: device memory, the bus, and the lanes that send.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use corosensei::Yielder;
use hostcall_abi::stream::unit::{LATEST, PHASE};
use hostcall_abi::stream::{Bounds, ByteLink, Counter, Credit, From, Gate, Place, RingLink, RingMemory};

use crate::common::{Meetings, Random, lanes_that_meet};
use crate::program::{byte, length};

/// How something is broken, for the tests that must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Waves do not wait for credit.
    NoCredit,
    /// The device is told of more room than there is.
    TooMuchCredit,
    /// The reader looks at one phase in four.
    OnePhaseInFour,
    /// The reader takes units whatever their phase.
    AnyPhase,
    /// Some units that say nothing are not stored.
    NoPadding,
    /// The unit behind the ballots is not stored with its bits: lane 31 loses its top bits.
    NoLastLane,
    /// Quads of bytes say that they are full where they are not.
    TooManyBytes,
    /// Quads of bytes lose the top bits of their words.
    NoTopsOfBytes,
}

/// Device memory, and the ring's units on both sides of the bus.
pub struct Ring {
    pub units: RefCell<Vec<u32>>,
    /// Stores on their way: where, and what.
    pending: RefCell<Vec<(u32, u32)>>,
    /// The same of the area of the latest messages. Stores of several laps may be on their way to one unit.
    pub area: RefCell<Vec<u32>>,
    area_pending: RefCell<Vec<(u32, u32)>>,
    pub area_head: Cell<u32>,
    pub head: Cell<u32>,
    /// Credit as the host has stored it, and as the device sees it.
    pub credit: Cell<u32>,
    seen: Cell<u32>,
    pub meetings: Meetings,
    pub clock: Cell<u64>,
    pub counters: [Cell<u32>; 4],
    /// Of all streams that are live.
    pub gate: Cell<Gate>,
    pub bounds: Cell<Bounds>,
    pub ring_log2: u32,
    pub wide: bool,
    pub fault: Fault,
}

impl Ring {
    pub fn new(ring_log2: u32, wide: bool, first: u64, fault: Fault) -> Self {
        // As the lap before has left it: units before `first` have their lap's phase, those behind it the phase before.
        let units = 1u32 << (ring_log2 + 4);
        let lap = first >> ring_log2;
        let phase = |lap: u64| if lap & 1 == 0 { PHASE } else { 0 };
        let inside = (first as u32 & ((1 << ring_log2) - 1)) * 16;
        let before = |unit: u32| phase(if unit < inside { lap } else { lap.wrapping_sub(1) });
        Self {
            units: RefCell::new((0..units).map(before).collect()),
            pending: RefCell::default(),
            area: RefCell::new(vec![0; units as usize]),
            area_pending: RefCell::default(),
            area_head: Cell::new(0),
            head: Cell::new(first as u32),
            credit: Cell::new(first as u32),
            seen: Cell::new(first as u32),
            meetings: Meetings::default(),
            clock: Cell::new(1),
            counters: Default::default(),
            gate: Cell::new(Gate::OPEN),
            bounds: Cell::new(Bounds::NONE),
            ring_log2,
            wide,
            fault,
        }
    }

    /// One of the stores on their way arrives.
    pub fn deliver(&self, random: &Random) {
        let mut pending = self.pending.borrow_mut();
        if !pending.is_empty() {
            let chosen = random.below(pending.len() as u32) as usize;
            let (unit, value) = pending.swap_remove(chosen);
            self.units.borrow_mut()[unit as usize] = value;
        }
    }

    /// One of the stores on their way to the area arrives: one of the oldest `most`.
    pub fn deliver_latest(&self, random: &Random, most: usize) {
        let mut pending = self.area_pending.borrow_mut();
        if !pending.is_empty() {
            let chosen = random.below(pending.len().min(most) as u32) as usize;
            let (unit, value) = pending.remove(chosen);
            self.area.borrow_mut()[unit as usize] = value;
        }
    }

    pub fn latest_on_their_way(&self) -> usize {
        self.area_pending.borrow().len()
    }

    /// The device sees the credit that the host has stored.
    pub fn deliver_credit(&self) {
        self.seen.set(self.credit.get());
    }

    pub fn is_quiet(&self) -> bool {
        self.pending.borrow().is_empty()
    }

    pub fn counter(&self, what: Counter) -> u32 {
        self.counters[what as usize].get()
    }
}

/// The reader's side. `phase` is that of the message that it looks for, as far as a fault needs to know.
pub struct HostSide<'a> {
    pub ring: &'a Ring,
    pub position: u64,
}

impl RingMemory for HostSide<'_> {
    fn load_four(&self, unit: u32) -> [u32; 4] {
        let all = self.ring.units.borrow();
        let mut four: [u32; 4] = all[unit as usize..][..4].try_into().expect("four units");
        match self.ring.fault {
            Fault::OnePhaseInFour => four = four.map(|other| other & !PHASE | four[0] & PHASE),
            Fault::AnyPhase if !unit.is_multiple_of(16) => {
                let lap = self.position >> self.ring.ring_log2;
                let inside = (self.position as u32 & ((1 << self.ring.ring_log2) - 1)) * 16;
                let phase = if (lap + u64::from(unit < inside)) & 1 == 0 { PHASE } else { 0 };
                four = four.map(|other| other & !PHASE | phase);
            }
            _ => {}
        }
        four
    }
    fn repair(&self, unit: u32, value: u32) {
        let mut all = self.ring.units.borrow_mut();
        assert_ne!(all[unit as usize] & PHASE, value & PHASE, "a unit repaired that was there");
        all[unit as usize] = value;
    }
}

/// One lane.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    pub ring: &'a Ring,
    pub fiber: &'a Yielder<(), ()>,
    pub wave: u32,
    pub lane: u32,
}

impl Lane<'_> {
    fn step(self) {
        self.fiber.suspend(());
    }

    /// Where the bytes are that a lane sends.
    pub fn address(wave: u32, op: u32, lane: u32) -> u64 {
        // Not at the beginning of what an address can tell: an overflow of its low half is to show.
        u64::from(wave << 24 | op << 8 | lane) << 32 | 0xffff_ff80
    }

    fn meet(self, mask: u64, value: u64) -> HashMap<u32, u64> {
        self.ring.meetings.meet(self.wave, mask, self.lane, value, || self.step())
    }
}

lanes_that_meet!(Lane<'_>, |this| this.ring.clock.get());

impl RingLink for Lane<'_> {
    fn ring_log2(self) -> u32 {
        self.ring.ring_log2
    }
    fn is_wide(self) -> bool {
        self.ring.wide
    }
    fn from(self) -> From {
        From { group: 1 << 40 | u64::from(self.wave), wave: self.wave, sm: 3, launch: 5 }
    }
    fn head(self) -> u32 {
        self.step();
        self.ring.head.get()
    }
    fn reserve(self, granules: u32) -> u32 {
        self.step();
        self.ring.head.replace(self.ring.head.get().wrapping_add(granules))
    }
    fn reserve_latest(self, granules: u32) -> u32 {
        self.step();
        self.ring.area_head.replace(self.ring.area_head.get().wrapping_add(granules))
    }
    fn credit(self) -> Credit {
        self.step();
        let freed = match self.ring.fault {
            Fault::NoCredit => self.ring.head.get(),
            Fault::TooMuchCredit => self.ring.seen.get().wrapping_add(80),
            _ => self.ring.seen.get(),
        };
        Credit { freed, closed: 0 }
    }
    fn learn(self) {
        self.step();
        // As if over the bus: perhaps it has not arrived yet.
        if !self.ring.clock.get().is_multiple_of(3) {
            self.ring.deliver_credit();
        }
    }
    fn gate(self, _: u32) -> Gate {
        self.step();
        self.ring.gate.get()
    }
    fn bounds(self, _: u32) -> Bounds {
        self.step();
        self.ring.bounds.get()
    }
    fn place(self) -> Place {
        // Waves are workgroups in a row of y, and each has one row of lanes.
        Place { group: [0, self.wave, 0], lane: [self.lane, 0, 0] }
    }
    fn dice(self) -> u32 {
        // Steps that the seed decides; their low bits say more than a clock's.
        (self.ring.clock.get() as u32).wrapping_mul(0x85eb_ca6b)
    }
    fn count(self, _: u32, what: Counter) {
        let counter = &self.ring.counters[what as usize];
        counter.set(counter.get() + 1);
    }
    fn store(self, unit: u32, value: u32) {
        self.step();
        let ring = self.ring;
        if unit & LATEST != 0 {
            return ring.area_pending.borrow_mut().push((unit & !LATEST, value));
        }
        match ring.fault {
            // Padding is all that is zero here: programs' units are not.
            Fault::NoPadding if value & !PHASE == 0 => return,
            _ => {}
        }
        let breaks_credit = matches!(ring.fault, Fault::NoCredit | Fault::TooMuchCredit);
        let phase = ring.units.borrow()[unit as usize] & PHASE;
        assert!(breaks_credit || phase != value & PHASE, "a unit stored twice in a lap");
        assert!(breaks_credit || ring.pending.borrow().iter().all(|(at, _)| *at != unit), "two stores to a unit on their way");
        let value = match ring.fault {
            Fault::NoLastLane if unit % 16 == 9 => value & PHASE,
            Fault::TooManyBytes if unit % 4 == 3 && unit % 16 > 7 && value >> 27 & 15 != 0 => value | 15 << 27,
            Fault::NoTopsOfBytes if unit % 4 == 3 && unit % 16 > 7 => value & !(7 << 24),
            _ => value,
        };
        ring.pending.borrow_mut().push((unit, value));
    }
}

impl ByteLink for Lane<'_> {
    fn is_private(self, address: u64) -> bool {
        (address >> 32).is_multiple_of(3)
    }
    unsafe fn load_bytes(self, address: u64, count: u32) -> [u32; 4] {
        self.step();
        let first = address - 0xffff_ff80;
        let ([lane, op, _, wave], first) = (((first >> 32) as u32).to_le_bytes().map(u32::from), first as u32);
        assert!(count <= 15 && (count == 0 || first + count <= length(wave, op, lane)), "bytes that nobody sends are read");
        assert!(lane == self.lane || !self.is_private(Self::address(wave, op, lane)), "another lane's own memory is read");
        let bytes: [u8; 16] = std::array::from_fn(|i| if i < count as usize { byte(wave, op, lane, first + i as u32) } else { 0 });
        std::array::from_fn(|i| u32::from_le_bytes(*bytes[4 * i..].first_chunk().expect("four bytes")))
    }
}
