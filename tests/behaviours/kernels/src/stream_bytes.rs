//! Messages of bytes and of text. A test looks for a line by what stands in it.

use behaviours_services::{Frame, Note, Numbered, frame_length, frame_start};
use hostcall::prelude::*;
use hostcall::send;
use hostcall::stream::Sent;
use hostcall::wave;

/// What became of a lane's messages: how many were sent, dropped, filtered, too large, closed and off.
fn count(outcome: Sent, counts: &mut [u32; 6]) {
    counts[match outcome {
        Sent::Sent => 0,
        Sent::Dropped => 1,
        Sent::Filtered => 2,
        Sent::TooLarge => 3,
        Sent::Closed => 4,
        Sent::Off => 5,
    }] += 1;
}

/// `rounds` messages of each lane whose bit of `mask` is set, from memory that all lanes can read, with others in
/// between.
#[kernel]
pub fn stream_bytes(source: &[u8], rounds: u32, step: u32, mask: u64, outcomes: &mut [[u32; 6]]) {
    let lane = global_id();
    let mut counts = [0; 6];
    if mask >> wave::lane_id() & 1 == 1 {
        for number in 0..rounds {
            let (start, length) = (frame_start(lane as u32, number) as usize, frame_length(lane as u32, number, step) as usize);
            count(Frame::send(&source[start..start + length]), &mut counts);
            if number % 3 == 0 {
                let _ = Numbered { lane: !(lane as u32), number }.send();
            }
        }
    }
    outcomes[lane] = counts;
}

/// Messages from lanes' own stacks: their number, as often as they are long.
#[kernel]
pub fn stream_bytes_of_stacks(rounds: u32, outcomes: &mut [[u32; 6]]) {
    let lane = global_id();
    let mut counts = [0; 6];
    for number in 0..rounds {
        let own = [(lane as u32 ^ number << 6) as u8; 100];
        let length = frame_length(lane as u32, number, 1) as usize % 100;
        // Where it lies is for the compiler to forget.
        count(Frame::send(&core::hint::black_box(&own)[..length]), &mut counts);
    }
    outcomes[lane] = counts;
}

/// One message of each lane, as long as `lengths` says, from lanes that run alone. 0: sent; 1: too large; 2: neither.
#[kernel]
pub fn stream_bytes_large(source: &[u8], lengths: &[u32], outcomes: &mut [u32]) {
    let lane = global_id();
    for one in 0..lengths.len() {
        if one == lane {
            outcomes[lane] = match Frame::send(&source[..lengths[lane] as usize]) {
                Sent::Sent => 0,
                Sent::TooLarge => 1,
                _ => 2,
            };
        }
    }
}

/// Messages that say of what lane they are, and which of its messages: eight bytes, and then as many of the first as
/// the number says.
#[kernel]
pub fn stream_bytes_numbered(scratch: &mut [u8], rounds: u32, outcomes: &mut [[u32; 6]]) {
    let lane = global_id();
    let mut counts = [0; 6];
    let own = &mut scratch[lane * 256..][..256];
    for number in 0..rounds {
        // Written anew before each: what is sent is what was there.
        own[..4].copy_from_slice(&(lane as u32).to_le_bytes());
        own[4..8].copy_from_slice(&number.to_le_bytes());
        own[8..].fill(!(number as u8));
        count(Frame::send(&own[..8 + number as usize % 240]), &mut counts);
        if counts[4] > 0 {
            break;
        }
    }
    outcomes[lane] = counts;
}

/// One for each wave, of the first lane.
#[kernel]
pub fn stream_bytes_once(source: &[u8], outcomes: &mut [[u32; 6]]) {
    let lane = global_id();
    let mut counts = [0; 6];
    count(Frame::once_per_wave(|| &source[..lane]), &mut counts);
    count(Note::once_per_wave(|| "once for the wave"), &mut counts);
    outcomes[lane] = counts;
}

/// Text, with a place and without.
#[kernel]
pub fn stream_text(outcomes: &mut [[u32; 6]]) {
    let lane = global_id();
    let mut counts = [0; 6];
    count(Note::send(if lane.is_multiple_of(2) { "gerade: äöü €" } else { "" }), &mut counts);
    count(send!(Note::of("from a place")), &mut counts);
    if Note::armed() {
        outcomes[lane] = counts;
    }
}
