//! What is given back: when, and by which thread.
//!
//! The driver's functions that free wait for the whole device. So what is released while a stream has work is put
//! aside, and freed in a moment of quiet ([`super::quiet`]): by who releases something then, by who allocates, or by
//! the freeing thread ([`crate::waits`]), which looks now and then.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::sys;

use super::context::{Context, Owner, lock};
use super::driver::{Driver, Failed};
use super::fault;
use super::quiet::{self, MayWait, Quiet};
use super::window::Imported;
use crate::error::Error;
use crate::waits;

/// Something whose release waits for the device, or for the driver's lock.
pub(super) enum Resource {
    Device(sys::CUdeviceptr),
    Host(*mut c_void),
    /// Memory of this process that the driver knows.
    #[cfg(target_os = "linux")]
    Registered(super::pages::Pages),
    /// The same of somebody else.
    Foreign(*mut c_void),
    Module(sys::CUmodule),
    /// Memory of Vulkan's.
    Imported(Imported),
    /// Something that uses the driver when it is dropped.
    Any(Box<dyn Any + Send>),
    Event(sys::CUevent),
    Stream(sys::CUstream),
    Graph(sys::CUgraphExec),
}

// SAFETY: handles, valid on every thread; the driver serialises what is done with them.
unsafe impl Send for Resource {}

impl Resource {
    /// Frees it, and goes on whatever the driver says: there is nobody to tell.
    ///
    /// # Safety
    /// Its context is current, and it is nobody else's.
    unsafe fn free(self, driver: &Driver, quiet: Quiet<'_>) -> Result<(), Failed> {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Resource::Device(pointer) => driver.mem_free(quiet, pointer),
                Resource::Host(pointer) => driver.mem_host_free(quiet, pointer),
                #[cfg(target_os = "linux")]
                Resource::Registered(pages) => driver.mem_host_unregister(quiet, pages.start().cast()),
                Resource::Foreign(pointer) => driver.mem_host_unregister(quiet, pointer),
                Resource::Module(module) => driver.module_unload(quiet, module),
                Resource::Imported(imported) => imported.free(driver, quiet),
                Resource::Any(any) => {
                    drop(any);
                    Ok(())
                }
                light => light.destroy(driver, quiet.may_wait()),
            }
        }
    }

    /// Whether it waits for the driver's lock only.
    fn is_light(&self) -> bool {
        matches!(self, Resource::Event(_) | Resource::Stream(_) | Resource::Graph(_))
    }

    /// Destroys what is light.
    ///
    /// # Safety
    /// As for [`Resource::free`].
    unsafe fn destroy(self, driver: &Driver, may: MayWait) -> Result<(), Failed> {
        // SAFETY: the caller's. The driver keeps what is in use until it is not.
        unsafe {
            match self {
                Resource::Event(event) => driver.event_destroy(may, event),
                Resource::Stream(stream) => driver.stream_destroy(may, stream),
                Resource::Graph(graph) => driver.graph_exec_destroy(may, graph),
                _ => Ok(()),
            }
        }
    }
}

impl Context {
    /// Frees `resource`, now if no stream has work and this thread may wait, else when none has (see the module's
    /// documentation). Does not wait for a device.
    pub(super) fn release(self: &Arc<Self>, resource: Resource) {
        if resource.is_light()
            && let Some(may) = MayWait::here()
        {
            // A context that is lost or closed has none of it any more.
            if let Ok(entered) = self.enter() {
                // SAFETY: of this context, given away by its owner.
                entered.ignore(unsafe { resource.destroy(self.driver, may) });
            }
            return;
        }
        lock(&self.waiting).push(resource);
        if !self.free_if_quiet() {
            self.free_later();
        }
    }

    /// Frees what was released, if no stream has work. Whether there is nothing left that could be freed later.
    pub(super) fn free_if_quiet(&self) -> bool {
        let Some(may) = MayWait::here() else { return false };
        // In a lost or closed context it goes on waiting, for the end.
        if lock(&self.waiting).is_empty() || self.loss.get().is_some() || !self.is_open() {
            return true;
        }
        quiet::if_quiet(may, |quiet| self.free_waiting(quiet)).is_some()
    }

    /// Frees what was released, when no stream has work. Waits for that.
    pub(super) fn free_when_quiet(&self) -> Result<(), Error> {
        let may = self.may_wait("freeing memory")?;
        if !lock(&self.waiting).is_empty() && self.loss.get().is_none() {
            quiet::when_quiet(may, |quiet| self.free_waiting(quiet));
        }
        Ok(())
    }

    /// Whether something was released and is not free yet.
    pub(super) fn has_waiting(&self) -> bool {
        !lock(&self.waiting).is_empty()
    }

    /// Has the freeing thread do it.
    fn free_later(self: &Arc<Self>) {
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        let context = Arc::downgrade(self);
        waits::until_done(move || {
            let Some(context) = context.upgrade() else { return true };
            context.is_told.store(false, Ordering::Relaxed);
            // If it is told again meanwhile, that is another attempt's business.
            context.free_if_quiet() || context.is_told.swap(true, Ordering::Relaxed)
        });
    }

    fn free_waiting(&self, quiet: Quiet<'_>) {
        let (any, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut *lock(&self.waiting)).into_iter().partition(|resource| matches!(resource, Resource::Any(_)));
        // These enter the context themselves, and release more.
        drop(any);
        match self.enter() {
            // SAFETY: each was made in this context, is owned by the list it was taken from, and is freed this once.
            Ok(entered) => others.into_iter().for_each(|resource| entered.ignore(unsafe { resource.free(self.driver, quiet) })),
            Err(_) => lock(&self.waiting).extend(others),
        }
    }

    /// Proof that no device waits for this thread, for what may wait for a device.
    pub(super) fn may_wait(&self, what: &'static str) -> Result<MayWait, Error> {
        MayWait::here().ok_or_else(|| fault::would_wait(&self.name, what))
    }
}

/// What is left of a context that nobody uses any more.
pub(super) struct End {
    pub(super) driver: &'static Driver,
    pub(super) device: sys::CUdevice,
    pub(super) raw: sys::CUcontext,
    pub(super) side: sys::CUstream,
    pub(super) waiting: Vec<Resource>,
    pub(super) owner: Owner,
}

// SAFETY: as for the context.
unsafe impl Send for End {}

impl End {
    /// Ends it. A lost context refuses most of this, which is no news, and is released all the same.
    pub(super) fn end(self, may: MayWait) {
        let ignore = |result: Result<(), Failed>| {
            if let Err(failed) = result {
                tracing::debug!(call = failed.call, status = ?failed.status, "at the end of a context");
            }
        };
        // SAFETY: live: owned and open, or lent for as long as `owner` says.
        if unsafe { self.driver.ctx_push(self.raw) }.is_ok() {
            // SAFETY: each was made in this context and is freed this once. Nobody is left to put work into its
            // streams.
            self.waiting.into_iter().for_each(|it| ignore(unsafe { it.free(self.driver, Quiet::at_the_end(may)) }));
            if !self.side.is_null() {
                // SAFETY: made in `Context::new`; nobody else is left to use it.
                ignore(unsafe { self.driver.stream_destroy(may, self.side) });
            }
            let mut popped = std::ptr::null_mut();
            // SAFETY: an out parameter; pops what was pushed above.
            ignore(unsafe { self.driver.ctx_pop(&mut popped) });
        }
        if let Owner::Primary = self.owner {
            // SAFETY: pairs with the retain in `primary`.
            ignore(unsafe { self.driver.primary_release(may, self.device) });
        }
    }
}
