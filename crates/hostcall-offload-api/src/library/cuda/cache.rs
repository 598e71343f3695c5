//! Freed memory that is kept for the next allocation of its size.
//!
//! The driver's free waits for the whole device, and its allocation takes microseconds. So small blocks of device memory are kept when they are freed, by
//! size (powers of two), and given out again when no queue can still be using them: every queue counts its works, a freed block remembers what the queues
//! had left to do, and a queue that was waited for says how far it is. Nothing of that asks the driver, and launches of different queues share no word. Where a queue has not been waited for, memory comes from
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
    queues: Mutex<Vec<Arc<QueueWork>>>,
}

/// How far a queue is: its works are counted. Launches of different queues share nothing here.
#[derive(Default)]
pub(super) struct QueueWork {
    /// Works, the latest perhaps only about to be put in.
    begun: AtomicU64,
    /// Works of which is known that they are done, and all before them.
    done: AtomicU64,
}

/// What has to be done before a freed block may be used again: works of queues.
pub(super) type Before = Vec<(Arc<QueueWork>, u64)>;

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
        for queue in self.queues().drain(..) {
            queue.waited(u64::MAX);
        }
    }

    /// What queues have to do that were given work before now.
    fn before(&self) -> Before {
        let busy = |queue: &Arc<QueueWork>| {
            let begun = queue.latest();
            (!queue.is_done(begun)).then(|| (queue.clone(), begun))
        };
        self.queues().iter().filter_map(busy).collect()
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Arc<QueueWork>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueWork {
    /// Work is about to be put into the queue.
    pub(super) fn begin(&self) {
        // Release: pairs with the load in `latest`. Who frees memory after the work was put in sees it counted.
        self.begun.fetch_add(1, Ordering::Release);
    }

    /// What is in the queue now: for `waited`, when that has been waited for.
    pub(super) fn latest(&self) -> u64 {
        // Acquire: pairs with the change in `begin`.
        self.begun.load(Ordering::Acquire)
    }

    /// Everything up to `latest` was waited for.
    pub(super) fn waited(&self, latest: u64) {
        // Release: pairs with the load in `is_done`: who sees it may give the memory to others.
        self.done.fetch_max(latest, Ordering::Release);
    }

    /// Whether the first `number` works are done; all there are, if there are fewer.
    fn is_done(&self, number: u64) -> bool {
        // Acquire: both pair with the changes above.
        self.done.load(Ordering::Acquire) >= self.begun.load(Ordering::Acquire).min(number)
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
        // What is done stays done.
        before.retain(|(queue, begun)| !queue.is_done(*begun));
        if !before.is_empty() {
            return None;
        }
        let (_, block) = blocks.pop_front()?;
        state.bytes -= class;
        Some(block)
    }

    /// Keeps a block that was freed just now. Blocks that are too many are given back: dropped, which may wait for the device.
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

    #[test]
    fn a_block_is_given_out_again_when_the_work_before_its_free_was_waited_for() {
        let (work, cache) = (Work::default(), Cache::new(1 << 20));
        let (first, second) = (work.queue(), work.queue());
        cache.keep(256, "idle", &work);
        assert_eq!(cache.take(512), None);
        assert_eq!(cache.take(256), Some("idle"));
        first.begin();
        second.begin();
        cache.keep(256, "used", &work);
        // Work that comes later does not matter.
        second.begin();
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
        done.begin();
        done.waited(done.latest());
        busy.begin();
        work.close(&done);
        work.close(&busy);
        cache.keep(256, (), &work);
        assert_eq!(work.queues().len(), 1);
        assert_eq!(cache.take(256), None);
        busy.waited(busy.latest());
        work.close(&busy);
        assert_eq!(work.queues().len(), 0);
        assert_eq!(cache.take(256), Some(()));
        // What was never waited for is forgotten at the end.
        work.queue().begin();
        cache.keep(256, (), &work);
        assert_eq!(cache.take(256), None);
        work.forget();
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
                        queue.begin();
                        assert_eq!(owners[block].fetch_sub(1, Ordering::AcqRel), 1);
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
