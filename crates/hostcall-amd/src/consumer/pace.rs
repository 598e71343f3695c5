//! What is known of services: whose handlers return soon, and whose block.
//!
//! A table of as many places as a line or two of memory has. Each place is one service's; two that share one lose what
//! is known of the other, which is learned again. All words are relaxed: what is known only makes it likely that the
//! lead changes hands in time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A handler that returned sooner has not blocked. It is the time between two looks of the watcher.
pub(super) const SOON: Duration = Duration::from_millis(1);
/// So many calls in a row must return soon before a service that has blocked is no longer expected to.
const TRUST: u64 = 32;
const PLACES: usize = 32;

/// What is known of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Unknown,
    Quick,
    Blocks,
}

/// What is known of all services. A place has a service in its lower half and above it 0 for one of which nothing is
/// known, 1 for one that is quick, and for one that blocks one more than the calls that must return soon.
#[derive(Debug, Default)]
pub(super) struct Paces([AtomicU64; PLACES]);

const QUICK: u64 = 1;

fn entry(service: u32, state: u64) -> u64 {
    u64::from(service) | state << 32
}

impl Paces {
    fn place(&self, service: u32) -> &AtomicU64 {
        // 2^32 divided by the golden ratio: the upper bits have the most of it.
        &self.0[(service.wrapping_mul(0x9e37_79b9) >> 27) as usize % PLACES]
    }

    /// The state in a service's place, if it is this service's.
    fn state(&self, service: u32) -> u64 {
        let entry = self.place(service).load(Ordering::Relaxed);
        if entry as u32 == service { entry >> 32 } else { 0 }
    }

    /// What is known of a service.
    pub(super) fn of(&self, service: u32) -> Pace {
        match self.state(service) {
            0 => Pace::Unknown,
            QUICK => Pace::Quick,
            _ => Pace::Blocks,
        }
    }

    /// A handler returned, and its thread still led.
    pub(super) fn quick(&self, service: u32) {
        let place = self.place(service);
        // What blocks is worth more than what does not.
        if place.load(Ordering::Relaxed) >> 32 <= QUICK {
            place.store(entry(service, QUICK), Ordering::Relaxed);
        }
    }

    /// A handler was found to block.
    pub(super) fn blocked(&self, service: u32) {
        self.place(service).store(entry(service, QUICK + TRUST), Ordering::Relaxed);
    }

    /// A handler of a service that was expected to block has returned.
    pub(super) fn ended(&self, service: u32, soon: bool) {
        match self.state(service) {
            _ if !soon => self.blocked(service),
            0 => self.quick(service),
            QUICK => {}
            more => self.place(service).store(entry(service, more - 1), Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_has_blocked_is_expected_to_until_it_has_returned_soon_many_times_in_a_row() {
        for service in [0, 1, 23, u32::MAX] {
            let paces = Paces::default();
            assert_eq!(paces.of(service), Pace::Unknown);
            paces.quick(service);
            assert_eq!(paces.of(service), Pace::Quick);
            paces.blocked(service);
            for _ in 0..TRUST - 1 {
                paces.ended(service, true);
            }
            assert_eq!(paces.of(service), Pace::Blocks);
            paces.ended(service, false);
            for _ in 0..TRUST - 1 {
                paces.ended(service, true);
            }
            assert_eq!(paces.of(service), Pace::Blocks, "once in a while is enough");
            paces.ended(service, true);
            assert_eq!(paces.of(service), Pace::Quick);
        }
    }

    #[test]
    fn a_quick_service_takes_no_place_from_one_that_blocks() {
        let paces = Paces::default();
        let same = (1..).find(|other| std::ptr::eq(paces.place(0), paces.place(*other))).unwrap();
        paces.blocked(same);
        paces.quick(0);
        assert_eq!((paces.of(0), paces.of(same)), (Pace::Unknown, Pace::Blocks));
        paces.blocked(0);
        assert_eq!((paces.of(0), paces.of(same)), (Pace::Blocks, Pace::Unknown));
    }
}
