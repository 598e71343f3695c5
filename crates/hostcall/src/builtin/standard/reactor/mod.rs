//! One thread on which all calls that wait for descriptors wait together.
//!
//! A call that can be answered at once is answered on the thread that served it. Otherwise it goes to the reactor's
//! thread, to the [`Waits`] of its program. Programs have little to do with each other there:
//!
//! * Each has an `epoll` of its own, with one registration for each descriptor, however many of its calls wait for
//!   that. The thread waits on an `epoll` of those. What a program's own cannot take fails the one call that asked for
//!   it.
//! * In a turn the thread does a bounded amount of work for each program, and then the next program's.
//! * What a program waits for is counted, and bounded by [`Limits::waits`](crate::Limits).
//!
//! The thread also wakes up now and then, because nobody tells it that a kernel was ended or that a server is gone.
//! Then it tries locks of files that calls wait for, because the system has no descriptor for those.

mod calls;
mod waits;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

use super::super::errno;
use crate::tenant::{Claim, Keeper, Number, Tenant, Thing};
use calls::{AT_ONCE, Kept};
pub(super) use calls::{Answer, Waiting, Watched, happened_now, lock_of};
use waits::Waits;

/// How often the reactor looks whether what it waits for is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// The most things of a call that a serving thread looks at itself.
pub(in super::super) const FEW: usize = 64;

#[derive(Debug, Default)]
struct Inbox {
    waiting: Vec<(Number, Kept)>,
    /// Programs that have ended.
    ended: Vec<Number>,
    thread: Option<(JoinHandle<()>, Arc<OwnedFd>)>,
    closing: bool,
}

/// The reactor. Its thread starts with the first call that has to wait.
#[derive(Debug)]
pub(super) struct Reactor {
    inbox: Arc<Mutex<Inbox>>,
    /// Things that a program may wait for.
    most: usize,
}

impl Reactor {
    pub(super) fn new(most: usize) -> Self {
        Self { inbox: Arc::default(), most }
    }

    /// Answers the call when something happened to what it waits for, or when its time is over.
    pub(super) fn add(&self, tenant: &Arc<Tenant>, waiting: Waiting) {
        if waiting.watched.is_empty() && waiting.deadline.is_none() {
            // It would wait for ever.
            return waiting.answer.fail(errno::EINVAL);
        }
        if waiting.watched.len() <= FEW {
            match happened_now(&waiting.watched) {
                Ok(happened) => {
                    if let Some(outcome) = waiting.outcome(happened) {
                        return waiting.answer(&outcome);
                    }
                }
                Err(error) => return waiting.answer.fail(error),
            }
            if waiting.is_late(Instant::now()) {
                return waiting.answer.timed_out();
            }
        }
        let things = waiting.watched.len().max(1) as u64;
        let Some(claim) = Claim::of(tenant.clone(), Thing::Wait, things, self.most as u64) else {
            return waiting.answer.fail(libc::ENOBUFS.cast_unsigned());
        };
        if let Err((waiting, error)) = self.hand_over(tenant, Kept { waiting, _claim: claim }) {
            waiting.answer.fail(error);
        }
    }

    fn hand_over(&self, tenant: &Tenant, kept: Kept) -> Result<(), (Box<Waiting>, u32)> {
        let mut inbox = lock(&self.inbox);
        if tenant.lives().is_err() {
            return Err((Box::new(kept.waiting), libc::ECANCELED.cast_unsigned()));
        }
        if inbox.thread.is_none() {
            match start(&self.inbox) {
                Ok(thread) => inbox.thread = Some(thread),
                Err(error) => return Err((Box::new(kept.waiting), errno::of(&error))),
            }
        }
        inbox.waiting.push((tenant.number(), kept));
        wake(&inbox);
        Ok(())
    }
}

impl Keeper for Reactor {
    fn let_go(&self, tenant: &Tenant) {
        let mut inbox = lock(&self.inbox);
        if inbox.thread.is_some() {
            // What has not been taken from here is dropped with the rest.
            inbox.ended.push(tenant.number());
            wake(&inbox);
        }
    }
}

/// Held for changes of the lists.
fn lock(inbox: &Mutex<Inbox>) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wake(inbox: &Inbox) {
    if let Some((_, bell)) = &inbox.thread {
        // A counter that is at its end has woken it already.
        let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
    }
}

fn start(inbox: &Arc<Mutex<Inbox>>) -> io::Result<(JoinHandle<()>, Arc<OwnedFd>)> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let programs = Programs::new(bell.clone())?;
    let inbox = inbox.clone();
    let thread = std::thread::Builder::new().name("hostcall-net".into()).spawn(move || programs.run(&inbox))?;
    Ok((thread, bell))
}

/// What the reactor's thread has.
struct Programs {
    /// Of the bell, and of each program's own.
    epoll: OwnedFd,
    bell: Arc<OwnedFd>,
    waits: HashMap<Number, Waits>,
    /// When it is to look whether what it waits for is still wanted.
    look: Instant,
}

impl Programs {
    /// What the bell is among programs, whose numbers begin at 1.
    const BELL: u64 = 0;

    fn new(bell: Arc<OwnedFd>) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &bell, EventData::new_u64(Self::BELL), EventFlags::IN)?;
        Ok(Self { epoll, bell, waits: HashMap::new(), look: Instant::now() })
    }

    fn run(mut self, inbox: &Mutex<Inbox>) {
        loop {
            let (came, ended) = {
                let mut inbox = lock(inbox);
                if inbox.closing {
                    // What still waits is dropped, which answers it.
                    return;
                }
                (std::mem::take(&mut inbox.waiting), std::mem::take(&mut inbox.ended))
            };
            for (number, kept) in came {
                self.take_in(number, kept);
            }
            // What waited there is dropped, which answers it.
            ended.iter().for_each(|number| drop(self.waits.remove(number)));
            let now = Instant::now();
            let look = self.look <= now;
            if look {
                self.look = now + LOOK;
            }
            for waits in self.waits.values_mut() {
                waits.turn(now, look);
            }
            self.wait(now);
        }
    }

    fn take_in(&mut self, number: Number, kept: Kept) {
        let waits = match self.waits.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => match Waits::new(&self.epoll, number) {
                Ok(waits) => new.insert(waits),
                Err(error) => return kept.waiting.answer.fail(error),
            },
        };
        waits.add(kept);
    }

    /// Waits until something happens, a deadline passes, or it is time to look.
    fn wait(&mut self, now: Instant) {
        let next = self.waits.values().filter_map(|waits| waits.next(now, self.look)).min();
        let timeout = next.map(|next| next.saturating_duration_since(now));
        let timeout = timeout.map(|left| Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() });
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; AT_ONCE];
        // It fails only if a signal comes.
        let count = epoll::wait(&self.epoll, &mut events, timeout.as_ref()).unwrap_or(0);
        for event in &events[..count] {
            let data = event.data;
            match data.u64() {
                // However often it was rung, that says the same.
                Self::BELL => _ = rustix::io::read(&self.bell, &mut [0; 8]),
                number => {
                    if let Some(waits) = self.waits.get_mut(&Number::from_bits(number)) {
                        waits.collect();
                    }
                }
            }
        }
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        let thread = {
            let mut inbox = lock(&self.inbox);
            inbox.closing = true;
            wake(&inbox);
            inbox.thread.take()
        };
        if let Some((thread, _)) = thread {
            // It waits for descriptors only, and the bell is one.
            let _ = offload::overdue::join(thread, || "a server that ends waits for the thread that waits for sockets".to_owned());
        }
        lock(&self.inbox).waiting.clear();
    }
}
