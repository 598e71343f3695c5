//! The packet processor's rules, on queues that nobody but the test writes to. The library is linked in here, not
//! opened.

mod common;

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use hsa_on_sim::code::*;
use hsa_on_sim::hsa_init;
use hsa_on_sim::queues::*;
use hsa_on_sim::signals::*;
use offload::hsa::sys::*;

const GPU: hsa_agent_t = hsa_agent_t { handle: 2 };

unsafe extern "C" fn failed(status: hsa_status_t, _: *mut hsa_queue_t, data: *mut c_void) {
    // SAFETY: the sender of a `Bench`, which lives for ever.
    unsafe { (*data.cast::<Sender<hsa_status_t>>()).send(status).unwrap() };
}

/// A queue, and kernels.
struct Bench {
    queue: *mut hsa_queue_t,
    executable: hsa_executable_t,
    failures: Receiver<hsa_status_t>,
}

fn ok(status: hsa_status_t) {
    assert_eq!(status, hsa_status_t::SUCCESS);
}

impl Bench {
    fn new() -> Bench {
        ok(hsa_init());
        let (sender, failures) = channel();
        // Never freed: nobody says until when the callback may run, and who hears of a failure may be gone before it
        // returns.
        let sender: &'static Sender<_> = Box::leak(Box::new(sender));
        let (mut queue, mut reader, mut executable) = (ptr::null_mut(), Default::default(), Default::default());
        let image = &common::bundle().images[0].bytes;
        // SAFETY: out parameters; the image and the sender live for ever.
        unsafe {
            let data = ptr::from_ref(sender).cast_mut().cast();
            ok(hsa_queue_create(GPU, 64, QUEUE_TYPE_MULTI, failed, data, u32::MAX, u32::MAX, &mut queue));
            ok(hsa_code_object_reader_create_from_memory(image.as_ptr().cast(), image.len(), &mut reader));
            ok(hsa_executable_create_alt(PROFILE_FULL, ROUNDING_DEFAULT, ptr::null(), &mut executable));
            ok(hsa_executable_load_agent_code_object(executable, GPU, reader, ptr::null(), ptr::null_mut()));
        }
        ok(hsa_executable_freeze(executable, ptr::null()));
        Bench { queue, executable, failures }
    }

    fn object(&self, kernel: &str) -> u64 {
        let name = CString::new(format!("{kernel}.kd")).unwrap();
        let (mut symbol, mut object) = (Default::default(), 0u64);
        // SAFETY: a C string, a place for a handle and one for the attribute.
        unsafe {
            ok(hsa_executable_get_symbol_by_name(self.executable, name.as_ptr(), &GPU, &mut symbol));
            ok(hsa_executable_symbol_get_info(symbol, symbol_info::KERNEL_OBJECT, (&raw mut object).cast()));
        }
        object
    }

    /// The kernel `waits`, with the addresses of these two words.
    fn waits(&self, arguments: &Arguments, signal: hsa_signal_t) -> hsa_kernel_dispatch_packet_t {
        hsa_kernel_dispatch_packet_t {
            setup: 1,
            workgroup_size: [1; 3],
            grid_size: [1; 3],
            private_segment_size: 4096,
            kernel_object: self.object("waits"),
            kernarg_address: ptr::from_ref(arguments).addr() as u64,
            completion_signal: signal,
            ..Default::default()
        }
    }

    fn claim(&self) -> u64 {
        hsa_queue_add_write_index_screlease(self.queue, 1)
    }

    /// Writes a packet without its header.
    fn fill<P>(&self, index: u64, packet: P) -> *mut u16 {
        assert_eq!(size_of::<P>(), PACKET_BYTES);
        // SAFETY: a slot of the ring that was claimed; the header is written later.
        unsafe {
            let slot = (*self.queue).base_address.cast::<u8>().add((index % 64) as usize * PACKET_BYTES);
            ptr::copy_nonoverlapping(ptr::from_ref(&packet).cast::<u8>().add(2), slot.add(2), PACKET_BYTES - 2);
            slot.cast()
        }
    }

    fn publish(&self, slot: *mut u16, header: u16) {
        // SAFETY: a slot that was filled. Release: pairs with the packet processor's acquire.
        unsafe { AtomicU16::from_ptr(slot) }.store(header, Ordering::Release);
    }

    fn ring(&self, index: u64) {
        // SAFETY: a live queue.
        hsa_signal_store_screlease(unsafe { (*self.queue).doorbell_signal }, index as i64);
    }

    fn submit<P>(&self, packet: P, header: u16) {
        let index = self.claim();
        let slot = self.fill(index, packet);
        self.publish(slot, header);
        self.ring(index);
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        ok(hsa_queue_destroy(self.queue));
    }
}

/// Arguments of `waits`: a word that it counts up, and one that it waits for.
#[repr(C, align(16))]
struct Arguments {
    here: *const AtomicU32,
    answer: *const AtomicU32,
}

fn signal(value: i64) -> hsa_signal_t {
    let mut signal = Default::default();
    // SAFETY: a place for a handle.
    ok(unsafe { hsa_signal_create(value, 0, ptr::null(), &mut signal) });
    signal
}

/// Whether the signal falls below 1 before long.
fn falls(signal: hsa_signal_t) -> bool {
    for _ in 0..1000 {
        if hsa_signal_wait_scacquire(signal, CONDITION_LT, 1, 1_000_000, WAIT_BLOCKED) < 1 {
            return true;
        }
    }
    false
}

fn stays(signal: hsa_signal_t) -> bool {
    std::thread::sleep(Duration::from_millis(30));
    hsa_signal_load_scacquire(signal) >= 1
}

fn barrier(waits: &[hsa_signal_t], done: hsa_signal_t) -> hsa_barrier_packet_t {
    let mut packet = hsa_barrier_packet_t { completion_signal: done, ..Default::default() };
    packet.dep_signal[..waits.len()].copy_from_slice(waits);
    packet
}

#[test]
fn a_packet_is_taken_when_its_header_is_published_and_not_before() {
    let bench = Bench::new();
    let done = signal(1);
    let index = bench.claim();
    let slot = bench.fill(index, barrier(&[], done));
    // The doorbell alone says nothing of the packet.
    bench.ring(index);
    assert!(stays(done));
    bench.publish(slot, header::BARRIER_AND);
    assert!(falls(done));
    assert_eq!(hsa_queue_load_read_index_scacquire(bench.queue), 1);
    // SAFETY: as the packet processor wrote it.
    assert_eq!(unsafe { AtomicU16::from_ptr(slot) }.load(Ordering::Acquire) & header::TYPE_MASK, header::INVALID);
}

#[test]
fn doorbells_may_ring_in_any_order_and_packets_are_taken_in_theirs() {
    let bench = Bench::new();
    let done = [signal(1), signal(1), signal(1)];
    let indices = [bench.claim(), bench.claim(), bench.claim()];
    let slots = [0, 1, 2].map(|at| bench.fill(indices[at], barrier(&[], done[at])));
    bench.publish(slots[2], header::BARRIER_AND);
    bench.ring(indices[2]);
    bench.publish(slots[1], header::BARRIER_AND);
    bench.ring(indices[1]);
    assert!(stays(done[1]) && stays(done[2]), "the first is not published");
    bench.publish(slots[0], header::BARRIER_AND);
    bench.ring(indices[0]);
    assert!(done.into_iter().all(falls));
}

#[test]
fn a_packet_that_no_doorbell_told_of_waits() {
    let bench = Bench::new();
    let done = signal(1);
    let index = bench.claim();
    let slot = bench.fill(index, barrier(&[], done));
    bench.publish(slot, header::BARRIER_AND);
    std::thread::sleep(Duration::from_millis(150));
    assert!(stays(done));
    bench.ring(index);
    assert!(falls(done));
}

#[test]
fn packets_run_side_by_side_unless_the_barrier_bit_says_otherwise() {
    let bench = Bench::new();
    let words: [AtomicU32; 2] = Default::default();
    let arguments = Arguments { here: &words[0], answer: &words[1] };
    let (first, second, third) = (signal(1), signal(1), signal(1));
    bench.submit(bench.waits(&arguments, first), header::KERNEL_DISPATCH);
    bench.submit(bench.waits(&arguments, second), header::KERNEL_DISPATCH);
    // Both are there at once.
    while words[0].load(Ordering::SeqCst) < 2 {
        std::thread::yield_now();
    }
    bench.submit(bench.waits(&arguments, third), header::KERNEL_DISPATCH | header::BARRIER);
    assert!(stays(third));
    assert_eq!(words[0].load(Ordering::SeqCst), 2, "the third has not begun");
    words[1].store(1, Ordering::SeqCst);
    assert!([first, second, third].into_iter().all(falls));
    assert_eq!(words[0].load(Ordering::SeqCst), 3);
}

#[test]
fn barrier_packets_wait_for_all_of_their_signals_or_for_any() {
    let bench = Bench::new();
    let (a, b) = (signal(1), signal(2));
    let (all, behind) = (signal(1), signal(1));
    bench.submit(barrier(&[a, b], all), header::BARRIER_AND);
    bench.submit(barrier(&[], behind), header::BARRIER_AND);
    hsa_signal_store_screlease(a, 0);
    hsa_signal_subtract_screlease(b, 1);
    assert!(stays(all) && stays(behind), "nothing passes a barrier packet");
    hsa_signal_subtract_screlease(b, 1);
    assert!(falls(all) && falls(behind));
    let (c, d, any) = (signal(1), signal(1), signal(1));
    bench.submit(barrier(&[c, d], any), header::BARRIER_OR);
    assert!(stays(any));
    hsa_signal_store_screlease(d, 0);
    assert!(falls(any));
}

#[test]
fn a_signal_that_several_packets_complete_counts_them() {
    let bench = Bench::new();
    let done = signal(10);
    for _ in 0..9 {
        bench.submit(barrier(&[], done), header::BARRIER_AND | header::BARRIER);
    }
    assert!(stays(done));
    bench.submit(barrier(&[], done), header::BARRIER_AND | header::BARRIER);
    assert!(falls(done));
}

#[test]
fn packets_that_make_no_sense_stop_the_queue_and_tell_its_owner() {
    let words: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(1)];
    let arguments = Arguments { here: &words[0], answer: &words[1] };
    type Spoil = fn(&mut hsa_kernel_dispatch_packet_t);
    let spoils: [Spoil; 7] = [
        |packet| packet.kernel_object += 1,
        |packet| packet.kernarg_address = 0,
        |packet| packet.setup = 0,
        |packet| packet.workgroup_size[1] = 0,
        |packet| packet.grid_size[0] = 0,
        |packet| packet.group_segment_size = 1 << 20,
        |packet| packet.completion_signal.handle = 77,
    ];
    for (at, spoil) in spoils.into_iter().enumerate() {
        let bench = Bench::new();
        let behind = signal(1);
        let mut packet = bench.waits(&arguments, signal(1));
        spoil(&mut packet);
        bench.submit(packet, header::KERNEL_DISPATCH);
        assert_eq!(bench.failures.recv_timeout(Duration::from_secs(60)), Ok(hsa_status_t::INVALID_PACKET_FORMAT), "{at}");
        bench.submit(barrier(&[], behind), header::BARRIER_AND);
        assert!(stays(behind), "{at}: a queue that failed does nothing any more");
    }
    // A kind of packet that there is not.
    let bench = Bench::new();
    bench.submit(barrier(&[], signal(1)), 9);
    assert_eq!(bench.failures.recv_timeout(Duration::from_secs(60)), Ok(hsa_status_t::INVALID_PACKET_FORMAT));
    assert_eq!(words[0].load(Ordering::SeqCst), 0, "none of the kernels ran");
}

#[test]
fn the_packet_processor_of_a_queue_that_is_destroyed_calls_nobody_any_more() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn slowly(_: hsa_status_t, _: *mut hsa_queue_t, _: *mut c_void) {
        CALLS.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(50));
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let mut bench = Bench::new();
    let mut queue = ptr::null_mut();
    // SAFETY: an out parameter; the callback takes anything.
    ok(unsafe { hsa_queue_create(GPU, 64, QUEUE_TYPE_MULTI, slowly, ptr::null_mut(), u32::MAX, u32::MAX, &mut queue) });
    let other = std::mem::replace(&mut bench.queue, queue);
    // A kind of packet that there is not.
    bench.submit(barrier(&[], signal(1)), 9);
    while CALLS.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    ok(hsa_queue_destroy(std::mem::replace(&mut bench.queue, other)));
    assert_eq!(CALLS.load(Ordering::SeqCst), 2);
}

#[test]
fn handles_that_are_none_are_errors() {
    let bench = Bench::new();
    let mut out = 0u64;
    let place = (&raw mut out).cast::<c_void>();
    // SAFETY: places for the attributes; bad handles and null pointers are what is tested.
    unsafe {
        use hsa_on_sim::agents::*;
        let nobody = hsa_agent_t { handle: 99 };
        assert_eq!(hsa_agent_get_info(nobody, agent_info::DEVICE, place), hsa_status_t::INVALID_AGENT);
        assert_eq!(hsa_agent_get_info(GPU, 0x7777, place), hsa_status_t::INVALID_ARGUMENT);
        assert_eq!(hsa_agent_get_info(GPU, agent_info::DEVICE, ptr::null_mut()), hsa_status_t::INVALID_ARGUMENT);
        let mut queue = ptr::null_mut();
        let create = |agent, size, queue| hsa_queue_create(agent, size, QUEUE_TYPE_MULTI, failed, ptr::null_mut(), 0, 0, queue);
        assert_eq!(create(nobody, 64, &mut queue), hsa_status_t::INVALID_AGENT);
        assert_eq!(create(GPU, 63, &mut queue), hsa_status_t::INVALID_ARGUMENT);
        assert_eq!(create(GPU, 1 << 20, &mut queue), hsa_status_t::INVALID_QUEUE_CREATION);
        assert_eq!(create(GPU, 64, ptr::null_mut()), hsa_status_t::INVALID_ARGUMENT);
        let symbol = hsa_executable_symbol_t { handle: 5 };
        assert_eq!(hsa_executable_symbol_get_info(symbol, 0, place), hsa_status_t::INVALID_EXECUTABLE_SYMBOL);
    }
    assert_eq!(hsa_signal_destroy(hsa_signal_t { handle: 5 }), hsa_status_t::INVALID_SIGNAL);
    assert_eq!(hsa_executable_freeze(bench.executable, ptr::null()), hsa_status_t::FROZEN_EXECUTABLE);
    assert_eq!(hsa_executable_destroy(hsa_executable_t { handle: 5 }), hsa_status_t::INVALID_EXECUTABLE);
}
