//! Waves whose lanes are fibers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use corosensei::Yielder;
use hostcall_abi::Word;
use hostcall_abi::port::{Arch, PortState};

use crate::bus::Bus;

/// What the lanes of `mask` said at one collective operation after another.
#[derive(Clone, Default)]
struct Meeting {
    arrived: u64,
    values: HashMap<u32, u64>,
    /// What everybody said last time.
    last: HashMap<u32, u64>,
    round: u64,
}

/// Device memory, and the collectives of every wave.
pub struct Device {
    states: Vec<Cell<u64>>,
    meetings: RefCell<HashMap<(u32, u64), Meeting>>,
    pub clock: Cell<u64>,
}

impl Device {
    pub fn new(ports: u32, state: PortState) -> Self {
        Self { states: (0..ports).map(|_| Cell::new(state.0)).collect(), meetings: RefCell::default(), clock: Cell::new(1) }
    }

    pub fn state(&self, port: u32) -> PortState {
        PortState(self.states[port as usize].get())
    }
}

/// One lane.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    pub device: &'a Device,
    pub bus: &'a Bus,
    pub fiber: &'a Yielder<(), ()>,
    pub wave: u32,
    pub lane: u32,
}

impl Lane<'_> {
    fn meet(self, mask: u64, value: u64) -> HashMap<u32, u64> {
        assert!(mask >> self.lane & 1 == 1, "a lane in a collective that is not its own");
        let key = (self.wave, mask);
        let round = {
            let mut meetings = self.device.meetings.borrow_mut();
            let meeting = meetings.entry(key).or_default();
            assert!(meeting.arrived >> self.lane & 1 == 0);
            meeting.arrived |= 1 << self.lane;
            meeting.values.insert(self.lane, value);
            let round = meeting.round;
            if meeting.arrived == mask {
                meeting.last = std::mem::take(&mut meeting.values);
                meeting.arrived = 0;
                meeting.round += 1;
            }
            round
        };
        loop {
            let meetings = self.device.meetings.borrow();
            let meeting = &meetings[&key];
            if meeting.round != round {
                return meeting.last.clone();
            }
            drop(meetings);
            self.step();
        }
    }

    /// Somebody else's turn, perhaps.
    fn step(self) {
        self.fiber.suspend(());
    }
}

impl Arch for Lane<'_> {
    fn lane(self) -> u32 {
        self.lane
    }
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        self.meet(mask, u64::from(predicate)).iter().map(|(lane, said)| said << lane).sum()
    }
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
        self.meet(mask, u64::from(value))[&from] as u32
    }
    fn sync(self, mask: u64) {
        self.meet(mask, 0);
    }
    fn pause(self, _: u32) {
        self.step();
    }
    fn first_port(self) -> u32 {
        self.wave % self.ports()
    }
    fn now_ns(self) -> u64 {
        self.device.clock.get()
    }
    fn ports(self) -> u32 {
        self.bus.geometry.ports
    }
    fn request_words(self) -> u32 {
        self.bus.geometry.request_words
    }
    fn reply_words(self) -> u32 {
        self.bus.geometry.reply_words
    }
    fn lock_port(self, port: u32) -> u64 {
        self.step();
        let state = &self.device.states[port as usize];
        state.replace(state.get() | PortState::LOCKED)
    }
    fn unlock_port(self, port: u32, state: u64) {
        self.step();
        assert_eq!(state & PortState::LOCKED, 0);
        assert!(self.device.state(port).locked(), "a port released twice");
        self.device.states[port as usize].set(state);
    }
    fn store_request(self, port: u32, index: usize, word: Word) {
        self.step();
        self.bus.store_request(self.wave * 64 + self.lane, port, index, word);
    }
    fn load_reply(self, port: u32, index: usize) -> Word {
        self.step();
        self.bus.load_reply(port, index)
    }
    fn ring(self, port: u32, tag: u32) {
        self.step();
        self.bus.ring(self.wave * 64 + self.lane, port, tag);
    }
    fn closed(self) -> u32 {
        0
    }
    fn known_closed(self) -> u32 {
        0
    }
    fn remember_closed(self, _: u32) {}
}
