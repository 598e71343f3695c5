//! A thread that serves: it waits for its turn to lead, takes packets, runs their handlers and answers them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::call::Call;
use super::mail;
use super::pace::{self, Pace};
use super::served::{Done, Served};
use super::threads::{CURRENT, MOST_WAITING, Phase, Why, hand_over, this_thread};
use super::{Consumer, Route, lock};
use crate::priority::{self, Role};
use crate::services::{self, Outcome};
use crate::stack;
use crate::tables::Known;

/// A thread that serves.
pub(super) struct Worker {
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
    /// Whether it has slept since the last sweep, and nobody rang.
    slept: bool,
    /// Whether some buffer has mailboxes, whose waves need not have rung.
    mail: bool,
    /// Where it says what it does, for who is told of a stack that was too small.
    place: stack::Place,
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
    pub(super) fn new(consumer: Arc<Consumer>) -> Worker {
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
            slept: false,
            mail: false,
            place: stack::Place::of_this_thread(),
        }
    }

    pub(super) fn run(mut self) {
        // Beside the one in `self`: borrowed while that changes.
        let consumer = self.consumer.clone();
        CURRENT.replace(Some(consumer.clone()));
        while self.take_lead() {
            self.serve_as_leader(&consumer);
        }
        let crew = &self.consumer.crew;
        lock(&crew.roles).workers -= 1;
        crew.changed.notify_all();
    }

    /// Waits for a turn to lead; `false` if there will be none.
    fn take_lead(&mut self) -> bool {
        let crew = &self.consumer.crew;
        let mut roles = lock(&crew.roles);
        // Before it waits for its turn: it runs soon when that comes. A long handler may have cost it what it had,
        // which the watcher took with the roles held.
        priority::raise(Role::Serves, crew.normal.load(Ordering::Relaxed));
        loop {
            if roles.drained {
                return false;
            }
            if !roles.led {
                roles.led = true;
                roles.leader = this_thread();
                return true;
            }
            if roles.waiting >= MOST_WAITING {
                return false;
            }
            roles.waiting += 1;
            roles = crew.turn.wait(roles).unwrap_or_else(PoisonError::into_inner);
            roles.waiting -= 1;
        }
    }

    /// Serves until another leads, or nothing is left and the consumer ends.
    fn serve_as_leader(&mut self, consumer: &Arc<Consumer>) {
        let mut last_looks = 0;
        loop {
            // Acquire: pairs with the release in `end`, which rings until the threads have ended.
            let ending = self.consumer.crew.ending.load(Ordering::Acquire);
            last_looks += u32::from(ending);
            match self.look(consumer) {
                Look::Lost => return,
                // The first look may have come to packets only that were taken before. What was ready when the end
                // began is answered now. Waves that call again and again would keep this thread for ever.
                Look::Served if last_looks >= 2 && self.ended() => return,
                // Waves of mailboxes need not have rung.
                Look::Served if self.mail => {}
                // (A look that began before the end may have been too early for them.)
                Look::Nothing if ending && self.ended() => return,
                // Whoever pushed after the look at the stacks has rung, or will. To look again at once would only take
                // the line of the stacks from a wave that was answered and gives its packet back.
                Look::Nothing | Look::Served => {
                    let before = self.seen;
                    let limit = self.mail.then(mail::sleep_at_most);
                    let buffers = &self.buffers;
                    let mut came = false;
                    let look = || {
                        came = buffers.iter().any(|buffer| buffer.has_mail());
                        came
                    };
                    self.seen = self.consumer.doorbell.wait(before, limit, self.mail.then_some(look));
                    self.rung = self.seen != before;
                    self.slept = !self.rung && !came;
                }
            }
        }
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
            self.consumer.crew.turn.notify_all();
        }
        roles.drained
    }

    /// Looks into all buffers once, and serves what is ready there.
    fn look(&mut self, consumer: &Arc<Consumer>) -> Look {
        self.consumer.adopt();
        // Acquire: pairs with the release of who changed the list.
        let changes = self.consumer.changes.load(Ordering::Acquire);
        if changes != self.changes {
            self.buffers.clone_from(&lock(&self.consumer.buffers));
            self.changes = changes;
            self.mail = self.buffers.iter().any(|buffer| buffer.in_mailboxes());
        }
        // Before the stacks: who pushes after the look at them also rings after it.
        let before = self.seen;
        self.seen = self.consumer.doorbell.value(self.seen);
        self.rung |= self.seen != before;
        let mut found = Look::Nothing;
        let buffers = std::mem::take(&mut self.buffers);
        for buffer in &buffers {
            match self.serve(consumer, buffer) {
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
    fn serve(&mut self, consumer: &Arc<Consumer>, buffer: &Served) -> Look {
        let mut found = Look::Nothing;
        let (mut done, mut look) = (None, true);
        while let Some(index) = buffer.step(done.take(), look, self.rung, &mut self.call, &mut self.taken) {
            if found == Look::Nothing && buffer.in_mailboxes() {
                mail::found();
                if std::mem::take(&mut self.slept) {
                    // It came while this thread slept, and could not wake it.
                    consumer.doorbell.missed();
                }
            }
            (found, look) = (Look::Served, false);
            let (crew, service) = (&consumer.crew, self.call.service);
            let pace = crew.paces.of(service);
            let began = crew.begin(service);
            // Where it is known, or likely, that the handler blocks, nobody waits until the watcher finds that.
            let handed = crew.doubts(pace) && hand_over(consumer, began, Why::Known);
            let since = handed.then(Instant::now);
            let answered = Done { index, refused: self.run_handlers(index) };
            if handed || !crew.end_packet(began) {
                if let Some(since) = since {
                    crew.paces.ended(service, since.elapsed() < pace::SOON);
                }
                buffer.answer_late(answered, &self.call);
                // Relaxed: it only makes handing over more or less likely.
                crew.behind.fetch_sub(1, Ordering::Relaxed);
                return Look::Lost;
            }
            if pace == Pace::Unknown {
                crew.paces.quick(service);
            }
            done = Some(answered);
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
        self.place.runs(service);
        let Some(handler) = handler else { return services::no_handler(service, on_error) == Outcome::Refused };
        handler.call(service, mask, &mut self.call.lanes, &known.allowed, |code| services::handler_failed(service, code, on_error))
    }
}
