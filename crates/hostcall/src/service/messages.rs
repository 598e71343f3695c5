//! Some messages of one service, all posts or none, handled by one call of its handler's loop.

use std::sync::Arc;

use hostcall_abi::port::Message;
use hostcall_abi::{Flags, ReplyHead, Tag};

use super::call::{Scratch, Thread};
use super::closing::Closing;
use super::direct::Stop;
use super::handler::{Handler, NowFn};
use super::lanes::{Answers, Copies, Facts, LaneCalls, Payload, Progress};
use super::out::OutsIn;
use super::registry::Registered;
use crate::record::stats::Sample;
use crate::record::{Report, Spanned, guard};
use crate::tenant::Tenant;
use crate::wire::Staging;

/// Where replies are put: a stream for each lane, its head first.
#[derive(Debug)]
pub(crate) struct Streams<'a> {
    pub(crate) units: &'a mut [u32],
    /// Units from one to the next.
    pub(crate) stride: usize,
}

/// A message that was taken: copied and checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) port: u32,
    /// Where its payload begins among all that were taken.
    pub(crate) at: u32,
    pub(crate) message: Message,
}

/// The replies to one message, as they will be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    pub(crate) port: u32,
    pub(crate) tag: Tag,
    pub(crate) lanes: u32,
    /// Words of each.
    pub(crate) words: u32,
    /// Where the first lane's stream begins, and units from one to the next.
    pub(crate) at: usize,
    pub(crate) stride: usize,
}

/// The messages.
pub(crate) struct Messages<'a> {
    service: &'a Registered,
    tenant: &'a Arc<Tenant>,
    report: &'a Report,
    closing: &'a Closing,
    left: &'a [Taken],
    /// The payloads of all.
    units: &'a [u32],
    staging: Staging<'a>,
    /// Room for the streams of all replies, and where those of the present message begin.
    streams: Streams<'a>,
    pub(crate) stream_at: usize,
    replies: &'a mut Vec<Reply>,
    scratch: &'a mut Scratch,
    /// Of the present message, if it has begun.
    progress: Progress,
    begun: bool,
    /// Lanes of the last message, by rank, whose handlers would block, if the service is one that goes on elsewhere
    /// then. They have no reply yet.
    pub(crate) late: u64,
    pub(crate) sample: Sample,
}

impl<'a> Messages<'a> {
    /// The calls of `messages`, whose streams begin at `stream_at`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the facts of some messages, which nobody else keeps together")]
    pub(crate) fn new(
        service: &'a Registered,
        tenant: &'a Arc<Tenant>,
        report: &'a Report,
        closing: &'a Closing,
        messages: &'a [Taken],
        units: &'a [u32],
        staging: Staging<'a>,
        streams: Streams<'a>,
        stream_at: usize,
        replies: &'a mut Vec<Reply>,
        scratch: &'a mut Scratch,
    ) -> Self {
        let (progress, sample) = (Progress::default(), Sample::default());
        Self {
            service,
            tenant,
            report,
            closing,
            left: messages,
            units,
            staging,
            streams,
            stream_at,
            replies,
            scratch,
            progress,
            begun: false,
            late: 0,
            sample,
        }
    }

    /// The first message, which is the only one, was begun elsewhere by `handler`, and stopped there.
    pub(crate) fn resume(&mut self, handler: &NowFn, progress: Progress, stop: &Stop) {
        (self.begun, self.progress) = (true, progress);
        let Some(mut calls) = self.current() else { return };
        if calls.answers.facts.post && !handler.is_whole() {
            // Lane by lane, posts are handled without a word: no reply lies there.
            calls.answers.acknowledge(!progress.left);
        }
        match stop {
            Stop::Panicked => calls.answers.panicked(handler.is_whole()),
            Stop::Failed(failure) => calls.answers.fail(progress.left.trailing_zeros(), failure),
            Stop::Unanswered => calls.unanswered(),
            Stop::Ended => {}
        }
    }

    /// Handles all of them.
    #[inline(always)]
    pub(crate) fn handle(&mut self, handler: &NowFn) {
        let (report, service, messages) = (self.report, self.service, self.left);
        let span = Spanned::of(service.name(), || messages.iter().map(|taken| taken.message.lanes()).sum());
        span.within(|| {
            while guard(report, service.name(), || handler.serve_all(self)).is_none() {
                let whole = handler.is_whole();
                if let Some(mut calls) = self.current() {
                    calls.answers.panicked(whole);
                }
            }
        });
    }

    /// The loop, for [`Handler::serve_all`].
    #[inline(always)]
    pub(crate) fn each(&mut self, handler: &(impl Handler + ?Sized)) {
        while let Some(mut calls) = self.current() {
            handler.serve(&mut calls);
            self.next();
        }
    }

    /// What is known of a message.
    #[inline(always)]
    fn facts(&self, &Taken { port, at, ref message }: &Taken) -> Facts<'a> {
        let staged = message.header.flags.has(Flags::STAGED).then_some(self.staging);
        let payload = Payload { units: &self.units[at as usize..], stride: message.stride(), lane_units: message.lane_units(), staged };
        let Self { service, tenant, report, closing, .. } = *self;
        let (number, mask, lanes, post) = (message.header.service, message.header.mask, message.lanes(), message.is_post());
        let (copies, outs) = (Copies::default(), OutsIn::Reply);
        Facts { service, number, tenant, report, closing, port, mask, lanes, post, payload, copies, outs }
    }

    /// What is left of the first message that is not handled.
    #[inline(always)]
    fn current(&mut self) -> Option<LaneCalls<'_>> {
        let taken = self.left.first()?;
        let (facts, lanes) = (self.facts(taken), taken.message.lanes());
        let begin = !std::mem::replace(&mut self.begun, true);
        let (stride, streams) = (self.streams.stride, &mut self.streams.units[self.stream_at..]);
        let mut answers = Answers { facts, progress: &mut self.progress, streams, first: 0, stride, thread: Thread::Serving };
        if begin {
            answers.begin(0, lanes);
        }
        Some(LaneCalls { answers, scratch: self.scratch })
    }

    /// On to the next message.
    #[inline(always)]
    fn next(&mut self) {
        let Some(Taken { message, .. }) = self.left.first() else { return };
        let totals = self.progress.totals(&self.streams.units[self.stream_at..], message.lanes(), self.streams.stride);
        self.sample.failed += totals.failed;
        self.sample.bytes_out += u64::from(totals.units) * 4;
        self.answered(ReplyHead::words(totals.longest));
    }

    /// All lanes of the first message have their replies, of `words` words, but those that are late: on to the next.
    #[inline(always)]
    fn answered(&mut self, words: u32) {
        let Some((&Taken { port, ref message, .. }, rest)) = self.left.split_first() else { return };
        let (lanes, stride) = (message.lanes(), self.streams.stride);
        self.sample.messages += 1;
        self.sample.calls += lanes;
        self.sample.bytes_in += (lanes as usize * message.lane_units() * 4) as u64;
        if self.progress.late != 0 {
            self.late = self.progress.late;
        } else if !message.is_post() {
            self.replies.push(Reply { port, tag: message.tag, lanes, words, at: self.stream_at, stride });
            self.stream_at += lanes as usize * stride;
        }
        (self.left, self.begun) = (rest, false);
    }
}
