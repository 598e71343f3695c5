//! Queues and events: what runs in which order.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hostcall_abi::Plain;
use hostcall_error::Local;

use crate::args::Args;
use crate::backend::{BackendEvent, BackendQueue};
use crate::device::Device;
use crate::error::Error;
use crate::memory::{HostMemory, Memory, bytes_of, bytes_of_mut};
use crate::overdue;
use crate::program::Kernel;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Threads of a workgroup in x, y, z.
    pub group_size: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares. In the simulator only kernels in C can use it.
    pub dynamic_shared: u32,
}

impl Launch {
    /// `groups` workgroups of `group_size` threads, in one dimension.
    pub const fn linear(groups: u32, group_size: u32) -> Self {
        Self { groups: [groups, 1, 1], group_size: [group_size, 1, 1], dynamic_shared: 0 }
    }

    /// At least `threads` threads in one dimension, in workgroups of `group_size`: as many whole workgroups as that
    /// takes.
    ///
    /// `Launch::threads(8, 32)` starts 32 threads. A kernel compares its index with the length of its data, or
    /// `Launch::linear` starts an exact number.
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

/// Work for a device, done in order. Clones are the same queue.
///
/// Dropping the last waits for what is in it, and says what that is when a second has passed. A queue that was *given
/// up* is waited for no longer than that: one whose last wait had a limit, which was too short
/// ([`Queue::synchronize_timeout`], `hostcall::Server::wait_timeout`). What it runs goes on then, until the process
/// ends. So nothing is freed from there on that its kernels may use.
#[derive(Clone)]
pub struct Queue(Arc<Inner>);

struct Inner {
    device: Device,
    /// Dropped by hand: not at all if what is in it is left to itself.
    backend: ManuallyDrop<Box<dyn BackendQueue>>,
    number: u64,
    /// Whether the last wait gave up.
    given_up: AtomicBool,
}

impl Inner {
    /// What is in it, for people.
    fn what_runs(&self) -> String {
        let kernels = self.device.activity().kernels_in(self.number);
        match kernels.len() {
            0 => "work in a queue".to_owned(),
            1 => format!("kernel `{}`", kernels[0]),
            more => format!("{more} kernels, the first of them `{}`", kernels[0]),
        }
    }

    /// Waits for what is in the queue, as far as somebody should. Whether it has ended.
    fn wait(&self) -> bool {
        // A queue that fails has nothing to wait for.
        let Err(idle) = overdue::up_to(overdue::SAY, || self.backend.is_idle().unwrap_or(true)) else { return true };
        // Pairs with the stores in `Queue`. Relaxed: whoever drops the last queue comes after all who had it.
        if self.given_up.load(Ordering::Relaxed) {
            let what = self.what_runs();
            overdue::tell(&format_args!(
                "a queue is dropped, {what} still runs in it, and the last wait for it gave up: it is left to itself until the process ends"
            ));
            return false;
        }
        let what = self.what_runs();
        overdue::tell(&format_args!(
            "a queue is dropped, and waits for {what}, for a second now (`Server::wait_timeout` says which calls have no answer, and a queue whose last \
             wait gave up is not waited for)"
        ));
        let _ = overdue::up_to(Duration::MAX, idle);
        true
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.device.is_here() {
            // A forked child's copy: the queue is the parent's, and so is the thread that works it off.
            return;
        }
        if self.backend.waits_when_dropped() && !self.wait() {
            // Never dropped: it and its device are used for as long as the process lives.
            self.backend.leave_to_itself();
            std::mem::forget(self.device.clone());
            return;
        }
        // SAFETY: dropped this once, and not used any more.
        unsafe { ManuallyDrop::drop(&mut self.backend) };
    }
}

impl Queue {
    /// A queue from a plugin's own object, for example of a stream that was made elsewhere.
    pub(crate) fn from_backend(device: Device, backend: Box<dyn BackendQueue>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: each number is given once, and that is all.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Inner { device, backend: ManuallyDrop::new(backend), number, given_up: AtomicBool::new(false) }))
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
        &**self.0.backend
    }

    /// Starts a kernel and returns.
    ///
    /// # Safety
    /// A kernel is native code that takes these arguments at their word:
    /// * every address and slice among `args` is of memory the device can access, stays allocated until the kernel has
    ///   ended, and has values of the types that the kernel's parameters say;
    /// * lanes and the host do not race on it other than by atomic accesses;
    /// * if the program has no parameter table for the kernel, `args` are the kernel's parameters in number and size.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], [`Error::ArgumentSize`] and [`Error::ArgumentElement`] if the program has a table of
    /// the kernel's parameters, [`Error::ArgumentDevice`], [`Error::NoServer`] if the program links hostcall and is
    /// attached to no server, [`Error::WrongDevice`], [`Error::Launch`] for a shape the device cannot run,
    /// [`Error::DeviceLost`]. What goes wrong later is reported by [`Queue::synchronize`].
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
        let args = args.of(kernel.program());
        let known = (!self.0.backend.is_recording()).then(|| (kernel.shared_name(), &launch));
        self.device().activity().launch(known, self.number(), |ticket| {
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
    /// This knows what the device says of the kernels, and no more. Panics, exits and failed handlers of a program that
    /// is attached to a server are in that server's report: wait with `hostcall::Server::wait`, which returns them.
    ///
    /// # Errors
    /// The first failure of earlier work in this queue that was not reported yet: [`Error::Fault`],
    /// [`Error::DeviceLost`], ….
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device().check_origin()?;
        self.waited(true);
        self.0.backend.synchronize()
    }

    /// A wait was for the end of everything, or has given up.
    fn waited(&self, to_the_end: bool) {
        // Pairs with the load in `Inner::wait`.
        self.0.given_up.store(!to_the_end, Ordering::Relaxed);
    }

    /// As [`Queue::synchronize`], but gives up after `limit`. What is in the queue goes on: nothing is taken back.
    /// Dropping the queue then does not wait for it either, unless a later wait has seen its end.
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

    /// Whether nothing is left to do, at the latest when `limit` has passed since `start`. Calls `look` now and then
    /// while it waits.
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
                self.waited(false);
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
        self.device().check_origin()?;
        self.0.backend.is_idle()
    }

    /// The event happens when everything before has ended.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn record(&self, event: &Event) -> Result<(), Error> {
        self.own(&event.0.device, "the event")?;
        self.0.backend.record(&**event.0.backend)
    }

    /// What comes later in this queue waits for the event's latest recording; one never recorded counts as happened.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::DeviceLost`].
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.own(&event.0.device, "the event")?;
        self.0.backend.wait(&**event.0.backend)
    }

    /// Calls `f` when everything before has ended, on a thread of the plugin. `f` must be short and must not call the
    /// device.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn on_complete(&self, f: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.device().check_origin()?;
        self.0.backend.on_complete(f)
    }

    fn own(&self, device: &Device, what: &'static str) -> Result<(), Error> {
        if self.device().is_same(device) { device.check_origin() } else { Err(Error::WrongDevice { what }) }
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
    backend: Local<Box<dyn BackendEvent>>,
}

impl Event {
    pub(crate) fn new(device: Device, backend: Box<dyn BackendEvent>) -> Self {
        Self(Arc::new(EventInner { device, backend: Local::new(backend) }))
    }

    /// Whether its latest recording happened; one never recorded counts as happened.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_complete(&self) -> Result<bool, Error> {
        self.0.device.check_origin()?;
        self.0.backend.is_complete()
    }

    /// Waits for its latest recording.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.device.check_origin()?;
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
        Ok(self.0.backend.nanoseconds_since(&**earlier.0.backend)?.map(Duration::from_nanos))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("complete", &self.is_complete()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::SimConfig;

    /// A queue with a function in it that returns when it is told to.
    fn held() -> (Device, Queue, mpsc::Sender<()>) {
        let device = Device::sim(SimConfig::default()).unwrap();
        let queue = device.queue().unwrap();
        let (go, gate) = mpsc::channel::<()>();
        queue.on_complete(Box::new(move || _ = gate.recv())).unwrap();
        (device, queue, go)
    }

    #[test]
    fn a_queue_whose_last_wait_gave_up_is_left_to_itself_with_all_memory() {
        let (device, queue, go) = held();
        assert!(matches!(queue.synchronize_timeout(Duration::from_millis(1)), Err(Error::Timeout { .. })));
        // Before the function returns.
        drop(queue);
        // What runs there may use what is dropped now.
        let memory = device.alloc::<u32>(4).unwrap();
        let address = memory.address();
        drop(memory);
        assert_ne!(device.alloc::<u32>(4).unwrap().address(), address);
        let host = device.alloc_host::<u32>(4).unwrap();
        let pointer = host.as_ptr();
        drop(host);
        // SAFETY: it was not unmapped, which is what this is about.
        assert_eq!(unsafe { pointer.read_volatile() }, 0);
        go.send(()).unwrap();
    }

    #[test]
    fn memory_is_free_again_where_no_queue_is_left_to_itself() {
        let (device, queue, go) = held();
        go.send(()).unwrap();
        drop(queue);
        let memory = device.alloc::<u32>(4).unwrap();
        let address = memory.address();
        drop(memory);
        assert_eq!(device.alloc::<u32>(4).unwrap().address(), address);
    }

    #[test]
    fn a_queue_that_was_waited_for_in_the_end_is_waited_for_when_it_is_dropped() {
        let (_device, queue, go) = held();
        assert!(queue.synchronize_timeout(Duration::ZERO).is_err());
        go.send(()).unwrap();
        queue.synchronize().unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let late = done.clone();
        let slow = move || {
            // Longer than a queue is waited for that was given up.
            std::thread::sleep(overdue::SAY + Duration::from_millis(200));
            late.store(true, Ordering::Release);
        };
        queue.on_complete(Box::new(slow)).unwrap();
        drop(queue);
        assert!(done.load(Ordering::Acquire));
    }

    #[test]
    fn a_queue_whose_own_function_drops_it_is_not_waited_for() {
        let device = Device::sim(SimConfig::default()).unwrap();
        let queue = device.queue().unwrap();
        let (tell, told) = mpsc::channel();
        let own = queue.clone();
        queue
            .on_complete(Box::new(move || {
                drop(own);
                tell.send(()).unwrap();
            }))
            .unwrap();
        drop(queue);
        assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(()));
    }
}
