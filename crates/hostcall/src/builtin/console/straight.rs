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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::tests::lasting;
    use super::*;
    use std::os::fd::AsFd;

    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

    impl Straight {
        /// Of something that is taken for a pipe, and cannot be asked not to wait.
        pub(in super::super) fn that_waits() -> Self {
            // Of these the system writes nothing but by plain writes.
            let events = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
            let descriptor = lasting(events);
            Self { descriptor, pipe: true, enlarged: AtomicBool::new(true), works: AtomicBool::new(true) }
        }
    }

    fn write(straight: &Straight, text: &mut [u8]) -> (usize, io::Result<()>) {
        // SAFETY: a slice, which nobody else uses meanwhile.
        straight.write(unsafe { StagedRegion::new(std::ptr::NonNull::from(&mut *text).cast(), text.len()) })
    }

    #[test]
    fn waves_write_to_pipes_and_files_and_to_nothing_else() {
        use std::io::Read;
        let mut file = tempfile::tempfile().unwrap();
        let of = Straight::of(lasting(file.try_clone().unwrap())).unwrap();
        assert!(!of.pipe && of.works() && !of.enlarge());
        let mut text = vec![b'x'; LONG];
        let (done, outcome) = write(&of, &mut text);
        assert!(done == LONG && outcome.is_ok());
        let mut got = Vec::new();
        std::io::Seek::rewind(&mut file).unwrap();
        file.read_to_end(&mut got).unwrap();
        assert!(got == text);
        assert!(Straight::of(lasting(io::pipe().unwrap().1)).unwrap().pipe);
        assert!(Straight::of(lasting(std::fs::File::open("/dev/null").unwrap())).is_none());
    }

    #[test]
    fn what_cannot_be_asked_not_to_wait_is_left_to_the_queue_and_not_tried_again() {
        let straight = Straight::that_waits();
        assert!(straight.works());
        let (done, outcome) = write(&straight, &mut vec![b'x'; LONG]);
        assert!(done == 0 && outcome.is_ok(), "{done}, {outcome:?}");
        assert!(!straight.works());
    }

    #[test]
    fn a_full_pipe_is_made_larger_once_and_the_text_goes_on() {
        let (_from, to) = io::pipe().unwrap();
        let straight = Straight::of(lasting(to)).unwrap();
        let pipe = straight.descriptor.as_fd();
        fcntl_setpipe_size(pipe, 1 << 16).unwrap();
        // A user may have pipes of so many bytes and no more.
        if fcntl_setpipe_size(io::pipe().unwrap().1, ROOM).is_err() {
            return;
        }
        let mut text = vec![b'x'; ROOM / 2];
        let (done, outcome) = write(&straight, &mut text);
        assert!(done == text.len() && outcome.is_ok(), "{done}, {outcome:?}");
        assert_eq!(fcntl_getpipe_size(pipe), Ok(ROOM));
        assert!(!straight.enlarge(), "it was tried before");
        let (done, outcome) = write(&straight, &mut vec![b'x'; ROOM]);
        assert!(done == ROOM / 2 && outcome.is_ok(), "no more than there is room for: {done}, {outcome:?}");
    }

    #[test]
    fn a_pipe_that_is_large_stays_as_it_is() {
        let (_from, to) = io::pipe().unwrap();
        let straight = Straight::of(lasting(to)).unwrap();
        for size in [ROOM, 2 * ROOM] {
            straight.enlarged.store(false, Ordering::Relaxed);
            if fcntl_setpipe_size(straight.descriptor, size).is_ok() {
                assert!(!straight.enlarge(), "{size}");
                assert_eq!(fcntl_getpipe_size(straight.descriptor), Ok(size));
            }
        }
        fcntl_setpipe_size(straight.descriptor, 1 << 16).unwrap();
        assert!(!straight.enlarge(), "it was tried before");
    }

    #[test]
    fn there_is_room_in_a_pipe_that_somebody_reads() {
        let (from, to) = io::pipe().unwrap();
        let straight = Straight::of(lasting(to)).unwrap();
        let far = Instant::now() + Duration::from_secs(600);
        assert!(straight.has_room_by(far));
        straight.enlarged.store(true, Ordering::Relaxed);
        let full = fcntl_getpipe_size(straight.descriptor).unwrap();
        assert_eq!(write(&straight, &mut vec![b'x'; full]).0, full);
        assert!(!straight.has_room_by(Instant::now()));
        assert_eq!(rustix::io::read(&from, &mut vec![0; full]), Ok(full));
        assert!(straight.has_room_by(far));
    }
}
