//! Exits of the route, for handlers that answer later: the blocking pool, the user's own threads, the async runtime.
//!
//! A message arrives here checked and counted. It leaves whole, as an [`Open`] message, with the replies that it
//! already has. A message that came through no port ([`crate::detached`]) goes the same ways.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::port::Message;

#[cfg(feature = "tokio")]
use super::asynchronous::Runtime;
use super::open::Open;
use super::pool::{Attempt, Job, Pool};
use super::served::Served;
use super::threads::Core;
use crate::record::{Spanned, guard};
use crate::service::answer::{Answer, Timing};
use crate::service::call::Scratch;
use crate::service::completion::Owed;
use crate::service::lanes::{Facts, Payload, bits_of};
use crate::service::registry::Registered;
use crate::service::{Brief, Completion, DeferredBatch, Failure, Run};

/// A message some of whose lanes are answered later.
pub(super) struct Late<'a> {
    pub(super) message: Message,
    pub(super) port: u32,
    pub(super) payload: Payload<'a>,
    /// Those lanes, by rank.
    pub(super) late: u64,
    /// The others' replies, and the units from one to the next.
    pub(super) streams: (&'a [u32], usize),
    /// When it was found, if somebody wants to know.
    pub(super) found: Option<Instant>,
}

/// Where handlers run that answer later.
#[derive(Clone, Copy)]
pub(crate) struct Exits<'a> {
    pub(crate) pool: &'a Pool,
    /// What the calling thread runs itself, when its sweep is over.
    pub(crate) kept: Option<&'a RefCell<Vec<Job>>>,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: &'a Runtime,
}

impl<'a> Exits<'a> {
    fn of(core: &'a Core, kept: Option<&'a RefCell<Vec<Job>>>) -> Self {
        Self {
            pool: &core.pool,
            kept,
            #[cfg(feature = "tokio")]
            runtime: &core.runtime,
        }
    }

    fn submit(self, job: Job, brief: &Brief) {
        match self.kept.filter(|_| brief.now()) {
            Some(kept) => kept.borrow_mut().push(job),
            None => self.pool.submit(job),
        }
    }
}

/// Hands the late lanes of a message to where they are handled; to `kept`, if there is one, what may be run there.
#[cold]
#[inline(never)]
pub(super) fn leave(
    core: &Arc<Core>,
    kept: Option<&RefCell<Vec<Job>>>,
    served: &Arc<Served>,
    service: &Arc<Registered>,
    scratch: &mut Scratch,
    late: Late<'_>,
) {
    let Late { message, port, payload, late, streams, found } = late;
    let open = Open::new(served, service, core.trace.clone(), message, port, payload, late, streams, found);
    let timing = open.timing();
    go(Exits::of(core, kept), &(open as Arc<dyn Answer>), message.lanes(), late, timing, scratch);
}

/// Hands the lanes `late` of a message of `lanes` lanes to where they are handled. Handlers that are deferred or async
/// start here, for all lanes.
pub(crate) fn go(exits: Exits<'_>, open: &Arc<dyn Answer>, lanes: u32, late: u64, timing: Option<Timing>, scratch: &mut Scratch) {
    let service = open.facts().service;
    let (handler, attempt) = match &service.run {
        Run::Blocking(handler) => (handler, Attempt::First),
        // Those that are late were admitted when they were tried.
        Run::Adaptive(handler) => (handler, Attempt::Again),
        _ => return begin(exits, open, lanes, timing, scratch),
    };
    let mut left = late;
    while left != 0 {
        let first = left.trailing_zeros();
        // Lanes that follow one another go together to a handler of whole messages.
        let lanes = if handler.is_whole() { (left >> first).trailing_ones() } else { 1 };
        left &= !bits_of(first, lanes);
        let done = Owed::new(open.clone(), bits_of(first, lanes), timing);
        exits.submit(Job { message: open.clone(), first, lanes, done, attempt }, &service.brief);
    }
}

/// Starts deferred or async handlers for all lanes of a message.
fn begin(exits: Exits<'_>, open: &Arc<dyn Answer>, lanes: u32, timing: Option<Timing>, scratch: &mut Scratch) {
    let Facts { service, report, .. } = open.facts();
    if let Run::LaterBatch(handler) = &service.run {
        if let Some(mut batch) = DeferredBatch::new(open.clone(), lanes, timing) {
            batch.start();
            // A panic drops the batch, which sees that and says so to the lanes.
            Spanned::of(service.name(), || lanes).within(|| guard(report, service.name(), || handler(batch)));
        }
        return;
    }
    let mut owed = Owed::new(open.clone(), bits_of(0, lanes), timing);
    for rank in 0..lanes {
        let mut done = owed.part(rank);
        if service.admit(1) == 0 {
            done.end(service.refusal().to_status().0);
            continue;
        }
        done.start();
        begin_lane(exits, open, rank, scratch, done);
    }
}

/// Starts a deferred or async handler.
fn begin_lane(exits: Exits<'_>, open: &Arc<dyn Answer>, rank: u32, scratch: &mut Scratch, done: Completion) {
    let Facts { service, report, .. } = open.facts();
    // Its reply is not made here.
    let mut stream = [0; 1];
    let mut call = match open.facts().later(rank, &mut stream, scratch) {
        Ok(call) => call,
        Err(failure) => return done.fail(failure),
    };
    let span = Spanned::of(service.name(), || 1);
    match &service.run {
        Run::Later(handler) => {
            // A panic drops the completion, which sees that and says so to the lane.
            span.within(|| guard(report, service.name(), || handler(&mut call, done)));
        }
        #[cfg(feature = "tokio")]
        Run::Future(handler) => match span.within(|| guard(report, service.name(), || handler(&mut call))) {
            Some(Ok(future)) => exits.runtime.spawn(future, span, open, done),
            Some(Err(failure)) => done.fail(failure),
            None => done.fail(Failure::Panicked),
        },
        Run::Inline(_) | Run::Blocking(_) | Run::Adaptive(_) | Run::LaterBatch(_) => done.fail(Failure::WouldBlock),
    }
    #[cfg(not(feature = "tokio"))]
    let _ = exits;
}
