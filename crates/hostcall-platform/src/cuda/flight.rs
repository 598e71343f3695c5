//! What waits for the device: kernels in flight, and calls to make when earlier work has finished.
//!
//! Both are entries of one table per context. A host function (`cuLaunchHostFunc`) queued behind the work takes an
//! entry out. A launch's entry is made before the launch, so a running kernel is never uncounted. In a lost context
//! the driver runs no host functions any more. [`Outstanding::settle`] then empties the table. So launches are not
//! counted for ever, and code that waits for a call learns, through what the call captured (a channel, a waker), that
//! it was dropped. An entry leaves the table once, so a host function that was already under way when the context died
//! does nothing.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::quiet;
use crate::backend::Ticket;
use crate::waits;

/// An entry.
pub(super) enum Pending {
    /// A kernel (or graph) in flight; dropping the ticket counts it as ended.
    Launch(Ticket),
    /// To be called when the work before it has finished.
    Call(Box<dyn FnOnce() + Send>),
}

/// The table of one context.
#[derive(Default)]
pub(super) struct Outstanding {
    table: Mutex<Table>,
    /// There is an entry again, or the context is gone: for the thread that [watches](super::watch), if it sleeps.
    changed: Condvar,
}

#[derive(Default)]
struct Table {
    next: u64,
    launches: usize,
    waiting: HashMap<u64, Pending>,
    /// A thread asks whether the context lives.
    watched: bool,
    /// That thread sleeps until there is an entry.
    asleep: bool,
    /// The context is gone, and nothing will be entered.
    closed: bool,
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        // What is left is not counted any more, by those who wait for a moment without any.
        self.settle();
    }
}

/// An entry's name in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(u64);

impl Outstanding {
    pub(super) fn add(&self, pending: Pending) -> Id {
        let is_launch = matches!(pending, Pending::Launch(_));
        if is_launch {
            quiet::count_launch();
        }
        let mut table = self.lock();
        let id = table.next;
        table.next += 1;
        table.launches += usize::from(is_launch);
        table.waiting.insert(id, pending);
        if table.asleep {
            self.changed.notify_all();
        }
        Id(id)
    }

    /// Whether nobody has watched the context yet; from now on the caller does.
    pub(super) fn begins_to_be_watched(&self) -> bool {
        !std::mem::replace(&mut self.lock().watched, true)
    }

    /// Sleeps until there have been entries for `time`. `false` once the context is gone.
    pub(super) fn is_busy_after(&self, time: Duration) -> bool {
        let mut table = self.lock();
        loop {
            table.asleep = true;
            table =
                self.changed.wait_while(table, |table| table.waiting.is_empty() && !table.closed).unwrap_or_else(PoisonError::into_inner);
            table.asleep = false;
            table = self.changed.wait_timeout_while(table, time, |table| !table.closed).unwrap_or_else(PoisonError::into_inner).0;
            if table.closed || !table.waiting.is_empty() {
                return !table.closed;
            }
        }
    }

    /// Ends the thread that watches: the context is gone.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Takes an entry out, if it is still there. The caller drops or calls it, and so not under the table's lock.
    pub(super) fn take(&self, id: Id) -> Option<Pending> {
        let mut table = self.lock();
        let pending = table.waiting.remove(&id.0)?;
        if let Pending::Launch(_) = pending {
            table.launches -= 1;
            quiet::end_launches(1);
        }
        Some(pending)
    }

    /// Empties the table: nothing of this context runs or ever will.
    pub(super) fn settle(&self) {
        let mut table = self.lock();
        quiet::end_launches(std::mem::take(&mut table.launches));
        let all = std::mem::take(&mut table.waiting);
        drop(table);
        drop(all);
    }

    /// Whether no launch is in flight.
    #[cfg(test)]
    fn is_idle(&self) -> bool {
        self.lock().launches == 0
    }

    /// The data for a [`reached`] host function that takes `id` out. (A lost context leaks it: a few bytes for each
    /// launch not ended.)
    pub(super) fn data(self: &Arc<Self>, id: Id) -> *mut c_void {
        Box::into_raw(Box::new((Arc::clone(self), id))).cast()
    }

    /// Frees data that no host function will get.
    ///
    /// # Safety
    /// `data` is from [`Outstanding::data`] and was not given to the driver.
    pub(super) unsafe fn discard(data: *mut c_void) {
        // SAFETY: the caller's.
        drop(unsafe { Box::from_raw(data.cast::<(Arc<Outstanding>, Id)>()) });
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
    /// The number of the context that a [`super::context::Held`] found or left current on this thread; 0: none, or the
    /// thread is inside a host function.
    pub(super) static LEFT_IN: Cell<u64> = const { Cell::new(0) };
}

/// Whether this thread is inside a host function, where every driver call is forbidden (and may deadlock).
pub(super) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// The host function behind each launch and completion. Calls no driver function, as `cuLaunchHostFunc` demands; that
/// what it drops and calls does not either, `Context::enter` sees to.
///
/// # Safety
/// `data` is from [`Outstanding::data`], used this once.
pub(super) unsafe extern "C" fn reached(data: *mut c_void) {
    // SAFETY: the caller's.
    let (outstanding, id) = *unsafe { Box::from_raw(data.cast::<(Arc<Outstanding>, Id)>()) };
    let pending = outstanding.take(id);
    IN_HOST_FUNCTION.set(true);
    let left_in = LEFT_IN.replace(0);
    // Neither a subscriber (told when the ticket is dropped) nor a completion may unwind into the driver.
    let work = || match pending {
        Some(Pending::Call(call)) => call(),
        Some(Pending::Launch(ticket)) => drop(ticket),
        None => {}
    };
    let done = catch_unwind(AssertUnwindSafe(|| waits::letting_a_device_go_on(work)));
    LEFT_IN.set(left_in);
    IN_HOST_FUNCTION.set(false);
    if done.is_err() {
        tracing::error!("a completion, or a subscriber to kernels in flight, panicked on a CUDA driver thread");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Activity;
    use std::sync::mpsc;

    #[test]
    fn a_host_function_that_runs_after_the_context_was_lost_counts_nothing_twice() {
        let activity = Arc::new(Activity::default());
        let (lost, other) = (Arc::new(Outstanding::default()), Outstanding::default());
        other.add(Pending::Launch(activity.ticket(None, 0)));
        let first = lost.add(Pending::Launch(activity.ticket(None, 0)));
        lost.add(Pending::Launch(activity.ticket(None, 0)));
        let late = lost.data(first);
        assert_eq!(activity.in_flight(), 3);
        lost.settle();
        assert_eq!(activity.in_flight(), 1);
        // SAFETY: from `data`, used once.
        unsafe { reached(late) };
        assert_eq!(activity.in_flight(), 1);
        assert!(lost.is_idle() && !other.is_idle());
    }

    #[test]
    fn a_completion_is_called_once_or_dropped_when_the_context_is_lost() {
        let outstanding = Arc::new(Outstanding::default());
        let (sender, receiver) = mpsc::channel();
        let again = sender.clone();
        let first = outstanding.data(outstanding.add(Pending::Call(Box::new(move || sender.send(in_host_function()).unwrap()))));
        let second = outstanding.data(outstanding.add(Pending::Call(Box::new(move || again.send(false).unwrap()))));
        // SAFETY: from `data`, used once.
        unsafe { reached(first) };
        assert_eq!(receiver.recv(), Ok(true));
        assert!(!in_host_function());
        outstanding.settle();
        assert!(receiver.recv().is_err(), "the second sender was dropped, nothing sent");
        // SAFETY: from `data`, used once.
        unsafe { reached(second) };
    }

    #[test]
    fn a_context_is_watched_by_one_while_something_is_outstanding_and_until_it_is_gone() {
        let outstanding = Arc::new(Outstanding::default());
        assert!(outstanding.begins_to_be_watched() && !outstanding.begins_to_be_watched());
        let (looked, looks) = mpsc::channel();
        let theirs = outstanding.clone();
        let watcher = std::thread::spawn(move || {
            while theirs.is_busy_after(Duration::from_millis(1)) {
                // Nobody listens any more in the end.
                let _ = looked.send(());
            }
        });
        for _ in 0..3 {
            let id = outstanding.add(Pending::Call(Box::new(|| ())));
            looks.recv().unwrap();
            drop(outstanding.take(id));
        }
        outstanding.close();
        watcher.join().unwrap();
    }

    #[test]
    fn a_completion_that_panics_does_not_unwind_into_the_driver() {
        let outstanding = Arc::new(Outstanding::default());
        let data = outstanding.data(outstanding.add(Pending::Call(Box::new(|| panic!("from a completion")))));
        // SAFETY: from `data`, used once.
        unsafe { reached(data) };
        assert!(!in_host_function());
    }
}
