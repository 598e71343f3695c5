//! One message: copied, looked up, handled for each of its lanes, answered.
//!
//! Nothing on this way allocates, waits for a lock or formats text, as long as handlers answer inline and arguments are of fixed size.

use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::codec::DecodeError;
use hostcall_abi::port::{HostMemory, Malformed, Message, PayloadBuf, Polled, ServerPort, largest_reply_dwords, write_reply};
use hostcall_abi::{Flags, Status};

use crate::batch::Batch;
use crate::blocking::Job;
use crate::completion::{Completion, Timing, note_failure};
use crate::core::Core;
use crate::invocation::{Caller, Invocation, Scratch, StagedRegion, Var};
use crate::live::{Live, Place};
use crate::panics::guard;
use crate::registry::{Slot, Snapshot};
use crate::service::{Failure, NowFn, Run};
use crate::stats::Sample;
use crate::trace::Span;

/// What one serving thread has for itself.
pub(crate) struct Worker {
    pub(crate) index: usize,
    pub(crate) core: Arc<Core>,
    pub(crate) snapshot: Snapshot,
    /// When the present sweep began; only with statistics or a trace.
    pub(crate) found: Option<Instant>,
    /// Words of the last message.
    pub(crate) last_words: u32,
    /// Words of the reply area from its start to the end of the last reply; two for each lane are what most are.
    pub(crate) last_reply_words: u32,
    payload: Vec<u32>,
    scratch: Scratch,
}

/// The payload of a message: lane after lane.
#[derive(Clone, Copy)]
struct Lanes<'a> {
    units: &'a [u32],
    lane_dwords: usize,
}

impl<'a> Lanes<'a> {
    fn range(self, rank: u32) -> std::ops::Range<usize> {
        let at = rank as usize * self.lane_dwords;
        at..at + self.lane_dwords
    }

    fn lane(self, rank: u32) -> &'a [u32] {
        &self.units[self.range(rank)]
    }
}

/// The numbers of a mask's lanes, in order, with their ranks.
fn lanes_of(mut mask: u64) -> impl Iterator<Item = (u32, u32)> {
    let mut rank = 0;
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        rank += 1;
        (lane < 64).then_some((rank - 1, lane))
    })
}

impl Worker {
    pub(crate) fn new(core: Arc<Core>, index: usize) -> Self {
        Self {
            index,
            core,
            snapshot: Snapshot::default(),
            found: None,
            last_words: 0,
            last_reply_words: 0,
            payload: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Parks until woken, holding on to no service meanwhile.
    pub(crate) fn rest(&mut self) {
        self.snapshot = Snapshot::default();
        std::thread::park();
    }

    /// Takes the port's next message, if it is there, and handles it. `Some(true)`: there may be another one behind it.
    #[inline]
    pub(crate) fn serve<M: HostMemory>(&mut self, memory: &M, live: &Arc<Live>, port: u32, state: &mut ServerPort) -> Option<bool> {
        let geometry = live.memory.geometry();
        let needed = PayloadBuf::units(geometry);
        if self.payload.len() < needed {
            self.payload.resize(needed, 0);
        }
        // Taken out so that handling may borrow the worker; a pointer move.
        let mut units = std::mem::take(&mut self.payload);
        let mut buf = PayloadBuf::new(&mut units);
        let more = match state.poll(memory, geometry, port, &mut buf) {
            Polled::Nothing => None,
            Polled::Malformed(bad) => {
                self.refuse(memory, live, port, bad);
                Some(false)
            }
            Polled::Message(message) => {
                self.last_words = message.header.message_words();
                self.last_reply_words = if message.header.flags.has(Flags::REPLY) { 2 * message.lanes() } else { 0 };
                self.message(memory, live, port, &message, buf.payload());
                Some(!message.header.flags.has(Flags::REPLY))
            }
        };
        self.payload = units;
        more
    }

    #[cold]
    fn refuse<M: HostMemory>(&mut self, memory: &M, live: &Live, port: u32, bad: Malformed) {
        tracing::debug!(port, header = ?bad.header, "malformed message");
        live.report.malformed();
        let geometry = live.memory.geometry();
        let lanes = bad.header.mask.count_ones().clamp(1, geometry.lanes);
        for rank in 0..lanes {
            write_reply(memory, geometry, port, rank, lanes, bad.tag, Status::MALFORMED, &[]);
        }
    }

    #[inline]
    fn message<M: HostMemory>(&mut self, memory: &M, live: &Arc<Live>, port: u32, message: &Message, units: &[u32]) {
        let Self { index, core, snapshot, found, scratch, .. } = self;
        let header = message.header;
        let geometry = live.memory.geometry();
        let count = message.lanes();
        let post = !header.flags.has(Flags::REPLY);
        let lanes = Lanes { units, lane_dwords: message.lane_dwords() };
        let place = Place { port, tag: message.tag, rank: 0, lanes: count, post };
        let staged = header.flags.has(Flags::STAGED).then(|| live.memory.staging());
        core.registry.refresh(snapshot);
        let slot = snapshot.table.get(header.service);

        let mut copies = Vec::new();
        if post {
            if let (Some(area), Some(slot)) = (staged, slot) {
                copies = copy_staged(lanes, count, slot, area);
            }
            write_reply(memory, geometry, port, 0, 1, message.tag, Status::OK, &[]);
        }
        let verdict = live.verdict();
        let Some(slot) = slot.filter(|_| post || verdict == Status::OK) else {
            let status = if verdict == Status::OK { Status::UNKNOWN_SERVICE } else { verdict };
            return turn_away(memory, live, place, header.service, status);
        };
        tracing::debug!(service = slot.name(), port, lanes = count, mask = header.mask, post, staged = staged.is_some(), "call");

        let (Run::Inline(handler) | Run::Adaptive(handler)) = &slot.run else {
            let sample = Sample { calls: count, bytes_in: size_of_val(units) as u64, ..Sample::default() };
            slot.counters.message(*index, sample);
            return defer(core, live, slot, place, header, lanes, copies, *found, scratch);
        };
        let started = found.map(|_| Instant::now());
        let mut sample = Sample { calls: count, bytes_in: size_of_val(units) as u64, ..Sample::default() };
        // Lanes, by rank, whose calls go on in the blocking pool.
        let mut blocked = 0u64;
        let batch = match &slot.run {
            Run::Inline(handler) if staged.is_none() && slot.is_plain() => {
                Batch::new(live, slot, units, lanes.lane_dwords, place, header.mask, scratch).map(|batch| (batch, handler))
            }
            _ => None,
        };
        let rest = if batch.is_some() { 0 } else { header.mask };
        if let Some((mut batch, handler)) = batch {
            batch.handle(&**handler);
            sample.bytes_out = batch.dwords_out as u64 * 4;
            sample.failed = batch.failed;
        }
        for (rank, lane) in lanes_of(rest) {
            let source = match staged {
                None => Source::Message,
                Some(_) if post => copies.get(rank as usize).map_or(Source::Message, |copy| Source::Copied(copy)),
                Some(area) => Source::Staged(area),
            };
            let call = Lane { live, slot, units: lanes.lane(rank), source, place: Place { rank, ..place }, lane, run: Attempt::First };
            let Some((status, reply)) = call.run(&**handler, scratch) else {
                blocked |= 1 << rank;
                continue;
            };
            if !post {
                write_reply(memory, geometry, port, rank, count, message.tag, status, reply);
            }
            sample.bytes_out += size_of_val(reply) as u64;
            sample.failed += u32::from(status != Status::OK);
        }
        if let Some(after) = &slot.after {
            after();
        }
        slot.counters.message(*index, sample);
        if blocked != 0 {
            return resume(core, live, slot, place, header, lanes, copies, *found, blocked);
        }
        if let (Some(found), Some(started)) = (*found, started) {
            let done = Instant::now();
            slot.counters.latency(*index, done - found, u64::from(count));
            if let Some(trace) = &core.trace {
                let bytes = sample.bytes_in + sample.bytes_out;
                trace.span(Span { service: slot.name(), port, lanes: count, bytes, found, started, done });
            }
        }
    }
}

/// Answers all lanes of a message that no handler takes.
#[cold]
fn turn_away<M: HostMemory>(memory: &M, live: &Live, place: Place, service: u16, status: Status) {
    tracing::debug!(service, port = place.port, ?status, "turned away");
    if place.post {
        // No lane learns of it, so the host must.
        return live.report.handler_failed(
            "(unknown service)",
            0,
            &format!("{} posted calls of service number {service}, which nobody registered", place.lanes),
        );
    }
    for rank in 0..place.lanes {
        write_reply(memory, live.memory.geometry(), place.port, rank, place.lanes, place.tag, status, &[0]);
    }
}

/// The staged bytes of each lane of a post, which are the device's again once it is acknowledged.
///
/// Lanes' regions do not overlap, so all together are no longer than the area; what a client says beyond that is not copied, and its decoding fails.
#[cold]
fn copy_staged(lanes: Lanes<'_>, count: u32, slot: &Slot, area: StagedRegion<'_>) -> Vec<Vec<u8>> {
    let mut left = area.len();
    let copy = |rank| {
        let Ok(Var::Staged { rest, bytes }) = Var::of(lanes.lane(rank), slot.shape, Some(area)) else { return Vec::new() };
        let Some(region) = rest.part(0, bytes).filter(|_| bytes <= left) else { return Vec::new() };
        left -= bytes;
        let mut copy = vec![0; bytes];
        region.copy_to(&mut copy);
        copy
    };
    (0..count).map(copy).collect()
}

/// Where the bytes of strings and slices come from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// They came with the message.
    Message,
    /// They were staged, and have been copied.
    Copied(&'a [u8]),
    /// They are staged, in this area.
    Staged(StagedRegion<'a>),
}

/// Whether a lane's handler has been run before, and where it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// On a serving thread.
    First,
    /// On the blocking pool, at first.
    Blocking,
    /// On the blocking pool, after it said that it would block.
    Again,
}

/// One lane's call, about to be handled.
pub(crate) struct Lane<'a> {
    pub(crate) live: &'a Live,
    pub(crate) slot: &'a Slot,
    pub(crate) units: &'a [u32],
    pub(crate) source: Source<'a>,
    pub(crate) place: Place,
    /// Its number in the wave.
    pub(crate) lane: u32,
    pub(crate) run: Attempt,
}

impl<'a> Lane<'a> {
    /// Handles the call. The reply is in `scratch`. `None`: the handler would block, and the service is one that goes on elsewhere then.
    #[inline]
    pub(crate) fn run(&self, handler: &NowFn, scratch: &'a mut Scratch) -> Option<(Status, &'a [u32])> {
        let (slot, live) = (self.slot, self.live);
        if self.run != Attempt::Again && !slot.admit() {
            return Some((slot.refusal().to_status().0, &[0]));
        }
        match self.invocation(scratch, true) {
            Ok(mut call) => {
                let result = guard(live, slot, || handler.call(&mut call)).unwrap_or(Err(Failure::Panicked));
                if let Err(failure) = &result {
                    if self.run == Attempt::First && matches!((failure, &slot.run), (Failure::WouldBlock, Run::Adaptive(_))) {
                        return None;
                    }
                    note_failure(live, slot, failure, self.place.post);
                }
                Some(call.finish(&result))
            }
            Err(error) => {
                note_failure(live, slot, &Failure::Decode(error), self.place.post);
                Some((Status::MALFORMED, &[0]))
            }
        }
    }

    /// The call as its handler sees it, if the payload is as long as the service's shape and its variable part is inside.
    #[inline]
    pub(crate) fn invocation(&self, scratch: &'a mut Scratch, outs_allowed: bool) -> Result<Invocation<'a>, DecodeError> {
        let shape = self.slot.shape;
        let var = match self.source {
            _ if self.slot.number == 0 => Var::Copied(&[]),
            Source::Message => {
                if self.units.len() < shape.units {
                    return Err(DecodeError::Short);
                }
                Var::of(self.units, shape, None)?
            }
            Source::Copied(bytes) => Var::of_copy(self.units, bytes)?,
            Source::Staged(area) => Var::of(self.units, shape, Some(area))?,
        };
        if shape.takes_var {
            scratch.clear();
        }
        let geometry = self.live.memory.geometry();
        let room = largest_reply_dwords(geometry, if self.place.post { geometry.lanes } else { self.place.lanes });
        let caller = Caller {
            service: self.slot.number,
            port: self.place.port,
            lane: self.lane,
            post: self.place.post,
            may_block: self.run != Attempt::First,
            report: &self.live.report,
        };
        Ok(Invocation::new(self.units, shape, var, room, outs_allowed, scratch, caller))
    }
}

/// Hands the lanes of a message whose handlers would block, by rank, to the blocking pool. The others have been answered.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "the parts of one message, each borrowed from elsewhere")]
fn resume(
    core: &Arc<Core>,
    live: &Arc<Live>,
    slot: &Arc<Slot>,
    place: Place,
    header: hostcall_abi::Header,
    lanes: Lanes<'_>,
    mut copies: Vec<Vec<u8>>,
    found: Option<Instant>,
    blocked: u64,
) {
    let Run::Adaptive(handler) = &slot.run else { return };
    live.defer(place.port, blocked.count_ones(), place.post);
    let units: Arc<[u32]> = lanes.units.into();
    for (rank, lane) in lanes_of(header.mask).filter(|(rank, _)| blocked >> rank & 1 == 1) {
        let timing = found.map(|found| Timing { found, started: found, trace: core.trace.clone() });
        let done = Completion::new(live.clone(), slot.clone(), Place { rank, ..place }, timing);
        let copy = copies.get_mut(rank as usize).map(std::mem::take);
        let staged = header.flags.has(Flags::STAGED);
        core.pool.submit(Job {
            handler: handler.clone(),
            units: (units.clone(), lanes.range(rank)),
            staged,
            copy,
            lane,
            done,
            run: Attempt::Again,
        });
    }
}

/// Hands the lanes of a message to handlers that answer later.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "the parts of one message, each borrowed from elsewhere")]
fn defer(
    core: &Arc<Core>,
    live: &Arc<Live>,
    slot: &Arc<Slot>,
    place: Place,
    header: hostcall_abi::Header,
    lanes: Lanes<'_>,
    copies: Vec<Vec<u8>>,
    found: Option<Instant>,
    scratch: &mut Scratch,
) {
    live.defer(place.port, place.lanes, place.post);
    let staged = header.flags.has(Flags::STAGED);
    let units: Arc<[u32]> = lanes.units.into();
    let mut copies = copies.into_iter();
    for (rank, lane) in lanes_of(header.mask) {
        let copy = copies.next();
        let place = Place { rank, ..place };
        let timing = found.map(|found| Timing { found, started: found, trace: core.trace.clone() });
        let mut done = Completion::new(live.clone(), slot.clone(), place, timing);
        if let Run::Blocking(handler) = &slot.run {
            let units = (units.clone(), lanes.range(rank));
            core.pool.submit(Job { handler: handler.clone(), units, staged, copy, lane, done, run: Attempt::Blocking });
            continue;
        }
        if !slot.admit() {
            done.send(slot.refusal().to_status().0, &[0]);
            continue;
        }
        done.start();
        let source = match &copy {
            Some(copy) => Source::Copied(copy),
            None if staged && !place.post => Source::Staged(live.memory.staging()),
            None => Source::Message,
        };
        let call = Lane { live, slot, units: lanes.lane(rank), source, place, lane, run: Attempt::First };
        match call.invocation(scratch, false) {
            Err(error) => done.fail(error),
            Ok(mut call) => match &slot.run {
                Run::Later(handler) => {
                    // A panic drops the completion, which sees that and says so to the lane.
                    guard(live, slot, || handler(&mut call, done));
                }
                #[cfg(feature = "tokio")]
                Run::Future(handler) => match guard(live, slot, || handler(&mut call)) {
                    Some(Ok(future)) => core.runtime.spawn(future, done),
                    Some(Err(failure)) => done.fail(failure),
                    None => done.fail(Failure::Panicked),
                },
                Run::Inline(_) | Run::Blocking(_) | Run::Adaptive(_) => unreachable!("handled elsewhere"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_in_order_with_their_ranks() {
        let lanes: Vec<_> = lanes_of(1 << 3 | 1 << 40 | 1 << 63).collect();
        assert_eq!(lanes, [(0, 3), (1, 40), (2, 63)]);
        assert_eq!(lanes_of(u64::MAX).count(), 64);
    }
}
