//! The same devices, streams and programs in cudarc's types (feature `cudarc`), kept alive by what is made from them
//! here.
//!
//! ```no_run
//! use std::sync::Arc;
//! use cudarc::driver::{CudaContext, CudaFunction, LaunchConfig, PushKernelArg};
//!
//! # fn example(context: Arc<CudaContext>, function: CudaFunction) -> Result<(), Box<dyn std::error::Error>> {
//! // `context` and `function` are what the application has.
//! let stream = context.new_stream()?;
//! let device = offload::Device::from_cudarc(&context)?;
//! let queue = offload::Queue::from_cudarc(&device, &stream)?;
//! // For `Server::attach`, so that the kernel can call.
//! let program = offload::Program::from_cudarc(&device, "mine", &function)?;
//! let memory = device.alloc::<f32>(1024)?;
//! let len = memory.len() as u64;
//! // A slice is two parameters. `track` has servers awake while the kernel runs.
//! queue.track(|| unsafe { stream.launch_builder(&function).arg(&memory).arg(&len).launch(LaunchConfig::for_num_elems(1024)) })??;
//! # drop(program); Ok(()) }
//! ```

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchArgs, PushKernelArg};
use hostcall_abi::Plain;

use super::device::CudaDevice;
use super::raw::cuda;
use super::stream::Stream;
use crate::device::Device;
use crate::error::Error;
use crate::memory::{HostMemory, Memory};
use crate::program::Program;
use crate::queue::Queue;

impl Device {
    /// The device of a cudarc context. [`Device::reset`] refuses to destroy it.
    ///
    /// # Errors
    /// As for [`Device::cuda`].
    pub fn from_cudarc(context: &Arc<CudaContext>) -> Result<Device, Error> {
        // SAFETY: the context is live, and the device keeps a reference to it.
        let device = unsafe { CudaDevice::borrow(context.cu_ctx().cast(), Some(Box::new(context.clone()))) }?;
        Ok(Device::from_backend(Arc::new(device)))
    }
}

impl Queue {
    /// The queue of a cudarc stream.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if the stream is of another context than `device` is, [`Error::DeviceLost`].
    pub fn from_cudarc(device: &Device, stream: &Arc<CudaStream>) -> Result<Queue, Error> {
        let context = &cuda(device)?.context;
        // SAFETY: a live stream, and the queue keeps a reference to it.
        let queue = unsafe { Stream::borrowed(context, stream.cu_stream().cast(), Some(Box::new(stream.clone()))) }?;
        Ok(Queue::from_backend(device.clone(), Box::new(queue)))
    }
}

impl Program {
    /// The program that a cudarc function (of the same context) is part of, with all its kernels and globals.
    ///
    /// The context's stacks are seen to as by [`Program::from_raw_module`].
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA device, [`Error::DeviceLost`].
    pub fn from_cudarc(device: &Device, name: &str, function: &CudaFunction) -> Result<Program, Error> {
        // SAFETY: a live function, kept so by the clone that goes with it.
        unsafe { Program::of_function(device, name, function.cu_function().cast(), Some(Box::new(function.clone()))) }
    }
}

// SAFETY: pushes a reference to the memory's address, which lives as long as the borrow of the memory, as for cudarc's
// own slices.
unsafe impl<'a, 'b: 'a, T: Plain> PushKernelArg<&'b Memory<T>> for LaunchArgs<'a> {
    #[inline(always)]
    fn arg(&mut self, memory: &'b Memory<T>) -> &mut Self {
        PushKernelArg::<&'b u64>::arg(self, memory.address_ref())
    }
}

// SAFETY: as above.
unsafe impl<'a, 'b: 'a, T: Plain> PushKernelArg<&'b HostMemory<T>> for LaunchArgs<'a> {
    #[inline(always)]
    fn arg(&mut self, memory: &'b HostMemory<T>) -> &mut Self {
        PushKernelArg::<&'b u64>::arg(self, memory.address_ref())
    }
}
