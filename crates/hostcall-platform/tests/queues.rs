//! Queues, copies, events, arguments and the choice of devices.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use common::*;
use offload::{Args, Device, Error, Image, ImageKind, Launch, ProgramBundle, Sha256, SimConfig, sim};

unsafe extern "C" fn double(params: *const u8) {
    // SAFETY: the tests pass a slice of `u64`.
    unsafe {
        let (data, len) = (param::<*mut u64>(params, 0), param::<u64>(params, 1) as usize);
        if global() < len {
            *data.add(global()) *= 2;
        }
    }
}

#[test]
fn copies_kernels_and_fills_of_a_queue_happen_in_order() {
    let bench = Bench::new("", double);
    let memory = bench.device.alloc::<u64>(1000).unwrap();
    let host = bench.device.alloc_host::<u64>(1000).unwrap();
    let input: Vec<u64> = (0..1000).collect();
    host.write(0, &input).unwrap();
    for _ in 0..20 {
        bench.queue.fill(&memory, 0xff).unwrap();
        bench.queue.copy_in(&memory, 0, &host, 0, 1000).unwrap();
        bench.launch(Launch::threads(1000, 64), Args::new().slice(&memory)).unwrap();
        bench.queue.copy_to(&memory, 10, &[7, 8]).unwrap();
        bench.launch(Launch::threads(1000, 64), Args::new().slice(&memory)).unwrap();
        bench.queue.copy_out(&host, 500, &memory, 10, 2).unwrap();
        let all = bench.queue.read(&memory).unwrap();
        assert_eq!(all[..13], [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 14, 16, 48]);
        let mut two = [0; 2];
        host.read(500, &mut two).unwrap();
        assert_eq!(two, [14, 16]);
        host.write(500, &[500, 501]).unwrap();
    }
}

#[test]
fn copies_out_of_range_are_errors() {
    let bench = Bench::new("", double);
    let memory = bench.device.alloc::<u32>(10).unwrap();
    let host = bench.device.alloc_host::<u32>(10).unwrap();
    let queue = &bench.queue;
    let text = queue.copy_to(&memory, 8, &[0; 3]).unwrap_err().to_string();
    assert_eq!(text, "copying to device memory: 3 elements at 8 are outside of 10");
    for result in [
        queue.copy_from(&mut [0; 11], &memory, 0),
        queue.copy_from(&mut [0; 1], &memory, usize::MAX),
        queue.copy_in(&memory, 0, &host, 5, 6),
        queue.copy_in(&memory, 5, &host, 0, 6),
        queue.copy_out(&host, 5, &memory, 0, 6),
        host.read(10, &mut [0; 1]),
        host.write(usize::MAX, &[0; 1]),
    ] {
        assert!(matches!(result, Err(Error::Range { .. })), "{result:?}");
    }
    queue.copy_to(&memory, 10, &[]).unwrap();
    queue.copy_from(&mut [], &memory, 10).unwrap();
}

#[test]
fn too_much_memory_is_an_error_that_names_both_sizes() {
    let device = Device::open("sim:memory=8m").unwrap();
    let _held = device.alloc::<u8>(6 << 20).unwrap();
    let error = device.alloc::<u64>(1 << 20).unwrap_err();
    assert!(error.to_string().contains("8388608 bytes asked, 2097152 available"), "{error}");
    assert!(matches!(device.alloc::<u64>(usize::MAX), Err(Error::OutOfMemory { .. })));
    assert!(matches!(device.alloc_host::<u64>(usize::MAX / 8), Err(Error::OutOfHostMemory { .. })));
    assert_eq!(device.alloc::<u64>(0).unwrap().len(), 0);
}

#[test]
fn events_order_queues_and_measure_time() {
    let device = Device::open("sim").unwrap();
    let (a, b) = (device.queue().unwrap(), device.queue().unwrap());
    let (start, end) = (device.event().unwrap(), device.event().unwrap());
    assert!(end.is_complete().unwrap(), "an event never recorded counts as happened");
    assert_eq!(end.since(&start).unwrap(), None);
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        Box::new(move || order.lock().unwrap().push(name)) as Box<dyn FnOnce() + Send>
    };
    a.record(&start).unwrap();
    a.on_complete(Box::new(|| std::thread::sleep(Duration::from_millis(30)))).unwrap();
    a.on_complete(note("a")).unwrap();
    a.record(&end).unwrap();
    b.wait(&end).unwrap();
    b.on_complete(note("b")).unwrap();
    b.synchronize().unwrap();
    assert_eq!(*order.lock().unwrap(), ["a", "b"]);
    assert!(end.since(&start).unwrap().unwrap() >= Duration::from_millis(30));
    end.synchronize().unwrap();
}

#[test]
fn a_callback_that_panics_does_not_stop_the_queue() {
    let bench = Bench::new("", double);
    bench.queue.on_complete(Box::new(|| panic!("on purpose"))).unwrap();
    let memory = bench.zeroed::<u64>(4);
    bench.launch(Launch::linear(1, 4), Args::new().slice(&memory)).unwrap();
    bench.queue.synchronize().unwrap();
}

unsafe extern "C" fn wait_for_param_0(params: *const u8) {
    // SAFETY: the tests pass a word that lives as long as the kernel runs.
    let word = unsafe { AtomicU64::from_ptr(param::<*mut u64>(params, 0)) };
    let mut attempt = 0;
    while word.load(Ordering::Acquire) == 0 {
        attempt += 1;
        pause(attempt);
    }
}

#[test]
fn kernels_in_flight_are_counted_and_told() {
    let bench = Bench::new("", wait_for_param_0);
    let words = bench.device.alloc_host::<u64>(1).unwrap();
    let (tell, told) = mpsc::channel();
    let subscription = bench.device.subscribe(Arc::new(move |busy| tell.send(busy).unwrap()));
    for _ in 0..3 {
        bench.launch(Launch::linear(0, 1), Args::new()).unwrap_err();
        bench.launch(Launch::linear(1, 1), Args::new().host_slice(&words)).unwrap();
    }
    assert_eq!(bench.device.in_flight(), 3);
    words.write(0, &[1]).unwrap();
    bench.queue.synchronize().unwrap();
    assert_eq!(bench.device.in_flight(), 0);
    drop(subscription);
    assert_eq!(told.iter().collect::<Vec<_>>(), [true, false]);
}

#[test]
fn several_queues_run_at_once() {
    let device = Device::open("sim").unwrap();
    let words = device.alloc_host::<u64>(8).unwrap();
    let benches: Vec<_> = (0..8).map(|_| Bench::on(device.clone(), wait_for_param_0)).collect();
    for (i, bench) in benches.iter().enumerate() {
        bench.launch(Launch::linear(1, 1), Args::new().address(words.address() + 8 * i as u64)).unwrap();
    }
    // In the opposite order: each must be running for this to end.
    for (i, bench) in benches.iter().enumerate().rev() {
        words.write(i, &[1]).unwrap();
        bench.queue.synchronize().unwrap();
    }
}

#[test]
fn a_dropped_queue_finishes_what_is_in_it() {
    let done = Arc::new(AtomicBool::new(false));
    let bench = Bench::new("", double);
    let theirs = done.clone();
    bench.queue.on_complete(Box::new(|| std::thread::sleep(Duration::from_millis(20)))).unwrap();
    bench.queue.on_complete(Box::new(move || theirs.store(true, Ordering::Release))).unwrap();
    drop(bench);
    assert!(done.load(Ordering::Acquire));
}

#[test]
fn impossible_launches_are_errors() {
    let bench = Bench::new("waves=2", double);
    let flat = Launch { groups: [2, 1, 1], group_size: [8, 0, 1], dynamic_shared: 0 };
    for (launch, told) in [
        (Launch::linear(0, 1), "`groups` is [0, 1, 1], and 0 in x: give at least 1"),
        (flat, "`group_size` is [8, 0, 1], and 0 in y: give at least 1"),
        (Launch::linear(1, 65), "`group_size` [65, 1, 1] makes workgroups of 65 threads: this device runs at most 64"),
        (Launch::linear(1, u32::MAX), "this device runs at most 64"),
    ] {
        let error = bench.launch(launch, Args::new()).unwrap_err();
        assert!(matches!(error, Error::Launch { .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    let huge = Launch { groups: [u32::MAX; 3], group_size: [u32::MAX; 3], dynamic_shared: 0 };
    assert!(bench.launch(huge, Args::new()).is_err());
}

#[test]
fn things_of_another_device_are_refused() {
    let (a, b) = (Bench::new("", double), Bench::new("", double));
    let memory = b.device.alloc::<u64>(1).unwrap();
    assert!(matches!(a.queue.copy_to(&memory, 0, &[1]), Err(Error::WrongDevice { .. })));
    assert!(matches!(a.queue.record(&b.device.event().unwrap()), Err(Error::WrongDevice { .. })));
}

#[test]
fn devices_are_opened_by_name() {
    assert_eq!(Device::open("sim").unwrap().info().wave_size, 32);
    let device = Device::open("sim:lanes=64,seed=7,sms=3,waves=5").unwrap();
    assert_eq!((device.info().wave_size, device.info().sms, device.info().resident_waves), (64, 3, 15));
    for (spec, part) in
        [("gpu", "`gpu` is no kind of device"), ("sim:lanes=5", "waves of 5 lanes"), ("cuda:x", "no device number"), ("", "`` is")]
    {
        let error = Device::open(spec).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let (device, why) = Device::choose();
    assert!(why.contains("using "), "{why}");
    assert!(device.info().resident_waves > 0);
    assert_eq!(device.reset().unwrap().info(), device.info());
}

#[test]
fn bundles_without_a_fitting_or_undamaged_image_are_refused() {
    let device = Device::open("sim").unwrap();
    let image = |kind, arch: &str| Image { sha256: Sha256([0; 32]), ..Image::new(kind, arch.to_owned(), &b"nothing"[..]) };
    let bundle = |images| ProgramBundle { name: "p".into(), images, note: Some("no toolchain".into()) };
    let error = device.load(&bundle(vec![image(ImageKind::Ptx, "sm_90")])).unwrap_err().to_string();
    assert!(error.contains("it has: PTX sm_90 (no toolchain)"), "{error}");
    let arch = device.info().arch.clone();
    let error = device.load(&bundle(vec![image(ImageKind::Sim, &arch)])).unwrap_err();
    assert!(matches!(error, Error::Image { .. }), "{error}");
}

unsafe extern "C" fn record_order(params: *const u8) {
    // SAFETY: the tests pass a table that is large enough: a counter, then one entry for each thread and round.
    unsafe {
        let table = param::<*mut u64>(params, 0);
        for _ in 0..3 {
            let at = AtomicU64::from_ptr(table).fetch_add(1, Ordering::Relaxed);
            *table.add(1 + at as usize) = global() as u64;
            ballot(active(1), true);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_interleaving_and_another_seed_another() {
    let run = |seed: u64| {
        let device = Device::sim(SimConfig { seed: Some(seed), ..SimConfig::default() }).unwrap();
        let bench = Bench::on(device, record_order);
        let first = bench.run::<u64>(Launch::linear(3, 40), 1 + 3 * 120);
        let second = bench.run::<u64>(Launch::linear(3, 40), 1 + 3 * 120);
        assert_ne!(first, second, "launch after launch is another order");
        (first, second, sim::schedule_hash(&bench.device).unwrap())
    };
    assert_eq!(run(1), run(1));
    let (a, b) = (run(1), run(2));
    assert_ne!(a.0, b.0);
    assert_ne!(a.2, b.2);
    assert_eq!(sim::schedule_hash(&Device::open("sim").unwrap()), None);
}

unsafe extern "C" fn call_the_host(params: *const u8) {
    // SAFETY: the tests pass a table of two words for each thread.
    unsafe {
        let words = param::<*mut u64>(params, 0).add(2 * global());
        let (request, reply) = (AtomicU64::from_ptr(words), AtomicU64::from_ptr(words.add(1)));
        for round in 1..=5 {
            request.store(round, Ordering::Release);
            let mut attempt = 0;
            while reply.load(Ordering::Acquire) != round {
                attempt += 1;
                pause(attempt);
            }
            ballot(active(1), true);
        }
    }
}

#[test]
fn a_seeded_order_does_not_depend_on_how_fast_the_host_answers() {
    let run = |delay: Duration| {
        let device = Device::open("sim:seed=9").unwrap();
        let bench = Bench::on(device.clone(), call_the_host);
        let words = Arc::new(device.alloc_host::<u64>(2 * 16).unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicUsize::new(0));
        let host = std::thread::spawn({
            let (words, stop, answered) = (words.clone(), stop.clone(), answered.clone());
            move || {
                while !stop.load(Ordering::Acquire) {
                    for thread in 0..16 {
                        // SAFETY: words of the table, which this thread keeps; both sides access them as atomics.
                        let (request, reply) = unsafe {
                            let at = words.as_ptr().add(2 * thread);
                            (AtomicU64::from_ptr(at), AtomicU64::from_ptr(at.add(1)))
                        };
                        let asked = request.load(Ordering::Acquire);
                        if asked != reply.load(Ordering::Relaxed) {
                            std::thread::sleep(delay);
                            reply.store(asked, Ordering::Release);
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    std::thread::yield_now();
                }
            }
        });
        bench.launch(Launch::linear(1, 16), Args::new().address(words.address())).unwrap();
        bench.queue.synchronize().unwrap();
        stop.store(true, Ordering::Release);
        host.join().unwrap();
        assert_eq!(answered.load(Ordering::Relaxed), 80);
        sim::schedule_hash(&device).unwrap()
    };
    // A busy machine may keep the host from answering for longer than a lane waits in its place; and then it is tried
    // again.
    assert!((0..1000).any(|_| run(Duration::ZERO) == run(Duration::from_micros(300))));
}
