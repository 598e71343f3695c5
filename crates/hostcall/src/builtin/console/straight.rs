//! Long texts that a wave writes itself, past the queue.
//!
//! The queue costs a long text two more copies, and two changes of threads as soon as it is full. A wave that
//! [serves ports while it waits](crate::serving) has nothing else to do until its text is accepted. So if nothing is
//! queued before the text, the wave writes it: into a file, as it writes other files, or into a pipe, as far as there
//! is room. For more room it waits no longer than [`PATIENCE`]. What does not fit by then is queued.
//!
//! The device may change a staging slot at any time, so no Rust reference to one is made: its address goes to the
//! system.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
#[cfg(target_os = "linux")]
use std::sync::atomic::Ordering;

use crate::wire::StagedRegion;

/// Bytes from which on a text is long: a copy and a system call of its own cost it less than the queue.
pub(super) const LONG: usize = 16 << 10;
/// Bytes of a program that are queued at most when a long text is queued as well. Longer ones wait until all is
/// written.
pub(super) const AHEAD: u64 = 512 << 10;
/// The longest time that a wave waits for a pipe's reader. A wave may serve others, whose calls would wait with it.
const PATIENCE: Duration = Duration::from_millis(1);
/// The longest time that a long text waits for its turn to be written, rather than queued.
pub(super) const TURN: Duration = Duration::from_millis(5);
/// What a pipe is made to hold when it was found full: its reader and a wave that writes change turns less often.
#[cfg(target_os = "linux")]
const ROOM: usize = 256 << 10;

/// A descriptor that waves may write to.
#[derive(Debug)]
pub(super) struct Straight {
    descriptor: BorrowedFd<'static>,
    /// It is a pipe, else a file.
    pipe: bool,
    /// The pipe is as large as it will be.
    enlarged: AtomicBool,
    /// The system can write to the pipe without waiting.
    works: AtomicBool,
}

impl Straight {
    /// Of a pipe or a file.
    #[cfg(target_os = "linux")]
    pub(super) fn of(descriptor: BorrowedFd<'static>) -> Option<Self> {
        use rustix::fs::{FileType, fstat};
        let pipe = match FileType::from_raw_mode(fstat(descriptor).ok()?.st_mode) {
            FileType::Fifo => true,
            FileType::RegularFile => false,
            _ => return None,
        };
        Some(Self { descriptor, pipe, enlarged: AtomicBool::new(false), works: AtomicBool::new(true) })
    }

    /// Of nothing: no other system can be asked not to wait for one write.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(_: BorrowedFd<'static>) -> Option<Self> {
        None
    }

    /// Whether it is worth trying.
    pub(super) fn works(&self) -> bool {
        // Relaxed: a hint. Pairs with the store in `write`.
        self.works.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Writes as much of the text as may be: how many bytes, and why no more, if that was an error.
    #[cfg(target_os = "linux")]
    pub(super) fn write(&self, text: StagedRegion<'_>) -> (usize, io::Result<()>) {
        let flags = if self.pipe { libc::RWF_NOWAIT } else { 0 };
        let (mut done, mut deadline) = (0, None);
        while let Some(rest) = text.part(done, text.len() - done).filter(|rest| !rest.is_empty()) {
            let vector = libc::iovec { iov_base: rest.as_ptr().cast(), iov_len: rest.len() };
            // SAFETY: one vector, which lives through the call; the region is valid for reads of its length. The
            // descriptor is this process's own, which stays open.
            let write = || unsafe { libc::pwritev2(self.descriptor.as_raw_fd(), &raw const vector, 1, -1, flags) };
            let written = if self.pipe { offload::host::without_sigpipe(write) } else { write() };
            if let Ok(written) = usize::try_from(written) {
                done += written;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN) if self.enlarge() => {}
                Some(libc::EAGAIN) if self.has_room_by(*deadline.get_or_insert_with(|| Instant::now() + PATIENCE)) => {}
                Some(libc::EAGAIN) => break,
                Some(libc::EOPNOTSUPP | libc::ENOSYS) if self.pipe => {
                    // Relaxed: pairs with the load in `works`.
                    self.works.store(false, Ordering::Relaxed);
                    break;
                }
                _ => return (done, Err(error)),
            }
        }
        (done, Ok(()))
    }

    /// There is none.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn write(&self, _: StagedRegion<'_>) -> (usize, io::Result<()>) {
        (0, Ok(()))
    }

    /// Makes the pipe larger, if it was not tried before. Whether that was done.
    #[cfg(target_os = "linux")]
    fn enlarge(&self) -> bool {
        use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
        // Relaxed: who enlarges it is alone, as who writes to it is.
        if !self.pipe || self.enlarged.swap(true, Ordering::Relaxed) {
            return false;
        }
        // A user may have pipes of so many bytes and no more.
        fcntl_getpipe_size(self.descriptor).is_ok_and(|size| size < ROOM) && fcntl_setpipe_size(self.descriptor, ROOM).is_ok()
    }

    /// Waits for room. Whether there is some, or an error that a write will tell.
    #[cfg(target_os = "linux")]
    fn has_room_by(&self, deadline: Instant) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else { return false };
        let mut now = [PollFd::from_borrowed_fd(self.descriptor, PollFlags::OUT)];
        // A signal ends it as the deadline does: what is left is queued.
        poll(&mut now, Some(&left)).is_ok_and(|ready| ready > 0)
    }
}
