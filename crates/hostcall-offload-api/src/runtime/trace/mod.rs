//! A line for each call.
//!
//! `OFFLOAD_TRACE` says where it goes, and is read when the first call is made: `1` writes text to standard error,
//! `json` writes JSON there, anything else is a file (`%p` in its name is the process's number), which holds JSON if
//! its name ends in `.json` and text otherwise. Unset, empty and `0` write nothing. `OFFLOAD_TRACE_FILTER` chooses
//! functions: names with `*` for any text, separated by commas; a name with `-` in front leaves functions out.
//!
//! Text is one line per call, written when the call ends, by one `write`, so that lines of threads and processes never
//! mix:
//!
//! ```text
//! offload: thread=1 depth=0 start=0.000142s duration=3.1us olMemFill(.Queue = NULL, .Ptr = 0x7ffc…) -> OL_ERRC_INVALID_SIZE "main.c:12:3 (main): …"
//! ```
//!
//! *Depth* counts the calls around this one on its thread; calls within a call come before it. What a function writes
//! is shown after success only, and never more of it than there is.
//!
//! JSON is the *trace event format* that Chrome introduced, a list of complete events, and loads in Perfetto. Its
//! closing bracket is never written, which readers of the format expect of programs that may end at any time.

mod arguments;
mod config;
mod sink;

use std::cell::Cell;
use std::fmt::Display;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use arguments::{Arguments, element, elements, text};

use self::config::Config;
use self::sink::{Event, Sink};
use super::Error;

struct Tracer {
    config: Config,
    sink: Sink,
    epoch: Instant,
}

/// The process's tracer, if it has one.
#[inline]
fn tracer() -> Option<&'static Tracer> {
    static TRACER: OnceLock<Option<Tracer>> = OnceLock::new();
    let open = || {
        let config = Config::read(|name| std::env::var(name).ok())?;
        match Sink::open(&config) {
            Ok(sink) => Some(Tracer { config, sink, epoch: Instant::now() }),
            Err(error) => {
                eprintln!("offload: {error}; no trace is written");
                None
            }
        }
    };
    TRACER.get_or_init(open).as_ref()
}

thread_local! {
    /// How many traced calls this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static THREAD: u64 = {
        /// Numbers threads in the order in which they first call. Nothing is published by it, so its order against
        /// other memory does not matter.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Whether there is a trace.
pub(super) fn is_on() -> bool {
    tracer().is_some()
}

/// A call that is being traced.
pub(super) struct Traced {
    tracer: &'static Tracer,
    name: &'static str,
    start: Instant,
    depth: u32,
}

/// Begins a call, if calls of this function are traced.
#[inline]
pub(super) fn enter(name: &'static str) -> Option<Traced> {
    let tracer = tracer()?;
    if !tracer.config.wants(name) {
        return None;
    }
    // A thread that is ending may have no depth any more.
    let depth = DEPTH.try_with(|depth| depth.replace(depth.get() + 1)).unwrap_or(0);
    Some(Traced { tracer, name, start: Instant::now(), depth })
}

impl Traced {
    /// Ends the call and writes its line.
    pub(super) fn leave(self, arguments: &Arguments, result: &Result<(), Error>, location: Option<&dyn Display>) {
        self.tracer.sink.write(&Event {
            name: self.name,
            thread: THREAD.try_with(|thread| *thread).unwrap_or(0),
            depth: self.depth,
            start: self.start.saturating_duration_since(self.tracer.epoch),
            duration: self.start.elapsed(),
            arguments,
            result,
            location,
        });
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(self.depth));
    }
}
