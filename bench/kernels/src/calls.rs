//! Calls that are waited for.

use bench_services::{Bench, answer, question};
use core::sync::atomic::{AtomicU64, Ordering};
use hostcall::time::{Instant, sleep};
use hostcall::wave::{global_id, lane_id, wave_index};
use hostcall::{CallError, Pending as _, Port, kernel};

use crate::clock::{REPLIED, Ticks};

/// The floor: a word to the host, a word back, `warm + trips` times. The host stores each word that it finds at `ping`
/// to `pong`. `out`: nanoseconds of the last `trips`.
#[kernel]
pub fn floor(warm: u64, trips: u64, ping: *mut u64, pong: *mut u64, out: &mut [u64]) {
    // SAFETY: the host passes two words of its memory, 8-byte aligned, that nobody touches other than atomically.
    let (ping, pong) = unsafe { (AtomicU64::from_ptr(ping), AtomicU64::from_ptr(pong)) };
    let mut start = Instant::now();
    for i in 1..=warm + trips {
        // Relaxed: the word is all there is to say. Each pairs with the host's access of the same word.
        ping.store(i, Ordering::Relaxed);
        while pong.load(Ordering::Relaxed) != i {}
        if i == warm {
            start = Instant::now();
        }
    }
    out[0] = start.elapsed().as_nanos() as u64;
}

/// `calls` calls over a port that is held, after `warm` others. `out`, for each lane: nanoseconds, right answers.
#[kernel]
pub fn call_held(warm: u32, calls: u32, out: &mut [[u64; 2]]) -> Result<(), CallError> {
    let mut port = Port::hold()?;
    let (mut start, mut right) = (Instant::now(), 0);
    for i in 0..warm + calls {
        if i == warm {
            (start, right) = (Instant::now(), 0);
        }
        let block = question(i);
        right += u64::from(Bench::exchange_on(&mut port, block)? == answer(&block));
    }
    out[global_id()] = [start.elapsed().as_nanos() as u64, right];
    Ok(())
}

/// The same with a port taken for each call, by as many lanes as are launched.
#[kernel]
pub fn call(warm: u32, calls: u32, out: &mut [[u64; 2]]) -> Result<(), CallError> {
    let (mut start, mut right) = (Instant::now(), 0);
    for i in 0..warm + calls {
        if i == warm {
            (start, right) = (Instant::now(), 0);
        }
        let block = question(i);
        right += u64::from(Bench::exchange(block)? == answer(&block));
    }
    out[global_id()] = [start.elapsed().as_nanos() as u64, right];
    Ok(())
}

/// The device's own part of a call, by as many lanes as are launched: nothing is waited for, because the reply to each
/// call is there before it is looked for. `out`, for each lane: nanoseconds in which `calls` requests were sent and
/// their replies taken, right answers.
#[kernel]
pub fn call_device(warm: u32, calls: u32, out: &mut [[u64; 2]]) -> Result<(), CallError> {
    let clock = Ticks::start();
    let (start, first) = (Instant::now(), clock.now());
    let (mut ticks, mut right) = (0, 0);
    for i in 0..warm + calls {
        if i == warm {
            (ticks, right) = (0, 0);
        }
        let block = question(i);
        let sends = clock.now();
        let pending = Bench::start_exchange(block)?;
        let sent = clock.now();
        sleep(REPLIED);
        let takes = clock.now();
        let reply = pending.wait()?;
        ticks += sent - sends + (clock.now() - takes);
        right += u64::from(reply == answer(&block));
    }
    out[global_id()] = [clock.nanoseconds(ticks, first, start), right];
    Ok(())
}

/// How long each of `samples.len()` calls takes, in ticks, after `warm` others, as the first lane sees it.
/// `out`: nanoseconds of all, ticks of all, right answers.
#[kernel]
pub fn call_latency(warm: u32, samples: &mut [u32], out: &mut [u64]) -> Result<(), CallError> {
    let (count, to) = (samples.len() as u32, samples.as_mut_ptr());
    let clock = Ticks::start();
    let (mut start, mut first, mut right) = (Instant::now(), 0, 0);
    let mut before = 0;
    for i in 0..warm + count {
        if i == warm {
            first = clock.now();
            before = first;
            (start, right) = (Instant::now(), 0);
        }
        let block = question(i);
        right += u64::from(Bench::exchange(block)? == answer(&block));
        let now = clock.now();
        if lane_id() == 0 && i >= warm {
            // SAFETY: below `samples.len()`; of all lanes only this one writes there.
            unsafe { to.add((i - warm) as usize).write((now - before) as u32) };
        }
        before = now;
    }
    if lane_id() == 0 {
        out[0] = start.elapsed().as_nanos() as u64;
        out[1] = before - first;
        out[2] = right;
    }
    Ok(())
}

/// `calls` calls of one lane by each wave, which makes them together. `right`, for each wave: right answers.
#[kernel]
pub fn throughput_scalar(calls: u32, right: &mut [u64]) -> Result<(), CallError> {
    let mut sum = 0;
    for i in 0..calls {
        let block = question(i);
        sum += u64::from(Bench::exchange_together(block)? == answer(&block));
    }
    if lane_id() == 0 {
        right[wave_index()] = sum;
    }
    Ok(())
}

/// `calls` calls by all lanes of each wave together. `right`, for each lane: right answers.
#[kernel]
pub fn throughput_wide(calls: u32, right: &mut [u64]) -> Result<(), CallError> {
    let mut sum = 0;
    for i in 0..calls {
        let block = question(i);
        sum += u64::from(Bench::exchange(block)? == answer(&block));
    }
    right[global_id()] = sum;
    Ok(())
}
