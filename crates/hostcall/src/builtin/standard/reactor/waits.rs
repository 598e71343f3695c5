//! What one program waits for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::time::Instant;

use hostcall_abi::std_services::event;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use super::super::super::socket::number as number_of;
use super::calls::{AT_ONCE, Kept, Outcome, Watched, happened_now};
use crate::tenant::Number;

/// Things that one turn looks at, or a few more.
const LOT: usize = 1024;
/// Locks that one look tries.
const LOCKS: usize = 256;
/// Events that are told whether they were asked for or not.
const ALWAYS: u32 = event::ERROR | event::HANG_UP | event::INVALID;

/// A descriptor for which calls wait. It stays open as long: each of them keeps what it belongs to.
#[derive(Debug, Default)]
struct Registration {
    /// With the events that each asks for.
    calls: BTreeMap<u64, u32>,
    /// The events that the system is asked for: those of all calls, and for a while those of calls that are over.
    asked: u32,
}

/// A call to be looked at, and which descriptor is why, with the events that happened to it.
#[derive(Clone, Copy, Debug)]
struct Due {
    call: u64,
    why: Option<(RawFd, u32)>,
}

/// The calls of one program that wait.
#[derive(Debug)]
pub(super) struct Waits {
    epoll: OwnedFd,
    /// Calls that nobody has looked at yet.
    fresh: VecDeque<Kept>,
    /// Those that wait, in the order in which they came.
    calls: BTreeMap<u64, Kept>,
    next: u64,
    descriptors: HashMap<RawFd, Registration>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Calls that wait for locks, and some that are over.
    locks: VecDeque<u64>,
    due: VecDeque<Due>,
}

impl Waits {
    /// Those of a program that waits for nothing yet, whose events `all` tells under its number.
    pub(super) fn new(all: &OwnedFd, number: Number) -> Result<Self, u32> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(number_of)?;
        epoll::add(all, &epoll, EventData::new_u64(number.to_bits()), EventFlags::IN).map_err(number_of)?;
        Ok(Self {
            epoll,
            fresh: VecDeque::new(),
            calls: BTreeMap::new(),
            next: 0,
            descriptors: HashMap::new(),
            deadlines: BTreeSet::new(),
            locks: VecDeque::new(),
            due: VecDeque::new(),
        })
    }

    /// One more call.
    pub(super) fn add(&mut self, kept: Kept) {
        self.fresh.push_back(kept);
    }

    /// When there is something to do, if nothing happens before: the next deadline, or `look` as long as any call
    /// waits.
    pub(super) fn next(&self, now: Instant, look: Instant) -> Option<Instant> {
        if !self.due.is_empty() || !self.fresh.is_empty() {
            return Some(now);
        }
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        deadline.into_iter().chain((!self.calls.is_empty()).then_some(look)).min()
    }

    /// Learns what happened.
    pub(super) fn collect(&mut self) {
        if !self.due.is_empty() {
            // First that of which it has learnt before. The system tells the rest again.
            return;
        }
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; AT_ONCE];
        let count = epoll::wait(&self.epoll, &mut events, Some(&Timespec::default())).unwrap_or(0);
        for event in &events[..count] {
            let (data, flags) = (event.data, event.flags);
            let (descriptor, happened) = (data.u64() as RawFd, flags.bits());
            let Some(registration) = self.descriptors.get_mut(&descriptor) else { continue };
            let wanted = registration.calls.iter().filter(|(_, asked)| happened & (*asked | ALWAYS) != 0);
            self.due.extend(wanted.map(|(&call, asked)| Due { call, why: Some((descriptor, happened & (asked | ALWAYS))) }));
            let asked = registration.calls.values().fold(0, |all, asked| all | asked);
            if happened & registration.asked & !asked != 0 {
                // Nobody waits for that any more, and the system would tell it for ever.
                registration.asked = asked;
                let Some(Kept { waiting, .. }) = registration.calls.keys().next().and_then(|call| self.calls.get(call)) else { continue };
                let own = waiting.watched.iter().filter_map(|(watched, _)| watched.descriptor());
                for open in own.filter(|open| open.as_raw_fd() == descriptor).take(1) {
                    // Should it fail, it is told again, and tried again.
                    let _ = epoll::modify(&self.epoll, open, EventData::new_u64(descriptor as u64), flags_of(asked));
                }
            }
        }
    }

    /// Does some of what there is to do.
    pub(super) fn turn(&mut self, now: Instant, look: bool) {
        while let Some(&(deadline, call)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            self.deadlines.remove(&(deadline, call));
            self.due.push_back(Due { call, why: None });
        }
        if look {
            self.look();
        }
        let mut done = 0;
        while done < LOT {
            if let Some(due) = self.due.pop_front() {
                done += self.look_at(due, now);
            } else if let Some(kept) = self.fresh.pop_front() {
                done += kept.waiting.watched.len().max(1);
                self.begin(kept, now);
            } else {
                return;
            }
        }
    }

    /// Looks whether calls are still wanted, and tries some of the locks for which they wait.
    fn look(&mut self) {
        let Some((_, first)) = self.calls.first_key_value() else { return };
        // What ends one call of a program ends them all.
        if first.waiting.answer.completion().verdict().is_some() {
            self.due = self.calls.keys().map(|&call| Due { call, why: None }).collect();
        } else if self.due.is_empty() {
            for _ in 0..self.locks.len().min(LOCKS) {
                let Some(call) = self.locks.pop_front().filter(|call| self.calls.contains_key(call)) else { continue };
                self.locks.push_back(call);
                self.due.push_back(Due { call, why: None });
            }
        }
    }

    /// A call begins to wait, unless it can be answered now.
    fn begin(&mut self, kept: Kept, now: Instant) {
        let waiting = &kept.waiting;
        if let Some(verdict) = waiting.answer.completion().verdict() {
            return kept.waiting.answer.into_completion().end(verdict);
        }
        match happened_now(&waiting.watched) {
            Ok(happened) => {
                if let Some(outcome) = waiting.outcome(happened) {
                    return kept.waiting.answer(&outcome);
                }
            }
            Err(error) => return kept.waiting.answer.fail(error),
        }
        if waiting.is_late(now) {
            return kept.waiting.answer.timed_out();
        }
        let call = self.next;
        self.next += 1;
        let registered = waiting.watched.iter().try_for_each(|(watched, events)| match watched.descriptor() {
            Some(descriptor) => register(&self.epoll, &mut self.descriptors, call, descriptor, *events),
            None => Ok(()),
        });
        if waiting.watched.iter().any(|(watched, _)| matches!(watched, Watched::Lock(..))) {
            self.locks.push_back(call);
        }
        self.deadlines.extend(waiting.deadline.map(|deadline| (deadline, call)));
        self.calls.insert(call, kept);
        if let Err(error) = registered
            && let Some(kept) = self.remove(call)
        {
            kept.waiting.answer.fail(number_of(error));
        }
    }

    /// Looks at a call that waits: how many things that were.
    fn look_at(&mut self, Due { call, why }: Due, now: Instant) -> usize {
        let Some(Kept { waiting, .. }) = self.calls.get(&call) else { return 1 };
        if let Some(verdict) = waiting.answer.completion().verdict() {
            if let Some(kept) = self.remove(call) {
                kept.waiting.answer.into_completion().end(verdict);
            }
            return 1;
        }
        let (happened, looked_at) = match (why, &waiting.watched[..]) {
            (Some((_, events)), [_]) => (Ok(vec![events]), 1),
            (_, watched) => (happened_now(watched), watched.len().max(1)),
        };
        let happened = happened.map(|mut happened| {
            // What happened is told although another call has taken it since: an alarm wakes all who wait for it.
            for ((watched, asked), found) in waiting.watched.iter().zip(&mut happened) {
                if let Some((descriptor, events)) = why
                    && watched.descriptor().is_some_and(|own| own.as_raw_fd() == descriptor)
                {
                    *found |= events & (asked | ALWAYS);
                }
            }
            waiting.outcome(happened)
        });
        let outcome = match happened {
            Ok(None) if waiting.is_late(now) => None,
            Ok(None) => return looked_at,
            Ok(Some(outcome)) => Some(Ok::<Outcome, u32>(outcome)),
            Err(error) => Some(Err(error)),
        };
        if let Some(kept) = self.remove(call) {
            match outcome {
                Some(Ok(outcome)) => kept.waiting.answer(&outcome),
                Some(Err(error)) => kept.waiting.answer.fail(error),
                None => kept.waiting.answer.timed_out(),
            }
        }
        looked_at
    }

    /// A call waits no more.
    fn remove(&mut self, call: u64) -> Option<Kept> {
        let kept = self.calls.remove(&call)?;
        if let Some(deadline) = kept.waiting.deadline {
            self.deadlines.remove(&(deadline, call));
        }
        for descriptor in kept.waiting.watched.iter().filter_map(|(watched, _)| watched.descriptor()) {
            let Entry::Occupied(mut registration) = self.descriptors.entry(descriptor.as_raw_fd()) else { continue };
            registration.get_mut().calls.remove(&call);
            if registration.get().calls.is_empty() {
                registration.remove();
                // It is registered, and still open.
                let _ = epoll::delete(&self.epoll, descriptor);
            }
        }
        Some(kept)
    }
}

/// Events as the system is asked for them.
fn flags_of(events: u32) -> EventFlags {
    EventFlags::from_bits_retain(events)
}

/// A call waits for events of a descriptor.
fn register(
    epoll: &OwnedFd,
    descriptors: &mut HashMap<RawFd, Registration>,
    call: u64,
    descriptor: BorrowedFd<'_>,
    events: u32,
) -> Result<(), Errno> {
    let key = descriptor.as_raw_fd();
    let data = EventData::new_u64(key as u64);
    match descriptors.entry(key) {
        Entry::Vacant(new) => match epoll::add(epoll, descriptor.as_fd(), data, flags_of(events)) {
            Ok(()) => _ = new.insert(Registration { calls: BTreeMap::from([(call, events)]), asked: events }),
            // A file, which is always ready: nothing that it has not told at once will ever happen to it.
            Err(Errno::PERM) => {}
            Err(error) => return Err(error),
        },
        Entry::Occupied(mut known) => {
            let Registration { calls, asked } = known.get_mut();
            if *asked | events != *asked {
                epoll::modify(epoll, descriptor.as_fd(), data, flags_of(*asked | events))?;
                *asked |= events;
            }
            *calls.entry(call).or_default() |= events;
        }
    }
    Ok(())
}
