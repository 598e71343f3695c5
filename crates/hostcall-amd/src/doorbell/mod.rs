//! Doorbells: what a wave rings when a packet is ready, and what a consumer sleeps on.
//!
//! A client sees a handle of 64 bits in the buffer. With AMD's runtime in the process it is a signal of that runtime.
//! Without, it is the address of a word of ours that looks like one. Which of the two is decided once, when the first
//! consumer is created.
//!
//! **A doorbell is never freed.** Waves may ring late, after their buffer or their consumer is gone. So a consumer that
//! is destroyed leaves its doorbell to the next one.

mod hsa;
mod known;
mod own;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::Error;

pub(crate) use known::HEARTBEAT;

/// A doorbell. The value is any that differs from the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doorbell {
    Own(&'static own::Bell),
    Hsa(hsa::Signal),
}

/// Doorbells that no consumer has.
static UNUSED: Mutex<Vec<Doorbell>> = Mutex::new(Vec::new());

fn unused() -> MutexGuard<'static, Vec<Doorbell>> {
    UNUSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps doorbells from being taken and left while the process forks.
pub(crate) fn freeze() -> MutexGuard<'static, Vec<Doorbell>> {
    unused()
}

/// AMD's runtime, if its signals are used.
fn runtime() -> Option<&'static hsa::Runtime> {
    static RUNTIME: OnceLock<Option<hsa::Runtime>> = OnceLock::new();
    RUNTIME.get_or_init(hsa::Runtime::open).as_ref().filter(|runtime| runtime.origin().is_here())
}

impl Doorbell {
    /// An unused doorbell, or a new one.
    pub(crate) fn take() -> Result<Doorbell, Error> {
        let runtime = runtime();
        let mut unused = unused();
        // A forked child has no use for signals of its parent's runtime.
        let at = unused.iter().position(|bell| matches!(bell, Doorbell::Hsa(_)) == runtime.is_some());
        if let Some(at) = at {
            let bell = unused.swap_remove(at);
            if let Doorbell::Own(bell) = bell {
                bell.renew();
            }
            return Ok(bell);
        }
        drop(unused);
        match runtime {
            Some(runtime) => hsa::Signal::new(runtime).map(Doorbell::Hsa),
            None => own::Bell::new().map(Doorbell::Own),
        }
    }

    /// Leaves it to the next consumer.
    pub(crate) fn leave(self) {
        unused().push(self);
    }

    /// What is written into buffers.
    pub(crate) fn handle(self) -> u64 {
        match self {
            Doorbell::Own(bell) => bell.handle(),
            Doorbell::Hsa(signal) => signal.handle(),
        }
    }

    /// Wakes who sleeps on it.
    pub(crate) fn ring(self) {
        match self {
            Doorbell::Own(bell) => bell.ring(),
            Doorbell::Hsa(signal) => signal.wake(),
        }
    }

    /// The value, if it can be had without a call of AMD's runtime; else `last`.
    pub(crate) fn value(self, last: i64) -> i64 {
        match self {
            Doorbell::Own(bell) => bell.value(),
            Doorbell::Hsa(_) => last,
        }
    }

    /// Sleeps until the value is another than `seen`, or for a while, which `limit` makes shorter; returns the value.
    /// Before it sleeps it looks for what need not have rung, too.
    pub(crate) fn wait(self, seen: i64, limit: Option<Duration>, came: Option<impl FnMut() -> bool>) -> i64 {
        match self {
            Doorbell::Own(bell) => bell.wait(seen, limit, came),
            Doorbell::Hsa(signal) => signal.wait(seen, limit, came),
        }
    }

    /// Something came during the last sleep that had not rung.
    pub(crate) fn missed(self) {
        match self {
            Doorbell::Own(bell) => bell.missed(),
            Doorbell::Hsa(signal) => signal.missed(),
        }
    }

    /// One of this library's own, which a test leaves behind.
    #[cfg(test)]
    pub(crate) fn own() -> Result<Doorbell, Error> {
        own::Bell::new().map(Doorbell::Own)
    }
}

/// Whether a handle is that of a doorbell of this library's own: the address of a page of words, which a program pins
/// for a GPU, and whose memory is never freed.
pub fn is_own(handle: u64) -> bool {
    own::find(handle).is_some()
}

/// Rings by a handle, as a client on the processor does.
pub(crate) fn ring(handle: u64) -> Result<(), Error> {
    if handle == 0 {
        return Err(Error::Nullptr);
    }
    if let Some(bell) = own::find(handle) {
        bell.ring();
        return Ok(());
    }
    hsa::ring(runtime().ok_or(Error::InvalidRequest)?, handle)
}
