//! One CUDA context, and the three facts that everything made in it depends on.
//!
//! *Is it open?* `Device::reset` destroys the context under queues, memory and programs that may still be held. Their
//! handles then dangle inside the driver. So each driver call is made through [`Context::enter`], which holds the
//! context open for its duration and refuses once it is closed.
//!
//! *Is it lost?* After a kernel trapped, the driver answers every call with the same error. The context keeps the
//! first one, and refuses later calls without asking the driver.
//!
//! *Is something running?* `cuMemFree`, `cuMemFreeHost` and `cuModuleUnload` wait until the device is idle, and a
//! kernel may be waiting for the very thread that frees, or for one that then wants the driver. So what is released
//! while a stream has work is freed when none has ([`super::quiet`]), by a thread that no device waits for
//! ([`crate::waits`]).
//!
//! The plugin uses the *primary* context of a device. The CUDA runtime and cudarc use the same one, so that pointers,
//! streams and events can be exchanged with them. This also means that a reset, or a trap, ends their work on this
//! device.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, Weak};
use std::time::Duration;

use super::sys;

use super::driver::{Driver, Failed, Status};
use super::fault;
use super::flight::{self, LEFT_IN, Outstanding};
use super::quiet::MayWait;
use super::release::{End, Resource};
use crate::error::Error;
use crate::waits;

/// Every context there is, for [`Context::primary`] and [`Context::destroy`]. Taken before a context's own locks.
static KNOWN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());

/// The number of the next context.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

fn remember(known: &mut Vec<Weak<Context>>, context: &Arc<Context>) {
    known.retain(|context| context.strong_count() > 0);
    known.push(Arc::downgrade(context));
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who destroys the context.
pub(super) enum Owner {
    /// The device's primary context: retained once by this [`Context`].
    Primary,
    /// Somebody else's, kept alive by them or by what is held here (an `Arc<CudaContext>`).
    Borrowed(#[expect(dead_code, reason = "held for its drop")] Option<Box<dyn Any + Send + Sync>>),
}

/// What a lost context answered first.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    pub(super) call: &'static str,
    pub(super) status: Status,
    pub(super) name: String,
    pub(super) text: String,
}

/// See the module's documentation.
pub(super) struct Context {
    pub(super) driver: &'static Driver,
    pub(super) device: sys::CUdevice,
    /// For errors: `cuda:0 (NVIDIA H200)`.
    pub(super) name: String,
    pub(super) raw: sys::CUcontext,
    /// Of this `Context`, for [`Held`]: a driver's handle may be that of a later context, too. Never 0.
    number: u64,
    owner: Owner,
    open: RwLock<bool>,
    pub(super) loss: OnceLock<Loss>,
    /// Copies to and from globals: a stream of its own, so that they pass kernels that run elsewhere.
    pub(super) side: sys::CUstream,
    pub(super) waiting: Mutex<Vec<Resource>>,
    /// Whether the freeing thread was told of them. Relaxed: a hint, and the thread looks at the list itself.
    pub(super) is_told: AtomicBool,
    /// Host memory that somebody can still read through a `Memory`. Changed inside `enter`, read under the write lock,
    /// which orders them.
    pub(super) host_blocks: AtomicUsize,
    /// How many [`Held`] there are. As above.
    holders: AtomicUsize,
    pub(super) outstanding: Arc<Outstanding>,
}

// SAFETY: the raw handles are valid on every thread (each call makes the context current on its own thread first), and
// the rest is Sync.
unsafe impl Send for Context {}
// SAFETY: as above; the driver API is thread-safe.
unsafe impl Sync for Context {}

/// Proof that the context is open and current on this thread, until dropped.
pub(super) struct Entered<'a> {
    pub(super) context: &'a Context,
    pub(super) driver: &'static Driver,
    /// Whether the context is to be popped.
    pushed: bool,
    _open: RwLockReadGuard<'a, bool>,
}

impl Context {
    /// The device's primary context, created if need be. There is one [`Context`] for it at a time, however often the
    /// device is opened, so that a reset knows of everything made in it.
    pub(super) fn primary(driver: &'static Driver, device: sys::CUdevice, name: &str) -> Result<Arc<Context>, Error> {
        let may = MayWait::here().ok_or_else(|| fault::would_wait(name, "opening a device"))?;
        let mut known = lock(&KNOWN);
        let mut raw = std::ptr::null_mut();
        // SAFETY: `device` came from cuDeviceGet.
        unsafe { driver.primary_retain(&mut raw, device) }.map_err(|failed| fault::opening(driver, name, &failed))?;
        let open = known.iter().filter_map(Weak::upgrade).find(|c| c.raw == raw && matches!(c.owner, Owner::Primary) && c.is_open());
        if let Some(context) = open {
            // SAFETY: gives back the retain of just now; `context` has its own.
            unsafe { driver.primary_release(may, device) }.map_err(|failed| fault::call(driver, &failed))?;
            return Ok(context);
        }
        // SAFETY: retained just now, and released only when the context is closed or dropped.
        let context = unsafe { Context::new(driver, device, name, raw, Owner::Primary) }?;
        remember(&mut known, &context);
        Ok(context)
    }

    /// Whether a stream of the context `owner` is of a green context of this device: a part of its processors, with the
    /// memory and the modules of the primary context, which must be this one.
    pub(super) fn has_green(&self, stream: sys::CUstream, owner: sys::CUcontext) -> Result<bool, Error> {
        let may = self.may_wait("asking whose a stream is")?;
        let entered = self.enter()?;
        let (mut green, mut device, mut primary) = (std::ptr::null_mut(), 0, std::ptr::null_mut());
        // SAFETY: out parameters; the stream lives.
        entered.check(unsafe { entered.driver.stream_green(stream, &mut green) })?;
        if green.is_null() {
            return Ok(false);
        }
        // SAFETY: the context of a stream that lives. It is popped again, whatever the device is.
        let asked = unsafe { entered.driver.ctx_push(owner) }.and_then(|()| {
            // SAFETY: an out parameter, each, and what was pushed just now.
            let asked = unsafe { entered.driver.ctx_device(&mut device) };
            // SAFETY: as above.
            unsafe { entered.driver.ctx_pop(&mut std::ptr::null_mut()) }.and(asked)
        });
        entered.check(asked)?;
        // SAFETY: an out parameter, and a device that there is. Given back at once: a stream of its keeps the context.
        let retained = unsafe { entered.driver.primary_retain(&mut primary, self.device) };
        // SAFETY: retained just now.
        entered.check(retained.and_then(|()| unsafe { entered.driver.primary_release(may, self.device) }))?;
        Ok(device == self.device && primary == self.raw)
    }

    /// Somebody else's context, kept alive by them or by `keep`.
    ///
    /// # Safety
    /// `raw` is a context of `device` and outlives the result and everything made from it (or `keep` sees to that).
    pub(super) unsafe fn borrowed(
        driver: &'static Driver,
        device: sys::CUdevice,
        name: &str,
        raw: sys::CUcontext,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Arc<Context>, Error> {
        let mut known = lock(&KNOWN);
        // SAFETY: the caller's.
        let context = unsafe { Context::new(driver, device, name, raw, Owner::Borrowed(keep)) }?;
        remember(&mut known, &context);
        Ok(context)
    }

    /// A context that lives.
    ///
    /// # Safety
    /// `raw` is a context of `device` and outlives the result and everything made from it (or `owner` sees to that).
    unsafe fn new(
        driver: &'static Driver,
        device: sys::CUdevice,
        name: &str,
        raw: sys::CUcontext,
        owner: Owner,
    ) -> Result<Arc<Context>, Error> {
        let mut context = Context {
            driver,
            device,
            name: name.to_owned(),
            raw,
            // Relaxed: each number is given once, and that is all.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            owner,
            open: RwLock::new(true),
            loss: OnceLock::new(),
            side: std::ptr::null_mut(),
            waiting: Mutex::default(),
            is_told: AtomicBool::new(false),
            host_blocks: AtomicUsize::new(0),
            holders: AtomicUsize::new(0),
            outstanding: Arc::default(),
        };
        // If this fails, dropping `context` releases the primary context again.
        let side = {
            let entered = context.enter()?;
            let mut side = std::ptr::null_mut();
            // SAFETY: an out parameter; the context is current.
            entered.check(unsafe { driver.stream_create(&mut side, STREAM_NON_BLOCKING) })?;
            side
        };
        context.side = side;
        Ok(Arc::new(context))
    }

    /// Makes the context current on this thread and keeps it from being destroyed meanwhile.
    pub(super) fn enter(&self) -> Result<Entered<'_>, Error> {
        if let Some(loss) = self.loss.get() {
            return Err(fault::lost(&self.name, loss));
        }
        self.enter_even_if_lost()
    }

    fn enter_even_if_lost(&self) -> Result<Entered<'_>, Error> {
        let mut entered = self.open()?;
        // Even if it is current already: what a thread holds as current since before a reset is another context by the
        // same name.
        entered.push()?;
        Ok(entered)
    }

    /// Keeps the context from being destroyed.
    fn open(&self) -> Result<Entered<'_>, Error> {
        if flight::in_host_function() {
            return Err(fault::in_host_function(&self.name));
        }
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        if !*open {
            return Err(fault::closed(&self.name));
        }
        Ok(Entered { context: self, driver: self.driver, pushed: false, _open: open })
    }

    /// Waits until nobody is in it. Readers do not wait for this one, since they may be asked for by who lets another
    /// reader go on.
    fn write(&self) -> RwLockWriteGuard<'_, bool> {
        loop {
            match self.open.try_write() {
                Ok(open) => return open,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(100)),
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        *self.open.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of a context that was lost, if it was.
    pub(super) fn loss(&self) -> Option<Error> {
        self.loss.get().map(|loss| fault::lost(&self.name, loss))
    }

    /// Asks the driver whether the context is lost.
    pub(super) fn look(&self) -> Result<(), Error> {
        let entered = self.enter()?;
        // SAFETY: a live stream.
        match unsafe { self.driver.stream_query(self.side) } {
            Err(failed) if failed.status != Status::NOT_READY => Err(entered.error(&failed)),
            _ => Ok(()),
        }
    }

    /// A failure of the driver as ours; notes when it means that the context is lost.
    #[cold]
    pub(super) fn error(&self, failed: &Failed) -> Error {
        if failed.status.is_sticky() {
            self.lose(failed);
        }
        match self.loss() {
            Some(lost) => lost,
            None => fault::call(self.driver, failed),
        }
    }

    fn lose(&self, failed: &Failed) {
        let (name, text) = self.driver.describe(failed.status);
        let loss = Loss { call: failed.call, status: failed.status, name, text };
        if self.loss.set(loss).is_ok() {
            // The driver runs no host function in a lost context, so the launches still counted would be counted for
            // ever.
            self.outstanding.settle();
        }
    }

    /// Destroys the context and everything in it, for every user in this process, and refuses all later use of what was
    /// made from it. Waits for calls that are in progress on other threads.
    ///
    /// # Errors
    /// When the context is somebody else's or lent to somebody, host memory allocated in it is still held, or the
    /// driver refuses.
    pub(super) fn destroy(&self) -> Result<(), Error> {
        if let Owner::Borrowed(_) = self.owner {
            return Err(fault::not_ours(&self.name));
        }
        let may = self.may_wait("a reset")?;
        // Held to the end, so that nobody opens the context that is about to go.
        let known = lock(&KNOWN);
        let mut open = self.write();
        if !*open {
            return Err(fault::closed(&self.name));
        }
        let borrowers =
            known.iter().filter_map(Weak::upgrade).filter(|c| c.raw == self.raw && matches!(c.owner, Owner::Borrowed(_))).count();
        // Acquire: pairs with the drop of `Held`.
        let (blocks, holders) = (self.host_blocks.load(Ordering::Relaxed), self.holders.load(Ordering::Acquire));
        if borrowers > 0 || blocks > 0 || holders > 0 {
            // The reset would unmap memory that safe code can still read, and free handles it can still use.
            return Err(fault::in_use(&self.name, borrowers, blocks, holders));
        }
        *open = false;
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        // SAFETY: the device is valid; nobody of ours is inside a call (write lock) nor will be (closed). Other users
        // of the primary context were warned by `Device::reset`. The reset leaves the retain count alone, so our one
        // retain is released as well.
        let reset = unsafe { self.driver.primary_reset(may, self.device) };
        // SAFETY: pairs with the retain in `primary`; not repeated in drop, because the context is closed.
        let released = unsafe { self.driver.primary_release(may, self.device) };
        // What is dropped here may come back to this context, and finds it closed.
        drop((open, known));
        drop(waiting);
        self.outstanding.settle();
        self.outstanding.close();
        // A dead context may answer the reset with its own error and yet be gone. Whether it is, shows when the next
        // one is opened.
        match (reset, released) {
            (Err(failed), Err(_)) => Err(fault::reset(self.driver, &self.name, &failed)),
            _ => Ok(()),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.outstanding.close();
        if !*self.open.get_mut().unwrap_or_else(PoisonError::into_inner) {
            return;
        }
        let waiting = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        let owner = std::mem::replace(&mut self.owner, Owner::Borrowed(None));
        let end = End { driver: self.driver, device: self.device, raw: self.raw, side: self.side, waiting, owner };
        match MayWait::here() {
            Some(may) => end.end(may),
            None => waits::later(move || {
                if let Some(may) = MayWait::here() {
                    end.end(may);
                }
            }),
        }
    }
}

impl Entered<'_> {
    /// Makes the context current until this is dropped.
    fn push(&mut self) -> Result<(), Error> {
        // SAFETY: `raw` is live: owned and open, or lent for as long as the context lives.
        self.check(unsafe { self.driver.ctx_push(self.context.raw) })?;
        self.pushed = true;
        Ok(())
    }

    /// Lets this thread call the driver while another thread, of whatever code, captures a graph: its calls would end
    /// the capture otherwise.
    pub(super) fn relax_capture(&self) {
        let mut mode = sys::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: a place for the former mode.
        self.ignore(unsafe { self.driver.thread_capture_mode(&mut mode) });
    }

    /// A driver result as ours; notes when it means that the context is lost.
    pub(super) fn check(&self, result: Result<(), Failed>) -> Result<(), Error> {
        result.map_err(|failed| self.error(&failed))
    }

    /// As [`Entered::check`], of a failure.
    pub(super) fn error(&self, failed: &Failed) -> Error {
        self.context.error(failed)
    }

    /// For destructors, where there is nobody to tell: records and goes on.
    pub(super) fn ignore(&self, result: Result<(), Failed>) {
        if let Err(failed) = result {
            if failed.status.is_sticky() {
                self.context.lose(&failed);
            }
            tracing::debug!(call = failed.call, status = ?failed.status, "releasing a resource");
        }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = std::ptr::null_mut();
            // SAFETY: an out parameter; pops what `enter` pushed, since everything between them on this thread is
            // balanced.
            if let Err(failed) = unsafe { self.driver.ctx_pop(&mut popped) } {
                tracing::debug!(call = failed.call, status = ?failed.status, "popping the context");
            }
        }
    }
}

/// A context that is not destroyed while this is there: [`Context::destroy`] refuses. Calls through it take no lock,
/// and a thread's first one leaves the context current if the thread had none. Its later ones need neither push and pop
/// a context nor ask what is current, which takes a large part of a launch's time. For APIs whose users expect it:
/// LLVM's Offload library leaves contexts current, too.
pub(super) struct Held(Arc<Context>);

impl Held {
    /// Holds the context that was entered.
    pub(super) fn new(context: &Arc<Context>) -> Result<Held, Error> {
        let _entered = context.enter()?;
        // Relaxed: under the lock, which orders it with `destroy`.
        context.holders.fetch_add(1, Ordering::Relaxed);
        Ok(Held(context.clone()))
    }

    /// Calls the driver with the context current. `explain` makes an error of a failure.
    ///
    /// On a thread on which the context was current before, that is not looked at. Somebody may have made another one
    /// current since. The driver refuses what belongs to this context then, or does it in this context's stream. So a
    /// failure on such a thread may say nothing of this context, and `call` is called again with the context pushed.
    ///
    /// Inlined, and so both are called in one place: results that hold errors are large, and those that go through
    /// memory take a good part of a launch.
    #[inline(always)]
    pub(super) fn call(&self, call: impl Fn(&Driver) -> Result<(), Failed>, explain: impl Fn(&Failed) -> Error) -> Result<(), Error> {
        let is_known = self.0.loss.get().is_none() && LEFT_IN.get() == self.0.number;
        let mut pushed = if is_known { None } else { self.look()? };
        loop {
            let Err(failed) = call(self.0.driver) else { return Ok(()) };
            if pushed.is_some() || !self.is_in_doubt(&failed) {
                return Err(explain(&failed));
            }
            LEFT_IN.set(0);
            pushed = Some(self.0.enter()?);
        }
    }

    /// Whether a failure may be one of another context, or of what this thread has held as current since before a
    /// reset, by this context's name.
    #[cold]
    fn is_in_doubt(&self, failed: &Failed) -> bool {
        let mut current = std::ptr::null_mut();
        // SAFETY: an out parameter.
        let asked = unsafe { self.0.driver.ctx_current(&mut current) };
        asked.is_err()
            || current != self.0.raw
            || matches!(failed.status, Status::INVALID_CONTEXT | Status::CONTEXT_IS_DESTROYED | Status::INVALID_HANDLE)
    }

    /// Looks what is current: the context, if need be for as long as the result lives.
    #[cold]
    fn look(&self) -> Result<Option<Entered<'_>>, Error> {
        if let Some(lost) = self.0.loss() {
            return Err(lost);
        }
        let entered = self.0.open()?;
        let mut current = std::ptr::null_mut();
        // SAFETY: an out parameter.
        entered.check(unsafe { self.0.driver.ctx_current(&mut current) })?;
        if current.is_null() {
            // SAFETY: `raw` is live: owned and open, or lent for as long as the context lives.
            entered.check(unsafe { self.0.driver.ctx_set(self.0.raw) })?;
        } else if current != self.0.raw {
            drop(entered);
            return self.0.enter().map(Some);
        }
        LEFT_IN.set(self.0.number);
        Ok(None)
    }
}

impl std::ops::Deref for Held {
    type Target = Arc<Context>;

    fn deref(&self) -> &Arc<Context> {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Release: pairs with the load in `destroy`: the calls through this are over.
        self.0.holders.fetch_sub(1, Ordering::Release);
    }
}

/// `CU_STREAM_NON_BLOCKING`: does not wait for the legacy default stream, nor it for ours.
pub(super) const STREAM_NON_BLOCKING: u32 = sys::CU_STREAM_NON_BLOCKING;
