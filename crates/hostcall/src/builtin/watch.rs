//! Alarms and sets of handles, as the table of handles keeps them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

use super::counted::{Counted, Room};
use super::errno;
use super::socket::number;

/// Something that is ready from when it is rung until somebody silences it: a counter of the system's.
#[derive(Debug)]
pub(super) struct Alarm(Counted<OwnedFd>);

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Alarm {
    pub(super) fn new(room: Room) -> Result<Self, u32> {
        let counter = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(number)?;
        room.take(counter).map(Self)
    }

    pub(super) fn ring(&self) {
        // A counter that is at its end rings already.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }

    pub(super) fn silence(&self) {
        // Nothing, if it does not ring.
        let _ = rustix::io::read(&*self.0, &mut [0; 8]);
    }
}

/// Descriptors that are waited for together: an `epoll` of the kernel.
#[derive(Debug)]
pub(super) struct Set(Counted<OwnedFd>);

impl AsFd for Set {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// `EPOLLWAKEUP`, which keeps the host awake: not a program's to say.
const WAKE_UP: u32 = 1 << 29;

impl Set {
    pub(super) fn new(room: Room) -> Result<Self, u32> {
        room.take(epoll::create(CreateFlags::CLOEXEC).map_err(number)?).map(Self)
    }

    /// `epoll_ctl`
    pub(super) fn change(&self, operation: u32, descriptor: BorrowedFd<'_>, events: u32, data: u64) -> Result<(), u32> {
        let (data, flags) = (EventData::new_u64(data), EventFlags::from_bits_retain(events & !WAKE_UP));
        match operation {
            1 => epoll::add(&*self.0, descriptor, data, flags),
            2 => epoll::delete(&*self.0, descriptor),
            3 => epoll::modify(&*self.0, descriptor, data, flags),
            _ => return Err(errno::EINVAL),
        }
        .map_err(number)
    }

    /// What happened to members, events and data of each, without waiting: how many, at most as many as there is room
    /// for.
    pub(super) fn take(&self, into: &mut [[u64; 2]]) -> usize {
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; MOST];
        let most = into.len().min(MOST);
        if most == 0 {
            return 0;
        }
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An error is none of a member's.
        let count = epoll::wait(&*self.0, &mut events[..most], Some(&now)).unwrap_or(0);
        for (event, into) in events[..count.min(most)].iter().zip(into) {
            // (Copied out of a structure that is packed.)
            let (flags, data) = (event.flags, event.data);
            *into = [u64::from(flags.bits()), data.u64()];
        }
        count.min(most)
    }
}

/// Events that one call brings, at most.
pub(super) const MOST: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};

    use crate::tenant::Tenant;

    fn room() -> Room {
        Room::of(&Tenant::new(), 1).unwrap()
    }

    fn rings(alarm: &Alarm) -> bool {
        poll(&mut [PollFd::new(alarm, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn an_alarm_rings_until_it_is_silenced_however_often_it_was_rung() {
        let alarm = Alarm::new(room()).unwrap();
        assert!(!rings(&alarm));
        (0..200_000).for_each(|_| alarm.ring());
        assert!(rings(&alarm));
        alarm.silence();
        assert!(!rings(&alarm));
        alarm.ring();
        assert!(rings(&alarm));
    }

    #[test]
    fn a_set_says_what_happened_to_its_members_and_refuses_what_linux_refuses() {
        let (set, alarm) = (Set::new(room()).unwrap(), Alarm::new(room()).unwrap());
        assert_eq!(set.change(3, alarm.as_fd(), 1, 0), Err(errno::ENOENT));
        assert_eq!(set.change(1, alarm.as_fd(), 1 | 1 << 31, u64::MAX), Ok(()));
        assert_eq!(set.change(1, alarm.as_fd(), 1, 0), Err(errno::EEXIST));
        assert_eq!(set.change(4, alarm.as_fd(), 1, 0), Err(errno::EINVAL));
        let mut into = [[0; 2]; MOST];
        assert_eq!((set.take(&mut into), set.take(&mut [])), (0, 0));
        alarm.ring();
        assert_eq!((set.take(&mut into), into[0]), (1, [1, u64::MAX]));
        assert_eq!(set.take(&mut into), 0, "the edge was told");
        let file = tempfile::tempfile().unwrap();
        assert_eq!(set.change(1, file.as_fd(), 1, 0), Err(errno::EPERM));
        assert_eq!(set.change(2, alarm.as_fd(), 0, 0), Ok(()));
    }
}
