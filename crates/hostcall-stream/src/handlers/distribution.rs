//! How a number is distributed.

use hdrhistogram::Histogram;

use crate::report::Cell;

/// The distribution of a number: count, sum, least and greatest value exactly, quantiles within 1 %. Takes 58 KiB at
/// most.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    histogram: Option<Box<Histogram<u64>>>,
}

/// Decimal digits of values that are told apart.
const DIGITS: u8 = 2;

impl Distribution {
    /// Names of [`Distribution::cells`], for numbers of a unit.
    pub(crate) fn columns(unit: &str) -> [String; 9] {
        let of = |name: &str| if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") };
        ["count".into(), of("sum"), of("mean"), of("min"), of("p50"), of("p90"), of("p99"), of("p99.9"), of("max")]
    }

    /// Takes a value.
    pub fn record(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(value.into());
        let histogram = self.histogram.get_or_insert_with(|| Box::new(Histogram::new(DIGITS).expect("2 is a number of digits")));
        // It grows as it must; all values of 63 bits have a place.
        let _ = histogram.record(value.min(i64::MAX as u64));
    }

    /// Takes the values of another.
    pub fn merge(&mut self, other: &Self) {
        let Some(theirs) = &other.histogram else { return };
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        match &mut self.histogram {
            // Both grow, so there is a place for all.
            Some(ours) => drop(ours.add(&**theirs)),
            ours => *ours = Some(theirs.clone()),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The least; `None`: there are none.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The greatest; `None`: there are none.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Their mean; `None`: there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The value below or at which this share of them is (0 to 1), at most 1 % too large; `None`: there are none.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let histogram = self.histogram.as_ref()?;
        Some(histogram.value_at_quantile(share).clamp(self.min, self.max))
    }

    /// How many are 0, 1, 2 to 3, 4 to 7, and so on: the least and the greatest value that counts, and the count, where
    /// it is not 0.
    pub fn bins(&self) -> Vec<(u64, u64, u64)> {
        let mut counts = [0u64; 64];
        for step in self.histogram.iter().flat_map(|histogram| histogram.iter_recorded()) {
            // Values that the histogram does not tell apart lie between the same powers of two.
            let bin = (64 - step.value_iterated_to().leading_zeros()).min(63);
            let count = &mut counts[bin as usize];
            *count = count.saturating_add(step.count_since_last_iteration());
        }
        let bounds = |bin: u32| match bin {
            0 => (0, 0),
            63 => (1 << 62, u64::MAX),
            bin => (1 << (bin - 1), (1 << bin) - 1),
        };
        let bins = (0..64).zip(counts).filter(|(_, count)| *count > 0);
        bins.map(|(bin, count)| (bounds(bin).0, bounds(bin).1, count)).collect()
    }

    /// What a report says of it.
    pub(crate) fn cells(&self) -> [Cell; 9] {
        let sum = (self.count > 0).then(|| u64::try_from(self.sum).unwrap_or(u64::MAX));
        let [half, most, nearly, all] = [0.5, 0.9, 0.99, 0.999].map(|share| self.quantile(share).into());
        [self.count.into(), sum.into(), self.mean().into(), self.min().into(), half, most, nearly, all, self.max().into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = prop_oneof![0..1000u64, any::<u64>(), Just(0), Just(u64::MAX), (0..63u32).prop_map(|bit| 1 << bit)];
        prop::collection::vec(value, 0..200)
    }

    /// The value of rank `share`, by sorting.
    fn plain(values: &[u64], share: f64) -> u64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted[((share * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1]
    }

    proptest! {
        #[test]
        fn what_is_said_of_values_is_what_sorting_them_says(values in values(), cut in 0..200usize) {
            let (mut one, mut other) = (Distribution::default(), Distribution::default());
            let (first, second) = values.split_at(cut.min(values.len()));
            first.iter().for_each(|value| one.record(*value));
            second.iter().for_each(|value| other.record(*value));
            one.merge(&other);
            prop_assert_eq!(one.count(), values.len() as u64);
            prop_assert_eq!(one.sum(), values.iter().map(|value| u128::from(*value)).sum());
            prop_assert_eq!((one.min(), one.max()), (values.iter().copied().min(), values.iter().copied().max()));
            for share in [0.0, 0.5, 0.9, 0.99, 1.0] {
                let Some(said) = one.quantile(share) else {
                    prop_assert!(values.is_empty());
                    break;
                };
                // Values beyond 63 bits are one in the histogram.
                let exact = plain(&values, share);
                prop_assert!(said >= exact.min(i64::MAX as u64) && said as f64 <= exact as f64 * 1.01 + 1.0, "{said} for {exact}");
            }
        }
    }

    #[test]
    fn of_nothing_nothing_is_said() {
        let mut none = Distribution::default();
        none.merge(&Distribution::default());
        assert_eq!((none.count(), none.min(), none.mean(), none.quantile(0.5)), (0, None, None, None));
        assert_eq!(none.cells()[0], Cell::Count(0));
        assert!(none.cells()[1..].iter().all(|cell| *cell == Cell::Nothing));
    }
}
