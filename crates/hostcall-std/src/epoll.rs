//! `epoll`, as C has it.

use crate::abi::errno::{EFAULT, EINVAL};
use crate::abi::{O_CLOEXEC, O_RDWR, timespec};
use crate::error::{Errno, returned};
use crate::local::epoll::{Epoll, Member};
use crate::local::numbers::EPOLL_CTL_DEL;
use crate::local::object::Object;
use crate::local::slots::Held;
use crate::local::table;
use crate::poll::{after, after_millis};
use core::ffi::c_void;

/// An event: packed, as it is on x86-64.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct Event {
    events: u32,
    data: u64,
}

const _: () = assert!(size_of::<Event>() == 12, "as Linux has it on x86-64");

/// Events that one call brings, at most: callers ask again.
const MOST: usize = 64;

fn of(fd: i32) -> Result<Held, Errno> {
    match table::target(fd)? {
        table::Target::Object(reference) => table::held(reference).and_then(|held| match &*held {
            Object::Epoll(_) => Ok(held),
            _ => Err(Errno(EINVAL)),
        }),
        _ => Err(Errno(EINVAL)),
    }
}

fn epoll(held: &Held) -> Result<&Epoll, Errno> {
    match &**held {
        Object::Epoll(epoll) => Ok(epoll),
        _ => Err(Errno(EINVAL)),
    }
}

/// A set of descriptors that are waited for together.
#[unsafe(no_mangle)]
pub extern "C" fn libc_epoll_create1(flags: i32) -> i32 {
    returned(if flags & !O_CLOEXEC != 0 { Err(Errno(EINVAL)) } else { table::open_object(Object::Epoll(Epoll::new()), flags | O_RDWR) })
}

/// As [`libc_epoll_create1`].
#[unsafe(no_mangle)]
pub extern "C" fn libc_epoll_create(size: i32) -> i32 {
    if size <= 0 { returned(Err(Errno(EINVAL))) } else { libc_epoll_create1(0) }
}

/// Puts a descriptor into a set, changes what is asked of it, or takes it out.
///
/// # Safety
/// `event` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_epoll_ctl(set: i32, operation: i32, fd: i32, event: *const Event) -> i32 {
    returned((|| {
        let target = table::target(fd)?;
        let held = of(set)?;
        let event = if event.is_null() || operation == EPOLL_CTL_DEL {
            if operation != EPOLL_CTL_DEL {
                return Err(Errno(EFAULT));
            }
            Event { events: 0, data: 0 }
        } else {
            // SAFETY: the caller's.
            unsafe { event.read_unaligned() }
        };
        let member = match target {
            table::Target::Object(reference) => Member::Object(reference),
            table::Target::Socket(handle) | table::Target::File(handle) => Member::Handle(handle),
            table::Target::Input => Member::Handle(0),
            table::Target::Output(_) => Member::Output,
            table::Target::Dir(_) => Member::None,
        };
        if set == fd {
            return Err(Errno(EINVAL));
        }
        epoll(&held)?.control(operation, fd, member, event.events, event.data).map(|()| 0)
    })())
}

/// # Safety
/// `into` is null or valid for writes of `most` events.
unsafe fn wait(set: i32, into: *mut Event, most: i32, deadline: impl FnOnce() -> Option<u64>) -> Result<i32, Errno> {
    let most = usize::try_from(most).ok().filter(|most| *most > 0).ok_or(Errno(EINVAL))?;
    if into.is_null() {
        return Err(Errno(EFAULT));
    }
    let held = of(set)?;
    let mut found = [[0; 2]; MOST];
    let most = most.min(MOST);
    let count = epoll(&held)?.wait(&mut found[..most], deadline())?.min(most);
    for (i, [events, data]) in found[..count].iter().enumerate() {
        // SAFETY: the caller's: `count` is not above `most`.
        unsafe { into.add(i).write_unaligned(Event { events: *events as u32, data: *data }) };
    }
    Ok(count as i32)
}

/// Waits for something to happen to members of a set, so many milliseconds or (below 0) for ever: what, and how many.
///
/// # Safety
/// `into` is null or valid for writes of `most` events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_epoll_wait(set: i32, into: *mut Event, most: i32, millis: i32) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { wait(set, into, most, || after_millis(millis)) })
}

/// As [`libc_epoll_wait`]: there are no signals.
///
/// # Safety
/// As [`libc_epoll_wait`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_epoll_pwait(set: i32, into: *mut Event, most: i32, millis: i32, _signals: *const c_void) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_epoll_wait(set, into, most, millis) }
}

/// As [`libc_epoll_wait`], for a time.
///
/// # Safety
/// As [`libc_epoll_wait`]; `time` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_epoll_pwait2(set: i32, into: *mut Event, most: i32, time: *const timespec, _signals: *const c_void) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { wait(set, into, most, || after(time.as_ref())) })
}
