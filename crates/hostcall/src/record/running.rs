//! The handlers that serving threads are in, for whoever waits too long.

use std::sync::atomic::{AtomicU64, Ordering};

/// The inline handler that a serving thread is in, as that thread says it: for messages, so that words of two calls may
/// be seen together.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// 0 for none, else [`Turn`].
    turn: AtomicU64,
    lanes: AtomicU64,
}

/// What a thread runs: of bits 0 to 15 the service's number, 16 to 35 the port, 36 to 62 how many have been run before,
/// 63 set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(u64);

impl Turn {
    pub(crate) fn service(self) -> u16 {
        self.0 as u16
    }

    pub(crate) fn port(self) -> u32 {
        (self.0 >> 16) as u32 & 0xf_ffff
    }
}

impl Running {
    /// The thread enters a handler for these lanes. `count` differs from the last time's.
    #[inline(always)]
    pub(crate) fn enter(&self, count: u64, service: u16, port: u32, lanes: u64) {
        // Both pair with `now`. Relaxed: they are told, and decide nothing.
        self.lanes.store(lanes, Ordering::Relaxed);
        let count = count & 0x7ff_ffff;
        self.turn.store(1 << 63 | count << 36 | u64::from(port) << 16 | u64::from(service), Ordering::Relaxed);
    }

    /// The thread has left it.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        // Pairs with `now`.
        self.turn.store(0, Ordering::Relaxed);
    }

    /// What it runs now, and for which lanes.
    pub(crate) fn now(&self) -> Option<(Turn, u64)> {
        // Pair with `enter` and `leave`.
        let turn = self.turn.load(Ordering::Relaxed);
        (turn != 0).then(|| (Turn(turn), self.lanes.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_runs_is_told_whole_and_two_turns_differ() {
        let running = Running::default();
        assert_eq!(running.now(), None);
        running.enter(u64::MAX, u16::MAX, 0xf_ffff, 3);
        let (first, lanes) = running.now().unwrap();
        assert_eq!((first.service(), first.port(), lanes), (u16::MAX, 0xf_ffff, 3));
        running.enter(0, u16::MAX, 0xf_ffff, 3);
        assert_ne!(running.now().unwrap().0, first);
        running.leave();
        assert_eq!(running.now(), None);
    }
}
