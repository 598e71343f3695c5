//! Allocators of the device: ours, and on NVIDIA the one that CUDA has in kernels.

extern crate alloc;

use alloc::alloc::{Layout, alloc as allocate, dealloc};
use hostcall::kernel;
use hostcall::wave::global_id;

/// Sizes from 16 to 512, as an xorshift generator draws them.
struct Sizes(u32);

impl Sizes {
    #[inline(always)]
    fn new() -> Self {
        Self((global_id() as u32).wrapping_mul(0x9e37_79b9) | 1)
    }

    #[inline(always)]
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        16 + (self.0 % 497) as usize
    }
}

/// Uses a block, so that no compiler can do without it. 1 if it holds what was written.
///
/// # Safety
/// `block` is valid for `size` bytes, at least 1.
#[inline(always)]
unsafe fn touch(block: *mut u8, size: usize, with: u8) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        block.write_volatile(with);
        block.add(size - 1).write_volatile(with);
        u64::from(block.read_volatile() == with)
    }
}

/// Every lane allocates and frees `pairs` blocks of 16 to 512 bytes, one after another. `right`, for each lane: how
/// many it could use.
#[kernel]
pub fn heap_pairs(pairs: u32, right: &mut [u32]) {
    let mut sizes = Sizes::new();
    let mut sum = 0;
    for i in 0..pairs {
        let size = sizes.next();
        // SAFETY: no layout of these is invalid or empty, and the block is used within its size, and freed once.
        unsafe {
            let layout = Layout::from_size_align_unchecked(size, 16);
            let block = allocate(layout);
            if !block.is_null() {
                sum += touch(block, size, i as u8);
                dealloc(block, layout);
            }
        }
    }
    right[global_id()] = sum as u32;
}

/// The same with CUDA's own allocator.
#[cfg(target_arch = "nvptx64")]
#[kernel]
pub fn heap_pairs_cuda(pairs: u32, right: &mut [u32]) {
    unsafe extern "C" {
        fn malloc(size: usize) -> *mut u8;
        fn free(block: *mut u8);
    }
    let mut sizes = Sizes::new();
    let mut sum = 0;
    for i in 0..pairs {
        let size = sizes.next();
        // SAFETY: the block is used within its size, and freed once.
        unsafe {
            let block = malloc(size);
            if !block.is_null() {
                sum += touch(block, size, i as u8);
                free(block);
            }
        }
    }
    right[global_id()] = sum as u32;
}
