//! Threads for handlers that may block: as many as there are blocked handlers, up to a limit.
//!
//! A serving thread only pushes a job. One pool thread is always waiting, or being started, while the limit is not reached: a thread that
//! takes a job and leaves nobody waiting starts the next one first. So no job waits for a sleeping handler, and no serving thread
//! starts a thread. Threads that waited in vain for a while end.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostcall_abi::Status;

use crate::completion::Completion;
use crate::invocation::Scratch;
use crate::serve::{Attempt, Lane, Source};
use crate::service::NowFn;

/// One lane's call, for a pool thread.
pub(crate) struct Job {
    pub(crate) handler: Arc<NowFn>,
    /// The message's payload, and the lane's part of it.
    pub(crate) units: (Arc<[u32]>, Range<usize>),
    pub(crate) staged: bool,
    /// A post's staged bytes.
    pub(crate) copy: Option<Vec<u8>>,
    pub(crate) lane: u32,
    pub(crate) done: Completion,
    pub(crate) run: Attempt,
}

impl Job {
    fn run(mut self, scratch: &mut Scratch) {
        self.done.start();
        let (live, slot, place) = self.done.parts();
        let source = match &self.copy {
            Some(copy) => Source::Copied(copy),
            None if self.staged && !place.post => Source::Staged(live.memory.staging()),
            None => Source::Message,
        };
        let (units, range) = &self.units;
        let call = Lane { live: &live, slot: &slot, units: &units[range.clone()], source, place, lane: self.lane, run: self.run };
        // On the pool every handler may block, so there is an answer.
        let (status, reply) = call.run(&*self.handler, scratch).unwrap_or((Status::BUSY, &[0]));
        self.done.send(status, reply);
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    waiting: usize,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    limit: usize,
}

/// The pool of one server.
pub(crate) struct Pool(Arc<Shared>);

impl Pool {
    /// A thread that waited this long for a job ends, unless it is the only one.
    const KEEP: Duration = Duration::from_secs(10);

    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), wake: Condvar::new(), limit: limit.max(1) }))
    }

    /// Starts the first thread, if there is none yet: when the first blocking service is registered.
    pub(crate) fn warm_up(&self) -> std::io::Result<()> {
        let mut state = self.0.lock();
        if state.threads > 0 || state.closed {
            return Ok(());
        }
        state.threads += 1;
        drop(state);
        self.0.clone().spawn().inspect_err(|_| self.0.lock().threads -= 1)
    }

    /// Queues a job.
    pub(crate) fn submit(&self, job: Job) {
        let mut state = self.0.lock();
        if !state.closed {
            state.jobs.push_back(job);
            drop(state);
            self.0.wake.notify_one();
        }
        // Otherwise the job's completion says why it was dropped.
    }

    /// Drops what has not begun, and lets the threads end when they have finished what they do.
    pub(crate) fn close(&self) {
        let mut state = self.0.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        self.0.wake.notify_all();
        for mut job in jobs {
            job.done.send(Status::SERVER_GONE, &[0]);
        }
    }
}

impl Shared {
    /// Held for queue operations only.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(self: Arc<Self>) -> std::io::Result<()> {
        std::thread::Builder::new().name("hostcall-blocking".into()).spawn(move || self.work()).map(drop)
    }

    fn work(self: Arc<Self>) {
        let mut scratch = Scratch::default();
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                // Somebody must be there for the next job, whatever this one does.
                let successor = state.waiting == 0 && state.threads < self.limit && !state.closed;
                state.threads += usize::from(successor);
                drop(state);
                if successor && self.clone().spawn().is_err() {
                    // No more threads to be had: those that are there take turns.
                    self.lock().threads -= 1;
                }
                job.run(&mut scratch);
                scratch.clear();
                state = self.lock();
            } else if state.closed {
                state.threads -= 1;
                return;
            } else {
                state.waiting += 1;
                let (back, timeout) = self.wake.wait_timeout(state, Pool::KEEP).unwrap_or_else(PoisonError::into_inner);
                state = back;
                state.waiting -= 1;
                if timeout.timed_out() && state.jobs.is_empty() && state.waiting > 0 {
                    state.threads -= 1;
                    return;
                }
            }
        }
    }
}
