//! What the threads of this process are like that run code of the application's: handlers, functions of queues, readers
//! of streams.
//!
//! Not part of what this crate promises: the crates of this repository share it.

use std::io;
use std::thread::{Builder, JoinHandle};

mod heartbeat;
#[cfg(unix)]
pub(crate) mod overflow;
mod put_back;
#[cfg(unix)]
mod sigpipe;
mod stack;

pub use heartbeat::Heartbeat;
#[cfg(unix)]
pub use overflow::{Doing, name_overflows};
pub use put_back::{PutBack, Verdict};
#[cfg(unix)]
pub use sigpipe::without_sigpipe;
pub use stack::{StackSize, stack_bytes};

/// Starts a thread that runs code of the application's: with as much stack as the main thread has, or `stack`. Every
/// thread that does is made by this function; what makes its own (a runtime of `tokio`, a scope) takes [`stack_bytes`],
/// and calls [`entered`] there.
///
/// # Errors
/// When the system has no thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    stack: StackSize,
    run: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    builder(name, stack).spawn(move || {
        entered();
        run()
    })
}

/// The same thread, not started: who starts it calls [`entered`] there.
pub fn builder(name: impl Into<String>, stack: StackSize) -> Builder {
    Builder::new().name(name.into()).stack_size(stack_bytes(stack))
}

/// The calling thread runs code of the application's from now on: an overflow of its stack says whose it was.
pub fn entered() {
    #[cfg(unix)]
    overflow::entered();
}

/// Runs something that writes to a descriptor.
#[cfg(not(unix))]
pub fn without_sigpipe<T>(write: impl FnOnce() -> T) -> T {
    write()
}
