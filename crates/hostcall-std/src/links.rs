//! Names: making, removing and changing them, and links of both kinds.

use crate::abi::errno::{EACCES, EINVAL, EPERM};
use crate::abi::{AT_EMPTY_PATH, AT_FDCWD, AT_REMOVEDIR, AT_SYMLINK_FOLLOW, S_IFIFO, S_IFMT, S_IFREG};
use crate::abi::{O_CREAT, O_EXCL, O_WRONLY};
use crate::arguments::{most, path as text};
use crate::error::{Errno, answered, returned};
use crate::file;
use crate::local::table;
use crate::place::{at, masked};
use crate::services::StdFiles;
use core::ffi::c_char;
use hostcall_device::__runtime::Files;
use hostcall_device::CallError;

/// # Safety
/// `name` is null or a C string.
unsafe fn on(dir: i32, name: *const c_char, act: impl FnOnce(&[u8]) -> Result<Result<(), u32>, CallError>) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { at(dir, name) }.and_then(|path| answered(act(&path))).map(|()| 0))
}

/// Makes a directory.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mkdir(name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_mkdirat(AT_FDCWD, name, mode) }
}

/// As [`libc_mkdir`], from a directory on.
///
/// # Safety
/// As [`libc_mkdir`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mkdirat(dir: i32, name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { on(dir, name, |path| StdFiles::make_dir(path, masked(mode))) }
}

/// Makes a FIFO.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mkfifo(name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_mkfifoat(AT_FDCWD, name, mode) }
}

/// As [`libc_mkfifo`], from a directory on.
///
/// # Safety
/// As [`libc_mkfifo`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mkfifoat(dir: i32, name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { on(dir, name, |path| StdFiles::make_fifo(path, masked(mode))) }
}

/// Makes a FIFO or a file. Devices and sockets are made by nobody.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mknod(name: *const c_char, mode: u32, device: u64) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_mknodat(AT_FDCWD, name, mode, device) }
}

/// As [`libc_mknod`], from a directory on.
///
/// # Safety
/// As [`libc_mknod`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mknodat(dir: i32, name: *const c_char, mode: u32, _device: u64) -> i32 {
    match mode & S_IFMT {
        // SAFETY: the caller's.
        S_IFIFO => unsafe { libc_mkfifoat(dir, name, mode) },
        0 | S_IFREG => {
            // SAFETY: the caller's.
            let made = unsafe { at(dir, name) }.and_then(|path| file::open(&path, O_CREAT | O_EXCL | O_WRONLY, mode));
            returned(made.and_then(table::close).map(|()| 0))
        }
        _ => returned(Err(Errno(EPERM))),
    }
}

/// Removes a file.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_unlink(name: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_unlinkat(AT_FDCWD, name, 0) }
}

/// Removes an empty directory.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_rmdir(name: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_unlinkat(AT_FDCWD, name, AT_REMOVEDIR) }
}

/// Removes a file, or with `AT_REMOVEDIR` an empty directory, from a directory on.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_unlinkat(dir: i32, name: *const c_char, flags: i32) -> i32 {
    match flags {
        // SAFETY: the caller's.
        0 => unsafe { on(dir, name, Files::remove_file) },
        // SAFETY: the caller's.
        AT_REMOVEDIR => unsafe { on(dir, name, Files::remove_dir) },
        _ => returned(Err(Errno(EINVAL))),
    }
}

/// Removes a file or an empty directory.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_remove(name: *const c_char) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { at(AT_FDCWD, name) }.and_then(|path| {
        match answered(Files::remove_file(&path)) {
            // What a directory is called where files are removed: the first by Linux, the second by POSIX.
            Err(Errno(crate::abi::errno::EISDIR | EPERM)) => answered(Files::remove_dir(&path)),
            done => done,
        }
        .map(|()| 0)
    }))
}

/// Renames a file or directory.
///
/// # Safety
/// Both are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_rename(from: *const c_char, to: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_renameat2(AT_FDCWD, from, AT_FDCWD, to, 0) }
}

/// As [`libc_rename`], from directories on.
///
/// # Safety
/// As [`libc_rename`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_renameat(from_dir: i32, from: *const c_char, to_dir: i32, to: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_renameat2(from_dir, from, to_dir, to, 0) }
}

/// As [`libc_renameat`], with Linux's flags.
///
/// # Safety
/// As [`libc_rename`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_renameat2(from_dir: i32, from: *const c_char, to_dir: i32, to: *const c_char, flags: u32) -> i32 {
    returned((|| {
        // SAFETY: the caller's.
        let (from, to) = unsafe { (at(from_dir, from)?, at(to_dir, to)?) };
        answered(StdFiles::rename(&from, &to, flags)).map(|()| 0)
    })())
}

/// Gives a file another name; of a symbolic link, the link.
///
/// # Safety
/// Both are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_link(old: *const c_char, new: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_linkat(AT_FDCWD, old, AT_FDCWD, new, 0) }
}

/// As [`libc_link`], from directories on; with `AT_SYMLINK_FOLLOW` of what a link leads to.
///
/// # Safety
/// As [`libc_link`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_linkat(old_dir: i32, old: *const c_char, new_dir: i32, new: *const c_char, flags: i32) -> i32 {
    returned((|| {
        if flags & !(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's. An empty path, which stands for a file without a name, is none here.
        let (old, new) = unsafe { (at(old_dir, old)?, at(new_dir, new)?) };
        answered(StdFiles::link(&old, &new, flags & AT_SYMLINK_FOLLOW != 0)).map(|()| 0)
    })())
}

/// Makes a symbolic link.
///
/// # Safety
/// Both are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_symlink(target: *const c_char, new: *const c_char) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_symlinkat(target, AT_FDCWD, new) }
}

/// As [`libc_symlink`], from a directory on.
///
/// # Safety
/// As [`libc_symlink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_symlinkat(target: *const c_char, dir: i32, new: *const c_char) -> i32 {
    // SAFETY: the caller's.
    let target = unsafe { text(target) };
    // SAFETY: the caller's.
    unsafe {
        match target {
            Ok(target) => on(dir, new, |new| StdFiles::symlink(target, new)),
            Err(error) => returned(Err(error)),
        }
    }
}

/// The text of a symbolic link, as much as fits and without an end: how many bytes.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_readlink(name: *const c_char, into: *mut c_char, len: usize) -> isize {
    // SAFETY: the caller's.
    unsafe { libc_readlinkat(AT_FDCWD, name, into, len) }
}

/// As [`libc_readlink`], from a directory on.
///
/// # Safety
/// As [`libc_readlink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_readlinkat(dir: i32, name: *const c_char, into: *mut c_char, len: usize) -> isize {
    returned((|| {
        if into.is_null() || len == 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let path = unsafe { at(dir, name) }?;
        // SAFETY: the caller's.
        let into = unsafe { core::slice::from_raw_parts_mut(into.cast::<u8>(), len.min(most())) };
        match answered(StdFiles::read_link(&path, into)) {
            // `/proc/self/exe` and the like are asked for by many and granted to few: there is no such link.
            Err(Errno(EACCES)) if path.starts_with(b"/proc/") => Err(Errno(crate::abi::errno::ENOENT)),
            all => all.map(|all| (all as usize).min(into.len()) as isize),
        }
    })())
}
