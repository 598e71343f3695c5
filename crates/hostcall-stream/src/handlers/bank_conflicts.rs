//! How long accesses to the workgroup's memory take, for conflicts of its banks.

use hostcall_abi::stream::{Access, AccessKind, Space};

use super::{Table, mean, some, waves};
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};

/// The banks of a workgroup's memory, and which lanes they serve together.
///
/// Words of a bank's width lie in the banks in turn. A bank gives one word in a cycle, to all lanes that want it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banks {
    count: u64,
    word_log2: u32,
    /// Masks of lanes, by the access's size as a power of two. All lanes are in one of them.
    groups: [Vec<u64>; SIZES],
}

/// Sizes of accesses.
const SIZES: usize = 8;

impl Banks {
    /// NVIDIA's: 32 banks of 4 bytes. All 32 lanes are served together if they access up to 4 bytes each, 16 and 16 if
    /// 8, and 8 at a time if more (CUDA C++ Programming Guide, "Shared Memory").
    pub fn nvidia() -> Self {
        Self::new(32, 4).lanes(8, 16).lanes(16, 8).lanes(32, 8).lanes(64, 8).lanes(128, 8)
    }

    /// `count` banks of `bytes` bytes each, rounded up to a power of two, that serve 32 neighbouring lanes together
    /// whatever they access.
    ///
    /// AMD's serve other lanes together for each architecture and size: [`Banks::lanes`] and [`Banks::groups`] say
    /// which.
    pub fn new(count: u32, bytes: u32) -> Self {
        let word_log2 = bytes.clamp(1, Access::MAX_BYTES).next_power_of_two().trailing_zeros();
        let groups = std::array::from_fn(|_| neighbours(32));
        Self { count: count.max(1).into(), word_log2, groups }
    }

    /// So many neighbouring lanes, 1 to 64, are served together if they access `bytes` bytes each.
    pub fn lanes(mut self, bytes: u32, lanes: u32) -> Self {
        self.groups[size(bytes)] = neighbours(lanes);
        self
    }

    /// The lanes of each of these masks are served together if they access `bytes` bytes each, and those of no mask,
    /// too. A lane in two masks is one of the first.
    pub fn groups(mut self, bytes: u32, masks: &[u64]) -> Self {
        let mut rest = u64::MAX;
        let mut groups = Vec::new();
        for mask in masks.iter().chain(&[u64::MAX]) {
            if mask & rest != 0 {
                groups.push(mask & rest);
                rest &= !mask;
            }
        }
        self.groups[size(bytes)] = groups;
        self
    }

    /// Cycles that an access of a wave takes in each group of lanes: those that it takes, and the least for so many
    /// words.
    fn cycles<'a>(&'a self, lanes: &'a [(u32, Access)], words: &'a mut Words) -> impl Iterator<Item = (u64, u64)> + 'a {
        let largest = lanes.iter().map(|(_, access)| access.bytes()).max().unwrap_or(1);
        self.groups[size(largest)].iter().filter_map(move |mask| {
            words.all.clear();
            for (_, access) in lanes.iter().filter(|(lane, _)| mask >> (lane & 63) & 1 == 1) {
                words.all.extend(access.address() >> self.word_log2..=access.last() >> self.word_log2);
            }
            words.all.sort_unstable();
            words.all.dedup();
            words.of_bank.clear();
            words.of_bank.resize(self.count as usize, 0);
            for word in &words.all {
                words.of_bank[(word % self.count) as usize] += 1;
            }
            let cycles = words.of_bank.iter().copied().max().unwrap_or(0);
            (cycles > 0).then_some((cycles, (words.all.len() as u64).div_ceil(self.count)))
        })
    }
}

/// Masks of `lanes` neighbouring lanes.
fn neighbours(lanes: u32) -> Vec<u64> {
    let lanes = lanes.clamp(1, 64);
    (0..64).step_by(lanes as usize).map(|first| (u64::MAX >> (64 - lanes)) << first).collect()
}

/// The place of accesses of `bytes` bytes.
fn size(bytes: u32) -> usize {
    (bytes.clamp(1, Access::MAX_BYTES).next_power_of_two().trailing_zeros()) as usize
}

/// Words that lanes want, and how many of each bank: kept for their memory.
#[derive(Default)]
struct Words {
    all: Vec<u64>,
    of_bank: Vec<u64>,
}

/// Conflicts of banks in accesses of waves to the workgroup's memory, from [`Access`]es.
///
/// Each message is one access of a wave; of its lanes, those count whose space is [`Space::Shared`]. There is a row for
/// each place in the source and kind of access: at most 262 144 (21 MB on each thread).
#[derive(Clone, Debug)]
pub struct BankConflicts {
    banks: Banks,
}

/// What accesses took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankUse {
    /// Accesses of waves.
    pub accesses: u64,
    /// Accesses of lanes.
    pub lanes: u64,
    /// Cycles that they take.
    pub cycles: u64,
    /// Cycles beyond the least that their words need.
    pub extra: u64,
    /// The most cycles that lanes served together took.
    pub worst: u64,
}

/// What [`BankConflicts`] keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// By site and kind.
    rows: Table<(u32, AccessKind), BankUse>,
}

impl BankUse {
    fn merge(&mut self, other: &Self) {
        self.accesses = self.accesses.saturating_add(other.accesses);
        self.lanes = self.lanes.saturating_add(other.lanes);
        self.cycles = self.cycles.saturating_add(other.cycles);
        self.extra = self.extra.saturating_add(other.extra);
        self.worst = self.worst.max(other.worst);
    }
}

impl BankUse {
    /// What an access of a wave takes on average, in words: `32 lanes take 32 cycles, 1 would do`.
    pub fn in_words(&self) -> String {
        let [lanes, cycles, least] = [self.lanes, self.cycles, self.cycles.saturating_sub(self.extra)].map(|all| mean(all, self.accesses));
        let rest = if self.extra > 0 { format!(", {least} would do") } else { String::new() };
        let (lanes, cycles) = (some(&lanes, "lane takes", "lanes take"), some(&cycles, "cycle", "cycles"));
        format!("{lanes} {cycles}{rest}")
    }
}

impl std::ops::Add for BankUse {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.merge(&other);
        self
    }
}

impl Conflicts {
    /// What accesses from each place in the source (0: none is known) took, by kind.
    pub fn rows(&self) -> Vec<(u32, AccessKind, BankUse)> {
        let mut rows: Vec<_> = self.rows.iter().map(|((site, kind), used)| (*site, *kind, *used)).collect();
        rows.sort_unstable_by_key(|(site, kind, _)| (*site, *kind));
        rows
    }

    /// What all accesses took.
    pub fn all(&self) -> BankUse {
        let mut all = BankUse::default();
        self.rows.values().for_each(|used| all.merge(used));
        all
    }
}

impl BankConflicts {
    /// Conflicts of these banks.
    pub fn of(banks: Banks) -> Self {
        Self { banks }
    }
}

impl Handler<Access> for BankConflicts {
    type State = Conflicts;

    fn fold(&self, state: &mut Conflicts, batch: &Batch<'_, Access>) -> Flow {
        let (mut buffer, mut words) = (Vec::with_capacity(64), Words::default());
        for message in batch.messages() {
            waves::accesses(
                &message,
                &mut buffer,
                |access| access.space() == Space::Shared,
                |lanes| {
                    let mut used = BankUse { accesses: 1, lanes: lanes.len() as u64, ..BankUse::default() };
                    for (cycles, least) in self.banks.cycles(lanes, &mut words) {
                        used.cycles += cycles;
                        used.extra += cycles - least;
                        used.worst = used.worst.max(cycles);
                    }
                    state.rows.entry((message.head.header().site, lanes[0].1.kind())).or_default().merge(&used);
                },
            );
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Conflicts, from: &Conflicts) {
        from.rows.iter().for_each(|(key, used)| into.rows.entry(*key).or_default().merge(used));
    }

    fn report(&self, state: &Conflicts) -> Report {
        let Banks { count, word_log2, .. } = self.banks;
        let mut report = Report::new(format!("Bank conflicts, {count} banks of {} bytes", 1u32 << word_log2));
        let BankUse { accesses, cycles, extra, .. } = state.all();
        report.lines.push(format!("{accesses} accesses of waves took {cycles} cycles, {extra} of them for conflicts"));
        let columns = ["site", "kind", "accesses", "lanes", "cycles", "extra cycles", "extra per access", "worst [cycles]"];
        let mut table = report::Table::new("accesses", &columns);
        for (site, kind, used) in state.rows() {
            let BankUse { accesses, lanes, cycles, extra, worst } = used;
            let per_access = extra as f64 / accesses.max(1) as f64;
            let words = [Cell::Site(site), kind.name().into(), accesses.into(), lanes.into()];
            let [site, kind, accesses, lanes] = words;
            table.row([site, kind, accesses, lanes, cycles.into(), extra.into(), per_access.into(), worst.into()]);
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
    use std::collections::{BTreeMap, HashMap, HashSet};

    fn shared(address: u64, bytes: u32) -> Access {
        Access::new(address, AccessKind::Read, Space::Shared, bytes)
    }

    /// What 32 lanes take, of which lane `i` reads at `address(i)`: cycles, and those too many.
    fn wave(bytes: u32, address: impl Fn(u64) -> u64) -> (u64, u64) {
        let message = Message::new(u64::from(u32::MAX), (0..32).map(|lane| shared(address(lane), bytes)).collect());
        let used = kept(&BankConflicts::of(Banks::nvidia()), &[message], 1, 1).all();
        (used.cycles, used.extra)
    }

    #[test]
    fn patterns_that_everybody_knows_take_what_everybody_expects() {
        assert_eq!(wave(4, |lane| 4 * lane), (1, 0), "a bank each");
        assert_eq!(wave(4, |lane| 4 * (31 - lane) + 256), (1, 0), "the other way round");
        assert_eq!(wave(4, |_| 64), (1, 0), "one word for all");
        assert_eq!(wave(4, |lane| 8 * lane), (2, 1), "every second word");
        assert_eq!(wave(4, |lane| 128 * lane), (32, 31), "a column of 32 words");
        assert_eq!(wave(4, |lane| 132 * lane), (1, 0), "a column of 33 words");
        assert_eq!(wave(1, |lane| lane), (1, 0), "four lanes a word");
        assert_eq!(wave(8, |lane| 8 * lane), (2, 0), "half-waves");
        assert_eq!(wave(8, |lane| 128 * lane), (32, 30), "a column of 8 bytes");
        assert_eq!(wave(16, |lane| 16 * lane), (4, 0), "quarter-waves");
        assert_eq!(wave(16, |lane| 128 * lane), (32, 28), "a column of 16 bytes");
    }

    #[test]
    fn lanes_that_are_served_together_are_those_of_the_banks() {
        let message = Message::new(u64::MAX, (0..64).map(|lane| shared(128 * (lane % 4), 4)).collect());
        let take = |banks: Banks| kept(&BankConflicts::of(banks), std::slice::from_ref(&message), 1, 1).all().cycles;
        assert_eq!(take(Banks::nvidia()), 2 * 4);
        assert_eq!(take(Banks::new(32, 4).lanes(4, 64)), 4);
        assert_eq!(take(Banks::new(32, 4).lanes(4, 1)), 64);
        // Lanes 0, 4, 8, … want one word; the rest together want three.
        assert_eq!(take(Banks::new(32, 4).groups(4, &[0x1111_1111_1111_1111])), 1 + 3);
        assert_eq!(take(Banks::new(64, 4).groups(4, &[u64::MAX, 3])), 2, "words 0, 32, 64 and 96 in 64 banks");
    }

    fn access() -> impl Strategy<Value = Access> + Clone {
        let address = prop_oneof![0..4096u64, any::<u64>()];
        (address, 0..4u64, prop_oneof![3 => Just(3), 1 => 0..8u64], 0..20u32)
            .prop_map(|(address, kind, space, bytes)| Access::new(address, AccessKind::new(kind), Space::new(space), bytes))
    }

    /// The same by sets, one bank after another.
    fn plain(messages: &[Message<Access>]) -> BTreeMap<(u32, AccessKind), BankUse> {
        let mut rows = BTreeMap::<_, BankUse>::new();
        for message in messages {
            let lanes: Vec<u32> = (0..64).filter(|lane| message.mask() >> lane & 1 == 1).collect();
            let each = message.header().values as usize;
            for index in 0..each {
                let its = lanes.iter().enumerate().map(|(rank, lane)| (*lane, message.values[rank * each + index]));
                let its: Vec<(u32, Access)> = its.filter(|(_, access)| access.space() == Space::Shared).collect();
                let Some((_, first)) = its.first() else { continue };
                let together = match its.iter().map(|(_, access)| access.bytes()).max() {
                    Some(0..=4) => 32,
                    Some(8) => 16,
                    _ => 8,
                };
                let used = rows.entry((message.header().site, first.kind())).or_default();
                used.accesses += 1;
                used.lanes += its.len() as u64;
                let mut groups = HashMap::<u32, HashSet<u64>>::new();
                for (lane, access) in &its {
                    let bytes = access.address()..=access.last();
                    groups.entry(lane / together).or_default().extend(bytes.map(|byte| byte / 4));
                }
                for words in groups.values() {
                    let cycles = (0..32).map(|bank| words.iter().filter(|word| **word % 32 == bank).count()).max().unwrap_or(0) as u64;
                    used.cycles += cycles;
                    used.extra += cycles - (words.len() as u64).div_ceil(32);
                    used.worst = used.worst.max(cycles);
                }
            }
        }
        rows
    }

    proptest! {
        #[test]
        fn cycles_are_those_of_a_plain_count_of_words(messages in messages(access()), threads in 1..4usize, together in 1..5usize) {
            let handler = BankConflicts::of(Banks::nvidia());
            let state = kept(&handler, &messages, threads, together);
            let rows: BTreeMap<_, _> = state.rows().into_iter().map(|(site, kind, used)| ((site, kind), used)).collect();
            prop_assert_eq!(rows, plain(&messages));
            prop_assert_eq!(handler.report(&state).tables[0].rows.len(), state.rows().len());
        }
    }
}
