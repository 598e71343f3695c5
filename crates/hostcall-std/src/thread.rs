//! Threads are waves.
//!
//! A launch of the entry kernel has a workgroup of one lane for `main` and one for each other thread that there can be
//! at a time. The latter have a `Seat` each and wait there for something to run; when it has run, the seat is free
//! again. Nothing is scheduled by software: a thread has its hardware to itself, so waiting for it is polling, and more
//! threads than seats are refused.

use crate::abi::errno::{EAGAIN, EDEADLK, ESRCH};
use crate::error::Errno;
use crate::{futex, lane, life};
use alloc::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use hostcall_abi::thread_names;
#[cfg(all(hostcall_device, any(target_arch = "nvptx64", target_arch = "amdgpu")))]
use hostcall_abi::thread_names::ThreadName;
use hostcall_device::{__runtime as device, wave};

/// A thread's number.
type Tid = u32;

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
    // SAFETY: `prepare` allocated so many, all zero, which is a value; they are never freed, and all their fields are
    // atomics.
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

/// Seats from [`NEXT`] on whose lanes look at once whether they have something to run, where nobody wakes them. Few of
/// the lanes that a launch has for threads are ever threads. The simulator's are threads of the operating system, which
/// polls would keep busy: `spawn` wakes them.
const ALERT: usize = 4;

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
            if !device::WAKES_PATIENT && index.wrapping_sub(NEXT.load(Ordering::Relaxed) as usize) < ALERT {
                device::pause(attempt);
            } else {
                device::pause_patiently(index as u32);
            }
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
            device::wake_patient(index as u32);
            return Ok(number);
        }
    }
    Err(Errno(EAGAIN))
}

/// Threads that can run besides `main`.
pub fn limit() -> usize {
    seats().len()
}

/// Waits until a thread has ended.
fn wait_for(id: Tid) {
    let seat = (id & SEAT_MASK).checked_sub(1).and_then(|index| seats().get(index as usize));
    let Some(seat) = seat else { return };
    loop {
        // Acquire pairs with the release in `serve`.
        let ended = seat.ended.load(Ordering::Acquire);
        if ended << SEAT_BITS != id & !SEAT_MASK {
            return;
        }
        futex::wait_while(&seat.ended, ended);
    }
}

/// What C calls a thread: lives until it has ended and was joined or detached.
struct Record {
    /// The thread's number; written before anybody else knows of the record.
    number: AtomicU32,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
    result: AtomicPtr<c_void>,
    /// How many of the two have yet to let it go: the thread, and whoever may join it.
    held: AtomicU32,
}

/// # Safety
/// `record` came from a box, and the caller, one of the two that hold it, does not use it again.
unsafe fn let_go(record: *mut Record) {
    // Acquire and release: the last one sees all that the other did with it.
    // SAFETY: held by the caller.
    if unsafe { &*record }.held.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: nobody else holds it.
        drop(unsafe { alloc::boxed::Box::from_raw(record) });
    }
}

extern "C" fn run(record: usize) {
    let record = record as *mut Record;
    // SAFETY: the thread holds it until the last line.
    let this = unsafe { &*record };
    // Its seat's former thread had another.
    keep_name(&[]);
    lane::here().record.set(record.cast());
    let result = (this.start)(this.argument);
    // Relaxed: `serve` tells the joiner of the end with a release.
    this.result.store(result, Ordering::Relaxed);
    // SAFETY: not used again.
    unsafe { let_go(record) };
}

/// Attributes of a new thread, as musl has them, as far as they are looked at: C's alone has any.
#[repr(C)]
pub struct Attributes {
    sizes: [usize; 3],
    is_detached: i32,
}

/// Starts a thread: 0, or `EAGAIN` if all waves have one. Its stack's size is what the launch gave to all.
///
/// # Safety
/// `id` is valid for a write, and `attributes` null or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_create(
    id: *mut *mut c_void,
    attributes: *const Attributes,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> i32 {
    let record = Record { number: AtomicU32::new(0), start, argument, result: AtomicPtr::new(null_mut()), held: AtomicU32::new(2) };
    let record = alloc::boxed::Box::into_raw(alloc::boxed::Box::new(record));
    match spawn(run, record as usize) {
        Ok(number) => {
            // SAFETY: held by the caller's side until it is joined or detached. The thread does not look at its number.
            unsafe { &*record }.number.store(number, Ordering::Relaxed);
            // SAFETY: the caller's.
            unsafe { id.write(record.cast()) };
            // SAFETY: the caller's.
            let is_detached = unsafe { attributes.as_ref() }.is_some_and(|attributes| attributes.is_detached != 0);
            if is_detached {
                // SAFETY: just made, and of nobody's but the caller's, who has said so.
                unsafe { libc_pthread_detach(record.cast()) };
            }
            0
        }
        Err(error) => {
            // SAFETY: nobody else knows of it.
            drop(unsafe { alloc::boxed::Box::from_raw(record) });
            error.0
        }
    }
}

/// Waits until a thread has ended, and takes its result.
///
/// # Safety
/// `id` is of a thread that was neither joined nor detached; `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_join(id: *mut c_void, result: *mut *mut c_void) -> i32 {
    let record = id.cast::<Record>();
    if record.is_null() {
        return ESRCH;
    }
    if lane::known().is_some_and(|lane| lane.record.get() == id) {
        return EDEADLK;
    }
    // SAFETY: the caller's: it holds the record.
    let this = unsafe { &*record };
    wait_for(this.number.load(Ordering::Relaxed));
    if !result.is_null() {
        // SAFETY: the caller's.
        unsafe { result.write(this.result.load(Ordering::Relaxed)) };
    }
    // SAFETY: not used again.
    unsafe { let_go(record) };
    0
}

/// Says that nobody will join a thread.
///
/// # Safety
/// `id` is of a thread that was neither joined nor detached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pthread_detach(id: *mut c_void) -> i32 {
    if id.is_null() {
        return ESRCH;
    }
    // SAFETY: the caller's.
    unsafe { let_go(id.cast()) };
    0
}

/// The calling thread; null for `main` and for a kernel's lane.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_self() -> *mut c_void {
    lane::known().map_or(null_mut(), |lane| lane.record.get())
}

/// Whether two are the same thread.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pthread_equal(one: *mut c_void, other: *mut c_void) -> i32 {
    (one == other).into()
}

/// The number of the calling thread: 1 for `main`, as the process has.
#[unsafe(no_mangle)]
pub extern "C" fn libc_gettid() -> i32 {
    wave::group_index() as i32 + 1
}

/// Lets others run.
#[unsafe(no_mangle)]
pub extern "C" fn libc_sched_yield() -> i32 {
    device::end_if_ending();
    // As one who has waited a while: the first pauses give way to nobody.
    device::pause(17);
    0
}

/// Names of the threads by their places in the launch, for those who tell of a thread that failed: the host reads them,
/// too.
#[unsafe(no_mangle)]
#[cfg_attr(not(any(target_arch = "nvptx64", target_arch = "amdgpu")), used)]
static __hostcall_thread_names: [[AtomicU64; 4]; thread_names::THREADS] =
    [const { [const { AtomicU64::new(0) }; 4] }; thread_names::THREADS];

const _: () = assert!(size_of::<[[AtomicU64; 4]; thread_names::THREADS]>() == size_of::<thread_names::ThreadNames>());

fn keep_name(name: &[u8]) {
    let Some(kept) = __hostcall_thread_names.get(wave::group_index()) else { return };
    for (kept, word) in kept.iter().zip(thread_names::to_words(name)) {
        // Relaxed: whoever reads it reads a name for a message, and the host when nothing runs.
        kept.store(word, Ordering::Relaxed);
    }
}

/// The calling thread's name, as far as it is kept.
#[cfg(all(hostcall_device, any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub(crate) fn name() -> ThreadName {
    let index = wave::group_index();
    // Relaxed: the thread's own.
    let words = __hostcall_thread_names.get(index).map(|kept| [0, 1, 2, 3].map(|at| kept[at].load(Ordering::Relaxed)));
    ThreadName::new(index, words.unwrap_or_default())
}

/// Says the calling thread's name. A kernel's lane is none.
///
/// # Safety
/// `name` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_thread_name(name: *const u8, len: usize) {
    if !lane::is_kernels() {
        // SAFETY: the caller's.
        keep_name(unsafe { core::slice::from_raw_parts(name, len) });
    }
}

/// How many threads a program should start to use the launch well: half of those that it can. There is no room for one
/// more than there are waves, and programs that start a pool of this size usually start other threads as well.
#[unsafe(no_mangle)]
pub extern "C" fn sys_available_parallelism() -> usize {
    seats().len().div_ceil(2).max(1)
}
