//! Calls that a wave makes together.

use behaviours_services::Together;
use hostcall::prelude::*;
use hostcall::wave;

use crate::code;

/// What lane `i` puts into a block.
fn block<const N: usize>(i: usize) -> [u32; N] {
    core::array::from_fn(|k| (i as u32) << 8 | k as u32)
}

/// A call of each size by the lanes of each wave whose bit of `mask` is set. `results`, for each lane: the number that
/// each call was given by the host, and what the first lane's arguments were seen to be.
#[kernel]
pub fn together_sizes(mask: u64, results: &mut [[u64; 10]]) {
    let i = global_id();
    if mask >> wave::lane_id() & 1 == 0 {
        return;
    }
    let calls = [
        Together::none_together().map(|call| (call, 0)),
        Together::one_together(i as u32),
        Together::two_together((i as u64) << 32 | 7),
        Together::sixteen_together(block(i)),
        Together::thirty_together(block(i)),
    ];
    for (k, call) in calls.into_iter().enumerate() {
        let (call, seen) = call.unwrap_or_else(|error| (code(error), u64::MAX));
        results[i][2 * k] = call;
        results[i][2 * k + 1] = seen;
    }
}

/// The same size over a port that is held, `rounds` times. `results`, for each lane: how often number and argument were
/// right.
#[kernel]
pub fn together_held(rounds: u32, results: &mut [u32]) -> Result<(), CallError> {
    let i = global_id();
    let lanes = wave::Converged::here();
    let mut port = Port::hold()?;
    let mut last = 0;
    for n in 0..rounds {
        let (call, seen) = Together::sixteen_together_on(&mut port, block(i + n as usize))?;
        let first = lanes.broadcast(i as u64) + u64::from(n);
        results[i] += u32::from(call > last && seen == first && lanes.broadcast(call) == call);
        last = call;
        Together::note_together_on(&mut port, (i as u64) << 32 | u64::from(n))?;
    }
    Ok(())
}

/// Posts of the lanes of each wave whose bit of `mask` is set, of numbers and of texts.
#[kernel]
pub fn together_posts(mask: u64) -> Result<(), CallError> {
    let i = global_id();
    if mask >> wave::lane_id() & 1 == 1 {
        Together::note_together(i as u64)?;
        Together::say_together(["zero", "one", "two", "three"][i % 4])?;
    }
    Ok(())
}

/// The first `len` bytes of `data`, moved on by the wave's number, are turned round into the wave's part of `back`; the
/// lanes of `mask` take part. `results`, for each lane: the number of the call, and how many of the bytes that it then
/// looked at were right.
#[kernel]
pub fn together_slices(mask: u64, len: u32, data: &[u8], back: *mut u8, results: &mut [[u64; 2]]) {
    let i = global_id();
    if mask >> wave::lane_id() & 1 == 0 {
        return;
    }
    let lanes = wave::Converged::here();
    let (wave, len) = (wave_index(), len as usize);
    let data = &data[wave..wave + len];
    // SAFETY: the host passes `len` bytes for each wave; of its lanes only the first has a reference to them while the
    // host writes them.
    let into = if lanes.leads() { unsafe { core::slice::from_raw_parts_mut(back.add(wave * len), len) } } else { &mut [] };
    let call = Together::turn_together(data, into).unwrap_or_else(code);
    // SAFETY: as above; nobody writes them any more.
    let turned = unsafe { core::slice::from_raw_parts(back.add(wave * len), len) };
    results[i] = [call, turned.iter().zip(data.iter().rev()).filter(|(a, b)| a == b).count() as u64];
}

/// Slices on the first lane's own stack, there and back. `results`, for each lane: whether the call succeeded; the
/// first lane's bytes are right.
#[kernel]
pub fn together_own_stack(len: u32, results: &mut [u64]) {
    let i = global_id();
    let lanes = wave::Converged::here();
    let own: [u8; 300] = core::array::from_fn(|k| (i + k) as u8);
    let mut back = [0; 300];
    let len = len as usize;
    let call = Together::turn_together(&own[..len], &mut back[..len]);
    let right = !lanes.leads() || back[..len].iter().eq(own[..len].iter().rev());
    results[i] = match call {
        Ok(_) => right.into(),
        Err(error) => code(error),
    };
}

/// Calls whose handler fails if the first lane's number is odd; the two halves of a wave call one after another.
#[kernel]
pub fn together_errors(results: &mut [u64]) {
    let i = global_id();
    // The upper half calls, with an odd number of its first lane.
    results[i] =
        if wave::lane_id() < wave::wave_size() / 2 { 0 } else { Together::picky_together(wave::lane_id() + 1).unwrap_or_else(code) };
}

/// A slice larger than anything that a message or a staging slot holds, and after it one that fits.
#[kernel]
pub fn together_too_large(data: &[u8], results: &mut [[u64; 2]]) {
    let i = global_id();
    results[i][0] = Together::take_together(data).unwrap_or_else(code);
    results[i][1] = Together::take_together(&data[..100]).unwrap_or_else(code);
}
