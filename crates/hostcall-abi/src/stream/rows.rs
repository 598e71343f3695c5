//! Columns of a message become rows again, and the bits that phases displaced come back.

use super::unit::PHASE;
use super::{Layout, MAX_UNITS, header};

/// Units before the columns of a message of a whole wave, at most.
pub(super) const MAX_LEFT: usize = 80;

/// Units whose phases are not those wanted have the phase bit here.
pub(super) type Differ = [u32; 8];

/// What stands before the columns of a message of several lanes.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) units: &'a [u32],
    /// Units of each lane.
    pub(super) row: u32,
    pub(super) wide: bool,
}

impl Left<'_> {
    /// The top bits of `N` units of all lanes of a half of the wave, from unit `first` on: lane 0's is the highest.
    #[inline(always)]
    fn tops<const N: usize>(self, first: u32, half: u32) -> [u32; N] {
        let load = |unit: u32| self.units.get(unit as usize).copied().unwrap_or(0);
        let ballots = if self.wide { 2 } else { 1 };
        let last = load(header::UNITS + ballots * self.row + half);
        let mut tops = [0; N];
        for (index, tops) in (first..).zip(&mut tops) {
            *tops = (load(header::UNITS + ballots * index + half) & !PHASE | (last >> index & 1) << 31).reverse_bits();
        }
        tops
    }
}

/// The columns of a message.
pub(super) trait Columns {
    /// So many times eight units, from an eight on.
    fn eights(&self, at: u32, count: u32) -> impl Iterator<Item = [u32; 8]>;
}

/// Those of a message that has been copied.
struct Copied<'a>(&'a [[u32; 8]]);

impl Columns for Copied<'_> {
    #[inline(always)]
    fn eights(&self, at: u32, count: u32) -> impl Iterator<Item = [u32; 8]> {
        self.0[at as usize..][..count as usize].iter().map(|eight| eight.map(|unit| unit & !PHASE))
    }
}

/// Writes the rows of a message of all lanes to `out`, which has room for just them. The columns' phase is to be
/// `phase`.
#[inline(always)]
pub(super) fn put_wave(left: Left<'_>, phase: u32, columns: impl Columns, out: &mut [u32]) -> Differ {
    // For the common sizes with everything known.
    macro_rules! rows {
        ($($units:literal)+) => {
            match left.row {
                $($units => put_rows(Left { row: $units, ..left }, phase, columns, out),)+
                _ => put_rows(left, phase, columns, out),
            }
        };
    }
    rows!(1 2 3 4 6 7 8 16)
}

/// [`put_wave`], for rows of a size that may be known.
#[inline(always)]
fn put_rows(left: Left<'_>, phase: u32, columns: impl Columns, out: &mut [u32]) -> Differ {
    let row = left.row;
    let (ones, twos, fours) = (row & 1, row >> 1 & 1, row / 4);
    let halves = if left.wide { 2 } else { 1 };
    let mut differ = [0; 8];
    for (half, out) in (0..halves).zip(out.chunks_exact_mut(32 * row as usize)) {
        let mut column = Column { row: row as usize, first: 0, phase, differ: &mut differ };
        for four in 0..fours {
            let at = halves * (4 * ones + 8 * twos + 16 * four) + 16 * half;
            column.first = 4 * four as usize;
            column.put::<4>(left.tops(4 * four, half), columns.eights(at, 16), out);
        }
        column.first = 4 * fours as usize;
        if twos != 0 {
            column.put::<2>(left.tops(4 * fours, half), columns.eights(halves * 4 * ones + 8 * half, 8), out);
        }
        if ones != 0 {
            column.first = row as usize - 1;
            column.put::<1>(left.tops(row - 1, half), columns.eights(4 * half, 4), out);
        }
    }
    differ
}

/// A column of units of each of 32 lanes.
struct Column<'a> {
    /// Units of a row.
    row: usize,
    /// The column's first in its row.
    first: usize,
    phase: u32,
    differ: &'a mut Differ,
}

impl Column<'_> {
    /// Writes `N` units of each row.
    #[inline(always)]
    fn put<const N: usize>(&mut self, tops: [u32; N], eights: impl Iterator<Item = [u32; 8]>, out: &mut [u32]) {
        // For each of eight units: its lane's bit is the highest.
        let mut bits = [0; 8];
        for (i, bits) in bits.iter_mut().enumerate() {
            *bits = tops[i % N] << (i / N);
        }
        let mut differ = *self.differ;
        if N == self.row {
            for (units, out) in eights.zip(out.as_chunks_mut::<8>().0) {
                *out = put_eight::<N>(units, self.phase, &mut bits, &mut differ);
            }
        } else {
            for (units, out) in eights.zip(out.chunks_exact_mut(8 / N * self.row)) {
                let units = put_eight::<N>(units, self.phase, &mut bits, &mut differ);
                for (out, units) in out.chunks_exact_mut(self.row).zip(units.as_chunks::<N>().0) {
                    out[self.first..][..N].copy_from_slice(units);
                }
            }
        }
        *self.differ = differ;
    }
}

/// Eight units with their top bits, which are the highest of `bits`; afterwards those are the next lanes'.
#[inline(always)]
fn put_eight<const N: usize>(mut units: [u32; 8], phase: u32, bits: &mut [u32; 8], differ: &mut Differ) -> [u32; 8] {
    for k in 0..8 {
        // Without its phase, if that is the right one; otherwise nobody looks at it.
        units[k] ^= phase;
        differ[k] |= units[k];
        units[k] ^= bits[k] & PHASE;
        bits[k] <<= 8 / N;
    }
    units
}

/// Writes the row of a lane alone: `row` are its columns as they lie in the message, `bits` the bits that phases
/// displaced.
#[inline(always)]
pub(super) fn put_lone(row: &[u32], bits: u32, out: &mut [u32]) {
    if let ([a, b, c, d], [out_a, out_b, out_c, out_d]) = (row, &mut *out) {
        for (index, (unit, out)) in [(a, out_a), (b, out_b), (c, out_c), (d, out_d)].into_iter().enumerate() {
            *out = unit & !PHASE | (bits << (31 - index)) & PHASE;
        }
        return;
    }
    // Columns stand the other way round.
    let (head, fours) = row.split_at(row.len() & 3);
    let (one, two) = head.split_at(head.len() & 1);
    for (index, (unit, out)) in (0..).zip(fours.iter().chain(two).chain(one).zip(out)) {
        *out = unit & !PHASE | (bits >> index & 1) << 31;
    }
}

/// Writes the rows of a message to `out`, which has room for just them. `units` are all of its units, whose phases do
/// not matter.
#[inline(always)]
pub(super) fn put_copied(units: &[u32], layout: Layout, mask: u64, out: &mut [u32]) {
    let Layout { units: row, lanes, wide } = layout;
    let (left, columns) = units.split_at(units.len().saturating_sub((lanes * row) as usize));
    let bits = Left { units: left, row, wide };
    if lanes == 1 {
        put_lone(columns, left.get(header::UNITS as usize).copied().unwrap_or(0), out);
    } else if lanes == if wide { 64 } else { 32 } {
        put_wave(bits, 0, Copied(columns.as_chunks().0), out);
    } else {
        put_some(bits, mask, lanes as usize, columns, out);
    }
}

/// [`put_copied`], of some lanes of a wave.
#[inline(always)]
fn put_some(left: Left<'_>, mask: u64, lanes: usize, columns: &[u32], out: &mut [u32]) {
    let units = left.row as usize;
    let mut tops = [[0; MAX_UNITS as usize + 1]; 2];
    for (half, tops) in (0..if left.wide { 2 } else { 1 }).zip(&mut tops) {
        (0..left.row).zip(tops).for_each(|(index, tops)| [*tops] = left.tops(index, half));
    }
    // Columns of four units end where the message ends, before them one of two, before that one of one.
    let (head, fours) = columns.split_at((units & 3) * lanes);
    let (one, two) = head.split_at((units & 1) * lanes);
    let (quads, pairs) = (fours.as_chunks::<4>().0, two.as_chunks::<2>().0);
    let mut rest = mask;
    for (row, out) in out.chunks_exact_mut(units).enumerate() {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        let tops = &tops[(lane / 32) as usize & 1];
        let put = |out: &mut u32, unit: u32, top: u32| *out = unit & !PHASE | (top << (lane % 32)) & PHASE;
        let (out_quads, behind) = out.as_chunks_mut::<4>();
        for (column, (out, tops)) in out_quads.iter_mut().zip(tops.as_chunks::<4>().0).enumerate() {
            let Some(quad) = quads.get(column * lanes + row) else { return };
            for i in 0..4 {
                put(&mut out[i], quad[i], tops[i]);
            }
        }
        if behind.is_empty() {
            continue;
        }
        let from = pairs.get(row).into_iter().flatten().chain(one.get(row));
        for ((out, unit), top) in behind.iter_mut().zip(from).zip(&tops[units & !3..]) {
            put(out, *unit, *top);
        }
    }
}
