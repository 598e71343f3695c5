//! A device that fills packets of AMD's form as the input says, and writes anywhere in its buffer, beside a client that behaves.
//!
//! Whatever the device did, the client of another buffer is answered, and both buffers can be given up.

use std::ffi::{c_int, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use amd_hostcall::api::*;
use amd_hostcall::layout;
use amd_hostcall::memory::Map;
use amd_hostcall::stacks;

use crate::Input;

/// Packets of each buffer.
const PACKETS: u32 = 5;
const DOUBLE: u32 = 9;

unsafe extern "C-unwind" fn double(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    unsafe { *payload = (*payload).wrapping_mul(2) };
    0
}

unsafe extern "C-unwind" fn any(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
    0
}

/// Registers the services, once for the process. The default handler answers all others: without one a packet may end the process.
fn with_services() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: fit for any thread.
        let registered = unsafe {
            [
                amd_hostcall_register_service(0, Some(any), std::ptr::null_mut()),
                amd_hostcall_register_service(DOUBLE, Some(double), std::ptr::null_mut()),
            ]
        };
        assert_eq!(registered, [0, 0]);
    });
}

/// A buffer's memory, and where its parts lie.
fn buffer() -> (Vec<AtomicU64>, Map) {
    let memory: Vec<AtomicU64> = (0..layout::buffer_size(PACKETS) / 8).map(|_| AtomicU64::new(0)).collect();
    // SAFETY: as many bytes as the layout says.
    let map = unsafe { Map::initialize(memory.as_ptr().cast_mut().cast(), PACKETS, layout::Form::Stacks) }.expect("aligned");
    (memory, map)
}

fn pointer(memory: &[AtomicU64]) -> *mut c_void {
    memory.as_ptr().cast_mut().cast()
}

/// Plays one input.
///
/// # Panics
/// When the other client is not answered, or a buffer cannot be given up.
pub fn run(data: &[u8]) {
    with_services();
    let ((victim, map), (other, _)) = (buffer(), buffer());
    let mut consumer = std::ptr::null_mut();
    // SAFETY: a place for a handle; the buffers outlive the consumer.
    unsafe {
        assert_eq!(amd_hostcall_create_consumer(&mut consumer), 0);
        assert_eq!(amd_hostcall_register_buffer(consumer, pointer(&victim)), 0);
        assert_eq!(amd_hostcall_register_buffer(consumer, pointer(&other)), 0);
    }
    assert_eq!(amd_hostcall_launch_consumer(consumer), 0);
    let doorbell = victim[2].load(Ordering::SeqCst);
    let mut input = Input::new(data);
    while !input.is_empty() {
        act(&mut input, &victim, &map, doorbell);
    }
    let mut payload = [[21; 8]];
    // SAFETY: one lane; the buffer lives.
    assert_eq!(unsafe { hostcall_amd_call(pointer(&other), DOUBLE, 1, payload.as_mut_ptr()) }, 0);
    assert_eq!(payload[0][0], 42);
    assert_eq!(amd_hostcall_deregister_buffer(consumer, pointer(&victim)), 0);
    assert_eq!(amd_hostcall_destroy_consumer(consumer), 0);
}

/// One act of the device.
fn act(input: &mut Input<'_>, words: &[AtomicU64], map: &Map, doorbell: u64) {
    let long = |input: &mut Input<'_>| u64::from(input.word()) << 32 | u64::from(input.word());
    match input.byte() % 7 {
        0 => words[input.word() as usize % words.len()].store(long(input), Ordering::SeqCst),
        1 => {
            let bit = input.byte() % 64;
            words[input.word() as usize % words.len()].fetch_xor(1 << bit, Ordering::SeqCst);
        }
        // Header words, and the buffer's own.
        2 => words[usize::from(input.byte()) % 21].store(long(input), Ordering::SeqCst),
        3 => words[4].store(u64::from(input.word() & 0xfff), Ordering::SeqCst),
        4 | 5 => {
            let Some(held) = stacks::pop_free(map, || {}) else { return };
            let index = layout::index(held.0, layout::index_size(PACKETS)) as u32;
            let Some(header) = map.header(index) else { return };
            header.service.store(u32::from(input.byte()), Ordering::SeqCst);
            header.active_mask.store(long(input), Ordering::SeqCst);
            header.control.store(u32::from(input.byte()) | layout::control::READY, Ordering::SeqCst);
            stacks::push_ready(map, held, || {});
        }
        _ => assert_eq!(hostcall_amd_ring(doorbell), 0, "a doorbell that was given out is one"),
    }
}
