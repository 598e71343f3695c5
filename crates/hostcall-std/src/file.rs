//! Files, by their paths and by their descriptors.

use crate::arguments::path;
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::services::StdFiles;
use core::ffi::c_char;
use hermit_abi::errno::{EINVAL, EISDIR, ESPIPE};
use hermit_abi::{O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, S_IFCHR, S_IFSOCK, timespec};
use hostcall_abi::services::open;
use hostcall_abi::std_services::stat as field;
use hostcall_device::__runtime::Files;

/// The host's options for POSIX's flags.
fn options(flags: i32) -> Result<u32, Errno> {
    let mut options = match flags & (O_RDWR | O_WRONLY) {
        O_RDONLY => open::READ,
        O_WRONLY => open::WRITE,
        O_RDWR => open::READ | open::WRITE,
        _ => return Err(Errno(EINVAL)),
    };
    let mut set = |flag, bit| {
        if flags & flag == flag {
            options |= bit;
        }
    };
    set(O_APPEND, open::APPEND);
    set(O_TRUNC, open::TRUNCATE);
    set(O_CREAT | O_EXCL, open::CREATE_NEW);
    set(O_CREAT, open::CREATE);
    if flags & O_APPEND != 0 {
        // The host's append is a way to write of its own.
        options &= !open::WRITE;
    }
    Ok(options)
}

/// Opens a file, or with `O_DIRECTORY` a directory.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_open(name: *const c_char, flags: i32, _mode: i32) -> i32 {
    returned((|| {
        // SAFETY: the caller's.
        let path = unsafe { path(name) }?;
        if flags & O_DIRECTORY != 0 {
            if flags & (O_RDWR | O_WRONLY) != 0 {
                return Err(Errno(EISDIR));
            }
            return fd::open(Target::Dir(answered(Files::open_dir(path))?));
        }
        fd::open(Target::File(answered(Files::open(path, options(flags)?))?))
    })())
}

/// Moves a file's cursor; returns where it is then.
#[unsafe(no_mangle)]
pub extern "C" fn sys_lseek(fd: i32, offset: isize, whence: i32) -> isize {
    returned((|| match fd::target(fd)? {
        Target::File(handle) => {
            let whence = u32::try_from(whence).map_err(|_| Errno(EINVAL))?;
            answered(Files::seek(handle, whence, offset as i64)).map(|at| at as isize)
        }
        Target::Dir(_) => Err(Errno(EISDIR)),
        Target::Input | Target::Output(_) | Target::Socket(_) => Err(Errno(ESPIPE)),
    })())
}

/// Cuts or lengthens a file.
#[unsafe(no_mangle)]
pub extern "C" fn sys_ftruncate(fd: i32, len: i64) -> i32 {
    returned((|| match (fd::target(fd)?, u64::try_from(len)) {
        (Target::File(handle), Ok(len)) => answered(Files::set_len(handle, len)).map(|()| 0),
        _ => Err(Errno(EINVAL)),
    })())
}

/// Waits until everything written is on the host's disk.
#[unsafe(no_mangle)]
pub extern "C" fn sys_fsync(fd: i32) -> i32 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) => answered(Files::sync(handle)).map(|()| 0),
        _ => Err(Errno(EINVAL)),
    })())
}

/// Sets the permission bits of an open file.
#[unsafe(no_mangle)]
pub extern "C" fn sys_fchmod(fd: i32, mode: u32) -> i32 {
    returned((|| match fd::target(fd)? {
        Target::File(handle) => answered(StdFiles::set_mode(handle, mode)).map(|()| 0),
        _ => Err(Errno(EINVAL)),
    })())
}

/// Sets the permission bits of a path.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_chmod(name: *const c_char, mode: u32) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { path(name) }.and_then(|path| answered(StdFiles::set_mode_path(path, mode))).map(|()| 0))
}

fn filled(known: [u64; 13]) -> hermit_abi::stat {
    let time = |at: usize| timespec { tv_sec: known[at].cast_signed(), tv_nsec: known[at + 1] as i32 };
    hermit_abi::stat {
        st_dev: known[field::DEV],
        st_ino: known[field::INO],
        st_nlink: known[field::LINKS],
        st_mode: known[field::MODE] as u32,
        st_uid: known[field::OWNER] as u32,
        st_gid: (known[field::OWNER] >> 32) as u32,
        st_rdev: 0,
        st_size: known[field::SIZE].cast_signed(),
        st_blksize: i64::from(known[field::BLOCKS] as u32),
        st_blocks: (known[field::BLOCKS] >> 32) as i64,
        st_atim: time(field::ACCESSED),
        st_mtim: time(field::MODIFIED),
        // `std` takes it for the time of creation.
        st_ctim: time(field::CREATED),
    }
}

/// # Safety
/// `into` is null or valid for a write.
unsafe fn give(into: *mut hermit_abi::stat, stat: Result<hermit_abi::stat, Errno>) -> i32 {
    returned(stat.and_then(|stat| {
        // SAFETY: the caller's.
        *unsafe { into.as_mut() }.ok_or(Errno(EINVAL))? = stat;
        Ok(0)
    }))
}

/// What is known of an open file.
///
/// # Safety
/// `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_fstat(fd: i32, into: *mut hermit_abi::stat) -> i32 {
    let of_kind = |mode| hermit_abi::stat { st_mode: mode, st_nlink: 1, st_blksize: 4096, ..hermit_abi::stat::default() };
    let stat = fd::target(fd).and_then(|target| match target {
        Target::File(handle) | Target::Dir(handle) => answered(StdFiles::stat(handle)).map(filled),
        Target::Input | Target::Output(_) => Ok(of_kind(S_IFCHR | 0o600)),
        Target::Socket(_) => Ok(of_kind(S_IFSOCK | 0o600)),
    });
    // SAFETY: the caller's.
    unsafe { give(into, stat) }
}

/// # Safety
/// `name` is a C string; `into` is null or valid for a write.
unsafe fn stat_path(name: *const c_char, follow: bool, into: *mut hermit_abi::stat) -> i32 {
    // SAFETY: the caller's.
    let stat = unsafe { path(name) }.and_then(|path| answered(StdFiles::stat_path(path, follow)).map(filled));
    // SAFETY: the caller's.
    unsafe { give(into, stat) }
}

/// What is known of a path, symbolic links followed.
///
/// # Safety
/// `name` is a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_stat(name: *const c_char, into: *mut hermit_abi::stat) -> i32 {
    // SAFETY: the caller's.
    unsafe { stat_path(name, true, into) }
}

/// What is known of a path, a symbolic link itself included.
///
/// # Safety
/// `name` is a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_lstat(name: *const c_char, into: *mut hermit_abi::stat) -> i32 {
    // SAFETY: the caller's.
    unsafe { stat_path(name, false, into) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_the_hosts_options() {
        assert_eq!(options(O_RDONLY), Ok(open::READ));
        assert_eq!(options(O_WRONLY | O_CREAT | O_TRUNC), Ok(open::WRITE | open::CREATE | open::TRUNCATE));
        assert_eq!(options(O_RDWR | O_CREAT | O_EXCL), Ok(open::READ | open::WRITE | open::CREATE | open::CREATE_NEW));
        assert_eq!(options(O_WRONLY | O_APPEND), Ok(open::APPEND));
        assert_eq!(options(O_RDWR | O_APPEND | O_CREAT), Ok(open::READ | open::APPEND | open::CREATE));
        assert_eq!(options(O_RDWR | O_WRONLY), Err(Errno(EINVAL)));
    }
}
