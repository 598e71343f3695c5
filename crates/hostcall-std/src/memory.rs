//! Memory: the device heap.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use hostcall_device::heap::DeviceHeap;

/// Not 0 once the heap had no room for something.
static EXHAUSTED: AtomicU32 = AtomicU32::new(0);

/// Notes that there was no room, if there was none.
fn noted(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        // Relaxed, as the load: it is looked at when the program ends, by the lane that ends it for want of memory if by any.
        EXHAUSTED.store(1, Ordering::Relaxed);
    }
    block
}

/// Whether the heap had no room for something.
pub(crate) fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed) != 0
}

/// Memory of `size` bytes, or null.
#[unsafe(no_mangle)]
pub extern "C" fn sys_malloc(size: usize, align: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        // SAFETY: the device heap serves a size of 0 as it does 1.
        Ok(layout) => noted(unsafe { DeviceHeap.alloc(layout) }),
        Err(_) => null_mut(),
    }
}

/// As [`sys_malloc`].
#[unsafe(no_mangle)]
pub extern "C" fn sys_alloc(size: usize, align: usize) -> *mut u8 {
    sys_malloc(size, align)
}

/// As [`sys_malloc`], filled with zeros.
#[unsafe(no_mangle)]
pub extern "C" fn sys_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        // SAFETY: as in `sys_malloc`.
        Ok(layout) => noted(unsafe { DeviceHeap.alloc_zeroed(layout) }),
        Err(_) => null_mut(),
    }
}

/// Memory of `new_size` bytes with the contents of `block`, which is given back; or null, and `block` stays.
///
/// # Safety
/// `block` is of `size` bytes and came from these functions, with the same `align`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_realloc(block: *mut u8, size: usize, align: usize, new_size: usize) -> *mut u8 {
    match (Layout::from_size_align(size, align), Layout::from_size_align(new_size, align)) {
        // SAFETY: the caller's; the new size is one that a layout can have.
        (Ok(layout), Ok(_)) => noted(unsafe { DeviceHeap.realloc(block, layout, new_size) }),
        _ => null_mut(),
    }
}

/// Gives memory back.
///
/// # Safety
/// `block` is of `size` bytes and came from these functions, with the same `align`; nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_free(block: *mut u8, size: usize, align: usize) {
    if let Ok(layout) = Layout::from_size_align(size, align)
        && !block.is_null()
    {
        // SAFETY: the caller's.
        unsafe { DeviceHeap.dealloc(block, layout) };
    }
}

/// As [`sys_free`].
///
/// # Safety
/// As [`sys_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_dealloc(block: *mut u8, size: usize, align: usize) {
    // SAFETY: the caller's.
    unsafe { sys_free(block, size, align) };
}
