//! Allocators that programs bring along: jemalloc and mimalloc, under the names that the crates for them call
//! (`tikv-jemalloc-sys` 0.5 to 0.7, prefixed; `libmimalloc-sys` 0.1). Many programs choose one of them where the
//! system's allocator is slow, as musl's is. Their C is neither compiled nor linked (`hostcall-build`,
//! `stdlib::natives`); what they ask for is the device heap's, as C's own functions.
//!
//! A block has as many usable bytes as were asked for. None grows in place.

use crate::memory::{c_block, c_size, libc_calloc, libc_free, libc_malloc, libc_posix_memalign, libc_realloc, moved};
use core::ptr::null_mut;

/// jemalloc's flags: the logarithm of the alignment in the low six bits, and a bit for zeros. Source: jemalloc(3),
/// `MALLOCX_LG_ALIGN` and `MALLOCX_ZERO`.
const LG_ALIGN: i32 = 0x3f;
const ZERO: i32 = 0x40;

fn alignment(flags: i32) -> usize {
    1 << (flags & LG_ALIGN)
}

/// A new block with the contents of `block`, which is given back; or null, and `block` stays.
///
/// # Safety
/// `block` came from these functions or C's, and is not used again unless this returns null.
unsafe fn resized(block: *mut u8, size: usize, align: usize, zeroed: bool) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe { moved(block, c_block(size, align, zeroed), size) }
}

/// jemalloc's `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn libc__rjem_malloc(size: usize) -> *mut u8 {
    libc_malloc(size)
}

/// jemalloc's `calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn libc__rjem_calloc(count: usize, size: usize) -> *mut u8 {
    libc_calloc(count, size)
}

/// jemalloc's `realloc`.
///
/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_realloc(block: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe { libc_realloc(block, size) }
}

/// jemalloc's `posix_memalign`.
///
/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_posix_memalign(into: *mut *mut u8, align: usize, size: usize) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_posix_memalign(into, align, size) }
}

/// jemalloc's `free`.
///
/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_free(block: *mut u8) {
    // SAFETY: the caller's.
    unsafe { libc_free(block) }
}

/// jemalloc's `mallocx`: a block as the flags say.
#[unsafe(no_mangle)]
pub extern "C" fn libc__rjem_mallocx(size: usize, flags: i32) -> *mut u8 {
    c_block(size, alignment(flags), flags & ZERO != 0)
}

/// jemalloc's `rallocx`: a block of another size with the same contents.
///
/// # Safety
/// `block` came from these functions, and is not used again unless this returns null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_rallocx(block: *mut u8, size: usize, flags: i32) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe { resized(block, size, alignment(flags), flags & ZERO != 0) }
}

/// jemalloc's `xallocx`: the block's size after it was asked to grow where it is, which it does not.
///
/// # Safety
/// `block` came from these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_xallocx(block: *mut u8, _size: usize, _extra: usize, _flags: i32) -> usize {
    // SAFETY: the caller's.
    unsafe { c_size(block) }
}

/// jemalloc's `sallocx`: a block's size.
///
/// # Safety
/// `block` came from these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_sallocx(block: *const u8, _flags: i32) -> usize {
    // SAFETY: the caller's.
    unsafe { c_size(block.cast_mut()) }
}

/// jemalloc's `malloc_usable_size`: a block's size; 0 for null.
///
/// # Safety
/// `block` is null or came from these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_malloc_usable_size(block: *const u8) -> usize {
    // SAFETY: the caller's.
    if block.is_null() { 0 } else { unsafe { c_size(block.cast_mut()) } }
}

/// jemalloc's `nallocx`: the size that a block of `mallocx` would have.
#[unsafe(no_mangle)]
pub extern "C" fn libc__rjem_nallocx(size: usize, _flags: i32) -> usize {
    size
}

/// jemalloc's `dallocx`: gives a block back.
///
/// # Safety
/// As `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_dallocx(block: *mut u8, _flags: i32) {
    // SAFETY: the caller's.
    unsafe { libc_free(block) }
}

/// jemalloc's `sdallocx`: gives a block of a known size back.
///
/// # Safety
/// As `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc__rjem_sdallocx(block: *mut u8, _size: usize, _flags: i32) {
    // SAFETY: the caller's.
    unsafe { libc_free(block) }
}

/// mimalloc's `malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mi_malloc(size: usize) -> *mut u8 {
    libc_malloc(size)
}

/// mimalloc's `malloc`, filled with zeros.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mi_zalloc(size: usize) -> *mut u8 {
    libc_calloc(1, size)
}

/// mimalloc's `realloc`.
///
/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mi_realloc(block: *mut u8, size: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe { libc_realloc(block, size) }
}

/// A block of mimalloc's that is aligned.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mi_malloc_aligned(size: usize, align: usize) -> *mut u8 {
    if align.is_power_of_two() { c_block(size, align, false) } else { null_mut() }
}

/// A block of mimalloc's that is aligned and filled with zeros.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mi_zalloc_aligned(size: usize, align: usize) -> *mut u8 {
    if align.is_power_of_two() { c_block(size, align, true) } else { null_mut() }
}

/// Another size for a block of mimalloc's that is aligned.
///
/// # Safety
/// As C's `realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mi_realloc_aligned(block: *mut u8, size: usize, align: usize) -> *mut u8 {
    // SAFETY: the caller's.
    if align.is_power_of_two() { unsafe { resized(block, size, align, false) } } else { null_mut() }
}

/// mimalloc's `free`.
///
/// # Safety
/// As C's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mi_free(block: *mut u8) {
    // SAFETY: the caller's.
    unsafe { libc_free(block) }
}

/// The size of a block of mimalloc's; 0 for null.
///
/// # Safety
/// `block` is null or came from these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mi_usable_size(block: *const u8) -> usize {
    // SAFETY: the caller's.
    if block.is_null() { 0 } else { unsafe { c_size(block.cast_mut()) } }
}
