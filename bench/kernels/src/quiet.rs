//! A call after a long silence, and what calls cost that are not made.

use bench_services::{Bench, answer, question};
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use hostcall::time::{Instant, sleep};
use hostcall::wave::{global_id, global_size, lane_id, wave_index, wave_size};
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

/// One lane of each wave calls until a call fails, for at most `limit` nanoseconds, and then `calls` times more. The
/// first word of `told` is set when the last wave has had a call that failed, which they count in `learnt`, and the
/// second when the first wave has had answers. `out`, for each wave: nanoseconds of the calls after the end, and how
/// many of them failed.
#[kernel]
pub fn until_closed(calls: u32, limit: u64, learnt: *mut u32, told: *mut u32, out: &mut [[u64; 2]]) {
    // SAFETY: the host passes a word of device memory and two of its own, which nobody accesses other than atomically.
    let (learnt, told) = unsafe { (AtomicU32::from_ptr(learnt), [AtomicU32::from_ptr(told), AtomicU32::from_ptr(told.add(1))]) };
    let (wave, waves) = (wave_index(), global_size() as u32 / wave_size());
    let begin = Instant::now();
    let mut i = 0;
    while Bench::exchange_together(question(i)).is_ok() {
        i += 1;
        if lane_id() == 0 && wave == 0 && i == 16 {
            // Relaxed, as below: the word is all there is to say. Pairs with the host's load.
            told[1].store(1, Ordering::Relaxed);
        }
        if begin.elapsed() > Duration::from_nanos(limit) {
            return;
        }
    }
    // Relaxed: they only count.
    if lane_id() == 0 && learnt.fetch_add(1, Ordering::Relaxed) + 1 == waves {
        told[0].store(1, Ordering::Relaxed);
    }
    let (start, mut failed) = (Instant::now(), 0);
    for i in 0..calls {
        failed += u64::from(Bench::exchange_together(question(i)).is_err());
    }
    if lane_id() == 0 {
        out[wave] = [start.elapsed().as_nanos() as u64, failed];
    }
}
