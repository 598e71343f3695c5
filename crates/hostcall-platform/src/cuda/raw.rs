//! Raw handles in and out, for code that uses the CUDA driver itself.

use std::any::Any;
use std::sync::Arc;

use super::sys;

use super::device::{CudaDevice, CudaInfo};
use super::module::{Loaded, Module};
use super::stream::Stream;
use crate::device::Device;
use crate::error::Error;
use crate::program::Program;
use crate::queue::Queue;

/// What only CUDA says of a device; `None` if it is another kind of device.
pub fn info(device: &Device) -> Option<&CudaInfo> {
    Some(&cuda(device).ok()?.cuda)
}

/// Something a context has a limit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Bytes of stack of each lane. (All resident lanes' stacks are allocated.)
    StackBytes,
    /// Bytes of CUDA's own device-side heap (its in-kernel `malloc`); to be set before the first kernel that uses it.
    MallocHeapBytes,
}

impl Limit {
    fn raw(self) -> i32 {
        match self {
            Limit::StackBytes => sys::CU_LIMIT_STACK_SIZE,
            Limit::MallocHeapBytes => sys::CU_LIMIT_MALLOC_HEAP_SIZE,
        }
    }
}

/// Sets a limit of the device's context, for all its users. The driver may round up.
///
/// # Errors
/// [`Error::WrongDevice`] if it is no CUDA device, [`Error::Backend`] if the driver refuses.
pub fn set_limit(device: &Device, limit: Limit, bytes: usize) -> Result<(), Error> {
    let context = &cuda(device)?.context;
    let may = context.may_wait("setting a limit")?;
    let entered = context.enter()?;
    // SAFETY: the context is current.
    entered.check(unsafe { entered.driver.ctx_set_limit(may, limit.raw(), bytes) })
}

/// A limit of the device's context.
///
/// # Errors
/// As for [`set_limit`].
pub fn limit(device: &Device, limit: Limit) -> Result<usize, Error> {
    let entered = cuda(device)?.context.enter()?;
    let mut bytes = 0;
    // SAFETY: the context is current, and the value goes into a local.
    entered.check(unsafe { entered.driver.ctx_get_limit(&raw mut bytes, limit.raw()) })?;
    Ok(bytes)
}

pub(super) fn cuda(device: &Device) -> Result<&CudaDevice, Error> {
    device.backend().as_any().downcast_ref().ok_or(Error::WrongDevice { what: "the device (it is no CUDA device)" })
}

impl Device {
    /// A device of a context that was made elsewhere. [`Device::reset`] refuses to destroy it.
    ///
    /// # Safety
    /// * `context` is a live context and outlives the result and everything made from it.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    pub unsafe fn from_raw_cuda_context(context: sys::CUcontext) -> Result<Device, Error> {
        // SAFETY: the caller's.
        Ok(Device::from_backend(Arc::new(unsafe { CudaDevice::borrow(context, None) }?)))
    }

    /// A device of the context that is current on this thread: the CUDA runtime's, where that is used.
    /// [`Device::reset`] refuses to destroy it.
    ///
    /// # Safety
    /// * The context outlives the result and everything made from it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if none is current, and as for [`Device::cuda`].
    pub unsafe fn from_current_cuda_context() -> Result<Device, Error> {
        let context = super::device::current_context()?;
        // SAFETY: the caller's.
        unsafe { Device::from_raw_cuda_context(context) }
    }

    /// Its CUDA context, if it is a CUDA device. Destroyed by [`Device::reset`], or when everything made from the
    /// device is gone.
    pub fn raw_cuda_context(&self) -> Option<sys::CUcontext> {
        Some(cuda(self).ok()?.context.raw)
    }
}

impl Queue {
    /// A queue of a stream that was made elsewhere.
    ///
    /// # Safety
    /// * `stream` is a live stream of the device's context, and outlives the result;
    /// * it is not being captured into a graph by somebody else while the queue is used.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA device or the stream another context's, [`Error::DeviceLost`].
    pub unsafe fn from_raw_stream(device: &Device, stream: sys::CUstream) -> Result<Queue, Error> {
        // SAFETY: the caller's.
        let stream = unsafe { Stream::borrowed(&cuda(device)?.context, stream, None) }?;
        Ok(Queue::from_backend(device.clone(), Box::new(stream)))
    }

    /// Its CUDA stream, if it is a CUDA queue. Destroyed with the queue.
    pub fn raw_stream(&self) -> Option<sys::CUstream> {
        self.backend().as_any().downcast_ref::<Stream>().map(Stream::raw)
    }

    /// Runs `launch`, which launches kernels on [`Queue::raw_stream`] by other means than [`Queue::launch`] (cudarc, a
    /// captured graph of one's own), and counts them in [`Device::in_flight`] from before the call until they have
    /// ended.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA queue (then `launch` is not called), [`Error::DeviceLost`].
    pub fn track<R>(&self, launch: impl FnOnce() -> R) -> Result<R, Error> {
        let stream =
            self.backend().as_any().downcast_ref::<Stream>().ok_or(Error::WrongDevice { what: "the queue (it is no CUDA queue)" })?;
        self.device().activity().launch(None, self.number(), |ticket| stream.track(ticket, launch))
    }
}

/// A program of somebody else's module, and room for its lanes' stacks.
fn borrowed(device: &Device, name: &str, module: Module) -> Result<Program, Error> {
    cuda(device)?.make_room_for_stacks_of(&module)?;
    Ok(Program::from_backend(device.clone(), name, Arc::new(Loaded(Arc::new(module)))).of_others())
}

impl Program {
    /// A program of a module that was loaded elsewhere. Its kernels are loaded onto the device now, if they were not
    /// yet.
    ///
    /// If nobody can tell how much stack one of its kernels needs (which formats text, calls through pointers or calls
    /// itself, and was built by `hostcall-build`), the context's [stacks](Limit::StackBytes) grow to 8 KiB, as for
    /// such a program that is loaded here: its lanes would overstep the driver's 1 KiB. Others leave them as they are.
    ///
    /// # Safety
    /// * `module` is a live module of the device's context, and outlives the result and its kernels and globals.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA device, [`Error::DeviceLost`].
    pub unsafe fn from_raw_module(device: &Device, name: &str, module: sys::CUmodule) -> Result<Program, Error> {
        let cuda = cuda(device)?;
        // SAFETY: the caller's.
        borrowed(device, name, unsafe { Module::borrowed(&cuda.context, module, None) }?)
    }

    /// A program of a library (`cuLibraryLoadData`, and what the CUDA runtime loads) that was loaded elsewhere, in the
    /// device's context. Kernels and stacks are seen to as by [`Program::from_raw_module`].
    ///
    /// # Safety
    /// * `library` is a live library, and outlives the result and its kernels and globals.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA device, [`Error::DeviceLost`].
    pub unsafe fn from_raw_library(device: &Device, name: &str, library: sys::CUlibrary) -> Result<Program, Error> {
        let cuda = cuda(device)?;
        // SAFETY: the caller's.
        borrowed(device, name, unsafe { Module::of_library(&cuda.context, library) }?)
    }

    /// The program that a function is part of, which was loaded elsewhere. Stacks are seen to as by
    /// [`Program::from_raw_module`].
    ///
    /// # Safety
    /// * `function` is a live function of the device's context, and its module outlives the result and its kernels and
    ///   globals.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA device, [`Error::DeviceLost`].
    pub unsafe fn from_raw_function(device: &Device, name: &str, function: sys::CUfunction) -> Result<Program, Error> {
        // SAFETY: the caller's.
        unsafe { Program::of_function(device, name, function, None) }
    }

    /// # Safety
    /// As for [`Program::from_raw_function`], or `keep` sees to it.
    pub(super) unsafe fn of_function(
        device: &Device,
        name: &str,
        function: sys::CUfunction,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Program, Error> {
        let cuda = cuda(device)?;
        // SAFETY: the caller's.
        borrowed(device, name, unsafe { Module::of_function(&cuda.context, function, keep) }?)
    }

    /// Its CUDA module, if it is a CUDA program. Unloaded with the program. Whoever asks may launch its kernels: a
    /// server that the program is attached to looks for their calls from now on, as for those of modules that were
    /// loaded elsewhere.
    pub fn raw_module(&self) -> Option<sys::CUmodule> {
        let loaded = self.backend().as_any().downcast_ref::<Loaded>()?;
        self.launched_elsewhere();
        Some(loaded.0.raw())
    }
}
