//! One call of an entry point, from the caller's arguments to its result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use super::Error;
use super::error::publish;
use super::location::{CallPlace, Location};
use super::record::{self, Recorder};
use super::trace::{self, Arguments};
use crate::Api;
use crate::sys::{ol_code_location_t, ol_errc_t, ol_result_t};

/// Runs an entry point: `body` checks the arguments and calls the implementation, `arguments` lists the arguments for the trace, `recorded` for a
/// recording.
///
/// None of them can unwind into the caller, which may be C: a panic in `body` becomes the error `OL_ERRC_UNKNOWN`, and what `arguments` listed before a
/// panic is what the trace shows.
///
/// # Safety
///
/// `location` is null or points to a location whose texts are null or end in a zero.
pub unsafe fn call<A: Api>(
    name: &'static str,
    location: *const ol_code_location_t,
    body: impl FnOnce() -> Result<(), Error>,
    arguments: impl FnOnce(&mut Arguments),
    recorded: impl FnOnce(&mut record::Arguments),
) -> ol_result_t {
    let traced = trace::enter(name);
    let _entered = CallPlace::new(name, location);
    let recording = A::instance().recorder().and_then(|recorder| Recording::begin(recorder, name, recorded));
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
    if let Some(recording) = recording {
        recording.end(&result);
    }
    match result {
        Ok(()) => ptr::null(),
        Err(error) => publish(&error, location.as_ref()),
    }
}

/// A call that is being recorded.
struct Recording {
    recorder: &'static dyn Recorder,
    call: u64,
    name: &'static str,
    arguments: record::Arguments,
}

impl Recording {
    /// A recorder that panics loses the call, and nothing else.
    #[cold]
    fn begin(recorder: &'static dyn Recorder, name: &'static str, recorded: impl FnOnce(&mut record::Arguments)) -> Option<Recording> {
        let mut arguments = record::Arguments::default();
        recorded(&mut arguments);
        let call = catch_unwind(AssertUnwindSafe(|| recorder.begin(name, arguments.list()))).ok()?;
        Some(Recording { recorder, call, name, arguments })
    }

    #[cold]
    fn end(self, result: &Result<(), Error>) {
        // As above.
        let _ = catch_unwind(AssertUnwindSafe(|| self.recorder.end(self.call, self.name, self.arguments.list(), result)));
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
