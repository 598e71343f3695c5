//! Which keys come most often, among more keys than there is room for.

use std::hash::Hash;

use hostcall_abi::stream::Message;

use super::{Table, most_frequent, percent};
use crate::batch::{Batch, Origin};
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// The most frequent of any number of keys that a closure finds in values and where they come from.
///
/// With room for `k` keys, each count is too small by at most one `k`-th of all values, and a key that comes more often
/// than that is there. It takes memory for twice `k` keys on each thread. (Misra and Gries, "Finding repeated
/// elements", 1982, with many counters lowered at once; sums of such tables keep the bound: Agarwal et al., "Mergeable
/// Summaries", 2012.)
///
/// ```
/// use hostcall_stream::handlers::TopK;
/// use hostcall_stream::{Access, Origin, Streams};
///
/// let words = TopK::of("word", 1000, |_: &Origin, access: &Access| access.address() / 4);
/// let builder = Streams::builder().on::<Access, _>(words);
/// ```
#[derive(Clone, Debug)]
pub struct TopK<F> {
    title: String,
    key: F,
    room: usize,
    rows: usize,
}

/// What [`TopK`] keeps.
#[derive(Clone, Debug)]
pub struct Sketch<K: Eq + Hash> {
    counts: Table<K, u64>,
    missed: u64,
    all: u64,
}

impl<K: Eq + Hash> Default for Sketch<K> {
    fn default() -> Self {
        Self { counts: Table::default(), missed: 0, all: 0 }
    }
}

impl<K: Eq + Hash + Ord + Clone> Sketch<K> {
    /// The keys with the counts that are certain, the most frequent ones first. The true count is larger by at most
    /// [`Sketch::missed`].
    pub fn rows(&self) -> Vec<(K, u64)> {
        most_frequent(&self.counts)
    }

    /// By how much counts may be too small, those of keys that are not there included.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// All values.
    pub fn all(&self) -> u64 {
        self.all
    }

    fn add(&mut self, key: K, count: u64, room: usize) {
        let sum = self.counts.entry(key).or_default();
        *sum = sum.saturating_add(count);
        if self.counts.len() > 2 * room {
            self.lower(room);
        }
    }

    /// Lowers all counts by that of rank `room`, and forgets the keys that have none left: at most `room` stay, and
    /// more than as many counts are lowered, so each lowering takes `room` times as much from the sum of counts as it
    /// adds to what is missed.
    fn lower(&mut self, room: usize) {
        let mut all: Vec<u64> = self.counts.values().copied().collect();
        let (_, by, _) = all.select_nth_unstable_by(room, |a, b| b.cmp(a));
        let by = *by;
        self.missed = self.missed.saturating_add(by);
        self.counts.retain(|_, count| {
            *count -= by.min(*count);
            *count > 0
        });
    }
}

impl<F> TopK<F> {
    /// The most frequent values that `key` returns, with room for `room` of them (at least 1), under this title.
    pub fn of<M, K>(title: impl Into<String>, room: usize, key: F) -> Self
    where
        F: Fn(&Origin, &M) -> K,
    {
        Self { title: title.into(), key, room: room.max(1), rows: 32 }
    }

    /// How many keys the report shows at most. Default: 32.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = rows;
        self
    }
}

impl<M, K, F> Handler<M> for TopK<F>
where
    M: Message,
    K: Eq + Hash + Ord + Clone + Into<Cell> + Send + 'static,
    F: Fn(&Origin, &M) -> K + Send + Sync + 'static,
{
    type State = Sketch<K>;

    fn fold(&self, state: &mut Sketch<K>, batch: &Batch<'_, M>) -> Flow {
        for (origin, value) in batch.iter() {
            state.add((self.key)(&origin, value), 1, self.room);
            state.all = state.all.saturating_add(1);
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Sketch<K>, from: &Sketch<K>) {
        into.missed = into.missed.saturating_add(from.missed);
        into.all = into.all.saturating_add(from.all);
        from.counts.iter().for_each(|(key, count)| into.add(key.clone(), *count, self.room));
    }

    fn report(&self, state: &Sketch<K>) -> Report {
        let mut report = Report::new(format!("Most frequent {} in {}", self.title, M::NAME));
        report.lines.push(format!("{} values; counts may be too small by {}", state.all, state.missed));
        let mut table = report::Table::new("keys", &[self.title.as_str(), "at least", "at most", "share [%]"]);
        for (key, count) in state.rows().into_iter().take(self.rows) {
            let most = count.saturating_add(state.missed);
            table.row([key.into(), count.into(), most.into(), percent(count, state.all).into()]);
        }
        report.tables.push(table);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{kept, messages};
    use super::*;
    use hostcall_abi::stream::Interval;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn counts_are_too_small_by_no_more_than_is_said_and_that_is_a_kth_of_all(
            messages in messages((0..100u32, 0..10u32).prop_map(|(a, b)| Interval { start: 0, end: 0, label: a * b / 3, detail: 0 })),
            threads in 1..4usize, together in 1..5usize, room in 1..30usize
        ) {
            let top = TopK::of("label", room, |_: &Origin, interval: &Interval| interval.label);
            let state = kept(&top, &messages, threads, together);
            let mut plain: HashMap<u32, u64> = HashMap::new();
            messages.iter().flat_map(|message| &message.values).for_each(|value| *plain.entry(value.label).or_default() += 1);
            let rows: HashMap<u32, u64> = state.rows().into_iter().collect();
            for (key, count) in &plain {
                let least = rows.get(key).copied().unwrap_or(0);
                prop_assert!(least <= *count && *count <= least + state.missed(), "{key} came {count} times, not {least}");
            }
            prop_assert!(rows.keys().all(|key| plain.contains_key(key)) && rows.len() <= 2 * room);
            prop_assert_eq!(state.all(), plain.values().sum::<u64>());
            prop_assert!(state.missed() * room as u64 <= state.all(), "{} of {} with room for {}", state.missed(), state.all(), room);
        }
    }
}
