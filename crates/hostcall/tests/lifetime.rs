//! Servers and buffers that come and go while kernels wait.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use common::{eventually, geometry, serve};
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{MockDevice, definition, fixed_service, posted_service};
use hostcall::{CallError, Server, ServerBuilder, Service};
use hostcall_abi::Flags;

#[test]
fn dropping_a_server_answers_waiting_lanes_and_ends_later_calls_at_once() {
    let (arrive, arrived) = mpsc::channel();
    // Never answered: the completions are kept.
    let held = Service::deferred(definition::<u32>("held", Some(0)), move |_, done| arrive.send(done).unwrap());
    let s = serve(Server::without_device().service(held).service(fixed_service("quick", |x: u32| x)));
    let device = s.device.clone();
    std::thread::scope(|scope| {
        let one = scope.spawn(|| device.wave(0).call(1, &[1]));
        let wave = scope.spawn(|| device.run_wave(0xf0, |wave| wave.call(1, &[2])));
        let late: Vec<_> = (0..5).map(|_| arrived.recv().unwrap()).collect();
        drop((s.awake, s.server));
        assert_eq!(one.join().unwrap(), Err(CallError::ServerGone));
        assert!(wave.join().unwrap().iter().all(|result| *result == Err(CallError::ServerGone)));
        // Answers that come too late go to memory that is still there.
        late.into_iter().for_each(|done| done.reply(&()));
    });
    for _ in 0..100 {
        assert_eq!(device.wave(3).call(2, &[1]), Err(CallError::ServerGone));
    }
}

#[test]
fn calls_race_a_server_that_is_dropped_and_every_one_ends() {
    for round in 0..20 {
        let s = serve(Server::without_device().threads(2).service(fixed_service("quick", |x: u32| x)));
        let device = s.device.clone();
        std::thread::scope(|scope| {
            for w in 0..8 {
                let device = &device;
                scope.spawn(move || {
                    let wave = device.wave(w);
                    loop {
                        match wave.call_fixed::<u32, u32>(1, &w) {
                            Ok(x) => assert_eq!(x, w),
                            Err(CallError::ServerGone) => break,
                            Err(other) => panic!("{other}"),
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_micros(500 * (round % 5)));
            drop((s.awake, s.server));
        });
    }
}

#[test]
fn a_removed_buffer_ends_its_calls_and_disturbs_no_other() {
    let s = serve(Server::without_device().threads(2).service(fixed_service("quick", |x: u32| x)));
    for _ in 0..20 {
        let guest = MockDevice::new(s.server.add_buffer(PortBuffer::in_process(geometry(40, 64)).unwrap()));
        std::thread::scope(|scope| {
            for w in 0..4 {
                let guest = &guest;
                scope.spawn(move || {
                    let wave = guest.wave(w + 30);
                    while let Ok(x) = wave.call_fixed::<u32, u32>(1, &w).inspect_err(|e| assert_eq!(*e, CallError::Detached)) {
                        assert_eq!(x, w);
                    }
                });
            }
            assert_eq!(s.device.wave(0).call(1, &[7]), Ok(vec![7]));
            s.server.remove_buffer(guest.buffer()).unwrap();
            assert_eq!(s.device.wave(0).call(1, &[8]), Ok(vec![8]));
        });
        assert_eq!(guest.wave(0).call(1, &[1]), Err(CallError::Detached));
    }
}

#[test]
fn removing_a_buffer_whose_lanes_wait_for_a_handler_answers_them() {
    let (arrive, arrived) = mpsc::channel();
    let held = Service::deferred(definition::<u32>("held", Some(0)), move |_, done| arrive.send(done).unwrap());
    let s = serve(Server::without_device().service(held));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| s.device.wave(0).call(1, &[1]));
        let late = arrived.recv().unwrap();
        s.server.remove_buffer(s.device.buffer()).unwrap();
        assert_eq!(call.join().unwrap(), Err(CallError::Detached));
        drop(late);
    });
}

#[test]
fn posts_that_have_arrived_are_handled_although_their_server_is_dropped() {
    let (send, received) = mpsc::channel();
    let post = Service::new(definition::<u32>("post", None), move |call| {
        send.send(call.fixed::<u32>()?).unwrap();
        Ok(())
    });
    let s = serve(Server::without_device().service(post));
    for w in 0..20 {
        s.device.wave(w).post(1, Flags::default(), &[w]).unwrap();
    }
    drop((s.awake, s.server));
    assert_eq!(received.iter().count(), 20);
}

#[test]
fn the_memory_of_a_buffer_is_freed_with_its_last_user() {
    let s = serve(Server::without_device().service(fixed_service("quick", |x: u32| x)));
    let kept = std::sync::Arc::new(());
    let geometry = geometry(16, 32);
    let host = Pages::new(geometry.host_layout().bytes);
    let states = Pages::new(geometry.device_layout().bytes + 64);
    let (start, device) = (host.0, states.0.as_ptr() as u64);
    // SAFETY: zeroed memory of the geometry's sizes, which `keep` owns.
    let mut memory = unsafe {
        PortBuffer::from_raw(geometry, start, start.as_ptr() as u64, None, device, Box::new((host, states, kept.clone()))).unwrap()
    };
    memory.descriptor_mut().closed = device + geometry.device_layout().bytes as u64;
    let guest = MockDevice::new(s.server.add_buffer(memory));
    assert_eq!(guest.wave(0).call(1, &[3]), Ok(vec![3]));
    s.server.remove_buffer(guest.buffer()).unwrap();
    assert_eq!(guest.wave(0).call(1, &[3]), Err(CallError::Detached));
    assert_eq!(std::sync::Arc::strong_count(&kept), 2, "a device that holds the buffer holds its memory");
    drop(guest);
    eventually("the memory is freed", || std::sync::Arc::strong_count(&kept) == 1);
}

/// A wave of 32 lanes calls a service whose first handler stays until the server is known to be going. How many
/// handlers ran.
fn handlers_run_while_the_server_goes(builder: ServerBuilder, refine: fn(Service) -> Service) -> usize {
    let runs = Arc::new(AtomicUsize::new(0));
    let (began, beginning) = mpsc::channel();
    let (go, gate) = mpsc::channel::<()>();
    let (counted, gate) = (runs.clone(), std::sync::Mutex::new(gate));
    let slow = fixed_service("slow", move |x: u32| {
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            began.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
        }
        x
    });
    let s = serve(builder.threads(2).service(refine(slow)));
    let device = s.device.clone();
    std::thread::scope(|scope| {
        let wave = scope.spawn(|| device.run_wave(u64::from(u32::MAX), |wave| wave.clone().at_port(0).call(1, &[wave.lane()])));
        beginning.recv().unwrap();
        let server = scope.spawn(move || drop((s.awake, s.server)));
        eventually("the server goes", || device.is_being_left());
        go.send(()).unwrap();
        server.join().unwrap();
        let results = wave.join().unwrap();
        let gone = results.iter().filter(|result| **result == Err(CallError::ServerGone)).count();
        assert_eq!(gone + runs.load(Ordering::Relaxed), 32, "each lane ran or was told: {results:?}");
    });
    runs.load(Ordering::Relaxed)
}

#[test]
fn a_server_that_goes_runs_no_inline_handler_that_has_not_begun() {
    assert_eq!(handlers_run_while_the_server_goes(Server::without_device(), |service| service), 1);
}

#[test]
fn a_server_that_goes_runs_no_blocking_handler_that_has_not_begun() {
    assert_eq!(handlers_run_while_the_server_goes(Server::without_device().blocking_threads(1), Service::blocking), 1);
}

struct Pages(std::ptr::NonNull<u8>, std::alloc::Layout);

// SAFETY: owned memory.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    fn new(bytes: usize) -> Self {
        let layout = std::alloc::Layout::from_size_align(bytes, 4096).unwrap();
        // SAFETY: the size is not 0.
        Self(std::ptr::NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).unwrap(), layout)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { std::alloc::dealloc(self.0.as_ptr(), self.1) };
    }
}

#[test]
fn many_starts_and_stops_leave_nothing_behind() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    // The tests' own, and those of an emulator that runs them.
    let before = threads();
    for round in 0..50 {
        let server =
            Server::without_device().without_built_in().threads(1 + round % 3).service(fixed_service("quick", |x: u32| x)).start().unwrap();
        if round % 2 == 0 {
            let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry(1 + round as u32, 32)).unwrap()));
            let awake = server.keep_awake();
            assert_eq!(device.wave(0).call(1, &[1]), Ok(vec![1]));
            drop(awake);
        }
    }
    // Pool threads are not waited for: they may be in a handler.
    eventually("all threads end that were not there before", || threads() <= before);
}

#[test]
fn a_dropped_server_leaves_no_thread_but_those_whose_handlers_have_not_returned() {
    struct Ends(mpsc::Sender<()>);
    impl Drop for Ends {
        fn drop(&mut self) {
            // Later than anything that the pool does: the thread is about to end.
            std::thread::sleep(Duration::from_millis(20));
            let _ = self.0.send(());
        }
    }
    thread_local!(static ENDS: std::cell::OnceCell<Ends> = const { std::cell::OnceCell::new() });
    let (ended, ends) = mpsc::channel();
    let (release, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let told = ended.clone();
    let quick = fixed_service("quick", move |x: u32| {
        ENDS.with(|cell| _ = cell.set(Ends(told.clone())));
        x
    });
    let stuck = posted_service("stuck", move |_: u32| {
        ENDS.with(|cell| _ = cell.set(Ends(ended.clone())));
        wait.lock().unwrap().recv().unwrap();
    });
    let s = serve(Server::without_device().service(quick.blocking()).service(stuck.blocking()));
    s.device.wave(0).post(2, Flags::default(), &[7]).unwrap();
    for x in [1, 2, 3] {
        assert_eq!(s.device.wave(0).call(1, &[x]), Ok(vec![x]));
    }
    drop((s.awake, s.server));
    let idle = ends.try_iter().count();
    assert!((1..=3).contains(&idle), "{idle} of the threads that had returned have ended");
    assert!(ends.recv_timeout(Duration::from_millis(200)).is_err(), "and no other goes on");
    release.send(()).unwrap();
    ends.recv_timeout(Duration::from_secs(20)).expect("the last thread ends with its handler");
}

/// Says on which thread it was dropped, and panics.
struct Bomb(mpsc::Sender<String>);

impl Drop for Bomb {
    fn drop(&mut self) {
        let _ = self.0.send(std::thread::current().name().unwrap_or_default().to_owned());
        panic!("a value whose drop panics");
    }
}

#[test]
fn values_whose_drops_panic_end_no_serving_thread_when_their_services_go() {
    for (round, threads) in [1, 3, 1].into_iter().enumerate() {
        let (dropped, drops) = mpsc::channel();
        let s = serve(Server::without_device().threads(threads).service(fixed_service("quick", |x: u32| x)));
        // Two at once: the second must not meet the first one's panic.
        let handles = ["one", "other"].map(|name| {
            let bomb = Bomb(dropped.clone());
            let service = fixed_service(name, move |x: u32| {
                let _ = &bomb;
                x + 1
            });
            s.server.register(service).unwrap()
        });
        // Whatever threads there are: all of them are at work, and know the services.
        s.device.run_wave(0xff, |wave| assert_eq!(wave.call(2, &[1]), Ok(vec![2])));
        assert_eq!(s.device.wave(0).call(3, &[1]), Ok(vec![2]));
        // Who drops what a registry alone knows is who unregisters, and that is no serving thread; its panic is its
        // own.
        for handle in &handles {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| handle.unregister()));
        }
        for x in 0..100 {
            assert_eq!(s.device.wave(0).call(1, &[x]), Ok(vec![x]), "round {round}");
        }
        assert_eq!(s.device.wave(0).call(2, &[1]), Err(CallError::UnknownService));
        let on: Vec<String> = (0..2).map(|_| drops.recv_timeout(Duration::from_secs(20)).expect("both are dropped")).collect();
        assert!(on.iter().all(|thread| thread == "hostcall-reaper" || !thread.starts_with("hostcall")), "{on:?}");
        // A serving thread that had ended would be waited for by nobody, but its ports would be looked at by nobody.
        for port in 0..32 {
            assert_eq!(s.device.wave(0).at_port(port).call(1, &[port]), Ok(vec![port]));
        }
        let (end, ended) = mpsc::channel();
        let dropping = std::thread::spawn(move || {
            drop((s.awake, s.server));
            end.send(()).unwrap();
        });
        ended.recv_timeout(Duration::from_secs(20)).expect("the server ends");
        dropping.join().unwrap();
    }
}

#[test]
fn values_whose_drops_panic_end_no_server_that_is_dropped_with_its_services() {
    let (dropped, drops) = mpsc::channel();
    let bomb = Bomb(dropped);
    let service = fixed_service("bomb", move |x: u32| {
        let _ = &bomb;
        x
    });
    let s = serve(Server::without_device().threads(2).service(service.blocking()).service(fixed_service("quick", |x: u32| x)));
    assert_eq!(s.device.wave(0).call(1, &[1]), Ok(vec![1]));
    let device = s.device.clone();
    // The panic is whose server it is; what waits is answered all the same.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop((s.awake, s.server))));
    drops.recv_timeout(Duration::from_secs(20)).expect("it is dropped");
    assert_eq!(device.wave(0).call(2, &[1]), Err(CallError::ServerGone));
}

#[test]
fn a_wait_ends_although_buffers_are_taken_out_of_service_meanwhile() {
    let s = serve(Server::without_device().threads(2));
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let buffer = s.server.add_buffer(PortBuffer::in_process(geometry(2, 32)).unwrap());
                    s.server.remove_buffer(&buffer).unwrap();
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        while done.load(Ordering::Relaxed) < 2 {
            assert!(s.server.collect().is_success());
        }
    });
}
