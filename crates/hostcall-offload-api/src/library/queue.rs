//! Queues, and the rule for functions that run in them.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use super::Owner;
use super::arguments::Given;
use super::backend::{self, Kernel, Shape};
use super::device::Device;
use super::error::{Launched, fail};
use super::host_calls::Calls;
use super::leaks::Origin;
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// What a queue's handle names.
pub(super) struct Queue {
    pub(super) device: &'static Device,
    pub(super) driver: Arc<dyn backend::Queue>,
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "LLVM 23 has no contexts"))]
    pub(super) owner: Owner,
    /// Programs that call the host, of which kernels were launched since the queue was last waited for.
    calling: Mutex<Vec<Arc<Calls>>>,
    pub(super) origin: Origin,
}

impl Queue {
    pub(super) fn new(owner: Owner, device: &'static Device, driver: Arc<dyn backend::Queue>, origin: Origin) -> Queue {
        Queue { device, driver, owner, calling: Mutex::default(), origin }
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// As [`backend::Queue::launch`].
    #[inline(always)]
    pub(super) unsafe fn launch(&self, kernel: &Arc<dyn Kernel>, shape: &Shape, arguments: &Given) -> Launched {
        // SAFETY: the caller's.
        unsafe { self.driver.launch(kernel, shape, arguments) }?;
        if let Some(calls) = kernel.host_calls() {
            let mut calling = self.calling.lock().unwrap_or_else(PoisonError::into_inner);
            if !calling.iter().any(|known| Arc::ptr_eq(known, calls)) {
                calling.push(calls.clone());
            }
        }
        Ok(())
    }

    /// Waits for the work so far. What the kernels reported that called the host is a failure of it.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        let waited = self.driver.synchronize();
        let calling = std::mem::take(&mut *self.calling.lock().unwrap_or_else(PoisonError::into_inner));
        calling.iter().fold(waited, |waited, calls| calls.collected(waited))
    }
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the caller, which must not wait for its own queue.
pub(super) fn in_host_function(function: impl FnOnce()) {
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            IN_HOST_FUNCTION.set(self.0);
        }
    }
    let _leave = Leave(IN_HOST_FUNCTION.replace(true));
    offload::waits::letting_a_device_go_on(function);
}

/// Whether this thread runs such a function.
pub(super) fn is_in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// Refuses what waits, and so could wait for ever, in a function that a queue runs.
pub(super) fn refuse_in_host_function(call: &str) -> Result<(), Error> {
    if is_in_host_function() {
        let text =
            format!("{call} waits, and was called by a function that runs in a queue (olLaunchHostFunction); hand that to another thread");
        return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, text);
    }
    Ok(())
}
