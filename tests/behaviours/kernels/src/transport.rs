//! Many producers, many sizes, and what is left afterwards.

use behaviours_services::{Stress, checksum};
use core::time::Duration;
use hostcall::prelude::*;
use hostcall::random::Random;
use hostcall::time::sleep;

/// `calls` numbered calls from every lane; `right`, for each lane: how many came back as they should.
#[kernel]
pub fn counts(calls: u32, right: &mut [u32]) {
    let i = global_id();
    if i >= right.len() {
        return;
    }
    let lane = i as u32;
    right[i] = (0..calls).filter(|n| Stress::count(lane, *n) == Ok((lane, n + 1))).count() as u32;
}

/// Calls and posts of all kinds in bursts with pauses in between, of sizes up to `most`, in `scratch` memory of `2 ×
/// most` bytes per lane.
#[kernel]
pub fn bursts(seed: u64, calls: u32, most: u32, scratch: &mut [u8], right: &mut [u32]) {
    let i = global_id();
    if i >= right.len() {
        return;
    }
    let lane = i as u32;
    let (data, back) = scratch[i * 2 * most as usize..(i + 1) * 2 * most as usize].split_at_mut(most as usize);
    let mut random = Random::with_seed(seed);
    let mut good = 0;
    for n in 0..calls {
        let len = if random.below(4) == 0 { random.below(most + 1) } else { random.below(most.min(64) + 1) } as usize;
        random.fill(&mut data[..len]);
        let sum = checksum(&data[..len]);
        let ok = match random.below(5) {
            0 => Stress::count(lane, n) == Ok((lane, n + 1)),
            1 => Stress::sum(lane, sum, &data[..len]) == Ok(sum),
            2 => Stress::post(lane, n).is_ok(),
            3 => Stress::post_sum(lane, sum, &data[..len]).is_ok(),
            _ => {
                let turned = Stress::turn(lane, &data[..len], &mut back[..len]) == Ok(sum);
                turned && back[..len].iter().rev().eq(data[..len].iter())
            }
        };
        good += u32::from(ok);
        if random.below(8) == 0 {
            sleep(Duration::from_nanos(u64::from(random.below(20_000))));
        }
    }
    right[i] = good;
}

/// Keeps ports in both ways there are, and calls on meanwhile: with bytes that are staged, with bytes that are posted,
/// and with neither. `scratch` has `2 × most` bytes per lane. `right`: of the five messages of each round, those that
/// went as they should; one that needs a port to keep may find none.
#[kernel]
pub fn keeps_and_calls(rounds: u32, most: u32, scratch: &mut [u8], right: &mut [u32]) {
    let i = global_id();
    if i >= right.len() {
        return;
    }
    let lane = i as u32;
    let (data, back) = scratch[i * 2 * most as usize..(i + 1) * 2 * most as usize].split_at_mut(most as usize);
    Random::with_seed(i as u64).fill(data);
    let sum = checksum(data);
    let mut good = 0;
    for n in 0..rounds {
        let expected = Ok((lane, n + 1));
        let started = Stress::start_count(lane, n);
        let port = Port::hold();
        good += u32::from(Stress::turn(lane, data, back) == Ok(sum) && back.iter().rev().eq(data.iter()));
        good += u32::from(Stress::post_sum(lane, sum, data).is_ok());
        good += u32::from(Stress::count(lane, n) == expected);
        good += u32::from(match port {
            Ok(mut port) => Stress::count_on(&mut port, lane, n) == expected,
            Err(error) => error == CallError::Busy,
        });
        good += u32::from(match started {
            Ok(pending) => pending.wait() == expected,
            Err(error) => error == CallError::Busy,
        });
    }
    right[i] = good;
}

/// How many words are locked: `states` are the words of a buffer's ports, whose lowest bit is the lock; `locks` those
/// of its staging slots.
#[kernel]
pub fn counts_locks(states: *const u64, ports: u32, locks: *const u32, slots: u32, held: &mut [u32]) {
    // SAFETY: the addresses and numbers are those of the buffer's descriptor, and no other kernel runs.
    unsafe {
        held[0] = (0..ports).filter(|port| states.add(*port as usize).read_volatile() & 1 != 0).count() as u32;
        held[1] = (0..slots).filter(|slot| locks.add(*slot as usize).read_volatile() != 0).count() as u32;
    }
}
