//! Messages on their way from serving threads to the dispatcher.
//!
//! Each service has a queue. A serving thread puts a message behind those that wait there already, and wakes the
//! dispatcher if it sleeps. The dispatcher takes all that has gathered, and has their fixed arguments copied next to
//! each other: batches grow by themselves while Python is busy. Nobody here needs the interpreter.
//!
//! What is done for each message in turn is the least that there can be: a serving thread says how many lanes it has
//! and moves it into the list of those that wait. The rest of the work on many messages is shared by several threads
//! ([`each`]), which alone look into them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostcall::{DeferredBatch, Failure, Service};
use hostcall_abi::codec::DecodeError;
use rayon::prelude::*;

use crate::define::Defined;
use crate::variable::Variables;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message that waits for answers.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) message: DeferredBatch,
    /// The row of its first lane.
    pub(crate) first: usize,
    /// The lanes that have rows, in order: those that it did not lie about.
    pub(crate) lanes: u64,
}

/// Messages that are handled together.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// A row of units for each lane; none before they are read. The dispatcher has that done, because serving threads
    /// wait for each other here.
    pub(crate) rows: Vec<u32>,
    pub(crate) lanes: usize,
    pub(crate) messages: Vec<Held>,
    pub(crate) variables: Variables,
}

impl Chunk {
    /// Keeps a message of so many lanes until it is read.
    fn keep(&mut self, message: DeferredBatch, lanes: usize) {
        self.messages.push(Held { message, first: self.lanes, lanes: u64::MAX >> (64 - lanes.clamp(1, 64)) });
        self.lanes += lanes;
    }

    /// Reads the messages.
    fn read(&mut self, defined: &Defined) {
        if defined.checks.is_empty() && !defined.definition.takes_var {
            self.rows = vec![0; self.lanes * defined.definition.units];
            copy(&mut self.messages, &mut self.rows, defined.definition.units);
        } else {
            self.lanes = 0;
            for Held { message, .. } in std::mem::take(&mut self.messages) {
                self.add(defined, message);
            }
        }
    }

    /// Adds the rows of a message. Lanes whose arguments are no values are failed, and have none.
    fn add(&mut self, defined: &Defined, mut message: DeferredBatch) {
        let mut batch = message.batch();
        let (rows, count) = (batch.rows(), batch.len());
        let first = self.lanes;
        let mut lanes = 0u64;
        let outs = defined.has_out();
        for lane in 0..count {
            let row = rows.row(lane);
            let refused = defined.checks.refused(row).map(|value| Failure::Decode(DecodeError::Value(value)));
            let room = if outs { batch.out_room(lane) } else { Ok(0) };
            let read = refused.map_or(Ok(()), Err).and_then(|()| self.variables.read(defined, &batch.requests(), lane, room?));
            match read {
                Ok(()) => {
                    self.rows.extend_from_slice(row);
                    lanes |= 1 << lane;
                }
                Err(failure) => batch.fail(lane, failure),
            }
        }
        self.lanes += lanes.count_ones() as usize;
        self.messages.push(Held { message, first, lanes });
    }
}

/// Copies the rows, of `width` units, of messages of which nothing else is to be known.
fn copy(messages: &mut [Held], rows: &mut [u32], width: usize) {
    if messages.len() >= MANY {
        let (before, behind) = messages.split_at_mut(messages.len() / 2);
        let (rows_before, rows_behind) = rows.split_at_mut((behind[0].first - before[0].first) * width);
        rayon::join(|| copy(before, rows_before, width), || copy(behind, rows_behind, width));
        return;
    }
    let mut rest = rows;
    for held in messages {
        let (mine, behind) = rest.split_at_mut(held.lanes.count_ones() as usize * width);
        held.message.requests().rows().copy_to(mine);
        rest = behind;
    }
}

/// From so many messages on several threads take them: to hand them over takes as long as to handle some.
const MANY: usize = 128;
/// The fewest that a thread is given.
const FEW: usize = 32;

/// Does one thing with each of many messages.
pub(crate) fn each(messages: &mut Vec<Held>, one: impl Fn(Held) + Sync + Send) {
    if messages.len() < MANY {
        messages.drain(..).for_each(one);
    } else {
        messages.par_drain(..).with_min_len(FEW).for_each(one);
    }
}

/// Lists that are kept: one fills while another is answered.
const SPARE: usize = 2;

#[derive(Debug, Default)]
struct Waiting {
    chunks: VecDeque<Chunk>,
    /// Lists of messages that have been answered, for the next: serving threads do not wait while one grows.
    spare: Vec<Vec<Held>>,
    /// Whether the dispatcher knows that there is something.
    told: bool,
}

/// The queue of one service.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) defined: Defined,
    /// What Python calls it.
    pub(crate) id: usize,
    /// The most lanes that are handled together, unless one message has more.
    most: usize,
    waiting: Mutex<Waiting>,
    dispatch: Arc<Dispatch>,
}

impl Queue {
    pub(crate) fn new(defined: Defined, id: usize, most: usize, dispatch: Arc<Dispatch>) -> Arc<Self> {
        Arc::new(Self { defined, id, most: most.max(1), waiting: Mutex::default(), dispatch })
    }

    /// The service whose messages go through it.
    pub(crate) fn service(self: Arc<Self>) -> Service {
        Service::batch_deferred(self.defined.definition.clone(), move |message| self.push(message))
    }

    /// A message has come: on a serving thread.
    fn push(self: &Arc<Self>, message: DeferredBatch) {
        let count = message.requests().len();
        let tell = {
            let mut waiting = lock(&self.waiting);
            if waiting.chunks.back().is_none_or(|last| last.lanes + count > self.most) {
                let messages = waiting.spare.pop().unwrap_or_default();
                waiting.chunks.push_back(Chunk { messages, ..Chunk::default() });
            }
            if let Some(chunk) = waiting.chunks.back_mut() {
                chunk.keep(message, count);
            }
            !std::mem::replace(&mut waiting.told, true)
        };
        if tell {
            self.dispatch.tell(|ready| ready.queues.push_back(self.clone()));
        }
    }

    /// Takes a list back whose messages have been answered.
    pub(crate) fn recycle(&self, messages: Vec<Held>) {
        let mut waiting = lock(&self.waiting);
        if messages.is_empty() && waiting.spare.len() < SPARE {
            waiting.spare.push(messages);
        }
    }

    /// What has gathered, and whether there is more.
    fn take(&self) -> (Option<Chunk>, bool) {
        let (chunk, more) = {
            let mut waiting = lock(&self.waiting);
            let chunk = waiting.chunks.pop_front();
            let more = !waiting.chunks.is_empty();
            waiting.told = more;
            (chunk, more)
        };
        let chunk = chunk.map(|mut chunk| {
            chunk.read(&self.defined);
            chunk
        });
        (chunk.filter(|chunk| !chunk.messages.is_empty()), more)
    }
}

/// What the dispatcher is to do next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Messages of one service.
    Chunk(Arc<Queue>, Chunk),
    /// Kernels have printed.
    Printed,
    /// The server has stopped, and nothing is left.
    Closed,
}

#[derive(Debug, Default)]
struct Ready {
    queues: VecDeque<Arc<Queue>>,
    printed: bool,
    closed: bool,
    asleep: bool,
}

/// What waits for the dispatcher of a server.
#[derive(Debug)]
pub(crate) struct Dispatch {
    ready: Mutex<Ready>,
    wake: Condvar,
    /// Whether `ready` has something, for the dispatcher that looks without the lock.
    some: AtomicBool,
    /// For how long the dispatcher looks before it sleeps.
    spin: Duration,
    /// Counts what the dispatcher has begun and ended.
    steps: AtomicU64,
    /// Whether the dispatcher has something in hand.
    busy: AtomicBool,
}

impl Dispatch {
    pub(crate) fn new(spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            ready: Mutex::default(),
            wake: Condvar::new(),
            some: AtomicBool::new(false),
            spin,
            steps: AtomicU64::new(0),
            busy: AtomicBool::new(false),
        })
    }

    fn tell(&self, change: impl FnOnce(&mut Ready)) {
        let asleep = {
            let mut ready = lock(&self.ready);
            change(&mut ready);
            // Release: pairs with the dispatcher's load in `spin`, which then takes the lock.
            self.some.store(true, Ordering::Release);
            std::mem::take(&mut ready.asleep)
        };
        if asleep {
            self.wake.notify_one();
        }
    }

    /// Kernels have printed.
    pub(crate) fn printed(&self) {
        self.tell(|ready| ready.printed = true);
    }

    /// Nothing comes any more.
    pub(crate) fn close(&self) {
        self.tell(|ready| ready.closed = true);
    }

    /// Whether something waits for Python, and a number that changes when the dispatcher goes on: for the watch.
    pub(crate) fn state(&self) -> (bool, u64) {
        // Acquire: pairs with the dispatcher's stores. It is a hint, looked at now and then.
        let open = self.busy.load(Ordering::Acquire) || self.some.load(Ordering::Acquire);
        (open, self.steps.load(Ordering::Acquire))
    }

    /// Waits for something to do. Without the interpreter.
    pub(crate) fn next(&self) -> Next {
        // Release: pairs with the loads in `state`.
        self.busy.store(false, Ordering::Release);
        self.steps.fetch_add(1, Ordering::Release);
        self.look();
        let next = self.find();
        self.busy.store(true, Ordering::Release);
        self.steps.fetch_add(1, Ordering::Release);
        next
    }

    /// Looks for a while without the lock.
    fn look(&self) {
        let began = Instant::now();
        // Acquire: pairs with the store in `tell`.
        while !self.some.load(Ordering::Acquire) && began.elapsed() < self.spin {
            std::hint::spin_loop();
        }
    }

    fn find(&self) -> Next {
        let mut ready = lock(&self.ready);
        loop {
            if std::mem::take(&mut ready.printed) {
                self.note(&ready);
                return Next::Printed;
            }
            if let Some(queue) = ready.queues.pop_front() {
                self.note(&ready);
                drop(ready);
                let (chunk, more) = queue.take();
                ready = lock(&self.ready);
                if more {
                    ready.queues.push_back(queue.clone());
                    self.note(&ready);
                }
                if let Some(chunk) = chunk {
                    return Next::Chunk(queue, chunk);
                }
                continue;
            }
            if ready.closed {
                return Next::Closed;
            }
            self.note(&ready);
            ready.asleep = true;
            ready = self.wake.wait(ready).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Keeps `some` as it is.
    fn note(&self, ready: &Ready) {
        // Release: as in `tell`; with the lock.
        self.some.store(ready.printed || ready.closed || !ready.queues.is_empty(), Ordering::Release);
    }
}
