//! What lanes did to memory.

use hostcall_stream::file::{Message, Replay};
use hostcall_stream::handlers::{BankConflicts, Banks, ByKernel, CacheLines, Conflicts, Heat, HeatMap, Kernels, Lines};
use hostcall_stream::{Access, Handler, Report, Space};

use super::grid::Grid;

/// Accesses: the ready handlers' findings, and when which page was accessed.
pub(crate) struct Memory {
    replay: Replay<Access>,
    kept: Kept,
}

struct Kept {
    heat: (HeatMap, Heat),
    lines: (ByKernel<CacheLines>, Kernels<Lines>),
    conflicts: (ByKernel<BankConflicts>, Kernels<Conflicts>),
    /// By address, over time if messages have one, else over their number.
    grid: Grid,
    timed: bool,
    first: Option<u64>,
    messages: i64,
}

/// Bytes of a page of the heat map's table.
pub(crate) const PAGE: u64 = 4096;
/// Memories that all workgroups share.
const SHARED_BY_ALL: [Space; 4] = [Space::Flat, Space::Global, Space::Region, Space::Constant];

impl Default for Memory {
    fn default() -> Self {
        let kept = Kept {
            // A quarter of what the handler keeps by itself: 15 MB.
            heat: (HeatMap::pages(PAGE).only(&SHARED_BY_ALL).limit(1 << 18).rows(32), Heat::default()),
            lines: (ByKernel(CacheLines::default()), Kernels::default()),
            conflicts: (ByKernel(BankConflicts::of(Banks::nvidia())), Kernels::default()),
            grid: Grid::new(6, 512, 192),
            timed: false,
            first: None,
            messages: 0,
        };
        Self { replay: Replay::default(), kept }
    }
}

impl Memory {
    pub(crate) fn add(&mut self, message: &Message<'_>) {
        let kept = &mut self.kept;
        self.replay.push(message, |batch| kept.batch(batch));
    }

    /// Takes in what is left.
    pub(crate) fn finish(&mut self) {
        let kept = &mut self.kept;
        self.replay.rest(|batch| kept.batch(batch));
    }

    /// When which address was accessed, and whether columns are nanoseconds; else they are numbers of messages.
    pub(crate) fn grid(&self) -> (&Grid, bool) {
        (&self.kept.grid, self.kept.timed)
    }

    pub(crate) fn heat(&self) -> Report {
        self.kept.heat.0.report(&self.kept.heat.1)
    }

    pub(crate) fn lines(&self) -> (&Kernels<Lines>, Report) {
        (&self.kept.lines.1, self.kept.lines.0.report(&self.kept.lines.1))
    }

    pub(crate) fn conflicts(&self) -> (&Kernels<Conflicts>, Report) {
        (&self.kept.conflicts.1, self.kept.conflicts.0.report(&self.kept.conflicts.1))
    }
}

impl Kept {
    fn batch(&mut self, batch: &hostcall_stream::Batch<'_, Access>) {
        self.heat.0.fold(&mut self.heat.1, batch);
        self.lines.0.fold(&mut self.lines.1, batch);
        self.conflicts.0.fold(&mut self.conflicts.1, batch);
        for message in batch.messages() {
            self.messages += 1;
            let at = match message.head.header().time {
                Some(time) => {
                    self.timed = true;
                    time.wrapping_sub(*self.first.get_or_insert(time)) as i64
                }
                None if self.timed => continue,
                None => self.messages,
            };
            // Lanes of a wave mostly access neighbours: one look at the table for a row of them.
            let mut pending = (u64::MAX, 0);
            for access in message.values.iter().filter(|access| SHARED_BY_ALL.contains(&access.space())) {
                let row = access.address() >> 6;
                if row != pending.0 {
                    self.flush(pending, at);
                    pending = (row, 0);
                }
                pending.1 += 1;
            }
            self.flush(pending, at);
        }
    }

    fn flush(&mut self, (row, count): (u64, u64), at: i64) {
        if count > 0 {
            self.grid.add(row << 6, at, count);
        }
    }
}
