//! The plugin, and an open GPU.

use std::any::Any;
use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use super::sys;

use super::context::Context;
use super::driver::{Driver, Failed, version_text};
use super::event::Event;
use super::fault;
use super::image::{self, Capability, Form};
use super::memory::Block;
use super::module::{Loaded, Module};
use super::quiet::MayWait;
use super::stream::Stream;
use super::window;
use crate::backend::{BackendDevice, BackendEvent, BackendMemory, BackendProgram, BackendQueue, Plugin};
use crate::device::{DeviceInfo, DeviceKind};
use crate::error::Error;
use crate::window::WindowProvider;
use offload_image::{Image, ImageKind};

/// NVIDIA GPUs through the CUDA driver.
pub(crate) struct CudaPlugin;

impl Plugin for CudaPlugin {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda
    }

    fn device_count(&self) -> Result<u32, Error> {
        count(driver()?)
    }

    fn open(&self, ordinal: u32) -> Result<Arc<dyn BackendDevice>, Error> {
        Ok(Arc::new(CudaDevice::open(ordinal)?))
    }
}

fn driver() -> Result<&'static Driver, Error> {
    Driver::get().map_err(|error| fault::no_driver(&error))
}

fn count(driver: &Driver) -> Result<u32, Error> {
    let mut count = 0;
    // SAFETY: an out parameter.
    unsafe { driver.device_count(&mut count) }.map_err(|failed| fault::call(driver, &failed))?;
    // No GPU is a reason to look elsewhere, as no driver is.
    if count <= 0 { Err(fault::no_gpu()) } else { Ok(count as u32) }
}

/// The context that is current on this thread.
pub(super) fn current_context() -> Result<sys::CUcontext, Error> {
    let driver = driver()?;
    let mut context = std::ptr::null_mut();
    // SAFETY: an out parameter.
    unsafe { driver.ctx_current(&mut context) }.map_err(|failed| fault::call(driver, &failed))?;
    if context.is_null() { Err(fault::no_context()) } else { Ok(context) }
}

fn handle(driver: &Driver, ordinal: u32) -> Result<sys::CUdevice, Error> {
    let count = count(driver)?;
    if ordinal >= count {
        return Err(fault::no_device(ordinal, count));
    }
    let mut device = 0;
    // SAFETY: an out parameter; the ordinal is in range, so it fits an int.
    unsafe { driver.device_get(&mut device, ordinal as c_int) }.map_err(|failed| fault::call(driver, &failed))?;
    Ok(device)
}

/// A device's architecture as images name it, `sm_90`, without opening the device: most of opening one is to make a
/// context, and what only needs to know for which machine to compile can be done meanwhile, on another thread.
///
/// # Errors
/// [`Error::Unavailable`] with the reason, or [`Error::NoDevice`].
pub fn arch(ordinal: u32) -> Result<String, Error> {
    let driver = driver()?;
    Ok(describe(driver, ordinal, handle(driver, ordinal)?)?.0.arch)
}

/// What only CUDA says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaInfo {
    /// Compute capability, `(9, 0)`.
    pub capability: (u32, u32),
    /// CUDA version of the driver, as `cuDriverGetVersion` counts: 12040 is 12.4.
    pub driver_version: i32,
    /// Waves that can be resident on one SM.
    pub waves_per_sm: u32,
    /// The most shared memory of a workgroup, in bytes, dynamic memory included.
    pub shared_bytes: u32,
}

/// Stack of a lane, in bytes, once a program is loaded that needs it, and where memory allows it.
const STACK_BYTES: usize = 8 << 10;

/// An open GPU.
pub(super) struct CudaDevice {
    pub(super) context: Arc<Context>,
    info: DeviceInfo,
    pub(super) cuda: CudaInfo,
}

impl CudaDevice {
    fn open(ordinal: u32) -> Result<CudaDevice, Error> {
        let driver = driver()?;
        let device = handle(driver, ordinal)?;
        let (info, cuda) = describe(driver, ordinal, device)?;
        let context = Context::primary(driver, device, &label(&info))?;
        Ok(CudaDevice { context, info, cuda })
    }

    /// Gives each lane a stack that formatting text and reading files fit into, if nobody can tell how much one of the
    /// module's kernels needs. The driver sizes stacks itself only for kernels whose need it can tell beforehand, which
    /// ends at the first call through a pointer; for others it goes by this limit, 1 KiB at first, and a lane that
    /// oversteps it is an illegal access. Whoever has asked for more keeps it.
    pub(super) fn make_room_for_stacks_of(&self, module: &Module) -> Result<(), Error> {
        if module.has_unbounded_stacks()? { self.make_room_for_stacks() } else { Ok(()) }
    }

    fn make_room_for_stacks(&self) -> Result<(), Error> {
        // The limit times the lanes that can be resident is set aside in device memory: at most a 32nd of it.
        let lanes = u64::from(self.info.resident_waves) * u64::from(self.info.wave_size);
        let affordable = self.info.memory_bytes / 32 / lanes.max(1);
        let bytes = (affordable as usize).clamp(2 << 10, STACK_BYTES) & !15;
        let limit = sys::CU_LIMIT_STACK_SIZE;
        let may = self.context.may_wait("making room for stacks")?;
        let entered = self.context.enter()?;
        let mut now = 0;
        // SAFETY: a context is current; an out parameter.
        entered.check(unsafe { entered.driver.ctx_get_limit(&mut now, limit) })?;
        if now >= bytes {
            return Ok(());
        }
        tracing::info!(
            "each of {lanes} lanes has {bytes} bytes of stack: {} MiB of the memory of {}",
            (lanes * bytes as u64) >> 20,
            self.info.name
        );
        // SAFETY: a context is current.
        entered.check(unsafe { entered.driver.ctx_set_limit(may, limit, bytes) })
    }

    /// Somebody else's context.
    ///
    /// # Safety
    /// `raw` is a live context, and outlives the result and everything made from it (or `keep` sees to that).
    pub(super) unsafe fn borrow(raw: sys::CUcontext, keep: Option<Box<dyn Any + Send + Sync>>) -> Result<CudaDevice, Error> {
        let driver = driver()?;
        let say = |failed: Failed| fault::call(driver, &failed);
        let (mut device, mut popped) = (0, std::ptr::null_mut());
        // SAFETY: the caller's context; an out parameter.
        unsafe { driver.ctx_push(raw) }.map_err(say)?;
        // SAFETY: out parameters; a context is current, and it is the one pushed above that is popped.
        let asked = unsafe { driver.ctx_device(&mut device) };
        // SAFETY: as above.
        unsafe { driver.ctx_pop(&mut popped) }.map_err(say)?;
        asked.map_err(say)?;
        let mut ordinal = 0;
        for candidate in 0..count(driver)? {
            if handle(driver, candidate)? == device {
                ordinal = candidate;
            }
        }
        let (info, cuda) = describe(driver, ordinal, device)?;
        // SAFETY: the caller's.
        let context = unsafe { Context::borrowed(driver, device, &label(&info), raw, keep) }?;
        Ok(CudaDevice { context, info, cuda })
    }

    /// Copies over the context's side stream, which waits for no kernel.
    fn copy_beside(&self, copy: impl FnOnce(&Driver, sys::CUstream) -> Result<(), Failed>) -> Result<(), Error> {
        let entered = self.context.enter()?;
        let copied = copy(entered.driver, self.context.side);
        // Waited for even if the copy failed: nothing may use the caller's memory later.
        // SAFETY: a live stream.
        let waited = unsafe { entered.driver.stream_synchronize(MayWait::for_copies_beside(), self.context.side) };
        entered.check(copied.and(waited))
    }
}

// SAFETY: memory, programs and queues are those of this device, made by it; reads and writes are of the bytes that
// their caller names.
unsafe impl BackendDevice for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn fit(&self, image: &Image) -> Option<u32> {
        let form = match image.kind {
            ImageKind::Ptx => Form::Ptx,
            ImageKind::Cubin => Form::Cubin,
            _ => return None,
        };
        let (major, minor) = self.cuda.capability;
        image::fit(form, &image.arch, Capability { major, minor })
    }

    fn load(&self, program: &str, image: &Image) -> Result<Arc<dyn BackendProgram>, Error> {
        let module = Module::load(&self.context, program, image)?;
        self.make_room_for_stacks_of(&module)?;
        Ok(Arc::new(Loaded(Arc::new(module))))
    }

    fn queue(&self) -> Result<Box<dyn BackendQueue>, Error> {
        Ok(Box::new(Stream::new(&self.context)?))
    }

    fn event(&self) -> Result<Box<dyn BackendEvent>, Error> {
        Ok(Box::new(Event::timed(&self.context)?))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        Ok(Arc::new(Block::device(&self.context, bytes)?))
    }

    fn alloc_host(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        Ok(Arc::new(Block::host(&self.context, bytes)?))
    }

    #[cfg(target_os = "linux")]
    fn alloc_host_huge(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        // A driver or a system may not like it, for example for want of memory that may be locked: then it is the
        // driver's own memory.
        match Block::huge(&self.context, bytes)? {
            Some(block) => Ok(Arc::new(block)),
            None => self.alloc_host(bytes),
        }
    }

    fn window_providers(&self) -> &[WindowProvider] {
        window::PROVIDERS
    }

    fn window(&self, provider: WindowProvider, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        window::open(&self.context, provider, bytes)
    }

    unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the caller's range; `to` is borrowed until the copy has ended.
        self.copy_beside(|driver, side| unsafe { driver.memcpy_to_host(to.as_mut_ptr().cast(), from, to.len(), side) })
    }

    unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller's range; `from` is borrowed until the copy has ended.
        self.copy_beside(|driver, side| unsafe { driver.memcpy_to_device(to, from.as_ptr().cast(), from.len(), side) })
    }

    /// Destroys the primary context — for everybody in this process who uses the device: the CUDA runtime and cudarc
    /// lose their memory, streams and modules on it too — and makes a new one.
    fn reset(&self) -> Result<Arc<dyn BackendDevice>, Error> {
        self.context.destroy()?;
        Ok(Arc::new(CudaDevice::open(self.info.ordinal)?))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A device as errors call it.
fn label(info: &DeviceInfo) -> String {
    format!("cuda:{} ({})", info.ordinal, info.name)
}

fn describe(driver: &Driver, ordinal: u32, device: sys::CUdevice) -> Result<(DeviceInfo, CudaInfo), Error> {
    let say = |failed: Failed| fault::call(driver, &failed);
    let attribute = |attribute: c_int| {
        let mut value = 0;
        // SAFETY: an out parameter; `device` is valid.
        unsafe { driver.device_attribute(&mut value, attribute, device) }.map_err(say)?;
        Ok::<u32, Error>(value.max(0) as u32)
    };
    let text = |get: &dyn Fn(*mut c_char, c_int) -> Result<(), Failed>| {
        let mut buffer = [0u8; 256];
        get(buffer.as_mut_ptr().cast(), buffer.len() as c_int - 1).map_err(say)?;
        // The driver was told of one byte less, so there is a NUL.
        let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
        Ok::<String, Error>(text.to_string_lossy().into_owned())
    };
    // SAFETY: the buffer is as long as is said.
    let name = text(&|buffer, len| unsafe { driver.device_name(buffer, len, device) })?;
    // SAFETY: as above.
    let pci_bus_id = text(&|buffer, len| unsafe { driver.device_pci_bus_id(buffer, len, device) })?;
    let mut memory = 0usize;
    // SAFETY: an out parameter.
    unsafe { driver.device_total_mem(&mut memory, device) }.map_err(say)?;

    let capability =
        (attribute(sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?, attribute(sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?);
    let wave_size = attribute(sys::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?;
    let sms = attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let waves_per_sm = attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)? / wave_size.max(1);
    let info = DeviceInfo {
        kind: DeviceKind::Cuda,
        ordinal,
        name,
        driver: driver_text(driver.version, kernel_module_version().as_deref()),
        arch: format!("sm_{}{}", capability.0, capability.1),
        // The driver writes hexadecimal digits large, and the system small.
        pci_bus_id: Some(pci_bus_id.to_ascii_lowercase()).filter(|id| !id.is_empty()),
        wave_size,
        sms,
        resident_waves: sms * waves_per_sm,
        memory_bytes: memory as u64,
        max_group_size: attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
    };
    let cuda = CudaInfo {
        capability,
        driver_version: driver.version,
        waves_per_sm,
        shared_bytes: attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
    };
    Ok((info, cuda))
}

/// The driver's release, 580.95.05, which the CUDA API does not tell.
fn kernel_module_version() -> Option<String> {
    std::fs::read_to_string("/sys/module/nvidia/version").ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn driver_text(version: i32, release: Option<&str>) -> String {
    match release {
        Some(release) => format!("NVIDIA {release}, CUDA {}", version_text(version)),
        None => format!("CUDA {}", version_text(version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_named_by_release_and_cuda_version() {
        assert_eq!(driver_text(13000, Some("580.95.05")), "NVIDIA 580.95.05, CUDA 13.0");
        assert_eq!(driver_text(12040, None), "CUDA 12.4");
    }
}
