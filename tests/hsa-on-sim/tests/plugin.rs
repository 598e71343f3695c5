//! `offload::hsa` over the stand-in: devices, memory, queues, events, programs.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use common::{bundle, device, in_child, launch, library, program};
use hostcall_abi::tick::Tick;
use offload::{Args, Device, DeviceKind, Error, HostMemory, Image, ImageKind, Launch, ProgramBundle, hsa};

/// A word of host memory, as an atomic.
fn word(memory: &HostMemory<u32>, at: usize) -> &AtomicU32 {
    assert!(at < memory.len());
    // SAFETY: inside of memory that lives as long as the reference; kernels and host access it atomically.
    unsafe { AtomicU32::from_ptr(memory.as_ptr().add(at)) }
}

fn wait_for(word: &AtomicU32, value: u32) {
    while word.load(Ordering::SeqCst) != value {
        std::thread::yield_now();
    }
}

#[test]
fn the_library_exports_every_function_that_is_looked_up() {
    // SAFETY: the library's initialisers are Rust's own.
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    for symbol in hsa::SYMBOLS {
        // SAFETY: only whether it is there is asked.
        assert!(unsafe { library.get::<*const ()>(*symbol) }.is_ok(), "{symbol}");
    }
}

#[test]
fn devices_tell_what_their_agents_say() {
    let devices = [0, 1, 2].map(device);
    for (number, device) in devices.iter().enumerate() {
        let info = device.info();
        assert_eq!((info.kind, info.ordinal, info.sms, info.resident_waves), (DeviceKind::Hsa, number as u32, 4, 64));
        assert_eq!(info.driver, "HSA runtime 1.1");
        let more = hsa::info(device).unwrap();
        assert_eq!(more.isas, std::slice::from_ref(&info.arch));
        assert_eq!(info.pci_bus_id, Some(format!("0000:{:02x}:00.0", number + 2)));
        assert_eq!((more.clock_mhz, more.memory_clock_mhz), (Some(2100), Some(1300)));
        assert_eq!((more.host_reaches_memory, more.group_bytes, more.counter_hz), (number != 1, 64 << 10, Some(100_000_000)));
    }
    assert_eq!(devices.map(|device| device.info().wave_size), [32, 32, 64]);
    assert!(matches!(Device::open("hsa:3"), Err(Error::NoDevice { kind: DeviceKind::Hsa, ordinal: 3, count: 3 })));
    assert!(hsa::info(&Device::open("sim").unwrap()).is_none());
}

#[test]
fn an_agent_that_others_found_is_the_same_device() {
    let mine = device(1);
    let agent = mine.raw_hsa_agent().unwrap();
    assert_eq!(Device::from_raw_hsa_agent(agent).unwrap().info(), mine.info());
    let cpu = hsa::sys::hsa_agent_t { handle: 1 };
    assert!(matches!(Device::from_raw_hsa_agent(cpu), Err(Error::WrongDevice { .. })));
}

#[test]
fn a_kernel_runs_with_its_arguments_and_each_load_has_its_own_globals() {
    for number in 0..3 {
        let device = device(number);
        let (one, two) = (program(&device), program(&device));
        let queue = device.queue().unwrap();
        let factor = two.global("FACTOR").unwrap();
        factor.write(&10u32.to_ne_bytes()).unwrap();
        for (program, expected) in [(&one, 3), (&two, 10)] {
            let data = device.alloc::<u32>(1000).unwrap();
            queue.copy_to(&data, 0, &(0..1000).collect::<Vec<u32>>()).unwrap();
            let kernel = program.kernel("scale").unwrap();
            assert_eq!(kernel.params(), Some(&[4, 8, 8][..]));
            launch(&queue, &kernel, Launch::threads(1000, 96), Args::new().value(7u32).slice(&data));
            let got = queue.read(&data).unwrap();
            assert!(got.iter().enumerate().all(|(i, &value)| value == i as u32 * expected + 7), "device {number}");
        }
        let mut read = [0; 4];
        factor.read(&mut read).unwrap();
        assert_eq!(u32::from_ne_bytes(read), 10);
    }
}

#[test]
fn shapes_of_three_dimensions_arrive() {
    let device = device(0);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let to = device.alloc::<u32>(16).unwrap();
    let shape = Launch { groups: [2, 3, 4], group_size: [8, 2, 3], dynamic_shared: 0 };
    launch(&queue, &program.kernel("shape").unwrap(), shape, Args::new().address(to.address()));
    let info = queue.read(&to).unwrap();
    assert_eq!((&info[7..10], &info[13..16]), (&[2, 3, 4][..], &[8, 2, 3][..]));
}

#[test]
fn kernels_learn_how_long_a_tick_of_their_gpus_counter_is() {
    let gpus = "counter=25000000;counter=27000000,nobar;counter=0;";
    in_child("kernels_learn_how_long_a_tick_of_their_gpus_counter_is", &[("HSA_ON_SIM", gpus)], || {
        let of = |nanos, fraction| Tick { nanos, fraction };
        // A second of the counter is a second, where the plugin could write by the window and where it could not. Who
        // is not told believes in 100 MHz.
        for (number, hz, tick) in
            [(0, 25_000_000, of(40, 0)), (1, 27_000_000, of(37, 159_072_862)), (2, 100_000_000, of(10, 0)), (3, 100_000_000, of(10, 0))]
        {
            let device = device(number);
            assert_eq!(hsa::info(&device).unwrap().counter_hz, (number != 2).then_some(hz));
            let (queue, program) = (device.queue().unwrap(), program(&device));
            let to = device.alloc::<u32>(2).unwrap();
            launch(&queue, &program.kernel("tick").unwrap(), Launch::linear(1, 1), Args::new().address(to.address()));
            let read = queue.read(&to).unwrap();
            assert_eq!(of(read[0], read[1]), tick, "device {number}");
            assert!(tick.nanoseconds(hz).abs_diff(1_000_000_000) <= 1, "{hz} ticks are a second");
        }
    });
}

#[test]
fn constants_and_missing_symbols_are_told_apart() {
    let device = device(0);
    let program = program(&device);
    assert!(matches!(program.global("CONSTANT").unwrap().write(&[0; 4]), Err(Error::ReadOnly { .. })));
    assert!(matches!(program.kernel("absent"), Err(Error::NoKernel { .. })));
    assert!(matches!(program.kernel("nul\0"), Err(Error::NoKernel { .. })));
    assert!(matches!(program.global("absent"), Err(Error::NoGlobal { .. })));
    // A kernel is no global, nor the other way round.
    assert!(matches!(program.kernel("FACTOR"), Err(Error::NoKernel { .. })));
}

#[test]
fn images_that_do_not_fit_or_are_none_say_why() {
    let device = device(0);
    let arch = device.info().arch.clone();
    let load = |kind, arch: &str, bytes: Vec<u8>| {
        device.load(&ProgramBundle::new("p", vec![Image::new(kind, arch.to_owned(), bytes)])).unwrap_err().to_string()
    };
    let error = load(ImageKind::AmdCodeObject, "gfx942", vec![0]);
    assert!(error.contains("has no image for") && error.contains("AMD code object gfx942"), "{error}");
    let error = load(ImageKind::Sim, &arch, b"nothing".to_vec());
    assert!(error.contains("is no code object"), "{error}");
    let mut amd = bundle().images[0].bytes.to_vec();
    amd[18..20].copy_from_slice(&[224, 0]);
    let error = load(ImageKind::Sim, &arch, amd);
    assert!(error.contains("for another processor or other settings"), "{error}");
    let mut none = bundle().images[0].bytes.to_vec();
    none.truncate(none.len() / 2);
    let error = load(ImageKind::Sim, &arch, none);
    assert!(error.contains("build it again"), "{error}");
}

#[test]
fn copies_of_every_way_and_length_arrive_whole() {
    for number in 0..2 {
        let device = device(number);
        let queue = device.queue().unwrap();
        for len in [1, 3, 4095, 16 << 10, (16 << 10) + 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 5] {
            let memory = device.alloc::<u8>(len + 2).unwrap();
            let sent: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            queue.copy_to(&memory, 1, &sent).unwrap();
            let mut got = vec![0; len];
            queue.copy_from(&mut got, &memory, 1).unwrap();
            assert!(got == sent, "device {number}, {len} bytes");
            let host = device.alloc_host::<u8>(len + 1).unwrap();
            assert_eq!(host.address() % 4096, 0);
            queue.copy_out(&host, 1, &memory, 1, len).unwrap();
            queue.fill(&memory, 0x5a).unwrap();
            queue.copy_in(&memory, 2, &host, 1, len).unwrap();
            queue.copy_from(&mut got, &memory, 2).unwrap();
            assert!(got == sent, "device {number}, {len} bytes through host memory");
            let mut ends = [0; 2];
            queue.copy_from(&mut ends, &memory, 0).unwrap();
            assert_eq!(ends, [0x5a; 2], "the fill came before the copy");
        }
    }
}

#[test]
fn host_memory_is_zeroed() {
    let device = device(0);
    for len in [1, 4096, 200_000] {
        let host = device.alloc_host::<u8>(len).unwrap();
        let mut bytes = vec![1; len];
        host.read(0, &mut bytes).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 0));
    }
}

#[test]
fn pinned_memory_of_the_application_is_seen_by_kernels() {
    let device = device(1);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let mut mine = vec![1u32, 2, 3];
    // SAFETY: the vector is not touched until the pin is dropped.
    let pinned = unsafe { hsa::pin(&device, std::ptr::NonNull::from(&mut mine[0]), 3) }.unwrap();
    launch(&queue, &program.kernel("scale").unwrap(), Launch::linear(1, 3), Args::new().value(1u32).host_slice(&pinned));
    queue.synchronize().unwrap();
    let device_side = device.alloc::<u32>(3).unwrap();
    queue.copy_in(&device_side, 0, &pinned, 0, 3).unwrap();
    assert_eq!(queue.read(&device_side).unwrap(), [4, 7, 10]);
    drop(pinned);
    assert_eq!(mine, [4, 7, 10]);
}

#[test]
fn whatever_is_queued_happens_in_order() {
    for number in 0..2 {
        let device = device(number);
        let (queue, other, program) = (device.queue().unwrap(), device.queue().unwrap(), program(&device));
        let kernel = program.kernel("scale").unwrap();
        let (data, host, event) = (device.alloc::<u32>(64).unwrap(), device.alloc_host::<u32>(64).unwrap(), device.event().unwrap());
        queue.fill(&data, 0).unwrap();
        let (mut data_model, mut host_model) = ([0u32; 64], [0u32; 64]);
        let mut random = 0x9e37_79b9u32;
        // More than a ring holds.
        for step in 0..600 {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            match random % 7 {
                0..=2 => {
                    launch(&queue, &kernel, Launch::linear(1, 64), Args::new().value(step).slice(&data));
                    data_model.iter_mut().for_each(|value| *value = value.wrapping_mul(3).wrapping_add(step));
                }
                3 => {
                    queue.copy_out(&host, 0, &data, 0, 64).unwrap();
                    host_model = data_model;
                }
                4 => {
                    queue.copy_in(&data, 0, &host, 32, 32).unwrap();
                    data_model[..32].copy_from_slice(&host_model[32..]);
                }
                5 if random & 0x100 == 0 => {
                    let byte = (random >> 16) as u8;
                    queue.fill(&data, byte).unwrap();
                    data_model = [u32::from_ne_bytes([byte; 4]); 64];
                }
                _ => {
                    // Through another queue and back.
                    queue.record(&event).unwrap();
                    other.wait(&event).unwrap();
                    launch(&other, &kernel, Launch::linear(1, 64), Args::new().value(step).slice(&data));
                    other.record(&event).unwrap();
                    queue.wait(&event).unwrap();
                    data_model.iter_mut().for_each(|value| *value = value.wrapping_mul(3).wrapping_add(step));
                }
            }
        }
        assert_eq!(queue.read(&data).unwrap(), data_model, "device {number}");
        let mut got = [0; 64];
        host.read(0, &mut got).unwrap();
        assert_eq!(got, host_model, "device {number}");
        // Its kernels have ended, but only who waits for a queue finds them counted so at once.
        other.synchronize().unwrap();
        assert_eq!(device.in_flight(), 0);
    }
}

#[test]
fn events_happen_when_what_is_before_them_has_ended_and_tell_the_time() {
    let device = device(0);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let (words, start, end) = (device.alloc_host::<u32>(2).unwrap(), device.event().unwrap(), device.event().unwrap());
    assert!(start.is_complete().unwrap(), "never recorded counts as happened");
    assert_eq!(end.since(&start).unwrap(), None);
    queue.record(&start).unwrap();
    let args = Args::new().address(words.address()).address(words.address() + 4);
    launch(&queue, &program.kernel("waits").unwrap(), Launch::linear(1, 1), args);
    queue.record(&end).unwrap();
    wait_for(word(&words, 0), 1);
    assert!(start.is_complete().unwrap() && !end.is_complete().unwrap() && !queue.is_idle().unwrap());
    assert_eq!(end.since(&start).unwrap(), None);
    word(&words, 1).store(1, Ordering::SeqCst);
    end.synchronize().unwrap();
    assert!(end.since(&start).unwrap().is_some_and(|time| !time.is_zero()));
    assert_eq!(start.since(&end).unwrap(), Some(std::time::Duration::ZERO), "not negative");
    assert!(queue.is_idle().unwrap());
    let elsewhere = common::device(2).event().unwrap();
    assert!(matches!(queue.wait(&elsewhere), Err(Error::WrongDevice { .. })));
}

#[test]
fn completions_are_called_once_and_synchronize_waits_for_them() {
    let device = device(0);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let data = device.alloc::<u32>(64).unwrap();
    let refusals = Arc::new(AtomicUsize::new(0));
    for round in 1..=50 {
        launch(&queue, &program.kernel("scale").unwrap(), Launch::linear(1, 64), Args::new().value(1u32).slice(&data));
        let (counter, theirs) = (refusals.clone(), device.clone());
        let completion = move || {
            // What waits for the device would wait for the thread it is on.
            let refused = theirs.alloc::<u32>(1).is_err_and(|error| error.to_string().contains("from a completion"));
            counter.fetch_add(usize::from(refused), Ordering::SeqCst);
        };
        queue.on_complete(Box::new(completion)).unwrap();
        queue.synchronize().unwrap();
        assert_eq!((refusals.load(Ordering::SeqCst), device.in_flight()), (round, 0));
    }
    // One that panics hurts nobody.
    queue.on_complete(Box::new(|| panic!("from a completion"))).unwrap();
    queue.synchronize().unwrap();
}

#[test]
fn who_subscribed_hears_of_kernels_without_asking() {
    let device = device(0);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let words = device.alloc_host::<u32>(2).unwrap();
    let (sender, heard) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    let _subscription = device.subscribe(Arc::new(move |busy| sender.lock().unwrap().send(busy).unwrap()));
    let args = Args::new().address(words.address()).address(words.address() + 4);
    launch(&queue, &program.kernel("waits").unwrap(), Launch::linear(1, 1), args);
    assert_eq!(heard.recv(), Ok(true));
    word(&words, 1).store(1, Ordering::SeqCst);
    // Nobody waits for the queue.
    assert_eq!(heard.recv(), Ok(false));
    assert_eq!(device.in_flight(), 0);
}

/// Starts a kernel that waits for the host, on its own queue, and waits until it runs.
fn waiting_kernel(device: &Device) -> (offload::Queue, HostMemory<u32>, offload::Program) {
    let (queue, program) = (device.queue().unwrap(), program(device));
    let words = device.alloc_host::<u32>(2).unwrap();
    let args = Args::new().address(words.address()).address(words.address() + 4);
    launch(&queue, &program.kernel("waits").unwrap(), Launch::linear(1, 1), args);
    wait_for(word(&words, 0), 1);
    (queue, words, program)
}

#[test]
fn globals_and_memory_are_copied_while_a_kernel_waits_for_the_host() {
    for number in 0..2 {
        let device = device(number);
        let (queue, words, program) = waiting_kernel(&device);
        let (data, host) = (device.alloc::<u8>(3 << 20).unwrap(), device.alloc_host::<u8>(3 << 20).unwrap());
        // Behind the waiting kernel: engines must not wait for it with everybody else.
        queue.copy_out(&host, 0, &data, 0, 3 << 20).unwrap();
        queue.copy_in(&data, 0, &host, 0, 3 << 20).unwrap();
        let factor = program.global("FACTOR").unwrap();
        factor.write(&11u32.to_ne_bytes()).unwrap();
        let mut read = [0; 4];
        factor.read(&mut read).unwrap();
        assert_eq!(u32::from_ne_bytes(read), 11, "device {number}");
        // And through another queue, filled without a kernel of the runtime's.
        let other = device.queue().unwrap();
        let small = device.alloc::<u8>((2 << 20) + 3).unwrap();
        other.fill(&small, 9).unwrap();
        assert!(other.read(&small).unwrap().iter().all(|&byte| byte == 9));
        assert!(!queue.is_idle().unwrap());
        word(&words, 1).store(1, Ordering::SeqCst);
        queue.synchronize().unwrap();
    }
}

#[test]
fn without_engines_and_window_a_copy_while_a_kernel_runs_is_refused_with_the_reason() {
    in_child("without_engines_and_window_a_copy_while_a_kernel_runs_is_refused_with_the_reason", &[("HSA_ENABLE_SDMA", "0")], || {
        let device = device(1);
        assert!(!hsa::info(&device).unwrap().copy_engines);
        let (queue, words, program) = waiting_kernel(&device);
        let error = program.global("FACTOR").unwrap().write(&[0; 4]).unwrap_err().to_string();
        assert!(error.contains("HSA_ENABLE_SDMA=0") && error.contains("kernels are running"), "{error}");
        let (other, memory) = (device.queue().unwrap(), device.alloc::<u8>(5).unwrap());
        assert!(other.copy_to(&memory, 0, &[1; 5]).is_err());
        word(&words, 1).store(1, Ordering::SeqCst);
        queue.synchronize().unwrap();
        other.copy_to(&memory, 0, &[1; 5]).unwrap();
        assert_eq!(other.read(&memory).unwrap(), [1; 5]);
        // The host reaches the memory of this one, but not its globals.
        let device = common::device(0);
        let (queue, words, _program) = waiting_kernel(&device);
        let (other, memory) = (device.queue().unwrap(), device.alloc::<u8>(1 << 20).unwrap());
        other.copy_to(&memory, 0, &vec![3; 1 << 20]).unwrap();
        assert!(other.read(&memory).unwrap().iter().all(|&byte| byte == 3));
        word(&words, 1).store(1, Ordering::SeqCst);
        queue.synchronize().unwrap();
    });
}

#[test]
fn a_queue_takes_more_than_its_ring_holds() {
    let device = device(0);
    let (queue, words, program) = waiting_kernel(&device);
    let (data, kernel) = (device.alloc::<u32>(1).unwrap(), program.kernel("scale").unwrap());
    let answer = words.address() as usize + 4;
    // Somebody answers when the ring has long been full.
    let helper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        // SAFETY: the memory outlives this thread, which is joined below.
        unsafe { AtomicU32::from_ptr(answer as *mut u32) }.store(1, Ordering::SeqCst);
    });
    for _ in 0..1000 {
        launch(&queue, &kernel, Launch::linear(1, 1), Args::new().value(0u32).slice(&data));
    }
    queue.synchronize().unwrap();
    helper.join().unwrap();
    assert_eq!(device.in_flight(), 0);
}

#[test]
fn launches_that_cannot_be_are_refused_before_they_harm_the_queue() {
    let device = device(0);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let (data, kernel) = (device.alloc::<u32>(1).unwrap(), program.kernel("scale").unwrap());
    // SAFETY: none of these is launched.
    let refused = |launch| unsafe { queue.launch(&kernel, launch, Args::new().value(0u32).slice(&data)) }.unwrap_err().to_string();
    let error = refused(Launch::linear(1, 1).dynamic_shared(64 << 10));
    assert!(error.contains("65600 bytes of memory for a workgroup are more than 65536"), "{error}");
    let error = refused(Launch::linear(1 << 30, 64));
    assert!(error.contains("a packet holds at most"), "{error}");
    assert_eq!(device.in_flight(), 0);
    launch(&queue, &kernel, Launch::linear(1, 1).dynamic_shared(32 << 10), Args::new().value(0u32).slice(&data));
    queue.synchronize().unwrap();
}

#[test]
fn graphs_are_refused_with_a_clear_error() {
    let queue = device(0).queue().unwrap();
    let error = queue.begin_capture().unwrap_err();
    assert!(matches!(error, Error::Unsupported { what: "capturing a graph" }), "{error}");
    queue.synchronize().unwrap();
}

#[test]
fn more_memory_than_there_is_is_an_error_and_freed_memory_is_used_again() {
    let device = device(0);
    let all = device.info().memory_bytes as usize;
    assert!(matches!(device.alloc::<u8>(all + 1), Err(Error::OutOfMemory { .. })));
    for _ in 0..5 {
        drop(device.alloc::<u8>(all / 4 * 3).unwrap());
    }
}

#[test]
fn many_threads_share_a_queue() {
    let device = device(1);
    let (queue, program) = (device.queue().unwrap(), program(&device));
    let kernel = program.kernel("scale").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (queue, kernel, device) = (queue.clone(), kernel.clone(), device.clone());
            scope.spawn(move || {
                let data = device.alloc::<u32>(64).unwrap();
                for round in 0..30 {
                    queue.copy_to(&data, 0, &[thread + round; 64]).unwrap();
                    launch(&queue, &kernel, Launch::linear(2, 32), Args::new().value(1u32).slice(&data));
                    assert_eq!(queue.read(&data).unwrap(), [(thread + round) * 3 + 1; 64]);
                }
            });
        }
    });
    queue.synchronize().unwrap();
    assert_eq!(device.in_flight(), 0);
}
