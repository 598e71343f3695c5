//! A message of which other threads still answer some lanes. It owns all that is left of the message.
//!
//! The lanes of a group go on together, when all their replies are there. So the replies are gathered here. The thread
//! that gives the last reply writes all of them, by whole lines where the wire has them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hostcall_abi::port::{HostMemory, LaneReplies, Message, largest_reply_dwords};
use hostcall_abi::{Flags, ReplyHead, Status};

use super::served::Served;
use crate::record::OpenCall;
use crate::record::trace::{Span, Trace};
use crate::service::Failure;
use crate::service::answer::{AllAlike, Answer, LaneReply, Timing};
use crate::service::arguments::Var;
use crate::service::call::lane_number;
use crate::service::lanes::{Copies, Facts, Payload, bits_of, note_failure};
use crate::service::out::OutsIn;
use crate::service::registry::Registered;

/// An open message.
#[derive(Debug)]
pub(crate) struct Open {
    /// Its number among those of its buffer.
    number: u64,
    served: Arc<Served>,
    pub(crate) service: Arc<Registered>,
    trace: Option<Arc<Trace>>,
    message: Message,
    port: u32,
    /// The payload, lane after lane.
    units: Box<[u32]>,
    /// A post's staged bytes, of each lane; the slot is the device's again.
    copies: Vec<u8>,
    /// Where each lane's end.
    copies_end: Vec<u32>,
    /// Bytes that a post keeps.
    bytes: usize,
    /// When the message was found; only with statistics or a trace.
    found: Option<Instant>,
    /// Since when it is open.
    since: Instant,
    /// Whether it is open no more.
    answered: AtomicBool,
    replies: Mutex<Replies>,
}

/// The replies that have been given.
#[derive(Debug)]
struct Replies {
    /// A stream for each lane, `stride` units from one to the next; nothing before there is a reply.
    streams: Vec<u32>,
    stride: usize,
    lanes: u32,
    /// Units of the longest.
    longest: usize,
    /// Lanes whose reply is missing, by rank.
    missing: u64,
}

impl Open {
    /// The message whose lanes `late`, by rank, are answered later; the replies of the others, `stride` units apart,
    /// are in `streams`.
    #[expect(clippy::too_many_arguments, reason = "the parts of one message, each borrowed from elsewhere")]
    pub(crate) fn new(
        served: &Arc<Served>,
        service: &Arc<Registered>,
        trace: Option<Arc<Trace>>,
        message: Message,
        port: u32,
        payload: Payload<'_>,
        late: u64,
        (streams, stride): (&[u32], usize),
        found: Option<Instant>,
    ) -> Arc<Self> {
        let units: Box<[u32]> = payload.units[..message.units()].into();
        let post = message.is_post();
        let (copies, copies_end) =
            if post && payload.staged.is_some() { copy_staged(&message, service, payload) } else { Default::default() };
        let bytes = size_of_val(&*units) + copies.len();
        if post {
            served.open_post(bytes);
        } else {
            served.open_call(port);
        }
        let longest = (0..message.lanes())
            .filter(|rank| late >> rank & 1 == 0)
            .map(|rank| usize::from(ReplyHead::decode(streams[rank as usize * stride]).dwords));
        let longest = longest.max().unwrap_or(0);
        let lanes = message.lanes();
        let streams = if late == bits_of(0, lanes) { Vec::new() } else { streams.to_vec() };
        let replies = Replies { streams, stride, lanes, longest, missing: late };
        let (number, served, service) = (served.number_open(), served.clone(), service.clone());
        let (since, replies) = (Instant::now(), Mutex::new(replies));
        let answered = AtomicBool::new(false);
        let open = Arc::new(Self {
            number,
            served,
            service,
            trace,
            message,
            port,
            units,
            copies,
            copies_end,
            bytes,
            found,
            since,
            answered,
            replies,
        });
        open.served.note_opened(number, &open);
        open
    }

    /// What is open of it, unless it has just been answered.
    pub(crate) fn open_call(&self) -> Option<OpenCall> {
        let missing = self.replies().missing;
        let lanes = (0..self.message.lanes()).filter(|rank| missing >> rank & 1 == 1);
        let lanes = lanes.fold(0, |mask, rank| mask | 1 << lane_number(self.message.header.mask, rank));
        let service = self.service.name().to_string();
        (lanes != 0).then(|| OpenCall { service, port: self.port, lanes, open_for: self.since.elapsed() })
    }

    /// Whether nobody waits for it.
    pub(crate) fn is_post(&self) -> bool {
        self.message.is_post()
    }

    /// Whether it is open no more.
    pub(crate) fn is_answered(&self) -> bool {
        // Pairs with the store in `finish`: what its handler did is visible to whoever waited for it.
        self.answered.load(Ordering::Acquire)
    }

    /// Held while a reply is put, or all are written.
    fn replies(&self) -> MutexGuard<'_, Replies> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The times of a lane's call, if somebody wants them.
    pub(crate) fn timing(&self) -> Option<Timing> {
        self.found.map(|found| Timing { found, started: found })
    }

    /// All replies are there, `stride` units apart, and none is longer than `longest` units: writes them.
    fn finish(&self, streams: &[u32], stride: usize, longest: u32) {
        self.served.note_answered(self.number);
        if self.message.is_post() {
            self.served.close_post(self.bytes);
            // Pairs with the load in `is_answered`.
            return self.answered.store(true, Ordering::Release);
        }
        let words = self.served.memory.words();
        let lanes = LaneReplies { lanes: self.message.lanes(), words: ReplyHead::words(longest), stride, streams };
        words.before_replies();
        words.store_replies(self.served.memory.geometry(), self.port, self.message.tag, &lanes);
        words.after_replies();
        self.served.close_call(self.port);
    }

    /// Answers of lanes are known: of so many, with so many bytes. Before anybody learns of the answers: who waited for
    /// one finds it counted.
    fn count(&self, lanes: u32, failed: u64, bytes: u64, timing: Option<Timing>) {
        let done = timing.map(|_| Instant::now());
        let latency = timing.zip(done).map(|(timing, done)| done - timing.found);
        self.service.counters.answered(u64::from(lanes), failed, bytes, latency);
        if let (Some(Timing { found, started }), Some(done), Some(trace)) = (timing, done, &self.trace) {
            trace.span(Span { service: self.service.name().clone(), port: self.port, lanes, bytes, found, started, done });
        }
    }
}

impl Answer for Open {
    fn facts(&self) -> Facts<'_> {
        let Self { served, service, message, port, units, copies, copies_end, .. } = self;
        let staged = (message.header.flags.has(Flags::STAGED) && !message.is_post()).then(|| served.memory.staging());
        let payload = Payload { units, stride: message.stride(), lane_units: message.lane_units(), staged };
        Facts {
            service,
            number: message.header.service,
            tenant: &served.tenant,
            report: &served.report,
            closing: &served.closing,
            port: *port,
            mask: message.header.mask,
            lanes: message.lanes(),
            post: message.is_post(),
            payload,
            copies: Copies { bytes: copies, ends: copies_end },
            outs: OutsIn::Reply,
        }
    }

    fn room(&self) -> usize {
        largest_reply_dwords(self.served.memory.geometry(), self.message.lanes())
    }

    fn ending(&self) -> Status {
        self.served.ending()
    }

    fn closing(&self) -> Option<Status> {
        self.served.closing.get()
    }

    fn note(&self, failure: &Failure) {
        if !self.served.is_here() {
            return;
        }
        note_failure(&self.served.report, &self.service, failure, self.message.is_post());
    }

    fn answer(&self, given: &mut dyn Iterator<Item = LaneReply<'_>>, timing: Option<Timing>) {
        // A forked child's copy of a message: its parent answers.
        if !self.served.is_here() {
            return;
        }
        let (mut lanes, mut failed, mut bytes) = (0, 0, 0);
        let mut replies = self.replies();
        for LaneReply { rank, status, payload } in given {
            lanes += 1;
            failed += u64::from(status != Status::OK);
            bytes += size_of_val(payload) as u64;
            replies.put(rank, status, payload);
            replies.missing &= !(1 << rank);
        }
        self.count(lanes, failed, bytes, timing);
        if replies.missing == 0 {
            self.finish(&replies.streams, replies.stride, replies.longest as u32);
        }
    }

    fn answer_all(&self, all: AllAlike<'_>, timing: Option<Timing>) {
        // As in `answer`.
        if !self.served.is_here() {
            return;
        }
        let AllAlike { units, streams, stride } = all;
        let lanes = self.message.lanes();
        // Its replies are not gathered: there they are.
        self.replies().missing = 0;
        self.count(lanes, 0, u64::from(lanes * units) * 4, timing);
        self.finish(streams, stride, units);
    }
}

impl Replies {
    /// The `rank`-th lane's, which has room for it.
    fn put(&mut self, rank: u32, status: Status, payload: &[u32]) {
        let needed = 1 + payload.len();
        if self.streams.is_empty() {
            self.streams.resize(self.lanes as usize * self.stride + LaneReplies::SPARE, 0);
        }
        if needed > self.stride {
            self.widen(needed);
        }
        let start = rank as usize * self.stride;
        self.streams[start] = ReplyHead { status, dwords: payload.len() as u16 }.encode();
        self.streams[start + 1..start + needed].copy_from_slice(payload);
        self.longest = self.longest.max(payload.len());
    }

    /// Makes room for streams of so many units.
    fn widen(&mut self, stride: usize) {
        let mut wider = vec![0; self.lanes as usize * stride + LaneReplies::SPARE];
        for (to, from) in wider.chunks_exact_mut(stride).zip(self.streams.chunks_exact(self.stride)) {
            to[..self.stride].copy_from_slice(from);
        }
        (self.streams, self.stride) = (wider, stride);
    }
}

/// The staged bytes of each lane of a post, which are the device's again once it is acknowledged.
///
/// Lanes' regions do not overlap, so all together are no longer than a slot; what a client says beyond that is not
/// copied, and its decoding fails.
fn copy_staged(message: &Message, service: &Registered, payload: Payload<'_>) -> (Vec<u8>, Vec<u32>) {
    let (mut left, mut copies) = (usize::MAX, Vec::new());
    let copy = |rank| {
        if let Ok(Var::Staged { rest, bytes }) = Var::of(payload.lane(rank), service.shape, payload.staged) {
            left = left.min(payload.staged.map_or(0, |staged| staged.slot_bytes()));
            if let Some(region) = rest.part(0, bytes).filter(|_| bytes <= left) {
                left -= bytes;
                region.append_to(&mut copies);
            }
        }
        copies.len() as u32
    };
    let ends = (0..message.lanes()).map(copy).collect();
    (copies, ends)
}

#[cfg(test)]
mod tests {
    use hostcall_abi::{Geometry, Tag};

    use super::*;
    use crate::server::BufferHandle;
    use crate::service::{Completion, Service};
    use crate::serving::message::Worker;
    use crate::serving::ports::Audit;
    use crate::serving::{PostBounds, unbegun};
    use crate::test_utils::{MockDevice, definition};
    use crate::wire::PortBuffer;

    #[test]
    fn a_reply_longer_than_expected_makes_room_for_itself() {
        let mut replies = Replies { streams: Vec::new(), stride: 2, lanes: 2, longest: 0, missing: 3 };
        replies.put(1, Status::OK, &[7]);
        replies.put(0, Status::OK, &[1, 2, 3]);
        assert_eq!((replies.stride, replies.longest), (4, 3));
        assert_eq!(replies.streams[1..4], [1, 2, 3]);
        assert_eq!(replies.streams[5], 7);
    }

    #[test]
    fn what_is_open_is_told_with_the_lanes_that_wait_for_it() {
        let (tell, told) = std::sync::mpsc::channel();
        let handler = move |tell: &std::sync::mpsc::Sender<_>, done| tell.send(done).unwrap();
        let (calls, posts) = (tell.clone(), tell);
        let core = unbegun(
            [
                Service::deferred(definition::<u32>("call", Some(1)), move |_, done| handler(&calls, done)),
                Service::deferred(definition::<u32>("post", None), move |_, done| handler(&posts, done)),
            ],
            1,
            0,
        );
        let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(4, 32) };
        let served = Served::new(PortBuffer::in_process(geometry).unwrap(), 1, PostBounds::default());
        let raw = MockDevice::new(BufferHandle(served.clone())).raw();
        raw.send(1, 0, Tag::new(1), 1, Flags::REPLY, 1 << 2 | 1 << 5 | 1 << 9, &[7]);
        raw.send(3, 0, Tag::new(1), 2, Flags::default(), 1, &[7]);
        let mut worker = Worker::new(core, 0);
        assert_eq!(served.shares[0].sweep(&served, &mut worker, Audit::Many(u32::MAX)).taken, 2);
        let open = || served.all_opened().into_iter().find(|open| open.port == 1).and_then(|open| open.open_call());
        let first = open().unwrap();
        assert_eq!((&*first.service, first.port, first.lanes), ("call", 1, 1 << 2 | 1 << 5 | 1 << 9));
        let mut done: Vec<Completion> = told.try_iter().collect();
        let post = done.pop().unwrap();
        done.remove(1).reply(&1u32);
        assert_eq!(open().unwrap().lanes, 1 << 2 | 1 << 9);
        let call = served.all_opened().into_iter().find(|open| open.port == 1).unwrap();
        done.into_iter().for_each(|done| done.reply(&1u32));
        assert!(call.open_call().is_none() && open().is_none() && raw.answered(1, Tag::new(1)));
        // Of the two only the post counts as one.
        let posts = served.posts_open_now();
        let [open] = &posts[..] else { panic!("{posts:?}") };
        let open = open.upgrade().unwrap();
        assert!(open.is_post() && !call.is_post() && !open.is_answered());
        post.reply(&());
        assert!(open.is_answered() && served.posts_open_now().is_empty());
    }
}
