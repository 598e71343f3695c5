//! Which pages of memory are accessed, and how much.

use hostcall_abi::stream::{Access, Space};

use super::{Table, bounded, percent};
use crate::batch::Batch;
use crate::dispatch::Dispatch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// Accesses to the pages of memory, from [`Access`]es.
///
/// An access counts for the page of its first byte. Atomic operations count as reads and as writes. It keeps up to a
/// million pages (56 MB on each thread); accesses to further ones are counted together.
#[derive(Clone, Debug)]
pub struct HeatMap {
    page_log2: u32,
    spaces: u8,
    rows: usize,
    limit: usize,
}

/// What was done to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Accesses of lanes.
    pub accesses: u64,
    /// Those that read.
    pub reads: u64,
    /// Those that write.
    pub writes: u64,
    /// Bytes of all accesses.
    pub bytes: u64,
}

/// What [`HeatMap`] keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heat {
    /// By the page's first address.
    pages: Table<u64, Traffic>,
    /// Pages for which there is no room.
    elsewhere: Traffic,
    /// By device and launch.
    launches: Table<(u32, u32), Traffic>,
    /// By device and kernel.
    kernels: Table<(u32, Option<&'static str>), Traffic>,
}

impl Traffic {
    fn add(&mut self, access: Access) {
        self.merge(&Self {
            accesses: 1,
            reads: access.kind().reads().into(),
            writes: access.kind().writes().into(),
            bytes: access.bytes().into(),
        });
    }

    fn merge(&mut self, other: &Self) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.reads = self.reads.saturating_add(other.reads);
        self.writes = self.writes.saturating_add(other.writes);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn cells(&self) -> [Cell; 4] {
        [self.accesses, self.reads, self.writes, self.bytes].map(Cell::from)
    }
}

impl Heat {
    /// The pages that were accessed, by rising address: first address, and what was done there.
    pub fn pages(&self) -> Vec<(u64, Traffic)> {
        let mut pages: Vec<_> = self.pages.iter().map(|(page, traffic)| (*page, *traffic)).collect();
        pages.sort_unstable_by_key(|(page, _)| *page);
        pages
    }

    /// What was done to pages for which there was no room.
    pub fn elsewhere(&self) -> Traffic {
        self.elsewhere
    }

    /// What each launch did: device, the low 10 bits of the launch's number (0 on AMD GPUs), traffic.
    pub fn launches(&self) -> Vec<(u32, u32, Traffic)> {
        let mut launches: Vec<_> = self.launches.iter().map(|((device, launch), traffic)| (*device, *launch, *traffic)).collect();
        launches.sort_unstable_by_key(|(device, launch, _)| (*device, *launch));
        launches
    }

    /// What each kernel did: device, the kernel's name (`None`: unknown), traffic.
    pub fn kernels(&self) -> Vec<(u32, Option<&'static str>, Traffic)> {
        let mut kernels: Vec<_> = self.kernels.iter().map(|((device, kernel), traffic)| (*device, *kernel, *traffic)).collect();
        kernels.sort_unstable_by_key(|(device, kernel, _)| (*device, *kernel));
        kernels
    }

    /// What was done to memory altogether.
    pub fn all(&self) -> Traffic {
        let mut all = Traffic::default();
        self.launches.values().for_each(|traffic| all.merge(traffic));
        all
    }

    fn add_page(&mut self, page: u64, traffic: &Traffic, limit: usize) {
        bounded(&mut self.pages, page, limit).unwrap_or(&mut self.elsewhere).merge(traffic);
    }
}

impl HeatMap {
    /// A map of pages of so many bytes, rounded up to a power of two.
    pub fn pages(bytes: u64) -> Self {
        let page_log2 = bytes.max(1).checked_next_power_of_two().map_or(63, u64::trailing_zeros).min(Access::ADDRESS_BITS);
        Self { page_log2, spaces: u8::MAX, rows: 64, limit: 1 << 20 }
    }

    /// Only accesses to these memories. Default: to all.
    pub fn only(mut self, spaces: &[Space]) -> Self {
        self.spaces = spaces.iter().fold(0, |mask, space| mask | 1 << *space as u8);
        self
    }

    /// How many pages the report shows at most: the hottest. Default: 64.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = rows;
        self
    }

    /// How many pages are kept at most. Default: 2^20.
    pub fn limit(mut self, pages: usize) -> Self {
        self.limit = pages;
        self
    }

    fn page_of(&self, access: Access) -> u64 {
        access.address() >> self.page_log2 << self.page_log2
    }
}

impl Handler<Access> for HeatMap {
    type State = Heat;

    fn fold(&self, heat: &mut Heat, batch: &Batch<'_, Access>) -> Flow {
        // Neighbouring accesses are often to one page, and all messages of one launch: a table is looked at where they
        // change.
        let (mut page, mut on_page) = (0, Traffic::default());
        let (mut launch, mut of_launch) = ((0, 0), Traffic::default());
        let mut last = None;
        let mut dispatch = Dispatch::default();
        let flush_launch = |heat: &mut Heat, launch: (u32, u32), dispatch: Dispatch, traffic: &mut Traffic| {
            if traffic.accesses > 0 {
                heat.launches.entry(launch).or_default().merge(traffic);
                heat.kernels.entry((launch.0, dispatch.kernel)).or_default().merge(traffic);
                *traffic = Traffic::default();
            }
        };
        let flush_page = |heat: &mut Heat, page, on_page: &mut Traffic, of_launch: &mut Traffic| {
            if on_page.accesses > 0 {
                heat.add_page(page, on_page, self.limit);
                of_launch.merge(on_page);
                *on_page = Traffic::default();
            }
        };
        for message in batch.messages() {
            let its = (message.head.device, message.head.header().from.launch, message.dispatch());
            if last != Some(its) {
                flush_page(heat, page, &mut on_page, &mut of_launch);
                flush_launch(heat, launch, dispatch, &mut of_launch);
                last = Some(its);
                (launch, dispatch) = ((its.0, its.1), its.2);
            }
            for access in message.values.iter().filter(|access| self.spaces >> access.space() as u8 & 1 == 1) {
                let its = self.page_of(*access);
                if its != page {
                    flush_page(heat, page, &mut on_page, &mut of_launch);
                    page = its;
                }
                on_page.add(*access);
            }
        }
        flush_page(heat, page, &mut on_page, &mut of_launch);
        flush_launch(heat, launch, dispatch, &mut of_launch);
        Flow::Next
    }

    fn merge(&self, into: &mut Heat, from: &Heat) {
        from.pages.iter().for_each(|(page, traffic)| into.add_page(*page, traffic, self.limit));
        into.elsewhere.merge(&from.elsewhere);
        // Launches are at most 1024 for each device.
        from.launches.iter().for_each(|(launch, traffic)| into.launches.entry(*launch).or_default().merge(traffic));
        from.kernels.iter().for_each(|(kernel, traffic)| into.kernels.entry(*kernel).or_default().merge(traffic));
    }

    fn report(&self, heat: &Heat) -> Report {
        let (all, pages) = (heat.all(), heat.pages());
        let mut report = Report::new(format!("Memory heat map, pages of {} bytes", 1u64 << self.page_log2));
        let Traffic { accesses, reads, writes, bytes } = all;
        report.lines.push(format!("{accesses} accesses of {bytes} bytes: {reads} read, {writes} write; {} pages", pages.len()));
        if heat.elsewhere.accesses > 0 {
            report.lines.push(format!("{} accesses were to further pages, for which there was no room", heat.elsewhere.accesses));
        }
        report.tables.push(self.page_table(&pages, &all));
        let shown = report.tables[0].rows.len();
        if shown < pages.len() {
            report.lines.push(format!("the {shown} hottest pages are shown"));
        }
        if !heat.kernels.is_empty() {
            let mut table = report::Table::new("kernels", &["device", "kernel", "accesses", "reads", "writes", "bytes"]);
            for (device, kernel, traffic) in heat.kernels() {
                let [accesses, reads, writes, bytes] = traffic.cells();
                table.row([device.into(), kernel.unwrap_or("unknown").into(), accesses, reads, writes, bytes]);
            }
            report.tables.push(table);
        }
        if heat.launches.len() > 1 {
            let mut table = report::Table::new("launches", &["device", "launch", "accesses", "reads", "writes", "bytes"]);
            for (device, launch, traffic) in heat.launches() {
                let [accesses, reads, writes, bytes] = traffic.cells();
                table.row([device.into(), launch.into(), accesses, reads, writes, bytes]);
            }
            report.tables.push(table);
        }
        report
    }
}

/// Characters of the hottest page's bar.
const BAR: u64 = 20;

impl HeatMap {
    /// The hottest pages, by address. A gap is of pages that nobody accessed.
    fn page_table(&self, pages: &[(u64, Traffic)], all: &Traffic) -> report::Table {
        let columns = ["page", "gap before [pages]", "accesses", "reads", "writes", "bytes", "share [%]", "heat"];
        let mut table = report::Table::new("pages", &columns);
        let mut by_heat: Vec<u64> = pages.iter().map(|(_, traffic)| traffic.accesses).collect();
        by_heat.sort_unstable_by(|a, b| b.cmp(a));
        let hottest = by_heat.first().copied().unwrap_or(0);
        let least = by_heat.get(self.rows.saturating_sub(1)).copied().unwrap_or(0);
        // Of pages that are as hot as the last one shown, the first ones.
        let mut ties = self.rows.saturating_sub(by_heat.iter().take_while(|heat| **heat > least).count());
        let mut before: Option<u64> = None;
        for (page, traffic) in pages {
            let gap = before.map(|before| ((page - before) >> self.page_log2) - 1);
            before = Some(*page);
            if traffic.accesses < least || self.rows == 0 {
                continue;
            }
            if traffic.accesses == least {
                if ties == 0 {
                    continue;
                }
                ties -= 1;
            }
            let [accesses, reads, writes, bytes] = traffic.cells();
            let length = (u128::from(traffic.accesses) * u128::from(BAR)).div_ceil(u128::from(hottest.max(1)));
            let bar = "#".repeat(length as usize);
            let share = percent(traffic.accesses, all.accesses);
            table.row([Cell::Address(*page), gap.into(), accesses, reads, writes, bytes, share.into(), bar.into()]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Message, kept, messages};
    use super::*;
    use hostcall_abi::stream::{AccessKind, From};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn access() -> impl Strategy<Value = Access> + Clone {
        let address = prop_oneof![0..0x4000u64, any::<u64>()];
        (address, 0..4u64, 0..8u64, any::<u32>())
            .prop_map(|(address, kind, space, bytes)| Access::new(address, AccessKind::new(kind), Space::new(space), bytes))
    }

    proptest! {
        #[test]
        fn pages_have_what_a_plain_count_says_however_many_threads_count(
            messages in messages(access()), page_log2 in 0..57u32, threads in 1..4usize, together in 1..5usize
        ) {
            let map = HeatMap::pages(1 << page_log2);
            let heat = kept(&map, &messages, threads, together);
            let mut plain: BTreeMap<u64, Traffic> = BTreeMap::new();
            for access in messages.iter().flat_map(|message| &message.values) {
                let traffic = plain.entry((access.address() as u128 >> page_log2 << page_log2) as u64).or_default();
                traffic.accesses += 1;
                traffic.reads += u64::from(access.kind() != AccessKind::Write);
                traffic.writes += u64::from(access.kind() != AccessKind::Read);
                traffic.bytes += u64::from(access.bytes());
            }
            prop_assert_eq!(heat.pages(), plain.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(heat.elsewhere(), Traffic::default());
            prop_assert_eq!(&heat, &kept(&map, &messages, 1, messages.len().max(1)));
            let rows = map.clone().rows(3).report(&heat).tables[0].rows.len();
            prop_assert_eq!(rows, heat.pages().len().min(3));
        }

        #[test]
        fn with_room_for_few_pages_the_rest_is_counted_together(messages in messages(access()), limit in 0..4usize, threads in 1..3usize) {
            let heat = kept(&HeatMap::pages(64).limit(limit), &messages, threads, 2);
            let values: Vec<Access> = messages.iter().flat_map(|message| message.values.clone()).collect();
            prop_assert!(heat.pages().len() <= limit);
            let kept: u64 = heat.pages().iter().map(|(_, traffic)| traffic.accesses).sum();
            prop_assert_eq!(kept + heat.elsewhere().accesses, values.len() as u64);
            prop_assert_eq!(heat.all().bytes, values.iter().map(|access| u64::from(access.bytes())).sum::<u64>());
        }
    }

    #[test]
    fn a_report_shows_the_hottest_pages_by_address_and_the_gaps() {
        let read = |address| Access::new(address, AccessKind::Read, Space::Global, 4);
        let on = |launch, addresses: Vec<u64>| {
            let message = Message::new((1 << addresses.len()) - 1, addresses.into_iter().map(read).collect());
            message.from(From { launch, ..From::default() })
        };
        let messages = [on(1, vec![0x1000, 0x1004, 0x1008, 0x1ffc]), on(2, vec![0x5000, 0x5004]), on(2, vec![0x2000])];
        let map = HeatMap::pages(4096).rows(2);
        let report = map.report(&kept(&map, &messages, 1, 3));
        assert_eq!(
            report.to_string(),
            "Memory heat map, pages of 4096 bytes\n7 accesses of 28 bytes: 7 read, 0 write; 3 pages\nthe 2 hottest pages are shown\n\npages\n    \
             page  gap before [pages]  accesses  reads  writes  bytes  share [%]  heat\n  \
             0x1000                   -         4      4       0     16     57.143  ####################\n  \
             0x5000                   2         2      2       0      8     28.571  ##########\n\nkernels\n  device  kernel   accesses  reads  writes  bytes\n       \
             0  unknown         7      7       0     28\n\nlaunches\n  \
             device  launch  accesses  reads  writes  bytes\n       0       1         4      4       0     16\n       0       2         3      3       0     12\n"
        );
    }

    #[test]
    fn memories_that_are_not_asked_for_are_left_out() {
        let values = [Space::Global, Space::Shared, Space::Private].map(|space| Access::new(64, AccessKind::Write, space, 4)).to_vec();
        let heat = kept(&HeatMap::pages(64).only(&[Space::Global, Space::Private]), &[Message::new(7, values)], 1, 1);
        assert_eq!(heat.all(), Traffic { accesses: 2, reads: 0, writes: 2, bytes: 8 });
    }
}
