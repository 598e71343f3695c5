//! Threads' stacks on GPUs.
//!
//! The linker moves what functions keep in memory from the lane's own memory, which no other thread can address, to
//! stacks in device memory (`hostcall-build`, `shared_stacks`). What it inserts asks here where a lane's stack is, and
//! tells here that one has overflowed. The host reserves a stack for each thread of the launch; a host that does not
//! know how leaves them to the heap. On AMD GPUs this is linked if all of a program's kernels are threads.

use crate::{memory, process, thread};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};
use hostcall_abi::stacks::Stacks;
use hostcall_device::{__runtime as device, eprintln, wave};

/// What the host wrote.
#[repr(transparent)]
struct Written(UnsafeCell<Stacks>);

// SAFETY: the host writes it while no kernel of the program runs, and lanes only read it.
unsafe impl Sync for Written {}

#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "nvptx64", used)]
static __hostcall_stacks: Written = Written(UnsafeCell::new(Stacks { base: 0, bytes: 0, threads: 0, own_bytes: 0 }));

fn written() -> Stacks {
    // SAFETY: the static's own address. Volatile, for nothing in the program writes it.
    unsafe { __hostcall_stacks.0.get().read_volatile() }
}

/// Bytes of the lane's own memory, if neither the launch nor the host says so: what opening a CUDA device gives.
const OWN_BYTES: u64 = 8 << 10;

fn own_bytes() -> u64 {
    match written().own_bytes {
        0 => OWN_BYTES,
        bytes => bytes,
    }
}

/// Of a thread's stack: what is kept for telling of an overflow.
const RESERVE: u64 = 8 << 10;
/// Of a thread's own memory: what calls between two looks at it may need, and what telling of an overflow does.
const OWN_RESERVE: u64 = 4 << 10;
/// At the far end of a lane's own memory: what lies above the first address that is known, at the near end.
const UNKNOWN: u64 = 1 << 10;

/// Most and fewest bytes of a stack from the heap.
const MOST: u64 = 256 << 10;
const FEWEST: u64 = 16 << 10;
/// Of the heap, the part of which all stacks together may be.
const PART: u64 = 4;

/// Bytes of a stack from the heap, if the host reserved none.
fn bytes_from_heap() -> u64 {
    let [x, y, z] = wave::group_count().map(u64::from);
    (device::heap_bytes() / PART / (x * y * z)).clamp(FEWEST, MOST) & !15
}

/// What the words of a lane's stack are, as it begins.
#[repr(C)]
pub struct Words {
    /// Where the stack ends, from which it grows down; 0: where it does already.
    end: u64,
    /// How far down it may come.
    limit: u64,
    /// How far down the lane's own memory may be used, as an address there.
    floor: u64,
}

/// Says where a lane's stack is. `near` is an address in the lane's own memory, below which it is free, and
/// `near_there` the same address as a number that falls by a byte as one more is used. `own` is how many bytes that
/// memory has; 0: the host knows.
///
/// A thread's is the one that was reserved for it; its own memory is for what calls save. A kernel's lane has its whole
/// stack in its own memory, where the same variables of a wave's lanes lie side by side: variables in the far three
/// quarters, what calls save in the near one. (On NVIDIA GPUs alone, where that memory is used downwards.)
///
/// # Safety
/// `words` is valid for the write. Called once by each lane, before all else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hostcall_stack_begin(words: *mut Words, near: u64, near_there: u64, own: u64, is_thread: u32) {
    let stacks = written();
    let own = if own == 0 { own_bytes() } else { own };
    let found = if is_thread == 0 {
        let start = near - own + UNKNOWN;
        let end = (start + own / 4 * 3 - UNKNOWN) & !15;
        Words { end, limit: start + own / 16, floor: near_there.saturating_sub(near - end) + own / 16 }
    } else {
        let (start, bytes) = match stacks.of(wave::group_index() as u64) {
            Some(base) => (base, stacks.bytes),
            None => from_heap(),
        };
        Words { end: start + bytes, limit: start + RESERVE, floor: near_there.saturating_sub(own) + OWN_RESERVE }
    };
    // SAFETY: the caller's.
    unsafe { words.write(found) };
}

#[cold]
#[inline(never)]
fn from_heap() -> (u64, u64) {
    let bytes = bytes_from_heap();
    // Without a heap the entry says so, on the little that lanes begin with.
    if device::heap_bytes() == 0 {
        return (0, 0);
    }
    let base = memory::sys_malloc(bytes as usize, 16);
    if base.is_null() {
        process::libc_abort();
    }
    (base as u64, bytes)
}

/// Whether an address is in the stack that was reserved for the calling lane's thread: for instrumented programs.
#[cfg(hostcall_probe)]
#[unsafe(no_mangle)]
pub extern "C" fn __hostcall_probe_is_stack(address: u64) -> u32 {
    let stacks = written();
    u32::from(stacks.of(wave::group_index() as u64).is_some_and(|base| (base..base + stacks.bytes).contains(&address)))
}

/// Calls `there(block)` in the own memory of the next lane of a thread's wave, on this lane's stack, and waits for its
/// return; 0 if there is no such lane.
///
/// # Safety
/// The linker's: `there` takes `block`, and the next lane has the words of this one's stack.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hostcall_stack_go_on(there: unsafe extern "C" fn(*mut u8), block: *mut u8) -> u32 {
    // SAFETY: the caller's.
    u32::from(unsafe { device::go_on(there, block) })
}

/// Ends the program: a stack has overflowed, or, if `of_own` is not 0, the lane's own memory. `top` is where the
/// stack's last frame begins.
#[unsafe(no_mangle)]
pub extern "C" fn __hostcall_stack_overflow(of_own: u32, top: *const u8) -> ! {
    /// Not 0 once somebody tells of it: lanes of a kernel overflow together.
    static TOLD: AtomicU32 = AtomicU32::new(0);
    let mut attempt = 0;
    // Relaxed: nothing else is told by it. The one that tells it ends the program.
    while TOLD.swap(1, Ordering::Relaxed) != 0 {
        device::end_if_ending();
        attempt += 1;
        device::pause(attempt);
    }
    let own = own_bytes();
    let bytes = match written() {
        Stacks { threads: 0, .. } => bytes_from_heap(),
        stacks => stacks.bytes,
    };
    // A kernel may overflow before its lane has said that it is none of the program's threads.
    if device::is_private(top) {
        eprintln!("error: stack overflow: a lane of the kernel has {own} bytes\nnote: `--stack BYTES` gives each lane more");
    } else if of_own == 0 {
        let name = thread::name();
        eprintln!("error: stack overflow: thread {name} has {bytes} bytes\nnote: `--stack BYTES` gives each thread more");
    } else {
        // On NVIDIA GPUs those of all lanes of its wave.
        let all = if cfg!(target_arch = "nvptx64") {
            own * wave::group_size().iter().map(|lanes| u64::from(*lanes)).product::<u64>()
        } else {
            own
        };
        let name = thread::name();
        eprintln!(
            "error: stack overflow: thread {name}: calls within calls took the {all} bytes for return addresses and registers that a thread with {bytes} bytes of stack has\n\
             note: `--stack BYTES` gives each thread more of both"
        );
    }
    process::libc_abort()
}
