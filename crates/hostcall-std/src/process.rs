//! The process: a launch of the entry kernel, and its end.

use crate::error::{Errno, answered, returned};
use crate::services::StdSystem;
use crate::{lane, memory, output, tls};
use core::sync::atomic::{AtomicU32, Ordering};
use hermit_abi::errno::EINVAL;
use hostcall_device::__runtime::{self as device, Console, Process};
use hostcall_device::wave;

/// The exit code that a shell shows for a process that aborted: 128 and the number of `SIGABRT`.
const ABORTED: i32 = 134;

fn end(code: i32) -> ! {
    // A host that is gone cannot be told; the process ends all the same.
    let _ = Process::exit(code);
    device::end_lane()
}

/// Says on standard error how to get more memory, if there was too little. A constant text: `core::fmt` of the runtime's own would be a sixth of the
/// smallest program.
fn explain_exhaustion() {
    if memory::is_exhausted() {
        // A host that is gone cannot be told.
        let _ = Console::print(2, b"note: the device heap had no room left: raise it with `--heap`\n");
    }
}

/// Ends the process, when the calling thread's thread-local values are dropped.
#[unsafe(no_mangle)]
pub extern "C" fn sys_exit(code: i32) -> ! {
    tls::run_destructors();
    output::finish();
    end(code)
}

/// Ends the process at once.
#[unsafe(no_mangle)]
pub extern "C" fn sys_abort() -> ! {
    explain_exhaustion();
    end(ABORTED)
}

/// A panic, whose message is out, is about to end the process: says so, once, if it is that of a thread whom others may want to join.
#[unsafe(no_mangle)]
pub extern "C" fn sys_panic_ends() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    // Relaxed: nothing else is told by it.
    if wave::group_index() != 0 && !lane::is_kernels() && TOLD.swap(1, Ordering::Relaxed) == 0 {
        // As above.
        let _ = Console::print(2, b"note: on a device a panic ends the whole program: no `join` and no `catch_unwind` gets it\n");
    }
}

/// There is one process.
#[unsafe(no_mangle)]
pub extern "C" fn sys_getpid() -> i32 {
    1
}

/// Fills memory with random bytes fit for secrets; returns how many.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_read_entropy(into: *mut u8, len: usize, _flags: u32) -> isize {
    if into.is_null() {
        return if len == 0 { 0 } else { returned(Err(Errno(EINVAL))) };
    }
    // More at once would be taken from a pool that others use as well; callers ask again.
    let len = len.min(256);
    // SAFETY: the caller's.
    let into = unsafe { core::slice::from_raw_parts_mut(into, len) };
    returned(answered(StdSystem::entropy(into)).map(|n| (n as usize).min(len) as isize))
}
