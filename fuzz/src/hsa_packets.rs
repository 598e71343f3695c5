//! Packets and signals of AMD's runtime as the input says, against the stand-in for it (`hsa-on-sim`), beside a model
//! of what must come of them.
//!
//! Packets are published and rung in any order, wait for signals or for any of them, and count signals down. When every
//! signal that is waited for has fallen, each packet has counted its own, once. A packet that makes no sense stops its
//! queue: what was before it has ended, what is behind it never does, and the owner is told once.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use hsa_on_sim::hsa_init;
use hsa_on_sim::queues::*;
use hsa_on_sim::signals::*;
use offload::hsa::sys::*;

use crate::Input;

const GPU: hsa_agent_t = hsa_agent_t { handle: 2 };
/// Slots of a queue's ring, and packets of one input: a queue of this size never waits for room.
const SLOTS: u32 = 64;
const PACKETS: usize = 48;
/// Signals that packets wait for, and signals that they count down.
const WAITED: usize = 4;
const COUNTED: usize = 4;

unsafe extern "C" fn failed(_: hsa_status_t, _: *mut hsa_queue_t, data: *mut c_void) {
    // SAFETY: the count of the run that made the queue.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

fn ok(status: hsa_status_t) {
    assert_eq!(status, hsa_status_t::SUCCESS);
}

fn signal(value: i64) -> hsa_signal_t {
    let mut signal = Default::default();
    // SAFETY: a place for a handle.
    ok(unsafe { hsa_signal_create(value, 0, ptr::null(), &mut signal) });
    signal
}

/// Waits until something holds. The limit only ends a run that would hang.
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{what} did not come about");
}

/// A packet that was claimed: its slot, its index, and the header that publishes it.
#[derive(Clone, Copy)]
struct Claimed {
    slot: *mut u16,
    index: u64,
    header: u16,
}

/// Plays one input.
///
/// # Panics
/// When something else came of the packets than the rules say.
pub fn run(data: &[u8]) {
    ok(hsa_init());
    // Told before the end of this function, or never.
    let failures = Box::<AtomicU32>::default();
    let mut queue = ptr::null_mut();
    // SAFETY: an out parameter, and a count that lives until the queue is gone.
    ok(unsafe {
        hsa_queue_create(GPU, SLOTS, QUEUE_TYPE_MULTI, failed, ptr::from_ref(&*failures).cast_mut().cast(), u32::MAX, u32::MAX, &mut queue)
    });
    let waited: [hsa_signal_t; WAITED] = std::array::from_fn(|_| signal(2));
    let counted: [hsa_signal_t; COUNTED] = std::array::from_fn(|_| signal(PACKETS as i64 + 1));
    let (mut open, mut expected, mut spoilt, mut count) = (Vec::<Claimed>::new(), [0i64; COUNTED], false, 0);
    let mut input = Input::new(data);
    // SAFETY: a live queue.
    let doorbell = unsafe { (*queue).doorbell_signal };
    let publish = |claimed: Claimed| {
        // SAFETY: a slot that was filled. Release: pairs with the packet processor's acquire.
        unsafe { AtomicU16::from_ptr(claimed.slot) }.store(claimed.header, Ordering::Release);
        hsa_signal_store_screlease(doorbell, claimed.index as i64);
    };
    while !input.is_empty() {
        match input.byte() % 8 {
            0..=3 if count < PACKETS => {
                count += 1;
                let (bits, done) = (input.byte(), usize::from(input.byte()) % COUNTED);
                let mut packet = hsa_barrier_packet_t { completion_signal: counted[done], ..Default::default() };
                for (at, signal) in waited.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1) {
                    packet.dep_signal[at] = *signal;
                }
                let kind = match bits >> 5 {
                    7 => 9,
                    odd if odd % 2 == 1 => header::BARRIER_OR,
                    _ => header::BARRIER_AND,
                };
                spoilt |= kind == 9;
                expected[done] += i64::from(!spoilt);
                let index = hsa_queue_add_write_index_screlease(queue, 1);
                // SAFETY: a slot of the ring that was claimed; there are more slots than packets. The header is written
                // later.
                let slot = unsafe {
                    let slot = (*queue).base_address.cast::<u8>().add(index as usize * PACKET_BYTES);
                    ptr::copy_nonoverlapping(ptr::from_ref(&packet).cast::<u8>().add(2), slot.add(2), PACKET_BYTES - 2);
                    slot.cast()
                };
                open.push(Claimed { slot, index, header: kind | (u16::from(bits >> 4 & 1) * header::BARRIER) });
            }
            0..=5 if !open.is_empty() => {
                let at = usize::from(input.byte()) % open.len();
                publish(open.swap_remove(at));
            }
            _ => {
                let at = usize::from(input.byte()) % WAITED;
                hsa_signal_subtract_screlease(waited[at], 1);
            }
        }
    }
    open.into_iter().for_each(publish);
    waited.iter().for_each(|signal| hsa_signal_store_screlease(*signal, 0));
    for (signal, expected) in counted.iter().zip(expected) {
        let left = PACKETS as i64 + 1 - expected;
        until("the end of the packets", || hsa_signal_load_scacquire(*signal) <= left);
        assert_eq!(hsa_signal_load_scacquire(*signal), left, "each packet counts once");
    }
    if spoilt {
        until("the report of the packet that makes no sense", || failures.load(Ordering::SeqCst) != 0);
    } else {
        until("the end of the queue", || hsa_queue_load_read_index_scacquire(queue) == count as u64);
    }
    ok(hsa_queue_destroy(queue));
    assert_eq!(
        failures.load(Ordering::SeqCst),
        u32::from(spoilt),
        "the owner is told of the first packet that makes no sense, and of no other"
    );
    for (signal, expected) in counted.iter().zip(expected) {
        assert_eq!(hsa_signal_load_scacquire(*signal), PACKETS as i64 + 1 - expected, "nothing behind it was run");
        ok(hsa_signal_destroy(*signal));
    }
    waited.iter().for_each(|signal| ok(hsa_signal_destroy(*signal)));
}
