//! One call of an entry point, from the caller's arguments to its result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use super::Error;
use super::error::publish;
use super::location::{CallPlace, Location};
use super::trace::{self, Arguments};
use crate::sys::{ol_code_location_t, ol_errc_t, ol_result_t};

/// Runs an entry point: `body` checks the arguments and calls the implementation, `arguments` lists the arguments for the trace.
///
/// Neither can unwind into the caller, which may be C: a panic in `body` becomes the error `OL_ERRC_UNKNOWN`, and what `arguments` listed before a
/// panic is what the trace shows.
///
/// # Safety
///
/// `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn call(
    name: &'static str,
    location: *const ol_code_location_t,
    body: impl FnOnce() -> Result<(), Error>,
    arguments: impl FnOnce(&mut Arguments),
) -> ol_result_t {
    let traced = trace::enter(name);
    let _entered = CallPlace::new(name, location);
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        Err(Error::new(ol_errc_t::OL_ERRC_UNKNOWN, format!("the library panicked in {name}: {}", panic_text(&*panic))))
    });
    // SAFETY: the caller says so.
    let location = if result.is_err() || traced.is_some() { unsafe { Location::read(location) } } else { None };
    if let Some(traced) = traced {
        let mut list = Arguments::new(result.is_ok());
        // What has been listed stays; there is nothing else that a panic could have left half done.
        let _ = catch_unwind(AssertUnwindSafe(|| arguments(&mut list)));
        traced.leave(&list, &result, location.as_ref().map(|location| location as &dyn std::fmt::Display));
    }
    match result {
        Ok(()) => ptr::null(),
        Err(error) => publish(&error, location.as_ref()),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
