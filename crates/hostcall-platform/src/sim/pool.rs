//! Threads that run waves, kept for the next ones.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::fault::SignalStack;
use super::stack::Slab;
use crate::error::Error;
use crate::host::{self, StackSize};

/// What a thread that runs waves keeps between them.
pub(super) struct Worker {
    /// Keeps faults of lanes manageable on this thread.
    _signals: Option<SignalStack>,
    slabs: Vec<Slab>,
}

impl Worker {
    /// For the calling thread.
    pub(super) fn new() -> Result<Self, Error> {
        Ok(Self { _signals: Some(SignalStack::new()?), slabs: Vec::new() })
    }

    /// Stacks for `lanes` lanes, kept from an earlier wave if that had as many. A device asks for the same size always.
    pub(super) fn take_stacks(&mut self, lanes: u32, stack_bytes: usize) -> Result<Slab, Error> {
        self.slabs.pop().filter(|kept| kept.lanes >= lanes).map_or_else(|| Slab::new(lanes, stack_bytes), Ok)
    }

    /// Keeps stacks for the next wave.
    pub(super) fn keep_stacks(&mut self, stacks: Slab) {
        self.slabs.push(stacks);
    }
}

pub(super) type Job = Box<dyn FnOnce(&mut Worker) + Send>;

/// Threads that run waves. They end when the pool is dropped and their jobs are done.
pub(super) struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job, or will as soon as they have started.
    idle: usize,
    closed: bool,
}

impl Pool {
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }))
    }

    /// Runs all jobs at once, each on its own thread; or none, if there cannot be so many threads.
    pub(super) fn run_all(&self, jobs: Vec<Job>) -> Result<(), Error> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.idle < state.jobs.len() + jobs.len() {
            let shared = self.0.clone();
            // Lanes have stacks of their own; handlers that a wave runs while it [helps](crate::Device::help_waiting)
            // have this one.
            if let Err(error) = host::spawn("sim-wave", StackSize::default(), move || shared.work()) {
                let text = format!("{error}; lower the simulator's `sms` or `waves`");
                return Err(Error::Backend { call: "starting a thread", code: error.raw_os_error().unwrap_or(0).into(), text });
            }
            state.idle += 1;
        }
        state.jobs.extend(jobs);
        self.0.changed.notify_all();
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        super::wait::exact_sleeps();
        // Without its own stack for signals a thread still works; only stack overflows of lanes then end the process.
        // It must work: a job was counted on it, and the others of that job's workgroup will wait for it.
        let mut worker = Worker::new().unwrap_or_else(|error| {
            tracing::error!("a stack overflow on this thread of the simulator will end the process: {error}");
            Worker { _signals: None, slabs: Vec::new() }
        });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.idle -= 1;
                drop(state);
                job(&mut worker);
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.idle += 1;
            } else if state.closed {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}
