//! Messages that overwrite the oldest.

use behaviours_services::{Flown, Numbered};
use hostcall::prelude::*;
use hostcall::stream::Sent;
use hostcall::wave;

/// `rounds` messages of each lane whose bit of `mask` is set; how many were sent.
#[kernel]
pub fn stream_flown(first: u32, rounds: u32, mask: u64, sent: &mut [u32]) {
    let lane = global_id();
    let mut count = 0;
    if mask >> wave::lane_id() & 1 == 1 {
        for number in first..first + rounds {
            count += u32::from(Flown::of(lane as u32, number).send() == Sent::Sent);
        }
    }
    sent[lane] = count;
}

/// Three values of each lane, one of each wave, one with its place in the source, and as many as a message can have.
#[kernel]
pub fn stream_flown_shapes(sent: &mut [u32]) {
    let lane = global_id();
    let of = |number| Flown::of(lane as u32, number);
    let mut count = u32::from(Flown::send_each(&[of(0), of(1), of(2)]) == Sent::Sent);
    count += u32::from(Flown::once_per_wave(|| of(3)) == Sent::Sent);
    count += u32::from(hostcall::send!(of(4)) == Sent::Sent);
    // 120 bytes are sent, and 124 with the check; 140 are too many.
    count += u32::from(Flown::send_each(&[of(5); 6]) == Sent::Sent);
    if Flown::send_each(&[of(6); 7]) != Sent::TooLarge {
        panic!("140 bytes were sent");
    }
    sent[lane] = count;
}

/// `rounds` messages of each lane; then it runs on until the host wants one of another stream.
#[kernel]
pub fn stream_flown_and_on(rounds: u32) {
    let lane = global_id() as u32;
    for number in 0..rounds {
        let _ = Flown::of(lane, number).send();
    }
    while (Numbered { lane, number: 0 }).send() != Sent::Sent {}
}
