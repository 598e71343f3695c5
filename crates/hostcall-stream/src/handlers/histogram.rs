//! How a number of messages is distributed.

use hostcall_abi::stream::Message;

use super::{Distribution, percent};
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// How a number is distributed that a closure finds in each value. Takes 58 KiB on each thread.
///
/// ```
/// use hostcall_stream::handlers::Histogram;
/// use hostcall_stream::{Interval, Streams};
///
/// let steps = Histogram::of("detail", |interval: &Interval| interval.detail.into());
/// let builder = Streams::builder().on::<Interval, _>(steps);
/// ```
#[derive(Clone, Debug)]
pub struct Histogram<F> {
    title: String,
    value: F,
}

impl<F> Histogram<F> {
    /// The distribution of what `value` returns, under this title.
    pub fn of<M>(title: impl Into<String>, value: F) -> Self
    where
        F: Fn(&M) -> u64,
    {
        Self { title: title.into(), value }
    }
}

impl<M: Message, F: Fn(&M) -> u64 + Send + Sync + 'static> Handler<M> for Histogram<F> {
    type State = Distribution;

    fn fold(&self, state: &mut Distribution, batch: &Batch<'_, M>) -> Flow {
        batch.values().iter().for_each(|value| state.record((self.value)(value)));
        Flow::Next
    }

    fn merge(&self, into: &mut Distribution, from: &Distribution) {
        into.merge(from);
    }

    fn report(&self, state: &Distribution) -> Report {
        let mut report = Report::new(format!("Distribution of {} in {}", self.title, M::NAME));
        let mut all = report::Table { title: "all".into(), columns: Distribution::columns("").into(), rows: Vec::new() };
        all.rows.push(state.cells().into());
        let mut bins = report::Table::new("values", &["from", "to", "count", "share [%]"]);
        for (from, to, count) in state.bins() {
            bins.row([from.into(), to.into(), count.into(), Cell::from(percent(count, state.count()))]);
        }
        report.tables = vec![all, bins];
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{kept, messages};
    use super::*;
    use hostcall_abi::stream::Interval;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bins_are_powers_of_two_and_have_every_value_once(
            messages in messages(any::<u64>().prop_map(|start| Interval { start: start >> (start % 64), end: 0, label: 0, detail: 0 })),
            threads in 1..4usize, together in 1..5usize
        ) {
            let handler = Histogram::of("start", |interval: &Interval| interval.start);
            let state = kept(&handler, &messages, threads, together);
            let values: Vec<u64> = messages.iter().flat_map(|message| message.values.iter().map(|value| value.start)).collect();
            let mut expected = vec![0u64; 64];
            values.iter().for_each(|value| expected[(64 - value.leading_zeros()).min(63) as usize] += 1);
            let bins = state.bins();
            for (from, to, count) in &bins {
                let bin = (64 - from.leading_zeros()) as usize;
                prop_assert_eq!(*count, expected[bin]);
                prop_assert_eq!(*to, match bin { 0 => 0, 63 => u64::MAX, bin => (1 << bin) - 1 });
            }
            prop_assert_eq!(bins.iter().map(|(.., count)| count).sum::<u64>(), values.len() as u64);
            prop_assert_eq!(Handler::<Interval>::report(&handler, &state).tables[1].rows.len(), bins.len());
        }
    }
}
