//! Within the process.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use hostcall::Status;
use hostcall::detached::{Message, Replies};
use hostcall_remote::{CallOptions, Remote, RemoteError, Worker, local};

use crate::common;
use crate::support::{Caller, echo, eventually, host, message, mixed, received};

#[test]
fn every_way_to_run_a_handler() {
    common::every_way_to_run_a_handler(&local());
}

#[test]
fn strings_slices_and_what_comes_back() {
    common::strings_and_slices(&local());
}

#[test]
fn definitions_that_differ_never_meet() {
    common::definitions_that_differ_never_meet(&local());
}

#[test]
fn without_a_worker_a_call_ends_or_waits() {
    common::without_a_worker(&local());
}

#[test]
fn a_slow_worker_delays_calls_to_their_timeout_and_no_longer() {
    common::a_slow_worker(&local());
}

#[test]
fn what_a_worker_has_no_time_for_is_sent_again() {
    common::a_worker_with_too_much_to_do(&local());
}

#[test]
fn messages_that_ask_for_much_are_few_at_once() {
    common::messages_that_ask_for_much(&local());
}

#[test]
fn a_message_that_asks_for_more_than_a_worker_has_says_so() {
    common::a_message_that_asks_for_too_much(&local());
}

#[test]
fn what_is_too_large_says_so() {
    common::what_is_too_large(&local(), 512 << 10);
}

#[test]
fn posts_have_been_handled_when_they_are_done() {
    common::posts(&local());
}

#[test]
fn a_million_calls_are_each_run_and_answered_once() {
    common::a_million_calls(&local(), 2);
}

#[test]
fn a_worker_may_ask_another_one() {
    let (near, far) = (local(), local());
    let _far = Worker::on(far.clone()).service(echo()).start().unwrap();
    let onwards = far.connect().unwrap();
    let _near = Worker::on(near.clone()).service(onwards.service(host::definition::echo())).start().unwrap();
    let caller = Caller::new(near.connect().unwrap().service(host::definition::echo()));
    let mut bytes = b"ab\0\0".to_vec();
    bytes.extend([5u32, 6].iter().flat_map(|n| n.to_ne_bytes()));
    // The numbers come back the other way round. An image says last how many such arguments there are.
    for (image, expected) in [(false, vec![2, 12, 6, 5, 0]), (true, vec![2, 12, 6, 5, 0, 1])] {
        let units = vec![0, 12, 2, 8, 12];
        let message = Message { mask: 1, units, bytes: bytes.clone(), ends: vec![12], room: 8, image, ..Message::default() };
        let replies = caller.call(message);
        assert_eq!((replies.heads[0].status, &replies.units), (Status::OK, &expected), "image: {image}, {:?}", replies.notes);
    }
}

#[test]
fn kept_posts_wait_for_a_worker() {
    let place = local();
    let remote = place.clone().connect().unwrap();
    let caller = Caller::new(remote.service_with(host::definition::log(), CallOptions::new().kept()));
    for line in 0..10 {
        let replies = caller.call(Message { mask: 1, units: vec![line, 0], post: true, ..Message::default() });
        assert_eq!(replies.heads[0].status, Status::OK);
    }
    let seen = Arc::new(AtomicU32::new(0));
    let theirs = seen.clone();
    let log = host::log(move |_| _ = theirs.fetch_add(1, Ordering::Relaxed));
    let _worker = Worker::on(place).service(log).kept().start().unwrap();
    eventually("all are handled", || seen.load(Ordering::Relaxed) == 10);
}

#[test]
fn a_worker_that_stops_finishes_what_it_has() {
    let place = local();
    let service = host::mixed(|x| {
        std::thread::sleep(Duration::from_millis(100));
        mixed(x)
    });
    let worker = Worker::on(place.clone()).service(service.blocking()).start().unwrap();
    let remote = place.connect().unwrap();
    let caller = Caller::new(remote.service(host::definition::mixed()));
    let waiting = caller.start(crate::support::message(&[4]));
    eventually("it is under way", || worker.stats()[0].requests == 1);
    assert!(worker.stop(Duration::from_secs(100)));
    assert_eq!(crate::support::result(&crate::support::received(&waiting)), Ok(12));
    assert_eq!(caller.mixed(4), Err(Status::UNKNOWN_SERVICE));
}

#[test]
fn a_worker_without_services_or_with_one_twice_does_not_start() {
    assert!(matches!(Worker::on(local()).start(), Err(RemoteError::Nothing)));
    let twice = Worker::on(local()).service(host::mixed(mixed)).service(host::mixed(mixed)).start();
    assert!(matches!(twice, Err(RemoteError::Taken { name }) if name == "Host__mixed"));
}

/// As many requests at once: each is one of a service of its own, on one connection.
fn requests(remote: &Remote, values: std::ops::Range<u32>) -> Vec<(Caller, mpsc::Receiver<Replies>)> {
    let options = CallOptions::new().timeout(Duration::from_secs(120));
    let start = |x| {
        let caller = Caller::new(remote.service_with(host::definition::mixed(), options.clone()));
        let replies = caller.start(message(&[x]));
        (caller, replies)
    };
    values.map(start).collect()
}

#[test]
fn a_caller_whose_handlers_hold_all_threads_they_may_have_keeps_no_other_callers_waiting() {
    let (open, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let service = host::mixed(move |x| {
        if x >= 100 {
            // Until the other end is gone.
            let _ = held.lock().unwrap().recv();
        }
        u64::from(x)
    });
    let place = local();
    let _worker = Worker::on(place.clone()).service(service.blocking()).blocking_threads(2).start().unwrap();
    let (hostile, honest) = (place.clone().connect().unwrap(), place.connect().unwrap());
    let waiting = requests(&hostile, 100..164);
    for (_caller, replies) in requests(&honest, 0..20) {
        assert_eq!(received(&replies).heads[0].status, Status::OK);
    }
    assert!(waiting.iter().all(|(_, replies)| replies.try_recv().is_err()), "they are at the gate");
    drop(open);
    for (_caller, replies) in waiting {
        assert_eq!(received(&replies).heads[0].status, Status::OK);
    }
}

#[test]
fn callers_take_turns_however_many_requests_one_of_them_has_sent() {
    let (open, gate) = mpsc::channel::<()>();
    let (gate, order) = (Mutex::new(gate), Arc::new(Mutex::new(Vec::new())));
    let ran = order.clone();
    let service = host::mixed(move |x| {
        ran.lock().unwrap().push(x);
        if x == 100 {
            let _ = gate.lock().unwrap().recv();
        }
        u64::from(x)
    });
    let place = local();
    let _worker = Worker::on(place.clone().threads(1)).service(service).start().unwrap();
    let (hostile, honest) = (place.clone().connect().unwrap(), place.connect().unwrap());
    let first = requests(&hostile, 100..101);
    eventually("the worker's thread is in a handler", || order.lock().unwrap().len() == 1);
    let waiting = requests(&hostile, 101..400);
    let own = requests(&honest, 0..1);
    open.send(()).unwrap();
    for (_caller, replies) in first.into_iter().chain(waiting).chain(own) {
        assert_eq!(received(&replies).heads[0].status, Status::OK);
    }
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 301);
    let place = order.iter().position(|x| *x == 0).unwrap();
    assert!(place < 200, "{place} requests of the other caller were handled before");
}
