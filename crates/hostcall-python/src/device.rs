//! What a server runs on.

use std::ops::Deref;
use std::sync::Mutex;

use offload::{Device, DeviceKind, Queue};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{invalid, of_device};
use crate::queue::lock;

/// A device, and the queue of launches where there is no stream of somebody else's.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) device: Device,
    queue: Mutex<Option<Queue>>,
}

/// A queue that is opened and dropped without the interpreter's lock: a driver may wait for a kernel in any of its
/// functions (under a debugger it does), and the kernel for Python.
#[derive(Debug)]
pub(crate) struct Unlocked(Option<Queue>);

impl Deref for Unlocked {
    type Target = Queue;

    fn deref(&self) -> &Queue {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        let queue = self.0.take();
        Python::attach(|py| py.detach(|| drop(queue)));
    }
}

impl Opened {
    /// The device that a text names. None: that of the CUDA context that is current on this thread, else the first GPU.
    pub(crate) fn open(which: Option<&str>) -> Result<Self, offload::Error> {
        let device = match which {
            Some(which) => Device::open(which)?,
            // SAFETY: the context is Python's CUDA libraries' primary one, or somebody's who made it current and, as
            // `Server` says, keeps it.
            None => unsafe { Device::from_current_cuda_context() }.or_else(|_| Device::open("cuda:0"))?,
        };
        Ok(Self { device, queue: Mutex::default() })
    }

    pub(crate) fn is_cuda(&self) -> bool {
        self.device.info().kind == DeviceKind::Cuda
    }

    /// The queue of a CUDA stream; none: the default stream, and on other devices the one queue that this has.
    pub(crate) fn queue(&self, py: Python<'_>, stream: Option<u64>) -> PyResult<Unlocked> {
        py.detach(|| self.open_queue(stream)).map(|queue| Unlocked(Some(queue)))
    }

    fn open_queue(&self, stream: Option<u64>) -> PyResult<Queue> {
        if self.is_cuda() {
            let stream = stream.unwrap_or(0) as usize as *mut std::ffi::c_void;
            // SAFETY: `Server.wait` says that the stream lives; 0 is the default stream, which is always there.
            return unsafe { Queue::from_raw_stream(&self.device, stream.cast()) }.map_err(of_device);
        }
        if stream.is_some_and(|stream| stream != 0) {
            return Err(invalid(format!("{} has no CUDA streams: leave `stream` out", self.device.info().name)));
        }
        let mut queue = lock(&self.queue);
        if let Some(queue) = &*queue {
            return Ok(queue.clone());
        }
        Ok(queue.insert(self.device.queue().map_err(of_device)?).clone())
    }

    /// What it is.
    pub(crate) fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = self.device.info();
        let dict = PyDict::new(py);
        dict.set_item("kind", info.kind.to_string())?;
        dict.set_item("ordinal", info.ordinal)?;
        dict.set_item("context", self.device.raw_cuda_context().map(|context| context as usize))?;
        dict.set_item("name", &info.name)?;
        dict.set_item("driver", &info.driver)?;
        dict.set_item("arch", info.arch.to_string())?;
        dict.set_item("wave_size", info.wave_size)?;
        dict.set_item("compute_units", info.sms)?;
        dict.set_item("resident_waves", info.resident_waves)?;
        dict.set_item("memory_bytes", info.memory_bytes)?;
        dict.set_item("max_group_size", info.max_group_size)?;
        Ok(dict)
    }
}
