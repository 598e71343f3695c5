//! Requests that were sent: what is heard of them.

use std::sync::Arc;

use bytes::Bytes;
use hostcall::detached::Replies;
use hostcall::{CallError, Failure};
use tokio::time::{Instant, sleep};
use tracing::{Instrument as _, Span};

use super::{Engine, LONGEST_PAUSE, PAUSE, Waiting};
use crate::caller::CallOptions;
use crate::transport::{Heard, Unsent};
use crate::wire::{self, Answer};

/// Longer answers are read by a task of their own: whoever reads the connection has more to do.
const SHORT: usize = 4 << 10;

/// A request that was sent.
pub(super) struct Asked {
    /// Its messages; those that were answered are gone.
    left: Vec<Option<Waiting>>,
    unanswered: usize,
    sent: Instant,
    /// When the first one's time is up.
    first: Instant,
    span: Span,
}

impl Asked {
    /// One that is sent now. There is a message.
    pub(super) fn new(gathered: Vec<Waiting>, span: Span, options: &CallOptions) -> Self {
        let mut asked = Self {
            unanswered: gathered.len(),
            left: gathered.into_iter().map(Some).collect(),
            sent: Instant::now(),
            first: Instant::now(),
            span,
        };
        asked.first = asked.end(options);
        asked
    }

    fn end(&self, options: &CallOptions) -> Instant {
        self.left.iter().flatten().map(|waiting| waiting.since + options.timeout).min().unwrap_or(self.sent)
    }

    /// When something is to be done if no answer comes.
    pub(super) fn look(&self, options: &CallOptions) -> Instant {
        options.retry_after.map_or(self.first, |after| self.first.min(self.sent + after))
    }

    /// Gives back what has waited too long, and all the rest if it is to be sent again; whether nothing is left.
    pub(super) fn expire(&mut self, now: Instant, options: &CallOptions, late: &mut Vec<Waiting>, again: &mut Vec<Waiting>) -> bool {
        let before = late.len();
        late.extend(self.left.iter_mut().filter_map(|place| place.take_if(|waiting| waiting.since + options.timeout <= now)));
        self.unanswered -= late.len() - before;
        if options.retry_after.is_some_and(|after| self.sent + after <= now) {
            again.extend(self.left.drain(..).flatten());
            self.unanswered = 0;
        }
        self.first = self.end(options);
        self.unanswered == 0
    }

    fn into_left(self) -> impl DoubleEndedIterator<Item = Waiting> {
        self.left.into_iter().flatten()
    }
}

impl Engine {
    /// Something was heard of a request, by whoever reads the connection. An answer to one that is not there is
    /// nobody's: its time was up.
    pub(crate) fn heard(self: &Arc<Self>, number: u64, heard: Heard) {
        match heard {
            Heard::Answer(body) if body.len() <= SHORT => self.answer(number, &body),
            Heard::Answer(body) => {
                let engine = self.clone();
                self.runtime.spawn(async move { engine.answer(number, &body) });
            }
            Heard::Nobody => self.nobody(number),
        }
    }

    fn answer(self: &Arc<Self>, number: u64, body: &Bytes) {
        self.counts.bytes_in.add(body.len());
        match wire::read_answer(body) {
            Ok((worker, Answer::Replies(replies))) => self.answered(number, &worker, &replies),
            Ok((worker, Answer::Busy)) => {
                let Some(asked) = self.take(number) else { return };
                asked.span.in_scope(|| tracing::debug!(worker, "the worker has too much to do"));
                self.counts.busy.add(1);
                let span = asked.span.clone();
                self.later(asked.into_left().collect(), span);
            }
            Ok((worker, Answer::Invalid(reason))) => self.refuse(number, format!("worker {worker} does not take the request: {reason}")),
            Err(error) => self.refuse(number, format!("a worker's answer is none: {error}")),
        }
    }

    fn answered(&self, number: u64, worker: &str, replies: &[(u32, Replies)]) {
        let mut answered = Vec::with_capacity(replies.len());
        let mut open = self.open();
        let Some(asked) = open.asked.get_mut(&number) else { return };
        for (index, replies) in replies {
            // Another one has been answered before, or never was.
            if let Some(waiting) = asked.left.get_mut(*index as usize).and_then(Option::take) {
                asked.unanswered -= 1;
                answered.push((waiting, replies));
            }
        }
        let span = asked.span.clone();
        if asked.unanswered == 0 {
            open.asked.remove(&number);
            open.under_way -= 1;
            if open.ended || !open.queue.is_empty() {
                self.wake.notify_one();
            }
        }
        drop(open);
        span.record("worker", worker);
        span.in_scope(|| tracing::debug!(worker, messages = answered.len(), "answered"));
        // Before anybody learns of the answers: who waited for one finds it counted.
        self.counts.answered(answered.iter().map(|(waiting, _)| waiting.since.elapsed()));
        for (waiting, replies) in answered {
            waiting.batch.answer(replies);
        }
    }

    /// Nothing of it has been run, and it would not be another time.
    fn refuse(&self, number: u64, message: String) {
        let Some(asked) = self.take(number) else { return };
        let failure = Failure::HandlerFailed { code: 0, message };
        asked.into_left().for_each(|waiting| waiting.fail(failure.clone()));
        self.done();
    }

    /// There is no worker.
    fn nobody(self: &Arc<Self>, number: u64) {
        let Some(asked) = self.take(number) else { return };
        let (now, span) = (Instant::now(), asked.span.clone());
        let longest = self.options.worker_wait.min(self.options.timeout);
        let (wait, fail): (Vec<_>, Vec<_>) = asked.into_left().partition(|waiting| waiting.since + longest > now);
        for waiting in fail {
            self.counts.nobody.add(1);
            waiting.fail(Failure::Status(CallError::UnknownService));
        }
        self.later(wait, span);
    }

    /// Nothing of it has been run: it is sent again after a pause that grows.
    fn later(self: &Arc<Self>, mut left: Vec<Waiting>, span: Span) {
        let Some(pause) = left.iter().map(|waiting| waiting.pause).max() else { return self.done() };
        let pause = (pause * 2).clamp(PAUSE, LONGEST_PAUSE);
        left.iter_mut().for_each(|waiting| waiting.pause = pause);
        let engine = self.clone();
        let later = async move {
            sleep(pause).await;
            engine.again(left.into_iter());
            engine.done();
        };
        self.runtime.spawn(later.instrument(span));
    }

    /// A request was not sent: its messages wait, as they did before.
    pub(super) fn unasked(&self, number: u64) {
        if let Some(asked) = self.take(number) {
            self.again(asked.into_left());
            self.done();
        }
    }

    /// The same for a reason, which may hold for some time.
    pub(super) fn unsent(self: &Arc<Self>, number: u64, error: &Unsent) {
        tracing::warn!(%error, service = %self.definition.name, "a request was not sent; it is sent again");
        if let Some(asked) = self.take(number) {
            let span = asked.span.clone();
            self.later(asked.into_left().collect(), span);
        }
    }

    /// Nothing that is heard of a request counts any more. It is still under way, until it is said to be done.
    fn take(&self, number: u64) -> Option<Asked> {
        self.open().asked.remove(&number)
    }
}
