//! When each workgroup ran, and where.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hostcall_abi::stream::Interval;

use super::{Distribution, Table, bounded};
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// The timeline of workgroups, from the [`Interval`]s of their waves: how long they took, on which SM, and how many ran
/// at once.
///
/// A workgroup lasts from the beginning of its first interval to the end of its last one. It keeps up to 65 536
/// workgroups (9 MB on each thread), and up to 2 MB besides; intervals of further ones are counted. One that ends
/// before it begins is counted apart.
///
/// Launches on AMD GPUs and in the simulator have no number: a workgroup of one is taken for that of another.
/// [`Streams::clear`](crate::Streams::clear) between them keeps them apart.
#[derive(Clone, Debug)]
pub struct Blocks {
    label: Option<u32>,
    limit: usize,
}

/// A workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of the device.
    pub device: u32,
    /// Low 10 bits of the launch's number; 0 where it has none.
    pub launch: u32,
    /// The workgroup's number in its grid.
    pub group: u64,
    /// The SM (compute unit) of its first interval.
    pub sm: u32,
    /// Its waves that sent intervals, a bit each.
    pub waves: u32,
    /// Intervals.
    pub intervals: u64,
    /// When the first one began, in nanoseconds of the device's clock.
    pub start: u64,
    /// When the last one ended.
    pub end: u64,
}

impl Block {
    /// Nanoseconds from its first beginning to its last end.
    pub fn time(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// What is kept of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    /// When its first interval began, and on which SM.
    start: (u64, u32),
    end: u64,
    waves: u32,
    intervals: u64,
}

impl Default for Kept {
    fn default() -> Self {
        Self { start: (u64::MAX, u32::MAX), end: 0, waves: 0, intervals: 0 }
    }
}

impl Kept {
    fn merge(&mut self, other: &Self) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.waves |= other.waves;
        self.intervals = self.intervals.saturating_add(other.intervals);
    }
}

/// What [`Blocks`] keeps.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// By device, launch and workgroup.
    blocks: Table<(u32, u32, u64), Kept>,
    /// How long intervals took, by the wave's number in its workgroup, below 32.
    waves: BTreeMap<u32, Distribution>,
    elsewhere: u64,
    backwards: u64,
}

impl Timeline {
    /// The workgroups, by device, launch and number.
    pub fn blocks(&self) -> Vec<Block> {
        let block = |(&(device, launch, group), kept): (&(u32, u32, u64), &Kept)| Block {
            device,
            launch,
            group,
            sm: kept.start.1,
            waves: kept.waves,
            intervals: kept.intervals,
            start: kept.start.0,
            end: kept.end,
        };
        let mut blocks: Vec<_> = self.blocks.iter().map(block).collect();
        blocks.sort_unstable_by_key(|block| (block.device, block.launch, block.group));
        blocks
    }

    /// How long the intervals of a wave of this number in its workgroup took.
    pub fn wave(&self, wave: u32) -> Option<&Distribution> {
        self.waves.get(&wave)
    }

    /// Intervals of workgroups for which there was no room.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere
    }

    /// Intervals that end before they begin.
    pub fn backwards(&self) -> u64 {
        self.backwards
    }

    fn add(&mut self, key: (u32, u32, u64), kept: &Kept, limit: usize) {
        match bounded(&mut self.blocks, key, limit) {
            Some(all) => all.merge(kept),
            None => self.elsewhere = self.elsewhere.saturating_add(kept.intervals),
        }
    }
}

/// How many of these ran at once at most. One that begins when another ends runs behind it.
fn most_at_once<'a>(blocks: impl Iterator<Item = &'a Block>) -> u64 {
    let mut steps: Vec<(u64, i64)> =
        blocks.flat_map(|block| [(block.start, 1), (block.end.max(block.start.saturating_add(1)), -1)]).collect();
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most.unsigned_abs()
}

impl Default for Blocks {
    /// From intervals of all labels.
    fn default() -> Self {
        Self { label: None, limit: 1 << 16 }
    }
}

impl Blocks {
    /// Only intervals of this label: those that measure a wave from its beginning to its end, say.
    pub fn only(mut self, label: u32) -> Self {
        self.label = Some(label);
        self
    }

    /// How many workgroups are kept at most. Default: 65 536.
    pub fn limit(mut self, workgroups: usize) -> Self {
        self.limit = workgroups;
        self
    }
}

impl Handler<Interval> for Blocks {
    type State = Timeline;

    fn fold(&self, state: &mut Timeline, batch: &Batch<'_, Interval>) -> Flow {
        for message in batch.messages() {
            let from = message.head.header().from;
            for interval in message.values.iter().filter(|interval| self.label.is_none_or(|label| label == interval.label)) {
                if interval.end < interval.start {
                    state.backwards = state.backwards.saturating_add(1);
                    continue;
                }
                let wave = from.wave & 31;
                let kept = Kept { start: (interval.start, from.sm), end: interval.end, waves: 1 << wave, intervals: 1 };
                state.add((message.head.device, from.launch, from.group), &kept, self.limit);
                state.waves.entry(wave).or_default().record(interval.end - interval.start);
            }
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Timeline, from: &Timeline) {
        from.blocks.iter().for_each(|(key, kept)| into.add(*key, kept, self.limit));
        from.waves.iter().for_each(|(wave, times)| into.waves.entry(*wave).or_default().merge(times));
        into.elsewhere = into.elsewhere.saturating_add(from.elsewhere);
        into.backwards = into.backwards.saturating_add(from.backwards);
    }

    fn report(&self, state: &Timeline) -> Report {
        let blocks = state.blocks();
        let mut sms: BTreeMap<(u32, u32), Vec<&Block>> = BTreeMap::new();
        let mut begin: BTreeMap<u32, u64> = BTreeMap::new();
        for block in &blocks {
            sms.entry((block.device, block.sm)).or_default().push(block);
            let first = begin.entry(block.device).or_insert(block.start);
            *first = block.start.min(*first);
        }
        let since = |block: &Block, time: u64| time.saturating_sub(begin[&block.device]);
        let mut report = Report::new("Workgroups in time");
        report.lines.push(format!("{} workgroups on {} SMs", blocks.len(), sms.len()));
        for device in begin.keys() {
            let its = || blocks.iter().filter(|block| block.device == *device);
            let span = its().map(|block| since(block, block.end)).max().unwrap_or(0);
            report.lines.push(format!("device {device}: {span} ns, at most {} workgroups at once", most_at_once(its())));
        }
        if state.elsewhere > 0 {
            report.lines.push(format!("{} intervals were of further workgroups, for which there was no room", state.elsewhere));
        }
        if state.backwards > 0 {
            report.lines.push(format!("{} intervals end before they begin", state.backwards));
        }
        report.tables.push(times(&blocks, state));
        let columns = ["device", "SM", "workgroups", "at once", "busy [ns]", "first start [ns]", "last end [ns]"];
        let mut placement = report::Table::new("placement", &columns);
        for ((device, sm), its) in &sms {
            let busy = its.iter().map(|block| block.time()).fold(0, u64::saturating_add);
            let start = its.iter().map(|block| since(block, block.start)).min();
            let end = its.iter().map(|block| since(block, block.end)).max();
            let at_once = most_at_once(its.iter().copied());
            let count = its.len() as u64;
            placement.row([(*device).into(), (*sm).into(), count.into(), at_once.into(), busy.into(), start.into(), end.into()]);
        }
        report.tables.push(placement);
        report.tables.push(slowest(&blocks, since));
        report
    }
}

/// How long workgroups took, and intervals of each wave.
fn times(blocks: &[Block], state: &Timeline) -> report::Table {
    let mut columns = vec!["of".to_owned()];
    columns.extend(Distribution::columns("ns"));
    let mut table = report::Table { title: "times".into(), columns, rows: Vec::new() };
    let mut all = Distribution::default();
    blocks.iter().for_each(|block| all.record(block.time()));
    let mut row = |name: String, times: &Distribution| {
        let mut row = vec![Cell::from(name)];
        row.extend(times.cells());
        table.rows.push(row);
    };
    row("workgroups".into(), &all);
    state.waves.iter().for_each(|(wave, times)| row(format!("wave {wave}"), times));
    table
}

/// Workgroups that the report names.
const SLOWEST: usize = 16;

fn slowest(blocks: &[Block], since: impl Fn(&Block, u64) -> u64) -> report::Table {
    let columns = ["device", "launch", "workgroup", "SM", "waves", "start [ns]", "time [ns]"];
    let mut table = report::Table::new("slowest workgroups", &columns);
    let mut slowest: Vec<&Block> = blocks.iter().collect();
    slowest.sort_by_key(|block| Reverse(block.time()));
    for block in slowest.into_iter().take(SLOWEST) {
        let Block { device, launch, group, sm, waves, start, .. } = *block;
        let (start, waves) = (since(block, start), waves.count_ones());
        table.row([device.into(), launch.into(), group.into(), sm.into(), waves.into(), start.into(), block.time().into()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Message, kept, messages};
    use super::*;
    use hostcall_abi::stream::From;
    use proptest::prelude::*;

    fn interval() -> impl Strategy<Value = Interval> + Clone {
        let clock = prop_oneof![0..10_000u64, any::<u64>()];
        (clock.clone(), clock, 0..3u32).prop_map(|(start, end, label)| Interval { start, end, label, detail: 0 })
    }

    proptest! {
        #[test]
        fn workgroups_are_those_of_a_plain_computation_however_many_threads_take_them(
            messages in messages(interval()), threads in 1..4usize, together in 1..5usize, label in 0..4u32
        ) {
            let handler = if label == 3 { Blocks::default() } else { Blocks::default().only(label) };
            let state = kept(&handler, &messages, threads, together);
            let wanted = |one: &&Interval| one.end >= one.start && (label == 3 || one.label == label);
            let mut counted = 0;
            for block in state.blocks() {
                let of = |message: &&Message<Interval>| (message.header().from.launch, message.header().from.group) == (block.launch, block.group);
                let its: Vec<(From, Interval)> = messages
                    .iter()
                    .filter(of)
                    .flat_map(|message| message.values.iter().filter(wanted).map(|one| (message.header().from, *one)))
                    .collect();
                prop_assert_eq!(block.intervals, its.len() as u64);
                prop_assert_eq!(Some(block.start), its.iter().map(|(_, one)| one.start).min());
                prop_assert_eq!(Some(block.end), its.iter().map(|(_, one)| one.end).max());
                prop_assert_eq!(block.waves, its.iter().fold(0, |waves, (from, _)| waves | 1 << from.wave));
                prop_assert!(its.iter().any(|(from, one)| (from.sm, one.start) == (block.sm, block.start)));
                counted += block.intervals;
            }
            let values = || messages.iter().flat_map(|message| &message.values);
            prop_assert_eq!(counted, values().filter(wanted).count() as u64);
            let backwards = values().filter(|one| one.end < one.start && (label == 3 || one.label == label)).count();
            prop_assert_eq!(state.backwards(), backwards as u64);
            prop_assert_eq!((0..32).filter_map(|wave| state.wave(wave)).map(Distribution::count).sum::<u64>(), counted);
            prop_assert_eq!(handler.report(&state), handler.report(&kept(&handler, &messages, 1, messages.len().max(1))));
            let few = kept(&handler.clone().limit(2), &messages, threads, together);
            prop_assert!(few.blocks().len() <= 2);
            prop_assert_eq!(few.elsewhere() + few.blocks().iter().map(|block| block.intervals).sum::<u64>(), counted);
        }

        #[test]
        fn how_many_ran_at_once_is_the_most_at_any_time(spans in prop::collection::vec((0..40u64, 0..20u64), 0..12)) {
            let block = |&(start, time): &(u64, u64)| Block { device: 0, launch: 0, group: 0, sm: 0, waves: 1, intervals: 1, start, end: start + time };
            let blocks: Vec<Block> = spans.iter().map(block).collect();
            let runs = |block: &&Block, time: u64| block.start <= time && (time < block.end || time == block.start);
            let most = (0..64).map(|time| blocks.iter().filter(|block| runs(block, time)).count()).max().unwrap_or(0);
            prop_assert_eq!(most_at_once(blocks.iter()), most as u64);
        }
    }

    #[test]
    fn a_report_says_where_workgroups_ran_and_for_how_long() {
        let ran = |group, wave, sm, start, end| {
            Message::new(1, vec![Interval { start, end, label: 0, detail: 0 }]).from(From { group, wave, sm, launch: 7 })
        };
        let messages = [ran(0, 0, 3, 1000, 1500), ran(0, 1, 3, 1100, 1600), ran(1, 0, 4, 1200, 1300), ran(2, 0, 3, 1600, 1700)];
        let report = Blocks::default().report(&kept(&Blocks::default(), &messages, 2, 1));
        assert_eq!(report.lines, ["3 workgroups on 2 SMs", "device 0: 700 ns, at most 2 workgroups at once"]);
        assert_eq!(
            report.tables[1].to_csv(),
            "device,SM,workgroups,at once,busy [ns],first start [ns],last end [ns]\r\n0,3,2,1,700,0,700\r\n0,4,1,1,100,200,300\r\n"
        );
        assert_eq!(
            report.tables[2].to_csv(),
            "device,launch,workgroup,SM,waves,start [ns],time [ns]\r\n0,7,0,3,2,0,600\r\n0,7,1,4,1,200,100\r\n0,7,2,3,1,600,100\r\n"
        );
    }
}
