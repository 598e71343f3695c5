//! Kernels that are run again over memory that was put back: what profilers do that replay a kernel.

mod common;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use common::{eventually, geometry, with_window};
use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{MockDevice, Sweeper, definition, fixed_service, posted_service};
use hostcall::{Server, Service};
use hostcall_abi::{Flags, Tag};

/// Both places where replies can lie.
fn geometries(ports: u32) -> [Geometry; 2] {
    [geometry(ports, 32), with_window(geometry(ports, 32))]
}

/// What a kernel gives, which a test does not wait for without end.
fn ends<T: Send + 'static>(kernel: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(kernel()));
    ended.recv_timeout(Duration::from_secs(120)).expect("the pass ends")
}

/// A server of `add`, which adds 1000, and `sum`, to which is posted; and what was called and posted.
fn serves() -> (Server, Arc<AtomicU32>, Arc<AtomicU64>) {
    let (calls, sum) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(0)));
    let (called, summed) = (calls.clone(), sum.clone());
    // Relaxed: who reads them has been answered, or looks again.
    let add = fixed_service("add", move |x: u32| {
        called.fetch_add(1, Ordering::Relaxed);
        x + 1000
    });
    let sums = posted_service("sum", move |x: u32| _ = summed.fetch_add(x.into(), Ordering::Relaxed));
    let server = Server::without_device().threads(2).service(add).service(sums).without_built_in().start().unwrap();
    (server, calls, sum)
}

const ADD: u16 = 1;
const SUM: u16 = 2;

#[test]
fn every_pass_gets_answers_of_its_own() {
    for geometry in geometries(4) {
        for each in [1, 2, 3, 40] {
            let (server, calls, _) = serves();
            let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
            let _awake = server.keep_awake();
            let before = device.image();
            for pass in 0..5 {
                device.put_back(&before);
                let wave = device.wave(0).at_port(0);
                let answers = ends(move || (0..each).map(|x| wave.call(ADD, &[100 * pass + x])).collect::<Vec<_>>());
                let right: Vec<_> = (0..each).map(|x| Ok(vec![100 * pass + x + 1000])).collect();
                assert_eq!(answers, right, "pass {pass} of {each} calls, window {}", geometry.window);
            }
            assert_eq!(calls.load(Ordering::Relaxed), 5 * each, "each call is handled once in each pass");
        }
    }
}

/// A tool could put back device memory alone. The host's is ahead of it then.
#[test]
fn every_pass_over_device_memory_alone_gets_answers_of_its_own() {
    for (geometry, window) in geometries(4).into_iter().flat_map(|geometry| [(geometry, false), (geometry, true)]) {
        // (Of each round of tags one begins before a scrub, and one before the round's end.)
        for (each, last) in [(1, 0), (2, 0), (3, 0x3ffe), (40, 0x3fe0), (40, 0x7fe0)] {
            let (server, calls, sum) = serves();
            let device = MockDevice::new(server.add_buffer(PortBuffer::in_process_from(geometry, Tag::new(last)).unwrap()));
            let _awake = server.keep_awake();
            // Both kinds of messages leave something behind that the device forgets.
            device.wave(0).at_port(0).post(SUM, Flags::default(), &[1]).unwrap();
            eventually("the post before is handled", || sum.load(Ordering::Relaxed) == 1);
            let before = device.image();
            for pass in 0..3 {
                device.put_back_device(&before, window);
                let wave = device.wave(0).at_port(0);
                let answers = ends(move || (0..each).map(|x| wave.call(ADD, &[100 * pass + x])).collect::<Vec<_>>());
                let right: Vec<_> = (0..each).map(|x| Ok(vec![100 * pass + x + 1000])).collect();
                assert_eq!(answers, right, "pass {pass} of {each} calls, window {}, put back {window}", geometry.window);
            }
            assert_eq!(calls.load(Ordering::Relaxed), 3 * each, "each call is handled once in each pass");
            for pass in 1..=3 {
                device.put_back_device(&before, window);
                let wave = device.wave(0).at_port(0);
                ends(move || (0..3).for_each(|_| wave.post(SUM, Flags::default(), &[1]).unwrap()));
                eventually("the posts are handled", || sum.load(Ordering::Relaxed) == 1 + 3 * pass);
            }
        }
    }
}

#[test]
fn all_ports_follow_and_those_that_have_sent_nothing_since_go_on() {
    for geometry in geometries(40) {
        let (server, calls, _) = serves();
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        let _awake = server.keep_awake();
        let call = |port: u32, x: u32| {
            let wave = device.wave(0).at_port(port);
            assert_eq!(ends(move || wave.call(ADD, &[x])), Ok(vec![x + 1000]), "port {port}");
        };
        (0..40).for_each(|port| call(port, port));
        let before = device.image();
        for pass in 1..=3 {
            device.put_back(&before);
            (pass..40).step_by(3).for_each(|port| call(port, port + 100 * pass));
        }
        (0..40).for_each(|port| call(port, 500 + port));
        assert_eq!(calls.load(Ordering::Relaxed), 40 + 13 + 13 + 13 + 40, "each once");
    }
}

#[test]
fn posts_of_every_pass_are_handled_once_though_the_ring_laps() {
    for geometry in geometries(2) {
        let (server, _, sum) = serves();
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        let _awake = server.keep_awake();
        device.wave(0).at_port(1).post(SUM, Flags::default(), &[5]).unwrap();
        eventually("the post before is handled", || sum.load(Ordering::Relaxed) == 5);
        let before = device.image();
        for pass in 1..=5 {
            device.put_back(&before);
            let wave = device.wave(0).at_port(1);
            ends(move || (0..1000).for_each(|_| wave.post(SUM, Flags::default(), &[1]).unwrap()));
            eventually("the posts are handled", || sum.load(Ordering::Relaxed) == 5 + 1000 * pass);
        }
    }
}

/// A kernel that posts ends before its posts are handled, and a profiler may be quicker than the server.
#[test]
fn memory_that_is_put_back_while_a_message_is_handled_is_followed_as_well() {
    for (geometry, direct) in geometries(100).into_iter().flat_map(|geometry| [(geometry, true), (geometry, false)]) {
        let (entered, is_entered) = channel();
        let (open, is_open) = channel::<()>();
        let gate = Mutex::new((entered, is_open));
        let wait = move |x: u32| {
            if x == 7 {
                let gate = gate.lock().unwrap();
                gate.0.send(()).unwrap();
                gate.1.recv_timeout(Duration::from_secs(60)).unwrap();
            }
        };
        let post = if direct {
            posted_service("post", wait)
        } else {
            Service::new(definition::<u32>("post", None), move |call| {
                wait(call.fixed()?);
                Ok(())
            })
        };
        let add = fixed_service("add", |x: u32| x + 1000);
        let server = Server::without_device().threads(1).service(add).service(post).without_built_in().start().unwrap();
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        let _awake = server.keep_awake();
        let call = |port: u32, x: u32| {
            let wave = device.wave(0).at_port(port);
            assert_eq!(ends(move || wave.call(ADD, &[x])), Ok(vec![x + 1000]), "port {port}");
        };
        (0..100).for_each(|port| call(port, port));
        let before = device.image();
        for pass in 1..=3 {
            // Some of these are taken with the one that keeps the thread, some lie there.
            (0..100).for_each(|port| device.wave(0).at_port(port).post(SUM, Flags::default(), &[u32::from(port == 40) * 7]).unwrap());
            is_entered.recv_timeout(Duration::from_secs(60)).unwrap();
            device.put_back(&before);
            open.send(()).unwrap();
            (0..100).rev().for_each(|port| call(port, 100 * pass + port));
            device.put_back(&before);
        }
        (0..100).for_each(|port| call(port, port));
    }
}

/// The next pass would take the acknowledgement for the reply to its first call, which has the same tag.
#[test]
fn a_post_is_not_acknowledged_in_memory_that_was_put_back_while_it_was_handled() {
    for (geometry, direct) in geometries(4).into_iter().flat_map(|geometry| [(geometry, true), (geometry, false)]) {
        for is_put_back in [true, false] {
            let meanwhile = Arc::new(OnceLock::<Box<dyn Fn() + Send + Sync>>::new());
            let handler = meanwhile.clone();
            let service = if direct {
                posted_service("post", move |_: u32| handler.get().unwrap()())
            } else {
                Service::new(definition::<u32>("post", None), move |_| {
                    handler.get().unwrap()();
                    Ok(())
                })
            };
            let mut sweeper = Sweeper::new(PortBuffer::in_process(geometry).unwrap(), [service]).unwrap();
            let (device, raw) = (sweeper.device(), sweeper.device().raw());
            let before = device.image();
            let put_back: Box<dyn Fn() + Send + Sync> = Box::new(move || {
                if is_put_back {
                    device.put_back(&before)
                }
            });
            assert!(meanwhile.set(put_back).is_ok());
            raw.send(1, 0, Tag::new(1), 1, Flags::default(), 1, &[7]);
            raw.ring(1, 1);
            assert_eq!(sweeper.sweep(), 1);
            assert_eq!(raw.answered(1, Tag::new(1)), !is_put_back, "direct: {direct}, window: {}", geometry.window);
        }
    }
}

#[test]
fn a_pass_that_exits_ends_no_other() {
    for geometry in geometries(4) {
        let exit = Service::new(definition::<u32>("exit", Some(0)), |call| {
            let code = call.fixed::<u32>()?;
            call.report().exited(code as i32);
            Ok(())
        });
        let server = Server::without_device().service(fixed_service("same", |x: u32| x)).service(exit).without_built_in().start().unwrap();
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        let _awake = server.keep_awake();
        let before = device.image();
        for pass in 0..4 {
            device.put_back(&before);
            let wave = device.wave(0).at_port(0);
            let answers = ends(move || [wave.call(1, &[pass]), wave.call(2, &[0]), wave.call(1, &[pass])]);
            assert_eq!(answers[..2], [Ok(vec![pass]), Ok(vec![])], "pass {pass}");
            assert!(answers[2].is_err(), "pass {pass} has ended");
        }
        assert_eq!(server.collect().exits, [0; 4]);
    }
}

#[test]
fn what_was_sent_in_the_pass_before_is_not_taken_while_memory_is_put_back() {
    for (geometry, from_behind) in geometries(2).into_iter().flat_map(|geometry| [(geometry, false), (geometry, true)]) {
        let (server, calls, _) = serves();
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        let _awake = server.keep_awake();
        let before = device.image();
        for pass in 1..=3 {
            let wave = device.wave(0).at_port(0);
            assert_eq!(ends(move || wave.call(ADD, &[pass])), Ok(vec![pass + 1000]));
            device.put_back_slowly(&before, from_behind, || std::thread::sleep(Duration::from_millis(10)));
        }
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn kernels_that_nobody_has_announced_are_served_in_every_pass() {
    for geometry in geometries(33) {
        let (server, calls, _) = serves();
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        assert_eq!(device.buffer().descriptor().ports, 33, "it is launched elsewhere from now on");
        let before = device.image();
        for pass in 0..4 {
            device.put_back(&before);
            let wave = device.wave(0).at_port(17);
            assert_eq!(ends(move || wave.call(ADD, &[pass])), Ok(vec![pass + 1000]));
            eventually("the server has nothing to do", || !hostcall::test_utils::is_armed(&server));
        }
        assert_eq!(calls.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn memory_may_be_put_back_over_a_lap_of_the_tag() {
    let (server, calls, _) = serves();
    let device = MockDevice::new(server.add_buffer(PortBuffer::in_process_from(geometry(1, 32), Tag::new(0x4000)).unwrap()));
    let _awake = server.keep_awake();
    let wave = device.wave(0);
    let pass = move || (0..20_000).for_each(|x| assert_eq!(wave.call(ADD, &[x]), Ok(vec![x + 1000])));
    let before = device.image();
    ends(pass.clone());
    device.put_back(&before);
    ends(pass);
    assert_eq!(calls.load(Ordering::Relaxed), 40_000);
}

#[test]
fn a_device_that_writes_marks_disturbs_itself_alone() {
    let (server, ..) = serves();
    let buffer = || MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry(8, 32)).unwrap()));
    let (hostile, honest) = (buffer(), buffer());
    let _awake = server.keep_awake();
    assert_eq!(hostile.wave(0).at_port(0).call(ADD, &[1]), Ok(vec![1001]));
    for mark in [0, 1, u32::MAX, 0x8000, 0x7fff_0000, 0xffff_0001, 3 << 16 | 7, 1] {
        (0..8).for_each(|port| hostile.write_marks(port, mark, None));
        let wave = honest.wave(0);
        let answers = ends(move || (0..200).map(|x| wave.call(ADD, &[x])).collect::<Vec<_>>());
        assert_eq!(answers, (0..200).map(|x| Ok(vec![x + 1000])).collect::<Vec<_>>(), "mark {mark:#x}");
    }
}

#[test]
fn a_device_that_writes_marks_for_ever_keeps_nobody_waiting_for_a_drain() {
    let server =
        Server::without_device().threads(1).service(posted_service("slow", |_: u32| std::thread::sleep(Duration::from_micros(200))));
    let server = server.without_built_in().start().unwrap();
    let buffer = || MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry(8, 32)).unwrap()));
    // Two programs, so that turns end, and a drain takes several.
    let (hostile, _honest) = (buffer(), buffer());
    let stop = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0;
            // Relaxed: it orders nothing.
            while stop.load(Ordering::Relaxed) == 0 {
                turn += 1;
                (0..8).for_each(|port| hostile.write_marks(port, turn % 1000, Some(turn | 1 << 31)));
            }
        });
        for _ in 0..3 {
            let raw = hostile.raw();
            (0..8).for_each(|port| {
                (0..30).for_each(|i| raw.send(port, i, Tag::new(1 + i as u16), 1, Flags::default(), 1, &[1]));
                raw.ring(port, 30);
            });
            assert!(server.collect().panics.is_empty(), "it comes to an end");
        }
        stop.store(1, Ordering::Relaxed);
    });
}
