//! Waiting for several descriptors of any kinds, once (`poll`, `select`).

use super::epoll::{is_over, remaining, widened};
use super::machine;
use super::numbers::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, POLLNVAL};
use super::object::Object;
use super::slots::{self, Held};
use super::wake::{Hearer, Waiter};
use crate::error::Errno;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What one of the descriptors stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An object of the device, by its reference.
    Object(u64),
    /// A handle of the host that may have to be waited for; 0 to 2 are standard input, output and error.
    Handle(u64),
    /// Something that is always ready for these events.
    Ready(u32),
    /// Left out.
    Nothing,
    /// No open descriptor.
    Unknown,
}

/// A descriptor that is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) what: What,
    pub(crate) events: u32,
    /// What has happened.
    pub(crate) happened: u32,
}

impl Asked {
    fn set(&mut self, ready: u32) {
        self.happened |= widened(ready) & (self.events | EPOLLERR | EPOLLHUP | POLLNVAL);
    }
}

/// An object among those that are waited for.
struct Watched {
    held: Held,
    at: usize,
}

struct Several<'a> {
    asked: &'a mut [Asked],
    objects: Vec<Watched>,
    /// Handles with their events, and whose they are; there is room for an alarm behind.
    handles: Vec<[u64; 2]>,
    places: Vec<usize>,
    happened: Vec<u32>,
}

impl<'a> Several<'a> {
    fn new(asked: &'a mut [Asked]) -> Self {
        let mut this = Self { asked, objects: Vec::new(), handles: Vec::new(), places: Vec::new(), happened: Vec::new() };
        for at in 0..this.asked.len() {
            let entry = &mut this.asked[at];
            entry.happened = 0;
            match entry.what {
                What::Object(reference) => match slots::get(reference) {
                    Some(held) => this.objects.push(Watched { held, at }),
                    None => entry.set(POLLNVAL),
                },
                What::Handle(handle) => {
                    this.handles.push([handle, u64::from(entry.events)]);
                    this.places.push(at);
                }
                What::Ready(ready) => entry.set(ready),
                What::Nothing => {}
                What::Unknown => entry.set(POLLNVAL),
            }
        }
        // An epoll has members on the device and on the host.
        for Watched { held, at } in &this.objects {
            if let Object::Epoll(epoll) = &**held
                && epoll.set() != 0
            {
                this.handles.push([epoll.set(), u64::from(EPOLLIN)]);
                this.places.push(*at);
            }
        }
        this
    }

    /// Looks at the objects.
    fn look(&mut self) {
        for Watched { held, at } in &self.objects {
            self.asked[*at].set(held.ready());
        }
    }

    fn is_any(&self) -> bool {
        self.asked.iter().any(|entry| entry.happened != 0)
    }

    /// Asks the host, with an alarm if it is to wait.
    fn ask(&mut self, alarm: Option<u64>, nanos: i64) -> Result<(), Errno> {
        let count = self.handles.len();
        self.handles.extend(alarm.map(|alarm| [alarm, u64::from(EPOLLIN)]));
        self.happened.clear();
        self.happened.resize(self.handles.len(), 0);
        let result = machine::poll(&self.handles, &mut self.happened, nanos);
        self.handles.truncate(count);
        result?;
        for (at, happened) in self.places.iter().zip(&self.happened) {
            self.asked[*at].set(*happened);
        }
        Ok(())
    }

    fn wait_as(&mut self, waiter: &Waiter, deadline: Option<u64>) -> Result<(), Errno> {
        loop {
            waiter.arm();
            self.look();
            if self.is_any() {
                // The others may be ready as well.
                return if self.handles.is_empty() { Ok(()) } else { self.ask(None, 0) };
            }
            if self.handles.is_empty() {
                if !waiter.wait_here(deadline) {
                    self.look();
                    return Ok(());
                }
                continue;
            }
            waiter.wait_on_host(|alarm| self.ask(Some(alarm), remaining(deadline)))?;
            if self.is_any() {
                self.look();
                return Ok(());
            }
            if is_over(deadline) {
                self.look();
                return Ok(());
            }
        }
    }

    fn wait(&mut self, deadline: Option<u64>) -> Result<(), Errno> {
        self.look();
        if self.is_any() || is_over(deadline) {
            return if self.handles.is_empty() { Ok(()) } else { self.ask(None, 0) };
        }
        if self.objects.is_empty() && !self.handles.is_empty() {
            // Nobody on the device would ring.
            return self.ask(None, remaining(deadline));
        }
        let waiter = Waiter::take();
        for Watched { held, at } in &self.objects {
            if let Some(listeners) = held.listeners() {
                listeners.add(self.asked[*at].events | EPOLLERR | EPOLLHUP, *at as u64, Hearer::Waiter(waiter.clone()));
            }
        }
        let result = self.wait_as(&waiter, deadline);
        self.leave(&waiter);
        Waiter::give_back(waiter);
        result
    }

    fn leave(&self, waiter: &Arc<Waiter>) {
        for Watched { held, at } in &self.objects {
            if let Some(listeners) = held.listeners() {
                listeners.remove(*at as u64, &Hearer::Waiter(waiter.clone()));
            }
        }
    }
}

/// Waits until something happens to one of several descriptors, or the deadline is there: to how many something
/// happened.
pub(crate) fn wait(asked: &mut [Asked], deadline: Option<u64>) -> Result<usize, Errno> {
    Several::new(asked).wait(deadline)?;
    Ok(asked.iter().filter(|entry| entry.happened != 0).count())
}

/// What a directory is ready for.
pub(crate) const DIRECTORY: What = What::Ready(EPOLLIN | EPOLLOUT);

#[cfg(test)]
mod tests {
    use super::super::counter::Counter;
    use super::super::epoll::{Epoll, Member};
    use super::super::numbers::{EPOLL_CTL_ADD, EPOLLRDNORM};
    use super::*;

    fn counter(value: u64) -> u64 {
        slots::insert(Object::Counter(Counter::new(value, false)), 0).unwrap()
    }

    fn asked(what: What, events: u32) -> Asked {
        Asked { what, events, happened: 0 }
    }

    fn soon() -> Option<u64> {
        Some(machine::now_ns() + 3_000_000)
    }

    #[test]
    fn what_is_ready_is_said_of_every_kind() {
        let (full, empty, handle) = (counter(1), counter(0), machine::handle(EPOLLIN));
        let both = EPOLLIN | EPOLLOUT;
        let mut list = [
            asked(What::Object(full), EPOLLIN | EPOLLRDNORM),
            asked(What::Object(empty), EPOLLIN),
            asked(What::Handle(handle), both),
            asked(What::Ready(EPOLLOUT), both),
            asked(What::Nothing, both),
            asked(What::Unknown, both),
            asked(DIRECTORY, EPOLLIN),
        ];
        assert_eq!(wait(&mut list, None), Ok(5));
        assert_eq!(list.map(|entry| entry.happened), [EPOLLIN | EPOLLRDNORM, 0, EPOLLIN, EPOLLOUT, 0, POLLNVAL, EPOLLIN]);
        [full, empty].into_iter().for_each(slots::release);
    }

    #[test]
    fn objects_and_handles_end_the_same_wait() {
        for on_device in [true, false] {
            let (object, handle) = (counter(0), machine::handle(0));
            let waiting = std::thread::spawn(move || {
                let mut list = [asked(What::Object(object), EPOLLIN), asked(What::Handle(handle), EPOLLIN)];
                (wait(&mut list, None), list.map(|entry| entry.happened))
            });
            std::thread::sleep(core::time::Duration::from_millis(3));
            if on_device {
                slots::get(object).unwrap().write(&[1; 8]).unwrap();
            } else {
                machine::set_ready(handle, EPOLLIN);
            }
            let expected = if on_device { [EPOLLIN, 0] } else { [0, EPOLLIN] };
            assert_eq!(waiting.join().unwrap(), (Ok(1), expected));
            slots::release(object);
        }
    }

    #[test]
    fn waiting_ends_at_its_deadline_with_nothing() {
        let (object, handle) = (counter(0), machine::handle(0));
        for mut list in [vec![], vec![asked(What::Object(object), EPOLLIN)], vec![asked(What::Handle(handle), EPOLLIN)]] {
            assert_eq!(wait(&mut list, soon()), Ok(0));
        }
        slots::release(object);
    }

    #[test]
    fn an_epoll_is_waited_for_with_its_members_on_both_sides() {
        let (object, handle) = (counter(0), machine::handle(0));
        let epoll = Epoll::new();
        epoll.control(EPOLL_CTL_ADD, 10, Member::Object(object), EPOLLIN, 1).unwrap();
        epoll.control(EPOLL_CTL_ADD, 11, Member::Handle(handle), EPOLLIN, 2).unwrap();
        let set = epoll.set();
        let reference = slots::insert(Object::Epoll(epoll), 0).unwrap();
        let mut list = [asked(What::Object(reference), EPOLLIN)];
        assert_eq!(wait(&mut list, soon()), Ok(0));
        // The stand-in's set is not ready by its members.
        machine::set_ready(set, EPOLLIN);
        assert_eq!((wait(&mut list, None), list[0].happened), (Ok(1), EPOLLIN));
        machine::set_ready(set, 0);
        let waiting = std::thread::spawn(move || wait(&mut [asked(What::Object(reference), EPOLLIN)], None));
        std::thread::sleep(core::time::Duration::from_millis(3));
        slots::get(object).unwrap().write(&[1; 8]).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(1));
        [object, reference].into_iter().for_each(slots::release);
    }
}
