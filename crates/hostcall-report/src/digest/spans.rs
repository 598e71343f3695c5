//! How long things took, and when.

use std::collections::BTreeMap;

use hostcall_stream::file::{Message, Replay};
use hostcall_stream::handlers::{Blocks, Intervals, Timeline, Times};
use hostcall_stream::{Handler, Interval, Report};

use super::grid::Grid;

/// Intervals: the ready handlers' findings, when how many ran on each SM, and the first ones as they are.
pub(crate) struct Spans {
    replay: Replay<Interval>,
    kept: Kept,
}

struct Kept {
    times: (Intervals, Times),
    blocks: (Blocks, Timeline),
    first: Vec<Span>,
    more: u64,
    grid: Grid,
    /// When the first one began, of each device: their clocks differ.
    begins: BTreeMap<u32, u64>,
}

/// An interval, in nanoseconds since the device's first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) device: u32,
    pub(crate) sm: u32,
    pub(crate) group: u64,
    pub(crate) wave: u32,
    pub(crate) label: u32,
    pub(crate) site: u32,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// So many are drawn one by one.
const FIRST: usize = 1500;
/// Numbers of SMs of a device.
pub(crate) const SMS: u64 = 1 << 10;

impl Default for Spans {
    fn default() -> Self {
        let kept = Kept {
            times: (Intervals::default(), Times::default()),
            blocks: (Blocks::default(), Timeline::default()),
            first: Vec::new(),
            more: 0,
            grid: Grid::new(0, 1024, 384),
            begins: BTreeMap::new(),
        };
        Self { replay: Replay::default(), kept }
    }
}

impl Spans {
    pub(crate) fn add(&mut self, message: &Message<'_>) {
        let kept = &mut self.kept;
        self.replay.push(message, |batch| kept.batch(batch));
    }

    /// Takes in what is left.
    pub(crate) fn finish(&mut self) {
        let kept = &mut self.kept;
        self.replay.rest(|batch| kept.batch(batch));
    }

    /// All intervals, if they are few.
    pub(crate) fn all(&self) -> Option<&[Span]> {
        (self.kept.more == 0).then_some(&self.kept.first)
    }

    /// Nanoseconds of intervals on each SM (its number, and [`SMS`] times the device's), over time.
    pub(crate) fn grid(&self) -> &Grid {
        &self.kept.grid
    }

    pub(crate) fn times(&self) -> (&Times, Report) {
        (&self.kept.times.1, self.kept.times.0.report(&self.kept.times.1))
    }

    pub(crate) fn blocks(&self) -> Report {
        self.kept.blocks.0.report(&self.kept.blocks.1)
    }
}

impl Kept {
    fn batch(&mut self, batch: &hostcall_stream::Batch<'_, Interval>) {
        self.times.0.fold(&mut self.times.1, batch);
        self.blocks.0.fold(&mut self.blocks.1, batch);
        for (origin, interval) in batch.iter().filter(|(_, interval)| interval.end >= interval.start) {
            let begin = *self.begins.entry(origin.device).or_insert(interval.start);
            let since = |time: u64| time.wrapping_sub(begin) as i64;
            let (from, to) = (since(interval.start), since(interval.end));
            // Of clocks 292 years apart the difference has no sign.
            if to < from {
                continue;
            }
            self.grid.add_span(u64::from(origin.device) * SMS + u64::from(origin.sm), from, to);
            if self.first.len() < FIRST {
                let hostcall_stream::Origin { device, sm, group, wave, site, .. } = origin;
                self.first.push(Span { device, sm, group, wave, label: interval.label, site, from, to });
            } else {
                self.more += 1;
            }
        }
    }
}
