//! The plugin, and an open GPU.

use std::any::Any;
use std::sync::Arc;

use super::context::Context;
use super::copy::{self, Copier, Place};
use super::discover;
use super::event::Event;
use super::fault;
use super::memory::Block;
use super::program::{Executable, Loaded};
use super::queue::Queue;
use super::runtime::Runtime;
use super::sys::{DEVICE_TYPE_GPU, hsa_agent_t};
use super::target;
use crate::backend::{BackendDevice, BackendEvent, BackendMemory, BackendProgram, BackendQueue, Plugin};
use crate::device::{DeviceInfo, DeviceKind};
use crate::error::Error;
use hostcall_abi::tick::{TICK_SYMBOL, Tick};
use offload_image::{Image, ImageKind};

/// AMD GPUs through the HSA runtime.
pub(crate) struct HsaPlugin;

impl Plugin for HsaPlugin {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Hsa
    }

    fn device_count(&self) -> Result<u32, Error> {
        Ok(gpus(runtime()?)?.len() as u32)
    }

    fn open(&self, ordinal: u32) -> Result<Arc<dyn BackendDevice>, Error> {
        Ok(Arc::new(HsaDevice::open(ordinal)?))
    }
}

fn runtime() -> Result<&'static Runtime, Error> {
    Runtime::get().map_err(|error| fault::no_runtime(&error))
}

fn gpus(runtime: &Runtime) -> Result<Vec<hsa_agent_t>, Error> {
    let gpus = discover::agents(runtime, DEVICE_TYPE_GPU).map_err(|failed| fault::call(runtime, &failed))?;
    // No GPU is a reason to look elsewhere, as no runtime is.
    if gpus.is_empty() { Err(fault::no_gpu()) } else { Ok(gpus) }
}

/// An open GPU.
pub(super) struct HsaDevice {
    pub(super) context: Arc<Context>,
    copier: Arc<Copier>,
}

impl HsaDevice {
    fn open(ordinal: u32) -> Result<HsaDevice, Error> {
        let runtime = runtime()?;
        let gpus = gpus(runtime)?;
        let agent = *gpus.get(ordinal as usize).ok_or_else(|| fault::no_device(ordinal, gpus.len() as u32))?;
        Self::of(runtime, agent, ordinal)
    }

    /// The device of an agent that somebody else found.
    pub(super) fn of_agent(agent: hsa_agent_t) -> Result<HsaDevice, Error> {
        let runtime = runtime()?;
        let ordinal = gpus(runtime)?.iter().position(|&gpu| gpu == agent);
        let ordinal = ordinal.ok_or(Error::WrongDevice { what: "the agent (it is no GPU of this process's HSA runtime)" })?;
        Self::of(runtime, agent, ordinal as u32)
    }

    fn of(runtime: &'static Runtime, agent: hsa_agent_t, ordinal: u32) -> Result<HsaDevice, Error> {
        let (found, info) = discover::look(runtime, agent, ordinal).map_err(|error| fault::discover(runtime, ordinal, &error))?;
        let hz = discover::timestamp_hz(runtime).map_err(|failed| fault::call(runtime, &failed))?;
        Ok(HsaDevice { context: Context::new(runtime, found, info, hz), copier: Arc::default() })
    }
}

impl HsaDevice {
    /// Tells a program how long a tick of the device's counter is, if it reads the counter and the runtime knows.
    fn tell_tick(&self, executable: &Executable) -> Result<(), Error> {
        let Some(tick) = self.context.found.counter_hz.and_then(Tick::of_rate) else { return Ok(()) };
        let Some(global) = executable.global(TICK_SYMBOL)?.filter(|global| global.writable) else { return Ok(()) };
        let bytes = tick.to_bytes();
        if global.size != bytes.len() {
            return Ok(());
        }
        // SAFETY: all bytes of the global, of which no kernel knows yet.
        unsafe { self.write(global.address, &bytes) }
    }
}

// SAFETY: memory, programs and queues are those of this device, made by it; reads and writes are of the bytes that
// their caller names.
unsafe impl BackendDevice for HsaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.context.info
    }

    fn fit(&self, image: &Image) -> Option<u32> {
        // An agent that is emulated on this machine's processor runs what the simulator runs, and says so.
        matches!(image.kind, ImageKind::AmdCodeObject | ImageKind::Sim).then(|| target::fit(&image.arch, &self.context.found.isas))?
    }

    fn load(&self, program: &str, image: &Image) -> Result<Arc<dyn BackendProgram>, Error> {
        self.context.usable()?;
        let executable = Executable::load(&self.context, program, image)?;
        self.tell_tick(&executable)?;
        Ok(Arc::new(Loaded(Arc::new(executable))))
    }

    fn queue(&self) -> Result<Box<dyn BackendQueue>, Error> {
        self.context.usable()?;
        Ok(Box::new(Queue::new(&self.context, &self.copier)?))
    }

    fn event(&self) -> Result<Box<dyn BackendEvent>, Error> {
        self.context.usable()?;
        Ok(Box::new(Event::new(&self.context)))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.context.usable()?;
        Ok(Arc::new(Block::device(&self.context, bytes)?))
    }

    fn alloc_host(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.context.usable()?;
        Ok(Arc::new(Block::host(&self.context, bytes)?))
    }

    unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
        self.context.usable()?;
        // Whether the host reaches an address that is a global's nobody knows.
        // SAFETY: the caller's range.
        unsafe { copy::read(&self.context, &self.copier, Place { address: from, reach: None }, to) }
    }

    unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        self.context.usable()?;
        // SAFETY: the caller's range.
        unsafe { copy::write(&self.context, &self.copier, Place { address: to, reach: None }, from) }
    }

    /// A new context for the same agent. A trap ends its queue, not the process's use of the GPU; whether the GPU comes
    /// back after a memory fault is the driver's business.
    fn reset(&self) -> Result<Arc<dyn BackendDevice>, Error> {
        Ok(Arc::new(HsaDevice::open(self.context.info.ordinal)?))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
