//! Reading and writing objects as their descriptors want it: waiting, or not.

use super::machine;
use super::numbers::{EPOLLIN, EPOLLOUT};
use super::object::{Object, waiting, write_all};
use super::slots::Held;
use crate::abi::errno::EBADF;
use crate::abi::{O_ACCMODE, O_NONBLOCK, O_RDONLY, O_WRONLY};
use crate::error::Errno;
use core::sync::atomic::Ordering;

/// Reading, or writing.
#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

/// When a call that waits gives up.
fn deadline(held: &Held, direction: Direction) -> Option<u64> {
    let Object::Socket(pair, end) = &**held else { return None };
    // Relaxed: the program's own calls order what it sets.
    match pair.timeouts[*end][direction as usize].load(Ordering::Relaxed) {
        0 => None,
        nanos => Some(machine::now_ns().saturating_add(nanos)),
    }
}

fn check(held: &Held, forbidden: i32) -> Result<(), Errno> {
    // Other objects have no mode: their ends say what they can do.
    if matches!(&**held, Object::Special(_)) && held.status() & O_ACCMODE == forbidden { Err(Errno(EBADF)) } else { Ok(()) }
}

/// Receives, or with `peek` looks; with `now` without waiting: how many bytes.
pub(crate) fn receive(held: &Held, into: &mut [u8], peek: bool, now: bool) -> Result<usize, Errno> {
    // What neither waits nor calls the host could be repeated for ever by a thread of a program that ends: a pair whose
    // other side is gone.
    machine::end_if_ending();
    check(held, O_WRONLY)?;
    let mut attempt = || match (&**held, held.socket()) {
        (Object::PipeReader(pipe), _) if peek => pipe.peek(into),
        (_, Ok((pair, end))) if peek => pair.read(end, into, true),
        _ => held.read(into),
    };
    if now || held.status() & O_NONBLOCK != 0 {
        return attempt();
    }
    waiting(held, EPOLLIN, deadline(held, Direction::Read), attempt)
}

/// Reads: how many bytes.
pub(crate) fn read(held: &Held, into: &mut [u8]) -> Result<usize, Errno> {
    receive(held, into, false, false)
}

/// Writes, with `now` without waiting: how many bytes.
pub(crate) fn send(held: &Held, from: &[u8], now: bool) -> Result<usize, Errno> {
    machine::end_if_ending();
    check(held, O_RDONLY)?;
    if now || held.status() & O_NONBLOCK != 0 {
        return held.write(from);
    }
    let deadline = deadline(held, Direction::Write);
    match held.socket() {
        Ok((pair, _)) if !pair.is_stream() => waiting(held, EPOLLOUT, deadline, || held.write(from)),
        _ => write_all(held, from, deadline),
    }
}

/// Writes: how many bytes.
pub(crate) fn write(held: &Held, from: &[u8]) -> Result<usize, Errno> {
    send(held, from, false)
}
