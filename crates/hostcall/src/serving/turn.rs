//! Turns of programs at a thread that serves.
//!
//! A thread looks at the ports of one program after another. While there are several, a turn ends after [`LONGEST`], as
//! well as when all that rang has been looked at. The next turn of the same program goes on where this one ended. What
//! has been taken is handled before the turn ends, so how many messages are taken at once is measured: as many as are
//! handled in the time of a turn.
//!
//! The clock is read for batches of messages, and only where it matters. It is not read while a server has one program,
//! and not for a message that is alone.

use std::time::{Duration, Instant};

/// The longest time that a thread serves one program while there are others, but for the messages that it is at.
const LONGEST: Duration = Duration::from_micros(100);
/// Messages that are taken at most before they are handled. Replies through a window are ordered behind what handlers
/// wrote by a fence that waits for those sent before: one for so many, not for each.
const MOST: usize = 64;
/// The same of a program of which nothing is known.
const FIRST: usize = 8;

/// How many messages of a program are taken before they are handled: what its last turns have shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtOnce(usize);

impl Default for AtOnce {
    fn default() -> Self {
        Self(FIRST)
    }
}

/// The turn of a program.
#[derive(Debug)]
pub(super) struct Turn {
    /// Whether there are other programs.
    shared: bool,
    at_once: AtOnce,
    /// Batches of messages that have been handled, and the time that was measured.
    batches: u32,
    used: Duration,
}

impl Default for Turn {
    fn default() -> Self {
        Self::new(false, AtOnce::default())
    }
}

impl Turn {
    pub(super) fn new(shared: bool, at_once: AtOnce) -> Self {
        Self { shared, at_once, batches: 0, used: Duration::ZERO }
    }

    /// For the program's next turn.
    pub(super) fn at_once(&self) -> AtOnce {
        self.at_once
    }

    /// Whether so many messages should be handled before more are taken.
    #[inline(always)]
    pub(super) fn is_enough(&self, messages: usize) -> bool {
        messages >= self.most()
    }

    /// Messages that are taken at most before they are handled.
    #[inline(always)]
    pub(super) fn most(&self) -> usize {
        if self.shared { self.at_once.0 } else { MOST }
    }

    /// A batch of messages is going to be handled: when that was, if the turn has to know.
    #[inline(always)]
    pub(super) fn begin(&self, messages: usize) -> Option<Instant> {
        let matters = self.shared && (messages > 1 || messages == 1 && (self.batches > 0 || self.at_once.0 == 1));
        matters.then(Instant::now)
    }

    /// It has been handled.
    #[inline(always)]
    pub(super) fn end(&mut self, messages: usize, began: Option<Instant>) {
        self.batches += u32::from(messages > 0);
        if let Some(began) = began {
            self.took(messages, began.elapsed());
        }
    }

    /// It is others' turn, however little this one has used.
    #[cold]
    pub(super) fn break_off(&mut self) {
        self.used = LONGEST;
    }

    fn took(&mut self, messages: usize, took: Duration) {
        self.used += took;
        let AtOnce(at_once) = &mut self.at_once;
        if took > LONGEST {
            // As many as there was time for.
            *at_once = (messages as u128 * LONGEST.as_nanos() / took.as_nanos()).max(1) as usize;
        } else if 2 * took < LONGEST && messages >= *at_once {
            *at_once = (2 * *at_once).min(MOST);
        }
    }

    /// Whether it is other programs' turn.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.used >= LONGEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_alone_has_no_turn_that_ends() {
        let mut turn = Turn::new(false, AtOnce(1));
        assert_eq!((turn.is_enough(63), turn.is_enough(64), turn.begin(64)), (false, true, None));
        turn.end(64, None);
        assert!(!turn.is_over());
    }

    #[test]
    fn no_clock_is_read_for_a_message_that_is_alone() {
        let mut turn = Turn::new(true, AtOnce(8));
        assert_eq!((turn.begin(0), turn.begin(1)), (None, None));
        turn.end(0, None);
        assert_eq!(turn.begin(1), None);
        turn.end(1, None);
        assert!(turn.begin(1).is_some(), "it is not alone");
        assert!(Turn::new(true, AtOnce(1)).begin(1).is_some(), "it is known to take long");
    }

    #[test]
    fn a_turn_ends_after_its_time_and_takes_as_many_messages_at_once_as_that_lets_it() {
        let mut turn = Turn::new(true, AtOnce::default());
        for expected in [16, 32, 64, 64] {
            turn.took(turn.at_once.0, Duration::from_micros(5));
            assert_eq!(turn.at_once.0, expected);
        }
        assert!(!turn.is_over());
        turn.took(64, LONGEST);
        assert!(turn.is_over() && turn.at_once.0 == 64);
        for (messages, took, expected) in [(64, 2 * LONGEST, 32), (32, 64 * LONGEST, 1), (1, 64 * LONGEST, 1)] {
            let mut next = Turn::new(true, turn.at_once());
            next.took(messages, took);
            assert_eq!((next.at_once.0, next.is_over()), (expected, true));
            turn = next;
        }
        let mut quick = Turn::new(true, turn.at_once());
        quick.took(1, LONGEST / 4);
        assert_eq!((quick.at_once.0, quick.is_over()), (2, false));
        // Of fewer than might be taken, of half of the time, and of all of it nothing is learnt.
        for (messages, took) in [(7, LONGEST / 4), (8, LONGEST / 2), (7, LONGEST)] {
            let mut turn = Turn::new(true, AtOnce(8));
            turn.took(messages, took);
            assert_eq!(turn.at_once.0, 8, "{messages} in {took:?}");
        }
    }
}
