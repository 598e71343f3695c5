//! What a kernel that runs keeps: the memory that it was given, its program, and what that keeps.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::*;
use offload::{Args, Device, Error, Launch, Queue, sim};

/// Kernels of this process's only test that runs go on when it is set: each test is a process, or waits for the others.
static GO: AtomicBool = AtomicBool::new(false);
static TESTS: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    let alone = TESTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    GO.store(false, Ordering::Release);
    alone
}

/// Waits, then writes to both slices.
unsafe extern "C" fn late(params: *const u8) {
    let mut attempt = 0;
    while !GO.load(Ordering::Acquire) {
        pause(attempt);
        attempt += 1;
    }
    for index in [0, 2] {
        // SAFETY: slices of `u64`: addresses and lengths.
        unsafe {
            let (at, len) = (param::<*mut u64>(params, index), param::<u64>(params, index + 1));
            (0..len as usize).for_each(|i| at.add(i).write_volatile(7));
        }
    }
}

/// A launch of [`late`] whose memory, kernel and program nobody else has any more. `note` is kept by the program.
fn launched(device: &Device, len: usize, note: Arc<AtomicBool>) -> Queue {
    struct Kept(Arc<AtomicBool>);
    impl Drop for Kept {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let queue = device.queue().unwrap();
    let program = sim::program_from_functions(device, &[("late", late)]).unwrap();
    program.keep(Arc::new(Kept(note)));
    let (memory, host) = (device.alloc::<u64>(len).unwrap(), device.alloc_host::<u64>(len).unwrap());
    let args = Args::new().slice(&memory).host_slice(&host);
    // SAFETY: what the kernel takes, which the launch keeps.
    unsafe { queue.launch(&program.kernel("late").unwrap(), Launch::linear(1, 1), args) }.unwrap();
    queue
}

#[test]
fn a_kernel_keeps_its_memory_and_its_program_until_it_has_ended_and_no_longer() {
    let _alone = alone();
    for config in ["sim:memory=1m", "sim:memory=1m,threads", "sim:memory=1m,seed=1"] {
        GO.store(false, Ordering::Release);
        let (device, gone) = (Device::open(config).unwrap(), Arc::new(AtomicBool::new(false)));
        let half = (1 << 19) / 8;
        let queue = launched(&device, half, gone.clone());
        let (early, more) = (gone.load(Ordering::Acquire), device.alloc::<u64>(half + 1));
        // Before anything can panic: the queue is waited for when it is dropped.
        GO.store(true, Ordering::Release);
        let ended = queue.synchronize();
        assert!(!early, "{config}: the program is kept");
        assert!(matches!(more, Err(Error::OutOfMemory { .. })), "{config}: the memory is kept: {more:?}");
        ended.unwrap();
        assert!(gone.load(Ordering::Acquire), "{config}: the program is dropped");
        device.alloc::<u64>(2 * half).unwrap();
    }
}

#[test]
fn launches_that_wait_for_their_turn_keep_theirs() {
    let _alone = alone();
    let device = Device::open("sim").unwrap();
    let (queue, gone) = (device.queue().unwrap(), Arc::new(AtomicBool::new(false)));
    for _ in 0..50 {
        let program = sim::program_from_functions(&device, &[("late", late)]).unwrap();
        let (memory, host) = (device.alloc::<u64>(100).unwrap(), device.alloc_host::<u64>(100).unwrap());
        let args = Args::new().slice(&memory).host_slice(&host);
        // SAFETY: what the kernel takes, which the launch keeps.
        unsafe { queue.launch(&program.kernel("late").unwrap(), Launch::linear(2, 3), args) }.unwrap();
    }
    // One that was dropped with its queue is waited for.
    GO.store(true, Ordering::Release);
    drop(launched(&device, 10, gone.clone()));
    queue.synchronize().unwrap();
    assert!(gone.load(Ordering::Acquire));
}

#[test]
fn what_a_program_kept_may_panic_and_the_queue_goes_on() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("as it should");
        }
    }
    let _alone = alone();
    let device = Device::open("sim").unwrap();
    let queue = device.queue().unwrap();
    let memory = device.alloc::<u64>(1).unwrap();
    let program = sim::program_from_functions(&device, &[("late", late)]).unwrap();
    program.keep(Arc::new(Loud));
    // SAFETY: what the kernel takes.
    unsafe { queue.launch(&program.kernel("late").unwrap(), Launch::linear(1, 1), Args::new().slice(&memory).slice(&memory)) }.unwrap();
    // Before anything can panic here.
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(program)));
    GO.store(true, Ordering::Release);
    assert!(dropped.is_ok(), "the launch has it");
    queue.synchronize().unwrap();
    assert_eq!(queue.read(&memory).unwrap(), [7]);
}
