//! Calls that wait: what for, and how they are answered.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::std_services::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;

use super::super::super::errno;
use super::super::super::socket::{Socket, number};
use super::super::super::table::{Open, OpenFile};
use super::super::super::watch::{Alarm, MOST, Set};
use super::super::input::Source;
use crate::service::Completion;
use crate::tenant::Claim;

/// The most descriptors that one system call looks at. The system takes no more than the process may have, whatever
/// they are.
pub(super) const AT_ONCE: usize = 64;
/// Something that is waited for.
#[derive(Debug)]
pub(in super::super) enum Watched {
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
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
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
pub(in super::super) fn lock_of(open: &Open, operation: FlockOperation) -> Result<(), u32> {
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
pub(in super::super) enum Answer {
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
    pub(super) fn completion(&self) -> &Completion {
        let (Self::Wait(done) | Self::Poll(done) | Self::Count(done) | Self::Lock(done) | Self::Set(done, ..)) = self;
        done
    }

    pub(super) fn into_completion(self) -> Completion {
        let (Self::Wait(done) | Self::Poll(done) | Self::Count(done) | Self::Lock(done) | Self::Set(done, ..)) = self;
        done
    }

    pub(in super::super) fn fail(self, error: u32) {
        match self {
            Self::Wait(done) | Self::Lock(done) => done.reply(&Err::<(), u32>(error)),
            Self::Count(done) => done.reply(&Err::<u32, u32>(error)),
            Self::Poll(done) => done.reply(&Err::<[u32; 8], u32>(error)),
            Self::Set(done, ..) => Self::set(done, Err(error)),
        }
    }

    /// Answers `StdWatch::wait`.
    pub(in super::super) fn set(done: Completion, found: Result<&[[u64; 2]], u32>) {
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

    pub(super) fn timed_out(self) {
        match self {
            Self::Wait(_) | Self::Lock(_) => self.fail(errno::EAGAIN),
            Self::Poll(_) | Self::Count(_) | Self::Set(..) => self.events(&[]),
        }
    }
}

/// A call that waits, and for what.
#[derive(Debug)]
pub(in super::super) struct Waiting {
    /// With the events asked for.
    pub(in super::super) watched: Vec<(Watched, u32)>,
    pub(in super::super) deadline: Option<Instant>,
    pub(in super::super) answer: Answer,
}

/// What a call that waited is answered.
#[derive(Debug)]
pub(super) enum Outcome {
    /// These events of what it waits for.
    Events(Vec<u32>),
    /// These of the members of its set.
    Members([[u64; 2]; MOST], usize),
}

impl Waiting {
    /// What it is answered, if something of `happened` is the caller's; otherwise it waits on.
    pub(super) fn outcome(&self, happened: Vec<u32>) -> Option<Outcome> {
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
    pub(super) fn answer(self, outcome: &Outcome) {
        let Self { watched, answer, .. } = self;
        drop(watched);
        match (answer, outcome) {
            (Answer::Set(done, ..), Outcome::Members(found, count)) => Answer::set(done, Ok(&found[..*count])),
            (answer, Outcome::Events(events)) => answer.events(events),
            (answer, Outcome::Members(..)) => answer.events(&[]),
        }
    }

    pub(super) fn is_late(&self, now: Instant) -> bool {
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
pub(in super::super) fn happened_now(watched: &[(Watched, u32)]) -> Result<Vec<u32>, u32> {
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

/// A call that is kept, and counted.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) waiting: Waiting,
    pub(super) _claim: Claim,
}
