//! Programs that share a server are strangers: what one of them does, an honest one beside it does not notice.
//!
//! Each test counts: the honest program's calls that come back, and descriptors that are left when a program has gone.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hostcall::__private::{Definition, Geometry, PortBuffer};
use hostcall::test_utils::{MockDevice, MockWave, fixed_service, posted_service, var_definition, var_units};
use hostcall::{Access, Awake, CallError, Limits, Server, ServerBuilder, Service, Sink, Status};
use hostcall_abi::codec::{Fixed, VarHead};
use hostcall_abi::services::{errno, open};
use hostcall_abi::std_services::event;
use hostcall_abi::{Flags, ReplyHead, Tag};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[path = "../common/mod.rs"]
mod common;
mod turns;

use common::eventually;

/// Descriptors and their limit are the process's: one test after another, each of which leaves as many as it found.
struct Alone {
    before: usize,
    _guard: MutexGuard<'static, ()>,
}

fn alone() -> Alone {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Alone { before: descriptors(), _guard: guard }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Threads of the pool are not waited for, and may be the last to let go of what a server has open.
            eventually("what the test had open is closed", || descriptors() <= self.before);
        }
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A limit of the process's descriptors, until it is dropped.
struct Limited(Rlimit);

impl Limited {
    fn to(most: usize) -> Self {
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(most as u64), ..before }).unwrap();
        Self(before)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.0).unwrap();
    }
}

/// A server with a directory to read, of which `/f` is a file.
struct World {
    _host: tempfile::TempDir,
    server: Server,
    _awake: Awake,
}

impl World {
    fn new(refine: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("f"), "SECRET").unwrap();
        let builder = Server::without_device().dir(host.path(), "/", Access::ReadWrite).unwrap();
        let server = refine(builder.net_allow("127.0.0.1:*".parse().unwrap()).stdout(Sink::Null)).start().unwrap();
        let awake = server.keep_awake();
        Self { _host: host, server, _awake: awake }
    }

    fn program(&self, ports: u32) -> Program<'_> {
        let geometry = Geometry { slots: 4, slot_bytes: 1 << 16, ..Geometry::new(ports, 32) };
        let device = MockDevice::new(self.server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        Program { world: self, device }
    }
}

/// A program that one thread plays.
struct Program<'a> {
    world: &'a World,
    device: MockDevice,
}

/// Arguments as a stub encodes them.
#[derive(Clone, Default)]
struct Args {
    units: Vec<u32>,
    bytes: Vec<u8>,
    var: bool,
}

impl Args {
    fn with<T: Fixed>(mut self, value: T) -> Self {
        let at = self.units.len();
        self.units.resize(at + T::DWORDS, 0);
        value.put(&mut self.units[at..]);
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.var = true;
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.with(bytes.len() as u32)
    }

    fn room(mut self, bytes: usize) -> Self {
        self.var = true;
        self.with(bytes as u32)
    }

    fn inline(&self) -> Vec<u32> {
        if self.var { var_units(VarHead::INLINE, &self.units, &self.bytes) } else { self.units.clone() }
    }
}

fn args() -> Args {
    Args::default()
}

impl Program<'_> {
    fn number(&self, service: &str) -> u16 {
        self.world.server.service_handle(service).unwrap().number()
    }

    /// A wave that calls through the last port, and leaves the others to whoever writes to them.
    fn wave(&self) -> MockWave {
        self.device.wave(0).at_port(self.device.memory().geometry().ports - 1)
    }

    /// One lane calls.
    fn call<R: Fixed>(&self, service: &str, args: &Args) -> Result<R, CallError> {
        let reply = self.wave().call(self.number(service), &args.inline())?;
        Ok(R::get(&reply[..R::DWORDS]).unwrap())
    }

    /// All lanes of a wave call through one port, and nobody waits for them.
    fn call_without_waiting(&self, port: u32, service: &str, args: &Args) {
        self.send(port, service, Flags::REPLY, &args.inline());
    }

    /// The same, with the arguments' bytes in a slot of the staging area.
    fn call_staged(&self, port: u32, service: &str, args: &Args) {
        let at = (port as usize % 4) << 16;
        self.device.wave(0).stage(at, &args.bytes);
        let mut units = vec![(at / 16) as u32, args.bytes.len() as u32];
        units.extend(&args.units);
        let (raw, tag) = (self.device.raw(), Tag::new(1));
        // One lane: the lanes' regions must not overlap.
        raw.send(port, 0, tag, self.number(service), Flags::REPLY.and(Flags::STAGED), 1, &units);
        raw.ring(port, u32::from(tag.payload()));
    }

    fn send(&self, port: u32, service: &str, flags: Flags, units: &[u32]) {
        self.send_next(port, 1, service, flags, 0xffff_ffff, units);
    }

    /// The `nth` message of a port, at the beginning of its area: the one before is answered, or was a call.
    fn send_next(&self, port: u32, nth: u16, service: &str, flags: Flags, mask: u64, units: &[u32]) {
        let (raw, tag) = (self.device.raw(), Tag::new(nth));
        raw.send(port, 0, tag, self.number(service), flags, mask, units);
        raw.ring(port, u32::from(tag.payload()));
    }

    fn is_answered(&self, port: u32) -> bool {
        self.device.raw().answered(port, Tag::new(1))
    }

    /// How the call of a port ended for its first lane.
    fn status(&self, port: u32) -> Status {
        ReplyHead::decode(self.device.raw().load(port, 0).0[0]).status
    }

    /// The kernel of this program ends, as it says itself.
    fn exit(&self) {
        assert_eq!(self.call::<()>("Process__exit", &args().with(3i32)), Ok(()));
    }

    /// Where one thread serves: it has looked at all that was there before.
    fn sweep(&self) {
        for x in 0..2 {
            assert_eq!(self.call::<u32>("quick", &args().with(x)), Ok(x));
        }
    }

    fn made(&self, what: &str) -> Result<u64, u32> {
        self.call::<Result<u64, u32>>(what, &args()).unwrap()
    }

    fn open(&self) -> Result<u64, u32> {
        self.call::<Result<u64, u32>>("Files__open", &args().bytes(b"/f").with(open::READ)).unwrap()
    }

    fn read(&self, handle: u64) -> Result<Vec<u8>, u32> {
        let reply = self.wave().call(self.number("Files__read_at"), &args().with(handle).with(0u64).room(8).inline()).unwrap();
        let read = Result::<u32, u32>::get(&reply[..Result::<u32, u32>::DWORDS]).unwrap()?;
        let bytes: Vec<u8> = reply[Result::<u32, u32>::DWORDS + 1..].iter().flat_map(|unit| unit.to_ne_bytes()).collect();
        Ok(bytes[..read as usize].to_vec())
    }

    /// A socket for datagrams, and where it is.
    fn socket(&self) -> (u64, u16) {
        let socket = self.call::<Result<u64, u32>>("StdNet__socket", &args().with(4u32).with(2u32)).unwrap().unwrap();
        let anywhere = [4, 0, u32::from_ne_bytes([127, 0, 0, 1]), 0, 0, 0, 0, 0u32];
        self.call::<Result<(), u32>>("StdNet__bind", &args().with(socket).with(anywhere)).unwrap().unwrap();
        let own = self.call::<Result<[u32; 8], u32>>("StdNet__name", &args().with(socket).with(false)).unwrap().unwrap();
        (socket, own[1] as u16)
    }

    fn remove(&self) {
        self.world.server.remove_buffer(self.device.buffer()).expect("not within a handler");
    }
}

/// Says something to a socket of a program.
fn tell(port: u16) {
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"x", ("127.0.0.1", port)).unwrap();
}

/// A gate that handlers wait at, and how many have come.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    come: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        // Pairs with the load in `come`.
        self.come.fetch_add(1, Ordering::Relaxed);
        drop(self.opened.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
    }

    fn come(&self) -> usize {
        self.come.load(Ordering::Relaxed)
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// A service whose handlers stay at the gate.
fn held(gate: &Arc<Gate>) -> Service {
    let at_gate = gate.clone();
    fixed_service("held", move |x: u32| {
        at_gate.pass();
        x
    })
}

#[test]
fn ten_thousand_programs_that_go_while_they_open_files_leave_no_descriptor_and_no_later_one_reads_theirs() {
    let _alone = alone();
    let world = World::new(|builder| builder);
    let honest = world.program(4);
    let own = honest.open().unwrap();
    assert_eq!(honest.read(own).unwrap(), b"SECRET");
    let before = descriptors();
    let opens = args().bytes(b"/f").with(open::READ);
    for round in 0..10_000 {
        let guest = world.program(2);
        // 32 lanes open, and their program goes while they do.
        guest.call_without_waiting(round % 2, "Files__open", &opens);
        if round % 3 == 0 {
            std::thread::yield_now();
        }
        guest.remove();
        if round % 100 == 0 {
            assert_eq!(honest.read(own).unwrap(), b"SECRET");
            let later = world.program(2);
            for handle in (0..64u64).flat_map(|index| (1..4u64).map(move |generation| generation << 32 | index)) {
                assert_eq!(later.read(handle), Err(errno::EBADF), "round {round}, {handle:#x}");
            }
            later.remove();
        }
    }
    eventually("what came late is closed", || descriptors() <= before);
    assert_eq!(honest.read(own).unwrap(), b"SECRET");
}

#[test]
fn a_program_that_waits_for_more_than_the_process_may_have_ends_no_other_programs_wait() {
    let _alone = alone();
    let world = World::new(|builder| builder);
    let (honest, hostile) = (world.program(4), world.program(16));
    let (own, port) = honest.socket();
    let (theirs, _) = hostile.socket();
    let _limited = Limited::to(256);
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| honest.call::<Result<(), u32>>("StdNet__wait", &args().with(own).with(event::IN)));
        let handles: Vec<u8> = [theirs, u64::from(event::IN)].into_iter().cycle().take(2048).flat_map(u64::to_ne_bytes).collect();
        for port in 0..4 {
            hostile.call_staged(port, "StdNet__poll_any", &args().bytes(&handles).with(-1i64));
        }
        // Others of theirs that wait as well, and are told each on its own.
        let alarm = hostile.made("StdWatch__alarm").unwrap();
        for (handle, happens) in [(alarm, 0), (77 << 32, event::INVALID)] {
            let asked: Vec<u8> = [handle, u64::from(event::IN)].into_iter().flat_map(u64::to_ne_bytes).collect();
            let found = hostile.call::<Result<[u32; 8], u32>>("StdNet__poll", &args().bytes(&asked).with(1_000_000i64));
            assert_eq!(found.unwrap().unwrap()[0], happens);
        }
        assert!(!wait.is_finished() && (0..4).all(|port| !hostile.is_answered(port)), "all of them wait");
        tell(port);
        assert_eq!(wait.join().unwrap(), Ok(Ok(())));
    });
    hostile.remove();
    eventually("they end with their program", || (0..4).all(|port| hostile.is_answered(port)));
    assert_eq!(honest.open().map(|_| ()), Ok(()));
}

/// Descriptors that are registered with all `epoll`s of this process.
fn registrations() -> usize {
    let infos = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    infos.filter_map(|info| std::fs::read_to_string(info.path()).ok()).map(|info| info.matches("tfd:").count()).sum()
}

#[test]
fn a_thousand_lanes_wait_for_one_handle_by_one_registration_and_all_are_told() {
    let _alone = alone();
    let world = World::new(|builder| builder);
    let program = world.program(33);
    let (socket, port) = program.socket();
    let _limited = Limited::to(256);
    let before = registrations();
    for port in 0..32 {
        program.call_without_waiting(port, "StdNet__wait", &args().with(socket).with(event::IN));
    }
    // The bell of the thread, the program's own set, and the socket.
    eventually("they wait", || registrations() == before + 3);
    assert!((0..32).all(|port| !program.is_answered(port)));
    tell(port);
    eventually("all are told", || (0..32).all(|port| program.is_answered(port)));
    eventually("nothing is left of their waiting", || registrations() == before + 2);
}

#[test]
fn waits_beyond_a_programs_cap_are_refused_and_another_programs_are_not() {
    let _alone = alone();
    let world = World::new(|builder| builder.limits(Limits::default().waits(40)));
    let (hostile, honest) = (world.program(8), world.program(4));
    let (theirs, _) = hostile.socket();
    hostile.call_without_waiting(0, "StdNet__wait", &args().with(theirs).with(event::IN));
    let own = honest.made("StdWatch__alarm").unwrap();
    let asked = |handle: u64| args().bytes(&[handle, u64::from(event::IN)].map(u64::to_ne_bytes).concat()).with(20_000_000i64);
    // 32 of them wait, and 8 more may.
    let many: Vec<u8> = [theirs, u64::from(event::IN)].into_iter().cycle().take(18).flat_map(u64::to_ne_bytes).collect();
    let enobufs = rustix::io::Errno::NOBUFS.raw_os_error().cast_unsigned();
    eventually("the cap is reached", || {
        hostile.call::<Result<u32, u32>>("StdNet__poll_any", &args().bytes(&many).with(20_000_000i64)) == Ok(Err(enobufs))
    });
    assert_eq!(hostile.call::<Result<u32, u32>>("StdNet__poll_any", &asked(theirs)), Ok(Ok(0)), "one more may wait");
    assert_eq!(honest.call::<Result<u32, u32>>("StdNet__poll_any", &asked(own)), Ok(Ok(0)));
    hostile.remove();
    eventually("they end with their program", || hostile.is_answered(0));
}

#[test]
fn a_program_whose_handlers_hold_all_threads_it_may_have_keeps_no_other_programs_calls_waiting() {
    let gate = Arc::new(Gate::default());
    let world = World::new(|builder| builder.blocking_threads(4).service(held(&gate).blocking()));
    let hostile = [world.program(64), world.program(64), world.program(64)];
    let honest = world.program(16);
    for (program, port) in hostile.iter().flat_map(|program| (0..64).map(move |port| (program, port))) {
        program.call_without_waiting(port, "held", &args().with(port));
    }
    // There is room for eight. Alone one of them would have four; as they come, two each, or four, two and one.
    eventually("they hold what they can", || gate.come() >= 6);
    // An open, what the file holds, and what its file system does at its leisure: all of it where handlers may block.
    for _ in 0..200 {
        let own = honest.open().unwrap();
        assert_eq!(honest.read(own).unwrap(), b"SECRET");
        assert_eq!(honest.call::<Result<(), u32>>("Files__sync", &args().with(own)), Ok(Ok(())));
        let close = honest.wave().post(honest.number("Files__close"), Flags::default(), &args().with(own).inline());
        assert_eq!(close, Ok(()));
    }
    let resolved = honest.call::<Result<u32, u32>>("StdNet__resolve", &args().bytes(b"localhost").room(40)).unwrap();
    assert!(matches!(resolved, Err(errno::EACCES) | Ok(_)), "a name that is not granted: {resolved:?}");
    // What had not begun ends with its program, and is never run.
    hostile.iter().for_each(Program::remove);
    let answered = |program: &Program<'_>| (0..64).filter(|&port| program.is_answered(port)).count();
    eventually("queued calls end", || hostile.iter().map(answered).sum::<usize>() >= 3 * 64 - 7);
    gate.open();
    eventually("the others, too", || hostile.iter().map(answered).sum::<usize>() == 3 * 64);
    assert!(gate.come() <= 7, "{} of {} calls were begun", gate.come(), 3 * 64 * 32);
}

#[test]
fn a_program_has_as_many_descriptors_as_it_may_have_whatever_they_are_and_another_one_has_its_own() {
    let _alone = alone();
    let world = World::new(|builder| builder.limits(Limits::default().open_files(100)));
    let (hostile, honest) = (world.program(4), world.program(4));
    let before = descriptors();
    let kinds = ["StdWatch__alarm", "StdWatch__set"];
    let made = (0..).map(|i| hostile.made(kinds[i % 2])).take_while(Result::is_ok).count();
    assert_eq!((made, descriptors() - before), (100, 100));
    assert_eq!([hostile.open(), hostile.made("StdFiles__watcher")], [Err(errno::EMFILE); 2]);
    let open_dir = |program: &Program<'_>| program.call::<Result<u64, u32>>("Files__open_dir", &args().bytes(b"/")).unwrap();
    assert!(open_dir(&honest).is_ok() && open_dir(&hostile) == Err(errno::EMFILE));
    hostile.remove();
    eventually("its descriptors are closed", || descriptors() <= before + 1);

    // A directory whose entries are read is two.
    let lister = world.program(4);
    let before = descriptors();
    let mut listed = 0;
    while let Ok(handle) = open_dir(&lister) {
        let entry = lister.call::<Result<Option<(u32, u32)>, u32>>("Files__next_entry", &args().with(handle).room(64)).unwrap();
        assert!(entry.is_ok());
        listed += 1;
    }
    assert_eq!((listed, descriptors() - before), (50, 100));
    lister.remove();
    eventually("its descriptors are closed", || descriptors() <= before);
}

#[test]
fn programs_that_open_all_they_can_leave_descriptors_to_the_host_and_to_those_who_come_later() {
    let _alone = alone();
    let world = World::new(|builder| builder);
    let hostile = [world.program(4), world.program(4), world.program(4)];
    let before = descriptors();
    let most = before + 400;
    let limited = Limited::to(most);
    for program in &hostile {
        assert!((0..).map(|_| program.made("StdWatch__alarm")).take_while(Result::is_ok).count() > 10);
    }
    let honest = world.program(4);
    for _ in 0..10 {
        let own = honest.open().unwrap();
        assert_eq!(honest.read(own).unwrap(), b"SECRET");
    }
    // What is left to the host is a quarter of all there is.
    let own: Vec<_> = (0..most / 4).map(|_| std::fs::File::open("/dev/null")).collect();
    assert!(own.iter().all(Result::is_ok));
    drop((own, limited));
    hostile.iter().chain([&honest]).for_each(Program::remove);
    eventually("their descriptors are closed", || descriptors() <= before);
}

#[test]
fn watchers_of_files_are_counted_for_each_program() {
    let _alone = alone();
    let world = World::new(|builder| builder.limits(Limits::default().watchers(3)));
    let (hostile, honest) = (world.program(4), world.program(4));
    let before = descriptors();
    let made = (0..).map(|_| hostile.made("StdFiles__watcher")).take_while(Result::is_ok).count();
    assert_eq!((made, hostile.made("StdFiles__watcher")), (3, Err(errno::EMFILE)));
    assert!(honest.made("StdFiles__watcher").is_ok() && hostile.open().is_ok());
    hostile.remove();
    eventually("its descriptors are closed", || descriptors() <= before + 1);
}
