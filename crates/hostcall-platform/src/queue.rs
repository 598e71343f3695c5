//! Queues and events: what runs in which order.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hostcall_abi::Plain;

use crate::args::Args;
use crate::backend::{BackendEvent, BackendQueue};
use crate::device::Device;
use crate::error::Error;
use crate::memory::{HostMemory, Memory, bytes_of, bytes_of_mut};
use crate::program::Kernel;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Threads of a workgroup in x, y, z.
    pub group_size: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares. The simulator has none and ignores it.
    pub dynamic_shared: u32,
}

impl Launch {
    /// `groups` workgroups of `group_size` threads, in one dimension.
    pub const fn linear(groups: u32, group_size: u32) -> Self {
        Self { groups: [groups, 1, 1], group_size: [group_size, 1, 1], dynamic_shared: 0 }
    }

    /// At least `threads` threads in one dimension, in workgroups of `group_size`: as many whole workgroups as that takes.
    ///
    /// `Launch::threads(8, 32)` starts 32 threads. A kernel compares its index with the length of its data, or `Launch::linear` starts
    /// an exact number.
    pub const fn threads(threads: u32, group_size: u32) -> Self {
        let size = if group_size == 0 { 1 } else { group_size };
        Self::linear(threads.div_ceil(size), group_size)
    }

    /// With this much dynamic shared memory.
    #[must_use]
    pub const fn dynamic_shared(self, bytes: u32) -> Self {
        Self { dynamic_shared: bytes, ..self }
    }

    /// What no device with workgroups of at most `limit` threads can run, in words.
    fn fault(&self, limit: u32) -> Option<String> {
        for (what, sizes) in [("groups", self.groups), ("group_size", self.group_size)] {
            if let Some(axis) = sizes.iter().position(|&size| size == 0) {
                return Some(format!("`{what}` is {sizes:?}, and 0 in {}: give at least 1", ["x", "y", "z"][axis]));
            }
        }
        let threads = self.group_threads();
        let too_many = threads > u64::from(limit);
        too_many
            .then(|| format!("`group_size` {:?} makes workgroups of {threads} threads: this device runs at most {limit}", self.group_size))
    }

    /// Threads of a workgroup.
    pub fn group_threads(&self) -> u64 {
        self.group_size.iter().fold(1, |n: u64, &d| n.saturating_mul(u64::from(d)))
    }

    /// Workgroups of the grid.
    pub fn group_count(&self) -> u64 {
        self.groups.iter().fold(1, |n: u64, &d| n.saturating_mul(u64::from(d)))
    }
}

/// Work for a device, done in order. Clones are the same queue; dropping the last waits for what is in it.
#[derive(Clone)]
pub struct Queue(Arc<Inner>);

struct Inner {
    device: Device,
    backend: Box<dyn BackendQueue>,
    number: u64,
}

impl Queue {
    /// A queue from a plugin's own object, for example of a stream that was made elsewhere.
    pub(crate) fn from_backend(device: Device, backend: Box<dyn BackendQueue>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: each number is given once, and that is all.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Inner { device, backend, number }))
    }

    /// Tells it from all other queues of this process, as [`LaunchEvent::Begun`](crate::LaunchEvent) does.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Whose queue it is.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The plugin's object.
    pub fn backend(&self) -> &dyn BackendQueue {
        &*self.0.backend
    }

    /// Starts a kernel and returns.
    ///
    /// # Safety
    /// A kernel is native code that takes these arguments at their word:
    /// * every address and slice among `args` is of memory the device can access, stays allocated until the kernel has ended, and has
    ///   values of the types that the kernel's parameters say;
    /// * lanes and the host do not race on it other than by atomic accesses;
    /// * if the program has no parameter table for the kernel, `args` are the kernel's parameters in number and size.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentSize`] and [`Error::ArgumentElement`] if the program has a table of the kernel's
    /// parameters, [`Error::ArgumentDevice`],
    /// [`Error::NoServer`] if the program links hostcall and is attached to no server,
    /// [`Error::WrongDevice`], [`Error::Launch`] for a shape the device cannot run, [`Error::DeviceLost`]. What goes wrong later is
    /// reported by [`Queue::synchronize`].
    pub unsafe fn launch(&self, kernel: &Kernel, launch: Launch, args: Args) -> Result<(), Error> {
        self.own(kernel.program().device(), "the kernel")?;
        kernel.program().check_answered(kernel.name())?;
        if let Some(table) = kernel.table() {
            args.check(kernel.name(), table)?;
        }
        args.check_device(kernel.name(), self.device())?;
        if let Some(reason) = launch.fault(self.device().info().max_group_size) {
            return Err(Error::Launch { kernel: kernel.name().to_owned(), reason });
        }
        tracing::debug!(kernel = kernel.name(), groups = ?launch.groups, group_size = ?launch.group_size, "launch");
        let name = (!self.0.backend.is_recording()).then(|| kernel.shared_name());
        self.device().activity().launch(name, self.number(), |ticket| {
            // SAFETY: the caller answers for the arguments; number and sizes were checked where the program says them.
            unsafe { self.0.backend.launch(kernel.backend(), &launch, args.params(), ticket) }
        })
    }

    /// Copies `from` to `to`, from element `offset` on, in order. `from` may be reused on return.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn copy_to<T: Plain>(&self, to: &Memory<T>, offset: usize, from: &[T]) -> Result<(), Error> {
        self.own(to.device(), "the memory")?;
        let span = to.span("copying to device memory", offset, from.len())?;
        if span.bytes == 0 { Ok(()) } else { self.0.backend.copy_to(&span, bytes_of(from)) }
    }

    /// Copies `from`, from element `offset` on, to `to`, in order, and waits for it.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::WrongDevice`], and what earlier work in this queue failed with.
    pub fn copy_from<T: Plain>(&self, to: &mut [T], from: &Memory<T>, offset: usize) -> Result<(), Error> {
        self.own(from.device(), "the memory")?;
        let span = from.span("copying from device memory", offset, to.len())?;
        if span.bytes == 0 { Ok(()) } else { self.0.backend.copy_from(bytes_of_mut(to), &span) }
    }

    /// All of `from` as a vector: [`Queue::copy_from`].
    ///
    /// # Errors
    /// As for [`Queue::copy_from`].
    pub fn read<T: Plain>(&self, from: &Memory<T>) -> Result<Vec<T>, Error> {
        // SAFETY: all bits zero are a `T: Plain`.
        let mut to = vec![unsafe { std::mem::zeroed::<T>() }; from.len()];
        self.copy_from(&mut to, from, 0)?;
        Ok(to)
    }

    /// Copies `len` elements from pinned host memory to device memory, in order, without waiting.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn copy_in<T: Plain>(&self, to: &Memory<T>, at: usize, from: &HostMemory<T>, offset: usize, len: usize) -> Result<(), Error> {
        self.own(to.device(), "the device memory")?;
        self.own(from.device(), "the host memory")?;
        let (to, from) = (to.span("copying to device memory", at, len)?, from.span("copying from host memory", offset, len)?);
        if to.bytes == 0 { Ok(()) } else { self.0.backend.copy(&to, &from) }
    }

    /// Copies `len` elements from device memory to pinned host memory, in order, without waiting.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn copy_out<T: Plain>(&self, to: &HostMemory<T>, at: usize, from: &Memory<T>, offset: usize, len: usize) -> Result<(), Error> {
        self.own(from.device(), "the device memory")?;
        self.own(to.device(), "the host memory")?;
        let (to, from) = (to.span("copying to host memory", at, len)?, from.span("copying from device memory", offset, len)?);
        if to.bytes == 0 { Ok(()) } else { self.0.backend.copy(&to, &from) }
    }

    /// Sets every byte of `memory`, in order, without waiting.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn fill<T: Plain>(&self, memory: &Memory<T>, byte: u8) -> Result<(), Error> {
        self.own(memory.device(), "the memory")?;
        let span = memory.span("filling device memory", 0, memory.len())?;
        if span.bytes == 0 { Ok(()) } else { self.0.backend.fill(&span, byte) }
    }

    /// Waits until everything before has ended.
    ///
    /// This knows what the device says of the kernels, and no more. Panics, exits and failed handlers of a program that is attached to a
    /// server are in that server's report: wait with `hostcall::Server::wait`, which returns them.
    ///
    /// # Errors
    /// The first failure of earlier work in this queue that was not reported yet: [`Error::Fault`], [`Error::DeviceLost`], ….
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.backend.synchronize()
    }

    /// As [`Queue::synchronize`], but gives up after `limit`. What is in the queue goes on: nothing is taken back.
    ///
    /// `hostcall::Server::wait_timeout` also says which calls are open.
    ///
    /// # Errors
    /// [`Error::Timeout`], or as for [`Queue::synchronize`].
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<(), Error> {
        let start = Instant::now();
        if self.idle_within(start, limit, || ())? {
            return self.synchronize();
        }
        Err(Error::Timeout { waited: start.elapsed(), in_flight: self.device().in_flight() })
    }

    /// Whether nothing is left to do, at the latest when `limit` has passed since `start`. Calls `look` now and then while it waits.
    ///
    /// # Errors
    /// As for [`Queue::is_idle`].
    #[doc(hidden)]
    pub fn idle_within(&self, start: Instant, limit: Duration, mut look: impl FnMut()) -> Result<bool, Error> {
        const LONGEST: Duration = Duration::from_millis(1);
        let mut nap = Duration::from_micros(20);
        while !self.is_idle()? {
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            look();
            std::thread::sleep(nap.min(left));
            nap = (nap * 2).min(LONGEST);
        }
        Ok(true)
    }

    /// Whether nothing is left to do. Failures are left to [`Queue::synchronize`].
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_idle(&self) -> Result<bool, Error> {
        self.0.backend.is_idle()
    }

    /// The event happens when everything before has ended.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn record(&self, event: &Event) -> Result<(), Error> {
        self.own(&event.0.device, "the event")?;
        self.0.backend.record(&*event.0.backend)
    }

    /// What comes later in this queue waits for the event's latest recording; one never recorded counts as happened.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.own(&event.0.device, "the event")?;
        self.0.backend.wait(&*event.0.backend)
    }

    /// Calls `f` when everything before has ended, on a thread of the plugin. `f` must be short and must not call the device.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn on_complete(&self, f: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.0.backend.on_complete(f)
    }

    fn own(&self, device: &Device, what: &'static str) -> Result<(), Error> {
        if self.device().is_same(device) { Ok(()) } else { Err(Error::WrongDevice { what }) }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("device", &self.device().info().name).finish()
    }
}

/// A point in a queue that others can wait for. Clones are the same event.
#[derive(Clone)]
pub struct Event(Arc<EventInner>);

struct EventInner {
    device: Device,
    backend: Box<dyn BackendEvent>,
}

impl Event {
    pub(crate) fn new(device: Device, backend: Box<dyn BackendEvent>) -> Self {
        Self(Arc::new(EventInner { device, backend }))
    }

    /// Whether its latest recording happened; one never recorded counts as happened.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_complete(&self) -> Result<bool, Error> {
        self.0.backend.is_complete()
    }

    /// Waits for its latest recording.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.backend.synchronize()
    }

    /// Time on the device from `earlier` to this; `None` unless both were recorded and happened.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn since(&self, earlier: &Event) -> Result<Option<Duration>, Error> {
        if !self.0.device.is_same(&earlier.0.device) {
            return Err(Error::WrongDevice { what: "the earlier event" });
        }
        Ok(self.0.backend.nanoseconds_since(&*earlier.0.backend)?.map(Duration::from_nanos))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("complete", &self.is_complete()).finish()
    }
}
