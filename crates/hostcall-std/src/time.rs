//! Clocks and sleeping.

use crate::error::{Errno, returned};
use hermit_abi::errno::EINVAL;
use hermit_abi::{CLOCK_MONOTONIC, CLOCK_REALTIME, clockid_t, timespec};
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
pub unsafe extern "C" fn sys_clock_gettime(clock: clockid_t, into: *mut timespec) -> i32 {
    let now = match clock {
        CLOCK_MONOTONIC => {
            let now = device::now_ns();
            Ok(timespec { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i32 })
        }
        CLOCK_REALTIME => {
            Clock::system_time().map(|(seconds, nanos)| timespec { tv_sec: seconds, tv_nsec: nanos as i32 }).map_err(Errno::from)
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

/// Waits for so many microseconds, without a call.
#[unsafe(no_mangle)]
pub extern "C" fn sys_usleep(micros: u64) {
    sleep(micros.saturating_mul(1000));
}

/// Waits for a time, without a call.
///
/// # Safety
/// `time` is valid, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_nanosleep(time: *const timespec) -> i32 {
    // SAFETY: the caller's.
    match unsafe { time.as_ref() } {
        Some(time) => {
            sleep(nanos(time));
            0
        }
        None => returned(Err(Errno(EINVAL))),
    }
}
