//! The process: a launch of the entry kernel, and its end.

use crate::abi::errno::{EINVAL, EIO};
use crate::error::{Errno, answered, returned};
use crate::services::StdSystem;
use crate::{coherent, exits, lane, memory, output, tls};
use core::sync::atomic::{AtomicU32, Ordering};
use hostcall_device::__runtime::{self as device, Console, Process};
use hostcall_device::wave;

/// The exit code that a shell shows for a process that aborted: 128 and the number of `SIGABRT`.
const ABORTED: i32 = 134;

fn end(code: i32) -> ! {
    // Whichever way it ends, what it has stored in its files stays.
    coherent::end();
    // A host that is gone cannot be told; the process ends all the same.
    let _ = Process::exit(code);
    device::end_lane()
}

/// Says on standard error how to get more memory, if there was too little. A constant text: `core::fmt` of the
/// runtime's own would be a sixth of the smallest program.
fn explain_exhaustion() {
    if memory::is_exhausted() {
        // A host that is gone cannot be told.
        let _ = Console::print(2, b"note: the device heap had no room left: raise it with `--heap`\n");
    }
}

/// Ends the process, when the calling thread's thread-local values are dropped and what was named to run then has run.
#[unsafe(no_mangle)]
pub extern "C" fn libc_exit(code: i32) -> ! {
    tls::run_destructors();
    exits::run();
    output::finish();
    end(code)
}

/// Ends the process, without dropping anything.
#[unsafe(no_mangle)]
pub extern "C" fn libc__exit(code: i32) -> ! {
    end(code)
}

/// C's name for that.
#[unsafe(no_mangle)]
pub extern "C" fn libc__Exit(code: i32) -> ! {
    end(code)
}

/// Ends the process as by a signal, which a shell shows by that exit code.
pub(crate) fn end_by(signal: i32) -> ! {
    end(128 + signal)
}

/// Ends the process at once.
#[unsafe(no_mangle)]
pub extern "C" fn libc_abort() -> ! {
    explain_exhaustion();
    end(ABORTED)
}

/// A panic, whose message is out, is about to end the process: says so, once, if it is that of a thread whom others may
/// want to join.
#[unsafe(no_mangle)]
pub extern "C" fn sys_panic_ends() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    // Relaxed: nothing else is told by it.
    if wave::group_index() != 0 && !lane::is_kernels() && TOLD.swap(1, Ordering::Relaxed) == 0 {
        // As above.
        let _ = Console::print(2, b"note: on a device a panic ends the whole program: no `join` and no `catch_unwind` gets it\n");
    }
}

/// Waits until the process ends.
#[unsafe(no_mangle)]
pub extern "C" fn libc_pause() -> i32 {
    let mut attempt = 64;
    loop {
        device::end_if_ending();
        attempt += 1;
        device::pause(attempt);
    }
}

/// There is one process.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getpid() -> i32 {
    1
}

/// More at once would be taken from a pool that others use as well; callers ask again.
const MOST_ENTROPY: usize = 256;

/// Fills up to [`MOST_ENTROPY`] bytes with random ones fit for secrets; how many.
///
/// # Safety
/// `into` is null or valid for writes of `len` bytes.
pub(crate) unsafe fn fill_entropy(into: *mut u8, len: usize) -> Result<usize, Errno> {
    if into.is_null() {
        return if len == 0 { Ok(0) } else { Err(Errno(EINVAL)) };
    }
    let len = len.min(MOST_ENTROPY);
    // SAFETY: the caller's.
    let into = unsafe { core::slice::from_raw_parts_mut(into, len) };
    answered(StdSystem::entropy(into)).map(|n| (n as usize).min(len))
}

/// Fills memory with random bytes fit for secrets; how many.
///
/// # Safety
/// `into` is null or valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getrandom(into: *mut u8, len: usize, _flags: u32) -> isize {
    // SAFETY: the caller's.
    returned(unsafe { fill_entropy(into, len) }.map(|filled| filled as isize))
}

/// Fills up to 256 bytes with random ones fit for secrets.
///
/// # Safety
/// `into` is null or valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getentropy(into: *mut u8, len: usize) -> i32 {
    returned((|| {
        if len > MOST_ENTROPY {
            return Err(Errno(EIO));
        }
        let mut filled = 0;
        while filled < len {
            // SAFETY: the caller's; what is filled is part of it.
            match unsafe { fill_entropy(into.wrapping_add(filled), len - filled) }? {
                0 => return Err(Errno(EIO)),
                more => filled += more,
            }
        }
        Ok(0)
    })())
}
