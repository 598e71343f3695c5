//! What is known of files, and of the file systems that they are in.

use crate::abi::errno::{EINVAL, ENOSYS};
use crate::abi::{
    AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, S_IFCHR, S_IFIFO, S_IFSOCK, STATX_BASIC_STATS, STATX_BTIME, stat, statfs, statvfs, statx,
    statx_timestamp, timespec,
};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::object::Kind;
use crate::local::special::{self, Named};
use crate::place::{self, at};
use crate::services::{StdFiles, StdSystem};
use core::ffi::c_char;
use hostcall_abi::std_services::{space, stat as field};

fn filled(known: Known) -> stat {
    let time = |at: usize| timespec { tv_sec: known[at].cast_signed(), tv_nsec: known[at + 1].cast_signed() };
    let born = time(field::CREATED);
    stat {
        st_dev: known[field::DEV],
        st_ino: known[field::INO],
        st_nlink: known[field::LINKS],
        st_mode: known[field::MODE] as u32,
        st_uid: known[field::OWNER] as u32,
        st_gid: (known[field::OWNER] >> 32) as u32,
        st_pad0: 0,
        st_rdev: known[field::RDEV],
        st_size: known[field::SIZE].cast_signed(),
        st_blksize: i64::from(known[field::BLOCKS] as u32),
        st_blocks: (known[field::BLOCKS] >> 32) as i64,
        st_atim: time(field::ACCESSED),
        st_mtim: time(field::MODIFIED),
        st_ctim: time(field::CHANGED),
        st_birthtim: born,
        st_has_birthtim: i64::from(born != timespec::default()),
    }
}

/// # Safety
/// `into` is null or valid for a write.
unsafe fn give(into: *mut stat, known: Result<stat, Errno>) -> i32 {
    returned(known.and_then(|known| {
        // SAFETY: the caller's.
        *unsafe { into.as_mut() }.ok_or(Errno(EINVAL))? = known;
        Ok(0)
    }))
}

/// What is known of an open file.
///
/// # Safety
/// `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fstat(fd: i32, into: *mut stat) -> i32 {
    // SAFETY: the caller's.
    unsafe { give(into, of_descriptor(fd).map(filled)) }
}

/// As the host says it.
type Known = [u64; 16];

/// What is known of what the host has no file for.
fn of_kind(mode: u32, [major, minor]: [u32; 2]) -> Known {
    let mut known = [0; 16];
    (known[field::MODE], known[field::LINKS], known[field::BLOCKS]) = (u64::from(mode), 1, 4096);
    known[field::RDEV] = u64::from(major) << 8 | u64::from(minor);
    known
}

fn of_object(kind: Kind) -> Known {
    match kind {
        Kind::Pipe => of_kind(S_IFIFO | 0o600, [0; 2]),
        Kind::Socket => of_kind(S_IFSOCK | 0o777, [0; 2]),
        Kind::Device(number) => {
            let mut known = of_kind(S_IFCHR | 0o666, number);
            // No two of them are the same file.
            (known[field::DEV], known[field::INO]) = (DEVICES, known[field::RDEV]);
            known
        }
        Kind::Anonymous => of_kind(0o600, [0; 2]),
    }
}

/// The file system, as Linux numbers one without a disk, that the names under `/dev` are in.
const DEVICES: u64 = 5;

fn of_descriptor(fd: i32) -> Result<Known, Errno> {
    match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => answered(StdFiles::stat(handle)),
        Target::Input => answered(StdSystem::stream(0)),
        Target::Output(stream) => answered(StdSystem::stream(stream)),
        Target::Socket(_) => Ok(of_kind(S_IFSOCK | 0o600, [0; 2])),
        Target::Object(reference) => Ok(of_object(fd::held(reference)?.kind())),
    }
}

fn of_path(path: &[u8], follow: bool) -> Result<Known, Errno> {
    match special::named(path) {
        Some(Named::Special(special)) => Ok(of_object(Kind::Device(special.number()))),
        Some(Named::Descriptor(fd)) => of_descriptor(fd),
        Some(Named::Terminal) => Ok(of_kind(S_IFCHR | 0o666, [5, 0])),
        None => answered(StdFiles::stat_path(path, follow)),
    }
}

/// What is known of a path from a directory on, or with `AT_EMPTY_PATH` of the descriptor itself.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn known_at(dir: i32, name: *const c_char, flags: i32) -> Result<Known, Errno> {
    // SAFETY: the caller's.
    if flags & AT_EMPTY_PATH != 0 && (name.is_null() || unsafe { *name } == 0) {
        return if dir == AT_FDCWD { answered(StdFiles::stat_path(&place::current_path(), true)) } else { of_descriptor(dir) };
    }
    // SAFETY: the caller's.
    let path = unsafe { at(dir, name) }?;
    of_path(&path, flags & AT_SYMLINK_NOFOLLOW == 0)
}

/// What is known of a path, symbolic links followed.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_stat(name: *const c_char, into: *mut stat) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_fstatat(AT_FDCWD, name, into, 0) }
}

/// What is known of a path, a symbolic link itself included.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_lstat(name: *const c_char, into: *mut stat) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_fstatat(AT_FDCWD, name, into, AT_SYMLINK_NOFOLLOW) }
}

/// What is known of a path from a directory on.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fstatat(dir: i32, name: *const c_char, into: *mut stat, flags: i32) -> i32 {
    // SAFETY: the caller's.
    let known = unsafe { known_at(dir, name, flags) };
    // SAFETY: the caller's.
    unsafe { give(into, known.map(filled)) }
}

fn extended(known: Known) -> statx {
    let time = |at: usize| statx_timestamp { tv_sec: known[at].cast_signed(), tv_nsec: known[at + 1] as u32, pad: 0 };
    let device = |number: u64| [(number >> 8 & 0xfff | number >> 32 & !0xfff) as u32, (number & 0xff | number >> 12 & 0xffff_ff00) as u32];
    let born = time(field::CREATED);
    let created = if (born.tv_sec, born.tv_nsec) == (0, 0) { 0 } else { STATX_BTIME };
    statx {
        stx_mask: STATX_BASIC_STATS | created,
        stx_blksize: known[field::BLOCKS] as u32,
        stx_nlink: known[field::LINKS] as u32,
        stx_uid: known[field::OWNER] as u32,
        stx_gid: (known[field::OWNER] >> 32) as u32,
        stx_mode: known[field::MODE] as u16,
        stx_ino: known[field::INO],
        stx_size: known[field::SIZE],
        stx_blocks: known[field::BLOCKS] >> 32,
        stx_atime: time(field::ACCESSED),
        stx_btime: born,
        stx_ctime: time(field::CHANGED),
        stx_mtime: time(field::MODIFIED),
        stx_rdev: device(known[field::RDEV]),
        stx_dev: device(known[field::DEV]),
        ..statx::default()
    }
}

/// What is known of a path from a directory on, in Linux's own form.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_statx(dir: i32, name: *const c_char, flags: i32, _mask: u32, into: *mut statx) -> i32 {
    // SAFETY: the caller's.
    let known = unsafe { known_at(dir, name, flags) };
    returned(known.and_then(|known| {
        // SAFETY: the caller's.
        *unsafe { into.as_mut() }.ok_or(Errno(EINVAL))? = extended(known);
        Ok(0)
    }))
}

fn filled_space(known: [u64; 11]) -> statfs {
    statfs {
        f_type: known[space::TYPE],
        f_bsize: known[space::BLOCK],
        f_blocks: known[space::BLOCKS],
        f_bfree: known[space::FREE],
        f_bavail: known[space::AVAILABLE],
        f_files: known[space::FILES],
        f_ffree: known[space::FILES_FREE],
        f_fsid: [known[space::ID] as i32, (known[space::ID] >> 32) as i32],
        f_namelen: known[space::NAME],
        f_frsize: known[space::FRAGMENT],
        f_flags: known[space::FLAGS],
        f_spare: [0; 4],
    }
}

fn filled_room(known: [u64; 11]) -> statvfs {
    statvfs {
        f_bsize: known[space::BLOCK],
        f_frsize: known[space::FRAGMENT],
        f_blocks: known[space::BLOCKS],
        f_bfree: known[space::FREE],
        f_bavail: known[space::AVAILABLE],
        f_files: known[space::FILES],
        f_ffree: known[space::FILES_FREE],
        f_favail: known[space::FILES_FREE],
        f_fsid: known[space::ID],
        f_flag: known[space::FLAGS],
        f_namemax: known[space::NAME],
        f_type: known[space::TYPE] as u32,
        reserved: [0; 5],
    }
}

fn space_of(fd: i32) -> Result<[u64; 11], Errno> {
    match fd::target(fd)? {
        Target::File(handle) | Target::Dir(handle) => answered(StdFiles::space(handle)),
        _ => Err(Errno(ENOSYS)),
    }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn space_at(name: *const c_char) -> Result<[u64; 11], Errno> {
    // SAFETY: the caller's.
    let path = unsafe { at(AT_FDCWD, name) }?;
    answered(StdFiles::space_path(&path))
}

/// # Safety
/// `into` is null or valid for a write.
unsafe fn put<T>(into: *mut T, value: Result<T, Errno>) -> i32 {
    returned(value.and_then(|value| {
        // SAFETY: the caller's.
        *unsafe { into.as_mut() }.ok_or(Errno(EINVAL))? = value;
        Ok(0)
    }))
}

/// How much room there is in the file system that a path is in.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_statfs(name: *const c_char, into: *mut statfs) -> i32 {
    // SAFETY: the caller's.
    unsafe { put(into, space_at(name).map(filled_space)) }
}

/// As [`libc_statfs`], of what is open.
///
/// # Safety
/// `into` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fstatfs(fd: i32, into: *mut statfs) -> i32 {
    // SAFETY: the caller's.
    unsafe { put(into, space_of(fd).map(filled_space)) }
}

/// As [`libc_statfs`], in POSIX's form.
///
/// # Safety
/// As [`libc_statfs`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_statvfs(name: *const c_char, into: *mut statvfs) -> i32 {
    // SAFETY: the caller's.
    unsafe { put(into, space_at(name).map(filled_room)) }
}

/// As [`libc_fstatfs`], in POSIX's form.
///
/// # Safety
/// As [`libc_fstatfs`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fstatvfs(fd: i32, into: *mut statvfs) -> i32 {
    // SAFETY: the caller's.
    unsafe { put(into, space_of(fd).map(filled_room)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_says_lies_where_c_looks_for_it() {
        let mut known: Known = core::array::from_fn(|i| 100 + i as u64);
        known[field::OWNER] = 7 << 32 | 5;
        known[field::BLOCKS] = 8 << 32 | 4096;
        // A disk's: 259, 70000.
        known[field::RDEV] = 0x1111_0370;
        let stat = filled(known);
        assert_eq!((stat.st_uid, stat.st_gid, stat.st_blksize, stat.st_blocks, stat.st_rdev), (5, 7, 4096, 8, known[field::RDEV]));
        assert_eq!((stat.st_ctim.tv_sec, stat.st_mtim.tv_sec, stat.st_birthtim.tv_sec), (113, 109, 111));
        let more = extended(known);
        assert_eq!(more.stx_rdev, [0x103, 0x1_1170]);
        assert_eq!((more.stx_mask & STATX_BTIME, more.stx_ctime.tv_sec, more.stx_nlink), (STATX_BTIME, 113, 102));
        known[field::CREATED] = 0;
        known[field::CREATED + 1] = 0;
        assert_eq!((filled(known).st_has_birthtim, extended(known).stx_mask & STATX_BTIME), (0, 0));
    }
}
