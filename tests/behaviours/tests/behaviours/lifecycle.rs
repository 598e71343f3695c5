//! Servers and port buffers that go while kernels run, kernels that end badly, and programs that do not fit.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use behaviours_services::{gate, tally, typed};
use hostcall::{AttachError, Completion, Definition, Invocation, ServerBuilder, Service, Status, WaitError};
use hostcall_abi::ABI_VERSION;
use hostcall_abi::descriptor::ABI_SYMBOL;
use hostcall_tests::{Bench, Counter, builder, device, in_child, locks_held, slow, status, with_ports};
use offload::{Args, Launch};

/// Calls that arrived and are not answered.
type Kept = Arc<Mutex<Vec<Completion>>>;

/// A service that keeps its calls, and the calls.
fn holding_back() -> (Service, Kept) {
    let kept = Kept::default();
    let keep = kept.clone();
    let definition = gate::held_back(|x| x).definition().clone();
    let service = Service::deferred(definition, move |call: &mut Invocation<'_>, done| {
        let _: u32 = call.fixed().unwrap();
        keep.lock().unwrap().push(done);
    });
    (service, kept)
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn ticking(builder: ServerBuilder) -> ServerBuilder {
    builder.service(tally::tick(|_| 1)).service(typed::sum(|a, b| a + b))
}

#[test]
fn a_server_that_is_dropped_answers_waiting_lanes_and_every_later_call_fails_at_once() {
    let (service, kept) = holding_back();
    let Bench { queue, program, server, buffer, device } = Bench::new(|b| with_ports(ticking(b).service(service), 2));
    let memory = device.alloc::<u64>(80).unwrap();
    let kernel = program.kernel("stays").unwrap();
    // SAFETY: two words for each of the 40 lanes.
    unsafe { queue.launch(&kernel, Launch::linear(2, 20), Args::new().slice(&memory)) }.unwrap();
    wait_for("40 calls", || kept.lock().unwrap().len() == 40);
    drop(buffer);
    drop(server);
    queue.synchronize().unwrap();
    let gone = |results: Vec<u64>| assert!(results.iter().all(|r| status(*r) == Status::SERVER_GONE), "{results:x?}");
    gone(queue.read(&memory).unwrap());
    kept.lock().unwrap().clear();
    // A kernel that is launched later learns it, too: nobody else ends its calls.
    // SAFETY: as above.
    unsafe { queue.launch(&kernel, Launch::linear(2, 20), Args::new().slice(&memory)) }.unwrap();
    queue.synchronize().unwrap();
    gone(queue.read(&memory).unwrap());
    // And another server takes the program over.
    let server = ticking(builder(&device)).service(gate::held_back(|x| x + 1)).start().unwrap();
    server.attach(&program).unwrap();
    // SAFETY: as above.
    unsafe { queue.launch(&kernel, Launch::linear(2, 20), Args::new().slice(&memory)) }.unwrap();
    server.wait(&queue).unwrap();
    for (i, r) in queue.read(&memory).unwrap().chunks(2).enumerate() {
        assert_eq!(r, [i as u64 + 1, i as u64 + 5]);
    }
}

#[test]
fn a_buffer_that_is_removed_answers_waiting_lanes_and_may_be_replaced() {
    let (service, kept) = holding_back();
    let bench = Bench::new(|b| with_ports(ticking(b).service(service), 2));
    let memory = bench.device.alloc::<u64>(80).unwrap();
    bench.launch("stays", Launch::linear(2, 20), Args::new().slice(&memory));
    wait_for("40 calls", || kept.lock().unwrap().len() == 40);
    bench.server.remove_buffer(&bench.buffer).unwrap();
    bench.queue.synchronize().unwrap();
    let results = bench.queue.read(&memory).unwrap();
    assert!(results.iter().all(|r| status(*r) == Status::DETACHED), "{results:x?}");
    kept.lock().unwrap().clear();
    bench.server.attach(&bench.program).unwrap();
    assert_eq!(bench.results::<u64>("calls", 40, 20, Args::new().value(10u32)), [10; 40]);
}

#[test]
fn buffers_come_and_go_while_another_is_served() {
    let bench = Bench::new(ticking);
    let memory = bench.device.alloc::<u64>(64).unwrap();
    // More than twice as many as the other buffer is there for.
    let calls = if slow() { 50u32 } else { 200 };
    for _ in 0..10 {
        bench.launch("calls", Launch::linear(2, 32), Args::new().value(calls).slice(&memory));
        let program = bench.device.load(&hostcall_tests::bundle()).unwrap();
        let buffer = bench.server.attach(&program).unwrap();
        let queue = bench.device.queue().unwrap();
        let own = bench.device.alloc::<u64>(32).unwrap();
        // SAFETY: one word for each of the 32 lanes.
        unsafe { queue.launch(&program.kernel("calls").unwrap(), Launch::linear(1, 32), Args::new().value(20u32).slice(&own)) }.unwrap();
        bench.server.wait(&queue).unwrap();
        assert_eq!(queue.read(&own).unwrap(), [20; 32]);
        bench.server.remove_buffer(&buffer).unwrap();
        bench.server.wait(&bench.queue).unwrap();
        assert_eq!(bench.queue.read(&memory).unwrap(), [u64::from(calls); 64]);
    }
}

#[test]
fn a_kernel_may_end_with_calls_unanswered_and_the_next_one_uses_the_ports() {
    let (service, kept) = holding_back();
    // Four are kept, and the last never is.
    let bench = Bench::new(|b| ticking(b).service(service).ports(5));
    for round in 0..5 {
        bench.launch("leaves", Launch::linear(4, 20), Args::new());
        bench.queue.synchronize().unwrap();
        wait_for("the calls", || kept.lock().unwrap().len() == 80);
        assert_eq!(locks_held(&bench, &bench.buffer), (0, 0), "round {round}");
        // Every port that may be kept waits for answers: who calls next does not wait for them.
        assert_eq!(bench.results::<u64>("calls", 64, 32, Args::new().value(5u32)), [5; 64]);
        for done in kept.lock().unwrap().drain(..) {
            done.reply(&9u32);
        }
        // And now for nobody.
        assert_eq!(bench.results::<u64>("calls", 64, 32, Args::new().value(5u32)), [5; 64]);
    }
}

#[test]
fn a_kernel_that_panics_while_it_holds_ports_leaves_them_to_the_next_one() {
    let bench = Bench::new(|b| ticking(b).ports(4));
    for _ in 0..6 {
        let error = bench.run("panics_holding", Launch::linear(1, 32), Args::new()).unwrap_err();
        assert_eq!(error.report().panics.len(), 1, "{error}");
    }
    assert_eq!(locks_held(&bench, &bench.buffer), (0, 0));
    assert_eq!(bench.results::<u64>("calls", 64, 32, Args::new().value(10u32)), [10; 64]);
}

#[test]
fn a_kernel_that_traps_with_a_call_open_leaves_the_server_usable() {
    in_child("lifecycle::a_kernel_that_traps_with_a_call_open_leaves_the_server_usable", || {
        let (service, kept) = holding_back();
        let here = Counter::default();
        let count = here.clone();
        let Bench { queue, program, server, buffer, mut device } =
            Bench::new(|b| with_ports(ticking(b), 2).service(service).service(gate::here(move |_| count.add(1))));
        // SAFETY: the address is bad: that is what the test is about; the kernel has no other argument.
        unsafe { queue.launch(&program.kernel("traps").unwrap(), Launch::linear(1, 1), Args::new().address(8)) }.unwrap();
        let error = server.wait(&queue).unwrap_err();
        assert!(matches!(error, hostcall::WaitError::Device { .. }), "{error}");
        assert_eq!(here.get(), 1, "the kernel's call before it");
        server.remove_buffer(&buffer).unwrap();
        if device.info().kind != offload::DeviceKind::Sim {
            // The context is gone with all that is in it. The server is not.
            kept.lock().unwrap().clear();
            drop((buffer, program, queue));
            match device.reset() {
                Ok(fresh) => device = fresh,
                // NVIDIA's driver gives this process no further context; the server has nothing to serve, and says so.
                Err(error) => {
                    assert!(matches!(error, offload::Error::Reset { .. } | offload::Error::DeviceLost { .. }), "{error}");
                    assert!(server.collect().is_success());
                    return;
                }
            }
        }
        let awake = server.keep_awake();
        let program = device.load(&hostcall_tests::bundle()).unwrap();
        server.attach(&program).unwrap();
        let queue = device.queue().unwrap();
        let memory = device.alloc::<u64>(64).unwrap();
        // SAFETY: one word for each of the 64 lanes.
        unsafe { queue.launch(&program.kernel("calls").unwrap(), Launch::linear(2, 32), Args::new().value(10u32).slice(&memory)) }.unwrap();
        server.wait(&queue).unwrap();
        assert_eq!(queue.read(&memory).unwrap(), [10; 64]);
        drop(awake);
    });
}

#[test]
fn a_captured_graph_calls_each_time_it_is_launched() {
    let calls = Counter::default();
    let count = calls.clone();
    let bench = Bench::new(|b| {
        b.service(tally::tick(move |_| {
            count.add(1);
            1
        }))
    });
    if let Err(error) = bench.queue.begin_capture() {
        assert_ne!(bench.device.info().kind, offload::DeviceKind::Cuda, "{error}");
        println!("skipped: {error}");
        return;
    }
    let memory = bench.device.alloc::<u64>(64).unwrap();
    bench.launch("calls", Launch::linear(2, 32), Args::new().value(3u32).slice(&memory));
    let graph = bench.queue.end_capture().unwrap();
    for round in 1..=5 {
        // SAFETY: the memory that the captured launch names is alive.
        unsafe { bench.queue.launch_graph(&graph) }.unwrap();
        bench.server.wait(&bench.queue).unwrap();
        assert_eq!(calls.get(), round * 64 * 3);
    }
    assert_eq!(bench.queue.read(&memory).unwrap(), [3; 64]);
}

#[test]
fn a_program_of_another_abi_version_is_not_attached() {
    let device = device();
    let server = builder(&device).start().unwrap();
    let program = device.load(&hostcall_tests::bundle()).unwrap();
    let theirs = ABI_VERSION + 1;
    program.global(ABI_SYMBOL).unwrap().write(&theirs.to_ne_bytes()).unwrap();
    let error = server.attach(&program).unwrap_err();
    assert!(matches!(error, AttachError::Version { theirs: told, ours: ABI_VERSION, .. } if told == theirs), "{error}");
    let text = error.to_string();
    assert!(text.contains(&theirs.to_string()) && text.contains(&ABI_VERSION.to_string()), "{text}");
}

#[test]
fn a_program_with_another_definition_of_a_service_is_not_attached() {
    let right = typed::sum(|a, b| a + b).definition().clone();
    let device = device();
    let program = device.load(&hostcall_tests::bundle()).unwrap();
    for (text, told) in [
        ("fn(f32, f32) -> f32", "`Typed__sum`: `fn(u64, u64) -> u64` there, `fn(f32, f32) -> f32` here; rebuild both sides"),
        ("fn(u64, u64) -> u64", "both say `fn(u64, u64) -> u64`, and a type in it differs in size"),
        ("", "here it is 0x"),
    ] {
        let other = Definition { signature: right.signature ^ 1, text: text.into(), ..right.clone() };
        let server = builder(&device).service(Service::new(other, |_| Ok(()))).start().unwrap();
        let error = server.attach(&program).unwrap_err();
        assert!(matches!(error, AttachError::Signature { ref service, .. } if service == "Typed__sum"), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    // Registering it later is refused as well.
    let server = builder(&device).start().unwrap();
    server.attach(&program).unwrap();
    let late = Service::new(Definition { signature: 1, ..typed::sum(|a, b| a + b).definition().clone() }, |_| Ok(()));
    assert!(server.register(late).unwrap_err().to_string().contains("Typed__sum"));
}

#[test]
fn a_program_that_is_attached_to_no_server_is_not_launched() {
    let device = device();
    let (program, queue) = (device.load(&hostcall_tests::bundle()).unwrap(), device.queue().unwrap());
    let memory = device.alloc::<u64>(80).unwrap();
    let kernel = program.kernel("stays").unwrap();
    // SAFETY: two words for each of the 40 lanes.
    let launch = || unsafe { queue.launch(&kernel, Launch::linear(2, 20), Args::new().slice(&memory)) };
    let error = launch().unwrap_err();
    assert!(matches!(&error, offload::Error::NoServer { program, kernel } if program == "behaviours" && kernel == "stays"), "{error}");
    assert!(error.to_string().contains("server.attach(&program)"), "{error}");
    assert_eq!(device.in_flight(), 0);
    // Whoever means it says so: every call fails, which the lanes see.
    program.without_server();
    launch().unwrap();
    queue.synchronize().unwrap();
    assert!(queue.read(&memory).unwrap().iter().all(|r| status(*r) == Status::UNKNOWN_SERVICE));
}

#[test]
fn a_program_has_one_server_at_a_time() {
    let bench = Bench::new(ticking);
    let other = ticking(builder(&bench.device)).start().unwrap();
    for (server, here) in [(&bench.server, true), (&other, false)] {
        let error = server.attach(&bench.program).unwrap_err();
        assert!(matches!(error, AttachError::Attached { here: told, ref program } if told == here && program == "behaviours"), "{error}");
        let error = server.attach_to(&bench.program, &bench.buffer).unwrap_err();
        assert!(matches!(error, AttachError::Attached { .. }), "{error}");
    }
    assert_eq!(bench.results::<u64>("calls", 40, 20, Args::new().value(10u32)), [10; 40], "nothing has changed");
    // Taken off here, it may go there; and when that server is gone, come back.
    bench.server.remove_buffer(&bench.buffer).unwrap();
    other.attach(&bench.program).unwrap();
    drop(other);
    bench.server.attach(&bench.program).unwrap();
    assert_eq!(bench.results::<u64>("calls", 40, 20, Args::new().value(10u32)), [10; 40]);
}

#[test]
fn a_panic_that_nobody_waits_for_is_told_when_its_server_goes() {
    let output = in_child("lifecycle::a_panic_that_nobody_waits_for_is_told_when_its_server_goes", || {
        let bench = Bench::new(ticking);
        bench.launch("panics_holding", Launch::linear(1, 32), Args::new());
        bench.queue.synchronize().unwrap();
    });
    let Some(output) = output else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("nobody has waited for") && text.contains("kernel of program `behaviours` panicked at"), "{text}");
}

#[test]
fn a_process_whose_kernel_calls_for_ever_ends_once_a_wait_for_it_has_given_up() {
    let output = in_child("lifecycle::a_process_whose_kernel_calls_for_ever_ends_once_a_wait_for_it_has_given_up", || {
        // Dropped in this order: the queue, the program, the server, the memory. Nobody lives to see 2^32 calls.
        let (device, memory);
        device = hostcall_tests::device();
        memory = device.alloc::<u64>(64).unwrap();
        let bench = Bench::on(&device, ticking);
        bench.launch("calls", Launch::linear(2, 32), Args::new().value(u32::MAX).slice(&memory));
        let error = bench.server.wait_timeout(&bench.queue, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, WaitError::Timeout { .. }), "{error}");
    });
    let Some(output) = output else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("kernel `calls` still runs in it") && text.contains("left to itself"), "{text}");
}

#[test]
fn a_queue_that_is_dropped_says_what_it_waits_for() {
    let output = in_child("lifecycle::a_queue_that_is_dropped_says_what_it_waits_for", || {
        let (service, kept) = holding_back();
        let bench = Bench::new(|b| with_ports(ticking(b).service(service), 2));
        let memory = bench.device.alloc::<u64>(80).unwrap();
        bench.launch("stays", Launch::linear(2, 20), Args::new().slice(&memory));
        wait_for("40 calls", || kept.lock().unwrap().len() == 40);
        let Bench { queue, server, .. } = bench;
        std::thread::scope(|scope| {
            let dropped = scope.spawn(move || drop(queue));
            // Longer than it takes to say so. The queue is waited for all the same.
            std::thread::sleep(Duration::from_millis(1500));
            assert!(!dropped.is_finished());
            kept.lock().unwrap().drain(..).for_each(|done| done.reply(&9u32));
        });
        drop(server);
    });
    let Some(output) = output else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("a queue is dropped, and waits for kernel `stays`"), "{text}");
}

#[test]
fn a_wait_that_is_over_names_the_calls_that_are_open() {
    let (service, kept) = holding_back();
    let bench = Bench::new(|b| with_ports(ticking(b).service(service), 2));
    let memory = bench.device.alloc::<u64>(80).unwrap();
    bench.launch("stays", Launch::linear(2, 20), Args::new().slice(&memory));
    wait_for("40 calls", || kept.lock().unwrap().len() == 40);
    let error = bench.queue.synchronize_timeout(Duration::from_millis(5)).unwrap_err();
    assert!(matches!(error, offload::Error::Timeout { in_flight: 1, .. }), "{error}");
    let error = bench.server.wait_timeout(&bench.queue, Duration::from_millis(5)).unwrap_err();
    let WaitError::Timeout { ref open, .. } = error else { panic!("{error}") };
    let told: Vec<_> = open.iter().map(|call| (&*call.service, call.lanes.count_ones())).collect();
    assert_eq!(told, [("Gate__held_back", 20), ("Gate__held_back", 20)], "{error}");
    assert!(error.to_string().contains("Gate::held_back of lanes 0-19 (port "), "{error}");
    // Of a message, lanes that have been answered are open no more.
    let mut calls: Vec<_> = kept.lock().unwrap().drain(..).collect();
    calls.drain(..25).for_each(|done| done.reply(&9u32));
    let WaitError::Timeout { open, .. } = bench.server.wait_timeout(&bench.queue, Duration::ZERO).unwrap_err() else { panic!() };
    assert_eq!(open.iter().map(|call| call.lanes.count_ones()).sum::<u32>(), 15, "{open:?}");
    calls.into_iter().for_each(|done| done.reply(&9u32));
    bench.server.wait_timeout(&bench.queue, Duration::from_secs(60)).unwrap();
    bench.queue.synchronize_timeout(Duration::ZERO).unwrap();
}

#[test]
fn a_wait_that_is_over_names_the_handler_that_a_serving_thread_is_in() {
    let (began, beginning) = std::sync::mpsc::channel();
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let stuck = tally::tick(move |_| {
        began.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        1
    });
    let bench = Bench::new(|b| b.threads(1).service(stuck));
    let memory = bench.device.alloc::<u64>(1).unwrap();
    bench.launch("calls", Launch::linear(1, 1), Args::new().value(1u32).slice(&memory));
    beginning.recv().unwrap();
    let error = bench.server.wait_timeout(&bench.queue, Duration::from_millis(5)).unwrap_err();
    assert!(error.to_string().contains("Tally::tick of lane 0 (port "), "{error}");
    go.send(()).unwrap();
    bench.server.wait_timeout(&bench.queue, Duration::from_secs(60)).unwrap();
}

#[test]
fn servers_start_and_stop_over_and_over() {
    let device = device();
    let program = device.load(&hostcall_tests::bundle()).unwrap();
    let queue = device.queue().unwrap();
    let memory = device.alloc::<u64>(64).unwrap();
    for round in 0..40 {
        let server = ticking(builder(&device)).threads(1 + round % 4).ports(64).start().unwrap();
        server.attach(&program).unwrap();
        // SAFETY: one word for each of the 64 lanes.
        unsafe { queue.launch(&program.kernel("calls").unwrap(), Launch::linear(2, 32), Args::new().value(20u32).slice(&memory)) }.unwrap();
        if round % 3 == 0 {
            // In the midst of it: every call ends, with a result or a status.
            drop(server);
            queue.synchronize().unwrap();
        } else {
            server.wait(&queue).unwrap();
            assert_eq!(queue.read(&memory).unwrap(), [20; 64]);
        }
    }
}
