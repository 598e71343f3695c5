//! Calls that wait hold no thread: for FIFOs, for one of many handles, for locks. A server with one serving thread
//! answers them.

use std::io::Write as _;
use std::time::{Duration, Instant};

use hostcall_abi::Flags;
use hostcall_abi::std_services::{event, open, option};
use rustix::fs::{FlockOperation, flock};

use super::*;
use crate::__private::{Geometry, PortBuffer};
use crate::builtin::standard::address::{NONE, to_wire};
use crate::test_utils::{MockDevice, MockWave};
use crate::{Awake, Server};

/// Long for a test, and short for whoever waits for it.
const SOON: i64 = 30_000_000;
/// Longer than any test takes, so that a wait that is not woken is seen.
const LONG: i64 = 100_000_000_000;

/// A server over one mock device, with a granted directory.
struct Served {
    host: tempfile::TempDir,
    builtins: Builtins,
    device: MockDevice,
    _awake: Awake,
    server: Server,
}

impl Served {
    fn new() -> Self {
        let host = tempfile::tempdir().unwrap();
        let mut policy = Policy::new();
        policy.dir(&DirGrant::new(host.path(), "/data", Access::ReadWrite).with_special_files()).unwrap();
        policy.net_allow("127.0.0.1:*".parse().unwrap());
        let builtins = Builtins::new(policy, Console::new(Sink::Null, Sink::Null));
        // Without those of its own, so that numbers are those in the order of registration.
        let server = Server::without_device().without_built_in().services(builtins.services()).start().unwrap();
        let buffer = PortBuffer::in_process(Geometry { slots: 4, slot_bytes: 1 << 16, ..Geometry::new(8, 32) }).unwrap();
        let device = MockDevice::new(server.add_buffer(buffer));
        Self { host, builtins, device, _awake: server.keep_awake(), server }
    }

    /// The number of a service.
    fn number(&self, name: &str) -> u16 {
        let place = self.builtins.services().iter().position(|service| service.name() == name).unwrap();
        place as u16 + 1
    }

    fn close(&self, handle: u64) {
        self.device.wave(0).post(self.number("Files__close"), Flags::default(), &args().with(handle).units).unwrap();
    }

    /// A call of one lane, whose bytes lie in the message or, if there are many, in the staging area.
    fn call_out<R: Fixed>(&self, name: &str, args: &Args, out: usize) -> (R, Vec<u8>) {
        let services = self.builtins.services();
        let place = services.iter().position(|service| service.name() == name).unwrap();
        let (wave, number): (MockWave, u16) = (self.device.wave(0), place as u16 + 1);
        let takes_var = services[place].definition().takes_var;
        let reply = if !takes_var {
            wave.call(number, &args.units)
        } else if args.ins.len().max(out) < 256 {
            wave.call_var(number, &args.units, &args.ins)
        } else {
            wave.stage(0, &args.ins);
            let mut units = vec![0, args.ins.len() as u32];
            units.extend(&args.units);
            wave.call_with(number, Flags::STAGED, &units)
        };
        let reply = reply.unwrap();
        let returned = reply.get(R::DWORDS).map_or(0, |len| *len as usize);
        let bytes = if args.ins.len().max(out) < 256 {
            bytes(&reply[(R::DWORDS + 1).min(reply.len())..]).to_vec()
        } else {
            wave.staged(0, returned)
        };
        (R::get(&reply).unwrap(), bytes[..returned.min(bytes.len())].to_vec())
    }

    fn call<R: Fixed>(&self, name: &str, args: &Args) -> R {
        self.call_out(name, args, 0).0
    }

    fn open(&self, path: &str, options: u32) -> u64 {
        self.call::<Result<(u64, u32), u32>>("StdFiles__open", &args().text(path).with(options).with(0o600u32)).unwrap().0
    }

    fn poll(&self, handles: &[[u64; 2]], nanos: i64) -> Result<[u32; 8], u32> {
        self.call("StdNet__poll", &handles_of(handles).with(nanos))
    }

    fn poll_any(&self, handles: &[[u64; 2]], nanos: i64) -> Result<u32, u32> {
        self.call("StdNet__poll_any", &handles_of(handles).with(nanos))
    }

    fn poll_now(&self, handles: &[[u64; 2]], room: usize) -> Result<(u32, Vec<u32>), u32> {
        let (count, bytes) = self.call_out::<Result<u32, u32>>("StdNet__poll_now", &handles_of(handles).with(4 * room as u32), 4 * room);
        Ok((count?, bytes.chunks_exact(4).map(|four| u32::from_ne_bytes(four.try_into().unwrap())).collect()))
    }

    fn lock(&self, handle: u64, operation: i32) -> Result<(), u32> {
        self.call("StdFiles__lock", &args().with(handle).with(operation.cast_unsigned()))
    }
}

fn handles_of(handles: &[[u64; 2]]) -> Args {
    let mut args = args();
    args.ins = handles.as_flattened().iter().flat_map(|n| n.to_ne_bytes()).collect();
    let bytes = args.ins.len();
    args.with(bytes as u32)
}

#[test]
fn a_fifo_is_waited_for_without_a_thread() {
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let handle = served.open("/data/fifo", open::READ);
    let asked = [[handle, u64::from(event::IN)]];
    assert_eq!(served.poll(&asked, SOON), Ok([0; 8]), "nobody has written, and nobody has left");
    let served = &served;
    std::thread::scope(|scope| {
        let waits: Vec<_> = (0..4)
            .map(|i| scope.spawn(move || if i % 2 == 0 { served_poll(served, asked) } else { served.poll_any(&asked, LONG) }))
            .collect();
        // More wait than there are serving threads, and other calls are answered.
        assert!(served.open("/data", open::READ) != 0);
        let mut writer = std::fs::OpenOptions::new().write(true).open(served.host.path().join("fifo")).unwrap();
        writer.write_all(b"text").unwrap();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Ok(1));
        }
    });
    assert_eq!(served.poll_now(&asked, 1), Ok((1, vec![event::IN | event::HANG_UP])));
}

#[test]
fn a_wait_that_asks_for_nothing_is_told_that_the_other_end_has_left() {
    let served = &Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let handle = served.open("/data/fifo", open::READ);
    let writer = std::fs::OpenOptions::new().write(true).open(served.host.path().join("fifo")).unwrap();
    let asked = [[handle, 0]];
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| served.poll(&asked, LONG));
        // So that it waits by now. If it does not, it is told all the same.
        assert_eq!(served.poll(&asked, SOON), Ok([0; 8]));
        drop(writer);
        assert_eq!(wait.join().unwrap(), Ok([event::HANG_UP, 0, 0, 0, 0, 0, 0, 0]));
    });
}

#[test]
fn an_output_that_is_no_descriptor_can_always_be_written() {
    let served = Served::new();
    let asked = [[1, u64::from(event::IN | event::OUT)], [2, u64::from(event::IN)]];
    assert_eq!(served.poll_now(&asked, 2), Ok((1, vec![event::OUT, 0])));
}

#[test]
fn what_happened_to_each_of_some_handles_is_told_in_their_order() {
    let served = Served::new();
    let asked = [[1, u64::from(event::IN | event::OUT)], [77 << 32, 0], [2, u64::from(event::OUT)], [0, u64::from(event::IN)]];
    let told = [event::OUT | event::INVALID << 16, event::OUT | (event::IN | event::HANG_UP) << 16, 0, 0, 0, 0, 0, 0];
    assert_eq!(served.poll(&asked, LONG), Ok(told));
    assert_eq!(served.poll_any(&asked, LONG), Ok(4));
}

/// One that was not ready at first: nothing is told but what was asked for.
#[test]
fn what_is_waited_for_is_told_and_nothing_else() {
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let fifo = served.open("/data/fifo", open::READ | open::WRITE);
    let asked = [[fifo, u64::from(event::IN)]];
    let served = &served;
    std::thread::scope(|scope| {
        let waits: Vec<_> = (0..3).map(|_| scope.spawn(move || served.poll(&asked, LONG))).collect();
        while served.poll_now(&[[fifo, u64::from(event::OUT)]], 1) != Ok((1, vec![event::OUT])) {}
        std::thread::sleep(Duration::from_millis(20));
        let writer = std::fs::OpenOptions::new().write(true).open(served.host.path().join("fifo"));
        writer.unwrap().write_all(b"text").unwrap();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Ok([event::IN, 0, 0, 0, 0, 0, 0, 0]));
        }
    });
}

/// A connection of which one end can take no more, and its other end.
fn full(served: &Served) -> (u64, std::net::TcpStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = served.call::<Result<u64, u32>>("StdNet__socket", &args().with(4u32).with(1u32)).unwrap();
    // It is done, or goes on: the listener says.
    let _ = served.call::<Result<(), u32>>("StdNet__connect", &args().with(socket).with(to_wire(listener.local_addr().unwrap())));
    let (peer, _) = listener.accept().unwrap();
    let mut full = 0;
    // It has to be full for a while: what was sent leaves room when it has arrived.
    while full < 50 {
        match served.call::<Result<u32, u32>>("StdNet__send", &args().with(socket).with(NONE).text([7; 1 << 15])) {
            Ok(_) => full = 0,
            Err(error) => {
                assert_eq!(error, errno::EAGAIN);
                full += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    (socket, peer)
}

/// Reads all that was sent there, as long as anything comes.
fn drain(mut peer: &std::net::TcpStream) {
    peer.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    while std::io::Read::read(&mut peer, &mut [0; 1 << 16]).is_ok_and(|read| read > 0) {}
}

/// The one who is told first leaves the other waiting.
#[test]
fn who_waits_to_read_and_who_waits_to_write_at_one_place_are_each_told_in_their_time() {
    for reads_first in [true, false] {
        let served = Served::new();
        let (socket, mut peer) = full(&served);
        let wait = |events: u32| served.poll(&[[socket, u64::from(events)]], LONG).map(|told| told[0]);
        std::thread::scope(|scope| {
            let reads = scope.spawn(|| wait(event::IN));
            std::thread::sleep(Duration::from_millis(20));
            let writes = scope.spawn(|| wait(event::OUT));
            std::thread::sleep(Duration::from_millis(20));
            if reads_first {
                peer.write_all(b"text").unwrap();
                assert_eq!(reads.join().unwrap(), Ok(event::IN));
                assert!(!writes.is_finished(), "there is no room");
                drain(&peer);
                assert_eq!(writes.join().unwrap(), Ok(event::OUT));
            } else {
                drain(&peer);
                assert_eq!(writes.join().unwrap(), Ok(event::OUT));
                assert!(!reads.is_finished(), "nothing has come");
                peer.write_all(b"text").unwrap();
                assert_eq!(reads.join().unwrap(), Ok(event::IN));
            }
        });
    }
}

#[test]
fn a_socket_has_a_timeout_for_each_way() {
    let served = Served::new();
    let (socket, _peer) = full(&served);
    let set = |receive: i64, send: i64| {
        for (which, nanos) in [(option::RECEIVE_TIMEOUT, receive), (option::SEND_TIMEOUT, send)] {
            let option = args().with(socket).with(which).with(nanos.cast_unsigned());
            assert_eq!(served.call::<Result<(), u32>>("StdNet__set_option", &option), Ok(()));
        }
    };
    let wait = |events: u32| served.call::<Result<(), u32>>("StdNet__wait", &args().with(socket).with(events));
    set(SOON, LONG);
    assert_eq!(wait(event::IN), Err(errno::EAGAIN));
    set(LONG, SOON);
    assert_eq!(wait(event::OUT), Err(errno::EAGAIN));
}

/// One handle is ready, and that something can be read.
fn served_poll(served: &Served, asked: [[u64; 2]; 1]) -> Result<u32, u32> {
    served.poll(&asked, LONG).map(|events| events[0] & event::IN)
}

#[test]
fn a_thousand_handles_are_waited_for_at_once() {
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    std::fs::write(served.host.path().join("file"), "").unwrap();
    let fifo = served.open("/data/fifo", open::READ | open::WRITE);
    let (file, dir) = (served.open("/data/file", open::READ), served.open("/data", open::READ));
    let mut all = vec![[fifo, u64::from(event::IN)]; 1024];
    assert_eq!(served.poll_any(&all, SOON), Ok(0));
    assert_eq!(served.poll_now(&all, 1024), Ok((0, vec![0; 1024])));
    (all[1000], all[1001], all[1023]) = ([file, u64::from(event::IN)], [dir, u64::from(event::IN)], [77 << 32, 0]);
    assert_eq!(served.poll_any(&all, LONG), Ok(3));
    let (count, events) = served.poll_now(&all, 1024).unwrap();
    assert_eq!((count, events[999], events[1000], events[1001], events[1023]), (3, 0, event::IN, event::IN, event::INVALID));
    assert_eq!(served.poll_now(&all, 1023), Err(errno::EINVAL), "there is no room for the last");
    all.push([fifo, 0]);
    assert_eq!((served.poll_any(&all, 0), served.poll_now(&all, 1025)), (Err(errno::EINVAL), Err(errno::EINVAL)));
    assert_eq!(served.poll(&all[..17], 0), Err(errno::EINVAL));
    assert_eq!(served.poll_now(&[], 0), Ok((0, Vec::new())));
    assert_eq!(served.poll_any(&[], -1), Err(errno::EINVAL), "it would wait for ever");
}

#[test]
fn a_lock_is_waited_for_without_a_thread() {
    let served = Served::new();
    std::fs::write(served.host.path().join("f"), "").unwrap();
    let (one, two) = (served.open("/data/f", open::READ), served.open("/data/f", open::READ | open::WRITE));
    let dir = served.open("/data", open::READ);
    assert_eq!([served.lock(one, libc::LOCK_SH), served.lock(two, libc::LOCK_SH)], [Ok(()); 2]);
    assert_eq!(served.lock(two, libc::LOCK_EX | libc::LOCK_NB), Err(errno::EAGAIN), "the other has it as well");
    assert_eq!([served.lock(one, libc::LOCK_UN), served.lock(two, libc::LOCK_EX), served.lock(dir, libc::LOCK_EX)], [Ok(()); 3]);
    assert_eq!(served.lock(one, libc::LOCK_SH | libc::LOCK_NB), Err(errno::EAGAIN));
    assert_eq!(served.lock(two, libc::LOCK_UN), Ok(()));

    // One of the host's own, so that the program is not asked to give it back.
    let hosts = std::fs::File::open(served.host.path().join("f")).unwrap();
    flock(&hosts, FlockOperation::LockExclusive).unwrap();
    let begun = Instant::now();
    let served = &served;
    std::thread::scope(|scope| {
        let waits = [one, two].map(|handle| scope.spawn(move || served.lock(handle, libc::LOCK_SH)));
        std::thread::sleep(Duration::from_millis(60));
        assert!(waits.iter().all(|wait| !wait.is_finished()));
        assert!(served.open("/data", open::READ) != 0, "other calls are answered meanwhile");
        flock(&hosts, FlockOperation::Unlock).unwrap();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Ok(()));
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(60));
    assert_eq!(flock(&hosts, FlockOperation::NonBlockingLockExclusive).unwrap_err(), rustix::io::Errno::WOULDBLOCK);
    // A handle that is closed has no lock any more. Closing is posted: nobody is told when it is done.
    [one, two].into_iter().for_each(|handle| served.close(handle));
    while flock(&hosts, FlockOperation::NonBlockingLockExclusive).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "they are never closed");
        std::thread::sleep(Duration::from_millis(1));
    }

    let place = served.open("/data/f", open::PATH);
    for (handle, operation, error) in [
        (place, libc::LOCK_EX, errno::EBADF),
        (u64::MAX, libc::LOCK_EX, errno::EBADF),
        (dir, 0, errno::EINVAL),
        (dir, 3, errno::EINVAL),
        (dir, -1, errno::EINVAL),
    ] {
        assert_eq!(served.lock(handle, operation), Err(error), "{operation}");
    }
    assert!(served.server.collect().is_success());
}

#[cfg(target_os = "linux")]
impl Served {
    fn made(&self, what: &str) -> u64 {
        self.call::<Result<u64, u32>>(what, &args()).unwrap()
    }

    fn change(&self, set: u64, operation: u32, handle: u64, events: u32, data: u64) -> Result<(), u32> {
        self.call("StdWatch__change", &args().with(set).with(operation).with(handle).with(events).with(data))
    }

    fn wait(&self, set: u64, alarm: u64, nanos: i64, most: u32) -> Result<Vec<[u64; 2]>, u32> {
        let found: Result<[u64; 12], u32> = self.call("StdWatch__wait", &args().with(set).with(alarm).with(nanos).with(most));
        let pairs = |flat: [u64; 12]| flat.chunks(2).map(|pair| [pair[0], pair[1]]).take_while(|[events, _]| *events != 0).collect();
        found.map(pairs)
    }

    fn ring(&self, alarm: u64) {
        self.device.wave(0).post(self.number("StdWatch__ring"), Flags::default(), &args().with(alarm).units).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_wait_in_a_set_is_ended_by_its_members_and_by_its_alarm() {
    const EDGE: u32 = 1 << 31;
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let fifo = served.open("/data/fifo", open::READ);
    let (set, alarm) = (served.made("StdWatch__set"), served.made("StdWatch__alarm"));
    assert_eq!(served.change(set, 1, fifo, event::IN | EDGE, 77), Ok(()));
    assert_eq!(served.change(set, 1, fifo, event::IN, 78), Err(errno::EEXIST));
    assert_eq!(served.wait(set, alarm, SOON, 6), Ok(vec![]));
    let served = &served;
    std::thread::scope(|scope| {
        let wait = scope.spawn(move || served.wait(set, alarm, LONG, 6));
        std::thread::sleep(Duration::from_millis(5));
        served.ring(alarm);
        assert_eq!(wait.join().unwrap(), Ok(vec![]));
        assert_eq!(served.poll_any(&[[alarm, u64::from(event::IN)]], SOON), Ok(0), "it was rung once, and somebody has heard it");
        let wait = scope.spawn(move || served.wait(set, alarm, LONG, 6));
        let mut writer = std::fs::OpenOptions::new().write(true).open(served.host.path().join("fifo")).unwrap();
        writer.write_all(b"text").unwrap();
        assert_eq!(wait.join().unwrap(), Ok(vec![[u64::from(event::IN), 77]]));
        assert_eq!(served.wait(set, 0, SOON, 6), Ok(vec![]), "an edge is told once");
        writer.write_all(b"more").unwrap();
        assert_eq!(served.wait(set, 0, LONG, 6), Ok(vec![[u64::from(event::IN), 77]]));
        // With nobody who waits it rings until somebody does.
        served.ring(alarm);
        assert_eq!(served.wait(set, alarm, LONG, 6), Ok(vec![]));
        served.ring(alarm);
        assert_eq!(served.poll(&[[alarm, u64::from(event::IN)]], LONG).map(|events| events[0]), Ok(event::IN));
        assert_eq!(served.change(set, 3, fifo, event::IN, 79), Ok(()));
        assert_eq!(served.poll(&[[set, u64::from(event::IN)]], LONG).map(|events| events[0]), Ok(event::IN), "a set is a handle, too");
        served.close(fifo);
        // What is closed leaves the set, when it has been closed: nobody waited for that.
        let begun = Instant::now();
        while served.wait(set, 0, 0, 6) != Ok(vec![]) {
            assert!(begun.elapsed() < Duration::from_secs(30));
        }
    });
    assert!(served.server.collect().is_success());
}

/// An alarm that was rung once wakes all who wait for it, whoever hears it first.
#[cfg(target_os = "linux")]
#[test]
fn an_alarm_wakes_all_who_wait_for_it_among_others() {
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let (fifo, alarm) = (served.open("/data/fifo", open::READ | open::WRITE), served.made("StdWatch__alarm"));
    let served = &served;
    std::thread::scope(|scope| {
        let asked = [[fifo, u64::from(event::IN)], [alarm, u64::from(event::IN)]];
        let waits: Vec<_> = (0..3).map(|_| scope.spawn(move || served.poll(&asked, LONG))).collect();
        // Until all of them wait in the reactor.
        std::thread::sleep(Duration::from_millis(200));
        served.ring(alarm);
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Ok([event::IN << 16, 0, 0, 0, 0, 0, 0, 0]));
        }
    });
}

/// An edge is told to one of those who wait in a set, and the others wait on.
#[cfg(target_os = "linux")]
#[test]
fn each_of_those_who_wait_in_a_set_is_told_something() {
    const EDGE: u32 = 1 << 31;
    let served = Served::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, served.host.path().join("fifo"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let fifo = served.open("/data/fifo", open::READ);
    let mut writer = std::fs::OpenOptions::new().write(true).open(served.host.path().join("fifo")).unwrap();
    let set = served.made("StdWatch__set");
    assert_eq!(served.change(set, 1, fifo, event::IN | EDGE, 77), Ok(()));
    let served = &served;
    for _ in 0..10 {
        std::thread::scope(|scope| {
            let mut waits: Vec<_> = (0..3).map(|_| scope.spawn(move || served.wait(set, 0, LONG, 6))).collect();
            std::thread::sleep(Duration::from_millis(5));
            while !waits.is_empty() {
                writer.write_all(b"text").unwrap();
                let begun = Instant::now();
                while !waits.iter().any(|wait| wait.is_finished()) {
                    assert!(begun.elapsed() < Duration::from_secs(60), "nobody is told");
                    std::thread::sleep(Duration::from_millis(1));
                }
                let (told, others) = waits.into_iter().partition::<Vec<_>, _>(|wait| wait.is_finished());
                for wait in told {
                    assert_eq!(wait.join().unwrap(), Ok(vec![[u64::from(event::IN), 77]]));
                }
                waits = others;
            }
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn sets_and_alarms_refuse_what_they_are_not() {
    let served = Served::new();
    std::fs::write(served.host.path().join("file"), "").unwrap();
    let (set, alarm) = (served.made("StdWatch__set"), served.made("StdWatch__alarm"));
    let (file, dir) = (served.open("/data/file", open::READ), served.open("/data", open::READ));
    for (of, operation, handle, error) in [
        (alarm, 1, file, errno::EINVAL),
        (u64::MAX, 1, alarm, errno::EBADF),
        (set, 1, file, errno::EPERM),
        (set, 1, dir, errno::EPERM),
        (set, 1, set, errno::EINVAL),
        (set, 1, u64::MAX, errno::EBADF),
        (set, 1, 0, errno::EPERM),
        (set, 2, alarm, errno::ENOENT),
        (set, 3, alarm, errno::ENOENT),
        (set, 0, alarm, errno::EINVAL),
        (set, u32::MAX, alarm, errno::EINVAL),
    ] {
        assert_eq!(served.change(of, operation, handle, event::IN, 0), Err(error), "{of:#x} {operation} {handle:#x}");
    }
    for (of, alarm, most, error) in
        [(alarm, 0, 6, errno::EINVAL), (set, file, 6, errno::EINVAL), (set, u64::MAX, 6, errno::EBADF), (set, alarm, 0, errno::EINVAL)]
    {
        assert_eq!(served.wait(of, alarm, 0, most), Err(error));
    }
    assert_eq!(served.wait(set, alarm, 0, u32::MAX), Ok(vec![]));
    // No alarm: nobody hears of it.
    served.ring(file);
    served.ring(u64::MAX);
    assert!(served.server.collect().is_success());
}
