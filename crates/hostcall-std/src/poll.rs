//! `poll` and `select`: waiting for one of several descriptors.

use crate::abi::errno::EINVAL;
use crate::abi::{pollfd, timespec, timeval};
use crate::error::{Errno, returned};
use crate::fd::{self, Target};
use crate::local::numbers::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLPRI};
use crate::local::several::{self, Asked, DIRECTORY, What};
use crate::time;
use alloc::vec::Vec;
use core::ffi::c_void;
use hostcall_device::__runtime as device;

/// The time after so many milliseconds; none, if they are below 0.
pub(crate) fn after_millis(millis: i32) -> Option<u64> {
    u64::try_from(millis).ok().map(|millis| device::now_ns().saturating_add(millis * 1_000_000))
}

/// The time after a time.
pub(crate) fn after(span: Option<&timespec>) -> Option<u64> {
    span.map(|span| device::now_ns().saturating_add(time::nanos(span)))
}

fn what(fd: i32) -> What {
    match fd::target(fd) {
        _ if fd < 0 => What::Nothing,
        Ok(Target::Object(reference)) => What::Object(reference),
        // A file may be a FIFO.
        Ok(Target::Socket(handle) | Target::File(handle)) => What::Handle(handle),
        Ok(Target::Input) => What::Handle(0),
        Ok(Target::Output(stream)) => What::Handle(u64::from(stream)),
        Ok(Target::Dir(_)) => DIRECTORY,
        Err(_) => What::Unknown,
    }
}

fn asked(fd: i32, events: u32) -> Asked {
    Asked { what: what(fd), events, happened: 0 }
}

fn poll(fds: &mut [pollfd], deadline: Option<u64>) -> Result<i32, Errno> {
    let mut list: Vec<Asked> = fds.iter().map(|entry| asked(entry.fd, u32::from(entry.events as u16))).collect();
    let count = several::wait(&mut list, deadline)?;
    for (entry, asked) in fds.iter_mut().zip(list) {
        entry.revents = asked.happened as u16 as i16;
    }
    Ok(count as i32)
}

/// # Safety
/// `fds` are `count` entries, valid for writes.
unsafe fn poll_at(fds: *mut pollfd, count: usize, deadline: Option<u64>) -> i32 {
    if fds.is_null() && count > 0 || count > 1 << 16 {
        return returned(Err(Errno(EINVAL)));
    }
    // SAFETY: the caller's.
    let fds = if count == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(fds, count) } };
    returned(poll(fds, deadline))
}

/// Waits until something happens to one of several descriptors, so many milliseconds or (below 0) for ever: to how
/// many.
///
/// # Safety
/// `fds` are `count` entries, valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_poll(fds: *mut pollfd, count: usize, millis: i32) -> i32 {
    // SAFETY: the caller's.
    unsafe { poll_at(fds, count, after_millis(millis)) }
}

/// As [`libc_poll`], for a time, or for ever.
///
/// # Safety
/// As [`libc_poll`]; `time` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_ppoll(fds: *mut pollfd, count: usize, time: *const timespec, _signals: *const c_void) -> i32 {
    // SAFETY: the caller's.
    unsafe { poll_at(fds, count, after(time.as_ref())) }
}

/// Descriptors that a set of `select` can have.
const SETTABLE: usize = 1024;
/// A set of descriptors: a bit each.
pub type FdSet = [u64; SETTABLE / 64];

/// What `select` asks of the descriptors of its three sets, and what it takes for it.
const SETS: [(u32, u32); 3] = [(EPOLLIN, EPOLLIN | EPOLLHUP | EPOLLERR), (EPOLLOUT, EPOLLOUT | EPOLLERR), (EPOLLPRI, EPOLLPRI)];

fn select(count: i32, sets: [Option<&mut FdSet>; 3], deadline: Option<u64>) -> Result<i32, Errno> {
    let count = usize::try_from(count).ok().filter(|count| *count <= SETTABLE).ok_or(Errno(EINVAL))?;
    let is_in = |set: &Option<&mut FdSet>, fd: usize| set.as_ref().is_some_and(|set| set[fd / 64] >> (fd % 64) & 1 == 1);
    let mut list = Vec::new();
    let mut fds = Vec::new();
    for fd in 0..count {
        let events = sets.iter().zip(SETS).filter(|(set, _)| is_in(set, fd)).fold(0, |all, (_, (events, _))| all | events);
        if events != 0 {
            // One that is not open is an error here.
            fd::target(fd as i32)?;
            list.push(asked(fd as i32, events));
            fds.push(fd);
        }
    }
    several::wait(&mut list, deadline)?;
    let mut ready = 0;
    for (set, (_, taken)) in sets.into_iter().zip(SETS) {
        let Some(set) = set else { continue };
        for (fd, asked) in fds.iter().zip(&list) {
            let bit = 1 << (fd % 64);
            if set[fd / 64] & bit == 0 {
                continue;
            }
            if asked.happened & taken == 0 {
                set[fd / 64] &= !bit;
            } else {
                ready += 1;
            }
        }
    }
    Ok(ready)
}

/// Waits until descriptors of three sets can be read, be written, or have something urgent; those that cannot leave the
/// sets. How many can.
///
/// # Safety
/// The sets are null or valid, and so is `time`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_select(count: i32, reads: *mut FdSet, writes: *mut FdSet, urgent: *mut FdSet, time: *const timeval) -> i32 {
    // SAFETY: the caller's.
    let span = unsafe { time.as_ref() }.map(|time| timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec.saturating_mul(1000) });
    // SAFETY: the caller's.
    returned(select(count, unsafe { [reads.as_mut(), writes.as_mut(), urgent.as_mut()] }, after(span.as_ref())))
}

/// As [`libc_select`]: there are no signals.
///
/// # Safety
/// As [`libc_select`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pselect(
    count: i32,
    reads: *mut FdSet,
    writes: *mut FdSet,
    urgent: *mut FdSet,
    time: *const timespec,
    _signals: *const c_void,
) -> i32 {
    // SAFETY: the caller's.
    returned(select(count, unsafe { [reads.as_mut(), writes.as_mut(), urgent.as_mut()] }, after(unsafe { time.as_ref() })))
}
