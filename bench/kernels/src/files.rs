//! A file read by all waves.

use crate::bulk::own_chunks;
use core::mem::MaybeUninit;
use hostcall::fs::{Error, File};
use hostcall::kernel;
use hostcall::wave::{Converged, group_index, local_index, sync_workgroup, wave_index};

/// Room for each workgroup's file, in units of 8 bytes.
const _: () = assert!(size_of::<File>() == 8);

/// All waves read the file at `path`, `len` bytes of it, to `into`, in chunks. Each workgroup opens it once, and keeps
/// it in its element of `files`. `read`, for each wave: bytes read.
#[kernel]
pub fn file_read(path: &[u8], chunk: u32, into: *mut u8, len: u64, files: *mut MaybeUninit<File>, read: &mut [u64]) -> Result<(), Error> {
    // SAFETY: the host passes one element for each workgroup.
    let slot = unsafe { &mut *files.add(group_index()) };
    if local_index() == 0 {
        // The host refuses an empty path, as it does any that is not there.
        slot.write(File::open(core::str::from_utf8(path).unwrap_or_default())?);
    }
    sync_workgroup();
    // SAFETY: written before the barrier, and dropped behind the next one.
    let file = unsafe { slot.assume_init_ref() };
    let lanes = Converged::here();
    let chunk = chunk as usize;
    let mut sum = 0;
    for i in own_chunks((len as usize).div_ceil(chunk)) {
        let at = i * chunk;
        // SAFETY: the host passes device memory of `len` bytes, of which this part is this wave's. All of its lanes
        // have the slice, as `read_at_wave` wants.
        let own = unsafe { core::slice::from_raw_parts_mut(into.add(at), chunk.min(len as usize - at)) };
        sum += file.read_at_wave(at as u64, own)? as u64;
    }
    if lanes.leads() {
        read[wave_index()] = sum;
    }
    sync_workgroup();
    if local_index() == 0 {
        // SAFETY: initialised above, and no lane uses it any more.
        unsafe { slot.assume_init_drop() };
    }
    Ok(())
}
