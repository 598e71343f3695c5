//! A socket of the system, as the table of handles keeps it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64};

use rustix::io::{Errno, ioctl_fionbio};

use super::counted::Counted;
use super::errno;

/// A socket. Its descriptor never blocks: whether the program's calls wait is the program's affair, which is kept here.
#[derive(Debug)]
pub(super) struct Socket {
    descriptor: Counted<OwnedFd>,
    /// Whether calls that would wait fail instead.
    pub(super) nonblocking: AtomicBool,
    /// Nanoseconds that receiving and sending wait; 0 for as long as it takes.
    pub(super) timeouts: [AtomicU64; 2],
    /// A socket for datagrams at no particular address: it hears only those whom it may speak to.
    pub(super) filtered: AtomicBool,
    /// It was bound to a place that is granted.
    pub(super) bound: AtomicBool,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The number of an error of the system.
pub(super) fn number(error: Errno) -> u32 {
    errno::of(&error.into())
}

impl Socket {
    pub(super) fn new(descriptor: Counted<OwnedFd>) -> Result<Self, u32> {
        ioctl_fionbio(&descriptor, true).map_err(number)?;
        Ok(Self {
            descriptor,
            nonblocking: AtomicBool::new(false),
            timeouts: Default::default(),
            filtered: AtomicBool::new(false),
            bound: AtomicBool::new(false),
        })
    }
}
