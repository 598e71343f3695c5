//! The simulated device: what it is and what it makes.

use std::any::Any;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::arena::{Arena, HostAllocation};
use super::config::{LaneMode, SimConfig};
use super::image::SimProgram;
use super::pool::Pool;
use super::queue::{SimEvent, SimQueue};
use super::slots::Slots;
use super::{fault, grid};
use crate::backend::{BackendDevice, BackendEvent, BackendMemory, BackendProgram, BackendQueue};
use crate::device::{DeviceInfo, DeviceKind, Help};
use crate::error::Error;
use crate::window::WindowProvider;
use offload_image::{Image, ImageKind};

/// What a simulated device and everything made from it share.
pub(super) struct Shared {
    pub(super) config: SimConfig,
    pub(super) info: DeviceInfo,
    pub(super) arena: Arc<Arena>,
    pub(super) slots: Arc<Slots>,
    pub(super) pool: Pool,
    /// Kernels that the seeded scheduler has begun.
    pub(super) launches: AtomicU64,
    /// Sum of the hashes of what it has decided.
    pub(super) schedule: AtomicU64,
    /// Operations of lanes, if they are counted.
    operations: AtomicU64,
    lost: AtomicBool,
    /// What waves do that wait for the host.
    help: Mutex<Option<Help>>,
}

impl Shared {
    /// Counts an operation of a lane, after which the device may be lost.
    #[inline]
    pub(super) fn count_operation(&self) {
        if let Some(most) = self.config.lose_after {
            // Relaxed: a count. It is not stored twice that matters, but that it is.
            if self.operations.fetch_add(1, Ordering::Relaxed) + 1 >= most {
                // Release pairs with the acquire in `is_lost`.
                self.lost.store(true, Ordering::Release);
            }
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        // Pairs with `count_operation`. Only devices that are to be lost have to look.
        self.config.lose_after.is_some() && self.lost.load(Ordering::Acquire)
    }

    /// What waves do that wait for the host, from the next launch on.
    pub(super) fn help(&self) -> Option<Help> {
        self.help.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The error of a device that is lost.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !self.is_lost() {
            return Ok(());
        }
        let reason =
            format!("{} operations of its lanes were its last, as `lose` says; reset it", self.config.lose_after.unwrap_or_default());
        Err(Error::DeviceLost { device: self.info.name.clone(), reason })
    }
}

/// A simulated device.
pub(super) struct SimDevice(pub(super) Arc<Shared>);

const ARCH: &str = if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-unknown-linux-gnu" };

impl SimDevice {
    pub(super) fn new(config: SimConfig) -> Result<Self, Error> {
        config.validate()?;
        fault::install();
        let SimConfig { sms, waves_per_sm, wave_size, memory_bytes, .. } = config;
        let info = DeviceInfo {
            kind: DeviceKind::Sim,
            ordinal: 0,
            name: format!("{} ({sms} SMs of {waves_per_sm} waves of {wave_size} lanes)", super::NAME),
            driver: format!("offload {}", env!("CARGO_PKG_VERSION")),
            arch: ARCH.to_owned(),
            pci_bus_id: None,
            wave_size,
            sms,
            resident_waves: sms * waves_per_sm,
            memory_bytes,
            max_group_size: (waves_per_sm * wave_size).min(1024),
        };
        Ok(Self(Arc::new(Shared {
            config,
            info,
            arena: Arc::new(Arena::new(memory_bytes)?),
            slots: Arc::new(Slots::new(sms, waves_per_sm)),
            pool: Pool::new(),
            launches: AtomicU64::new(0),
            schedule: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            help: Mutex::default(),
        })))
    }
}

// SAFETY: memory, programs and queues are those of this device, made by it; reads and writes are of the bytes that
// their caller names.
unsafe impl BackendDevice for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn fit(&self, image: &Image) -> Option<u32> {
        let here = image.arch.starts_with(std::env::consts::ARCH) && image.arch.contains(std::env::consts::OS);
        (image.kind == ImageKind::Sim && here).then_some(1)
    }

    fn load(&self, program: &str, image: &Image) -> Result<Arc<dyn BackendProgram>, Error> {
        self.0.check()?;
        Ok(SimProgram::load(program, &image.bytes, self.0.info.max_group_size)?)
    }

    fn queue(&self) -> Result<Box<dyn BackendQueue>, Error> {
        self.0.check()?;
        Ok(Box::new(SimQueue::new(self.0.clone())?))
    }

    fn event(&self) -> Result<Box<dyn BackendEvent>, Error> {
        Ok(Box::new(SimEvent::default()))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.0.check()?;
        Ok(Arc::new(self.0.arena.alloc(bytes, &self.0.info.name)?))
    }

    fn alloc_host(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.0.check()?;
        Ok(Arc::new(HostAllocation::new(bytes, &self.0.arena)?))
    }

    #[cfg(target_os = "linux")]
    fn alloc_host_huge(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.0.check()?;
        Ok(Arc::new(HostAllocation::huge(bytes, &self.0.arena)?))
    }

    fn window_providers(&self) -> &[WindowProvider] {
        &[WindowProvider::Simulator]
    }

    fn window(&self, _: WindowProvider, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.alloc(bytes)
    }

    unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error> {
        self.0.check()?;
        // SAFETY: the caller's: device memory is memory of this process.
        unsafe { ptr::copy(from as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        self.0.check()?;
        // SAFETY: as above.
        unsafe { ptr::copy(from.as_ptr(), to as *mut u8, from.len()) };
        Ok(())
    }

    fn lanes_may_help(&self) -> bool {
        // A lane that is a thread has locks of its wave while it waits, and a seed decides who runs.
        self.0.config.lanes == LaneMode::Fibers && self.0.config.seed.is_none()
    }

    fn help_waiting(&self, help: Option<Help>) {
        let help = help.filter(|_| self.lanes_may_help());
        let former = std::mem::replace(&mut *self.0.help.lock().unwrap_or_else(PoisonError::into_inner), help);
        // What it owns is the caller's, and dropped without the lock.
        drop(former);
    }

    fn reset(&self) -> Result<Arc<dyn BackendDevice>, Error> {
        Ok(Arc::new(Self::new(SimConfig { lose_after: None, ..self.0.config })?))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<grid::Run>();
    shared::<Shared>();
};
