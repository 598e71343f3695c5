//! Finding words, and counting them.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::{Entry, Head, Progress, Text, Totals, Word};
use hostcall::CallError;
use hostcall::prelude::kernel;

use super::mine;

/// A place in the table: a power of two of them, all zero at first. A word is looked for at the place that its hash
/// says, then at the next ones.
///
/// Every access is relaxed: a word's `place` says all about it, because the text was written by an earlier kernel;
/// counts are read by a later one.
#[derive(Debug)]
#[repr(C)]
pub struct Slot {
    /// 0, or where the word begins, plus 1, with bits of its hash above [`PLACE_BITS`].
    place: AtomicU64,
    count: AtomicU64,
}

/// Bits of a text's length.
const PLACE_BITS: u32 = 40;

/// Places that are looked at before the table is called full.
const PROBES: usize = 64;

/// How often a word that is in the table was found; `None` if the table is full. The word is `true` if it is new.
fn add(table: &[Slot], text: &Text<'_>, word: Word) -> Option<bool> {
    // Neighbouring words differ in the low bits of their hash, and long ones not in the high bits alone: fold and
    // spread.
    let hash = (word.hash ^ word.hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let hash = hash ^ hash >> 32;
    let mask = table.len() - 1;
    let place = hash >> PLACE_BITS << PLACE_BITS | (word.at as u64 + 1);
    for probe in 0..PROBES.min(table.len()) {
        let slot = &table[(hash as usize + probe) & mask];
        let mut found = slot.place.load(Ordering::Relaxed);
        if found == 0 {
            match slot.place.compare_exchange(0, place, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    slot.count.fetch_add(1, Ordering::Relaxed);
                    return Some(true);
                }
                Err(other) => found = other,
            }
        }
        let at = (found & ((1 << PLACE_BITS) - 1)) - 1;
        if found >> PLACE_BITS == place >> PLACE_BITS && text.is_same(at as usize, word) {
            slot.count.fetch_add(1, Ordering::Relaxed);
            return Some(false);
        }
    }
    None
}

/// Fills in the head of every slice.
#[kernel]
pub fn heads(text: &[u8], slice: u64, heads: &mut [Head]) {
    let text = Text { bytes: text, slice: slice as usize };
    for slice in mine(text.slices()) {
        heads[slice] = text.head(slice);
    }
}

/// What [`count`] adds up: [`Totals`] as atomics.
#[derive(Debug)]
#[repr(C)]
pub struct Sums {
    words: AtomicU64,
    distinct: AtomicU64,
    full: AtomicU64,
}

const _: () = assert!(size_of::<Sums>() == size_of::<Totals>());

/// Counts all words. If the table is too small it says so and stops; the host tries again with a larger one.
#[kernel]
pub fn count(text: &[u8], slice: u64, heads: &[Head], table: &[Slot], sums: &[Sums]) -> Result<(), CallError> {
    let text = Text { bytes: text, slice: slice as usize };
    let sums = &sums[0];
    let (mut words, mut distinct) = (0u64, 0u64);
    for slice in mine(text.slices()) {
        // Relaxed: a lane that sees it late merely counts in vain.
        if sums.full.load(Ordering::Relaxed) != 0 {
            return Ok(());
        }
        text.words(heads, slice, |word| match add(table, &text, word) {
            Some(new) => {
                words += 1;
                distinct += u64::from(new);
                true
            }
            None => {
                sums.full.store(1, Ordering::Relaxed);
                false
            }
        });
    }
    // Relaxed: read by the host after the kernel.
    if words > 0 {
        sums.words.fetch_add(words, Ordering::Relaxed);
        sums.distinct.fetch_add(distinct, Ordering::Relaxed);
        Progress::counted(words)?;
    }
    Ok(())
}

/// Collects the table's words in `entries`, which has room for all of them, in no order.
#[kernel]
pub fn gather(text: &[u8], slice: u64, heads: &[Head], table: &[Slot], next: &[AtomicU64], entries: &mut [Entry]) {
    let text = Text { bytes: text, slice: slice as usize };
    for index in mine(table.len()) {
        let place = table[index].place.load(Ordering::Relaxed) & ((1 << PLACE_BITS) - 1);
        if place == 0 {
            continue;
        }
        let at = place as usize - 1;
        let word = text.word(heads, at / text.slice, at);
        // Relaxed: it only hands out numbers.
        let to = next[0].fetch_add(1, Ordering::Relaxed) as usize;
        entries[to] = text.entry(word, table[index].count.load(Ordering::Relaxed));
    }
}
