//! A device that writes whatever it likes into its port buffer, whenever it likes.
//!
//! The input is a list of commands: store any word, ring any bell, fill the staging area, send a message that is almost
//! right, once or many times, let the server sweep. What must hold, whatever the input is:
//!
//! * *Work*: a sweep takes a bounded number of messages, and allocates a bounded number of bytes for them. A sweep that
//!   finds nothing new loads a few words of each port, whatever lies there.
//! * *Memory*: what the server keeps between sweeps does not grow with the number of messages. One service is posted to
//!   and blocks, and nothing ever runs its handler here, so whatever is queued for it stays. Another takes pieces of
//!   texts that need never end.
//! * *The definition decides*: a post to a service with a result, or a call of one without, is malformed and runs no
//!   handler.
//! * *Others are served*: an honest call on a port that nobody touched is answered.
//!
//! Each bound has an input among the seeds that shows what happens without it: [`play`] takes the bounds away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{RawPorts, Sweeper, pieces_service, words_loaded};
use hostcall::{Service, Status};
use hostcall_abi::word::unpack;
use hostcall_abi::{Flags, ReplyHead, Tag, Word};

use crate::{Honest, Input, SHAPES, measured, shapes};

const PORTS: u32 = 3;
/// The port of the honest client.
const HONEST: u32 = PORTS - 1;
/// Numbers of the services: [`Shapes`](crate::Shapes)' first, then one for honest calls, one for honest posts, the one
/// that blocks, and the one that takes pieces of texts.
const CALLED: u16 = SHAPES + 1;
const POSTED: u16 = SHAPES + 2;
const BLOCKING: u16 = SHAPES + 3;
const PIECES: u16 = BLOCKING + 1;
const SERVICES: u16 = PIECES;

/// Messages that a sweep takes from each port at most.
const MESSAGES_PER_SWEEP: u32 = 64;
/// Bytes that a sweep allocates at most: for each message a few times what it can carry, with a slot that is staged.
const BYTES_PER_SWEEP: usize = 32 << 20;
/// Bytes that the server keeps for queued posts, unfinished texts, reports and scratch, whatever comes.
const KEPT: isize = 4 << 20;
/// Words that a sweep loads of each port at which there is nothing new: a port is looked at three times at most, and
/// each look asks for the header at one of two places, and for one word of the message.
const IDLE_WORDS: u64 = 3 * 3;

/// What is taken away from the server, for the tests of this target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// Nothing.
    Nothing,
    /// The bound of posts that are queued.
    PostBounds,
    /// The memory of how much of a message has been found.
    WhatWasFound,
}

/// Notes that it ran.
#[hostcall::service]
pub trait Noting {
    /// A call.
    fn called(a: u32) -> u32;
    /// A post.
    fn posted(a: u32);
}

/// A post that is queued.
#[hostcall::service]
pub trait Queueing {
    /// Its handler blocks.
    fn queued(a: u32, bytes: &[u8]);
}

struct Notes(Arc<AtomicU32>);

impl Noting for Notes {
    fn called(&self, a: u32) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed);
        a + 1
    }
    fn posted(&self, _: u32) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Queue;

impl Queueing for Queue {
    fn queued(&self, _: u32, _: &[u8]) {
        unreachable!("there is no thread that runs it");
    }
}

/// The server, and what was seen of it.
struct Host {
    server: Sweeper,
    without: Without,
    kept_before: isize,
    /// Sweeps in a row that found nothing, with nothing written in between.
    idle: u32,
}

impl Host {
    fn sweep(&mut self, all: bool) {
        if self.without == Without::WhatWasFound {
            self.server.forget_what_was_found();
        }
        let (before, loaded) = (measured::taken(), words_loaded());
        let taken = if all { self.server.sweep_all() } else { self.server.sweep() };
        assert!(taken <= PORTS * MESSAGES_PER_SWEEP, "{taken} messages in one sweep");
        let allocated = measured::taken().wrapping_sub(before);
        assert!(allocated <= BYTES_PER_SWEEP, "{allocated} bytes for one sweep");
        let kept = measured::live() - self.kept_before;
        assert!(kept <= KEPT, "{kept} bytes are kept");
        self.idle = if taken == 0 { self.idle + 1 } else { 0 };
        // The first may find that a copy is not whole, and the second look at all of it.
        let loaded = words_loaded() - loaded;
        assert!(self.idle < 3 || loaded <= u64::from(PORTS) * IDLE_WORDS, "{loaded} words loaded where there is nothing new");
    }
}

/// Plays one input.
pub fn run(data: &[u8]) {
    play(data, Without::Nothing);
}

/// Plays one input, with a server that lacks something.
pub fn play(data: &[u8], without: Without) {
    let geometry = Geometry { slots: 2, slot_bytes: 4096, request_words: 48, reply_words: 64, ..Geometry::new(PORTS, 32) };
    let buffer = PortBuffer::in_process(geometry).expect("a good geometry");
    let ran = Arc::new(AtomicU32::new(0));
    let most = |bounded: usize| if without == Without::PostBounds { usize::MAX } else { bounded };
    let services = shapes::all(Honest)
        .into_iter()
        .chain(noting::all(Notes(ran.clone())))
        .chain(queueing::all(Queue).into_iter().map(Service::blocking))
        .chain([pieces_service(512, 64 << 10)]);
    let (messages, bytes) = (most(256) as u64, most(256 << 10) as u64);
    let server = Sweeper::bounded(buffer, services, messages, bytes).expect("each name once");
    let device = server.device();
    let (ports, wave) = (device.raw(), device.wave(0));
    let mut input = Input::new(data);
    let mut host = Host { server, without, kept_before: measured::live(), idle: 0 };
    // What an honest client's next message would carry.
    let mut next = [Tag::new(1); PORTS as usize];
    while !input.is_empty() {
        let command = input.byte();
        if !matches!(command & 15, 6 | 7) {
            host.idle = 0;
        }
        let port = u32::from(command >> 4) % HONEST;
        let tag = next[port as usize];
        match command & 15 {
            0 | 1 => {
                let index = u32::from(input.byte()) % geometry.request_words;
                let raw = match input.byte() % 4 {
                    0 => tag.header(),
                    1 | 2 => tag.payload(),
                    _ => input.word() as u16,
                };
                ports.store(port, index, Word::new([input.word(), input.word(), input.word(), input.word()], raw));
            }
            2 => ports.ring(port, if input.byte() & 1 == 0 { u32::from(tag.payload()) } else { input.word() }),
            3 => {
                let at = usize::from(input.byte()) * 16;
                let len = usize::from(input.byte());
                wave.stage(at, input.bytes(len));
            }
            4 | 5 => Almost::read(&mut input).send(&ports, port, tag, geometry.request_words),
            6 => host.sweep(false),
            7 => host.sweep(true),
            8..=10 => {
                // The same message as often as the server takes it, or one that counts.
                let mut almost = Almost::read(&mut input);
                let counts = command & 15 == 10;
                let counted = usize::from(input.byte()) % almost.units.len().max(1);
                for _ in 0..=input.byte() {
                    if let Some(unit) = almost.units.get_mut(counted).filter(|_| counts) {
                        *unit = unit.wrapping_add(1);
                    }
                    let tag = next[port as usize];
                    almost.send(&ports, port, tag, geometry.request_words);
                    host.sweep(false);
                    if !ports.answered(port, tag) {
                        break;
                    }
                    next[port as usize] = tag.next();
                }
            }
            _ => {}
        }
        // The server answers with the tag it has consumed, whatever it made of the message.
        if ports.answered(port, tag) {
            next[port as usize] = tag.next();
        }
    }
    // However the input has left the buffer.
    for _ in 0..5 {
        host.sweep(true);
    }
    honest(&ports, &mut host, &ran);
}

/// The client of the port that nobody touched: what it does wrong is refused, and what it does right is done.
fn honest(ports: &RawPorts, host: &mut Host, ran: &AtomicU32) {
    // What the hostile device did wrong is in its report; it may also have called.
    host.server.take_report();
    let before = ran.load(Ordering::Relaxed);
    let mut tag = Tag::new(0);
    let mut message = |host: &mut Host, service: u16, flags: Flags| {
        tag = tag.next();
        ports.send(HONEST, 0, tag, service, flags, 1 << 7, &[41]);
        ports.ring(HONEST, u32::from(tag.payload()));
        host.sweep(true);
        assert!(ports.answered(HONEST, tag), "the server no longer serves");
        let word = ports.load(HONEST, 0);
        (ReplyHead::decode(word.0[0]), unpack(1, |_| word))
    };
    let (head, _) = message(host, POSTED, Flags::REPLY);
    assert_eq!(head.status, Status::MALFORMED, "a call of a service that is posted to");
    let (head, result) = message(host, CALLED, Flags::REPLY);
    assert_eq!((head.status, result), (Status::OK, 42));
    assert_eq!(ran.load(Ordering::Relaxed), before + 1, "one honest call, and no other, ran");
    assert_eq!(host.server.take_report().malformed, 1);
    // A post at last, as the ring goes on behind it.
    message(host, CALLED, Flags::default());
    assert_eq!(ran.load(Ordering::Relaxed), before + 1, "a post to a service with a result ran");
    assert_eq!(host.server.take_report().malformed, 1);
}

/// A message whose header the input makes.
struct Almost {
    service: u16,
    flags: Flags,
    mask: u64,
    units: Vec<u32>,
}

impl Almost {
    fn read(input: &mut Input<'_>) -> Self {
        let service = u16::from(input.byte()) % (SERVICES + 2);
        let flags = Flags(input.byte() & 3);
        let mask = u64::from(input.word());
        let count = usize::from(input.byte() % 24);
        Self { service, flags, mask, units: (0..count).map(|_| input.word()).collect() }
    }

    /// Sends it with the right tags, if it has room.
    fn send(&self, ports: &RawPorts, port: u32, tag: Tag, room: u32) {
        let lanes = self.mask.count_ones();
        if lanes > 0 && lanes * hostcall_abi::Header::words_for(self.units.len() as u32, lanes) < room {
            ports.send(port, 0, tag, self.service, self.flags, self.mask, &self.units);
            ports.ring(port, u32::from(tag.payload()));
        }
    }
}
