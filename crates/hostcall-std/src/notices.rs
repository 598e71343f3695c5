//! `inotify`: notices of what happens to files, from the host's kernel.

use crate::abi::errno::EINVAL;
use crate::abi::{O_CLOEXEC, O_NONBLOCK};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::table::WAITS;
use crate::place::at;
use crate::services::StdFiles;
use crate::{abi::AT_FDCWD, file};
use core::ffi::c_char;

/// A descriptor from which notices are read.
#[unsafe(no_mangle)]
pub extern "C" fn libc_inotify_init1(flags: i32) -> i32 {
    returned((|| {
        if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
            return Err(Errno(EINVAL));
        }
        let handle = answered(StdFiles::watcher())?;
        fd::open_with(Target::File(handle), flags | WAITS)
    })())
}

/// As [`libc_inotify_init1`].
#[unsafe(no_mangle)]
pub extern "C" fn libc_inotify_init() -> i32 {
    libc_inotify_init1(0)
}

/// Has notices come of what `mask` says of a file or directory: the number by which they name it.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_inotify_add_watch(fd: i32, name: *const c_char, mask: u32) -> i32 {
    returned((|| {
        let handle = file::handle(fd).map_err(|_| Errno(EINVAL))?;
        // SAFETY: the caller's.
        let path = unsafe { at(AT_FDCWD, name) }?;
        answered(StdFiles::watch(handle, &path, mask))
    })())
}

/// Has no more notices come of it.
#[unsafe(no_mangle)]
pub extern "C" fn libc_inotify_rm_watch(fd: i32, watch: i32) -> i32 {
    returned((|| {
        let handle = file::handle(fd).map_err(|_| Errno(EINVAL))?;
        answered(StdFiles::unwatch(handle, watch)).map(|()| 0)
    })())
}
