//! When a serving thread spins, yields, sleeps or parks.
//!
//! While calls arrive, threads spin, so that the next call is answered at once. After [`Pace::SPIN`] without a call
//! they yield their processor after each sweep. After [`Pace::YIELD`] all but one park. That one, the *watch*, sweeps
//! the ports of all threads and sleeps [`Wake::NAP`] in between. When it finds more than a trickle it wakes the
//! others. With no kernel in flight (*disarmed*) all of them park, and cost nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Whether kernels are in flight, and who watches.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    armed: AtomicUsize,
    watched: AtomicBool,
}

impl Wake {
    /// Sleep of the watch between sweeps. The system adds a few µs.
    pub(crate) const NAP: Duration = Duration::from_micros(40);
    /// Messages in one sweep that the watch serves alone.
    pub(crate) const ALONE: u32 = 4;
    /// Time without a pause in calls after which the watch wakes the others.
    pub(crate) const BUSY: Duration = Duration::from_micros(200);

    /// One more reason to be awake. The caller then wakes the threads.
    pub(crate) fn arm(&self) {
        // Pairs with `is_armed`. Release, with the unparking: a woken thread sees it.
        self.armed.fetch_add(1, Ordering::Release);
    }

    /// One reason less.
    pub(crate) fn disarm(&self) {
        // Pairs with `is_armed`.
        self.armed.fetch_sub(1, Ordering::Release);
    }

    /// Whether calls may come.
    pub(crate) fn is_armed(&self) -> bool {
        // Pairs with `arm` and `disarm`.
        self.armed.load(Ordering::Acquire) > 0
    }

    /// The caller is now the watch, unless another thread is.
    pub(crate) fn take_watch(&self) -> Option<Watch<'_>> {
        // Pairs with `Watch::drop`.
        // (Made only then: one that is dropped would end the other thread's watch.)
        (!self.watched.swap(true, Ordering::AcqRel)).then(|| Watch(self))
    }
}

/// While it lives, its thread is the watch.
#[derive(Debug)]
pub(crate) struct Watch<'a>(&'a Wake);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // Pairs with `take_watch`.
        self.0.watched.store(false, Ordering::Release);
    }
}

/// How long a thread has had nothing to do.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Sweeps since the last that served something.
    empty: u32,
    /// Whether it spins for a short time only, and sleeps where others yield.
    modest: bool,
    idle_since: Option<Instant>,
    busy_since: Option<Instant>,
}

impl Pace {
    /// Idle time during which a thread spins.
    const SPIN: Duration = Duration::from_micros(50);
    /// Idle time after which a thread gives up its processor.
    const YIELD: Duration = Duration::from_micros(500);
    /// Empty sweeps from one look at the clock to the next while a thread spins: reading it takes as long as sweeping a few hundred ports.
    const UNTIMED: u32 = 16;

    /// Idle time during which a modest thread spins.
    const BRIEF: Duration = Duration::from_micros(10);
    /// Sleep of a modest thread where others yield.
    const DOZE: Duration = Duration::from_micros(5);

    /// Of a thread that shares its processor with the kernels that it serves: the simulator's. To yield would give it away for as long as the system lets
    /// anybody run, which is milliseconds if there is other work;
    /// and while it spins, none of the threads that it has woken may get to run.
    pub(crate) fn new(modest: bool) -> Self {
        Self { modest, ..Self::default() }
    }

    /// After a sweep that served `served` messages. True: nothing came for so long that the thread should rest.
    pub(crate) fn next(&mut self, served: u32) -> bool {
        if served > 0 {
            (self.empty, self.idle_since) = (0, None);
            return false;
        }
        self.empty += 1;
        if self.empty < Self::UNTIMED {
            return false;
        }
        let idle = self.idle_since.get_or_insert_with(Instant::now).elapsed();
        let spin = if self.modest { Self::BRIEF } else { Self::SPIN };
        if idle < spin {
            std::hint::spin_loop();
            self.empty = 0;
            false
        } else if idle < Self::YIELD {
            if self.modest {
                std::thread::sleep(Self::DOZE);
            } else {
                std::thread::yield_now();
            }
            false
        } else {
            true
        }
    }

    /// Whether every sweep for this long has served something.
    pub(crate) fn is_busy_for(&mut self, served: u32, time: Duration) -> bool {
        if served == 0 {
            self.busy_since = None;
            return false;
        }
        self.busy_since.get_or_insert_with(Instant::now).elapsed() > time
    }
}

/// Lets this thread's short sleeps be short: the system otherwise adds up to 50 µs to each.
pub(crate) fn exact_sleeps() {
    #[cfg(target_os = "linux")]
    // A failure costs latency only.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
