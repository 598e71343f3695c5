//! Whether somebody looks at a word for long before they sleep.
//!
//! Sleeping and being woken takes some ten microseconds, so who is answered sooner should look for so long. Where the
//! answer takes longer, or where the one who has it needs the same processor, looking only delays. Which it is cannot
//! be told from looks that succeed: two that sleep on each other are both too late for a short look, and find nothing,
//! however near they are. So a waiter *tries*. A long look that fails makes it wait for twice as many short sleeps as
//! before until the next long look; one that succeeds for half as many.
//!
//! Nobody yields between two looks: on a busy machine that gives the processor away for milliseconds, where who sleeps
//! is woken at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Looks that are always made, and between two looks at the clock: about a microsecond.
const FIRST: u32 = 32;
/// How long a long look is. A sleep that ended sooner would have been worth looking for.
const LONG: Duration = Duration::from_micros(50);
/// Short sleeps between two long looks, at most: looking in vain costs a twentieth of a microsecond a call then.
const MOST: u32 = 1024;

/// Learns whether to look for long. Its words are relaxed: a lost update makes a long look come a little sooner or
/// later, and nothing depends on it.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Short sleeps until the next long look; 0: the next is one.
    rest: AtomicU32,
    /// What `rest` was last set to.
    last: AtomicU32,
}

/// A look that found nothing: when it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InVain(Instant);

impl Patience {
    pub(crate) const fn new() -> Patience {
        Patience { rest: AtomicU32::new(0), last: AtomicU32::new(1) }
    }

    /// Looks until there is something.
    ///
    /// # Errors
    /// Patience ended.
    pub(crate) fn look<T>(&self, mut look: impl FnMut() -> Option<T>) -> Result<T, InVain> {
        let mut first = || {
            for _ in 0..FIRST {
                let found = look();
                if found.is_some() {
                    return found;
                }
                std::hint::spin_loop();
            }
            None
        };
        if let Some(found) = first() {
            return Ok(found);
        }
        let begin = Instant::now();
        if self.rest.load(Ordering::Relaxed) > 0 {
            return Err(InVain(begin));
        }
        while begin.elapsed() < LONG {
            if let Some(found) = first() {
                self.succeeded();
                return Ok(found);
            }
        }
        self.failed();
        Err(InVain(begin))
    }

    /// Learns from a long look that found something.
    fn succeeded(&self) {
        let last = self.last.load(Ordering::Relaxed);
        if last > 1 {
            self.last.store(last / 2, Ordering::Relaxed);
        }
    }

    /// Learns from a long look that found nothing.
    fn failed(&self) {
        let next = (2 * self.last.load(Ordering::Relaxed)).min(MOST);
        self.last.store(next, Ordering::Relaxed);
        self.rest.store(next, Ordering::Relaxed);
    }

    /// Learns from the sleep that followed a look in vain, when it has ended.
    pub(crate) fn slept(&self, after: InVain) {
        self.learn(after.0.elapsed());
    }

    /// Learns that something came during a sleep and could not end it. When that was nobody knows; so one such sleep
    /// counts for half of those that are left until the next long look.
    pub(crate) fn missed(&self) {
        self.rest.store(self.rest.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
    }

    fn learn(&self, waited: Duration) {
        let rest = self.rest.load(Ordering::Relaxed);
        if rest > 0 && waited <= LONG {
            self.rest.store(rest - 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(10);

    /// How many short sleeps it takes until the next look is a long one.
    fn rests(patience: &Patience) -> u32 {
        let mut sleeps = 0;
        while patience.rest.load(Ordering::Relaxed) > 0 {
            patience.learn(SHORT);
            sleeps += 1;
        }
        sleeps
    }

    fn in_vain(patience: &Patience) -> u32 {
        let mut looks = 0;
        let found = patience.look(|| {
            looks += 1;
            None::<()>
        });
        assert!(found.is_err());
        looks
    }

    #[test]
    fn long_looks_that_fail_become_rare_and_those_that_succeed_frequent_again() {
        let patience = Patience::new();
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 512, MOST, MOST] {
            in_vain(&patience);
            assert_eq!(rests(&patience), expected);
        }
        patience.succeeded();
        patience.succeeded();
        in_vain(&patience);
        assert_eq!(rests(&patience), MOST / 2);
        (0..20).for_each(|_| patience.succeeded());
        in_vain(&patience);
        assert_eq!(rests(&patience), 2);
    }

    #[test]
    fn who_sleeps_through_what_cannot_wake_it_looks_for_long_again_soon() {
        let patience = Patience::new();
        for _ in 0..12 {
            in_vain(&patience);
            let mut missed = 0;
            while in_vain(&patience) == FIRST {
                patience.missed();
                missed += 1;
            }
            assert!(missed <= MOST.ilog2() + 1, "{missed}");
        }
    }

    #[test]
    fn what_a_look_finds_is_returned() {
        assert!(matches!(Patience::new().look(|| Some(7)), Ok(7)));
    }

    #[test]
    fn who_only_finds_what_is_late_by_sleeping_shortly_looks_for_long_again() {
        let patience = Patience::new();
        in_vain(&patience);
        assert_eq!(in_vain(&patience), FIRST, "no long look before it has slept");
        (0..20).for_each(|_| patience.learn(Duration::from_millis(10)));
        assert_eq!(in_vain(&patience), FIRST, "long sleeps are no reason to look");
        assert_eq!(rests(&patience), 2, "short ones are, although no look has succeeded");
    }
}
