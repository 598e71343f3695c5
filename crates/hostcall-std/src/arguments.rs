//! What callers in C hand over, as calls to the host want it.

use crate::abi::errno::EINVAL;
use crate::error::Errno;
use core::ffi::{CStr, c_char};
use core::ops::Range;
use hostcall_device::__runtime as device;
use hostcall_device::wave::Converged;

/// The most bytes that one call should move: what a staging slot holds, shared by the lanes that call together.
pub(crate) fn most() -> usize {
    // A host without staging slots answers with an error whatever does not fit into a message.
    let slot = (device::slot_bytes() as usize).max(1024);
    // There is at least this lane. A division that could panic would be a text and a place in every program.
    (slot.checked_div(Converged::here().count() as usize).unwrap_or(0) & !15).max(16)
}

/// Moves `len` bytes of a file by as many calls as it takes, as Linux moves them by one: until `part`, which is told
/// what of them is next and says how many it moved, moves fewer than it might. How many bytes; an error only if it was
/// the first.
pub(crate) fn whole(len: usize, mut part: impl FnMut(Range<usize>) -> Result<u32, Errno>) -> Result<isize, Errno> {
    let mut done = 0;
    while done < len {
        let wanted = (len - done).min(most());
        match part(done..done + wanted) {
            Ok(moved) => {
                done += wanted.min(moved as usize);
                if (moved as usize) < wanted {
                    break;
                }
            }
            Err(error) if done == 0 => return Err(error),
            // What was moved is told now, and the error at the next call.
            Err(_) => break,
        }
    }
    Ok(done as isize)
}

/// The longest slice.
pub(crate) const LONGEST: usize = isize::MAX as usize;

/// A path as the host wants it.
///
/// # Safety
/// `path` is null or a C string that lives as long as what is done with it.
pub(crate) unsafe fn path<'a>(path: *const c_char) -> Result<&'a [u8], Errno> {
    if path.is_null() {
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's.
    Ok(unsafe { CStr::from_ptr(path) }.to_bytes())
}
