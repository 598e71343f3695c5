//! Freed memory that is kept for the next allocation of its size.
//!
//! The driver frees when no queue has work, and its allocation takes microseconds. So small blocks of device memory are
//! kept when they are freed, by size (powers of two), and given out again when no queue can still be using them: every
//! queue counts its works ([`Work`]), a freed block remembers what the queues had left to do, and a queue that was
//! waited for says how far it is. Nothing of that asks the driver. Where a queue has not been waited for, memory comes
//! from the driver, as if there were no cache.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use offload::cuda::flat::{Before, Work, is_past};

/// The largest block that is kept.
pub(super) const LARGEST: usize = 1 << 20;

/// The smallest: what the driver gives at least.
const SMALLEST: usize = 256;

/// Freed blocks of one device.
pub(super) struct Cache<B> {
    /// The most bytes that are kept.
    limit: usize,
    state: Mutex<State<B>>,
}

struct State<B> {
    bytes: usize,
    /// By size, the one that was freed first in front, each with what was left to do when it was freed.
    classes: BTreeMap<usize, VecDeque<(Before, B)>>,
}

/// The size of the blocks that an allocation is served from; `None` if it is too large.
pub(super) fn class_of(size: usize) -> Option<usize> {
    (size <= LARGEST).then(|| size.next_power_of_two().max(SMALLEST))
}

impl<B> Cache<B> {
    pub(super) fn new(limit: usize) -> Cache<B> {
        Cache { limit, state: Mutex::new(State { bytes: 0, classes: BTreeMap::new() }) }
    }

    /// A block of a class that no queue uses any more.
    pub(super) fn take(&self, class: usize) -> Option<B> {
        let mut state = self.lock();
        let blocks = state.classes.get_mut(&class)?;
        let (before, _) = blocks.front_mut()?;
        if !is_past(before) {
            return None;
        }
        let (_, block) = blocks.pop_front()?;
        state.bytes -= class;
        Some(block)
    }

    /// Keeps a block that was freed just now. Blocks that are too many are given back.
    pub(super) fn keep(&self, class: usize, block: B, work: &Work) {
        let (mut over, before) = (Vec::new(), work.before());
        let mut state = self.lock();
        state.classes.entry(class).or_default().push_back((before, block));
        state.bytes += class;
        while state.bytes > self.limit {
            // The largest first: they make room for many.
            let Some(mut largest) = state.classes.last_entry() else { break };
            let (class, block) = (*largest.key(), largest.get_mut().pop_front());
            if largest.get().is_empty() {
                largest.remove();
            }
            if block.is_some() {
                state.bytes -= class;
            }
            over.extend(block);
        }
        drop(state);
        drop(over);
    }

    /// Gives everything back; whether there was anything.
    pub(super) fn clear(&self) -> bool {
        let mut state = self.lock();
        state.bytes = 0;
        let all = std::mem::take(&mut state.classes);
        drop(state);
        !all.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_block_is_given_out_again_when_the_work_before_its_free_was_waited_for() {
        let (work, cache) = (Work::default(), Cache::new(1 << 20));
        let (first, second) = (work.queue(), work.queue());
        cache.keep(256, "idle", &work);
        assert_eq!(cache.take(512), None);
        assert_eq!(cache.take(256), Some("idle"));
        drop((first.begin(), second.begin()));
        cache.keep(256, "used", &work);
        // Work that comes later does not matter.
        drop(second.begin());
        assert_eq!(cache.take(256), None);
        first.waited(first.latest());
        assert_eq!(cache.take(256), None, "the second queue may still use it");
        second.waited(1);
        assert_eq!(cache.take(256), Some("used"));
        assert_eq!(cache.take(256), None, "it is given out once");
    }

    #[test]
    fn a_queue_that_was_closed_with_work_in_it_keeps_blocks_from_being_given_out() {
        let (work, cache) = (Work::default(), Cache::new(1 << 20));
        let (done, busy) = (work.queue(), work.queue());
        drop(done.begin());
        done.waited(done.latest());
        drop(busy.begin());
        work.close(&done);
        work.close(&busy);
        cache.keep(256, (), &work);
        assert_eq!(cache.take(256), None);
        busy.waited(busy.latest());
        work.close(&busy);
        assert_eq!(cache.take(256), Some(()));
    }

    #[test]
    fn no_more_is_kept_than_the_bound_and_everything_else_is_given_back() {
        let (work, cache) = (Work::default(), Cache::new(4096));
        let live = Arc::new(());
        for size in [100, 1000, 2000, 3000, 100, 256] {
            cache.keep(class_of(size).unwrap(), live.clone(), &work);
        }
        // The block of 4096 has gone.
        assert_eq!((Arc::strong_count(&live), cache.lock().bytes), (1 + 5, 256 * 3 + 1024 + 2048));
        assert!(cache.clear() && !cache.clear());
        assert_eq!((Arc::strong_count(&live), cache.lock().bytes), (1, 0));
        cache.keep(8192, live.clone(), &work);
        assert_eq!(Arc::strong_count(&live), 1, "one that is larger than all there is room for is not kept");
    }

    #[test]
    fn sizes_are_served_from_powers_of_two() {
        assert_eq!([1, 256, 257, LARGEST].map(class_of), [Some(256), Some(256), Some(512), Some(LARGEST)]);
        assert_eq!((class_of(LARGEST + 1), class_of(usize::MAX)), (None, None));
    }

    #[test]
    fn threads_that_allocate_and_free_never_share_a_block() {
        let (work, cache) = (Work::default(), Cache::new(1 << 20));
        (0..4).for_each(|block| cache.keep(256, block, &work));
        let owners: [AtomicU64; 4] = Default::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let queue = work.queue();
                    for _ in 0..2000 {
                        let Some(block) = cache.take(256) else { continue };
                        assert_eq!(owners[block].fetch_add(1, Ordering::AcqRel), 0, "one owner");
                        let putting = queue.begin();
                        assert_eq!(owners[block].fetch_sub(1, Ordering::AcqRel), 1);
                        drop(putting);
                        queue.waited(queue.latest());
                        cache.keep(256, block, &work);
                    }
                    work.close(&queue);
                });
            }
        });
        assert_eq!((0..4).filter_map(|_| cache.take(256)).sum::<usize>(), 6, "all are there");
    }
}
