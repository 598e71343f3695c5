//! Keeping a handler's panic: message, place and backtrace, for the report instead of standard error.
//!
//! Only a panic hook knows where a panic came from. Ours is installed once, and passes on panics that did not happen
//! in a handler.
//!
//! A kernel can make a handler panic as often as it calls it, and a backtrace costs more than the whole rest of the
//! call. So a thread captures a backtrace only for a panic unlike the last one that it captured. It captures none once
//! the report has as many as it keeps.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Arc, Once};

use super::report::Report;

/// What a thread is doing.
#[derive(Clone, Copy)]
enum Doing {
    /// It runs no handler.
    Else,
    /// It runs the handler of the service whose name is at this address, and so long.
    Handler { service: usize, length: usize, wants_backtraces: bool },
}

/// A panic of a handler.
#[derive(Clone)]
struct Panic {
    service: usize,
    message: String,
    backtrace: Arc<Backtrace>,
}

thread_local! {
    static DOING: Cell<Doing> = const { Cell::new(Doing::Else) };
    /// The panic that the hook has seen and nobody has caught yet, and whether its backtrace was captured for it.
    static SEEN: RefCell<Option<(Panic, bool)>> = const { RefCell::new(None) };
    /// The last panic whose backtrace was captured.
    static CAPTURED: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// Chains our hook before the present one, the first time.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match DOING.get() {
            Doing::Else => previous(info),
            Doing::Handler { service, wants_backtraces, .. } => see(service, wants_backtraces, info),
        }));
        #[cfg(unix)]
        offload::host::name_overflows(|| match DOING.get() {
            Doing::Else => None,
            // The name lives as long as its service, which lives as long as its handler runs.
            Doing::Handler { service, length, .. } => Some((std::ptr::with_exposed_provenance(service), length)),
        });
    });
}

fn see(service: usize, wants_backtraces: bool, info: &PanicHookInfo<'_>) {
    let message = describe(info);
    let alike = |last: &&Panic| last.service == service && last.message == message;
    let known = CAPTURED.with_borrow(|last| last.as_ref().filter(alike).map(|last| last.backtrace.clone()));
    let captured = known.is_none() && wants_backtraces;
    let backtrace = known.unwrap_or_else(|| Arc::new(if captured { Backtrace::force_capture() } else { Backtrace::disabled() }));
    SEEN.set(Some((Panic { service, message, backtrace }, captured)));
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
pub(crate) fn guard<T>(report: &Report, service: &str, handler: impl FnOnce() -> T) -> Option<T> {
    // Each registered service has a name of its own, at an address of its own.
    attempt(report, (service.as_ptr().expose_provenance(), service.len()), handler).map_err(|payload| caught(report, service, payload)).ok()
}

#[inline(always)]
fn attempt<T>(report: &Report, (service, length): (usize, usize), handler: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    DOING.set(Doing::Handler { service, length, wants_backtraces: report.wants_backtraces() });
    // Unwind safety: a handler is `Fn`, so what a panic leaves broken in it is behind its own locks; the rest is
    // scratch, cleared for the next call.
    let result = catch_unwind(AssertUnwindSafe(handler));
    DOING.set(Doing::Else);
    result
}

#[cold]
fn caught(report: &Report, service: &str, payload: Box<dyn Any + Send>) {
    // The payload's own `Drop` may panic; then it is leaked.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    match SEEN.take() {
        Some((panic, captured)) => {
            report.handler_panicked(service, &panic.message, || panic.backtrace.clone());
            if captured {
                report.captured();
                CAPTURED.set(Some(panic));
            }
        }
        None => report.handler_panicked(service, "a panic without a message", || Arc::new(Backtrace::disabled())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::backtrace::BacktraceStatus;

    /// As [`guard`] does it, for the service `service` at the address `at`.
    fn panics(report: &Report, (at, service): (usize, &str), message: &str) {
        install_hook();
        let payload = attempt(report, (at, 0), || panic!("{message}")).map(|()| "returned").unwrap_err();
        caught(report, service, payload);
    }

    #[test]
    fn a_flood_of_different_panics_captures_as_many_backtraces_as_are_kept() {
        let report = Report::default();
        (0..1000).for_each(|i| panics(&report, (1, "s"), &format!("number {i}")));
        assert!(!report.wants_backtraces());
        assert!(CAPTURED.with_borrow(|last| last.as_ref().is_some_and(|last| last.message.starts_with("number 63 "))));
        let taken = report.take();
        assert!(taken.handler_panics.iter().all(|panic| panic.backtrace.status() == BacktraceStatus::Captured));
        assert_eq!((taken.handler_panics.len() as u64, taken.omitted), (64, 1000 - 64));
        assert!(report.wants_backtraces(), "there is room again");
    }

    #[test]
    fn a_flood_of_one_panic_captures_one_backtrace_and_leaves_room_for_another() {
        let report = Report::default();
        (0..1000).for_each(|_| panics(&report, (1, "s"), "again"));
        panics(&report, (2, "t"), "again");
        let taken = report.take();
        let told: Vec<_> = taken.handler_panics.iter().map(|panic| (&*panic.service, panic.lanes, panic.backtrace.status())).collect();
        assert_eq!(told, [("s", 1000, BacktraceStatus::Captured), ("t", 1, BacktraceStatus::Captured)]);
        let [s, t] = [0, 1].map(|i: usize| Arc::as_ptr(&taken.handler_panics[i].backtrace));
        assert_ne!(s, t, "each service has its own");
    }

    #[test]
    fn a_panic_that_no_hook_sees_has_no_older_ones_message() {
        let report = Report::default();
        panics(&report, (1, "s"), "seen");
        let payload = attempt(&report, (1, 0), || std::panic::resume_unwind(Box::new(()))).unwrap_err();
        caught(&report, "s", payload);
        assert_eq!(report.take().handler_panics[1].message, "a panic without a message");
    }
}
