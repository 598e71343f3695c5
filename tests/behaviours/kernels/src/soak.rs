//! The soak: calls of all kinds, each of which checks its reply. Belongs to `tests/behaviours/src/bin/soak/main.rs`.

use behaviours_services::{Large, Soak, mix};
use hostcall::prelude::*;

/// The most words of a bulk call.
const WORDS: usize = 256;

/// `calls` calls from every lane. `scratch`: `2 × WORDS` words per lane. `tallies`, for each lane: calls that came back
/// right, the sum of `mix(key)` over them, calls that ended with a status, wrong replies, and posts among the right
/// ones. Brought up to date with each call, so that they tell the truth when the kernel is ended. One lane goes wrong
/// after half of its calls: it panics if `end` is 1, and writes where there is no memory if it is 2.
#[kernel]
pub fn soak(seed: u64, round: u32, calls: u32, end: u32, scratch: &mut [u32], tallies: &mut [[u64; 5]]) {
    let i = global_id();
    if i >= tallies.len() {
        return;
    }
    let (data, back) = scratch[i * 2 * WORDS..(i + 1) * 2 * WORDS].split_at_mut(WORDS);
    let mut tally = [0u64; 5];
    for n in 0..calls {
        if end != 0 && i == tallies.len() / 2 && n == calls / 2 {
            if end == 2 {
                // SAFETY: none: there is no memory at 8, and the write must end the kernel.
                unsafe { core::ptr::without_provenance_mut::<u32>(8).write_volatile(1) };
            }
            panic!("the soak ends this kernel");
        }
        let key = u64::from(round) << 44 | (i as u64) << 20 | u64::from(n);
        // Mostly all lanes of a wave make the same kind of call.
        let draw = mix(seed ^ u64::from(round) << 40 ^ (wave_index() as u64) << 20 ^ u64::from(n));
        let own = mix(key ^ seed);
        let kind = if draw >> 60 == 0 { own } else { draw } % 1024;
        let expected = mix(key);
        let result = match kind {
            0..600 => Soak::mark(key),
            600..800 => Soak::post(key).map(|()| expected),
            800..960 => {
                let reply = Soak::wide(key, Large::of(key));
                reply.map(|value| if value == Large::of(expected) { expected } else { !expected })
            }
            960..1000 => {
                let len = (own >> 32) as usize % (WORDS + 1);
                let (data, back) = (&mut data[..len], &mut back[..len]);
                for (k, word) in data.iter_mut().enumerate() {
                    *word = (expected as u32).wrapping_add(k as u32);
                }
                let reply = Soak::bulk(key, data, back);
                let same = data.iter().zip(back.iter()).all(|(word, back)| *back == !*word);
                reply.map(|value| if same { value } else { !expected })
            }
            1000..1023 => Soak::text(key, &"soak, soak and soak again"[..(key % 26) as usize]),
            _ if own >> 40 & 0xff == 0 => match Soak::fail(key) {
                Err(CallError::HandlerFailed { code }) if key % 2 == 1 && code == key as u32 => Ok(expected),
                Err(CallError::HandlerPanicked) if key % 2 == 0 => Ok(expected),
                Ok(_) | Err(CallError::HandlerFailed { .. } | CallError::HandlerPanicked) => Ok(!expected),
                Err(error) => Err(error),
            },
            _ => Soak::mark(key),
        };
        match result {
            Ok(value) if value == expected => {
                tally[0] += 1;
                tally[1] = tally[1].wrapping_add(expected);
                tally[4] += u64::from((600..800).contains(&kind));
            }
            Ok(_) => tally[3] += 1,
            Err(_) => tally[2] += 1,
        }
        tallies[i] = tally;
    }
}
