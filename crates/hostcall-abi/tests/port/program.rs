//! Programs of messages, the scheduler that runs them, and what must come of them.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};
use hostcall_abi::port::PortState;
use hostcall_abi::{Geometry, Status, Tag};

use crate::bus::Bus;
use crate::common::Random;
use crate::host::Host;
use crate::lanes::{Device, Lane};
use crate::message::{Op, Sent, fetch, message, payload};

/// How one side is broken, for the tests that must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The server takes payload whatever its tag.
    AnyTag,
    /// The server looks at a port whose last message it is still answering.
    LooksWhileServing,
    /// The server does not wait for the rest of a scrub.
    ScrubUnseen,
    /// At the end the server looks at the ports that rang, and no other.
    DrainsByDoorbell,
    /// Posts are not acknowledged.
    NoAck,
    /// Posts are acknowledged when what was found behind them has been answered.
    LateAck,
    /// The server acknowledges what the doorbell shows instead of what it has taken.
    AcksTheDoorbell,
    /// A scrubbing post is not acknowledged.
    NoAckOfScrub,
    /// The acknowledgement of a scrubbing post leaves the rest of the reply area as it is.
    PlainAckOfScrub,
    /// The server takes a post for which it has no room, and forgets it.
    DropsWhenFull,
    /// The server copies a message that is not whole again at each look.
    ForgetsWhatItFound,
    /// What fills up a line of the window carries the next message's tag.
    FillerAhead,
    /// Each lane's reply is written by itself, with lines filled up.
    LaneByLane,
    /// Lanes that sent together receive as if each had sent.
    ReceivesApart,
    /// A wave that wants to keep a port waits for one.
    WaitsToKeep,
    /// Waves keep the last port.
    KeepsTheLast,
    /// The device does not remember that the buffer was closed.
    ForgetsTheEnd,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub waves: Vec<Vec<Op>>,
    pub ports: u32,
    pub request_words: u32,
    /// Sequence number of the last message before the first.
    pub first: u16,
    pub lanes: u32,
    pub window: bool,
    /// The server closes the buffer after so many steps, 0 for never.
    pub close: u32,
    pub seed: u64,
    pub fault: Fault,
}

/// An operation: of which wave, and which of its.
pub type Number = (usize, usize);

/// Runs a program to its end.
///
/// # Panics
/// When anything is not as it should be.
pub fn run(program: &Program) {
    let geometry = Geometry {
        request_words: program.request_words,
        reply_words: program.lanes * 2,
        slots: 0,
        window: program.window,
        ..Geometry::new(program.ports, program.lanes)
    };
    let random = Random(Cell::new(program.seed));
    let last = Tag::new(program.first);
    let bus = Rc::new(Bus::new(geometry, last, &random));
    let device = Rc::new(Device::new(program.ports, PortState::new(last, 0, false)));
    let sent = Rc::new(RefCell::new(HashSet::new()));
    let program = Rc::new(Program {
        waves: program
            .waves
            .iter()
            .map(|ops| ops.iter().map(|op| Op { reply: op.reply.min(Host::room(&geometry, op)), ..*op }).collect())
            .collect(),
        ..program.clone()
    });

    // The service's number says which operation it is, as its payload may be empty.
    let numbers: Vec<Number> = program.waves.iter().enumerate().flat_map(|(w, ops)| (0..ops.len()).map(move |o| (w, o))).collect();
    let mut fibers = Vec::new();
    let mut first_number = 0;
    for (w, ops) in program.waves.iter().enumerate() {
        let used = ops.iter().fold(0, |mask, op| mask | op.mask);
        for lane in (0..64).filter(|lane| used >> lane & 1 == 1) {
            let (device, bus, sent, program) = (Rc::clone(&device), Rc::clone(&bus), Rc::clone(&sent), Rc::clone(&program));
            fibers.push(Coroutine::new(move |fiber, ()| {
                let arch = Lane { device: &device, bus: &bus, fiber, wave: w as u32, lane, fault: program.fault, more_ports: 0 };
                let service = |o: usize| (first_number + o + 1) as u16;
                let mut kept = Vec::new();
                for (o, op) in program.waves[w].iter().enumerate().filter(|(_, op)| op.mask >> lane & 1 == 1) {
                    // Lanes that send together give the same payload.
                    let whose = if op.is_together() { op.mask.trailing_zeros() } else { lane };
                    match message(arch, op, service(o), |i| payload(w, o, whose, i)) {
                        Sent::Not => continue,
                        Sent::Done => {}
                        Sent::Kept(held) => kept.push((o, op, held)),
                    }
                    if op.mask.trailing_zeros() == lane {
                        sent.borrow_mut().insert((w, o));
                    }
                }
                for (o, op, held) in kept {
                    fetch(arch, op, service(o), held);
                }
            }));
        }
        first_number += ops.len();
    }

    let mut host = Host::new(&program, &bus, &random, &numbers, last);
    let mut steps = 0u32;
    let enough = 400_000 + 4_000 * numbers.len() as u32;
    while !fibers.is_empty() {
        steps += 1;
        assert!(
            steps < enough,
            "stuck: {} lanes wait for ever; ports {:?}, {host:?}; {bus:?}",
            fibers.len(),
            (0..program.ports).map(|port| device.state(port)).collect::<Vec<_>>(),
        );
        device.clock.set(device.clock.get() + 1);
        if steps == program.close {
            // What has arrived is served, then the word is given; what comes in between is served as well.
            host.drain();
            bus.close(Status::SERVER_GONE.0);
        }
        let gone = program.close != 0 && steps > program.close + 300;
        match random.below(8) {
            0..=3 => {
                let which = random.below(fibers.len() as u32) as usize;
                if let CoroutineResult::Return(()) = fibers[which].resume(()) {
                    drop(fibers.swap_remove(which));
                }
            }
            4..=5 => bus.deliver(&random),
            6 if !gone => {
                let port = random.below(program.ports);
                if host.rang(port) {
                    host.look(port, random.below(4) == 0);
                }
            }
            6 => {}
            _ => host.answer(),
        }
    }

    // The kernel has ended: everything arrives, and the server drains.
    while !bus.is_quiet() {
        bus.deliver(&random);
    }
    host.drain();
    while !bus.is_quiet() {
        bus.deliver(&random);
    }
    assert_eq!(host.seen, *sent.borrow(), "messages that were sent, and those that came");
    for port in 0..program.ports {
        assert!(!device.state(port).locked(), "a lock that is not free");
        assert_eq!(device.state(port).tag(), host.ports[port as usize].tag(), "both sides count alike");
    }
}
