//! What the objects of the device need of the machine, and of the host: there is one place for it, so that the tests of
//! this module run on any machine.

#[cfg(not(test))]
pub(crate) use real::*;
#[cfg(test)]
pub(crate) use stand_in::*;

/// Pairs of events and data that one call brings.
pub(crate) const BROUGHT: usize = 6;

#[cfg(not(test))]
mod real {
    use super::BROUGHT;
    use crate::error::{Errno, answered};
    use crate::services::{StdFiles, StdNet, StdSystem, StdWatch};
    use hostcall_device::__runtime::Files;
    pub(crate) use hostcall_device::__runtime::{end_if_ending, now_ns, pause};

    /// The most handles of a call that also says what happened to them.
    const FEW: usize = 16;

    /// A new alarm: a handle that becomes ready when it is rung, and is so until a call says so.
    pub(crate) fn alarm() -> Result<u64, Errno> {
        answered(StdWatch::alarm())
    }

    /// Rings an alarm.
    pub(crate) fn ring(alarm: u64) {
        // A host that is gone has told the one that waits already.
        let _ = StdWatch::ring(alarm);
    }

    /// Waits for events of handles (0: standard input), each `[handle, events]`, for so many nanoseconds (negative: for
    /// ever). `happened` has as many places, all 0.
    pub(crate) fn poll(asked: &[[u64; 2]], happened: &mut [u32], nanos: i64) -> Result<(), Errno> {
        if asked.len() > FEW {
            // First that something happened, then what.
            if answered(StdNet::poll_any(asked, nanos))? > 0 {
                answered(StdNet::poll_now(asked, happened))?;
            }
            return Ok(());
        }
        let packed = answered(StdNet::poll(asked, nanos))?;
        for (i, happened) in happened.iter_mut().enumerate() {
            *happened = packed.get(i / 2).copied().unwrap_or(0) >> (i % 2 * 16) & 0xffff;
        }
        Ok(())
    }

    /// A new set of handles.
    pub(crate) fn set() -> Result<u64, Errno> {
        answered(StdWatch::set())
    }

    /// Puts a handle into a set, changes it or takes it out, as `epoll_ctl`.
    pub(crate) fn change(set: u64, operation: i32, handle: u64, events: u32, data: u64) -> Result<(), Errno> {
        answered(StdWatch::change(set, operation.cast_unsigned(), handle, events, data))
    }

    /// What happened to handles of a set, each `[events, data]`, at most `most`, of which one without events is the
    /// end. Waits for it, or for the alarm (0: none).
    pub(crate) fn wait(set: u64, alarm: u64, nanos: i64, most: usize) -> Result<[[u64; 2]; BROUGHT], Errno> {
        let flat: [u64; 2 * BROUGHT] = answered(StdWatch::wait(set, alarm, nanos, most as u32))?;
        Ok(core::array::from_fn(|i| [flat[2 * i], flat[2 * i + 1]]))
    }

    /// Closes a handle.
    pub(crate) fn close(handle: u64) -> Result<(), Errno> {
        Ok(Files::close(handle)?)
    }

    /// Another handle for the same thing.
    pub(crate) fn duplicate(handle: u64) -> Result<u64, Errno> {
        answered(StdFiles::duplicate(handle))
    }

    /// Fills with random bytes.
    pub(crate) fn entropy(into: &mut [u8]) -> Result<usize, Errno> {
        answered(StdSystem::entropy(into)).map(|n| (n as usize).min(into.len()))
    }
}

/// A host of the tests' own: handles that are ready when somebody says so.
#[cfg(test)]
mod stand_in {
    use super::BROUGHT;
    use crate::abi::errno::{EBADF, EEXIST, ENOENT};
    use crate::error::Errno;
    use crate::local::numbers::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLLIN};
    use std::collections::HashMap;
    use std::sync::{Condvar, Mutex, MutexGuard};
    use std::time::{Duration, Instant};

    #[derive(Default)]
    struct Host {
        last: u64,
        /// What each handle is ready for.
        handles: HashMap<u64, u32>,
        alarms: Vec<u64>,
        /// Handles, events and data of each set.
        sets: HashMap<u64, HashMap<u64, (u32, u64)>>,
        waiting: usize,
    }

    static HOST: Mutex<Option<Host>> = Mutex::new(None);
    static CHANGED: Condvar = Condvar::new();

    fn host() -> MutexGuard<'static, Option<Host>> {
        let mut host = HOST.lock().unwrap();
        host.get_or_insert_default();
        host
    }

    fn with<R>(f: impl FnOnce(&mut Host) -> R) -> R {
        let result = f(host().as_mut().unwrap());
        CHANGED.notify_all();
        result
    }

    impl Host {
        fn new_handle(&mut self, ready: u32) -> u64 {
            self.last += 1;
            let handle = 1 << 32 | self.last;
            self.handles.insert(handle, ready);
            handle
        }

        /// What happened to a handle; an alarm is then silent again.
        fn take(&mut self, handle: u64, events: u32) -> u32 {
            let Some(ready) = self.handles.get_mut(&handle) else { return 32 };
            let happened = *ready & events;
            if happened != 0 && self.alarms.contains(&handle) {
                *ready = 0;
            }
            happened
        }
    }

    /// Waits until `f` has something.
    fn waits<R>(nanos: i64, mut f: impl FnMut(&mut Host) -> Option<R>) -> Option<R> {
        let deadline = u64::try_from(nanos).ok().map(|nanos| Instant::now() + Duration::from_nanos(nanos));
        let mut host = host();
        host.as_mut().unwrap().waiting += 1;
        loop {
            let found = f(host.as_mut().unwrap());
            if found.is_some() || deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                host.as_mut().unwrap().waiting -= 1;
                return found;
            }
            host = CHANGED.wait_timeout(host, Duration::from_millis(1)).unwrap().0;
        }
    }

    pub(crate) fn end_if_ending() {}

    pub(crate) fn pause(attempt: u32) {
        if attempt > 100 { std::thread::sleep(Duration::from_micros(20)) } else { std::thread::yield_now() }
    }

    pub(crate) fn now_ns() -> u64 {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        1 + START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    pub(crate) fn alarm() -> Result<u64, Errno> {
        Ok(with(|host| {
            let alarm = host.new_handle(0);
            host.alarms.push(alarm);
            alarm
        }))
    }

    pub(crate) fn ring(alarm: u64) {
        set_ready(alarm, EPOLLIN);
    }

    pub(crate) fn poll(asked: &[[u64; 2]], happened: &mut [u32], nanos: i64) -> Result<(), Errno> {
        waits(nanos, |host| {
            for ([handle, events], happened) in asked.iter().zip(&mut *happened) {
                *happened = host.take(*handle, *events as u32 | 8 | 16);
            }
            happened.iter().any(|events| *events != 0).then_some(())
        });
        Ok(())
    }

    pub(crate) fn set() -> Result<u64, Errno> {
        Ok(with(|host| {
            let set = host.new_handle(0);
            host.sets.insert(set, HashMap::new());
            set
        }))
    }

    pub(crate) fn change(set: u64, operation: i32, handle: u64, events: u32, data: u64) -> Result<(), Errno> {
        with(|host| {
            let known = host.handles.contains_key(&handle);
            let set = host.sets.get_mut(&set).filter(|_| known).ok_or(Errno(EBADF))?;
            match (operation, set.contains_key(&handle)) {
                (EPOLL_CTL_ADD, true) => return Err(Errno(EEXIST)),
                (EPOLL_CTL_ADD, false) => {}
                (_, false) => return Err(Errno(ENOENT)),
                (EPOLL_CTL_DEL, true) => {
                    set.remove(&handle);
                    return Ok(());
                }
                _ => {}
            }
            set.insert(handle, (events, data));
            Ok(())
        })
    }

    pub(crate) fn wait(set: u64, alarm: u64, nanos: i64, most: usize) -> Result<[[u64; 2]; BROUGHT], Errno> {
        let found = waits(nanos, |host| {
            let mut found = [[0; 2]; BROUGHT];
            let mut places = found.iter_mut().take(most);
            let members: Vec<_> = host.sets.get(&set)?.iter().map(|(handle, member)| (*handle, *member)).collect();
            let mut any = false;
            for (handle, (events, data)) in members {
                let happened = host.take(handle, events);
                if happened != 0
                    && let Some(place) = places.next()
                {
                    *place = [happened.into(), data];
                    any = true;
                }
            }
            (alarm != 0 && host.take(alarm, EPOLLIN) != 0 || any).then_some(found)
        });
        Ok(found.unwrap_or_default())
    }

    pub(crate) fn close(handle: u64) -> Result<(), Errno> {
        with(|host| host.handles.remove(&handle).map(drop).ok_or(Errno(EBADF)))
    }

    pub(crate) fn duplicate(handle: u64) -> Result<u64, Errno> {
        with(|host| host.handles.get(&handle).copied().map(|ready| host.new_handle(ready)).ok_or(Errno(EBADF)))
    }

    pub(crate) fn entropy(into: &mut [u8]) -> Result<usize, Errno> {
        into.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i as u8).wrapping_mul(167) ^ 0x5a);
        Ok(into.len())
    }

    /// A handle that is ready for `ready`.
    pub(crate) fn handle(ready: u32) -> u64 {
        with(|host| host.new_handle(ready))
    }

    /// A handle becomes ready for `ready`.
    pub(crate) fn set_ready(handle: u64, ready: u32) {
        with(|host| {
            if let Some(of) = host.handles.get_mut(&handle) {
                *of = ready;
            }
        });
    }

    pub(crate) fn is_open(handle: u64) -> bool {
        with(|host| host.handles.contains_key(&handle))
    }
}
