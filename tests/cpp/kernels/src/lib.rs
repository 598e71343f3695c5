//! Kernels that fill AMD's packets. `tests/cpp/tests/packets.rs` runs them beside the same in C++, `cpp/packets.cu`.
//!
//! Whoever launches one passes a buffer of the form that it names, which a consumer serves until the kernel has ended.
#![no_std]

use core::ffi::c_void;
use hostcall::packets::{hostcall_amd_add_one, hostcall_amd_mail, hostcall_amd_masked, hostcall_amd_preview};
use hostcall::prelude::*;

/// Numbers that look random, and are the same for the host.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Whether a lane takes part in a call, as part of any mask.
fn takes_part(lane: u64, call: u32) -> bool {
    !mix(lane << 16 | u64::from(call)).is_multiple_of(4) || call == 0
}

/// A call through a buffer of some form: stacks (0) or mailboxes (1), as for the kernels in C++, or masked stacks (2).
#[inline(always)]
fn call(buffer: *mut c_void, form: u32, service: u32, words: [u64; 8]) -> Result<[u64; 2], CallError> {
    // SAFETY: as the page says of who launches a kernel.
    unsafe {
        match form {
            0 => hostcall_amd_preview(buffer, service, words),
            1 => hostcall_amd_mail(buffer, service, words),
            _ => hostcall_amd_masked(buffer, service, words),
        }
    }
}

/// Sends up to six words of data, and checks what comes back: their sum, which the handler makes differ from lane to
/// lane, and their number.
#[inline(always)]
fn exchange(buffer: *mut c_void, form: u32, service: u32, lane: u64, number: u32) -> Result<bool, CallError> {
    let number = u64::from(number);
    let (first, count) = (lane << 8 | number, mix(lane + number) % 7);
    let data: [u64; 6] = core::array::from_fn(|i| mix(lane * 64 + number * 8 + i as u64));
    let sum = data.iter().take(count as usize).fold(first, |sum, word| sum.wrapping_add(*word));
    let [a, b, c, d, e, f] = data;
    Ok(call(buffer, form, service, [first, count, a, b, c, d, e, f])? == [sum, count])
}

/// Each lane makes so many calls, or leaves some of them to others; what it counts is how many ended as they should.
#[kernel]
pub fn exchanges(buffer: *mut c_void, form: u32, service: u32, calls: u32, right: &mut [u32]) -> Result<(), CallError> {
    let lane = global_id();
    if lane >= right.len() {
        return Ok(());
    }
    let mut good = 0;
    for number in 0..calls {
        good += u32::from(!takes_part(lane as u64, number) || exchange(buffer, form, service, lane as u64, number)?);
    }
    right[lane] = good;
    Ok(())
}

/// Neighbours of a wave that run together call different services through different buffers.
#[kernel]
pub fn apart(one: *mut c_void, other: *mut c_void, form: u32, service: u32, calls: u32, right: &mut [u32]) -> Result<(), CallError> {
    let lane = global_id();
    if lane >= right.len() {
        return Ok(());
    }
    let buffer = if lane.is_multiple_of(2) { one } else { other };
    let mut good = 0;
    for number in 0..calls {
        good += u32::from(exchange(buffer, form, service + lane as u32 / 2 % 2, lane as u64, number)?);
    }
    right[lane] = good;
    Ok(())
}

/// One call of each lane, and its status.
#[kernel]
pub fn status(buffer: *mut c_void, form: u32, service: u32, codes: &mut [u32]) {
    let lane = global_id();
    if lane < codes.len() {
        let answer = call(buffer, form, service, [lane as u64, 0, 0, 0, 0, 0, 0, 0]);
        codes[lane] = answer.map_or_else(|error| error.to_status().0.0.into(), |_| 0);
    }
}

// The example of docs/reference/amd-packets.md.
/// `mail` is a buffer of mailboxes, which a consumer serves until the kernel has ended.
#[kernel]
pub fn ask(mail: *mut c_void, out: &mut [u64]) -> Result<(), CallError> {
    let i = global_id();
    if i < out.len() {
        // SAFETY: whoever launches the kernel passes such a buffer.
        out[i] = unsafe { hostcall_amd_mail(mail, 77, [i as u64, 1, 42, 0, 0, 0, 0, 0])? }[0];
    }
    Ok(())
}

/// Adds one to a word of the host, so many times, as waves change a stack: the host adds meanwhile.
#[kernel]
pub fn additions(word: *mut u64, times: u32, lanes: u64) {
    if global_id() as u64 >= lanes {
        return;
    }
    for _ in 0..times {
        // SAFETY: a word of the host that is used by atomic operations only, as who launches the kernel promises.
        unsafe { hostcall_amd_add_one(word) };
    }
}
