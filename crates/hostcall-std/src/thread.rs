//! Threads are waves.
//!
//! A launch of the entry kernel has a workgroup of one lane for `main` and one for each other thread that there can be at a time. The latter
//! have a `Seat` each and wait there for something to run; when it has run, the seat is free again. Nothing is scheduled by software:
//! a thread has its hardware to itself, so waiting for it is polling, and more threads than seats are refused.

use crate::error::{Errno, returned};
use crate::{futex, lane, life};
use alloc::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use hermit_abi::Tid;
use hermit_abi::errno::{EAGAIN, ESRCH};
use hostcall_device::__runtime as device;

/// What a thread runs.
pub type Start = extern "C" fn(usize);

/// Nobody's.
const FREE: u32 = 0;
/// Somebody is filling it.
const TAKEN: u32 = 1;
/// To be run.
const READY: u32 = 2;

/// A wave that can be a thread. All zero is a free one.
#[repr(align(64))]
struct Seat {
    state: AtomicU32,
    /// Threads that ended here: what `join` waits for.
    ended: AtomicU32,
    start: AtomicUsize,
    argument: AtomicUsize,
}

/// Bits of a thread's number that are its seat; above it the seat's `ended`.
const SEAT_BITS: u32 = 16;
const SEAT_MASK: u32 = (1 << SEAT_BITS) - 1;

static SEATS: AtomicPtr<Seat> = AtomicPtr::new(null_mut());
static COUNT: AtomicU32 = AtomicU32::new(0);
/// Where the search for a free seat begins: at the one that became free last, or behind the one that was taken last.
static NEXT: AtomicU32 = AtomicU32::new(0);

fn seats() -> &'static [Seat] {
    // Acquire pairs with `prepare`: a table that is seen is zeroed, and its length known.
    let table = SEATS.load(Ordering::Acquire);
    if table.is_null() {
        return &[];
    }
    // SAFETY: `prepare` allocated so many, all zero, which is a value; they are never freed, and all their fields are atomics.
    unsafe { core::slice::from_raw_parts(table, COUNT.load(Ordering::Relaxed) as usize) }
}

/// Makes the seats of `count` threads besides `main`. By `main`'s lane, once.
pub fn prepare(count: usize) {
    let count = count.min(SEAT_MASK as usize);
    let Ok(layout) = Layout::array::<Seat>(count) else { return };
    if count == 0 {
        return;
    }
    // SAFETY: the layout is not empty.
    let table = unsafe { alloc_zeroed(layout) }.cast::<Seat>();
    if table.is_null() {
        handle_alloc_error(layout);
    }
    COUNT.store(count as u32, Ordering::Relaxed);
    // Release pairs with the acquire in `seats`.
    SEATS.store(table, Ordering::Release);
}

/// Seats from [`NEXT`] on whose lanes look at once whether they have something to run.
const ALERT: usize = 4;
/// How long the others have been waiting, as they say: few of the lanes that a launch has for threads are ever threads, and the simulator's are
/// threads of the operating system, which polls would keep busy.
const PATIENT: u32 = 1 << 31;

/// The life of a lane that is not `main`'s: runs what it is given until the process ends.
pub fn serve(index: usize) -> ! {
    let mut attempt = 0;
    loop {
        device::end_if_ending();
        let seat = seats().get(index);
        // Acquire pairs with the release of `READY` in `spawn`.
        let Some(seat) = seat.filter(|seat| seat.state.load(Ordering::Acquire) == READY) else {
            attempt += 1;
            // Relaxed: a hint.
            let alert = index.wrapping_sub(NEXT.load(Ordering::Relaxed) as usize) < ALERT;
            device::pause(if alert { attempt } else { attempt | PATIENT });
            continue;
        };
        let (start, argument) = (seat.start.load(Ordering::Relaxed), seat.argument.load(Ordering::Relaxed));
        lane::begin_thread();
        // SAFETY: `spawn` stored a `Start`.
        unsafe { core::mem::transmute::<usize, Start>(start)(argument) };
        life::end();
        // Release, both: what the thread did is seen by whoever joins it, or uses the seat next.
        seat.ended.fetch_add(1, Ordering::Release);
        seat.state.store(FREE, Ordering::Release);
        // Relaxed: a hint.
        NEXT.store(index as u32, Ordering::Relaxed);
        futex::wake(seat.ended.as_ptr(), i32::MAX);
        attempt = 0;
    }
}

fn number(seat: usize, ended: u32) -> Tid {
    // Never 0.
    ended << SEAT_BITS | (seat as u32 + 1)
}

fn spawn(start: Start, argument: usize) -> Result<Tid, Errno> {
    let seats = seats();
    // Relaxed: a hint.
    let first = NEXT.load(Ordering::Relaxed) as usize;
    for i in 0..seats.len() {
        let index = (first + i) % seats.len();
        let seat = &seats[index];
        // Acquire pairs with the release of `FREE`: the former thread is over.
        if seat.state.load(Ordering::Relaxed) == FREE
            && seat.state.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            NEXT.store(index as u32 + 1, Ordering::Relaxed);
            let number = number(index, seat.ended.load(Ordering::Relaxed));
            seat.start.store(start as usize, Ordering::Relaxed);
            seat.argument.store(argument, Ordering::Relaxed);
            // Release pairs with the acquire in `serve`: start, argument, and what the spawning thread did before.
            seat.state.store(READY, Ordering::Release);
            return Ok(number);
        }
    }
    Err(Errno(EAGAIN))
}

/// Starts a thread; returns its number, or 0 (and `EAGAIN`) if all waves have one. The stack's size is what the launch gave to all lanes.
#[unsafe(no_mangle)]
pub extern "C" fn sys_spawn2(start: Start, argument: usize, _priority: u8, _stack: usize, _core: isize) -> Tid {
    spawn(start, argument).unwrap_or_else(|error| {
        lane::here().set_errno(error.0);
        0
    })
}

/// Starts a thread, whose number goes to `id`.
///
/// # Safety
/// `id` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_spawn(id: *mut Tid, start: Start, argument: usize, _priority: u8, _core: isize) -> i32 {
    returned(spawn(start, argument).map(|number| {
        if !id.is_null() {
            // SAFETY: the caller's.
            unsafe { id.write(number) };
        }
        0
    }))
}

/// Waits until a thread has ended.
#[unsafe(no_mangle)]
pub extern "C" fn sys_join(id: Tid) -> i32 {
    let seat = (id & SEAT_MASK).checked_sub(1).and_then(|index| seats().get(index as usize));
    let Some(seat) = seat else { return returned(Err(Errno(ESRCH))) };
    loop {
        // Acquire pairs with the release in `serve`.
        let ended = seat.ended.load(Ordering::Acquire);
        if ended << SEAT_BITS != id & !SEAT_MASK {
            return 0;
        }
        futex::wait_while(&seat.ended, ended);
    }
}

/// Lets others run.
#[unsafe(no_mangle)]
pub extern "C" fn sys_yield() {
    device::end_if_ending();
    // As one who has waited a while: the first pauses give way to nobody.
    device::pause(17);
}

/// How many threads a program should start to use the launch well: half of those that it can. There is no room for one more than there are waves, and
/// programs that start a pool of this size usually start other threads as well.
#[unsafe(no_mangle)]
pub extern "C" fn sys_available_parallelism() -> usize {
    seats().len().div_ceil(2).max(1)
}

/// Threads that can run besides `main`.
#[unsafe(no_mangle)]
pub extern "C" fn sys_thread_limit() -> usize {
    seats().len()
}

/// As [`sys_available_parallelism`].
#[unsafe(no_mangle)]
pub extern "C" fn sys_get_processor_count() -> usize {
    sys_available_parallelism()
}

/// Threads have no priorities.
#[unsafe(no_mangle)]
pub extern "C" fn sys_get_priority() -> u8 {
    hermit_abi::NORMAL_PRIO.into()
}

/// Threads have no priorities.
#[unsafe(no_mangle)]
pub extern "C" fn sys_set_priority(_id: Tid, _priority: u8) {}

/// Bytes of a page, for those who round by it.
#[unsafe(no_mangle)]
pub extern "C" fn sys_getpagesize() -> i32 {
    4096
}
