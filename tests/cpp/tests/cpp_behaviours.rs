//! Kernels in C++ against the real server: compiled for the simulator, or for the GPU that `HOSTCALL_TEST_DEVICE`
//! names.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostcall::{AttachError, Completion, Definition, Invocation, Server, Service, Status};
use hostcall_cpp_tests::services::host;
use hostcall_cpp_tests::{Bench, Setting, bundle, device_spec, images, on_simulator};
use offload::{Args, Device, Launch};

/// Runs a test with the kernels of each compiler.
fn each(settings: &[Setting], test: impl Fn(&Path, &Setting)) {
    for (compiler, image) in images() {
        for setting in settings {
            println!("{compiler}, {setting:?}");
            test(&image, setting);
        }
    }
}

/// Lanes as fibers and as threads, in both wave sizes; or the GPU.
fn modes() -> Vec<Setting> {
    if !on_simulator() {
        return vec![Setting::usual(device_spec())];
    }
    ["sim", "sim:lanes=64", "sim:threads", "sim:threads,lanes=64"].map(Setting::usual).into()
}

/// With few ports and few staging slots, too, in every mode, and with 20 seeds for each size of a wave.
fn scarcity() -> Vec<Setting> {
    let mut devices = vec![device_spec()];
    if on_simulator() {
        devices = modes().into_iter().map(|mode| mode.device).collect();
        devices.extend((1..=20).flat_map(|seed| [32, 64].map(|lanes| format!("sim:seed={seed},lanes={lanes}"))));
    }
    let few = [(1, 2), (3, 8), (64, 2)];
    devices.into_iter().flat_map(|device| few.map(|scarce| Setting { device: device.clone(), scarce: Some(scarce) })).collect()
}

/// Both.
fn everywhere() -> Vec<Setting> {
    [modes(), scarcity()].concat()
}

fn whole(image: &Path, setting: &Setting) -> Bench {
    Bench::new(image, setting, |builder| builder)
}

fn status(word: u64) -> Status {
    Status((word >> 32) as u16)
}

#[test]
fn every_shape_of_arguments_and_results_arrives() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        for lanes in [1, 20, 200] {
            let right: Vec<u32> = bench.run("shapes", lanes, Args::new()).unwrap();
            assert_eq!(right, vec![0xfff; lanes as usize], "{lanes} lanes: {right:x?}");
        }
    });
}

#[test]
fn posts_among_calls_arrive_once_and_in_full() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let (lanes, rounds) = (128u64, 23u64);
        let sums: Vec<u64> = bench.run("posts_and_calls", lanes as u32, Args::new().value(rounds as u32)).unwrap();
        let expected = |lane: u64| (0..rounds).filter(|r| r % 3 == 0).map(|r| r + lane).sum::<u64>();
        assert_eq!(sums, (0..lanes).map(expected).collect::<Vec<_>>());
        assert_eq!(bench.seen.notes.load(Ordering::Relaxed), lanes * (0..rounds).map(|r| r % 4).sum::<u64>());
        assert_eq!(bench.seen.logs.load(Ordering::Relaxed), lanes * rounds.div_ceil(5));
    });
}

#[test]
fn a_port_lives_through_a_lap_of_the_tag() {
    for (_, image) in images() {
        // One port: its tag counts every message, and scrubs twice.
        let bench = whole(&image, &Setting { device: device_spec(), scarce: Some((1, 2)) });
        let (lanes, rounds) = (2u64, 18_000u64);
        let sums: Vec<u64> = bench.run("posts_and_calls", lanes as u32, Args::new().value(rounds as u32)).unwrap();
        let expected = |lane: u64| (0..rounds).filter(|r| r % 3 == 0).map(|r| r + lane).sum::<u64>();
        assert_eq!(sums, (0..lanes).map(expected).collect::<Vec<_>>());
        assert_eq!(bench.seen.notes.load(Ordering::Relaxed), lanes * (0..rounds).map(|r| r % 4).sum::<u64>());
    }
}

/// Runs `slices` with so many bytes, and `step` more for some lanes, from places of every alignment.
fn slices(bench: &Bench, lanes: u32, bytes: u32, step: u32, shift: u32) {
    let room = u64::from(bytes + 2 * step + 16).next_multiple_of(16);
    let [from, back] = [(); 2].map(|()| bench.device.alloc::<u8>((room * u64::from(lanes)) as usize).unwrap());
    let args = Args::new().value(bytes).value(step).value(shift).address(from.address()).address(back.address()).value(room);
    let right: Vec<u64> = bench.run("slices", lanes, args).unwrap();
    assert_eq!(right, vec![7; lanes as usize], "{bytes} bytes, {step} more, shifted by {shift}: {right:x?}");
}

#[test]
fn strings_and_slices_of_any_length_arrive_inline_and_staged() {
    each(&modes(), |image, setting| {
        let bench = whole(image, setting);
        for bytes in [0, 1, 3, 4, 5, 15, 16, 17, 100, 255, 1000, 4097, 60_000] {
            slices(&bench, 33, bytes, 0, 0);
            slices(&bench, 40, bytes, 7, 5);
        }
    });
}

#[test]
fn strings_and_slices_arrive_when_ports_and_slots_are_scarce() {
    each(&scarcity(), |image, setting| {
        let bench = whole(image, setting);
        for (bytes, step) in [(0, 1), (13, 100), (1000, 3000), (20_000, 1)] {
            slices(&bench, 70, bytes, step, 3);
        }
    });
}

#[test]
fn strings_are_posted_inline_and_staged() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let mut sent = 0;
        for bytes in [0u32, 9, 500, 30_000] {
            let room = u64::from(bytes) + 1;
            let text = bench.device.alloc::<u8>((room * 40) as usize).unwrap();
            let ends: Vec<u64> = bench.run("logs", 40, Args::new().value(bytes).address(text.address()).value(room)).unwrap();
            assert_eq!(ends, [0; 40], "{bytes} bytes");
            sent += u64::from(bytes) * 40;
            assert_eq!(bench.seen.log_bytes.load(Ordering::Relaxed), sent, "{bytes} bytes");
        }
    });
}

#[test]
fn lanes_that_diverge_call_different_services_with_different_trip_counts() {
    each(&everywhere(), |image, setting| {
        let sums: Vec<u64> = whole(image, setting).run("divergent", 128, Args::new()).unwrap();
        for (i, sum) in (0u64..).zip(sums) {
            let rounds = i % 5;
            let expected: u64 = if i % 2 == 0 { (0..rounds).map(|r| r + 1).sum() } else { (0..rounds).map(|r| 9 * r * r).sum() };
            assert_eq!(sum, expected, "lane {i}");
        }
    });
}

#[test]
fn a_wave_calls_once_for_all_its_lanes() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let wave = u64::from(bench.device.info().wave_size);
        for (round, bytes) in (1..).zip([0u32, 5, 96, 1000, 20_000]) {
            // Each wave a workgroup, so that its number follows from its lanes'; the last one with fewer lanes.
            let lanes = 3 * wave - 7;
            let [from, back] = [(); 2].map(|()| bench.device.alloc::<u8>(3 * bytes.max(1) as usize).unwrap());
            let right = bench.device.alloc::<u64>(lanes as usize).unwrap();
            let args = Args::new().value(bytes).address(from.address()).address(back.address()).slice(&right);
            let kernel = bench.program.kernel("together").unwrap();
            // SAFETY: the kernel writes a word for each lane, and so many bytes of each of the three waves.
            unsafe { bench.queue.launch(&kernel, Launch::threads(lanes as u32, wave as u32), args) }.unwrap();
            // The wave with an odd number has called a handler that refuses it.
            let error = bench.server.wait(&bench.queue).unwrap_err();
            assert!(error.to_string().contains("odd"), "{error}");
            let right = bench.queue.read(&right).unwrap();
            assert_eq!(right, vec![255; lanes as usize], "{bytes} bytes");
            assert_eq!(bench.seen.logs.load(Ordering::Relaxed), 3 * round);
            assert_eq!(bench.seen.notes.load(Ordering::Relaxed), 2 * 3 * round);
        }
    });
}

#[test]
fn any_mask_of_lanes_may_call() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        for mask in [1u64, 1 << 31, 0x8000_0001, 0xf0f0_a5a5, 0xffff_ffff, 0x0010_0000] {
            let sums: Vec<u64> = bench.run("masked", 96, Args::new().value(mask)).unwrap();
            let expected = (0..96u64).map(|i| if mask >> (i % 32) & 1 == 1 { i + 1000 } else { 0 });
            assert_eq!(sums, expected.collect::<Vec<_>>(), "mask {mask:#x}");
        }
    });
}

#[test]
fn a_service_that_nobody_registered_is_unknown_to_every_lane() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let memory = bench.launch::<u64>("unknown", 64, 1, Args::new());
        bench.queue.synchronize().unwrap();
        let report = bench.server.collect();
        let ends = bench.queue.read(&memory).unwrap();
        assert!(ends.iter().all(|end| status(*end) == Status::UNKNOWN_SERVICE), "{ends:x?}");
        assert_eq!(report.to_string(), "service Nobody__home is not registered with the server: 64 calls came to nothing");
    });
}

#[test]
fn services_are_called_by_values_and_values_of_other_definitions_are_nobody() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let odd = bench.server.register_unnamed(host::sum(|a, b| a * b)).unwrap();
        let even = bench.server.register_unnamed(host::sum(|a, b| b - a)).unwrap();
        let named = |name| bench.server.service_handle(name).unwrap().callee();
        let (texts, posts) = (named("Host__measure"), named("Host__note"));
        let run = || {
            let args = Args::new().value(odd.callee()).value(even.callee()).value(texts).value(posts);
            bench.launch::<u64>("by_value", 100, 1, args)
        };
        let memory = run();
        bench.server.wait(&bench.queue).unwrap();
        let expected: Vec<u64> = (0..100).map(|i| if i % 2 == 1 { i * 1000 } else { 1000 - i }).collect();
        assert_eq!(bench.queue.read(&memory).unwrap(), expected);
        assert_eq!(bench.seen.notes.load(Ordering::Relaxed), 99 * 50);
        odd.unregister();
        let memory = run();
        bench.queue.synchronize().unwrap();
        let ends = bench.queue.read(&memory).unwrap();
        assert!((0..).zip(&ends).all(|(i, end)| i % 2 == 0 || status(*end) == Status::UNKNOWN_SERVICE), "{ends:x?}");
        assert!((0..).zip(&ends).all(|(i, end)| i % 2 == 1 || *end == 1000 - i), "{ends:x?}");
        // Each lane has learnt how its call ended.
        assert!(bench.server.collect().is_success());
    });
}

#[test]
fn handlers_that_fail_fail_their_lanes_and_the_others_go_on() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        for (kernel, kind) in [("picky", Status::HANDLER_FAILED), ("fragile", Status::HANDLER_PANICKED)] {
            let memory = bench.launch::<u64>(kernel, 64, 1, Args::new());
            let error = bench.server.wait(&bench.queue).unwrap_err();
            assert!(error.to_string().contains("odd"), "{error}");
            for (i, end) in (0u64..).zip(bench.queue.read(&memory).unwrap()) {
                let expected = match kind {
                    _ if i % 2 == 0 => (Status::OK, i * 10),
                    Status::HANDLER_FAILED => (kind, i + 7),
                    _ => (kind, end & 0xffff_ffff),
                };
                assert_eq!((status(end), end & 0xffff_ffff), expected, "{kernel}, lane {i}");
            }
        }
    });
}

#[test]
fn a_port_may_be_kept_while_other_calls_are_made() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let sums: Vec<u64> = bench.run("keeps", 128, Args::new().value(10u32)).unwrap();
        assert_eq!(sums, (0..128).map(|i| 45 + 10 * i + 20).collect::<Vec<u64>>());
        assert_eq!(bench.seen.notes.load(Ordering::Relaxed), 1280);
    });
}

#[test]
fn a_call_that_was_started_is_fetched_later_or_dropped() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let sums: Vec<u64> = bench.run("starts", 128, Args::new()).unwrap();
        assert_eq!(sums, (0..128).map(|i| 5 * i + 10 + 10).collect::<Vec<u64>>());
    });
}

/// A service that keeps its calls, and the calls.
fn holding_back() -> (Service, Arc<Mutex<Vec<Completion>>>) {
    let kept = Arc::<Mutex<Vec<Completion>>>::default();
    let keep = kept.clone();
    let definition = host::held_back(|x| x).definition().clone();
    let service = Service::deferred(definition, move |call: &mut Invocation<'_>, done| {
        let _: u32 = call.fixed().expect("its argument");
        keep.lock().expect("the calls").push(done);
    });
    (service, kept)
}

#[test]
fn a_lane_may_give_up_on_a_call_and_its_port_is_used_again() {
    each(&modes(), |image, setting| {
        let (service, kept) = holding_back();
        let bench = Bench::new(image, setting, |builder| builder.service(service));
        let ends: Vec<u64> = {
            let memory = bench.launch::<u64>("gives_up", 64, 2, Args::new().value(2_000_000u64));
            bench.queue.synchronize().unwrap();
            bench.queue.read(&memory).unwrap()
        };
        for (i, end) in (0u64..).zip(ends.as_chunks::<2>().0) {
            assert_eq!(*end, [u64::from(Status::TIMEOUT.0), i + 1], "lane {i}");
        }
        kept.lock().unwrap().clear();
        let sums: Vec<u64> = bench.run("masked", 64, Args::new().value(u64::MAX)).unwrap_or_else(|error| {
            // The calls that were dropped unanswered are in the report.
            assert!(error.to_string().contains("held_back"), "{error}");
            bench.run("masked", 64, Args::new().value(u64::MAX)).unwrap()
        });
        assert_eq!(sums, (0..64).map(|i| i + 1000).collect::<Vec<u64>>());
    });
}

#[test]
fn lanes_learn_that_the_server_is_gone() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let memory = bench.launch::<u64>("until_gone", 128, 1, Args::new());
        std::thread::sleep(Duration::from_millis(20));
        let Bench { queue, server, .. } = bench;
        drop(server);
        queue.synchronize().unwrap();
        let ends = queue.read(&memory).unwrap();
        assert!(ends.iter().all(|end| status(*end) == Status::SERVER_GONE), "{ends:x?}");
    });
}

#[test]
fn what_does_not_fit_is_too_large_for_its_own_lanes_only() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        for bytes in [1u64 << 30, 1 << 32, (1 << 32) + 1, 1 << 40] {
            let ends: Vec<u64> = bench.run("too_large", 40, Args::new().value(bytes)).unwrap();
            for (i, end) in ends.into_iter().enumerate() {
                if i % 2 == 0 {
                    assert_eq!(end, 7, "{bytes} bytes beside lane {i}");
                } else {
                    assert_eq!(status(end), Status::TOO_LARGE, "{bytes} bytes of lane {i}");
                    assert_eq!(end as u32, bench.buffer.descriptor().slot_bytes, "the limit");
                }
            }
        }
    });
}

#[test]
fn a_lane_that_does_not_handle_an_error_ends_and_is_reported() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let memory = bench.launch::<u64>("aborts", 32, 1, Args::new());
        let error = bench.server.wait(&bench.queue).unwrap_err().to_string();
        assert!(error.contains("Host::picky: the handler failed with code 8") && error.contains("behaviours.cu:"), "{error}");
        let ends = bench.queue.read(&memory).unwrap();
        for (i, end) in (0u64..).zip(ends) {
            assert_eq!(end, if i % 2 == 0 { i * 10 + 1 } else { 0 }, "lane {i}");
        }
    });
}

#[test]
fn a_program_with_another_definition_of_a_service_is_refused_by_name() {
    let (text, told) = ("fn(f32, f32) -> f32", "`Host__sum`: `fn(u64, u64) -> u64` there, `fn(f32, f32) -> f32` here");
    for (_, image) in images() {
        let device = Device::open(&device_spec()).unwrap();
        let program = device.load(&bundle(&device, &image)).unwrap();
        let right = host::sum(|a, b| a + b).definition().clone();
        let other = Definition { signature: right.signature ^ 1, text: text.into(), ..right };
        let server = Server::builder(&device).service(Service::new(other, |_| Ok(()))).start().unwrap();
        let error = server.attach(&program).unwrap_err();
        assert!(matches!(error, AttachError::Signature { ref service, .. } if service == "Host__sum"), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn a_launch_with_other_arguments_than_the_kernel_takes_is_refused() {
    for (_, image) in images() {
        let bench = whole(&image, &Setting::usual(device_spec()));
        let kernel = bench.program.kernel("masked").unwrap();
        assert_eq!(kernel.params(), Some(&[8, 8, 8][..]));
        // SAFETY: it is refused.
        let refused = unsafe { bench.queue.launch(&kernel, Launch::linear(1, 1), Args::new().value(1u64)) };
        assert!(matches!(refused, Err(offload::Error::ArgumentCount { .. })), "{refused:?}");
    }
}

#[test]
fn the_host_formats_what_kernels_print_and_refuses_conversions_that_are_none() {
    each(&everywhere(), |image, setting| {
        let [(out, printed), (error, errors)] = [hostcall::Sink::buffer(), hostcall::Sink::buffer()];
        let bench = Bench::new(image, setting, |builder| builder.stdout(out).stderr(error));
        let memory = bench.device.alloc::<u64>(40).unwrap();
        let kernel = bench.program.kernel("formats").unwrap();
        // SAFETY: the kernel writes a word for each of the 40 lanes.
        unsafe { bench.queue.launch(&kernel, Launch::threads(40, 20), Args::new().slice(&memory)) }.unwrap();
        let failed = bench.server.wait(&bench.queue).unwrap_err();
        let [failure] = &failed.report().handler_failures[..] else { panic!("{failed}") };
        assert_eq!((failure.service.as_str(), failure.lanes), ("Console__format", 40));
        assert!(failure.message.contains("`%d` is given a floating-point number: write %f"), "{failed}");
        assert_eq!(bench.queue.read(&memory).unwrap(), [15; 40]);
        let text = String::from_utf8(printed.lock().unwrap().clone()).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<String> = (0..40).map(|i| format!("{i}:  3.14|text  |0xff|x\u{df}|-7|200|(null)|0x10")).collect();
        expected.sort_unstable();
        assert_eq!(lines, expected);
        let large: String = (0..700u32).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
        assert_eq!(String::from_utf8(errors.lock().unwrap().clone()).unwrap(), format!("abc{large}").repeat(40));
    });
}

#[test]
fn built_in_services_print_tell_the_time_and_the_environment_and_serve_files() {
    each(&everywhere(), |image, setting| {
        let dir = tempfile::tempdir().unwrap();
        let (sink, printed) = hostcall::Sink::buffer();
        let bench = Bench::new(image, setting, |builder| {
            builder.stdout(sink).env("GREETING", "hello").dir(dir.path(), "/data", hostcall::Access::ReadWrite).unwrap()
        });
        let right: Vec<u64> = bench.run("surroundings", 40, Args::new()).unwrap();
        assert_eq!(right, [63; 40], "{right:x?}");
        assert_eq!(String::from_utf8(printed.lock().unwrap().clone()).unwrap(), "printed from C++\n".repeat(40));
        let written = std::fs::read(dir.path().join("numbers")).unwrap();
        assert_eq!(written, (0..40u64).flat_map(|i| (i * i).to_le_bytes()).collect::<Vec<u8>>());
    });
}

#[test]
fn kernels_see_the_arguments_and_variables_that_were_granted() {
    each(&everywhere(), |image, setting| {
        let set_up = |builder: hostcall::ServerBuilder| {
            let builder = builder.arg("first").arg("zwei of 16 bytes");
            builder.env("GREETING", "hello").env("EMPTY", "")
        };
        let bench = Bench::new(image, setting, set_up);
        let right: Vec<u64> = bench.run("grants", 70, Args::new()).unwrap();
        assert_eq!(right, [63; 70], "{right:x?}");
    });
}

#[test]
fn files_end_are_refused_and_are_closed() {
    each(&everywhere(), |image, setting| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("given")).unwrap();
        std::fs::write(dir.path().join("given/text"), "hello").unwrap();
        std::fs::write(dir.path().join("secret"), "no").unwrap();
        // Fewer than all lanes open one after the other, and more than are open at once: each lane has one, and tries
        // another. Room is asked for first, so where there is none, nothing is said of the path.
        let limits = hostcall::Limits::default().open_files(85);
        let bench = Bench::new(image, setting, |builder| {
            builder.limits(limits).dir(dir.path().join("given"), "/given", hostcall::Access::ReadOnly).unwrap()
        });
        let right: Vec<u64> = bench.run("files", 40, Args::new()).unwrap();
        assert_eq!(right, [255; 40], "{right:x?}");
        assert!(!dir.path().join("given/new").exists());
        assert_eq!(std::fs::read_to_string(dir.path().join("given/text")).unwrap(), "hello");
    });
}

#[test]
fn lanes_that_call_while_the_kernel_is_being_ended_end_and_the_next_kernel_is_served() {
    each(&everywhere(), |image, setting| {
        let bench = whole(image, setting);
        let memory = bench.launch::<u64>("is_ended", 130, 1, Args::new());
        let error = bench.server.wait(&bench.queue).unwrap_err();
        let [panic] = &error.report().panics[..] else { panic!("{error}") };
        assert!(panic.message.contains("the kernel is to end"), "{error}");
        assert_eq!(bench.queue.read(&memory).unwrap(), [0; 130], "calls that end their lane do not fail");
        let sums: Vec<u64> = bench.run("masked", 96, Args::new().value(u64::MAX)).unwrap();
        assert_eq!(sums, (0..96).map(|i| i + 1000).collect::<Vec<u64>>());
    });
}
