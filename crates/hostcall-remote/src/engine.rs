//! One remote service: messages wait, are gathered into requests, and are answered when the answers come.
//!
//! Messages wait in a queue while as many requests are under way as may be. When one of them has been answered, all that waits goes together, so that
//! requests grow with the load and nothing waits for a timer. A waiting message takes a place of its kernel (a port) until it is answered, which bounds
//! the queue: the kernel waits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hostcall::detached::{Message, Replies};
use hostcall::{CallError, DeferredBatch, Definition, Failure};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument as _;

use crate::caller::{CallOptions, Link};
use crate::stats::Calls;
use crate::transport::Heard;
use crate::wire::{self, Answer, RequestWriter};

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

/// One remote service.
pub(crate) struct Engine {
    link: Arc<Link>,
    definition: Definition,
    subject: String,
    options: CallOptions,
    queue: Mutex<VecDeque<Waiting>>,
    wake: Notify,
    in_flight: Arc<Semaphore>,
    ended: AtomicBool,
    /// What the numbers of kept posts begin with: no other run's do.
    run: String,
    pub(crate) counts: Arc<Calls>,
}

impl Engine {
    pub(crate) fn start(link: Arc<Link>, runtime: &Handle, definition: Definition, options: CallOptions) -> Arc<Self> {
        let kept = options.kept && definition.reply_dwords.is_none();
        let subject = if kept { crate::kept_subject(&definition) } else { crate::subject(&definition) };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let in_flight = options.in_flight.min(Semaphore::MAX_PERMITS);
        let engine = Arc::new(Self {
            link,
            definition,
            subject,
            queue: Mutex::default(),
            wake: Notify::new(),
            in_flight: Arc::new(Semaphore::new(in_flight)),
            ended: AtomicBool::new(false),
            run: format!("{}-{since:x}", std::process::id()),
            counts: Arc::new(Calls::new()),
            options: CallOptions {
                kept,
                in_flight,
                timeout: options.timeout.min(LONGEST),
                retry_after: options.retry_after.map(|after| after.min(LONGEST)),
                ..options
            },
        });
        runtime.spawn(engine.clone().dispatch());
        engine
    }

    /// Held for a push, a pop or a look.
    fn queue(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handler of the service.
    pub(crate) fn call(&self, batch: DeferredBatch) {
        self.queue().push_back(Waiting { batch, message: None, since: Instant::now(), pause: Duration::ZERO });
        self.wake.notify_one();
    }

    /// No more calls will come. Those that wait are still made.
    pub(crate) fn end(&self) {
        // Pairs with the load in `dispatch`. Release: whoever sees it sees the last call in the queue.
        self.ended.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    async fn dispatch(self: Arc<Self>) {
        loop {
            if self.queue().is_empty() {
                // Pairs with `end`.
                let none_under_way = self.in_flight.available_permits() == self.options.in_flight;
                if self.ended.load(Ordering::Acquire) && none_under_way && self.queue().is_empty() {
                    return;
                }
                self.wake.notified().await;
                continue;
            }
            let Some(permit) = self.turn().await else { continue };
            let (gathered, body) = self.gather();
            if !gathered.is_empty() {
                self.counts.requests.add(1);
                self.counts.bytes_out.add(body.len());
                let span = tracing::debug_span!(
                    "remote_call",
                    service = %self.definition.name,
                    messages = gathered.len(),
                    bytes = body.len(),
                    worker = tracing::field::Empty
                );
                tokio::spawn(self.clone().request(permit, gathered, body).instrument(span));
            }
        }
    }

    /// Waits until a request may be sent; `None`: what waited waits no more.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            let first = self.expire()?;
            let permit = tokio::select! {
                permit = self.in_flight.clone().acquire_owned() => permit.ok()?,
                () = sleep_until(first) => continue,
            };
            if self.link.transport.is_connected() {
                return Some(permit);
            }
            // Not into a connection that is not there: it would be sent when nobody waits any more.
            sleep(PAUSE).await;
        }
    }

    /// Ends the calls of messages that have waited too long, and says when the next one will have.
    fn expire(&self) -> Option<Instant> {
        let (now, mut late) = (Instant::now(), Vec::new());
        let next = {
            let mut queue = self.queue();
            while let Some(waiting) = queue.pop_front_if(|first| first.since + self.options.timeout <= now) {
                late.push(waiting);
            }
            queue.front().map(|first| first.since + self.options.timeout)
        };
        self.time_out(late);
        next
    }

    fn time_out(&self, late: impl IntoIterator<Item = Waiting>) {
        for waiting in late {
            self.counts.timeouts.add(1);
            waiting.fail(Failure::Status(CallError::Timeout));
        }
    }

    /// As many messages as fit into a request, and the request.
    fn gather(&self) -> (Vec<Waiting>, Bytes) {
        let most = self.link.transport.most_bytes();
        let (mut gathered, mut request) = (Vec::new(), RequestWriter::new(&self.definition));
        loop {
            let next = self.queue().pop_front();
            let Some(mut waiting) = next else { break };
            if waiting.message.is_none() {
                waiting.message = waiting.batch.detach();
                let Some(message) = &waiting.message else { continue };
                self.counts.messages.add(1);
                self.counts.calls.add(message.lanes() as usize);
            }
            let Some(message) = &waiting.message else { continue };
            if RequestWriter::alone(message) > most {
                self.counts.too_large.add(1);
                waiting.fail(Failure::TooLarge { max: most.try_into().unwrap_or(u32::MAX) });
                continue;
            }
            if !request.has_room_for(message, most) {
                self.queue().push_front(waiting);
                break;
            }
            request.push(message);
            gathered.push(waiting);
        }
        (gathered, request.finish())
    }

    /// These are sent again, before those that came later.
    fn again(&self, messages: impl DoubleEndedIterator<Item = Waiting>) {
        let mut queue = self.queue();
        messages.rev().for_each(|waiting| queue.push_front(waiting));
        drop(queue);
        self.wake.notify_one();
    }

    async fn request(self: Arc<Self>, permit: OwnedSemaphorePermit, gathered: Vec<Waiting>, body: Bytes) {
        if self.options.kept {
            self.keep(gathered, body).await;
        } else {
            self.ask(gathered, body).await;
        }
        drop(permit);
        // Pairs with `end`: who waits for the last request hears of it.
        if self.ended.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
    }

    /// Sends a request and waits for what is answered.
    async fn ask(&self, gathered: Vec<Waiting>, body: Bytes) {
        let (number, mut heard) = self.link.number();
        let mut left: Vec<Option<Waiting>> = gathered.into_iter().map(Some).collect();
        let sent = Instant::now();
        let first = left.iter().flatten().map(|waiting| waiting.since + self.options.timeout).min().unwrap_or(sent);
        let done = tokio::select! {
            done = self.link.transport.send(&self.subject, number.number, body) => done,
            // The connection takes nothing. Those whose time is up are ended when their turn comes.
            () = sleep_until(first) => return self.again(left.into_iter().flatten()),
        };
        if let Err(error) = done {
            tracing::warn!(%error, service = %self.definition.name, "a request was not sent; it is sent again");
            sleep(PAUSE).await;
            return self.again(left.into_iter().flatten());
        }
        loop {
            let Some(first) = left.iter().flatten().map(|waiting| waiting.since + self.options.timeout).min() else { return };
            let retry = self.options.retry_after.map(|after| sent + after);
            let heard = tokio::select! {
                heard = heard.recv() => heard,
                () = sleep_until(retry.map_or(first, |retry| retry.min(first))) => {
                    let now = Instant::now();
                    let is_late = |waiting: &mut Waiting| waiting.since + self.options.timeout <= now;
                    let late: Vec<_> = left.iter_mut().filter_map(|place| place.take_if(is_late)).collect();
                    self.time_out(late);
                    if retry.is_some_and(|retry| retry <= now) {
                        self.counts.retries.add(left.iter().flatten().count());
                        return self.again(left.into_iter().flatten());
                    }
                    continue;
                }
            };
            match heard {
                Some(Heard::Answer(body)) => {
                    self.counts.bytes_in.add(body.len());
                    match wire::read_answer(&body) {
                        Ok((worker, Answer::Replies(replies))) => self.answered(&mut left, &worker, &replies),
                        Ok((worker, Answer::Busy)) => {
                            tracing::debug!(worker, "the worker has too much to do");
                            self.counts.busy.add(1);
                            return self.later(left).await;
                        }
                        Ok((worker, Answer::Invalid(reason))) => {
                            let message = format!("worker {worker} does not take the request: {reason}");
                            let failure = Failure::HandlerFailed { code: 0, message };
                            return left.into_iter().flatten().for_each(|waiting| waiting.fail(failure.clone()));
                        }
                        Err(error) => {
                            let message = format!("a worker's answer is none: {error}");
                            let failure = Failure::HandlerFailed { code: 0, message };
                            return left.into_iter().flatten().for_each(|waiting| waiting.fail(failure.clone()));
                        }
                    }
                }
                Some(Heard::Nobody) => return self.nobody(left).await,
                // The connection's end.
                None => {
                    let gone = Failure::Status(CallError::ServerGone);
                    return left.into_iter().flatten().for_each(|waiting| waiting.fail(gone.clone()));
                }
            }
        }
    }

    fn answered<'a>(&self, left: &mut [Option<Waiting>], worker: &str, replies: &'a [(u32, Replies)]) {
        tracing::Span::current().record("worker", worker);
        // Another one has been answered before, or never was.
        let take = |(index, replies): &'a (u32, Replies)| Some((left.get_mut(*index as usize)?.take()?, replies));
        let answered: Vec<_> = replies.iter().filter_map(take).collect();
        tracing::debug!(worker, messages = answered.len(), "answered");
        // Before anybody learns of the answers: who waited for one finds it counted.
        self.counts.answered(answered.iter().map(|(waiting, _)| waiting.since.elapsed()));
        for (waiting, replies) in answered {
            waiting.batch.answer(replies);
        }
    }

    /// Nothing of it has been run: it is sent again after a pause that grows.
    async fn later(&self, left: Vec<Option<Waiting>>) {
        let mut left: Vec<_> = left.into_iter().flatten().collect();
        let Some(pause) = left.iter().map(|waiting| waiting.pause).max() else { return };
        let pause = (pause * 2).clamp(PAUSE, LONGEST_PAUSE);
        left.iter_mut().for_each(|waiting| waiting.pause = pause);
        sleep(pause).await;
        self.again(left.into_iter());
    }

    /// There is no worker.
    async fn nobody(&self, left: Vec<Option<Waiting>>) {
        let now = Instant::now();
        let (wait, fail): (Vec<_>, Vec<_>) =
            left.into_iter().flatten().partition(|waiting| waiting.since + self.options.worker_wait.min(self.options.timeout) > now);
        for waiting in fail {
            self.counts.nobody.add(1);
            waiting.fail(Failure::Status(CallError::UnknownService));
        }
        if !wait.is_empty() {
            self.later(wait.into_iter().map(Some).collect()).await;
        }
    }

    /// Offers posts to the broker until it keeps them.
    async fn keep(&self, gathered: Vec<Waiting>, body: Bytes) {
        let (number, _) = self.link.number();
        let id = format!("{}-{}", self.run, number.number);
        let Some(last) = gathered.iter().map(|waiting| waiting.since + self.options.timeout).min() else { return };
        let mut pause = PAUSE;
        loop {
            let kept = tokio::select! {
                kept = self.link.transport.keep(&self.subject, &id, body.clone()) => kept,
                () = sleep_until(last) => return self.time_out(gathered),
            };
            match kept {
                Ok(()) => {
                    let now = Instant::now();
                    self.counts.answered(gathered.iter().map(|waiting| now - waiting.since));
                    return gathered.into_iter().for_each(|waiting| waiting.batch.finish());
                }
                Err(error) => {
                    tracing::warn!(%error, service = %self.definition.name, "posts are not kept; they are offered again");
                    tokio::select! {
                        () = sleep(pause) => {}
                        () = sleep_until(last) => return self.time_out(gathered),
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}
