//! How a thread, or a kernel's lane, begins and ends.

use crate::{lane, output, tls};
use hostcall_device::__runtime as device;

/// The thread on this lane ends: its thread-local values are dropped, and what it has kept is written out.
pub(crate) fn end() {
    tls::run_destructors();
    output::finish();
    lane::forget();
}

/// A lane of a `#[kernel]` begins.
#[unsafe(no_mangle)]
pub extern "C" fn sys_lane_enter() {
    lane::begin_kernels();
    #[cfg(target_arch = "nvptx64")]
    device::begin_lane();
}

/// A lane of a `#[kernel]` ends.
#[unsafe(no_mangle)]
pub extern "C" fn sys_lane_leave() {
    if !lane::is_bare_kernels() {
        end();
    }
}

/// The end of a lane whose kernel ends: for the copy of the device library that a program has.
#[unsafe(no_mangle)]
pub extern "C" fn sys_lane_end() -> ! {
    device::end_lane()
}

/// A panic in a lane of a kernel, in words: the host learns which lanes, and ends the kernel. Returns at once in a
/// thread of the program, whose panic is told as on any other system.
///
/// # Safety
/// `file` and `message` are valid for reads of their lengths and hold UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_lane_panicked(
    file: *const u8,
    file_len: usize,
    line: u32,
    column: u32,
    message: *const u8,
    message_len: usize,
) {
    if !lane::is_kernels() {
        return;
    }
    // SAFETY: the caller's.
    let [file, message] = [(file, file_len), (message, message_len)]
        .map(|(text, len)| unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(text, len)) });
    device::panicked(file, [line, column], message)
}
