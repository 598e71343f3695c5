//! Stack overflows that say whose they are.
//!
//! A handler that overflows its stack ends the process. What the system says then names a thread at most. So a thread
//! of ours knows where its stack ends, and the handler of the signal writes what the thread was doing before it leaves
//! the signal to whoever had it before.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::OnceLock;

use libc::{c_int, siginfo_t};

use crate::sim::fault::{self, SignalStack};

/// The service whose handler the calling thread runs: the bytes of its name, which live as long as the handler runs.
/// Asked within a handler of a signal: it reads, and does nothing else.
pub type Doing = fn() -> Option<(*const u8, usize)>;

static DOING: OnceLock<Doing> = OnceLock::new();

thread_local! {
    /// Where an access of this thread is an overflow of its stack; empty where nobody asked.
    static GUARD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// The stack for signals, if this thread had none.
    static SIGNALS: RefCell<Option<SignalStack>> = const { RefCell::new(None) };
}

/// From now on overflows on threads that have `entered` name what the thread was doing.
pub fn name_overflows(doing: Doing) {
    // The first one's: they are the same.
    let _ = DOING.set(doing);
    fault::install_for(&fault::OF_MEMORY);
}

/// The calling thread is one of ours.
pub(super) fn entered() {
    let Some(guard) = guard() else { return };
    // A program in C has no stack for signals on our threads, and a signal cannot be handled on one that is full.
    SIGNALS.with_borrow_mut(|signals| {
        if signals.is_none() && !SignalStack::is_there() {
            // Without it the system ends the process, as it would have.
            *signals = SignalStack::new().ok();
        }
    });
    GUARD.set((guard.start, guard.end));
}

/// Where the calling thread's stack ends.
#[cfg(target_os = "linux")]
fn guard() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size, mut guard) = (std::ptr::null_mut(), 0, 0);
    // SAFETY: the attributes are initialised by the first call if it succeeds, read by the others, and destroyed once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut size);
        libc::pthread_attr_getguardsize(attributes.as_ptr(), &raw mut guard);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    // Some C libraries count the guard as part of the stack, others do not.
    let start = start as usize;
    (start > guard).then(|| start - guard..start + guard)
}

#[cfg(not(target_os = "linux"))]
fn guard() -> Option<Range<usize>> {
    let _ = MaybeUninit::<u8>::uninit();
    None
}

/// Says what the calling thread was doing, if the signal is of an overflow of its stack. In a handler of a signal: it
/// reads, and writes to standard error.
///
/// # Safety
/// `info` is what the system passed to the handler of `signal`.
pub(crate) unsafe fn say(signal: c_int, info: *const siginfo_t) {
    let (start, end) = GUARD.get();
    if !fault::OF_MEMORY.contains(&signal) || start == end {
        return;
    }
    // SAFETY: the caller's; these signals carry an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if !(start..end).contains(&address) {
        return;
    }
    let service = DOING.get().and_then(|doing| doing());
    let name = service.map(|(name, bytes)| {
        // SAFETY: `Doing` promises that the bytes live as long as the handler, in which the thread is.
        unsafe { std::slice::from_raw_parts(name, bytes) }
    });
    let parts: [&[u8]; 3] = match name {
        Some(name) => [
            b"hostcall: the handler of service `",
            name,
            b"` needs more stack than its thread has; `ServerBuilder::handler_stack` gives it more\n",
        ],
        None => [b"hostcall: a thread of the server's", b"", b" needs more stack than it has\n"],
    };
    for part in parts {
        // SAFETY: a descriptor and as many bytes as there are. What cannot be written is lost.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
}
