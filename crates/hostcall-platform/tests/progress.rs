//! Forward progress, faults and deadlocks on the simulator.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use offload::{Args, Error, Fault, FaultKind, Launch};

/// Parameter 0 of these kernels: a table of words that lanes access as atomics.
unsafe fn word(params: *const u8, index: usize) -> &'static AtomicU64 {
    // SAFETY: the tests allocate enough and keep it while the kernel runs.
    unsafe { AtomicU64::from_ptr(param::<*mut u64>(params, 0).add(index)) }
}

fn wait_for(word: &AtomicU64, value: u64) {
    let mut attempt = 0;
    while word.load(Ordering::Acquire) != value {
        attempt += 1;
        pause(attempt);
    }
}

/// A chain through all threads: each waits for the one behind it, so all must be able to wait at once.
unsafe extern "C" fn chain(params: *const u8) {
    let me = global();
    let all = (lane().groups[0] * lane().local_size[0]) as usize;
    // SAFETY: see `word`.
    unsafe {
        if me + 1 < all {
            wait_for(word(params, me + 1), 1);
        }
        word(params, me).store(1, Ordering::Release);
    }
}

#[test]
fn every_resident_lane_makes_progress_while_others_wait_for_it() {
    for (mode, groups) in [("", 8), ("threads", 4), ("seed=5", 1)] {
        let bench = Bench::new(&format!("sms=2,waves=8,{mode}"), chain);
        let threads = groups * 64;
        assert_eq!(bench.run::<u64>(Launch::linear(groups, 64), threads as usize), vec![1; threads as usize], "{mode}");
    }
}

/// One wave spins on what another writes, and back.
unsafe extern "C" fn ping_pong(params: *const u8) {
    // SAFETY: see `word`.
    let (ping, pong) = unsafe { (word(params, 0), word(params, 8)) };
    for round in 1..=100 {
        if group() == 0 {
            ping.store(round, Ordering::Release);
            wait_for(pong, round);
        } else {
            wait_for(ping, round);
            pong.store(round, Ordering::Release);
        }
    }
}

#[test]
fn waves_answer_each_other_through_memory() {
    for mode in ["", "threads"] {
        assert_eq!(Bench::new(mode, ping_pong).run::<u64>(Launch::linear(2, 1), 9)[8], 100, "{mode}");
    }
}

unsafe extern "C" fn wait_for_the_host(params: *const u8) {
    // SAFETY: see `word`.
    unsafe {
        word(params, 1).store(1, Ordering::Release);
        wait_for(word(params, 0), 1);
    }
}

#[test]
fn a_kernel_waits_for_the_host_and_other_queues_run_meanwhile() {
    for mode in MODES {
        let bench = Bench::new(mode, wait_for_the_host);
        let words = bench.device.alloc_host::<u64>(2).unwrap();
        bench.launch(Launch::linear(1, 1), Args::new().address(words.address())).unwrap();
        assert!(!bench.queue.is_idle().unwrap());
        assert_eq!(bench.device.in_flight(), 1);
        let other = Bench::on(bench.device.clone(), ping_pong_alone);
        assert_eq!(other.run::<u64>(Launch::linear(4, 32), 128), [5; 128], "{mode}");
        let mut seen = [0, 0];
        while seen[1] == 0 {
            words.read(0, &mut seen).unwrap();
            std::thread::yield_now();
        }
        words.write(0, &[1]).unwrap();
        bench.queue.synchronize().unwrap();
        assert!(bench.queue.is_idle().unwrap());
        assert_eq!(bench.device.in_flight(), 0);
    }
}

unsafe extern "C" fn ping_pong_alone(params: *const u8) {
    // SAFETY: see `word`.
    unsafe { word(params, global()) }.store(5, Ordering::Relaxed);
}

/// The fault that a launch of one group ends in.
fn fault(bench: &Bench, threads: u32, args: Args) -> Fault {
    bench.launch(Launch::linear(1, threads), args).unwrap();
    match bench.queue.synchronize() {
        Err(Error::Fault(fault)) => {
            assert!(bench.queue.synchronize().is_ok(), "a fault is reported once");
            *fault
        }
        other => panic!("a fault was expected, not {other:?}"),
    }
}

/// After any fault the device still works.
fn still_works(bench: &Bench) {
    let other = Bench::on(bench.device.clone(), ping_pong_alone);
    assert_eq!(other.run::<u64>(Launch::linear(2, 64), 128), [5; 128]);
    assert_eq!(bench.device.in_flight(), 0);
}

unsafe extern "C" fn write_to_param_0(params: *const u8) {
    if local() == 37 {
        // SAFETY: none: this is the fault that the test is about.
        unsafe { param::<*mut u64>(params, 0).write_volatile(1) };
    }
    sync_group();
}

#[test]
fn access_past_an_allocation_is_an_error_with_address_block_and_thread() {
    for mode in MODES {
        let bench = Bench::new(mode, write_to_param_0);
        let memory = bench.device.alloc::<u8>(1000).unwrap();
        let past = memory.address() + 1024;
        let fault = fault(&bench, 64, Args::new().address(past));
        let near = Some("device memory 1 bytes past the end of an allocation".to_owned());
        assert_eq!(fault.kind, FaultKind::Memory { address: past, near }, "{mode}");
        assert_eq!((fault.kernel.as_str(), fault.block, fault.thread), ("test", [0; 3], [37, 0, 0]), "{mode}");
        still_works(&bench);
    }
}

/// Where a processor says the address, this is an access to it.
#[test]
fn access_to_an_address_that_no_memory_can_have_is_not_called_one_through_null() {
    for mode in MODES {
        let bench = Bench::new(mode, write_to_param_0);
        let address = 0xdead_beef_dead_bee8;
        let wild = fault(&bench, 64, Args::new().address(address));
        let expected = if cfg!(target_arch = "x86_64") { FaultKind::Wild } else { FaultKind::Memory { address, near: None } };
        assert_eq!(wild.kind, expected, "{mode}");
        assert!(!wild.to_string().contains("null"), "{wild}");
        still_works(&bench);
    }
}

#[test]
fn access_to_freed_memory_and_through_null_is_an_error() {
    for mode in MODES {
        let bench = Bench::new(mode, write_to_param_0);
        let address = bench.device.alloc::<u64>(10).unwrap().address();
        let freed = fault(&bench, 64, Args::new().address(address));
        assert!(matches!(freed.kind, FaultKind::Memory { address: a, .. } if a == address), "{mode}: {freed}");
        assert!(freed.to_string().contains("not allocated"), "{freed}");
        let null = fault(&bench, 64, Args::new().address(0));
        assert!(null.to_string().contains("null pointer"), "{null}");
        still_works(&bench);
    }
}

#[expect(unconditional_recursion, reason = "the overflow is what the test is about")]
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 40]);
    recurse(depth + 1) + frame[7]
}

unsafe extern "C" fn overflow(_: *const u8) {
    if local() == 2 {
        std::hint::black_box(recurse(0));
    }
    sync_wave(!0);
}

#[test]
fn a_stack_overflow_is_an_error_that_names_the_setting() {
    for mode in MODES {
        let bench = Bench::new(&format!("stack=64k,{mode}"), overflow);
        let fault = fault(&bench, 32, Args::new());
        assert_eq!(fault.kind, FaultKind::StackOverflow { stack_bytes: 64 << 10 }, "{mode}");
        assert_eq!(fault.thread, [2, 0, 0]);
        assert!(fault.to_string().contains("SimConfig::stack_bytes"), "{fault}");
        still_works(&bench);
    }
}

#[expect(unconditional_recursion, reason = "the overflow is what the test is about")]
#[inline(never)]
fn recurse_with_operations(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 8]);
    ballot(!0, true);
    recurse_with_operations(depth + 1) + frame[7]
}

unsafe extern "C" fn overflow_in_operations(_: *const u8) {
    std::hint::black_box(recurse_with_operations(0));
}

#[test]
fn a_stack_that_overflows_in_an_operation_is_an_error_too() {
    for mode in MODES {
        let bench = Bench::new(&format!("stack=64k,{mode}"), overflow_in_operations);
        assert_eq!(fault(&bench, 32, Args::new()).kind, FaultKind::StackOverflow { stack_bytes: 64 << 10 }, "{mode}");
        still_works(&bench);
    }
}

unsafe extern "C" fn illegal(_: *const u8) {
    if local() == 1 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: none: this is the fault that the test is about.
        unsafe {
            std::arch::asm!("ud2")
        };
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!("udf #0")
        };
    }
    sync_wave(!0);
}

#[test]
fn an_illegal_instruction_is_an_error() {
    for mode in MODES {
        let bench = Bench::new(mode, illegal);
        let fault = fault(&bench, 32, Args::new());
        assert!(matches!(fault.kind, FaultKind::IllegalInstruction { address } if address != 0), "{fault}");
        still_works(&bench);
    }
}

unsafe extern "C" fn trap_of_one(_: *const u8) {
    if global() == 65 {
        trap();
    }
    let mut attempt = 0;
    loop {
        attempt += 1;
        pause(attempt);
    }
}

#[test]
fn a_trap_ends_the_kernel_with_all_its_waiting_lanes() {
    for mode in MODES {
        let bench = Bench::new(mode, trap_of_one);
        bench.launch(Launch::linear(4, 64), Args::new()).unwrap();
        let error = bench.queue.synchronize().unwrap_err();
        assert_eq!(error.to_string(), "kernel `test` ended by a fault: the kernel trapped (block 1,0,0 thread 1,0,0)", "{mode}");
        still_works(&bench);
    }
}

unsafe extern "C" fn different_operations(_: *const u8) {
    if lane().lane < 16 {
        ballot(0xffff_ffff, true);
    } else {
        sync_wave(0xffff_ffff);
    }
}

#[test]
fn a_deadlocked_collective_is_an_error_that_names_lanes_and_operations() {
    for mode in MODES {
        let bench = Bench::new(mode, different_operations);
        let fault = fault(&bench, 32, Args::new());
        let expected = "no lane of wave 0 can ever go on: lanes 0xffff wait in ballot(0xffffffff), \
                        lanes 0xffff0000 wait in sync_wave(0xffffffff)";
        assert_eq!(fault.kind, FaultKind::Deadlock(expected.to_owned()), "{mode}");
        still_works(&bench);
    }
}

unsafe extern "C" fn barrier_against_collective(_: *const u8) {
    if local() == 35 {
        ballot(0xffff_ffff, true);
    } else {
        sync_group();
    }
}

#[test]
fn a_deadlocked_barrier_is_an_error_too() {
    for mode in MODES {
        let bench = Bench::new(mode, barrier_against_collective);
        let fault = fault(&bench, 96, Args::new());
        let expected = "no lane of wave 1 can ever go on: lanes 0x8 wait in ballot(0xffffffff), lanes 0xfffffff7 wait in sync_group";
        assert_eq!(fault.kind, FaultKind::Deadlock(expected.to_owned()), "{mode}");
        assert_eq!(fault.thread, [35, 0, 0]);
        still_works(&bench);
    }
}

unsafe extern "C" fn foreign_mask(_: *const u8) {
    ballot(0x1, true);
}

#[test]
fn a_lane_outside_of_its_own_mask_is_an_error() {
    for mode in MODES {
        let bench = Bench::new(mode, foreign_mask);
        let fault = fault(&bench, 2, Args::new());
        let expected = "lane 1 called a collective of mask 0x1, to which it does not belong";
        assert_eq!(fault.kind, FaultKind::Misuse(expected.to_owned()), "{mode}");
        still_works(&bench);
    }
}

/// Lane 0 holds a lock while it waits in `active_mask` beside lanes that spin for the lock.
unsafe extern "C" fn lock_across_active_mask(params: *const u8) {
    // SAFETY: see `word`.
    let (lock, count) = unsafe { (word(params, 0), word(params, 1)) };
    let mut attempt = 0;
    while lock.swap(1, Ordering::Acquire) != 0 {
        attempt += 1;
        pause(attempt);
    }
    active(5);
    count.fetch_add(1, Ordering::Relaxed);
    lock.store(0, Ordering::Release);
}

#[test]
fn a_lane_that_holds_a_lock_does_not_wait_for_those_that_want_it() {
    for mode in ["", "threads"] {
        assert_eq!(Bench::new(mode, lock_across_active_mask).run::<u64>(Launch::linear(2, 64), 2), [0, 128], "{mode}");
    }
    assert_eq!(Bench::new("seed=1", lock_across_active_mask).run::<u64>(Launch::linear(1, 8), 2), [0, 8]);
}

/// How often threads of this process but the one that asks went to sleep.
fn sleeps() -> u64 {
    // SAFETY: it has no parameters and cannot fail.
    let asking = unsafe { libc::gettid() };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().file_name().into_string().unwrap());
    let others = tasks.filter(|id| id.parse() != Ok(asking));
    // A thread may end meanwhile.
    let status = others.filter_map(|id| std::fs::read_to_string(format!("/proc/self/task/{id}/status")).ok());
    let counts =
        status.filter_map(|text| text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse::<u64>().ok()));
    counts.sum()
}

#[test]
fn a_waiting_kernel_sleeps() {
    let bench = Bench::new("", wait_for_the_host);
    let words = bench.device.alloc_host::<u64>(2).unwrap();
    bench.launch(Launch::linear(1, 32), Args::new().address(words.address())).unwrap();
    // One that looks again and again without a pause never goes to sleep; `yield` does not count.
    let before = sleeps();
    let slept = (0..60_000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        sleeps() >= before + 20
    });
    words.write(0, &[1]).unwrap();
    bench.queue.synchronize().unwrap();
    assert!(slept, "a wave that waits for long never sleeps");
}
