//! Copies and fills that the compiler makes: of values, of what a `Vec` is cloned or grows into, of memory that is
//! filled.
//!
//! LLVM's NVIDIA back end makes a loop over single bytes of each, by one lane. The linker calls these functions instead
//! (`hostcall-build`, `copies`), which go in pieces of 16 bytes and, where there is much to do, have the other lanes of
//! the thread's wave help.

use hostcall_device::__runtime as device;

/// `memcpy` and `memmove`.
///
/// # Safety
/// `from` is valid for reads of `bytes` bytes, and `to` for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hostcall_copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { device::move_all(to as u64, from as u64, bytes as u64) };
}

/// `memset`.
///
/// # Safety
/// `to` is valid for writes of `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hostcall_fill(to: *mut u8, byte: u32, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { device::fill_all(to as u64, byte as u8, bytes as u64) };
}
