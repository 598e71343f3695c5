//! Waiting for the network, and for standard input.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hostcall_abi::services::errno;
use hostcall_abi::std_services::event;

use super::super::context::{Context, owner_of};
use super::super::define;
use super::super::table::FileTable;
use super::input::Source;
use super::reactor::{Answer, Reactor, Waiting, Watched};
use crate::service::{Failure, Service};

/// The most handles of one `poll`.
const POLLED: usize = 16;

fn in_nanos(nanos: u64) -> Option<Instant> {
    // One that is too far off to be told is never.
    Instant::now().checked_add(Duration::from_nanos(nanos))
}

/// What to watch for the handles of one call.
fn watched(files: &FileTable, input: &Arc<Source>, owner: usize, asked: &[[u64; 2]]) -> Vec<(Watched, u32)> {
    let one = |&[handle, events]: &[u64; 2]| {
        let events = events as u32 & event::ASKED;
        let target = match handle {
            0 if input.descriptor().is_none() => Watched::Known(events & event::IN | event::HANG_UP),
            0 => Watched::Input(input.clone()),
            handle => files.socket(owner, handle).map_or(Watched::Known(event::INVALID), Watched::Socket),
        };
        (target, events)
    };
    asked.iter().map(one).collect()
}

pub(super) fn services(context: &Context, files: &Arc<FileTable>, input: &Arc<Source>, reactor: &Arc<Reactor>) -> Vec<Service> {
    let (f, r) = (files.clone(), reactor.clone());
    let wait = context.deferred(&define::std_net::wait(|_, _| Err(0)), move |call, done| {
        let (handle, events) = match (call.fixed::<u64>(), call.fixed::<u32>()) {
            (Ok(handle), Ok(events)) => (handle, events & event::ASKED),
            (Err(error), _) | (_, Err(error)) => return Err((done, error.into())),
        };
        let answer = Answer::Wait(done);
        let socket = match f.socket(owner_of(call.report()), handle) {
            Ok(socket) => socket,
            Err(error) => {
                answer.fail(error);
                return Ok(());
            }
        };
        // Relaxed: the program's own calls order what it sets.
        if socket.nonblocking.load(Ordering::Relaxed) {
            answer.fail(errno::EAGAIN);
            return Ok(());
        }
        let timeout = socket.timeouts[usize::from(events & event::IN == 0)].load(Ordering::Relaxed);
        let deadline = if timeout == 0 { None } else { in_nanos(timeout) };
        r.add(Waiting { watched: vec![(Watched::Socket(socket), events)], deadline, answer });
        Ok(())
    });
    let (f, i, r) = (files.clone(), input.clone(), reactor.clone());
    let poll = context.deferred(&define::std_net::poll(|_, _| Err(0)), move |call, done| {
        let (asked, nanos) = match (call.slice::<[u64; 2]>(), call.fixed::<i64>()) {
            (Ok(asked), Ok(nanos)) => (asked, nanos),
            (Err(error), _) | (_, Err(error)) => return Err((done, Failure::from(error))),
        };
        let answer = Answer::Poll(done);
        if asked.len() > POLLED {
            answer.fail(errno::EINVAL);
            return Ok(());
        }
        let watched = watched(&f, &i, owner_of(call.report()), asked);
        r.add(Waiting { watched, deadline: u64::try_from(nanos).ok().and_then(in_nanos), answer });
        Ok(())
    });
    vec![wait, poll]
}
