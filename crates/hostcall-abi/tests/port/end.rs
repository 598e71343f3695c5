//! The end of a buffer: once it is known, calls fail at once, without a look at any port over the bus.

use std::cell::Cell;

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Arch, Client, Group, PortState};
use hostcall_abi::{Flags, Status, Tag, Word};

use crate::message::{Kind, Op};
use crate::program::{Fault, Program, run};
use crate::some_lanes;

/// A wave of one lane over ports that were all given up, which counts what it does.
#[derive(Clone, Copy)]
struct Counting<'a> {
    ports: u32,
    /// What the device knows, and what a look over the bus would give.
    known: &'a Cell<u32>,
    closed: u32,
    window: bool,
    locks: &'a Cell<u32>,
    looks: &'a Cell<u32>,
}

impl Lanes for Counting<'_> {
    fn lane(self) -> u32 {
        0
    }
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        mask & u64::from(predicate)
    }
    fn broadcast(self, _: u64, value: u32, _: u32) -> u32 {
        value
    }
    fn sync(self, _: u64) {}
    fn pause(self, _: u32) {}
    fn now_ns(self) -> u64 {
        0
    }
}

impl Arch for Counting<'_> {
    fn first_port(self) -> u32 {
        self.ports / 2
    }
    fn ports(self) -> u32 {
        self.ports
    }
    fn request_words(self) -> u32 {
        64
    }
    fn reply_words(self) -> u32 {
        64
    }
    fn lone_stride(self) -> u32 {
        2
    }
    fn has_window(self) -> bool {
        self.window
    }
    fn launch(self) -> u32 {
        7
    }
    fn mark(self, _: u32) -> u32 {
        unreachable!("the ports are of this launch")
    }
    fn lock_port(self, _: u32) -> u64 {
        self.locks.set(self.locks.get() + 1);
        PortState::new(Tag::new(5), 0, true).word(7)
    }
    fn unlock_port(self, _: u32, word: u64) {
        assert!(PortState::of(word).abandoned(), "the port is left as it was");
        self.locks.set(self.locks.get() - 1);
    }
    fn store_request(self, _: u32, _: usize, _: Word) {
        unreachable!("no message is sent");
    }
    fn load_reply(self, _: u32, _: usize) -> Word {
        self.looks.set(self.looks.get() + 1);
        Word::default()
    }
    fn ring(self, _: u32, _: Tag) {}
    fn closed(self) -> u32 {
        self.looks.set(self.looks.get() + 1);
        self.closed
    }
    fn known_closed(self) -> u32 {
        if self.window { self.closed } else { self.known.get() }
    }
    fn remember_closed(self, status: u32) {
        self.known.set(status);
    }
}

fn looks_of_a_call(known: u32, closed: u32, window: bool) -> u32 {
    let (known, locks, looks) = (Cell::new(known), Cell::new(0), Cell::new(0));
    let arch = Counting { ports: 8448, known: &known, closed, window, locks: &locks, looks: &looks };
    let client = Client(arch);
    assert_eq!(client.acquire(&Group::new(1, 0), true).unwrap_err(), Status::DETACHED);
    assert_eq!(locks.get(), 0, "every port that was locked is free again");
    looks.get()
}

#[test]
fn once_the_end_is_known_a_call_looks_at_nothing_over_the_bus() {
    let detached = u32::from(Status::DETACHED.0);
    assert_eq!(looks_of_a_call(detached, detached, false), 0);
    assert_eq!(looks_of_a_call(0, detached, true), 0);
}

#[test]
fn one_call_that_finds_no_port_learns_of_the_end_for_all() {
    // Each port was given up, so each is looked at once, and then the end is asked for.
    assert_eq!(looks_of_a_call(0, u32::from(Status::DETACHED.0), false), 8448 + 1);
}

#[test]
fn a_message_that_does_not_fit_leaves_the_port_as_it_was() {
    let (known, locks, looks) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let client = Client(Counting { ports: 1, known: &known, closed: 0, window: false, locks: &locks, looks: &looks });
    let group = Group::new(1, 0);
    let state = PortState::new(Tag::new(9), 17, true);
    let mut held = hostcall_abi::port::Held { port: 0, state };
    for units in [64 * 14 / 4, 256 * 14 / 4, 3000] {
        assert_eq!(client.send(&group, &mut held, 1, Flags::REPLY, units, |_| 0), Status::TOO_LARGE);
        assert_eq!(client.send_together(&group, &mut held, 1, Flags::REPLY, units, |_| 0), Status::TOO_LARGE);
        assert_eq!(held.state, state);
    }
    assert_eq!(client.largest(1), 4 * (2 + 63 * 14 / 4));
}

/// Two waves that call on after the end.
fn closing(fault: Fault) {
    let kinds = [Kind::Call, Kind::Drop, Kind::Together, Kind::Post, Kind::Call, Kind::Timeout(30), Kind::Call, Kind::Call];
    let ops = kinds.map(|kind| Op { kind, mask: some_lanes(0b101, 32), units: 3, reply: 4 }).to_vec();
    for seed in 0..600 {
        run(&Program {
            waves: vec![ops.clone(), ops.clone()],
            ports: 2,
            request_words: 16,
            first: 7,
            lanes: 32,
            window: seed % 2 == 1,
            close: 200 + seed as u32,
            seed,
            fault,
        });
    }
}

#[test]
fn a_buffer_that_is_closed_ends_every_call() {
    closing(Fault::None);
}

#[test]
#[should_panic]
fn a_device_that_forgets_the_end_is_found_out() {
    closing(Fault::ForgetsTheEnd);
}
