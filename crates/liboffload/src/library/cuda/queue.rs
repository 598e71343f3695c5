//! Streams as queues.

use std::any::Any;
use std::sync::Arc;

use offload::Launch;
use offload::cuda::flat::{Flat, FlatEvent, FlatStream};

use super::CudaKernel;
use crate::library::arguments::Arguments;
use crate::library::backend::{Event, Kernel, Place, Queue, Shape};
use crate::library::error::{fail, of_device};
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// A queue of a GPU. Memory that is freed while it copies is the driver's to look after: `cuMemFree` waits for the device.
pub(super) struct CudaQueue {
    stream: FlatStream,
    device: Flat,
    can_prefetch: bool,
}

impl CudaQueue {
    pub(super) fn new(device: &Flat) -> Result<CudaQueue, Error> {
        let stream = device.stream().map_err(of_device)?;
        Ok(CudaQueue { stream, device: device.clone(), can_prefetch: device.can_prefetch() })
    }
}

/// Refuses arguments that are not the kernel's parameters, which the driver would read in their place.
fn check(kernel: &CudaKernel, arguments: &Arguments) -> Result<(), Error> {
    let Some(sizes) = kernel.flat.parameters() else { return Ok(()) };
    if sizes.len() != arguments.len() {
        let text = format!("`{}` has {} arguments, and NumArgs is {}", kernel.name, sizes.len(), arguments.len());
        return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
    }
    for (index, (&size, value)) in sizes.iter().zip(arguments.values()).enumerate() {
        if size != value.len() {
            let text = format!("argument {index} of `{}` has {size} bytes, and ArgSizes[{index}] is {}", kernel.name, value.len());
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
    }
    Ok(())
}

impl Queue for CudaQueue {
    unsafe fn launch(&self, kernel: &Arc<dyn Kernel>, shape: &Shape, mut arguments: Arguments) -> Result<(), Error> {
        let Some(kernel) = kernel.as_any().downcast_ref::<CudaKernel>().filter(|kernel| self.device.owns(&kernel.flat)) else {
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, "the kernel is not one of the queue's device");
        };
        check(kernel, &arguments)?;
        let launch = Launch { groups: shape.groups, group_size: shape.size, dynamic_shared: shape.shared };
        // SAFETY: the parameters were compared with what the driver says of the kernel; the rest is the caller's.
        unsafe { self.stream.launch(&kernel.flat, &launch, shape.cooperative, &mut arguments.pointers()) }.map_err(of_device)
    }

    unsafe fn copy(&self, to: Place, from: Place, size: usize) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { self.stream.copy(to.address, from.address, size) }.map_err(of_device)
    }

    unsafe fn fill(&self, to: Place, pattern: &[u8], size: usize) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { self.stream.fill(to.address, pattern, size) }.map_err(of_device)
    }

    fn prefetch(&self, address: usize, size: usize, to_host: bool) -> Result<(), Error> {
        if !self.can_prefetch {
            return Ok(());
        }
        self.stream.prefetch(address, size, to_host).map_err(of_device)
    }

    fn call(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.stream.call_host(function).map_err(of_device)
    }

    fn record(&self, timed: bool) -> Result<Arc<dyn Event>, Error> {
        Ok(Arc::new(CudaEvent(self.stream.record(timed).map_err(of_device)?)))
    }

    fn wait(&self, event: &Arc<dyn Event>) -> Result<(), Error> {
        match event.as_any().downcast_ref::<CudaEvent>() {
            Some(event) => self.stream.wait(&event.0).map_err(of_device),
            None if event.is_complete()? => Ok(()),
            None => fail(ol_errc_t::OL_ERRC_UNSUPPORTED, "a queue of a GPU cannot wait for an event of another platform: use olSyncEvent"),
        }
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize().map_err(of_device)
    }

    fn is_idle(&self) -> Result<bool, Error> {
        self.stream.is_idle().map_err(of_device)
    }
}

struct CudaEvent(FlatEvent);

impl Event for CudaEvent {
    fn is_complete(&self) -> Result<bool, Error> {
        self.0.is_complete().map_err(of_device)
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.0.synchronize().map_err(of_device)
    }

    fn milliseconds_since(&self, earlier: &dyn Event) -> Result<Option<f32>, Error> {
        let Some(earlier) = earlier.as_any().downcast_ref::<CudaEvent>() else { return Ok(None) };
        let span = self.0.nanoseconds_since(&earlier.0).map_err(of_device)?;
        Ok(span.map(|nanoseconds| (nanoseconds as f64 / 1e6) as f32))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
