//! Exits of the route, for handlers that answer later: the blocking pool, the user's own threads, the async runtime.
//!
//! A message arrives here checked and counted. It leaves whole, as an [`Open`] message, with the replies that it
//! already has.

use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::port::Message;

use super::open::Open;
use super::pool::{Attempt, Job};
use super::served::Served;
use super::threads::Core;
use crate::record::guard;
use crate::service::call::Scratch;
use crate::service::lanes::Payload;
use crate::service::registry::Registered;
use crate::service::{Completion, Failure, Run};

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
    for rank in (0..message.lanes()).filter(|rank| late >> rank & 1 == 1) {
        let mut done = Completion::new(open.clone(), rank, open.timing());
        let attempt = match &service.run {
            Run::Blocking(_) => Attempt::First,
            // It was admitted when it was tried.
            Run::Adaptive(_) => Attempt::Again,
            _ => {
                if !service.admit() {
                    done.end(service.refusal().to_status().0);
                    continue;
                }
                done.start();
                begin(core, &open, rank, scratch, done);
                continue;
            }
        };
        core.pool.submit(Job { message: open.clone(), rank, done, attempt });
    }
}

/// Starts a deferred or async handler.
fn begin(core: &Core, open: &Arc<Open>, rank: u32, scratch: &mut Scratch, done: Completion) {
    let service = &open.service;
    // Its reply is not made here.
    let mut stream = [0; 1];
    let mut call = match open.call(rank, &mut stream, scratch, false, false) {
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
        Run::Inline(_) | Run::Blocking(_) | Run::Adaptive(_) => done.fail(Failure::WouldBlock),
    }
    #[cfg(not(feature = "tokio"))]
    let _ = core;
}
