//! What a thread allocates, so that a target can say how much is too much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// The system's memory, counted by thread.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(live: isize, taken: usize) {
    LIVE.set(LIVE.get() + live);
    TAKEN.set(TAKEN.get().wrapping_add(taken));
}

// SAFETY: all four do what `System` does, and count; the counters allocate nothing and have no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, layout.size());
        // SAFETY: the caller's promise is `System`'s.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as isize), 0);
        // SAFETY: as above; `ptr` came from `System`.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize, size);
        // SAFETY: as above; `ptr` came from `System`.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// Bytes that this thread has allocated and not freed. (What one thread allocates and another frees counts for both.)
pub fn live() -> isize {
    LIVE.get()
}

/// Bytes that this thread has allocated so far, freed or not.
pub fn taken() -> usize {
    TAKEN.get()
}
