//! Streams as queues.

use std::any::Any;
use std::sync::Arc;

use offload::cuda::flat::{Flat, FlatEvent, FlatStream};

use super::CudaKernel;
use crate::library::arguments::Given;
use crate::library::backend::{Event, Kernel, Place, Queue, Shape};
use crate::library::error::{Launched, fail, of_device};
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// A queue of a GPU. Memory that is freed while it has work stays until no queue has any (`offload::cuda::flat`).
pub(super) struct CudaQueue {
    stream: FlatStream,
    device: Flat,
    can_prefetch: bool,
}

/// The most bytes of a copy that is waited for without sleeping: it takes microseconds.
const COPIED_NOW: usize = 64 << 10;

impl CudaQueue {
    pub(super) fn new(device: &Flat) -> Result<CudaQueue, Error> {
        let stream = device.stream().map_err(of_device)?;
        Ok(CudaQueue { stream, device: device.clone(), can_prefetch: device.can_prefetch() })
    }
}

/// Refuses arguments that are not the kernel's parameters, which the driver would read in their place.
#[inline(always)]
fn check(kernel: &CudaKernel, arguments: &Given) -> Result<(), Error> {
    let Some(sizes) = kernel.flat.parameters() else { return Ok(()) };
    if sizes.len() != arguments.len() {
        let text = format!("`{}` has {} arguments, and NumArgs is {}", kernel.name, sizes.len(), arguments.len());
        return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
    }
    for (index, (&size, given)) in sizes.iter().zip(arguments.sizes()).enumerate() {
        if size != given {
            let text = format!("argument {index} of `{}` has {size} bytes, and ArgSizes[{index}] is {given}", kernel.name);
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
    }
    Ok(())
}

impl Queue for CudaQueue {
    unsafe fn launch(&self, kernel: &Arc<dyn Kernel>, shape: &Shape, arguments: &Given) -> Launched {
        let Some(kernel) = kernel.as_any().downcast_ref::<CudaKernel>().filter(|kernel| self.device.owns(&kernel.flat)) else {
            return Ok(fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, "the kernel is not one of the queue's device")?);
        };
        check(kernel, arguments)?;
        let awake = kernel.calls.as_ref().map(|calls| (calls.awake(), calls.clone()));
        // The driver copies the arguments from where the caller has them.
        // SAFETY: the parameters were compared with what the driver says of the kernel; the rest is the caller's.
        unsafe { self.stream.launch(&kernel.flat, shape.groups, shape.size, shape.shared, shape.cooperative, arguments.pointers()) }
            .map_err(of_device)?;
        match awake {
            // The server looks for calls, and stays, until the kernel has ended. By another thread: who ends a server
            // calls the driver.
            Some(awake) => Ok(self.stream.call_after(Box::new(move || drop(awake))).map_err(of_device)?),
            None => Ok(()),
        }
    }

    unsafe fn copy(&self, to: Place, from: Place, size: usize) -> Result<(), Error> {
        // SAFETY: the caller's.
        unsafe { self.stream.copy(to.address, from.address, size) }.map_err(of_device)
    }

    unsafe fn copy_now(&self, [to, from]: &[Place; 2], size: usize) -> Launched {
        if size > COPIED_NOW {
            // SAFETY: the caller's.
            unsafe { self.stream.copy(to.address, from.address, size) }.map_err(of_device)?;
            return Ok(self.synchronize()?);
        }
        // SAFETY: the caller's.
        Ok(unsafe { self.stream.copy_now(to.address, from.address, size) }.map_err(of_device)?)
    }

    unsafe fn fill(&self, to: Place, pattern: &[u8], size: usize) -> Result<(), Error> {
        let is_on_device = to.block.is_some_and(|block| block.is_on_device());
        // SAFETY: the caller's.
        unsafe { self.stream.fill(to.address, pattern, size, is_on_device) }.map_err(of_device)
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
