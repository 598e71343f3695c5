//! Typed calls: shapes of arguments and results, divergence, errors.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use behaviours_services::{Large, Refused, typed};
use hostcall::{Deferred, HandlerError, ServerBuilder, Service, Status};
use hostcall_tests::{Bench, Counter, status, with_ports};
use offload::{Args, Launch};

/// The services of `Typed` as the kernels expect them.
fn typed_services(builder: ServerBuilder) -> ServerBuilder {
    let nap = typed::nap(|millis| {
        std::thread::sleep(Duration::from_millis(u64::from(millis)));
        millis
    });
    services_with(builder, nap.blocking())
}

/// The same with another nap.
fn services_with(builder: ServerBuilder, nap: Service) -> ServerBuilder {
    builder
        .service(typed::nothing(|| ()))
        .service(typed::add42(|x| x + 42.0))
        .service(typed::sum(|a, b| a + b))
        .service(typed::scale(|a, b| f64::from(a) * b))
        .service(typed::swap(|a, b| (b, a)))
        .service(typed::mixed(|a| (a, -i64::from(a), a % 2 == 1, 'ß')))
        .service(typed::lookup(|key| if key % 3 == 0 { Some(key * key) } else { None }))
        .service(typed::large(|value| {
            assert_eq!(value, Large::of(value.seed));
            Large::of(value.seed + 1)
        }))
        .service(typed::measure(|text: &str, numbers: &[u32]| (text.len() as u32, numbers.iter().map(|n| u64::from(*n)).sum::<u64>())))
        .service(typed::fill(|block, out: &mut [u8]| {
            out.fill(block as u8);
            if block % 2 == 0 { Ok(out.len() as u32) } else { Err(Refused { block }) }
        }))
        .service(typed::echo(|data: &[u8], back: &mut [u8]| {
            back.copy_from_slice(data);
            data.iter().map(|b| u32::from(*b)).sum::<u32>()
        }))
        .service(nap)
}

#[test]
fn a_kernel_adds_42_through_the_host() {
    let bench = Bench::new(typed_services);
    let memory = bench.device.alloc::<f32>(100).unwrap();
    let input: Vec<f32> = (0..100).map(|i| i as f32 / 2.0).collect();
    bench.queue.copy_to(&memory, 0, &input).unwrap();
    bench.run("add42", Launch::threads(100, 32), Args::new().slice(&memory)).unwrap();
    let output = bench.queue.read(&memory).unwrap();
    assert_eq!(output, input.iter().map(|x| x + 42.0).collect::<Vec<_>>());
}

#[test]
fn every_shape_of_arguments_and_results_arrives() {
    for (lanes, group) in [(1, 1), (20, 20), (32, 32), (200, 64)] {
        let right: Vec<u32> = Bench::new(typed_services).results("shapes", lanes, group, Args::new());
        assert_eq!(right, vec![0xff; lanes as usize], "{lanes} lanes in groups of {group}");
    }
}

#[test]
fn any_mask_of_lanes_may_call() {
    let bench = Bench::new(typed_services);
    for mask in [1u64, 1 << 31, 0x8000_0001, 0xf0f0_a5a5, 0xffff_ffff, 0x0010_0000] {
        let sums: Vec<u64> = bench.results("masked", 96, 32, Args::new().value(mask));
        for (i, sum) in sums.iter().enumerate() {
            let expected = if mask >> (i % 32) & 1 == 1 { i as u64 + 1000 } else { 0 };
            assert_eq!(*sum, expected, "mask {mask:#x}, lane {i}");
        }
    }
}

#[test]
fn lanes_that_diverge_call_different_services_with_different_trip_counts() {
    let sums: Vec<u64> = Bench::new(typed_services).results("divergent", 128, 64, Args::new());
    for (i, sum) in sums.iter().enumerate() {
        let rounds = i as u64 % 5;
        let expected: u64 = if i % 2 == 0 { (0..rounds).map(|r| r + 1).sum() } else { (0..rounds).map(|r| 9 * r * r).sum() };
        assert_eq!(*sum, expected, "lane {i}");
    }
}

#[test]
fn typed_handlers_may_answer_later_and_from_another_thread() {
    let (hand_over, work) = std::sync::mpsc::channel::<(u32, Deferred<u32>)>();
    let worker = std::thread::spawn(move || {
        for (value, done) in work {
            let result = if value % 2 == 1 { Err(HandlerError::new(value, "odd")) } else { Ok(value * 10) };
            done.reply(result);
        }
    });
    let bench = Bench::new(|b| b.service(typed::picky_deferred(move |value, done| hand_over.send((value, done)).unwrap())));
    let memory = bench.device.alloc::<u64>(64).unwrap();
    bench.launch("picky", Launch::linear(2, 32), Args::new().slice(&memory));
    let error = bench.server.wait(&bench.queue).unwrap_err();
    assert_eq!(error.report().handler_failures.iter().map(|failure| failure.lanes).sum::<u64>(), 32, "{error}");
    for (i, r) in bench.queue.read(&memory).unwrap().into_iter().enumerate() {
        let i = i as u64;
        let expected = if i % 2 == 1 { u64::from(Status::HANDLER_FAILED.0) << 32 | i } else { i * 10 };
        assert_eq!(r, expected, "lane {i}");
    }
    // The closure, and with it the way to the worker, goes with its service.
    drop(bench);
    worker.join().unwrap();
}

#[test]
fn a_service_that_nobody_registered_is_unknown_to_every_lane() {
    let bench = Bench::new(typed_services);
    let memory = bench.device.alloc::<u64>(64).unwrap();
    bench.launch("unknown", Launch::linear(2, 32), Args::new().slice(&memory));
    bench.queue.synchronize().unwrap();
    let report = bench.server.collect();
    let results = bench.queue.read(&memory).unwrap();
    assert!(results.iter().all(|r| status(*r) == Status::UNKNOWN_SERVICE), "{results:x?}");
    // The host knows which one, from the program's image.
    assert_eq!(report.to_string(), "service Nobody__home is not registered with the server: 64 calls came to nothing");
    assert!(report.is_success(), "every lane was told");
}

#[test]
fn posts_to_a_service_that_nobody_registered_are_an_error_of_the_wait() {
    let bench = Bench::new(|b| b);
    let error = bench.run("posts", Launch::linear(2, 32), Args::new().value(3u32)).unwrap_err();
    assert_eq!(error.to_string(), "service Typed__note is not registered with the server: 192 posts came to nothing");
    // With strings as well, and together with the calls that came to nothing.
    bench.launch("logs", Launch::linear(1, 8), Args::new());
    let memory = bench.device.alloc::<u64>(32).unwrap();
    bench.launch("unknown", Launch::linear(1, 32), Args::new().slice(&memory));
    let error = bench.server.wait(&bench.queue).unwrap_err();
    let told: Vec<_> = error.report().unknown_services.iter().map(|unknown| (&*unknown.service, unknown.calls, unknown.posts)).collect();
    assert_eq!(told, [("Typed__log", 0, 8), ("Nobody__home", 32, 0)], "{error}");
    // Who registers it later gets what is posted from then on.
    let heard = Counter::default();
    let counted = heard.clone();
    bench.server.register(typed::note(move |_| counted.add(1))).unwrap();
    bench.run("posts", Launch::linear(2, 32), Args::new().value(3u32)).unwrap();
    assert_eq!(heard.get(), 192);
}

#[test]
fn a_handler_error_reaches_its_lane_and_the_others_go_on() {
    let bench = Bench::new(|b| b.service(typed::picky(|v| if v % 2 == 0 { Ok(v * 10) } else { Err(HandlerError::new(v + 7, "odd")) })));
    let memory = bench.device.alloc::<u64>(64).unwrap();
    let error = bench.run("picky", Launch::threads(64, 32), Args::new().slice(&memory)).unwrap_err();
    assert_eq!(error.report().handler_failures.len(), 32, "{error}");
    for (i, r) in bench.queue.read(&memory).unwrap().into_iter().enumerate() {
        if i % 2 == 0 {
            assert_eq!(r, i as u64 * 10);
        } else {
            assert_eq!((status(r), r as u32), (Status::HANDLER_FAILED, i as u32 + 7));
        }
    }
}

#[test]
fn a_handler_panic_reaches_its_lane_with_message_and_backtrace_on_the_host() {
    let bench = Bench::new(|b| b.service(typed::fragile(|v| if v % 2 == 0 { v } else { panic!("fragile {v}") })));
    let memory = bench.device.alloc::<u64>(32).unwrap();
    let error = bench.run("fragile", Launch::threads(32, 32), Args::new().slice(&memory)).unwrap_err();
    assert!(error.to_string().contains("fragile 1"), "{error}");
    for (i, r) in bench.queue.read(&memory).unwrap().into_iter().enumerate() {
        if i % 2 == 0 { assert_eq!(r, i as u64) } else { assert_eq!(status(r), Status::HANDLER_PANICKED) }
    }
    // The server lives: the next kernel is served, and `wait` is a success again if no handler panics.
    let results: Vec<u64> = bench.results("fragile", 1, 1, Args::new());
    assert_eq!(results, [0]);
}

#[test]
fn strings_and_slices_of_any_length_arrive() {
    let lengths: Vec<u64> = Bench::new(typed_services).results("texts", 200, 64, Args::new());
    assert_eq!(lengths, vec![1; 200]);
}

#[test]
fn slices_come_back_and_a_service_may_return_its_own_errors() {
    let results: Vec<u64> = Bench::new(typed_services).results("fills", 200, 64, Args::new());
    for (i, r) in results.into_iter().enumerate() {
        assert_eq!(r, if i % 2 == 0 { 1 } else { 2 }, "lane {i}");
    }
}

#[test]
fn slices_larger_than_a_message_go_through_staging() {
    let bench = Bench::new(typed_services);
    for (len, lanes) in [(0u32, 32u32), (1, 32), (63, 32), (64, 33), (500, 32), (4096, 40), (65_536, 3), (60_000, 32)] {
        let bytes = len as usize * lanes as usize;
        let from = bench.device.alloc::<u8>(bytes.max(1)).unwrap();
        let to = bench.device.alloc::<u8>(bytes.max(1)).unwrap();
        let data: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect();
        bench.queue.copy_to(&from, 0, &data).unwrap();
        let sums: Vec<u64> = bench.results("echoes", lanes, 32.min(lanes), Args::new().value(len).slice(&from).slice(&to));
        let mut back = vec![0; bytes];
        bench.queue.copy_from(&mut back, &to, 0).unwrap();
        assert!(back == data, "{len} bytes from {lanes} lanes came back changed");
        for (i, sum) in sums.iter().enumerate() {
            let expected: u64 = data[i * len as usize..(i + 1) * len as usize].iter().map(|b| u64::from(*b)).sum();
            assert_eq!(*sum, expected, "{len} bytes, lane {i}");
        }
    }
}

#[test]
fn a_slice_larger_than_a_staging_slot_is_too_large_and_the_error_says_how_much_fits() {
    let bench = Bench::new(|b| typed_services(b).staging(8, 4096));
    let from = bench.device.alloc::<u8>(5000).unwrap();
    let to = bench.device.alloc::<u8>(5000).unwrap();
    let results: Vec<u64> = bench.results("echoes", 1, 1, Args::new().value(5000u32).slice(&from).slice(&to));
    assert_eq!((status(results[0]), results[0] as u32), (Status::TOO_LARGE, 4096));
}

#[test]
fn every_post_is_delivered_before_wait_returns() {
    let seen: Arc<Mutex<BTreeMap<u64, u32>>> = Arc::default();
    let bench = Bench::new(|b| {
        let seen = seen.clone();
        b.service(typed::note(move |value| *seen.lock().unwrap().entry(value).or_default() += 1))
    });
    bench.run("posts", Launch::threads(96, 32), Args::new().value(100u32)).unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 9600);
    assert!(seen.values().all(|times| *times == 1));
}

#[test]
fn posted_strings_are_delivered_whole() {
    let seen: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    let bench = Bench::new(|b| {
        let seen = seen.clone();
        b.service(typed::log(move |message: &str| *seen.lock().unwrap().entry(message.to_owned()).or_default() += 1))
    });
    bench.run("logs", Launch::threads(128, 64), Args::new()).unwrap();
    let expected = ["zero", "one", "two", "three"].map(|s| (s.to_owned(), 32));
    assert_eq!(*seen.lock().unwrap(), BTreeMap::from(expected));
}

#[test]
fn several_calls_may_be_in_flight_and_fetched_later() {
    // Two waves keep three each, and the last never is.
    let results: Vec<u64> = Bench::new(|b| with_ports(typed_services(b), 7)).results("pending", 64, 32, Args::new());
    for (i, r) in results.into_iter().enumerate() {
        assert_eq!(r, (i as u64 + 1) * 1_000_000 + (i as u64 + 2) * 1000 + 9);
    }
}

#[test]
fn a_call_that_is_given_up_times_out_and_its_port_is_used_again() {
    // No nap ends before it is given up.
    let (let_go, let_gone) = std::sync::mpsc::channel();
    let let_gone = Mutex::new(let_gone);
    let nap = typed::nap(move |millis| {
        let_gone.lock().unwrap().recv().unwrap();
        millis
    });
    let picky = typed::picky(move |value| {
        let_go.send(()).unwrap();
        value
    });
    // One lane, and one port that can be given up: the other is never kept.
    let bench = Bench::new(|b| services_with(b, nap.blocking()).service(picky).ports(2));
    let memory = bench.device.alloc::<u64>(2).unwrap();
    let mut given_up = 0;
    let start = Instant::now();
    while given_up < 3 {
        bench.run("impatient", Launch::linear(1, 1), Args::new().slice(&memory)).unwrap();
        let results = bench.queue.read(&memory).unwrap();
        match status(results[0]) {
            Status::TIMEOUT => given_up += 1,
            // The last one is not answered yet.
            other => assert_eq!(other, Status::BUSY, "{results:x?}"),
        }
        assert_eq!(results[1], 5);
        assert!(start.elapsed() < Duration::from_secs(60), "the port of a call that was given up is not used again");
    }
}

#[test]
fn a_held_port_serves_many_calls() {
    let sums: Vec<u64> = Bench::new(|b| with_ports(typed_services(b), 3)).results("held", 64, 32, Args::new().value(50u32));
    for (i, sum) in sums.into_iter().enumerate() {
        assert_eq!(sum, 50 * i as u64 + 49 * 50 / 2);
    }
}

/// Where calls wait until they are let go, and how many have come.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<(u32, bool)>, Condvar)>);

impl Gate {
    /// So long that what happens only then has failed: a test that waits in vain ends.
    const IN_VAIN: Duration = Duration::from_secs(60);

    /// Waits at the gate; whether it was opened.
    fn pass(&self) -> bool {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.0 += 1;
        changed.notify_all();
        let (state, _) = changed.wait_timeout_while(state, Self::IN_VAIN, |(_, open)| !*open).unwrap();
        state.1
    }

    /// Opens the gate once `count` calls wait there at once.
    fn open_for(&self, count: u32) {
        let (state, changed) = &*self.0;
        let (mut state, waited) = changed.wait_timeout_while(state.lock().unwrap(), Self::IN_VAIN, |(came, _)| *came < count).unwrap();
        assert!(!waited.timed_out(), "{} calls wait at once, not {count}", state.0);
        state.1 = true;
        changed.notify_all();
    }
}

#[test]
fn sleeping_handlers_delay_nobody_else() {
    let count = Counter::default();
    let gate = Gate::default();
    let bench = Bench::new(|b| {
        let (count, gate) = (count.clone(), gate.clone());
        let nap = typed::nap(move |millis| if gate.pass() { millis } else { 0 });
        services_with(with_ports(b, 2), nap.blocking()).service(typed::picky(move |v| {
            count.add(1);
            v
        }))
    });
    let memory = bench.device.alloc::<u64>(32).unwrap();
    bench.launch("naps", Launch::threads(32, 32), Args::new().value(300u32).slice(&memory));
    // On a queue of its own while the others wait, which they do until this has ended.
    let quick = bench.device.queue().unwrap();
    let results = bench.device.alloc::<u64>(32).unwrap();
    // SAFETY: the kernel writes one word per lane.
    unsafe { quick.launch(&bench.program.kernel("picky").unwrap(), Launch::threads(32, 32), Args::new().slice(&results)) }.unwrap();
    bench.server.wait(&quick).unwrap();
    assert_eq!(count.get(), 32);
    // They do not come one after another: two are there at once, and none has gone on.
    gate.open_for(2);
    bench.server.wait(&bench.queue).unwrap();
    assert_eq!(bench.queue.read(&memory).unwrap(), vec![300; 32]);
}
