//! What crosses the wire: tags, doorbells, positions, messages that no client of this version sends.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{eventually, geometry, serve, serve_over, with_window};
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{MockArch, fixed_service, posted_service};
use hostcall::{CallError, Server, Service};
use hostcall_abi::header::pack_lone;
use hostcall_abi::lanes::Lanes as _;
use hostcall_abi::port::Arch;
use hostcall_abi::{Flags, Header, Status, Tag, Word};

fn double() -> Service {
    fixed_service("double", |x: u64| x.wrapping_mul(2))
}

#[test]
fn tags_wrap_around_and_scrub_without_losing_a_call() {
    for (last, geometry) in
        [0x7fff - 20, (1 << 14) - 20].into_iter().flat_map(|last| [(last, geometry(1, 32)), (last, with_window(geometry(1, 32)))])
    {
        let buffer = PortBuffer::in_process_from(geometry, Tag::new(last)).unwrap();
        let s = serve_over(Server::without_device().service(double()), buffer);
        // One port, so that every message moves its tag on.
        for i in 0..60u64 {
            let results = s.device.run_wave(0x8001_0010, |wave| wave.call_fixed::<u64, u64>(1, &(i + u64::from(wave.lane()))));
            assert_eq!(results, [4, 16, 31].map(|lane| Ok((i + lane) * 2)), "message {i} after {last:#x}");
        }
    }
}

#[test]
fn posts_and_calls_mixed_over_the_wrap_around_are_each_handled_once() {
    let sum = Arc::new(AtomicU64::new(0));
    let summed = sum.clone();
    let add = posted_service("add", move |x: u64| {
        summed.fetch_add(x, Ordering::Relaxed);
    });
    let buffer = PortBuffer::in_process_from(geometry(1, 32), Tag::new(0x7fff - 1000)).unwrap();
    let s = serve_over(Server::without_device().service(double()).service(add), buffer);
    let wave = s.device.wave(3);
    let mut expected = 0;
    for i in 0..4000u32 {
        if i % 7 == 0 {
            assert_eq!(wave.call_fixed::<u64, u64>(1, &u64::from(i)), Ok(u64::from(i) * 2));
        } else {
            // Of all sizes, so that positions in the ring take all values.
            let mut payload = vec![0; 2 + i as usize % 40];
            payload[0] = i;
            wave.post(2, Flags::default(), &payload).unwrap();
            expected += u64::from(i);
        }
    }
    assert!(s.server.collect().is_success());
    assert_eq!(sum.load(Ordering::Relaxed), expected);
}

#[test]
fn replies_in_a_window_are_the_same() {
    let s = serve_over(Server::without_device().service(double()), PortBuffer::in_process(with_window(geometry(20, 64))).unwrap());
    for mask in [0xf000_0000_0000_00ff, 1 << 63, 0b111, u64::MAX] {
        for _ in 0..5 {
            let results = s.device.run_wave(mask, |wave| (wave.lane(), wave.call_fixed::<u64, u64>(1, &u64::from(wave.lane()))));
            assert_eq!(results.len() as u32, mask.count_ones());
            results.into_iter().for_each(|(lane, result)| assert_eq!(result, Ok(u64::from(lane) * 2)));
        }
    }
}

#[test]
fn a_message_whose_doorbell_was_lost_is_found() {
    let s = serve(Server::without_device().service(double()));
    let raw = s.device.raw();
    raw.send(17, 0, Tag::new(1), 1, Flags::REPLY, 1 << 5, &[21, 0]);
    eventually("the audit finds it", || raw.answered(17, Tag::new(1)));
    assert_eq!(raw.load(17, 0).0[1], 42);
}

#[test]
fn a_doorbell_that_comes_before_its_message_is_not_forgotten() {
    let s = serve(Server::without_device().service(double()));
    let raw = s.device.raw();
    raw.ring(3, 1);
    std::thread::sleep(Duration::from_millis(5));
    raw.send(3, 0, Tag::new(1), 1, Flags::REPLY, 1, &[5, 0]);
    eventually("it is answered", || raw.answered(3, Tag::new(1)));
}

#[test]
fn doorbells_that_mean_nothing_cost_nothing_but_a_look() {
    let s = serve(Server::without_device().service(double()));
    let raw = s.device.raw();
    for (port, value) in [(0, u32::MAX), (1, 0x8000), (2, 77), (31, 0x7fff), (30, 0x4000)] {
        raw.ring(port, value);
    }
    for port in 0..32 {
        assert_eq!(s.device.wave(0).at_port(port).call_fixed::<u64, u64>(1, &u64::from(port)), Ok(u64::from(port) * 2));
    }
}

#[test]
fn messages_that_make_no_sense_are_answered_and_counted_and_their_port_lives_on() {
    let s = serve(Server::without_device().service(double()));
    let raw = s.device.raw();
    let bad = [
        Header { service: 1, words: 1, flags: Flags::REPLY, mask: 0 },
        // One lane in the form of many.
        Header { service: 1, words: 1, flags: Flags::REPLY, mask: 1 },
        Header { service: 1, words: 1, flags: Flags(0x80 | 1), mask: 3 },
        Header { service: 1, words: 255, flags: Flags::REPLY, mask: 0xffff_ffff },
        Header { service: 1, words: 1, flags: Flags::REPLY, mask: 1 << 40 },
        Header { service: 1, words: 1, flags: Flags::REPLY, mask: u64::MAX },
    ];
    for (n, header) in (1..).zip(bad) {
        let tag = Tag::new(n);
        raw.store(9, 0, header.encode(tag));
        raw.ring(9, tag.payload().into());
        eventually("it is answered", || raw.answered(9, tag));
        assert_eq!(raw.load(9, 0).0[0] & 0xffff, u32::from(Status::MALFORMED.0));
    }
    let tag = Tag::new(bad.len() as u16 + 1);
    raw.send(9, 0, tag, 1, Flags::REPLY, 1, &[4, 0]);
    raw.ring(9, tag.payload().into());
    eventually("the next message is served", || raw.answered(9, tag));
    assert_eq!((raw.load(9, 0).0[1], s.server.collect().malformed), (8, 6));
}

#[test]
fn a_flag_that_disagrees_with_the_definition_is_malformed() {
    let handled = Arc::new(AtomicU64::new(0));
    let count = handled.clone();
    let blocking = fixed_service("blocking", move |x: u64| {
        count.fetch_add(1, Ordering::Relaxed);
        x
    });
    let s = serve(Server::without_device().service(blocking.blocking()).service(posted_service("posted", |_: u64| ())));
    let raw = s.device.raw();
    // A post of a service that has a result; a call of one that has none.
    raw.send(0, 0, Tag::new(1), 1, Flags::default(), 1, &[5, 0]);
    raw.ring(0, 1);
    eventually("the post is acknowledged", || raw.answered(0, Tag::new(1)));
    raw.send(1, 0, Tag::new(1), 2, Flags::REPLY, 1, &[5, 0]);
    raw.ring(1, 1);
    eventually("the call is answered", || raw.answered(1, Tag::new(1)));
    assert_eq!(raw.load(1, 0).0[0] & 0xffff, u32::from(Status::MALFORMED.0));
    assert_eq!((s.server.collect().malformed, handled.load(Ordering::Relaxed)), (2, 0));
}

#[test]
fn posts_that_nobody_handles_wait_in_their_ports() {
    let (let_go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let slow = posted_service("slow", move |_: u64| {
        let _ = wait.lock().unwrap().recv();
    });
    let s = serve(Server::without_device().blocking_threads(1).service(slow.blocking()).service(double()));
    // More than the server keeps: what is over stays in the ports, whose rings are full in the end.
    let mut sent = 0u64;
    let full = std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        let device = &s.device;
        scope.spawn(move || {
            let wave = device.wave(0);
            for _ in 0..6000 {
                wave.post(1, Flags::default(), &[1, 2]).unwrap();
                // Nobody counts the last ones.
                let _ = tell.send(());
            }
        });
        while told.recv_timeout(Duration::from_millis(500)).is_ok() {
            sent += 1;
        }
        let full = sent;
        assert_eq!(device.wave(0).at_port(7).call_fixed::<u64, u64>(2, &4), Ok(8), "other ports are served meanwhile");
        for _ in 0..6000 {
            let_go.send(()).unwrap();
        }
        full
    });
    assert!((4096..5000).contains(&full), "{full} posts were taken or lie in one port's ring");
    assert!(s.server.collect().is_success());
    assert_eq!(s.server.stats().service("slow").unwrap().calls, 6000);
}

#[test]
fn a_message_is_not_looked_at_before_its_last_word_is_there() {
    let s = serve(Server::without_device().service(fixed_service("sum", |x: [u32; 6]| x.iter().sum::<u32>())));
    let raw = s.device.raw();
    let tag = Tag::new(1);
    let header = Header { service: 1, words: 2, flags: Flags::REPLY, mask: 1 };
    let word = |j| Word::new(pack_lone(j, |i| [1, 2, 3, 4, 5, 6].get(i as usize).copied().unwrap_or(0)), tag.payload());
    raw.store(0, 0, header.encode_lone(0, [1, 2], tag));
    raw.store(0, 2, word(1));
    raw.ring(0, tag.payload().into());
    std::thread::sleep(Duration::from_millis(20));
    assert!(!raw.answered(0, tag));
    raw.store(0, 1, word(0));
    eventually("now it is", || raw.answered(0, tag));
    assert_eq!(raw.load(0, 0).0[1], 21);
}

#[test]
fn a_client_that_gave_up_does_not_confuse_the_ports_next_owner() {
    // The handler answers when its caller has given up.
    let (give_up, given_up) = std::sync::mpsc::channel();
    let given_up = std::sync::Mutex::new(given_up);
    let slow = fixed_service("slow", move |x: u32| {
        given_up.lock().unwrap().recv().unwrap();
        x + 1
    });
    let s =
        serve_over(Server::without_device().service(slow.blocking()).service(double()), PortBuffer::in_process(geometry(1, 32)).unwrap());
    let impatient = s.device.wave(0);
    let (client, group) = (impatient.client(), impatient.group());
    let mut held = client.acquire(&group, true).unwrap();
    assert_eq!(client.send(&group, &mut held, 1, Flags::REPLY, 1, |_| 7), Status::OK);
    let arch: MockArch<'_> = client.0;
    assert_eq!(impatient.receive(&mut held, arch.now_ns() + 1_000_000), Err(CallError::Timeout));
    client.release(&group, held);
    give_up.send(()).unwrap();
    assert_eq!(s.device.wave(1).call_fixed::<u64, u64>(2, &10), Ok(20), "the port's only other user");
}

#[test]
fn all_port_locks_are_free_afterwards() {
    let s = serve(Server::without_device().service(double()));
    std::thread::scope(|scope| {
        for w in 0..64 {
            let wave = s.device.wave(w % 32);
            scope.spawn(move || (0..50).for_each(|i| assert_eq!(wave.call_fixed::<u64, u64>(1, &i), Ok(i * 2))));
        }
    });
    let wave = s.device.wave(0);
    for port in 0..32 {
        assert_eq!(wave.client().0.lock_port(port) & 1, 0, "port {port}");
    }
}
