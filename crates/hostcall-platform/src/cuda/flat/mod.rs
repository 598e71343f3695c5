//! CUDA by addresses, for APIs whose callers own memory as C programs do.
//!
//! [`crate::Queue`] and [`crate::Memory`] know lengths and owners, and count what runs. A C API has addresses of any
//! origin, kernels of programs that say nothing of their parameters, managed and registered memory, cooperative
//! launches. Here each of these is the driver's function, called in the device's context, with its errors as this
//! crate's. A lost device stays lost, and a missing driver is found before.
//!
//! Calls of streams leave the device's context current on a thread that had none. A device is not reset while it has
//! streams. [`crate::Device::in_flight`] does not count these launches: streams are asked how far they are ([`WORK`]).
//! What is freed while one has work is freed when none has, and nobody waits for that but who takes registered memory
//! back.

mod calls;
mod kernel;
mod memory;
mod program;
mod stream;

use std::ffi::c_int;
use std::sync::Arc;

use self::calls::Words;

pub use kernel::FlatKernel;
pub use memory::{FlatMemory, Kind, Registration};
pub use program::{FlatProgram, check_image};
pub(super) use stream::Location;
pub use stream::{FlatEvent, FlatStream};

use super::context::Context;
use super::device::CudaInfo;
pub use super::quiet::{Before, Putting, QueueWork, WORK, Work, is_past};
use super::raw;
use crate::calls::Threads;
use crate::device::{Device, DeviceInfo};
use crate::error::Error;

/// A CUDA device by addresses. Clones are the same device.
#[derive(Clone)]
pub struct Flat {
    context: Arc<Context>,
    device: Device,
    /// Those that call functions of its streams.
    threads: Arc<Threads>,
    /// What its streams wait for meanwhile.
    words: Arc<Words>,
}

impl Flat {
    /// The device of another face.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is no CUDA device.
    pub fn new(device: &Device) -> Result<Flat, Error> {
        Ok(Flat { context: raw::cuda(device)?.context.clone(), device: device.clone(), threads: Arc::default(), words: Arc::default() })
    }

    /// Waits until the functions of streams that are gone have returned.
    pub fn wait_for_calls(&self) {
        // Functions of a lost device are dropped as soon as somebody sees that it is lost.
        self.threads.wait(|| drop(self.context.look()));
    }

    /// Frees what was released and is not free yet, which the driver may have the last work of streams wait for. Waits
    /// until no stream has work.
    ///
    /// # Errors
    /// On a thread for which a device may be waiting.
    pub fn free_when_quiet(&self) -> Result<(), Error> {
        self.context.free_when_quiet()
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// What only CUDA says of it.
    ///
    /// # Errors
    /// Never: it is a CUDA device.
    pub fn cuda_info(&self) -> Result<&CudaInfo, Error> {
        Ok(&raw::cuda(&self.device)?.cuda)
    }

    /// A `CUdevice_attribute`.
    ///
    /// # Errors
    /// When the driver does not know it.
    pub fn attribute(&self, attribute: i32) -> Result<u32, Error> {
        let entered = self.context.enter()?;
        let mut value: c_int = 0;
        // SAFETY: an out parameter; the device is valid.
        entered.check(unsafe { entered.driver.device_attribute(&mut value, attribute, self.context.device) })?;
        Ok(value.max(0) as u32)
    }
}

impl std::fmt::Debug for Flat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flat").field("device", &self.context.name).finish()
    }
}
