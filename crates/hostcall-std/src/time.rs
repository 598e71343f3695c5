//! Clocks and sleeping.

use crate::abi::errno::EINVAL;
use crate::abi::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME,
    CLOCK_REALTIME_COARSE, CLOCK_THREAD_CPUTIME_ID, TIMER_ABSTIME, clockid_t, timespec, timeval,
};
use crate::error::{Errno, returned};
use hostcall_device::__runtime::{self as device, Clock};

const SECOND: u64 = 1_000_000_000;

/// A span of time in nanoseconds; 0 if it is negative, and for ever if it is longer than 584 years.
pub(crate) fn nanos(time: &timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(SECOND).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn sleep(nanos: u64) {
    let end = device::now_ns().saturating_add(nanos);
    // Not from the first attempts, which do not sleep at all.
    let mut attempt = 64;
    while device::now_ns() < end {
        device::end_if_ending();
        attempt += 1;
        device::pause(attempt);
    }
}

/// What a clock shows: the host's wall clock, or the device's own.
///
/// # Safety
/// `into` is valid for a write, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_clock_gettime(clock: clockid_t, into: *mut timespec) -> i32 {
    let now = match clock {
        // A thread has its wave to itself: the time that it takes is the time that passes.
        CLOCK_MONOTONIC
        | CLOCK_MONOTONIC_RAW
        | CLOCK_MONOTONIC_COARSE
        | CLOCK_BOOTTIME
        | CLOCK_PROCESS_CPUTIME_ID
        | CLOCK_THREAD_CPUTIME_ID => {
            let now = device::now_ns();
            Ok(timespec { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 })
        }
        CLOCK_REALTIME | CLOCK_REALTIME_COARSE => {
            Clock::system_time().map(|(seconds, nanos)| timespec { tv_sec: seconds, tv_nsec: i64::from(nanos) }).map_err(Errno::from)
        }
        _ => Err(Errno(EINVAL)),
    };
    // SAFETY: the caller's.
    let into = unsafe { into.as_mut() };
    returned(match (now, into) {
        (Ok(now), Some(into)) => {
            *into = now;
            Ok(0)
        }
        (Ok(_), None) => Err(Errno(EINVAL)),
        (Err(error), _) => Err(error),
    })
}

/// A time of the wall clock, in nanoseconds since 1970, as one of the device's own.
pub(crate) fn monotonic_of_wall(until: u64) -> Result<u64, Errno> {
    let left = until.saturating_sub(nanos(&now(CLOCK_REALTIME)?));
    Ok(device::now_ns().saturating_add(left))
}

/// The time that a clock shows.
fn now(clock: clockid_t) -> Result<timespec, Errno> {
    let mut time = timespec::default();
    // SAFETY: valid for a write.
    match unsafe { libc_clock_gettime(clock, &mut time) } {
        0 => Ok(time),
        _ => Err(Errno(EINVAL)),
    }
}

/// How finely the clocks count: a nanosecond.
///
/// # Safety
/// `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_clock_getres(_clock: clockid_t, into: *mut timespec) -> i32 {
    // SAFETY: the caller's.
    if let Some(into) = unsafe { into.as_mut() } {
        *into = timespec { tv_sec: 0, tv_nsec: 1 };
    }
    0
}

/// What a process has used, as Linux and musl have it: times, and counts that nobody keeps.
#[repr(C)]
pub struct Usage {
    user: timeval,
    system: timeval,
    counts: [i64; 14],
    spare: [i64; 16],
}

/// What the process has used: the time that has passed on the device.
///
/// # Safety
/// `into` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getrusage(_whose: i32, into: *mut Usage) -> i32 {
    let now = device::now_ns();
    let user = timeval { tv_sec: (now / SECOND) as i64, tv_usec: (now % SECOND / 1000) as i64 };
    // SAFETY: the caller's.
    unsafe { into.write(Usage { user, system: timeval::default(), counts: [0; 14], spare: [0; 16] }) };
    0
}

/// Seconds since 1970.
///
/// # Safety
/// `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_time(into: *mut i64) -> i64 {
    let seconds = now(CLOCK_REALTIME).map_or(-1, |time| time.tv_sec);
    // SAFETY: the caller's.
    if let Some(into) = unsafe { into.as_mut() } {
        *into = seconds;
    }
    seconds
}

/// The wall clock, in microseconds.
///
/// # Safety
/// `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_gettimeofday(into: *mut timeval, _zone: *mut core::ffi::c_void) -> i32 {
    returned(now(CLOCK_REALTIME).map(|time| {
        // SAFETY: the caller's.
        if let Some(into) = unsafe { into.as_mut() } {
            *into = timeval { tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000 };
        }
        0
    }))
}

/// Waits for so many nanoseconds, without a call.
#[unsafe(no_mangle)]
pub extern "C" fn sys_sleep(nanos: u64) {
    sleep(nanos);
}

/// Waits for so many microseconds, without a call.
#[unsafe(no_mangle)]
pub extern "C" fn libc_usleep(micros: u32) -> i32 {
    sleep(u64::from(micros) * 1000);
    0
}

/// Waits for so many seconds, without a call.
#[unsafe(no_mangle)]
pub extern "C" fn libc_sleep(seconds: u32) -> u32 {
    sleep(u64::from(seconds) * SECOND);
    0
}

/// Waits for a time, without a call. Nothing interrupts it, so nothing is left of it.
///
/// # Safety
/// `time` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_nanosleep(time: *const timespec, _left: *mut timespec) -> i32 {
    // SAFETY: the caller's.
    match unsafe { time.as_ref() } {
        Some(time) => {
            sleep(nanos(time));
            0
        }
        None => returned(Err(Errno(EINVAL))),
    }
}

/// Waits for a time, or with `TIMER_ABSTIME` until one of the clock's: 0, or an error number.
///
/// # Safety
/// `time` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_clock_nanosleep(clock: clockid_t, flags: i32, time: *const timespec, _left: *mut timespec) -> i32 {
    // SAFETY: the caller's.
    let Some(time) = (unsafe { time.as_ref() }) else { return EINVAL };
    let before = if flags & TIMER_ABSTIME == 0 { 0 } else { now(clock).map_or(0, |now| nanos(&now)) };
    sleep(nanos(time).saturating_sub(before));
    0
}
