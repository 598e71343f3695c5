//! Which messages of a stream are wanted.

use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use hostcall_abi::stream::Gate;

/// Which messages of a stream are wanted, as the host says while kernels run. What is not wanted is left out on the device, and counted there.
///
/// ```
/// use hostcall_stream::Filter;
///
/// let few = Filter::all().groups(0..8).one_in(64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter(Gate);

impl Filter {
    /// Everything is wanted.
    pub const fn all() -> Self {
        Self(Gate::OPEN)
    }

    /// Nothing is wanted: messages end as [`Sent::Off`](hostcall_abi::stream::Sent::Off), and are not counted.
    pub const fn none() -> Self {
        Self(Gate { shut: 1, ..Gate::OPEN })
    }

    /// Only workgroups with these numbers in their grid (z, y and x together, x first), modulo 2^32.
    pub fn groups(mut self, groups: impl RangeBounds<u32>) -> Self {
        let first = match groups.start_bound() {
            Bound::Included(first) => *first,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let count = match groups.end_bound() {
            Bound::Included(last) => last.saturating_sub(first).saturating_add(u32::from(*last >= first)),
            Bound::Excluded(end) => end.saturating_sub(first),
            Bound::Unbounded => u32::MAX,
        };
        // `u32::MAX` is all of them, from the first number on.
        (self.0.first, self.0.groups) = if count == u32::MAX && first > 0 { (first, u32::MAX - first) } else { (first, count) };
        self
    }

    /// Only values of these lanes of each wave, one bit each.
    pub const fn lanes(mut self, lanes: u64) -> Self {
        self.0.lanes = lanes;
        self
    }

    /// Of so many messages one, by chance, which then stands for as many ([`Head::weight`](crate::Head::weight)). Rounded down to a power of two; at most
    /// 2048.
    pub fn one_in(mut self, messages: u32) -> Self {
        self.0.rate_log2 = messages.max(1).ilog2().min(Gate::MAX_RATE_LOG2);
        self
    }

    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.0.patience = patience.as_nanos().try_into().unwrap_or(u32::MAX);
        self
    }

    /// The same with another's patience.
    pub(crate) fn as_patient_as(mut self, other: Self) -> Self {
        self.0.patience = other.0.patience;
        self
    }

    pub(crate) const fn gate(&self) -> &Gate {
        &self.0
    }
}

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
        assert_eq!(of(Filter::all().groups(5..5)), (5, 0));
        #[expect(clippy::reversed_empty_ranges, reason = "a user may write it")]
        let reversed = Filter::all().groups(8..3);
        assert_eq!(of(reversed), (8, 0));
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
}
