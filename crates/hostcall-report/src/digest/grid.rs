//! Sums over two numbers: rows that are few of very many, and time.

use std::collections::{BTreeSet, HashMap};

/// Sums by row (a number of up to 63 bits) and column. Rows and columns become coarser, by powers of two, when there
/// are too many of them.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    cells: HashMap<(u64, i64), u64>,
    rows: BTreeSet<u64>,
    /// First and last column.
    span: Option<(i64, i64)>,
    /// A row is a number without so many of its low bits; a column as well.
    row_log2: u32,
    column_log2: u32,
    most_rows: usize,
    most_columns: i128,
}

impl Grid {
    /// At most so many rows and columns; rows begin with as many bits left out.
    pub(crate) fn new(row_log2: u32, most_rows: usize, most_columns: u32) -> Self {
        let (cells, rows) = (HashMap::new(), BTreeSet::new());
        Self { cells, rows, span: None, row_log2, column_log2: 0, most_rows: most_rows.max(1), most_columns: most_columns.max(2).into() }
    }

    /// Adds at one place.
    pub(crate) fn add(&mut self, row: u64, at: i64, sum: u64) {
        self.reach(at);
        self.cell(row, at >> self.column_log2, sum);
    }

    /// Adds the length of what lasts from one place to another, to each column its part.
    pub(crate) fn add_span(&mut self, row: u64, from: i64, to: i64) {
        self.reach(from);
        self.reach(to);
        for column in from >> self.column_log2..=to >> self.column_log2 {
            let begins = i128::from(column) << self.column_log2;
            let ends = begins + (1i128 << self.column_log2);
            let part = i128::from(to).min(ends) - i128::from(from).max(begins);
            if part > 0 {
                self.cell(row, column, part as u64);
            }
        }
    }

    /// Makes columns so wide that this one is among them.
    fn reach(&mut self, at: i64) {
        loop {
            let column = at >> self.column_log2;
            let (first, last) = self.span.map_or((column, column), |(first, last)| (first.min(column), last.max(column)));
            if i128::from(last) - i128::from(first) < self.most_columns {
                self.span = Some((first, last));
                return;
            }
            self.coarsen_columns();
        }
    }

    fn coarsen_columns(&mut self) {
        self.column_log2 += 1;
        self.span = self.span.map(|(first, last)| (first >> 1, last >> 1));
        self.rebuild(|(row, column)| (row, column >> 1));
    }

    fn rebuild(&mut self, place: impl Fn((u64, i64)) -> (u64, i64)) {
        for (key, sum) in std::mem::take(&mut self.cells) {
            let cell = self.cells.entry(place(key)).or_default();
            *cell = cell.saturating_add(sum);
        }
        self.rows = self.cells.keys().map(|(row, _)| *row).collect();
    }

    fn cell(&mut self, row: u64, column: i64, sum: u64) {
        let row = row >> self.row_log2;
        let rows = &mut self.rows;
        let cell = self.cells.entry((row, column)).or_insert_with(|| {
            rows.insert(row);
            0
        });
        *cell = cell.saturating_add(sum);
        self.limit_rows(self.most_rows);
    }

    /// Makes rows so coarse that there are at most so many.
    fn limit_rows(&mut self, most: usize) {
        while self.rows.len() > most {
            self.row_log2 += 1;
            self.rebuild(|(row, column)| (row >> 1, column));
        }
    }

    /// The same with at most so many rows and columns.
    pub(crate) fn at_most(&self, rows: usize, columns: i64) -> Self {
        let mut grid = self.clone();
        grid.limit_rows(rows.max(1));
        while grid.span.is_some_and(|(first, last)| last - first >= columns.max(2)) {
            grid.coarsen_columns();
        }
        grid
    }

    /// The rows that there are: the least number of each.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = u64> {
        self.rows.iter().map(|row| row << self.row_log2)
    }

    /// Numbers of a row.
    pub(crate) fn row_size(&self) -> u64 {
        1 << self.row_log2.min(63)
    }

    /// How wide a column is.
    pub(crate) fn column_size(&self) -> f64 {
        (1u128 << self.column_log2) as f64
    }

    /// Where the columns begin and end; `None`: there are none.
    pub(crate) fn span(&self) -> Option<(f64, f64)> {
        let edge = |column: i64| column as f64 * self.column_size();
        self.span.map(|(first, last)| (edge(first), edge(last) + self.column_size()))
    }

    /// All sums: by row from the first on, in each of them by column.
    pub(crate) fn sums(&self) -> Vec<Vec<u64>> {
        let Some((first, last)) = self.span else { return Vec::new() };
        let sum = |row: u64, column| self.cells.get(&(row, column)).copied().unwrap_or(0);
        self.rows.iter().map(|row| (first..=last).map(|column| sum(*row, column)).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost_however_coarse_it_becomes(
            adds in prop::collection::vec((prop_oneof![0..64u64, 0..1u64 << 63], prop_oneof![-500..500i64, any::<i64>()], 1..9u64), 1..80),
            rows in 1..9usize, columns in 2..9u32
        ) {
            let mut grid = Grid::new(0, rows, columns);
            adds.iter().for_each(|(row, at, sum)| grid.add(*row, *at, *sum));
            let sums = grid.sums();
            prop_assert!(sums.len() <= rows && sums.iter().all(|row| row.len() <= columns as usize));
            prop_assert_eq!(sums.iter().flatten().sum::<u64>(), adds.iter().map(|(.., sum)| sum).sum::<u64>());
            for (first, row) in grid.rows().zip(&sums) {
                let inside = adds.iter().filter(|(row, ..)| (first..=first.saturating_add(grid.row_size() - 1)).contains(row));
                prop_assert_eq!(row.iter().sum::<u64>(), inside.map(|(.., sum)| sum).sum::<u64>());
            }
        }

        #[test]
        fn what_lasts_is_shared_out_to_its_columns(spans in prop::collection::vec((-300..300i64, 0..400i64), 1..20)) {
            let mut grid = Grid::new(0, 4, 8);
            spans.iter().for_each(|(from, time)| grid.add_span(1, *from, from + time));
            prop_assert_eq!(grid.sums().iter().flatten().sum::<u64>(), spans.iter().map(|(_, time)| *time as u64).sum::<u64>());
        }
    }
}
