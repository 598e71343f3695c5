//! Freed memory that is kept for the next allocation of its size.
//!
//! The driver's free waits for the whole device, and its allocation takes microseconds. So small blocks of device memory are kept when they are freed, by
//! size (powers of two), and given out again when no queue can still be using them: every work has a number, a freed block remembers the latest one,
//! and a queue that was waited for says how far it is. Nothing of that asks the driver. Where a queue has not been waited for, memory comes from
//! the driver, as if there were no cache.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest block that is kept.
pub(super) const LARGEST: usize = 1 << 20;

/// The smallest: what the driver gives at least.
const SMALLEST: usize = 256;

/// Work that was put into queues, of all devices: one may copy another's memory.
#[derive(Default)]
pub(super) struct Work {
    latest: AtomicU64,
    queues: Mutex<Vec<Arc<QueueWork>>>,
}

/// How far a queue is. Its numbers grow.
#[derive(Default)]
pub(super) struct QueueWork {
    /// Its latest work, perhaps only about to be put in.
    latest: AtomicU64,
    /// Its latest work of which is known that it is done.
    done: AtomicU64,
}

impl Work {
    pub(super) fn queue(&self) -> Arc<QueueWork> {
        let queue = Arc::new(QueueWork::default());
        self.queues().push(queue.clone());
        queue
    }

    /// Forgets a queue that was closed, if its work is done. Otherwise it stays, and blocks that it may use are not given out again.
    pub(super) fn close(&self, queue: &Arc<QueueWork>) {
        if queue.is_done(u64::MAX) {
            self.queues().retain(|known| !Arc::ptr_eq(known, queue));
        }
    }

    /// Forgets all queues: a session has ended, and there are none.
    pub(super) fn forget(&self) {
        self.queues().clear();
    }

    /// Work is about to be put into a queue.
    pub(super) fn begin(&self, queue: &QueueWork) {
        // Acquire-release: the number is drawn before the work is put in, and `now` of a later free is no smaller.
        let number = self.latest.fetch_add(1, Ordering::AcqRel) + 1;
        // Release: pairs with the load in `is_done`.
        queue.latest.fetch_max(number, Ordering::Release);
    }

    /// The number of the latest work.
    fn now(&self) -> u64 {
        // Acquire: pairs with the addition in `begin`.
        self.latest.load(Ordering::Acquire)
    }

    /// Whether all work up to a number is done.
    fn is_done(&self, number: u64) -> bool {
        self.queues().iter().all(|queue| queue.is_done(number))
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Arc<QueueWork>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueWork {
    /// What is in the queue now: for `waited`, when that has been waited for.
    pub(super) fn latest(&self) -> u64 {
        // Acquire: pairs with the change in `Work::begin`.
        self.latest.load(Ordering::Acquire)
    }

    /// Everything up to `latest` was waited for.
    pub(super) fn waited(&self, latest: u64) {
        // Release: pairs with the load in `is_done`: who sees it may give the memory to others.
        self.done.fetch_max(latest, Ordering::Release);
    }

    fn is_done(&self, number: u64) -> bool {
        // Acquire: both pair with the changes above.
        self.done.load(Ordering::Acquire) >= self.latest.load(Ordering::Acquire).min(number)
    }
}

/// Freed blocks of one device.
pub(super) struct Cache<B> {
    /// The most bytes that are kept.
    limit: usize,
    state: Mutex<State<B>>,
}

struct State<B> {
    bytes: usize,
    /// By size, the one that was freed first in front, each with the latest work when it was freed.
    classes: BTreeMap<usize, VecDeque<(u64, B)>>,
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
    pub(super) fn take(&self, class: usize, work: &Work) -> Option<B> {
        let mut state = self.lock();
        let blocks = state.classes.get_mut(&class)?;
        let (number, _) = blocks.front()?;
        if !work.is_done(*number) {
            return None;
        }
        let (_, block) = blocks.pop_front()?;
        state.bytes -= class;
        Some(block)
    }

    /// Keeps a block that was freed just now. Blocks that are too many are given back: dropped, which may wait for the device.
    pub(super) fn keep(&self, class: usize, block: B, work: &Work) {
        let mut over = Vec::new();
        let mut state = self.lock();
        state.classes.entry(class).or_default().push_back((work.now(), block));
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

    #[test]
    fn a_block_is_given_out_again_when_the_work_before_its_free_was_waited_for() {
        let (work, cache) = (Work::default(), Cache::new(1 << 20));
        let (first, second) = (work.queue(), work.queue());
        cache.keep(256, "idle", &work);
        assert_eq!(cache.take(512, &work), None);
        assert_eq!(cache.take(256, &work), Some("idle"));
        work.begin(&first);
        work.begin(&second);
        cache.keep(256, "used", &work);
        // Work that comes later does not matter.
        work.begin(&second);
        assert_eq!(cache.take(256, &work), None);
        first.waited(first.latest());
        assert_eq!(cache.take(256, &work), None, "the second queue may still use it");
        second.waited(2);
        assert_eq!(cache.take(256, &work), Some("used"));
        assert_eq!(cache.take(256, &work), None, "it is given out once");
    }

    #[test]
    fn a_queue_that_was_closed_with_work_in_it_keeps_blocks_from_being_given_out() {
        let (work, cache) = (Work::default(), Cache::new(1 << 20));
        let (done, busy) = (work.queue(), work.queue());
        work.begin(&done);
        done.waited(done.latest());
        work.begin(&busy);
        work.close(&done);
        work.close(&busy);
        cache.keep(256, (), &work);
        assert_eq!(work.queues().len(), 1);
        assert_eq!(cache.take(256, &work), None);
        busy.waited(busy.latest());
        work.close(&busy);
        assert_eq!(work.queues().len(), 0);
        assert_eq!(cache.take(256, &work), Some(()));
        // What was never waited for is forgotten at the end.
        work.begin(&work.queue());
        cache.keep(256, (), &work);
        assert_eq!(cache.take(256, &work), None);
        work.forget();
        assert_eq!(cache.take(256, &work), Some(()));
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
                        let Some(block) = cache.take(256, &work) else { continue };
                        assert_eq!(owners[block].fetch_add(1, Ordering::AcqRel), 0, "one owner");
                        work.begin(&queue);
                        assert_eq!(owners[block].fetch_sub(1, Ordering::AcqRel), 1);
                        queue.waited(queue.latest());
                        cache.keep(256, block, &work);
                    }
                    work.close(&queue);
                });
            }
        });
        assert_eq!((0..4).filter_map(|_| cache.take(256, &work)).sum::<usize>(), 6, "all are there");
    }
}
