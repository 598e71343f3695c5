//! Pipes: bytes from a lane that writes to one that reads.
//!
//! A ring has one reader and one writer at a time: each side has a lock, which it holds while it copies, and a count
//! that the other side looks at. So a reader and a writer never wait for each other.

use super::numbers::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP, PIPE_BUF};
use super::spin::Spin;
use super::wake::Listeners;
use crate::abi::errno::{EAGAIN, ENOMEM, EPIPE};
use crate::error::Errno;
use alloc::alloc::{Layout, alloc, dealloc};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Bytes that a pipe holds.
pub(crate) const ROOM: usize = 64 << 10;
const LAYOUT: Layout = match Layout::from_size_align(ROOM, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a ring has a layout"),
};

/// Bytes on their way from a writer to a reader. Nothing here waits, and nobody is told of anything.
pub(crate) struct Ring {
    /// Null until something is written. Of `LAYOUT`.
    bytes: AtomicPtr<u8>,
    /// Bytes that were written; of the ring, the count's remainder is the place of the next.
    written: AtomicUsize,
    /// Bytes that were read.
    read: AtomicUsize,
    reading: Spin<()>,
    writing: Spin<()>,
    /// Not 0 when nobody will read any more.
    reader_gone: AtomicU32,
    /// Not 0 when nobody will write any more.
    writer_gone: AtomicU32,
}

impl Ring {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: AtomicPtr::new(null_mut()),
            written: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            reading: Spin::new(()),
            writing: Spin::new(()),
            reader_gone: AtomicU32::new(0),
            writer_gone: AtomicU32::new(0),
        }
    }

    /// Bytes that can be read.
    pub(crate) fn len(&self) -> usize {
        // `read` first: it is never beyond `written`. Acquire, both: pair with the releases of `read` and `write`.
        let read = self.read.load(Ordering::Acquire);
        // Another reader and writer may have gone round meanwhile.
        self.written.load(Ordering::Acquire).wrapping_sub(read).min(ROOM)
    }

    /// Whether a write of up to [`PIPE_BUF`] bytes would succeed.
    pub(crate) fn has_room(&self) -> bool {
        ROOM - self.len() >= PIPE_BUF
    }

    pub(crate) fn is_reader_gone(&self) -> bool {
        // Acquire pairs with the release in `end_reading`.
        self.reader_gone.load(Ordering::Acquire) != 0
    }

    pub(crate) fn is_writer_gone(&self) -> bool {
        // Acquire pairs with the release in `end_writing`: what was written before is seen.
        self.writer_gone.load(Ordering::Acquire) != 0
    }

    pub(crate) fn end_reading(&self) {
        self.reader_gone.store(1, Ordering::Release);
    }

    pub(crate) fn end_writing(&self) {
        self.writer_gone.store(1, Ordering::Release);
    }

    /// Reads what is there, or with `peek` looks at it: how many bytes; 0 at the end.
    pub(crate) fn take(&self, into: &mut [u8], peek: bool) -> Result<usize, Errno> {
        self.reading.with(|()| {
            // First whether that is the end, then how much there is: in this order nothing that was written before the
            // end is missed.
            let ended = self.is_writer_gone();
            // Relaxed: only readers store it, under their lock.
            let read = self.read.load(Ordering::Relaxed);
            // Acquire pairs with the release in `put`: the bytes are there.
            let there = self.written.load(Ordering::Acquire).wrapping_sub(read);
            if there == 0 {
                return if ended { Ok(0) } else { Err(Errno(EAGAIN)) };
            }
            let count = there.min(into.len());
            let (first, rest) = into[..count].split_at_mut(count.min(ROOM - read % ROOM));
            // Relaxed: the pointer came before the bytes.
            let bytes = self.bytes.load(Ordering::Relaxed);
            // SAFETY: as something was written, `bytes` is a block of `ROOM` bytes. From `read` on there are `there`
            // bytes that the writer has written and does not touch until `read` has passed them.
            unsafe {
                core::ptr::copy_nonoverlapping(bytes.add(read % ROOM), first.as_mut_ptr(), first.len());
                core::ptr::copy_nonoverlapping(bytes, rest.as_mut_ptr(), rest.len());
            }
            if !peek {
                // Release pairs with the acquire in `put`: the bytes have been copied.
                self.read.store(read.wrapping_add(count), Ordering::Release);
            }
            Ok(count)
        })
    }

    /// Writes as much as there is room for: how many bytes. Up to [`PIPE_BUF`] bytes all or none.
    pub(crate) fn put(&self, from: &[u8]) -> Result<usize, Errno> {
        if from.is_empty() {
            return Ok(0);
        }
        self.writing.with(|()| {
            if self.is_reader_gone() || self.is_writer_gone() {
                return Err(Errno(EPIPE));
            }
            // Relaxed: only writers store it, under their lock.
            let written = self.written.load(Ordering::Relaxed);
            // Acquire pairs with the release in `take`: the reader has copied what was there.
            let room = ROOM - written.wrapping_sub(self.read.load(Ordering::Acquire));
            if room == 0 || from.len() <= PIPE_BUF && room < from.len() {
                return Err(Errno(EAGAIN));
            }
            let count = room.min(from.len());
            let (first, rest) = from[..count].split_at(count.min(ROOM - written % ROOM));
            let bytes = self.bytes()?;
            // SAFETY: `bytes` is a block of `ROOM` bytes, of which the reader does not touch the `room` ones from
            // `written` on until `written` has passed them.
            unsafe {
                core::ptr::copy_nonoverlapping(first.as_ptr(), bytes.add(written % ROOM), first.len());
                core::ptr::copy_nonoverlapping(rest.as_ptr(), bytes, rest.len());
            }
            // Release pairs with the acquire in `take`.
            self.written.store(written.wrapping_add(count), Ordering::Release);
            Ok(count)
        })
    }

    /// The ring's memory. By the one that writes.
    fn bytes(&self) -> Result<*mut u8, Errno> {
        let bytes = self.bytes.load(Ordering::Relaxed);
        if !bytes.is_null() {
            return Ok(bytes);
        }
        // SAFETY: the layout is not empty.
        let bytes = unsafe { alloc(LAYOUT) };
        if bytes.is_null() {
            return Err(Errno(ENOMEM));
        }
        // Relaxed: whoever reads has seen what was written afterwards.
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        if !bytes.is_null() {
            // SAFETY: allocated with this layout, and nobody uses the ring any more.
            unsafe { dealloc(bytes, LAYOUT) };
        }
    }
}

/// A pipe: what its two ends share.
pub(crate) struct Pipe {
    ring: Ring,
    pub(crate) readers: Listeners,
    pub(crate) writers: Listeners,
}

impl Pipe {
    pub(crate) const fn new() -> Self {
        Self { ring: Ring::new(), readers: Listeners::new(), writers: Listeners::new() }
    }

    pub(crate) fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let count = self.ring.take(into, false)?;
        if count > 0 && self.ring.has_room() {
            self.writers.tell(EPOLLOUT);
        }
        Ok(count)
    }

    /// Reads what stays there.
    pub(crate) fn peek(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.ring.take(into, true)
    }

    pub(crate) fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        let count = self.ring.put(from)?;
        if count > 0 {
            self.readers.tell(EPOLLIN);
        }
        Ok(count)
    }

    /// What the end that reads is ready for.
    pub(crate) fn ready_to_read(&self) -> u32 {
        let ended = if self.ring.is_writer_gone() { EPOLLHUP } else { 0 };
        ended | if self.ring.len() > 0 { EPOLLIN } else { 0 }
    }

    /// What the end that writes is ready for.
    pub(crate) fn ready_to_write(&self) -> u32 {
        if self.ring.is_reader_gone() {
            EPOLLOUT | EPOLLERR
        } else if self.ring.has_room() {
            EPOLLOUT
        } else {
            0
        }
    }

    /// Bytes that can be read.
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(crate) fn end_reading(&self) {
        self.ring.end_reading();
        self.writers.tell(EPOLLERR | EPOLLOUT);
    }

    pub(crate) fn end_writing(&self) {
        self.ring.end_writing();
        self.readers.tell(EPOLLHUP | EPOLLIN | EPOLLRDHUP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in_round_and_round() {
        let pipe = Pipe::new();
        let mut back = vec![0; ROOM];
        let mut next = 0u8;
        for len in [1, PIPE_BUF, 40_000, 60_000, 7, ROOM, 50_001] {
            let sent: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_add(next)).collect();
            next = next.wrapping_add(91);
            assert_eq!(pipe.write(&sent), Ok(len));
            assert_eq!(pipe.read(&mut back), Ok(len));
            assert!(back[..len] == sent, "{len}");
        }
        assert_eq!(pipe.read(&mut back), Err(Errno(EAGAIN)));
    }

    #[test]
    fn a_write_that_is_short_enough_is_not_divided_and_a_long_one_is() {
        let pipe = Pipe::new();
        assert_eq!(pipe.write(&vec![0; ROOM - 100]), Ok(ROOM - 100));
        assert_eq!((pipe.write(&[0; 101]), pipe.ready_to_write()), (Err(Errno(EAGAIN)), 0));
        assert_eq!(pipe.write(&[1; PIPE_BUF + 1]), Ok(100));
        assert_eq!(pipe.write(&[1; PIPE_BUF + 1]), Err(Errno(EAGAIN)));
        assert_eq!(pipe.write(&[]), Ok(0));
        assert_eq!(pipe.read(&mut [0; PIPE_BUF]), Ok(PIPE_BUF));
        assert_eq!((pipe.write(&[0; PIPE_BUF]), pipe.len()), (Ok(PIPE_BUF), ROOM));
    }

    #[test]
    fn the_end_comes_behind_what_was_written() {
        let pipe = Pipe::new();
        assert_eq!(pipe.write(b"last"), Ok(4));
        pipe.end_writing();
        assert_eq!(pipe.ready_to_read(), EPOLLIN | EPOLLHUP);
        let mut into = [0; 8];
        assert_eq!((pipe.read(&mut into), &into[..4]), (Ok(4), &b"last"[..]));
        assert_eq!((pipe.read(&mut into), pipe.ready_to_read()), (Ok(0), EPOLLHUP));
    }

    #[test]
    fn writing_to_nobody_is_an_error() {
        let pipe = Pipe::new();
        pipe.end_reading();
        assert_eq!((pipe.write(b"x"), pipe.ready_to_write()), (Err(Errno(EPIPE)), EPOLLOUT | EPOLLERR));
    }

    #[test]
    fn a_reader_and_two_writers_at_a_time_lose_and_mix_nothing() {
        const EACH: u32 = 20_000;
        let pipe = std::sync::Arc::new(Pipe::new());
        let writers: Vec<_> = (0..2u32)
            .map(|writer| {
                let pipe = pipe.clone();
                std::thread::spawn(move || {
                    for i in 0..EACH {
                        let record: Vec<u8> = [writer, i].iter().flat_map(|n| n.to_le_bytes()).collect();
                        while pipe.write(&record) == Err(Errno(EAGAIN)) {
                            std::thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        let mut next = [0; 2];
        let mut into = [0; 8 * 100];
        while next != [EACH; 2] {
            match pipe.read(&mut into) {
                Ok(read) => into[..read].chunks(8).for_each(|record| {
                    let number = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
                    assert_eq!(number(4), next[number(0) as usize]);
                    next[number(0) as usize] += 1;
                }),
                Err(error) => {
                    assert_eq!(error, Errno(EAGAIN));
                    std::thread::yield_now();
                }
            }
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    }
}
