//! Waiting for one of several descriptors.

use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::services::StdNet;
use crate::{lane, time};
use hermit_abi::errno::EINVAL;
use hermit_abi::pollfd;
use hostcall_abi::std_services::event;

/// The most descriptors of one `poll`.
const POLLED: usize = 16;

/// Waits for events, so many milliseconds or for ever; returns to how many something happened.
pub(crate) fn poll(fds: &mut [pollfd], timeout: i32) -> Result<i32, Errno> {
    if fds.len() > POLLED {
        return Err(Errno(EINVAL));
    }
    let mut asked = [[0u64; 2]; POLLED];
    let mut count = 0;
    // Those that are no sockets are always ready; negative ones are left out.
    let mut ready = 0;
    for entry in fds.iter_mut() {
        let events = u32::from(entry.events as u16) & event::ASKED;
        entry.revents = 0;
        let handle = match fd::target(entry.fd) {
            _ if entry.fd < 0 => continue,
            Ok(Target::Socket(handle)) => handle,
            Ok(Target::Input) => 0,
            Ok(_) => {
                entry.revents = events as i16;
                ready += i32::from(events != 0);
                continue;
            }
            Err(_) => {
                entry.revents = hermit_abi::POLLNVAL;
                ready += 1;
                continue;
            }
        };
        asked[count] = [handle, u64::from(events)];
        count += 1;
    }
    if count == 0 && timeout >= 0 && ready == 0 {
        time::sys_usleep(timeout as u64 * 1000);
        return Ok(0);
    }
    let nanos = match timeout {
        _ if ready > 0 => 0,
        ..0 => -1,
        millis => i64::from(millis) * 1_000_000,
    };
    let happened = answered(StdNet::poll(&asked[..count], nanos))?;
    let mut next = 0;
    for entry in fds.iter_mut() {
        if entry.fd >= 0 && matches!(fd::target(entry.fd), Ok(Target::Socket(_) | Target::Input)) && next < count {
            entry.revents = (happened[next / 2] >> (next % 2 * 16)) as u16 as i16;
            ready += i32::from(entry.revents != 0);
            next += 1;
        }
    }
    Ok(ready)
}

/// Waits until something happens to one of several descriptors: to how many.
///
/// # Safety
/// `fds` are `count` entries, valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_poll(fds: *mut pollfd, count: usize, timeout: i32) -> i32 {
    if fds.is_null() && count > 0 {
        return returned(Err(Errno(EINVAL)));
    }
    // SAFETY: the caller's.
    let fds = if count == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(fds, count) } };
    match poll(fds, timeout) {
        Ok(ready) => ready,
        Err(error) => {
            // `std` takes -1 for an error here, and looks the number up.
            lane::here().set_errno(error.0);
            -1
        }
    }
}
