//! Signals. None comes. But by what a program says of one, `SIGPIPE`, it chooses how it ends if nobody reads any more
//! what it writes. Rust's programs ignore that signal, and get an error. Those that ask for its default action, as C's
//! programs have it, end silently, as by the signal.

use crate::abi::errno::EPIPE;
use crate::error::Errno;
use crate::process;
use core::sync::atomic::{AtomicUsize, Ordering};

const SIGPIPE: i32 = 13;
/// The default action.
const SIG_DFL: usize = 0;
/// No action.
const SIG_IGN: usize = 1;

/// Nobody has said anything: before `main`, where a program may look, the default action, which nothing is done about.
const UNSAID: usize = usize::MAX;

/// What is done if a pipe is broken: a handler is as no action, because nobody could interrupt the thread.
static PIPE: AtomicUsize = AtomicUsize::new(UNSAID);

/// `struct sigaction` of Linux with musl.
#[repr(C)]
pub struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

fn handler(signal: i32) -> usize {
    // Relaxed: it says nothing of other memory.
    if signal != SIGPIPE {
        return SIG_DFL;
    }
    match PIPE.load(Ordering::Relaxed) {
        UNSAID => SIG_DFL,
        said => said,
    }
}

fn handle(signal: i32, handler: usize) {
    if signal == SIGPIPE {
        PIPE.store(handler, Ordering::Relaxed);
    }
}

/// Sets what is done at a signal: what was done before.
#[unsafe(no_mangle)]
pub extern "C" fn libc_signal(signal: i32, new: usize) -> usize {
    let old = handler(signal);
    handle(signal, new);
    old
}

/// As [`libc_signal`].
///
/// # Safety
/// `new` is null or valid for a read, and `old` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sigaction(signal: i32, new: *const Action, old: *mut Action) -> i32 {
    let before = Action { handler: handler(signal), mask: [0; 16], flags: 0, restorer: 0 };
    // SAFETY: the caller's.
    if let Some(new) = unsafe { new.as_ref() } {
        handle(signal, new.handler);
    }
    if !old.is_null() {
        // SAFETY: the caller's; what is there may be no value yet.
        unsafe { old.write(before) };
    }
    0
}

/// `main` is about to begin: Rust's programs ignore `SIGPIPE`.
#[cfg_attr(not(hostcall_device), expect(dead_code, reason = "programs begin on devices only"))]
pub(crate) fn begin() {
    handle(SIGPIPE, SIG_IGN);
}

/// A result of writing; the program ends here if it wants to where a pipe is broken.
pub(crate) fn written<T>(result: Result<T, Errno>) -> Result<T, Errno> {
    if matches!(result, Err(Errno(EPIPE))) && PIPE.load(Ordering::Relaxed) == SIG_DFL {
        process::end_by(SIGPIPE);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pipe_is_an_error_unless_the_program_says_otherwise() {
        assert_eq!(core::mem::size_of::<Action>(), 152);
        assert_eq!(written::<()>(Err(Errno(EPIPE))), Err(Errno(EPIPE)));
        assert_eq!((libc_signal(2, 77), libc_signal(2, 77)), (SIG_DFL, SIG_DFL), "no other signal is kept account of");
        let mut old = Action { handler: 9, mask: [9; 16], flags: 9, restorer: 9 };
        let new = Action { handler: 4711, mask: [0; 16], flags: 0, restorer: 0 };
        // SAFETY: both live.
        assert_eq!(unsafe { libc_sigaction(SIGPIPE, &raw const new, &raw mut old) }, 0);
        assert_eq!((old.handler, old.mask, old.flags, old.restorer), (SIG_DFL, [0; 16], 0, 0), "as it was found");
        assert_eq!(written::<()>(Err(Errno(EPIPE))), Err(Errno(EPIPE)), "a handler is not called");
        assert_eq!(libc_signal(SIGPIPE, SIG_IGN), 4711);
    }
}
