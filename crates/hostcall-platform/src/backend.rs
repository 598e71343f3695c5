//! What a plugin implements. All traits here are object safe.
//!
//! A plugin stands for a way to drive devices (the simulator, CUDA). It opens devices as [`BackendDevice`]s, and those
//! make the rest. The typed API ([`crate::Device`] and what it makes) checks ranges, arguments and hashes before it
//! calls these traits. A back end checks what only it knows: that a launch fits, and that its own objects were passed.
//!
//! Safe functions of this crate read and write what [`BackendDevice`], [`BackendMemory`] and [`BackendProgram`] say is
//! there. So these traits are `unsafe` to implement, and each says what its implementer promises:
//!
//! ```compile_fail,E0200
//! struct Lie;
//! impl offload::backend::BackendMemory for Lie {
//!     fn device_address(&self) -> u64 { 0x10 }
//!     fn host_pointer(&self) -> *mut u8 { 0x10 as *mut u8 }
//!     fn bytes(&self) -> usize { 8 }
//!     fn as_any(&self) -> &dyn std::any::Any { self }
//! }
//! ```
//!
//! A [`Span`] is made by this crate only, inside its memory:
//!
//! ```compile_fail,E0451
//! # fn example(memory: std::sync::Arc<dyn offload::backend::BackendMemory>) {
//! let beyond = offload::backend::Span { memory, offset: 1 << 40, bytes: 1 << 20 };
//! # }
//! ```

use std::any::Any;
use std::sync::Arc;

pub use crate::activity::Ticket;
use crate::args::Params;
use crate::device::{DeviceInfo, DeviceKind, Help};
use crate::error::Error;
use crate::queue::Launch;
use crate::window::WindowProvider;
use offload_image::Image;

/// A way to drive devices.
pub trait Plugin: Send + Sync {
    /// Which one.
    fn kind(&self) -> DeviceKind;

    /// How many devices there are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason: "no libcuda.so.1 found", too old a driver, ….
    fn device_count(&self) -> Result<u32, Error>;

    /// Opens a device.
    ///
    /// # Errors
    /// As for [`Plugin::device_count`], or [`Error::NoDevice`].
    fn open(&self, ordinal: u32) -> Result<Arc<dyn BackendDevice>, Error>;
}

/// An open device.
///
/// # Safety
/// * Memory that [`BackendDevice::alloc`], [`BackendDevice::alloc_host`] and [`BackendDevice::window`] give has at
///   least the bytes asked for, aligned as they say, and nobody else's; the host pointer of
///   [`BackendDevice::alloc_host`] and of a window is not null.
/// * Memory of this device is device-visible for its own queues, programs and [`read`](BackendDevice::read) and
///   [`write`](BackendDevice::write), which touch the bytes that they are given and no others.
pub unsafe trait BackendDevice: Send + Sync {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// How well an image fits: the largest wins, `None` cannot be loaded.
    fn fit(&self, image: &Image) -> Option<u32>;

    /// Loads an image that fits. `program` is the program's name, for errors.
    ///
    /// # Errors
    /// [`Error::Load`], with the log if something was compiled.
    fn load(&self, program: &str, image: &Image) -> Result<Arc<dyn BackendProgram>, Error>;

    /// A new in-order queue.
    ///
    /// # Errors
    /// When the driver or system has none.
    fn queue(&self) -> Result<Box<dyn BackendQueue>, Error>;

    /// A new event, not recorded yet.
    ///
    /// # Errors
    /// When the driver has none.
    fn event(&self) -> Result<Box<dyn BackendEvent>, Error>;

    /// `bytes` (at least 1) of device memory, aligned to 256, not initialised.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn alloc(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error>;

    /// `bytes` (at least 1) of pinned host memory that the device sees, page-aligned, zeroed, never write-combined.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`].
    fn alloc_host(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error>;

    /// The same on huge pages, as far as the system gives them.
    ///
    /// # Errors
    /// As [`BackendDevice::alloc_host`].
    fn alloc_host_huge(&self, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        self.alloc_host(bytes)
    }

    /// Who may give a window into this device's memory, the preferred ones first.
    fn window_providers(&self) -> &[WindowProvider] {
        &[]
    }

    /// At least `bytes` (at least 1) of device memory that the host can write, aligned to 64 for both. Its host pointer
    /// may be write-combining: nobody reads by it. `provider` is one of [`BackendDevice::window_providers`].
    ///
    /// # Errors
    /// Why this provider has none, with the remedy.
    fn window(&self, provider: WindowProvider, bytes: usize) -> Result<Arc<dyn BackendMemory>, Error> {
        let _ = (provider, bytes);
        Err(Error::Unsupported { what: "a window into device memory" })
    }

    /// Copies device memory to the host now. Must not wait for running kernels: they may be waiting for the caller.
    ///
    /// # Safety
    /// `from` is device memory of at least `to.len()` bytes.
    ///
    /// # Errors
    /// When the device is lost.
    unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<(), Error>;

    /// Copies to device memory now. Must not wait for running kernels.
    ///
    /// # Safety
    /// `to` is device memory of at least `from.len()` bytes, and no kernel reads it at the same time other than by
    /// atomic accesses.
    ///
    /// # Errors
    /// When the device is lost.
    unsafe fn write(&self, to: u64, from: &[u8]) -> Result<(), Error>;

    /// See [`Device::lanes_may_help`](crate::Device::lanes_may_help).
    fn lanes_may_help(&self) -> bool {
        false
    }

    /// What lanes of later launches call where they wait for the host, in place of what was said before. It is said of
    /// devices whose [lanes may help](Self::lanes_may_help).
    fn help_waiting(&self, help: Option<Help>) {
        drop(help);
    }

    /// A fresh device in place of this one, which may be lost.
    ///
    /// # Errors
    /// As for [`Plugin::open`].
    fn reset(&self) -> Result<Arc<dyn BackendDevice>, Error>;

    /// For the plugin's own functions (raw handles).
    fn as_any(&self) -> &dyn Any;
}

/// A global of a loaded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalInfo {
    /// Where the device sees it.
    pub address: u64,
    /// Its size in bytes.
    pub size: usize,
    /// Whether the host can write it.
    pub writable: bool,
}

/// A loaded program.
///
/// # Safety
/// * A global is memory of the device that the program was loaded on, of the size that is said, for as long as the
///   program lives.
pub unsafe trait BackendProgram: Send + Sync {
    /// The kernel of this name; `None` if there is none.
    ///
    /// # Errors
    /// When the driver fails otherwise.
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn BackendKernel>>, Error>;

    /// The global of this name; `None` if there is none.
    ///
    /// # Errors
    /// When the driver fails otherwise.
    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error>;

    /// For the plugin's own functions (raw handles).
    fn as_any(&self) -> &dyn Any;
}

/// A kernel of a loaded program. Keeps the program loaded.
pub trait BackendKernel: Send + Sync {
    /// What the device says of it.
    fn info(&self) -> &KernelInfo;

    /// For the back end's own queue.
    fn as_any(&self) -> &dyn Any;
}

/// What a device says of a kernel; 0 where it has no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The most threads of a workgroup.
    pub max_group_size: u32,
    /// Registers of a lane.
    pub registers: u32,
    /// Bytes of memory shared by a workgroup.
    pub shared_bytes: u32,
    /// Bytes of stack and spills of a lane.
    pub local_bytes: u32,
}

/// Memory of a device, or of the host and visible to the device. Dropping the last reference frees it.
///
/// # Safety
/// * From both addresses on there are [`BackendMemory::bytes`] bytes (behind a host pointer that is not null), the same
///   ones and never others, until the last reference is dropped.
/// * The host may read and write them by atomic accesses while the device does.
pub unsafe trait BackendMemory: Send + Sync {
    /// Where the device sees it.
    fn device_address(&self) -> u64;

    /// Where the host sees it; null for device memory that it cannot see.
    fn host_pointer(&self) -> *mut u8;

    /// Its size.
    fn bytes(&self) -> usize;

    /// For the plugin's own functions.
    fn as_any(&self) -> &dyn Any;
}

/// A checked part of a [`BackendMemory`].
#[derive(Clone)]
pub struct Span {
    pub(crate) memory: Arc<dyn BackendMemory>,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

impl Span {
    /// The memory; a back end that works later keeps a reference to it until then.
    pub fn memory(&self) -> &Arc<dyn BackendMemory> {
        &self.memory
    }

    /// First byte.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device's address of its first byte.
    pub fn address(&self) -> u64 {
        self.memory.device_address() + self.offset as u64
    }
}

/// An in-order queue. Dropping it waits for what is in it.
///
/// Every function may be called from any thread. A failure of earlier work (a fault, a lost device) is reported once by
/// the next [`BackendQueue::synchronize`] or [`BackendQueue::copy_from`].
pub trait BackendQueue: Send + Sync {
    /// Starts a kernel. `ticket` is dropped when it has ended, however it ends, without a call of the application.
    ///
    /// # Safety
    /// What the kernel does with `params` is right: see [`crate::Queue::launch`].
    ///
    /// # Errors
    /// When the launch cannot work.
    unsafe fn launch(&self, kernel: &Arc<dyn BackendKernel>, launch: &Launch, params: &Params, ticket: Ticket) -> Result<(), Error>;

    /// Copies to device memory, in order. `from` may be reused on return.
    ///
    /// # Errors
    /// When the device is lost.
    fn copy_to(&self, to: &Span, from: &[u8]) -> Result<(), Error>;

    /// Copies from device memory, in order, and waits for it.
    ///
    /// # Errors
    /// When the device is lost or earlier work failed.
    fn copy_from(&self, to: &mut [u8], from: &Span) -> Result<(), Error>;

    /// Copies between device-visible memories of equal size, in order, without waiting.
    ///
    /// # Errors
    /// When the device is lost.
    fn copy(&self, to: &Span, from: &Span) -> Result<(), Error>;

    /// Sets every byte, in order, without waiting.
    ///
    /// # Errors
    /// When the device is lost.
    fn fill(&self, to: &Span, byte: u8) -> Result<(), Error>;

    /// Waits until everything before has ended.
    ///
    /// # Errors
    /// The first failure of earlier work that was not reported yet.
    fn synchronize(&self) -> Result<(), Error>;

    /// Whether nothing is left to do.
    ///
    /// # Errors
    /// When the device is lost.
    fn is_idle(&self) -> Result<bool, Error>;

    /// Whether dropping it waits for what is in it: not for a queue that is somebody else's.
    fn waits_when_dropped(&self) -> bool {
        true
    }

    /// It will not be dropped, and what is in it goes on until the process ends: from now on the device frees no memory
    /// that a kernel may use.
    fn leave_to_itself(&self) {}

    /// The event happens when everything before has ended.
    ///
    /// # Errors
    /// When the device is lost.
    fn record(&self, event: &dyn BackendEvent) -> Result<(), Error>;

    /// What comes later waits for the event's latest recording; an event never recorded counts as happened.
    ///
    /// # Errors
    /// When the device is lost.
    fn wait(&self, event: &dyn BackendEvent) -> Result<(), Error>;

    /// Calls `f` when everything before has ended, on a thread of the back end. `f` must not call the device.
    ///
    /// # Errors
    /// When the device is lost.
    fn on_complete(&self, f: Box<dyn FnOnce() + Send>) -> Result<(), Error>;

    /// From here to [`BackendQueue::end_capture`], records launches, copies, fills and events instead of doing them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where there are no graphs, [`Error::Capture`] if a capture is under way, a lost device.
    fn begin_capture(&self) -> Result<(), Error> {
        Err(Error::Unsupported { what: "capturing a graph" })
    }

    /// Whether it records.
    fn is_recording(&self) -> bool {
        false
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// [`Error::Capture`] if no capture is under way, a lost device.
    fn end_capture(&self) -> Result<Arc<dyn BackendGraph>, Error> {
        Err(Error::Unsupported { what: "capturing a graph" })
    }

    /// Does what was recorded. `ticket` is dropped when all of it has ended, as for [`BackendQueue::launch`].
    ///
    /// # Safety
    /// As for [`BackendQueue::launch`], for each launch in the graph.
    ///
    /// # Errors
    /// When the launch cannot work.
    unsafe fn launch_graph(&self, graph: &Arc<dyn BackendGraph>, ticket: Ticket) -> Result<(), Error> {
        let _ = (graph, ticket);
        Err(Error::Unsupported { what: "launching a graph" })
    }

    /// For the plugin's own functions (raw handles).
    fn as_any(&self) -> &dyn Any;
}

/// Recorded work. Keeps the kernels, and the memory of copies and fills, alive.
pub trait BackendGraph: Send + Sync {
    /// For the back end's own queue.
    fn as_any(&self) -> &dyn Any;
}

/// A point in a queue.
pub trait BackendEvent: Send + Sync {
    /// Whether it happened; one never recorded counts as happened.
    ///
    /// # Errors
    /// When the device is lost.
    fn is_complete(&self) -> Result<bool, Error>;

    /// Waits for it.
    ///
    /// # Errors
    /// When the device is lost.
    fn synchronize(&self) -> Result<(), Error>;

    /// Nanoseconds on the device from `earlier` to this; `None` unless both happened.
    ///
    /// # Errors
    /// When the device is lost.
    fn nanoseconds_since(&self, earlier: &dyn BackendEvent) -> Result<Option<u64>, Error>;

    /// For the back end's own queue.
    fn as_any(&self) -> &dyn Any;
}
