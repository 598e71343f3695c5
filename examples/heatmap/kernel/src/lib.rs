//! Two ways through a matrix, which say what they access and how long they take: launched by `cargo run -p
//! hostcall-examples --example heatmap`. And a [transpose].
#![no_std]

use hostcall::prelude::*;
use hostcall::stream::{access, interval};

pub mod transpose;

/// Adds up `side` values from `first` on, `step` apart, and writes the sum.
fn sum(matrix: &[f32], side: usize, first: usize, step: usize, to: &mut f32) {
    let _span = interval::begin(0);
    let mut sum = 0.0;
    for i in 0..side {
        let value = &matrix[first + i * step];
        access::read(value);
        sum += value;
    }
    access::write(to);
    *to = sum;
}

/// Each lane adds up a row: at each step a wave reads a column.
#[kernel]
pub fn sum_rows(matrix: &[f32], sums: &mut [f32]) {
    let (lane, side) = (global_id(), sums.len());
    sum(matrix, side, lane * side, 1, &mut sums[lane]);
}

/// Each lane adds up a column: at each step a wave reads a part of a row.
#[kernel]
pub fn sum_columns(matrix: &[f32], sums: &mut [f32]) {
    let (lane, side) = (global_id(), sums.len());
    sum(matrix, side, lane, side, &mut sums[lane]);
}
