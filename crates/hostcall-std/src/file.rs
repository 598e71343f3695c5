//! Files, by their descriptors: opening, cursors, lengths, what is safely on the disk.

use crate::abi::errno::{EBADF, EINVAL, EISDIR, ENXIO, EOPNOTSUPP, ESPIPE};
use crate::abi::{
    AT_FDCWD, O_ACCMODE, O_APPEND, O_CREAT, O_DIRECTORY, O_DSYNC, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_PATH, O_RDONLY, O_RDWR, O_SYNC,
    O_TMPFILE, O_TRUNC, O_WRONLY, S_IFIFO, S_IFMT,
};
use crate::coherent::{self, Which};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::object::Object;
use crate::local::{special, table};
use crate::place::{self, at, masked};
use crate::services::StdFiles;
use crate::time;
use crate::variadic::{self, More};
use core::ffi::c_char;
use hostcall_abi::services::kind;
use hostcall_abi::std_services::{open as option, stat as field};
use hostcall_device::__runtime::Files;

/// The host's options for POSIX's flags.
fn options(flags: i32) -> Result<u32, Errno> {
    if flags & O_TMPFILE == O_TMPFILE {
        return Err(Errno(EOPNOTSUPP));
    }
    let mut options = match flags & O_ACCMODE {
        O_RDONLY => option::READ,
        O_WRONLY => option::WRITE,
        O_RDWR => option::READ | option::WRITE,
        _ => return Err(Errno(EINVAL)),
    };
    let mut set = |flag, bit| {
        if flags & flag == flag {
            options |= bit;
        }
    };
    set(O_APPEND, option::APPEND);
    set(O_TRUNC, option::TRUNCATE);
    set(O_CREAT | O_EXCL, option::CREATE_NEW);
    set(O_CREAT, option::CREATE);
    set(O_NOFOLLOW, option::NO_FOLLOW);
    set(O_DIRECTORY, option::DIRECTORY);
    set(O_PATH, option::PATH);
    set(O_DSYNC, option::DATA_SYNC);
    set(O_SYNC, option::SYNC);
    if flags & O_APPEND != 0 && flags & O_ACCMODE != O_RDONLY {
        // The host's append is a way to write of its own.
        options &= !option::WRITE;
    } else {
        options &= !option::APPEND;
    }
    Ok(options)
}

/// Opens what is there, or creates a file, as the flags say.
pub(crate) fn open(path: &[u8], flags: i32, mode: u32) -> Result<i32, Errno> {
    if let Some(result) = special::open(path, flags) {
        return result;
    }
    let mode = if flags & O_CREAT == 0 { 0 } else { masked(mode) };
    let (handle, what) = opened(path, flags, mode)?;
    match what {
        kind::DIR => {
            let fd = fd::open_with(Target::Dir(handle), flags)?;
            place::remember(fd, path);
            Ok(fd)
        }
        // Whoever reads or writes it may have to wait for somebody.
        kind::OTHER => fd::open_with(Target::File(handle), flags | table::WAITS),
        _ => fd::open_with(Target::File(handle), flags),
    }
}

/// Opens something on the host. Who opens a FIFO to write waits until somebody reads it, which the host does not.
fn opened(path: &[u8], flags: i32, mode: u32) -> Result<(u64, u32), Errno> {
    /// Nanoseconds between two looks.
    const LOOK: u64 = 2_000_000;
    let options = options(flags)?;
    loop {
        match answered(StdFiles::open(path, options, mode)) {
            Err(Errno(ENXIO)) if flags & O_NONBLOCK == 0 && is_fifo(path) => time::sys_sleep(LOOK),
            Ok((handle, what)) if flags & O_TRUNC != 0 => {
                // It is empty now, and its mappings see that.
                let _ = coherent::change(Which::Handle(handle), false, || Ok(0));
                return Ok((handle, what));
            }
            opened => return opened,
        }
    }
}

fn is_fifo(path: &[u8]) -> bool {
    answered(StdFiles::stat_path(path, true)).is_ok_and(|known| known[field::MODE] as u32 & S_IFMT == S_IFIFO)
}

/// Opens a file or a directory: its descriptor. The mode of a file that is made follows `flags`.
///
/// # Safety
/// `name` is null or a C string. With `O_CREAT` a mode follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_open(name: *const c_char, flags: i32, more: More) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_openat(AT_FDCWD, name, flags, more) }
}

/// [`libc_open`]'s name in programs from before musl had one for both.
///
/// # Safety
/// As [`libc_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_open64(name: *const c_char, flags: i32, more: More) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_openat(AT_FDCWD, name, flags, more) }
}

/// As [`libc_open`], from a directory on.
///
/// # Safety
/// As [`libc_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_openat(dir: i32, name: *const c_char, flags: i32, more: More) -> i32 {
    // SAFETY: the caller's.
    let mode = if flags & O_CREAT == 0 { 0 } else { unsafe { variadic::int(more) }.cast_unsigned() };
    // SAFETY: the caller's.
    returned(unsafe { at(dir, name) }.and_then(|path| open(&path, flags, mode)))
}

/// Creates a file, or empties it, for writing.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_creat(name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { at(AT_FDCWD, name) }.and_then(|path| open(&path, O_CREAT | O_WRONLY | O_TRUNC, mode)))
}

/// Moves a file's cursor; returns where it is then.
#[unsafe(no_mangle)]
pub extern "C" fn libc_lseek(fd: i32, offset: i64, whence: i32) -> i64 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) => {
            let whence = u32::try_from(whence).map_err(|_| Errno(EINVAL))?;
            answered(Files::seek(handle, whence, offset)).map(|at| at as i64)
        }
        // Back to the first entry is the only place that a list of them has.
        Target::Dir(handle) if (offset, whence) == (0, 0) => answered(StdFiles::rewind(handle)).map(|()| 0),
        Target::Dir(_) => Err(Errno(EINVAL)),
        Target::Object(reference) => match &*fd::held(reference)? {
            // They have no places.
            Object::Special(_) => Ok(0),
            _ => Err(Errno(ESPIPE)),
        },
        Target::Input | Target::Output(_) | Target::Socket(_) => Err(Errno(ESPIPE)),
    })())
}

/// The handle of a file.
pub(crate) fn handle(fd: i32) -> Result<u64, Errno> {
    match fd::target(fd)? {
        Target::File(handle) => Ok(handle),
        Target::Dir(_) => Err(Errno(EISDIR)),
        _ => Err(Errno(ESPIPE)),
    }
}

/// Cuts or lengthens a file.
#[unsafe(no_mangle)]
pub extern "C" fn libc_ftruncate(fd: i32, len: i64) -> i32 {
    returned((|| match (fd::target(fd)?, u64::try_from(len)) {
        (Target::File(handle), Ok(len)) => {
            match coherent::change(Which::Handle(handle), false, || answered(Files::set_len(handle, len)).map(|()| 0)) {
                // It is open, but not for writing.
                Err(Errno(EBADF)) => Err(Errno(EINVAL)),
                done => done.map(|_| 0),
            }
        }
        _ => Err(Errno(EINVAL)),
    })())
}

/// Cuts or lengthens a file.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_truncate(name: *const c_char, len: i64) -> i32 {
    // SAFETY: the caller's.
    let path = unsafe { at(AT_FDCWD, name) };
    returned(path.and_then(|path| {
        let len = u64::try_from(len).map_err(|_| Errno(EINVAL))?;
        coherent::change(Which::Path(&path), false, || answered(StdFiles::set_len_path(&path, len)).map(|()| 0)).map(|_| 0)
    }))
}

/// Allocates room for bytes of a file, or gives it back, as Linux's `mode` says.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fallocate(fd: i32, mode: i32, at: i64, len: i64) -> i32 {
    returned(allocate(fd, mode, at, len).map(|()| 0))
}

/// Allocates room for bytes of a file: 0, or an error number.
#[unsafe(no_mangle)]
pub extern "C" fn libc_posix_fallocate(fd: i32, at: i64, len: i64) -> i32 {
    crate::error::number(allocate(fd, 0, at, len))
}

fn allocate(fd: i32, mode: i32, at: i64, len: i64) -> Result<(), Errno> {
    let numbers = u64::try_from(at).and_then(|at| Ok((at, u64::try_from(len)?)));
    let (at, len) = numbers.map_err(|_| Errno(EINVAL))?;
    let handle = handle(fd)?;
    let allocate = || answered(StdFiles::allocate(handle, mode.cast_unsigned(), at, len)).map(|()| 0);
    // Without a mode no byte of the file is another one afterwards.
    coherent::change(Which::Handle(handle), mode != 0, allocate).map(drop)
}

/// Waits until everything written is on the host's disk.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fsync(fd: i32) -> i32 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => coherent::flush(handle).and_then(|()| answered(Files::sync(handle))).map(|()| 0),
        _ => Err(Errno(EINVAL)),
    })())
}

/// Waits until the bytes written are on the host's disk, and what is needed to read them.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fdatasync(fd: i32) -> i32 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => {
            coherent::flush(handle).and_then(|()| answered(StdFiles::sync_data(handle))).map(|()| 0)
        }
        _ => Err(Errno(EINVAL)),
    })())
}

/// Asks for a part of a file to be written; all of it is.
#[unsafe(no_mangle)]
pub extern "C" fn libc_sync_file_range(fd: i32, _at: i64, _len: i64, _flags: u32) -> i32 {
    libc_fdatasync(fd)
}

/// How a file will be read. Nothing comes of it.
#[unsafe(no_mangle)]
pub extern "C" fn libc_posix_fadvise(fd: i32, _at: i64, _len: i64, _advice: i32) -> i32 {
    fd::target(fd).err().map_or(0, |error| error.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_the_hosts_options() {
        assert_eq!(options(O_RDONLY), Ok(option::READ));
        assert_eq!(options(O_WRONLY | O_CREAT | O_TRUNC), Ok(option::WRITE | option::CREATE | option::TRUNCATE));
        let new = option::READ | option::WRITE | option::CREATE | option::CREATE_NEW;
        assert_eq!(options(O_RDWR | O_CREAT | O_EXCL), Ok(new));
        assert_eq!(options(O_WRONLY | O_APPEND), Ok(option::APPEND));
        assert_eq!(options(O_RDWR | O_APPEND | O_CREAT), Ok(option::READ | option::APPEND | option::CREATE));
        assert_eq!(options(O_RDONLY | O_APPEND), Ok(option::READ));
        assert_eq!(options(O_PATH | O_NOFOLLOW | O_DIRECTORY), Ok(option::READ | option::PATH | option::NO_FOLLOW | option::DIRECTORY));
        assert_eq!(options(O_WRONLY | O_DSYNC), Ok(option::WRITE | option::DATA_SYNC));
        assert_eq!(options(O_WRONLY | O_SYNC), Ok(option::WRITE | option::DATA_SYNC | option::SYNC));
        assert_eq!(options(O_RDWR | O_WRONLY), Err(Errno(EINVAL)));
        assert_eq!(options(O_RDWR | O_TMPFILE), Err(Errno(EOPNOTSUPP)));
    }
}
