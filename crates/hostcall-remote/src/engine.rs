//! One remote service: messages wait, are gathered into requests, and are answered when the answers come.
//!
//! A message that comes while no request is under way is sent by the thread that brings it. Others wait in a queue
//! while as many requests are under way as may be. When one of them has been answered, all that waits goes together, so
//! that requests grow with the load and nothing waits for a timer. A waiting message takes a place of its kernel (a
//! port) until it is answered, which bounds the queue: the kernel waits.
//!
//! Requests have no task of their own: answers are taken by whoever reads the connection, and one task of the service
//! sends what waits and looks at the clock.

mod asked;
mod gather;
mod keep;

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hostcall::detached::Message;
use hostcall::{CallError, DeferredBatch, Definition, Failure};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use crate::caller::{CallOptions, Link};
use crate::stats::Calls;
use asked::Asked;

/// How long to wait before asking again for a connection, a worker, or a worker that has time.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Longer than that nobody waits; a time that far ahead can still be told.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// A message that is not answered.
struct Waiting {
    batch: DeferredBatch,
    /// The same as data, once it was wanted.
    message: Option<Message>,
    since: Instant,
    /// When to send it, if not at once.
    pause: Duration,
}

impl Waiting {
    /// Its calls have no result.
    fn fail(mut self, failure: Failure) {
        self.batch.batch().fail_rest(failure);
        self.batch.finish();
    }
}

/// What is not answered.
#[derive(Default)]
struct Open {
    /// Messages that wait to be sent, those that came first in front.
    queue: VecDeque<Waiting>,
    /// Requests that were sent, by their numbers.
    asked: HashMap<u64, Asked>,
    /// Those, and requests that are being sent, or kept, or wait to be sent again.
    under_way: usize,
    /// When `dispatch` will look at the clock; `None`: when it is woken.
    look: Option<Instant>,
    /// No more calls will come.
    ended: bool,
}

/// What `dispatch` does next.
enum Turn {
    /// There is a request to send, which counts as under way.
    Send,
    /// There is one, and no connection.
    Pause,
    Wait,
    End,
}

/// One remote service.
pub(crate) struct Engine {
    link: Arc<Link>,
    /// Where tasks of cold ways run: those who call and who answer may be any threads.
    runtime: Handle,
    definition: Definition,
    subject: String,
    options: CallOptions,
    open: Mutex<Open>,
    wake: Notify,
    /// The next request's number.
    next: AtomicU64,
    /// What the numbers of kept posts begin with: no other run's do.
    run: String,
    pub(crate) counts: Arc<Calls>,
}

impl Engine {
    /// `first` is the number of its first request: no other service of the connection has it, or those behind it.
    pub(crate) fn start(link: Arc<Link>, runtime: &Handle, first: u64, definition: Definition, options: CallOptions) -> Arc<Self> {
        let kept = options.kept && definition.reply_dwords.is_none();
        let subject = if kept { crate::kept_subject(&definition) } else { crate::subject(&definition) };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let engine = Arc::new(Self {
            link,
            runtime: runtime.clone(),
            definition,
            subject,
            open: Mutex::default(),
            wake: Notify::new(),
            next: AtomicU64::new(first),
            run: format!("{}-{since:x}", std::process::id()),
            counts: Arc::new(Calls::new()),
            options: CallOptions {
                kept,
                timeout: options.timeout.min(LONGEST),
                retry_after: options.retry_after.map(|after| after.min(LONGEST)),
                ..options
            },
        });
        runtime.spawn(engine.clone().dispatch());
        engine
    }

    /// Held for a look or a change.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When a message's time is up.
    fn end_of(&self, waiting: &Waiting) -> Instant {
        waiting.since + self.options.timeout
    }

    /// The handler of the service.
    pub(crate) fn call(self: &Arc<Self>, batch: DeferredBatch) {
        let waiting = Waiting { batch, message: None, since: Instant::now(), pause: Duration::ZERO };
        let mut open = self.open();
        let too_late = self.looks_later_than(&open, self.end_of(&waiting));
        open.queue.push_back(waiting);
        let alone = open.under_way == 0 && open.queue.len() == 1 && !self.options.kept;
        if alone && self.link.transport.is_connected() {
            open.under_way = 1;
            drop(open);
            self.send_now();
        } else if open.under_way < self.options.in_flight || too_late {
            drop(open);
            self.wake.notify_one();
        }
    }

    fn looks_later_than(&self, open: &Open, time: Instant) -> bool {
        open.look.is_none_or(|look| look > time)
    }

    /// Sends what waits, which counts as under way, without waiting.
    fn send_now(self: &Arc<Self>) {
        let Some((number, body)) = self.begin() else { return self.done() };
        match self.link.transport.try_send(&self.subject, number, body) {
            Some(Ok(())) => {
                let open = self.open();
                let end = open.asked.get(&number).map(|asked| asked.look(&self.options));
                if end.is_some_and(|end| self.looks_later_than(&open, end)) {
                    drop(open);
                    self.wake.notify_one();
                }
            }
            Some(Err(error)) => self.unsent(number, &error),
            // The connection takes nothing at the moment. `dispatch` waits for it.
            None => self.unasked(number),
        }
    }

    /// No more calls will come. Those that wait are still made.
    pub(crate) fn end(&self) {
        self.open().ended = true;
        self.wake.notify_one();
    }

    async fn dispatch(self: Arc<Self>) {
        let mut clock = pin!(sleep_until(Instant::now()));
        // When the clock is set to. A later time than that is seen then: setting it costs a system call.
        let mut set: Option<Instant> = None;
        loop {
            let now = Instant::now();
            set = set.filter(|set| *set > now);
            let look = self.expire(now, set);
            if let Some(look) = look.filter(|look| set != Some(*look)) {
                clock.as_mut().reset(look);
                set = Some(look);
            }
            match self.turn() {
                Turn::End => return,
                Turn::Wait => {
                    tokio::select! {
                        () = self.wake.notified() => {}
                        () = &mut clock, if set.is_some() => {}
                    }
                }
                // Not into a connection that is not there: it would be sent when nobody waits any more.
                Turn::Pause => sleep(PAUSE).await,
                Turn::Send if self.options.kept => self.clone().start_keeping(),
                Turn::Send => {
                    let Some((number, body)) = self.begin() else {
                        self.done();
                        continue;
                    };
                    let sent = match self.link.transport.try_send(&self.subject, number, body.clone()) {
                        Some(sent) => Some(sent),
                        None => tokio::select! {
                            sent = self.link.transport.send(&self.subject, number, body) => Some(sent),
                            // The connection takes nothing. Those whose time is up are ended.
                            () = &mut clock, if set.is_some() => None,
                        },
                    };
                    match sent {
                        Some(Ok(())) => {}
                        Some(Err(error)) => self.unsent(number, &error),
                        None => self.unasked(number),
                    }
                }
            }
        }
    }

    fn turn(&self) -> Turn {
        let mut open = self.open();
        if open.queue.is_empty() {
            if open.ended && open.under_way == 0 { Turn::End } else { Turn::Wait }
        } else if open.under_way >= self.options.in_flight {
            Turn::Wait
        } else if !self.link.transport.is_connected() {
            Turn::Pause
        } else {
            open.under_way += 1;
            Turn::Send
        }
    }

    /// Ends the calls of messages that have waited too long, has those sent again whose answers are late, and says when
    /// to look again: `set` at the latest.
    fn expire(&self, now: Instant, set: Option<Instant>) -> Option<Instant> {
        let (mut late, mut again) = (Vec::new(), Vec::new());
        let look = {
            let mut open = self.open();
            let Open { queue, asked, under_way, look, .. } = &mut *open;
            while let Some(waiting) = queue.pop_front_if(|first| self.end_of(first) <= now) {
                late.push(waiting);
            }
            let before = asked.len();
            asked.retain(|_, asked| asked.look(&self.options) > now || !asked.expire(now, &self.options, &mut late, &mut again));
            *under_way -= before - asked.len();
            self.counts.retries.add(again.len());
            again.into_iter().rev().for_each(|waiting| queue.push_front(waiting));
            let first = queue.front().map(|first| self.end_of(first));
            // Told under the same lock: who comes from now on with an earlier time wakes us.
            *look = asked.values().map(|asked| asked.look(&self.options)).chain(first).chain(set).min();
            *look
        };
        self.time_out(late);
        look
    }

    fn time_out(&self, late: impl IntoIterator<Item = Waiting>) {
        for waiting in late {
            self.counts.timeouts.add(1);
            waiting.fail(Failure::Status(CallError::Timeout));
        }
    }

    /// A request is not under way any more.
    fn done(&self) {
        let mut open = self.open();
        open.under_way -= 1;
        if open.ended || !open.queue.is_empty() {
            drop(open);
            self.wake.notify_one();
        }
    }

    /// These are sent again, before those that came later.
    fn again(&self, messages: impl DoubleEndedIterator<Item = Waiting>) {
        let mut open = self.open();
        messages.rev().for_each(|waiting| open.queue.push_front(waiting));
        drop(open);
        self.wake.notify_one();
    }
}
