//! A queue: a stream that waits for no other, launches with their count, copies that leave no host memory borrowed.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys;

use super::context::{Context, Entered, STREAM_NON_BLOCKING};
use super::driver::Status;
use super::event::{Event, UNTIMED};
use super::flight::{Completion, complete, finished};
use super::graph::Graph;
use super::module::Function;
use super::fault;
use crate::error::Error;

/// How long `synchronize` asks before it sleeps. Waking a sleeper costs tens of microseconds, which a short kernel should not pay; a long one
/// should not burn a core. The choice is made here, per call, and not by the context's scheduling flags, which belong to every user of the
/// primary context.
const SPIN: Duration = Duration::from_micros(50);

/// See the module's documentation.
pub(super) struct Stream {
    pub(super) context: Arc<Context>,
    raw: sys::CUstream,
    owned: bool,
    /// What `synchronize` sleeps on.
    marker: Event,
    /// Kernels recorded since `begin_capture`; `None` when not capturing.
    capture: Mutex<Option<u64>>,
    /// Launches whose host function could not be queued: taken off the count by the next `synchronize` instead.
    owed: AtomicU64,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// Groups, threads per group, dynamic shared bytes of a launch.
pub(super) struct Shape {
    pub(super) groups: [u32; 3],
    pub(super) group_size: [u32; 3],
    pub(super) dynamic_shared: u32,
}

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Stream, Error> {
        let marker = Event::new(context, UNTIMED)?;
        let entered = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: an out parameter; the context is current.
        entered.check(unsafe { entered.driver.stream_create(&mut raw, STREAM_NON_BLOCKING) })?;
        drop(entered);
        Ok(Stream { context: context.clone(), raw, owned: true, marker, capture: Mutex::default(), owed: AtomicU64::new(0) })
    }

    /// Somebody else's stream.
    ///
    /// # Safety
    /// `raw` is a stream of `context` (null: its legacy default stream) and outlives the result.
    pub(super) unsafe fn borrowed(context: &Arc<Context>, raw: sys::CUstream) -> Result<Stream, Error> {
        let marker = Event::new(context, UNTIMED)?;
        Ok(Stream { context: context.clone(), raw, owned: false, marker, capture: Mutex::default(), owed: AtomicU64::new(0) })
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.raw
    }

    /// Launches, counted. `params` points at each parameter's value.
    ///
    /// # Safety
    /// `params` matches the kernel's parameters; the kernel is sound with them.
    pub(super) unsafe fn launch(&self, function: &Function, shape: &Shape, params: &mut [*mut c_void]) -> Result<(), Error> {
        let mut capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        let entered = self.context.enter()?;
        function.allow_dynamic_shared(&entered, shape.dynamic_shared)?;
        if let Some(kernels) = capture.as_mut() {
            // SAFETY: the caller's.
            unsafe { self.launch_raw(&entered, function, shape, params) }?;
            *kernels += 1;
            return Ok(());
        }
        drop(capture);
        // Before the launch: the kernel may call before `cuLaunchKernel` returns, and the server must be awake by then.
        self.context.outstanding.begin();
        // SAFETY: the caller's.
        if let Err(error) = unsafe { self.launch_raw(&entered, function, shape, params) } {
            self.context.outstanding.end();
            return Err(error);
        }
        self.count_down_behind(&entered);
        Ok(())
    }

    /// # Safety
    /// As [`Stream::launch`].
    unsafe fn launch_raw(&self, entered: &Entered<'_>, function: &Function, shape: &Shape, params: &mut [*mut c_void]) -> Result<(), Error> {
        let ([gx, gy, gz], [bx, by, bz]) = (shape.groups, shape.group_size);
        // SAFETY: live handles; the parameters are the caller's duty.
        let launched = unsafe {
            entered.driver.launch_kernel(
                function.raw(),
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shape.dynamic_shared,
                self.raw,
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        launched.map_err(|failed| match failed.status {
            Status::INVALID_VALUE | Status::LAUNCH_OUT_OF_RESOURCES => fault::launch(function.name(), shape, function.info(), &failed),
            _ => entered.error(&failed),
        })
    }

    /// Has the launch just made counted down when it ends.
    pub(super) fn count_down_behind(&self, entered: &Entered<'_>) {
        let token = self.context.outstanding.token();
        // SAFETY: `finished` takes this token, once.
        if let Err(failed) = unsafe { entered.driver.launch_host_fn(self.raw, finished, token) } {
            // SAFETY: not queued, so the token's reference is still ours to give back.
            drop(unsafe { Arc::from_raw(token.cast::<super::flight::Outstanding>().cast_const()) });
            // The kernel runs all the same, so the launch succeeded.
            self.owed.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(error = %entered.error(&failed), "no host function behind a launch; counted until the queue is synchronised");
        }
    }

    /// Copies in the queue's order, and returns when the host memory is no longer read.
    ///
    /// # Safety
    /// `to` is `from.len()` bytes of device-visible memory that nothing uses at that point of the queue.
    pub(super) unsafe fn copy_to_device(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        let entered = self.enter_uncaptured("a copy from borrowed host memory")?;
        // SAFETY: `from` is borrowed until the copy has finished: the wait below is unconditional.
        entered.check(unsafe { entered.driver.memcpy_to_device(to, from.as_ptr().cast(), from.len(), self.raw) })?;
        self.wait(&entered)
    }

    /// Copies in the queue's order, and returns when the bytes are there.
    ///
    /// # Safety
    /// `from` is `to.len()` bytes of device-visible memory that nothing writes at that point of the queue.
    pub(super) unsafe fn copy_to_host(&self, to: &mut [u8], from: u64) -> Result<(), Error> {
        let entered = self.enter_uncaptured("a copy to borrowed host memory")?;
        // SAFETY: `to` is borrowed until the copy has finished: the wait below is unconditional.
        entered.check(unsafe { entered.driver.memcpy_to_host(to.as_mut_ptr().cast(), from, to.len(), self.raw) })?;
        self.wait(&entered)
    }

    /// Copies between two device-visible ranges, in the queue's order; returns at once.
    ///
    /// # Safety
    /// Both ranges stay allocated until then, and nothing else uses them at that point of the queue.
    pub(super) unsafe fn copy_on_device(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the caller's.
        entered.check(unsafe { entered.driver.memcpy_on_device(to, from, bytes, self.raw) })
    }

    /// Sets bytes, in the queue's order; returns at once.
    ///
    /// # Safety
    /// The range stays allocated until then, and nothing else uses it at that point of the queue.
    pub(super) unsafe fn fill(&self, to: u64, value: u8, bytes: usize) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the caller's.
        entered.check(unsafe { entered.driver.memset_d8(to, value, bytes, self.raw) })
    }

    /// Returns when everything queued so far has finished: asks for [`SPIN`], then sleeps.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        let entered = self.enter_uncaptured("synchronize")?;
        self.wait(&entered)?;
        for _ in 0..self.owed.swap(0, Ordering::Relaxed) {
            self.context.outstanding.end();
        }
        entered.free_waiting_if_idle();
        Ok(())
    }

    fn wait(&self, entered: &Entered<'_>) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < SPIN {
            if self.query(entered)? {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        // SAFETY: live handles.
        entered.check(unsafe { entered.driver.event_record(self.marker.raw, self.raw) })?;
        // Another thread may record the marker again meanwhile; the driver waits for what was recorded when it was asked.
        // SAFETY: live handle.
        entered.check(unsafe { entered.driver.event_synchronize(self.marker.raw) })
    }

    fn query(&self, entered: &Entered<'_>) -> Result<bool, Error> {
        // SAFETY: live handle.
        match unsafe { entered.driver.stream_query(self.raw) } {
            Ok(()) => Ok(true),
            Err(failed) if failed.status == Status::NOT_READY => Ok(false),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    pub(super) fn is_idle(&self) -> Result<bool, Error> {
        let entered = self.enter_uncaptured("is_idle")?;
        self.query(&entered)
    }

    pub(super) fn record(&self, event: &Event) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: live handles; the driver refuses an event of another context.
        entered.check(unsafe { entered.driver.event_record(event.raw, self.raw) })
    }

    /// Later work in this queue waits for the event, which may be another device's.
    pub(super) fn wait_for(&self, event: &Event) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: live handles.
        entered.check(unsafe { entered.driver.stream_wait_event(self.raw, event.raw, 0) })
    }

    /// Calls `completion` on a driver thread when everything queued so far has finished; drops it uncalled when the device is lost.
    pub(super) fn on_complete(&self, completion: Completion) -> Result<(), Error> {
        // A captured host function would be called at each launch of the graph, and a completion can be called once.
        let entered = self.enter_uncaptured("on_complete")?;
        let outstanding = &self.context.outstanding;
        let (id, data) = outstanding.expect(completion);
        // SAFETY: `complete` takes this data, once.
        if let Err(failed) = unsafe { entered.driver.launch_host_fn(self.raw, complete, data) } {
            // SAFETY: not queued, so still ours.
            drop(unsafe { Box::from_raw(data.cast::<(Arc<super::flight::Outstanding>, u64)>()) });
            drop(outstanding.take(id));
            return Err(entered.error(&failed));
        }
        Ok(())
    }

    /// From here to [`Stream::end_capture`], launches, copies on the device, fills and events are recorded instead of run.
    pub(super) fn begin_capture(&self) -> Result<(), Error> {
        let mut capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.is_some() {
            return Err(fault::capturing("begin_capture"));
        }
        let entered = self.context.enter()?;
        // Thread-local: what other threads do meanwhile (allocate, load) is neither recorded nor refused.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL as i32;
        // SAFETY: live handle.
        entered.check(unsafe { entered.driver.stream_begin_capture(self.raw, mode) })?;
        *capture = Some(0);
        Ok(())
    }

    pub(super) fn end_capture(&self) -> Result<Graph, Error> {
        let mut capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kernels) = capture.take() else { return Err(fault::not_capturing()) };
        let entered = self.context.enter()?;
        let mut graph = std::ptr::null_mut();
        // SAFETY: live handle, an out parameter.
        entered.check(unsafe { entered.driver.stream_end_capture(self.raw, &mut graph) })?;
        Graph::instantiate(&self.context, &entered, graph, kernels)
    }

    /// Runs a graph in this queue's order, counted as one launch (if there is a kernel in it).
    pub(super) fn launch_graph(&self, graph: &Graph) -> Result<(), Error> {
        let entered = self.enter_uncaptured("launching a graph")?;
        self.context.outstanding.begin();
        if let Err(error) = graph.launch(&entered, self.raw) {
            self.context.outstanding.end();
            return Err(error);
        }
        self.count_down_behind(&entered);
        Ok(())
    }

    /// Enters the context for something that cannot be part of a captured graph, and would spoil the capture.
    fn enter_uncaptured(&self, what: &'static str) -> Result<Entered<'_>, Error> {
        if self.capture.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Err(fault::capturing(what));
        }
        self.context.enter()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        if let Ok(entered) = self.context.enter() {
            // SAFETY: made in `new`, destroyed this once; the driver lets queued work finish first.
            entered.ignore(unsafe { entered.driver.stream_destroy(self.raw) });
        }
    }
}
