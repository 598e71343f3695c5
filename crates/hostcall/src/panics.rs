//! Keeping a handler's panic: message, place and backtrace, for the report instead of standard error.
//!
//! A panic hook is the only place that knows where a panic came from. Ours is installed once, and passes on whatever
//! did not happen in a handler.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Arc, Once};

use crate::live::Live;
use crate::registry::Slot;
use crate::report::HandlerPanic;

thread_local! {
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<(String, Arc<Backtrace>)>> = const { RefCell::new(None) };
}

/// Chains our hook before the present one, the first time.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IN_HANDLER.get() {
                LAST.set(Some((describe(info), Arc::new(Backtrace::force_capture()))));
            } else {
                previous(info);
            }
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("a panic whose payload is no text");
    match info.location() {
        Some(at) => format!("{text} (at {at})"),
        None => text.to_owned(),
    }
}

/// Runs a handler. `None` if it panicked: the panic is then in the buffer's report.
#[inline(always)]
pub(crate) fn guard<T>(live: &Live, slot: &Slot, handler: impl FnOnce() -> T) -> Option<T> {
    IN_HANDLER.set(true);
    // Unwind safety: a handler is `Fn`, so what a panic leaves broken in it is behind its own locks; the rest is scratch, cleared for the next call.
    let result = catch_unwind(AssertUnwindSafe(handler));
    IN_HANDLER.set(false);
    result.map_err(|payload| caught(live, slot, payload)).ok()
}

#[cold]
fn caught(live: &Live, slot: &Slot, payload: Box<dyn Any + Send>) {
    // The payload's own `Drop` may panic; then it is leaked.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    let (message, backtrace) = LAST.take().unwrap_or_else(|| ("a panic without a message".into(), Arc::new(Backtrace::disabled())));
    live.report.handler_panicked(HandlerPanic { service: slot.name().to_owned(), message, backtrace });
}
