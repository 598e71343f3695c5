//! The CPU simulator: a device whose lanes run on this machine's processor, with nothing but stable Rust.
//!
//! **Lanes.** A workgroup's threads are cut into waves of 32 or 64 lanes (the last may have fewer). Each resident wave
//! has its own operating-system thread, so every resident wave makes progress while others wait. Its lanes are fibers
//! of that thread (or, with [`LaneMode::Threads`], threads themselves). A collective completes when all lanes of its
//! mask that have not ended wait in the same collective with the same mask. `active_mask` gives the lanes that wait at
//! the same place once no other lane of the wave can run: all others are elsewhere, have ended, or have paused. Of
//! several places the one with the lowest address goes first.
//!
//! **Workgroups** run on `sms` × `waves_per_sm` slots, all waves of one workgroup on one SM. When there are more
//! workgroups than slots, they run one after another.
//!
//! **Faults.** A lane ends its kernel when it touches memory that is not there, overflows its stack, executes an
//! illegal instruction, traps, or deadlocks its wave. [`Queue::synchronize`](crate::Queue::synchronize) reports it
//! once, as [`Error::Fault`]. Unlike a GPU's context the device stays usable, and work queued behind the kernel runs.
//! The other lanes end when they next call an operation; a lane that loops for ever without any does not end. The
//! simulator does not notice a wild write that happens to hit memory of this process. Device memory has closed pages
//! between allocations, which catch accesses from 256 bytes past the end of one at the latest.
//!
//! **Seeds.** With [`SimConfig::seed`] the thread of the queue runs all waves of a kernel. At every suspension point
//! (a collective, `active_mask`, a barrier, a pause) the seed decides who goes on. The same seed gives the same
//! interleaving ([`schedule_hash`]), launch after launch, in every process. This holds as long as the kernel decides
//! nothing by clocks or addresses, and the host answers a waiting lane within 50 ms. A lane that pauses keeps its
//! place for that long, so that the order does not depend on how fast the host is. Only then may others run. Work of
//! different queues at the same time is not ordered.

use std::sync::Arc;
use std::sync::atomic::Ordering;

#[cfg(doc)]
use hostcall_abi::descriptor::KernelParams;
use hostcall_abi::sim::{KernelEntry, SimOps};

mod arena;
mod call;
mod config;
mod device;
mod elf;
pub(crate) mod fault;
mod fibers;
mod grid;
mod group;
mod image;
mod lane;
mod ops;
mod pool;
mod queue;
mod rendezvous;
mod seeded;
mod slots;
mod stack;
mod threads;
mod wait;

pub use config::{LaneMode, SimConfig};

use crate::args::Args;
use crate::backend::{BackendDevice, Plugin};
use crate::device::{Device, DeviceKind};
use crate::error::Error;
use crate::program::{Kernel, Program};
use crate::queue::{Launch, Queue};

/// What its device's name begins with.
const NAME: &str = "simulator";

/// What gives a device of this name more memory, as the end of a message about too little: nothing, if it is not the
/// simulator.
pub fn more_memory(device: &str) -> &'static str {
    if device.starts_with(NAME) { "; the simulator has as much as its setting `sim:memory=BYTES` says" } else { "" }
}

/// The simulator as a plugin: one device, with default settings.
#[derive(Clone, Copy, Debug)]
pub struct SimPlugin;

impl Plugin for SimPlugin {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Sim
    }

    fn device_count(&self) -> Result<u32, Error> {
        Ok(1)
    }

    fn open(&self, ordinal: u32) -> Result<Arc<dyn BackendDevice>, Error> {
        if ordinal == 0 { open(SimConfig::default()) } else { Err(Error::NoDevice { kind: DeviceKind::Sim, ordinal, count: 1 }) }
    }
}

pub(crate) fn open(config: SimConfig) -> Result<Arc<dyn BackendDevice>, Error> {
    Ok(Arc::new(device::SimDevice::new(config)?))
}

fn shared(device: &Device) -> Option<&Arc<device::Shared>> {
    device.backend().as_any().downcast_ref::<device::SimDevice>().map(|sim| &sim.0)
}

/// A number that stands for all decisions of the seeded scheduler on this device so far: equal for equal interleavings.
/// `None` for devices without a seed. Meaningful after the queues were synchronised.
pub fn schedule_hash(device: &Device) -> Option<u64> {
    let shared = shared(device)?;
    // Relaxed: whoever reads it has synchronised with the queue before.
    shared.config.seed.map(|_| shared.schedule.load(Ordering::Relaxed))
}

/// A program of functions of this process, for tests of the simulator. They call its operations through [`ops`].
///
/// # Errors
/// [`Error::WrongDevice`] unless the device is a simulator.
#[doc(hidden)]
pub fn program_from_functions(device: &Device, functions: &[(&str, KernelEntry)]) -> Result<Program, Error> {
    let shared = shared(device).ok_or(Error::WrongDevice { what: "a program of host functions" })?;
    let program = image::SimProgram::from_functions(functions, shared.info.max_group_size);
    Ok(Program::from_backend(device.clone(), "functions", program))
}

/// Launches a kernel with arguments that are laid out already, for drivers that are emulated on the simulator.
///
/// # Safety
/// As [`Queue::launch`](crate::Queue::launch); the bytes are the kernel's parameters as [`KernelParams::place`] lays
/// them out.
///
/// # Errors
/// As [`Queue::launch`](crate::Queue::launch).
#[doc(hidden)]
pub unsafe fn launch_laid_out(queue: &Queue, kernel: &Kernel, launch: &Launch, params: &[u8]) -> Result<(), Error> {
    queue.device().activity().launch(Some((kernel.shared_name(), launch)), queue.number(), |ticket| {
        // SAFETY: the caller's.
        unsafe { queue.backend().launch(kernel.backend(), launch, Args::laid_out(params).of(kernel.program()).params(), ticket) }
    })
}

/// The operations that images are given.
#[doc(hidden)]
pub fn ops() -> &'static SimOps {
    &ops::OPS
}
