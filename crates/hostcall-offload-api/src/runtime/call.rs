//! One call of an entry point, from the caller's arguments to its result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Error;
use super::error::publish;
use super::location::{CallPlace, Location, remembers_places};
use super::record::{self, Recorder};
use super::trace::{self, Arguments};
use crate::Api;
use crate::sys::{ol_code_location_t, ol_errc_t, ol_result_t};

/// Runs an entry point: `body` checks the arguments and calls the implementation.
///
/// It cannot unwind into the caller, which may be C: a panic in `body` becomes the error `OL_ERRC_UNKNOWN`.
///
/// # Safety
///
/// `location` is null or points to a location whose texts are null or end in a zero.
#[inline]
pub unsafe fn call(name: &'static str, location: *const ol_code_location_t, body: impl Fn() -> Result<(), Error>) -> ol_result_t {
    // What passes through `catch_unwind` is one word each way: it goes through memory, and errors are large.
    let finish = |error: Error| {
        // SAFETY: the caller's.
        unsafe { failed(&error, location) }
    };
    match catch_unwind(AssertUnwindSafe(|| body().map_or_else(finish, |()| ptr::null()))) {
        Ok(result) => result,
        Err(panic) => finish(of_panic(name, &*panic)),
    }
}

/// Whether calls are traced or recorded, or it is remembered where they are made.
#[inline]
pub fn is_watched<A: Api>() -> bool {
    /// Whether it is known that they are neither traced nor remembered. It says so for good, and nothing else depends
    /// on it: its order does not matter.
    static UNWATCHED: AtomicBool = AtomicBool::new(false);
    #[cold]
    fn find_out() -> bool {
        let is_watched = trace::is_on() || remembers_places();
        UNWATCHED.store(!is_watched, Ordering::Relaxed);
        is_watched
    }
    A::instance().recorder().is_some() || (!UNWATCHED.load(Ordering::Relaxed) && find_out())
}

/// As [`call`], and lists the arguments: with `arguments` for the trace, with `recorded` for a recording.
///
/// A panic of one of these ends the list: what was listed before is what the trace shows.
///
/// # Safety
///
/// As [`call`].
#[inline(never)]
pub unsafe fn watched<A: Api>(
    name: &'static str,
    location: *const ol_code_location_t,
    body: impl Fn() -> Result<(), Error>,
    arguments: impl FnOnce(&mut Arguments),
    recorded: impl FnOnce(&mut record::Arguments),
) -> ol_result_t {
    let recorder = A::instance().recorder();
    let traced = trace::enter(name);
    let _entered = CallPlace::new(name, location);
    let recording = recorder.and_then(|recorder| Recording::begin(recorder, name, recorded));
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(of_panic(name, &*panic)));
    if let Some(traced) = traced {
        // SAFETY: the caller's.
        let location = unsafe { Location::read(location) };
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
        // SAFETY: the caller's.
        Err(error) => unsafe { failed(&error, location) },
    }
}

/// What the caller gets for an error.
///
/// # Safety
///
/// As [`call`].
#[inline(never)]
unsafe fn failed(error: &Error, location: *const ol_code_location_t) -> ol_result_t {
    // SAFETY: the caller's.
    publish(error, unsafe { Location::read(location) }.as_ref())
}

#[cold]
fn of_panic(name: &str, panic: &(dyn Any + Send)) -> Error {
    Error::new(ol_errc_t::OL_ERRC_UNKNOWN, format!("the library panicked in {name}: {}", panic_text(panic)))
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
