//! Immediate copies between the application's memory and the device's. They must not wait for kernels, because a
//! kernel may be waiting for the thread that copies.
//!
//! There are three ways, in this order of preference:
//!
//! * *Through the PCI window*, where the host reaches the device's memory: to write few bytes, and where there is no
//!   better way. Reads through it are slow, and on some parts pass a cache that nobody invalidates.
//! * *By an engine*, from and to pinned memory. It works beside the kernels.
//! * *By a kernel of the runtime's own*, where there are no engines (`HSA_ENABLE_SDMA=0`, some machines). Such a kernel
//!   may wait behind kernels that wait for the host. So this is refused while any kernel runs.

use std::ffi::c_void;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex};

use super::context::{Context, lock};
use super::fault;
use super::memory::Block;
use super::signal::Signal;
use super::sys::*;
use crate::backend::BackendMemory;
use crate::error::Error;

/// What is written through the PCI window although there are engines: about as long as an engine takes to start.
/// (Reasoned, not measured.)
const LITTLE: usize = 16 << 10;
/// Pinned memory through which engines copy.
const STAGING: usize = 1 << 20;

/// Pinned memory for copies, and the signal of the one under way.
struct Staging {
    block: Block,
    signal: Arc<Signal>,
}

/// What copies and fills of one device share. (Not part of the context: these blocks keep it alive.)
#[derive(Default)]
pub(super) struct Copier {
    staging: Mutex<Option<Staging>>,
    /// Zeros in host memory, which fills copy.
    zeros: Mutex<Option<Arc<Block>>>,
}

/// Bytes of one part of a fill.
pub(super) const FILL: usize = 1 << 20;

impl Copier {
    /// Host memory of this byte.
    pub(super) fn pattern(&self, context: &Arc<Context>, byte: u8, bytes: usize) -> Result<Arc<Block>, Error> {
        let new = |bytes| -> Result<Arc<Block>, Error> {
            let block = Block::host(context, bytes)?;
            // SAFETY: memory just made, of which nobody else knows.
            unsafe { std::ptr::write_bytes(block.host_pointer(), byte, bytes) };
            Ok(Arc::new(block))
        };
        if byte != 0 || bytes < FILL {
            return new(bytes);
        }
        let mut zeros = lock(&self.zeros);
        match &*zeros {
            Some(block) => Ok(block.clone()),
            None => Ok(zeros.insert(new(FILL)?).clone()),
        }
    }
}

/// Where the device's side of a copy is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// As the device sees it.
    pub(super) address: u64,
    /// As the host sees it, if it does.
    pub(super) reach: Option<*mut u8>,
}

/// Copies to the device, now.
///
/// # Safety
/// `to` has `from.len()` bytes of device-visible memory, and its two addresses are of the same bytes.
pub(super) unsafe fn write(context: &Arc<Context>, copier: &Copier, to: Place, from: &[u8]) -> Result<(), Error> {
    if let Some(reach) = to.reach.filter(|_| from.len() <= LITTLE || !context.engines) {
        // SAFETY: the caller's; the application's bytes are another object.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), reach, from.len()) };
        flush(context);
        return Ok(());
    }
    // SAFETY: the caller's; each part is inside, and in staging as long as it is copied.
    staged(context, copier, from.len(), |staging, at, part| unsafe {
        std::ptr::copy_nonoverlapping(from[at..at + part].as_ptr(), staging.block.host_pointer(), part);
        engine(context, staging, (to.address + at as u64, context.found.agent), (staging.block.device_address(), context.found.cpu), part)
    })
}

/// Copies from the device, now.
///
/// # Safety
/// As for [`write`].
pub(super) unsafe fn read(context: &Arc<Context>, copier: &Copier, from: Place, to: &mut [u8]) -> Result<(), Error> {
    if let Some(reach) = from.reach.filter(|_| !context.engines) {
        // SAFETY: the caller's; the application's bytes are another object.
        unsafe { std::ptr::copy_nonoverlapping(reach, to.as_mut_ptr(), to.len()) };
        return Ok(());
    }
    // SAFETY: as in `write`.
    staged(context, copier, to.len(), |staging, at, part| unsafe {
        engine(
            context,
            staging,
            (staging.block.device_address(), context.found.cpu),
            (from.address + at as u64, context.found.agent),
            part,
        )?;
        std::ptr::copy_nonoverlapping(staging.block.host_pointer(), to[at..at + part].as_mut_ptr(), part);
        Ok(())
    })
}

/// Makes what the host wrote through the PCI window visible to kernels.
pub(super) fn flush(context: &Context) {
    // Drains the processor's write-combining buffers; pairs with the acquire fence of the next packet.
    fence(Ordering::SeqCst);
    if context.found.flush != 0 {
        let register = context.found.flush as *mut u32;
        // SAFETY: the runtime's own mapping of the register, which takes any write; the read waits for it.
        unsafe {
            register.write_volatile(1);
            register.read_volatile();
        }
    }
}

/// Copies in parts, each through the context's staging memory.
fn staged(
    context: &Arc<Context>,
    copier: &Copier,
    bytes: usize,
    mut part: impl FnMut(&Staging, usize, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    if !context.engines && !context.outstanding.is_idle() {
        return Err(fault::no_engine(&context.name));
    }
    let mut kept = lock(&copier.staging);
    let staging = match &mut *kept {
        Some(staging) => staging,
        none => none.insert(Staging { block: Block::host(context, STAGING)?, signal: Signal::new(context, 0)? }),
    };
    let mut at = 0;
    while at < bytes {
        let len = (bytes - at).min(STAGING);
        part(staging, at, len)?;
        at += len;
    }
    Ok(())
}

/// One copy by the runtime, waited for.
///
/// # Safety
/// Both sides have so many bytes, and the agents are theirs.
unsafe fn engine(
    context: &Arc<Context>,
    staging: &Staging,
    to: (u64, hsa_agent_t),
    from: (u64, hsa_agent_t),
    bytes: usize,
) -> Result<(), Error> {
    // SAFETY: a live signal that nobody waits for: staging is locked.
    unsafe { context.runtime.hsa_signal_store_screlease(staging.signal.raw(), 1) };
    // SAFETY: the caller's; nothing is waited for.
    unsafe { start(context, to, from, bytes, &staging.signal) }?;
    // A lost device never ends it, and then nothing is copied later either: its staging memory is never used again.
    staging.signal.wait()
}

/// Starts a copy by the runtime. `done` is decremented when it has ended.
///
/// # Safety
/// Both sides have so many bytes, of memory of these agents that lives until then; so do the signals.
pub(super) unsafe fn start(
    context: &Context,
    to: (u64, hsa_agent_t),
    from: (u64, hsa_agent_t),
    bytes: usize,
    done: &Signal,
) -> Result<(), Error> {
    // SAFETY: the caller's; nothing is waited for.
    context.check(unsafe {
        context.runtime.hsa_amd_memory_async_copy(
            to.0 as *mut c_void,
            to.1,
            from.0 as *const c_void,
            from.1,
            bytes,
            0,
            std::ptr::null(),
            done.raw(),
        )
    })
}
