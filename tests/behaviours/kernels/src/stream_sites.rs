//! Messages that say where in the source they are from. A test looks for the lines by what stands in them.

use behaviours_services::{Numbered, Tiny};
use hostcall::prelude::*;
use hostcall::{access, interval, log, send, send_if};

/// One message from each place, of all lanes or of those of even number.
#[kernel]
pub fn stream_sites(values: &mut [u32]) {
    let lane = global_id();
    let number = lane as u32;
    let _whole = interval!("the whole kernel");
    let _ = send!(Tiny { value: number });
    let _ = send_if!(lane.is_multiple_of(2), Numbered { lane: number, number: 1 });
    {
        let _part = interval!("a part, {named} as it is");
        let _ = access!(write, &values[lane]);
        values[lane] = number;
    }
    // Without a place.
    let _ = Numbered { lane: number, number: 2 }.send();
}

/// Lines of every level and of every kind of argument.
#[kernel]
pub fn stream_log(rounds: u32) {
    let lane = global_id();
    let (third, negative) = (lane as f32 / 3.0, -(lane as i64));
    for round in 0..rounds {
        let _ = log!(Info, "lane {lane} in round {round}: {third:.2}, {:>+6}, {0:#x}", negative);
        let _ = log!(Debug, "{{only}} for who looks: {even}", even = lane.is_multiple_of(2));
    }
    if lane == 3 {
        let _ = log!(Error, "{:?} {:e} {} {:#p}", 'x', 1234.5f64, u64::MAX, 16 as *const u32);
        let _ = log!(Warn, "no argument");
        let _ = log!(Trace, "{} {} {} {} {} {} {} {}", 1u8, 2u16, 3u32, 4u64, -5i8, -6i16, 7usize, true);
    }
}
