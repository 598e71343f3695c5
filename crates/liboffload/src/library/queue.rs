//! Queues, and the rule for functions that run in them.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::arguments::Given;
use super::backend::{self, Kernel, Shape};
use super::device::Device;
use super::error::{Launched, fail};
use super::host_calls::Calls;
use super::leaks::Origin;
use super::program::Symbol;
use super::{Core, Owner};
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_symbol_handle_t};

/// What a queue's handle names.
pub(super) struct Queue {
    pub(super) device: &'static Device,
    pub(super) driver: Arc<dyn backend::Queue>,
    #[cfg_attr(not(llvm24), expect(dead_code, reason = "LLVM 23 has no contexts"))]
    pub(super) owner: Owner,
    /// Programs that call the host, of which kernels were launched since the queue was last waited for.
    calling: Mutex<Vec<Arc<Calls>>>,
    last: LastSymbol,
    pub(super) origin: Origin,
}

/// The symbol of a queue's last launch, with its handle. The next launch is mostly of the same one. Taking it from here touches no word that other
/// queues' launches touch: many threads launch one kernel, each in its own queue.
#[derive(Default)]
struct LastSymbol {
    known: Mutex<Option<(usize, Arc<Symbol>)>>,
    /// Whether a program was destroyed while the lock was taken.
    is_stale: AtomicBool,
}

impl LastSymbol {
    /// Calls `use_it` with the symbol of a handle.
    ///
    /// `use_it` is called in one place, so that it is inlined.
    #[inline(always)]
    fn with(&self, library: &Core, handle: ol_symbol_handle_t, use_it: impl FnOnce(&Symbol) -> Launched) -> Launched {
        let (mut known, own);
        // Nobody waits: a launch may wait for a kernel that runs.
        let symbol = match self.known.try_lock() {
            Ok(locked) => {
                known = Some(locked);
                match known.as_deref_mut() {
                    Some(Some((last, symbol))) if *last == handle.addr() && library.symbols.is_live(handle.cast()) => &**symbol,
                    Some(other) => &*other.insert((handle.addr(), library.symbol_of(handle)?)).1,
                    // (It was locked.)
                    None => return Ok(()),
                }
            }
            Err(_) => {
                (known, own) = (None, library.symbol_of(handle)?);
                &*own
            }
        };
        let result = use_it(symbol);
        drop(known);
        // Sequentially consistent with the store in `forget`: either that one took the lock, or it is seen here.
        if self.is_stale.load(Ordering::SeqCst) {
            self.forget(library);
        }
        result
    }

    /// Gives the symbol back if its program was destroyed: until then its image stays loaded.
    fn forget(&self, library: &Core) {
        // Pairs with the load in `with`.
        self.is_stale.store(true, Ordering::SeqCst);
        let Ok(mut known) = self.known.try_lock() else { return };
        self.is_stale.store(false, Ordering::SeqCst);
        let gone = known.take_if(|(handle, _)| !library.symbols.is_live(std::ptr::without_provenance(*handle)));
        drop(known);
        drop(gone);
    }
}

impl Queue {
    pub(super) fn new(owner: Owner, device: &'static Device, driver: Arc<dyn backend::Queue>, origin: Origin) -> Queue {
        Queue { device, driver, owner, calling: Mutex::default(), last: LastSymbol::default(), origin }
    }

    /// Calls `use_it` with the symbol of a handle, which is that of the queue's next launch.
    #[inline(always)]
    pub(super) fn with_symbol(&self, library: &Core, handle: ol_symbol_handle_t, use_it: impl FnOnce(&Symbol) -> Launched) -> Launched {
        self.last.with(library, handle, use_it)
    }

    /// A program was destroyed: the queue keeps nothing of it but what runs.
    pub(super) fn forget_destroyed(&self, library: &Core) {
        self.last.forget(library);
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
    function();
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
