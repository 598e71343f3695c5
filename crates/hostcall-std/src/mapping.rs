//! `mmap`: memory by the page, and files in memory.
//!
//! The host's memory cannot be seen here page by page, so a file is read when it is mapped, all of what is asked for.
//! What a program changes in a shared mapping is written at `msync` and `munmap`: those pages that are not any more as
//! they were read or last written. So a mapping takes its length of the device's heap, and a shared one for writing
//! twice that. What others write to the file meanwhile is not seen. Behind the end of the file there are zeros, which
//! are not written.
//!
//! A part of a mapping that is unmapped is written back, and its memory comes back with the rest.

use crate::abi::errno::{EACCES, EBADF, EINVAL, ENODEV, ENOMEM, EOPNOTSUPP, EPERM};
use crate::abi::{
    MADV_DONTNEED, MAP_ANONYMOUS, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_PRIVATE, MAP_SHARED, MAP_SHARED_VALIDATE, MREMAP_MAYMOVE, PROT_EXEC,
    PROT_WRITE,
};
use crate::arguments::most;
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::spin::Spin;
use crate::memory;
use crate::services::StdFiles;
use crate::variadic::More;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::ops::Range;
use hostcall_abi::std_services::stat as field;
use hostcall_device::__runtime::Files;

/// Bytes of a page.
const PAGE: usize = 4096;
/// What `mmap` returns when it fails.
const FAILED: *mut c_void = usize::MAX as *mut c_void;

/// Memory that `mmap` gave.
struct Mapping {
    at: usize,
    /// A multiple of [`PAGE`].
    len: usize,
    /// Of a shared mapping of a file for writing.
    file: Option<Shared>,
    /// Bytes that have been unmapped.
    gone: usize,
}

/// Where what is changed goes.
#[derive(Clone, Copy)]
struct Shared {
    /// A handle of the mapping's own: the program may close its descriptor.
    handle: u64,
    offset: u64,
    /// What the file had when it was read or last written: as much memory as the mapping has.
    before: usize,
}

static ALL: Spin<Vec<Mapping>> = Spin::new(Vec::new());

fn pages(len: usize) -> Result<usize, Errno> {
    len.checked_next_multiple_of(PAGE).filter(|len| *len > 0).ok_or(Errno(if len == 0 { EINVAL } else { ENOMEM }))
}

fn zeroed(len: usize) -> Result<*mut u8, Errno> {
    let block = memory::sys_alloc_zeroed(len, PAGE);
    if block.is_null() { Err(Errno(ENOMEM)) } else { Ok(block) }
}

/// Gives pages back that were made by [`zeroed`].
///
/// # Safety
/// `at` and `len` are of one block, which nobody uses any more.
unsafe fn free(at: usize, len: usize) {
    // SAFETY: the caller's.
    unsafe { memory::sys_free(at as *mut u8, len, PAGE) };
}

/// Reads a file from `offset` on, as far as it goes.
fn read(handle: u64, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < into.len() {
        let end = into.len().min(done + most());
        match answered(Files::read_at(handle, offset + done as u64, &mut into[done..end]))? as usize {
            0 => break,
            read => done += read.min(end - done),
        }
    }
    Ok(())
}

fn write(handle: u64, offset: u64, from: &[u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < from.len() {
        let end = from.len().min(done + most());
        match answered(Files::write_at(handle, offset + done as u64, &from[done..end]))? as usize {
            0 => return Err(Errno(crate::abi::errno::EIO)),
            written => done += written.min(end - done),
        }
    }
    Ok(())
}

/// Neighbouring pages of `now` that are not as in `before`, one run of them after another.
fn changed(now: &[u8], before: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (i, (now, before)) in now.chunks(PAGE).zip(before.chunks(PAGE)).enumerate() {
        if now == before {
            continue;
        }
        let (start, end) = (i * PAGE, i * PAGE + now.len());
        match runs.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => runs.push(start..end),
        }
    }
    runs
}

/// Writes what was changed in a part of a mapping.
///
/// # Safety
/// `part` is within the mapping's memory, which stays meanwhile.
unsafe fn write_back(shared: Shared, at: usize, part: Range<usize>) -> Result<(), Errno> {
    let size = answered(StdFiles::stat(shared.handle))?[field::SIZE];
    let inside = usize::try_from(size.saturating_sub(shared.offset)).unwrap_or(usize::MAX);
    let part = part.start.min(inside)..part.end.min(inside);
    // SAFETY: the caller's. What another thread writes meanwhile is seen now or at the next time, as on Linux.
    let (now, before) = unsafe {
        (
            core::slice::from_raw_parts((at + part.start) as *const u8, part.len()),
            core::slice::from_raw_parts_mut((shared.before + part.start) as *mut u8, part.len()),
        )
    };
    for run in changed(now, before) {
        before[run.clone()].copy_from_slice(&now[run.clone()]);
        write(shared.handle, shared.offset + (part.start + run.start) as u64, &before[run])?;
    }
    Ok(())
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
    let file = if flags & MAP_ANONYMOUS != 0 {
        None
    } else {
        let offset = u64::try_from(offset).ok().filter(|offset| offset % PAGE as u64 == 0).ok_or(Errno(EINVAL))?;
        match fd::target(fd)? {
            Target::File(handle) => Some((handle, offset)),
            _ => return Err(Errno(ENODEV)),
        }
    };
    let block = zeroed(len)?;
    // SAFETY: just made, of that length.
    let bytes = unsafe { core::slice::from_raw_parts_mut(block, len) };
    let shared = match file {
        None => Ok(None),
        Some((handle, offset)) => fill(handle, offset, bytes, kind != MAP_PRIVATE && protection & PROT_WRITE != 0),
    };
    match shared {
        Ok(file) => {
            ALL.with(|all| all.push(Mapping { at: block as usize, len, file, gone: 0 }));
            Ok(block.cast())
        }
        Err(error) => {
            // SAFETY: nobody has been given it.
            unsafe { free(block as usize, len) };
            Err(error)
        }
    }
}

/// Fills a mapping from its file; if what is changed is to be written, how.
fn fill(handle: u64, offset: u64, into: &mut [u8], shared: bool) -> Result<Option<Shared>, Errno> {
    let no_access = |error| if error == Errno(EBADF) { Errno(EACCES) } else { error };
    read(handle, offset, into).map_err(no_access)?;
    if !shared {
        return Ok(None);
    }
    // Nothing is written: it is asked whether something may be.
    answered(Files::write_at(handle, 0, &[])).map_err(no_access)?;
    let before = zeroed(into.len())?;
    // SAFETY: just made, of that length.
    unsafe { before.copy_from_nonoverlapping(into.as_ptr(), into.len()) };
    match answered(StdFiles::duplicate(handle)) {
        Ok(handle) => Ok(Some(Shared { handle, offset, before: before as usize })),
        Err(error) => {
            // SAFETY: nobody has been given it.
            unsafe { free(before as usize, into.len()) };
            Err(error)
        }
    }
}

/// Memory, of a file or with zeros; `MAP_FAILED` and an error number.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mmap(_hint: *mut c_void, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void {
    map(len, protection, flags, fd, offset).unwrap_or_else(|error| {
        let _: i32 = returned(Err(error));
        FAILED
    })
}

/// The mapping that a range is in: where it begins, what of it the range is, and its file.
fn find(at: *const c_void, len: usize) -> Result<(usize, Range<usize>, Option<Shared>), Errno> {
    let (at, len) = (at as usize, pages(len)?);
    if at % PAGE != 0 {
        return Err(Errno(EINVAL));
    }
    let found = ALL.with(|all| {
        let mapping = all.iter().find(|mapping| mapping.at <= at && at < mapping.at + mapping.len)?;
        let start = at - mapping.at;
        Some((mapping.at, start..mapping.len.min(start.checked_add(len)?), mapping.file))
    });
    found.ok_or(Errno(ENOMEM))
}

/// Writes what was changed in a shared mapping to its file.
///
/// # Safety
/// The mapping stays meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_msync(at: *mut c_void, len: usize, _flags: i32) -> i32 {
    returned((|| {
        let (start, part, file) = find(at, len)?;
        // SAFETY: the caller's; the part is within the mapping.
        file.map_or(Ok(()), |file| unsafe { write_back(file, start, part) }).map(|()| 0)
    })())
}

/// Gives a mapping back; what was changed in a shared one is written first.
///
/// # Safety
/// Nobody uses that memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_munmap(at: *mut c_void, len: usize) -> i32 {
    returned((|| {
        let (start, part, file) = match find(at, len) {
            // Nothing is mapped there, which is what was asked for.
            Err(Errno(ENOMEM)) => return Ok(0),
            found => found?,
        };
        if let Some(file) = file {
            // SAFETY: the caller's. An error is told nobody, as on Linux.
            let _ = unsafe { write_back(file, start, part.clone()) };
        }
        let ended = ALL.with(|all| {
            let place = all.iter().position(|mapping| mapping.at == start)?;
            all[place].gone += part.len();
            (all[place].gone >= all[place].len).then(|| all.swap_remove(place))
        });
        if let Some(Mapping { at, len, file, .. }) = ended {
            if let Some(file) = file {
                let _ = Files::close(file.handle);
                // SAFETY: the mapping's own.
                unsafe { free(file.before, len) };
            }
            // SAFETY: the caller's: all of it has been given back.
            unsafe { free(at, len) };
        }
        Ok(0)
    })())
}

/// Makes a mapping of no file longer or shorter, if it may be moved.
///
/// # Safety
/// Nobody uses the old memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_mremap(at: *mut c_void, len: usize, new_len: usize, flags: i32, _more: More) -> *mut c_void {
    let moved = (|| {
        let (start, part, file) = find(at, len)?;
        if file.is_some() || start != at as usize || flags & !MREMAP_MAYMOVE != 0 {
            return Err(Errno(EINVAL));
        }
        if pages(new_len)? == part.len() {
            return Ok(at);
        }
        if flags & MREMAP_MAYMOVE == 0 {
            return Err(Errno(ENOMEM));
        }
        let new = map(new_len, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)?;
        // SAFETY: as much as both have.
        unsafe { new.cast::<u8>().copy_from_nonoverlapping(at.cast(), part.len().min(new_len)) };
        // SAFETY: the caller's.
        unsafe { libc_munmap(at, len) };
        Ok(new)
    })();
    moved.unwrap_or_else(|error| {
        let _: i32 = returned(Err(error));
        FAILED
    })
}

/// What may be done with memory: everything, whatever is asked for, but to execute it.
#[unsafe(no_mangle)]
pub extern "C" fn libc_mprotect(_at: *mut c_void, _len: usize, protection: i32) -> i32 {
    returned(if protection & PROT_EXEC != 0 { Err(Errno(EPERM)) } else { Ok(0) })
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
        let (start, part, file) = find(at, len)?;
        if file.is_none() {
            // SAFETY: within the mapping, and the caller's.
            unsafe { ((start + part.start) as *mut u8).write_bytes(0, part.len()) };
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
    fn pages_that_changed_are_written_in_runs() {
        let before = vec![0u8; 5 * PAGE + 10];
        let mut now = before.clone();
        assert!(changed(&now, &before).is_empty());
        (now[PAGE], now[2 * PAGE + 5], now[5 * PAGE + 9]) = (1, 1, 1);
        assert_eq!(changed(&now, &before), [PAGE..3 * PAGE, 5 * PAGE..5 * PAGE + 10]);
    }

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
