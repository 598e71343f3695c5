//! Queues whose work is done in order by a thread of the queue: those of the host, and of AMD's GPUs.
//!
//! The thread starts with the first work and ends when the queue's handle is gone and its work is done. A failure (a
//! fault in the simulator) is kept for the next `synchronize`; work after it is done all the same, as that after a
//! failed copy would be.
//!
//! What is freed or destroyed while work is in queues may be used by it, and stays until that is done ([`retire`]):
//! kernels get addresses of which nobody knows whose they are.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use offload::waits;

use super::grid::GridKernel;
use super::host::HostKernel;
use crate::library::arguments::Given;
use crate::library::backend::{Event, Kernel, Place, Queue, Shape};
use crate::library::error::{Launched, fail};
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// How many threads of queues there are.
#[derive(Debug, Default)]
pub(super) struct Workers {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Workers {
    /// Waits until there are none.
    pub(super) fn wait(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            count = self.changed.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn change(&self, by: isize) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add_signed(by);
        self.changed.notify_all();
    }
}

/// Works that were put into queues of this kind and are not done. SeqCst: who frees memory after work was put in sees
/// it counted.
static OPEN: AtomicU64 = AtomicU64::new(0);

/// All queues of this kind, of all devices: one may use the other's memory.
static QUEUES: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Those that have work that was put in before now.
fn busy() -> Vec<Arc<Shared>> {
    if OPEN.load(Ordering::SeqCst) == 0 {
        return Vec::new();
    }
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    queues.retain(|queue| queue.strong_count() > 0);
    queues.iter().filter_map(Weak::upgrade).collect()
}

/// Drops something that work in queues may use, when everything that is in them now is done.
pub(super) fn retire<T: Send + Sync + 'static>(thing: T) {
    let busy = busy();
    if busy.is_empty() {
        return drop(thing);
    }
    let thing: Kept = Arc::new(thing);
    busy.iter().for_each(|queue| queue.keep(&thing));
}

/// Waits until everything that is in queues now is done.
pub(super) fn wait_for_all() {
    for queue in busy() {
        let mut state = queue.lock();
        let last = state.submitted;
        while state.done < last {
            state = queue.less.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Something that is dropped by another thread where a device may be waiting for this one: what ends a server or
/// unloads a program waits.
pub(super) struct DroppedApart<T: Send + 'static>(pub(super) Option<T>);

impl<T: Send + 'static> Drop for DroppedApart<T> {
    fn drop(&mut self) {
        let thing = self.0.take();
        if waits::may_wait() { drop(thing) } else { waits::later(move || drop(thing)) }
    }
}

/// Something that work may use.
type Kept = Arc<dyn Any + Send + Sync>;

type Work = Box<dyn FnOnce(&mut Lane) -> Result<(), Error> + Send>;

/// What moves bytes: the processor, where it reaches all memory, or a driver.
pub(super) trait Mover: Send + Sync {
    /// # Safety
    /// There are `size` bytes at both addresses.
    unsafe fn copy(&self, to: usize, from: usize, size: usize) -> Result<(), Error>;

    /// # Safety
    /// There are `size` bytes at `to`; `size` is a multiple of the pattern's.
    unsafe fn fill(&self, to: usize, pattern: &[u8], size: usize) -> Result<(), Error>;
}

/// The processor.
pub(super) struct Processor;

impl Mover for Processor {
    unsafe fn copy(&self, to: usize, from: usize, size: usize) -> Result<(), Error> {
        // SAFETY: the caller says that there are as many bytes at both; they may overlap.
        unsafe { ptr::copy(ptr::with_exposed_provenance::<u8>(from), ptr::with_exposed_provenance_mut::<u8>(to), size) };
        Ok(())
    }

    unsafe fn fill(&self, to: usize, pattern: &[u8], size: usize) -> Result<(), Error> {
        let to = ptr::with_exposed_provenance_mut::<u8>(to);
        if let [byte] = *pattern {
            // SAFETY: the caller says that there are as many bytes.
            unsafe { ptr::write_bytes(to, byte, size) };
        } else {
            for offset in (0..size).step_by(pattern.len()) {
                // SAFETY: as above; `size` is a multiple of the pattern's size.
                unsafe { ptr::copy_nonoverlapping(pattern.as_ptr(), to.add(offset), pattern.len()) };
            }
        }
        Ok(())
    }
}

/// A queue's queue of the device below, made when the first kernel with a grid is launched.
#[derive(Default)]
pub(super) struct Lane(Option<offload::Queue>);

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    /// Works put in, and works done. Equal when the queue is idle.
    submitted: u64,
    done: u64,
    failure: Option<Error>,
    /// What is dropped when so many works are done.
    kept: VecDeque<(u64, Kept)>,
    has_worker: bool,
    /// Whether the queue's last owner is gone.
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Told when work comes and when the queue is closed.
    more: Condvar,
    /// Told when work is done.
    less: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps something until what is in the queue now is done.
    fn keep(&self, thing: &Kept) {
        let mut state = self.lock();
        if state.done < state.submitted {
            let last = state.submitted;
            state.kept.push_back((last, thing.clone()));
        }
    }

    /// Does work until the queue is closed.
    fn serve(&self) {
        let mut lane = Lane::default();
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                drop(state);
                let result = catch_unwind(AssertUnwindSafe(|| work(&mut lane)));
                let result =
                    result.unwrap_or_else(|_| fail(ol_errc_t::OL_ERRC_UNKNOWN, "the library panicked while it did a queue's work"));
                state = self.lock();
                state.done += 1;
                OPEN.fetch_sub(1, Ordering::SeqCst);
                if let Err(error) = result {
                    state.failure.get_or_insert(error);
                }
                let done = state.done;
                let over = state.kept.iter().take_while(|(last, _)| *last <= done).count();
                let over: Vec<_> = state.kept.drain(..over).collect();
                self.less.notify_all();
                if !over.is_empty() {
                    drop(state);
                    waits::letting_a_device_go_on(|| drop(over));
                    state = self.lock();
                }
            } else if state.closed {
                return;
            } else {
                state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// See the module's documentation.
pub(super) struct WorkerQueue {
    shared: Arc<Shared>,
    workers: Arc<Workers>,
    mover: &'static dyn Mover,
}

impl WorkerQueue {
    pub(super) fn new(workers: &Arc<Workers>, mover: &'static dyn Mover) -> WorkerQueue {
        let shared = Arc::<Shared>::default();
        QUEUES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&shared));
        WorkerQueue { shared, workers: workers.clone(), mover }
    }

    fn submit(&self, work: Work) -> Result<(), Error> {
        let mut state = self.shared.lock();
        if !state.has_worker {
            let (shared, workers) = (self.shared.clone(), self.workers.clone());
            workers.change(1);
            let started = offload::host::spawn("offload-queue", offload::host::StackSize::default(), move || {
                shared.serve();
                // What the queue's work kept is dropped before its thread counts as gone.
                drop(shared);
                workers.change(-1);
            });
            if let Err(error) = started {
                self.workers.change(-1);
                return fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, format!("cannot start a queue's thread: {error}"));
            }
            state.has_worker = true;
        }
        OPEN.fetch_add(1, Ordering::SeqCst);
        state.work.push_back(work);
        state.submitted += 1;
        drop(state);
        self.shared.more.notify_one();
        Ok(())
    }
}

impl Drop for WorkerQueue {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.more.notify_one();
    }
}

impl Queue for WorkerQueue {
    unsafe fn launch(&self, kernel: &Arc<dyn Kernel>, shape: &Shape, given: &Given) -> Launched {
        let (kernel, shape) = (kernel.clone(), *shape);
        if let Some(host) = kernel.as_any().downcast_ref::<HostKernel>() {
            host.check(&shape)?;
            let (entry, mut arguments) = (host.entry, given.copy());
            let work = Box::new(move |_: &mut Lane| {
                // SAFETY: the caller says that this is a kernel, and that it uses its arguments rightly; `kernel` keeps
                // its code.
                unsafe { entry(arguments.pointers().as_mut_ptr()) };
                drop(kernel);
                Ok(())
            });
            return Ok(self.submit(work)?);
        }
        let Some(grid) = kernel.as_any().downcast_ref::<GridKernel>() else {
            return Ok(fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, "the kernel is not one of the queue's device")?);
        };
        grid.check(&shape, given)?;
        let arguments = given.copy();
        let work = Box::new(move |lane: &mut Lane| {
            let Some(grid) = kernel.as_any().downcast_ref::<GridKernel>() else { return Ok(()) };
            let queue = match &mut lane.0 {
                Some(queue) => queue,
                none => none.insert(grid.queue()?),
            };
            // SAFETY: the caller says that the kernel uses its arguments rightly.
            unsafe { grid.run(queue, &shape, &arguments) }
        });
        Ok(self.submit(work)?)
    }

    unsafe fn copy(&self, to: Place, from: Place, size: usize) -> Result<(), Error> {
        let mover = self.mover;
        self.submit(Box::new(move |_| {
            // SAFETY: the caller says that there are as many bytes at both; `to` and `from` keep those that this
            // library allocated.
            let moved = unsafe { mover.copy(to.address, from.address, size) };
            drop((to, from));
            moved
        }))
    }

    unsafe fn fill(&self, to: Place, pattern: &[u8], size: usize) -> Result<(), Error> {
        let (mover, pattern) = (self.mover, pattern.to_vec());
        self.submit(Box::new(move |_| {
            // SAFETY: the caller says that there are as many bytes; `to` keeps them if this library allocated them.
            let filled = unsafe { mover.fill(to.address, &pattern, size) };
            drop(to);
            filled
        }))
    }

    fn prefetch(&self, _address: usize, _size: usize, _to_host: bool) -> Result<(), Error> {
        // It is where it is used.
        Ok(())
    }

    fn call(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.submit(Box::new(move |_| {
            function();
            Ok(())
        }))
    }

    fn record(&self, _timed: bool) -> Result<Arc<dyn Event>, Error> {
        let event = Arc::new(WorkerEvent::default());
        let recorded = event.clone();
        self.submit(Box::new(move |_| {
            recorded.happen();
            Ok(())
        }))?;
        Ok(event)
    }

    fn wait(&self, event: &Arc<dyn Event>) -> Result<(), Error> {
        let event = event.clone();
        self.submit(Box::new(move |_| event.synchronize()))
    }

    fn synchronize(&self) -> Result<(), Error> {
        let mut state = self.shared.lock();
        let last = state.submitted;
        while state.done < last {
            state = self.shared.less.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failure.take().map_or(Ok(()), Err)
    }

    fn is_idle(&self) -> Result<bool, Error> {
        let state = self.shared.lock();
        Ok(state.done == state.submitted)
    }
}

/// An event of a queue of the host.
#[derive(Default)]
struct WorkerEvent {
    happened: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl WorkerEvent {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.happened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn happen(&self) {
        *self.lock() = Some(Instant::now());
        self.changed.notify_all();
    }
}

impl Event for WorkerEvent {
    fn is_complete(&self) -> Result<bool, Error> {
        Ok(self.lock().is_some())
    }

    fn synchronize(&self) -> Result<(), Error> {
        let mut happened = self.lock();
        while happened.is_none() {
            happened = self.changed.wait(happened).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    fn milliseconds_since(&self, earlier: &dyn Event) -> Result<Option<f32>, Error> {
        let Some(earlier) = earlier.as_any().downcast_ref::<WorkerEvent>() else { return Ok(None) };
        // One after the other: they may be the same event.
        let start = *earlier.lock();
        let end = *self.lock();
        let (Some(start), Some(end)) = (start, end) else { return Ok(None) };
        let span = end.saturating_duration_since(start).as_secs_f64() - start.saturating_duration_since(end).as_secs_f64();
        Ok(Some((span * 1e3) as f32))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
