//! Pairs of sockets (`socketpair`): two ends that speak to each other, in streams or datagrams.

use super::numbers::{EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP};
use super::pipe::Ring;
use super::spin::Spin;
use super::wake::Listeners;
use crate::abi::errno::{EAGAIN, ECONNREFUSED, EMSGSIZE, ENOMEM, EPIPE};
use crate::error::Errno;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::sync::atomic::AtomicU64;

/// Datagrams that wait for a reader, at most.
const QUEUED: usize = 64;
/// Bytes of a datagram, at most: what Linux's default allows.
const LONGEST: usize = 212_960;

/// The way to one end.
enum Way {
    Stream(Ring),
    Datagrams(Spin<Queue>),
}

struct Queue {
    datagrams: VecDeque<Box<[u8]>>,
    reader_gone: bool,
    writer_gone: bool,
}

impl Way {
    fn is_reader_gone(&self) -> bool {
        match self {
            Self::Stream(ring) => ring.is_reader_gone(),
            Self::Datagrams(queue) => queue.with(|queue| queue.reader_gone),
        }
    }

    fn is_writer_gone(&self) -> bool {
        match self {
            Self::Stream(ring) => ring.is_writer_gone(),
            Self::Datagrams(queue) => queue.with(|queue| queue.writer_gone),
        }
    }

    fn end_reading(&self) {
        match self {
            Self::Stream(ring) => ring.end_reading(),
            Self::Datagrams(queue) => queue.with(|queue| queue.reader_gone = true),
        }
    }

    fn end_writing(&self) {
        match self {
            Self::Stream(ring) => ring.end_writing(),
            Self::Datagrams(queue) => queue.with(|queue| queue.writer_gone = true),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Stream(ring) => ring.len(),
            Self::Datagrams(queue) => queue.with(|queue| queue.datagrams.front().map_or(0, |first| first.len().max(1))),
        }
    }

    fn has_room(&self) -> bool {
        match self {
            Self::Stream(ring) => ring.has_room(),
            Self::Datagrams(queue) => queue.with(|queue| queue.datagrams.len() < QUEUED),
        }
    }

    fn take(&self, into: &mut [u8], peek: bool) -> Result<usize, Errno> {
        let queue = match self {
            Self::Stream(ring) => return ring.take(into, peek),
            Self::Datagrams(queue) => queue,
        };
        let copied = |datagram: &[u8], into: &mut [u8]| {
            // What does not fit is lost.
            let count = datagram.len().min(into.len());
            into[..count].copy_from_slice(&datagram[..count]);
            count
        };
        let taken = queue.with(|queue| {
            if peek {
                return Ok(Err(queue.datagrams.front().map(|datagram| copied(datagram, into))));
            }
            match queue.datagrams.pop_front() {
                Some(datagram) => Ok(Ok(datagram)),
                None if queue.reader_gone => Err(0),
                None => Ok(Err(None)),
            }
        });
        match taken {
            Ok(Ok(datagram)) => Ok(copied(&datagram, into)),
            Ok(Err(Some(count))) | Err(count) => Ok(count),
            Ok(Err(None)) => Err(Errno(EAGAIN)),
        }
    }

    fn put(&self, from: &[u8]) -> Result<usize, Errno> {
        let queue = match self {
            Self::Stream(ring) => return ring.put(from),
            Self::Datagrams(queue) => queue,
        };
        if from.len() > LONGEST {
            return Err(Errno(EMSGSIZE));
        }
        // Not under the lock: memory, and the copy.
        let mut datagram = Vec::new();
        datagram.try_reserve_exact(from.len()).map_err(|_| Errno(ENOMEM))?;
        datagram.extend_from_slice(from);
        let datagram = datagram.into_boxed_slice();
        queue.with(|queue| {
            if queue.writer_gone {
                return Err(Errno(EPIPE));
            }
            if queue.reader_gone {
                return Err(Errno(ECONNREFUSED));
            }
            if queue.datagrams.len() >= QUEUED {
                return Err(Errno(EAGAIN));
            }
            queue.datagrams.try_reserve(1).map_err(|_| Errno(ENOMEM))?;
            queue.datagrams.push_back(datagram);
            Ok(from.len())
        })
    }
}

/// What the two ends share. An end is 0 or 1.
pub(crate) struct Pair {
    /// The ways to end 0 and to end 1.
    ways: [Way; 2],
    pub(crate) ends: [Listeners; 2],
    /// Of each end, nanoseconds that reading and writing wait at most; 0 for as long as it takes.
    pub(crate) timeouts: [[AtomicU64; 2]; 2],
}

/// Which directions of a socket are ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) reading: bool,
    pub(crate) writing: bool,
}

impl Pair {
    pub(crate) fn streams() -> Self {
        Self::of(|| Way::Stream(Ring::new()))
    }

    pub(crate) fn datagrams() -> Self {
        Self::of(|| Way::Datagrams(Spin::new(Queue { datagrams: VecDeque::new(), reader_gone: false, writer_gone: false })))
    }

    fn of(way: impl Fn() -> Way) -> Self {
        Self { ways: [way(), way()], ends: [Listeners::new(), Listeners::new()], timeouts: Default::default() }
    }

    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.ways[0], Way::Stream(_))
    }

    pub(crate) fn read(&self, end: usize, into: &mut [u8], peek: bool) -> Result<usize, Errno> {
        let way = &self.ways[end];
        // Who shut reading down finds the end.
        if self.is_stream() && way.is_reader_gone() {
            return Ok(0);
        }
        let count = way.take(into, peek)?;
        if !peek && way.has_room() {
            self.ends[1 - end].tell(EPOLLOUT);
        }
        Ok(count)
    }

    pub(crate) fn write(&self, end: usize, from: &[u8]) -> Result<usize, Errno> {
        let count = self.ways[1 - end].put(from)?;
        self.ends[1 - end].tell(EPOLLIN);
        Ok(count)
    }

    pub(crate) fn ready(&self, end: usize) -> u32 {
        let (to, from) = (&self.ways[end], &self.ways[1 - end]);
        let mut ready = 0;
        if to.len() > 0 {
            ready |= EPOLLIN;
        }
        if self.is_stream() && (to.is_writer_gone() || to.is_reader_gone()) {
            ready |= EPOLLIN | EPOLLRDHUP;
            if from.is_reader_gone() || from.is_writer_gone() {
                ready |= EPOLLHUP;
            }
        }
        if from.has_room() || from.is_reader_gone() || from.is_writer_gone() {
            ready |= EPOLLOUT;
        }
        ready
    }

    /// Bytes that can be read, of a datagram the first.
    pub(crate) fn len(&self, end: usize) -> usize {
        self.ways[end].len()
    }

    /// Ends directions of an end.
    pub(crate) fn shut(&self, end: usize, what: Ended) {
        if what.reading {
            self.ways[end].end_reading();
        }
        if what.writing {
            self.ways[1 - end].end_writing();
        }
        let all = EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLRDHUP;
        self.ends[1 - end].tell(all);
        self.ends[end].tell(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_both_ways_and_ends_one_at_a_time() {
        let pair = Pair::streams();
        assert_eq!((pair.write(0, b"there"), pair.write(1, b"and back")), (Ok(5), Ok(8)));
        let mut into = [0; 16];
        assert_eq!((pair.read(1, &mut into, true), &into[..5]), (Ok(5), &b"there"[..]), "a look");
        assert_eq!((pair.read(1, &mut into[..2], false), &into[..2]), (Ok(2), &b"th"[..]));
        pair.shut(0, Ended { reading: false, writing: true });
        assert_eq!(pair.write(0, b"x"), Err(Errno(EPIPE)));
        assert_eq!((pair.read(1, &mut into, false), pair.read(1, &mut into, false)), (Ok(3), Ok(0)));
        assert_eq!(pair.ready(1), EPOLLIN | EPOLLRDHUP | EPOLLOUT);
        assert_eq!((pair.read(0, &mut into, false), &into[..8]), (Ok(8), &b"and back"[..]));
        pair.shut(1, Ended { reading: true, writing: true });
        assert_eq!(pair.ready(0), EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLOUT);
    }

    #[test]
    fn writing_to_an_end_that_reads_no_more_is_an_error() {
        let pair = Pair::streams();
        pair.shut(1, Ended { reading: true, writing: false });
        assert_eq!(pair.write(0, b"x"), Err(Errno(EPIPE)));
        assert_eq!(pair.read(1, &mut [0; 1], false), Ok(0));
        let pair = Pair::datagrams();
        pair.shut(1, Ended { reading: true, writing: true });
        assert_eq!(pair.write(0, b"x"), Err(Errno(ECONNREFUSED)));
    }

    #[test]
    fn datagrams_keep_their_bounds_and_are_cut_where_there_is_no_room() {
        let pair = Pair::datagrams();
        for text in [&b"one"[..], b"", b"three"] {
            assert_eq!(pair.write(0, text), Ok(text.len()));
        }
        let mut into = [0; 4];
        assert_eq!((pair.read(1, &mut into, false), pair.read(1, &mut into, false)), (Ok(3), Ok(0)));
        assert_eq!((pair.read(1, &mut into, false), &into), (Ok(4), b"thre"));
        assert_eq!(pair.read(1, &mut into, false), Err(Errno(EAGAIN)));
        assert_eq!(pair.write(0, &vec![0; LONGEST + 1]), Err(Errno(EMSGSIZE)));
        for _ in 0..QUEUED {
            assert_eq!(pair.write(1, b"x"), Ok(1));
        }
        assert_eq!((pair.write(1, b"x"), pair.ready(1)), (Err(Errno(EAGAIN)), 0));
        assert_eq!(pair.read(0, &mut into, false), Ok(1));
        assert_eq!(pair.ready(1), EPOLLOUT);
    }
}
