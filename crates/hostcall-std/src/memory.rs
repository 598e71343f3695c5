//! Memory: the device heap, and what threads keep of it.

use crate::abi::errno::{EINVAL, ENOMEM};
use crate::blocks;
use core::alloc::Layout;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

/// Not 0 once the heap had no room for something.
static EXHAUSTED: AtomicU32 = AtomicU32::new(0);

/// Notes that there was no room, if there was none.
fn noted(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        // Relaxed, as the load: it is looked at when the program ends, by the lane that ends it for want of memory if
        // by any.
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
        Ok(layout) => noted(blocks::alloc(layout)),
        Err(_) => null_mut(),
    }
}

/// As [`sys_malloc`], filled with zeros.
#[unsafe(no_mangle)]
pub extern "C" fn sys_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        Ok(layout) => noted(blocks::alloc_zeroed(layout)),
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
        (Ok(layout), Ok(_)) => noted(unsafe { blocks::realloc(block, layout, new_size) }),
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
        unsafe { blocks::dealloc(block, layout) };
    }
}

/// Before each block of C's: its size as a layout's. So blocks are aligned to 16 bytes.
const HEAD: usize = 16;

/// A block of C's of `size` bytes, aligned to `align` if that is more than 16; null, and an error number, if there is
/// no room.
pub(crate) fn c_block(size: usize, align: usize, zeroed: bool) -> *mut u8 {
    let head = HEAD.max(align);
    let Some(all) = size.checked_add(head).filter(|all| isize::try_from(*all).is_ok()) else { return no_memory() };
    let base = if zeroed { sys_alloc_zeroed(all, head) } else { sys_malloc(all, head) };
    if base.is_null() {
        return no_memory();
    }
    // SAFETY: within the block, which has `head` bytes in front of what the caller gets.
    unsafe {
        let block = base.add(head);
        block.cast::<usize>().sub(1).write(all);
        block.cast::<usize>().sub(2).write(head);
        block
    }
}

fn no_memory() -> *mut u8 {
    crate::lane::here().set_errno(ENOMEM);
    null_mut()
}

/// Where a block of C's begins, and its layout's size and alignment.
///
/// # Safety
/// `block` came from [`c_block`] and was not given back.
unsafe fn c_layout(block: *mut u8) -> (*mut u8, usize, usize) {
    // SAFETY: written there by `c_block`.
    unsafe {
        let (all, head) = (block.cast::<usize>().sub(1).read(), block.cast::<usize>().sub(2).read());
        (block.sub(head), all, head)
    }
}

/// How many bytes of a block of C's are the caller's.
///
/// # Safety
/// `block` came from [`c_block`] and was not given back.
pub(crate) unsafe fn c_size(block: *mut u8) -> usize {
    // SAFETY: the caller's.
    let (_, all, head) = unsafe { c_layout(block) };
    all - head
}

/// Moves the contents of `block` to `new`, of `size` bytes, and gives `block` back; if `new` is null, nothing is done.
/// What `new` is.
///
/// # Safety
/// Each is null or came from [`c_block`]; `block` is not used again unless `new` is null.
pub(crate) unsafe fn moved(block: *mut u8, new: *mut u8, size: usize) -> *mut u8 {
    if !block.is_null() && !new.is_null() {
        // SAFETY: the caller's; as much is copied as both have.
        unsafe {
            new.copy_from_nonoverlapping(block, c_size(block).min(size));
            libc_free(block);
        }
    }
    new
}

/// C's `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn libc_malloc(size: usize) -> *mut u8 {
    c_block(size, HEAD, false)
}

/// C's `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn libc_calloc(count: usize, size: usize) -> *mut u8 {
    count.checked_mul(size).map_or_else(no_memory, |bytes| c_block(bytes, HEAD, true))
}

/// C's `realloc`.
///
/// # Safety
/// `block` is null or came from these functions, and is not used again unless this returns null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_realloc(block: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe { moved(block, c_block(size, HEAD, false), size) }
}

/// C's `aligned_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn libc_aligned_alloc(align: usize, size: usize) -> *mut u8 {
    if align.is_power_of_two() { c_block(size, align, false) } else { null_mut() }
}

/// C's `posix_memalign`: 0, or an error number.
///
/// # Safety
/// `into` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_posix_memalign(into: *mut *mut u8, align: usize, size: usize) -> i32 {
    if !align.is_power_of_two() || align < size_of::<usize>() {
        return EINVAL;
    }
    let block = c_block(size, align, false);
    if block.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller's.
    unsafe { into.write(block) };
    0
}

/// C's `free`.
///
/// # Safety
/// `block` is null or came from these functions, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_free(block: *mut u8) {
    if !block.is_null() {
        // SAFETY: the caller's.
        unsafe {
            let (base, all, head) = c_layout(block);
            sys_free(base, all, head);
        }
    }
}
