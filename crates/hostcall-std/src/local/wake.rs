//! How a lane waits for objects of the device, and for handles of the host at the same time.
//!
//! A lane that waits has a [`Waiter`], whose word says where it waits. It enters the waiter into the [`Listeners`] of
//! all objects that it waits for, and then, again and again:
//!
//! 1. arms the waiter (its word is [`HERE`]),
//! 2. looks at the objects, and goes on if one is ready,
//! 3. waits: until the word is not [`HERE`] any more, if it waits for objects of the device alone. If it also waits for
//!    handles of the host, it changes the word to [`HOST`] and makes *one* call, which waits on the host for all those
//!    handles and for the waiter's *alarm*. An alarm is a handle of the host like any other; it becomes ready when
//!    somebody rings it.
//!
//! Whoever changes an object then tells its listeners: sets their words to [`WOKEN`], and rings the alarm of those
//! whose word was [`HOST`].
//!
//! So a lane that waits polls one word: its own, or the reply of its one call. A wake of one that waits on the host
//! costs the waker one message that nobody answers, and the waiter the reply. The other ways were not taken: slices of
//! host polls that grow would cost a call for each slice and up to a slice of delay; a pending call that is abandoned
//! keeps its port until the host has answered it, which it does not before something happens.
//!
//! # Why no wake is lost
//!
//! The waiter stores [`HERE`], passes a fence, and looks at the object. The waker changes the object, passes a fence,
//! and looks for listeners. One of the two fences is first. If it is the waker's, the waiter sees the change. If it is
//! the waiter's, the waker sees the listener, and its swap of the word comes behind the waiter's store: the waiter
//! finds [`WOKEN`], be it on the way to the host (it does not go) or there (it is rung).
//!
//! An alarm may be rung late, when the waiter has gone on already. Then its next wait on the host ends for no reason,
//! and begins again.

use super::machine;
use super::spin::Spin;
use crate::error::Errno;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Somebody has woken it.
const WOKEN: u32 = 0;
/// Its lane looks at objects, or polls the word.
const HERE: u32 = 1;
/// Its lane waits in a call to the host.
const HOST: u32 = 2;

/// One lane that waits.
pub(crate) struct Waiter {
    state: AtomicU32,
    /// The handle of its alarm; 0 if it never needed one.
    alarm: AtomicU64,
}

/// Waiters that nobody uses. They are kept for the sake of their alarms, and there are as many as lanes have waited at
/// a time.
static IDLE: Spin<Vec<Arc<Waiter>>> = Spin::new(Vec::new());

impl Waiter {
    /// A waiter for the calling lane, to be given back by [`give_back`].
    pub(crate) fn take() -> Arc<Self> {
        IDLE.with(Vec::pop).unwrap_or_else(|| Arc::new(Self { state: AtomicU32::new(WOKEN), alarm: AtomicU64::new(0) }))
    }

    /// Gives a waiter back that no listeners have any more.
    pub(crate) fn give_back(this: Arc<Self>) {
        IDLE.with(|idle| idle.push(this));
    }

    /// From here on, a change that is not seen wakes it.
    pub(crate) fn arm(&self) {
        // A swap, so that it is ordered with those of `wake`: a wake that came before is over, because what it told of
        // is looked at now.
        self.state.swap(HERE, Ordering::AcqRel);
        // Pairs with the fence in `Listeners::tell`.
        fence(Ordering::SeqCst);
    }

    /// Waits on the device: whether it was woken before the deadline.
    pub(crate) fn wait_here(&self, deadline: Option<u64>) -> bool {
        let mut attempt = 0;
        // Acquire pairs with the swap in `wake`.
        while self.state.load(Ordering::Acquire) == HERE {
            machine::end_if_ending();
            if deadline.is_some_and(|deadline| machine::now_ns() >= deadline) {
                return false;
            }
            attempt += 1;
            machine::pause(attempt);
        }
        true
    }

    /// Makes a call that waits on the host, among others for the alarm that it is given; `None` if the waiter was woken
    /// before.
    pub(crate) fn wait_on_host<R>(&self, call: impl FnOnce(u64) -> Result<R, Errno>) -> Result<Option<R>, Errno> {
        // Relaxed: the alarm is made by the lane that waits, and `wake` loads it behind the swap below.
        let mut alarm = self.alarm.load(Ordering::Relaxed);
        if alarm == 0 {
            alarm = machine::alarm()?;
            self.alarm.store(alarm, Ordering::Relaxed);
        }
        // Release pairs with the swap in `wake`: it sees the alarm.
        if self.state.compare_exchange(HERE, HOST, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Ok(None);
        }
        let result = call(alarm);
        // A wake from here on rings no alarm. One that came before may still do so.
        self.state.swap(HERE, Ordering::AcqRel);
        result.map(Some)
    }

    /// Wakes it; its alarm, if that is to be rung.
    fn wake(&self) -> Option<u64> {
        // Pairs with the loads and exchanges of the waiter.
        (self.state.swap(WOKEN, Ordering::AcqRel) == HOST).then(|| self.alarm.load(Ordering::Relaxed))
    }
}

/// Who is told of a change.
pub(crate) enum Hearer {
    /// A lane that waits.
    Waiter(Arc<Waiter>),
    /// Those who wait for a set of objects, an epoll. They are waiters, and no sets.
    Group(Arc<Listeners>),
}

impl Hearer {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Waiter(this), Self::Waiter(other)) => Arc::ptr_eq(this, other),
            (Self::Group(this), Self::Group(other)) => Arc::ptr_eq(this, other),
            _ => false,
        }
    }
}

struct Listener {
    /// Of which events it is told.
    events: u32,
    /// Tells several entries of one hearer apart.
    key: u64,
    hearer: Hearer,
}

/// Who is told of what happens to an object.
pub(crate) struct Listeners {
    count: AtomicU32,
    /// How often something became readable, and how often something became writable: what edge-triggered epolls go by.
    edges: [AtomicU32; 2],
    list: Spin<Vec<Listener>>,
}

impl Listeners {
    pub(crate) const fn new() -> Self {
        Self { count: AtomicU32::new(0), edges: [const { AtomicU32::new(0) }; 2], list: Spin::new(Vec::new()) }
    }

    /// Tells a hearer of `events` from now on.
    pub(crate) fn add(&self, events: u32, key: u64, hearer: Hearer) {
        self.list.with(|list| {
            list.push(Listener { events, key, hearer });
            // Relaxed: the fences of `arm` and `tell` order it.
            self.count.store(list.len() as u32, Ordering::Relaxed);
        });
    }

    /// Tells it no more.
    pub(crate) fn remove(&self, key: u64, hearer: &Hearer) {
        let gone = self.list.with(|list| {
            let at = list.iter().position(|listener| listener.key == key && listener.hearer.is(hearer));
            let gone = at.map(|at| list.swap_remove(at));
            self.count.store(list.len() as u32, Ordering::Relaxed);
            gone
        });
        // Not under the lock.
        drop(gone);
    }

    /// The counts of edges.
    pub(crate) fn edges(&self) -> [u32; 2] {
        // Acquire pairs with the release in `tell`: what became ready before is seen to be ready, or to be so no more.
        self.edges.each_ref().map(|edge| edge.load(Ordering::Acquire))
    }

    /// Says that `events` have happened: what became so has been stored.
    pub(crate) fn tell(&self, events: u32) {
        use super::numbers::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP};
        for (edge, of) in self.edges.iter().zip([EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP, EPOLLOUT | EPOLLERR | EPOLLHUP]) {
            if events & of != 0 {
                edge.fetch_add(1, Ordering::Release);
            }
        }
        self.wake(events);
    }

    /// Wakes those who wait for `events`, without a new edge.
    pub(crate) fn wake(&self, events: u32) {
        // Pairs with the fence in `Waiter::arm`.
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut alarms = Vec::new();
        self.list.with(|list| {
            for listener in list.iter().filter(|listener| listener.events & events != 0) {
                match &listener.hearer {
                    Hearer::Waiter(waiter) => alarms.extend(waiter.wake()),
                    Hearer::Group(group) => group.list.with(|list| {
                        alarms.extend(list.iter().filter_map(|member| match &member.hearer {
                            Hearer::Waiter(waiter) => waiter.wake(),
                            Hearer::Group(_) => None,
                        }));
                    }),
                }
            }
        });
        alarms.into_iter().for_each(machine::ring);
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::{EPOLLIN, EPOLLOUT};
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_change_between_looking_and_waiting_is_not_missed() {
        for on_host in [false, true] {
            let listeners = Arc::new(Listeners::new());
            let waiter = Waiter::take();
            listeners.add(EPOLLIN, 0, Hearer::Waiter(waiter.clone()));
            waiter.arm();
            listeners.tell(EPOLLIN);
            if on_host {
                assert_eq!(waiter.wait_on_host(|_| -> Result<(), Errno> { panic!("it must not wait") }), Ok(None));
            } else {
                assert!(waiter.wait_here(None));
            }
            listeners.remove(0, &Hearer::Waiter(waiter));
        }
    }

    #[test]
    fn events_that_are_not_listened_for_wake_nobody() {
        let listeners = Listeners::new();
        let waiter = Waiter::take();
        listeners.add(EPOLLIN, 0, Hearer::Waiter(waiter.clone()));
        waiter.arm();
        listeners.tell(EPOLLOUT);
        assert!(!waiter.wait_here(Some(machine::now_ns() + 1_000_000)));
        assert_eq!(listeners.edges(), [0, 1]);
    }

    #[test]
    fn waiters_here_and_on_the_host_are_woken_a_thousand_times() {
        let listeners = Arc::new(Listeners::new());
        let turn = Arc::new(AtomicU32::new(0));
        let done = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = [false, true]
            .map(|on_host| {
                let (listeners, turn, done) = (listeners.clone(), turn.clone(), done.clone());
                std::thread::spawn(move || {
                    let waiter = Waiter::take();
                    listeners.add(EPOLLIN, 0, Hearer::Waiter(waiter.clone()));
                    let mut seen = 0;
                    while !done.load(Ordering::Relaxed) {
                        waiter.arm();
                        let now = turn.load(Ordering::Relaxed);
                        if now != seen {
                            seen = now;
                            continue;
                        }
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                        if on_host {
                            waiter.wait_on_host(|alarm| machine::poll(&[[alarm, EPOLLIN.into()]], &mut [0], -1)).unwrap();
                        } else {
                            assert!(waiter.wait_here(None));
                        }
                    }
                    listeners.remove(0, &Hearer::Waiter(waiter));
                    seen
                })
            })
            .into();
        for _ in 0..1000 {
            turn.fetch_add(1, Ordering::Relaxed);
            listeners.tell(EPOLLIN);
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
        listeners.tell(EPOLLIN);
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap() <= 1000));
        assert_eq!(listeners.count.load(Ordering::Relaxed), 0);
    }
}
