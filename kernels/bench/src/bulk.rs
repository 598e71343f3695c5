//! Large slices, and what the bus itself can do.
//!
//! A wave moves a slice together: its first lane passes the slice, the others take part in the call with nothing of their own, and all of
//! them copy (as [`hostcall::fs::File::read_at_wave`] does).

use bench_services::{Bench, digest, filling};
use hostcall::wave::{Converged, global_id, global_size, wave_index, wave_size};
use hostcall::{CallError, Plain, kernel};

/// 16 bytes, which a lane moves at once.
#[derive(Clone, Copy, Debug, Plain)]
#[repr(C, align(16))]
pub struct Quad([u32; 4]);

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
        let whole = &data[i * chunk..(i + 1) * chunk];
        let own = if lanes.leads() { whole } else { &[] };
        if Bench::take(own)? == digest(own) {
            sum += own.len() as u64;
        }
    }
    if lanes.leads() {
        right[wave_index()] = sum;
    }
    Ok(())
}

/// All waves have `len` bytes at `data` filled by the host, in chunks. `right`, for each wave: bytes of chunks that begin and end right.
#[kernel]
pub fn bulk_to_kernel(chunk: u32, data: *mut u8, len: u64, right: &mut [u64]) -> Result<(), CallError> {
    let lanes = Converged::here();
    let chunk = chunk as usize;
    let mut sum = 0;
    for i in own_chunks(len as usize / chunk) {
        // SAFETY: the host passes device memory of `len` bytes, of which chunk `i` is this wave's, and of its lanes only the
        // first has a reference to it.
        let own = if lanes.leads() { unsafe { core::slice::from_raw_parts_mut(data.add(i * chunk), chunk) } } else { &mut [] };
        let given = Bench::give(i as u32, own)?;
        lanes.sync();
        let expected = filling(i as u32);
        if given == own.len() as u64 && own.first().is_none_or(|byte| *byte == expected) && own.last().is_none_or(|byte| *byte == expected) {
            sum += given;
        }
    }
    if lanes.leads() {
        right[wave_index()] = sum;
    }
    Ok(())
}

/// All lanes store to host memory.
#[kernel]
pub fn bus_to_host(to: *mut Quad, count: u64) {
    let mut at = global_id();
    while at < count as usize {
        // SAFETY: the host passes `count` elements, and element `at` is this lane's.
        unsafe { to.add(at).write(Quad([at as u32; 4])) };
        at += global_size();
    }
}

/// All lanes load from host memory. `out` is written only to have the loads made.
#[kernel]
pub fn bus_to_kernel(from: *const Quad, count: u64, out: &mut [u64]) {
    const UNROLL: usize = 4;
    let (mut at, step) = (global_id(), global_size());
    let mut all = [0u32; 4];
    let mut mix = |quad: Quad| {
        for (all, unit) in all.iter_mut().zip(quad.0) {
            *all ^= unit;
        }
    };
    while at + step * (UNROLL - 1) < count as usize {
        // SAFETY: the host passes `count` elements, all below which nobody writes.
        let quads: [Quad; UNROLL] = core::array::from_fn(|i| unsafe { from.add(at + step * i).read() });
        quads.into_iter().for_each(&mut mix);
        at += step * UNROLL;
    }
    while at < count as usize {
        // SAFETY: as above.
        mix(unsafe { from.add(at).read() });
        at += step;
    }
    if all == [0x5eed_5eed; 4] {
        out[0] = 1;
    }
}
