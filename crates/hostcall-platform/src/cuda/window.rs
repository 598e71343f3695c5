//! Windows into a GPU's memory: what Vulkan or GDRCopy has mapped for the host, as memory of this context.

use std::any::Any;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::sys;

use super::context::{Context, Entered};
use super::driver::{Driver, Failed};
use super::memory::Block;
use super::quiet::{MayWait, Quiet};
use super::release::Resource;
use crate::backend::BackendMemory;
use crate::device::DeviceKind;
use crate::error::Error;
use crate::window::{WindowProvider, gdrcopy, vulkan};

/// Who is asked for a window, in this order.
pub(super) const PROVIDERS: &[WindowProvider] = &[WindowProvider::Vulkan, WindowProvider::GdrCopy];

/// A window of at least `bytes`.
pub(super) fn open(context: &Arc<Context>, provider: WindowProvider, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
    match provider {
        WindowProvider::Vulkan => Ok(Arc::new(VulkanWindow::new(context, bytes)?)),
        WindowProvider::GdrCopy => Ok(Arc::new(GdrWindow::new(context, bytes)?)),
        WindowProvider::Simulator => Err(Error::Unsupported { what: "a window by the simulator" }),
    }
}

fn unavailable(reason: String) -> Error {
    Error::Unavailable { kind: DeviceKind::Cuda, reason, absent: false }
}

/// Counts memory that the host can reach, so that no reset takes what is behind it (see [`Context::destroy`]).
struct Reachable(Arc<Context>);

impl Reachable {
    fn new(context: &Arc<Context>) -> Self {
        // Relaxed: made inside `enter`, as the counter wants.
        context.host_blocks.fetch_add(1, Ordering::Relaxed);
        Self(context.clone())
    }
}

impl Drop for Reachable {
    fn drop(&mut self) {
        self.0.host_blocks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Vulkan's memory as CUDA has imported it. To be freed by [`Imported::free`]; merely dropped, as when the context is
/// gone, it leaves what is CUDA's to the context and gives the rest back.
pub(super) struct Imported {
    pointer: sys::CUdeviceptr,
    memory: sys::CUexternalMemory,
    exported: vulkan::Exported,
}

impl Imported {
    /// Imports it; a failure undoes what was done.
    fn new(context: &Arc<Context>, entered: &Entered<'_>, may: MayWait, mut exported: vulkan::Exported) -> Result<Imported, Error> {
        let handle = exported.take_handle().ok_or_else(|| unavailable("Vulkan gave no descriptor of its memory".into()))?;
        let bytes = exported.bytes() as u64;
        let wanted = sys::ExternalMemoryHandle {
            kind: sys::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
            handle: sys::ExternalHandle { fd: handle.as_raw_fd() },
            size: bytes,
            flags: 0,
            reserved: [0; 16],
        };
        let mut memory = std::ptr::null_mut();
        // SAFETY: an out parameter, and a descriptor of memory of this size and of this GPU; the context is current.
        entered.check(unsafe { entered.driver.import_external_memory(may, &mut memory, &wanted) })?;
        // The driver has it now.
        let _ = handle.into_raw_fd();
        let mut imported = Imported { pointer: 0, memory, exported };
        let all = sys::ExternalMemoryBuffer { offset: 0, size: bytes, flags: 0, reserved: [0; 16] };
        // SAFETY: an out parameter; imported just now.
        let mapped = unsafe { entered.driver.external_memory_buffer(may, &mut imported.pointer, memory, &all) };
        if let Err(failed) = mapped {
            let error = entered.error(&failed);
            context.release(Resource::Imported(imported));
            return Err(error);
        }
        Ok(imported)
    }

    /// Gives it all back: the pointer, then the import, then Vulkan's side.
    ///
    /// # Safety
    /// Its context is current, and nobody uses it any more.
    pub(super) unsafe fn free(self, driver: &Driver, quiet: Quiet<'_>) -> Result<(), Failed> {
        // SAFETY: mapped in `new`, freed this once.
        let freed = if self.pointer == 0 { Ok(()) } else { unsafe { driver.mem_free(quiet, self.pointer) } };
        // SAFETY: imported in `new`, destroyed this once, after what was mapped from it.
        let destroyed = unsafe { driver.destroy_external_memory(quiet, self.memory) };
        drop(self.exported);
        freed.and(destroyed)
    }
}

/// A window by Vulkan.
struct VulkanWindow {
    context: Arc<Context>,
    /// Until dropped.
    imported: Option<Imported>,
    address: u64,
    host: NonNull<u8>,
    bytes: usize,
    _reachable: Reachable,
}

// SAFETY: an address range; what is done with the bytes is the business of who reads and writes them.
unsafe impl Send for VulkanWindow {}
// SAFETY: as above; no method writes through the pointers.
unsafe impl Sync for VulkanWindow {}

impl VulkanWindow {
    fn new(context: &Arc<Context>, bytes: usize) -> Result<VulkanWindow, Error> {
        let may = context.may_wait("opening a window into device memory")?;
        context.free_if_quiet();
        let entered = context.enter()?;
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        // SAFETY: an out parameter; the device is valid.
        entered.check(unsafe { entered.driver.device_uuid(&mut uuid, context.device) })?;
        let exported = vulkan::Exported::new(uuid.bytes, bytes).map_err(unavailable)?;
        let host = exported.host();
        let imported = Imported::new(context, &entered, may, exported)?;
        let (address, _reachable) = (imported.pointer, Reachable::new(context));
        Ok(VulkanWindow { context: context.clone(), imported: Some(imported), address, host, bytes, _reachable })
    }
}

impl Drop for VulkanWindow {
    fn drop(&mut self) {
        if let Some(imported) = self.imported.take() {
            self.context.release(Resource::Imported(imported));
        }
    }
}

// SAFETY: both addresses are of the same bytes, as many as it says, which stay until this is dropped.
unsafe impl BackendMemory for VulkanWindow {
    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> *mut u8 {
        self.host.as_ptr()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A window by GDRCopy. What is dropped first is declared first: the mapping, then the memory.
struct GdrWindow {
    mapping: gdrcopy::Mapping,
    address: u64,
    bytes: usize,
    _reachable: Reachable,
    _memory: Block,
}

impl GdrWindow {
    fn new(context: &Arc<Context>, bytes: usize) -> Result<GdrWindow, Error> {
        let page = gdrcopy::PAGE;
        let sizes = bytes.checked_next_multiple_of(page).and_then(|whole| Some((whole, whole.checked_add(page)?)));
        let (whole, with_room) = sizes.ok_or_else(|| unavailable("more than the address space".into()))?;
        // `cuMemAlloc` promises no page of this size, so there is room to find one.
        let memory = Block::device(context, with_room)?;
        let address = memory.device_address().next_multiple_of(page as u64);
        let entered = context.enter()?;
        // SAFETY: inside `memory`, whole pages of it; `memory` outlives the mapping by the order of the fields.
        let mapping = unsafe { gdrcopy::Mapping::new(address, whole) }.map_err(unavailable);
        let reachable = Reachable::new(context);
        drop(entered);
        Ok(GdrWindow { mapping: mapping?, address, bytes, _reachable: reachable, _memory: memory })
    }
}

// SAFETY: both addresses are of the same bytes, as many as it says, which stay until this is dropped.
unsafe impl BackendMemory for GdrWindow {
    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> *mut u8 {
        self.mapping.host().as_ptr()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
