//! What crosses the wire: tags, doorbells, positions, messages that no client of this version sends.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::{eventually, geometry, serve, serve_over};
use hostcall::test_utils::{MockArch, fixed_service};
use hostcall::{CallError, Geometry, PortBuffer, Server, Service};
use hostcall_abi::geometry::WordForm;
use hostcall_abi::port::Arch;
use hostcall_abi::{Flags, Header, Status, Tag, Word};

fn double() -> Service {
    fixed_service("double", |x: u64| x.wrapping_mul(2))
}

#[test]
fn tags_wrap_around_and_scrub_without_losing_a_call() {
    for last in [0x7fff_ffff - 20, (1 << 30) - 20] {
        let buffer = PortBuffer::in_process_from(geometry(1, 32), Tag::new(last)).unwrap();
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
    let add = fixed_service("add", move |x: u64| {
        summed.fetch_add(x, Ordering::Relaxed);
    });
    let buffer = PortBuffer::in_process_from(geometry(1, 32), Tag::new(0x7fff_ffff - 1000)).unwrap();
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
fn words_of_three_pairs_carry_the_same_calls() {
    let g = Geometry { word_form: WordForm::Triple8, ..geometry(20, 64) };
    let s = serve_over(Server::without_device().service(double()), PortBuffer::in_process(g).unwrap());
    let mask = 0xf000_0000_0000_00ff;
    for _ in 0..20 {
        let results = s.device.run_wave(mask, |wave| (wave.lane(), wave.call_fixed::<u64, u64>(1, &u64::from(wave.lane()))));
        assert_eq!(results.len(), 12);
        results.into_iter().for_each(|(lane, result)| assert_eq!(result, Ok(u64::from(lane) * 2)));
    }
}

#[test]
fn a_message_whose_doorbell_was_lost_is_found() {
    let s = serve(Server::without_device().service(double()));
    let raw = s.device.raw();
    raw.send(17, 0, Tag::new(1), 1, Flags::REPLY, 1 << 5, &[21, 0]);
    eventually("the audit finds it", || raw.answered(17, Tag::new(1)));
    assert_eq!(raw.load(17, 0).data[1], 42);
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
    for (port, value) in [(0, u32::MAX), (1, 0x8000_0000), (2, 77), (31, 0x7fff_ffff), (30, 0x4000_0000)] {
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
        Header { service: 1, words: 1, flags: Flags(0x80 | 1), mask: 1 },
        Header { service: 1, words: 255, flags: Flags::REPLY, mask: 0xffff_ffff },
        Header { service: 1, words: 1, flags: Flags::REPLY, mask: 1 << 40 },
        Header { service: 1, words: 1, flags: Flags::REPLY, mask: u64::MAX },
    ];
    for (n, header) in (1..).zip(bad) {
        let tag = Tag::new(n);
        raw.store(9, 0, header.encode(tag));
        raw.ring(9, tag.payload());
        eventually("it is answered", || raw.answered(9, tag));
        assert_eq!(raw.load(9, 0).data[0] & 0xffff, u32::from(Status::MALFORMED.0));
    }
    let tag = Tag::new(bad.len() as u32 + 1);
    raw.send(9, 0, tag, 1, Flags::REPLY, 1, &[4, 0]);
    raw.ring(9, tag.payload());
    eventually("the next message is served", || raw.answered(9, tag));
    assert_eq!((raw.load(9, 0).data[1], s.server.collect().malformed), (8, 5));
}

#[test]
fn a_message_is_not_looked_at_before_its_last_word_is_there() {
    let s = serve(Server::without_device().service(fixed_service("sum", |x: [u32; 6]| x.iter().sum::<u32>())));
    let raw = s.device.raw();
    let tag = Tag::new(1);
    let header = Header { service: 1, words: 2, flags: Flags::REPLY, mask: 1 };
    raw.store(0, 0, header.encode(tag));
    raw.store(0, 2, Word { data: [4, 5, 6], tag: tag.payload() });
    raw.ring(0, tag.payload());
    std::thread::sleep(Duration::from_millis(20));
    assert!(!raw.answered(0, tag));
    raw.store(0, 1, Word { data: [1, 2, 3], tag: tag.payload() });
    eventually("now it is", || raw.answered(0, tag));
    assert_eq!(raw.load(0, 0).data[1], 21);
}

#[test]
fn a_client_that_gave_up_does_not_confuse_the_ports_next_owner() {
    let slow = fixed_service("slow", |x: u32| {
        std::thread::sleep(Duration::from_millis(100));
        x + 1
    });
    let s =
        serve_over(Server::without_device().service(slow.blocking()).service(double()), PortBuffer::in_process(geometry(1, 32)).unwrap());
    let impatient = s.device.wave(0);
    let (client, group) = (impatient.client(), impatient.group());
    let mut held = client.acquire(&group, true).unwrap();
    assert_eq!(client.send(&group, &mut held, 1, Flags::REPLY, 1, |_| [7, 0, 0]), Status::OK);
    let arch: MockArch<'_> = client.0;
    assert_eq!(impatient.receive(&mut held, arch.now_ns() + 1_000_000), Err(CallError::Timeout));
    client.release(&group, held);
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
