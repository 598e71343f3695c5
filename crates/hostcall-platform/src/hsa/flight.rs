//! What waits for the device: kernels in flight, calls to make when earlier work has finished, and what that work
//! uses.
//!
//! All are entries of one table per context, ordered by queue and by place in the queue. Queues are in order. So if an
//! entry's signal fired, all entries before it in its queue have ended, too. The thread that learns this first takes
//! them out: the runtime's thread in the handler of a signal, or a thread that waited for the queue. A lost device
//! fires no signals any more. [`Outstanding::settle`] then empties the table.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::context::Context;
use super::signal::Signal;
use crate::backend::Ticket;

/// An entry's place: its queue, and its number there.
pub(super) type Place = (u64, u64);

/// To be called when the work before it has finished.
pub(super) type Call = Box<dyn FnOnce() + Send>;

/// An entry.
#[derive(Default)]
pub(super) struct Entry {
    /// A kernel in flight; dropping the ticket counts it as ended.
    pub(super) ticket: Option<Ticket>,
    /// A completion.
    pub(super) call: Option<Call>,
    /// Signals that its packets wait for or decrement.
    pub(super) signals: Vec<Arc<Signal>>,
    /// Memory, kernels: dropped by a thread of the application, for dropping them calls the runtime.
    pub(super) keep: Vec<Box<dyn Any + Send>>,
}

/// The table of one context.
#[derive(Default)]
pub(super) struct Outstanding {
    table: Mutex<Table>,
    called: Condvar,
}

#[derive(Default)]
struct Table {
    queues: u64,
    launches: usize,
    waiting: BTreeMap<Place, Entry>,
    /// Completions that were not called, or whose call has not returned.
    calls: BTreeSet<Place>,
    /// What ended work used.
    left: Vec<Box<dyn Any + Send>>,
}

impl Table {
    /// Takes out what is at `place` or before it in its queue. Tickets and calls are returned: they run code of others,
    /// and so not under the table's lock.
    fn take(&mut self, place: Place) -> Vec<Entry> {
        let reached: Vec<Place> = self.waiting.range((place.0, 0)..=place).map(|(&at, _)| at).collect();
        let mut taken = Vec::with_capacity(reached.len());
        for at in reached {
            // A call is made by its own signal's handler, on the runtime's thread.
            if at != place && self.calls.contains(&at) {
                continue;
            }
            if let Some(mut entry) = self.waiting.remove(&at) {
                self.launches -= usize::from(entry.ticket.is_some());
                self.left.append(&mut entry.keep);
                taken.push(entry);
            }
        }
        taken
    }
}

/// How long a wait sleeps before it looks whether the device was lost.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Outstanding {
    /// A number for a new queue.
    pub(super) fn new_queue(&self) -> u64 {
        let mut table = self.lock();
        table.queues += 1;
        table.queues
    }

    pub(super) fn add(&self, place: Place, entry: Entry) {
        let mut table = self.lock();
        table.launches += usize::from(entry.ticket.is_some());
        if entry.call.is_some() {
            table.calls.insert(place);
        }
        table.waiting.insert(place, entry);
    }

    /// Takes back an entry whose work was not queued after all.
    pub(super) fn remove(&self, place: Place) {
        let mut table = self.lock();
        table.calls.remove(&place);
        let entry = table.waiting.remove(&place);
        if let Some(entry) = &entry {
            table.launches -= usize::from(entry.ticket.is_some());
        }
        drop(table);
        drop(entry);
    }

    /// Everything at `place` and before it has ended. Completions are left to their handlers.
    pub(super) fn ended(&self, place: Place) {
        let mut table = self.lock();
        if table.calls.contains(&place) {
            // The call itself is its handler's, which has not run yet: what is before it has ended all the same.
            let before = (place.0, place.1.saturating_sub(1));
            let taken = table.take(before);
            drop(table);
            drop(taken);
            return;
        }
        let taken = table.take(place);
        drop(table);
        drop(taken);
    }

    /// Waits until the completions at `place` and before it have returned; `false` if the device was lost instead.
    pub(super) fn wait_for_calls(&self, place: Place, context: &Context) -> bool {
        let mut table = self.lock();
        while table.calls.range((place.0, 0)..=place).next().is_some() {
            if context.is_lost() {
                return false;
            }
            table = self.called.wait_timeout(table, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Empties the table: nothing of this context runs or ever will.
    pub(super) fn settle(&self) {
        let mut table = self.lock();
        table.launches = 0;
        table.calls.clear();
        let all = std::mem::take(&mut table.waiting);
        drop(table);
        self.called.notify_all();
        for (_, entry) in all {
            let Entry { ticket, call, signals, keep } = entry;
            // A device that is lost may still touch these: kept by whoever collects, on a thread of the application.
            self.lock().left.extend(keep);
            drop((ticket, call, signals));
        }
    }

    /// Whether no launch is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().launches == 0
    }

    /// Drops what ended work used. Called by threads of the application.
    pub(super) fn collect(&self) {
        let left = std::mem::take(&mut self.lock().left);
        drop(left);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    static IN_COMPLETION: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a completion, where nothing may wait for the device: it would wait for itself.
pub(super) fn in_completion() -> bool {
    IN_COMPLETION.get()
}

/// The data for a [`reached`] handler of `place`. (A lost device leaks it: a few bytes for each launch not ended.)
pub(super) fn data(context: &Arc<Context>, place: Place) -> *mut c_void {
    Box::into_raw(Box::new((context.clone(), place))).cast()
}

/// Frees data that no handler will get.
///
/// # Safety
/// `data` is from [`data`] and was not given to the runtime.
pub(super) unsafe fn discard(data: *mut c_void) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(data.cast::<(Arc<Context>, Place)>()) });
}

/// The handler of the signal of a launch or completion, on a thread of the runtime.
///
/// # Safety
/// `data` is from [`data`], used this once.
pub(super) unsafe extern "C" fn reached(_value: i64, data: *mut c_void) -> bool {
    // SAFETY: the caller's.
    let (context, place) = *unsafe { Box::from_raw(data.cast::<(Arc<Context>, Place)>()) };
    let taken = context.outstanding.lock().take(place);
    IN_COMPLETION.set(true);
    for Entry { ticket, call, signals, keep: _ } in taken {
        // Neither a subscriber (told when the ticket is dropped) nor a completion may unwind into the runtime.
        let done = catch_unwind(AssertUnwindSafe(move || {
            drop(ticket);
            if let Some(call) = call {
                call();
            }
            drop(signals);
        }));
        if done.is_err() {
            tracing::error!("a completion, or a subscriber to kernels in flight, panicked on a thread of the HSA runtime");
        }
    }
    IN_COMPLETION.set(false);
    context.outstanding.lock().calls.remove(&place);
    context.outstanding.called.notify_all();
    // Not called again for this signal.
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Activity;

    fn launch(activity: &Arc<Activity>) -> Entry {
        Entry { ticket: Some(activity.ticket(None, 0)), ..Entry::default() }
    }

    #[test]
    fn what_is_before_an_ended_entry_in_its_queue_has_ended_too_and_other_queues_have_not() {
        let (activity, outstanding) = (Arc::new(Activity::default()), Outstanding::default());
        let (a, b) = (outstanding.new_queue(), outstanding.new_queue());
        for number in 1..=3 {
            outstanding.add((a, number), launch(&activity));
        }
        outstanding.add((b, 1), launch(&activity));
        outstanding.ended((a, 2));
        assert_eq!(activity.in_flight(), 2);
        outstanding.ended((a, 2));
        assert_eq!(activity.in_flight(), 2, "nothing is counted twice");
        outstanding.ended((a, 3));
        assert!(!outstanding.is_idle());
        outstanding.ended((b, 9));
        assert!(outstanding.is_idle());
        assert_eq!(activity.in_flight(), 0);
    }

    #[test]
    fn a_completion_is_left_to_its_handler_and_dropped_when_the_device_is_lost() {
        let (activity, outstanding) = (Arc::new(Activity::default()), Outstanding::default());
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        outstanding.add((1, 1), launch(&activity));
        let call: Call = Box::new(move || sender.send(()).unwrap());
        outstanding.add((1, 2), Entry { call: Some(call), ..Entry::default() });
        outstanding.ended((1, 2));
        assert_eq!(activity.in_flight(), 0);
        assert!(receiver.try_recv().is_err());
        assert!(outstanding.lock().calls.contains(&(1, 2)));
        outstanding.settle();
        assert_eq!(receiver.recv(), Err(std::sync::mpsc::RecvError), "the sender was dropped, nothing sent");
        assert!(outstanding.lock().calls.is_empty());
    }

    #[test]
    fn what_ended_work_used_is_dropped_by_who_collects() {
        struct Told(std::sync::mpsc::Sender<std::thread::ThreadId>);
        impl Drop for Told {
            fn drop(&mut self) {
                self.0.send(std::thread::current().id()).unwrap_or_default();
            }
        }
        let outstanding = Arc::new(Outstanding::default());
        let (sender, receiver) = std::sync::mpsc::channel();
        outstanding.add((1, 1), Entry { keep: vec![Box::new(Told(sender))], ..Entry::default() });
        std::thread::spawn({
            let outstanding = outstanding.clone();
            move || outstanding.ended((1, 1))
        })
        .join()
        .unwrap();
        assert!(receiver.try_recv().is_err());
        outstanding.collect();
        assert_eq!(receiver.try_recv(), Ok(std::thread::current().id()));
    }
}
