//! Reading and writing files: between the page cache and the staging slot, by one system call, without a copy.
//!
//! Serving threads use `preadv2`/`pwritev2` with `RWF_NOWAIT`, which move what the page cache has and never wait
//! for a disk; a call that would wait goes on in the blocking pool.
//!
//! The device may change a staging slot at any time, so no Rust reference to one is ever made: its address goes to the
//! kernel.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use super::context::Context;
use super::table::{Direction, FileTable, OpenFile};
use super::{define, errno};
use crate::policy::Limits;
use crate::service::{Definition, Failure, HandlerResult, Service};
use crate::service::{Invocation, RawOut, RawSlice};

/// Where in the file.
#[derive(Clone, Copy)]
enum At {
    Cursor,
    Offset(u64),
}

/// Memory that a file is read into or written from.
#[derive(Clone, Copy)]
struct Buffer {
    start: *mut u8,
    len: usize,
}

/// One transfer by one system call.
///
/// # Safety
/// `buffer` is valid for its length: for writes of [`Direction::Read`], for reads of [`Direction::Write`].
unsafe fn transfer(fd: RawFd, direction: Direction, at: At, buffer: Buffer, wait: bool) -> io::Result<usize> {
    let offset = match at {
        At::Cursor => -1,
        At::Offset(offset) => i64::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?,
    };
    loop {
        // SAFETY: the caller's: the system reads or writes at most `len` bytes at `start`; the descriptor is open, as
        // its file is borrowed.
        let moved = unsafe { system(fd, direction, offset, buffer, wait) };
        if let Ok(moved) = usize::try_from(moved) {
            return Ok(moved);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// # Safety
/// As [`transfer`]. `offset` is -1 for the cursor.
#[cfg(target_os = "linux")]
unsafe fn system(fd: RawFd, direction: Direction, offset: i64, buffer: Buffer, wait: bool) -> isize {
    let iov = libc::iovec { iov_base: buffer.start.cast(), iov_len: buffer.len };
    let flags = if wait { 0 } else { libc::RWF_NOWAIT };
    // SAFETY: the caller's; `iov` is one vector that lives through the call.
    unsafe {
        match direction {
            Direction::Read => libc::preadv2(fd, &raw const iov, 1, offset, flags),
            Direction::Write => libc::pwritev2(fd, &raw const iov, 1, offset, flags),
        }
    }
}

/// # Safety
/// As [`transfer`]. `offset` is -1 for the cursor; `wait` is true.
#[cfg(not(target_os = "linux"))]
unsafe fn system(fd: RawFd, direction: Direction, offset: i64, buffer: Buffer, _wait: bool) -> isize {
    let Buffer { start, len } = buffer;
    // SAFETY: the caller's.
    unsafe {
        match (direction, offset) {
            (Direction::Read, -1) => libc::read(fd, start.cast(), len),
            (Direction::Read, offset) => libc::pread(fd, start.cast(), len, offset),
            (Direction::Write, -1) => libc::write(fd, start.cast(), len),
            (Direction::Write, offset) => libc::pwrite(fd, start.cast(), len, offset),
        }
    }
}

/// What an attempt without waiting says when it would have to wait, or cannot tell.
fn would_block(file: &OpenFile, direction: Direction, error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => true,
        // The file system knows no such attempts.
        Some(libc::EOPNOTSUPP | libc::ENOSYS) => {
            file.not_worth_trying(direction);
            true
        }
        _ => false,
    }
}

/// Moves bytes for a call. The outer error is a call that ends without an answer from the file.
///
/// # Safety
/// As [`transfer`].
unsafe fn perform(
    call: &Invocation<'_>,
    file: &OpenFile,
    direction: Direction,
    at: At,
    buffer: Buffer,
) -> Result<Result<u32, u32>, Failure> {
    if buffer.len == 0 {
        return Ok(Ok(0));
    }
    let wait = call.may_block();
    if !wait && (!cfg!(target_os = "linux") || !file.worth_trying(direction)) {
        return Err(Failure::WouldBlock);
    }
    // Linux moves at most 2 GiB at once, so the count fits.
    // SAFETY: the caller's.
    let transfer = || unsafe { transfer(file.file.as_raw_fd(), direction, at, buffer, wait) };
    let moved = match direction {
        Direction::Read => transfer(),
        Direction::Write => file.writing(transfer),
    };
    match moved {
        Ok(moved) => Ok(Ok(moved as u32)),
        Err(error) if !wait && would_block(file, direction, &error) => Err(Failure::WouldBlock),
        Err(error) => Ok(Err(errno::of(&error))),
    }
}

fn read(call: &mut Invocation<'_>, files: &FileTable, limits: Limits, positioned: bool) -> HandlerResult {
    let handle = call.fixed::<u64>()?;
    let at = if positioned { At::Offset(call.fixed()?) } else { At::Cursor };
    let out = call.raw_out()?;
    let (buffer, mut scratch) = match out {
        RawOut::Staged(region) => (Buffer { start: region.as_ptr(), len: region.len() }, None),
        RawOut::Scratch(bytes) => (Buffer { start: bytes.as_mut_ptr(), len: bytes.len() }, Some(bytes)),
    };
    let Some(_transfer) = limits.transfer(call.tenant(), buffer.len) else { return Err(Failure::Refused { code: errno::EDQUOT }) };
    let result = match files.file(call.tenant(), handle) {
        Ok(file) if file.readable => {
            // SAFETY: the buffer is the call's scratch or its part of the staging area; both are valid for writes
            // during the call. Nothing refers to the bytes meanwhile (`scratch` is a reference that is used again only
            // afterwards).
            unsafe { perform(call, &file, Direction::Read, at, buffer) }?
        }
        Ok(_) => Err(errno::EBADF),
        Err(error) => Err(error),
    };
    let moved = result.unwrap_or(0) as usize;
    match scratch.take() {
        Some(bytes) => call.reply(&result, &[&bytes[..moved.min(bytes.len())]]),
        None => call.reply_in_place(&result, &[moved]),
    }
    Ok(())
}

fn write(call: &mut Invocation<'_>, files: &FileTable, limits: Limits, positioned: bool) -> HandlerResult {
    let handle = call.fixed::<u64>()?;
    let at = if positioned { At::Offset(call.fixed()?) } else { At::Cursor };
    let buffer = match call.raw_slice()? {
        RawSlice::Copied(bytes) => Buffer { start: bytes.as_ptr().cast_mut(), len: bytes.len() },
        RawSlice::Staged(region) => Buffer { start: region.as_ptr(), len: region.len() },
    };
    let Some(_transfer) = limits.transfer(call.tenant(), buffer.len) else { return Err(Failure::Refused { code: errno::EDQUOT }) };
    let result = match files.file(call.tenant(), handle) {
        Ok(file) if file.writable => {
            // SAFETY: the buffer is the message's copy or the call's part of the staging area, valid for reads during
            // the call; a write to a file only reads it.
            unsafe { perform(call, &file, Direction::Write, at, buffer) }?
        }
        Ok(_) => Err(errno::EBADF),
        Err(error) => Err(error),
    };
    call.reply(&result, &[]);
    Ok(())
}

pub(super) fn services(context: &Context, files: &Arc<FileTable>) -> Vec<Service> {
    type Transfer = fn(&mut Invocation<'_>, &FileTable, Limits, bool) -> HandlerResult;
    let make = |definition: Definition, move_bytes: Transfer, positioned| {
        let (files, limits) = (files.clone(), context.limits);
        context.adaptive(definition, move |call| move_bytes(call, &files, limits, positioned))
    };
    vec![
        make(define::files::definition::read(), read, false),
        make(define::files::definition::read_at(), read, true),
        make(define::files::definition::write(), write, false),
        make(define::files::definition::write_at(), write, true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::Tenant;

    #[test]
    fn an_attempt_that_would_have_to_wait_goes_on_elsewhere_and_any_other_error_is_the_answer() {
        let table = FileTable::new(1);
        let file = table.room(&Tenant::new()).unwrap().take(tempfile::tempfile().unwrap()).unwrap();
        let file = OpenFile::new(file, true, true, true);
        let ask = |direction, errno| would_block(&file, direction, &io::Error::from_raw_os_error(errno));
        assert!(ask(Direction::Read, libc::EAGAIN));
        assert!([libc::EIO, libc::EBADF].iter().all(|errno| !ask(Direction::Write, *errno)));
        assert!(file.worth_trying(Direction::Read) && file.worth_trying(Direction::Write));
        assert!(ask(Direction::Write, libc::EOPNOTSUPP));
        assert!(file.worth_trying(Direction::Read) && !file.worth_trying(Direction::Write), "it is not asked again");
        assert!(ask(Direction::Read, libc::ENOSYS) && !file.worth_trying(Direction::Read));
    }
}
