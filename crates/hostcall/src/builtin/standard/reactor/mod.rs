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

mod waits;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostcall_abi::std_services::event;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::FlockOperation;

use super::super::errno;
use super::super::socket::{Socket, number};
use super::super::table::{Open, OpenFile};
use super::super::watch::{Alarm, MOST, Set};
use super::input::Source;
use crate::service::Completion;
use crate::tenant::{Claim, Keeper, Number, Tenant, Thing};
use waits::Waits;

/// How often the reactor looks whether what it waits for is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// The most descriptors that one system call looks at. The system takes no more than the process may have, whatever
/// they are.
const AT_ONCE: usize = 64;
/// The most things of a call that a serving thread looks at itself.
pub(super) const FEW: usize = 64;

/// Something that is waited for.
#[derive(Debug)]
pub(super) enum Watched {
    Socket(Arc<Socket>),
    Input(Arc<Source>),
    /// Standard output or standard error.
    Output(BorrowedFd<'static>),
    /// A regular file is always ready.
    File(Arc<OpenFile>),
    /// A lock of a file or directory, with an operation that does not wait. It is ready once it is taken.
    Lock(Open, FlockOperation),
    Alarm(Arc<Alarm>),
    Set(Arc<Set>),
    /// These events have happened already.
    Known(u32),
}

impl Watched {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Socket(socket) => Some(socket.as_fd()),
            Self::Input(input) => input.descriptor(),
            Self::Output(output) => Some(*output),
            Self::File(file) => Some(file.file.as_fd()),
            Self::Alarm(alarm) => Some(alarm.as_fd()),
            Self::Set(set) => Some(set.as_fd()),
            Self::Lock(..) | Self::Known(_) => None,
        }
    }

    /// What happened to one without a descriptor.
    fn known(&self) -> u32 {
        match self {
            Self::Known(events) => *events,
            Self::Lock(open, operation) => match lock_of(open, *operation) {
                Ok(()) => event::IN,
                Err(errno::EAGAIN) => 0,
                Err(_) => event::ERROR,
            },
            _ => 0,
        }
    }
}

/// Takes or gives back a lock.
pub(super) fn lock_of(open: &Open, operation: FlockOperation) -> Result<(), u32> {
    let file = match open {
        Open::File(file) if file.is_place() => return Err(errno::EBADF),
        Open::File(file) => &file.file,
        Open::Dir(dir) => &dir.dir,
        Open::Socket(_) | Open::Alarm(_) | Open::Set(_) => return Err(errno::EBADF),
    };
    rustix::io::retry_on_intr(|| rustix::fs::flock(file, operation)).map_err(|error| errno::of(&error.into()))
}

/// The call that waits.
#[derive(Debug)]
pub(super) enum Answer {
    /// `StdNet::wait`
    Wait(Completion),
    /// `StdNet::poll`
    Poll(Completion),
    /// `StdNet::poll_any`
    Count(Completion),
    /// `StdFiles::lock`
    Lock(Completion),
    /// `StdWatch::wait`, for up to so many events of this set.
    Set(Completion, Arc<Set>, usize),
}

impl Answer {
    fn completion(&self) -> &Completion {
        let (Self::Wait(done) | Self::Poll(done) | Self::Count(done) | Self::Lock(done) | Self::Set(done, ..)) = self;
        done
    }

    fn into_completion(self) -> Completion {
        let (Self::Wait(done) | Self::Poll(done) | Self::Count(done) | Self::Lock(done) | Self::Set(done, ..)) = self;
        done
    }

    pub(super) fn fail(self, error: u32) {
        match self {
            Self::Wait(done) | Self::Lock(done) => done.reply(&Err::<(), u32>(error)),
            Self::Count(done) => done.reply(&Err::<u32, u32>(error)),
            Self::Poll(done) => done.reply(&Err::<[u32; 8], u32>(error)),
            Self::Set(done, ..) => Self::set(done, Err(error)),
        }
    }

    /// Answers `StdWatch::wait`.
    pub(super) fn set(done: Completion, found: Result<&[[u64; 2]], u32>) {
        let flat = found.map(|found| std::array::from_fn(|i| found.get(i / 2).map_or(0, |pair| pair[i % 2])));
        done.reply::<Result<[u64; 2 * MOST], u32>>(&flat);
    }

    fn events(self, events: &[u32]) {
        match self {
            Self::Lock(done) if events.contains(&event::ERROR) => done.reply(&Err::<(), u32>(libc::ENOLCK.cast_unsigned())),
            Self::Wait(done) | Self::Lock(done) => done.reply(&Ok::<(), u32>(())),
            Self::Count(done) => done.reply(&Ok::<u32, u32>(events.iter().filter(|events| **events != 0).count() as u32)),
            Self::Poll(done) => {
                let mut packed = [0u32; 8];
                for (i, events) in events.iter().enumerate() {
                    packed[i / 2] |= events << (i % 2 * 16);
                }
                done.reply(&Ok::<[u32; 8], u32>(packed));
            }
            Self::Set(done, ..) => Self::set(done, Ok(&[])),
        }
    }

    fn timed_out(self) {
        match self {
            Self::Wait(_) | Self::Lock(_) => self.fail(errno::EAGAIN),
            Self::Poll(_) | Self::Count(_) | Self::Set(..) => self.events(&[]),
        }
    }
}

/// A call that waits, and for what.
#[derive(Debug)]
pub(super) struct Waiting {
    /// With the events asked for.
    pub(super) watched: Vec<(Watched, u32)>,
    pub(super) deadline: Option<Instant>,
    pub(super) answer: Answer,
}

/// What a call that waited is answered.
#[derive(Debug)]
enum Outcome {
    /// These events of what it waits for.
    Events(Vec<u32>),
    /// These of the members of its set.
    Members([[u64; 2]; MOST], usize),
}

impl Waiting {
    /// What it is answered, if something of `happened` is the caller's; otherwise it waits on.
    fn outcome(&self, happened: Vec<u32>) -> Option<Outcome> {
        if happened.iter().all(|events| *events == 0) {
            return None;
        }
        let mut rung = false;
        for ((watched, _), _) in self.watched.iter().zip(&happened).filter(|(_, events)| **events != 0) {
            if let Watched::Alarm(alarm) = watched {
                alarm.silence();
                rung = true;
            }
        }
        let Answer::Set(_, set, most) = &self.answer else { return Some(Outcome::Events(happened)) };
        let mut found = [[0; 2]; MOST];
        let count = set.take(&mut found[..*most]);
        // Otherwise another one who waits in the set was first.
        (count > 0 || rung).then_some(Outcome::Members(found, count))
    }

    /// Answers. What it waited for is let go of before.
    fn answer(self, outcome: &Outcome) {
        let Self { watched, answer, .. } = self;
        drop(watched);
        match (answer, outcome) {
            (Answer::Set(done, ..), Outcome::Members(found, count)) => Answer::set(done, Ok(&found[..*count])),
            (answer, Outcome::Events(events)) => answer.events(events),
            (answer, Outcome::Members(..)) => answer.events(&[]),
        }
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

fn descriptors(watched: &[(Watched, u32)]) -> impl Iterator<Item = PollFd<'_>> {
    let flags = |events: u32| PollFlags::from_bits_truncate(events as u16);
    watched.iter().filter_map(move |(watched, events)| Some(PollFd::from_borrowed_fd(watched.descriptor()?, flags(*events))))
}

/// What happened to each, given what `poll` said of the descriptors.
fn happened(watched: &[(Watched, u32)], polled: &mut impl Iterator<Item = u32>) -> Vec<u32> {
    let one = |watched: &Watched| if watched.descriptor().is_some() { polled.next().unwrap_or(0) } else { watched.known() };
    watched.iter().map(|(watched, _)| watched).map(one).collect()
}

/// What has happened to each, without waiting.
pub(super) fn happened_now(watched: &[(Watched, u32)]) -> Result<Vec<u32>, u32> {
    let mut all = Vec::with_capacity(watched.len());
    for watched in watched.chunks(AT_ONCE) {
        let mut now: Vec<PollFd<'_>> = descriptors(watched).collect();
        if !now.is_empty() {
            rustix::io::retry_on_intr(|| poll(&mut now, Some(&Timespec::default()))).map_err(number)?;
        }
        all.extend(happened(watched, &mut now.iter().map(|polled| u32::from(polled.revents().bits()))));
    }
    Ok(all)
}

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

/// A call that is kept, and counted.
#[derive(Debug)]
struct Kept {
    waiting: Waiting,
    _claim: Claim,
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
            let _ = thread.join();
        }
        lock(&self.inbox).waiting.clear();
    }
}
