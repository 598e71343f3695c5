//! Waiting for the network, for standard input, for FIFOs and devices, and for locks of files.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hostcall_abi::codec::Fixed;
use hostcall_abi::services::errno;
use hostcall_abi::std_services::event;
use rustix::fs::FlockOperation;

use super::super::console::Console;
use super::super::context::Context;
use super::super::define;
use super::super::table::{FileTable, Open};
use super::input::Source;
use super::reactor::{Answer, FEW, Reactor, Waiting, Watched, happened_now, lock_of};
use crate::service::{Completion, Definition, Failure, Invocation, Service};
use crate::tenant::Tenant;

/// The most handles of one `poll`.
const POLLED: usize = 16;
/// The most handles of one `poll_any` or `poll_now`.
const MANY: usize = 1024;

/// The time that is so far off; none, if it is too far off to be told: that is never.
pub(super) fn in_time(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

fn in_nanos(nanos: u64) -> Option<Instant> {
    in_time(Duration::from_nanos(nanos))
}

/// What can be waited for.
#[derive(Clone, Debug)]
struct Waitable {
    files: Arc<FileTable>,
    input: Arc<Source>,
    console: Arc<Console>,
}

/// What to watch for the handles of one call.
fn watched(Waitable { files, input, console }: &Waitable, tenant: &Tenant, asked: &[[u64; 2]]) -> Vec<(Watched, u32)> {
    let one = |&[handle, events]: &[u64; 2]| {
        let events = events as u32 & event::ASKED;
        let target = match handle {
            0 if input.descriptor().is_none() => Watched::Known(events & event::IN | event::HANG_UP),
            0 => Watched::Input(input.clone()),
            output @ 1..=2 => console.descriptor(output as u32).map_or(Watched::Known(events & event::OUT), Watched::Output),
            handle => match files.get(tenant, handle) {
                Ok(Open::Socket(socket)) => Watched::Socket(socket),
                Ok(Open::File(file)) => Watched::File(file),
                Ok(Open::Dir(_)) => Watched::Known(events & (event::IN | event::OUT)),
                Ok(Open::Alarm(alarm)) => Watched::Alarm(alarm),
                Ok(Open::Set(set)) => Watched::Set(set),
                Err(_) => Watched::Known(event::INVALID),
            },
        };
        (target, events)
    };
    asked.iter().map(one).collect()
}

pub(super) fn services(
    context: &Context,
    files: &Arc<FileTable>,
    input: &Arc<Source>,
    console: &Arc<Console>,
    reactor: &Arc<Reactor>,
) -> Vec<Service> {
    let waitable = Waitable { files: files.clone(), input: input.clone(), console: console.clone() };
    let (f, r) = (files.clone(), reactor.clone());
    let wait = context.deferred(define::std_net::definition::wait(), move |call, done| {
        let (handle, events) = match (call.fixed::<u64>(), call.fixed::<u32>()) {
            (Ok(handle), Ok(events)) => (handle, events & event::ASKED),
            (Err(error), _) | (_, Err(error)) => return Err((done, error.into())),
        };
        let answer = Answer::Wait(done);
        let socket = match f.socket(call.tenant(), handle) {
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
        r.add(call.tenant(), Waiting { watched: vec![(Watched::Socket(socket), events)], deadline, answer });
        Ok(())
    });
    let polling = |definition: Definition, most: usize, answer: fn(Completion) -> Answer| {
        let (w, r) = (waitable.clone(), reactor.clone());
        context.deferred(definition, move |call, done| {
            let (asked, nanos) = match (call.slice::<[u64; 2]>(), call.fixed::<i64>()) {
                (Ok(asked), Ok(nanos)) => (asked, nanos),
                (Err(error), _) | (_, Err(error)) => return Err((done, Failure::from(error))),
            };
            let answer = answer(done);
            if asked.len() > most {
                answer.fail(errno::EINVAL);
                return Ok(());
            }
            let watched = watched(&w, call.tenant(), asked);
            r.add(call.tenant(), Waiting { watched, deadline: u64::try_from(nanos).ok().and_then(in_nanos), answer });
            Ok(())
        })
    };
    let poll = polling(define::std_net::definition::poll(), POLLED, Answer::Poll);
    let poll_any = polling(define::std_net::definition::poll_any(), MANY, Answer::Count);
    let w = waitable;
    let poll_now = context.adaptive(define::std_net::definition::poll_now(), move |call| {
        let asked = call.slice::<[u64; 2]>()?;
        if asked.len() > FEW && !call.may_block() {
            return Err(Failure::WouldBlock);
        }
        let events = call.out::<u32>()?;
        let result = if asked.len() > MANY || asked.len() > events.len() {
            Err(errno::EINVAL)
        } else {
            happened_now(&watched(&w, call.tenant(), asked))
        };
        let happened = result.as_ref().map_or(&[][..], Vec::as_slice);
        events[..happened.len()].copy_from_slice(happened);
        let count = result.as_ref().map(|all| all.iter().filter(|events| **events != 0).count() as u32).map_err(|error| *error);
        let given = happened.len();
        call.reply(&count, &[hostcall_abi::codec::bytes(&events[..given])]);
        Ok(())
    });
    vec![wait, poll, poll_any, poll_now, lock(context, files, reactor)]
}

/// The operation of a number, as one that does not wait; and whether it was to wait.
fn operation(number: u32) -> Option<(FlockOperation, bool)> {
    let waits = number.cast_signed() & libc::LOCK_NB == 0;
    match number.cast_signed() & !libc::LOCK_NB {
        libc::LOCK_SH => Some((FlockOperation::NonBlockingLockShared, waits)),
        libc::LOCK_EX => Some((FlockOperation::NonBlockingLockExclusive, waits)),
        libc::LOCK_UN => Some((FlockOperation::NonBlockingUnlock, false)),
        _ => None,
    }
}

/// Locks: those that are free are taken at once, the others wait in the reactor.
fn lock(context: &Context, files: &Arc<FileTable>, reactor: &Arc<Reactor>) -> Service {
    fn arguments<T: Fixed, U: Fixed>(call: &mut Invocation<'_>) -> Result<(T, U), Failure> {
        Ok((call.fixed()?, call.fixed()?))
    }
    let (files, reactor) = (files.clone(), reactor.clone());
    context.deferred(define::std_files::definition::lock(), move |call, done| {
        let (handle, number) = match arguments::<u64, u32>(call) {
            Ok(arguments) => arguments,
            Err(failure) => return Err((done, failure)),
        };
        let (open, (operation, waits)) = match (files.get(call.tenant(), handle), operation(number)) {
            (Ok(open), Some(operation)) => (open, operation),
            (Err(error), _) => {
                Answer::Lock(done).fail(error);
                return Ok(());
            }
            (_, None) => {
                Answer::Lock(done).fail(errno::EINVAL);
                return Ok(());
            }
        };
        match lock_of(&open, operation) {
            Ok(()) => done.reply(&Ok::<(), u32>(())),
            Err(errno::EAGAIN) if waits => {
                reactor.add(
                    call.tenant(),
                    Waiting { watched: vec![(Watched::Lock(open, operation), 0)], deadline: None, answer: Answer::Lock(done) },
                );
            }
            Err(error) => Answer::Lock(done).fail(error),
        }
        Ok(())
    })
}
