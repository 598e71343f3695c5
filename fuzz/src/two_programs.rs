//! Two programs of one server: one does what the input says, the other one is honest.
//!
//! The server is a whole one: its threads serve, its blocking pool and its reactor have threads of their own. The input
//! is a list of commands of the hostile program: store any word, ring any bell, send a message that is almost right to
//! any of some services, make a call that is right (among them those whose handlers never return, posts that are kept,
//! and waits without an end), leave in the midst of all that and come back. What must hold, whatever the input is:
//!
//! * *Progress*: every call of the honest program is answered: inline ones, those that may block, and those that wait.
//! * *Results*: they are the right ones. Its file holds what it held.
//! * *Ends*: the hostile program is taken off, and so is the server, whatever is open there.
//! * *Descriptors*: when the hostile program has gone, there are as many as before it came.
//!
//! No oracle depends on a schedule. A limit ends an input that would hang.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{MockDevice, RawPorts, var_units};
use hostcall::{Access, Awake, Limits, Server, Service, Sink, Status};
use hostcall_abi::codec::{Fixed, VarHead};
use hostcall_abi::services::open;
use hostcall_abi::std_services::event;
use hostcall_abi::word::unpack;
use hostcall_abi::{Flags, Header, ReplyHead, Tag, Word};

use crate::Input;

/// What the file holds that the honest program reads.
const HELD: &[u8] = b"SECRET";
/// Ports of the hostile program.
const PORTS: u32 = 6;
/// How often it leaves and comes back: what it has posted makes each time last.
const LEAVES: u32 = 3;
/// Commands between two rounds of honest calls, at most.
const PATIENCE: u32 = 12;

/// What is taken away, for the tests of this target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// Nothing.
    Nothing,
    /// The border between the two: the honest one calls as a part of the hostile program.
    Border,
    /// The end of the hostile program: nobody takes it off.
    End,
}

impl Without {
    /// After which time a call or an end is called a hang.
    fn limit(self) -> Duration {
        Duration::from_secs(if self == Self::Nothing { 60 } else { 3 })
    }
}

/// Services of a test.
#[hostcall::service]
pub trait Inline {
    /// Answered at once.
    fn double(a: u32) -> u32;
}

/// Services whose handlers may block.
#[hostcall::service]
pub trait Blocking {
    /// Returns.
    fn negated(a: u32) -> u32;
    /// Returns when the input is over.
    fn stuck(a: u32) -> u32;
    /// The same, and nobody waits for it.
    fn kept(a: u32, bytes: &[u8]);
}

struct Honest;

impl Inline for Honest {
    fn double(&self, a: u32) -> u32 {
        a.wrapping_mul(2)
    }
}

/// Handlers wait here until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn pass(&self) {
        let (open, opened) = &*self.0;
        let open = open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(opened.wait_while(open, |open| !*open));
    }
}

impl Drop for Opens {
    fn drop(&mut self) {
        let (open, opened) = &*self.0.0;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        opened.notify_all();
    }
}

/// Opens the gate when the input is over, or has failed.
struct Opens(Gate);

impl Blocking for Gate {
    fn negated(&self, a: u32) -> u32 {
        !a
    }
    fn stuck(&self, a: u32) -> u32 {
        self.pass();
        a
    }
    fn kept(&self, _: u32, _: &[u8]) {
        self.pass();
    }
}

/// Services that the hostile program calls: all that keep something for a program, or wait. (None that would fill the
/// disk of whoever runs this.)
const CALLED: [&str; 30] = [
    "Inline__double",
    "Blocking__negated",
    "Blocking__stuck",
    "Blocking__kept",
    "Files__open",
    "Files__open_dir",
    "Files__next_entry",
    "Files__read_at",
    "Files__close",
    "Files__sync",
    "StdFiles__open",
    "StdFiles__list",
    "StdFiles__stat_path",
    "StdFiles__stat",
    "StdFiles__lock",
    "StdFiles__watcher",
    "StdNet__socket",
    "StdNet__bind",
    "StdNet__name",
    "StdNet__wait",
    "StdNet__poll",
    "StdNet__poll_any",
    "StdNet__poll_now",
    "StdWatch__alarm",
    "StdWatch__set",
    "StdWatch__change",
    "StdWatch__wait",
    "StdWatch__ring",
    "Process__exit",
    "Process__failed",
];

/// Units of arguments.
fn units<T: Fixed>(value: T) -> Vec<u32> {
    let mut units = vec![0; T::DWORDS];
    value.put(&mut units);
    units
}

/// A program: its ports, and the last message of each.
struct Program {
    device: MockDevice,
    raw: RawPorts,
    last: Vec<Tag>,
    geometry: Geometry,
}

impl Program {
    fn new(server: &Server, ports: u32) -> Self {
        let geometry = Geometry { slots: 4, slot_bytes: 1 << 12, ..Geometry::new(ports, 32) };
        let buffer = PortBuffer::in_process(geometry).expect("a good geometry");
        let device = MockDevice::new(server.add_buffer(buffer));
        let raw = device.raw();
        Self { raw, device, last: vec![Tag::new(0); ports as usize], geometry }
    }

    /// Sends a message behind the last one that was answered, if it has room.
    fn send(&mut self, port: u32, service: u16, flags: Flags, mask: u64, units: &[u32]) {
        let (lanes, tag) = (mask.count_ones(), self.last[port as usize].next());
        if lanes > 0 && lanes * Header::words_for(units.len() as u32, lanes) < self.geometry.request_words {
            self.raw.send(port, 0, tag, service, flags, mask, units);
            self.raw.ring(port, u32::from(tag.payload()));
        }
    }

    /// Whether the next message is answered or acknowledged; then another one is next.
    fn is_answered(&mut self, port: u32) -> bool {
        let tag = self.last[port as usize].next();
        let answered = self.raw.answered(port, tag);
        if answered {
            self.last[port as usize] = tag;
        }
        answered
    }

    /// Unit `i` of the reply to a message of one lane.
    fn reply(&self, port: u32, i: u32) -> u32 {
        unpack(i, |j| self.raw.load(port, ReplyHead::place(1, 0, j, self.geometry.lone_stride())))
    }
}

/// The honest program: which calls through one port.
struct Calls<'a> {
    server: &'a Server,
    program: &'a mut Program,
    port: u32,
    limit: Duration,
}

impl Calls<'_> {
    fn number(&self, service: &str) -> u16 {
        self.server.service_handle(service).expect("a service").number()
    }

    fn send(&mut self, service: &str, flags: Flags, units: &[u32]) {
        let (number, port, since) = (self.number(service), self.port, Instant::now());
        self.program.send(port, number, flags, 1, units);
        while !self.program.is_answered(port) {
            assert!(since.elapsed() < self.limit, "a call of {service} by the honest program is not answered");
            std::thread::yield_now();
        }
    }

    /// A call's result, and the units behind it.
    fn call<R: Fixed>(&mut self, service: &str, units: &[u32]) -> (R, Vec<u32>) {
        self.send(service, Flags::REPLY, units);
        let head = ReplyHead::decode(self.program.raw.load(self.port, 0).0[0]);
        assert_eq!(head.status, Status::OK, "a call of {service} by the honest program fails");
        let reply: Vec<u32> = (1..=u32::from(head.dwords)).map(|i| self.program.reply(self.port, i)).collect();
        (R::get(&reply).expect("a result of the service's type"), reply[R::DWORDS..].to_vec())
    }

    /// Of everything that there is one.
    fn round(&mut self, x: u32, alarm: u64) {
        assert_eq!(self.call::<u32>("Inline__double", &[x]).0, x.wrapping_mul(2));
        assert_eq!(self.call::<u32>("Blocking__negated", &[x]).0, !x);
        let path = var_units(VarHead::INLINE, &[2, open::READ], b"/f");
        let file = self.call::<Result<u64, u32>>("Files__open", &path).0.expect("the honest program opens its file");
        let asked = [units(file), units(0u64), vec![16]].concat();
        let (read, bytes) = self.call::<Result<u32, u32>>("Files__read_at", &var_units(VarHead::INLINE, &asked, b""));
        let bytes: Vec<u8> = bytes[1..].iter().flat_map(|unit| unit.to_ne_bytes()).collect();
        assert_eq!((read, &bytes[..HELD.len()]), (Ok(HELD.len() as u32), HELD), "what the honest program reads");
        self.send("Files__close", Flags::default(), &units(file));
        // Nobody rings, so this is answered by the thread on which calls wait.
        assert_eq!(self.call::<Result<u32, u32>>("StdNet__poll_any", &polled(alarm, 100_000)).0, Ok(0));
    }
}

/// Arguments of a wait for one handle.
fn polled(handle: u64, nanos: i64) -> Vec<u32> {
    let handles = [handle, u64::from(event::IN)].map(u64::to_ne_bytes).concat();
    var_units(VarHead::INLINE, &[vec![16], units(nanos)].concat(), &handles)
}

/// A call that is right, with what a program may well do. The handles are those that it probably has.
fn right(which: u8, x: u32) -> (&'static str, Flags, Vec<u32>) {
    let handle = u64::from(x & 7) | 1 << 32;
    let (name, units) = match which % 14 {
        0 => ("Blocking__stuck", vec![x]),
        1 => return ("Blocking__kept", Flags::default(), var_units(VarHead::INLINE, &[x, 8], b"01234567")),
        2 => ("Files__open", var_units(VarHead::INLINE, &[2, open::READ], b"/f")),
        3 => ("Files__open_dir", var_units(VarHead::INLINE, &[1], b"/")),
        4 => ("StdWatch__alarm", vec![]),
        5 => ("StdWatch__set", vec![]),
        6 => ("StdFiles__watcher", vec![]),
        7 => ("StdNet__socket", vec![4, 2]),
        8 => ("StdNet__poll_any", polled(handle, -1)),
        9 => ("StdNet__wait", [units(handle), vec![event::IN]].concat()),
        10 => ("StdFiles__lock", [units(handle), vec![x >> 3 & 7]].concat()),
        11 => ("StdWatch__change", [units(handle), vec![1], units(handle + 1), vec![event::IN], units(7u64)].concat()),
        12 => ("Inline__double", vec![x]),
        _ => ("Process__exit", vec![x & 1]),
    };
    (name, Flags::REPLY, units)
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Descriptors are the process's: one input after another.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what must come to an end.
fn ends<T: Send + 'static>(what: &str, limit: Duration, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || _ = tell.send(run()));
    match told.recv_timeout(limit) {
        Ok(value) => {
            let _ = thread.join();
            value
        }
        Err(RecvTimeoutError::Timeout) => panic!("it does not end: {what}"),
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().expect_err("it has told nothing")),
    }
}

/// The server, and the program that does what the input says.
struct World {
    server: Arc<Server>,
    hostile: Program,
    leaves: u32,
    without: Without,
}

impl World {
    /// The hostile program is taken off, whatever it does just now.
    fn leave(&mut self) {
        let (server, device) = (self.server.clone(), self.hostile.device.clone());
        let removal = move || server.remove_buffer(device.buffer());
        ends("the hostile program is taken off", self.without.limit(), removal).expect("not within a handler");
    }

    fn command(&mut self, input: &mut Input<'_>) {
        let command = input.byte();
        let port = u32::from(command >> 4) % PORTS;
        let tag = self.hostile.last[port as usize].next();
        match command & 15 {
            0 | 1 => {
                let index = u32::from(input.byte()) % self.hostile.geometry.request_words;
                let raw = match input.byte() % 4 {
                    0 => tag.header(),
                    1 | 2 => tag.payload(),
                    _ => input.word() as u16,
                };
                self.hostile.raw.store(port, index, Word::new([input.word(), input.word(), input.word(), input.word()], raw));
            }
            2 => self.hostile.raw.ring(port, if input.byte() & 1 == 0 { u32::from(tag.payload()) } else { input.word() }),
            3 => {
                let at = usize::from(input.byte()) * 16;
                let len = usize::from(input.byte());
                self.hostile.device.wave(0).stage(at, input.bytes(len));
            }
            4..=6 => {
                let service = match usize::from(input.byte()) {
                    which if which < 250 => self.number(CALLED[which % CALLED.len()]),
                    nobody => 60_000 + nobody as u16,
                };
                let (flags, mask, count) = (Flags(input.byte() & 3), u64::from(input.word()), input.byte() % 24);
                let units: Vec<u32> = (0..count).map(|_| input.word()).collect();
                self.hostile.send(port, service, flags, mask, &units);
            }
            7..=12 => {
                let (which, x) = (input.byte(), u32::from(input.byte()));
                // All lanes of a wave, or one, and as often as it is answered at once.
                let mask = if x & 128 == 0 { 0xffff_ffff } else { 1 };
                let (name, flags, units) = right(which, x);
                let number = self.number(name);
                for _ in 0..=x >> 4 & 7 {
                    self.hostile.send(port, number, flags, mask, &units);
                    if !(0..100).any(|_| self.answered_soon(port)) {
                        break;
                    }
                }
            }
            13 if self.leaves < LEAVES => {
                self.leaves += 1;
                self.leave();
                self.hostile = Program::new(&self.server, PORTS);
            }
            _ => {}
        }
        self.hostile.is_answered(port);
    }

    fn answered_soon(&mut self, port: u32) -> bool {
        std::thread::yield_now();
        self.hostile.is_answered(port)
    }

    fn number(&self, name: &str) -> u16 {
        self.server.service_handle(name).expect("a service").number()
    }
}

/// Plays one input.
pub fn run(data: &[u8]) {
    play(data, Without::Nothing);
}

/// Plays one input, where something is missing.
pub fn play(data: &[u8], without: Without) {
    let _alone = alone();
    let host = tempfile::tempdir().expect("a directory");
    std::fs::write(host.path().join("f"), HELD).expect("a file");
    let gate = Gate::default();
    let opens = Opens(gate.clone());
    let server = Server::without_device().dir(host.path(), "/", Access::ReadWrite).expect("a directory to grant");
    let server = server.net_allow("127.0.0.1:*".parse().expect("a range")).stdout(Sink::Null).stderr(Sink::Null);
    let server = server.threads(2).blocking_threads(2).limits(Limits::default().open_files(64).waits(400).watchers(2));
    let server = server.services(inline::all(Honest)).services(blocking::all(gate).into_iter().map(Service::blocking));
    let server = Arc::new(server.start().expect("a server"));
    let awake: Awake = server.keep_awake();
    let mut honest = Program::new(&server, 1);
    let limit = without.limit();
    let alarm = |program: &mut Program, port| {
        let mut calls = Calls { server: &server, program, port, limit };
        let alarm = calls.call::<Result<u64, u32>>("StdWatch__alarm", &[]).0.expect("an alarm");
        // What waits need is opened by the first wait that is not over before it begins.
        let (idle, mut nanos) = (descriptors(), 1_000_000);
        while descriptors() == idle {
            assert!(nanos < 60_000_000_000, "no call waits");
            assert_eq!(calls.call::<Result<u32, u32>>("StdNet__poll_any", &polled(alarm, nanos)).0, Ok(0));
            nanos *= 2;
        }
        calls.round(0, alarm);
        alarm
    };
    let own = alarm(&mut honest, 0);
    let before = descriptors();
    let mut world = World { hostile: Program::new(&server, PORTS + 1), server: server.clone(), leaves: 0, without };
    // Where there is no border the honest calls go through a port that nobody else touches, and that is all that they
    // have of their own.
    let lodger = (without == Without::Border).then(|| alarm(&mut world.hostile, PORTS));
    let mut input = Input::new(data);
    let mut since = 0;
    let mut rounds = 0;
    let mut round = |world: &mut World| {
        rounds += 1;
        let (program, port, alarm) = match lodger {
            Some(alarm) => (&mut world.hostile, PORTS, alarm),
            None => (&mut honest, 0, own),
        };
        Calls { server: &server, program, port, limit }.round(rounds, alarm);
    };
    while !input.is_empty() {
        world.command(&mut input);
        since += 1;
        if since == PATIENCE {
            since = 0;
            round(&mut world);
        }
    }
    round(&mut world);
    if without != Without::End {
        world.leave();
    }
    if lodger.is_none() {
        round(&mut world);
    }
    let gone = Instant::now();
    while descriptors() > before {
        assert!(gone.elapsed() < limit, "{} descriptors are left of the hostile program", descriptors() - before);
        std::thread::yield_now();
    }
    // The server ends while handlers of it have not returned.
    drop((awake, world));
    // (Its report is of the hostile program.)
    let ended = ends("the server ends", limit, move || Arc::into_inner(server).map(Server::stop).is_some());
    assert!(ended, "somebody else has the server");
    drop(opens);
}
