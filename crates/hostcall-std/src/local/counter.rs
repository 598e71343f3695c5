//! Counters that can be waited for (`eventfd`).

use super::numbers::{EPOLLIN, EPOLLOUT};
use super::wake::Listeners;
use crate::abi::errno::{EAGAIN, EINVAL};
use crate::error::Errno;
use core::sync::atomic::{AtomicU64, Ordering};

/// The most that a counter holds.
const MOST: u64 = u64::MAX - 1;

/// A counter: writing adds to it, reading takes all of it, or of a semaphore 1.
pub(crate) struct Counter {
    value: AtomicU64,
    semaphore: bool,
    pub(crate) listeners: Listeners,
}

impl Counter {
    pub(crate) const fn new(value: u64, semaphore: bool) -> Self {
        Self { value: AtomicU64::new(value), semaphore, listeners: Listeners::new() }
    }

    pub(crate) fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let Some(into) = into.first_chunk_mut::<8>() else { return Err(Errno(EINVAL)) };
        let left = |value: u64| match value {
            0 => None,
            _ if self.semaphore => Some(value - 1),
            _ => Some(0),
        };
        // Acquire and release, here and in `write`: what a writer did before is seen by whom it lets go on.
        let before = self.value.fetch_update(Ordering::AcqRel, Ordering::Acquire, left).map_err(|_| Errno(EAGAIN))?;
        *into = if self.semaphore { 1u64 } else { before }.to_ne_bytes();
        self.listeners.tell(EPOLLOUT);
        Ok(8)
    }

    pub(crate) fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        let more = u64::from_ne_bytes(*from.first_chunk::<8>().ok_or(Errno(EINVAL))?);
        if more > MOST {
            return Err(Errno(EINVAL));
        }
        let sum = |value: u64| value.checked_add(more).filter(|sum| *sum <= MOST);
        self.value.fetch_update(Ordering::AcqRel, Ordering::Acquire, sum).map_err(|_| Errno(EAGAIN))?;
        self.listeners.tell(EPOLLIN);
        Ok(8)
    }

    pub(crate) fn ready(&self) -> u32 {
        let value = self.value.load(Ordering::Acquire);
        (if value > 0 { EPOLLIN } else { 0 }) | if value < MOST { EPOLLOUT } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(counter: &Counter) -> Result<u64, Errno> {
        let mut into = [0; 8];
        counter.read(&mut into).map(|_| u64::from_ne_bytes(into))
    }

    #[test]
    fn a_counter_gives_its_sum_and_a_semaphore_ones() {
        let counter = Counter::new(3, false);
        assert_eq!(counter.write(&4u64.to_ne_bytes()), Ok(8));
        assert_eq!((read(&counter), read(&counter)), (Ok(7), Err(Errno(EAGAIN))));
        let semaphore = Counter::new(2, true);
        assert_eq!([read(&semaphore), read(&semaphore), read(&semaphore)], [Ok(1), Ok(1), Err(Errno(EAGAIN))]);
    }

    #[test]
    fn a_counter_never_overflows() {
        let counter = Counter::new(0, false);
        assert_eq!(counter.write(&u64::MAX.to_ne_bytes()), Err(Errno(EINVAL)));
        assert_eq!(counter.write(&MOST.to_ne_bytes()), Ok(8));
        assert_eq!((counter.write(&1u64.to_ne_bytes()), counter.ready()), (Err(Errno(EAGAIN)), EPOLLIN));
        assert_eq!((counter.write(&[0; 7]), counter.read(&mut [0; 7])), (Err(Errno(EINVAL)), Err(Errno(EINVAL))));
        assert_eq!((read(&counter), counter.ready()), (Ok(MOST), EPOLLOUT));
    }
}
