//! File descriptors: small numbers for the host's handles.
//!
//! 0, 1 and 2 are the standard streams. The others are places of a table; an entry is a handle, and two of its bits that handles leave
//! free say what it stands for.

use crate::error::{Errno, answered, returned};
use crate::services::StdFiles;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use hermit_abi::errno::{EBADF, EINVAL, EMFILE, ENOTSOCK};
use hostcall_device::__runtime::Files;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard input.
    Input,
    /// Standard output (1) or standard error (2).
    Output(u32),
    /// A file.
    File(u64),
    /// A directory.
    Dir(u64),
    /// A socket.
    Socket(u64),
}

/// The most descriptors open at a time.
const TABLE: usize = 1 << 16;
/// The first that is not a standard stream.
const FIRST: usize = 3;

const KIND_SHIFT: u32 = 30;
const KIND_MASK: u64 = 3 << KIND_SHIFT;

/// Handles with their kinds; 0 is free. (A handle's upper half is never 0.)
static OPEN: [AtomicU64; TABLE] = [const { AtomicU64::new(0) }; TABLE];
/// Where the search for a free place begins.
static NEXT: AtomicU32 = AtomicU32::new(0);

fn pack(target: Target) -> Option<u64> {
    let (kind, handle) = match target {
        Target::File(handle) => (1, handle),
        Target::Dir(handle) => (2, handle),
        Target::Socket(handle) => (3, handle),
        Target::Input | Target::Output(_) => return None,
    };
    (handle & KIND_MASK == 0 && handle != 0).then_some(handle | kind << KIND_SHIFT)
}

fn unpack(entry: u64) -> Option<Target> {
    let handle = entry & !KIND_MASK;
    match (entry & KIND_MASK) >> KIND_SHIFT {
        1 => Some(Target::File(handle)),
        2 => Some(Target::Dir(handle)),
        3 => Some(Target::Socket(handle)),
        _ => None,
    }
}

/// A descriptor for something the host opened. If there is none left, it is closed again.
pub(crate) fn open(target: Target) -> Result<i32, Errno> {
    let entry = pack(target).ok_or(Errno(EINVAL))?;
    // Relaxed: a hint.
    let first = NEXT.fetch_add(1, Ordering::Relaxed) as usize;
    for i in 0..TABLE - FIRST {
        let index = FIRST + (first + i) % (TABLE - FIRST);
        // Release pairs with the acquire in `target`.
        if OPEN[index].load(Ordering::Relaxed) == 0 && OPEN[index].compare_exchange(0, entry, Ordering::Release, Ordering::Relaxed).is_ok()
        {
            return Ok(index as i32);
        }
    }
    let (Target::File(handle) | Target::Dir(handle) | Target::Socket(handle)) = target else { unreachable!("it was packed") };
    // Nobody could do anything about it.
    let _ = Files::close(handle);
    Err(Errno(EMFILE))
}

/// What a descriptor stands for.
pub(crate) fn target(fd: i32) -> Result<Target, Errno> {
    match fd {
        0 => Ok(Target::Input),
        1 | 2 => Ok(Target::Output(fd as u32)),
        // Acquire pairs with the release in `open`: a descriptor may come from another thread.
        _ => {
            usize::try_from(fd).ok().and_then(|fd| OPEN.get(fd)).and_then(|entry| unpack(entry.load(Ordering::Acquire))).ok_or(Errno(EBADF))
        }
    }
}

/// The socket that a descriptor stands for.
pub(crate) fn socket_of(fd: i32) -> Result<u64, Errno> {
    match target(fd)? {
        Target::Socket(handle) => Ok(handle),
        _ => Err(Errno(ENOTSOCK)),
    }
}

fn close(fd: i32) -> Result<i32, Errno> {
    if (0..FIRST as i32).contains(&fd) {
        return Ok(0);
    }
    let entry = usize::try_from(fd).ok().and_then(|fd| OPEN.get(fd)).ok_or(Errno(EBADF))?;
    // Acquire and release: between whoever opened it and whoever opens the next in its place.
    let (Target::File(handle) | Target::Dir(handle) | Target::Socket(handle)) =
        unpack(entry.swap(0, Ordering::AcqRel)).ok_or(Errno(EBADF))?
    else {
        return Err(Errno(EBADF));
    };
    Files::close(handle)?;
    Ok(0)
}

/// Closes a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn sys_close(fd: i32) -> i32 {
    returned(close(fd))
}

/// Another descriptor for the same thing.
#[unsafe(no_mangle)]
pub extern "C" fn sys_dup(fd: i32) -> i32 {
    returned((|| {
        let another = |handle| answered(StdFiles::duplicate(handle));
        open(match target(fd)? {
            Target::File(handle) => Target::File(another(handle)?),
            Target::Dir(handle) => Target::Dir(another(handle)?),
            Target::Socket(handle) => Target::Socket(another(handle)?),
            Target::Input | Target::Output(_) => return Err(Errno(EINVAL)),
        })
    })())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_what_its_handle_stands_for() {
        for target in [Target::File(1 << 32), Target::Dir(7 << 32 | 5), Target::Socket(u64::from(u32::MAX) << 32 | 0x3fff_ffff)] {
            assert_eq!(unpack(pack(target).unwrap()), Some(target));
        }
        assert_eq!(unpack(0), None);
    }

    #[test]
    fn handles_that_cannot_be_are_refused() {
        for hostile in [0, 1 << 30, 1 << 31, u64::MAX] {
            assert_eq!(pack(Target::File(hostile)), None, "{hostile:#x}");
        }
    }

    #[test]
    fn descriptors_out_of_range_are_refused() {
        for fd in [-1, i32::MIN, 3, TABLE as i32, i32::MAX] {
            assert_eq!(target(fd), Err(Errno(EBADF)), "{fd}");
            assert_eq!(close(fd), Err(Errno(EBADF)), "{fd}");
        }
    }
}
