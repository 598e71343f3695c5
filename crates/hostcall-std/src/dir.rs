//! Directories and what is in them.

use crate::arguments::{most, path};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::services::StdFiles;
use core::ffi::c_char;
use hermit_abi::dirent64;
use hermit_abi::errno::{EINVAL, EIO, ENOTDIR, ERANGE};
use hostcall_device::__runtime::Files;

/// The next entries of a directory, as many as fit: how many bytes; 0 at the end. `EINVAL` if not even one fits.
///
/// # Safety
/// `into` is valid for writes of `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_getdents64(fd: i32, into: *mut dirent64, count: usize) -> i64 {
    returned((|| {
        let handle = match fd::target(fd)? {
            Target::Dir(handle) => handle,
            _ => return Err(Errno(ENOTDIR)),
        };
        if into.is_null() {
            return Err(Errno(EINVAL));
        }
        let count = count.min(most());
        // SAFETY: the caller's.
        let into = unsafe { core::slice::from_raw_parts_mut(into.cast::<u8>(), count) };
        let used = answered(StdFiles::list(handle, into))? as usize;
        if used > count { Err(Errno(EIO)) } else { Ok(used as i64) }
    })())
}

/// # Safety
/// `name` is a C string.
unsafe fn on_path(name: *const c_char, act: impl FnOnce(&[u8]) -> Result<Result<(), u32>, hostcall_device::CallError>) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { path(name) }.and_then(|path| answered(act(path))).map(|()| 0))
}

/// Makes a directory.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_mkdir(name: *const c_char, _mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { on_path(name, |path| Files::create_dir(path, false)) }
}

/// Removes a file.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_unlink(name: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { on_path(name, Files::remove_file) }
}

/// Removes an empty directory.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_rmdir(name: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { on_path(name, Files::remove_dir) }
}

/// Renames a file or directory.
///
/// # Safety
/// Both are C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_rename(from: *const c_char, to: *const c_char) -> i32 {
    // SAFETY: the caller's.
    let paths = unsafe { path(from) }.and_then(|from| Ok((from, unsafe { path(to) }?)));
    returned(paths.and_then(|(from, to)| answered(Files::rename(from, to))).map(|()| 0))
}

/// The path without links, `.` and `..`: its length, if it fits.
///
/// # Safety
/// `name` is a C string; `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_realpath(name: *const c_char, into: *mut u8, len: usize) -> isize {
    returned((|| {
        // SAFETY: the caller's.
        let path = unsafe { path(name) }?;
        if into.is_null() {
            return Err(Errno(EINVAL));
        }
        let len = len.min(most());
        // SAFETY: the caller's.
        let into = unsafe { core::slice::from_raw_parts_mut(into, len) };
        let all = answered(StdFiles::canonicalize(path, into))? as usize;
        if all > len { Err(Errno(ERANGE)) } else { Ok(all as isize) }
    })())
}
