//! Calls made once for a lane, a wave, a workgroup, a grid.

use behaviours_services::Tally;
use hostcall::prelude::*;
use hostcall::wave::{self, OncePerGrid};

use crate::code;

/// What the calls are counted under.
const LANE: u32 = 0;
const WAVE: u32 = 1;
const GROUP: u32 = 2;
const GRID: u32 = 3;
const EVEN: u32 = 4;
const ODD: u32 = 5;

static ONCE: OncePerGrid<u64> = OncePerGrid::new();

/// A call for each lane.
#[kernel]
pub fn per_lane(results: &mut [u64]) {
    results[global_id()] = Tally::tick(LANE).unwrap_or_else(code);
}

/// A call for each wave.
#[kernel]
pub fn per_wave(results: &mut [u64]) {
    results[global_id()] = wave::once_per_wave(|| Tally::tick(WAVE)).unwrap_or_else(code);
}

/// A call for each workgroup, `rounds` times.
#[kernel]
pub fn per_workgroup(rounds: u32, results: &mut [u64]) {
    let mut last = 0;
    for _ in 0..rounds {
        last = wave::once_per_workgroup(|| Tally::tick(GROUP)).unwrap_or_else(code);
    }
    results[global_id()] = last;
}

/// A call for the grid, which is launch number `launch`.
#[kernel]
pub fn per_grid(launch: u32, results: &mut [u64]) {
    results[global_id()] = ONCE.call(launch, || Tally::tick(GRID)).unwrap_or_else(code);
}

/// The lanes of a wave part, and each side calls once.
#[kernel]
pub fn per_branch(results: &mut [u64]) {
    let i = global_id();
    results[i] = if i % 2 == 0 {
        wave::once_per_wave(|| Tally::tick(EVEN)).unwrap_or_else(code)
    } else {
        wave::once_per_wave(|| Tally::tick(ODD)).unwrap_or_else(code)
    };
}

/// Where each lane is: its number in the grid, wave, workgroup, lane, and the grid's size.
#[kernel]
pub fn coordinates(places: &mut [[u32; 5]]) {
    let i = global_id();
    places[i] = [i as u32, wave_index() as u32, group_index() as u32, lane_id(), global_size() as u32];
}

/// A lane of one workgroup panics; the others wait for a call that is made once.
#[kernel]
pub fn panic_beside_once(kind: u32, results: &mut [u64]) {
    if global_id() == 1 {
        panic!("beside a call that is made once");
    }
    loop {
        let result = match kind {
            0 => wave::once_per_wave(|| Tally::tick(WAVE)),
            1 => wave::once_per_workgroup(|| Tally::tick(GROUP)),
            _ => ONCE.call(0, || {
                loop {
                    Tally::tick(GRID)?;
                }
            }),
        };
        // Reached with a real result, or not at all: a lane whose call was made by one that has ended must end, too.
        if result.is_err() {
            results[global_id()] = result.unwrap_or_else(code);
            return;
        }
    }
}
