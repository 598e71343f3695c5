//! Queues: a thread each, which does one thing after another.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use hostcall_abi::sim::GROUP_MEMORY_BYTES;

use super::arena::Allocation;
use super::device::Shared;
use super::grid::Run;
use super::image::SimKernel;
use super::pool::Worker;
use crate::activity::Ticket;
use crate::args::{Kept, Params};
use crate::backend::{BackendEvent, BackendKernel, BackendQueue, Span};
use crate::error::Error;
use crate::host::{self, StackSize};
use crate::queue::Launch;

enum Work {
    Launch(Arc<Run>, Kept, Ticket),
    Write(Span, Vec<u8>),
    Copy { to: Span, from: Span },
    Fill(Span, u8),
    Record(Arc<EventState>, u64),
    Wait(Arc<EventState>, u64),
    Call(Box<dyn FnOnce() + Send>),
}

/// A queue of a simulated device.
pub(super) struct SimQueue {
    device: Arc<Shared>,
    shared: Arc<QueueState>,
    thread: Option<JoinHandle<()>>,
}

struct QueueState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    /// Things submitted, and done.
    submitted: u64,
    done: u64,
    /// The first failure that nobody was told of.
    failure: Option<Error>,
    closed: bool,
}

impl SimQueue {
    pub(super) fn new(device: Arc<Shared>) -> Result<Self, Error> {
        let shared = Arc::new(QueueState { state: Mutex::default(), changed: Condvar::new() });
        let theirs = shared.clone();
        // Functions that are put into it run there, and waves of seeded devices, which may help.
        let thread = host::spawn("sim-queue", StackSize::default(), move || theirs.work()).map_err(|error| Error::Backend {
            call: "starting a thread",
            code: error.raw_os_error().unwrap_or(0).into(),
            text: error.to_string(),
        })?;
        Ok(Self { device, shared, thread: Some(thread) })
    }

    fn submit(&self, work: Work) -> Result<(), Error> {
        self.device.check()?;
        let mut state = self.shared.lock();
        state.work.push_back(work);
        state.submitted += 1;
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Waits for all that was submitted so far, and takes the failure.
    fn drain(&self) -> Result<(), Error> {
        let mut state = self.shared.lock();
        let until = state.submitted;
        while state.done < until {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failure.take().map_or(Ok(()), Err)?;
        self.device.check()
    }
}

impl QueueState {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the queue's thread.
    fn work(&self) {
        let mut worker = None;
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                drop(state);
                let result = perform(work, &mut worker);
                state = self.lock();
                state.done += 1;
                if let Err(error) = result {
                    state.failure.get_or_insert(error);
                }
                self.changed.notify_all();
            } else if state.closed {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

fn perform(work: Work, worker: &mut Option<Worker>) -> Result<(), Error> {
    match work {
        Work::Launch(run, kept, ticket) => {
            let worker = match worker {
                Some(worker) => worker,
                None => worker.insert(Worker::new()?),
            };
            let result = run.execute(worker);
            drop(run);
            drop(ticket);
            // Before the launch counts as done: whoever waits for it finds the memory free. What a program keeps is the
            // application's.
            if catch_unwind(AssertUnwindSafe(|| drop(kept))).is_err() {
                tracing::error!("what a program had kept panicked when it was dropped");
            }
            return result;
        }
        // SAFETY: (this and the next two) spans are checked parts of memory that they keep; the sources are other
        // objects or may overlap where `copy` allows it; kernels that touch them meanwhile were launched by `unsafe`
        // code that answers for it.
        Work::Write(to, from) => unsafe { ptr::copy(from.as_ptr(), pointer(&to), to.bytes.min(from.len())) },
        // SAFETY: as above.
        Work::Copy { to, from } => unsafe { ptr::copy(pointer(&from), pointer(&to), to.bytes.min(from.bytes)) },
        Work::Fill(to, byte) => match to.memory.as_any().downcast_ref::<Allocation>() {
            // SAFETY: as above.
            Some(memory) if byte == 0 => unsafe { memory.zero(to.offset, to.bytes) },
            // SAFETY: as above.
            _ => unsafe { ptr::write_bytes(pointer(&to), byte, to.bytes) },
        },
        Work::Record(event, number) => event.happen(number),
        Work::Wait(event, number) => event.wait(number),
        Work::Call(f) => {
            if catch_unwind(AssertUnwindSafe(f)).is_err() {
                tracing::error!("a function given to `Queue::on_complete` panicked");
            }
        }
    }
    Ok(())
}

fn pointer(span: &Span) -> *mut u8 {
    span.memory.host_pointer().wrapping_add(span.offset)
}

impl Drop for SimQueue {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // The thread catches what panics in it.
            drop(thread.join());
        }
        if let Some(error) = self.shared.lock().failure.take() {
            tracing::warn!("a queue was dropped with an error that nobody had collected: {error}");
        }
    }
}

impl BackendQueue for SimQueue {
    unsafe fn launch(&self, kernel: &Arc<dyn BackendKernel>, launch: &Launch, params: &Params, ticket: Ticket) -> Result<(), Error> {
        let Some(sim) = kernel.as_any().downcast_ref::<SimKernel>() else { return Err(Error::WrongDevice { what: "the kernel" }) };
        let (limit, threads) = (self.device.info.max_group_size, launch.group_threads());
        if threads > u64::from(limit) {
            let reason = format!("a workgroup has {threads} threads, and an SM holds at most {limit}; raise the simulator's `waves`");
            return Err(Error::Launch { kernel: sim.name.clone(), reason });
        }
        let (declared, dynamic) = (sim.declared.bytes, launch.dynamic_shared);
        if declared + dynamic as usize > GROUP_MEMORY_BYTES {
            let reason = format!(
                "a workgroup has at most {GROUP_MEMORY_BYTES} bytes of shared memory: the program declares {declared}, the launch asks for {dynamic} more"
            );
            return Err(Error::Launch { kernel: sim.name.clone(), reason });
        }
        let run = Run::new(self.device.clone(), Arc::new(sim.clone()), params.bare(), *launch, ticket.number());
        self.submit(Work::Launch(Arc::new(run), params.kept().clone(), ticket))
    }

    fn copy_to(&self, to: &Span, from: &[u8]) -> Result<(), Error> {
        self.submit(Work::Write(to.clone(), from.to_owned()))
    }

    fn copy_from(&self, to: &mut [u8], from: &Span) -> Result<(), Error> {
        self.drain()?;
        // SAFETY: the span is a checked part of memory that it keeps; what came before in this queue has ended.
        unsafe { ptr::copy(pointer(from), to.as_mut_ptr(), to.len().min(from.bytes)) };
        Ok(())
    }

    fn copy(&self, to: &Span, from: &Span) -> Result<(), Error> {
        self.submit(Work::Copy { to: to.clone(), from: from.clone() })
    }

    fn fill(&self, to: &Span, byte: u8) -> Result<(), Error> {
        self.submit(Work::Fill(to.clone(), byte))
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.drain()
    }

    fn is_idle(&self) -> Result<bool, Error> {
        let state = self.shared.lock();
        Ok(state.done == state.submitted)
    }

    fn waits_when_dropped(&self) -> bool {
        // A function in the queue may own the last of it.
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() != std::thread::current().id())
    }

    fn leave_to_itself(&self) {
        self.device.arena.keep_all();
    }

    fn record(&self, event: &dyn BackendEvent) -> Result<(), Error> {
        let event = own(event)?;
        let number = event.0.request();
        self.submit(Work::Record(event.0.clone(), number))
    }

    fn wait(&self, event: &dyn BackendEvent) -> Result<(), Error> {
        let event = own(event)?;
        let number = event.0.lock().requested;
        self.submit(Work::Wait(event.0.clone(), number))
    }

    fn on_complete(&self, f: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.submit(Work::Call(f))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn own(event: &dyn BackendEvent) -> Result<&SimEvent, Error> {
    event.as_any().downcast_ref().ok_or(Error::WrongDevice { what: "the event" })
}

/// An event of a simulated device.
#[derive(Default)]
pub(super) struct SimEvent(Arc<EventState>);

#[derive(Default)]
struct EventState {
    state: Mutex<Recordings>,
    changed: Condvar,
}

#[derive(Default)]
struct Recordings {
    /// Recordings asked for, and the highest that happened.
    requested: u64,
    happened: u64,
    at: Option<Instant>,
}

impl EventState {
    fn lock(&self) -> MutexGuard<'_, Recordings> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self) -> u64 {
        let mut state = self.lock();
        state.requested += 1;
        state.requested
    }

    fn happen(&self, number: u64) {
        let mut state = self.lock();
        if state.happened < number {
            state.happened = number;
            state.at = Some(Instant::now());
        }
        self.changed.notify_all();
    }

    fn wait(&self, number: u64) {
        let mut state = self.lock();
        while state.happened < number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl BackendEvent for SimEvent {
    fn is_complete(&self) -> Result<bool, Error> {
        let state = self.0.lock();
        Ok(state.happened == state.requested)
    }

    fn synchronize(&self) -> Result<(), Error> {
        let number = self.0.lock().requested;
        self.0.wait(number);
        Ok(())
    }

    fn nanoseconds_since(&self, earlier: &dyn BackendEvent) -> Result<Option<u64>, Error> {
        let time = |event: &Self| {
            let state = event.0.lock();
            if state.happened == state.requested { state.at } else { None }
        };
        let (Some(start), Some(end)) = (time(own(earlier)?), time(self)) else { return Ok(None) };
        Ok(Some(end.saturating_duration_since(start).as_nanos() as u64))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
