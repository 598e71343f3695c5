//! When a serving thread spins, yields, sleeps or parks.
//!
//! While calls arrive, threads spin, so that the next call is answered at once. After [`Pace::SPIN`] without a call
//! they yield their processor after each sweep. After [`Pace::YIELD`] all but one park. That one, the *watch*, sweeps
//! the ports of all threads and sleeps [`Wake::NAP`] in between. When it finds more than a trickle it wakes the others.
//! When a handler keeps the watch for long, one of the others sees that it stands still ([`Wake::HEARTBEAT`]), and is
//! the watch from then on. With no kernel in flight (*disarmed*) all of them park, and cost nothing; where a program
//! may be launched by others, of which nobody tells, one of them keeps a [heartbeat](super::threads) instead.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Whether kernels are in flight, and who watches.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    armed: AtomicUsize,
    /// Whether one more reason is what a heartbeat has found.
    lent: AtomicBool,
    /// Times that somebody has woken the threads.
    woken: AtomicU64,
    /// Which thread watches, counted from 1; 0: none.
    watch: AtomicUsize,
    /// Turns of the watches so far.
    beats: AtomicU64,
}

impl Wake {
    /// Sleep of the watch between sweeps. The system adds a few µs.
    pub(crate) const NAP: Duration = Duration::from_micros(40);
    /// The same where waves [help](super::help): what is left to the watch are messages that nobody waits for, and a
    /// watch that looks more often takes the others from those who would answer them sooner.
    pub(crate) const LONG_NAP: Duration = Duration::from_millis(1);
    /// Messages in one sweep that the watch serves alone.
    pub(crate) const ALONE: u32 = 4;
    /// Time without a pause in calls after which the watch wakes the others.
    pub(crate) const BUSY: Duration = Duration::from_micros(200);

    /// How often a thread that leaves its ports to the watch looks whether the watch goes on.
    pub(crate) const HEARTBEAT: Duration = Duration::from_millis(10);

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
        self.armed.load(Ordering::Acquire) > 0 || self.is_lent()
    }

    /// A heartbeat has found something: a reason to be awake, until it is [taken back](Self::take_back).
    pub(crate) fn lend(&self) {
        // Pairs with `is_lent`. Release, as in `arm`.
        self.lent.store(true, Ordering::Release);
    }

    /// Whether a heartbeat has found something that may go on.
    pub(crate) fn is_lent(&self) -> bool {
        // Pairs with `lend` and `take_back`.
        self.lent.load(Ordering::Acquire)
    }

    /// What a heartbeat has found is over.
    pub(crate) fn take_back(&self) {
        // Pairs with `is_lent`.
        self.lent.store(false, Ordering::Release);
    }

    /// Whoever wakes the threads says so before.
    pub(crate) fn wakes(&self) {
        // Pairs with the load in `woken`. Release: who sees the number sees what the threads are woken for.
        self.woken.fetch_add(1, Ordering::Release);
    }

    /// Times that somebody has woken the threads.
    pub(crate) fn woken(&self) -> u64 {
        // Pairs with `wakes`.
        self.woken.load(Ordering::Acquire)
    }

    /// Turns of the watches so far: the same number as a while ago, if there is none that goes on.
    pub(crate) fn beats(&self) -> u64 {
        // Pairs with nothing: who sees an old number takes over from a watch that goes on, which is then no longer the
        // watch.
        self.beats.load(Ordering::Relaxed)
    }

    /// Thread `index` is now the watch: if there is none, or in place of one that has not moved since it was at
    /// `beats`.
    pub(crate) fn take_watch(&self, index: usize, still_at: Option<u64>) -> Option<Watch<'_>> {
        let me = index + 1;
        // Pairs with `Watch::drop`.
        let other = self.watch.load(Ordering::Acquire);
        let is_free = other == 0 || (other != me && still_at == Some(self.beats()));
        // (Made only then: one that is dropped would end the other thread's watch.)
        (is_free && self.watch.compare_exchange(other, me, Ordering::AcqRel, Ordering::Relaxed).is_ok()).then(|| Watch { wake: self, me })
    }
}

/// While it lives, its thread is the watch, unless another thread took over.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    wake: &'a Wake,
    me: usize,
}

impl Watch<'_> {
    /// One more turn. False: another thread has taken over.
    pub(crate) fn goes_on(&self) -> bool {
        // As in `beats`.
        self.wake.beats.fetch_add(1, Ordering::Relaxed);
        // Pairs with `take_watch`: what the other thread was given is not ours.
        self.wake.watch.load(Ordering::Acquire) == self.me
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // Pairs with `take_watch`. If another thread has taken over, it stays.
        let _ = self.wake.watch.compare_exchange(self.me, 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// Whose the processors are that serving threads run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manners {
    /// Theirs.
    #[default]
    Eager,
    /// They share them with the kernels that they serve: the simulator's. To yield would give a processor away for as
    /// long as the system lets anybody run, which is milliseconds if there is other work; and while they spin, none of
    /// the threads that they have woken may get to run.
    Modest,
    /// Waves serve the ports themselves while they wait, and are in no need of them.
    Helped,
}

/// How long a thread has had nothing to do.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Sweeps since the last that served something.
    empty: u32,
    /// A modest thread spins for a short time only, and sleeps where others yield; one that is helped does neither.
    manners: Manners,
    idle_since: Option<Instant>,
    busy_since: Option<Instant>,
}

impl Pace {
    /// Idle time during which a thread spins.
    const SPIN: Duration = Duration::from_micros(50);
    /// Idle time after which a thread gives up its processor.
    const YIELD: Duration = Duration::from_micros(500);
    /// Empty sweeps from one look at the clock to the next while a thread spins: reading it takes as long as sweeping a
    /// few hundred ports.
    const UNTIMED: u32 = 16;

    /// Idle time during which a modest thread spins.
    const BRIEF: Duration = Duration::from_micros(10);
    /// Sleep of a modest thread where others yield.
    const DOZE: Duration = Duration::from_micros(5);

    pub(crate) fn new(manners: Manners) -> Self {
        Self { manners, ..Self::default() }
    }

    /// After a sweep that served `served` messages. True: nothing came for so long that the thread should rest.
    pub(crate) fn next(&mut self, served: u32) -> bool {
        if served > 0 {
            (self.empty, self.idle_since) = (0, None);
            return false;
        }
        self.empty += 1;
        if self.manners == Manners::Helped {
            return true;
        }
        if self.empty < Self::UNTIMED {
            return false;
        }
        let idle = self.idle_since.get_or_insert_with(Instant::now).elapsed();
        let spin = if self.manners == Manners::Modest { Self::BRIEF } else { Self::SPIN };
        if idle < spin {
            std::hint::spin_loop();
            self.empty = 0;
            false
        } else if idle < Self::YIELD {
            if self.manners == Manners::Modest {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_stands_still_is_replaced_and_ends_no_other_watch() {
        let wake = Wake::default();
        let first = wake.take_watch(0, None).expect("nobody watches");
        let before = wake.beats();
        assert!(first.goes_on());
        assert!(wake.take_watch(1, Some(before)).is_none(), "it has moved since");
        let second = wake.take_watch(1, Some(wake.beats())).expect("it has not moved");
        assert!(!first.goes_on() && second.goes_on());
        drop(first);
        assert!(second.goes_on() && wake.take_watch(2, None).is_none(), "the second watch is not the first one's to end");
        drop(second);
        assert!(wake.take_watch(2, None).is_some());
    }

    #[test]
    fn what_a_heartbeat_has_found_is_a_reason_to_be_awake_until_it_is_over() {
        let wake = Wake::default();
        assert!(!wake.is_armed());
        wake.lend();
        assert!(wake.is_armed() && wake.is_lent());
        wake.arm();
        wake.take_back();
        assert!(wake.is_armed() && !wake.is_lent(), "a launch is another reason");
        wake.disarm();
        assert!(!wake.is_armed());
    }

    #[test]
    fn only_a_thread_that_waves_help_rests_at_once() {
        assert!(Pace::new(Manners::Helped).next(0));
        for manners in [Manners::Eager, Manners::Modest] {
            let mut pace = Pace::new(manners);
            assert!((1..Pace::UNTIMED).all(|_| !pace.next(0)), "{manners:?}");
            while !pace.next(0) {}
            assert!(!pace.next(1), "it serves again");
        }
    }
}
