//! A program that shares its server with the soak and is no good neighbour. Belongs to
//! `tests/behaviours/src/bin/soak/stranger.rs`.

use core::sync::atomic::{AtomicU32, Ordering};

use behaviours_services::{Nobody, Stress, Typed, mix};
use hostcall::fs::File;
use hostcall::prelude::*;

/// Until the word at `stop` is set, or for `most` rounds: every lane keeps threads of the blocking pool busy, calls a
/// service that nobody has registered, asks for files that it was not granted, and posts more than the host may queue.
/// `made`, for each lane: rounds that it made, whatever became of their calls.
#[kernel]
pub fn stranger(seed: u64, most: u64, stop: *const u32, made: &mut [u64]) {
    let i = global_id();
    if i >= made.len() {
        return;
    }
    // SAFETY: the host passes a word of its own memory, which lives until the kernel has ended, and which both sides
    // access atomically only.
    let stop = unsafe { AtomicU32::from_ptr(stop.cast_mut()) };
    let mut back = [0u8; 64];
    for n in 0..most {
        // Pairs with the host's store. Relaxed: the word is all there is to say.
        if stop.load(Ordering::Relaxed) != 0 {
            return;
        }
        // What comes of a call is the host's business: a refusal is as good as an answer.
        match mix(seed ^ (i as u64) << 40 ^ n) % 8 {
            0 => drop(Typed::nap(2)),
            1 => drop(Nobody::home(1)),
            2 => drop(File::open("/etc/passwd")),
            3 => drop(Typed::echo(&[7; 64], &mut back)),
            4 => drop(Stress::post_sum(i as u32, 0, &[1; 512])),
            _ => {
                for k in 0..16 {
                    let _ = Typed::note(k);
                }
            }
        }
        made[i] = n + 1;
    }
}
