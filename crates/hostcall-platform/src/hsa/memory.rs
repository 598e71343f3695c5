//! Memory: of the device, of the host where the device sees it, and of the application itself, pinned.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

use super::context::Context;
use super::fault;
use super::sys::*;
use crate::backend::BackendMemory;
use crate::error::Error;

/// Where a block came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Device,
    Host,
    /// The application's, pinned here.
    Pinned,
}

/// A block, released when dropped.
pub(super) struct Block {
    context: Arc<Context>,
    origin: Origin,
    /// As the device sees it.
    address: usize,
    /// As the host sees it; 0 where it cannot.
    host: usize,
    bytes: usize,
}

impl Block {
    /// Device memory. The host may reach it if it can reach any.
    pub(super) fn device(context: &Arc<Context>, bytes: usize) -> Result<Block, Error> {
        let pools = &context.found.pools;
        let address = match allocate(context, pools.device, bytes) {
            Ok(address) => address,
            // The runtime does not say how much is left.
            Err(hsa_status_t::OUT_OF_RESOURCES | hsa_status_t::INVALID_ALLOCATION) => {
                return Err(fault::out_of_memory(&context.name, bytes, pools.device_bytes));
            }
            Err(status) => return Err(context.error(&failed(status))),
        };
        let mut block = Block { context: context.clone(), origin: Origin::Device, address, host: 0, bytes };
        // If it may not, copies go another way: no error.
        if pools.host_reaches_device && allow(context, &[context.found.agent, context.found.cpu], address).is_ok() {
            block.host = address;
        }
        Ok(block)
    }

    /// Fine-grained host memory, zeroed.
    pub(super) fn host(context: &Arc<Context>, bytes: usize) -> Result<Block, Error> {
        let address = match allocate(context, context.found.pools.host, bytes) {
            Ok(address) => address,
            Err(status @ (hsa_status_t::OUT_OF_RESOURCES | hsa_status_t::INVALID_ALLOCATION)) => {
                return Err(fault::out_of_host_memory(bytes, context.runtime, status));
            }
            Err(status) => return Err(context.error(&failed(status))),
        };
        let block = Block { context: context.clone(), origin: Origin::Host, address, host: address, bytes };
        allow(context, &[context.found.agent], address)?;
        // SAFETY: `bytes` were just allocated, and nobody else knows of them. The runtime does not zero them.
        unsafe { std::ptr::write_bytes(address as *mut u8, 0, bytes) };
        Ok(block)
    }

    /// Pins memory of the application's own, so that the device sees it.
    ///
    /// # Safety
    /// The bytes are valid for reads and writes until the block is dropped.
    pub(super) unsafe fn pin(context: &Arc<Context>, host: *mut u8, bytes: usize) -> Result<Block, Error> {
        let mut agent = context.found.agent;
        let mut seen = std::ptr::null_mut();
        // SAFETY: the caller's range, one agent, an out parameter.
        let locked = unsafe { context.runtime.hsa_amd_memory_lock(host.cast(), bytes, &mut agent, 1, &mut seen) };
        locked.map_err(|failed| match failed.status {
            status @ (hsa_status_t::OUT_OF_RESOURCES | hsa_status_t::INVALID_ALLOCATION) => {
                fault::out_of_host_memory(bytes, context.runtime, status)
            }
            _ => context.error(&failed),
        })?;
        Ok(Block { context: context.clone(), origin: Origin::Pinned, address: seen.addr(), host: host.addr(), bytes })
    }

    /// Where the host reaches it, if it does: device memory through the PCI window.
    pub(super) fn reach(&self) -> Option<*mut u8> {
        (self.host != 0).then_some(self.host as *mut u8)
    }

    /// Whether it is device memory.
    pub(super) fn is_device(&self) -> bool {
        self.origin == Origin::Device
    }

    /// The plugin's own block behind a trait object, if it is one of `context`.
    pub(super) fn of<'a>(context: &Arc<Context>, memory: &'a dyn BackendMemory) -> Result<&'a Block, Error> {
        let block = memory.as_any().downcast_ref::<Block>();
        block.filter(|block| Arc::ptr_eq(&block.context, context)).ok_or(Error::WrongDevice { what: "the memory" })
    }
}

fn failed(status: hsa_status_t) -> super::runtime::Failed {
    super::runtime::Failed { call: "hsa_amd_memory_pool_allocate", status }
}

/// Memory of a pool.
pub(super) fn allocate(context: &Context, pool: hsa_amd_memory_pool_t, bytes: usize) -> Result<usize, hsa_status_t> {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: a live pool, an out parameter. At least one byte: the runtime has no empty allocations.
    unsafe { context.runtime.hsa_amd_memory_pool_allocate(pool, bytes.max(1), 0, &mut pointer) }.map_err(|failed| failed.status)?;
    Ok(pointer.addr())
}

/// Lets these agents reach an allocation.
pub(super) fn allow(context: &Context, agents: &[hsa_agent_t], address: usize) -> Result<(), Error> {
    // SAFETY: a list of live agents and its length, and a live allocation.
    let allowed = unsafe {
        context.runtime.hsa_amd_agents_allow_access(
            agents.len() as u32,
            agents.as_ptr(),
            std::ptr::null(),
            std::ptr::with_exposed_provenance(address),
        )
    };
    context.check(allowed)
}

// SAFETY: both addresses are of the same bytes, as many as it says, which stay until this is dropped.
unsafe impl BackendMemory for Block {
    fn device_address(&self) -> u64 {
        self.address as u64
    }

    fn host_pointer(&self) -> *mut u8 {
        // What the host writes to device memory has to be flushed, so nobody outside of the plugin is told where it is.
        if self.is_device() { std::ptr::null_mut() } else { self.host as *mut u8 }
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let runtime = self.context.runtime;
        // Neither waits for kernels.
        let released = match self.origin {
            // SAFETY: allocated here, freed this once. That no kernel uses it any more is what whoever launched it
            // answers for.
            Origin::Device | Origin::Host => unsafe { runtime.hsa_amd_memory_pool_free(self.address as *mut c_void) },
            // SAFETY: locked here, unlocked this once.
            Origin::Pinned => unsafe { runtime.hsa_amd_memory_unlock(self.host as *mut c_void) },
        };
        self.context.ignore(released);
    }
}
