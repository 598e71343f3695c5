//! Services that come, go, and end; kernels on several queues.

use behaviours_services::{Gate, Late, Second, Strict, Tally, Typed};
use hostcall::prelude::*;

use crate::code;

/// Two services.
#[kernel]
pub fn two_services(results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        let sum = Typed::sum(i as u64, 1).unwrap_or_else(code);
        results[i] = sum * 1000 + Second::triple(i as u32).map_or_else(code, u64::from);
    }
}

/// Calls two services that it is given, one after the other; how the calls end if they end otherwise.
#[kernel]
pub fn given(first: Callee, second: Callee, results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        let triple = |callee, x| Second::triple_by(callee, x).map_or_else(code, u64::from);
        results[i] = triple(first, i as u32) * 1000 + triple(second, i as u32);
    }
}

/// Calls a service that it is given, with a text and numbers.
#[kernel]
pub fn given_slices(callee: Callee, results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        results[i] = Typed::measure_by(callee, "four", &[i as u32, 1]).map_or_else(code, |(text, sum)| sum * 1000 + u64::from(text));
    }
}

/// One call of a service that may be finished.
#[kernel]
pub fn ticks(results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        results[i] = Tally::tick(0).unwrap_or_else(code);
    }
}

/// One call that is answered when the test likes.
#[kernel]
pub fn held_backs(results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        results[i] = Gate::held_back(i as u32).map_or_else(code, u64::from);
    }
}

/// Asks until it may go on, then calls a service once.
#[kernel]
pub fn calls_late(results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        while let Ok(false) = Gate::may_go(i as u32) {}
        results[i] = Late::come(i as u32).map_or_else(code, u64::from);
    }
}

/// Calls until the call fails; the number of calls that did not, and how the last one ended.
#[kernel]
pub fn calls_until_refused(results: &mut [u64]) {
    let i = global_id();
    let mut calls = 0;
    let error = loop {
        match Tally::tick(i as u32) {
            Ok(_) => calls += 1,
            Err(error) => break code(error),
        }
    };
    results[2 * i] = calls;
    results[2 * i + 1] = error;
}

/// A call whose stub panics instead of returning an error.
#[kernel]
pub fn strict(results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        results[i] = u64::from(Strict::strict_add(i as u32));
    }
}
