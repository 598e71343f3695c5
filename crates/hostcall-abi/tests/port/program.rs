//! Programs of messages, the scheduler that runs them, and what must come of them.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};
use hostcall_abi::geometry::WordForm;
use hostcall_abi::port::{Arch, Client, Group, Message, PayloadBuf, Polled, PortState, ServerPort, write_reply};
use hostcall_abi::{Flags, Geometry, ReplyHead, Status, Tag};

use crate::bus::{Bus, HostView};
use crate::lanes::{Device, Lane};

/// What a group of lanes does with a message.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Waits for the reply.
    Call,
    /// Does not ask for one.
    Post,
    /// Asks, and gives the port back without waiting.
    Drop,
    /// Waits so many steps.
    Timeout(u64),
    /// Takes a port only if one is free, and fetches the reply later.
    Start,
}

#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub kind: Kind,
    /// Bit per lane of [`LANES`].
    pub mask: u32,
    /// Words of payload.
    pub words: u32,
    /// Units of each lane's reply.
    pub reply: u32,
}

/// How the server is broken, for the tests that must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    AnyTag,
    LooksWhileServing,
    ScrubUnseen,
    DrainsByDoorbell,
    NoAck,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub waves: Vec<Vec<Op>>,
    pub ports: u32,
    pub request_words: u32,
    /// Sequence number of the last message before the first.
    pub first: u32,
    pub lanes: u32,
    pub form: WordForm,
    pub seed: u64,
    pub fault: Fault,
}

/// The lanes that programs use: neither dense nor a prefix. Waves of 64 lanes use them from 32 on.
const LANES: [u32; 5] = [1, 2, 13, 30, 31];

/// SplitMix64.
pub struct Random(Cell<u64>);

impl Random {
    pub fn below(&self, bound: u32) -> u32 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let z = self.0.get();
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }
}

/// Word `j` of the payload that `lane` of `wave` sends with operation `op`. Every word says whose it is.
fn payload(wave: usize, op: usize, lane: u32, j: u32) -> [u32; 3] {
    [wave as u32 | (op as u32) << 8 | lane << 16 | j << 24, lane.wrapping_mul(0x9e37_79b9) ^ j, !(op as u32)]
}

/// Unit `i` of the reply to message `tag` for `lane`.
fn unit(tag: Tag, lane: u32, i: u32) -> u32 {
    tag.seq().wrapping_mul(31) ^ lane << 24 ^ i
}

struct Serving {
    port: u32,
    message: Message,
    /// Ranks not yet answered, with the units of their replies.
    ranks: Vec<u32>,
    reply: u32,
}

/// Runs a program to its end.
///
/// # Panics
/// When anything is not as it should be.
pub fn run(program: &Program) {
    let geometry = Geometry {
        request_words: program.request_words,
        reply_words: program.lanes * 2,
        slots: 0,
        word_form: program.form,
        ..Geometry::new(program.ports, program.lanes)
    };
    let random = Random(Cell::new(program.seed));
    let last = Tag::new(program.first);
    let bus = Rc::new(Bus::new(geometry, last, &random));
    let device = Rc::new(Device::new(program.ports, PortState::new(last, 0, false)));
    let sent = Rc::new(RefCell::new(HashSet::new()));
    let room = move |op: &Op| (geometry.reply_words / ReplyHead::stride(op.mask.count_ones())) * 3 - 1;

    // The service's number says which operation it is, as its payload may be empty.
    let numbers: Rc<Vec<(usize, usize)>> =
        Rc::new(program.waves.iter().enumerate().flat_map(|(w, ops)| (0..ops.len()).map(move |o| (w, o))).collect());
    let mut fibers = Vec::new();
    for (w, ops) in program.waves.iter().enumerate() {
        for (bit, lane) in LANES.iter().enumerate() {
            let lane = lane + program.lanes - 32;
            let ops: Vec<_> = ops.iter().enumerate().filter(|(_, op)| op.mask >> bit & 1 == 1).map(|(o, op)| (o, *op)).collect();
            let (device, bus, sent, numbers) = (Rc::clone(&device), Rc::clone(&bus), Rc::clone(&sent), Rc::clone(&numbers));
            let shift = program.lanes - 32;
            fibers.push(Coroutine::new(move |fiber, ()| {
                let arch = Lane { device: &device, bus: &bus, fiber, wave: w as u32, lane };
                for (o, op) in ops {
                    let mask = LANES.iter().enumerate().filter(|(b, _)| op.mask >> b & 1 == 1).map(|(_, l)| 1u64 << (l + shift)).sum();
                    let service = numbers.iter().position(|&number| number == (w, o)).expect("listed") as u16 + 1;
                    let op = Op { reply: op.reply.min(room(&op)), ..op };
                    if message(arch, &Group::new(mask, lane), op, service, |j| payload(w, o, lane, j)) && Group::new(mask, lane).leads() {
                        sent.borrow_mut().insert((w, o));
                    }
                }
            }));
        }
    }

    let mut ports: Vec<_> = (0..program.ports).map(|_| ServerPort::new(last)).collect();
    let mut serving: Vec<Serving> = Vec::new();
    let mut seen = HashSet::new();
    let mut units = vec![0; PayloadBuf::units(&geometry)];
    let mut look = |port: u32, ports: &mut [ServerPort], serving: &mut Vec<Serving>| -> bool {
        let state = &mut ports[port as usize];
        let host = HostView { bus: &bus, fault: program.fault, wanted: state.tag().next() };
        let mut buf = PayloadBuf::new(&mut units);
        match state.poll(&host, &geometry, port, &mut buf) {
            Polled::Nothing => false,
            Polled::Malformed(malformed) => panic!("no client sends {malformed:?}"),
            Polled::Message(message) => {
                let (w, o) = numbers[message.header.service as usize - 1];
                let op = program.waves[w][o];
                assert!(seen.insert((w, o)), "a message that came twice");
                assert_eq!(message.lanes(), op.mask.count_ones());
                assert_eq!(u32::from(message.header.words), op.words);
                let lanes = (0..64).filter(|lane| message.header.mask >> lane & 1 == 1);
                for (rank, lane) in lanes.enumerate() {
                    for j in 0..op.words {
                        let at = rank * message.lane_dwords() + j as usize * 3;
                        assert_eq!(buf.payload()[at..at + 3], payload(w, o, lane, j), "another message's payload");
                    }
                }
                if message.header.flags.has(Flags::REPLY) {
                    serving.push(Serving { port, message, ranks: (0..message.lanes()).collect(), reply: op.reply.min(room(&op)) });
                } else if program.fault != Fault::NoAck {
                    write_reply(&host, &geometry, port, 0, 1, message.tag, Status::OK, &[]);
                }
                true
            }
        }
    };
    let answer = |serving: &mut Vec<Serving>| {
        if serving.is_empty() {
            return;
        }
        let which = random.below(serving.len() as u32) as usize;
        let one = &mut serving[which];
        let rank = one.ranks.swap_remove(random.below(one.ranks.len() as u32) as usize);
        let lane = (0..64).filter(|lane| one.message.header.mask >> lane & 1 == 1).nth(rank as usize).expect("a rank of the mask");
        let reply: Vec<u32> = (0..one.reply).map(|i| unit(one.message.tag, lane, i)).collect();
        let host = HostView { bus: &bus, fault: program.fault, wanted: one.message.tag };
        write_reply(&host, &geometry, one.port, rank, one.message.lanes(), one.message.tag, Status::OK, &reply);
        if one.ranks.is_empty() {
            serving.swap_remove(which);
        }
    };

    let mut steps = 0u32;
    while !fibers.is_empty() {
        steps += 1;
        assert!(
            steps < 400_000,
            "stuck: {} lanes wait for ever; ports {:?}, the host at {ports:?} with {} calls to answer; {bus:?}",
            fibers.len(),
            (0..program.ports).map(|port| device.state(port)).collect::<Vec<_>>(),
            serving.len(),
        );
        device.clock.set(device.clock.get() + 1);
        match random.below(8) {
            0..=3 => {
                let which = random.below(fibers.len() as u32) as usize;
                if let CoroutineResult::Return(()) = fibers[which].resume(()) {
                    drop(fibers.swap_remove(which));
                }
            }
            4..=5 => bus.deliver(&random),
            6 => {
                let port = random.below(program.ports);
                let busy = serving.iter().any(|one| one.port == port) && program.fault != Fault::LooksWhileServing;
                if !busy && bus.doorbell(port) != ports[port as usize].tag().payload() {
                    look(port, &mut ports, &mut serving);
                }
            }
            _ => answer(&mut serving),
        }
    }

    // The kernel has ended: everything arrives, and the server drains.
    loop {
        while !bus.is_quiet() {
            bus.deliver(&random);
        }
        while !serving.is_empty() {
            answer(&mut serving);
        }
        let by_doorbell = program.fault == Fault::DrainsByDoorbell;
        let more = (0..program.ports).any(|port| {
            (!by_doorbell || bus.doorbell(port) != ports[port as usize].tag().payload()) && look(port, &mut ports, &mut serving)
        });
        if !more && bus.is_quiet() && serving.is_empty() {
            break;
        }
    }
    assert_eq!(seen, *sent.borrow(), "messages that were sent, and those that came");
    for port in 0..program.ports {
        assert!(!device.state(port).locked(), "a lock that is not free");
        assert_eq!(device.state(port).tag(), ports[port as usize].tag(), "both sides count alike");
    }
}

/// One message of a group. Whether it was sent.
fn message(arch: Lane<'_>, group: &Group, op: Op, service: u16, payload: impl Fn(u32) -> [u32; 3]) -> bool {
    // A group is of lanes that have converged: all have come before one of them takes a port.
    arch.sync(group.mask);
    let client = Client(arch);
    let wait = !matches!(op.kind, Kind::Start);
    let Some(mut held) = client.acquire(group, wait) else {
        assert!(!wait && client.why_no_port() == Status::BUSY);
        return false;
    };
    let flags = if matches!(op.kind, Kind::Post) { Flags::default() } else { Flags::REPLY };
    let status = client.send(group, &mut held, service, flags, op.words, payload);
    assert_eq!(status, Status::OK);
    let deadline = match op.kind {
        Kind::Post | Kind::Drop => {
            client.release(group, held);
            return true;
        }
        Kind::Timeout(steps) => arch.device.clock.get() + steps,
        Kind::Call => 0,
        Kind::Start => {
            for _ in 0..3 {
                let _ = client.ready(group, &held);
            }
            0
        }
    };
    let reply = client.receive::<2>(group, &mut held, deadline);
    if reply.head.status != Status::OK {
        assert!(deadline != 0 && reply.head.status == Status::TIMEOUT);
        client.release(group, held);
        return true;
    }
    assert_eq!(u32::from(reply.head.dwords), op.reply);
    let words = ReplyHead::words(op.reply);
    let mut units = Vec::new();
    for index in 0..words {
        let word = if index < 2 { reply.words[index as usize] } else { client.reply_word(group, &held, index) };
        units.extend(word.data);
    }
    for i in 0..op.reply {
        assert_eq!(units[1 + i as usize], unit(held.tag(), arch.lane, i), "another lane's reply");
    }
    client.release(group, held);
    true
}
