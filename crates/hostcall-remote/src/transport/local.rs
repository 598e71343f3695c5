//! Callers and workers of one process, without a broker.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Ear, Heard, Request};

/// Where callers and workers meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hub(Arc<Mutex<Meeting>>);

#[derive(Debug, Default)]
struct Meeting {
    /// Those who take the requests of each subject, who are given them in turns.
    listeners: HashMap<String, VecDeque<UnboundedSender<Request>>>,
    kept: HashMap<String, Arc<Store>>,
}

/// What is kept of a subject.
#[derive(Debug, Default)]
struct Store {
    waiting: Mutex<VecDeque<Bytes>>,
    more: Notify,
}

impl Hub {
    pub(crate) fn link(&self, ear: Option<Ear>) -> Link {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Pairs with nothing: each number once.
        Link { hub: self.clone(), ear, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Held for a look or a change.
    fn meeting(&self) -> MutexGuard<'_, Meeting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self, subject: &str) -> Arc<Store> {
        self.meeting().kept.entry(subject.to_owned()).or_default().clone()
    }
}

/// One's connection.
pub(crate) struct Link {
    hub: Hub,
    ear: Option<Ear>,
    /// No other connection of the process has it, or had it.
    number: u64,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("hub", &self.hub).finish_non_exhaustive()
    }
}

impl Link {
    pub(super) fn send(&self, subject: &str, number: u64, body: Bytes) {
        let Some(ear) = &self.ear else { return };
        let mut request = Request { body, back: super::Back::Local(Back { caller: self.number, number, ear: ear.clone() }) };
        let mut meeting = self.hub.meeting();
        while let Some(listener) = meeting.listeners.get_mut(subject).and_then(VecDeque::pop_front) {
            match listener.send(request) {
                Ok(()) => {
                    if let Some(listeners) = meeting.listeners.get_mut(subject) {
                        listeners.push_back(listener);
                    }
                    return;
                }
                // That one is gone.
                Err(back) => request = back.0,
            }
        }
        drop(meeting);
        ear(number, Heard::Nobody);
    }

    pub(super) fn keep(&self, subject: &str, body: Bytes) {
        self.hub.store(subject).put(body);
    }

    pub(super) fn listen(&self, subject: &str) -> Requests {
        let (give, take) = unbounded_channel();
        self.hub.meeting().listeners.entry(subject.to_owned()).or_default().push_back(give);
        Requests(take)
    }

    pub(super) fn take_kept(&self, subject: &str) -> Kept {
        Kept(self.hub.store(subject))
    }
}

/// Requests of one subject.
#[derive(Debug)]
pub(crate) struct Requests(UnboundedReceiver<Request>);

impl Requests {
    pub(super) async fn next(&mut self) -> Option<Request> {
        self.0.recv().await
    }

    pub(super) fn end(&mut self) {
        self.0.close();
    }
}

impl Drop for Requests {
    /// Those that nobody takes any more find nobody.
    fn drop(&mut self) {
        self.0.close();
        while let Ok(request) = self.0.try_recv() {
            if let super::Back::Local(back) = request.back {
                (back.ear)(back.number, Heard::Nobody);
            }
        }
    }
}

/// The way back.
pub(crate) struct Back {
    caller: u64,
    number: u64,
    ear: Ear,
}

impl fmt::Debug for Back {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Back").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Back {
    pub(super) fn caller(&self) -> u64 {
        self.caller
    }

    pub(super) fn answer(&self, body: Bytes) {
        (self.ear)(self.number, Heard::Answer(body));
    }
}

impl Store {
    fn put(&self, body: Bytes) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(body);
        self.more.notify_one();
    }

    fn take(&self) -> Option<Bytes> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// What is kept of one subject.
#[derive(Debug)]
pub(crate) struct Kept(Arc<Store>);

impl Kept {
    pub(super) async fn next(&mut self) -> Request {
        loop {
            if let Some(body) = self.0.take() {
                // Others may wait for what is behind it.
                self.0.more.notify_one();
                let one = KeptOne { store: self.0.clone(), body: body.clone(), handled: AtomicBool::new(false) };
                return Request { body, back: super::Back::LocalKept(one) };
            }
            self.0.more.notified().await;
        }
    }
}

/// One that was taken. Dropped before it was handled, it is kept again.
#[derive(Debug)]
pub(crate) struct KeptOne {
    store: Arc<Store>,
    body: Bytes,
    handled: AtomicBool,
}

impl KeptOne {
    pub(super) fn handled(&self) {
        // Pairs with the load in `drop`. Relaxed: who drops it has it alone.
        self.handled.store(true, Ordering::Relaxed);
    }
}

impl Drop for KeptOne {
    fn drop(&mut self) {
        // Pairs with `handled`.
        if !self.handled.load(Ordering::Relaxed) {
            self.store.put(std::mem::take(&mut self.body));
        }
    }
}
