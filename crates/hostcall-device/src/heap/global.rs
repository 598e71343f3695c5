//! The heap of this program, as Rust's global allocator.

use super::lanes::DeviceLanes;
use super::{CHUNK, Heap, class_of};
use core::alloc::{GlobalAlloc, Layout};

/// How full the device heap is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapStats {
    /// Bytes of all blocks in use, each rounded up to its size class.
    pub used_bytes: usize,
    /// Bytes that could be in use, the heap's own tables not counted.
    pub total_bytes: usize,
}

fn heap() -> Option<Heap<DeviceLanes>> {
    let d = crate::context::descriptor();
    // SAFETY: the host gave the program this zeroed memory as its heap, and every kernel of the program
    // comes here for it with the same numbers.
    unsafe { Heap::new(DeviceLanes, d.heap as usize, d.heap_bytes as usize) }
}

/// How full the device heap is. Looks at every 64 KiB of it, while others go on allocating.
pub fn stats() -> HeapStats {
    heap().map_or_else(HeapStats::default, |heap| heap.count())
}

/// The number of the size class that a request belongs to: 0 is the smallest. Each block of a class serves every
/// request of it. `None` for requests above the largest.
pub fn class(layout: Layout) -> Option<u32> {
    class_of(layout.size(), layout.align())
}

/// Whether an allocation stays where it is when its size changes: unless it grows out of its class, or shrinks so far
/// that it wastes a chunk or half of itself.
pub fn stays(layout: Layout, size: usize) -> bool {
    let room = Heap::<DeviceLanes>::usable(layout.size(), layout.align());
    size <= room && (size > room / 2 || room <= 64) && room - size < CHUNK
}

/// Takes up to `want` blocks of a class from the device heap for the calling lane alone, by as many atomics as one
/// takes: the first, and how many. Each holds the address of the next, the last one null. They are given back one by
/// one, as blocks of [`DeviceHeap`].
#[inline(never)]
pub fn take(class: u32, want: u32) -> Option<(*mut *mut u8, u32)> {
    heap()?.take(class, want)
}

/// Rust's global allocator over the device heap. Its size is the host's `.heap(bytes)` or `--heap`.
#[derive(Debug)]
pub struct DeviceHeap;

// SAFETY: `Heap` hands out each block to one lane until it is freed, with at least the size and alignment
// asked for: a block lies at a multiple of its class's size, which `class_of` chose as a multiple of the alignment.
unsafe impl GlobalAlloc for DeviceHeap {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        heap().map_or(core::ptr::null_mut(), |heap| heap.alloc(layout.size(), layout.align()))
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        if let Some(heap) = heap() {
            // SAFETY: the caller's: `block` came from `alloc`, and is done with.
            unsafe { heap.free(block) };
        }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        // SAFETY: the caller's.
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            // SAFETY: the block has `size` bytes.
            unsafe { crate::copy::zero_block(block, size) };
        }
        block
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if stays(layout, size) {
            return block;
        }
        // SAFETY: the caller's: alignment stays valid, and `size`, rounded up to it, does not overflow.
        let to = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !to.is_null() {
            let len = size.min(layout.size());
            // SAFETY: both are valid for the lesser size, and different blocks of the heap.
            unsafe {
                crate::copy::move_block(to, block, len);
                self.dealloc(block, layout);
            }
        }
        to
    }
}

#[cfg(all(hostcall_device, not(test), not(target_vendor = "hostcall")))]
#[global_allocator]
static HEAP: DeviceHeap = DeviceHeap;
