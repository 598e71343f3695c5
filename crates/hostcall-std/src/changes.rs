//! What is set of files: permission bits, owners, times; and whether they may be used.

use crate::abi::errno::{EACCES, EBADF, EINVAL, EOPNOTSUPP};
use crate::abi::{AT_EACCESS, AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, S_IFLNK, S_IFMT, UTIME_NOW, UTIME_OMIT, timespec, timeval};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::special;
use crate::place::at;
use crate::services::StdFiles;
use core::ffi::c_char;
use hostcall_abi::std_services::{stat as field, time};

/// The handle of something of the host's that has a mode, an owner and times.
fn handle(fd: i32) -> Result<u64, Errno> {
    match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => Ok(handle),
        _ => Err(Errno(EINVAL)),
    }
}

/// Whether `name` stands for the descriptor before it.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn is_empty(name: *const c_char, flags: i32) -> bool {
    // SAFETY: the caller's.
    flags & AT_EMPTY_PATH != 0 && !name.is_null() && unsafe { *name } == 0
}

/// Sets the permission bits of an open file.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fchmod(fd: i32, mode: u32) -> i32 {
    returned(handle(fd).and_then(|handle| answered(StdFiles::set_mode(handle, mode))).map(|()| 0))
}

/// Sets the permission bits of a path.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_chmod(name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_fchmodat(AT_FDCWD, name, mode, 0) }
}

/// As [`libc_chmod`], of a link itself, which has none that could be set.
///
/// # Safety
/// As [`libc_chmod`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_lchmod(name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_fchmodat(AT_FDCWD, name, mode, AT_SYMLINK_NOFOLLOW) }
}

/// As [`libc_chmod`], from a directory on.
///
/// # Safety
/// As [`libc_chmod`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fchmodat(dir: i32, name: *const c_char, mode: u32, flags: i32) -> i32 {
    returned((|| {
        if flags & !AT_SYMLINK_NOFOLLOW != 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let path = unsafe { at(dir, name) }?;
        if flags != 0 && answered(StdFiles::stat_path(&path, false))?[field::MODE] as u32 & S_IFMT == S_IFLNK {
            return Err(Errno(EOPNOTSUPP));
        }
        answered(StdFiles::set_mode_path(&path, mode)).map(|()| 0)
    })())
}

/// Sets user and group of an open file; −1 leaves one as it is.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fchown(fd: i32, user: u32, group: u32) -> i32 {
    returned(handle(fd).and_then(|handle| answered(StdFiles::set_owner(handle, user, group))).map(|()| 0))
}

/// Sets user and group of a path.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_chown(name: *const c_char, user: u32, group: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_fchownat(AT_FDCWD, name, user, group, 0) }
}

/// As [`libc_chown`], of a link itself.
///
/// # Safety
/// As [`libc_chown`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_lchown(name: *const c_char, user: u32, group: u32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_fchownat(AT_FDCWD, name, user, group, AT_SYMLINK_NOFOLLOW) }
}

/// As [`libc_chown`], from a directory on.
///
/// # Safety
/// As [`libc_chown`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fchownat(dir: i32, name: *const c_char, user: u32, group: u32, flags: i32) -> i32 {
    // SAFETY: the caller's.
    if unsafe { is_empty(name, flags) } {
        return libc_fchown(dir, user, group);
    }
    // SAFETY: the caller's.
    let path = unsafe { at(dir, name) };
    let follow = flags & AT_SYMLINK_NOFOLLOW == 0;
    returned(path.and_then(|path| answered(StdFiles::set_owner_path(&path, follow, user, group))).map(|()| 0))
}

/// Two times, or none for the time now, as the host wants them.
///
/// # Safety
/// `times` is null or two times.
unsafe fn times(times: *const [timespec; 2]) -> [i64; 4] {
    // SAFETY: the caller's.
    let Some(times) = (unsafe { times.as_ref() }) else { return [0, time::NOW, 0, time::NOW] };
    let [accessed, modified] = times.map(|time| [time.tv_sec, time.tv_nsec]);
    [accessed[0], accessed[1], modified[0], modified[1]]
}

const _: () = assert!(time::NOW == UTIME_NOW && time::OMIT == UTIME_OMIT);

/// Two times with microseconds.
///
/// # Safety
/// `times` is null or two times.
unsafe fn of_micros(times: *const [timeval; 2]) -> Result<Option<[timespec; 2]>, Errno> {
    // SAFETY: the caller's.
    let Some(times) = (unsafe { times.as_ref() }) else { return Ok(None) };
    if times.iter().any(|time| !(0..1_000_000).contains(&time.tv_usec)) {
        return Err(Errno(EINVAL));
    }
    Ok(Some(times.map(|time| timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec * 1000 })))
}

/// Sets when a path was accessed and modified, from a directory on; without a path, the descriptor itself.
///
/// # Safety
/// `name` is null or a C string; `values` is null or two times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_utimensat(dir: i32, name: *const c_char, values: *const [timespec; 2], flags: i32) -> i32 {
    returned((|| {
        // SAFETY: the caller's.
        let times = unsafe { times(values) };
        // SAFETY: the caller's.
        if name.is_null() || unsafe { is_empty(name, flags) } {
            let handle = if dir == AT_FDCWD { Err(Errno(EBADF)) } else { handle(dir) };
            return answered(StdFiles::set_times(handle?, times)).map(|()| 0);
        }
        // SAFETY: the caller's.
        let path = unsafe { at(dir, name) }?;
        answered(StdFiles::set_times_path(&path, flags & AT_SYMLINK_NOFOLLOW == 0, times)).map(|()| 0)
    })())
}

/// Sets when an open file was accessed and modified.
///
/// # Safety
/// `values` is null or two times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_futimens(fd: i32, values: *const [timespec; 2]) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_utimensat(fd, core::ptr::null(), values, 0) }
}

/// # Safety
/// `name` is null or a C string; `values` is null or two times.
unsafe fn with_micros(dir: i32, name: *const c_char, values: *const [timeval; 2], flags: i32) -> i32 {
    // SAFETY: the caller's.
    match unsafe { of_micros(values) } {
        // SAFETY: the caller's.
        Ok(Some(times)) => unsafe { libc_utimensat(dir, name, &raw const times, flags) },
        // SAFETY: the caller's.
        Ok(None) => unsafe { libc_utimensat(dir, name, core::ptr::null(), flags) },
        Err(error) => returned(Err(error)),
    }
}

/// As [`libc_utimensat`], with microseconds.
///
/// # Safety
/// As [`libc_utimensat`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_utimes(name: *const c_char, values: *const [timeval; 2]) -> i32 {
    // SAFETY: the caller's.
    unsafe { if name.is_null() { returned(Err(Errno(EINVAL))) } else { with_micros(AT_FDCWD, name, values, 0) } }
}

/// As [`libc_utimes`], of a link itself.
///
/// # Safety
/// As [`libc_utimes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_lutimes(name: *const c_char, values: *const [timeval; 2]) -> i32 {
    // SAFETY: the caller's.
    unsafe { if name.is_null() { returned(Err(Errno(EINVAL))) } else { with_micros(AT_FDCWD, name, values, AT_SYMLINK_NOFOLLOW) } }
}

/// As [`libc_utimes`], of an open file.
///
/// # Safety
/// As [`libc_utimes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_futimes(fd: i32, values: *const [timeval; 2]) -> i32 {
    // SAFETY: the caller's.
    unsafe { with_micros(fd, core::ptr::null(), values, 0) }
}

/// Whether a path may be read (4), written (2), executed (1), or is there (0).
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_access(name: *const c_char, mode: i32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_faccessat(AT_FDCWD, name, mode, 0) }
}

/// As [`libc_access`].
///
/// # Safety
/// As [`libc_access`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_eaccess(name: *const c_char, mode: i32) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_faccessat(AT_FDCWD, name, mode, AT_EACCESS) }
}

/// As [`libc_access`], from a directory on.
///
/// # Safety
/// As [`libc_access`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_faccessat(dir: i32, name: *const c_char, mode: i32, flags: i32) -> i32 {
    returned((|| {
        if flags & !(AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's.
        let path = unsafe { at(dir, name) }?;
        if special::named(&path).is_some() {
            // They are there for everybody, and nobody executes them.
            return if mode & 1 == 0 { Ok(0) } else { Err(Errno(EACCES)) };
        }
        answered(StdFiles::access(&path, flags & AT_SYMLINK_NOFOLLOW == 0, mode.cast_unsigned())).map(|()| 0)
    })())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_handed_over_as_they_are() {
        let given = [timespec { tv_sec: -1, tv_nsec: 2 }, timespec { tv_sec: 3, tv_nsec: UTIME_OMIT }];
        // SAFETY: two times, and null.
        unsafe {
            assert_eq!(times(&raw const given), [-1, 2, 3, UTIME_OMIT]);
            assert_eq!(times(core::ptr::null()), [0, UTIME_NOW, 0, UTIME_NOW]);
            let micros = |usec| [timeval { tv_sec: 1, tv_usec: 999_999 }, timeval { tv_sec: 2, tv_usec: usec }];
            let [accessed, modified] = of_micros(&micros(3)).unwrap().unwrap();
            assert_eq!((accessed.tv_nsec, modified.tv_nsec), (999_999_000, 3000));
            assert_eq!(of_micros(&micros(1_000_000)), Err(Errno(EINVAL)));
            assert_eq!(of_micros(core::ptr::null()), Ok(None));
        }
    }
}
