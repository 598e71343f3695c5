//! Waits of destructors. Each says what it waits for when it has lasted a second, so that nobody stares at a process
//! that does not end.
//!
//! Not part of what this crate promises: the crates of this repository share it.

use std::fmt;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a wait lasts before it says what for.
pub const SAY: Duration = Duration::from_secs(1);

/// Says something that nobody asked for and everybody must know: to the log, and where nobody listens to the log, on
/// standard error.
pub fn tell(what: &dyn fmt::Display) {
    if tracing::enabled!(tracing::Level::ERROR) {
        tracing::error!("{what}");
    } else {
        // A host in C may have ended who reads its standard error, and have SIGPIPE's default. What cannot be written
        // is not.
        crate::host::without_sigpipe(|| {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "hostcall: {what}");
        });
    }
}

/// Waits until something is so, which the calling thread does not bring about. `what` says what is waited for, if it
/// takes longer than [`SAY`].
pub fn wait(what: impl FnOnce() -> String, done: impl FnMut() -> bool) {
    let done = up_to(SAY, done);
    if let Err(done) = done {
        tell(&format_args!("{}, for a second now", what()));
        // Longer than any wait.
        let _ = up_to(Duration::MAX, done);
    }
}

/// Waits until a thread has ended, and gives what it returned. `what` says what is waited for, if it takes longer than
/// [`SAY`]. `None`: it is the calling thread, which drops the last of something whose destructor waits for it. It ends
/// when it has.
pub fn join<T>(thread: JoinHandle<T>, what: impl FnOnce() -> String) -> Option<std::thread::Result<T>> {
    if thread.thread().id() == std::thread::current().id() {
        return None;
    }
    wait(what, || thread.is_finished());
    Some(thread.join())
}

/// Waits at most so long; if it was too short, gives `done` back.
pub(crate) fn up_to<F: FnMut() -> bool>(limit: Duration, mut done: F) -> Result<(), F> {
    const LONGEST: Duration = Duration::from_millis(1);
    let start = Instant::now();
    let mut nap = Duration::from_micros(20);
    while !done() {
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(done);
        }
        if start.elapsed() < Duration::from_micros(50) {
            std::thread::yield_now();
        } else {
            std::thread::sleep(nap.min(left));
            nap = (nap * 2).min(LONGEST);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_to_wait_for_itself_goes_on() {
        let ((give, given), (done, ended)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
        let thread = std::thread::spawn(move || {
            let own: JoinHandle<()> = given.recv().unwrap();
            done.send(join(own, || unreachable!("nobody waits")).is_none()).unwrap();
        });
        give.send(thread).unwrap();
        assert!(ended.recv_timeout(Duration::from_secs(60)).unwrap());
    }

    #[test]
    fn a_wait_that_is_soon_over_says_nothing() {
        let mut looks = 0;
        wait(
            || unreachable!("it is over"),
            || {
                looks += 1;
                looks == 20
            },
        );
        assert_eq!(looks, 20);
        assert_eq!(join(std::thread::spawn(|| 7), || unreachable!("it has ended")).unwrap().unwrap(), 7);
    }

    #[test]
    fn a_wait_says_once_what_it_waits_for_and_then_goes_on() {
        let mut said = 0;
        let told = std::cell::Cell::new(false);
        let mut looks_after = 0;
        wait(
            || {
                said += 1;
                told.set(true);
                "a test waits for itself".to_owned()
            },
            || {
                looks_after += u32::from(told.get());
                looks_after == 5
            },
        );
        assert_eq!((said, looks_after), (1, 5));
    }
}
