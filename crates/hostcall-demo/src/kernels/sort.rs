//! Sorting: every lane sorts a block, then pairs of runs are merged, all lanes taking part in every pair.

use crate::{BLOCK, Entry, Text};
use hostcall::prelude::kernel;

use super::mine;

/// Sorts each block of [`BLOCK`] entries.
#[kernel]
pub fn sort(text: &[u8], entries: &mut [Entry]) {
    let text = Text { bytes: text, slice: 1 };
    for block in mine(entries.len().div_ceil(BLOCK)) {
        let end = entries.len().min((block + 1) * BLOCK);
        let block = &mut entries[block * BLOCK..end];
        for sorted in 1..block.len() {
            let entry = block[sorted];
            let mut to = sorted;
            while to > 0 && text.before(&entry, &block[to - 1]) {
                block[to] = block[to - 1];
                to -= 1;
            }
            block[to] = entry;
        }
    }
}

/// Merges pairs of neighbouring sorted runs of `run` entries, a multiple of [`BLOCK`], from `from` to `to`. A lane
/// makes [`BLOCK`] entries of a merged run; where they begin in the two runs it finds by bisection ("merge path").
#[kernel]
pub fn merge(text: &[u8], from: &[Entry], to: &mut [Entry], run: u64) {
    let text = Text { bytes: text, slice: 1 };
    let run = run as usize;
    for block in mine(to.len().div_ceil(BLOCK)) {
        let start = block * BLOCK;
        let end = to.len().min(start + BLOCK);
        let pair = start / (2 * run) * (2 * run);
        let middle = from.len().min(pair + run);
        let (a, b) = (&from[pair..middle], &from[middle..from.len().min(middle + run)]);
        // Of the first `before` entries of the merged run, how many are `a`'s?
        let before = start - pair;
        let (mut low, mut high) = (before.saturating_sub(b.len()), before.min(a.len()));
        while low < high {
            let half = low.midpoint(high);
            if text.before(&a[half], &b[before - half - 1]) {
                low = half + 1;
            } else {
                high = half;
            }
        }
        let (mut i, mut j) = (low, before - low);
        for out in &mut to[start..end] {
            let take_a = j == b.len() || (i < a.len() && text.before(&a[i], &b[j]));
            *out = if take_a { a[i] } else { b[j] };
            i += usize::from(take_a);
            j += usize::from(!take_a);
        }
    }
}
