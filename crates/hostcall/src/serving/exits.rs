//! The doors out of the route, for handlers that answer later: the blocking pool, the user's own threads, the async runtime.
//!
//! What has been checked and counted for all messages is not done again here; a message leaves whole, as an [`Open`] one, with the replies that it has.

use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::port::Message;

use super::open::Open;
use super::pool::{Attempt, Job};
use super::served::Served;
use super::threads::Core;
use crate::record::guard;
use crate::service::answer::Answer;
use crate::service::call::Scratch;
use crate::service::completion::Owed;
use crate::service::lanes::{Payload, bits_of};
use crate::service::registry::Registered;
use crate::service::{Completion, DeferredBatch, Failure, Run};

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

/// Hands the late lanes of a message to where they are handled.
#[cold]
#[inline(never)]
pub(super) fn leave(core: &Arc<Core>, served: &Arc<Served>, service: &Arc<Registered>, scratch: &mut Scratch, late: Late<'_>) {
    let Late { message, port, payload, late, streams, found } = late;
    let open = Open::new(served, service, core.trace.clone(), message, port, payload, late, streams, found);
    let (handler, attempt) = match &service.run {
        Run::Blocking(handler) => (handler, Attempt::First),
        // Those that are late were admitted when they were tried.
        Run::Adaptive(handler) => (handler, Attempt::Again),
        _ => return begin(core, &open, message.lanes(), scratch),
    };
    let mut left = late;
    while left != 0 {
        let first = left.trailing_zeros();
        // Lanes that follow one another go together to a handler of whole messages.
        let lanes = if handler.is_whole() { (left >> first).trailing_ones() } else { 1 };
        left &= !bits_of(first, lanes);
        let done = Owed::new(open.clone(), bits_of(first, lanes), open.timing());
        core.pool.submit(Job { message: open.clone(), first, lanes, done, attempt });
    }
}

/// Starts deferred or async handlers for all lanes of a message.
fn begin(core: &Core, open: &Arc<Open>, lanes: u32, scratch: &mut Scratch) {
    if let Run::LaterBatch(handler) = &open.service.run {
        if let Some(mut batch) = DeferredBatch::new(open.clone(), lanes, open.timing()) {
            batch.start();
            // A panic drops the batch, which sees that and says so to the lanes.
            guard(open.report(), open.service.name(), || handler(batch));
        }
        return;
    }
    let mut owed = Owed::new(open.clone(), bits_of(0, lanes), open.timing());
    for rank in 0..lanes {
        let mut done = owed.part(rank);
        if open.service.admit(1) == 0 {
            done.end(open.service.refusal().to_status().0);
            continue;
        }
        done.start();
        begin_lane(core, open, rank, scratch, done);
    }
}

/// Starts a deferred or async handler.
fn begin_lane(core: &Core, open: &Arc<Open>, rank: u32, scratch: &mut Scratch, done: Completion) {
    let service = &open.service;
    // Its reply is not made here.
    let mut stream = [0; 1];
    let mut call = match open.facts().later(rank, &mut stream, scratch) {
        Ok(call) => call,
        Err(failure) => return done.fail(failure),
    };
    match &service.run {
        Run::Later(handler) => {
            // A panic drops the completion, which sees that and says so to the lane.
            guard(open.report(), service.name(), || handler(&mut call, done));
        }
        #[cfg(feature = "tokio")]
        Run::Future(handler) => match guard(open.report(), service.name(), || handler(&mut call)) {
            Some(Ok(future)) => core.runtime.spawn(future, open, done),
            Some(Err(failure)) => done.fail(failure),
            None => done.fail(Failure::Panicked),
        },
        Run::Inline(_) | Run::Blocking(_) | Run::Adaptive(_) | Run::LaterBatch(_) => done.fail(Failure::WouldBlock),
    }
    #[cfg(not(feature = "tokio"))]
    let _ = core;
}
