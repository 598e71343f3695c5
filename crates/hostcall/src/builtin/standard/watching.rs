//! Sets of handles, and alarms (`StdWatch`).

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use hostcall_abi::services::errno;

use super::super::context::{Context, answer};
use super::super::define;
use super::super::table::{FileTable, Open};
use super::super::watch::{Alarm, MOST, Set};
use super::input::Source;
use super::reactor::{Answer, Reactor, Waiting, Watched};
use super::waiting::in_time;
use crate::service::{Failure, Service};
use crate::tenant::Tenant;

fn set_of(files: &FileTable, tenant: &Tenant, handle: u64) -> Result<Arc<Set>, u32> {
    match files.get(tenant, handle)? {
        Open::Set(set) => Ok(set),
        _ => Err(errno::EINVAL),
    }
}

fn alarm_of(files: &FileTable, tenant: &Tenant, handle: u64) -> Result<Arc<Alarm>, u32> {
    match files.get(tenant, handle)? {
        Open::Alarm(alarm) => Ok(alarm),
        _ => Err(errno::EINVAL),
    }
}

fn change(files: &FileTable, input: &Source, tenant: &Tenant, set: u64, how: (u32, u32, u64), handle: u64) -> Result<(), u32> {
    let set = set_of(files, tenant, set)?;
    let (operation, events, data) = how;
    if handle == 0 {
        // Input that is at its end is what Linux has as `/dev/null`, for which nobody can wait.
        return set.change(operation, input.descriptor().ok_or(errno::EPERM)?, events, data);
    }
    match files.get(tenant, handle)? {
        Open::Socket(socket) => set.change(operation, socket.as_fd(), events, data),
        Open::File(file) => set.change(operation, file.file.as_fd(), events, data),
        Open::Alarm(alarm) => set.change(operation, alarm.as_fd(), events, data),
        Open::Dir(_) => Err(errno::EPERM),
        Open::Set(_) => Err(errno::EINVAL),
    }
}

pub(super) fn services(context: &Context, files: &Arc<FileTable>, input: &Arc<Source>, reactor: &Arc<Reactor>) -> Vec<Service> {
    let f = files.clone();
    let alarm = context.inline(define::std_watch::definition::alarm(), move |call| {
        let tenant = call.tenant();
        let result = f.room(tenant).and_then(Alarm::new).and_then(|alarm| f.insert(tenant, Open::Alarm(Arc::new(alarm))));
        answer(call, result)
    });
    let f = files.clone();
    let ring = context.inline(define::std_watch::definition::ring(), move |call| {
        let handle = call.fixed()?;
        // Nobody waits for an answer.
        if let Ok(alarm) = alarm_of(&f, call.tenant(), handle) {
            alarm.ring();
        }
        call.reply(&(), &[]);
        Ok(())
    });
    let f = files.clone();
    let set = context.inline(define::std_watch::definition::set(), move |call| {
        let tenant = call.tenant();
        let result = f.room(tenant).and_then(Set::new).and_then(|set| f.insert(tenant, Open::Set(Arc::new(set))));
        answer(call, result)
    });
    let (f, i) = (files.clone(), input.clone());
    let change = context.inline(define::std_watch::definition::change(), move |call| {
        let (set, operation, handle, events, data) = (call.fixed()?, call.fixed()?, call.fixed()?, call.fixed()?, call.fixed()?);
        let result = change(&f, &i, call.tenant(), set, (operation, events, data), handle);
        answer(call, result)
    });
    let (f, r) = (files.clone(), reactor.clone());
    let wait = context.deferred(define::std_watch::definition::wait(), move |call, done| {
        let mut arguments = || Ok::<_, Failure>((call.fixed::<u64>()?, call.fixed::<u64>()?, call.fixed::<i64>()?, call.fixed::<u32>()?));
        let (set, alarm, nanos, most) = match arguments() {
            Ok(arguments) => arguments,
            Err(failure) => return Err((done, failure)),
        };
        let tenant = call.tenant();
        let found = set_of(&f, tenant, set).and_then(|set| {
            let alarm = if alarm == 0 { None } else { Some(alarm_of(&f, tenant, alarm)?) };
            if most == 0 { Err(errno::EINVAL) } else { Ok((set, alarm)) }
        });
        match found {
            Ok((set, alarm)) => {
                let most = (most as usize).min(MOST);
                let mut watched = vec![(Watched::Set(set.clone()), 1)];
                watched.extend(alarm.map(|alarm| (Watched::Alarm(alarm), 1)));
                let deadline = u64::try_from(nanos).ok().and_then(|nanos| in_time(Duration::from_nanos(nanos)));
                r.add(tenant, Waiting { watched, deadline, answer: Answer::Set(done, set, most) });
            }
            Err(error) => Answer::set(done, Err(error)),
        }
        Ok(())
    });
    vec![alarm, ring, set, change, wait]
}
