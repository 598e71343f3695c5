//! One lane's call, as its handler sees it: arguments decoded one after another, and the result.

use std::sync::Arc;

use bumpalo::Bump;
use hostcall_abi::codec::{DecodeError, Fixed, Plain};
use hostcall_abi::{ReplyHead, Status};

use super::arguments::{Arguments, RawSlice, Var};
use super::definition::Shape;
use super::failure::{Failure, HandlerResult};
use super::out::{Out, OutSlice, Outs, OutsIn, RawOut, Written, push, put_image, put_slices, put_written};
use crate::record::Report;
use crate::tenant::Tenant;
use crate::wire::StagedRegion;

/// Memory that a thread reuses from call to call.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) arena: Bump,
    /// Lengths of the call's `&mut [T]` arguments in bytes.
    pub(crate) outs: Vec<u32>,
}

impl Scratch {
    /// Scratch that grew beyond this is given back to the system after the call.
    const KEEP: usize = 1 << 20;

    /// Forgets the last call.
    pub(crate) fn clear(&mut self) {
        if self.arena.allocated_bytes() > Self::KEEP {
            self.arena = Bump::new();
        } else if self.arena.allocated_bytes() > 0 {
            self.arena.reset();
        }
    }
}

/// Where a handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    /// In a sweep of ports, which it must not delay.
    Serving,
    /// On a wave that waits, between its sweeps. It may block for a short time, and waits for nobody who may wait for
    /// this wave.
    Wave,
    /// On a thread of the blocking pool.
    Pool,
}

impl Thread {
    /// Whether the handler may block.
    pub(crate) fn may_block(self) -> bool {
        self != Self::Serving
    }
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) service: u16,
    pub(crate) port: u32,
    /// The lanes of the message, and which of them this is.
    pub(crate) mask: u64,
    pub(crate) rank: u32,
    pub(crate) post: bool,
    pub(crate) thread: Thread,
    pub(crate) tenant: &'a Arc<Tenant>,
    pub(crate) report: &'a Report,
}

/// One lane's call.
///
/// Arguments are decoded in order, each exactly once; what they borrow lives as long as the call.
#[derive(Debug)]
pub struct Invocation<'a> {
    arguments: Arguments<'a>,
    outs: Outs<'a>,
    /// The lane's reply: its head, and as many units behind it as there is room for.
    stream: &'a mut [u32],
    /// Units of the reply, the head not counted; more than there is room for if it does not fit.
    reply_len: usize,
    caller: Caller<'a>,
}

impl<'a> Invocation<'a> {
    /// A lane's call with payload `units`, whose reply goes to `stream`: a unit for its head, and the room that it has
    /// behind.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the facts of one call, each borrowed from elsewhere")]
    pub(crate) fn new(
        units: &'a [u32],
        shape: Shape,
        var: Var<'a>,
        stream: &'a mut [u32],
        outs_in: OutsIn,
        arena: &'a Bump,
        outs: &'a mut Vec<u32>,
        caller: Caller<'a>,
    ) -> Self {
        let (arguments, outs) = (Arguments::new(units, shape, var, arena), Outs::new(outs, outs_in));
        Self { arguments, outs, stream, reply_len: 0, caller }
    }

    /// Units that the reply may have.
    #[inline(always)]
    fn room(&self) -> usize {
        self.stream.len() - 1
    }

    /// The number of the service that the lane calls, as the message says it: of a default handler, any number that no
    /// service has.
    pub fn service(&self) -> u16 {
        self.caller.service
    }

    /// The port it came through.
    pub fn port(&self) -> u32 {
        self.caller.port
    }

    /// The calling lane's number in its wave.
    pub fn lane(&self) -> u32 {
        lane_number(self.caller.mask, self.caller.rank)
    }

    /// Whether nobody waits for a result.
    pub fn is_post(&self) -> bool {
        self.caller.post
    }

    /// Whether the handler runs where it may block: on the blocking pool, or for a short time on a wave that waits.
    pub fn may_block(&self) -> bool {
        self.caller.thread.may_block()
    }

    /// Where the handler runs.
    pub(crate) fn thread(&self) -> Thread {
        self.caller.thread
    }

    /// The program that calls.
    pub(crate) fn tenant(&self) -> &'a Arc<Tenant> {
        self.caller.tenant
    }

    /// Where what ends the kernel is reported.
    #[doc(hidden)]
    pub fn report(&self) -> &'a Report {
        self.caller.report
    }

    /// The lane's payload as it came, for default handlers, which know no shape: the arguments, and zeros up to the end
    /// of the last word.
    pub fn payload(&self) -> &'a [u32] {
        self.arguments.payload()
    }

    /// The next argument, of a fixed-size type.
    ///
    /// # Errors
    /// When the payload is shorter or holds no value of the type.
    #[inline]
    pub fn fixed<T: Fixed>(&mut self) -> Result<T, DecodeError> {
        self.arguments.fixed()
    }

    /// The next argument, a string.
    ///
    /// # Errors
    /// When it is not there whole, or not UTF-8.
    pub fn str(&mut self) -> Result<&'a str, DecodeError> {
        self.arguments.str()
    }

    /// The next argument, a slice, aligned for its type.
    ///
    /// # Errors
    /// When it is not there whole, or no whole number of elements.
    pub fn slice<T: Plain>(&mut self) -> Result<&'a [T], DecodeError> {
        self.arguments.slice()
    }

    /// The next argument, a string or slice, as bytes where they are: a staged one is *not* copied, and the device may
    /// change it at any time. For services that only move bytes.
    ///
    /// # Errors
    /// When it is not there whole.
    #[doc(hidden)]
    pub fn raw_slice(&mut self) -> Result<RawSlice<'a>, DecodeError> {
        self.arguments.raw_slice()
    }

    /// The next argument, a `&mut [T]`: zeroed scratch, whose bytes the glue hands to [`Invocation::reply`].
    ///
    /// # Errors
    /// When its length is no whole number of elements, or does not fit into a reply or into the lane's staged region.
    pub fn out<T: Plain>(&mut self) -> Result<OutSlice<'a, T>, Failure> {
        self.outs.slice(&mut self.arguments, self.stream.len() - 1)
    }

    /// The next argument, a `&mut [T]`, as a writer: of a staged call into the region itself. The arguments lie in the
    /// same bytes, so write when all of them have been read. Answer with [`Invocation::reply_written`].
    ///
    /// # Errors
    /// When its length is no whole number of elements, or does not fit into a reply or into the lane's staged region.
    pub fn writer<T: Plain>(&mut self) -> Result<Out<'a, T>, Failure> {
        self.outs.writer(&mut self.arguments, self.stream.len() - 1)
    }

    /// The next argument, a `&mut [u8]`, as memory to fill: of a staged call the region itself, into which a file can
    /// be read directly (then answer with [`Invocation::reply_in_place`]). The arguments lie in the same bytes, so all
    /// of them must have been read.
    ///
    /// # Errors
    /// When it does not fit into a reply or into the lane's staged region.
    #[doc(hidden)]
    pub fn raw_out(&mut self) -> Result<RawOut<'a>, Failure> {
        self.outs.raw(&mut self.arguments, self.stream.len() - 1)
    }

    /// The whole staged region of this call, from its start to the end of what the arguments take; `None` if they came
    /// with the message.
    pub fn staged_region(&self) -> Option<StagedRegion<'a>> {
        self.arguments.staged_region()
    }

    /// The result, and the bytes that are sent back of each `&mut [T]` argument, in order; for none of them, or a post,
    /// `&[]`.
    ///
    /// A slice shorter than the argument sends back only its first part; bytes past the argument's length are not sent.
    #[inline]
    pub fn reply<R: Fixed>(&mut self, value: &R, outs: &[&[u8]]) {
        self.put_value(value);
        if !self.outs.lengths.is_empty() {
            // By values, so that a call without `&mut [T]` arguments need not be in memory.
            self.reply_len = match self.outs.carried {
                OutsIn::Image => put_image(self.stream, self.reply_len, self.outs.lengths, |i| outs.get(i).copied()),
                _ => put_slices(self.stream, self.reply_len, self.arguments.var, self.outs.lengths, outs),
            };
        }
    }

    /// The result, and what was written to each [`writer`](Invocation::writer), in order.
    pub fn reply_written<R: Fixed>(&mut self, value: &R, outs: &[Written<'_>]) {
        self.put_value(value);
        self.reply_len = match self.outs.carried {
            OutsIn::Image => put_image(self.stream, self.reply_len, self.outs.lengths, |i| outs.get(i).map(Written::scratch)),
            _ => put_written(self.stream, self.reply_len, self.arguments.var, self.outs.lengths, outs),
        };
    }

    /// As [`Invocation::reply_written`], with the result as its units: for whoever learns its type at run time only.
    pub fn reply_units_written(&mut self, units: &[u32], outs: &[Written<'_>]) {
        self.reply_units(units);
        self.reply_len = put_written(self.stream, self.reply_len, self.arguments.var, self.outs.lengths, outs);
    }

    /// The result, and how many bytes of each `&mut [T]` argument are sent back, all of them from [`RawOut::Staged`]
    /// regions, which hold them already.
    #[doc(hidden)]
    pub fn reply_in_place<R: Fixed>(&mut self, value: &R, returned: &[usize]) {
        self.put_value(value);
        for (i, &len) in self.outs.lengths.iter().enumerate() {
            push(self.stream, &mut self.reply_len, returned.get(i).map_or(0, |&n| n.min(len as usize) as u32));
        }
    }

    /// The result as units, for default handlers, which know no shape. More than [`Invocation::reply_capacity`] end the
    /// call as [`CallError::TooLarge`](crate::CallError::TooLarge).
    pub fn reply_units(&mut self, units: &[u32]) {
        self.reply_len = units.len();
        if let Some(room) = self.stream.get_mut(1..=units.len()) {
            room.copy_from_slice(units);
        }
    }

    /// Units that a reply has room for.
    pub fn reply_capacity(&self) -> usize {
        self.room()
    }

    /// The result's units.
    #[inline(always)]
    fn put_value<R: Fixed>(&mut self, value: &R) {
        self.reply_len = R::DWORDS;
        if let Some(room) = self.stream.get_mut(1..=R::DWORDS) {
            value.put(room);
        }
    }

    /// Turns what the handler returned into the lane's reply: its head, and if it failed, the detail.
    #[inline(always)]
    pub(crate) fn finish(&mut self, result: &HandlerResult) {
        match result {
            Ok(()) if self.reply_len <= self.room() => put_head(self.stream, Status::OK, self.reply_len),
            Ok(()) => put_status(self.stream, Status::TOO_LARGE, (self.room() * 4) as u32),
            Err(failure) => put_failure(self.stream, failure),
        }
    }
}

/// The head of a reply whose `units` units are in `stream`.
#[inline(always)]
pub(crate) fn put_head(stream: &mut [u32], status: Status, units: usize) {
    stream[0] = ReplyHead { status, dwords: units as u16 }.encode();
}

/// The replies of all lanes that a message can have, results of `units` units that are 0; none if they are long.
pub(crate) fn blank_replies(units: usize) -> Box<[u32]> {
    /// So that those of all lanes take up little of the nearest cache.
    const MOST_UNITS: usize = 16;
    const LANES: usize = 64;
    if units > MOST_UNITS {
        return Box::default();
    }
    let stride = 1 + units.max(1);
    let mut streams = vec![0; LANES * stride];
    streams.chunks_exact_mut(stride).for_each(|stream| put_head(stream, Status::OK, units));
    streams.into()
}

/// A reply of a status and one unit of detail; what an earlier reply left behind it is not sent along.
#[cold]
pub(crate) fn put_status(stream: &mut [u32], status: Status, detail: u32) {
    stream.fill(0);
    let units = usize::from(stream.len() > 1);
    if units == 1 {
        stream[1] = detail;
    }
    put_head(stream, status, units);
}

/// The reply of a call that failed.
#[cold]
pub(crate) fn put_failure(stream: &mut [u32], failure: &Failure) {
    let (status, detail) = failure.to_status();
    put_status(stream, status, detail);
}

/// Number of the `rank`-th lane of a mask.
pub(crate) fn lane_number(mask: u64, rank: u32) -> u32 {
    without_lowest(mask, rank).trailing_zeros()
}

/// A mask without its `count` lowest bits.
pub(crate) fn without_lowest(mut mask: u64, count: u32) -> u64 {
    for _ in 0..count {
        mask &= mask.wrapping_sub(1);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::{lane_number, without_lowest};

    #[test]
    fn lanes_are_numbered_by_their_rank() {
        let mask = 1 << 3 | 1 << 40 | 1 << 63;
        assert_eq!([0, 1, 2].map(|rank| lane_number(mask, rank)), [3, 40, 63]);
        assert_eq!([0, 1, 3, 4].map(|count| without_lowest(mask, count)), [mask, 1 << 40 | 1 << 63, 0, 0]);
        assert_eq!(lane_number(u64::MAX, 63), 63);
    }
}
