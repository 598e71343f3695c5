//! C's numbers for what is here, as Linux has them on x86-64.
//!
//! Source: Linux's `uapi` headers (`eventpoll.h`, `poll.h`, `eventfd.h`, `socket.h`).

/// Can be read.
pub(crate) const EPOLLIN: u32 = 1;
/// Something urgent can be read.
pub(crate) const EPOLLPRI: u32 = 2;
/// Can be written.
pub(crate) const EPOLLOUT: u32 = 4;
/// An error.
pub(crate) const EPOLLERR: u32 = 8;
/// The other side is gone.
pub(crate) const EPOLLHUP: u32 = 16;
/// No such descriptor.
pub(crate) const POLLNVAL: u32 = 32;
/// As [`EPOLLIN`].
pub(crate) const EPOLLRDNORM: u32 = 0x40;
/// As [`EPOLLOUT`].
pub(crate) const EPOLLWRNORM: u32 = 0x100;
/// The other side writes no more.
pub(crate) const EPOLLRDHUP: u32 = 0x2000;
/// Wakes one waiter at least, not all.
pub(crate) const EPOLLEXCLUSIVE: u32 = 1 << 28;
/// Told once, until it is asked for again.
pub(crate) const EPOLLONESHOT: u32 = 1 << 30;
/// Told when it becomes so, not while it is so.
pub(crate) const EPOLLET: u32 = 1 << 31;

/// `epoll_ctl`: one more.
pub(crate) const EPOLL_CTL_ADD: i32 = 1;
/// `epoll_ctl`: one less.
pub(crate) const EPOLL_CTL_DEL: i32 = 2;
/// `epoll_ctl`: other events of one.
pub(crate) const EPOLL_CTL_MOD: i32 = 3;

/// `eventfd`: reading takes 1.
pub(crate) const EFD_SEMAPHORE: i32 = 1;

/// Writes of so many bytes are not divided.
pub(crate) const PIPE_BUF: usize = 4096;
