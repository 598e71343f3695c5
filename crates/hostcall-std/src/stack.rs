//! Threads' stacks on NVIDIA GPUs.
//!
//! The linker moves what functions keep in memory from the lane's own memory, which no other thread can address, to stacks in device memory
//! (`hostcall-build`, `stacks`). What it inserts asks here where a lane's stack is, and tells here that one has overflowed. The host reserves a stack for
//! each thread of the launch; a host that does not know how leaves them to the heap.

use crate::{memory, process};
use core::cell::UnsafeCell;
use hostcall_abi::stacks::Stacks;
use hostcall_device::{__runtime as device, eprintln, wave};

/// What the host wrote.
#[repr(transparent)]
struct Written(UnsafeCell<Stacks>);

// SAFETY: the host writes it while no kernel of the program runs, and lanes only read it.
unsafe impl Sync for Written {}

#[unsafe(no_mangle)]
#[cfg_attr(not(target_arch = "amdgpu"), used)]
static __hostcall_stacks: Written = Written(UnsafeCell::new(Stacks { base: 0, bytes: 0, threads: 0, own_bytes: 0 }));

fn written() -> Stacks {
    // SAFETY: the static's own address. Volatile, for nothing in the program writes it.
    unsafe { __hostcall_stacks.0.get().read_volatile() }
}

/// Bytes of the lane's own memory, if the host says nothing: what opening a device gives.
const OWN_BYTES: u64 = 8 << 10;

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

/// Where a lane's stack is, as it begins: writes its address (0: it keeps what it has), its bytes, and the bytes of the lane's own memory.
///
/// # Safety
/// `area` is valid for the write. Called once by each lane, before all else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hostcall_stack_begin(area: *mut [u64; 3], is_thread: u32) {
    let stacks = written();
    let own_bytes = if stacks.own_bytes == 0 { OWN_BYTES } else { stacks.own_bytes };
    let (base, bytes) = match stacks.of(wave::group_index() as u64) {
        _ if is_thread == 0 => (0, 0),
        Some(base) => (base, stacks.bytes),
        None => from_heap(),
    };
    // SAFETY: the caller's.
    unsafe { area.write([base, bytes, own_bytes]) };
}

#[cold]
#[inline(never)]
fn from_heap() -> (u64, u64) {
    let bytes = bytes_from_heap();
    // Without a heap the entry says so; lanes that have no stack here have no room for more than that.
    if device::heap_bytes() == 0 {
        return (0, 0);
    }
    let base = memory::sys_malloc(bytes as usize, 16);
    if base.is_null() {
        process::sys_abort();
    }
    (base as u64, bytes)
}

/// Ends the program: a stack has overflowed. `which` is 0 for the stack itself, 1 for the lane's own memory; `lane_bytes` are those of the stack of a
/// lane that is no thread.
#[unsafe(no_mangle)]
pub extern "C" fn __hostcall_stack_overflow(which: u32, lane_bytes: u64) -> ! {
    let stacks = written();
    let thread_bytes = if stacks.threads == 0 { bytes_from_heap() } else { stacks.bytes };
    if which != 0 {
        let own = if stacks.own_bytes == 0 { OWN_BYTES } else { stacks.own_bytes };
        eprintln!(
            "error: stack overflow: calls within calls took the {own} bytes for return addresses and registers that a thread with {thread_bytes} bytes of stack has\n\
             note: `--stack BYTES` gives each thread more of both"
        );
    } else if wave::group_size() == [1, 1, 1] {
        eprintln!("error: stack overflow: the thread has {thread_bytes} bytes\nnote: `--stack BYTES` gives each thread more");
    } else {
        eprintln!("error: stack overflow: a lane of this kernel has {lane_bytes} bytes");
    }
    process::sys_abort()
}
