//! Sums over a line of numbers whose range nobody knows before.

use std::collections::VecDeque;

/// What is summed.
pub(crate) trait Sum: Default + Clone {
    /// Adds another.
    fn merge(&mut self, other: &Self);
}

impl Sum for u64 {
    fn merge(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

/// Least, greatest and mean of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Range {
    pub(crate) count: u64,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    pub(crate) mean: f64,
}

impl Range {
    pub(crate) fn of(number: f64) -> Self {
        Self { count: 1, least: number, greatest: number, mean: number }
    }
}

impl Sum for Range {
    fn merge(&mut self, other: &Self) {
        if self.count == 0 || other.count == 0 {
            if self.count == 0 {
                self.clone_from(other);
            }
            return;
        }
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        let share = other.count as f64 / (self.count as f64 + other.count as f64);
        // Not by their difference, which may be infinite.
        self.mean = self.mean * (1.0 - share) + other.mean * share;
        self.count = self.count.saturating_add(other.count);
    }
}

/// Cells of equal width, a power of two, on a line of numbers. When a number does not fit, pairs of cells become one,
/// as often as it takes.
#[derive(Clone, Debug)]
pub(crate) struct Bins<T> {
    cells: VecDeque<T>,
    /// The number of the first cell: cell `i` is from `(first + i) × 2^exponent` on.
    first: i64,
    exponent: i32,
    most: usize,
    /// The least exponent.
    finest: i32,
}

/// A cell with its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell<'a, T> {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) sum: &'a T,
}

/// How many digits of the first number are told apart at first.
const DIGITS: i32 = 40;
/// Greater quotients are not whole numbers in an `f64`.
const MOST_CELLS: f64 = (1u64 << 52) as f64;

impl<T: Sum> Bins<T> {
    /// At most so many cells, each at least `2^finest` wide.
    pub(crate) fn new(most: usize, finest: i32) -> Self {
        Self { cells: VecDeque::new(), first: 0, exponent: finest, most, finest }
    }

    /// Adds to the cell of a finite number.
    pub(crate) fn add(&mut self, number: f64, sum: &T) {
        if !number.is_finite() {
            return;
        }
        if self.cells.is_empty() {
            // Zero has no size; a cell as fine as can be grows soon enough.
            let digits = if number == 0.0 { self.finest } else { number.abs().log2().floor() as i32 - DIGITS };
            self.exponent = digits.max(self.finest);
        }
        while (number / self.width()).abs() >= MOST_CELLS {
            self.coarsen();
        }
        // Below zero stays so, however small it is against a cell.
        let quotient = number / self.width();
        let mut index = if quotient == 0.0 && number < 0.0 { -1 } else { quotient.floor() as i64 };
        if self.cells.is_empty() {
            self.first = index;
        }
        let span = |bins: &Self, index: i64| (index.max(bins.first + bins.cells.len() as i64 - 1) - index.min(bins.first)) as usize + 1;
        while span(self, index) > self.most {
            self.coarsen();
            index >>= 1;
        }
        while index < self.first {
            self.cells.push_front(T::default());
            self.first -= 1;
        }
        let at = (index - self.first) as usize;
        if at >= self.cells.len() {
            self.cells.resize(at + 1, T::default());
        }
        self.cells[at].merge(sum);
    }

    /// Makes each cell twice as wide.
    pub(crate) fn coarsen(&mut self) {
        let first = self.first >> 1;
        let mut cells = VecDeque::with_capacity(self.cells.len() / 2 + 1);
        for (index, cell) in (self.first..).zip(&self.cells) {
            if ((index >> 1) - first) as usize == cells.len() {
                cells.push_back(cell.clone());
            } else if let Some(last) = cells.back_mut() {
                last.merge(cell);
            }
        }
        (self.first, self.cells) = (first, cells);
        self.exponent += 1;
    }

    /// The width of a cell.
    pub(crate) fn width(&self) -> f64 {
        // By halves: 2^1100 is no number, and 2^-1074 is one.
        let half = self.exponent / 2;
        2f64.powi(half) * 2f64.powi(self.exponent - half)
    }

    /// The cells from the first that was added to, to the last.
    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_, T>> + DoubleEndedIterator + Clone {
        let width = self.width();
        // Where cell `index` begins. Of the widest cells there are the width is no number, and 0 is 0 all the same.
        let edge = move |index: i64| if index == 0 { 0.0 } else { index as f64 * width };
        let cell = move |(at, sum)| {
            let index = self.first + at as i64;
            Cell { from: edge(index), to: edge(index + 1), sum }
        };
        self.cells.iter().enumerate().map(cell)
    }

    /// The same with at most so many cells.
    pub(crate) fn at_most(&self, cells: usize) -> Self {
        let mut bins = self.clone();
        while bins.cells.len() > cells.max(2) {
            bins.coarsen();
        }
        bins
    }
}

impl Bins<u64> {
    /// About the number below which this share of them is.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.cells.iter().fold(0, |all, count| all.saturating_add(*count));
        let mut rest = share * all as f64;
        for cell in self.cells() {
            let count = *cell.sum as f64;
            if count > 0.0 && rest <= count {
                // The ends of the widest cells, and their difference, may be infinite.
                let (from, to, part) = (cell.from.max(f64::MIN), cell.to.min(f64::MAX), rest / count);
                return Some(from * (1.0 - part) + to * part);
            }
            rest -= count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let number = prop_oneof![
            -100.0..100.0f64,
            Just(0.0),
            (0..20u32).prop_map(f64::from),
            any::<f64>().prop_filter("finite", |number| number.is_finite())
        ];
        prop::collection::vec(number, 0..60)
    }

    #[test]
    fn the_widest_cells_have_ends_and_quantiles() {
        let mut bins = Bins::new(2, -1074);
        [f64::MIN, 0.0, f64::MAX].iter().for_each(|number| bins.add(*number, &1u64));
        let cells: Vec<_> = bins.cells().map(|cell| (cell.from, cell.to, *cell.sum)).collect();
        assert_eq!(cells, [(f64::NEG_INFINITY, 0.0, 1), (0.0, f64::INFINITY, 2)]);
        assert!([0.1, 0.5, 0.9].into_iter().all(|share| bins.quantile(share).is_some_and(f64::is_finite)));
    }

    proptest! {
        #[test]
        fn every_number_is_in_the_cell_that_holds_it_and_cells_are_few(numbers in numbers(), most in 2..40usize) {
            let mut bins = Bins::new(most, -1074);
            numbers.iter().for_each(|number| bins.add(*number, &1u64));
            prop_assert!(bins.cells().len() <= most);
            prop_assert_eq!(bins.cells().map(|cell| *cell.sum).sum::<u64>(), numbers.len() as u64);
            for cell in bins.cells() {
                let inside = numbers.iter().filter(|number| cell.from <= **number && **number < cell.to).count();
                prop_assert_eq!(inside as u64, *cell.sum, "{:?}", cell);
            }
            let few = bins.at_most(4);
            prop_assert!(few.cells().len() <= 4 && few.cells().map(|cell| *cell.sum).sum::<u64>() == numbers.len() as u64);
        }

        #[test]
        fn ranges_are_those_of_a_plain_computation(numbers in prop::collection::vec(-1e6..1e6f64, 1..50), at in 0..50usize) {
            let (one, two) = numbers.split_at(at.min(numbers.len()));
            let of = |numbers: &[f64]| {
                let mut range = Range::default();
                numbers.iter().for_each(|number| range.merge(&Range::of(*number)));
                range
            };
            let mut all = of(one);
            all.merge(&of(two));
            prop_assert_eq!(all.count, numbers.len() as u64);
            prop_assert_eq!(all.least, numbers.iter().copied().fold(f64::INFINITY, f64::min));
            prop_assert_eq!(all.greatest, numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            prop_assert!((all.mean - numbers.iter().sum::<f64>() / numbers.len() as f64).abs() < 1e-3);
        }
    }

    #[test]
    fn whole_numbers_have_cells_of_their_own_and_quantiles_lie_inside() {
        let mut bins = Bins::new(1024, 0);
        (0..1000).for_each(|number| bins.add(f64::from(number), &1));
        assert_eq!((bins.cells().len(), bins.width()), (1000, 1.0));
        assert_eq!(bins.quantile(0.5), Some(500.0));
        assert_eq!(Bins::new(8, 0).quantile(0.5), None);
        bins.add(f64::NAN, &1);
        bins.add(f64::INFINITY, &1);
        assert_eq!(bins.cells().len(), 1000, "what is no number has no place");
    }
}
