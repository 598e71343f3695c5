//! Services that come, go and end; several queues, devices and servers; handlers of every kind.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::{Duration, Instant};

use behaviours_services::{gate, late, second, strict, tally, typed};
use hostcall::{Callee, Invocation, ServerBuilder, Service, ServiceHandle, Status};
use hostcall_tests::{Bench, Counter, device, device_spec, slow, status, with_ports};
use offload::{Args, Device, Launch};

/// A service that counts its calls, and its counter.
fn ticking() -> (Service, Counter) {
    let count = Counter::default();
    let counted = count.clone();
    let service = tally::tick(move |_| {
        counted.add(1);
        7
    });
    (service, count)
}

#[test]
fn two_services_in_one_kernel_answer_their_own_calls() {
    let bench = Bench::new(|b| b.service(typed::sum(|a, b| a + b)).service(second::triple(|x| 3 * x)));
    let results: Vec<u64> = bench.results("two_services", 200, 64, Args::new());
    for (i, r) in results.into_iter().enumerate() {
        assert_eq!(r, (i as u64 + 1) * 1000 + 3 * i as u64);
    }
}

#[test]
fn services_of_one_definition_are_told_apart_by_the_values_that_a_kernel_is_given() {
    let bench = Bench::new(|b| b.service(second::triple(|_| 9)));
    let server = &bench.server;
    let [triple, halve] = [second::triple(|x| 3 * x), second::triple(|x| x / 2)].map(|service| server.register_unnamed(service).unwrap());
    let named = server.service_handle("Second::triple").unwrap();
    let run = |first: &ServiceHandle, other: &ServiceHandle| {
        bench.results::<u64>("given", 64, 64, Args::new().value(first.callee()).value(other.callee()))
    };
    for (i, result) in run(&triple, &halve).into_iter().enumerate() {
        assert_eq!(result, 3000 * i as u64 + i as u64 / 2);
    }
    // The next launch is given others; one that has a name is one of them.
    for (i, result) in run(&halve, &named).into_iter().enumerate() {
        assert_eq!(result, i as u64 / 2 * 1000 + 9);
    }
    let measure =
        server.register_unnamed(typed::measure(|text, numbers| (text.len() as u32, numbers.iter().map(|&n| u64::from(n)).sum()))).unwrap();
    for (i, result) in bench.results::<u64>("given_slices", 64, 64, Args::new().value(measure.callee())).into_iter().enumerate() {
        assert_eq!(result, (i as u64 + 1) * 1000 + 4);
    }
    // A service of another definition, and one that is gone, are nobody's.
    triple.unregister();
    for callee in [measure.callee(), triple.callee(), Callee::default()] {
        let results: Vec<u64> = bench.results("given", 1, 32, Args::new().value(halve.callee()).value(callee));
        assert_eq!(status(results[0]), Status::UNKNOWN_SERVICE, "{callee:?}");
    }
}

#[test]
fn a_continuous_service_answers_one_kernel_after_another() {
    let (service, count) = ticking();
    let bench = Bench::new(|b| b.service(service));
    for round in 1..=5 {
        assert_eq!(bench.results::<u64>("ticks", 100, 32, Args::new()), [7; 100]);
        assert_eq!(count.get(), 100 * round);
    }
}

#[test]
fn waves_of_the_simulator_that_wait_serve_ports_if_they_may() {
    let can_help = device_spec().starts_with("sim") && !slow();
    // Of two servers of one device each is helped.
    let device = device();
    let other = Bench::on(&device, |b| b.service(tally::tick(|_| 9)));
    served_by_waves(&device, |b| b.waves_help(true), can_help);
    served_by_waves(&device, |b| b.waves_help(false), false);
    served_by_waves(&device, |b| b.waves_help(true), can_help);
    // More than waves' threads have.
    served_by_waves(&device, |b| b.handler_stack(256 << 20), false);
    assert_eq!(other.results::<u64>("ticks", 100, 32, Args::new()), [9; 100]);
}

fn served_by_waves(device: &Device, with: fn(ServerBuilder) -> ServerBuilder, can_help: bool) {
    let on_waves = Counter::default();
    let counted = on_waves.clone();
    let service = tally::tick(move |_| {
        counted.add(u64::from(std::thread::current().name() == Some("sim-wave")));
        7
    });
    let bench = Bench::on(device, |b| with(b.service(service)));
    let start = Instant::now();
    loop {
        assert_eq!(bench.results::<u64>("ticks", 1000, 32, Args::new()), [7; 1000]);
        if !can_help || on_waves.get() > 0 {
            break;
        }
        // Nobody says who is first at a port.
        assert!(start.elapsed() < Duration::from_secs(60), "no wave ever is");
    }
    assert_eq!(on_waves.get() > 0, can_help);
}

#[test]
fn a_once_only_service_takes_one_call_and_says_so_to_the_rest() {
    let (service, count) = ticking();
    let bench = Bench::new(|b| b.service(service.once()));
    let results: Vec<u64> = bench.results("ticks", 100, 32, Args::new());
    assert_eq!(results.iter().filter(|r| **r == 7).count(), 1, "{results:x?}");
    assert_eq!(results.iter().filter(|r| status(**r) == Status::FINISHED).count(), 99);
    assert_eq!(count.get(), 1);
}

#[test]
fn a_service_may_be_finished_while_a_call_is_in_flight() {
    let (inside, entered) = mpsc::channel();
    let (open, gate_open) = mpsc::channel::<()>();
    let gate_open = std::sync::Mutex::new(gate_open);
    let bench = Bench::new(|b| b);
    let handle = bench
        .server
        .register(
            gate::held_back(move |x| {
                inside.send(()).unwrap();
                let _ = gate_open.lock().unwrap().recv();
                x + 1
            })
            .blocking(),
        )
        .unwrap();
    let memory = bench.device.alloc::<u64>(1).unwrap();
    bench.launch("held_backs", Launch::linear(1, 1), Args::new().slice(&memory));
    entered.recv().unwrap();
    assert!(!handle.is_finished());
    handle.finish();
    assert!(handle.is_finished());
    open.send(()).unwrap();
    bench.server.wait(&bench.queue).unwrap();
    assert_eq!(bench.queue.read(&memory).unwrap(), [1], "the call in flight got its result");
    let after: Vec<u64> = bench.results("held_backs", 40, 20, Args::new());
    assert!(after.iter().all(|r| status(*r) == Status::FINISHED), "{after:x?}");
}

#[test]
fn a_service_may_be_stopped_after_one_more_call() {
    let (service, count) = ticking();
    let bench = Bench::new(|b| b);
    let handle = bench.server.register(service).unwrap();
    assert_eq!(bench.results::<u64>("ticks", 50, 32, Args::new()), [7; 50]);
    handle.finish_after_next();
    assert!(!handle.is_finished());
    let results: Vec<u64> = bench.results("ticks", 50, 32, Args::new());
    assert_eq!(results.iter().filter(|r| **r == 7).count(), 1);
    assert_eq!(results.iter().filter(|r| status(**r) == Status::FINISHED).count(), 49);
    assert!(handle.is_finished());
    assert_eq!(count.get(), 51);
}

#[test]
fn the_default_handler_takes_calls_of_services_that_were_unregistered() {
    let (service, count) = ticking();
    let default = Counter::default();
    let counted = default.clone();
    let definition = service.definition().clone();
    let bench = Bench::new(|b| {
        b.default_handler(Service::new(definition, move |call: &mut Invocation<'_>| {
            counted.add(1);
            let what = call.payload().first().copied().unwrap_or(99);
            call.reply(&u64::from(100 + what), &[]);
            Ok(())
        }))
    });
    let handle = bench.server.register(service).unwrap();
    assert_eq!(bench.results::<u64>("ticks", 40, 32, Args::new()), [7; 40]);
    handle.unregister();
    assert_eq!(bench.results::<u64>("ticks", 40, 32, Args::new()), [100; 40]);
    assert_eq!((count.get(), default.get()), (40, 40));
    // Without it they are unknown.
    bench.server.set_default_handler(None).unwrap();
    let unknown: Vec<u64> = bench.results("ticks", 40, 32, Args::new());
    assert!(unknown.iter().all(|r| status(*r) == Status::UNKNOWN_SERVICE), "{unknown:x?}");
}

#[test]
fn a_service_may_be_registered_while_a_kernel_runs() {
    let go = Arc::new(AtomicBool::new(false));
    let asked = Counter::default();
    let (may, count) = (go.clone(), asked.clone());
    let bench = Bench::new(|b| {
        b.service(gate::may_go(move |_| {
            count.add(1);
            may.load(Ordering::Acquire)
        }))
    });
    let memory = bench.device.alloc::<u64>(40).unwrap();
    bench.launch("calls_late", Launch::linear(2, 20), Args::new().slice(&memory));
    wait_for("the kernel asks", || asked.get() > 40);
    let handle = bench.server.register(late::come(|x| x + 5)).unwrap();
    go.store(true, Ordering::Release);
    bench.server.wait(&bench.queue).unwrap();
    // The kernel that ran may have learnt the number or not: each lane has the result, or a status.
    for (i, r) in bench.queue.read(&memory).unwrap().into_iter().enumerate() {
        assert!(r == i as u64 + 5 || status(r) == Status::UNKNOWN_SERVICE, "lane {i}: {r:x}");
    }
    // The next one has.
    let results: Vec<u64> = bench.results("calls_late", 40, 20, Args::new());
    assert_eq!(results, (5..45).collect::<Vec<u64>>());
    handle.unregister();
    assert!(bench.results::<u64>("calls_late", 40, 20, Args::new()).iter().all(|r| status(*r) == Status::UNKNOWN_SERVICE));
}

#[test]
fn a_service_may_be_unregistered_while_a_kernel_calls_it() {
    let (service, count) = ticking();
    let bench = Bench::new(|b| b);
    let handle = bench.server.register(service).unwrap();
    let memory = bench.device.alloc::<u64>(128).unwrap();
    bench.launch("calls_until_refused", Launch::linear(2, 32), Args::new().slice(&memory));
    wait_for("calls arrive", || count.get() > 1000);
    handle.unregister();
    bench.server.wait(&bench.queue).unwrap();
    let results = bench.queue.read(&memory).unwrap();
    assert_eq!(results.iter().step_by(2).sum::<u64>(), count.get(), "every call that was handled was answered");
    assert!(results.iter().skip(1).step_by(2).all(|r| status(*r) == Status::UNKNOWN_SERVICE), "{results:x?}");
}

#[test]
fn kernels_on_two_queues_call_at_the_same_time() {
    // Each call is answered when one of the other kernel is there as well.
    let meeting = Arc::new(Barrier::new(2));
    let bench = Bench::new(|b| {
        with_ports(b, 2).service(
            gate::held_back(move |x| {
                meeting.wait();
                x + 1
            })
            .blocking(),
        )
    });
    let queues = [bench.device.queue().unwrap(), bench.device.queue().unwrap()];
    let memory = [bench.device.alloc::<u64>(1).unwrap(), bench.device.alloc::<u64>(1).unwrap()];
    let kernel = bench.program.kernel("held_backs").unwrap();
    for _ in 0..10 {
        for (queue, memory) in queues.iter().zip(&memory) {
            // SAFETY: one word for the one lane.
            unsafe { queue.launch(&kernel, Launch::linear(1, 1), Args::new().slice(memory)) }.unwrap();
        }
        for (queue, memory) in queues.iter().zip(&memory) {
            bench.server.wait(queue).unwrap();
            assert_eq!(queue.read(memory).unwrap(), [1]);
        }
    }
}

/// A second device beside the test's, if there is one.
fn another_device() -> Option<Device> {
    let spec = hostcall_tests::device_spec();
    if !hostcall_tests::on_gpu() {
        return Some(Device::open(&spec).unwrap());
    }
    match Device::open("cuda:1") {
        Ok(device) => Some(device),
        Err(error) => {
            println!("skipped: there is no second GPU ({error})");
            None
        }
    }
}

#[test]
fn kernels_on_two_devices_call_their_own_servers_at_the_same_time() {
    let Some(other) = another_device() else { return };
    let meeting = Arc::new(Barrier::new(2));
    let server = |device: &Device, add: u32| {
        let meeting = meeting.clone();
        let meet = move |x| {
            meeting.wait();
            x + add
        };
        Bench::on(device, |b| b.service(gate::held_back(meet).blocking()))
    };
    let benches = [server(&device(), 10), server(&other, 20)];
    for _ in 0..5 {
        let memory = benches.each_ref().map(|bench| bench.device.alloc::<u64>(1).unwrap());
        for (bench, memory) in benches.iter().zip(&memory) {
            bench.launch("held_backs", Launch::linear(1, 1), Args::new().slice(memory));
        }
        for (bench, (memory, expected)) in benches.iter().zip(memory.iter().zip([10, 20])) {
            bench.server.wait(&bench.queue).unwrap();
            assert_eq!(bench.queue.read(memory).unwrap(), [expected]);
        }
    }
}

#[test]
fn several_programs_share_one_server_and_each_has_its_own_numbers() {
    let (service, count) = ticking();
    let bench = Bench::new(|b| b.service(typed::sum(|a, b| a + b)).service(second::triple(|x| 3 * x)).service(service).threads(4));
    let other = bench.device.load(&hostcall_tests::bundle()).unwrap();
    let handle = bench.server.attach(&other).unwrap();
    let memory = bench.device.alloc::<u64>(64).unwrap();
    let queue = bench.device.queue().unwrap();
    for _ in 0..10 {
        // SAFETY: one word for each of the 64 lanes.
        unsafe { queue.launch(&other.kernel("ticks").unwrap(), Launch::linear(2, 32), Args::new().slice(&memory)) }.unwrap();
        assert_eq!(bench.results::<u64>("two_services", 3, 3, Args::new()), [1000, 2003, 3006]);
        bench.server.wait(&queue).unwrap();
        assert_eq!(queue.read(&memory).unwrap(), [7; 64]);
    }
    assert_eq!(count.get(), 640);
    bench.server.remove_buffer(&handle).unwrap();
}

#[test]
fn async_handlers_overlap() {
    const CALLS: u64 = 96;
    let inside = Counter::default();
    let bench = Bench::new(|b| {
        let inside = inside.clone();
        with_ports(b, 3).service(gate::held_back_async(move |x| {
            let inside = inside.clone();
            async move {
                inside.add(1);
                // None goes on before all have begun. One that waits in vain gives another result.
                for _ in 0..60_000 {
                    if inside.get() == CALLS {
                        return x * 2;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                0
            }
        }))
    });
    let results: Vec<u64> = bench.results("held_backs", CALLS as u32, 32, Args::new());
    assert_eq!(results, (0..CALLS).map(|i| 2 * i).collect::<Vec<u64>>());
}

#[test]
fn a_panicking_stub_tells_the_host_what_happened_and_one_that_works_returns_its_result() {
    let bench = Bench::new(|b| b.service(strict::strict_add(|x| x + 42)));
    assert_eq!(bench.results::<u64>("strict", 3, 3, Args::new()), [42, 43, 44]);
    let lonely = Bench::new(|b| b);
    let error = lonely.try_results::<u64>("strict", 32, 32, Args::new()).unwrap_err();
    assert!(error.report().panics[0].message.contains("unknown service"), "{error}");
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        std::thread::sleep(Duration::from_millis(1));
    }
}
