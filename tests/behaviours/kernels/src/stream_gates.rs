//! Messages that the host chooses while the kernel runs, and those that wait or are thinned out where there is no room.

use behaviours_services::{Numbered, Patient, Sampled};
use hostcall::prelude::*;
use hostcall::stream::Sent;

/// What became of a lane's messages: how many were sent, dropped, filtered and off.
fn count(outcome: Sent, counts: &mut [u32; 4]) {
    counts[match outcome {
        Sent::Sent => 0,
        Sent::Dropped => 1,
        Sent::Filtered => 2,
        _ => 3,
    }] += 1;
}

/// A kernel that sends `rounds` messages of a type from each lane.
macro_rules! sends {
    ($($name:ident: $message:ident),+) => { $(
        /// `rounds` messages of each lane.
        #[kernel]
        pub fn $name(rounds: u32, outcomes: &mut [[u32; 4]]) {
            let lane = global_id();
            let mut counts = [0; 4];
            for number in 0..rounds {
                count($message { lane: lane as u32, number }.send(), &mut counts);
            }
            outcomes[lane] = counts;
        }
    )+ };
}
sends!(stream_gated: Numbered, stream_patient: Patient, stream_sampled: Sampled);

/// Messages until `enough` of each lane were sent, or very many were not.
#[kernel]
pub fn stream_until_wanted(enough: u32, outcomes: &mut [[u32; 4]]) {
    let lane = global_id();
    let mut counts = [0; 4];
    while counts[0] < enough && counts[3] < 1 << 30 {
        count(Numbered { lane: lane as u32, number: counts[0] }.send(), &mut counts);
    }
    outcomes[lane] = counts;
}
