//! How long a thread sleeps that looks now and then for what nobody announces.

use std::time::Duration;

/// Times the naps between looks of one kind, so that all threads that look together take at most 1/[`SHARE`] of one
/// processor, whatever a look costs: each nap is at least [`SHARE`] times as long as the processor time that this
/// thread has taken since its last nap began.
///
/// [`SHARE`]: Heartbeat::SHARE
#[derive(Debug)]
pub struct Heartbeat {
    threads: u32,
    /// This thread's processor time when the last nap began.
    before: Duration,
}

impl Heartbeat {
    /// A look takes one part of so many of the time from one look to the next.
    pub const SHARE: u32 = 200;
    /// The shortest nap.
    pub const LEAST: Duration = Duration::from_millis(1);
    /// The longest nap. A look that takes more than [`MOST`](Self::MOST)/[`SHARE`](Self::SHARE) of processor time costs
    /// more than its share.
    pub const MOST: Duration = Duration::from_millis(100);

    /// Silence after which a kernel that nobody has announced is taken to have ended: until then the thread looks as
    /// often as for one that is known to run.
    pub const LINGER: Duration = Duration::from_millis(20);

    /// The heartbeat of the calling thread, which is one of `threads` that look.
    pub fn new(threads: usize) -> Self {
        Self { threads: u32::try_from(threads).unwrap_or(u32::MAX), before: thread_time() }
    }

    /// How long the calling thread is to sleep now.
    pub fn nap(&mut self) -> Duration {
        let now = thread_time();
        let cost = now.saturating_sub(std::mem::replace(&mut self.before, now));
        Self::after(cost, self.threads)
    }

    /// The nap after a look that took so much processor time.
    fn after(cost: Duration, threads: u32) -> Duration {
        cost.saturating_mul(Self::SHARE.saturating_mul(threads)).clamp(Self::LEAST, Self::MOST)
    }
}

/// Processor time that the calling thread has taken; nothing where the system does not say it.
#[cfg(unix)]
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the result goes into a local.
    if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) } != 0 {
        return Duration::ZERO;
    }
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn naps_are_so_long_that_looks_take_their_share() {
        let after = |micros, threads| Heartbeat::after(Duration::from_micros(micros), threads);
        assert_eq!(after(0, 1), Heartbeat::LEAST);
        assert_eq!(after(5, 1), Heartbeat::LEAST);
        assert_eq!(after(40, 1), Duration::from_millis(8));
        assert_eq!(after(40, 4), Duration::from_millis(32), "four threads take the share of one together");
        assert_eq!(after(1_000_000, u32::MAX), Heartbeat::MOST);
    }

    #[test]
    #[cfg(unix)]
    fn what_a_thread_has_computed_since_its_last_nap_makes_the_next_one_longer() {
        let mut heartbeat = Heartbeat::new(1);
        let begun = thread_time();
        let mut sum = 0u64;
        while thread_time() - begun < Duration::from_millis(2) {
            sum = std::hint::black_box(sum + 1);
        }
        assert_eq!(heartbeat.nap(), Heartbeat::MOST, "two milliseconds are more than the longest nap makes up for");
        std::thread::sleep(Duration::from_millis(20));
        assert!(heartbeat.nap() < Heartbeat::MOST, "sleep is no processor time");
    }
}
