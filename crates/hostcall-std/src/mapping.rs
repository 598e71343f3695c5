//! `mmap`: memory by the page, and files in memory.
//!
//! The host's memory cannot be seen here page by page, so a file is read when it is mapped, all of what is asked for.
//! So a mapping takes its length of the device's heap, and a shared one of a file for writing twice that. How shared
//! ones stay as their files are is in `mapped`; private ones are the program's own from the beginning. Behind the end
//! of the file there are zeros, which are not written.
//!
//! The memory of a part that is unmapped comes back with the rest.

use crate::abi::errno::{EFAULT, EINVAL, ENODEV, ENOMEM, EOPNOTSUPP, EPERM};
use crate::abi::{
    MADV_DONTNEED, MAP_ANONYMOUS, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_PRIVATE, MAP_SHARED, MAP_SHARED_VALIDATE, MREMAP_MAYMOVE, O_APPEND,
    PROT_EXEC, PROT_WRITE,
};
use crate::error::{Errno, returned};
use crate::fd::{self, Target};
use crate::local::{spin::Spin, table};
use crate::mapped::{self, PAGE, Source};
use crate::variadic::More;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::ops::Range;

/// What `mmap` returns when it fails.
const FAILED: *mut c_void = usize::MAX as *mut c_void;

/// Memory that `mmap` gave.
struct Mapping {
    at: usize,
    /// A multiple of [`PAGE`].
    len: usize,
    /// Bytes that have been unmapped.
    gone: usize,
}

/// All but shared mappings of files.
static ALL: Spin<Vec<Mapping>> = Spin::new(Vec::new());

fn pages(len: usize) -> Result<usize, Errno> {
    len.checked_next_multiple_of(PAGE).filter(|len| *len > 0).ok_or(Errno(if len == 0 { EINVAL } else { ENOMEM }))
}

fn map(len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> Result<*mut c_void, Errno> {
    let len = pages(len)?;
    if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
        return Err(Errno(EOPNOTSUPP));
    }
    if protection & PROT_EXEC != 0 {
        return Err(Errno(EPERM));
    }
    let kind = flags & MAP_SHARED_VALIDATE;
    if ![MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE].contains(&kind) {
        return Err(Errno(EINVAL));
    }
    let source = if flags & MAP_ANONYMOUS != 0 {
        None
    } else {
        let offset = u64::try_from(offset).ok().filter(|offset| offset % PAGE as u64 == 0).ok_or(Errno(EINVAL))?;
        match fd::target(fd)? {
            Target::File(handle) => Some(Source { handle, appends: table::own_flags(fd) & O_APPEND != 0, offset }),
            _ => return Err(Errno(ENODEV)),
        }
    };
    if let (Some(source), false) = (source, kind == MAP_PRIVATE) {
        return mapped::share(source, len, protection & PROT_WRITE != 0).map(|at| at as *mut c_void);
    }
    let at = mapped::zeroed(len)?;
    // SAFETY: just made, of that length.
    let bytes = unsafe { core::slice::from_raw_parts_mut(at as *mut u8, len) };
    if let Some(Err(error)) = source.map(|source| mapped::fill(source.handle, source.offset, bytes)) {
        // SAFETY: nobody has been given it.
        unsafe { mapped::free(at, len) };
        return Err(error);
    }
    ALL.with(|all| all.push(Mapping { at, len, gone: 0 }));
    Ok(at as *mut c_void)
}

/// Memory, of a file or with zeros; `MAP_FAILED` and an error number.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mmap(_hint: *mut c_void, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void {
    map(len, protection, flags, fd, offset).unwrap_or_else(|error| {
        let _: i32 = returned(Err(error));
        FAILED
    })
}

/// The first page of a range, and its length in bytes.
fn whole_pages(at: *const c_void, len: usize) -> Result<(usize, usize), Errno> {
    if (at as usize).is_multiple_of(PAGE) { Ok((at as usize, pages(len)?)) } else { Err(Errno(EINVAL)) }
}

/// The mapping of no file that a range is in: where it begins, and what of it the range is.
fn find(at: usize, len: usize) -> Option<(usize, Range<usize>)> {
    ALL.with(|all| {
        let mapping = all.iter().find(|mapping| mapping.at <= at && at < mapping.at + mapping.len)?;
        let start = at - mapping.at;
        Some((mapping.at, start..mapping.len.min(start.checked_add(len)?)))
    })
}

/// Writes what was stored in a shared mapping to its file.
///
/// # Safety
/// The mapping stays meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_msync(at: *mut c_void, len: usize, _flags: i32) -> i32 {
    returned((|| {
        let (at, len) = whole_pages(at, len)?;
        if find(at, len).is_some() {
            return Ok(0);
        }
        mapped::sync(at, len).ok_or(Errno(ENOMEM))?.map(|()| 0)
    })())
}

/// Gives a mapping back; what was stored in a shared one is written first.
///
/// # Safety
/// Nobody uses that memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_munmap(at: *mut c_void, len: usize) -> i32 {
    returned((|| {
        let (at, len) = whole_pages(at, len)?;
        let Some((start, part)) = find(at, len) else {
            // If nothing is mapped there, that is what was asked for.
            // SAFETY: the caller's.
            let _ = unsafe { mapped::unmap(at, len) };
            return Ok(0);
        };
        let ended = ALL.with(|all| {
            let place = all.iter().position(|mapping| mapping.at == start)?;
            all[place].gone += part.len();
            (all[place].gone >= all[place].len).then(|| all.swap_remove(place))
        });
        if let Some(Mapping { at, len, .. }) = ended {
            // SAFETY: the caller's: all of it has been given back.
            unsafe { mapped::free(at, len) };
        }
        Ok(0)
    })())
}

/// Makes a mapping longer or shorter, if it may be moved.
///
/// # Safety
/// Nobody uses the old memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mremap(at: *mut c_void, len: usize, new_len: usize, flags: i32, _more: More) -> *mut c_void {
    let moved = (|| {
        let ((start, len), new_len) = (whole_pages(at, len)?, pages(new_len)?);
        if flags & !MREMAP_MAYMOVE != 0 {
            return Err(Errno(EINVAL));
        }
        let shared = mapped::source(start);
        match find(start, len) {
            Some((first, _)) if first != start => return Err(Errno(EINVAL)),
            None if shared.is_none() => return Err(Errno(EFAULT)),
            _ => {}
        }
        if new_len == len {
            return Ok(at);
        }
        if flags & MREMAP_MAYMOVE == 0 {
            return Err(Errno(ENOMEM));
        }
        let new = match shared {
            Some((source, writable)) => mapped::share(source, new_len, writable)? as *mut c_void,
            None => {
                let new = map(new_len, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)?;
                // SAFETY: as much as both have.
                unsafe { new.cast::<u8>().copy_from_nonoverlapping(at.cast(), len.min(new_len)) };
                new
            }
        };
        // SAFETY: the caller's.
        unsafe { libc_munmap(at, len) };
        Ok(new)
    })();
    moved.unwrap_or_else(|error| {
        let _: i32 = returned(Err(error));
        FAILED
    })
}

/// What may be done with memory: everything, whatever is asked for, but to execute it, and to store to a file that may
/// not be written.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mprotect(at: *mut c_void, _len: usize, protection: i32) -> i32 {
    returned((|| {
        if protection & PROT_EXEC != 0 {
            return Err(Errno(EPERM));
        }
        if protection & PROT_WRITE != 0 {
            mapped::allow(at as usize).unwrap_or(Ok(()))?;
        }
        Ok(0)
    })())
}

/// How memory will be used. Of memory without a file that is not needed, zeros are left; else nothing comes of it.
///
/// # Safety
/// Nobody uses that memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_madvise(at: *mut c_void, len: usize, advice: i32) -> i32 {
    returned((|| {
        if advice != MADV_DONTNEED || len == 0 {
            return Ok(0);
        }
        let (at, len) = whole_pages(at, len)?;
        match find(at, len) {
            // SAFETY: within the mapping, and the caller's.
            Some((_, part)) => unsafe { (at as *mut u8).write_bytes(0, part.len()) },
            None if mapped::source(at).is_none() => return Err(Errno(ENOMEM)),
            None => {}
        }
        Ok(0)
    })())
}

/// Memory is never moved out.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mlock(_at: *const c_void, _len: usize) -> i32 {
    0
}

/// Memory is never moved out.
#[unsafe(no_mangle)]
pub extern "C" fn libc_munlock(_at: *const c_void, _len: usize) -> i32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let private = MAP_PRIVATE | MAP_ANONYMOUS;
        assert_eq!(map(0, PROT_WRITE, private, -1, 0), Err(Errno(EINVAL)));
        assert_eq!(map(usize::MAX, PROT_WRITE, private, -1, 0), Err(Errno(ENOMEM)));
        assert_eq!(map(PAGE, PROT_WRITE, private | MAP_FIXED, -1, 0), Err(Errno(EOPNOTSUPP)));
        assert_eq!(map(PAGE, PROT_EXEC, private, -1, 0), Err(Errno(EPERM)));
        assert_eq!(map(PAGE, PROT_WRITE, MAP_ANONYMOUS, -1, 0), Err(Errno(EINVAL)));
        assert_eq!(map(PAGE, PROT_WRITE, MAP_PRIVATE, 1, 1), Err(Errno(EINVAL)));
        assert_eq!(map(PAGE, PROT_WRITE, MAP_PRIVATE, 1, 0), Err(Errno(ENODEV)));
    }
}
