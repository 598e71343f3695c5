//! A call after a long silence, and what calls cost that are not made.

use bench_services::{Bench, answer, question};
use core::time::Duration;
use hostcall::time::{Instant, sleep};
use hostcall::wave::global_id;
use hostcall::{CallError, kernel};

/// Runs without a call for `ns` nanoseconds, then makes one. `out`: nanoseconds that it took, right answers.
#[kernel]
pub fn quiet(ns: u64, out: &mut [u64]) -> Result<(), CallError> {
    sleep(Duration::from_nanos(ns));
    let block = question(7);
    let start = Instant::now();
    let reply = Bench::exchange(block)?;
    out[0] = start.elapsed().as_nanos() as u64;
    out[1] = u64::from(reply == answer(&block));
    Ok(())
}

/// A kernel that makes no calls.
#[kernel]
pub fn unused_without(factor: f32, data: &mut [f32]) {
    if let Some(value) = data.get_mut(global_id()) {
        *value *= factor;
    }
}

/// The same kernel with a call that it never makes: what it takes is what any kernel pays for being able to call.
#[kernel]
pub fn unused_with(factor: f32, data: &mut [f32]) -> Result<(), CallError> {
    if let Some(value) = data.get_mut(global_id()) {
        *value *= factor;
        if value.is_nan() {
            *value = Bench::exchange(question(value.to_bits()))?[0] as f32;
        }
    }
    Ok(())
}
