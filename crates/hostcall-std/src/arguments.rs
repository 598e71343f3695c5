//! What callers in C hand over, as calls to the host want it.

use crate::abi::errno::EINVAL;
use crate::error::Errno;
use core::ffi::{CStr, c_char};
use hostcall_device::__runtime as device;
use hostcall_device::wave::Converged;

/// The most bytes that one call should move: what a staging slot holds, shared by the lanes that call together.
pub(crate) fn most() -> usize {
    // A host without staging slots answers with an error whatever does not fit into a message.
    let slot = (device::slot_bytes() as usize).max(1024);
    ((slot / Converged::here().count() as usize) & !15).max(16)
}

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
