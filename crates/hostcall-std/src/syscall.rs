//! `syscall`: the system calls that crates make past C's library. Others are `ENOSYS`, for which they have other ways.

use crate::abi::errno::{EINVAL, ENOSYS};
use crate::abi::{
    FUTEX_CLOCK_REALTIME, FUTEX_PRIVATE_FLAG, FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAKE, FUTEX_WAKE_BITSET, syscall, timespec,
};
use crate::error::{Errno, returned};
use crate::{futex, links, process, thread, time};
use core::ffi::c_char;
use hostcall_device::__runtime as device;

/// Arguments, each as wide as a register.
type Arguments = [usize; 5];

/// `futex(word, operation, value, timeout, …)`.
///
/// # Safety
/// As the operation wants it.
unsafe fn futex([word, operation, value, timeout, _]: Arguments) -> Result<i64, Errno> {
    let (word, value) = (word as *mut u32, value as u32);
    let operation = operation as i32;
    let command = operation & !(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    match command {
        FUTEX_WAIT | FUTEX_WAIT_BITSET => {
            // SAFETY: the caller's.
            let timeout = unsafe { (timeout as *const timespec).as_ref() }.map(time::nanos);
            let deadline = match timeout {
                // `FUTEX_WAIT` waits for a time, the other until one.
                Some(span) if command == FUTEX_WAIT => Some(device::now_ns().saturating_add(span)),
                Some(until) if operation & FUTEX_CLOCK_REALTIME != 0 => Some(time::monotonic_of_wall(until)?),
                until => until,
            };
            // SAFETY: the caller's.
            unsafe { futex::wait_until(word, value, deadline) }.map(|()| 0)
        }
        FUTEX_WAKE | FUTEX_WAKE_BITSET if !word.is_null() => Ok(i64::from(futex::wake(word, i32::try_from(value).unwrap_or(i32::MAX)))),
        FUTEX_WAKE | FUTEX_WAKE_BITSET => Err(Errno(EINVAL)),
        _ => Err(Errno(ENOSYS)),
    }
}

/// # Safety
/// As the system call wants its arguments.
unsafe fn call(number: i64, arguments: Arguments) -> i64 {
    let result = match number {
        // SAFETY: the caller's.
        syscall::FUTEX => unsafe { futex(arguments) },
        syscall::GETRANDOM => {
            let [into, len, ..] = arguments;
            // SAFETY: the caller's.
            unsafe { process::fill_entropy(into as *mut u8, len) }.map(|filled| filled as i64)
        }
        syscall::RENAMEAT2 => {
            let [from_dir, from, to_dir, to, flags] = arguments;
            // SAFETY: the caller's.
            let done =
                unsafe { links::libc_renameat2(from_dir as i32, from as *const c_char, to_dir as i32, to as *const c_char, flags as u32) };
            // It has set the error number.
            return i64::from(done);
        }
        syscall::GETTID => Ok(i64::from(thread::libc_gettid())),
        _ => Err(Errno(ENOSYS)),
    };
    returned(result)
}

/// A system call by its number.
///
/// # Safety
/// As the system call wants its arguments.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_syscall(number: i64, more: crate::variadic::More) -> i64 {
    // SAFETY: the caller's. There are always as many slots, with zero in those for what was not passed.
    unsafe { call(number, more.cast::<Arguments>().read()) }
}

/// A system call by its number.
///
/// # Safety
/// As the system call wants its arguments.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_syscall(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize) -> i64 {
    // SAFETY: the caller's. What it has not passed is not looked at.
    unsafe { call(number, [a, b, c, d, e]) }
}
