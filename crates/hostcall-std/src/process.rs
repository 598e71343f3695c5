//! The process: a launch of the entry kernel, and its end.

use crate::error::{Errno, answered, returned};
use crate::services::StdSystem;
use crate::tls;
use core::sync::atomic::{AtomicU32, Ordering};
use hermit_abi::errno::EINVAL;
use hostcall_device::__runtime::{self as device, Process};

/// Not 0 when the process ends: threads that wait on the device, where no call tells them, then end as well.
static ENDING: AtomicU32 = AtomicU32::new(0);

/// The exit code of a process that panicked: as on every other system.
const PANICKED: i32 = 101;
/// The exit code that a shell shows for a process that aborted: 128 and the number of `SIGABRT`.
const ABORTED: i32 = 134;

/// Whether the process ends.
pub(crate) fn is_ending() -> bool {
    // Relaxed, as the store: waiters look again and again.
    ENDING.load(Ordering::Relaxed) != 0 || device::is_closed()
}

/// Ends the calling lane, whose process ends.
pub(crate) fn end_lane() -> ! {
    device::exit_lane()
}

fn end(code: i32) -> ! {
    // The host first: what other threads do in the meantime still counts.
    let _ = Process::exit(code);
    ENDING.store(1, Ordering::Relaxed);
    device::exit_lane()
}

/// Ends the process, when the calling thread's thread-local values are dropped.
#[unsafe(no_mangle)]
pub extern "C" fn sys_exit(code: i32) -> ! {
    tls::run_destructors();
    end(code)
}

/// Ends the process at once.
#[unsafe(no_mangle)]
pub extern "C" fn sys_abort() -> ! {
    end(ABORTED)
}

/// Ends the process because a thread panicked, whose message is out.
#[unsafe(no_mangle)]
pub extern "C" fn sys_panicked() -> ! {
    end(PANICKED)
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
