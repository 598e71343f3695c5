//! Messages that one look takes together: each is handled by its own service, in its own kind and room, and what spoils
//! one spoils no other.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::geometry;
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{RawPorts, Sweeper, definition, fixed_service, posted_service};
use hostcall::{HandlerError, Service};
use hostcall_abi::{Flags, Header, Status, Tag};

/// The first message of every port.
const FIRST: Tag = Tag::new(1);

fn sweeper(services: impl IntoIterator<Item = Service>) -> (Sweeper, RawPorts) {
    let sweeper = Sweeper::new(PortBuffer::in_process(geometry(4, 32)).unwrap(), services).unwrap();
    let raw = sweeper.device().raw();
    (sweeper, raw)
}

/// Sends the first message of a port.
fn send(raw: &RawPorts, port: u32, service: u16, flags: Flags, mask: u64, payload: &[u32]) {
    raw.send(port, 0, FIRST, service, flags, mask, payload);
    raw.ring(port, FIRST.payload().into());
}

/// How the first lane's call ended, and the first word of its result.
fn answer(raw: &RawPorts, port: u32) -> (u16, u32) {
    assert!(raw.answered(port, FIRST), "port {port} has no answer");
    let [head, first, ..] = raw.load(port, 0).0;
    (head as u16, first)
}

#[test]
fn a_message_that_makes_no_sense_leaves_another_ports_post_its_acknowledgement() {
    let seen = Arc::new(AtomicU32::new(0));
    let count = seen.clone();
    let (mut sweeper, raw) = sweeper([posted_service("post", move |x: u32| _ = count.fetch_add(x, Ordering::Relaxed))]);
    send(&raw, 0, 1, Flags::default(), 1, &[7]);
    raw.store(1, 0, Header { service: 1, words: 1, flags: Flags::REPLY, mask: 0 }.encode(FIRST));
    raw.ring(1, FIRST.payload().into());
    send(&raw, 2, 1, Flags::default(), 1, &[8]);
    sweeper.sweep_all();
    assert!((0..3).all(|port| raw.answered(port, FIRST)));
    assert_eq!((answer(&raw, 1).0, seen.load(Ordering::Relaxed)), (Status::MALFORMED.0, 15));
    assert_eq!(sweeper.take_report().malformed, 1);
}

#[test]
fn a_post_behind_a_call_of_its_service_is_no_call() {
    let seen = Arc::new(AtomicU32::new(0));
    let count = seen.clone();
    let count = move |x: u32| {
        count.fetch_add(1, Ordering::Relaxed);
        2 * x
    };
    let (mut sweeper, raw) = sweeper([fixed_service("double", count)]);
    send(&raw, 0, 1, Flags::REPLY, 1, &[4]);
    send(&raw, 1, 1, Flags::default(), 1, &[5]);
    send(&raw, 2, 1, Flags::REPLY, 1, &[6]);
    sweeper.sweep_all();
    assert_eq!((answer(&raw, 0), answer(&raw, 2)), ((0, 8), (0, 12)));
    assert!(raw.answered(1, FIRST), "it is acknowledged");
    assert_eq!((sweeper.take_report().malformed, seen.load(Ordering::Relaxed)), (1, 2));
}

/// A lone lane has room for a longer reply than each of a full wave has.
#[test]
fn a_reply_has_its_own_messages_room_whatever_stands_before() {
    let long = || fixed_service("long", |x: u32| [x; 200]);
    for lone in 0..3 {
        let (mut sweeper, raw) = sweeper([long()]);
        for port in 0..3 {
            send(&raw, port, 1, Flags::REPLY, if port == lone { 1 } else { 0xffff_ffff }, &[port + 1]);
        }
        sweeper.sweep_all();
        for port in 0..3 {
            let expected = if port == lone { (0, port + 1) } else { (Status::TOO_LARGE.0, 0) };
            assert_eq!(answer(&raw, port).0, expected.0, "port {port}, and {lone} is the lone one");
            assert!(port != lone || answer(&raw, port) == expected);
        }
    }
}

#[test]
fn messages_of_different_services_are_each_handled_by_their_own() {
    let fails = Service::new(definition::<u32>("fails", Some(1)), |_| Err(HandlerError::new(7, "as it should").into()));
    let (mut sweeper, raw) = sweeper([fixed_service("double", |x: u32| 2 * x), fails, fixed_service("triple", |x: u32| 3 * x)]);
    for (port, service) in [(0, 1), (1, 3), (2, 2), (3, 99)] {
        send(&raw, port, service, Flags::REPLY, 1, &[10]);
    }
    sweeper.sweep_all();
    let ends = [(0, 20), (0, 30), (Status::HANDLER_FAILED.0, 0), (Status::UNKNOWN_SERVICE.0, 0)];
    for (port, (status, value)) in (0..).zip(ends) {
        assert_eq!(answer(&raw, port).0, status, "port {port}");
        assert!(status != 0 || answer(&raw, port).1 == value);
    }
}

/// Many more messages than are handled at once, of every kind, with some that make no sense.
#[test]
fn each_port_has_left_its_mark_when_what_it_took_is_handled() {
    let posts = posted_service("post", |x: [u32; 40]| assert_ne!(x[0], 0));
    let services = [posts, fixed_service("double", |x: u32| 2 * x)];
    let mut sweeper = Sweeper::new(PortBuffer::in_process(geometry(200, 32)).unwrap(), services).unwrap();
    let raw = sweeper.device().raw();
    for port in 0..200 {
        match port % 4 {
            0 => send(&raw, port, 2, Flags::REPLY, 1, &[port]),
            1 => send(&raw, port, 1, Flags::default(), 0xf, &[port; 40]),
            2 => {
                raw.store(port, 0, Header { service: 2, words: 1, flags: Flags::REPLY, mask: 0 }.encode(FIRST));
                raw.ring(port, FIRST.payload().into());
            }
            _ => send(&raw, port, 77, Flags::REPLY, 1, &[port]),
        }
    }
    assert_eq!(sweeper.sweep_all(), 200);
    assert!((0..200).all(|port| raw.answered(port, FIRST)));
    assert!(sweeper.is_marked());
}
