//! Standard input: always a descriptor, so that waiting for it is waiting for any descriptor.
//!
//! Reading never waits: it says `EAGAIN`, and the caller waits as it does for a socket. If reading waited, a program
//! whose lanes all read input that never comes would hold as many threads of the host.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicBool;
#[cfg(target_os = "linux")]
use std::sync::atomic::Ordering;
use std::sync::{Mutex, TryLockError};

use offload::host::{StackSize, without_sigpipe};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;

/// Where the standard input of a program comes from.
#[derive(Default)]
#[non_exhaustive]
pub enum Input {
    /// It is at its end.
    #[default]
    Null,
    /// This process's own.
    Stdin,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Any reader, on a thread of its own.
    Reader(Box<dyn Read + Send>),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "Null",
            Self::Stdin => "Stdin",
            Self::Bytes(_) => "Bytes",
            Self::Reader(_) => "Reader",
        })
    }
}

/// Standard input, open.
#[derive(Debug, Default)]
pub(in crate::builtin) struct Source {
    from: From,
    /// It is a pipe, which the system can read without waiting: as far as is known.
    pipe: AtomicBool,
    /// Held to look whether there is input, and to read it: what one thread saw another would read. It guards nothing
    /// else, and nobody waits for it.
    reading: Mutex<()>,
}

#[derive(Debug, Default)]
enum From {
    #[default]
    End,
    Process,
    /// Of a pipe that a thread fills.
    Pipe(OwnedFd),
}

impl Source {
    pub(super) fn open(input: Input) -> io::Result<Self> {
        let from = match input {
            Input::Null => From::End,
            Input::Stdin => From::Process,
            Input::Bytes(bytes) => pumped(Box::new(io::Cursor::new(bytes)))?,
            Input::Reader(reader) => pumped(reader)?,
        };
        let mut source = Self { from, pipe: AtomicBool::new(false), reading: Mutex::new(()) };
        let pipe = source.descriptor().and_then(|from| rustix::fs::fstat(from).ok()).map(|stat| FileType::from_raw_mode(stat.st_mode));
        source.pipe = AtomicBool::new(cfg!(target_os = "linux") && pipe == Some(FileType::Fifo));
        Ok(source)
    }

    /// The descriptor to read from, if it is not at its end anyway.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.from {
            From::End => None,
            From::Process => Some(rustix::stdio::stdin()),
            From::Pipe(pipe) => Some(pipe.as_fd()),
        }
    }

    /// It as a file, if it is one.
    pub(super) fn file(&self) -> io::Result<Option<File>> {
        let From::Process = self.from else { return Ok(None) };
        let file = File::from(rustix::stdio::stdin().try_clone_to_owned()?);
        Ok(file.metadata()?.is_file().then_some(file))
    }

    /// Reads what is there, for sure without waiting: as [`Source::read`]; `None` if that cannot be done.
    ///
    /// # Safety
    /// As there.
    #[cfg(target_os = "linux")]
    pub(super) unsafe fn read_now(&self, into: *mut [u8]) -> Option<rustix::io::Result<usize>> {
        let Some(from) = self.descriptor() else { return Some(Ok(0)) };
        // Relaxed: a hint. Pairs with the store below.
        if !self.pipe.load(Ordering::Relaxed) {
            return None;
        }
        let vector = libc::iovec { iov_base: into.cast(), iov_len: into.len() };
        let read = rustix::io::retry_on_intr(|| {
            // SAFETY: the caller's; one vector, which lives through the call.
            let read = unsafe { libc::preadv2(from.as_raw_fd(), &raw const vector, 1, -1, libc::RWF_NOWAIT) };
            usize::try_from(read).map_err(|_| Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
        });
        if matches!(read, Err(Errno::OPNOTSUPP | Errno::NOSYS)) {
            self.pipe.store(false, Ordering::Relaxed);
            return None;
        }
        Some(read)
    }

    /// No other system can be asked not to wait for one read.
    ///
    /// # Safety
    /// None.
    #[cfg(not(target_os = "linux"))]
    pub(super) unsafe fn read_now(&self, _: *mut [u8]) -> Option<rustix::io::Result<usize>> {
        None
    }

    /// Reads what is there; 0 at the end, [`Errno::AGAIN`] if there is nothing yet, or another thread reads.
    ///
    /// # Safety
    /// `into` is valid for writes. The device may write there as well.
    pub(super) unsafe fn read(&self, into: *mut [u8]) -> rustix::io::Result<usize> {
        let Some(from) = self.descriptor() else { return Ok(0) };
        let _reading = match self.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Errno::AGAIN),
        };
        // The process's own input may be shared with other processes, for which it must not become one that does not
        // block.
        let mut now = [PollFd::from_borrowed_fd(from, PollFlags::IN)];
        if rustix::io::retry_on_intr(|| poll(&mut now, Some(&Timespec::default())))? == 0 {
            return Err(Errno::AGAIN);
        }
        rustix::io::retry_on_intr(|| {
            // SAFETY: the caller's.
            let read = unsafe { libc::read(from.as_raw_fd(), into.cast(), into.len()) };
            usize::try_from(read).map_err(|_| Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
        })
    }
}

impl Source {
    /// Reads what is there; 0 at the end. Waits until something is, or `goes_on` says no.
    pub(in crate::builtin) fn read_waiting(&self, into: &mut [u8], goes_on: impl Fn() -> bool) -> io::Result<usize> {
        /// After so long it asks whether to go on.
        const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            // SAFETY: a slice.
            match unsafe { self.read(into) } {
                Err(Errno::AGAIN) => {}
                done => return Ok(done?),
            }
            let Some(from) = self.descriptor().filter(|_| goes_on()) else { return Ok(0) };
            match poll(&mut [PollFd::from_borrowed_fd(from, PollFlags::IN)], Some(&TURN)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn pumped(mut reader: Box<dyn Read + Send>) -> io::Result<From> {
    let (from, mut to) = io::pipe()?;
    offload::host::spawn("hostcall-stdin", StackSize::default(), move || {
        // A reader that fails is at its end, and a program that reads no more is none of the reader's business: nor of
        // the process's.
        if let Err(error) = without_sigpipe(|| io::copy(&mut reader, &mut to)) {
            tracing::debug!(%error, "standard input ends");
        }
    })?;
    Ok(From::Pipe(from.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Reads in both ways, which agree where both are possible.
    fn read(source: &Source, into: &mut [u8]) -> rustix::io::Result<usize> {
        // SAFETY: a slice.
        unsafe { source.read_now(into).unwrap_or_else(|| source.read(into)) }
    }

    #[test]
    fn input_that_has_not_come_holds_no_thread() {
        let (from, mut to) = io::pipe().unwrap();
        let source = Source::open(Input::Reader(Box::new(from))).unwrap();
        let mut into = [0; 8];
        assert_eq!(read(&source, &mut into), Err(Errno::AGAIN));
        // SAFETY: a slice.
        assert_eq!(unsafe { source.read(&mut into[..]) }, Err(Errno::AGAIN));
        to.write_all(b"late").unwrap();
        let mut ready = [PollFd::from_borrowed_fd(source.descriptor().unwrap(), PollFlags::IN)];
        poll(&mut ready, None).unwrap();
        assert_eq!((read(&source, &mut into), &into[..4]), (Ok(4), &b"late"[..]));
        assert_eq!(read(&source, &mut into), Err(Errno::AGAIN));
        drop(to);
        poll(&mut ready, None).unwrap();
        assert_eq!(read(&source, &mut into), Ok(0));
        assert_eq!(read(&Source::default(), &mut into), Ok(0));
    }

    #[test]
    fn a_reader_finds_another_one_reading() {
        let source = Source::open(Input::Bytes(b"text".to_vec())).unwrap();
        let _reading = source.reading.lock().unwrap();
        // SAFETY: an array.
        assert_eq!(unsafe { source.read(&mut [0; 8][..]) }, Err(Errno::AGAIN));
    }
}
