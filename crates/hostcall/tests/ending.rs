//! What ends ends: whatever a device goes on doing, and on whatever thread the end is asked for.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use common::{geometry, serve, serve_over};
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{MockDevice, fixed_service, posted_service};
use hostcall::{CallError, Server, Service, WaitError};
use hostcall_abi::{Flags, Tag};

/// Ends a test that would hang.
const LIMIT: Duration = Duration::from_secs(60);

/// A device that keeps all ports full of posts for as long as they are acknowledged, and looks at nothing else. It
/// never wraps.
struct Flood {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
    sent: Arc<AtomicU64>,
    device: MockDevice,
    ports: u32,
}

impl Flood {
    /// Posts of a lane each that a port has at once.
    const LAP: u16 = 200;

    fn of(device: &MockDevice, ports: u32, service: u16) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (theirs, ending, counted) = (device.clone(), stop.clone(), sent.clone());
        let thread = std::thread::spawn(move || {
            let raw = theirs.raw();
            let lap = |port: u32, first: u16| {
                for i in 0..Self::LAP {
                    raw.send(port, u32::from(i), Tag::new(first + i), service, Flags::default(), 1, &[1]);
                }
                raw.ring(port, u32::from(first + Self::LAP - 1));
                counted.fetch_add(Self::LAP.into(), Ordering::Relaxed);
            };
            let mut last = vec![Self::LAP; ports as usize];
            (0..ports).for_each(|port| lap(port, 1));
            while !ending.load(Ordering::Acquire) {
                for port in 0..ports {
                    let tag = last[port as usize];
                    // (Tags that scrub are others' business.)
                    if tag < 16_000 && raw.answered(port, Tag::new(tag)) {
                        last[port as usize] = tag + Self::LAP;
                        lap(port, tag + 1);
                    }
                }
                std::thread::yield_now();
            }
        });
        Self { stop, thread, sent, device: device.clone(), ports }
    }

    /// Waits until so many posts have been sent.
    fn has_sent(&self, posts: u64) {
        common::eventually("the device posts", || self.sent.load(Ordering::Relaxed) >= posts);
    }

    /// Ends it. Posts that were acknowledged.
    fn end(self) -> u64 {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap();
        let raw = self.device.raw();
        (0..self.ports).map(|port| u64::from(raw.load(port, 0).tag())).sum()
    }
}

/// Runs something that must return; what it returned.
fn returns<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || _ = tell.send(run()));
    told.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("it has not returned: {what}"))
}

/// Whether handlers return.
type Gate = (Mutex<bool>, Condvar);

/// A blocking service that is posted to, whose handlers return when the gate is opened; and how many of them have
/// begun.
fn gated() -> (Service, Arc<Gate>, Arc<AtomicU64>) {
    let (gate, begun) = (Arc::new((Mutex::new(false), Condvar::new())), Arc::new(AtomicU64::new(0)));
    let (theirs, counted) = (gate.clone(), begun.clone());
    let service = posted_service("slow", move |_: u32| {
        counted.fetch_add(1, Ordering::Relaxed);
        let open = theirs.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(theirs.1.wait_while(open, |open| !*open).unwrap());
    });
    (service.blocking(), gate, begun)
}

fn open(gate: &Gate) {
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
}

#[test]
fn a_buffer_whose_device_goes_on_posting_is_removed_and_no_post_is_lost_without_a_word() {
    let (slow, gate, begun) = gated();
    let s = serve_over(Server::without_device().blocking_threads(2).service(slow), PortBuffer::in_process(geometry(64, 32)).unwrap());
    let flood = Flood::of(&s.device, 64, 1);
    // More than there is room for, of which none is handled.
    flood.has_sent(64 * u64::from(Flood::LAP));
    let (server, device) = (s.server, s.device.clone());
    let server = returns("the buffer is removed", move || {
        server.remove_buffer(device.buffer()).unwrap();
        server
    });
    assert_eq!(begun.load(Ordering::Relaxed), 2, "no handler has returned");
    let acknowledged = flood.end();
    open(&gate);
    let report = server.collect();
    // (They are of a buffer that is gone: nobody else waits for them.)
    let given_up: u64 = report.handler_failures.iter().map(|failure| failure.lanes).sum();
    assert!(given_up > 0 && report.to_string().contains("posted, and not handled in time"), "{report}");
    common::eventually("the others are handled", || begun.load(Ordering::Relaxed) + given_up >= acknowledged);
    assert!(!report.is_success());
}

#[test]
fn a_server_one_of_whose_devices_goes_on_posting_ends() {
    let (slow, gate, _) = gated();
    let s = serve_over(Server::without_device().blocking_threads(2).service(slow), PortBuffer::in_process(geometry(64, 32)).unwrap());
    let flood = Flood::of(&s.device, 64, 1);
    flood.has_sent(64 * u64::from(Flood::LAP));
    drop(s.awake);
    let server = s.server;
    let report = returns("the server ends", move || server.stop());
    let acknowledged = flood.end();
    let given_up: u64 = report.handler_failures.iter().map(|failure| failure.lanes).sum();
    assert_eq!(given_up, acknowledged - 2, "all but those that two threads are at: {report}");
    open(&gate);
}

#[test]
fn a_wait_ends_although_a_device_goes_on_posting() {
    // Each handler lets one more post in, so there is never a moment without any.
    let handled = Arc::new(AtomicU64::new(0));
    let counted = handled.clone();
    let slow = posted_service("slow", move |_: u32| {
        std::thread::sleep(Duration::from_micros(20));
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let s = serve_over(
        Server::without_device().blocking_threads(4).service(slow.blocking()),
        PortBuffer::in_process(geometry(64, 32)).unwrap(),
    );
    let flood = Flood::of(&s.device, 64, 1);
    flood.has_sent(64 * u64::from(Flood::LAP));
    let server = s.server;
    let (server, before) = returns("what was there is handled", move || {
        let report = server.collect();
        assert!(report.is_success(), "{report}");
        (server, 64 * u64::from(Flood::LAP))
    });
    assert!(handled.load(Ordering::Relaxed) >= before, "all that had arrived before");
    flood.end();
    drop(server);
}

#[test]
fn posts_whose_handlers_have_not_begun_when_their_server_ends_are_in_its_report() {
    let (slow, gate, begun) = gated();
    let s = serve(Server::without_device().blocking_threads(1).service(slow));
    (0..20).for_each(|wave| s.device.wave(wave).post(1, Flags::default(), &[wave]).unwrap());
    common::eventually("one has begun", || begun.load(Ordering::Relaxed) == 1);
    drop(s.awake);
    let report = s.server.stop();
    assert_eq!(report.handler_failures.iter().map(|failure| failure.lanes).sum::<u64>(), 19, "{report}");
    open(&gate);
}

/// What a handler does with its own server.
type Deed = fn(&Mutex<Option<Server>>, &MockDevice) -> u32;

/// A server whose handler does something with it; the call's result, and what has become of the server.
fn in_a_handler(refine: fn(Service) -> Service, deed: Deed) -> (Result<Vec<u32>, CallError>, Option<Server>) {
    let own = Arc::new(OnceLock::<(Mutex<Option<Server>>, MockDevice)>::new());
    let theirs = own.clone();
    let service = refine(fixed_service("evil", move |_: u32| {
        let (server, device) = theirs.get().unwrap();
        deed(server, device)
    }));
    let s = serve(Server::without_device().service(service));
    let awake = s.awake;
    assert!(own.set((Mutex::new(Some(s.server)), s.device.clone())).is_ok());
    let wave = s.device.wave(0);
    let result = returns("the call", move || wave.call(1, &[7]));
    drop(awake);
    (result, own.get().unwrap().0.lock().unwrap().take())
}

const REMOVES: Deed = |server, device| match server.lock().unwrap().as_ref().unwrap().remove_buffer(device.buffer()) {
    Ok(()) => 1,
    Err(error) => 100 + u32::from(error.to_string().starts_with("removing a port buffer within an inline handler")),
};

#[test]
fn an_inline_handler_that_removes_its_own_buffer_gets_an_error_and_the_buffer_stays() {
    let (result, server) = in_a_handler(|service| service, REMOVES);
    assert_eq!(result, Ok(vec![101]));
    drop(server);
}

#[test]
fn a_blocking_handler_may_remove_its_own_buffer() {
    let (result, server) = in_a_handler(Service::blocking, REMOVES);
    // Whichever its lane sees first: the answer, or that there will be none.
    assert!(result == Ok(vec![1]) || result == Err(CallError::Detached), "{result:?}");
    drop(server);
}

#[test]
fn an_inline_handler_that_waits_gets_an_error() {
    let waits: Deed = |server, _| {
        let server = server.lock().unwrap();
        let server = server.as_ref().unwrap();
        let device = offload::Device::sim(offload::SimConfig::default()).unwrap();
        let queue = device.queue().unwrap();
        let waited = [server.wait(&queue), server.wait_timeout(&queue, LIMIT)];
        assert!(server.collect().is_success());
        waited.into_iter().filter(|waited| matches!(waited, Err(WaitError::InHandler(_)))).count() as u32
    };
    let (result, server) = in_a_handler(|service| service, waits);
    assert_eq!(result, Ok(vec![2]));
    drop(server);
}

#[test]
fn an_inline_handler_that_drops_its_server_returns_and_the_server_ends() {
    let drops: Deed = |server, _| {
        drop(server.lock().unwrap().take());
        5
    };
    let (result, server) = in_a_handler(|service| service, drops);
    assert!(matches!(result, Ok(_) | Err(CallError::ServerGone)), "{result:?}");
    assert!(server.is_none());
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let named = |name: &str| {
        threads().filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == name)).count()
    };
    common::eventually("the thread that ends it has ended", || named("hostcall-ending") == 0);
}

#[test]
fn a_call_whose_handler_runs_when_its_buffer_is_removed_gets_its_answer() {
    let (begun, beginning) = mpsc::channel();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let slow = fixed_service("slow", move |x: u32| {
        begun.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        x
    });
    let s = serve(Server::without_device().service(slow));
    let wave = s.device.wave(0);
    let call = std::thread::spawn(move || wave.call(1, &[7]));
    beginning.recv().unwrap();
    std::thread::scope(|scope| {
        let removal = scope.spawn(|| s.server.remove_buffer(s.device.buffer()).unwrap());
        common::eventually("the buffer is being left", || s.device.is_being_left());
        // Time for lanes to give up, if they were let.
        std::thread::sleep(Duration::from_millis(100));
        go.send(()).unwrap();
        removal.join().unwrap();
    });
    assert_eq!(call.join().unwrap(), Ok(vec![7]));
}

#[test]
fn what_is_posted_before_lanes_are_told_that_the_server_leaves_is_handled() {
    const PORTS: u32 = 16;
    let handled = Arc::new(AtomicU64::new(0));
    let counted = handled.clone();
    let s = serve(Server::without_device().threads(1).service(posted_service("post", move |_: u32| {
        counted.fetch_add(1, Ordering::Relaxed);
    })));
    for round in 0..200 {
        handled.store(0, Ordering::Relaxed);
        let guest = MockDevice::new(s.server.add_buffer(PortBuffer::in_process(geometry(PORTS, 32)).unwrap()));
        let (raw, posting) = (guest.raw(), AtomicBool::new(false));
        let posted = std::thread::scope(|scope| {
            let posts = scope.spawn(|| {
                let (mut posted, mut next) = (0u64, [1u16; PORTS as usize]);
                loop {
                    for (port, next) in (0..).zip(&mut next) {
                        if *next > 1 && !raw.answered(port, Tag::new(*next - 1)) {
                            continue;
                        }
                        raw.send(port, 0, Tag::new(*next), 1, Flags::default(), 1, &[1]);
                        raw.ring(port, u32::from(Tag::new(*next).payload()));
                        *next += 1;
                        // Pairs with the drain behind the word's store: either that finds the post, or this finds the
                        // word.
                        fence(Ordering::SeqCst);
                        if raw.closed() != 0 {
                            return posted;
                        }
                        posted += 1;
                    }
                    posting.store(true, Ordering::Release);
                    if raw.closed() != 0 {
                        return posted;
                    }
                }
            });
            common::eventually("it posts", || posting.load(Ordering::Acquire));
            s.server.remove_buffer(guest.buffer()).unwrap();
            posts.join().unwrap()
        });
        let handled = handled.load(Ordering::Relaxed);
        // (The one that found the word may be handled as well.)
        assert!((posted..=posted + 1).contains(&handled), "round {round}: {handled} of {posted} posts were handled");
    }
}

#[test]
fn ports_that_lanes_held_when_they_ended_are_free_for_those_who_come_later() {
    let device = offload::Device::open("sim").unwrap();
    let double = fixed_service("double", |x: u32| 2 * x);
    let server = Server::builder(&device).without_built_in().ports(4).service(double).start().unwrap();
    // The simulator's memory is this process's.
    let mock = MockDevice::new(server.allocate(&device).unwrap());
    let _awake = server.keep_awake();
    assert_eq!(mock.wave(0).at_port(1).call(1, &[4]), Ok(vec![8]));
    for port in 0..mock.memory().geometry().ports {
        let wave = mock.wave(0).at_port(port);
        let _never_released = wave.client().acquire(&wave.group(), true).unwrap();
    }
    server.free_ports().unwrap();
    for port in 0..mock.memory().geometry().ports {
        assert_eq!(mock.wave(0).at_port(port).call(1, &[port]), Ok(vec![2 * port]));
    }
}
