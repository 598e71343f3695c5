//! The kernel.

use hostcall::prelude::*;

/// Each lane formats and writes `count` lines.
#[kernel]
pub fn lines(count: u32) {
    let lane = global_id();
    for i in 0..count {
        println!("lane {lane} line {i} {:08x}", (lane as u32).wrapping_mul(0x9e37_79b9) ^ i);
    }
}
