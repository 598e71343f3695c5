//! Panics on the host outside of handlers: a subscriber of `tracing` that panics. In a process of its own: the
//! subscriber is the process's.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::serve;
use hostcall::test_utils::{definition, fixed_service, posted_service};
use hostcall::{CallError, HandlerError, Server, Service};
use hostcall_abi::Flags;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Panics at as many events as it was told to, of modules whose names begin with [`WHERE`].
struct Panicking;

/// How many events are to come before, how many are still to panic, and how many have.
static BEFORE: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);
static PANICKED: AtomicU32 = AtomicU32::new(0);
static WHERE: Mutex<&str> = Mutex::new("");

impl Subscriber for Panicking {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let here = *WHERE.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = event.metadata().target().starts_with(here);
        let less_one = |left: u32| left.checked_sub(1);
        if wanted && LEFT.load(Ordering::Relaxed) > 0 && BEFORE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less_one).is_ok() {
            return;
        }
        if wanted && LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less_one).is_ok() {
            PANICKED.fetch_add(1, Ordering::Relaxed);
            panic!("the subscriber panics");
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// From now on `events` events of `module` panic. One test at a time.
fn panics(module: &'static str, events: u32) -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // The first test sets it.
    let _ = tracing::subscriber::set_global_default(Panicking);
    *WHERE.lock().unwrap_or_else(PoisonError::into_inner) = module;
    PANICKED.store(0, Ordering::Relaxed);
    LEFT.store(events, Ordering::Relaxed);
    guard
}

/// The events have panicked.
fn panicked() -> u32 {
    assert_eq!(LEFT.load(Ordering::Relaxed), 0, "there was no such event");
    PANICKED.load(Ordering::Relaxed)
}

const ROUTE: &str = "hostcall::serving::message";

#[test]
fn a_subscriber_that_panics_fails_the_call_that_it_was_told_of_and_the_next_is_served() {
    let s = serve(Server::without_device().threads(1).service(fixed_service("double", |x: u32| 2 * x)));
    let _one = panics(ROUTE, 1);
    assert_eq!(s.device.wave(0).call(1, &[3]), Err(CallError::HandlerPanicked));
    assert_eq!(panicked(), 1);
    for x in 0..100 {
        assert_eq!(s.device.wave(0).call(1, &[x]), Ok(vec![2 * x]));
    }
}

/// The second of three messages that are taken together, all with their ports' first tag.
#[test]
fn a_subscriber_that_panics_between_messages_fails_one_and_the_others_get_their_answers() {
    let (tell, told) = std::sync::mpsc::channel();
    let (let_go, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let gate = fixed_service("gate", move |x: u32| {
        tell.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        x
    });
    let services = [gate, fixed_service("double", |x: u32| 2 * x), fixed_service("triple", |x: u32| 3 * x)];
    let s = serve(Server::without_device().threads(1).services(services));
    let first = hostcall_abi::Tag::new(1);
    let raw = s.device.raw();
    let send = |port, service| {
        raw.send(port, 0, first, service, Flags::REPLY, 1, &[10]);
        raw.ring(port, 1);
    };
    send(20, 1);
    told.recv().unwrap();
    // The only thread is within a handler: it takes these together.
    send(3, 2);
    send(4, 3);
    send(5, 2);
    let _one = panics(ROUTE, 1);
    BEFORE.store(1, Ordering::Relaxed);
    let_go.send(()).unwrap();
    for port in 3..6 {
        common::eventually("it is answered", || raw.answered(port, first));
    }
    assert_eq!(panicked(), 1);
    let answer = |port| (raw.load(port, 0).0[0] as u16, raw.load(port, 0).0[1]);
    assert_eq!((answer(3), answer(5)), ((0, 20), (0, 20)));
    assert_eq!(answer(4).0, hostcall_abi::Status::HANDLER_PANICKED.0);
    let report = s.server.collect();
    assert!(report.handler_failures.is_empty(), "no posts were among them: {report}");
}

#[test]
fn a_subscriber_that_panics_over_and_over_stops_no_thread() {
    let s = serve(Server::without_device().threads(2).service(fixed_service("double", |x: u32| 2 * x)));
    let _one = panics(ROUTE, 40);
    let mut failed = 0;
    while LEFT.load(Ordering::Relaxed) > 0 {
        for result in s.device.run_wave(0xf, |wave| wave.call(1, &[4])) {
            match result {
                Ok(units) => assert_eq!(units, [8]),
                Err(error) => {
                    assert_eq!(error, CallError::HandlerPanicked);
                    failed += 1;
                }
            }
        }
    }
    assert_eq!((panicked(), failed), (40, 4 * 40), "each failed one message of four lanes");
    assert!(s.device.run_wave(0xf, |wave| wave.call(1, &[4])).iter().all(|result| *result == Ok(vec![8])));
    // And it ends.
    drop((s.awake, s.server));
}

#[test]
fn a_subscriber_that_panics_at_calls_that_are_turned_away_leaves_no_lane_waiting() {
    let s = serve(Server::without_device().threads(1).service(fixed_service("double", |x: u32| 2 * x)));
    {
        let _one = panics(ROUTE, 1);
        assert_eq!(s.device.wave(0).call(77, &[3]), Err(CallError::HandlerPanicked), "an unknown service");
        panicked();
    }
    {
        let _one = panics(ROUTE, 1);
        // More lanes than there are: the header makes no sense.
        s.device.raw().send(5, 0, hostcall_abi::Tag::new(1), 1, Flags::REPLY, 1 << 40 | 1, &[41]);
        s.device.raw().ring(5, 1);
        common::eventually("the malformed message is answered", || s.device.raw().answered(5, hostcall_abi::Tag::new(1)));
        common::eventually("its event came", || LEFT.load(Ordering::Relaxed) == 0);
        panicked();
    }
    assert_eq!(s.device.wave(0).call(1, &[3]), Ok(vec![6]));
}

#[test]
fn a_subscriber_that_panics_at_a_post_stops_nothing_and_the_drain_ends() {
    let seen = std::sync::Arc::new(AtomicU32::new(0));
    let count = seen.clone();
    let post = posted_service("post", move |_: u32| _ = count.fetch_add(1, Ordering::Relaxed));
    let s = serve(Server::without_device().threads(1).service(post));
    let _one = panics(ROUTE, 1);
    for _ in 0..20 {
        s.device.wave(0).post(1, Flags::default(), &[1]).unwrap();
    }
    // Waits until all posts are handled.
    let report = s.server.collect();
    panicked();
    assert!(report.handler_failures[0].message.contains("not all may have been handled"), "{report}");
    let lost = 20 - seen.load(Ordering::Relaxed);
    assert!((1..=20).contains(&lost), "those that were to be handled together, whose event panicked, are lost: {lost}");
    let before = seen.load(Ordering::Relaxed);
    s.device.wave(0).post(1, Flags::default(), &[1]).unwrap();
    drop(s.server.collect());
    assert_eq!(seen.load(Ordering::Relaxed), before + 1);
}

#[test]
fn a_subscriber_that_panics_in_the_pool_leaves_its_only_thread() {
    let fails = Service::new(definition::<u32>("fails", Some(0)), |_| Err(HandlerError::new(7, "as it should").into()));
    let s = serve(
        Server::without_device().blocking_threads(1).service(fails.blocking()).service(fixed_service("quick", |x: u32| x).blocking()),
    );
    let _one = panics("hostcall::record::report", 1);
    assert!(s.device.wave(0).call(1, &[1]).is_err());
    panicked();
    for x in 0..20 {
        assert_eq!(s.device.wave(0).call(2, &[x]), Ok(vec![x]));
    }
    assert_eq!(s.device.wave(0).call(1, &[1]), Err(CallError::HandlerFailed { code: 7 }));
    drop((s.awake, s.server));
}
