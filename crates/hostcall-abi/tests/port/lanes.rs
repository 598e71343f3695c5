//! Waves whose lanes are fibers.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use corosensei::Yielder;
use hostcall_abi::port::{Arch, PortState};
use hostcall_abi::{Tag, Word};

use crate::bus::Bus;
use crate::common::{Meetings, lanes_that_meet};
use crate::program::Fault;

/// Device memory, and the collectives of every wave.
pub struct Device {
    words: Vec<Cell<u64>>,
    meetings: Meetings,
    pub clock: Cell<u64>,
    /// What was remembered of `closed`.
    known_closed: Cell<u32>,
    /// Whether a call has ended because the buffer is closed.
    pub learnt: Cell<bool>,
    /// Lanes that know that the buffer is closed, and so must not look over the bus.
    pub must_not_look: RefCell<HashSet<(u32, u32)>>,
}

impl Device {
    pub fn new(ports: u32, state: PortState) -> Self {
        Self {
            words: (0..ports).map(|_| Cell::new(state.word(0))).collect(),
            meetings: Meetings::default(),
            clock: Cell::new(1),
            known_closed: Cell::new(0),
            learnt: Cell::new(false),
            must_not_look: RefCell::default(),
        }
    }

    pub fn state(&self, port: u32) -> PortState {
        PortState::of(self.words[port as usize].get())
    }

    /// Whether the device must know by now that the buffer is closed: it has been told, or sees it in its own memory.
    pub fn knows_the_end(&self, bus: &Bus) -> bool {
        if bus.geometry.window { bus.closed() != 0 } else { self.learnt.get() }
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
    pub fault: Fault,
    /// Ports that the lane believes in beside those that there are.
    pub more_ports: u32,
}

impl Lane<'_> {
    fn meet(self, mask: u64, value: u64) -> HashMap<u32, u64> {
        self.device.meetings.meet(self.wave, mask, self.lane, value, || self.step())
    }

    /// Somebody else's turn, perhaps.
    fn step(self) {
        self.fiber.suspend(());
    }

    /// The lane looks at, or stores to, memory on the other side of the bus.
    fn crosses_the_bus(self) {
        let knows = self.device.must_not_look.borrow().contains(&(self.wave, self.lane));
        assert!(!knows, "a call over the bus though the end is known");
        self.step();
    }
}

lanes_that_meet!(Lane<'_>, |this| this.device.clock.get());

impl Arch for Lane<'_> {
    fn first_port(self) -> u32 {
        self.wave % self.ports()
    }
    fn ports(self) -> u32 {
        self.bus.geometry.ports + self.more_ports
    }
    fn request_words(self) -> u32 {
        self.bus.geometry.request_words
    }
    fn reply_words(self) -> u32 {
        self.bus.geometry.reply_words
    }
    fn lone_stride(self) -> u32 {
        self.bus.geometry.lone_stride()
    }
    fn has_window(self) -> bool {
        self.bus.geometry.window
    }
    /// Of each wave its own, so that every port is compared with its mark again and again.
    fn launch(self) -> u32 {
        self.wave
    }
    fn mark(self, port: u32) -> u32 {
        self.crosses_the_bus();
        self.bus.marks[port as usize].get()
    }
    fn lock_port(self, port: u32) -> u64 {
        self.step();
        let word = &self.device.words[port as usize];
        word.replace(word.get() | u64::from(PortState::LOCKED))
    }
    fn unlock_port(self, port: u32, word: u64) {
        self.step();
        assert!(!PortState::of(word).locked());
        assert!(self.device.state(port).locked(), "a port released twice");
        self.device.words[port as usize].set(word);
    }
    fn store_request(self, port: u32, index: usize, word: Word) {
        self.crosses_the_bus();
        self.bus.store_request(self.wave * 64 + self.lane, port, index, word);
    }
    fn load_reply(self, port: u32, index: usize) -> Word {
        self.crosses_the_bus();
        self.bus.load_reply(port, index)
    }
    fn ring(self, port: u32, tag: Tag) {
        self.crosses_the_bus();
        self.bus.ring(self.wave * 64 + self.lane, port, tag);
    }
    fn closed(self) -> u32 {
        self.crosses_the_bus();
        self.bus.closed()
    }
    fn known_closed(self) -> u32 {
        if self.fault == Fault::ForgetsTheEnd {
            return 0;
        }
        if self.has_window() { self.bus.closed() } else { self.device.known_closed.get() }
    }
    fn remember_closed(self, status: u32) {
        self.device.known_closed.set(status);
    }
}
