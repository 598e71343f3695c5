//! Reading and writing, whatever a descriptor stands for.

use crate::abi::errno::{EAGAIN, EBADF, EFAULT, EINVAL, ENOTTY, EPERM};
use crate::abi::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_GETFL, F_GETLK, F_GETPIPE_SZ, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_SETFD, F_SETFL, F_SETLK,
    F_SETLKW, F_SETPIPE_SZ, FD_CLOEXEC, FIONBIO, FIONREAD, O_APPEND, O_CLOEXEC, O_NONBLOCK, TIOCGWINSZ, iovec,
};
use crate::arguments::{LONGEST, most, whole};
use crate::coherent::{self, Place};
use crate::error::{Errno, answered, returned};
use crate::fd::{Target, held, target};
use crate::local::object::Object;
use crate::local::{pipe, table, transfer};
use crate::net::socket;
use crate::services::{StdNet, StdSystem};
use crate::variadic::{self, More};
use crate::{lane, locks, signals};
use hostcall_abi::std_services::event;
use hostcall_device::__runtime::Files;

fn read_input(into: &mut [u8], now: bool) -> Result<isize, Errno> {
    loop {
        match answered(StdSystem::stdin(into)) {
            // There is nothing yet, or another thread reads it. Waits where no other call is kept waiting.
            Err(Errno(EAGAIN)) if !now => drop(answered(StdNet::poll(&[[0, u64::from(event::IN)]], -1))?),
            read => return read.map(|n| n as isize),
        }
    }
}

fn print(stream: u32, text: &[u8]) -> Result<isize, Errno> {
    answered(StdSystem::write(stream, text)).map(|n| n as isize)
}

/// Waits until what was written to standard output (1) or standard error (2) has left the host: 0, or −1 and the number
/// of an error of one of the writes.
#[unsafe(no_mangle)]
pub extern "C" fn sys_flush(stream: i32) -> i32 {
    returned((|| match target(stream)? {
        Target::Output(stream) => signals::written(answered(StdSystem::flush(stream))).map(|()| 0),
        // Another descriptor was put in its place, and what is written to others is written at once.
        _ => Ok(0),
    })())
}

/// The most bytes that go at once.
fn most_of(fd: i32, target: Target) -> usize {
    match target {
        // Nothing of it leaves the device.
        Target::Object(_) => LONGEST,
        Target::File(_) if is_whole(fd) => LONGEST,
        _ => most(),
    }
}

/// Whether a file of the host is read and written whole: all but FIFOs and devices, of which a call takes what there
/// is.
fn is_whole(fd: i32) -> bool {
    table::own_flags(fd) & table::WAITS == 0
}

/// Whether calls on a FIFO or a device of the host wait: the host's never do.
fn waits(fd: i32) -> bool {
    table::own_flags(fd) & (table::WAITS | O_NONBLOCK) == table::WAITS
}

fn wait(handle: u64, events: u32) -> Result<(), Errno> {
    answered(StdNet::poll(&[[handle, u64::from(events)]], -1)).map(drop)
}

/// Does something with a FIFO or a device until it need not wait, or may not.
fn until(fd: i32, handle: u64, events: u32, mut act: impl FnMut() -> Result<u32, Errno>) -> Result<isize, Errno> {
    loop {
        match act() {
            Err(Errno(EAGAIN)) if waits(fd) => wait(handle, events)?,
            done => return done.map(|n| n as isize),
        }
    }
}

/// Reads what a descriptor stands for: how many bytes; 0 at the end.
pub(crate) fn read(fd: i32, target: Target, into: &mut [u8]) -> Result<isize, Errno> {
    match target {
        Target::Input => read_input(into, table::own_flags(fd) & O_NONBLOCK != 0),
        Target::Output(_) => Err(Errno(EBADF)),
        Target::File(handle) if waits(fd) => {
            // A FIFO to which nobody has written yet says that it is at its end; for whom somebody has to come first,
            // poll waits.
            wait(handle, event::IN)?;
            until(fd, handle, event::IN, || answered(Files::read(handle, into)))
        }
        Target::File(handle) if is_whole(fd) => {
            coherent::read(handle, Place::Cursor, into.len(), || whole(into.len(), |part| answered(Files::read(handle, &mut into[part]))))
        }
        // No more than goes by one call.
        Target::File(handle) | Target::Dir(handle) => whole(into.len(), |part| answered(Files::read(handle, &mut into[part]))),
        Target::Socket(handle) => socket::receive(handle, false, false, into).map(|(n, _)| n),
        Target::Object(reference) => transfer::read(&held(reference)?, into).map(|n| n as isize),
    }
}

/// Writes to what a descriptor stands for: how many bytes. The program may end here, see [`signals`].
pub(crate) fn write(fd: i32, target: Target, from: &[u8]) -> Result<isize, Errno> {
    signals::written(match target {
        Target::Input => Err(Errno(EBADF)),
        Target::Output(stream) => print(stream, from),
        Target::File(handle) if waits(fd) => until(fd, handle, event::OUT, || answered(Files::write(handle, from))),
        Target::File(handle) if is_whole(fd) => {
            coherent::write(handle, Place::Cursor, from, || whole(from.len(), |part| answered(Files::write(handle, &from[part]))))
        }
        Target::File(handle) | Target::Dir(handle) => whole(from.len(), |part| answered(Files::write(handle, &from[part]))),
        Target::Socket(handle) => socket::send(handle, [0; 8], false, from),
        Target::Object(reference) => held(reference).and_then(|held| transfer::write(&held, from)).map(|n| n as isize),
    })
}

/// Reads: how many bytes; 0 at the end.
///
/// # Safety
/// `into` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_read(fd: i32, into: *mut u8, len: usize) -> isize {
    returned((|| {
        let target = target(fd)?;
        if len == 0 {
            return Ok(0);
        }
        if into.is_null() {
            return Err(Errno(EINVAL));
        }
        // SAFETY: the caller's. The length is never beyond what a slice may have.
        read(fd, target, unsafe { core::slice::from_raw_parts_mut(into, len.min(most_of(fd, target))) })
    })())
}

/// Writes: how many bytes.
///
/// # Safety
/// `from` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_write(fd: i32, from: *const u8, len: usize) -> isize {
    returned((|| {
        // Standard input, whatever it is, is none to be written.
        let target = table::target(fd)?;
        // Nothing is a datagram, too.
        if len == 0 && !matches!(target, Target::Object(_) | Target::Socket(_)) {
            return Ok(0);
        }
        if from.is_null() && len > 0 {
            return Err(Errno(EINVAL));
        }
        // SAFETY: as in `libc_read`.
        let from = if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(from, len.min(most_of(fd, target))) } };
        write(fd, target, from)
    })())
}

/// Reads into the first of several places that is not empty.
///
/// # Safety
/// `vectors` are `count` vectors, each valid for writes of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_readv(fd: i32, vectors: *const iovec, count: i32) -> isize {
    // SAFETY: the caller's.
    let vector = (0..usize::try_from(count).unwrap_or(0)).map(|i| unsafe { &*vectors.add(i) }).find(|vector| vector.iov_len > 0);
    match vector {
        // SAFETY: the caller's.
        Some(vector) => unsafe { libc_read(fd, vector.iov_base.cast(), vector.iov_len) },
        None => returned(target(fd).map(|_| 0)),
    }
}

/// Writes from several places, one after another, as far as it goes.
///
/// # Safety
/// `vectors` are `count` vectors, each valid for reads of its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_writev(fd: i32, vectors: *const iovec, count: i32) -> isize {
    let mut sum = 0;
    for i in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the caller's.
        let vector = unsafe { &*vectors.add(i) };
        if vector.iov_len == 0 {
            continue;
        }
        // SAFETY: the caller's.
        let written = unsafe { libc_write(fd, vector.iov_base.cast_const().cast(), vector.iov_len) };
        if written < 0 {
            return if sum > 0 { sum } else { written };
        }
        sum += written;
        if (written as usize) < vector.iov_len {
            break;
        }
    }
    sum
}

/// Sets whether calls on a descriptor wait.
fn set_nonblocking(fd: i32, on: bool) -> Result<i32, Errno> {
    let bits = if on { O_NONBLOCK } else { 0 };
    match target(fd)? {
        Target::Socket(handle) => return socket::set_nonblocking(handle, on),
        Target::Object(reference) => held(reference)?.set_status(O_NONBLOCK, bits),
        Target::Input | Target::Output(_) | Target::File(_) | Target::Dir(_) => table::set_own_flags(fd, O_NONBLOCK, bits),
    }
    Ok(0)
}

/// The size of the terminal that a descriptor is, as [`StdSystem::terminal`] says it.
fn terminal(fd: i32) -> Result<[u32; 4], Errno> {
    match target(fd)? {
        Target::Input => answered(StdSystem::terminal(0)),
        Target::Output(stream) => answered(StdSystem::terminal(stream)),
        Target::File(_) | Target::Dir(_) | Target::Socket(_) | Target::Object(_) => Err(Errno(ENOTTY)),
    }
}

/// `FIONBIO`: whether calls on a descriptor wait. `FIONREAD`: how many bytes can be read from a pipe or one of a pair.
/// `TIOCGWINSZ`: a terminal's size.
///
/// # Safety
/// What follows is the address of an `i32`, for the first two, and of four `u16` for the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_ioctl(fd: i32, command: i32, more: More) -> i32 {
    returned((|| {
        let target = target(fd)?;
        if !matches!(command, FIONBIO | FIONREAD | TIOCGWINSZ) {
            return Err(Errno(ENOTTY));
        }
        if command == TIOCGWINSZ {
            let size = terminal(fd)?;
            // SAFETY: the caller's.
            let into = unsafe { (variadic::long(more) as *mut [u16; 4]).as_mut() }.ok_or(Errno(EFAULT))?;
            *into = size.map(|size| size as u16);
            return Ok(0);
        }
        // SAFETY: the caller's.
        let argument = unsafe { (variadic::long(more) as *mut i32).as_mut() }.ok_or(Errno(EFAULT))?;
        if command == FIONBIO {
            return set_nonblocking(fd, *argument != 0);
        }
        let Target::Object(reference) = target else { return Err(Errno(ENOTTY)) };
        *argument = i32::try_from(held(reference)?.len()?).unwrap_or(i32::MAX);
        Ok(0)
    })())
}

/// The status of an open file: access mode, `O_NONBLOCK` and its like.
fn status(fd: i32, target: Target) -> Result<i32, Errno> {
    let waits_not = match target {
        Target::Socket(handle) if socket::is_nonblocking(handle)? => O_NONBLOCK,
        _ => 0,
    };
    Ok(table::status(fd)? | waits_not)
}

fn set_status(fd: i32, status: i32, new: i32) -> Result<i32, Errno> {
    if (status ^ new) & O_APPEND != 0 {
        // The host has opened it to write there, or not.
        return Err(Errno(EINVAL));
    }
    set_nonblocking(fd, new & O_NONBLOCK != 0)
}

/// Flags of a descriptor, and another descriptor for the same thing.
///
/// # Safety
/// What follows is what the command wants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_fcntl(fd: i32, command: i32, more: More) -> i32 {
    returned((|| {
        let target = target(fd)?;
        // SAFETY: the caller's: of the commands that ask for it, it is a number.
        let argument = || unsafe { variadic::int(more) };
        match command {
            F_GETFD => Ok(if table::own_flags(fd) & O_CLOEXEC != 0 { FD_CLOEXEC } else { 0 }),
            F_SETFD => {
                table::set_own_flags(fd, O_CLOEXEC, if argument() & FD_CLOEXEC != 0 { O_CLOEXEC } else { 0 });
                Ok(0)
            }
            F_DUPFD => table::duplicate(fd, argument(), 0),
            F_DUPFD_CLOEXEC => table::duplicate(fd, argument(), O_CLOEXEC),
            F_GETFL => status(fd, target),
            F_SETFL => set_status(fd, status(fd, target)?, argument()),
            F_GETLK | F_SETLK | F_SETLKW | F_OFD_GETLK | F_OFD_SETLK | F_OFD_SETLKW => {
                // SAFETY: the caller's: of these commands it is the address of a `struct flock`, whose first field is
                // the kind.
                Ok(locks::of_process(command, unsafe { (variadic::long(more) as *mut i16).as_mut() }))
            }
            F_GETPIPE_SZ | F_SETPIPE_SZ => match target {
                Target::Object(reference) => match &*held(reference)? {
                    // None grows: who needs more room must know that it is not there, or writes and waits for ever.
                    Object::PipeReader(_) | Object::PipeWriter(_) if command == F_SETPIPE_SZ && argument() > pipe::ROOM as i32 => {
                        Err(Errno(EPERM))
                    }
                    Object::PipeReader(_) | Object::PipeWriter(_) => Ok(pipe::ROOM as i32),
                    _ => Err(Errno(EBADF)),
                },
                _ => Err(Errno(EBADF)),
            },
            _ => Err(Errno(EINVAL)),
        }
    })())
}

/// Whether a descriptor is a terminal: 1, or 0 and the number of the error.
#[unsafe(no_mangle)]
pub extern "C" fn libc_isatty(fd: i32) -> i32 {
    match terminal(fd) {
        Ok(_) => 1,
        Err(error) => {
            lane::here().set_errno(error.0);
            0
        }
    }
}
