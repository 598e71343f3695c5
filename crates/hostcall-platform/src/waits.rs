//! Threads that let a device go on, and what they leave to another thread.
//!
//! A device may wait for a thread of the host: for a function of one of its queues, for the answer to a kernel's call.
//! If that thread calls something that waits for the device, neither goes on. So such a thread is marked
//! ([`letting_a_device_go_on`]), what waits asks whether its thread is ([`may_wait`]), and a marked thread gives what
//! it must not do itself to a thread that no device waits for ([`later`], `until_done`).

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

thread_local! {
    /// How many calls of [`letting_a_device_go_on`] this thread is in.
    static LETTING_GO_ON: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work`, for which a device waits: nothing in it waits for a device.
pub fn letting_a_device_go_on<R>(work: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            LETTING_GO_ON.set(LETTING_GO_ON.get() - 1);
        }
    }
    LETTING_GO_ON.set(LETTING_GO_ON.get() + 1);
    let _leave = Leave;
    work()
}

/// Whether no device waits for this thread.
pub fn may_wait() -> bool {
    LETTING_GO_ON.get() == 0
}

/// Whether it is done.
type Attempt = Box<dyn FnMut() -> bool + Send>;

/// What the thread has to do.
#[derive(Default)]
struct Left {
    jobs: VecDeque<Box<dyn FnOnce() + Send>>,
    attempts: Vec<Attempt>,
    has_thread: bool,
}

static LEFT: Mutex<Left> = Mutex::new(Left { jobs: VecDeque::new(), attempts: Vec::new(), has_thread: false });
static MORE: Condvar = Condvar::new();

/// Has a thread for which no device waits do `job`, which may wait for the other jobs only.
pub fn later(job: impl FnOnce() + Send + 'static) {
    leave(|left| left.jobs.push_back(Box::new(job)));
}

/// Waits until all is done that was left before, but for what is tried again and again.
pub fn wait_for_jobs() {
    if lock().has_thread && may_wait() {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        later(move || drop(sender));
        let _ = receiver.recv();
    }
}

/// Has that thread call `attempt` from time to time, until it says that all is done. It must not wait.
pub(crate) fn until_done(attempt: impl FnMut() -> bool + Send + 'static) {
    leave(|left| left.attempts.push(Box::new(attempt)));
}

fn lock() -> MutexGuard<'static, Left> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave(add: impl FnOnce(&mut Left)) {
    let mut left = lock();
    add(&mut left);
    if !left.has_thread {
        // Where the system has no thread left, it waits for the next that is left here.
        let started = std::thread::Builder::new().name("offload-freeing".to_owned()).spawn(serve);
        left.has_thread = started.is_ok();
    }
    drop(left);
    MORE.notify_one();
}

/// How long the thread waits between two rounds of attempts: at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(5));

/// Does what is left, for as long as the process runs.
fn serve() {
    let mut pause = PAUSES.0;
    let mut left = lock();
    loop {
        if let Some(job) = left.jobs.pop_front() {
            drop(left);
            said("job", job);
            left = lock();
            pause = PAUSES.0;
        } else if left.attempts.is_empty() {
            left = MORE.wait(left).unwrap_or_else(PoisonError::into_inner);
            pause = PAUSES.0;
        } else {
            let mut attempts = std::mem::take(&mut left.attempts);
            drop(left);
            let before = attempts.len();
            attempts.retain_mut(|attempt| {
                let mut is_done = true;
                said("attempt", || is_done = attempt());
                !is_done
            });
            pause = if attempts.len() < before { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            left = lock();
            left.attempts.append(&mut attempts);
            if left.jobs.is_empty() && !left.attempts.is_empty() {
                left = MORE.wait_timeout(left, pause).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

/// Does something of somebody else's, whose panic must not end the thread.
fn said(what: &str, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        tracing::error!("a {what} that was left to the freeing thread panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_thread_is_marked_while_a_device_waits_for_it_and_not_after() {
        assert!(may_wait());
        letting_a_device_go_on(|| {
            assert!(!may_wait());
            letting_a_device_go_on(|| assert!(!may_wait()));
            assert!(!may_wait());
        });
        assert!(may_wait());
        assert!(catch_unwind(|| letting_a_device_go_on(|| panic!("in it"))).is_err() && may_wait());
    }

    #[test]
    fn what_is_left_is_done_by_a_thread_that_may_wait_even_after_one_of_it_panicked() {
        let (sender, receiver) = channel();
        let again = sender.clone();
        letting_a_device_go_on(|| {
            later(|| panic!("a job"));
            let mut attempts = 0;
            until_done(move || {
                attempts += 1;
                attempts == 3 && again.send(may_wait()).is_ok()
            });
            later(move || sender.send(may_wait()).unwrap());
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(true), Ok(true)));
    }
}
