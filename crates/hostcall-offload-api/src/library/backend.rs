//! What drives devices: the traits that [`host`](super::host) and [`cuda`](super::cuda) implement.
//!
//! Memory is addresses here, as it is in the C API. Whoever calls has checked that enumerations have known values, that
//! sizes are not zero, and that ranges that lie in known allocations end in them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::arguments::Given;
use super::error::Launched;
use super::host_calls::Calls;
use crate::runtime::Error;
use crate::sys::{ol_alloc_type_t, ol_device_type_t, ol_platform_backend_t, ol_symbol_kind_t};

/// The devices that one driver serves.
pub(super) trait Platform: Send + Sync {
    fn backend(&self) -> ol_platform_backend_t;
    fn name(&self) -> &'static str;
    fn vendor(&self) -> &'static str;

    /// The version of the driver, as far as it is known without opening anything.
    fn version(&self) -> String;

    /// Opens the driver and finds the devices.
    fn open(&self) -> Result<Vec<Arc<dyn Device>>, Error>;
}

/// A device.
pub(super) trait Device: Send + Sync {
    /// What can be asked of it.
    fn properties(&self) -> Result<Properties, Error>;

    /// `size` bytes at a multiple of `alignment`.
    fn allocate(&self, kind: ol_alloc_type_t, size: usize, alignment: usize) -> Result<Arc<dyn Block>, Error>;

    /// Locks host memory, until the result is dropped, so that the device can use it.
    fn pin(&self, address: usize, size: usize) -> Result<Box<dyn Pin>, Error>;

    /// A queue.
    fn queue(&self) -> Result<Arc<dyn Queue>, Error>;

    /// Why an image cannot be loaded, as far as can be told without loading it.
    fn check(&self, image: &[u8]) -> Result<(), Error>;

    /// Loads an image.
    fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>, Error>;

    /// Whether this thread may wait for the device, or else why not.
    fn may_wait(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits until nothing that was put into queues whose handles are gone is left.
    fn drain(&self);

    /// The session has ended, and all memory was freed: gives back what was kept for later allocations.
    fn end(&self) {}
}

/// Memory. Dropping it frees it, when nothing that was put into queues of its own kind of device uses it any more; see
/// [`super::worker::retire`] for others.
pub(super) trait Block: Send + Sync {
    fn address(&self) -> usize;

    /// Whether it is memory of a GPU, which is neither the host's nor moved there.
    fn is_on_device(&self) -> bool {
        false
    }
}

/// Locked host memory. Dropping it unlocks it, and waits until the device does not use it.
pub(super) trait Pin: Send + Sync {
    /// The address that the device uses.
    fn address(&self) -> usize;
}

/// Memory that a copy or a fill uses: an address, and what keeps it there, if it is known.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) address: usize,
    pub(super) block: Option<Arc<dyn Block>>,
}

impl Place {
    /// None.
    pub(super) const NONE: Place = Place { address: 0, block: None };
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

/// A queue. Work that is in it when it is dropped is still done.
pub(super) trait Queue: Send + Sync {
    /// # Safety
    /// The kernel uses memory through `arguments` as the caller of the C API promised.
    unsafe fn launch(&self, kernel: &Arc<dyn Kernel>, shape: &Shape, arguments: &Given) -> Launched;

    /// # Safety
    /// Both are memory of `size` bytes, until the copy is done.
    unsafe fn copy(&self, to: Place, from: Place, size: usize) -> Result<(), Error>;

    /// Copies in a queue without other work, and waits for it.
    ///
    /// # Safety
    /// As [`Queue::copy`].
    unsafe fn copy_now(&self, [to, from]: &[Place; 2], size: usize) -> Launched {
        // SAFETY: the caller's.
        unsafe { self.copy(to.clone(), from.clone(), size) }?;
        Ok(self.synchronize()?)
    }

    /// `size` is a multiple of the pattern's.
    ///
    /// # Safety
    /// `to` is memory of `size` bytes, until the fill is done.
    unsafe fn fill(&self, to: Place, pattern: &[u8], size: usize) -> Result<(), Error>;

    /// Advises that managed memory will be used on the other side.
    fn prefetch(&self, address: usize, size: usize, to_host: bool) -> Result<(), Error>;

    /// Calls a function when the work before has ended, and begins the work after it when it has returned.
    fn call(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error>;

    /// Marks the end of the work so far.
    fn record(&self, timed: bool) -> Result<Arc<dyn Event>, Error>;

    /// Has later work wait for an event.
    fn wait(&self, event: &Arc<dyn Event>) -> Result<(), Error>;

    /// Waits for the work so far, and reports the first failure that was not reported yet.
    fn synchronize(&self) -> Result<(), Error>;

    fn is_idle(&self) -> Result<bool, Error>;
}

/// A point in a queue.
pub(super) trait Event: Send + Sync {
    fn is_complete(&self) -> Result<bool, Error>;
    fn synchronize(&self) -> Result<(), Error>;

    /// From `earlier` to this; `None` unless both are complete.
    fn milliseconds_since(&self, earlier: &dyn Event) -> Result<Option<f32>, Error>;

    /// For the back end's own queue.
    fn as_any(&self) -> &dyn Any;
}

/// A loaded image.
pub(super) trait Program: Send + Sync {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn Kernel>>, Error>;
    fn global(&self, name: &str) -> Result<Option<Global>, Error>;

    /// The names of its symbols of one kind, in order. `UNSUPPORTED` if neither the image nor the driver tells.
    fn names(&self, kind: ol_symbol_kind_t) -> Result<Vec<String>, Error>;
}

/// A global variable: where it is, and how many bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Global {
    pub(super) address: usize,
    pub(super) size: usize,
}

/// A kernel, which keeps its image loaded.
pub(super) trait Kernel: Send + Sync {
    /// The number of items of a group with which the device is used best.
    fn optimal_group_size(&self, shared_per_item: usize) -> Result<usize, Error>;

    /// How many groups of this shape can wait for one another.
    fn max_cooperative_groups(&self, shape: &Shape) -> Result<u32, Error>;

    /// Who answers the calls that it makes to the host.
    fn host_calls(&self) -> Option<&Arc<Calls>> {
        None
    }

    /// For the back end's own queue.
    fn as_any(&self) -> &dyn Any;
}

/// The shape of a launch. No dimension is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) groups: [u32; 3],
    pub(super) size: [u32; 3],
    pub(super) shared: u32,
    pub(super) cooperative: bool,
}

impl Shape {
    /// One group of one item.
    pub(super) const ONE: Shape = Shape { groups: [1; 3], size: [1; 3], shared: 0, cooperative: false };

    pub(super) fn group_count(&self) -> u64 {
        self.groups.iter().fold(1, |product: u64, &n| product.saturating_mul(u64::from(n)))
    }

    pub(super) fn items(&self) -> u64 {
        self.size.iter().fold(1, |product: u64, &n| product.saturating_mul(u64::from(n)))
    }
}

/// What can be asked of a device. `None` is what the driver does not tell.
#[derive(Clone, Debug)]
pub(super) struct Properties {
    pub(super) kind: ol_device_type_t,
    pub(super) name: String,
    pub(super) product_name: String,
    pub(super) uid: String,
    pub(super) vendor: String,
    pub(super) driver_version: String,
    pub(super) max_group_size: u32,
    pub(super) max_group_dimensions: [u32; 3],
    pub(super) max_work_size: u32,
    pub(super) max_work_dimensions: [u32; 3],
    pub(super) vendor_id: u32,
    pub(super) compute_units: u32,
    /// MHz.
    pub(super) clock: Option<u32>,
    /// MHz.
    pub(super) memory_clock: Option<u32>,
    pub(super) max_allocation: u64,
    pub(super) memory: u64,
    pub(super) local_memory: u64,
    /// Single, double and half precision; 0 for one that the device does not compute in.
    pub(super) arithmetic: [u32; 3],
    /// char, short, int, long, float, double, half.
    pub(super) vector_widths: [u32; 7],
    pub(super) cooperative: bool,
    /// Items that run in lockstep.
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "LLVM 24 has a property for it"))]
    pub(super) lanes: u32,
    /// What its code is compiled for.
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "as above"))]
    pub(super) arch: String,
    /// Ticks of the clock that kernels read.
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "as above"))]
    pub(super) timestamps_per_second: u64,
    /// The most waves that are on it at the same time.
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "as above"))]
    pub(super) resident_waves: u32,
    /// Whether kernels can use any memory of the host.
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "LLVM 24 has a function that tells"))]
    pub(super) reaches_host: bool,
}
