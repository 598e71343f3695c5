//! Messages of streams.

use behaviours_services::{Big, Mixed, Numbered, Tiny};
use hostcall::prelude::*;
use hostcall::stream::Sent;
use hostcall::wave;

/// What became of a lane's messages: how many were sent, dropped, and neither.
fn count(outcome: Sent, counts: &mut [u32; 3]) {
    counts[match outcome {
        Sent::Sent => 0,
        Sent::Dropped => 1,
        _ => 2,
    }] += 1;
}

/// `rounds` messages of each lane whose bit of `mask` is set.
#[kernel]
pub fn stream_numbered(rounds: u32, mask: u64, outcomes: &mut [[u32; 3]]) {
    let lane = global_id();
    let mut counts = [0; 3];
    if mask >> wave::lane_id() & 1 == 1 {
        for number in 0..rounds {
            count(Numbered { lane: !(lane as u32), number }.send(), &mut counts);
        }
    }
    outcomes[lane] = counts;
}

/// Large messages, which are dropped where there is no room.
#[kernel]
pub fn stream_big(rounds: u32, outcomes: &mut [[u32; 3]]) {
    let lane = global_id();
    let mut counts = [0; 3];
    for number in 0..rounds {
        count(Big::of(lane as u32, number).send(), &mut counts);
    }
    outcomes[lane] = counts;
}

/// A message of each type from lanes of every shape of a wave: all, those of even number, one, and several values each.
#[kernel]
pub fn stream_shapes(outcomes: &mut [[u32; 3]]) {
    let lane = global_id();
    let mut counts = [0; 3];
    count(Mixed::of(lane as u32).send(), &mut counts);
    if lane.is_multiple_of(2) {
        count(Mixed::of(lane as u32).send(), &mut counts);
    }
    if wave::lane_id() == 31 {
        count(Mixed::of(lane as u32).send(), &mut counts);
    }
    let tiny = |number: u32| Tiny { value: (lane as u32) << 8 | number | 1 << 31 };
    count(Tiny::send_each(&[tiny(0), tiny(1), tiny(2)]), &mut counts);
    if wave::lane_id() == 5 {
        count(Tiny::send_each(&[tiny(3), tiny(4)]), &mut counts);
    }
    count(Mixed::send_each(&[Mixed::of(lane as u32); 4]), &mut counts);
    // More than a message can be.
    if Mixed::send_each(&[Mixed::of(0); 6]) != Sent::TooLarge {
        panic!("144 bytes were sent");
    }
    outcomes[lane] = counts;
}

/// A message of one granule and one of several for each wave.
#[kernel]
pub fn stream_once(outcomes: &mut [[u32; 3]]) {
    let lane = global_id();
    let mut counts = [0; 3];
    count(Numbered::once_per_wave(|| Numbered { lane: !(lane as u32), number: 7 }), &mut counts);
    count(Big::once_per_wave(|| Big::of(lane as u32, 7)), &mut counts);
    outcomes[lane] = counts;
}

/// Messages until lane `lane` panics.
#[kernel]
pub fn stream_panic(lane: u32, rounds: u32) {
    for number in 0..rounds {
        let _ = Numbered { lane: !(global_id() as u32), number }.send();
        if global_id() as u32 == lane && number == rounds / 2 {
            panic!("after {number} messages");
        }
    }
}

/// Messages until the host closes the rings: how many of each lane were sent, and that the last was told so.
#[kernel]
pub fn stream_until_closed(outcomes: &mut [[u32; 3]]) {
    let lane = global_id();
    let mut counts = [0; 3];
    let mut number = 0;
    while counts[2] == 0 && number < 1 << 30 {
        count(Numbered { lane: !(lane as u32), number }.send(), &mut counts);
        number += 1;
    }
    outcomes[lane] = counts;
}
