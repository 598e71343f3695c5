//! Directories and what is in them.

use crate::abi::dirent64;
use crate::abi::errno::{EIO, ENAMETOOLONG, ENOMEM, ENOTDIR};
use crate::abi::{O_DIRECTORY, O_RDONLY};
use crate::arguments::most;
use crate::error::{Errno, answered};
use crate::fd::{self, Target};
use crate::place::{PATH_MAX, path};
use crate::services::StdFiles;
use crate::{file, lane, memory};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_char;
use core::ptr::null_mut;

/// Bytes of entries that are read at a time.
const BATCH: usize = 32 << 10;

/// A directory that is being read.
pub struct Stream {
    fd: i32,
    /// Entries as Linux's `getdents64` has them; the next begins at `at`.
    entries: Vec<u8>,
    at: usize,
    end: usize,
}

fn next_entries(fd: i32, into: &mut [u8]) -> Result<usize, Errno> {
    let Target::Dir(handle) = fd::target(fd)? else { return Err(Errno(ENOTDIR)) };
    let count = into.len().min(most());
    let used = answered(StdFiles::list(handle, &mut into[..count]))? as usize;
    if used > count { Err(Errno(EIO)) } else { Ok(used) }
}

impl Stream {
    fn of(fd: i32) -> Result<*mut Stream, Errno> {
        let Target::Dir(_) = fd::target(fd)? else { return Err(Errno(ENOTDIR)) };
        // Entries begin at multiples of eight.
        Ok(Box::into_raw(Box::new(Stream { fd, entries: vec![0; BATCH], at: 0, end: 0 })))
    }

    /// The next entry; null at the end.
    fn next(&mut self) -> Result<*mut dirent64, Errno> {
        if self.at >= self.end {
            self.end = next_entries(self.fd, &mut self.entries)?;
            self.at = 0;
            if self.end == 0 {
                return Ok(null_mut());
            }
        }
        let entry = self.entries.get(self.at..self.end).filter(|rest| rest.len() > NAME);
        let len = entry.map_or(0, |rest| usize::from(u16::from_ne_bytes([rest[LENGTH], rest[LENGTH + 1]])));
        // The host is trusted, and yet: an entry ends where the entries do, and its name where it does.
        let Some(entry) = self.entries.get_mut(self.at..self.end).and_then(|rest| rest.get_mut(..len)).filter(|entry| entry.len() > NAME)
        else {
            return Err(Errno(EIO));
        };
        let last = entry.len() - 1;
        entry[last] = 0;
        self.at += len;
        Ok(entry.as_mut_ptr().cast())
    }
}

/// Where an entry has its length, and its name.
const LENGTH: usize = core::mem::offset_of!(dirent64, d_reclen);
const NAME: usize = core::mem::offset_of!(dirent64, d_name);

fn pointer(stream: Result<*mut Stream, Errno>) -> *mut Stream {
    stream.unwrap_or_else(|error| {
        lane::here().set_errno(error.0);
        null_mut()
    })
}

/// Opens a directory to read it; null, and an error number.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_opendir(name: *const c_char) -> *mut Stream {
    // SAFETY: the caller's.
    pointer(unsafe { path(name) }.and_then(|path| file::open(&path, O_RDONLY | O_DIRECTORY, 0)).and_then(Stream::of))
}

/// Reads the directory that a descriptor stands for; the descriptor is the stream's from then on.
#[unsafe(no_mangle)]
pub extern "C" fn libc_fdopendir(fd: i32) -> *mut Stream {
    pointer(Stream::of(fd))
}

/// The next entry; null at the end, and with an error number that the caller has set to 0 before.
///
/// # Safety
/// `stream` is open, and nobody else reads it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_readdir(stream: *mut Stream) -> *mut dirent64 {
    // SAFETY: the caller's.
    unsafe { &mut *stream }.next().unwrap_or_else(|error| {
        lane::here().set_errno(error.0);
        null_mut()
    })
}

/// As [`libc_readdir`], into an entry of the caller's: 0 or an error number; `result` is null at the end.
///
/// # Safety
/// As [`libc_readdir`]; `into` and `result` are valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_readdir_r(stream: *mut Stream, into: *mut dirent64, result: *mut *mut dirent64) -> i32 {
    // SAFETY: the caller's.
    let (entry, error) = match unsafe { &mut *stream }.next() {
        Ok(entry) => (entry, 0),
        Err(error) => (null_mut(), error.0),
    };
    if !entry.is_null() {
        // SAFETY: an entry is as long as it says, and no longer than one with the longest name.
        unsafe {
            let len = usize::from((&raw const (*entry).d_reclen).read()).min(size_of::<dirent64>());
            into.cast::<u8>().copy_from_nonoverlapping(entry.cast(), len);
        }
    }
    // SAFETY: the caller's.
    unsafe { result.write(if entry.is_null() { null_mut() } else { into }) };
    error
}

/// Goes back to the first entry.
///
/// # Safety
/// `stream` is open, and nobody else reads it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_rewinddir(stream: *mut Stream) {
    // SAFETY: the caller's.
    let stream = unsafe { &mut *stream };
    (stream.at, stream.end) = (0, 0);
    if let Ok(Target::Dir(handle)) = fd::target(stream.fd) {
        // There is nobody to tell; the next entry says it again.
        let _ = StdFiles::rewind(handle);
    }
}

/// The descriptor of a directory that is read.
///
/// # Safety
/// `stream` is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_dirfd(stream: *mut Stream) -> i32 {
    // SAFETY: the caller's.
    unsafe { &*stream }.fd
}

/// Ends reading a directory, and closes its descriptor.
///
/// # Safety
/// `stream` is open, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_closedir(stream: *mut Stream) -> i32 {
    // SAFETY: the caller's: it came from a box.
    let stream = unsafe { Box::from_raw(stream) };
    fd::libc_close(stream.fd)
}

/// The path without links, `.` and `..`, in `into`, which has room for `PATH_MAX` bytes, or if that is null in memory
/// that `free` frees.
///
/// # Safety
/// `name` is null or a C string; `into` is null or valid for writes of 4096 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_realpath(name: *const c_char, into: *mut c_char) -> *mut c_char {
    let result = (|| {
        // SAFETY: the caller's.
        let path = unsafe { path(name) }?;
        let mut text = vec![0; PATH_MAX];
        let len = answered(StdFiles::canonicalize(&path, &mut text))? as usize;
        if len >= PATH_MAX {
            return Err(Errno(ENAMETOOLONG));
        }
        let into = if into.is_null() { memory::libc_malloc(len + 1) } else { into.cast() };
        if into.is_null() {
            return Err(Errno(ENOMEM));
        }
        // SAFETY: the caller's, or just made; the byte behind the text is 0.
        unsafe { into.copy_from_nonoverlapping(text.as_ptr(), len + 1) };
        Ok(into)
    })();
    result.map_or_else(
        |error| {
            lane::here().set_errno(error.0);
            null_mut()
        },
        <*mut u8>::cast,
    )
}
