//! How a waiting thread spends its time: it spins while that is likely to be short, then lets others run, then sleeps longer and longer.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Threads of this process that run waves now, but for those that sleep in [`backoff`]: of a program's threads most wait to be given something to do,
/// and none of them wants a core meanwhile.
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

/// The `attempt`-th wait in a row. About 10 µs of spinning if every waiting thread can have a core beside one that serves, then sleeps that grow to
/// 1 ms. Who has waited 2³¹ times is asleep, or says so because it is in no hurry: 8 ms.
///
/// Nobody yields: on a machine with other work that gives away the core for as long as the system lets anybody run, milliseconds; a sleep ends when it
/// is over. Nor does anybody spin for long: whoever is woken meanwhile to do what is waited for may have to wait for the core that is spun on, until
/// the system's clock ticks.
pub(super) fn backoff(attempt: u32) {
    const SPINS: u32 = 300;
    /// Sleeps of 10 µs before they grow.
    const SHORT: u32 = 32;
    // A hint: see `Running`.
    let spins = if RUNNING.load(Ordering::Relaxed) < cores() { SPINS } else { 16 };
    if attempt >= 1 << 31 {
        sleep(Duration::from_millis(8));
    } else if attempt < spins {
        std::hint::spin_loop();
    } else if attempt < spins + SHORT {
        sleep(Duration::from_micros(10));
    } else {
        let step = (attempt - spins - SHORT) / 4;
        sleep(Duration::from_micros((20u64 << step.min(6)).min(1000)));
    }
}

fn sleep(time: Duration) {
    // As in `Running::new`, whose count this thread has.
    RUNNING.fetch_sub(1, Ordering::Relaxed);
    std::thread::sleep(time);
    RUNNING.fetch_add(1, Ordering::Relaxed);
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
                    backoff(1 << 31);
                }
            });
            let _this = Running::new();
            // Alone among those that are awake, sooner or later; a wave that was counted asleep would be waited for until the limit.
            let start = std::time::Instant::now();
            while RUNNING.load(Ordering::Relaxed) != 1 || start.elapsed() < Duration::from_millis(20) {
                assert!(start.elapsed() < Duration::from_secs(60), "the other one sleeps");
                std::thread::yield_now();
            }
            over.store(true, Ordering::Relaxed);
        });
    }
}
