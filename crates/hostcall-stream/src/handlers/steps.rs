//! Which blocks of a kernel waves come to, and with how many lanes.

use hostcall_abi::stream::{Step, StepKind};

use super::{Table, bounded, percent};
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// How often waves come to each block of an instrumented kernel, and how many of their lanes do, from [`Step`]s.
///
/// A wave whose lanes part comes to a block once for each part. There is a row for each place in the source, kind and
/// number of a block: up to 65 536 (4 MB on each thread); steps of further ones are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps;

/// Rows.
const LIMIT: usize = 1 << 16;

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepUse {
    /// How often a wave, or a part of one, came to it.
    pub steps: u64,
    /// Lanes that came to it.
    pub lanes: u64,
}

impl StepUse {
    fn merge(&mut self, other: &Self) {
        self.steps = self.steps.saturating_add(other.steps);
        self.lanes = self.lanes.saturating_add(other.lanes);
    }

    /// Lanes of a step, on average; `None`: there was none.
    pub fn mean_lanes(&self) -> Option<f64> {
        percent(self.lanes, self.steps).map(|percent| percent / 100.0)
    }
}

/// A block: its place in the source (0: none is known), kind, and number in its function.
pub type StepKey = (u32, StepKind, u32);

/// What [`Steps`] keeps.
#[derive(Clone, Debug, Default)]
pub struct Stepped {
    rows: Table<StepKey, StepUse>,
    elsewhere: u64,
}

impl Stepped {
    /// What is known of each block.
    pub fn rows(&self) -> Vec<(StepKey, StepUse)> {
        let mut rows: Vec<_> = self.rows.iter().map(|(key, used)| (*key, *used)).collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    /// Steps to blocks for which there was no room.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere
    }

    fn add(&mut self, key: StepKey, used: &StepUse) {
        match bounded(&mut self.rows, key, LIMIT) {
            Some(all) => all.merge(used),
            None => self.elsewhere = self.elsewhere.saturating_add(used.steps),
        }
    }
}

impl Handler<Step> for Steps {
    type State = Stepped;

    fn fold(&self, state: &mut Stepped, batch: &Batch<'_, Step>) -> Flow {
        for message in batch.messages() {
            let site = message.head.header().site;
            for step in message.values {
                state.add((site, StepKind::new(step.kind), step.block), &StepUse { steps: 1, lanes: step.lanes.into() });
            }
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Stepped, from: &Stepped) {
        from.rows.iter().for_each(|(key, used)| into.add(*key, used));
        into.elsewhere = into.elsewhere.saturating_add(from.elsewhere);
    }

    fn report(&self, state: &Stepped) -> Report {
        let mut report = Report::new("Blocks");
        let rows = state.rows();
        let steps = rows.iter().map(|(_, used)| used.steps).fold(0, u64::saturating_add);
        report.lines.push(format!("waves came {steps} times to {} blocks", rows.len()));
        if state.elsewhere > 0 {
            report.lines.push(format!("and {} times to further ones, for which there was no room", state.elsewhere));
        }
        let mut table = report::Table::new("steps", &["site", "kind", "block", "steps", "lanes", "lanes per step"]);
        for ((site, kind, block), used) in rows {
            let StepUse { steps, lanes } = used;
            table.row([Cell::Site(site), kind.name().into(), block.into(), steps.into(), lanes.into(), used.mean_lanes().into()]);
        }
        report.tables.push(table);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Message, kept};
    use super::*;

    fn step(kind: StepKind, block: u32, lanes: u32) -> Message<Step> {
        Message::new(1, vec![Step { kind: kind as u32, block, lanes }]).at(block + 1)
    }

    #[test]
    fn blocks_are_counted_with_the_lanes_that_come_to_them() {
        use StepKind::{Block, Kernel, Loop};
        let messages =
            [step(Kernel, 0, 32), step(Loop, 1, 32), step(Loop, 1, 32), step(Block, 2, 7), step(Block, 2, 25), step(Kernel, 0, 32)];
        let used = |steps, lanes| StepUse { steps, lanes };
        for threads in 1..3 {
            let state = kept(&Steps, &messages, threads, 2);
            assert_eq!(state.rows(), [((1, Kernel, 0), used(2, 64)), ((2, Loop, 1), used(2, 64)), ((3, Block, 2), used(2, 32))]);
            let report = Steps.report(&state);
            assert_eq!(report.lines, ["waves came 6 times to 3 blocks"]);
            assert!(report.tables[0].to_csv().ends_with("\r\n3,block,2,2,32,16\r\n"), "{}", report.tables[0].to_csv());
        }
        assert_eq!((used(2, 32).mean_lanes(), used(0, 0).mean_lanes()), (Some(16.0), None));
    }
}
