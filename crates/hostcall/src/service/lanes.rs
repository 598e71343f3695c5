//! All calls of one message, handled one after another by one call of the service's own loop.
//!
//! The loop is compiled once for each handler, and the handler is inlined into it. It computes once what is the same
//! for all lanes. If a handler panics, the panic fails its lane, and the loop goes on with the next lane.

use hostcall_abi::codec::DecodeError;
use hostcall_abi::port::Message;
use hostcall_abi::{Flags, ReplyHead, Status, Tag};

use super::call::{Caller, Finished, Invocation, Scratch, Var, put_status};
use super::closing::Closing;
use super::failure::{Failure, HandlerResult};
use super::handler::NowFn;
use super::registry::Registered;
use crate::record::stats::Sample;
use crate::record::{Report, guard};
use crate::wire::Staging;

/// The payload of a message: lane after lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload<'a> {
    pub(crate) units: &'a [u32],
    /// Units from one lane's to the next's.
    pub(crate) stride: usize,
    /// Units of each.
    pub(crate) lane_units: usize,
    /// Where strings and slices lie, if they are staged.
    pub(crate) staged: Option<Staging<'a>>,
}

impl<'a> Payload<'a> {
    /// What the `rank`-th lane sent.
    #[inline(always)]
    pub(crate) fn lane(&self, rank: u32) -> &'a [u32] {
        let start = rank as usize * self.stride;
        &self.units[start..start + self.lane_units]
    }
}

/// Where replies are put: a stream for each lane, its head first.
#[derive(Debug)]
pub(crate) struct Streams<'a> {
    pub(crate) units: &'a mut [u32],
    /// Units from one to the next.
    pub(crate) stride: usize,
}

impl Streams<'_> {
    /// The `rank`-th lane's of those that begin at `at`.
    #[inline(always)]
    pub(crate) fn lane(&mut self, at: usize, rank: u32) -> &mut [u32] {
        let start = at + rank as usize * self.stride;
        &mut self.units[start..start + self.stride]
    }
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

/// The calls of the lanes of some messages, all of one service, all posts or none.
pub(crate) struct LaneCalls<'a> {
    pub(crate) service: &'a Registered,
    pub(crate) report: &'a Report,
    pub(crate) closing: &'a Closing,
    pub(crate) messages: &'a [Taken],
    /// The payloads of all.
    pub(crate) units: &'a [u32],
    pub(crate) staging: Staging<'a>,
    /// Room for the streams of all replies, and where those of the present message begin.
    pub(crate) streams: Streams<'a>,
    pub(crate) stream_at: usize,
    pub(crate) replies: &'a mut Vec<Reply>,
    pub(crate) scratch: &'a mut Scratch,
    /// Of the present message: lanes left, by number; the rank of the next; units of the longest reply.
    left: u64,
    rank: u32,
    longest: usize,
    /// Lanes of the last message, by rank, whose handlers would block, if the service is one that goes on elsewhere then. They have no reply yet.
    pub(crate) late: u64,
    pub(crate) sample: Sample,
}

impl<'a> LaneCalls<'a> {
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
        let left = messages.first().map_or(0, |taken| taken.message.header.mask);
        let sample = Sample::default();
        Self {
            service,
            report,
            closing,
            messages,
            units,
            staging,
            streams,
            stream_at,
            replies,
            scratch,
            left,
            rank: 0,
            longest: 0,
            late: 0,
            sample,
        }
    }

    /// Handles all of them.
    #[inline(always)]
    pub(crate) fn handle(&mut self, handler: &NowFn) {
        let (report, service) = (self.report, self.service);
        while guard(report, service.name(), || handler.serve(self)).is_none() {
            self.panicked();
        }
    }

    /// The loop, for [`Handler::serve`](super::handler::Handler::serve).
    #[inline(always)]
    pub(crate) fn each(&mut self, handler: impl Fn(&mut Invocation<'_>) -> HandlerResult) {
        let Self { service, report, closing, units, staging, .. } = *self;
        let shape = service.shape;
        while let Some(&Taken { port, at, ref message }) = self.messages.first() {
            let post = message.is_post();
            let staged = message.header.flags.has(Flags::STAGED);
            let (stride, lane_units) = (message.stride(), message.lane_units());
            // The default handler has no shape.
            let short = service.number != 0 && lane_units < shape.units;
            let plain = !(shape.takes_var | short | staged);
            while self.left != 0 {
                let stream = self.streams.lane(self.stream_at, self.rank);
                // Whoever takes the buffer out of service does not wait for handlers that have not begun; posts are handled all the same.
                let finished = if let (false, Some(status)) = (post, closing.get()) {
                    put_status(stream, status, 0)
                } else if service.admit() {
                    let start = at + self.rank as usize * stride;
                    let units = &units[start..start + lane_units];
                    let var = if plain { Ok(Var::Copied(&[])) } else { variable_part(service, units, staged.then_some(staging), short) };
                    let caller =
                        Caller { service: message.header.service, port, lane: self.left.trailing_zeros(), post, may_block: false, report };
                    if !plain {
                        self.scratch.clear();
                    }
                    let var_or_none = var.as_ref().copied().unwrap_or(Var::Copied(&[]));
                    let mut call = Invocation::new(units, shape, var_or_none, stream, true, self.scratch, caller);
                    let result = match var {
                        Ok(_) => handler(&mut call),
                        Err(error) => Err(Failure::Decode(error)),
                    };
                    if let Err(failure) = &result {
                        if service.goes_on_elsewhere(failure) {
                            self.late |= 1 << self.rank;
                        } else {
                            note_failure(report, service, failure, post);
                        }
                    }
                    call.finish(&result)
                } else {
                    refused(service, stream)
                };
                self.count(finished);
            }
            self.next(port, message);
        }
    }

    /// On to the next lane.
    #[inline(always)]
    fn count(&mut self, finished: Finished) {
        self.sample.failed += u32::from(finished.status != Status::OK);
        self.sample.bytes_out += finished.units as u64 * 4;
        self.longest = self.longest.max(finished.units);
        self.rank += 1;
        self.left &= self.left.wrapping_sub(1);
    }

    /// On to the next message.
    #[inline(always)]
    fn next(&mut self, port: u32, message: &Message) {
        let (lanes, stride) = (message.lanes(), self.streams.stride);
        self.sample.messages += 1;
        self.sample.calls += lanes;
        self.sample.bytes_in += (lanes as usize * message.lane_units() * 4) as u64;
        if !message.is_post() && self.late == 0 {
            let words = ReplyHead::words(self.longest as u32);
            self.replies.push(Reply { port, tag: message.tag, lanes, words, at: self.stream_at, stride });
            self.stream_at += lanes as usize * stride;
        }
        self.messages = &self.messages[1..];
        self.left = self.messages.first().map_or(0, |taken| taken.message.header.mask);
        (self.rank, self.longest) = (0, 0);
    }

    /// Fails the lane whose handler panicked, which `guard` has reported.
    #[cold]
    fn panicked(&mut self) {
        let (status, detail) = Failure::Panicked.to_status();
        let finished = put_status(self.streams.lane(self.stream_at, self.rank), status, detail);
        self.count(finished);
    }
}

/// The strings and slices of a lane's call, if the payload is as long as the service's shape and they are inside.
#[inline]
pub(crate) fn variable_part<'a>(
    service: &Registered,
    units: &'a [u32],
    staged: Option<Staging<'a>>,
    short: bool,
) -> Result<Var<'a>, DecodeError> {
    match service.number {
        0 => Ok(Var::Copied(&[])),
        _ if short => Err(DecodeError::Short),
        _ => Var::of(units, service.shape, staged),
    }
}

#[cold]
fn refused(service: &Registered, stream: &mut [u32]) -> Finished {
    let (status, detail) = service.refusal().to_status();
    put_status(stream, status, detail)
}

/// Reports what the host must learn of a failed call: a handler's error always, and of a post anything, since no lane learns it.
#[cold]
pub(crate) fn note_failure(report: &Report, service: &Registered, failure: &Failure, post: bool) {
    match failure {
        Failure::HandlerFailed { code, message } => report.handler_failed(service.name(), *code, message),
        Failure::Panicked => {}
        other if post => report.handler_failed(service.name(), 0, other),
        _ => {}
    }
}
