//! How much of the cache lines that waves touch they use.

use hostcall_abi::stream::{Access, AccessKind, Space};

use super::{Table, mean, percent, some, waves};
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// Cache lines and sectors that accesses of waves touch, against the least that could hold their bytes, from
/// [`Access`]es.
///
/// Each message is one access of a wave. Its lanes' bytes are put together: bytes that several lanes access count once,
/// because the memory is asked for them once. Accesses to the workgroup's memory and to the lane's own are left out.
/// There is a row for each place in the source and kind of access: at most 262 144 (26 MB on each thread).
#[derive(Clone, Debug)]
pub struct CacheLines {
    line_log2: u32,
}

/// Bytes of a sector: the piece in which NVIDIA GPUs, and AMD's for writes, move parts of a line.
const SECTOR_LOG2: u32 = 5;

/// What accesses touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineUse {
    /// Accesses of waves.
    pub accesses: u64,
    /// Accesses of lanes.
    pub lanes: u64,
    /// Bytes that the waves need: those that several lanes access at once count once.
    pub bytes: u64,
    /// Lines touched.
    pub lines: u64,
    /// Lines that hold as many bytes.
    pub least_lines: u64,
    /// Sectors of 32 bytes touched.
    pub sectors: u64,
    /// Sectors that hold as many bytes.
    pub least_sectors: u64,
}

/// What [`CacheLines`] keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// By site and kind.
    rows: Table<(u32, AccessKind), LineUse>,
}

impl LineUse {
    fn merge(&mut self, other: &Self) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.lanes = self.lanes.saturating_add(other.lanes);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.lines = self.lines.saturating_add(other.lines);
        self.least_lines = self.least_lines.saturating_add(other.least_lines);
        self.sectors = self.sectors.saturating_add(other.sectors);
        self.least_sectors = self.least_sectors.saturating_add(other.least_sectors);
    }

    /// What an access of a wave touches on average, in words: `32 lanes touch 32 sectors, 4 would do`.
    pub fn in_words(&self) -> String {
        let [lanes, sectors, least] = [self.lanes, self.sectors, self.least_sectors].map(|all| mean(all, self.accesses));
        let rest = if self.sectors > self.least_sectors { format!(", {least} would do") } else { String::new() };
        let (lanes, sectors) = (some(&lanes, "lane touches", "lanes touch"), some(&sectors, "sector", "sectors"));
        format!("{lanes} {sectors}{rest}")
    }

    /// Coalescing: the share of the bytes in touched sectors that the waves need, in percent; `None`: there were no
    /// accesses.
    pub fn efficiency(&self) -> Option<f64> {
        percent(self.bytes, self.sectors.saturating_mul(1 << SECTOR_LOG2))
    }
}

impl std::ops::Add for LineUse {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.merge(&other);
        self
    }
}

impl Lines {
    /// What was touched from each place in the source (0: none is known), by kind.
    pub fn rows(&self) -> Vec<(u32, AccessKind, LineUse)> {
        let mut rows: Vec<_> = self.rows.iter().map(|((site, kind), used)| (*site, *kind, *used)).collect();
        rows.sort_unstable_by_key(|(site, kind, _)| (*site, *kind));
        rows
    }

    /// What was touched altogether.
    pub fn all(&self) -> LineUse {
        let mut all = LineUse::default();
        self.rows.values().for_each(|used| all.merge(used));
        all
    }
}

impl Default for CacheLines {
    /// Lines of 128 bytes.
    fn default() -> Self {
        Self::of(128)
    }
}

impl CacheLines {
    /// Lines of so many bytes: 128 on NVIDIA GPUs and AMD's MI300, 64 on older ones of AMD. A power of two from 32 on;
    /// others are rounded up.
    pub fn of(bytes: u32) -> Self {
        Self { line_log2: bytes.clamp(1 << SECTOR_LOG2, 1 << 20).next_power_of_two().trailing_zeros() }
    }

    /// What one access of a wave touches. `spans`: first and last byte of each lane's, at least one.
    fn used(&self, spans: &mut [(u64, u64)]) -> LineUse {
        if !spans.is_sorted() {
            spans.sort_unstable();
        }
        let bytes = pieces(spans, 0);
        let of = |log2: u32| (pieces(spans, log2), bytes.div_ceil(1 << log2));
        let ((lines, least_lines), (sectors, least_sectors)) = (of(self.line_log2), of(SECTOR_LOG2));
        LineUse { accesses: 1, lanes: spans.len() as u64, bytes, lines, least_lines, sectors, least_sectors }
    }
}

/// Pieces of 2^`log2` bytes that are touched by the spans, which are sorted.
fn pieces(spans: &[(u64, u64)], log2: u32) -> u64 {
    let (mut count, mut next) = (0, 0);
    for (first, last) in spans {
        // All pieces from this one's first to before `next` are counted, because the spans are sorted by their first
        // byte.
        let (first, end) = ((first >> log2).max(next), (last >> log2) + 1);
        if end > first {
            count += end - first;
            next = end;
        }
    }
    count
}

impl Handler<Access> for CacheLines {
    type State = Lines;

    fn fold(&self, state: &mut Lines, batch: &Batch<'_, Access>) -> Flow {
        let wanted = |access: Access| matches!(access.space(), Space::Flat | Space::Global | Space::Constant);
        let (mut buffer, mut spans) = (Vec::with_capacity(64), Vec::with_capacity(64));
        for message in batch.messages() {
            waves::accesses(&message, &mut buffer, wanted, |lanes| {
                spans.clear();
                spans.extend(lanes.iter().map(|(_, access)| (access.address(), access.last())));
                let key = (message.head.header().site, lanes[0].1.kind());
                state.rows.entry(key).or_default().merge(&self.used(&mut spans));
            });
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Lines, from: &Lines) {
        from.rows.iter().for_each(|(key, used)| into.rows.entry(*key).or_default().merge(used));
    }

    fn report(&self, state: &Lines) -> Report {
        let all = state.all();
        let mut report = Report::new(format!("Use of cache lines of {} bytes", 1u64 << self.line_log2));
        let LineUse { accesses, bytes, sectors, lines, least_lines, .. } = all;
        report.lines.push(format!("{accesses} accesses of waves to {bytes} bytes in {lines} lines, where {least_lines} would do"));
        if let Some(efficiency) = all.efficiency() {
            report.lines.push(format!("{efficiency:.1} % of the {sectors} sectors' bytes are used"));
        }
        let columns =
            ["site", "kind", "accesses", "lanes", "bytes", "lines", "least lines", "sectors", "least sectors", "sectors used [%]"];
        let mut table = report::Table::new("accesses", &columns);
        for (site, kind, used) in state.rows() {
            let LineUse { accesses, lanes, bytes, lines, least_lines, sectors, least_sectors } = used;
            table.row([
                Cell::Site(site),
                kind.name().into(),
                accesses.into(),
                lanes.into(),
                bytes.into(),
                lines.into(),
                least_lines.into(),
                sectors.into(),
                least_sectors.into(),
                used.efficiency().into(),
            ]);
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
    use std::collections::{BTreeMap, HashSet};

    fn read(address: u64, bytes: u32) -> Access {
        Access::new(address, AccessKind::Read, Space::Global, bytes)
    }

    /// What 32 lanes touch, of which lane `i` reads at `address(i)`.
    fn wave(bytes: u32, address: impl Fn(u64) -> u64) -> LineUse {
        let message = Message::new(u64::from(u32::MAX), (0..32).map(|lane| read(address(lane), bytes)).collect());
        kept(&CacheLines::default(), &[message], 1, 1).all()
    }

    #[test]
    fn patterns_that_everybody_knows_touch_what_everybody_expects() {
        let said = |used: LineUse| (used.lines, used.least_lines, used.sectors, used.least_sectors, used.efficiency());
        assert_eq!(said(wave(4, |lane| 0x1000 + 4 * lane)), (1, 1, 4, 4, Some(100.0)), "side by side");
        assert_eq!(said(wave(4, |lane| 0x1004 + 4 * lane)), (2, 1, 5, 4, Some(80.0)), "off a line by one");
        assert_eq!(said(wave(4, |lane| 0x1000 + 4 * (31 - lane))), (1, 1, 4, 4, Some(100.0)), "the other way round");
        assert_eq!(said(wave(4, |_| 0x1000)), (1, 1, 1, 1, Some(12.5)), "all the same");
        assert_eq!(said(wave(4, |lane| 0x1000 + 128 * lane)), (32, 1, 32, 4, Some(12.5)), "a line each");
        assert_eq!(said(wave(16, |lane| 0x1000 + 16 * lane)), (4, 4, 16, 16, Some(100.0)), "16 bytes each");
        assert_eq!(wave(4, |lane| 0x1000 + 128 * lane).in_words(), "32 lanes touch 32 sectors, 4 would do");
        assert_eq!(wave(4, |lane| 0x1000 + 4 * lane).in_words(), "32 lanes touch 4 sectors");
        let mut two = wave(4, |lane| 0x1004 + 4 * lane);
        two.merge(&wave(4, |lane| 0x1000 + 4 * lane));
        assert_eq!(two.in_words(), "32 lanes touch 4.5 sectors, 4 would do");
    }

    fn access() -> impl Strategy<Value = Access> + Clone {
        let address = prop_oneof![0..2048u64, any::<u64>()];
        (address, 0..4u64, 0..8u64, 0..200u32)
            .prop_map(|(address, kind, space, bytes)| Access::new(address, AccessKind::new(kind), Space::new(space), bytes))
    }

    /// The same, byte by byte.
    fn plain(messages: &[Message<Access>], line: u64) -> BTreeMap<(u32, AccessKind), LineUse> {
        let mut rows = BTreeMap::<_, LineUse>::new();
        for message in messages {
            let each = message.header().values as usize;
            for index in 0..each {
                let its: Vec<Access> = message.values.iter().skip(index).step_by(each).copied().collect();
                let its: Vec<Access> =
                    its.into_iter().filter(|access| ![Space::Shared, Space::Private, Space::Region].contains(&access.space())).collect();
                let Some(first) = its.first() else { continue };
                let bytes: HashSet<u64> =
                    its.iter().flat_map(|access| (0..u64::from(access.bytes())).map(|i| access.address() + i)).collect();
                let count = |size: u64| bytes.iter().map(|byte| byte / size).collect::<HashSet<_>>().len() as u64;
                let used = rows.entry((message.header().site, first.kind())).or_default();
                used.accesses += 1;
                used.lanes += its.len() as u64;
                used.bytes += bytes.len() as u64;
                used.lines += count(line);
                used.least_lines += (bytes.len() as u64).div_ceil(line);
                used.sectors += count(32);
                used.least_sectors += (bytes.len() as u64).div_ceil(32);
            }
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_and_sectors_are_those_of_a_plain_count_of_bytes(
            messages in messages(access()), line_log2 in 5..9u32, threads in 1..4usize, together in 1..5usize
        ) {
            let lines = CacheLines::of(1 << line_log2);
            let state = kept(&lines, &messages, threads, together);
            let rows: BTreeMap<_, _> = state.rows().into_iter().map(|(site, kind, used)| ((site, kind), used)).collect();
            prop_assert_eq!(rows, plain(&messages, 1 << line_log2));
            prop_assert_eq!(lines.report(&state).tables[0].rows.len(), state.rows().len());
        }
    }
}
