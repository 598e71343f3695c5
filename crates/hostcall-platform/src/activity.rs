//! How many kernels are in flight, without asking a driver.
//!
//! Servers sleep while nothing runs. So each launch takes a [`Ticket`], and gives it back when the kernel has ended.
//! The tickets are a counter. Each subscriber is called when the counter leaves or reaches zero.
//!
//! Launches are numbered as they are counted. A [watcher](LaunchEvent) is told of each, and of its end.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::Error;
use crate::queue::Launch;

type Subscriber = Arc<dyn Fn(bool) + Send + Sync>;
type Watcher = Arc<dyn Fn(LaunchEvent<'_>) + Send + Sync>;

/// What [`crate::Device::watch_launches`] tells of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchEvent<'a> {
    /// It is about to be made.
    Begun {
        /// Its number on its device, from 1 on, in the order in which launches are counted. Waves of the simulator send
        /// the low bits of it.
        number: u64,
        /// What is launched; `None`: a graph, what was launched by other means, or what is recorded and does not run.
        kernel: Option<&'a str>,
        /// Its shape, where the kernel is known.
        launch: Option<&'a Launch>,
        /// Which of the device's queues it is in: its launches run one after another.
        queue: u64,
    },
    /// The call that makes it has returned. Launches whose calls overlap may be in any order on the device. A kernel
    /// that is quick has ended before.
    Made {
        /// Its number.
        number: u64,
        /// It is one kernel, and the device has it. `false`: a graph, what was launched by other means, or nothing, for
        /// it was refused.
        one: bool,
    },
    /// Its kernel has ended, or it was not made.
    Ended {
        /// Its number.
        number: u64,
    },
}

#[derive(Default)]
pub(crate) struct Activity {
    count: AtomicUsize,
    subscribers: Mutex<Subscribers>,
    /// Read while a launch is counted, written while nothing may be launched.
    still: RwLock<()>,
    launches: Mutex<Launches>,
}

/// The launches of a device.
#[derive(Default)]
struct Launches {
    /// The last number.
    newest: u64,
    /// Those that have not ended.
    open: BTreeMap<u64, Open>,
    next: u64,
    watchers: Vec<(u64, Watcher)>,
}

/// A launch that has not ended.
struct Open {
    kernel: Option<Arc<str>>,
    launch: Option<Launch>,
    queue: u64,
    made: bool,
}

impl Launches {
    fn tell(&self, event: LaunchEvent<'_>) {
        self.watchers.iter().for_each(|(_, watcher)| watcher(event));
    }
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

    /// Makes a launch of this kernel in this shape in a queue, counted before; `None`: nobody knows what is launched.
    pub(crate) fn launch<R>(
        self: &Arc<Self>,
        kernel: Option<(&Arc<str>, &Launch)>,
        queue: u64,
        launch: impl FnOnce(Ticket) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let ticket = self.ticket(kernel, queue);
        let mut making = Making { activity: self, number: ticket.number, one: false };
        let launched = launch(ticket);
        making.one = launched.is_ok() && kernel.is_some();
        launched
    }

    /// Counts a launch, and numbers it.
    pub(crate) fn ticket(self: &Arc<Self>, kernel: Option<(&Arc<str>, &Launch)>, queue: u64) -> Ticket {
        let _counting = self.still.read().unwrap_or_else(PoisonError::into_inner);
        // AcqRel: pairs with the other changes of the count, so that exactly one of them sees it leave zero.
        if self.count.fetch_add(1, Ordering::AcqRel) == 0 {
            self.tell();
        }
        let launches = &mut *self.launches();
        launches.newest += 1;
        let number = launches.newest;
        let (kernel, launch) = kernel.unzip();
        launches.open.insert(number, Open { kernel: kernel.cloned(), launch: launch.copied(), queue, made: false });
        launches.tell(LaunchEvent::Begun { number, kernel: kernel.map(|name| &**name), launch, queue });
        Ticket { activity: self.clone(), number }
    }

    /// The kernels of a queue that have not ended, in the order of their launches.
    pub(crate) fn kernels_in(&self, queue: u64) -> Vec<String> {
        let launches = self.launches();
        let open = launches.open.values().filter(|open| open.queue == queue);
        open.map(|open| open.kernel.as_deref().unwrap_or("(a graph)").to_owned()).collect()
    }

    /// Tells the watcher of each launch from now on, and first of those that have not ended.
    pub(crate) fn watch(self: &Arc<Self>, watcher: Watcher) -> Watch {
        let launches = &mut *self.launches();
        for (&number, Open { kernel, launch, queue, made }) in &launches.open {
            watcher(LaunchEvent::Begun { number, kernel: kernel.as_deref(), launch: launch.as_ref(), queue: *queue });
            if *made {
                // With which others it was made is not known any more.
                watcher(LaunchEvent::Made { number, one: false });
            }
        }
        let id = launches.next;
        launches.next += 1;
        launches.watchers.push((id, watcher));
        Watch { activity: self.clone(), id }
    }

    fn launches(&self) -> MutexGuard<'_, Launches> {
        self.launches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(self: &Arc<Self>, subscriber: Subscriber) -> Subscription {
        let mut subscribers = self.lock();
        let id = subscribers.next;
        subscribers.next += 1;
        subscribers.list.push((id, subscriber));
        Subscription { activity: self.clone(), id }
    }

    /// Tells the subscribers what is true now. Two threads that cross zero in opposite directions may come here in any
    /// order: the count is read again under the lock, so the last thing told is the truth.
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

/// A launch that is being made: tells that it has been, also if it panics.
struct Making<'a> {
    activity: &'a Activity,
    number: u64,
    one: bool,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let Self { activity, number, one } = *self;
        let launches = &mut *activity.launches();
        if let Some(open) = launches.open.get_mut(&number) {
            open.made = true;
        }
        launches.tell(LaunchEvent::Made { number, one });
    }
}

/// One kernel in flight: counts it until dropped. A back end keeps it until the kernel has ended, whichever way.
pub struct Ticket {
    activity: Arc<Activity>,
    number: u64,
}

impl Ticket {
    /// The launch's number on its device, from 1 on.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        {
            let launches = &mut *self.activity.launches();
            launches.open.remove(&self.number);
            launches.tell(LaunchEvent::Ended { number: self.number });
        }
        // AcqRel: see `Activity::ticket`; the release half pairs with `Activity::in_flight`.
        if self.activity.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.activity.tell();
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket")
    }
}

/// Ends what [`crate::Device::watch_launches`] began when dropped.
#[must_use = "dropping it ends the watch"]
pub struct Watch {
    activity: Arc<Activity>,
    id: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.activity.launches().watchers.retain(|(id, _)| *id != self.id);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("id", &self.id).finish()
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

    const LAUNCH: Launch = Launch::linear(3, 32);

    #[test]
    fn nothing_is_launched_while_somebody_makes_use_of_idleness() {
        let activity = Arc::new(Activity::default());
        let launcher = activity.clone();
        let launch = activity.while_idle(|| {
            let launch = std::thread::spawn(move || launcher.ticket(None, 0));
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
        let (a, b) = (activity.ticket(None, 0), activity.ticket(None, 0));
        assert_eq!(activity.in_flight(), 2);
        drop(a);
        drop(b);
        let c = activity.ticket(None, 0);
        drop(subscription);
        drop(c);
        assert_eq!(*heard.lock().unwrap(), [true, false, true]);
        assert_eq!(activity.in_flight(), 0);
    }

    #[test]
    fn a_watcher_who_comes_later_does_not_know_in_what_order_launches_were_made() {
        let activity = Arc::new(Activity::default());
        let made = activity.launch(Some((&"made".into(), &LAUNCH)), 0, Ok).expect("made");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let theirs = heard.clone();
        let making = activity.launch(Some((&"making".into(), &LAUNCH)), 0, |ticket| {
            let watch = activity.watch(Arc::new(move |event| {
                if let LaunchEvent::Made { number, one } = event {
                    theirs.lock().unwrap().push((number, one));
                }
            }));
            Ok((watch, ticket))
        });
        assert!(making.is_ok());
        drop(made);
        assert_eq!(*heard.lock().unwrap(), [(1, false), (2, true)]);
    }

    #[test]
    fn watchers_hear_of_each_launch_and_first_of_those_that_run() {
        let activity = Arc::new(Activity::default());
        let first = activity.ticket(Some((&"first".into(), &LAUNCH)), 7);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let watch = activity.watch({
            let heard = heard.clone();
            Arc::new(move |event| {
                heard.lock().unwrap().push(match event {
                    LaunchEvent::Begun { number, kernel, launch, queue } => {
                        assert_eq!(launch, kernel.map(|_| &LAUNCH));
                        (number, format!("{} in {queue}", kernel.unwrap_or("?")))
                    }
                    LaunchEvent::Made { number, one } => (number, format!("made, one: {one}")),
                    LaunchEvent::Ended { number } => (number, "ended".to_owned()),
                });
            })
        });
        let second = activity.ticket(None, 8);
        assert_eq!((first.number(), second.number()), (1, 2));
        drop(first);
        drop(activity.launch(Some((&"third".into(), &LAUNCH)), 8, Ok).expect("made"));
        let refused = activity.launch(Some((&"fourth".into(), &LAUNCH)), 8, |_| Err::<(), _>(Error::WrongDevice { what: "it" }));
        assert!(refused.is_err());
        let graph = activity.launch(None, 9, Ok).expect("made");
        drop(watch);
        drop((second, graph));
        let expected = [
            (1, "first in 7"),
            (2, "? in 8"),
            (1, "ended"),
            (3, "third in 8"),
            (3, "made, one: true"),
            (3, "ended"),
            (4, "fourth in 8"),
            (4, "ended"),
            (4, "made, one: false"),
            (5, "? in 9"),
            (5, "made, one: false"),
        ];
        assert_eq!(*heard.lock().unwrap(), expected.map(|(number, what)| (number, what.to_owned())));
    }
}
