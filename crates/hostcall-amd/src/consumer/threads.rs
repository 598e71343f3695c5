//! The threads of a consumer.
//!
//! One thread *leads*: it takes ready packets, calls handlers, and sleeps on the doorbell when there is nothing to do.
//! While it is awake, a *watcher* looks every millisecond. If the leader has been in one handler since the last look,
//! the watcher gives the lead to another thread, which goes on with the packets that are left. The one that was blocked
//! finishes its packet and then waits for a turn to lead. So a call costs no change of threads, and at rest nobody
//! runs.
//!
//! A service whose handler has blocked once is known to ([`pace`](super::pace)): from then on the leader gives its lead
//! away before it runs that handler, so that many of them hold up nobody. It does the same where a handler is about to
//! wait for a call of its own.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::thread::futex;

use super::pace::{Pace, Paces};
use super::worker::Worker;
use super::{Consumer, lock};
use crate::Error;
use crate::doorbell::Doorbell;
use crate::priority::{self, Role};
use crate::{services, stack};

/// Time between two looks of the watcher.
const LOOK: Duration = Duration::from_millis(1);
/// Looks without anything to see, after which the watcher sleeps until it is needed.
const IDLE_LOOKS: u32 = 20;
/// The watcher's first sleep.
const BEFORE_SLEEP: Duration = Duration::from_millis(20);
/// Threads of one consumer. When so many handlers block, others wait for one of them.
const MOST_THREADS: u32 = 1024;
/// Threads that wait for a turn to lead; more than these end.
pub(super) const MOST_WAITING: u32 = 4;

thread_local! {
    /// The consumer whose thread this is.
    pub(super) static CURRENT: RefCell<Option<Arc<Consumer>>> = const { RefCell::new(None) };
}

/// The consumer whose thread the caller is; none while what a handler has left in the thread is destroyed.
fn consumer_of_this_thread<T>(what: impl FnOnce(&Arc<Consumer>) -> T) -> Option<T> {
    CURRENT.try_with(|current| current.borrow().as_ref().map(what)).ok().flatten()
}

/// The same, as its handle.
pub(crate) fn current() -> Option<usize> {
    consumer_of_this_thread(|consumer| consumer.handle)
}

/// For a handler that is about to wait for something that may need the thread on which it runs: if that one leads,
/// another does from now on.
pub(crate) fn about_to_wait() {
    let Some(consumer) = consumer_of_this_thread(Arc::clone) else { return };
    let leads = {
        let roles = lock(&consumer.crew.roles);
        roles.led && roles.leader == this_thread()
    };
    // Acquire: as in `hand_over`. Only this thread makes the number odd, which it is while one of its handlers runs.
    let pulse = consumer.crew.pulse.load(Ordering::Acquire);
    if leads && pulse % 2 == 1 && !services::serial() {
        hand_over(&consumer, pulse, Why::Known);
    }
}

/// The system's number of the calling thread.
pub(super) fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Idle,
    Serving,
    Ending,
}

#[derive(Debug, Default)]
pub(super) struct Roles {
    pub(super) phase: Phase,
    pub(super) led: bool,
    /// The system's number of the thread that leads.
    pub(super) leader: i32,
    /// Threads that serve, or wait for a turn to.
    pub(super) workers: u32,
    watchers: u32,
    pub(super) waiting: u32,
    /// Whether nothing was left to serve when the last leader ended.
    pub(super) drained: bool,
}

/// Why a leader gives its lead away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It has been in one handler for long.
    Long,
    /// The handler is known to block, or about to.
    Known,
}

/// What the threads of a consumer share.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    pub(super) roles: Mutex<Roles>,
    /// For who waits until threads have ended.
    pub(super) changed: Condvar,
    /// For threads that wait for a turn to lead.
    pub(super) turn: Condvar,
    /// Those that were started, but some that have ended.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Whether the phase is `Ending`, for the leader, which asks each time that nothing is left.
    pub(super) ending: AtomicBool,
    /// The service whose handler the leader runs. Written before `pulse`, which releases it.
    service: AtomicU32,
    /// What is known of services.
    pub(super) paces: Paces,
    /// Handlers that run on threads which lead no longer.
    pub(super) behind: AtomicU32,
    /// How often the lead was given away, for each reason. Tests look at it.
    handed: [AtomicU64; 2],
    /// Counts beginnings and ends of packets; odd while the leader is in one. Only the leader makes it odd. Whoever
    /// makes an odd number even decides: the leader, which goes on, or the watcher, which gives the lead away, and with
    /// it what the leader wrote before.
    pub(super) pulse: AtomicU64,
    /// 1 while the watcher is awake; the word it sleeps on.
    watching: AtomicU32,
    /// The nice value of the thread that launched the consumer. Written before the threads are started, which read it:
    /// relaxed.
    pub(super) normal: AtomicI32,
}

/// Starts the first leader and the watcher.
pub(super) fn launch(consumer: &Arc<Consumer>) -> Result<(), Error> {
    let crew = &consumer.crew;
    let mut roles = lock(&crew.roles);
    match roles.phase {
        Phase::Idle => {}
        Phase::Serving => return Err(Error::ConsumerActive),
        Phase::Ending => return Err(Error::InvalidRequest),
    }
    crew.normal.store(priority::of_this_thread(), Ordering::Relaxed);
    let watched = consumer.clone();
    crew.spawn("hostcall-watch", stack::own(), move || watch(&watched)).map_err(|_| Error::ConsumerLaunchFailed)?;
    roles.watchers += 1;
    // A watcher without anybody to watch ends by itself.
    start(consumer).map_err(|_| Error::ConsumerLaunchFailed)?;
    roles.workers += 1;
    roles.phase = Phase::Serving;
    Ok(())
}

/// Starts a thread that serves.
fn start(consumer: &Arc<Consumer>) -> std::io::Result<()> {
    let serving = consumer.clone();
    // As much stack as the main thread has: what runs there is the user's.
    consumer.crew.spawn("hostcall-serve", stack::size(), move || Worker::new(serving).run())
}

impl Crew {
    /// Whether threads serve.
    pub(super) fn serves(&self) -> bool {
        lock(&self.roles).phase == Phase::Serving
    }

    fn spawn(&self, name: &str, stack: usize, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = thread::Builder::new().name(name.into()).stack_size(stack).spawn(run)?;
        let mut threads = lock(&self.threads);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(())
    }

    /// Lets the threads end when nothing is left to serve; whether they did within the limit. Then what handlers
    /// have left in these threads' variables is gone as well.
    pub(super) fn end(&self, doorbell: Doorbell, limit: Duration) -> bool {
        let mut roles = lock(&self.roles);
        if roles.phase == Phase::Idle {
            return true;
        }
        roles.phase = Phase::Ending;
        // Release: pairs with the acquire in `ended`.
        self.ending.store(true, Ordering::Release);
        drop(roles);
        self.turn.notify_all();
        let end = Instant::now() + limit;
        let mut roles = lock(&self.roles);
        while roles.workers + roles.watchers > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            drop(roles);
            // A leader that was about to sleep has another look.
            doorbell.ring();
            self.wake_watcher();
            roles = lock(&self.roles);
            if roles.workers + roles.watchers > 0 {
                let step = left.min(Duration::from_millis(20));
                roles = self.changed.wait_timeout(roles, step).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        drop(roles);
        let threads = std::mem::take(&mut *lock(&self.threads));
        // A thread that panicked is one that has ended.
        threads.into_iter().for_each(|thread| _ = thread.join());
        true
    }

    fn wake_watcher(&self) {
        if self.watching.swap(1, Ordering::SeqCst) == 0 {
            let _ = futex::wake(&self.watching, futex::Flags::PRIVATE, 1);
        }
    }

    /// Whether a service's handler may block, so that another thread had better lead before it runs.
    pub(super) fn doubts(&self, pace: Pace) -> bool {
        let doubtful = match pace {
            Pace::Quick => false,
            Pace::Blocks => true,
            // Where one handler blocks, those of which nothing is known are likely to. Relaxed: a guess.
            Pace::Unknown => self.behind.load(Ordering::Relaxed) > 0,
        };
        doubtful && !services::serial()
    }

    /// How often the lead was given away for a reason.
    #[cfg(test)]
    pub(super) fn handed(&self, why: Why) -> u64 {
        self.handed[why as usize].load(Ordering::SeqCst)
    }

    /// The leader begins a packet of a service.
    pub(super) fn begin(&self, service: u32) -> u64 {
        self.service.store(service, Ordering::Relaxed);
        // Only the leader writes an even number's successor. Release: pairs with the acquire of `end_packet` on the
        // watcher's side.
        let pulse = self.pulse.load(Ordering::Relaxed) + 1;
        self.pulse.store(pulse, Ordering::Release);
        // A watcher that goes to sleep now may not see the number yet, nor be seen here. So it looks once more before
        // it sleeps for long.
        if self.watching.load(Ordering::Relaxed) == 0 {
            self.wake_watcher();
        }
        pulse
    }

    /// The packet that began with this number ends; whether its thread still leads. The watcher may say the same, and
    /// one of the two is first.
    pub(super) fn end_packet(&self, began: u64) -> bool {
        // Acquire and release: who leads next sees what the last leader wrote, whichever of the two says it.
        self.pulse.compare_exchange(began, began + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The watcher.
fn watch(consumer: &Arc<Consumer>) {
    CURRENT.replace(Some(consumer.clone()));
    let crew = &consumer.crew;
    priority::raise(Role::Watches, crew.normal.load(Ordering::Relaxed));
    let (mut last, mut quiet) = (0, 0);
    loop {
        let pulse = crew.pulse.load(Ordering::SeqCst);
        let inside = pulse % 2 == 1;
        if inside && pulse == last && !services::serial() {
            // The service is that of this number, if the leader is still there when the lead is taken from it.
            let service = crew.service.load(Ordering::Relaxed);
            if hand_over(consumer, pulse, Why::Long) {
                crew.paces.blocked(service);
            }
        }
        quiet = if pulse == last && !inside { quiet + 1 } else { 0 };
        last = pulse;
        {
            let mut roles = lock(&crew.roles);
            if roles.phase != Phase::Serving && roles.workers == 0 {
                roles.watchers -= 1;
                crew.changed.notify_all();
                return;
            }
        }
        if quiet < IDLE_LOOKS {
            thread::sleep(LOOK);
            continue;
        }
        crew.watching.store(0, Ordering::SeqCst);
        // A leader may have begun a packet without having seen that, and what it wrote may be on its way. That takes no
        // longer than this sleep, after which the number tells.
        sleep(&crew.watching, Some(BEFORE_SLEEP));
        if crew.watching.load(Ordering::SeqCst) == 0 && crew.pulse.load(Ordering::SeqCst) == last {
            sleep(&crew.watching, None);
        }
        crew.watching.store(1, Ordering::SeqCst);
        quiet = 0;
    }
}

/// Sleeps while the word is 0, for a time at most. May end early.
fn sleep(word: &AtomicU32, limit: Option<Duration>) {
    let limit = limit.map(|limit| futex::Timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos() as _ });
    let _ = futex::wait(word, futex::Flags::PRIVATE, 0, limit.as_ref());
}

/// Gives the lead to a thread that waits, or to a new one, unless the leader has ended its packet by now; whether it
/// did.
pub(super) fn hand_over(consumer: &Arc<Consumer>, pulse: u64, why: Why) -> bool {
    let crew = &consumer.crew;
    let mut roles = lock(&crew.roles);
    if roles.waiting == 0 {
        // At the limit, or if the system has no thread, the leader goes on, and the next look of the watcher tries
        // again.
        if roles.workers >= MOST_THREADS || start(consumer).is_err() {
            return false;
        }
        roles.workers += 1;
    }
    let handed = crew.end_packet(pulse);
    if handed {
        roles.led = false;
        // Relaxed, both: a guess, and a count.
        crew.behind.fetch_add(1, Ordering::Relaxed);
        crew.handed[why as usize].fetch_add(1, Ordering::Relaxed);
        // The thread neither asks for a turn nor ends before the roles are released here.
        priority::lower(roles.leader, crew.normal.load(Ordering::Relaxed));
        crew.turn.notify_one();
    }
    handed
}

#[cfg(test)]
mod tests;
