//! Raw handles in and out, for code that uses HSA or HIP itself, and functions that only this kind of device has.
//!
//! HIP is built on HSA, and both live in one process. A pointer of `hipMalloc` is an address that kernels take
//! ([`crate::Args::address`]), and an agent that other code found is a device here. HIP's streams cannot be entered:
//! between its work and ours, wait.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hostcall_abi::Plain;

use super::device::HsaDevice;
use super::memory::Block;
use super::queue::Queue as HsaQueue;
use super::sys::{hsa_agent_t, hsa_queue_t};
use crate::device::Device;
use crate::error::Error;
use crate::memory::HostMemory;
use crate::queue::Queue;

/// What only HSA says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HsaInfo {
    /// Names of the instruction sets that it runs, the most specific first:
    /// `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`.
    pub isas: Vec<String>,
    /// Ticks a second of its constant counter, if the runtime says.
    pub counter_hz: Option<u64>,
    /// The highest clock rate of its processors, in MHz, if the runtime says.
    pub clock_mhz: Option<u32>,
    /// That of its memory.
    pub memory_clock_mhz: Option<u32>,
    /// Bytes of memory that a workgroup can have.
    pub group_bytes: u32,
    /// Whether the host can reach its memory through the PCI window.
    pub host_reaches_memory: bool,
    /// Whether copies are done by engines, beside the kernels.
    pub copy_engines: bool,
}

/// What only HSA says of a device; `None` if it is another kind of device.
pub fn info(device: &Device) -> Option<HsaInfo> {
    let context = &hsa(device).ok()?.context;
    let found = &context.found;
    Some(HsaInfo {
        isas: found.isas.clone(),
        counter_hz: found.counter_hz,
        clock_mhz: found.clocks[0],
        memory_clock_mhz: found.clocks[1],
        group_bytes: found.group_bytes,
        host_reaches_memory: found.pools.host_reaches_device,
        copy_engines: context.engines,
    })
}

/// Sets the bytes of stack that each lane gets, beyond what the compiler knew of, in kernels that may call themselves
/// or through a pointer. The runtime reserves so much for every lane that can be resident. Holds for later launches.
///
/// # Errors
/// [`Error::WrongDevice`] if it is no HSA device.
pub fn set_stack(device: &Device, bytes: u32) -> Result<(), Error> {
    hsa(device)?.context.stack.store(bytes, Ordering::Relaxed);
    Ok(())
}

/// What [`set_stack`] set, or the default: 4 KiB, less on devices of which that would be more than a 32nd of memory.
///
/// # Errors
/// As for [`set_stack`].
pub fn stack(device: &Device) -> Result<u32, Error> {
    Ok(hsa(device)?.context.stack_bytes())
}

/// Pins `len` elements of the application's own memory, so that the device sees them. They are pinned until the result
/// is dropped.
///
/// # Safety
/// * The elements are valid for reads and writes, and stay so until the result is dropped.
/// * What kernels write there meanwhile is accessed by the host through atomics or volatile accesses only.
///
/// # Errors
/// [`Error::WrongDevice`] if it is no HSA device, [`Error::OutOfHostMemory`], [`Error::DeviceLost`].
pub unsafe fn pin<T: Plain>(device: &Device, start: NonNull<T>, len: usize) -> Result<HostMemory<T>, Error> {
    let context = &hsa(device)?.context;
    context.usable()?;
    // SAFETY: the caller's.
    let block = unsafe { Block::pin(context, start.as_ptr().cast(), len * size_of::<T>()) }?;
    Ok(HostMemory::new(device.clone(), Arc::new(block), len))
}

fn hsa(device: &Device) -> Result<&HsaDevice, Error> {
    device.backend().as_any().downcast_ref().ok_or(Error::WrongDevice { what: "the device (it is no HSA device)" })
}

impl Device {
    /// The device of an agent that other code found in this process's HSA runtime, for example through HIP.
    ///
    /// # Errors
    /// As for [`Device::hsa`]; [`Error::WrongDevice`] if it is no GPU.
    pub fn from_raw_hsa_agent(agent: hsa_agent_t) -> Result<Device, Error> {
        Ok(Device::from_backend(Arc::new(HsaDevice::of_agent(agent)?)))
    }

    /// Its HSA agent, if it is an HSA device.
    pub fn raw_hsa_agent(&self) -> Option<hsa_agent_t> {
        Some(hsa(self).ok()?.context.found.agent)
    }
}

impl Queue {
    /// Its HSA queue, if it is one; destroyed with it. Packets that others put into it run between ours, which have the
    /// barrier bit.
    pub fn raw_hsa_queue(&self) -> Option<*mut hsa_queue_t> {
        self.backend().as_any().downcast_ref::<HsaQueue>().map(HsaQueue::raw)
    }
}
