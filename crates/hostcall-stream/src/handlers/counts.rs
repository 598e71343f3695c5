//! How often each value of a key comes.

use std::hash::Hash;

use hostcall_abi::stream::Message;

use super::{Table, bounded, most_frequent, percent};
use crate::batch::{Batch, Origin};
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// How often each key comes that a closure finds in values and where they come from.
///
/// It keeps up to 65 536 keys on each thread, exactly; values of further ones are counted together. For keys without
/// number there is [`TopK`](super::TopK).
///
/// ```
/// use hostcall_stream::handlers::Counts;
/// use hostcall_stream::{Access, Origin, Streams};
///
/// let by_sm = Counts::of("SM", |origin: &Origin, _: &Access| origin.sm);
/// let builder = Streams::builder().on::<Access, _>(by_sm);
/// ```
#[derive(Clone, Debug)]
pub struct Counts<F> {
    title: String,
    key: F,
    rows: usize,
    limit: usize,
}

/// What [`Counts`] keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted<K: Eq + Hash> {
    counts: Table<K, u64>,
    elsewhere: u64,
}

impl<K: Eq + Hash> Default for Counted<K> {
    fn default() -> Self {
        Self { counts: Table::default(), elsewhere: 0 }
    }
}

impl<K: Eq + Hash + Ord + Clone> Counted<K> {
    /// The keys and how often they came, the most frequent ones first.
    pub fn rows(&self) -> Vec<(K, u64)> {
        most_frequent(&self.counts)
    }

    /// Values of keys for which there was no room.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere
    }

    /// All values.
    pub fn all(&self) -> u64 {
        self.counts.values().fold(self.elsewhere, |sum, count| sum.saturating_add(*count))
    }

    fn add(&mut self, key: K, count: u64, limit: usize) {
        let sum = bounded(&mut self.counts, key, limit).unwrap_or(&mut self.elsewhere);
        *sum = sum.saturating_add(count);
    }
}

impl<F> Counts<F> {
    /// How often each value comes that `key` returns, under this title.
    pub fn of<M, K>(title: impl Into<String>, key: F) -> Self
    where
        F: Fn(&Origin, &M) -> K,
    {
        Self { title: title.into(), key, rows: 32, limit: 1 << 16 }
    }

    /// How many keys the report shows at most: the most frequent ones. Default: 32.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = rows;
        self
    }

    /// How many keys are kept at most. Default: 65 536.
    pub fn limit(mut self, keys: usize) -> Self {
        self.limit = keys;
        self
    }
}

impl<M, K, F> Handler<M> for Counts<F>
where
    M: Message,
    K: Eq + Hash + Ord + Clone + Into<Cell> + Send + 'static,
    F: Fn(&Origin, &M) -> K + Send + Sync + 'static,
{
    type State = Counted<K>;

    fn fold(&self, state: &mut Counted<K>, batch: &Batch<'_, M>) -> Flow {
        batch.iter().for_each(|(origin, value)| state.add((self.key)(&origin, value), 1, self.limit));
        Flow::Next
    }

    fn merge(&self, into: &mut Counted<K>, from: &Counted<K>) {
        from.counts.iter().for_each(|(key, count)| into.add(key.clone(), *count, self.limit));
        into.elsewhere = into.elsewhere.saturating_add(from.elsewhere);
    }

    fn report(&self, state: &Counted<K>) -> Report {
        let (rows, all) = (state.rows(), state.all());
        let mut report = Report::new(format!("Counts of {} in {}", self.title, M::NAME));
        report.lines.push(format!("{all} values of {} keys", rows.len()));
        if state.elsewhere > 0 {
            report.lines.push(format!("{} values were of further keys, for which there was no room", state.elsewhere));
        }
        let mut table = report::Table::new("keys", &[self.title.as_str(), "count", "share [%]"]);
        for (key, count) in rows.into_iter().take(self.rows) {
            table.row([key.into(), count.into(), percent(count, all).into()]);
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
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_are_those_of_a_plain_count_and_beyond_the_limit_the_sum_holds(
            messages in messages((0..20u32).prop_map(|label| Interval { start: 0, end: 0, label, detail: 0 })),
            threads in 1..4usize, together in 1..5usize, limit in 0..20usize
        ) {
            let key = |origin: &Origin, interval: &Interval| (u64::from(interval.label) << 32) | u64::from(origin.lane % 2);
            let counts = Counts::of("label", key);
            let state = kept(&counts, &messages, threads, together);
            let mut plain = BTreeMap::new();
            for message in &messages {
                let each = message.header().values as usize;
                let lanes = (0..64u64).filter(|lane| message.mask() >> lane & 1 == 1);
                for (lane, values) in lanes.zip(message.values.chunks(each)) {
                    values.iter().for_each(|value| *plain.entry((u64::from(value.label) << 32) | (lane % 2)).or_insert(0u64) += 1);
                }
            }
            prop_assert_eq!(state.rows().into_iter().collect::<BTreeMap<_, _>>(), plain);
            prop_assert!(state.rows().is_sorted_by(|(_, a), (_, b)| a >= b));
            let few = kept(&counts.clone().limit(limit), &messages, threads, together);
            prop_assert!(few.rows().len() <= limit);
            prop_assert_eq!(few.all(), state.all());
            let shown = Handler::<Interval>::report(&counts.rows(3), &state).tables[0].rows.len();
            prop_assert_eq!(shown, state.rows().len().min(3));
        }
    }
}
