//! Bytes of files: at a place, in several pieces, and from file to file on the host.

use crate::abi::errno::{EBADF, EINVAL, ESPIPE};
use crate::abi::{O_APPEND, O_NONBLOCK, iovec};
use crate::arguments::{LONGEST, whole};
use crate::coherent::{self, Place, Which};
use crate::error::{Errno, answered, returned};
use crate::fd::{self, Target};
use crate::local::object::Kind;
use crate::local::{pipe, table, transfer};
use crate::services::StdFiles;
use crate::{file, io};
use alloc::vec;
use core::ffi::c_void;
use hostcall_device::__runtime::Files;

const SPLICE_F_NONBLOCK: u32 = 2;

fn place(at: i64) -> Result<u64, Errno> {
    u64::try_from(at).map_err(|_| Errno(EINVAL))
}

/// Reads at a place of a file: how many bytes; 0 at the end.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pread(fd: i32, into: *mut c_void, len: usize, at: i64) -> isize {
    returned((|| {
        let (handle, at) = (file::handle(fd)?, place(at)?);
        if len == 0 {
            return Ok(0);
        }
        if into.is_null() {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's. The length is never beyond what a slice may have.
        let into = unsafe { core::slice::from_raw_parts_mut(into.cast::<u8>(), len.min(LONGEST)) };
        coherent::read(handle, Place::At(at), into.len(), || {
            whole(into.len(), |part| answered(Files::read_at(handle, at.saturating_add(part.start as u64), &mut into[part])))
        })
    })())
}

/// Writes at a place of a file: how many bytes.
///
/// # Safety
/// `from` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pwrite(fd: i32, from: *const c_void, len: usize, at: i64) -> isize {
    returned((|| {
        let (handle, at) = (file::handle(fd)?, place(at)?);
        if len == 0 {
            return Ok(0);
        }
        if from.is_null() {
            return Err(Errno(EINVAL));
        }
        // SAFETY: as in `libc_pread`.
        let from = unsafe { core::slice::from_raw_parts(from.cast::<u8>(), len.min(LONGEST)) };
        // Linux, too, appends by a descriptor that does.
        let place = if table::own_flags(fd) & O_APPEND == 0 { Place::At(at) } else { Place::End };
        coherent::write(handle, place, from, || {
            whole(from.len(), |part| answered(Files::write_at(handle, at.saturating_add(part.start as u64), &from[part])))
        })
    })())
}

/// Moves bytes from a pipe, or to one, or both: how many; 0 at the end. They go through a block of the heap. Places in
/// either are refused.
#[unsafe(no_mangle)]
pub extern "C" fn libc_splice(from: i32, from_at: *mut i64, to: i32, to_at: *mut i64, len: usize, flags: u32) -> isize {
    let is_pipe = |target| match target {
        Target::Input | Target::Output(_) => Ok(true),
        Target::Object(reference) => fd::held(reference).map(|held| held.kind() == Kind::Pipe),
        _ => Ok(false),
    };
    returned((|| {
        let (source, target) = (fd::target(from)?, fd::target(to)?);
        // What was read, and the other side does not take at once, would be lost.
        let waits = flags & SPLICE_F_NONBLOCK == 0 && table::status(to)? & O_NONBLOCK == 0;
        if !waits || !from_at.is_null() || !to_at.is_null() || !(is_pipe(source)? || is_pipe(target)?) {
            return Err(Errno(EINVAL));
        }
        if len == 0 {
            return Ok(0);
        }
        let mut block = vec![0; len.min(pipe::ROOM)];
        // What a pipe of the program's own cannot pass on stays in it.
        let own = match source {
            Target::Object(reference) => Some(fd::held(reference)?).filter(|held| held.kind() == Kind::Pipe),
            _ => None,
        };
        let read = match &own {
            Some(pipe) => transfer::receive(pipe, &mut block, true, false)?,
            None => io::read(from, source, &mut block)? as usize,
        };
        let (mut rest, mut done) = (block.get(..read).unwrap_or_default(), 0);
        while !rest.is_empty() {
            match io::write(to, target, rest) {
                Ok(written) => {
                    rest = rest.get(written as usize..).unwrap_or_default();
                    done += written;
                }
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            }
        }
        if let (Some(pipe), true) = (&own, done > 0) {
            transfer::receive(pipe, block.get_mut(..done as usize).unwrap_or_default(), false, false)?;
        }
        Ok(done)
    })())
}

/// Copies bytes from one pipe of the program's own to another, and leaves them in the first: how many; 0 at the end.
#[unsafe(no_mangle)]
pub extern "C" fn libc_tee(from: i32, to: i32, len: usize, flags: u32) -> isize {
    returned((|| {
        let (source, target) = (fd::target(from)?, fd::target(to)?);
        let pipe_of = |target| match target {
            Target::Object(reference) => {
                fd::held(reference).and_then(|held| if held.kind() == Kind::Pipe { Ok(held) } else { Err(Errno(EINVAL)) })
            }
            _ => Err(Errno(EINVAL)),
        };
        let (source, _) = (pipe_of(source)?, pipe_of(target)?);
        if flags & SPLICE_F_NONBLOCK != 0 {
            return Err(Errno(EINVAL));
        }
        if len == 0 {
            return Ok(0);
        }
        let mut block = vec![0; len.min(pipe::ROOM)];
        let there = transfer::receive(&source, &mut block, true, false)?;
        io::write(to, target, block.get(..there).unwrap_or_default())
    })())
}

/// Moves bytes of several places, one after another, until one is not moved whole.
///
/// # Safety
/// `vectors` are `count` vectors, each as `one` wants it.
unsafe fn each(vectors: *const iovec, count: i32, at: i64, one: impl Fn(&iovec, i64) -> isize) -> isize {
    let Ok(count) = usize::try_from(count) else { return returned(Err(Errno(EINVAL))) };
    let mut sum: isize = 0;
    for i in 0..count {
        // SAFETY: the caller's.
        let vector = unsafe { &*vectors.add(i) };
        if vector.iov_len == 0 {
            continue;
        }
        let moved = one(vector, at.saturating_add(sum as i64));
        if moved < 0 {
            return if sum > 0 { sum } else { moved };
        }
        sum += moved;
        if (moved as usize) < vector.iov_len {
            break;
        }
    }
    sum
}

/// Reads at a place of a file into several places.
///
/// # Safety
/// `vectors` are `count` vectors, each valid for writes of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_preadv(fd: i32, vectors: *const iovec, count: i32, at: i64) -> isize {
    // SAFETY: the caller's.
    unsafe { each(vectors, count, at, |vector, at| libc_pread(fd, vector.iov_base, vector.iov_len, at)) }
}

/// Writes at a place of a file from several places.
///
/// # Safety
/// `vectors` are `count` vectors, each valid for reads of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_pwritev(fd: i32, vectors: *const iovec, count: i32, at: i64) -> isize {
    // SAFETY: the caller's.
    unsafe { each(vectors, count, at, |vector, at| libc_pwrite(fd, vector.iov_base, vector.iov_len, at)) }
}

/// Copies between two places of files, each given by its number or as the file's cursor, and moves the numbers on.
///
/// # Safety
/// Both are null or valid for reads and writes.
unsafe fn copy(from: u64, from_at: *mut i64, to: u64, to_at: *mut i64, len: usize) -> Result<isize, Errno> {
    // SAFETY: the caller's.
    let (from_at, to_at) = unsafe { (from_at.as_mut(), to_at.as_mut()) };
    let given = |at: &Option<&mut i64>| match at {
        Some(at) => place(**at).map(|_| **at),
        None => Ok(-1),
    };
    let (from_place, to_place) = (given(&from_at)?, given(&to_at)?);
    coherent::flush(from)?;
    let copied = coherent::change(Which::Handle(to), true, || {
        let copied = answered(StdFiles::copy(from, from_place, to, to_place, len as u64))?;
        isize::try_from(copied).ok().filter(|copied| *copied as usize <= len).ok_or(Errno(crate::abi::errno::EIO))
    })?;
    for at in [from_at, to_at].into_iter().flatten() {
        *at += copied as i64;
    }
    Ok(copied)
}

/// Copies from file to file on the host: how many bytes; 0 at the end.
///
/// # Safety
/// `from_at` and `to_at` are null or valid for reads and writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_copy_file_range(from: i32, from_at: *mut i64, to: i32, to_at: *mut i64, len: usize, flags: u32) -> isize {
    returned((|| {
        if flags != 0 {
            return Err(Errno(EINVAL));
        }
        // Where one is no file, as standard output is none here, the caller has to read and write.
        let handle = |fd| file::handle(fd).map_err(|error| if error == Errno(ESPIPE) { Errno(EINVAL) } else { error });
        // SAFETY: the caller's.
        unsafe { copy(handle(from)?, from_at, handle(to)?, to_at, len) }
    })())
}

/// As [`libc_copy_file_range`], to the cursor of `to`. Where `to` is no file the caller has to read and write:
/// `EINVAL`.
///
/// # Safety
/// `from_at` is null or valid for reads and writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_sendfile(to: i32, from: i32, from_at: *mut i64, len: usize) -> isize {
    returned((|| {
        let (Target::File(from), Target::File(to)) = (fd::target(from)?, fd::target(to)?) else { return Err(Errno(EINVAL)) };
        // SAFETY: the caller's.
        match unsafe { copy(from, from_at, to, core::ptr::null_mut(), len) } {
            // A file that is appended to: also for the caller to do.
            Err(Errno(EBADF)) => Err(Errno(EINVAL)),
            copied => copied,
        }
    })())
}
