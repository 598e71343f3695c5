//! How long what was measured took.

use std::collections::BTreeMap;

use hostcall_abi::stream::Interval;

use super::{Distribution, Table, bounded};
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// How long intervals took, by what was measured and where, from [`Interval`]s.
///
/// It keeps up to 256 labels and sites (15 MB on each thread); intervals of further ones are counted together. One that
/// ends before it begins is counted apart.
#[derive(Clone, Debug)]
pub struct Intervals {
    names: BTreeMap<u32, String>,
    limit: usize,
}

/// What is known of the intervals of one label.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// How long they took, in nanoseconds.
    pub times: Distribution,
    /// When the first one began, in nanoseconds of the device's clock.
    pub first: u64,
    /// When the last one ended.
    pub last: u64,
}

/// What [`Intervals`] keeps.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// By label and site.
    rows: Table<(u32, u32), Measured>,
    elsewhere: u64,
    backwards: u64,
}

impl Measured {
    /// Nanoseconds from the first one's beginning to the last one's end.
    pub fn span(&self) -> u64 {
        self.last.saturating_sub(self.first)
    }

    pub(super) fn record(&mut self, start: u64, end: u64) {
        self.first = if self.times.count() == 0 { start } else { self.first.min(start) };
        self.last = self.last.max(end);
        self.times.record(end.saturating_sub(start));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.times.count() > 0 {
            self.first = if self.times.count() == 0 { other.first } else { self.first.min(other.first) };
            self.last = self.last.max(other.last);
            self.times.merge(&other.times);
        }
    }
}

impl Times {
    /// What is known of each label and site (0: none is known), in their order.
    pub fn rows(&self) -> Vec<(u32, u32, &Measured)> {
        let mut rows: Vec<_> = self.rows.iter().map(|((label, site), measured)| (*label, *site, measured)).collect();
        rows.sort_unstable_by_key(|(label, site, _)| (*label, *site));
        rows
    }

    /// What is known of a label, wherever it was measured; `None`: it never was.
    pub fn label(&self, label: u32) -> Option<Measured> {
        let mut all = Measured::default();
        self.rows.iter().filter(|((its, _), _)| *its == label).for_each(|(_, measured)| all.merge(measured));
        (all.times.count() > 0).then_some(all)
    }

    /// Intervals of labels for which there was no room.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere
    }

    /// Intervals that end before they begin.
    pub fn backwards(&self) -> u64 {
        self.backwards
    }
}

impl Default for Intervals {
    /// Of all labels, without names.
    fn default() -> Self {
        Self { names: BTreeMap::new(), limit: 256 }
    }
}

impl Intervals {
    /// What the report calls a label.
    pub fn named(mut self, label: u32, name: impl Into<String>) -> Self {
        self.names.insert(label, name.into());
        self
    }

    /// How many labels and sites are kept at most. Default: 256.
    pub fn limit(mut self, labels: usize) -> Self {
        self.limit = labels;
        self
    }
}

impl Handler<Interval> for Intervals {
    type State = Times;

    fn fold(&self, state: &mut Times, batch: &Batch<'_, Interval>) -> Flow {
        for message in batch.messages() {
            for interval in message.values {
                if interval.end < interval.start {
                    state.backwards = state.backwards.saturating_add(1);
                    continue;
                }
                match bounded(&mut state.rows, (interval.label, message.head.header().site), self.limit) {
                    Some(measured) => measured.record(interval.start, interval.end),
                    None => state.elsewhere = state.elsewhere.saturating_add(1),
                }
            }
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Times, from: &Times) {
        into.elsewhere = into.elsewhere.saturating_add(from.elsewhere);
        into.backwards = into.backwards.saturating_add(from.backwards);
        for (key, measured) in &from.rows {
            match bounded(&mut into.rows, *key, self.limit) {
                Some(all) => all.merge(measured),
                None => into.elsewhere = into.elsewhere.saturating_add(measured.times.count()),
            }
        }
    }

    fn report(&self, state: &Times) -> Report {
        let rows = state.rows();
        let mut report = Report::new("Time intervals");
        let count: u64 = rows.iter().map(|(_, _, measured)| measured.times.count()).fold(0, u64::saturating_add);
        report.lines.push(format!("{count} intervals"));
        if state.elsewhere > 0 {
            report.lines.push(format!("{} intervals were of further labels, for which there was no room", state.elsewhere));
        }
        if state.backwards > 0 {
            report.lines.push(format!("{} intervals end before they begin", state.backwards));
        }
        let mut columns = vec!["label".to_owned(), "site".into()];
        columns.extend(Distribution::columns("ns"));
        columns.extend(["first start [ns]", "last end [ns]", "span [ns]"].map(String::from));
        let mut table = report::Table { title: "intervals".into(), columns, rows: Vec::new() };
        for (label, site, measured) in rows {
            let named = self.names.get(&label).map_or_else(|| Cell::from(label), |name| Cell::from(name.as_str()));
            let mut row = vec![named, Cell::Site(site)];
            row.extend(measured.times.cells());
            row.extend([measured.first, measured.last, measured.span()].map(Cell::from));
            table.rows.push(row);
        }
        report.tables.push(table);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Message, kept, messages};
    use super::*;
    use proptest::prelude::*;

    fn interval() -> impl Strategy<Value = Interval> + Clone {
        let clock = prop_oneof![0..10_000u64, any::<u64>()];
        (clock.clone(), clock, 0..3u32, any::<u32>()).prop_map(|(start, end, label, detail)| Interval { start, end, label, detail })
    }

    proptest! {
        #[test]
        fn times_are_those_of_a_plain_computation_however_many_threads_take_them(
            messages in messages(interval()), threads in 1..4usize, together in 1..5usize
        ) {
            let handler = Intervals::default();
            let state = kept(&handler, &messages, threads, together);
            let all: Vec<(u32, Interval)> =
                messages.iter().flat_map(|message| message.values.iter().map(|value| (message.header().site, *value))).collect();
            prop_assert_eq!(state.backwards(), all.iter().filter(|(_, one)| one.end < one.start).count() as u64);
            prop_assert_eq!(state.elsewhere(), 0);
            for (label, site, measured) in state.rows() {
                let its = |(where_, one): &&(u32, Interval)| (one.label, *where_) == (label, site) && one.end >= one.start;
                let its: Vec<Interval> = all.iter().filter(its).map(|(_, one)| *one).collect();
                prop_assert_eq!(measured.times.count(), its.len() as u64);
                prop_assert_eq!(measured.times.sum(), its.iter().map(|one| u128::from(one.end - one.start)).sum());
                prop_assert_eq!(measured.times.min(), its.iter().map(|one| one.end - one.start).min());
                prop_assert_eq!(measured.times.max(), its.iter().map(|one| one.end - one.start).max());
                prop_assert_eq!(Some(measured.first), its.iter().map(|one| one.start).min());
                prop_assert_eq!(Some(measured.last), its.iter().map(|one| one.end).max());
            }
            let counted: u64 = state.rows().iter().map(|(_, _, measured)| measured.times.count()).sum();
            prop_assert_eq!(counted + state.backwards(), all.len() as u64);
            prop_assert_eq!(handler.report(&state), handler.report(&kept(&handler, &messages, 1, messages.len().max(1))));
        }
    }

    #[test]
    fn with_room_for_few_labels_the_rest_is_counted_together() {
        let of = |label| Interval { start: 5, end: 9, label, detail: 0 };
        let messages = [Message::new(7, vec![of(1), of(2), of(1)]), Message::new(3, vec![of(3), of(1)])];
        let handler = Intervals::default().limit(1).named(1, "load");
        for threads in [1, 2] {
            let state = kept(&handler, &messages, threads, 1);
            let rest = 5 - state.rows()[0].2.times.count();
            assert_eq!((state.rows().len(), state.elsewhere()), (1, rest));
            assert!(handler.report(&state).to_string().contains("for which there was no room"));
        }
        let state = kept(&handler, &messages, 1, 2);
        assert_eq!((state.label(1).map(|measured| measured.times.count()), state.label(2).is_none()), (Some(3), true));
        assert_eq!(handler.report(&state).tables[0].rows[0][0], Cell::from("load"));
    }
}
