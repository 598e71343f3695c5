//! The direct way of what nearly every message is: arguments and a result of fixed size, a handler that answers at
//! once, nothing else to be done. One loop takes, handles and answers what a block of ports holds. It is compiled with
//! the handler, so that all sizes are constants where the handler knows them. Messages that are anything else stay in
//! their ports, for the way that knows them all (`messages`).

use std::sync::Arc;

use hostcall_abi::codec::Fixed;
use hostcall_abi::port::{LaneReplies, Message, Usual};
use hostcall_abi::{Header, ReplyHead, Status, Tag};

use super::batch::Batch;
use super::call::{Scratch, Thread, put_head};
use super::closing::Closing;
use super::failure::Failure;
use super::lanes::{self, Answers, Copies, Facts, Payload, bits_of};
use super::out::OutsIn;
use super::registry::Registered;
use crate::record::stats::Sample;
use crate::record::{Report, Running};
use crate::tenant::Tenant;
use crate::wire::{Answer, Block, Next, Stream};

/// Units of replies after which they leave.
const ENOUGH_UNITS: usize = 4096;

/// Messages of one service in a block of ports, and room for them.
pub(crate) struct Direct<'a, 'l> {
    pub(crate) block: &'a mut Block<'l>,
    pub(crate) service: &'a Registered,
    pub(crate) tenant: &'a Arc<Tenant>,
    pub(crate) report: &'a Report,
    pub(crate) closing: &'a Closing,
    pub(crate) running: &'a Running,
    /// Handlers that were entered.
    pub(crate) entered: &'a mut u64,
    /// The payload of the message that is being handled.
    pub(crate) units: &'a mut [u32],
    /// Streams of replies.
    pub(crate) streams: &'a mut [u32],
    /// Messages that were taken and are not answered.
    pub(crate) answers: &'a mut Vec<Answer>,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) progress: Progress,
}

/// How far it has come.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Where the streams of the next message's replies begin.
    at: usize,
    /// The port, lane and tag of the message that is being handled, if it is of a lone lane; else it is the last of the
    /// answers.
    lone: Option<(u32, u32, Tag)>,
    /// How far the handling of that message has come.
    pub(crate) lanes: lanes::Progress,
    /// Why lanes of it are left. While a handler runs it is what its panic makes of it.
    pub(crate) stop: Stop,
    /// Messages of lone lanes that were handled one by one.
    lones: u32,
    /// The same of others.
    many: Sample,
}

/// Why a message was not handled to its end.
#[derive(Debug, Default)]
pub(crate) enum Stop {
    /// The handler of the first lane that is left panicked, or that of all of them.
    #[default]
    Panicked,
    /// It gave this instead of a result.
    Failed(Failure),
    /// The handler of all lanes has left some without an answer.
    Unanswered,
    /// The buffer is being taken out of service.
    Ended,
}

impl Direct<'_, '_> {
    /// Units from one lane's stream of replies to the next, as [`Registered::reply_stride`] says it.
    #[inline(always)]
    pub(crate) const fn stride(units: usize) -> usize {
        1 + if units == 0 { 1 } else { units }
    }

    /// Serves all that there is to serve of a handler `one` of one call.
    #[inline(always)]
    pub(super) fn typed<A: Fixed, R: Fixed>(&mut self, one: &impl Fn(A) -> Result<R, Failure>) {
        let Registered { number, shape, ref definition, .. } = *self.service;
        let post = definition.reply_dwords.is_none();
        let Some(usual) = Usual::new(number, A::DWORDS, post) else { return };
        if shape.units != A::DWORDS || definition.reply_dwords.unwrap_or(0) != R::DWORDS {
            // Who made the definition has another idea of it.
            return;
        }
        if !post {
            self.each(
                &usual,
                Self::stride(R::DWORDS),
                false,
                |direct, port, lane, next| direct.lone(port, lane, next, &usual, false, one),
                |direct, port, message| direct.many(port, message, false, one),
            );
        } else if R::DWORDS == 0 {
            self.each(
                &usual,
                Self::stride(0),
                true,
                |direct, port, lane, next| direct.lone(port, lane, next, &usual, true, one),
                |direct, port, message| direct.many(port, message, true, one),
            );
        }
    }

    /// Serves all that there is to serve of a handler `one` of whole messages.
    #[inline(always)]
    pub(super) fn whole(&mut self, one: &impl Fn(&mut Batch<'_>)) {
        let Registered { number, shape, ref definition, .. } = *self.service;
        let (stride, post) = (self.service.direct_stride(), definition.reply_dwords.is_none());
        let Some(usual) = Usual::new(number, shape.units, post) else { return };
        self.each(
            &usual,
            stride,
            post,
            |direct, port, lane, next| direct.batch(port, usual.lone(next.head.tag(), lane), stride, one),
            |direct, port, message| direct.batch(port, message, stride, one),
        );
    }

    /// Serves message after message: `lone` handles one of a lone lane, `many` one of several. Replies have streams of
    /// `stride` units.
    #[inline(always)]
    fn each(
        &mut self,
        usual: &Usual,
        stride: usize,
        post: bool,
        lone: impl Fn(&mut Self, u32, u32, &Next),
        many: impl Fn(&mut Self, u32, Message),
    ) {
        let view = self.block.view();
        while let Some(next) = self.block.next(&view, post) {
            if !self.service.admits_all() {
                return;
            }
            if usual.is_lone(&next.head) {
                if let Some((port, lane)) = self.block.take_lone(&view, &next, usual, post, self.units) {
                    lone(self, port, lane, &next);
                }
            } else if usual.is_many(&next.head) {
                if let Some((port, message)) = self.block.take_many(&view, &next, usual, post, self.units) {
                    many(self, port, message);
                }
            } else {
                self.block.leave(post);
            }
            if self.progress.lanes.left != 0 {
                // Whoever finishes it lets the replies before it leave.
                return;
            }
            if self.progress.at >= ENOUGH_UNITS {
                self.answer(stride);
            }
        }
        if !post {
            self.answer(stride);
        }
    }

    /// The replies leave.
    #[inline(always)]
    fn answer(&mut self, stride: usize) {
        self.block.answer(self.answers, stride, self.streams);
        self.answers.clear();
        self.progress.at = 0;
    }

    /// Handles the message of a lone lane.
    #[inline(always)]
    fn lone<A: Fixed, R: Fixed>(
        &mut self,
        port: u32,
        lane: u32,
        next: &Next,
        usual: &Usual,
        post: bool,
        one: &impl Fn(A) -> Result<R, Failure>,
    ) {
        self.progress.lanes.left = 1;
        self.progress.lone = Some((port, lane, next.head.tag()));
        self.enter(port, 1 << lane);
        if !post && self.closing.get().is_some() {
            self.progress.stop = Stop::Ended;
            return;
        }
        match A::get(&self.units[..A::DWORDS]).map_err(Failure::Decode).and_then(one) {
            Ok(value) if !post && const { ReplyHead::words(R::DWORDS as u32) <= Block::MOST_WORDS } => {
                let mut stream = [0; Stream::UNITS];
                put_head(&mut stream, Status::OK, R::DWORDS);
                value.put(&mut stream[1..]);
                self.block.reply(next, const { ReplyHead::words(R::DWORDS as u32) }, &stream);
            }
            Ok(value) if !post => {
                let at = self.progress.at;
                put_head(&mut self.streams[at..], Status::OK, R::DWORDS);
                value.put(&mut self.streams[at + 1..]);
                let words = const { ReplyHead::words(R::DWORDS as u32) };
                self.answers.push(Answer { port, words, message: usual.lone(next.head.tag(), lane), at });
                self.progress.at = at + Self::stride(R::DWORDS);
            }
            Ok(_) => {}
            Err(failure) => {
                self.progress.stop = Stop::Failed(failure);
                return;
            }
        }
        self.progress.lanes.left = 0;
        self.progress.lones += 1;
    }

    /// Handles the message of several lanes.
    #[inline(always)]
    fn many<A: Fixed, R: Fixed>(&mut self, port: u32, message: Message, post: bool, one: &impl Fn(A) -> Result<R, Failure>) {
        let (lanes, apart, at) = (message.lanes(), message.stride(), self.progress.at);
        self.answers.push(Answer { port, words: const { ReplyHead::words(R::DWORDS as u32) }, message, at });
        self.enter(port, message.header.mask);
        let mut left = bits_of(0, lanes);
        (self.progress.lanes.left, self.progress.lone) = (left, None);
        while left != 0 {
            if !post && self.closing.get().is_some() {
                self.progress.stop = Stop::Ended;
                return;
            }
            let rank = left.trailing_zeros() as usize;
            match A::get(&self.units[rank * apart..rank * apart + A::DWORDS]).map_err(Failure::Decode).and_then(one) {
                Ok(value) if !post => {
                    let at = at + rank * Self::stride(R::DWORDS);
                    let stream = &mut self.streams[at..=at + R::DWORDS];
                    put_head(stream, Status::OK, R::DWORDS);
                    value.put(&mut stream[1..]);
                }
                Ok(_) => {}
                Err(failure) => {
                    self.progress.stop = Stop::Failed(failure);
                    return;
                }
            }
            left &= left - 1;
            self.progress.lanes.left = left;
        }
        self.handled(&message, post, lanes as usize * R::DWORDS, Self::stride(R::DWORDS));
    }

    /// Handles all lanes of a message, or the only one, at once.
    #[inline(always)]
    fn batch(&mut self, port: u32, message: Message, stride: usize, one: &impl Fn(&mut Batch<'_>)) {
        let (lanes, post, at) = (message.lanes(), message.is_post(), self.progress.at);
        self.answers.push(Answer { port, words: 0, message, at });
        self.enter(port, message.header.mask);
        self.progress.lanes = lanes::Progress::of(bits_of(0, lanes));
        self.progress.lone = None;
        if !post && self.closing.get().is_some() {
            self.progress.stop = Stop::Ended;
            return;
        }
        let Self { service, tenant, report, closing, ref units, ref mut streams, ref mut scratch, ref mut progress, .. } = *self;
        let (number, mask) = (message.header.service, message.header.mask);
        let payload = Payload { units, stride: message.stride(), lane_units: message.lane_units(), staged: None };
        let (copies, outs) = (Copies::default(), OutsIn::Reply);
        let facts = Facts { service, number, tenant, report, closing, port, mask, lanes, post, payload, copies, outs };
        let streams = &mut streams[at..at + lanes as usize * stride];
        let answers = Answers { facts, progress: &mut progress.lanes, streams, first: 0, stride, thread: Thread::Serving };
        one(&mut Batch::new(0, lanes, answers, scratch));
        if post && progress.lanes.left == bits_of(0, lanes) {
            // Posts need no answer.
            progress.lanes = lanes::Progress { alike: Some(0), ..lanes::Progress::of(0) };
        } else if progress.lanes.left != 0 {
            progress.stop = Stop::Unanswered;
            return;
        }
        let totals = progress.lanes.totals(&self.streams[at..], lanes, stride);
        if let Some(answer) = self.answers.last_mut() {
            answer.words = ReplyHead::words(totals.longest);
        }
        self.progress.many.failed += totals.failed;
        self.handled(&message, post, totals.units as usize, stride);
    }

    /// A message of several lanes was handled: its replies have so many units.
    #[inline(always)]
    fn handled(&mut self, message: &Message, post: bool, units: usize, stride: usize) {
        let (sample, lanes) = (&mut self.progress.many, message.lanes());
        sample.messages += 1;
        sample.calls += lanes;
        sample.bytes_in += (lanes as usize * message.lane_units() * 4) as u64;
        if post {
            self.answers.clear();
        } else {
            sample.bytes_out += (units * 4) as u64;
            self.progress.at += lanes as usize * stride;
        }
    }

    #[inline(always)]
    fn enter(&mut self, port: u32, mask: u64) {
        *self.entered = self.entered.wrapping_add(1);
        self.running.enter(*self.entered, self.service.number, port, mask);
    }
}

impl Progress {
    /// What has been handled of a service.
    #[inline(always)]
    pub(crate) fn sample(&self, service: &Registered) -> Sample {
        let (Self { lones, many, .. }, lone) = (self, u64::from(self.lones));
        let units = Header::units_in(Header::words_for(service.shape.units as u32, 1), 1);
        Sample {
            messages: many.messages + lones,
            calls: many.calls + lones,
            bytes_in: many.bytes_in + lone * u64::from(units) * 4,
            bytes_out: many.bytes_out + lone * service.definition.reply_dwords.unwrap_or(0) as u64 * 4,
            ..*many
        }
    }

    /// The message that was stopped, which is no answer any more. Its streams begin at its `at`.
    #[cold]
    pub(crate) fn stopped(&self, service: &Registered, answers: &mut Vec<Answer>) -> Option<Answer> {
        let Some((port, lane, tag)) = self.lone else { return answers.pop() };
        let usual = Usual::new(service.number, service.shape.units, service.definition.reply_dwords.is_none())?;
        Some(Answer { port, words: 0, message: usual.lone(tag, lane), at: self.at })
    }
}

/// Units that the streams of replies take, of `lanes` lanes at most, whose results have `units` units.
pub(crate) const fn streams_for(lanes: u32, units: usize) -> usize {
    ENOUGH_UNITS + lanes as usize * Direct::stride(units) + LaneReplies::SPARE
}
