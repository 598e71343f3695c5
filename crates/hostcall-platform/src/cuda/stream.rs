//! A queue: a stream that waits for no other stream, launches that are counted, copies that leave no host memory
//! borrowed.

use std::any::Any;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::sys;

use super::context::{Context, Entered, STREAM_NON_BLOCKING};
use super::driver::Status;
use super::event::Event;
use super::fault;
use super::flight::{Id, Outstanding, Pending, reached};
use super::graph::{Graph, Recorded};
use super::module::Function;
use super::release::Resource;
use crate::args::Params;
use crate::backend::{BackendEvent, BackendGraph, BackendKernel, BackendMemory, BackendQueue, Span, Ticket};
use crate::error::Error;
use crate::queue::Launch;
use crate::waits;

/// How long `synchronize` asks before it sleeps. Waking a sleeper costs tens of microseconds, which a short kernel
/// should not pay; a long one should not burn a core. The choice is made here, per call, and not by the context's
/// scheduling flags, which belong to every user of the primary context.
const SPIN: Duration = Duration::from_micros(50);

/// See the module's documentation.
pub(super) struct Stream {
    context: Arc<Context>,
    raw: sys::CUstream,
    owned: bool,
    /// Held for its drop.
    keep: Option<Box<dyn Any + Send + Sync>>,
    /// What `synchronize` sleeps on. One thread at a time: what is slept on is not recorded again meanwhile.
    marker: Mutex<Event>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was recorded since `begin_capture`; `None` when not capturing.
    capture: Option<Recorded>,
    /// Memory that copies and fills still use, until the stream is known to be idle.
    used: Vec<Arc<dyn BackendMemory>>,
    /// Launches whose host function could not be queued: ended by the next `synchronize` instead.
    owed: Vec<Id>,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Stream, Error> {
        let marker = Mutex::new(Event::untimed(context)?);
        let mut raw = std::ptr::null_mut();
        {
            let entered = context.enter()?;
            // SAFETY: an out parameter; the context is current.
            entered.check(unsafe { entered.driver.stream_create(&mut raw, STREAM_NON_BLOCKING) })?;
        }
        Ok(Stream { context: context.clone(), raw, owned: true, keep: None, marker, state: Mutex::default() })
    }

    /// Somebody else's stream.
    ///
    /// # Safety
    /// `raw` is a live stream (null: the context's legacy default stream) and outlives the result (or `keep` sees to
    /// that).
    pub(super) unsafe fn borrowed(
        context: &Arc<Context>,
        raw: sys::CUstream,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Stream, Error> {
        let mut owner = std::ptr::null_mut();
        {
            let entered = context.enter()?;
            // SAFETY: an out parameter; the caller's stream.
            entered.check(unsafe { entered.driver.stream_context(raw, &mut owner) })?;
        }
        if owner != context.raw && !context.has_green(raw, owner)? {
            return Err(Error::WrongDevice { what: "the stream" });
        }
        Ok(Stream {
            context: context.clone(),
            raw,
            owned: false,
            keep,
            marker: Mutex::new(Event::untimed(context)?),
            state: Mutex::default(),
        })
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.raw
    }

    /// Runs `launch`, which launches on this stream by other means, and counts until what it launched has ended.
    pub(super) fn track<R>(&self, ticket: Ticket, launch: impl FnOnce() -> R) -> Result<R, Error> {
        // Not entered yet: `launch` may be code that resets a device or takes locks of its own.
        let id = self.context.await_end(Pending::Launch(ticket));
        let result = launch();
        let queued = self.enter_uncaptured("tracked work").and_then(|entered| self.call_when_reached(&entered, id));
        if queued.is_err() {
            drop(self.context.outstanding.take(id));
        }
        queued.map(|()| result)
    }

    /// # Safety
    /// As [`BackendQueue::launch`].
    unsafe fn launch_function(&self, entered: &Entered<'_>, function: &Function, launch: &Launch, params: &Params) -> Result<(), Error> {
        function.allow_dynamic_shared(entered, launch.dynamic_shared)?;
        let bytes = params.bytes();
        let mut pointers: Vec<*mut c_void> =
            params.list().iter().map(|&(at, size)| bytes[at..at + size].as_ptr().cast_mut().cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (launch.groups, launch.group_size);
        // SAFETY: live handles; the driver copies each parameter, whose number and sizes are the caller's duty, before
        // it returns.
        let launched = unsafe {
            entered.driver.launch_kernel(
                function.raw,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                launch.dynamic_shared,
                self.raw,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        launched.map_err(|failed| match failed.status {
            Status::INVALID_VALUE | Status::LAUNCH_OUT_OF_RESOURCES => {
                fault::launch(&function.name, launch, function.info(), entered.driver, &failed)
            }
            _ => entered.error(&failed),
        })
    }

    /// Runs `launch` with its ticket in the table, and has the ticket dropped when it has ended.
    fn counted(&self, entered: &Entered<'_>, ticket: Ticket, launch: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let id = self.context.await_end(Pending::Launch(ticket));
        if let Err(error) = launch() {
            drop(self.context.outstanding.take(id));
            return Err(error);
        }
        if let Err(failed) = self.call_when_reached(entered, id) {
            // It runs all the same, so the launch succeeded. (If the context is lost, its table was just emptied.)
            tracing::warn!(error = %failed, "no host function behind a launch; counted until its queue is synchronised");
            self.lock().owed.push(id);
        }
        Ok(())
    }

    fn call_when_reached(&self, entered: &Entered<'_>, id: Id) -> Result<(), Error> {
        let data = self.context.outstanding.data(id);
        // SAFETY: `reached` takes this data, once.
        if let Err(failed) = unsafe { entered.driver.launch_host_fn(self.raw, reached, data) } {
            // SAFETY: not queued.
            unsafe { Outstanding::discard(data) };
            return Err(entered.error(&failed));
        }
        Ok(())
    }

    /// Keeps `memory` until what was just queued is done with it.
    fn keep(&self, memory: &[&Arc<dyn BackendMemory>]) {
        let mut state = self.lock();
        let State { capture, used, .. } = &mut *state;
        let list = capture.as_mut().map_or(used, |recorded| &mut recorded.memory);
        for &memory in memory {
            if !list.iter().any(|kept| Arc::ptr_eq(kept, memory)) {
                list.push(memory.clone());
            }
        }
    }

    /// Waits until the stream is idle: asks for [`SPIN`], then sleeps.
    pub(super) fn wait_idle(&self, entered: &Entered<'_>) -> Result<(), Error> {
        let may = self.context.may_wait("waiting for a queue")?;
        let start = Instant::now();
        while start.elapsed() < SPIN {
            if self.query(entered)? {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let marker = match self.marker.try_lock() {
            Ok(marker) => Some(marker),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            // Another thread sleeps on it.
            Err(TryLockError::WouldBlock) => None,
        };
        let mut own = std::ptr::null_mut();
        let event = match &marker {
            Some(marker) => Ok(marker.raw),
            // SAFETY: an out parameter; the context is current.
            None => unsafe { entered.driver.event_create(&mut own, Event::UNTIMED) }.map(|()| own),
        };
        // SAFETY: live handles.
        let recorded = event.and_then(|event| unsafe { entered.driver.event_record(event, self.raw) }.map(|()| event));
        let waited = match recorded {
            // SAFETY: live handle.
            Ok(event) => entered.check(unsafe { entered.driver.event_synchronize(may, event) }),
            // Whoever waits may have lent memory to a copy, so there is no way around waiting.
            // SAFETY: live handle.
            Err(_) => entered.check(unsafe { entered.driver.stream_synchronize(may, self.raw) }),
        };
        if !own.is_null() {
            // SAFETY: made just now, and destroyed this once.
            entered.ignore(unsafe { entered.driver.event_destroy(may, own) });
        }
        waited
    }

    fn query(&self, entered: &Entered<'_>) -> Result<bool, Error> {
        // SAFETY: live handle.
        match unsafe { entered.driver.stream_query(self.raw) } {
            Ok(()) => Ok(true),
            Err(failed) if failed.status == Status::NOT_READY => Ok(false),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    /// Enters the context for something that cannot be recorded, and would spoil a capture.
    fn enter_uncaptured(&self, what: &str) -> Result<Entered<'_>, Error> {
        if self.lock().capture.is_some() {
            return Err(fault::capturing(what));
        }
        self.context.enter()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackendQueue for Stream {
    unsafe fn launch(&self, kernel: &Arc<dyn BackendKernel>, launch: &Launch, params: &Params, ticket: Ticket) -> Result<(), Error> {
        let function = kernel.as_any().downcast_ref::<Function>();
        let function =
            function.filter(|f| Arc::ptr_eq(&f.module.context, &self.context)).ok_or(Error::WrongDevice { what: "the kernel" })?;
        let entered = self.context.enter()?;
        let mut state = self.lock();
        if let Some(recorded) = state.capture.as_mut() {
            // Recorded, not run: the ticket goes, and each launch of the graph brings its own.
            // SAFETY: the caller's.
            unsafe { self.launch_function(&entered, function, launch, params) }?;
            recorded.kernels.push(kernel.clone());
            return Ok(());
        }
        drop(state);
        // SAFETY: the caller's.
        self.counted(&entered, ticket, || unsafe { self.launch_function(&entered, function, launch, params) })
    }

    fn copy_to(&self, to: &Span, from: &[u8]) -> Result<(), Error> {
        self.context.may_wait("a copy from borrowed host memory")?;
        let entered = self.enter_uncaptured("a copy from borrowed host memory")?;
        // SAFETY: the span was checked against its memory; `from` is borrowed until the copy has ended, which is waited
        // for below.
        entered.check(unsafe { entered.driver.memcpy_to_device(to.address(), from.as_ptr().cast(), from.len(), self.raw) })?;
        self.wait_idle(&entered)
    }

    fn copy_from(&self, to: &mut [u8], from: &Span) -> Result<(), Error> {
        self.context.may_wait("a copy to borrowed host memory")?;
        let entered = self.enter_uncaptured("a copy to borrowed host memory")?;
        // SAFETY: as in `copy_to`.
        entered.check(unsafe { entered.driver.memcpy_to_host(to.as_mut_ptr().cast(), from.address(), to.len(), self.raw) })?;
        self.wait_idle(&entered)
    }

    fn copy(&self, to: &Span, from: &Span) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the spans were checked against their memories, which are kept until the stream is idle. (All memory
        // of the plugin is in one address space, so this is right for pinned host memory too.)
        entered.check(unsafe { entered.driver.memcpy(to.address(), from.address(), to.bytes.min(from.bytes), self.raw) })?;
        self.keep(&[&to.memory, &from.memory]);
        Ok(())
    }

    fn fill(&self, to: &Span, byte: u8) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the span was checked against its memory, which is kept until the stream is idle.
        entered.check(unsafe { entered.driver.memset_d8(to.address(), byte, to.bytes, self.raw) })?;
        self.keep(&[&to.memory]);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.context.may_wait("waiting for a queue")?;
        let mut state = self.lock();
        if state.capture.is_some() {
            return Err(fault::capturing("waiting for the queue"));
        }
        // What was queued before the wait; what other threads queue meanwhile stays in the state.
        let (used, owed) = (std::mem::take(&mut state.used), std::mem::take(&mut state.owed));
        drop(state);
        let entered = self.context.enter()?;
        let waited = self.wait_idle(&entered);
        for id in owed {
            drop(self.context.outstanding.take(id));
        }
        drop((entered, used));
        if waited.is_ok() {
            self.context.free_if_quiet();
        }
        waited
    }

    fn is_idle(&self) -> Result<bool, Error> {
        let entered = self.enter_uncaptured("asking whether the queue is idle")?;
        self.query(&entered)
    }

    fn waits_when_dropped(&self) -> bool {
        self.owned || !self.lock().used.is_empty()
    }

    fn record(&self, event: &dyn BackendEvent) -> Result<(), Error> {
        let event = Event::of(&self.context, event, "the event")?;
        let entered = self.context.enter()?;
        // SAFETY: live handles.
        entered.check(unsafe { entered.driver.event_record(event.raw, self.raw) })
    }

    fn wait(&self, event: &dyn BackendEvent) -> Result<(), Error> {
        let event = Event::of(&self.context, event, "the event")?;
        let entered = self.context.enter()?;
        // SAFETY: live handles.
        entered.check(unsafe { entered.driver.stream_wait_event(self.raw, event.raw, 0) })
    }

    fn on_complete(&self, f: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        // A recorded host function would be called at each launch of the graph, and `f` can be called once.
        let entered = self.enter_uncaptured("a completion")?;
        let id = self.context.await_end(Pending::Call(f));
        let queued = self.call_when_reached(&entered, id);
        // What `f` holds may enter the context when dropped, so not under this guard.
        drop(entered);
        queued.inspect_err(|_| drop(self.context.outstanding.take(id)))
    }

    fn begin_capture(&self) -> Result<(), Error> {
        let entered = self.context.enter()?;
        let mut state = self.lock();
        if state.capture.is_some() {
            return Err(fault::capturing("a capture"));
        }
        // Relaxed: a queue may be handed to another thread between begin and end, and nothing that other code does
        // meanwhile is refused.
        let mode = sys::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: live handle.
        entered.check(unsafe { entered.driver.stream_begin_capture(self.raw, mode) })?;
        state.capture = Some(Recorded::default());
        Ok(())
    }

    fn is_recording(&self) -> bool {
        self.lock().capture.is_some()
    }

    fn end_capture(&self) -> Result<Arc<dyn BackendGraph>, Error> {
        let may = self.context.may_wait("making a graph")?;
        let Some(recorded) = self.lock().capture.take() else { return Err(fault::not_capturing()) };
        let raw = {
            let entered = self.context.enter()?;
            let mut graph = std::ptr::null_mut();
            // SAFETY: live handle, an out parameter.
            entered.check(unsafe { entered.driver.stream_end_capture(self.raw, &mut graph) })?;
            // SAFETY: the graph just captured.
            unsafe { Graph::instantiate(&entered, may, graph) }?
        };
        Ok(Arc::new(Graph::new(&self.context, raw, recorded)))
    }

    unsafe fn launch_graph(&self, graph: &Arc<dyn BackendGraph>, ticket: Ticket) -> Result<(), Error> {
        let graph = graph.as_any().downcast_ref::<Graph>();
        let graph = graph.filter(|g| Arc::ptr_eq(&g.context, &self.context)).ok_or(Error::WrongDevice { what: "the graph" })?;
        let entered = self.enter_uncaptured("the launch of a graph")?;
        // SAFETY: live handles; what its kernels do is the caller's duty.
        self.counted(&entered, ticket, || entered.check(unsafe { entered.driver.graph_launch(graph.raw, self.raw) }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let (raw, used) = (self.owned.then_some(self.raw), std::mem::take(&mut self.lock().used));
        if waits::may_wait() {
            if self.lock().capture.is_some() {
                drop(self.end_capture());
            }
            // A lost device answers at once.
            if (self.owned || !used.is_empty())
                && let Err(error) = self.synchronize()
            {
                tracing::debug!(%error, "dropping a queue");
            }
            if let Some(raw) = raw {
                self.context.release(Resource::Stream(raw));
            }
        } else if self.owned || !used.is_empty() {
            // What it is in use for is over when no stream has work.
            let (keep, owed) = (self.keep.take(), std::mem::take(&mut self.lock().owed));
            self.context.release(Resource::Any(Box::new(Abandoned { context: self.context.clone(), raw, owed, _used: used, _keep: keep })));
        }
    }
}

/// What is left of a queue that was dropped where nothing may wait for it.
struct Abandoned {
    context: Arc<Context>,
    raw: Option<sys::CUstream>,
    owed: Vec<Id>,
    _used: Vec<Arc<dyn BackendMemory>>,
    _keep: Option<Box<dyn Any + Send + Sync>>,
}

// SAFETY: as for the stream.
unsafe impl Send for Abandoned {}

impl Drop for Abandoned {
    fn drop(&mut self) {
        for id in self.owed.drain(..) {
            drop(self.context.outstanding.take(id));
        }
        if let Some(raw) = self.raw {
            self.context.release(Resource::Stream(raw));
        }
    }
}
