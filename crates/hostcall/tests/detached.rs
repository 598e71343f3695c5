//! Services that are run apart from the port: the same answers as from a serving thread, in every way to run a handler.

#![allow(missing_docs, unreachable_pub, reason = "a test: its public items are what users write")]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use common::{eventually, geometry, serve_over};
use hostcall::__private::PortBuffer;
use hostcall::detached::{Invalid, Message, Note, Replies, ReplyHead, Runner};
use hostcall::test_utils::MockWave;
use hostcall::{CallError, Failure, HandlerError, Server, Service, Status};
use hostcall_abi::Flags;
use hostcall_abi::codec::VarHead;

const WAVE: u64 = 0xffff_ffff;

#[hostcall::service]
pub trait Host {
    fn mixed(x: u32) -> u64;
    fn count(text: &str, numbers: &[u32]) -> u32;
    fn fill(from: u32, first: &mut [u8], second: &mut [u32]) -> u32;
    fn log(text: &str);
}

/// The same service, but run elsewhere: what a network would carry is carried by hand.
fn carried(runner: &Arc<Runner>, service: Service) -> Service {
    let (runner, callable) = (runner.clone(), runner.add(service).unwrap());
    Service::batch_deferred(callable.definition().clone(), move |mut batch| {
        let _alive = &runner;
        let Some(message) = batch.detach() else { return };
        message.check(callable.definition()).unwrap();
        callable.run(message, move |replies| batch.answer(&replies)).unwrap();
    })
}

fn mixed(x: u32) -> Result<u64, HandlerError> {
    match x {
        7 => Err(HandlerError::new(70, "seven")),
        11 => panic!("eleven"),
        _ => Ok(u64::from(x) << 33),
    }
}

fn ways() -> Vec<(&'static str, Service)> {
    let deferred = host::mixed_deferred(|x, done| {
        std::thread::spawn(move || done.reply(mixed(x)));
    });
    let adaptive = Service::new(host::definition::mixed(), |call| {
        if !call.may_block() {
            return Err(Failure::WouldBlock);
        }
        let value = mixed(call.fixed::<u32>()?)?;
        call.reply(&value, &[]);
        Ok(())
    });
    let batch = host::mixed_batch(|calls| calls.answer(|(x,)| mixed(x)));
    vec![
        ("inline", host::mixed(mixed)),
        ("blocking", host::mixed(mixed).blocking()),
        ("adaptive", adaptive.blocking_if_needed()),
        ("deferred", deferred),
        ("async", host::mixed_async(|x| async move { mixed(x) })),
        ("batch", batch),
    ]
}

#[test]
fn every_way_to_run_a_handler_answers_as_it_does_behind_a_port() {
    for (mode, service) in ways() {
        let runner = Arc::new(Runner::new());
        let service = carried(&runner, service);
        let s = serve_over(Server::without_device().service(service), PortBuffer::in_process(geometry(4, 32)).unwrap());
        for mask in [WAVE, 1 << 5, 1 << 7, 0x8000_0881] {
            let results = s.device.run_wave(mask, |wave| (wave.lane(), wave.call_fixed::<u32, u64>(1, &wave.lane())));
            for (lane, result) in results {
                let expected = match lane {
                    7 => Err(CallError::HandlerFailed { code: 70 }),
                    11 => Err(CallError::HandlerPanicked),
                    // A message is one call of its handler, which panicked.
                    _ if mode == "batch" && lane > 11 && mask >> 11 & 1 == 1 => Err(CallError::HandlerPanicked),
                    lane => Ok(u64::from(lane) << 33),
                };
                // Where the reply of a thread that panics is given by its drop, it says that it was dropped, or that it
                // panicked.
                if !(mode == "deferred" && lane == 11) {
                    assert_eq!(result, expected, "{mode}, lane {lane} of {mask:x}");
                }
            }
        }
        let report = s.server.collect();
        let seven = report.handler_failures.iter().find(|failure| failure.code == 70).map(|failure| (failure.lanes, &*failure.message));
        assert_eq!(seven, Some((3, "seven")), "{mode}: {report}");
        let eleven = report.handler_panics.iter().any(|panic| panic.message.contains("eleven"));
        assert!(eleven || mode == "deferred", "{mode}: {report}");
    }
}

/// Calls with bytes in the message, and with bytes in a slot.
fn call(wave: &MockWave, number: u16, staged: bool, fixed: &[u32], bytes: &[u8]) -> Result<Vec<u32>, CallError> {
    if !staged {
        return wave.call_var(number, fixed, bytes);
    }
    let at = 4096 + 64 * wave.lane() as usize;
    wave.stage(at, bytes);
    let mut units = vec![(at / 16) as u32, bytes.len() as u32];
    units.extend(fixed);
    wave.call_with(number, Flags::STAGED, &units)
}

#[test]
fn strings_slices_and_what_comes_back_are_carried_inline_and_staged() {
    let runner = Arc::new(Runner::new());
    let count = host::count(|text, numbers| text.len() as u32 + numbers.iter().sum::<u32>());
    let fill = host::fill(|from, first, second| {
        first.iter_mut().zip(from as u8..).for_each(|(byte, i)| *byte = i);
        second.fill(from);
        from
    });
    // Less than there is room for: the second keeps its place.
    let short = host::fill_out(|from, first, second| {
        first.push(from as u8);
        second.push(from);
        from
    });
    for (n, fill) in [fill, short].into_iter().enumerate() {
        let services = [count.clone(), fill].map(|service| carried(&runner, service));
        let s = serve_over(Server::without_device().services(services), PortBuffer::in_process(geometry(4, 32)).unwrap());
        for staged in [false, true] {
            for mask in [1 << 3, 0xf0] {
                s.device.run_wave(mask, |wave| {
                    let lane = wave.lane();
                    let mut bytes = b"abc\0".to_vec();
                    bytes.extend([lane, 2].iter().flat_map(|n| n.to_ne_bytes()));
                    let count = call(wave, 1, staged, &[3, 8], &bytes);
                    assert_eq!(count, Ok(vec![3 + lane + 2]), "lane {lane}, staged: {staged}");

                    let back = call(wave, 2, staged, &[lane, 5, 8], &[]).unwrap();
                    let at = 4096 + 64 * lane as usize;
                    let l = lane as u8;
                    let (lengths, first, second) = if n == 0 {
                        ([5, 8], vec![l, l + 1, l + 2, l + 3, l + 4], vec![lane, lane])
                    } else {
                        ([1, 4], vec![l], vec![lane])
                    };
                    assert_eq!(back[..3], [lane, lengths[0], lengths[1]]);
                    if staged {
                        assert_eq!(back.len(), 3, "the bytes are in the slot");
                        assert_eq!(wave.staged(at, first.len()), first);
                        let second: Vec<u8> = second.iter().flat_map(|n: &u32| n.to_ne_bytes()).collect();
                        assert_eq!(wave.staged(at + 8, second.len()), second);
                    } else {
                        let bytes = hostcall_abi::codec::bytes(&back[3..]);
                        assert_eq!(bytes[..first.len()], first);
                        assert_eq!(back[3 + first.len().div_ceil(4)..], second);
                    }
                });
            }
        }
        assert!(s.server.collect().is_success());
    }
}

#[test]
fn a_lane_whose_bytes_are_not_there_fails_alone() {
    let runner = Arc::new(Runner::new());
    let service = carried(&runner, host::count(|text, _| text.len() as u32));
    let s = serve_over(Server::without_device().service(service), PortBuffer::in_process(geometry(4, 32)).unwrap());
    let results = s.device.run_wave(0b111, |wave| {
        let offset = if wave.lane() == 1 { u32::MAX - 1 } else { 256 };
        wave.call_with(1, Flags::STAGED, &[offset, 4, 2, 0])
    });
    assert_eq!(results, [Ok(vec![2]), Err(CallError::Malformed), Ok(vec![2])]);
}

#[test]
fn posts_are_handled_before_they_count_as_done_and_their_failures_are_reported() {
    let (seen, runner) = (Arc::new(AtomicU32::new(0)), Arc::new(Runner::new()));
    let count = seen.clone();
    let log = host::log(move |text| {
        count.fetch_add(1, Ordering::Relaxed);
        if text == "bad" { Err(HandlerError::new(5, "a bad text")) } else { Ok(()) }
    });
    let s =
        serve_over(Server::without_device().service(carried(&runner, log.blocking())), PortBuffer::in_process(geometry(4, 32)).unwrap());
    let wave = s.device.wave(0);
    for text in ["good", "bad"] {
        let units = hostcall::test_utils::var_units(VarHead::INLINE, &[text.len() as u32], text.as_bytes());
        wave.post(1, Flags::default(), &units).unwrap();
    }
    eventually("both are handled", || seen.load(Ordering::Relaxed) == 2);
    let mut told = String::new();
    eventually("the failure is reported", || {
        told += &s.server.collect().to_string();
        told.contains("a bad text")
    });
}

#[test]
fn a_message_that_is_none_of_the_service_is_not_run() {
    let runner = Runner::new();
    let count = runner.add(host::count(|_, _| -> u32 { panic!("it is not called") })).unwrap();
    let log = runner.add(host::log(|_| -> () { panic!("it is not called") })).unwrap();
    let mixed = runner.add(host::mixed(|_| -> u64 { panic!("it is not called") })).unwrap();
    let good = Message { mask: 1, units: vec![u32::MAX, 4, 4, 0], bytes: vec![0; 4], ends: vec![4], room: 2, ..Message::default() };
    assert_eq!(good.check(count.definition()), Ok(()));
    for (callable, message, expected) in [
        (&count, Message { mask: 0, ..good.clone() }, Invalid::NoLanes),
        (&count, Message { post: true, ..good.clone() }, Invalid::Kind { post: true }),
        (&log, good.clone(), Invalid::Kind { post: false }),
        (&count, Message { mask: 3, ..good.clone() }, Invalid::Units { found: 4, wanted: 8 }),
        (&count, Message { ends: vec![3], ..good.clone() }, Invalid::Bytes),
        (&count, Message { ends: vec![4, 4], ..good.clone() }, Invalid::Bytes),
        (&count, Message { ends: vec![], ..good.clone() }, Invalid::Bytes),
        (&count, Message { bytes: vec![0; 5], ..good.clone() }, Invalid::Bytes),
        (&mixed, Message { mask: 1, units: vec![1], image: true, ..Message::default() }, Invalid::Image),
        (&mixed, Message { mask: 1, units: vec![1], bytes: vec![1], ..Message::default() }, Invalid::Bytes),
    ] {
        assert_eq!(callable.run(message, |_| panic!("nothing is told")), Err(expected));
    }
}

#[test]
fn a_runner_that_is_dropped_ends_what_waits() {
    let runner = Runner::with_pool(1);
    let (go, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let slow = host::mixed(move |x| {
        let _ = wait.lock().map(|wait| wait.recv());
        u64::from(x)
    });
    let slow = runner.add(slow.blocking()).unwrap();
    let (give, replies) = mpsc::channel();
    for lane in 0..3 {
        let give = give.clone();
        let message = Message { mask: 1 << lane, units: vec![lane], room: 2, ..Message::default() };
        slow.run(message, move |replies| _ = give.send((lane, replies.heads[0].status))).unwrap();
    }
    drop(runner);
    drop(go);
    drop(give);
    let mut ended: Vec<_> = replies.iter().collect();
    ended.sort_unstable_by_key(|&(lane, _)| lane);
    assert_eq!(ended.len(), 3);
    assert!(ended[1..].iter().all(|&(_, status)| status == Status::SERVER_GONE), "{ended:?}");
}

#[test]
fn replies_that_cannot_be_are_malformed_and_touch_nothing_else() {
    let ok = |dwords| ReplyHead { status: Status::OK, dwords };
    let note = || vec![Note { code: Some(3), message: "from elsewhere".into(), lanes: u32::MAX }];
    let big = vec![7; 40_000];
    for (staged, replies, expected) in [
        (false, Replies::default(), Err(CallError::Malformed)),
        (false, Replies { heads: vec![ok(1), ok(1)], units: vec![1, 2], notes: vec![] }, Err(CallError::Malformed)),
        (false, Replies { heads: vec![ok(2)], units: vec![1], notes: vec![] }, Err(CallError::Malformed)),
        (false, Replies { heads: vec![ok(0)], units: vec![], notes: vec![] }, Err(CallError::Malformed)),
        (false, Replies { heads: vec![ok(40_000)], units: big.clone(), notes: vec![] }, Err(CallError::Malformed)),
        (true, Replies { heads: vec![ok(40_000)], units: big, notes: vec![] }, Err(CallError::Malformed)),
        (true, Replies { heads: vec![ok(3)], units: vec![1, 2, u32::MAX], notes: vec![] }, Err(CallError::Malformed)),
        (true, Replies { heads: vec![ok(2)], units: vec![1, 0], notes: vec![] }, Ok(vec![1])),
        (true, Replies::of_status(1, Status::KERNEL_ENDED), Err(CallError::Malformed)),
        (false, Replies::of_status(1, Status(999)), Err(CallError::Malformed)),
        (false, Replies::of_status(1, Status::TIMEOUT), Err(CallError::Timeout)),
        (false, Replies { notes: note(), ..Replies::of_status(1, Status::TIMEOUT) }, Err(CallError::Timeout)),
    ] {
        let shown = format!("{:?}", replies.heads);
        let reported = !replies.notes.is_empty();
        let service = Service::batch_deferred(host::definition::fill(), move |mut batch| {
            batch.detach().unwrap();
            batch.answer(&replies);
        });
        let s = serve_over(Server::without_device().service(service), PortBuffer::in_process(geometry(4, 32)).unwrap());
        assert_eq!(call(&s.device.wave(2), 1, staged, &[0, 4, 4], &[]), expected, "staged: {staged}, {shown}");
        assert_eq!(s.server.collect().to_string().contains("from elsewhere"), reported);
    }
}
