//! Which messages of a stream are wanted.

use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use hostcall_abi::stream::bounds::{MOST, span};
use hostcall_abi::stream::{Bounds, Gate, Header};

use crate::dispatch::Shape;

/// Which messages of a stream are wanted, as the host says while kernels run. What is not wanted is left out on the
/// device, and counted there.
///
/// ```
/// use hostcall_stream::Filter;
///
/// let few = Filter::all().groups(0..8).one_in(64);
/// let corner = Filter::all().group_at(0..2, 0..2, ..).lane_at(..8, .., ..).waves(..4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    gate: Gate,
    bounds: Bounds,
}

/// The first and the last number of a range; of none the first is behind the last.
fn ends(range: &impl RangeBounds<u32>) -> (u32, u32) {
    let first = match range.start_bound() {
        Bound::Included(first) => Some(*first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let last = match range.end_bound() {
        Bound::Included(last) => Some(*last),
        Bound::Excluded(end) => end.checked_sub(1),
        Bound::Unbounded => Some(u32::MAX),
    };
    first.zip(last).filter(|(first, last)| first <= last).unwrap_or((1, 0))
}

impl Filter {
    /// Everything is wanted.
    pub const fn all() -> Self {
        Self { gate: Gate::OPEN, bounds: Bounds::NONE }
    }

    /// Nothing is wanted: messages end as [`Sent::Off`](hostcall_abi::stream::Sent::Off), and are not counted.
    pub const fn none() -> Self {
        Self { gate: Gate { shut: 1, ..Gate::OPEN }, bounds: Bounds::NONE }
    }

    /// Only workgroups with these numbers in their grid (z, y and x together, x first), modulo 2^32.
    pub fn groups(mut self, groups: impl RangeBounds<u32>) -> Self {
        let (first, last) = ends(&groups);
        // `u32::MAX` is all of them, from the first number on.
        (self.gate.first, self.gate.groups) = match (first, last) {
            (first, last) if first > last => (first, 0),
            (0, u32::MAX) => (0, u32::MAX),
            (first, u32::MAX) => (first, u32::MAX - first),
            (first, last) => (first, last - first + 1),
        };
        self
    }

    /// Only workgroups whose x, y and z in their grid are in these ranges. A y or z from 65535 on is 65535 here.
    pub fn group_at(mut self, x: impl RangeBounds<u32>, y: impl RangeBounds<u32>, z: impl RangeBounds<u32>) -> Self {
        let (first_x, last_x) = ends(&x);
        self.bounds = Bounds { first_x, last_x, group_y: spanned(&y), group_z: spanned(&z), ..self.bounds };
        self.bounded()
    }

    /// Only values of lanes whose x, y and z in their workgroup are in these ranges.
    pub fn lane_at(mut self, x: impl RangeBounds<u32>, y: impl RangeBounds<u32>, z: impl RangeBounds<u32>) -> Self {
        self.bounds = Bounds { lane_x: spanned(&x), lane_y: spanned(&y), lane_z: spanned(&z), ..self.bounds };
        self.bounded()
    }

    /// Only waves with these numbers in their workgroup, modulo 32.
    pub fn waves(mut self, waves: impl RangeBounds<u32>) -> Self {
        let (first, last) = ends(&waves);
        self.bounds.waves = if first > last.min(31) { 0 } else { (u32::MAX >> (31 - (last.min(31) - first))) << first };
        self.bounded()
    }

    /// Says in the gate whether there are bounds.
    fn bounded(mut self) -> Self {
        self.gate.bounded = u32::from(self.bounds != Bounds::NONE);
        self
    }

    /// Only values of these lanes of each wave, one bit each.
    pub const fn lanes(mut self, lanes: u64) -> Self {
        self.gate.lanes = lanes;
        self
    }

    /// Of so many messages one, by chance, which then stands for as many ([`Head::weight`](crate::Head::weight)).
    /// Rounded down to a power of two; at most 2048.
    pub fn one_in(mut self, messages: u32) -> Self {
        self.gate.rate_log2 = messages.max(1).ilog2().min(Gate::MAX_RATE_LOG2);
        self
    }

    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.gate.patience = patience.as_nanos().try_into().unwrap_or(u32::MAX);
        self
    }

    /// The same with another's patience.
    pub(crate) fn as_patient_as(mut self, other: Self) -> Self {
        self.gate.patience = other.gate.patience;
        self
    }

    pub(crate) const fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) const fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Whether it takes messages by chance.
    pub(crate) const fn is_by_chance(&self) -> bool {
        self.gate.rate_log2 > 0
    }

    /// The lanes of a message that are wanted, whose launch has this shape; `None`: nobody can tell without it, or it
    /// cannot be its shape.
    pub(crate) fn lanes_of(&self, header: &Header, shape: Option<Shape>) -> Option<u64> {
        let mask = header.mask & self.gate.wanted(header.from);
        if self.gate.bounded == 0 || mask == 0 {
            return Some(mask);
        }
        if !self.bounds.take_wave(header.from.wave) {
            return Some(0);
        }
        if (Bounds { waves: u32::MAX, ..self.bounds }) == Bounds::NONE {
            return Some(mask);
        }
        let shape = shape?;
        if !self.bounds.take_group(shape.group(header.from.group)?) {
            return Some(0);
        }
        let first = header.from.wave * if header.wide { 64 } else { 32 };
        let mut wanted = 0;
        for lane in (0..64).filter(|lane| mask >> lane & 1 != 0) {
            wanted |= u64::from(self.bounds.take_lane(shape.lane(first + lane)?)) << lane;
        }
        Some(wanted)
    }
}

/// A range of numbers up to [`MOST`].
fn spanned(range: &impl RangeBounds<u32>) -> u32 {
    let (first, last) = ends(range);
    span(first, last)
}

const _: () = assert!(MOST == 0xffff, "as `group_at` says");

impl Default for Filter {
    fn default() -> Self {
        Self::all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_workgroups_are_a_first_one_and_a_number() {
        let of = |filter: Filter| (filter.gate().first, filter.gate().groups);
        assert_eq!(of(Filter::all().groups(..)), (0, u32::MAX));
        assert_eq!(of(Filter::all().groups(3..)), (3, u32::MAX - 3));
        assert_eq!(of(Filter::all().groups(3..8)), (3, 5));
        assert_eq!(of(Filter::all().groups(3..=8)), (3, 6));
        assert_eq!(of(Filter::all().groups(5..5)).1, 0);
        #[expect(clippy::reversed_empty_ranges, reason = "a user may write it")]
        let reversed = Filter::all().groups(8..3);
        assert_eq!(of(reversed).1, 0);
        assert_eq!(of(Filter::all().groups(0..=0)), (0, 1));
    }

    #[test]
    fn rates_are_powers_of_two() {
        assert_eq!([0, 1, 2, 3, 64, u32::MAX].map(|n| Filter::all().one_in(n).gate().rate_log2), [0, 0, 1, 1, 6, 11]);
    }

    #[test]
    fn patience_is_kept_in_nanoseconds_as_far_as_they_go() {
        let patience = |limit| Filter::all().with_patience(limit).gate().patience;
        assert_eq!([1, 5_000].map(|ms| patience(Duration::from_millis(ms))), [1_000_000, u32::MAX]);
    }

    #[test]
    fn a_filter_is_bounded_if_it_says_where() {
        let all = Filter::all();
        assert_eq!(
            [all, all.group_at(.., .., ..), all.lane_at(.., .., ..), all.waves(..), all.groups(3..)].map(|f| f.gate.bounded),
            [0; 5]
        );
        assert_eq!([all.group_at(1.., .., ..), all.lane_at(.., .., ..4), all.waves(1..)].map(|f| f.gate.bounded), [1; 3]);
        assert_eq!([0..4, 31..32, 4..4, 40..50, 30..90].map(|waves| all.waves(waves).bounds.waves), [0xf, 1 << 31, 0, 0, 3 << 30]);
    }

    /// A message of all lanes of a wave.
    fn sent(group: u64, wave: u32) -> Header {
        use hostcall_abi::stream::{From, header::Kind};
        let from = From { group, wave, ..From::default() };
        let mask = u64::from(u32::MAX);
        Header { stream: 1, granules: 1, kind: Kind::Rows, mask, wide: false, site: 0, weight: 0, user: 0, values: 1, time: None, from }
    }

    #[test]
    fn linear_numbers_are_places_by_the_shape_of_the_launch() {
        let shape = Some(Shape { groups: [3, 2, 4], group_size: [8, 4, 2] });
        let all = Filter::all();
        let lanes = |filter: Filter, group, wave| filter.lanes_of(&sent(group, wave), shape);
        // Group 3 * (2 * 3 + 1) + 2 is at (2, 1, 3).
        let there = all.group_at(2..3, 1..2, 3..4);
        assert_eq!([23, 22, 20, 5].map(|group| lanes(there, group, 0)), [Some(0xffff_ffff), Some(0), Some(0), Some(0)]);
        // A wave is a layer of z: rows of eight.
        assert_eq!(lanes(all.lane_at(1..3, 2..3, ..), 0, 0), Some(0b110 << 16));
        assert_eq!([0, 1].map(|wave| lanes(all.lane_at(.., .., 1..), 0, wave)), [Some(0), Some(0xffff_ffff)]);
        assert_eq!([0, 1].map(|wave| lanes(all.waves(1..).lanes(6), 0, wave)), [Some(0), Some(6)]);
        assert_eq!((lanes(all, 24, 5), lanes(there, 24, 0), lanes(all.lane_at(1.., .., ..), 0, 2)), (Some(0xffff_ffff), None, None));
    }

    #[test]
    fn without_a_shape_only_what_takes_none_is_told() {
        let all = Filter::all();
        let lanes = |filter: Filter| filter.lanes_of(&sent(23, 1), None);
        assert_eq!([all, all.groups(23..24), all.waves(1..2)].map(lanes), [Some(0xffff_ffff); 3]);
        assert_eq!([Filter::none(), all.groups(0..9).lane_at(1.., .., ..), all.waves(..1).group_at(1.., .., ..)].map(lanes), [Some(0); 3]);
        assert_eq!([all.group_at(1.., .., ..), all.lane_at(.., 1.., ..)].map(lanes), [None; 2]);
    }
}
