//! The calls of the lanes of one message, and the loops over them.
//!
//! Every handler gets a message so, wherever it runs: on a serving thread all lanes of one, on the blocking pool those
//! that a job is for. The loop over the lanes is compiled once for each handler, which is inlined into it; what is the
//! same for all lanes is worked out once. Where the reply of a lane is not there yet is kept outside the loop, so that
//! a panic fails what it happened in, and the loop goes on behind it.

use std::sync::Arc;

use bumpalo::Bump;
use hostcall_abi::codec::{DecodeError, Fixed};
use hostcall_abi::{ReplyHead, Status};

use super::arguments::Var;
use super::call::{Caller, Invocation, Scratch, Thread, put_failure, put_head, put_status};
use super::closing::Closing;
use super::failure::{Failure, HandlerResult};
use super::handler::NowFn;
use super::out::OutsIn;
use super::registry::Registered;
use crate::record::{Report, Spanned, guard};
use crate::tenant::Tenant;
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

/// What is known of a message, wherever it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) service: &'a Registered,
    /// The number that was called: the service's, but of a default handler.
    pub(crate) number: u16,
    /// The program whose it is.
    pub(crate) tenant: &'a Arc<Tenant>,
    pub(crate) report: &'a Report,
    pub(crate) closing: &'a Closing,
    pub(crate) port: u32,
    /// The lanes that call, by number. Elsewhere lanes go by *rank*: the how-manieth of these it is.
    pub(crate) mask: u64,
    /// How many they are.
    pub(crate) lanes: u32,
    pub(crate) post: bool,
    pub(crate) payload: Payload<'a>,
    /// Each lane's strings and slices, if they are not in the payload: of a staged post, copied before it was
    /// acknowledged, and of a message that came through no port.
    pub(crate) copies: Copies<'a>,
    /// How replies carry `&mut [T]` arguments.
    pub(crate) outs: OutsIn,
}

/// The strings and slices of each lane, one lane's behind the other's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copies<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where each lane's end.
    pub(crate) ends: &'a [u32],
}

impl<'a> Copies<'a> {
    /// The `rank`-th lane's, if there are any.
    pub(crate) fn lane(&self, rank: u32) -> Option<&'a [u8]> {
        let rank = rank as usize;
        let &end = self.ends.get(rank)?;
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.get(start as usize..end as usize)
    }
}

impl<'a> Facts<'a> {
    /// Whether the payload is shorter than the service's shape. The default handler has no shape.
    #[inline(always)]
    fn is_short(&self) -> bool {
        self.service.number != 0 && self.payload.lane_units < self.service.shape.units
    }

    /// The status with which calls that have not begun end: whoever takes the buffer out of service does not wait for
    /// them. Posts are handled all the same.
    #[inline(always)]
    pub(super) fn ended(&self) -> Option<Status> {
        if self.post { None } else { self.closing.get() }
    }

    /// Whether the payload is arguments of fixed size, all there, and nothing else.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        !(self.service.shape.takes_var | self.is_short() | self.payload.staged.is_some())
    }

    /// Why no lane's arguments can be decoded, if so.
    pub(super) fn malformed(&self) -> Option<DecodeError> {
        match (self.service.number, self.payload.staged) {
            _ if self.is_short() => Some(DecodeError::Short),
            (0, _) => None,
            // As the decoding of each lane would say.
            (_, staged) if !self.service.shape.takes_var => Var::of(&[], self.service.shape, staged).err(),
            _ => None,
        }
    }

    /// The strings and slices of a lane's call, if the payload is as long as the service's shape and they are inside.
    #[inline]
    pub(super) fn variable_part(&self, rank: u32) -> Result<Var<'a>, DecodeError> {
        let units = self.payload.lane(rank);
        match (self.service.number, self.copies.lane(rank)) {
            (0, _) => Ok(Var::NONE),
            _ if self.is_short() => Err(DecodeError::Short),
            (_, Some(copy)) => Var::of_copy(units, copy),
            (_, None) => Var::of(units, self.service.shape, self.payload.staged),
        }
    }

    #[inline(always)]
    fn caller(&self, rank: u32, thread: Thread) -> Caller<'a> {
        let Self { number, tenant, report, port, mask, post, .. } = *self;
        Caller { service: number, port, mask, rank, post, thread, tenant, report }
    }

    /// The `rank`-th lane's call, which is answered later and elsewhere, or why it cannot be decoded. Its reply does
    /// not go to `stream`.
    pub(crate) fn later<'c>(&self, rank: u32, stream: &'c mut [u32], scratch: &'c mut Scratch) -> Result<Invocation<'c>, Failure>
    where
        'a: 'c,
    {
        let var = self.variable_part(rank)?;
        scratch.clear();
        let Scratch { arena, outs } = scratch;
        Ok(Invocation::new(
            self.payload.lane(rank),
            self.service.shape,
            var,
            stream,
            OutsIn::Nothing,
            arena,
            outs,
            self.caller(rank, Thread::Serving),
        ))
    }
}

/// How far the handling of a message has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Lanes that have no reply yet, by rank.
    pub(crate) left: u64,
    /// Lanes whose handlers would block, if the service is one that goes on elsewhere then. What their streams hold is
    /// no reply.
    pub(crate) late: u64,
    /// All lanes of the message have results of so many units: nobody need look at their heads.
    pub(crate) alike: Option<u32>,
}

impl Progress {
    /// Nothing is done for the lanes of these ranks.
    #[inline(always)]
    pub(crate) const fn of(left: u64) -> Self {
        Self { left, late: 0, alike: None }
    }

    /// What the replies are together, of which `streams` holds one for each of `lanes` lanes, but for those that are
    /// late.
    #[inline(always)]
    pub(super) fn totals(&self, streams: &[u32], lanes: u32, stride: usize) -> Totals {
        if let Some(units) = self.alike {
            return Totals { units: lanes * units, longest: units, failed: 0 };
        }
        let mut totals = Totals::default();
        for (rank, stream) in streams.chunks_exact(stride).take(lanes as usize).enumerate() {
            let head = ReplyHead::decode(stream[0]);
            if self.late >> rank & 1 == 0 {
                totals.failed += u32::from(head.status != Status::OK);
                totals.units += u32::from(head.dwords);
                totals.longest = totals.longest.max(u32::from(head.dwords));
            }
        }
        totals
    }
}

/// What the replies to a message are together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Their units, the heads not counted, and those of the longest.
    pub(super) units: u32,
    pub(super) longest: u32,
    /// Lanes whose calls have no result.
    pub(super) failed: u32,
}

/// The lanes of these ranks, as bits.
#[inline(always)]
pub(crate) fn bits_of(first: u32, lanes: u32) -> u64 {
    if lanes == 0 { 0 } else { u64::MAX >> (64 - lanes) << first }
}

/// The replies to some lanes of one message: those left in its [`Progress`].
#[derive(Debug)]
pub(crate) struct Answers<'a> {
    pub(crate) facts: Facts<'a>,
    pub(crate) progress: &'a mut Progress,
    /// Streams of replies, one for each lane from the one of rank `first` on, `stride` units from one to the next.
    pub(crate) streams: &'a mut [u32],
    pub(crate) first: u32,
    pub(crate) stride: usize,
    pub(crate) thread: Thread,
}

impl Answers<'_> {
    /// Begins with `lanes` lanes, the first of rank `first`: those that the service still takes are left, the others
    /// are refused.
    #[inline(always)]
    pub(crate) fn begin(&mut self, first: u32, lanes: u32) {
        let admitted = self.facts.service.admit(lanes);
        *self.progress = Progress::of(bits_of(first, admitted));
        if admitted < lanes {
            self.refuse(first + admitted, lanes - admitted);
        }
    }

    #[cold]
    fn refuse(&mut self, first: u32, lanes: u32) {
        let (status, detail) = self.facts.service.refusal().to_status();
        for rank in first..first + lanes {
            put_status(self.stream(rank), status, detail);
        }
    }

    /// The next lane that has no reply.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<u32> {
        let left = self.progress.left;
        (left != 0).then(|| left.trailing_zeros())
    }

    /// A lane's reply is there, and may be another than it was.
    #[inline(always)]
    pub(super) fn done(&mut self, rank: u32) {
        self.progress.left &= !(1 << rank);
        self.progress.alike = None;
    }

    #[inline(always)]
    pub(super) fn stream(&mut self, rank: u32) -> &mut [u32] {
        let start = (rank - self.first) as usize * self.stride;
        &mut self.streams[start..start + self.stride]
    }

    /// Bytes that a lane's reply may have.
    pub(super) fn room(&self) -> u32 {
        (self.stride as u32 - 1) * 4
    }

    /// A lane's call has no result.
    #[cold]
    pub(super) fn fail(&mut self, rank: u32, failure: &Failure) {
        put_failure(self.stream(rank), failure);
        self.note(rank, failure);
        self.done(rank);
    }

    /// Those that are left have none.
    #[cold]
    pub(super) fn fail_left(&mut self, failure: &Failure) {
        while let Some(rank) = self.next() {
            self.fail(rank, failure);
        }
    }

    /// Those that are left end with this status.
    #[cold]
    pub(super) fn end_left(&mut self, status: Status) {
        while let Some(rank) = self.next() {
            put_status(self.stream(rank), status, 0);
            self.done(rank);
        }
    }

    /// Whoever handled the next lane (or, if so, all that are left) panicked; `guard` has reported it.
    #[cold]
    pub(crate) fn panicked(&mut self, whole: bool) {
        loop {
            let Some(rank) = self.next() else { return };
            self.fail(rank, &Failure::Panicked);
            if !whole {
                return;
            }
        }
    }

    /// A lane's call failed: it goes on elsewhere, or is reported.
    #[cold]
    fn note(&mut self, rank: u32, failure: &Failure) {
        if !self.thread.may_block() && self.facts.service.goes_on_elsewhere(failure) {
            self.progress.late |= 1 << rank;
        } else {
            self.progress.late &= !(1 << rank);
            note_failure(self.facts.report, self.facts.service, failure, self.facts.post);
        }
    }

    /// One lane's call, as handlers of single lanes see it.
    #[inline(always)]
    pub(super) fn call(
        &mut self,
        rank: u32,
        var: Var<'_>,
        arena: &Bump,
        outs: &mut Vec<u32>,
        handler: impl FnOnce(&mut Invocation<'_>) -> HandlerResult,
    ) {
        let Facts { payload, service, outs: outs_in, .. } = self.facts;
        let caller = self.facts.caller(rank, self.thread);
        let start = (rank - self.first) as usize * self.stride;
        let stream = &mut self.streams[start..start + self.stride];
        let mut call = Invocation::new(payload.lane(rank), service.shape, var, stream, outs_in, arena, outs, caller);
        let result = handler(&mut call);
        call.finish(&result);
        if let Err(failure) = result {
            self.note(rank, &failure);
        }
        self.done(rank);
    }
}

/// The calls of some lanes of one message.
#[derive(Debug)]
pub(crate) struct LaneCalls<'a> {
    pub(crate) answers: Answers<'a>,
    pub(crate) scratch: &'a mut Scratch,
}

impl LaneCalls<'_> {
    /// Handles all that are left.
    pub(crate) fn handle(&mut self, handler: &NowFn) {
        let Facts { report, service, .. } = self.answers.facts;
        let lanes = self.answers.progress.left.count_ones();
        Spanned::of(service.name(), || lanes).within(|| {
            while guard(report, service.name(), || handler.serve(self)).is_none() {
                self.answers.panicked(handler.is_whole());
            }
        });
    }

    /// Handles lane after lane.
    #[inline(always)]
    pub(crate) fn each(&mut self, handler: impl Fn(&mut Invocation<'_>) -> HandlerResult) {
        let facts = self.answers.facts;
        let plain = facts.is_plain();
        while let Some(rank) = self.answers.next() {
            if let Some(status) = facts.ended() {
                return self.answers.end_left(status);
            }
            if !plain {
                self.scratch.clear();
            }
            let Scratch { arena, outs } = &mut *self.scratch;
            match if plain { Ok(Var::NONE) } else { facts.variable_part(rank) } {
                Ok(var) => self.answers.call(rank, var, arena, outs, &handler),
                Err(error) => self.answers.fail(rank, &Failure::Decode(error)),
            }
        }
    }

    /// Handles lane after lane, for a handler that takes all its arguments as one value of fixed size and gives the
    /// result: nothing but what the handler does is done for each lane.
    #[inline(always)]
    pub(crate) fn typed<A: Fixed, R: Fixed>(&mut self, handler: impl Fn(A) -> Result<R, Failure>) {
        let answers = &mut self.answers;
        let (facts, first, stride) = (answers.facts, answers.first, answers.stride);
        if !facts.is_plain() || A::DWORDS > facts.payload.lane_units {
            return answers.fail_left(&Failure::Decode(facts.malformed().unwrap_or(DecodeError::Short)));
        }
        let Payload { units, stride: apart, .. } = facts.payload;
        let fits = R::DWORDS < stride;
        // In a register; the one in memory is for whoever goes on after a panic.
        let mut left = answers.progress.left;
        while left != 0 {
            if let Some(status) = facts.ended() {
                return answers.end_left(status);
            }
            let rank = left.trailing_zeros();
            let start = rank as usize * apart;
            let result = match A::get(&units[start..start + A::DWORDS]) {
                Ok(arguments) => handler(arguments),
                Err(error) => Err(Failure::Decode(error)),
            };
            match result {
                Ok(value) if fits => {
                    let start = (rank - first) as usize * stride;
                    let stream = &mut answers.streams[start..=start + R::DWORDS];
                    put_head(stream, Status::OK, R::DWORDS);
                    value.put(&mut stream[1..]);
                }
                Ok(_) => answers.fail(rank, &Failure::TooLarge { max: answers.room() }),
                Err(failure) => answers.fail(rank, &failure),
            }
            left &= left - 1;
            answers.progress.left = left;
        }
    }
}

/// Reports what the host must learn of a failed call: a handler's error always, and of a post anything, since no lane
/// learns it.
#[cold]
pub(crate) fn note_failure(report: &Report, service: &Registered, failure: &Failure, post: bool) {
    match failure {
        Failure::HandlerFailed { code, message } => report.handler_failed(service.name(), *code, message),
        Failure::Panicked => {}
        other if post => report.handler_failed(service.name(), 0, other),
        _ => {}
    }
}
