//! Large slices, and what the bus itself can do.
//!
//! A wave moves a slice together: the message is one, and all lanes copy (as [`hostcall::fs::File::read_at_wave`]
//! does).

use bench_services::{Bench, digest, filling};
use hostcall::wave::{Converged, global_id, global_size, wave_index, wave_size};
use hostcall::{CallError, kernel};

/// Numbers of the chunks that are the calling wave's.
#[inline(always)]
pub(crate) fn own_chunks(chunks: usize) -> impl Iterator<Item = usize> {
    (wave_index()..chunks).step_by(global_size() / wave_size() as usize)
}

/// All waves pass `data` to the host, in chunks. `right`, for each wave: bytes of which the host gave the right digest.
#[kernel]
pub fn bulk_to_host(chunk: u32, data: &[u8], right: &mut [u64]) -> Result<(), CallError> {
    let lanes = Converged::here();
    let chunk = chunk as usize;
    let mut sum = 0;
    for i in own_chunks(data.len() / chunk) {
        let own = &data[i * chunk..(i + 1) * chunk];
        // (After a call lanes need not go on at once and together.)
        lanes.sync();
        if Bench::take_together(own)? == digest(own) {
            sum += own.len() as u64;
        }
    }
    if lanes.leads() {
        right[wave_index()] = sum;
    }
    Ok(())
}

/// All waves have `len` bytes at `data` filled by the host, in chunks. `right`, for each wave: bytes of chunks that
/// begin and end right.
#[kernel]
pub fn bulk_to_kernel(chunk: u32, data: *mut u8, len: u64, right: &mut [u64]) -> Result<(), CallError> {
    let lanes = Converged::here();
    let chunk = chunk as usize;
    let mut sum = 0;
    for i in own_chunks(len as usize / chunk) {
        // SAFETY: the host passes device memory of `len` bytes, of which chunk `i` is this wave's, and of its lanes
        // only the first has a reference to it.
        let own = if lanes.leads() { unsafe { core::slice::from_raw_parts_mut(data.add(i * chunk), chunk) } } else { &mut [] };
        lanes.sync();
        let given = Bench::give_together(i as u32, own)?;
        let expected = filling(i as u32);
        if given == own.len() as u64 && own.first() == Some(&expected) && own.last() == Some(&expected) {
            sum += given;
        }
    }
    if lanes.leads() {
        right[wave_index()] = sum;
    }
    Ok(())
}

/// All lanes store to host memory, 16 bytes at a time.
#[kernel]
pub fn bus_to_host(to: *mut u128, count: u64) {
    let mut at = global_id();
    while at < count as usize {
        // SAFETY: the host passes `count` elements, and element `at` is this lane's.
        unsafe { to.add(at).write(at as u128) };
        at += global_size();
    }
}

/// All lanes load from host memory, each four times 16 bytes before it waits for the first. `out` is written only to
/// have the loads made.
#[kernel]
pub fn bus_to_kernel(from: *const u128, count: u64, out: *mut u128) {
    let (mut at, step, count) = (global_id(), global_size(), count as usize);
    let mut all = 0;
    while at + step * 3 < count {
        // SAFETY: all four are below `count`, the elements that the host passes, and nobody writes them.
        let four =
            unsafe { (from.add(at).read(), from.add(at + step).read(), from.add(at + step * 2).read(), from.add(at + step * 3).read()) };
        all ^= four.0 ^ four.1 ^ four.2 ^ four.3;
        at += step * 4;
    }
    while at < count {
        // SAFETY: as above.
        all ^= unsafe { from.add(at).read() };
        at += step;
    }
    if all == u128::MAX - 7 {
        // SAFETY: the host passes one element.
        unsafe { out.write(all) };
    }
}

/// One lane passes the same data to the host, `calls` times. `right`: how often the host gave the right digest.
#[kernel]
pub fn call_bytes(calls: u32, data: &[u8], right: &mut [u64]) -> Result<(), CallError> {
    let mut sum = 0;
    for _ in 0..calls {
        sum += u64::from(Bench::take(data)? == digest(data));
    }
    right[0] = sum;
    Ok(())
}
