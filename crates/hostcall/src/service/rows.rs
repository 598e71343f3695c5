//! Arguments and results of many lanes, where they are: rows of 32-bit units, one for each lane, at equal distances.

use std::marker::PhantomData;

use hostcall_abi::codec::Plain;

/// The fixed part of the arguments of all lanes of a batch: a row of units for each, at equal distances. A strided view
/// of it, such as a NumPy array, needs no copy.
///
/// Row `i` begins `i * stride()` units behind [`as_ptr`](Rows::as_ptr). It holds what the service takes, in order: a
/// [`VarHead`](hostcall_abi::codec::VarHead) if there are strings or slices, each fixed argument, the length in bytes
/// of each string or slice.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// From the first row on.
    units: &'a [u32],
    stride: usize,
    width: usize,
    len: usize,
}

impl<'a> Rows<'a> {
    /// `len` rows of `width` units, `stride` units apart.
    #[inline(always)]
    pub(super) fn new(units: &'a [u32], stride: usize, width: usize, len: usize) -> Self {
        assert!(len == 0 || (len - 1) * stride + width <= units.len(), "rows lie inside the payload");
        Self { units, stride, width, len }
    }

    /// How many rows there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Units of a row.
    #[inline]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Units from one row to the next.
    #[inline]
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// The first unit of the first row.
    #[inline]
    pub const fn as_ptr(&self) -> *const u32 {
        self.units.as_ptr()
    }

    /// Row `i`.
    ///
    /// # Panics
    /// When there is no such row.
    #[inline]
    pub fn row(&self, i: usize) -> &'a [u32] {
        assert!(i < self.len, "row {i} of {}", self.len);
        &self.units[i * self.stride..][..self.width]
    }

    /// All rows.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u32]> + use<'a> {
        let rows = *self;
        (0..rows.len).map(move |i| rows.row(i))
    }

    /// Copies all rows, one behind the other.
    ///
    /// # Panics
    /// When `to` has not as many units as all rows.
    pub fn copy_to(&self, to: &mut [u32]) {
        assert_eq!(to.len(), self.len * self.width, "units of {} rows of {}", self.len, self.width);
        match self.width {
            0 => {}
            // Moves of a size that is known, for most services.
            1 => self.copy_each::<1>(to),
            2 => self.copy_each::<2>(to),
            4 => self.copy_each::<4>(to),
            width => self.iter().zip(to.chunks_exact_mut(width)).for_each(|(row, to)| to.copy_from_slice(row)),
        }
    }

    fn copy_each<const N: usize>(&self, to: &mut [u32]) {
        if let Some(values) = self.column::<[u32; N]>(0) {
            to.as_chunks_mut::<N>().0.iter_mut().zip(values.iter()).for_each(|(to, value)| *to = value);
        }
    }

    /// One argument of all lanes: the values of type `T` that begin at unit `at` of each row. `None` if a row ends
    /// before they do.
    #[inline]
    pub fn column<T: Plain>(&self, at: usize) -> Option<Column<'a, T>> {
        let end = at.checked_mul(4)?.checked_add(size_of::<T>())?;
        (end <= self.width * 4).then_some(Column { rows: *self, at, element: PhantomData })
    }
}

/// One argument of all lanes of a batch, where it is: values at equal distances, aligned to 4 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a, T> {
    rows: Rows<'a>,
    /// The value's first unit in each row.
    at: usize,
    element: PhantomData<T>,
}

impl<'a, T: Plain> Column<'a, T> {
    /// How many values there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.rows.len
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rows.len == 0
    }

    /// The first byte of the first value. It may be aligned to 4 bytes only.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.rows.units.get(self.at..).map_or(std::ptr::null(), <[u32]>::as_ptr).cast()
    }

    /// Bytes from one value to the next.
    #[inline]
    pub const fn stride_bytes(&self) -> usize {
        self.rows.stride * 4
    }

    /// Value `i`.
    ///
    /// # Panics
    /// When there is no such value.
    #[inline]
    pub fn get(&self, i: usize) -> T {
        assert!(i < self.rows.len, "value {i} of {}", self.rows.len);
        // SAFETY: row `i` lies inside the units, as `Rows::new` has checked, and the value inside the row, as
        // `Rows::column` has. All its bytes are initialised, and every bit pattern is a `T: Plain`; it is read at any
        // alignment.
        unsafe { self.rows.units.as_ptr().add(i * self.rows.stride + self.at).cast::<T>().read_unaligned() }
    }

    /// All values.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'a, T> {
        let column = *self;
        (0..column.len()).map(move |i| column.get(i))
    }
}

/// The results of all lanes of a batch, to be filled in place: a row of units for each, at equal distances.
#[derive(Debug)]
pub struct RowsMut<'a> {
    /// From the first row on.
    units: &'a mut [u32],
    stride: usize,
    width: usize,
    len: usize,
}

impl<'a> RowsMut<'a> {
    /// `len` rows of `width` units, `stride` units apart, as they are.
    #[inline(always)]
    pub(super) fn new(units: &'a mut [u32], stride: usize, width: usize, len: usize) -> Self {
        assert!(len == 0 || (len - 1) * stride + width <= units.len(), "rows lie inside the replies");
        Self { units, stride, width, len }
    }

    /// How many rows there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Units of a row: those of the service's result.
    #[inline]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Units from one row to the next. What lies between belongs to nobody else, but must be left alone.
    #[inline]
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// The first unit of the first row.
    #[inline]
    pub const fn as_mut_ptr(&mut self) -> *mut u32 {
        self.units.as_mut_ptr()
    }

    /// Row `i`.
    ///
    /// # Panics
    /// When there is no such row.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [u32] {
        assert!(i < self.len, "row {i} of {}", self.len);
        &mut self.units[i * self.stride..][..self.width]
    }

    /// Fills all rows with units that lie one behind the other.
    ///
    /// # Panics
    /// When `from` has not as many units as all rows.
    pub fn copy_from(&mut self, from: &[u32]) {
        assert_eq!(from.len(), self.len * self.width, "units of {} rows of {}", self.len, self.width);
        match self.width {
            0 => {}
            // As in `Rows::copy_to`.
            1 => self.copy_each::<1>(from),
            2 => self.copy_each::<2>(from),
            4 => self.copy_each::<4>(from),
            width => from.chunks_exact(width).enumerate().for_each(|(i, from)| self.row_mut(i).copy_from_slice(from)),
        }
    }

    fn copy_each<const N: usize>(&mut self, from: &[u32]) {
        if let Some(mut values) = self.column::<[u32; N]>(0) {
            from.as_chunks::<N>().0.iter().enumerate().for_each(|(i, value)| values.set(i, *value));
        }
    }

    /// One part of all lanes' results: the values of type `T` that begin at unit `at` of each row. `None` if a row ends
    /// before they do.
    #[inline]
    pub fn column<T: Plain>(&mut self, at: usize) -> Option<ColumnMut<'_, T>> {
        let end = at.checked_mul(4)?.checked_add(size_of::<T>())?;
        let Self { ref mut units, stride, width, len } = *self;
        (end <= width * 4).then_some(ColumnMut { rows: RowsMut { units, stride, width, len }, at, element: PhantomData })
    }
}

/// One part of the results of all lanes of a batch, to be filled in place: values at equal distances.
#[derive(Debug)]
pub struct ColumnMut<'a, T> {
    rows: RowsMut<'a>,
    /// The value's first unit in each row.
    at: usize,
    element: PhantomData<T>,
}

impl<T: Plain> ColumnMut<'_, T> {
    /// How many values there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.rows.len
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rows.len == 0
    }

    /// Value `i` from now on.
    ///
    /// # Panics
    /// When there is no such value.
    #[inline]
    pub fn set(&mut self, i: usize, value: T) {
        assert!(i < self.rows.len, "value {i} of {}", self.rows.len);
        // SAFETY: row `i` lies inside the units, as `RowsMut::new` has checked, and the value inside the row, as
        // `RowsMut::column` has. A `T: Plain` has no bytes that are not initialised; it is written at any alignment.
        unsafe { self.rows.units.as_mut_ptr().add(i * self.rows.stride + self.at).cast::<T>().write_unaligned(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_where_they_are() {
        let units: Vec<u32> = (0..12).collect();
        let rows = Rows::new(&units, 5, 3, 2);
        assert_eq!((rows.row(0), rows.row(1)), (&[0, 1, 2][..], &[5, 6, 7][..]));
        let wide = rows.column::<u64>(1).unwrap();
        assert_eq!(wide.iter().collect::<Vec<_>>(), [1 | 2 << 32, 6 | 7 << 32]);
        assert_eq!((wide.as_ptr(), wide.stride_bytes()), (units[1..].as_ptr().cast(), 20));
        assert!(rows.column::<u64>(2).is_none() && rows.column::<u8>(3).is_none() && rows.column::<u8>(usize::MAX).is_none());
    }

    #[test]
    fn rows_of_every_width_are_copied_out_and_in() {
        for width in 0..=6 {
            let (stride, len) = (7, 3);
            let units: Vec<u32> = (0..(stride * len) as u32).collect();
            let rows = Rows::new(&units, stride, width, len);
            let mut dense = vec![0; width * len];
            rows.copy_to(&mut dense);
            assert_eq!(dense, rows.iter().flatten().copied().collect::<Vec<_>>(), "width {width}");
            let mut back = vec![u32::MAX; stride * len];
            RowsMut::new(&mut back, stride, width, len).copy_from(&dense);
            for (at, unit) in back.into_iter().enumerate() {
                assert_eq!(unit, if at % stride < width { at as u32 } else { u32::MAX }, "unit {at}, width {width}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "row 2 of 2")]
    fn there_are_no_rows_behind_the_last() {
        Rows::new(&[0; 6], 3, 3, 2).row(2);
    }

    #[test]
    fn results_are_written_where_they_are_and_what_lies_between_is_left_alone() {
        let mut units = [7; 8];
        let mut rows = RowsMut::new(&mut units, 4, 2, 2);
        rows.row_mut(1)[0] = 9;
        let mut second = rows.column::<u32>(1).unwrap();
        (0..second.len()).for_each(|i| second.set(i, i as u32));
        assert!(rows.column::<u64>(1).is_none() && rows.column::<u8>(2).is_none() && rows.column::<u8>(usize::MAX).is_none());
        rows.column::<u64>(0).unwrap().set(0, 1 | 2 << 32);
        assert_eq!(units, [1, 2, 7, 7, 9, 1, 7, 7]);
    }

    #[test]
    #[should_panic(expected = "value 2 of 2")]
    fn there_are_no_results_behind_the_last() {
        RowsMut::new(&mut [0; 6], 3, 3, 2).column::<u32>(0).unwrap().set(2, 0);
    }
}
