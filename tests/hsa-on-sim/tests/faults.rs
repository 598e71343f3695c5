//! What is left of a device after its kernel trapped, touched memory that is not there, or executed what is no
//! instruction.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use common::{device, launch, program};
use offload::{Args, Device, Error, Launch, hsa};

/// The device is lost for this reason, everything made from it says so, and nothing is in flight any more.
fn is_lost(lost: &Device, queue: &offload::Queue, program: &offload::Program, reason: &str) {
    let error = queue.synchronize().unwrap_err();
    assert!(matches!(&error, Error::DeviceLost { reason: why, .. } if why.contains(reason)), "{error}");
    let later = [
        queue.is_idle().map(drop),
        lost.queue().map(drop),
        lost.alloc::<u32>(1).map(drop),
        lost.alloc_host::<u32>(1).map(drop),
        lost.event().map(drop),
        lost.load(common::bundle()).map(drop),
        program.kernel("scale").map(drop),
        queue.on_complete(Box::new(|| {})),
    ];
    for (at, later) in later.into_iter().enumerate() {
        let error = later.unwrap_err();
        assert!(matches!(&error, Error::DeviceLost { reason: why, .. } if why.contains(reason)), "{at}: {error}");
    }
    assert_eq!(lost.in_flight(), 0);
}

/// A device made anew works.
fn works(device: &Device) {
    let (queue, program) = (device.queue().unwrap(), program(device));
    let data = device.alloc::<u32>(64).unwrap();
    queue.copy_to(&data, 0, &[1; 64]).unwrap();
    launch(&queue, &program.kernel("scale").unwrap(), Launch::linear(1, 64), Args::new().value(1u32).slice(&data));
    assert_eq!(queue.read(&data).unwrap(), [4; 64]);
}

fn faulty(number: u32, kernel: &str, args: Args, reason: &str) {
    let lost = device(number);
    let (queue, other, program) = (lost.queue().unwrap(), lost.queue().unwrap(), program(&lost));
    let (memory, event) = (lost.alloc::<u32>(64).unwrap(), lost.event().unwrap());
    launch(&queue, &program.kernel(kernel).unwrap(), Launch::linear(1, 1), args);
    // What is behind it never happens. (The fault may come first, and then refuses.)
    let completed = Arc::new(AtomicUsize::new(0));
    let theirs = completed.clone();
    let _ = queue.record(&event);
    let _ = queue.on_complete(Box::new(move || theirs.store(1, Ordering::SeqCst)));
    let _ = queue.fill(&memory, 1);
    is_lost(&lost, &queue, &program, reason);
    assert!(other.synchronize().is_err(), "the whole device is lost");
    assert!(event.synchronize().is_err() || event.is_complete().is_err());
    let again = lost.reset().unwrap();
    // Before and after everything of the lost one is gone.
    works(&again);
    drop((queue, other, program, memory, event, lost));
    works(&again);
    assert_eq!((completed.load(Ordering::SeqCst), Arc::strong_count(&completed)), (0, 1), "the completion was dropped, not called");
}

#[test]
fn a_trap_loses_the_device_and_a_new_one_works() {
    faulty(0, "traps", Args::new(), "a kernel trapped");
}

#[test]
fn an_illegal_instruction_loses_the_device_and_a_new_one_works() {
    faulty(0, "illegal", Args::new(), "an illegal instruction");
}

#[test]
fn a_wild_access_loses_the_device_with_its_address_instead_of_aborting_the_process() {
    // On a device that no other test here has: a memory fault loses every device that was made of its agent.
    faulty(1, "wild", Args::new().address(0x1000), "a kernel accessed address 0x1000: there is no memory");
}

#[test]
fn a_kernel_without_the_stack_it_needs_loses_the_device_and_the_default_is_enough() {
    let lost = device(2);
    let default = hsa::stack(&lost).unwrap();
    assert!(default >= 1024);
    works(&lost);
    hsa::set_stack(&lost, 0).unwrap();
    let (queue, program) = (lost.queue().unwrap(), program(&lost));
    let data = lost.alloc::<u32>(1).unwrap();
    // The stand-in says of every kernel that it calls through pointers, and refuses to run one with no more stack than
    // that.
    launch(&queue, &program.kernel("scale").unwrap(), Launch::linear(1, 1), Args::new().value(1u32).slice(&data));
    is_lost(&lost, &queue, &program, "a queue failed: a packet makes no sense");
    let again = lost.reset().unwrap();
    assert_eq!(hsa::stack(&again).unwrap(), default);
    works(&again);
    assert!(matches!(hsa::set_stack(&Device::open("sim").unwrap(), 1), Err(Error::WrongDevice { .. })));
}

#[test]
fn a_kernel_that_calls_itself_gets_stack_although_its_metadata_says_that_it_needs_none() {
    let enough = device(0);
    let lost = device(2);
    for (device, bytes) in [(&enough, hsa::stack(&enough).unwrap()), (&lost, 0)] {
        hsa::set_stack(device, bytes).unwrap();
        let (queue, program) = (device.queue().unwrap(), program(device));
        let to = device.alloc::<u32>(2).unwrap();
        // Only the build's word says of this kernel that it needs more; the stand-in runs it only if it gets it.
        launch(&queue, &program.kernel("tick").unwrap(), Launch::linear(1, 1), Args::new().address(to.address()));
        if bytes > 0 {
            assert_eq!(queue.read(&to).unwrap(), [10, 0]);
        } else {
            is_lost(device, &queue, &program, "a queue failed: a packet makes no sense");
        }
    }
}

#[test]
fn a_thread_that_waits_learns_that_the_device_was_lost_by_another_queue() {
    let lost = device(0);
    let (queue, other, program) = (lost.queue().unwrap(), lost.queue().unwrap(), program(&lost));
    let words = lost.alloc_host::<u32>(2).unwrap();
    let args = Args::new().address(words.address()).address(words.address() + 4);
    launch(&queue, &program.kernel("waits").unwrap(), Launch::linear(1, 1), args);
    let waits = std::thread::spawn({
        let queue = queue.clone();
        move || queue.synchronize()
    });
    launch(&other, &program.kernel("traps").unwrap(), Launch::linear(1, 1), Args::new());
    assert!(matches!(waits.join().unwrap(), Err(Error::DeviceLost { .. })));
    // SAFETY: a word of live memory. The simulated kernel goes on, and is let go before its memory is.
    unsafe { AtomicU32::from_ptr(words.as_ptr().add(1)) }.store(1, Ordering::SeqCst);
    std::thread::sleep(std::time::Duration::from_millis(200));
}

#[test]
fn a_forked_child_is_refused() {
    let opened = device(0);
    // SAFETY: the child calls only what is refused at once, and ends without running anything else.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let refused = Device::hsa(0).is_err_and(|error| error.to_string().contains("forked after the HSA runtime"));
        // SAFETY: ends the child, which owns nothing.
        unsafe { libc::_exit(if refused { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child just made, an out parameter.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    works(&opened);
}
