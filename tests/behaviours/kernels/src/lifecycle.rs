//! Servers and buffers that go while kernels run, and kernels that end badly.

use behaviours_services::{Gate, Tally, Typed};
use hostcall::prelude::*;

use crate::code;

/// A call that waits, and one behind it.
#[kernel]
pub fn stays(results: &mut [u64]) {
    let i = global_id();
    results[2 * i] = Gate::held_back(i as u32).map_or_else(code, u64::from);
    results[2 * i + 1] = Typed::sum(i as u64, 5).unwrap_or_else(code);
}

/// Starts calls and ends without asking for their results.
#[kernel]
pub fn leaves() -> Result<(), CallError> {
    let _ = Gate::start_held_back(global_id() as u32)?;
    Ok(())
}

/// Leaves a call open and writes where there is no memory.
#[kernel]
pub fn traps(bad: *mut u32) -> Result<(), CallError> {
    Gate::here(global_id() as u32)?;
    let open = Gate::start_held_back(global_id() as u32)?;
    // SAFETY: none: the address is bad on purpose, and the write must end the kernel.
    unsafe { bad.write_volatile(1) };
    open.wait().map(|_| ())
}

/// Panics while it holds a port and a call under way.
#[kernel]
pub fn panics_holding() -> Result<(), CallError> {
    let mut port = Port::hold()?;
    let pending = Typed::start_sum(1, 2)?;
    if Typed::sum_on(&mut port, 1, 1)? == 2 {
        panic!("while ports are held");
    }
    pending.wait().map(|_| ())
}

/// Makes `count` calls, all of which succeed.
#[kernel]
pub fn calls(count: u32, results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        results[i] = (0..count).filter(|n| Tally::tick(*n).is_ok()).count() as u64;
    }
}
