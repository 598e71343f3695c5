//! Blocks that a thread keeps: what it gave back and takes again without asking the device heap.
//!
//! The heap is shared by all lanes of the device, so each of its blocks costs atomics and fences: microseconds for a
//! thread, which is one lane. A thread keeps a list of free blocks of each small size class, which nobody else touches.
//! An empty list is filled by several blocks that the heap gives out together; a full one gives further blocks back. A
//! thread that ends gives all of them back, and so does one that finds the heap exhausted.
//!
//! Lanes of a `#[kernel]` keep none: there are too many of them, and the heap serves a whole wave at once.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ptr::null_mut;
use hostcall_device::heap::{self, DeviceHeap};

use crate::lane;

/// Classes of which blocks are kept: up to 1024 bytes.
const CLASSES: usize = 12;
/// Of those up to 128 bytes a thread keeps so many, of the others fewer: 19 KB in all, at most.
const SMALL: usize = 6;
const MOST: [u32; 2] = [16, 4];

/// Of each class, the first block; each holds the address of the next. And how many there are.
pub(crate) struct Kept([Cell<*mut *mut u8>; CLASSES], [Cell<u32>; CLASSES]);

fn most(class: usize) -> u32 {
    MOST[usize::from(class >= SMALL)]
}

impl Kept {
    pub(crate) const fn new() -> Self {
        Self([const { Cell::new(null_mut()) }; CLASSES], [const { Cell::new(0) }; CLASSES])
    }

    /// A block of a class, from the heap if none is kept; null if there is no room.
    fn take(&self, class: usize) -> *mut u8 {
        let (first, count) = (&self.0[class], &self.1[class]);
        let mut block = first.get();
        if block.is_null() {
            let Some((taken, several)) = heap::take(class as u32, most(class) / 2) else { return null_mut() };
            block = taken;
            count.set(several);
        }
        count.set(count.get() - 1);
        // SAFETY: a block of this thread's, which holds the address of the next.
        first.set(unsafe { block.read() }.cast());
        block.cast()
    }

    /// Keeps a block of a class, if there is room for it.
    fn keep(&self, class: usize, block: *mut u8) -> bool {
        let (first, count) = (&self.0[class], &self.1[class]);
        if count.get() >= most(class) {
            return false;
        }
        let block = block.cast::<*mut u8>();
        // SAFETY: a block that nobody uses, of 16 bytes at least and aligned to them.
        unsafe { block.write(first.get().cast()) };
        first.set(block);
        count.set(count.get() + 1);
        true
    }

    /// Gives all blocks back to the heap; whether there were any.
    #[inline(never)]
    pub(crate) fn give_back(&self) -> bool {
        let mut any = false;
        for (first, count) in self.0.iter().zip(&self.1) {
            let mut block = first.replace(null_mut());
            count.set(0);
            while !block.is_null() {
                any = true;
                // SAFETY: a block of this thread's, read before it is given back. The heap knows its size.
                unsafe {
                    let next = block.read().cast();
                    DeviceHeap.dealloc(block.cast(), Layout::new::<u8>());
                    block = next;
                }
            }
        }
        any
    }
}

/// The class of a request, if it is one of which threads keep blocks. A block that was asked for so has the size of its
/// class, and no other.
fn class(layout: Layout) -> Option<usize> {
    heap::class(layout).map(|class| class as usize).filter(|class| *class < CLASSES)
}

/// What the calling lane keeps, if it is a thread.
fn kept() -> Option<&'static Kept> {
    (!lane::is_kernels()).then(|| &lane::here().kept)
}

/// What `ask` gives, or, if that is null because this thread keeps what is missing, gives when it is asked again.
fn insisted(ask: impl Fn() -> *mut u8) -> *mut u8 {
    loop {
        let block = ask();
        if !block.is_null() || !lane::known().is_some_and(|lane| lane.kept.give_back()) {
            return block;
        }
    }
}

/// Memory, or null.
#[inline(never)]
pub(crate) fn alloc(layout: Layout) -> *mut u8 {
    insisted(|| match (class(layout), kept()) {
        (Some(class), Some(kept)) => kept.take(class),
        // SAFETY: the device heap serves a size of 0 as it does 1.
        _ => unsafe { DeviceHeap.alloc(layout) },
    })
}

/// As [`alloc`], filled with zeros.
pub(crate) fn alloc_zeroed(layout: Layout) -> *mut u8 {
    if class(layout).is_none() {
        // SAFETY: as in `alloc`.
        return insisted(|| unsafe { DeviceHeap.alloc_zeroed(layout) });
    }
    let block = alloc(layout);
    if !block.is_null() {
        // SAFETY: the block has so many bytes.
        unsafe { block.write_bytes(0, layout.size()) };
    }
    block
}

/// Memory of `size` bytes with the contents of `block`, which is given back; or null, and `block` stays.
///
/// # Safety
/// As for [`dealloc`]; `size`, rounded up to the layout's alignment, is one that a layout can have.
#[inline(never)]
pub(crate) unsafe fn realloc(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller's.
    let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
    let same = class(new) == class(layout);
    if same && (class(new).is_some() || heap::stays(layout, size)) {
        return block;
    }
    let to = alloc(new);
    if !to.is_null() {
        // SAFETY: both are valid for the lesser size, and different blocks of the heap; the old one is the caller's to
        // give back.
        unsafe {
            to.copy_from_nonoverlapping(block, size.min(layout.size()));
            dealloc(block, layout);
        }
    }
    to
}

/// Gives memory back.
///
/// # Safety
/// `block` came from these functions with this layout, and nobody uses it any more.
#[inline(never)]
pub(crate) unsafe fn dealloc(block: *mut u8, layout: Layout) {
    let keeps = |class| kept().is_some_and(|kept| kept.keep(class, block));
    if !class(layout).is_some_and(keeps) {
        // SAFETY: the caller's.
        unsafe { DeviceHeap.dealloc(block, layout) };
    }
}
