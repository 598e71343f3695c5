//! Some messages of one service, all posts or none, handled by one call of its handler's loop.

use hostcall_abi::port::Message;
use hostcall_abi::{Flags, ReplyHead, Status, Tag};

use super::call::Scratch;
use super::closing::Closing;
use super::handler::{Handler, NowFn};
use super::lanes::{Answers, Facts, LaneCalls, Payload, Progress};
use super::registry::Registered;
use crate::record::stats::Sample;
use crate::record::{Report, guard};
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
    pub(crate) at: usize,
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
    /// Lanes of the last message, by rank, whose handlers would block, if the service is one that goes on elsewhere then. They have no reply yet.
    pub(crate) late: u64,
    pub(crate) sample: Sample,
}

impl<'a> Messages<'a> {
    /// The calls of `messages`, whose streams begin at `stream_at`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the facts of some messages, which nobody else keeps together")]
    pub(crate) fn new(
        service: &'a Registered,
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

    /// Handles all of them.
    #[inline(always)]
    pub(crate) fn handle(&mut self, handler: &NowFn) {
        let (report, service) = (self.report, self.service);
        while guard(report, service.name(), || handler.serve_all(self)).is_none() {
            let whole = handler.is_whole();
            if let Some(mut calls) = self.current() {
                calls.answers.panicked(whole);
            }
        }
    }

    /// The loop, for [`Handler::serve_all`].
    #[inline(always)]
    pub(crate) fn each(&mut self, handler: &(impl Handler + ?Sized)) {
        while let Some(mut calls) = self.current() {
            handler.serve(&mut calls);
            self.next();
        }
    }

    /// What is left of the first message that is not handled.
    #[inline(always)]
    fn current(&mut self) -> Option<LaneCalls<'_>> {
        let Taken { port, at, ref message } = *self.left.first()?;
        let staged = message.header.flags.has(Flags::STAGED).then_some(self.staging);
        let payload = Payload { units: &self.units[at..], stride: message.stride(), lane_units: message.lane_units(), staged };
        let Self { service, report, closing, .. } = *self;
        let (number, mask, post) = (message.header.service, message.header.mask, message.is_post());
        let facts = Facts { service, number, report, closing, port, mask, post, payload, copies: &[] };
        let begin = !std::mem::replace(&mut self.begun, true);
        let (stride, streams) = (self.streams.stride, &mut self.streams.units[self.stream_at..]);
        let mut answers = Answers { facts, progress: &mut self.progress, streams, stride, may_block: false };
        if begin {
            answers.begin(0, message.lanes());
        }
        Some(LaneCalls { answers, scratch: self.scratch })
    }

    /// On to the next message.
    #[inline(always)]
    fn next(&mut self) {
        let Some((Taken { port, message, .. }, rest)) = self.left.split_first() else { return };
        let (lanes, stride, late) = (message.lanes(), self.streams.stride, self.progress.late);
        let streams = &self.streams.units[self.stream_at..self.stream_at + lanes as usize * stride];
        let mut longest = 0;
        for rank in 0..lanes as usize {
            let head = ReplyHead::decode(streams[rank * stride]);
            if late >> rank & 1 == 0 {
                self.sample.failed += u32::from(head.status != Status::OK);
                self.sample.bytes_out += u64::from(head.dwords) * 4;
                longest = longest.max(u32::from(head.dwords));
            }
        }
        self.sample.messages += 1;
        self.sample.calls += lanes;
        self.sample.bytes_in += (lanes as usize * message.lane_units() * 4) as u64;
        if late == 0 {
            if !message.is_post() {
                let reply = Reply { port: *port, tag: message.tag, lanes, words: ReplyHead::words(longest), at: self.stream_at, stride };
                self.replies.push(reply);
                self.stream_at += lanes as usize * stride;
            }
        } else {
            self.late = late;
        }
        (self.left, self.begun) = (rest, false);
    }
}
