//! Device memory, and pinned host memory that the device sees.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::sys;

use super::context::Context;
use super::driver::Status;
use super::fault;
#[cfg(target_os = "linux")]
use super::pages::Pages;
use super::release::Resource;
use crate::backend::BackendMemory;
use crate::error::Error;

/// `cuMemHostAlloc` flags: pinned for every context (several GPUs serve from the same buffers) and mapped for the
/// device. Never write-combined: the host reads this memory, and reads of write-combined memory are uncached.
const PINNED: u32 = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;

/// The same of `cuMemHostRegister`.
#[cfg(target_os = "linux")]
const REGISTERED: u32 = sys::CU_MEMHOSTREGISTER_PORTABLE | sys::CU_MEMHOSTREGISTER_DEVICEMAP;

/// Allocates: first what was released is freed, if nothing uses it; and where there is no memory, when nothing does.
pub(super) fn with_freed<T>(context: &Context, allocate: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    context.free_if_quiet();
    match allocate() {
        Err(Error::OutOfMemory { .. } | Error::OutOfHostMemory { .. }) if context.has_waiting() => {
            context.free_when_quiet()?;
            allocate()
        }
        other => other,
    }
}

/// A block of either kind, released when dropped (see [`Context::release`] for when that happens).
pub(super) struct Block {
    context: Arc<Context>,
    address: sys::CUdeviceptr,
    /// Null for device memory.
    host: *mut c_void,
    bytes: usize,
    /// Whether the memory is this process's, registered with the driver, and not the driver's.
    #[cfg(target_os = "linux")]
    registered: Option<Pages>,
}

// SAFETY: an address range; what is done with the bytes is the business of who reads and writes them.
unsafe impl Send for Block {}
// SAFETY: as above; no method writes through the pointers.
unsafe impl Sync for Block {}

impl Block {
    fn new(context: &Arc<Context>, address: sys::CUdeviceptr, host: *mut c_void, bytes: usize) -> Block {
        Block {
            context: context.clone(),
            address,
            host,
            bytes,
            #[cfg(target_os = "linux")]
            registered: None,
        }
    }

    /// Host memory on huge pages; `None`: the system or the driver does not give it.
    #[cfg(target_os = "linux")]
    pub(super) fn huge(context: &Arc<Context>, bytes: usize) -> Result<Option<Block>, Error> {
        let Some(pages) = Pages::new(bytes) else { return Ok(None) };
        let may = context.may_wait("registering host memory")?;
        context.free_if_quiet();
        let entered = context.enter()?;
        let host = pages.start().cast();
        // SAFETY: the pages are there until they are unregistered; the context is current.
        if let Err(failed) = unsafe { entered.driver.mem_host_register(may, host, pages.bytes(), REGISTERED) } {
            tracing::debug!(status = ?failed.status, bytes, "memory on huge pages cannot be registered with the driver");
            return Ok(None);
        }
        // From here on the block frees itself.
        context.host_blocks.fetch_add(1, Ordering::Relaxed);
        let mut block = Block::new(context, 0, host, bytes);
        block.registered = Some(pages);
        // SAFETY: `host` was registered above with DEVICEMAP.
        let mapped = entered.check(unsafe { entered.driver.mem_host_device_pointer(&mut block.address, host, 0) });
        drop(entered);
        mapped.map(|()| Some(block))
    }

    pub(super) fn device(context: &Arc<Context>, bytes: usize) -> Result<Block, Error> {
        with_freed(context, || Block::try_device(context, bytes))
    }

    fn try_device(context: &Arc<Context>, bytes: usize) -> Result<Block, Error> {
        let may = context.may_wait("allocating device memory")?;
        let entered = context.enter()?;
        let mut address = 0;
        // At least one byte: the driver has no empty allocations.
        // SAFETY: an out parameter; the context is current.
        match unsafe { entered.driver.mem_alloc(may, &mut address, bytes.max(1)) } {
            Ok(()) => Ok(Block::new(context, address, std::ptr::null_mut(), bytes)),
            Err(failed) if failed.status == Status::OUT_OF_MEMORY => {
                let (mut free, mut total) = (0, 0);
                // SAFETY: out parameters. If it fails as well, "0 bytes free" is near enough.
                entered.ignore(unsafe { entered.driver.mem_info(&mut free, &mut total) });
                Err(fault::out_of_memory(&context.name, bytes, free))
            }
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    pub(super) fn host(context: &Arc<Context>, bytes: usize) -> Result<Block, Error> {
        with_freed(context, || Block::try_host(context, bytes))
    }

    fn try_host(context: &Arc<Context>, bytes: usize) -> Result<Block, Error> {
        let may = context.may_wait("allocating host memory")?;
        let entered = context.enter()?;
        let mut host = std::ptr::null_mut();
        // SAFETY: an out parameter; the context is current.
        if let Err(failed) = unsafe { entered.driver.mem_host_alloc(may, &mut host, bytes.max(1), PINNED) } {
            return Err(match failed.status {
                // The flags are right and the pointer is, so an invalid value is the size.
                Status::OUT_OF_MEMORY | Status::INVALID_VALUE => fault::out_of_host_memory(bytes, entered.driver, failed.status),
                _ => entered.error(&failed),
            });
        }
        // From here on the block frees itself.
        context.host_blocks.fetch_add(1, Ordering::Relaxed);
        let mut block = Block::new(context, 0, host, bytes);
        let mut address = 0;
        // SAFETY: `host` was allocated above with DEVICEMAP.
        let mapped = entered.check(unsafe { entered.driver.mem_host_device_pointer(&mut address, host, 0) });
        // SAFETY: `bytes` (at least one) were just allocated, and nobody else knows of them: fresh pages, zeroed as
        // `Memory` promises.
        unsafe { std::ptr::write_bytes(host.cast::<u8>(), 0, bytes.max(1)) };
        block.address = address;
        drop(entered);
        mapped.map(|()| block)
    }
}

// SAFETY: both addresses are of the same bytes, as many as it says, which stay until this is dropped.
unsafe impl BackendMemory for Block {
    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> *mut u8 {
        self.host.cast()
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
        if self.host.is_null() {
            self.context.release(Resource::Device(self.address));
        } else {
            #[cfg(target_os = "linux")]
            let resource = self.registered.take().map_or(Resource::Host(self.host), Resource::Registered);
            #[cfg(not(target_os = "linux"))]
            let resource = Resource::Host(self.host);
            self.context.release(resource);
            // Nobody can reach it any more, so a reset may unmap it, even if it still waits to be freed.
            self.context.host_blocks.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
