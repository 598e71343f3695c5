//! Handlers that are ready: for what kernels say of their memory and of their time, and for counting anything.
//!
//! | handler | takes | finds out |
//! |---|---|---|
//! | [`HeatMap`] | [`Access`](crate::Access) | accesses and bytes of each page |
//! | [`CacheLines`] | [`Access`](crate::Access) | lines and sectors that waves touch, against the least they need |
//! | [`BankConflicts`] | [`Access`](crate::Access) | cycles that workgroup memory takes, against the least it needs |
//! | [`Intervals`] | [`Interval`](crate::Interval) | how long what was measured took, by label |
//! | [`Blocks`] | [`Interval`](crate::Interval) | when each workgroup ran, and on which SM |
//! | [`Steps`] | [`Step`](crate::Step) | blocks of instrumented code that waves come to, and with how many lanes |
//! | [`Logger`] | [`Log`](crate::Log) | lines of a log, formatted |
//! | [`Histogram`] | any | how a number is distributed |
//! | [`Counts`] | any | how often each value of a key comes |
//! | [`TopK`] | any | the same for keys without number, about |
//! | [`ByKernel`] | any | what another handler finds out, for each kernel by itself |
//!
//! Numbers that a device sends are believed, but do no harm: sums stop at their largest value, and each handler says
//! how much memory it takes at most on each thread. What is beyond is counted, and the report says so.

mod bank_conflicts;
mod blocks;
mod by_kernel;
mod cache_lines;
mod counts;
mod distribution;
mod heat_map;
mod histogram;
mod intervals;
mod logger;
mod steps;
#[cfg(test)]
mod testing;
mod top_k;
mod waves;

use std::collections::HashMap;
use std::hash::Hash;

pub use bank_conflicts::{BankConflicts, BankUse, Banks, Conflicts};
pub use blocks::{Block, Blocks, Timeline};
pub use by_kernel::{ByKernel, Kernels};
pub use cache_lines::{CacheLines, LineUse, Lines};
pub use counts::{Counted, Counts};
pub use distribution::Distribution;
pub use heat_map::{Heat, HeatMap, Traffic};
pub use histogram::Histogram;
pub use intervals::{Intervals, Measured, Times};
pub use logger::{LogLine, Logged, Logger};
pub use steps::{StepKey, StepUse, Stepped, Steps};
pub use top_k::{Sketch, TopK};

/// A table by keys that a device may have chosen.
type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The entry of a key; `None`: it is new, and the table has `limit` keys already.
fn bounded<K: Eq + Hash, V: Default>(table: &mut Table<K, V>, key: K, limit: usize) -> Option<&mut V> {
    if table.len() < limit || table.contains_key(&key) { Some(table.entry(key).or_default()) } else { None }
}

/// `part` of `all`, in percent.
fn percent(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| 100.0 * part as f64 / all as f64)
}

/// `all` of `count` things, of each of them on average, for people: with a digit behind the point where it has one.
fn mean(all: u64, count: u64) -> String {
    let text = format!("{:.1}", all as f64 / count.max(1) as f64);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A number with the word for one or for several.
fn some(number: &str, one: &str, several: &str) -> String {
    format!("{number} {}", if number == "1" { one } else { several })
}

/// The keys and how often they came, the most frequent ones first.
fn most_frequent<K: Eq + Hash + Ord + Clone>(counts: &Table<K, u64>) -> Vec<(K, u64)> {
    let mut rows: Vec<_> = counts.iter().map(|(key, count)| (key.clone(), *count)).collect();
    rows.sort_unstable_by(|(a, count_a), (b, count_b)| count_b.cmp(count_a).then_with(|| a.cmp(b)));
    rows
}
