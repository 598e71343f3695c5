//! Where a path begins: at the root of the grants, in the current directory, or in a directory that is open.
//!
//! The host knows one tree, and the directory in which the program starts: relative paths begin there. So until the
//! program goes elsewhere they are left as they are. Afterwards, and in directories that are open, what is relative is
//! joined here, to the path of the directory as it was opened. If a directory is renamed while it is open, its
//! descriptor names what is found under its former path.

use crate::abi::AT_FDCWD;
use crate::abi::errno::{EBADF, EINVAL, ENOENT, ENOTDIR, ERANGE};
use crate::arguments::path as text;
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::{spin::Spin, table};
use crate::memory;
use crate::services::{StdFiles, StdSystem};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ffi::c_char;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use hostcall_abi::std_services::stat as field;

/// A path as the host wants it.
pub(crate) type Path<'a> = Cow<'a, [u8]>;

/// The longest path, its end included.
pub(crate) const PATH_MAX: usize = 4096;

/// The current directory, without links; empty for the root.
static CURRENT: Spin<Vec<u8>> = Spin::new(Vec::new());
/// What there is to know of it, one of the three below.
static STATE: AtomicU32 = AtomicU32::new(NOT_ASKED);
/// The program is where it started, and has not asked where that is.
const NOT_ASKED: u32 = 0;
/// The program is where it started.
const AT_START: u32 = 1;
/// The program went somewhere.
const MOVED: u32 = 2;

/// `name` in a directory.
fn join<'a>(dir: &[u8], name: &[u8]) -> Path<'a> {
    let mut all = Vec::with_capacity(dir.len() + name.len() + 2);
    if !dir.starts_with(b"/") {
        all.push(b'/');
    }
    all.extend_from_slice(dir);
    if !all.ends_with(b"/") {
        all.push(b'/');
    }
    all.extend_from_slice(name);
    all.into()
}

/// The path of the current directory.
pub(crate) fn current_path() -> Vec<u8> {
    // Acquire pairs with the releases here and in `move_to`.
    if STATE.load(Ordering::Acquire) == NOT_ASKED {
        let mut start = alloc::vec![0; PATH_MAX];
        let len = StdSystem::start(&mut start).map_or(0, |len| len as usize);
        start.truncate(if len < PATH_MAX { len } else { 0 });
        if start == b"/" {
            start.clear();
        }
        // Whoever has gone elsewhere meanwhile knows better.
        let unused = CURRENT.with(|current| {
            if STATE.load(Ordering::Relaxed) == NOT_ASKED {
                STATE.store(AT_START, Ordering::Release);
                core::mem::replace(current, start)
            } else {
                start
            }
        });
        drop(unused);
    }
    let current = CURRENT.with(|current| current.clone());
    if current.is_empty() { b"/".to_vec() } else { current }
}

/// A path that begins in a directory's descriptor, or with `AT_FDCWD` in the current one.
///
/// # Safety
/// `name` is null or a C string that lives as long as what is done with it.
pub(crate) unsafe fn at<'a>(dir: i32, name: *const c_char) -> Result<Path<'a>, Errno> {
    // SAFETY: the caller's.
    let name = unsafe { text(name) }?;
    if name.is_empty() {
        return Err(Errno(ENOENT));
    }
    if name.starts_with(b"/") {
        return Ok(name.into());
    }
    if dir != AT_FDCWD {
        return of_directory(dir).map(|dir| join(&dir, name));
    }
    // Acquire pairs with the release in `move_to`.
    Ok(if STATE.load(Ordering::Acquire) == MOVED { join(&current_path(), name) } else { name.into() })
}

/// The path of a directory that is open.
pub(crate) fn of_directory(dir: i32) -> Result<Vec<u8>, Errno> {
    match fd::target(dir)? {
        Target::Dir(_) => table::path(dir).ok_or(Errno(EBADF)),
        _ => Err(Errno(ENOTDIR)),
    }
}

/// A path that begins in the current directory.
///
/// # Safety
/// As [`at`].
pub(crate) unsafe fn path<'a>(name: *const c_char) -> Result<Path<'a>, Errno> {
    // SAFETY: the caller's.
    unsafe { at(AT_FDCWD, name) }
}

/// Remembers where a directory is that was opened.
pub(crate) fn remember(fd: i32, path: &[u8]) {
    // From the root on: the current directory may be another one later.
    let whole = if path.starts_with(b"/") { path.into() } else { join(&current_path(), path) };
    table::set_path(fd, &whole);
}

fn move_to(path: &[u8]) -> Result<i32, Errno> {
    let mut found = alloc::vec![0; PATH_MAX];
    let only_slashes = path.iter().all(|byte| *byte == b'/');
    // The root is there whatever is granted.
    let len = if only_slashes { 0 } else { answered(StdFiles::canonicalize(path, &mut found))? as usize };
    found.truncate(len);
    if !only_slashes {
        let known = answered(StdFiles::stat_path(&found, true))?;
        if known[field::MODE] as u32 & crate::abi::S_IFMT != crate::abi::S_IFDIR {
            return Err(Errno(ENOTDIR));
        }
    }
    if found == b"/" {
        found.clear();
    }
    let old = CURRENT.with(|current| {
        // Release pairs with the acquires in `current_path` and `at`.
        STATE.store(MOVED, Ordering::Release);
        core::mem::replace(current, found)
    });
    drop(old);
    Ok(0)
}

/// Goes to another current directory.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_chdir(name: *const c_char) -> i32 {
    // SAFETY: the caller's.
    returned(unsafe { path(name) }.and_then(|path| move_to(&path)))
}

/// Goes to a directory that is open.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fchdir(fd: i32) -> i32 {
    returned(of_directory(fd).and_then(|path| move_to(&path)))
}

/// The current directory, in `into`, or if that is null in memory that `free` frees.
///
/// # Safety
/// `into` is null or valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getcwd(into: *mut c_char, len: usize) -> *mut c_char {
    let text = current_path();
    let failed = |error| {
        let _: i32 = returned(Err(Errno(error)));
        null_mut()
    };
    let into = match (into.is_null(), len) {
        (false, 0) => return failed(EINVAL),
        (false, len) | (true, len @ 1..) if len <= text.len() => return failed(ERANGE),
        (false, _) => into.cast(),
        (true, len) => memory::libc_malloc(len.max(text.len() + 1)),
    };
    if !into.is_null() {
        // SAFETY: there is room, as was looked at or made.
        unsafe {
            into.copy_from_nonoverlapping(text.as_ptr(), text.len());
            into.add(text.len()).write(0);
        }
    }
    into.cast()
}

/// The bits that are taken from the mode of what is created, and this bit, once they are known.
static UMASK: AtomicU32 = AtomicU32::new(0);
const KNOWN: u32 = 1 << 31;

fn umask() -> u32 {
    // Relaxed, as all of it: nothing is ordered by it.
    let known = UMASK.load(Ordering::Relaxed);
    if known & KNOWN != 0 {
        return known & !KNOWN;
    }
    // At first it is that of the host's process, as a child's is its parent's.
    let first = identity()[2] & 0o777;
    match UMASK.compare_exchange(known, first | KNOWN, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => first,
        Err(other) => other & !KNOWN,
    }
}

/// The mode of something that is created, without what the umask takes.
pub(crate) fn masked(mode: u32) -> u32 {
    mode & 0o7777 & !umask()
}

/// Sets the umask: what it was before.
#[unsafe(no_mangle)]
pub extern "C" fn libc_umask(mask: u32) -> u32 {
    let before = umask();
    UMASK.store(mask & 0o777 | KNOWN, Ordering::Relaxed);
    before
}

/// User, group and umask of the host's process; a host that does not say has root's.
fn identity() -> [u32; 3] {
    StdSystem::identity().unwrap_or([0, 0, 0o022])
}

/// User and group, once they are known.
static OWNER: AtomicU64 = AtomicU64::new(u64::MAX);

/// User and group of the host's process, which are those of the files that a program makes.
pub(crate) fn owner() -> [u32; 2] {
    // Relaxed: the numbers are in the word.
    let mut known = OWNER.load(Ordering::Relaxed);
    if known == u64::MAX {
        let [user, group, _] = identity();
        known = u64::from(group) << 32 | u64::from(user);
        OWNER.store(known, Ordering::Relaxed);
    }
    [known as u32, (known >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_relative_is_joined_with_one_slash() {
        for (dir, name, whole) in [
            ("/data", "f", "/data/f"),
            ("/data/", "d/f", "/data/d/f"),
            ("data", "f", "/data/f"),
            ("/", "f", "/f"),
            ("/", "", "/"),
            ("/data", "../x", "/data/../x"),
        ] {
            assert_eq!(&*join(dir.as_bytes(), name.as_bytes()), whole.as_bytes());
        }
    }

    #[test]
    fn paths_from_the_root_and_none_need_no_directory() {
        // SAFETY: C strings, and a null.
        unsafe {
            assert_eq!(&*at(77, c"/x".as_ptr()).unwrap(), b"/x");
            assert_eq!(&*at(AT_FDCWD, c"x/y".as_ptr()).unwrap(), b"x/y");
            assert_eq!(at(AT_FDCWD, c"".as_ptr()), Err(Errno(ENOENT)));
            assert_eq!(at(1 << 20, c"x".as_ptr()), Err(Errno(EBADF)));
            assert_eq!(at(AT_FDCWD, core::ptr::null()), Err(Errno(EINVAL)));
        }
    }
}
