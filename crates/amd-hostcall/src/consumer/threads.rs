//! The threads of a consumer.
//!
//! One thread *leads*: it takes ready packets, calls handlers, and sleeps on the doorbell when there is nothing to do. While it is awake, a
//! *watcher* looks every millisecond. If the leader has been in one handler since the last look, the watcher gives the lead to another
//! thread, which goes on with the packets that are left. The one that was blocked finishes its packet and then waits for a turn to lead. So a
//! call costs no change of threads, a handler that blocks holds up others for two milliseconds at most, and at rest nobody runs.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::futex;

use super::served::{Call, Served, lanes};
use super::{Consumer, lock};
use crate::Error;
use crate::doorbell::Doorbell;
use crate::services::{self, Outcome};
use crate::tables::Known;

/// Time between two looks of the watcher.
const LOOK: Duration = Duration::from_millis(1);
/// Looks without anything to see, after which the watcher sleeps until it is needed.
const IDLE_LOOKS: u32 = 20;
/// Threads of one consumer. When so many handlers block, others wait for one of them.
const MOST_THREADS: u32 = 1024;
/// Threads that wait for a turn to lead; more than these end.
const MOST_WAITING: u32 = 4;

thread_local! {
    /// The consumer whose thread this is.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The consumer whose thread the caller is.
pub(crate) fn current() -> Option<usize> {
    CURRENT.get()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Serving,
    Ending,
}

#[derive(Debug, Default)]
struct Roles {
    phase: Phase,
    led: bool,
    /// Threads that serve, or wait for a turn to.
    workers: u32,
    watchers: u32,
    waiting: u32,
    /// Whether nothing was left to serve when the last leader ended.
    drained: bool,
}

/// What the threads of a consumer share.
#[derive(Debug, Default)]
pub(crate) struct Crew {
    roles: Mutex<Roles>,
    changed: Condvar,
    /// Whether the phase is `Ending`, for the leader, which asks each time that nothing is left.
    ending: AtomicBool,
    /// Packets that were taken and not begun.
    queue: Mutex<VecDeque<(Arc<Served>, u32)>>,
    /// How many they are. Only who leads changes it; the next leader sees it by way of `pulse`.
    queued: AtomicUsize,
    /// Counts beginnings and ends of packets; odd while the leader is in one. Whoever makes an odd number even decides: the leader, which goes
    /// on, or the watcher, which gives the lead away. Sequentially consistent, as `watching` is: a leader counts, then looks whether it is
    /// watched; the watcher says that it goes to sleep, then looks at the count. One sees the other.
    pulse: AtomicU64,
    /// 1 while the watcher is awake; the word it sleeps on.
    watching: AtomicU32,
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
    let watched = consumer.clone();
    let watcher = thread::Builder::new().name("hostcall-watch".into()).spawn(move || watch(&watched));
    watcher.map_err(|_| Error::ConsumerLaunchFailed)?;
    roles.watchers += 1;
    // A watcher without anybody to watch ends by itself.
    start(consumer).map_err(|_| Error::ConsumerLaunchFailed)?;
    roles.workers += 1;
    roles.phase = Phase::Serving;
    Ok(())
}

/// Starts a thread that serves.
fn start(consumer: &Arc<Consumer>) -> std::io::Result<()> {
    let consumer = consumer.clone();
    thread::Builder::new().name("hostcall-serve".into()).spawn(move || Worker::new(consumer).run()).map(|_| ())
}

impl Crew {
    /// Whether threads serve.
    pub(super) fn serves(&self) -> bool {
        lock(&self.roles).phase == Phase::Serving
    }

    /// Lets the threads end when nothing is left to serve; whether they did within the limit.
    pub(super) fn end(&self, doorbell: Doorbell, limit: Duration) -> bool {
        let mut roles = lock(&self.roles);
        if roles.phase == Phase::Idle {
            return true;
        }
        roles.phase = Phase::Ending;
        // Release: pairs with the acquire in `ended`.
        self.ending.store(true, Ordering::Release);
        drop(roles);
        self.changed.notify_all();
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
        true
    }

    /// The next packet that was taken and not begun.
    fn next(&self) -> Option<(Arc<Served>, u32)> {
        if self.queued.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut queue = lock(&self.queue);
        let next = queue.pop_front();
        self.queued.store(queue.len(), Ordering::Release);
        next
    }

    /// Keeps packets for later.
    fn keep(&self, packets: impl Iterator<Item = (Arc<Served>, u32)>) {
        let mut queue = lock(&self.queue);
        queue.extend(packets);
        self.queued.store(queue.len(), Ordering::Release);
    }

    fn wake_watcher(&self) {
        if self.watching.swap(1, Ordering::SeqCst) == 0 {
            let _ = futex::wake(&self.watching, futex::Flags::PRIVATE, 1);
        }
    }

    /// The leader begins a packet.
    fn begin(&self) -> u64 {
        let pulse = self.pulse.fetch_add(1, Ordering::SeqCst) + 1;
        if self.watching.load(Ordering::SeqCst) == 0 {
            self.wake_watcher();
        }
        pulse
    }

    /// The packet that began with this number ends; whether its thread still leads. The watcher may say the same, and one of the two is first.
    fn end_packet(&self, began: u64) -> bool {
        self.pulse.compare_exchange(began, began + 1, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// The watcher.
fn watch(consumer: &Arc<Consumer>) {
    CURRENT.set(Some(consumer.handle));
    let crew = &consumer.crew;
    let (mut last, mut quiet) = (0, 0);
    loop {
        let pulse = crew.pulse.load(Ordering::SeqCst);
        let inside = pulse % 2 == 1;
        if inside && pulse == last && !services::serial() {
            hand_over(consumer, pulse);
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
        if crew.pulse.load(Ordering::SeqCst) == last {
            let _ = futex::wait(&crew.watching, futex::Flags::PRIVATE, 0, None);
        }
        crew.watching.store(1, Ordering::SeqCst);
        quiet = 0;
    }
}

/// Gives the lead to a thread that waits, or to a new one, unless the leader has ended its packet by now.
fn hand_over(consumer: &Arc<Consumer>, pulse: u64) {
    let crew = &consumer.crew;
    let mut roles = lock(&crew.roles);
    if roles.waiting == 0 {
        // At the limit, or if the system has no thread, the next look tries again.
        if roles.workers >= MOST_THREADS || start(consumer).is_err() {
            return;
        }
        roles.workers += 1;
    }
    if crew.end_packet(pulse) {
        roles.led = false;
        crew.changed.notify_all();
    }
}

/// A thread that serves.
struct Worker {
    consumer: Arc<Consumer>,
    known: Known,
    call: Box<Call>,
    buffers: Vec<Arc<Served>>,
    changes: u64,
    taken: Vec<u32>,
    /// The doorbell's value before the last sweep, as far as it is known.
    seen: i64,
}

impl Worker {
    fn new(consumer: Arc<Consumer>) -> Worker {
        let (known, call) = (Known::default(), Box::default());
        Worker { consumer, known, call, buffers: Vec::new(), changes: 0, taken: Vec::new(), seen: i64::MIN }
    }

    fn run(mut self) {
        CURRENT.set(Some(self.consumer.handle));
        while self.take_lead() {
            self.serve_as_leader();
        }
        lock(&self.consumer.crew.roles).workers -= 1;
        self.consumer.crew.changed.notify_all();
    }

    /// Waits for a turn to lead; `false` if there will be none.
    fn take_lead(&mut self) -> bool {
        let crew = &self.consumer.crew;
        let mut roles = lock(&crew.roles);
        loop {
            if roles.drained {
                return false;
            }
            if !roles.led {
                roles.led = true;
                return true;
            }
            if roles.waiting >= MOST_WAITING {
                return false;
            }
            roles.waiting += 1;
            roles = crew.changed.wait(roles).unwrap_or_else(PoisonError::into_inner);
            roles.waiting -= 1;
        }
    }

    /// Serves until another leads, or nothing is left and the consumer ends.
    fn serve_as_leader(&mut self) {
        loop {
            let next = self.consumer.crew.next().or_else(|| self.sweep());
            if let Some((buffer, index)) = next {
                let began = self.consumer.crew.begin();
                self.serve(&buffer, index);
                if !self.consumer.crew.end_packet(began) {
                    return;
                }
            } else {
                if self.ended() {
                    return;
                }
                self.seen = self.consumer.doorbell.wait(self.seen);
            }
        }
    }

    /// Whether the consumer ends. Nothing was left when this is asked.
    fn ended(&self) -> bool {
        // Acquire: pairs with the release in `end`, which rings until the threads have ended.
        if !self.consumer.crew.ending.load(Ordering::Acquire) {
            return false;
        }
        let mut roles = lock(&self.consumer.crew.roles);
        roles.drained = roles.phase != Phase::Serving;
        if roles.drained {
            self.consumer.crew.changed.notify_all();
        }
        roles.drained
    }

    /// Takes the ready packets of all buffers; the first, and the others are kept for later.
    fn sweep(&mut self) -> Option<(Arc<Served>, u32)> {
        // Acquire: pairs with the release of who changed the list.
        let changes = self.consumer.changes.load(Ordering::Acquire);
        if changes != self.changes {
            self.buffers.clone_from(&lock(&self.consumer.buffers));
            self.changes = changes;
        }
        // Before the stacks: who pushes after the look at them also rings after it.
        self.seen = self.consumer.doorbell.value(self.seen);
        let mut first = None;
        for buffer in &self.buffers {
            self.taken.clear();
            buffer.sweep(&mut self.taken);
            let mut packets = self.taken.iter().map(|index| (buffer.clone(), *index));
            first = first.or_else(|| packets.next());
            if packets.len() > 0 {
                self.consumer.crew.keep(packets);
            }
        }
        first
    }

    /// Answers a packet.
    fn serve(&mut self, buffer: &Served, index: u32) {
        if !buffer.read(index, &mut self.call) {
            return;
        }
        let (service, mask) = (self.call.service, self.call.mask);
        services::debug(|| format!("packet {index}: service {service}, lanes {mask:#018x}"));
        let known = self.known.now();
        let (handler, on_error) = self.consumer.route(service, known);
        let mut refused = false;
        match handler {
            None => refused = services::no_handler(service, on_error) == Outcome::Refused,
            Some(handler) => {
                for lane in lanes(mask) {
                    let outcome = match handler.call(service, &mut self.call.lanes[lane], &known.allowed) {
                        Outcome::Failed(code) => services::handler_failed(service, code, on_error),
                        outcome => outcome,
                    };
                    refused |= outcome != Outcome::Done;
                }
            }
        }
        buffer.answer(index, &self.call, refused);
    }
}
