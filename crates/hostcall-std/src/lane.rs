//! What is a thread's own.
//!
//! A thread is a lane: the one of a workgroup that runs a thread of the program, or any of a `#[kernel]`'s, of which
//! there are thousands.
//!
//! A GPU has no thread-local storage: a lane has one word that is its own ([`hostcall_device::__runtime::lane_word`]).
//! It holds the address of the lane's `Lane`, made when it is first needed, in the device heap, because other lanes
//! must be able to wake it and cannot see its stack. So there are as many as there are resident lanes that need one: a
//! kernel's lane gives it back when it ends, and one that never waits, fails or has thread-local values has none.

use alloc::alloc::{Layout, dealloc, handle_alloc_error};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
use hostcall_device::__runtime as device;

use crate::blocks::Kept;

/// A lane's place in a queue of [`futex`](crate::futex). `address` and `next` are the queue's, under its lock.
pub(crate) struct Waiter {
    pub(crate) address: AtomicUsize,
    pub(crate) next: AtomicPtr<Waiter>,
    pub(crate) woken: AtomicU32,
}

impl Waiter {
    pub(crate) const fn new() -> Self {
        Self { address: AtomicUsize::new(0), next: AtomicPtr::new(null_mut()), woken: AtomicU32::new(0) }
    }
}

/// One thread: a lane of a kernel.
#[repr(align(64))]
pub(crate) struct Lane {
    errno: Cell<i32>,
    /// Thread-local values by key, and how many there is room for.
    values: Cell<*mut *mut u8>,
    room: Cell<usize>,
    of_kernel: bool,
    /// The record of its thread: see [`thread`](mod@crate::thread). Null for `main` and for a kernel's lane.
    pub(crate) record: Cell<*mut c_void>,
    /// What a kernel's lane has written to standard output behind its last newline.
    pub(crate) unfinished: Cell<Vec<u8>>,
    /// Memory that its thread gave back and may take again.
    pub(crate) kept: Kept,
    pub(crate) waiter: Waiter,
}

/// The word of a program's thread that has no `Lane` yet.
const THREAD: u64 = 0;
/// The word of a kernel's lane that has no `Lane` yet.
const KERNEL: u64 = 1;

/// Room for thread-local values that a thread begins with.
const FIRST_ROOM: usize = 8;

/// The calling lane's, if it has needed one yet.
pub(crate) fn known() -> Option<&'static Lane> {
    let word = device::lane_word();
    // SAFETY: a word that is neither of the two was set by `here` to a `Lane` that lives until `forget`, which sets
    // another. It is the calling lane's own, and others reach only its `waiter`, which is made for that.
    (word > KERNEL).then(|| unsafe { &*(word as *const Lane) })
}

/// Whether the calling lane is a kernel's, not a thread of the program.
pub(crate) fn is_kernels() -> bool {
    known().map_or_else(|| device::lane_word() == KERNEL, |lane| lane.of_kernel)
}

/// The calling lane's.
pub(crate) fn here() -> &'static Lane {
    known().unwrap_or_else(make)
}

#[cold]
#[inline(never)]
fn make() -> &'static Lane {
    let lane = Box::into_raw(Box::new(Lane {
        errno: Cell::new(0),
        values: Cell::new(null_mut()),
        room: Cell::new(0),
        of_kernel: device::lane_word() == KERNEL,
        record: Cell::new(null_mut()),
        unfinished: Cell::new(Vec::new()),
        kept: Kept::new(),
        waiter: Waiter::new(),
    }));
    device::set_lane_word(lane as u64);
    // SAFETY: just made, and freed by `forget` only.
    unsafe { &*lane }
}

impl Lane {
    pub(crate) fn set_errno(&self, errno: i32) {
        self.errno.set(errno);
    }

    /// Where the error number is, as long as the lane's thread lives.
    pub(crate) fn errno(&self) -> *mut i32 {
        self.errno.as_ptr()
    }
}

/// The thread-local value under a key; null if there is none.
pub(crate) fn value(key: usize) -> *mut u8 {
    match known() {
        // SAFETY: `key` is below `room`, the length of `values`.
        Some(lane) if key < lane.room.get() => unsafe { *lane.values.get().add(key) },
        _ => null_mut(),
    }
}

/// Sets the thread-local value under a key.
pub(crate) fn set_value(key: usize, value: *mut u8) {
    let lane = here();
    if key >= lane.room.get() {
        if value.is_null() {
            return;
        }
        grow(lane, key);
    }
    // SAFETY: `key` is below `room` now.
    unsafe { *lane.values.get().add(key) = value };
}

#[cold]
#[inline(never)]
fn grow(lane: &Lane, key: usize) {
    let room = (key + 1).next_power_of_two().max(FIRST_ROOM);
    // Keys are few. A panic would be a text and a place in every program.
    let Ok(layout) = Layout::array::<*mut u8>(room) else { handle_alloc_error(Layout::new::<*mut u8>()) };
    // SAFETY: the layout is not empty.
    let values = unsafe { alloc::alloc::alloc_zeroed(layout) }.cast::<*mut u8>();
    if values.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: `room` values fit into the new block, of which the old one has fewer.
    unsafe { core::ptr::copy_nonoverlapping(lane.values.get(), values, lane.room.get()) };
    free_values(lane);
    lane.values.set(values);
    lane.room.set(room);
}

fn free_values(lane: &Lane) {
    if lane.room.get() > 0
        && let Ok(layout) = Layout::array::<*mut u8>(lane.room.get())
    {
        // SAFETY: `grow` allocated them with this layout, and nobody uses them again.
        unsafe { dealloc(lane.values.get().cast(), layout) };
    }
}

/// How many thread-local values the lane may have.
pub(crate) fn room() -> usize {
    known().map_or(0, |lane| lane.room.get())
}

/// Says that a thread of the program begins on this lane.
pub(crate) fn begin_thread() {
    device::set_lane_word(THREAD);
}

/// Says that a kernel's lane begins.
pub(crate) fn begin_kernels() {
    device::set_lane_word(KERNEL);
}

/// Whether there is nothing of the lane's own, which is a kernel's.
pub(crate) fn is_bare_kernels() -> bool {
    device::lane_word() == KERNEL
}

/// Gives back what the calling lane, which ends, has of its own.
pub(crate) fn forget() {
    if let Some(lane) = known() {
        device::set_lane_word(THREAD);
        free_values(lane);
        lane.kept.give_back();
        // SAFETY: made by `make` from a box; the word no longer leads to it, and it waits in no queue, since it runs.
        drop(unsafe { Box::from_raw(core::ptr::from_ref(lane).cast_mut()) });
    }
}

/// Whether the calling lane is a kernel's: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn sys_is_lane() -> u32 {
    is_kernels().into()
}
