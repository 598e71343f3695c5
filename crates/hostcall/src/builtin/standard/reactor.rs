//! One thread on which all calls that wait for descriptors wait together.
//!
//! A call that can be answered at once is answered on the thread that served it. Otherwise its completion goes to the
//! reactor's thread. That thread `poll`s the descriptors of all waiting calls, and a pipe by which it learns of new
//! ones. It also wakes up now and then, because nobody tells it that a kernel was ended or that a server is gone.
//! Then it tries the locks of files that calls wait for, because the system has no descriptor for those.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostcall_abi::std_services::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FlockOperation;

use super::super::errno;
use super::super::socket::Socket;
use super::super::table::{Open, OpenFile};
use super::super::watch::{Alarm, MOST, Set};
use super::input::Source;
use crate::service::Completion;

/// How often the reactor looks whether what it waits for is still wanted.
const LOOK: Duration = Duration::from_millis(20);

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

impl Waiting {
    /// Answers, if something of `happened` is the caller's; otherwise it waits on.
    fn answered(self, happened: &[u32]) -> Option<Self> {
        if happened.iter().all(|events| *events == 0) {
            return Some(self);
        }
        let mut rung = false;
        for ((watched, _), _) in self.watched.iter().zip(happened).filter(|(_, events)| **events != 0) {
            if let Watched::Alarm(alarm) = watched {
                alarm.silence();
                rung = true;
            }
        }
        let Self { watched, deadline, answer } = self;
        match answer {
            Answer::Set(done, set, most) => {
                let mut found = [[0; 2]; MOST];
                let count = set.take(&mut found[..most]);
                if count == 0 && !rung {
                    // Another one who waits in the set was first.
                    return Some(Self { watched, deadline, answer: Answer::Set(done, set, most) });
                }
                Answer::set(done, Ok(&found[..count]));
            }
            answer => answer.events(happened),
        }
        None
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
    let mut now: Vec<PollFd<'_>> = descriptors(watched).collect();
    if !now.is_empty() {
        rustix::io::retry_on_intr(|| poll(&mut now, Some(&Timespec::default()))).map_err(|error| errno::of(&error.into()))?;
    }
    let polled: Vec<u32> = now.iter().map(reported).collect();
    Ok(happened(watched, &mut polled.into_iter()))
}

fn reported(polled: &PollFd<'_>) -> u32 {
    u32::from(polled.revents().bits())
}

#[derive(Debug, Default)]
struct Inbox {
    waiting: Vec<Waiting>,
    thread: Option<(JoinHandle<()>, PipeWriter)>,
    closing: bool,
}

/// The reactor. Its thread starts with the first call that has to wait.
#[derive(Debug, Default)]
pub(super) struct Reactor {
    inbox: Arc<Mutex<Inbox>>,
}

impl Reactor {
    /// Answers the call when something happened to what it waits for, or when its time is over.
    pub(super) fn add(&self, waiting: Waiting) {
        if waiting.watched.is_empty() && waiting.deadline.is_none() {
            // It would wait for ever.
            return waiting.answer.fail(errno::EINVAL);
        }
        let happened = match happened_now(&waiting.watched) {
            Ok(happened) => happened,
            Err(error) => return waiting.answer.fail(error),
        };
        let Some(waiting) = waiting.answered(&happened) else { return };
        if waiting.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            waiting.answer.timed_out();
        } else if let Err((waiting, error)) = self.hand_over(waiting) {
            waiting.answer.fail(errno::of(&error));
        }
    }

    fn hand_over(&self, waiting: Waiting) -> Result<(), (Box<Waiting>, io::Error)> {
        let mut inbox = lock(&self.inbox);
        let inbox = &mut *inbox;
        if inbox.thread.is_none() {
            match start(&self.inbox) {
                Ok(thread) => inbox.thread = Some(thread),
                Err(error) => return Err((Box::new(waiting), error)),
            }
        }
        inbox.waiting.push(waiting);
        wake(inbox);
        Ok(())
    }
}

fn lock(inbox: &Mutex<Inbox>) -> std::sync::MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wake(inbox: &mut Inbox) {
    if let Some((_, pipe)) = &mut inbox.thread {
        // A pipe that is full has woken it already.
        let _ = offload::host::without_sigpipe(|| pipe.write(&[0]));
    }
}

fn start(inbox: &Arc<Mutex<Inbox>>) -> io::Result<(JoinHandle<()>, PipeWriter)> {
    let (from, to) = io::pipe()?;
    rustix::io::ioctl_fionbio(&from, true)?;
    rustix::io::ioctl_fionbio(&to, true)?;
    let inbox = inbox.clone();
    let thread = std::thread::Builder::new().name("hostcall-net".into()).spawn(move || run(&inbox, from))?;
    Ok((thread, to))
}

fn run(inbox: &Mutex<Inbox>, mut pipe: PipeReader) {
    let mut list: Vec<Waiting> = Vec::new();
    loop {
        {
            let mut inbox = lock(inbox);
            if inbox.closing {
                // What still waits is dropped, which answers it.
                return;
            }
            list.append(&mut inbox.waiting);
        }
        let mut all = vec![PollFd::new(&pipe, PollFlags::IN)];
        all.extend(list.iter().flat_map(|waiting| descriptors(&waiting.watched)));
        let outcome = poll(&mut all, patience(&list).as_ref());
        let polled: Vec<u32> = all.iter().map(reported).collect();
        drop(all);
        if let Err(error) = outcome
            && error != rustix::io::Errno::INTR
        {
            // Out of memory, or of what the process may watch at a time.
            tracing::warn!(%error, waiting = list.len(), "the calls that wait for the network cannot be watched");
            list.drain(..).for_each(|waiting| waiting.answer.fail(errno::of(&error.into())));
            continue;
        }
        let mut polled = polled.into_iter();
        if polled.next().is_some_and(|events| events != 0) {
            // However many there are, they say the same.
            while pipe.read(&mut [0; 256]).is_ok_and(|read| read > 0) {}
        }
        let now = Instant::now();
        for waiting in std::mem::take(&mut list) {
            let happened = happened(&waiting.watched, &mut polled);
            if let Some(verdict) = waiting.answer.completion().verdict() {
                waiting.answer.into_completion().end(verdict);
                continue;
            }
            let Some(waiting) = waiting.answered(&happened) else { continue };
            if waiting.deadline.is_some_and(|deadline| deadline <= now) {
                waiting.answer.timed_out();
            } else {
                list.push(waiting);
            }
        }
    }
}

/// How long to wait: until the next deadline, and with anybody waiting not longer than [`LOOK`].
fn patience(list: &[Waiting]) -> Option<Timespec> {
    if list.is_empty() {
        return None;
    }
    let now = Instant::now();
    let next =
        list.iter().filter_map(|waiting| waiting.deadline).min().map_or(LOOK, |deadline| deadline.saturating_duration_since(now).min(LOOK));
    Some(Timespec { tv_sec: 0, tv_nsec: next.as_nanos() as _ })
}

impl Drop for Reactor {
    fn drop(&mut self) {
        let thread = {
            let mut inbox = lock(&self.inbox);
            inbox.closing = true;
            wake(&mut inbox);
            inbox.thread.take()
        };
        if let Some((thread, pipe)) = thread {
            drop(pipe);
            // It waits for descriptors only, and the pipe is one.
            let _ = offload::overdue::join(thread, || "a server that ends waits for the thread that waits for sockets".to_owned());
        }
        lock(&self.inbox).waiting.clear();
    }
}
