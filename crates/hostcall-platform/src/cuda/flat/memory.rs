//! Memory of all kinds, and host memory that is registered.

use std::ffi::c_void;
use std::sync::Arc;

use super::super::sys;

use super::Flat;
use crate::backend::BackendMemory;
use crate::cuda::context::Context;
use crate::cuda::driver::Status;
use crate::cuda::fault;
use crate::cuda::memory::{Block, with_freed};
use crate::cuda::quiet::{self, MayWait};
use crate::cuda::release::Resource;
use crate::error::Error;

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On the device.
    Device,
    /// Pinned, on the host, at one address for host and device.
    Host,
    /// Where the driver moves it.
    Managed,
}

/// Memory. Dropping it frees it.
pub struct FlatMemory {
    address: usize,
    _owner: Owner,
}

#[expect(dead_code, reason = "held for their drop")]
enum Owner {
    Block(Block),
    Managed(Managed),
}

struct Managed {
    context: Arc<Context>,
    address: sys::CUdeviceptr,
}

impl Drop for Managed {
    fn drop(&mut self) {
        self.context.release(Resource::Device(self.address));
    }
}

impl FlatMemory {
    /// Its first byte, at a multiple of what was asked for.
    pub fn address(&self) -> usize {
        self.address
    }
}

/// What the driver aligns allocations to.
const NATURAL_ALIGNMENT: usize = 256;

/// `CU_MEM_ATTACH_GLOBAL`.
const ATTACH_GLOBAL: u32 = 1;

/// Host memory that the device uses. Dropping it takes it back, and waits until no stream has work. On a thread for
/// which a device may be waiting it is taken back later.
pub struct Registration {
    context: Arc<Context>,
    host: usize,
    address: usize,
}

impl Registration {
    /// Where the device sees it.
    pub fn address(&self) -> usize {
        self.address
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let host = std::ptr::with_exposed_provenance_mut(self.host);
        let Some(may) = MayWait::here() else {
            self.context.release(Resource::Foreign(host));
            return;
        };
        if self.context.loss().is_some() {
            return;
        }
        // The memory is its owner's again when this returns.
        quiet::when_quiet(may, |quiet| {
            if let Ok(entered) = self.context.enter() {
                // SAFETY: registered in `Flat::register`, and unregistered this once.
                entered.ignore(unsafe { entered.driver.mem_host_unregister(quiet, host) });
            }
        });
    }
}

impl Flat {
    /// `bytes` at a multiple of `alignment`, a power of two.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], [`Error::DeviceLost`].
    pub fn allocate(&self, kind: Kind, bytes: usize, alignment: usize) -> Result<FlatMemory, Error> {
        let more = if alignment > NATURAL_ALIGNMENT { alignment } else { 0 };
        let all = bytes.checked_add(more).ok_or_else(|| fault::out_of_memory(&self.context.name, bytes, 0))?;
        let (start, owner) = match kind {
            Kind::Device => {
                let block = Block::device(&self.context, all)?;
                (block.device_address() as usize, Owner::Block(block))
            }
            Kind::Host => {
                let block = Block::host(&self.context, all)?;
                (block.host_pointer().expose_provenance(), Owner::Block(block))
            }
            Kind::Managed => {
                let managed = self.managed(all)?;
                (managed.address as usize, Owner::Managed(managed))
            }
        };
        Ok(FlatMemory { address: start.next_multiple_of(alignment.max(1)), _owner: owner })
    }

    fn managed(&self, bytes: usize) -> Result<Managed, Error> {
        with_freed(&self.context, || self.try_managed(bytes))
    }

    fn try_managed(&self, bytes: usize) -> Result<Managed, Error> {
        let may = self.context.may_wait("allocating managed memory")?;
        let entered = self.context.enter()?;
        let mut address = 0;
        // SAFETY: an out parameter; the context is current.
        match unsafe { entered.driver.mem_alloc_managed(may, &mut address, bytes.max(1), ATTACH_GLOBAL) } {
            Ok(()) => Ok(Managed { context: self.context.clone(), address }),
            Err(failed) if failed.status == Status::OUT_OF_MEMORY => Err(fault::out_of_memory(&self.context.name, bytes, 0)),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    /// Locks host memory and lets the device use it.
    ///
    /// # Errors
    /// When the driver refuses: it is registered already, or is no memory.
    pub fn register(&self, host: usize, bytes: usize) -> Result<Registration, Error> {
        let may = self.context.may_wait("registering host memory")?;
        let entered = self.context.enter()?;
        let pointer: *mut c_void = std::ptr::with_exposed_provenance_mut(host);
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE | sys::CU_MEMHOSTREGISTER_DEVICEMAP;
        // SAFETY: the driver looks for itself whether there is such memory.
        entered.check(unsafe { entered.driver.mem_host_register(may, pointer, bytes, flags) })?;
        let mut registration = Registration { context: self.context.clone(), host, address: host };
        let mut address = 0;
        // SAFETY: registered with DEVICEMAP just now.
        let mapped = entered.check(unsafe { entered.driver.mem_host_device_pointer(&mut address, pointer, 0) });
        registration.address = address as usize;
        drop(entered);
        mapped.map(|()| registration)
    }
}
