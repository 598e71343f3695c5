//! Objects of the device that descriptors can stand for.

use super::counter::Counter;
use super::epoll::Epoll;
use super::machine;
use super::numbers::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT};
use super::pair::{Ended, Pair};
use super::pipe::Pipe;
use super::wake::{Hearer, Listeners, Waiter};
use crate::abi::errno::{EAGAIN, EBADF, EINVAL, ENOSPC, ENOTSOCK};
use crate::error::Errno;
use alloc::sync::Arc;

/// An open object of the device. Dropping it closes it.
pub(crate) enum Object {
    /// The end of a pipe that is read from.
    PipeReader(Arc<Pipe>),
    /// The end of a pipe that is written to.
    PipeWriter(Arc<Pipe>),
    /// An end, 0 or 1, of a pair of sockets.
    Socket(Arc<Pair>, usize),
    Counter(Counter),
    Epoll(Epoll),
    Special(Special),
}

/// Files that every system has, and that need no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// `/dev/null`
    Null,
    /// `/dev/zero`
    Zero,
    /// `/dev/full`
    Full,
    /// `/dev/random` and `/dev/urandom`
    Random,
}

impl Special {
    /// The number that the device of this name has on Linux: major and minor.
    pub(crate) fn number(self) -> [u32; 2] {
        match self {
            Self::Null => [1, 3],
            Self::Zero => [1, 5],
            Self::Full => [1, 7],
            Self::Random => [1, 9],
        }
    }

    fn read(self, into: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Self::Null => return Ok(0),
            Self::Zero | Self::Full => into.fill(0),
            // All that is asked for, as on Linux. More in one call would be taken from a pool that others use as well.
            Self::Random => {
                for part in into.chunks_mut(256) {
                    machine::entropy(part)?;
                }
            }
        }
        Ok(into.len())
    }

    fn write(self, from: &[u8]) -> Result<usize, Errno> {
        if self == Self::Full { Err(Errno(ENOSPC)) } else { Ok(from.len()) }
    }
}

/// What a descriptor is, as `stat` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Pipe,
    Socket,
    /// With its number.
    Device([u32; 2]),
    /// `eventfd` and `epoll`
    Anonymous,
}

impl Object {
    /// Reads, without waiting: how many bytes; 0 at the end; `EAGAIN` if there is nothing yet.
    pub(crate) fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Self::PipeReader(pipe) => pipe.read(into),
            Self::PipeWriter(_) => Err(Errno(EBADF)),
            Self::Socket(pair, end) => pair.read(*end, into, false),
            Self::Counter(counter) => counter.read(into),
            Self::Epoll(_) => Err(Errno(EINVAL)),
            Self::Special(special) => special.read(into),
        }
    }

    /// Writes, without waiting: how many bytes; `EAGAIN` if there is no room yet.
    pub(crate) fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        match self {
            Self::PipeReader(_) => Err(Errno(EBADF)),
            Self::PipeWriter(pipe) => pipe.write(from),
            Self::Socket(pair, end) => pair.write(*end, from),
            Self::Counter(counter) => counter.write(from),
            Self::Epoll(_) => Err(Errno(EINVAL)),
            Self::Special(special) => special.write(from),
        }
    }

    /// The pair that it is an end of, and which.
    pub(crate) fn socket(&self) -> Result<(&Pair, usize), Errno> {
        match self {
            Self::Socket(pair, end) => Ok((pair, *end)),
            _ => Err(Errno(ENOTSOCK)),
        }
    }

    /// The events that it is ready for.
    pub(crate) fn ready(&self) -> u32 {
        match self {
            Self::PipeReader(pipe) => pipe.ready_to_read(),
            Self::PipeWriter(pipe) => pipe.ready_to_write(),
            Self::Socket(pair, end) => pair.ready(*end),
            Self::Counter(counter) => counter.ready(),
            Self::Epoll(epoll) => epoll.ready(),
            Self::Special(_) => EPOLLIN | EPOLLOUT,
        }
    }

    /// Who is told when it becomes ready; none, if it always is.
    pub(crate) fn listeners(&self) -> Option<&Listeners> {
        match self {
            Self::PipeReader(pipe) => Some(&pipe.readers),
            Self::PipeWriter(pipe) => Some(&pipe.writers),
            Self::Socket(pair, end) => Some(&pair.ends[*end]),
            Self::Counter(counter) => Some(&counter.listeners),
            Self::Epoll(epoll) => Some(epoll.listeners()),
            Self::Special(_) => None,
        }
    }

    /// Bytes that can be read at once.
    pub(crate) fn len(&self) -> Result<usize, Errno> {
        match self {
            Self::PipeReader(pipe) | Self::PipeWriter(pipe) => Ok(pipe.len()),
            Self::Socket(pair, end) => Ok(pair.len(*end)),
            Self::Counter(_) | Self::Epoll(_) | Self::Special(_) => Err(Errno(crate::abi::errno::ENOTTY)),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::PipeReader(_) | Self::PipeWriter(_) => Kind::Pipe,
            Self::Socket(..) => Kind::Socket,
            Self::Counter(_) | Self::Epoll(_) => Kind::Anonymous,
            Self::Special(special) => Kind::Device(special.number()),
        }
    }

    /// Waits until it is ready for one of `events`, or in error, or ended: whether it is, before the deadline.
    pub(crate) fn wait(&self, events: u32, deadline: Option<u64>) -> bool {
        let events = events | EPOLLERR | EPOLLHUP;
        let Some(listeners) = self.listeners() else { return true };
        let waiter = Waiter::take();
        listeners.add(events, 0, Hearer::Waiter(waiter.clone()));
        let is_ready = loop {
            waiter.arm();
            if self.ready() & events != 0 {
                break true;
            }
            if !waiter.wait_here(deadline) {
                break self.ready() & events != 0;
            }
        };
        listeners.remove(0, &Hearer::Waiter(waiter.clone()));
        Waiter::give_back(waiter);
        is_ready
    }
}

/// Makes `attempt`; while it says `EAGAIN`, waits for `events` and makes it again, at most until the deadline.
pub(crate) fn waiting<T>(
    object: &Object,
    events: u32,
    deadline: Option<u64>,
    mut attempt: impl FnMut() -> Result<T, Errno>,
) -> Result<T, Errno> {
    loop {
        match attempt() {
            Err(Errno(EAGAIN)) if object.wait(events, deadline) => {}
            result => return result,
        }
    }
}

/// Writes all of it, and waits for room in between; less, if an error comes after some.
pub(crate) fn write_all(object: &Object, from: &[u8], deadline: Option<u64>) -> Result<usize, Errno> {
    let mut done = 0;
    loop {
        match waiting(object, EPOLLOUT, deadline, || object.write(&from[done..])) {
            Ok(count) => done += count,
            Err(_) if done > 0 => return Ok(done),
            Err(error) => return Err(error),
        }
        if done >= from.len() {
            return Ok(done);
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        match self {
            Self::PipeReader(pipe) => pipe.end_reading(),
            Self::PipeWriter(pipe) => pipe.end_writing(),
            Self::Socket(pair, end) => pair.shut(*end, Ended { reading: true, writing: true }),
            // What they have to give back, they do.
            Self::Counter(_) | Self::Epoll(_) | Self::Special(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_and_a_writer_wait_for_each_other() {
        let pipe = Arc::new(Pipe::new());
        let (reader, writer) = (Object::PipeReader(pipe.clone()), Object::PipeWriter(pipe));
        let sent: Vec<u8> = (0..1_000_000u32).map(|i| (i.wrapping_mul(i) >> 5) as u8).collect();
        let expected = sent.clone();
        let writing = std::thread::spawn(move || assert_eq!(write_all(&writer, &sent, None), Ok(sent.len())));
        let mut all = Vec::new();
        let mut into = vec![0; 10_007];
        while let Ok(count @ 1..) = waiting(&reader, EPOLLIN, None, || reader.read(&mut into)) {
            all.extend_from_slice(&into[..count]);
        }
        writing.join().unwrap();
        assert!(all == expected, "{}", all.len());
    }

    #[test]
    fn waiting_ends_at_its_deadline() {
        let pipe = Arc::new(Pipe::new());
        let (reader, _writer) = (Object::PipeReader(pipe.clone()), Object::PipeWriter(pipe));
        let deadline = Some(machine::now_ns() + 2_000_000);
        assert_eq!(waiting(&reader, EPOLLIN, deadline, || reader.read(&mut [0])), Err(Errno(EAGAIN)));
    }

    #[test]
    fn the_files_that_every_system_has_do_what_they_do_everywhere() {
        let mut into = [7; 300];
        for (special, read, write) in [
            (Special::Null, Ok(0), Ok(5)),
            (Special::Zero, Ok(300), Ok(5)),
            (Special::Full, Ok(300), Err(Errno(ENOSPC))),
            (Special::Random, Ok(300), Ok(5)),
        ] {
            let object = Object::Special(special);
            assert_eq!((object.read(&mut into), object.write(b"bytes")), (read, write), "{special:?}");
        }
    }
}
