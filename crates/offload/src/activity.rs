//! How many kernels are in flight, without asking a driver.
//!
//! Servers sleep while nothing runs. So each launch takes a [`Ticket`], and gives it back when the kernel has ended.
//! The tickets are a counter. Each subscriber is called when the counter leaves or reaches zero.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

type Subscriber = Arc<dyn Fn(bool) + Send + Sync>;

#[derive(Default)]
pub(crate) struct Activity {
    count: AtomicUsize,
    subscribers: Mutex<Subscribers>,
    /// Read while a launch is counted, written while nothing may be launched.
    still: RwLock<()>,
}

#[derive(Default)]
struct Subscribers {
    next: u64,
    /// What subscribers were told last.
    busy: bool,
    list: Vec<(u64, Subscriber)>,
}

impl Activity {
    pub(crate) fn in_flight(&self) -> usize {
        // Pairs with the `fetch_sub` in `Ticket::drop`: who sees the count fall sees what the kernel's end published.
        self.count.load(Ordering::Acquire)
    }

    /// Runs `idle` while no kernel is in flight and none is launched; `None` if one is in flight.
    pub(crate) fn while_idle<T>(&self, idle: impl FnOnce() -> T) -> Option<T> {
        let _still = self.still.write().unwrap_or_else(PoisonError::into_inner);
        (self.in_flight() == 0).then(idle)
    }

    pub(crate) fn ticket(self: &Arc<Self>) -> Ticket {
        let _counting = self.still.read().unwrap_or_else(PoisonError::into_inner);
        // AcqRel: pairs with the other changes of the count, so that exactly one of them sees it leave zero.
        if self.count.fetch_add(1, Ordering::AcqRel) == 0 {
            self.tell();
        }
        Ticket(self.clone())
    }

    pub(crate) fn subscribe(self: &Arc<Self>, subscriber: Subscriber) -> Subscription {
        let mut subscribers = self.lock();
        let id = subscribers.next;
        subscribers.next += 1;
        subscribers.list.push((id, subscriber));
        Subscription { activity: self.clone(), id }
    }

    /// Tells the subscribers what is true now. Two threads that cross zero in opposite directions may come here in any order: the
    /// count is read again under the lock, so the last thing told is the truth.
    fn tell(&self) {
        let mut subscribers = self.lock();
        let busy = self.in_flight() > 0;
        if subscribers.busy != busy {
            subscribers.busy = busy;
            for (_, subscriber) in &subscribers.list {
                subscriber(busy);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Subscribers> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One kernel in flight: counts it until dropped. A back end keeps it until the kernel has ended, whichever way.
pub struct Ticket(Arc<Activity>);

impl Drop for Ticket {
    fn drop(&mut self) {
        // AcqRel: see `Activity::ticket`; the release half pairs with `Activity::in_flight`.
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.tell();
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket")
    }
}

/// Ends the subscription of [`crate::Device::subscribe`] when dropped.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    activity: Arc<Activity>,
    id: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.activity.lock().list.retain(|(id, _)| *id != self.id);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("id", &self.id).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_launched_while_somebody_makes_use_of_idleness() {
        let activity = Arc::new(Activity::default());
        let launcher = activity.clone();
        let launch = activity.while_idle(|| {
            let launch = std::thread::spawn(move || launcher.ticket());
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert_eq!(activity.in_flight(), 0, "the launch waits");
            launch
        });
        let ticket = launch.expect("nothing is in flight").join().expect("it is launched afterwards");
        assert_eq!((activity.in_flight(), activity.while_idle(|| ())), (1, None));
        drop(ticket);
        assert_eq!(activity.while_idle(|| 7), Some(7));
    }

    #[test]
    fn subscribers_hear_only_of_leaving_and_reaching_zero() {
        let activity = Arc::new(Activity::default());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let subscription = activity.subscribe({
            let heard = heard.clone();
            Arc::new(move |busy| heard.lock().unwrap().push(busy))
        });
        let (a, b) = (activity.ticket(), activity.ticket());
        assert_eq!(activity.in_flight(), 2);
        drop(a);
        drop(b);
        let c = activity.ticket();
        drop(subscription);
        drop(c);
        assert_eq!(*heard.lock().unwrap(), [true, false, true]);
        assert_eq!(activity.in_flight(), 0);
    }
}
