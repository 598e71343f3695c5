//! The ring of packets of a queue, and the steps in which a packet is published.
//!
//! The writer claims a slot by the write index, and writes the packet's body. It stores the packet's header last, with
//! release, which hands the packet over. Then it rings the doorbell. The packet processor sets the header to *invalid*
//! again when it has taken the packet.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::context::Context;
use super::fault;
use super::sys::*;
use crate::error::Error;

/// A queue of the runtime's.
pub(super) struct Ring {
    context: Arc<Context>,
    raw: *mut hsa_queue_t,
}

// SAFETY: a handle, valid on every thread; packets are written under the queue's lock.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// A packet without its header.
pub(super) enum Packet {
    Dispatch(hsa_kernel_dispatch_packet_t),
    /// Waits for its signals.
    Barrier(hsa_barrier_packet_t),
}

/// Every packet begins when those before it have ended, and sees and shows the system's memory.
const ORDERED: u16 = header::BARRIER | header::ACQUIRE_SYSTEM | header::RELEASE_SYSTEM;
/// Packets of a queue, if the agent allows so many.
const PACKETS: u32 = 1024;

impl Ring {
    pub(super) fn new(context: &Arc<Context>) -> Result<Ring, Error> {
        let most = context.found.queue_packets.max(1);
        // The largest power of two that is allowed.
        let size = PACKETS.min(1 << (u32::BITS - 1 - most.leading_zeros()));
        // A number, not a pointer: nobody says until when the callback may come.
        let data = std::ptr::without_provenance_mut(context.number as usize);
        let mut raw = std::ptr::null_mut();
        // SAFETY: a live agent, a function that lives for ever and the data it wants, an out parameter.
        let created = unsafe {
            context.runtime.hsa_queue_create(context.found.agent, size, QUEUE_TYPE_MULTI, failed, data, u32::MAX, u32::MAX, &mut raw)
        };
        context.check(created)?;
        Ok(Ring { context: context.clone(), raw })
    }

    pub(super) fn raw(&self) -> *mut hsa_queue_t {
        self.raw
    }

    /// Publishes a packet. The caller holds the queue's lock.
    ///
    /// # Safety
    /// What the packet points at is right, and lives until it has ended.
    ///
    /// # Errors
    /// The device is lost while there is no room.
    pub(super) unsafe fn submit(&self, packet: Packet) -> Result<(), Error> {
        let runtime = self.context.runtime;
        // SAFETY: a live queue.
        let queue = unsafe { &*self.raw };
        // SAFETY: a live queue. Under the lock there is one producer, so the slot after the read index plus size is the
        // next to be claimed.
        let index = unsafe { runtime.hsa_queue_add_write_index_screlease(self.raw, 1) };
        // SAFETY: a live queue.
        while index.wrapping_sub(unsafe { runtime.hsa_queue_load_read_index_scacquire(self.raw) }) >= u64::from(queue.size) {
            self.context.good()?;
            std::thread::sleep(Duration::from_micros(20));
        }
        let (word, body): (u32, [u32; 16]) = match packet {
            Packet::Dispatch(packet) => {
                let word = u32::from(header::KERNEL_DISPATCH | ORDERED) | u32::from(packet.setup) << 16;
                // SAFETY: 64 bytes without padding, all of them initialised (the layout's asserts are beside the type).
                (word, unsafe { std::mem::transmute::<hsa_kernel_dispatch_packet_t, [u32; 16]>(packet) })
            }
            Packet::Barrier(packet) => {
                // SAFETY: as above.
                let body = unsafe { std::mem::transmute::<hsa_barrier_packet_t, [u32; 16]>(packet) };
                (u32::from(header::BARRIER_AND | ORDERED), body)
            }
        };
        let slot = (index & u64::from(queue.size - 1)) as usize;
        // SAFETY: a slot of the ring, which is ours since the read index passed its last user and until the header is
        // stored.
        unsafe {
            let at = queue.base_address.cast::<u32>().add(slot * body.len());
            std::ptr::copy_nonoverlapping(body[1..].as_ptr(), at.add(1), body.len() - 1);
            // Release: pairs with the packet processor's acquire of the header, which makes the rest of the packet
            // visible to it.
            AtomicU32::from_ptr(at).store(word, Ordering::Release);
            runtime.hsa_signal_store_screlease(queue.doorbell_signal, index as i64);
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: created here, destroyed this once. Whatever still runs in it is killed: the queue waits before,
        // unless the device is lost.
        self.context.ignore(unsafe { self.context.runtime.hsa_queue_destroy(self.raw) });
    }
}

/// The runtime's report that a queue failed, on a thread of its own.
///
/// # Safety
/// None: what it is given are numbers.
unsafe extern "C" fn failed(status: hsa_status_t, _queue: *mut hsa_queue_t, data: *mut std::ffi::c_void) {
    // Success is said of a queue that is destroyed.
    if status == hsa_status_t::SUCCESS {
        return;
    }
    if let Some(context) = Context::find(data.addr() as u64) {
        context.lose(|| fault::queue(context.runtime, status));
    }
}
