//! The threads of a consumer.
//!
//! One thread *leads*: it takes ready packets, calls handlers, and sleeps on the doorbell when there is nothing to do. While it is awake, a
//! *watcher* looks every millisecond. If the leader has been in one handler since the last look, the watcher gives the lead to another
//! thread, which goes on with the packets that are left. The one that was blocked finishes its packet and then waits for a turn to lead. So a
//! call costs no change of threads, a handler that blocks holds up others for two milliseconds at most, and at rest nobody runs.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::thread::futex;

use super::call::Call;
use super::served::{Done, Served};
use super::{Consumer, Route, lock};
use crate::Error;
use crate::doorbell::{Doorbell, HEARTBEAT};
use crate::priority::{self, Role};
use crate::services::{self, Outcome};
use crate::stack::{StackSize, stack_bytes};
use crate::tables::Known;

/// The longest sleep of a leader that has just served mailboxes, and how long that lasts.
const MAIL_SLEEP: Duration = Duration::from_micros(100);
const MAIL_AWAKE: Duration = Duration::from_millis(20);
/// Time between two looks of the watcher.
const LOOK: Duration = Duration::from_millis(1);
/// Looks without anything to see, after which the watcher sleeps until it is needed.
const IDLE_LOOKS: u32 = 20;
/// The watcher's first sleep.
const BEFORE_SLEEP: Duration = Duration::from_millis(20);
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
    /// The system's number of the thread that leads.
    leader: i32,
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
    /// Those that were started, but some that have ended.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Whether the phase is `Ending`, for the leader, which asks each time that nothing is left.
    ending: AtomicBool,
    /// Counts beginnings and ends of packets; odd while the leader is in one. Only the leader makes it odd. Whoever makes an odd number even
    /// decides: the leader, which goes on, or the watcher, which gives the lead away, and with it what the leader wrote before.
    pulse: AtomicU64,
    /// 1 while the watcher is awake; the word it sleeps on.
    watching: AtomicU32,
    /// The nice value of the thread that launched the consumer. Written before the threads are started, which read it: relaxed.
    normal: AtomicI32,
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
    crew.spawn("hostcall-watch", move || watch(&watched)).map_err(|_| Error::ConsumerLaunchFailed)?;
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
    consumer.crew.spawn("hostcall-serve", move || Worker::new(serving).run())
}

impl Crew {
    /// Whether threads serve.
    pub(super) fn serves(&self) -> bool {
        lock(&self.roles).phase == Phase::Serving
    }

    fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = thread::Builder::new().name(name.into()).stack_size(stack_bytes(StackSize::default())).spawn(run)?;
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

    /// The leader begins a packet.
    fn begin(&self) -> u64 {
        // Only the leader writes an even number's successor. Release: pairs with the acquire of `end_packet` on the watcher's side.
        let pulse = self.pulse.load(Ordering::Relaxed) + 1;
        self.pulse.store(pulse, Ordering::Release);
        // A watcher that goes to sleep now may not see the number yet, nor be seen here. So it looks once more before it sleeps for long.
        if self.watching.load(Ordering::Relaxed) == 0 {
            self.wake_watcher();
        }
        pulse
    }

    /// The packet that began with this number ends; whether its thread still leads. The watcher may say the same, and one of the two is first.
    fn end_packet(&self, began: u64) -> bool {
        // Acquire and release: who leads next sees what the last leader wrote, whichever of the two says it.
        self.pulse.compare_exchange(began, began + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The watcher.
fn watch(consumer: &Arc<Consumer>) {
    CURRENT.set(Some(consumer.handle));
    let crew = &consumer.crew;
    priority::raise(Role::Watches, crew.normal.load(Ordering::Relaxed));
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
        // A leader may have begun a packet without having seen that, and what it wrote may be on its way. That takes no longer than this sleep,
        // after which the number tells.
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
        // The thread neither asks for a turn nor ends before the roles are released here.
        priority::lower(roles.leader, crew.normal.load(Ordering::Relaxed));
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
    /// Whether it was rung since the last sweep, as far as that is known.
    rung: bool,
    /// Who answered the last packet: the count of the services' changes, the service, and what was found.
    route: Option<(u64, u32, Route)>,
    /// When a packet was last found in a mailbox, unless that is long ago.
    last_mail: Option<Instant>,
}

/// What a look into the buffers came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Nothing,
    Served,
    /// Another thread leads now.
    Lost,
}

impl Worker {
    fn new(consumer: Arc<Consumer>) -> Worker {
        let (known, call) = (Known::default(), Box::default());
        Worker {
            consumer,
            known,
            call,
            buffers: Vec::new(),
            changes: 0,
            taken: Vec::new(),
            seen: i64::MIN,
            rung: false,
            route: None,
            last_mail: None,
        }
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
        // Before it waits for its turn: it runs soon when that comes. A long handler may have cost it what it had, which the watcher took with
        // the roles held.
        priority::raise(Role::Serves, crew.normal.load(Ordering::Relaxed));
        loop {
            if roles.drained {
                return false;
            }
            if !roles.led {
                roles.led = true;
                roles.leader = rustix::thread::gettid().as_raw_nonzero().get();
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
        let mut last_looks = 0;
        loop {
            // Acquire: pairs with the release in `end`, which rings until the threads have ended.
            let ending = self.consumer.crew.ending.load(Ordering::Acquire);
            last_looks += u32::from(ending);
            match self.look() {
                Look::Lost => return,
                // The first look may have come to packets only that were taken before. What was ready when the end began is answered now. Waves
                // that call again and again would keep this thread for ever.
                Look::Served if last_looks >= 2 && self.ended() => return,
                // Waves of mailboxes need not have rung.
                Look::Served if self.buffers.iter().any(|buffer| buffer.in_mailboxes()) => {}
                Look::Nothing if self.ended() => return,
                // Whoever pushed after the look at the stacks has rung, or will. To look again at once would only take the line of the stacks
                // from a wave that was answered and gives its packet back.
                Look::Nothing | Look::Served => {
                    let before = self.seen;
                    self.seen = self.consumer.doorbell.wait(before, self.limit());
                    self.rung = self.seen != before;
                }
            }
        }
    }

    /// How long to sleep at most. Waves of mailboxes ring no more than once in some ten microseconds, whichever doorbell it was. So what came
    /// since the last ring may have rung nothing: looks are frequent for a while after packets, and never rare.
    fn limit(&mut self) -> Option<Duration> {
        if self.last_mail.is_some_and(|last| last.elapsed() < MAIL_AWAKE) {
            return Some(MAIL_SLEEP);
        }
        self.last_mail = None;
        self.buffers.iter().any(|buffer| buffer.in_mailboxes()).then_some(HEARTBEAT)
    }

    /// Whether the consumer ends. Nothing is left when this is asked that was ready before the end began.
    fn ended(&self) -> bool {
        // Acquire: as in `serve_as_leader`.
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

    /// Looks into all buffers once, and serves what is ready there.
    fn look(&mut self) -> Look {
        // Acquire: pairs with the release of who changed the list.
        let changes = self.consumer.changes.load(Ordering::Acquire);
        if changes != self.changes {
            self.buffers.clone_from(&lock(&self.consumer.buffers));
            self.changes = changes;
        }
        // Before the stacks: who pushes after the look at them also rings after it.
        let before = self.seen;
        self.seen = self.consumer.doorbell.value(self.seen);
        self.rung |= self.seen != before;
        let mut found = Look::Nothing;
        let buffers = std::mem::take(&mut self.buffers);
        for buffer in &buffers {
            match self.serve(buffer) {
                Look::Nothing => {}
                Look::Served => found = Look::Served,
                Look::Lost => {
                    found = Look::Lost;
                    break;
                }
            }
        }
        self.buffers = buffers;
        found
    }

    /// Answers the packets of a buffer that were left, or else those that are ready.
    fn serve(&mut self, buffer: &Served) -> Look {
        let mut found = Look::Nothing;
        let (mut done, mut look) = (None, true);
        while let Some(index) = buffer.step(done.take(), look, self.rung, &mut self.call, &mut self.taken) {
            (found, look) = (Look::Served, false);
            let began = self.consumer.crew.begin();
            let answered = Done { index, refused: self.run_handlers(index) };
            if !self.consumer.crew.end_packet(began) {
                buffer.answer_late(answered, &self.call);
                return Look::Lost;
            }
            done = Some(answered);
        }
        if found == Look::Served && buffer.in_mailboxes() {
            self.last_mail = Some(Instant::now());
        }
        found
    }

    /// Runs the handler of a packet for each of its lanes; whether one of them was refused.
    fn run_handlers(&mut self, index: u32) -> bool {
        let (service, mask) = (self.call.service, self.call.mask);
        services::debug(|| format!("packet {index}: service {service}, lanes {mask:#018x}"));
        let (known, changes) = self.known.now();
        let (handler, on_error) = match self.route {
            // As the last packet: most are.
            Some((then, last, route)) if (then, last) == (changes, service) => route,
            _ => self.consumer.route(service, known),
        };
        // A consumer's own services change without a count.
        self.route = (!self.consumer.has_own()).then_some((changes, service, (handler, on_error)));
        let Some(handler) = handler else { return services::no_handler(service, on_error) == Outcome::Refused };
        handler.call(service, mask, &mut self.call.lanes, &known.allowed, |code| services::handler_failed(service, code, on_error))
    }
}
