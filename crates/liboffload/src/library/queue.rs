//! Queues, and the rule for functions that run in them.

use std::cell::Cell;
use std::sync::Arc;

use super::backend;
use super::device::Device;
use super::error::fail;
use super::leaks::Origin;
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// What a queue's handle names.
pub(super) struct Queue {
    pub(super) device: &'static Device,
    pub(super) driver: Arc<dyn backend::Queue>,
    pub(super) origin: Origin,
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
    function();
}

/// Refuses what waits, and so could wait for ever, in a function that a queue runs.
pub(super) fn refuse_in_host_function(call: &str) -> Result<(), Error> {
    if IN_HOST_FUNCTION.get() {
        let text =
            format!("{call} waits, and was called by a function that runs in a queue (olLaunchHostFunction); hand that to another thread");
        return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, text);
    }
    Ok(())
}
