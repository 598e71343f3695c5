//! Services that take whole messages: every way to run them, and everything that can be wrong with a message.

#![allow(missing_docs, unreachable_pub, reason = "a test: its public items are what users write")]

mod common;

use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use common::{eventually, geometry, serve, serve_over, with_window};
use hostcall::__private::PortBuffer;
use hostcall::test_utils::{MockWave, definition, fixed_service, var_definition, var_units};
use hostcall::{Batch, CallError, Completion, DeferredBatch, Definition, Failure, Server, Service};
use hostcall_abi::Flags;

const WAVE: u64 = 0xffff_ffff;

fn twice() -> Definition {
    Definition::builder("twice").argument("u32").result("u32").build().unwrap()
}

/// Doubles; 7 fails, 8 is refused, 9 is left without an answer, 10 is answered twice, 11 panics.
fn answer(batch: &mut Batch<'_>) {
    let column = batch.rows().column::<u32>(0).unwrap();
    assert_eq!((column.len(), batch.definition().name.as_ref()), (batch.len(), "twice"));
    for (i, x) in column.iter().enumerate() {
        match x {
            7 => batch.fail(i, Failure::HandlerFailed { code: 70, message: "seven".into() }),
            8 => batch.fail(i, Failure::Refused { code: 80 }),
            9 => {}
            10 => {
                batch.reply(i, &1u32);
                batch.reply_bytes(i, &20u32.to_ne_bytes());
            }
            11 => panic!("eleven"),
            _ => batch.reply(i, &(2 * x)),
        }
    }
}

fn expected(x: u32) -> Result<u32, CallError> {
    match x {
        7 => Err(CallError::HandlerFailed { code: 70 }),
        8 => Err(CallError::Refused { code: 80 }),
        9 => Err(CallError::HandlerFailed { code: 0 }),
        _ => Ok(2 * x),
    }
}

/// The service in each way it can run, and the end of its queue, if it has one.
fn modes(handler: impl Fn(&mut Batch<'_>) + Copy + Send + Sync + 'static) -> Vec<(&'static str, Service)> {
    let (queue, messages) = mpsc::channel::<DeferredBatch>();
    std::thread::spawn(move || {
        for mut message in messages {
            // A panic drops the message on the way, and the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                handler(&mut message.batch());
                message.finish();
            }));
        }
    });
    let late = move |batch: &mut Batch<'_>| {
        if batch.may_block() { handler(batch) } else { (0..batch.len()).for_each(|i| batch.fail(i, Failure::WouldBlock)) }
    };
    vec![
        ("inline", Service::batch(twice(), handler)),
        ("blocking", Service::batch(twice(), handler).blocking()),
        ("adaptive", Service::batch(twice(), late).blocking_if_needed()),
        ("deferred", Service::batch_deferred(twice(), move |message| handler_to(&queue, message))),
    ]
}

fn handler_to(queue: &mpsc::Sender<DeferredBatch>, message: DeferredBatch) {
    queue.send(message).expect("somebody answers");
}

#[test]
fn every_lane_gets_its_own_answer_however_the_batch_is_run_and_with_or_without_a_window() {
    for window in [false, true] {
        for (mode, service) in modes(answer) {
            let shape = geometry(4, 32);
            let shape = if window { with_window(shape) } else { shape };
            let s = serve_over(Server::without_device().threads(1).service(service), PortBuffer::in_process(shape).unwrap());
            for mask in [WAVE & !(1 << 11), 0xffff_07fe, 1 << 5, 1 << 9, 0x8000_0001] {
                let results = s.device.run_wave(mask, |wave| (wave.lane(), wave.call_fixed::<u32, u32>(1, &wave.lane())));
                for (lane, result) in results {
                    assert_eq!(result, expected(lane), "{mode}, lane {lane} of {mask:x}, window: {window}");
                }
            }
            let report = s.server.collect().to_string();
            assert!(report.contains("seven"), "{mode}: {report}");
            assert!(report.contains("without an answer") || report.contains("unanswered"), "{mode}: {report}");
        }
    }
}

#[test]
fn a_panic_fails_the_lanes_that_have_no_answer_yet() {
    for (mode, service) in modes(answer) {
        let s = serve(Server::without_device().threads(1).service(service).service(fixed_service("after", |x: u32| x)));
        let results = s.device.run_wave(WAVE, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane()));
        for (lane, result) in (0..).zip(results) {
            let expected = if lane == 9 || lane > 10 { Err(CallError::HandlerPanicked) } else { expected(lane) };
            assert_eq!(result, expected, "{mode}, lane {lane}");
        }
        assert_eq!(s.device.wave(0).call_fixed::<u32, u32>(1, &21), Ok(42), "{mode}: the service lives on");
        assert_eq!(s.device.wave(0).call_fixed::<u32, u32>(2, &21), Ok(21), "{mode}: the server lives on");
    }
}

#[test]
fn a_message_is_one_call_of_the_handler() {
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    let service = Service::batch(twice(), move |batch| {
        count.fetch_add(1, Ordering::Relaxed);
        assert_eq!(batch.mask(), 0xf0f0);
        assert_eq!((0..batch.len()).map(|i| batch.lane(i)).collect::<Vec<_>>(), [4, 5, 6, 7, 12, 13, 14, 15]);
        assert!((0..batch.len()).all(|i| !batch.is_answered(i)) && !batch.is_post() && batch.port() < 32);
        batch.reply_all(|mut rows| {
            assert_eq!((rows.len(), rows.width()), (8, 1));
            for i in 0..rows.len() {
                rows.row_mut(i)[0] += i as u32;
            }
        });
        assert!((0..batch.len()).all(|i| batch.is_answered(i)));
        batch.fail(3, Failure::Refused { code: 3 });
    });
    let s = serve(Server::without_device().service(service));
    let results = s.device.run_wave(0xf0f0, |wave| wave.call_fixed::<u32, u32>(1, &9));
    let expected = (0..8).map(|i| if i == 3 { Err(CallError::Refused { code: 3 }) } else { Ok(i) });
    assert_eq!(results, expected.collect::<Vec<_>>());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn what_reply_all_does_not_fill_is_zero() {
    let wide = |name, result| Definition::builder(name).argument("u32").result(result).build().unwrap();
    let noise = Service::batch(wide("noise", "[u32; 8]"), |batch| (0..batch.len()).for_each(|i| batch.reply(i, &[0xdead_beefu32; 8])));
    let silent = Service::batch(wide("silent", "[u32; 8]"), |batch| batch.reply_all(|_| {}));
    let s = serve(Server::without_device().threads(1).service(noise).service(silent));
    for number in [1, 2, 1, 2] {
        let expected = if number == 1 { [0xdead_beef; 8] } else { [0; 8] };
        let results = s.device.run_wave(0xff, |wave| wave.call_fixed::<u32, [u32; 8]>(number, &0));
        assert_eq!(results, [Ok(expected); 8]);
    }
}

#[test]
fn posts_need_no_answer() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (inline, deferred) = (seen.clone(), seen.clone());
    let note = |seen: &Mutex<Vec<u32>>, batch: &mut Batch<'_>| {
        assert!(batch.is_post());
        seen.lock().unwrap().extend(batch.rows().column::<u32>(0).unwrap().iter());
    };
    let posted = |name| Definition::builder(name).argument("u32").build().unwrap();
    let s = serve(
        Server::without_device()
            .service(Service::batch(posted("inline"), move |batch| note(&inline, batch)))
            .service(Service::batch_deferred(posted("deferred"), move |mut message| note(&deferred, &mut message.batch()))),
    );
    for number in [1, 2] {
        s.device.run_wave(0xff, |wave| wave.post(number, Flags::default(), &[wave.lane()]).unwrap());
        let report = s.server.collect();
        assert!(report.is_success(), "{report}");
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), (0..8).collect::<Vec<_>>());
    }
}

#[test]
fn a_deferred_batch_may_be_split_into_lanes_that_are_answered_in_any_order() {
    let (queue, messages) = mpsc::channel::<DeferredBatch>();
    let s = serve(Server::without_device().service(Service::batch_deferred(twice(), move |message| handler_to(&queue, message))));
    std::thread::scope(|scope| {
        let wave = scope.spawn(|| s.device.run_wave(0xff, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane())));
        let mut message = messages.recv().unwrap();
        message.batch().reply(2, &200u32);
        let mut parts = message.split();
        assert_eq!(parts.iter().map(Completion::lane).collect::<Vec<_>>(), [0, 1, 3, 4, 5, 6, 7], "lane 2 has its answer");
        parts.reverse();
        for done in parts {
            match done.lane() {
                5 => drop(done),
                6 => done.fail(Failure::Refused { code: 6 }),
                lane => scope.spawn(move || done.reply(&(lane + 100))).join().unwrap(),
            }
        }
        let results = wave.join().unwrap();
        for (lane, result) in (0..).zip(results) {
            let expected = match lane {
                2 => Ok(200),
                5 => Err(CallError::HandlerFailed { code: 0 }),
                6 => Err(CallError::Refused { code: 6 }),
                _ => Ok(lane + 100),
            };
            assert_eq!(result, expected, "lane {lane}");
        }
    });
}

#[test]
fn a_deferred_batch_that_is_dropped_fails_its_lanes_and_its_messages_can_wait_side_by_side() {
    let (queue, messages) = mpsc::channel::<DeferredBatch>();
    let s =
        serve(Server::without_device().threads(1).service(Service::batch_deferred(twice(), move |message| handler_to(&queue, message))));
    std::thread::scope(|scope| {
        let waves: Vec<_> =
            (0..3).map(|_| scope.spawn(|| s.device.run_wave(0xf, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane())))).collect();
        let mut all: Vec<_> = (0..3).map(|_| messages.recv().unwrap()).collect();
        drop(all.remove(1));
        for message in &mut all {
            message.batch().reply_all(|mut rows| rows.row_mut(3)[0] = 1);
        }
        drop(all);
        let mut results: Vec<_> = waves.into_iter().map(|wave| wave.join().unwrap()).collect();
        results.sort_by_key(|results| results[0].is_err());
        assert_eq!(
            results,
            [vec![Ok(0), Ok(0), Ok(0), Ok(1)], vec![Ok(0), Ok(0), Ok(0), Ok(1)], vec![Err(CallError::HandlerFailed { code: 0 }); 4]]
        );
    });
}

#[test]
fn a_batch_that_outlives_its_server_can_still_be_answered() {
    let (queue, messages) = mpsc::channel::<DeferredBatch>();
    let s = serve(Server::without_device().service(Service::batch_deferred(twice(), move |message| handler_to(&queue, message))));
    let (device, server, awake) = (s.device, s.server, s.awake);
    std::thread::scope(|scope| {
        let wave = scope.spawn(|| device.wave(0).call_fixed::<u32, u32>(1, &4));
        let message = messages.recv().unwrap();
        drop(awake);
        drop(server);
        drop(message);
        assert_eq!(wave.join().unwrap(), Err(CallError::ServerGone));
    });
}

#[cfg(feature = "tokio")]
#[test]
fn a_deferred_batch_may_be_answered_by_a_future() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    let service = Service::batch_deferred(twice(), move |mut message| {
        handle.spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            answer(&mut message.batch());
            message.finish();
        });
    });
    let s = serve(Server::without_device().threads(1).service(service));
    let results = s.device.run_wave(WAVE, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane()));
    for (lane, result) in (0..).zip(results) {
        let expected = if lane == 9 || lane > 10 { Err(CallError::HandlerPanicked) } else { expected(lane) };
        assert_eq!(result, expected, "lane {lane}: a future that panics drops its batch");
    }
}

#[test]
fn a_once_only_batch_service_takes_one_call_of_one_lane() {
    for (mode, service) in modes(|batch| {
        assert_eq!((batch.len(), batch.lane(0)), (1, 4));
        batch.reply(0, &5u32);
    }) {
        let s = serve(Server::without_device().service(service.once()));
        let results = s.device.run_wave(0xf0, |wave| wave.call_fixed::<u32, u32>(1, &1));
        assert_eq!(results[0], Ok(5), "{mode}");
        assert_eq!(results[1..], [Err(CallError::Finished); 3], "{mode}");
        assert_eq!(s.device.wave(0).call(1, &[1]), Err(CallError::Finished), "{mode}");
    }
}

#[test]
fn lanes_that_would_block_go_on_in_the_pool_and_the_others_keep_their_answers() {
    let service = Service::batch(twice(), |batch| {
        for i in 0..batch.len() {
            match (batch.may_block(), batch.rows().row(i)[0] % 4) {
                (false, 1 | 2) => batch.fail(i, Failure::WouldBlock),
                (may_block, _) => batch.reply(i, &u32::from(may_block)),
            }
        }
    });
    let s = serve(Server::without_device().threads(1).service(service.blocking_if_needed()));
    let results = s.device.run_wave(WAVE, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane()));
    for (lane, result) in (0..).zip(results) {
        assert_eq!(result, Ok(u32::from(matches!(lane % 4, 1 | 2))), "lane {lane}");
    }
    let stats = s.server.stats();
    let stats = stats.service("twice").unwrap();
    assert_eq!((stats.calls, stats.failed), (32, 0), "a call that goes on has not failed");
}

/// `fn shout(text: &str, out: &mut [u8]) -> u32`
fn shout() -> Service {
    Service::batch(var_definition("shout", 2), |batch| {
        // All lanes' strings at once, while lanes are answered.
        let requests = batch.requests();
        let texts: Vec<_> = (0..requests.len()).map(|i| requests.arguments(i).and_then(|mut arguments| arguments.str())).collect();
        for (i, text) in texts.into_iter().enumerate() {
            match text {
                Err(error) => batch.fail(i, error),
                Ok(text) => batch.call(i, |call| {
                    assert_eq!(call.str()?, text);
                    let mut out = call.writer::<u8>()?;
                    let _ = write!(out, "{}!", text.to_uppercase());
                    let whole = text.len() + 1;
                    call.reply_written(&(whole as u32), &[out.finish()]);
                    Ok(())
                }),
            }
        }
    })
}

fn staged(wave: &MockWave, offset: usize, fixed: &[u32], bytes: &[u8]) -> Result<Vec<u32>, CallError> {
    wave.stage(offset, bytes);
    let mut units = var_units((offset / 16) as u32, fixed, &[]);
    units[1] = bytes.len() as u32;
    wave.call_with(1, Flags::STAGED, &units)
}

#[test]
fn strings_and_slices_come_and_go_with_the_message_and_staged() {
    for service in [shout(), shout().blocking()] {
        let s = serve(Server::without_device().service(service));
        let replies = s.device.run_wave(WAVE, |wave| {
            let lane = wave.lane() as usize;
            let text = format!("lane {lane}");
            let inline = wave.call_var(1, &[text.len() as u32, 8], text.as_bytes());
            let staged = staged(wave, lane * 64, &[text.len() as u32, 64], text.as_bytes());
            (text.to_uppercase() + "!", inline.unwrap(), staged.unwrap(), wave.staged(lane * 64, 8))
        });
        for (text, inline, staged, bytes) in replies {
            let len = text.len() as u32;
            assert_eq!((inline[0], inline[1], staged), (len, len, vec![len, len]));
            let units: Vec<u8> = inline[2..].iter().flat_map(|unit| unit.to_ne_bytes()).collect();
            assert_eq!((&units[..text.len()], &bytes[..text.len()]), (text.as_bytes(), text.as_bytes()));
        }
        assert_eq!(s.device.wave(0).call_var(1, &[2, 1], b"ab").unwrap(), [3, 1, u32::from(b'A')], "as much as there is room for");
        assert_eq!(staged(&s.device.wave(0), 0, &[2, 2], b"ab").unwrap(), [3, 2]);
        assert_eq!(s.device.wave(0).staged(0, 3), b"ABN", "not a byte more: the last is of an earlier call");
    }
}

#[test]
fn hostile_lengths_fail_the_lanes_that_say_them() {
    for service in [shout(), shout().blocking()] {
        let s = serve(Server::without_device().service(service));
        // Every other lane lies about its string.
        let results = s.device.run_wave(WAVE, |wave| {
            let lies = [(400, 4), (u32::MAX, 4), (4, 5), (4, u32::MAX), (3, 4)];
            let (head, text) = if wave.lane() % 2 == 1 { lies[wave.lane() as usize / 2 % lies.len()] } else { (4, 4) };
            let mut units = var_units(u32::MAX, &[text, 5], b"abcd");
            units[1] = head;
            wave.call(1, &units)
        });
        for (lane, result) in results.into_iter().enumerate() {
            if lane % 2 == 1 {
                assert_eq!(result, Err(CallError::Malformed), "lane {lane}");
            } else {
                assert_eq!(result.unwrap()[..2], [5, 5], "lane {lane}");
            }
        }
        let wave = s.device.wave(0);
        assert_eq!(wave.call_with(1, Flags::STAGED, &[u32::MAX, 4, 4, 4]), Err(CallError::Malformed), "a region outside the staging area");
        assert_eq!(wave.call_with(1, Flags::STAGED, &[4095, 17, 17, 4]), Err(CallError::Malformed), "a region past its end");
        assert_eq!(wave.call(1, &[1]), Err(CallError::Malformed), "no room for the head");
        assert!(matches!(wave.call_var(1, &[0, 100_000], b""), Err(CallError::TooLarge { .. })), "more than a reply holds");
    }
}

#[test]
fn a_message_that_is_not_the_services_never_reaches_its_handler() {
    let definition = || Definition { units: 9, ..twice() };
    let batch = || Service::batch(definition(), |_| panic!("nothing to handle"));
    let deferred = Service::batch_deferred(definition(), |_| panic!("nothing to handle"));
    let typed = host::wide_batch(|_| panic!("nothing to handle"));
    for service in
        [batch(), batch().blocking(), batch().blocking_if_needed(), deferred, typed, host::wide(|_| -> u32 { panic!("nothing to handle") })]
    {
        let mode = format!("{service:?}");
        let s = serve(Server::without_device().service(service));
        assert_eq!(s.device.wave(0).call(1, &[1, 2, 3]), Err(CallError::Malformed), "{mode}: too short");
        assert_eq!(s.device.wave(0).call_with(1, Flags::STAGED, &[0; 9]), Err(CallError::Malformed), "{mode}: nothing can be staged");
        assert_eq!(s.device.run_wave(0xf, |wave| wave.call(1, &[1])), vec![Err(CallError::Malformed); 4], "{mode}");
        assert!(s.server.collect().handler_panics.is_empty());
    }
}

#[test]
fn a_result_that_does_not_fit_is_too_large() {
    let large = Definition::builder("large").argument("u32").result("[u32; 512]").build().unwrap();
    let small = Service::batch(Definition { reply_dwords: Some(1), ..large.clone() }, |batch| batch.reply(0, &[0u32; 4000]));
    let filled = Service::batch(large, |batch| batch.reply_all(|_| panic!("there is no room")));
    let s = serve(Server::without_device().service(Service::clone(&filled)));
    let results = s.device.run_wave(WAVE, |wave| wave.call(1, &[1]));
    assert!(results.iter().all(|result| matches!(result, Err(CallError::TooLarge { .. }))), "{results:?}");
    let s = serve(Server::without_device().service(small));
    assert!(matches!(s.device.wave(0).call(1, &[1]), Err(CallError::TooLarge { .. })));
}

#[hostcall::service]
pub trait Host {
    fn scale(x: f32, by: f32) -> f32;
    fn note(x: u64);
    fn now() -> u64;
    fn wide(x: [u32; 9]) -> u32;
    fn check(flag: bool, value: u32) -> Option<u32>;
    fn squares(from: u64, out: &mut [u64], name: &str) -> u32;
}

#[test]
fn the_macros_batches_have_the_services_types() {
    let sum = Arc::new(AtomicU32::new(0));
    let count = sum.clone();
    let s = serve(
        Server::without_device()
            .service(host::scale_batch(|calls| calls.answer(|(x, by)| x * by)))
            .service(host::note_batch(move |calls| {
                for call in calls.iter() {
                    count.fetch_add(call.map_or(0, |(x,)| x as u32), Ordering::Relaxed);
                }
            }))
            .service(host::now_batch(|calls| (0..calls.len()).for_each(|i| calls.reply(i, 5))))
            .service(host::check_batch(|calls| {
                calls.answer(
                    |(flag, value)| if value == 3 { Err(hostcall::HandlerError::new(3, "three")) } else { Ok(flag.then_some(value)) },
                )
            })),
    );
    let scaled = s.device.run_wave(0xff, |wave| wave.call_fixed::<_, f32>(1, &(wave.lane() as f32, 0.5f32)));
    assert_eq!(scaled, (0..8).map(|i| Ok(i as f32 / 2.0)).collect::<Vec<_>>());
    s.device.run_wave(0xff, |wave| wave.post(2, Flags::default(), &[wave.lane(), 0]).unwrap());
    eventually("the posts are handled", || sum.load(Ordering::Relaxed) == 28);
    assert_eq!(s.device.wave(0).call_fixed::<(), u64>(3, &()), Ok(5));
    let checked = s.device.run_wave(0xf, |wave| wave.call(4, &[if wave.lane() == 1 { 2 } else { 1 }, wave.lane()]));
    assert_eq!(checked[0], Ok(vec![1, 0]));
    assert_eq!(checked[1], Err(CallError::Malformed), "2 is no `bool`");
    assert_eq!(checked[2], Ok(vec![1, 2]));
    assert_eq!(checked[3], Err(CallError::HandlerFailed { code: 3 }));
}

#[test]
fn a_writer_fills_what_the_device_reads_and_nothing_behind_it() {
    let squares = host::squares_out(|from, out, name| {
        assert_eq!((name, out.len()), ("squares", 4));
        out.extend((from..from + 3).map(|x| x * x));
        if from == 100 {
            assert!(out.push(1) && !out.push(2));
            out.truncate(1);
        }
        out.written() as u32
    });
    for service in [squares.clone(), squares.blocking()] {
        let s = serve(Server::without_device().service(service));
        let wave = s.device.wave(0);
        let fixed = |from: u32| [from, 0, 32, 7];
        let inline = wave.call_var(1, &fixed(2), b"squares").unwrap();
        assert_eq!(inline, [3, 24, 4, 0, 9, 0, 16, 0]);
        assert_eq!(wave.call_var(1, &fixed(100), b"squares").unwrap(), [1, 8, 10_000, 0]);
        wave.stage(256, &[0xee; 64]);
        assert_eq!(staged(&wave, 256, &fixed(2), b"squares").unwrap(), [3, 24]);
        let expected: Vec<u8> = [4u64, 9, 16].iter().flat_map(|x| x.to_ne_bytes()).chain([0xee; 8]).collect();
        assert_eq!(wave.staged(256, 32), expected);
        let mut short = fixed(2);
        short[2] = 12;
        assert_eq!(wave.call_var(1, &short, b"squares"), Err(CallError::Malformed), "one element and a half");
        short[2] = u32::MAX - 7;
        assert!(wave.call_var(1, &short, b"squares").is_err(), "more than there is");
    }
}

#[test]
fn a_default_handler_may_take_whole_messages() {
    let default = Service::batch(definition::<()>("default", Some(1)), |batch| {
        for i in 0..batch.len() {
            let sum: u32 = batch.rows().row(i).iter().sum();
            batch.reply(i, &sum);
        }
    });
    let s = serve(Server::without_device().default_handler(default));
    assert_eq!(s.device.wave(0).call(99, &[1, 2, 3, 4]), Ok(vec![10]));
    assert_eq!(s.device.run_wave(0xf, |wave| wave.call(99, &[wave.lane(), 1, 1])), (0..4).map(|i| Ok(vec![i + 2])).collect::<Vec<_>>());
}
