//! Calls of kernels that others launch, of which nobody tells the server: `kernel<<<>>>` with a copy that waits behind
//! it, launches that block until the kernel has ended, replays of graphs.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use common::{eventually, geometry};
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{MockDevice, Turns, fixed_service, is_armed, posted_service, turns};
use hostcall::{Server, ServerBuilder};
use hostcall_abi::{Flags, Tag};

const MOMENT: Duration = Duration::from_millis(20);

fn start(builder: ServerBuilder) -> Server {
    builder.without_built_in().start().unwrap()
}

/// A program that nobody but its owner launches, because its owner asked where it calls.
fn theirs(server: &Server, ports: u32) -> MockDevice {
    let device = ours(server, ports);
    assert_eq!(device.buffer().descriptor().ports, ports);
    device
}

/// A program that only the server's own queues launch.
fn ours(server: &Server, ports: u32) -> MockDevice {
    MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry(ports, 32)).unwrap()))
}

fn doubles(threads: usize) -> Server {
    start(Server::without_device().threads(threads).service(fixed_service("double", |x: u32| 2 * x)))
}

/// What a launch that blocks gives, which a test does not wait for without end.
fn blocking<T: Send + 'static>(what: &str, launch: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(launch()));
    ended.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("in vain: {what}"))
}

fn silence(server: &Server) {
    eventually("nothing is armed", || !is_armed(server));
}

/// The threads that have looked at something while this one sleeps.
fn moving(server: &Server) -> Vec<Turns> {
    let before = turns(server);
    std::thread::sleep(MOMENT);
    let since = |(now, before): (Turns, &Turns)| Turns { turns: now.turns - before.turns, rests: now.rests - before.rests };
    turns(server).into_iter().zip(&before).map(since).filter(|thread| thread.turns > 0).collect()
}

#[test]
fn calls_are_answered_though_nobody_has_announced_a_launch() {
    for threads in [1, 4] {
        let server = doubles(threads);
        let device = theirs(&server, 33);
        for launch in 0..4 {
            silence(&server);
            let kernel = device.clone();
            let calls = move || (0..100).map(|x| kernel.wave(launch).call(1, &[x])).collect::<Vec<_>>();
            assert_eq!(blocking("a call is answered", calls), (0..100).map(|x| Ok(vec![2 * x])).collect::<Vec<_>>());
        }
    }
}

#[test]
fn posts_are_handled_that_nobody_waits_for() {
    let sum = Arc::new(AtomicU32::new(0));
    let handler = sum.clone();
    // Pairs with the load below.
    let server = start(
        Server::without_device().threads(2).service(posted_service("add", move |x: u32| _ = handler.fetch_add(x, Ordering::Relaxed))),
    );
    let device = theirs(&server, 8);
    for launch in 1..=3 {
        silence(&server);
        device.wave(0).post(1, Flags::default(), &[7]).unwrap();
        eventually("the post is handled", || sum.load(Ordering::Relaxed) == 7 * launch);
    }
}

#[test]
fn a_call_whose_doorbell_is_lost_is_answered() {
    let server = doubles(2);
    let (device, ports) = (theirs(&server, 100), [0, 50, 99]);
    silence(&server);
    let raw = device.raw();
    for port in ports {
        raw.send(port, 0, Tag::new(1), 1, Flags::REPLY, 1, &[7]);
        eventually("the call is answered", || raw.answered(port, Tag::new(1)));
        silence(&server);
    }
}

#[test]
fn a_program_that_is_given_out_while_every_thread_sleeps_is_served() {
    let server = doubles(2);
    let device = ours(&server, 8);
    eventually("all threads sleep", || moving(&server).is_empty());
    device.buffer().descriptor();
    assert_eq!(blocking("a call is answered", move || device.wave(0).call(1, &[4])), Ok(vec![8]));
}

#[test]
fn in_silence_nothing_is_armed_and_one_thread_alone_looks() {
    let server = doubles(4);
    let device = theirs(&server, 32);
    assert_eq!(blocking("a call is answered", move || device.wave(0).call(1, &[4])), Ok(vec![8]));
    silence(&server);
    eventually("one thread alone looks, and rests after each look", || {
        let threads = moving(&server);
        !is_armed(&server) && matches!(threads[..], [one] if one.turns <= one.rests + 1)
    });
}

#[test]
fn the_last_program_of_others_takes_the_heartbeat_with_it() {
    let server = doubles(4);
    let (own, first, second) = (ours(&server, 16), theirs(&server, 16), theirs(&server, 16));
    server.remove_buffer(first.buffer()).unwrap();
    assert_eq!(
        blocking("the other program's call is answered", {
            let device = second.clone();
            move || device.wave(0).call(1, &[1])
        }),
        Ok(vec![2])
    );
    server.remove_buffer(second.buffer()).unwrap();
    eventually("no thread looks at anything", || moving(&server).is_empty());
    let awake = server.keep_awake();
    assert_eq!(blocking("a launch of the server's own is answered", move || own.wave(0).call(1, &[3])), Ok(vec![6]));
    drop(awake);
    eventually("no thread looks at anything once more", || moving(&server).is_empty());
}

#[test]
fn an_inline_handler_that_waits_for_another_call_keeps_nobody_from_answering_that() {
    let both = Arc::new(Barrier::new(2));
    let handler = move |x: u32| {
        both.wait();
        x
    };
    let server = start(Server::without_device().threads(2).service(fixed_service("meet", handler)));
    let device = theirs(&server, 64);
    for _ in 0..3 {
        silence(&server);
        let (one, other) = (device.clone(), device.clone());
        let meet = move || {
            let one = std::thread::spawn(move || one.wave(0).at_port(1).call(1, &[1]));
            let other = other.wave(0).at_port(50).call(1, &[2]);
            (one.join().unwrap(), other)
        };
        assert_eq!(blocking("both calls are answered", meet), (Ok(vec![1]), Ok(vec![2])));
    }
}

#[test]
fn calls_that_come_just_when_the_threads_go_to_sleep_are_answered() {
    let server = doubles(3);
    let devices = [theirs(&server, 40), theirs(&server, 40)];
    let calls = move || {
        for round in 0..200u32 {
            // About as long as threads spin, yield, and look in vain.
            std::thread::sleep(Duration::from_micros(u64::from(round) * 150 % 30_000));
            assert_eq!(devices[round as usize % 2].wave(round % 32).call(1, &[round]), Ok(vec![2 * round]));
        }
    };
    blocking("each call is answered", calls);
}

#[test]
fn a_server_stops_in_the_middle_of_its_heartbeats_and_calls() {
    for round in 0..20 {
        let server = doubles(2);
        let device = theirs(&server, 16);
        let kernel = std::thread::spawn(move || while device.wave(0).call(1, &[1]).is_ok() {});
        std::thread::sleep(Duration::from_millis(round % 5));
        let report = blocking("the server stops", || server.stop());
        assert!(report.is_success(), "{report}");
        kernel.join().unwrap();
    }
}
