//! All calls of one message, as a handler of whole messages sees them.

use bumpalo::Bump;
use hostcall_abi::Status;
use hostcall_abi::codec::{DecodeError, Fixed, bytes_mut};

use super::arguments::{Arguments, Var};
use super::call::{Invocation, Scratch, lane_number, put_head, without_lowest};
use super::definition::Definition;
use super::failure::{Failure, HandlerResult};
use super::lanes::{Answers, Facts, LaneCalls, bits_of};
use super::rows::{Rows, RowsMut};
use crate::record::Report;

/// The calls of one message: those that the lanes of a wave made together. A handler made by
/// [`Service::batch`](crate::Service::batch) answers them by one call of its code.
///
/// Its lanes are numbered from 0 to [`len`](Batch::len); [`lane`](Batch::lane) says which lane of the wave each is.
/// Arguments are read where they are: all lanes' by [`rows`](Batch::rows), one lane's by
/// [`arguments`](Batch::arguments). Each lane gets an answer: [`reply`](Batch::reply), [`fail`](Batch::fail), or all at
/// once [`reply_all`](Batch::reply_all). A lane that is answered twice gets the last answer. One that has none when the
/// handler returns gets [`CallError::HandlerFailed`](crate::CallError::HandlerFailed), unless the calls were posted.
///
/// ```
/// use hostcall::{Definition, Failure, Service};
///
/// # fn main() -> Result<(), hostcall::DefinitionError> {
/// let definition = Definition::builder("Host__root").argument("f64").result("f64").build()?;
/// let service = Service::batch(definition, |batch| {
///     let x = batch.rows().column::<f64>(0).expect("one f64");
///     for (i, x) in x.iter().enumerate() {
///         if x < 0.0 {
///             batch.fail(i, Failure::Refused { code: 33 });
///         } else {
///             batch.reply(i, &x.sqrt());
///         }
///     }
/// });
/// # let _ = service;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Batch<'a> {
    pub(super) answers: Answers<'a>,
    /// The rank of the first lane.
    first: u32,
    len: u32,
    arena: &'a Bump,
    outs: &'a mut Vec<u32>,
}

/// The calls of a [`Batch`], without the answers: what they borrow can be kept while lanes are answered.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    facts: Facts<'a>,
    /// The rank of the first lane.
    first: u32,
    len: u32,
    arena: &'a Bump,
}

impl<'a> Requests<'a> {
    /// The calls of the first `len` lanes of a message.
    pub(super) fn new(facts: Facts<'a>, len: u32, scratch: &'a Scratch) -> Self {
        Self { facts, first: 0, len, arena: &scratch.arena }
    }

    /// What the service is.
    #[inline]
    pub fn definition(&self) -> &'a Definition {
        &self.facts.service.definition
    }

    /// The service's number in this process.
    #[inline]
    pub fn service(&self) -> u16 {
        self.facts.service.number
    }

    /// The port the message came through.
    #[inline]
    pub fn port(&self) -> u32 {
        self.facts.port
    }

    /// Whether nobody waits for results.
    #[inline]
    pub fn is_post(&self) -> bool {
        self.facts.post
    }

    /// Where what ends the kernel is reported.
    pub fn report(&self) -> &'a Report {
        self.facts.report
    }

    /// How many lanes call.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether none does, which never is so for a handler.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number in its wave of lane `i`.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn lane(&self, i: usize) -> u32 {
        lane_number(self.facts.mask, self.rank(i))
    }

    /// The numbers of all lanes, as bits: lane 5 of the wave is bit 5.
    #[inline]
    pub fn mask(&self) -> u64 {
        let all = self.facts.mask;
        // Mostly they are all lanes of the message.
        if self.len == self.facts.lanes {
            return all;
        }
        let rest = without_lowest(all, self.first);
        rest & !without_lowest(rest, self.len)
    }

    #[inline(always)]
    fn rank(&self, i: usize) -> u32 {
        assert!(i < self.len(), "lane {i} of {}", self.len);
        self.first + i as u32
    }

    /// The fixed part of all lanes' arguments, where it is. Of a default handler, which knows no shape, whole payloads.
    #[inline]
    pub fn rows(&self) -> Rows<'a> {
        let Facts { service, payload, .. } = self.facts;
        let width = if service.number == 0 { payload.lane_units } else { service.shape.units };
        Rows::new(&payload.units[self.first as usize * payload.stride..], payload.stride, width, self.len())
    }

    /// One lane's arguments, to be decoded one after another. What is decoded lives as long as the batch: staged
    /// strings and slices are copied.
    ///
    /// # Errors
    /// When its strings and slices are not where the lane says.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn arguments(&self, i: usize) -> Result<Arguments<'a>, DecodeError> {
        let rank = self.rank(i);
        let var = self.facts.variable_part(rank)?;
        Ok(Arguments::new(self.facts.payload.lane(rank), self.facts.service.shape, var, self.arena))
    }
}

impl<'a> Batch<'a> {
    /// The calls of `len` lanes, the first of rank `first`.
    #[inline(always)]
    pub(super) fn new(first: u32, len: u32, answers: Answers<'a>, scratch: &'a mut Scratch) -> Self {
        let Scratch { arena, outs } = scratch;
        Self { answers, first, len, arena, outs }
    }

    /// The calls without the answers. What they borrow can be kept while lanes are answered.
    #[inline]
    pub fn requests(&self) -> Requests<'a> {
        let Self { answers: Answers { facts, .. }, first, len, arena, .. } = *self;
        Requests { facts, first, len, arena }
    }

    #[inline(always)]
    fn rank(&self, i: usize) -> u32 {
        self.requests().rank(i)
    }

    /// What the service is.
    #[inline]
    pub fn definition(&self) -> &'a Definition {
        self.requests().definition()
    }

    /// The service's number in this process.
    #[inline]
    pub fn service(&self) -> u16 {
        self.requests().service()
    }

    /// The port the message came through.
    #[inline]
    pub fn port(&self) -> u32 {
        self.requests().port()
    }

    /// Whether nobody waits for results.
    #[inline]
    pub fn is_post(&self) -> bool {
        self.requests().is_post()
    }

    /// Whether the handler runs where it may block: on the blocking pool, or for a short time on a wave that waits.
    pub fn may_block(&self) -> bool {
        self.answers.thread.may_block()
    }

    /// Where what ends the kernel is reported.
    pub fn report(&self) -> &'a Report {
        self.requests().report()
    }

    /// How many lanes call.
    #[inline]
    pub fn len(&self) -> usize {
        self.requests().len()
    }

    /// Whether none does, which never is so for a handler.
    pub fn is_empty(&self) -> bool {
        self.requests().is_empty()
    }

    /// The number in its wave of lane `i`.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn lane(&self, i: usize) -> u32 {
        self.requests().lane(i)
    }

    /// The numbers of all lanes, as bits: lane 5 of the wave is bit 5.
    #[inline]
    pub fn mask(&self) -> u64 {
        self.requests().mask()
    }

    /// The fixed part of all lanes' arguments, where it is. Of a default handler, which knows no shape, whole payloads.
    #[inline]
    pub fn rows(&self) -> Rows<'a> {
        self.requests().rows()
    }

    /// One lane's arguments, to be decoded one after another. What is decoded lives as long as the batch: staged
    /// strings and slices are copied.
    ///
    /// # Errors
    /// When its strings and slices are not where the lane says.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn arguments(&self, i: usize) -> Result<Arguments<'a>, DecodeError> {
        self.requests().arguments(i)
    }

    /// Bytes for which lane `i`'s `&mut [T]` arguments have room together, each rounded up to a multiple of 4: none of
    /// their lengths is to be believed beyond it. (An inline reply carries the result and the lengths too.)
    ///
    /// # Errors
    /// When its strings and slices are not where the lane says.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn out_room(&self, i: usize) -> Result<usize, DecodeError> {
        let var = self.answers.facts.variable_part(self.rank(i))?;
        Ok(match var {
            Var::Staged { rest, .. } => rest.len(),
            Var::Copied(_) => self.answers.room() as usize,
        })
    }

    /// Whether lane `i` has an answer.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn is_answered(&self, i: usize) -> bool {
        self.answers.progress.left >> self.rank(i) & 1 == 0
    }

    /// Lane `i`'s result. A service with `&mut [T]` arguments is answered by [`call`](Batch::call).
    ///
    /// # Panics
    /// When there is no such lane.
    #[inline]
    pub fn reply<R: Fixed>(&mut self, i: usize, value: &R) {
        if let Some(stream) = self.answer(i, R::DWORDS) {
            value.put(&mut stream[1..]);
        }
    }

    /// Lane `i`'s result, as its bytes.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn reply_bytes(&mut self, i: usize, value: &[u8]) {
        let units = value.len().div_ceil(4);
        if let Some(stream) = self.answer(i, units) {
            let result = &mut stream[1..=units];
            if let Some(last) = result.last_mut() {
                *last = 0;
            }
            bytes_mut(result)[..value.len()].copy_from_slice(value);
        }
    }

    /// Room for a reply of so many units, its head written; none if it does not fit.
    #[inline(always)]
    fn answer(&mut self, i: usize, units: usize) -> Option<&mut [u32]> {
        let rank = self.rank(i);
        if units >= self.answers.stride {
            self.answers.fail(rank, &Failure::TooLarge { max: self.answers.room() });
            return None;
        }
        self.answers.done(rank);
        self.answers.progress.late &= !(1 << rank);
        let stream = self.answers.stream(rank);
        put_head(stream, Status::OK, units);
        Some(stream)
    }

    /// Results for all lanes, filled in place by `fill`, which gets a row of zeroed units for each. Lanes that have an
    /// answer get this one instead; those that fail are [failed](Batch::fail) afterwards.
    #[inline]
    pub fn reply_all(&mut self, fill: impl FnOnce(RowsMut<'_>)) {
        let Self { first, len, .. } = *self;
        let width = self.definition().reply_dwords.unwrap_or(0);
        let stride = self.answers.stride;
        if width >= stride {
            let failure = Failure::TooLarge { max: self.answers.room() };
            return (0..self.len()).for_each(|i| self.fail(i, failure.clone()));
        }
        let start = (first - self.answers.first) as usize * stride;
        let streams = &mut self.answers.streams[start..start + len as usize * stride];
        match self.answers.facts.service.blank.get(..streams.len()) {
            // One copy costs less than zeros and then a head for each lane. (Where there is no room for replies that
            // long, they lie otherwise.)
            Some(blank) if stride == 1 + width.max(1) => streams.copy_from_slice(blank),
            _ => {
                // All of it at once, though not every unit is a result's: one fill costs less than one for each lane.
                streams.fill(0);
                streams.chunks_exact_mut(stride).for_each(|stream| put_head(stream, Status::OK, width));
            }
        }
        fill(RowsMut::new(streams.get_mut(1..).unwrap_or_default(), stride, width, len as usize));
        let (all, progress) = (bits_of(first, len), &mut *self.answers.progress);
        progress.left &= !all;
        progress.late &= !all;
        progress.alike = (len == self.answers.facts.lanes).then_some(width as u32);
    }

    /// Lane `i`'s call has no result.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn fail(&mut self, i: usize, failure: impl Into<Failure>) {
        let rank = self.rank(i);
        self.answers.fail(rank, &failure.into());
    }

    /// The calls that have no answer yet have no result.
    pub fn fail_rest(&mut self, failure: impl Into<Failure>) {
        self.answers.fail_left(&failure.into());
    }

    /// Lane `i`'s call, handled as by a handler of single lanes: `handler` decodes the arguments, strings, slices and
    /// `&mut [T]` among them, and replies through the [`Invocation`]. An error that it returns fails the lane, and one
    /// of decoding does so before it is called.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn call(&mut self, i: usize, handler: impl FnOnce(&mut Invocation<'_>) -> HandlerResult) {
        let rank = self.rank(i);
        match self.answers.facts.variable_part(rank) {
            Ok(var) => self.answers.call(rank, var, self.arena, self.outs, handler),
            Err(error) => self.answers.fail(rank, &Failure::Decode(error)),
        }
    }
}

impl LaneCalls<'_> {
    /// Handles all lanes that are left at once.
    #[inline(always)]
    pub(super) fn whole(&mut self, handler: impl Fn(&mut Batch<'_>)) {
        if self.answers.progress.left == 0 {
            return;
        }
        if let Some(status) = self.answers.facts.ended() {
            return self.answers.end_left(status);
        }
        if !self.answers.facts.is_plain() {
            if let Some(error) = self.answers.facts.malformed() {
                return self.answers.fail_left(&Failure::Decode(error));
            }
            self.scratch.clear();
        }
        handler(&mut self.batch());
        if self.answers.progress.left != 0 {
            self.unanswered();
        }
    }

    /// Those that are left, which follow one another.
    #[inline(always)]
    fn batch(&mut self) -> Batch<'_> {
        let (left, lanes) = (self.answers.progress.left, self.answers.facts.lanes);
        // Mostly they are all lanes of the message.
        let all = left == bits_of(0, lanes);
        let (first, len) = if all { (0, lanes) } else { (left.trailing_zeros(), left.count_ones()) };
        self.answers.batch(first, len, self.scratch)
    }

    /// Ends the calls that the handler has left.
    #[cold]
    pub(super) fn unanswered(&mut self) {
        let answers = &mut self.answers;
        if answers.facts.post {
            answers.acknowledge_left();
        } else {
            let message = "the handler of a whole message left a lane without an answer".into();
            answers.fail_left(&Failure::HandlerFailed { code: 0, message });
        }
    }
}

impl<'a> Answers<'a> {
    /// The calls of `len` lanes, the first of rank `first`.
    #[inline(always)]
    fn batch<'b>(&'b mut self, first: u32, len: u32, scratch: &'b mut Scratch) -> Batch<'b>
    where
        'a: 'b,
    {
        let Answers { facts, ref mut progress, ref mut streams, first: from, stride, thread } = *self;
        Batch::new(first, len, Answers { facts, progress, streams, first: from, stride, thread }, scratch)
    }

    /// Posts that are left have been handled.
    pub(super) fn acknowledge_left(&mut self) {
        self.acknowledge(self.progress.left);
    }

    /// The posts of these lanes have been handled, by rank.
    pub(super) fn acknowledge(&mut self, lanes: u64) {
        for rank in (0..self.facts.lanes).filter(|rank| lanes >> rank & 1 != 0) {
            put_head(self.stream(rank), Status::OK, 0);
            self.done(rank);
        }
    }
}
