//! Typed calls: shapes of arguments and results, divergence, errors.

use behaviours_services::{Large, Nobody, Typed};
use hostcall::prelude::*;
use hostcall::wave;

use crate::code;

#[kernel]
pub fn add42(y: &mut [f32]) {
    let i = global_id();
    if i < y.len() {
        y[i] = Typed::add42(y[i]).unwrap_or(-1.0);
    }
}

/// Every shape once per lane; bit `n` of the lane's word says that shape `n` was right.
#[kernel]
pub fn shapes(right: &mut [u32]) {
    let i = global_id();
    if i >= right.len() {
        return;
    }
    let n = i as u64;
    let checks = [
        Typed::nothing() == Ok(()),
        Typed::add42(n as f32) == Ok(n as f32 + 42.0),
        Typed::sum(n, 1 << 40) == Ok(n + (1 << 40)),
        Typed::scale(-(n as i32), 0.5) == Ok(-(n as f64) * 0.5),
        Typed::swap(i as u32, 7) == Ok((7, i as u32)),
        Typed::mixed(i as u8) == Ok((i as u8, -(i as u8 as i64), i as u8 % 2 == 1, 'ß')),
        Typed::lookup(n) == Ok(if n % 3 == 0 { Some(n * n) } else { None }),
        Typed::large(Large::of(n)) == Ok(Large::of(n + 1)),
    ];
    right[i] = checks.iter().enumerate().fold(0, |bits, (k, ok)| bits | u32::from(*ok) << k);
}

/// Which lanes call: those whose bit of `mask` is set. Each result goes to the lane's word.
#[kernel]
pub fn masked(mask: u64, sums: &mut [u64]) {
    let i = global_id();
    if mask >> (wave::lane_id() % 64) & 1 == 1 {
        sums[i] = Typed::sum(i as u64, 1000).unwrap_or_else(code);
    }
}

/// Odd and even lanes call different services from different places, each as often as its number says.
#[kernel]
pub fn divergent(sums: &mut [u64]) {
    let i = global_id();
    let mut sum = 0;
    for round in 0..(i as u64 % 5) {
        sum += if i % 2 == 0 {
            Typed::sum(round, 1).unwrap_or_else(code)
        } else {
            Typed::lookup(round * 3).map_or_else(code, |found| found.unwrap_or(0))
        };
    }
    sums[i] = sum;
}

/// Calls of a service that nobody registered.
#[kernel]
pub fn unknown(results: &mut [u64]) {
    let i = global_id();
    if i >= results.len() {
        return;
    }
    results[i] = Nobody::home(i as u32).map_or_else(code, u64::from);
}

/// Calls whose handler fails for some lanes.
#[kernel]
pub fn picky(results: &mut [u64]) {
    let i = global_id();
    if i >= results.len() {
        return;
    }
    results[i] = Typed::picky(i as u32).map_or_else(code, u64::from);
}

/// Calls whose handler panics for some lanes.
#[kernel]
pub fn fragile(results: &mut [u64]) {
    let i = global_id();
    if i >= results.len() {
        return;
    }
    results[i] = Typed::fragile(i as u32).map_or_else(code, u64::from);
}

/// Strings and slices of lengths that differ from lane to lane.
#[kernel]
pub fn texts(lengths: &mut [u64]) {
    let i = global_id();
    if i >= lengths.len() {
        return;
    }
    let numbers = [i as u32; 8];
    let text = &"the quick brown fox jumps over the lazy dog"[..i % 44];
    let result = Typed::measure(text, &numbers[..i % 9]);
    lengths[i] = match result {
        Ok((len, sum)) if len as usize == text.len() && sum == (i * (i % 9)) as u64 => 1,
        Ok(_) => 0,
        Err(error) => code(error),
    };
}

/// Slices out; odd blocks are refused.
#[kernel]
pub fn fills(results: &mut [u64]) {
    let i = global_id();
    if i >= results.len() {
        return;
    }
    let mut out = [0u8; 100];
    let out = &mut out[..i % 101];
    results[i] = match Typed::fill(i as u32, out) {
        Ok(Ok(n)) if n as usize == out.len() && out.iter().all(|b| *b == i as u8) => 1,
        Ok(Err(refused)) if refused.block == i as u32 => 2,
        Ok(_) => 0,
        Err(error) => code(error),
    };
}

/// Echoes `len` bytes of the lane's part of `from` into its part of `to`.
#[kernel]
pub fn echoes(len: u32, from: &[u8], to: &mut [u8], results: &mut [u64]) {
    let i = global_id();
    if i >= results.len() {
        return;
    }
    let len = len as usize;
    let part = i * len..(i + 1) * len;
    results[i] = Typed::echo(&from[part.clone()], &mut to[part]).map_or_else(code, u64::from);
}

/// Posts and says nothing.
#[kernel]
pub fn posts(count: u32) -> Result<(), CallError> {
    for n in 0..count {
        Typed::note((global_id() as u64) << 32 | u64::from(n))?;
    }
    Ok(())
}

/// Posts strings.
#[kernel]
pub fn logs() -> Result<(), CallError> {
    Typed::log(["zero", "one", "two", "three"][global_id() % 4])
}

/// Several calls in flight, fetched in the order they were started.
#[kernel]
pub fn pending(results: &mut [u64]) -> Result<(), CallError> {
    let i = global_id();
    let a = Typed::start_sum(i as u64, 1)?;
    let b = Typed::start_sum(i as u64, 2)?;
    let c = Typed::start_lookup(3)?;
    results[i] = a.wait()? * 1_000_000 + b.wait()? * 1000 + c.wait()?.unwrap_or(0);
    Ok(())
}

/// A call that is given up, and ones behind it over the same ports. The nap may end once it is given up, which `picky`
/// tells.
#[kernel]
pub fn impatient(results: &mut [u64]) {
    let i = global_id();
    let given_up = match Typed::start_nap(50) {
        Ok(pending) => {
            let given_up = pending.wait_timeout(1_000_000).map_or_else(code, u64::from);
            let told = Typed::picky(0).map_or_else(code, u64::from);
            if told == 0 { given_up } else { told }
        }
        Err(error) => code(error),
    };
    let after = Typed::sum(i as u64, 5).unwrap_or_else(code);
    results[2 * i] = given_up;
    results[2 * i + 1] = after;
}

/// Many calls over a port that is held.
#[kernel]
pub fn held(count: u32, sums: &mut [u64]) -> Result<(), CallError> {
    let i = global_id();
    let mut port = Port::hold()?;
    let mut sum = 0;
    for n in 0..count {
        sum += Typed::sum_on(&mut port, i as u64, u64::from(n))?;
    }
    sums[i] = sum;
    Ok(())
}

/// One call that sleeps on the host.
#[kernel]
pub fn naps(millis: u32, results: &mut [u64]) {
    results[global_id()] = Typed::nap(millis).map_or_else(code, u64::from);
}
