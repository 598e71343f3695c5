//! Writes that do not end the process.
//!
//! Who writes to a pipe that nobody reads gets SIGPIPE, which ends a process that has not said otherwise: Rust's
//! runtime says otherwise, a host in C or C++ need not. A library must not change what a signal does to a process. So
//! the calling thread blocks the signal while it writes, and takes back the one that it may have caused: it gets the
//! error, as it would have had.

use std::mem::MaybeUninit;
use std::ptr;

/// Runs something that writes to a pipe, or to anything that may be one. It gets `EPIPE`, and no signal.
pub fn without_sigpipe<T>(write: impl FnOnce() -> T) -> T {
    let _blocked = Blocked::new();
    write()
}

/// The signal is blocked for the calling thread until this is dropped, there.
struct Blocked {
    former: libc::sigset_t,
    /// It was pending before: somebody else's, who will get it.
    pending: bool,
}

fn sigpipe() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set, to which a signal is added that exists.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
        set.assume_init()
    }
}

fn is_pending() -> bool {
    let mut set = sigpipe();
    // SAFETY: the set is valid for both calls.
    unsafe { libc::sigpending(&raw mut set) == 0 && libc::sigismember(&raw const set, libc::SIGPIPE) == 1 }
}

impl Blocked {
    fn new() -> Self {
        let (set, mut former) = (sigpipe(), sigpipe());
        let pending = is_pending();
        // SAFETY: both sets are valid for the call, which changes the calling thread only.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut former) };
        Self { former, pending }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if !self.pending && is_pending() {
            take();
        }
        // SAFETY: the set is valid for the call.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.former, ptr::null_mut()) };
    }
}

/// Takes a signal that is pending.
#[cfg(not(target_vendor = "apple"))]
fn take() {
    let (set, none) = (sigpipe(), libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: the set and the time are valid for the calls; nothing is asked of the signal.
    while unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const none) } == -1
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
    {}
}

/// Takes a signal that is pending.
#[cfg(target_vendor = "apple")]
fn take() {
    let (set, mut signal) = (sigpipe(), 0);
    // SAFETY: the set and the number are valid for the call, which returns at once: the signal is pending.
    unsafe { libc::sigwait(&raw const set, &raw mut signal) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Write};

    /// What the signal would do to this process.
    fn disposition() -> libc::sighandler_t {
        // SAFETY: asks, and changes nothing.
        unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut action);
            action.sa_sigaction
        }
    }

    #[test]
    fn a_write_that_nobody_reads_is_an_error_and_no_signal() {
        let before = disposition();
        // As a program in C has it. Other tests of this process write to no pipe that is closed.
        // SAFETY: a signal that exists, and its default.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (reader, mut writer) = std::io::pipe().unwrap();
        drop(reader);
        for _ in 0..3 {
            assert_eq!(without_sigpipe(|| writer.write(b"x")).unwrap_err().kind(), ErrorKind::BrokenPipe);
        }
        assert!(!is_pending(), "nothing is left behind");
        assert_eq!(disposition(), libc::SIG_DFL, "and the process's business is its own");
        // SAFETY: as it was.
        unsafe { libc::signal(libc::SIGPIPE, before) };
    }

    #[test]
    fn a_signal_that_was_pending_before_stays_so() {
        std::thread::spawn(|| {
            let set = sigpipe();
            // SAFETY: valid sets; a signal for this thread, which blocks it.
            unsafe {
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
                libc::pthread_kill(libc::pthread_self(), libc::SIGPIPE);
            }
            without_sigpipe(|| ());
            assert!(is_pending());
            take();
        })
        .join()
        .unwrap();
    }
}
