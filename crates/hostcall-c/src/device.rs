//! Devices, and the queue that launches go to where there is no stream of the application's.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use offload::{Device, DeviceKind, Queue};

use crate::status::Error;

/// What an `hc_device` and all that is made from it share.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) device: Device,
    queue: Mutex<Option<Queue>>,
}

impl Opened {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, queue: Mutex::default() }
    }

    /// The queue of a stream; null: CUDA's default stream, and on other devices the one queue that this has.
    ///
    /// # Safety
    /// `stream` is null or a live stream, which outlives the result.
    pub(crate) unsafe fn queue(&self, stream: *mut c_void) -> Result<Queue, Error> {
        if self.device.info().kind == DeviceKind::Cuda {
            // SAFETY: the caller's; null is the default stream, which is always there.
            return Ok(unsafe { Queue::from_raw_stream(&self.device, stream.cast()) }?);
        }
        if !stream.is_null() {
            return Err(Error::invalid(format!("{} has no CUDA streams: pass null", self.device.info().name)));
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = &*queue {
            return Ok(queue.clone());
        }
        Ok(queue.insert(self.device.queue()?).clone())
    }
}
