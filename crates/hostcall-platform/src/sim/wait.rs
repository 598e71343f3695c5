//! How a waiting thread spends its time: it spins while that is likely to be short, then lets others run, then sleeps
//! longer and longer.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use hostcall_abi::sim::{PATIENT, WHATEVER};

/// Threads of this process that run waves now, but for those that sleep in [`backoff`]: of a program's threads most
/// wait to be given something to do, and none of them wants a core meanwhile.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Counts the calling thread among those that run waves, until dropped.
pub(super) struct Running(());

impl Running {
    pub(super) fn new() -> Self {
        // A hint for `backoff`, ordered with nothing.
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // As in `new`.
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// The `attempt`-th wait in a row. About 10 µs of spinning if every waiting thread can have a core beside one that
/// serves, then sleeps that grow to 1 ms. Who is in no hurry ([`PATIENT`]) waits until it is woken.
///
/// Nobody yields: on a machine with other work that gives away the core for as long as the system lets anybody run,
/// milliseconds; a sleep ends when it is over. Nor does anybody spin for long: whoever is woken meanwhile to do what is
/// waited for may have to wait for the core that is spun on, until the system's clock ticks.
pub(super) fn backoff(attempt: u32) {
    const SPINS: u32 = 300;
    /// Sleeps of 10 µs before they grow.
    const SHORT: u32 = 32;
    // A hint: see `Running`.
    let alone = RUNNING.load(Ordering::Relaxed) < cores();
    let (spins, short) = if alone { (SPINS, SHORT) } else { (16, 4) };
    if attempt >= PATIENT {
        asleep(|| _ = wait_patiently(attempt & !PATIENT));
    } else if attempt < spins {
        std::hint::spin_loop();
    } else if attempt < spins + short {
        asleep(|| std::thread::sleep(Duration::from_micros(10)));
    } else {
        let step = (attempt - spins - short) / 4;
        asleep(|| std::thread::sleep(Duration::from_micros((20u64 << step.min(6)).min(1000))));
    }
}

fn asleep(wait: impl FnOnce()) {
    // As in `Running::new`, whose count this thread has.
    RUNNING.fetch_sub(1, Ordering::Relaxed);
    wait();
    RUNNING.fetch_add(1, Ordering::Relaxed);
}

/// Where the threads of patient lanes wait: at one of these each, by what they wait for. How often they were woken
/// there.
static WOKEN: [(Mutex<u64>, Condvar); 64] = [const { (Mutex::new(0), Condvar::new()) }; 64];

thread_local! {
    /// Where this thread waited last, and how often those there had been woken when it went on: it has looked since.
    static SEEN: Cell<(usize, u64)> = const { Cell::new((usize::MAX, 0)) };
}

/// The longest time that a patient lane waits without looking: not everything that ends a kernel wakes it.
const AT_MOST: Duration = Duration::from_millis(50);

/// Waits until somebody is to look, unless that was so since this thread looked last. Whether it was woken.
fn wait_patiently(what: u32) -> bool {
    let place = what as usize % WOKEN.len();
    let (count, changed) = &WOKEN[place];
    let count = count.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = SEEN.get();
    let waited = changed.wait_timeout_while(count, AT_MOST, |count| (place, *count) == seen);
    let (count, waited) = waited.unwrap_or_else(PoisonError::into_inner);
    SEEN.set((place, *count));
    !waited.timed_out()
}

/// Has patient lanes that wait for this look, or all of them ([`WHATEVER`]).
pub(super) fn wake_patient(what: u32) {
    for (place, (count, changed)) in WOKEN.iter().enumerate() {
        if what == WHATEVER || what as usize % WOKEN.len() == place {
            *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            changed.notify_all();
        }
    }
}

/// Lets the short sleeps of this thread be short: the system otherwise adds up to 50 µs to each.
pub(super) fn exact_sleeps() {
    #[cfg(target_os = "linux")]
    // SAFETY: it sets a number of the calling thread. A failure costs latency only.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_wave_that_sleeps_keeps_no_other_from_spinning() {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _running = Running::new();
                while !over.load(Ordering::Relaxed) {
                    backoff(PATIENT);
                }
            });
            let _this = Running::new();
            // Alone among those that are awake, sooner or later; a wave that was counted asleep would be waited for
            // until the limit.
            let start = std::time::Instant::now();
            while RUNNING.load(Ordering::Relaxed) != 1 || start.elapsed() < Duration::from_millis(20) {
                assert!(start.elapsed() < Duration::from_secs(60), "the other one sleeps");
                std::thread::yield_now();
            }
            over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn who_was_woken_before_it_waits_looks_once_more() {
        // A number that nobody else has here, and a thread that waited nowhere yet.
        const WHAT: u32 = 63;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(wait_patiently(WHAT), "it has not looked yet");
                // Until nobody wakes it, as the end of other kernels may.
                while wait_patiently(WHAT) {}
                wake_patient(WHAT + 64);
                assert!(wait_patiently(WHAT));
            });
        });
    }
}
