//! `epoll`: a set of descriptors that are waited for together.
//!
//! Objects of the device are items of a list here, which those who wait look through: a program has few of them in a
//! set, usually the one that wakes it. Handles of the host (sockets, standard input) are in a *set of the host*, an
//! `epoll` of the host's kernel. So what is level- or edge-triggered, told once or exclusive there is what Linux says;
//! only the data of an event travels. A wait with handles of the host is one call to the host, which somebody who makes
//! an object of the device ready ends (`wake`).
//!
//! # Edges of the device's objects
//!
//! Each object counts how often it became readable, and writable ([`Listeners::edges`]). An edge-triggered item
//! remembers the counts of the last look, taken before it looked whether the object is ready, and is told of only when
//! they have changed. As on Linux every write is an edge, whether or not what was there before has been read. An event
//! may be told twice, never too seldom.
//!
//! # What differs from Linux
//!
//! An `epoll` in an `epoll` is refused (`EINVAL`); `poll` waits for one. Two duplicates of a descriptor of the *host*
//! are one member of a set: the second is refused with `EEXIST`. All who wait in a set are woken when an object of the
//! device becomes ready, whatever `EPOLLEXCLUSIVE` says.

use super::machine::{self, BROUGHT};
use super::numbers::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLEXCLUSIVE, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDNORM,
    EPOLLWRNORM,
};
use super::object::Object;
use super::slots;
use super::spin::Spin;
use super::wake::{Hearer, Listeners, Waiter};
use crate::abi::errno::{EBADF, EEXIST, EINVAL, ENOENT, EPERM};
use crate::error::Errno;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// What a descriptor that goes into a set stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// An object of the device, by its reference.
    Object(u64),
    /// A handle of the host; 0 is standard input.
    Handle(u64),
    /// Something that can always be written, and never be read.
    Output,
    /// Something that nobody can wait for.
    None,
}

/// The item of an output has no object.
const OUTPUT: u64 = 0;

struct Item {
    fd: i32,
    /// Which object; [`OUTPUT`] for none.
    object: u64,
    /// What is asked for, with the options; 0 once an event was told that is told once.
    events: u32,
    data: u64,
    /// The object's edges that have been looked at.
    seen: [u32; 2],
    /// Nothing was looked at since it was asked for.
    fresh: bool,
    /// Its object is closed.
    gone: bool,
}

/// Events that are told though nobody asked.
const ALWAYS: u32 = EPOLLERR | EPOLLHUP;

/// With the other names that readiness has.
pub(crate) fn widened(ready: u32) -> u32 {
    let mut wide = ready;
    if ready & EPOLLIN != 0 {
        wide |= EPOLLRDNORM;
    }
    if ready & EPOLLOUT != 0 {
        wide |= EPOLLWRNORM;
    }
    wide
}

impl Item {
    /// What is to be told of it, if its object is ready for `ready` and has `edges`.
    fn happened(&self, ready: u32, edges: [u32; 2]) -> u32 {
        let edge = self.fresh || edges != self.seen;
        if self.events == 0 || self.events & EPOLLET != 0 && !edge { 0 } else { widened(ready) & (self.events & 0xffff | ALWAYS) }
    }
}

#[derive(Default)]
struct Items {
    list: Vec<Item>,
    /// With which the next look begins, so that all have their turn.
    next: usize,
}

/// A set of descriptors that are waited for together.
pub(crate) struct Epoll {
    /// Those who wait for it.
    listeners: Arc<Listeners>,
    items: Spin<Items>,
    /// The set of the host, 0 if there is none yet.
    set: AtomicU64,
}

impl Epoll {
    pub(crate) fn new() -> Self {
        Self { listeners: Arc::new(Listeners::new()), items: Spin::new(Items { list: Vec::new(), next: 0 }), set: AtomicU64::new(0) }
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// The set of the host, 0 if there is none.
    pub(crate) fn set(&self) -> u64 {
        // Acquire pairs with the exchange in `host_set`; the handle itself is all there is.
        self.set.load(Ordering::Acquire)
    }

    fn host_set(&self) -> Result<u64, Errno> {
        let known = self.set();
        if known != 0 {
            return Ok(known);
        }
        let set = machine::set()?;
        match self.set.compare_exchange(0, set, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                // Those who wait do so without the host.
                self.listeners.wake(EPOLLIN);
                Ok(set)
            }
            Err(first) => {
                // Another lane was first. Nobody could do anything about an error.
                let _ = machine::close(set);
                Ok(first)
            }
        }
    }

    /// `epoll_ctl`: puts a descriptor into the set, changes what is asked of it, or takes it out.
    pub(crate) fn control(&self, operation: i32, fd: i32, member: Member, events: u32, data: u64) -> Result<(), Errno> {
        if !matches!(operation, EPOLL_CTL_ADD | EPOLL_CTL_MOD | EPOLL_CTL_DEL) {
            return Err(Errno(EINVAL));
        }
        let object = match member {
            Member::Object(object) => object,
            Member::Output => OUTPUT,
            Member::Handle(handle) => return machine::change(self.host_set()?, operation, handle, events, data),
            Member::None => return Err(Errno(EPERM)),
        };
        let held = slots::get(object);
        let listeners = match held.as_deref() {
            Some(Object::Epoll(_)) => return Err(Errno(EINVAL)),
            Some(object) => Some(object.listeners().ok_or(Errno(EPERM))?),
            None if object != OUTPUT => return Err(Errno(EBADF)),
            None => None,
        };
        let hearer = || Hearer::Group(self.listeners.clone());
        let key = u64::from(fd.cast_unsigned());
        let item = Item { fd, object, events: events & !EPOLLEXCLUSIVE, data, seen: [0; 2], fresh: true, gone: false };
        let heard = events & 0xffff | ALWAYS;
        self.items.with(|Items { list, .. }| {
            let at = list.iter().position(|item| item.fd == fd && item.object == object);
            match (operation, at) {
                (EPOLL_CTL_ADD, Some(_)) => return Err(Errno(EEXIST)),
                (EPOLL_CTL_ADD, None) => list.push(item),
                (_, None) => return Err(Errno(ENOENT)),
                (EPOLL_CTL_MOD, Some(at)) => list[at] = item,
                (_, Some(at)) => drop(list.swap_remove(at)),
            }
            // Under the lock, so that of two who change one item both have the same order here and there.
            if let Some(listeners) = listeners {
                if operation != EPOLL_CTL_ADD {
                    listeners.remove(key, &hearer());
                }
                if operation != EPOLL_CTL_DEL {
                    listeners.add(heard, key, hearer());
                }
            }
            Ok(())
        })?;
        if operation != EPOLL_CTL_DEL {
            // It may be ready already.
            self.listeners.wake(EPOLLIN);
        }
        Ok(())
    }

    /// Looks through the items until `told`, which gets what happened and the data, has enough. With `peek` they stay
    /// as they are.
    fn look(&self, peek: bool, mut told: impl FnMut(u32, u64) -> bool) {
        // Objects whose last descriptor was closed while they were looked at: they are closed behind the lock.
        let mut closed = Vec::new();
        self.items.with(|Items { list, next }| {
            let first = *next;
            let count = list.len();
            for i in 0..count {
                let at = (first + i) % count;
                let item = &mut list[at];
                let (ready, edges) = if item.object == OUTPUT {
                    (EPOLLOUT, item.seen)
                } else if let Some(held) = slots::get(item.object) {
                    // The edges first: what becomes ready behind them is another edge.
                    let edges = held.listeners().map_or([0; 2], Listeners::edges);
                    let ready = held.ready();
                    closed.extend(held.leave());
                    (ready, edges)
                } else {
                    item.gone = true;
                    continue;
                };
                let happened = item.happened(ready, edges);
                if !peek {
                    (item.seen, item.fresh) = (edges, false);
                }
                if happened == 0 {
                    continue;
                }
                let data = item.data;
                if !peek {
                    if item.events & EPOLLONESHOT != 0 {
                        item.events = 0;
                    }
                    *next = at + 1;
                }
                if !told(happened, data) {
                    break;
                }
            }
            list.retain(|item| !item.gone);
        });
    }

    /// What is ready of the device's objects, each `[events, data]`: how many.
    fn take(&self, found: &mut [[u64; 2]]) -> usize {
        let mut count = 0;
        if !found.is_empty() {
            self.look(false, |events, data| {
                found[count] = [events.into(), data];
                count += 1;
                count < found.len()
            });
        }
        count
    }

    /// Whether one of the device's objects is ready.
    pub(crate) fn ready(&self) -> u32 {
        let mut ready = 0;
        self.look(true, |_, _| {
            ready = EPOLLIN;
            false
        });
        ready
    }

    /// What is ready on the host comes behind the `count` that are found, without waiting: how many there are then.
    fn with_host(set: u64, found: &mut [[u64; 2]], mut count: usize) -> Result<usize, Errno> {
        while count < found.len() && set != 0 {
            let most = (found.len() - count).min(BROUGHT);
            let brought = match machine::wait(set, 0, 0, most) {
                Ok(events) => brought(&events, &mut found[count..]),
                Err(error) if count == 0 => return Err(error),
                // What is found has been taken, and must be told.
                Err(_) => break,
            };
            count += brought;
            if brought < BROUGHT {
                break;
            }
        }
        Ok(count)
    }

    /// `epoll_wait`: what happened, each `[events, data]`: how many; 0 at the deadline.
    pub(crate) fn wait(&self, found: &mut [[u64; 2]], deadline: Option<u64>) -> Result<usize, Errno> {
        let count = self.take(found);
        if count > 0 || is_over(deadline) {
            return Self::with_host(self.set(), found, count);
        }
        let waiter = Waiter::take();
        self.listeners.add(EPOLLIN, 0, Hearer::Waiter(waiter.clone()));
        let result = self.wait_as(&waiter, found, deadline);
        self.listeners.remove(0, &Hearer::Waiter(waiter.clone()));
        Waiter::give_back(waiter);
        result
    }

    fn wait_as(&self, waiter: &Waiter, found: &mut [[u64; 2]], deadline: Option<u64>) -> Result<usize, Errno> {
        loop {
            waiter.arm();
            let count = self.take(found);
            let set = self.set();
            if count > 0 {
                return Self::with_host(set, found, count);
            }
            if is_over(deadline) {
                return Ok(0);
            }
            if set == 0 {
                waiter.wait_here(deadline);
                continue;
            }
            let most = found.len().min(BROUGHT);
            let Some(events) = waiter.wait_on_host(|alarm| machine::wait(set, alarm, remaining(deadline), most))? else { continue };
            let mut count = brought(&events, found);
            if count > 0 {
                if count == BROUGHT {
                    count = Self::with_host(set, found, count)?;
                }
                return Ok(count + self.take(&mut found[count..]));
            }
        }
    }
}

/// What a call brought: how many events.
fn brought(events: &[[u64; 2]; BROUGHT], found: &mut [[u64; 2]]) -> usize {
    let come = events.iter().take_while(|[events, _]| *events != 0);
    come.zip(found).map(|(event, found)| *found = *event).count()
}

pub(crate) fn is_over(deadline: Option<u64>) -> bool {
    deadline.is_some_and(|deadline| machine::now_ns() >= deadline)
}

/// Nanoseconds until the deadline; negative: for ever.
pub(crate) fn remaining(deadline: Option<u64>) -> i64 {
    deadline.map_or(-1, |deadline| i64::try_from(deadline.saturating_sub(machine::now_ns())).unwrap_or(i64::MAX))
}

impl Drop for Epoll {
    fn drop(&mut self) {
        let hearer = Hearer::Group(self.listeners.clone());
        for item in core::mem::take(&mut self.items.get_mut().list) {
            if let Some(held) = slots::get(item.object)
                && let Some(listeners) = held.listeners()
            {
                listeners.remove(u64::from(item.fd.cast_unsigned()), &hearer);
            }
        }
        let set = *self.set.get_mut();
        if set != 0 {
            // Nobody could do anything about it.
            let _ = machine::close(set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::counter::Counter;
    use super::*;

    const ONE: [u8; 8] = 1u64.to_ne_bytes();

    fn counter() -> u64 {
        slots::insert(Object::Counter(Counter::new(0, false)), 0).unwrap()
    }

    fn ring(object: u64) {
        slots::get(object).unwrap().write(&ONE).unwrap();
    }

    fn drain(object: u64) {
        slots::get(object).unwrap().read(&mut [0; 8]).unwrap();
    }

    fn soon() -> Option<u64> {
        Some(machine::now_ns() + 3_000_000)
    }

    /// The data of what happened within a short time.
    fn data(epoll: &Epoll) -> Vec<u64> {
        let mut found = [[0; 2]; 8];
        let count = epoll.wait(&mut found, soon()).unwrap();
        let mut data: Vec<u64> = found[..count].iter().map(|[_, data]| *data).collect();
        data.sort_unstable();
        data
    }

    #[test]
    fn a_level_is_told_while_it_lasts_and_an_edge_once_for_every_write() {
        let (epoll, level, edge) = (Epoll::new(), counter(), counter());
        epoll.control(EPOLL_CTL_ADD, 10, Member::Object(level), EPOLLIN, 1).unwrap();
        epoll.control(EPOLL_CTL_ADD, 11, Member::Object(edge), EPOLLIN | EPOLLET, 2).unwrap();
        assert_eq!(data(&epoll), []);
        ring(level);
        ring(edge);
        assert_eq!(data(&epoll), [1, 2]);
        assert_eq!(data(&epoll), [1], "the edge was told");
        ring(edge);
        assert_eq!(data(&epoll), [1, 2], "another write, though nobody read the first");
        drain(level);
        assert_eq!(data(&epoll), []);
        epoll.control(EPOLL_CTL_MOD, 11, Member::Object(edge), EPOLLIN | EPOLLET, 3).unwrap();
        assert_eq!(data(&epoll), [3], "asked for anew, what is ready is told");
        drop(epoll);
        assert_eq!([level, edge].map(|object| slots::get(object).unwrap().listeners().unwrap().edges()), [[1, 1], [2, 0]]);
        [level, edge].into_iter().for_each(slots::release);
    }

    #[test]
    fn what_is_told_once_is_told_again_when_it_is_asked_for_again() {
        let (epoll, object) = (Epoll::new(), counter());
        epoll.control(EPOLL_CTL_ADD, 10, Member::Object(object), EPOLLIN | EPOLLONESHOT, 1).unwrap();
        ring(object);
        assert_eq!(data(&epoll), [1]);
        ring(object);
        assert_eq!(data(&epoll), []);
        epoll.control(EPOLL_CTL_MOD, 10, Member::Object(object), EPOLLIN | EPOLLONESHOT, 2).unwrap();
        assert_eq!(data(&epoll), [2]);
        slots::release(object);
    }

    #[test]
    fn members_are_added_once_and_leave_when_they_are_closed() {
        let (epoll, object) = (Epoll::new(), counter());
        let member = Member::Object(object);
        assert_eq!(epoll.control(EPOLL_CTL_MOD, 10, member, EPOLLIN, 1), Err(Errno(ENOENT)));
        assert_eq!(epoll.control(EPOLL_CTL_ADD, 10, member, EPOLLIN, 1), Ok(()));
        assert_eq!(epoll.control(EPOLL_CTL_ADD, 10, member, EPOLLIN, 1), Err(Errno(EEXIST)));
        assert_eq!(epoll.control(EPOLL_CTL_ADD, 11, member, EPOLLIN, 2), Ok(()), "a duplicate");
        ring(object);
        assert_eq!(data(&epoll), [1, 2]);
        assert_eq!(epoll.control(EPOLL_CTL_DEL, 11, member, 0, 0), Ok(()));
        assert_eq!(data(&epoll), [1]);
        slots::release(object);
        assert_eq!(data(&epoll), []);
        assert_eq!(epoll.items.with(|items| items.list.len()), 0);
        let inner = slots::insert(Object::Epoll(Epoll::new()), 0).unwrap();
        assert_eq!(epoll.control(EPOLL_CTL_ADD, 12, Member::Object(inner), EPOLLIN, 1), Err(Errno(EINVAL)));
        assert_eq!(epoll.control(EPOLL_CTL_ADD, 12, Member::None, EPOLLIN, 1), Err(Errno(EPERM)));
        slots::release(inner);
    }

    #[test]
    fn all_have_their_turn_when_there_is_room_for_one() {
        let (epoll, objects) = (Epoll::new(), [counter(), counter(), counter()]);
        for (i, object) in objects.into_iter().enumerate() {
            epoll.control(EPOLL_CTL_ADD, 10 + i as i32, Member::Object(object), EPOLLIN, i as u64).unwrap();
            ring(object);
        }
        let mut told = [0; 3];
        for _ in 0..6 {
            let mut found = [[0; 2]];
            assert_eq!(epoll.wait(&mut found, soon()), Ok(1));
            told[found[0][1] as usize] += 1;
        }
        assert_eq!(told, [2; 3]);
        objects.into_iter().for_each(slots::release);
    }

    #[test]
    fn objects_and_handles_wake_one_who_waits_for_both() {
        let epoll = Arc::new(Epoll::new());
        let (object, handle) = (counter(), machine::handle(0));
        epoll.control(EPOLL_CTL_ADD, 10, Member::Object(object), EPOLLIN | EPOLLET, 1).unwrap();
        epoll.control(EPOLL_CTL_ADD, 11, Member::Handle(handle), EPOLLIN, 2).unwrap();
        let waiting = {
            let epoll = epoll.clone();
            std::thread::spawn(move || {
                let mut told = Vec::new();
                while told.len() < 200 {
                    let mut found = [[0; 2]; 4];
                    let count = epoll.wait(&mut found, None).unwrap();
                    for [_, data] in &found[..count] {
                        if *data == 2 {
                            machine::set_ready(handle, 0);
                        }
                        told.push(*data);
                    }
                }
                told
            })
        };
        let mut round = 0;
        while !waiting.is_finished() {
            round += 1;
            if round % 2 == 0 {
                ring(object)
            } else {
                machine::set_ready(handle, EPOLLIN)
            }
            std::thread::sleep(core::time::Duration::from_micros(50));
        }
        let told = waiting.join().unwrap();
        assert!(told.contains(&1) && told.contains(&2));
        let set = epoll.set();
        drop(epoll);
        assert!(!machine::is_open(set));
        slots::release(object);
    }

    #[test]
    fn a_handle_that_comes_while_somebody_waits_is_waited_for() {
        let epoll = Arc::new(Epoll::new());
        let waiting = {
            let epoll = epoll.clone();
            std::thread::spawn(move || {
                let mut found = [[0; 2]; 4];
                (epoll.wait(&mut found, None), found[0])
            })
        };
        std::thread::sleep(core::time::Duration::from_millis(5));
        epoll.control(EPOLL_CTL_ADD, 11, Member::Handle(machine::handle(EPOLLIN)), EPOLLIN, 9).unwrap();
        assert_eq!(waiting.join().unwrap(), (Ok(1), [EPOLLIN.into(), 9]));
    }

    #[test]
    fn several_who_wait_in_one_set_share_its_edges() {
        const RINGS: u64 = 500;
        let (epoll, object) = (Arc::new(Epoll::new()), counter());
        epoll.control(EPOLL_CTL_ADD, 10, Member::Object(object), EPOLLIN, 1).unwrap();
        let sum = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (epoll, sum) = (epoll.clone(), sum.clone());
                std::thread::spawn(move || {
                    while sum.load(Ordering::Relaxed) < RINGS {
                        if epoll.wait(&mut [[0; 2]; 4], soon()).unwrap() > 0 {
                            let mut into = [0; 8];
                            if slots::get(object).unwrap().read(&mut into).is_ok() {
                                sum.fetch_add(u64::from_ne_bytes(into), Ordering::Relaxed);
                            }
                        }
                    }
                })
            })
            .collect();
        (0..RINGS).for_each(|_| ring(object));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(sum.load(Ordering::Relaxed), RINGS);
        slots::release(object);
    }
}
