//! Threads for handlers that may block: as many as there are blocked handlers, up to a limit for each program.
//!
//! A serving thread only pushes a job. Which job is next, and whether it may run now, is the affair of a queue that is
//! [fair](super::fair) among programs. One pool thread is always waiting, or being started, as long as there can be a
//! job for it: a thread that takes a job and leaves no other waiting starts the next one first. So no job that may run
//! waits for a sleeping handler, and no serving thread starts a thread. A thread that has waited in vain for a while
//! ends. A server that is dropped waits for the threads that run no handler. A handler may never return, so its thread
//! is left to itself.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use hostcall_abi::Status;
use offload::host::{self, StackSize};
use offload::overdue;

use super::fair::Fair;
use crate::rpc::Away;
use crate::service::answer::Answer;
use crate::service::call::{Scratch, Thread};
use crate::service::completion::Owed;
use crate::service::lanes::{Answers, LaneCalls, Progress, bits_of};
use crate::service::{Failure, Run};
use crate::tenant::{Keeper, Tenant};

/// Whether a lane's handler has been run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    /// It said that it would block.
    Again,
}

/// Calls of lanes of one message that follow one another, for a pool thread: one lane's, or of a handler of whole
/// messages all that are to be handled.
pub(crate) struct Job {
    pub(crate) message: Arc<dyn Answer>,
    /// The rank of the first, and how many.
    pub(crate) first: u32,
    pub(crate) lanes: u32,
    pub(crate) done: Owed,
    pub(crate) attempt: Attempt,
}

/// What a thread that runs jobs reuses from call to call.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) scratch: Scratch,
    streams: Vec<u32>,
}

impl Memory {
    /// Units of streams that are kept: those of one lane, however long its reply may be.
    const KEEP: usize = 1 << 16;

    /// Scratch, and room for the streams of `lanes` lanes; what is in it is an earlier call's.
    pub(crate) fn parts(&mut self, lanes: u32, stride: usize) -> (&mut Scratch, &mut [u32]) {
        let needed = lanes as usize * stride;
        if self.streams.len() < needed {
            self.streams.resize(needed, 0);
        }
        (&mut self.scratch, &mut self.streams[..needed])
    }

    /// The calls are answered: what is more than most calls need goes back to the system.
    pub(crate) fn forget(&mut self) {
        self.scratch.clear();
        if self.streams.capacity() > Self::KEEP {
            self.streams = Vec::new();
        }
    }
}

impl Job {
    /// The program whose it is.
    fn tenant(&self) -> &Tenant {
        self.message.facts().tenant
    }

    /// Whether nobody waits for it.
    fn is_post(&self) -> bool {
        self.message.facts().post
    }

    /// Runs the handler on this thread, which is a `thread`, then `finish`, then answers.
    pub(crate) fn run(mut self, memory: &mut Memory, thread: Thread, finish: impl FnOnce()) {
        self.done.start();
        let facts = self.message.facts();
        if let (false, Some(status)) = (facts.post, self.done.verdict()) {
            finish();
            return self.done.end(status);
        }
        let (Run::Blocking(handler) | Run::Adaptive(handler)) = &facts.service.run else { return self.done.fail(&Failure::WouldBlock) };
        let (first, stride) = (self.first, self.message.stride());
        let (scratch, streams) = memory.parts(self.lanes, stride);
        let mut progress = Progress::of(bits_of(first, self.lanes));
        let answers = Answers { facts, progress: &mut progress, streams, first, stride, thread };
        let mut calls = LaneCalls { answers, scratch };
        if self.attempt == Attempt::First {
            calls.answers.begin(self.first, self.lanes);
        }
        calls.handle(&**handler);
        scratch.clear();
        finish();
        self.done.send_streams(u64::MAX, streams, first, stride);
        memory.forget();
    }
}

/// Something to do.
pub(crate) enum Work {
    /// Calls.
    Calls(Job),
    /// What a client of LLVM's wire has asked for.
    Rpc(Left),
}

/// What a client of LLVM's wire has asked for, and whose it is.
pub(crate) struct Left {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) away: Away,
}

impl From<Job> for Work {
    fn from(job: Job) -> Self {
        Self::Calls(job)
    }
}

impl From<Left> for Work {
    fn from(left: Left) -> Self {
        Self::Rpc(left)
    }
}

impl Work {
    /// The program whose it is.
    fn tenant(&self) -> &Tenant {
        match self {
            Self::Calls(job) => job.tenant(),
            Self::Rpc(left) => &left.tenant,
        }
    }

    /// Whether nobody waits for it.
    fn is_post(&self) -> bool {
        matches!(self, Self::Calls(job) if job.is_post())
    }

    /// Does it on a thread of the pool; then `finish`, before anybody learns of it.
    fn run(self, memory: &mut Memory, finish: impl FnOnce()) {
        match self {
            Self::Calls(job) => job.run(memory, Thread::Pool, finish),
            Self::Rpc(left) => {
                left.away.run();
                finish();
            }
        }
    }
}

struct State {
    jobs: Fair<Work>,
    threads: usize,
    /// Of them, those that are not yet in `idle` for the first time.
    starting: usize,
    waiting: usize,
    /// Of the threads that run no handler. (A thread that runs one keeps its handle.)
    idle: HashMap<ThreadId, JoinHandle<()>>,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// `starting` became 0.
    started: Condvar,
    stack: StackSize,
    /// A thread that waited this long for a job ends, unless it is the only one.
    keep: Duration,
}

/// The pool of one server.
pub(crate) struct Pool(Arc<Shared>);

impl Pool {
    /// With at most so many jobs of each program that run at a time.
    pub(crate) fn new(limit: usize, stack: StackSize) -> Self {
        Self::keeping(limit, stack, Duration::from_secs(10))
    }

    /// The same, whose threads wait so long for a job.
    fn keeping(limit: usize, stack: StackSize, keep: Duration) -> Self {
        let state = State { jobs: Fair::new(limit), threads: 0, starting: 0, waiting: 0, idle: HashMap::new(), closed: false };
        Self(Arc::new(Shared { state: Mutex::new(state), wake: Condvar::new(), started: Condvar::new(), stack, keep }))
    }

    /// What it has to do now, for whoever looks.
    pub(crate) fn fill(&self) -> hostcall_top::view::Pool {
        let state = self.0.lock();
        let (running, queued, most) = state.jobs.fill();
        let [threads, running, queued, most] = [state.threads, running, queued, most].map(|count| count as u64);
        hostcall_top::view::Pool { threads, running, queued, most }
    }

    /// Starts the first thread, if there is none yet: when the first blocking service is registered.
    pub(crate) fn warm_up(&self) -> std::io::Result<()> {
        let mut state = self.0.lock();
        if state.threads > 0 || state.closed {
            return Ok(());
        }
        state.announce();
        drop(state);
        self.0.clone().spawn()
    }

    /// Queues a job. (What its program's end, or the server's, does not let in is dropped after the lock: its
    /// completion says why.)
    pub(crate) fn submit(&self, job: impl Into<Work>) {
        let job = job.into();
        let (number, is_post) = (job.tenant().number(), job.is_post());
        let mut state = self.0.lock();
        let ended = job.tenant().lives().is_err();
        if !state.closed && (is_post || !ended) {
            state.jobs.push(number, ended, job);
            drop(state);
            self.0.wake.notify_one();
        }
    }

    /// Drops what has not begun, and waits for the threads that run no handler. The others end when their handlers have
    /// returned.
    pub(crate) fn close(&self) {
        let mut state = self.0.lock();
        state.closed = true;
        let jobs = state.jobs.take_all();
        drop(state);
        self.0.wake.notify_all();
        for job in jobs {
            match job {
                Work::Calls(mut job) => job.done.give_up(Status::SERVER_GONE),
                Work::Rpc(left) => drop(left),
            }
        }
        let mut state = self.0.lock();
        while state.starting > 0 {
            state = self.0.started.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut idle = std::mem::take(&mut state.idle);
        drop(state);
        // What a job owned may have owned the server.
        idle.remove(&thread::current().id());
        for thread in idle.into_values() {
            // Handlers' panics are caught where they are called; should the pool's own code have panicked, there is
            // nobody to tell.
            let _ = overdue::join(thread, || "a server that ends waits for a thread of its pool whose handler has returned".to_owned());
        }
    }
}

impl Keeper for Pool {
    /// Ends a program's calls that have not begun. What it has posted is handled all the same, when it is its turn.
    fn let_go(&self, tenant: &Tenant) {
        let over = self.0.lock().jobs.let_go(tenant.number(), |job| !job.is_post());
        for job in over {
            match job {
                Work::Calls(mut job) => {
                    let status = job.done.verdict().unwrap_or(Status::DETACHED);
                    job.done.end(status);
                }
                // Its client goes on.
                Work::Rpc(left) => drop(left),
            }
        }
    }
}

impl State {
    /// One more thread, which [`Shared::spawn`] starts.
    fn announce(&mut self) {
        self.threads += 1;
        self.starting += 1;
    }
}

impl Shared {
    /// Held for queue operations only.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that was announced.
    fn spawn(self: Arc<Self>) -> std::io::Result<()> {
        let (give, handle) = mpsc::sync_channel(1);
        let theirs = self.clone();
        match host::spawn("hostcall-blocking", self.stack, move || theirs.work(&handle)) {
            Ok(handle) => {
                // The thread waits for it.
                let _ = give.send(handle);
                Ok(())
            }
            Err(error) => {
                let mut state = self.lock();
                state.threads -= 1;
                self.count_started(&mut state);
                Err(error)
            }
        }
    }

    fn count_started(&self, state: &mut State) {
        state.starting -= 1;
        if state.starting == 0 {
            self.started.notify_all();
        }
    }

    fn work(self: Arc<Self>, handle: &mpsc::Receiver<JoinHandle<()>>) {
        let mut memory = Memory::default();
        let me = thread::current().id();
        let Ok(handle) = handle.recv() else { return };
        let mut state = self.lock();
        state.idle.insert(me, handle);
        self.count_started(&mut state);
        let mut overdue = false;
        loop {
            if let Some((number, job)) = state.jobs.next() {
                // Somebody must be there for the next job, whatever this one does.
                let successor = state.waiting == 0 && state.threads < state.jobs.room() && !state.closed;
                if successor {
                    state.announce();
                }
                let handle = state.idle.remove(&me);
                drop(state);
                if successor {
                    // If there are no more threads to be had, those that are there take turns.
                    let _ = self.clone().spawn();
                }
                // Before anybody learns that the handler has returned: who then drops the server waits for this thread.
                let idle_again = || {
                    let mut state = self.lock();
                    if let (Some(handle), false) = (handle, state.closed) {
                        state.idle.insert(me, handle);
                    }
                };
                // Handlers are guarded. What a job owns may be the last of a service, and a subscriber of `tracing` may
                // panic: the thread goes on. Unwind safety: the memory is cleared for each call.
                let began = Instant::now();
                let _ = catch_unwind(AssertUnwindSafe(|| job.run(&mut memory, idle_again)));
                let took = began.elapsed();
                state = self.lock();
                state.jobs.finished(number, took);
                overdue = false;
            } else if state.closed {
                state.threads -= 1;
                return;
            } else if overdue && state.waiting > 0 {
                state.threads -= 1;
                state.idle.remove(&me);
                return;
            } else {
                state.waiting += 1;
                let (back, timeout) = self.wake.wait_timeout(state, self.keep).unwrap_or_else(PoisonError::into_inner);
                state = back;
                state.waiting -= 1;
                overdue = timeout.timed_out();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hostcall_abi::Geometry;

    use super::*;
    use crate::Server;
    use crate::test_utils::{MockDevice, fixed_service};
    use crate::wire::PortBuffer;

    fn serves() -> (Server, MockDevice) {
        let service = fixed_service("double", |x: u32| 2 * x).blocking();
        let server = Server::without_device().threads(1).blocking_threads(1).without_built_in().service(service).start().unwrap();
        let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(4, 32) };
        let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).unwrap()));
        (server, device)
    }

    #[test]
    fn memory_that_few_calls_need_is_not_kept() {
        let mut memory = Memory::default();
        for (lanes, stride, kept) in [(2, 10, 20), (1, Memory::KEEP, Memory::KEEP), (1, Memory::KEEP + 1, 0)] {
            assert_eq!(memory.parts(lanes, stride).1.len(), lanes as usize * stride);
            memory.streams.shrink_to_fit();
            memory.forget();
            assert_eq!(memory.streams.len(), kept);
        }
    }

    #[test]
    fn a_pool_begins_with_one_thread_for_which_it_waits_when_it_is_closed() {
        // Whoever closes it comes before its thread has begun, or after.
        for _ in 0..50 {
            let pool = Pool::new(1, StackSize::default());
            pool.warm_up().unwrap();
            pool.warm_up().unwrap();
            assert_eq!(pool.fill().threads, 1);
            pool.close();
            assert_eq!((pool.fill().threads, Arc::strong_count(&pool.0)), (0, 1));
            pool.warm_up().unwrap();
            assert_eq!(pool.fill().threads, 0, "it is closed");
        }
    }

    /// A pool of so many threads, and none of them has a job.
    fn rested(threads: usize, keep: Duration) -> Pool {
        let pool = Pool::keeping(threads, StackSize::default(), keep);
        for _ in 0..threads {
            pool.0.lock().announce();
            pool.0.clone().spawn().unwrap();
        }
        pool
    }

    #[test]
    fn threads_that_no_job_comes_to_wait_for_one() {
        let pool = rested(4, Duration::from_secs(3600));
        loop {
            let state = pool.0.lock();
            assert_eq!(state.threads, 4);
            if state.waiting == 4 {
                break;
            }
            drop(state);
            thread::yield_now();
        }
        pool.close();
        assert_eq!((pool.fill().threads, Arc::strong_count(&pool.0)), (0, 1));
    }

    #[test]
    fn of_threads_that_wait_too_long_all_end_but_one() {
        let keep = Duration::from_millis(2);
        let pool = rested(4, keep);
        while pool.fill().threads > 1 {
            thread::sleep(keep);
        }
        thread::sleep(10 * keep);
        assert_eq!(pool.fill().threads, 1, "somebody must be there for the next job");
        assert_eq!(pool.0.lock().idle.len(), 1, "who has ended is not waited for");
        pool.close();
        assert_eq!(pool.fill().threads, 0);
    }

    #[test]
    fn a_pool_waits_for_no_thread_that_the_system_has_not_given() {
        let pool = Pool::new(1, StackSize::bytes(1 << 60));
        assert!(pool.warm_up().is_err());
        assert_eq!(pool.fill().threads, 0);
        pool.close();
    }

    #[test]
    fn one_thread_runs_jobs_that_come_one_by_one_and_one_waits() {
        let (server, device) = serves();
        let _awake = server.keep_awake();
        let pool = &server.parts.core.pool;
        let rested = || {
            let state = pool.0.lock();
            state.waiting == state.threads
        };
        for x in 0..10 {
            assert_eq!(device.wave(0).call(1, &[x]), Ok(vec![2 * x]));
            while !rested() {
                thread::yield_now();
            }
        }
        assert_eq!(pool.fill().threads, 2);
    }

    #[test]
    fn what_comes_to_a_pool_that_is_closed_ends() {
        let (server, device) = serves();
        let _awake = server.keep_awake();
        assert_eq!(device.wave(0).call(1, &[4]), Ok(vec![8]));
        server.parts.core.pool.close();
        assert!(device.wave(0).call(1, &[4]).is_err());
    }
}
