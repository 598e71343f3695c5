//! The ways of messages. Nearly all come the [direct](crate::service::direct) one. The other is the route of all
//! others: taken, handled, answered.
//!
//! * *Taken*: copied out of shared memory, checked, and consumed. A sweep takes the messages of all ports that rang, up
//!   to a bound, so that the processor waits for their lines at once.
//! * *Handled*: looked up, checked against the service's definition, and given to its handler or to one of the
//!   [exits](super::exits).
//! * *Answered*: the replies of all handled messages leave one after another, then the acknowledgements of posts, one
//!   for each port.
//!
//! Nothing on this way allocates, waits for a lock or formats text, as long as handlers answer inline and arguments
//! are of fixed size.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hostcall_abi::port::{HostMemory, LaneReplies, Malformed, Polled, ServerPort, largest_reply_dwords, payload_units};
use hostcall_abi::{Flags, ReplyHead, Status, Tag};

use super::exits::{self, Late};
use super::pool::Job;
use super::put_back;
use super::served::Served;
use super::threads::Core;
use super::turn::{AtOnce, Turn};
use crate::record::stats::Sample;
use crate::record::trace::Span;
use crate::record::{Spanned, guard};
use crate::service::call::{Scratch, put_status};
use crate::service::direct::{Direct, Progress, streams_for};
use crate::service::lanes::{Payload, note_failure};
use crate::service::messages::{Messages, Reply, Streams, Taken};
use crate::service::registry::{Registered, Registry, Snapshot};
use crate::service::{Failure, Run};
use crate::wire::{Answer, Block};

/// Units of payloads after which messages are handled, so that what was copied is still in the nearest cache.
const ENOUGH_UNITS: usize = 2048;
/// Units of replies after which they leave.
const ENOUGH_REPLY_UNITS: usize = 4096;

/// What one thread that serves has for itself.
pub(crate) struct Worker {
    pub(crate) index: usize,
    pub(crate) core: Arc<Core>,
    snapshot: Snapshot,
    /// When the present sweep began; only with statistics or a trace.
    pub(crate) found: Option<Instant>,
    inbox: Inbox,
    outbox: Outbox,
    scratch: Scratch,
    /// Handlers that were entered.
    entered: u64,
    /// Whether there are several programs, and the one's whose turn it is.
    pub(super) shared: bool,
    /// The version of the list of programs that this is known of.
    pub(super) version: u64,
    turn: Turn,
    /// Of a wave that helps: what it will run itself.
    kept: Option<RefCell<Vec<Job>>>,
}

/// What was taken and is not handled.
#[derive(Default)]
struct Inbox {
    messages: Vec<Taken>,
    /// Those that are being handled end here, and those that are not yet begin.
    next: usize,
    /// Those before have been answered.
    answered: usize,
    units: Vec<u32>,
    used: usize,
}

/// What was handled and is not answered.
#[derive(Default)]
struct Outbox {
    answers: Vec<Reply>,
    /// Streams of replies.
    units: Vec<u32>,
    used: usize,
    /// Posts: the last of each port.
    posts: Vec<(u32, Tag)>,
    /// Messages on the direct way.
    direct: Vec<Answer>,
}

/// What a look at a port took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Took {
    /// Nothing: no message is there.
    Nothing,
    /// Nothing: a post is there, and has to wait until others have been handled.
    Waits,
    /// A message behind which there may be another one.
    Post,
    /// A message whose lanes wait for the answer.
    Call,
}

impl Worker {
    pub(crate) fn new(core: Arc<Core>, index: usize) -> Self {
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        let (snapshot, scratch, turn) = (Snapshot::default(), Scratch::default(), Turn::default());
        Self { index, core, snapshot, found: None, inbox, outbox, scratch, entered: 0, shared: false, version: 0, turn, kept: None }
    }

    /// Of a wave that helps: it keeps what it may run itself.
    pub(super) fn keeping(core: Arc<Core>, index: usize) -> Self {
        Self { kept: Some(RefCell::default()), ..Self::new(core, index) }
    }

    /// What it has kept.
    pub(super) fn take_kept(&mut self) -> Vec<Job> {
        self.kept.as_mut().map(|kept| std::mem::take(kept.get_mut())).unwrap_or_default()
    }

    /// Parks until woken, holding on to no service meanwhile.
    pub(crate) fn rest(&mut self) {
        self.forget();
        std::thread::park();
    }

    /// Holds on to no service.
    pub(crate) fn forget(&mut self) {
        let old = std::mem::take(&mut self.snapshot);
        self.core.release(old);
    }

    /// Brings what the worker knows of services up to date. After a message was taken: a kernel may call what was
    /// registered before it was launched.
    #[inline(always)]
    fn refresh(&mut self) {
        if let Some(old) = self.core.registry.refresh(&mut self.snapshot) {
            self.core.release(old);
        }
    }

    /// It is a buffer's turn: makes room for its messages, of which so many are taken at once.
    pub(super) fn begin_turn(&mut self, served: &Served, at_once: AtOnce) {
        self.turn = Turn::new(self.shared, at_once);
        let needed = ENOUGH_UNITS + payload_units(served.memory.geometry());
        if self.inbox.units.len() < needed {
            self.inbox.units.resize(needed, 0);
        }
    }

    /// See [`Sweeper`](crate::test_utils::Sweeper).
    #[cfg(feature = "test-utils")]
    pub(crate) fn entered(&self) -> u64 {
        self.entered
    }

    /// Whether it is other programs' turn.
    #[inline(always)]
    pub(super) fn is_turn_over(&self) -> bool {
        self.turn.is_over()
    }

    /// How many messages are taken at once in the program's next turn.
    pub(super) fn end_turn(&self) -> AtOnce {
        self.turn.at_once()
    }

    /// Serves, the direct way, what is usual of the ports of a block. The others are left. There is
    /// [room](Worker::begin_turn) for a message.
    #[inline(always)]
    pub(super) fn direct(&mut self, served: &Arc<Served>, block: &mut Block<'_>) {
        if self.found.is_some() || served.ending() != Status::OK || Spanned::is_wanted() {
            return;
        }
        let room = served.memory.geometry().lanes;
        while let Some(number) = block.service() {
            self.refresh();
            let Self { index, core, snapshot, inbox, outbox, scratch, entered, turn, .. } = self;
            let Some(service) = snapshot.table.get(number).filter(|service| service.is_direct(served.full_room)) else { return };
            let Run::Inline(handler) = &service.run else { return };
            let aside = block.set_aside(turn.most());
            let (ports, (before, _)) = (block.count(), block.taken());
            let needed = streams_for(room, service.definition.reply_dwords.unwrap_or(0));
            if outbox.units.len() < needed {
                outbox.units.resize(needed, 0);
            }
            let began = turn.begin(ports);
            let running = core.running_of(*index);
            let (units, streams, answers) = (&mut inbox.units[inbox.used..], &mut *outbox.units, &mut outbox.direct);
            let (tenant, report, closing, progress) = (&served.tenant, &served.report, &served.closing, Progress::default());
            let mut direct =
                Direct { block, service, tenant, report, closing, running, entered, units, streams, answers, scratch, progress };
            let stopped = guard(report, service.name(), || handler.direct(&mut direct)).is_none();
            running.leave();
            let Direct { progress, .. } = direct;
            service.counters.messages(*index, progress.sample(service));
            // (The handler of a whole message may panic when it has answered all lanes.)
            if progress.lanes.left != 0 || stopped && handler.is_whole() {
                let service = service.clone();
                self.finish(served, block, &service, &progress);
            }
            self.outbox.direct.clear();
            block.end();
            let taken = block.taken().0 - before;
            let nothing = taken == 0 && block.count() == ports;
            block.add(aside);
            self.end_batch(taken as usize, began);
            if nothing || self.is_turn_over() {
                return;
            }
        }
    }

    /// Of a message that was stopped on its direct way: the lane at fault, and what is left, the other way.
    #[cold]
    #[inline(never)]
    fn finish(&mut self, served: &Arc<Served>, block: &mut Block<'_>, service: &Arc<Registered>, progress: &Progress) {
        let Self { index, core, inbox, outbox, scratch, .. } = self;
        let stride = service.direct_stride();
        let Some(Answer { port, message, at, .. }) = progress.stopped(service, &mut outbox.direct) else { return };
        block.answer(&outbox.direct, stride, &outbox.units);
        let Run::Inline(handler) = &service.run else { return };
        let taken = [Taken { port, at: inbox.used as u32, message }];
        let streams = Streams { units: &mut outbox.units, stride };
        let (tenant, report, closing, staging) = (&served.tenant, &served.report, &served.closing, served.memory.staging());
        let mut calls =
            Messages::new(service, tenant, report, closing, &taken, &inbox.units, staging, streams, at, &mut outbox.answers, scratch);
        calls.resume(&**handler, progress.lanes, &progress.stop);
        let running = core.running_of(*index);
        running.enter(u64::MAX, service.number, port, message.header.mask);
        calls.handle(&**handler);
        running.leave();
        let sample = calls.sample;
        service.counters.messages(*index, sample);
        outbox.answer(served);
    }

    /// Messages have been handled.
    #[inline(always)]
    fn end_batch(&mut self, messages: usize, began: Option<Instant>) {
        self.turn.end(messages, began);
        if messages > 0 && !self.shared && self.core.buffers_version() != self.version {
            // A program that has come is not to wait for all that this one wants.
            self.turn.break_off();
        }
    }

    /// Takes the port's next message, if it is there. There is [room](Worker::begin_turn) for it. The
    /// port has left its [mark](put_back::go_on) then.
    #[inline(always)]
    pub(crate) fn take(&mut self, served: &Arc<Served>, port: u32, state: &mut ServerPort) -> Took {
        if state.is_left() && !served.has_room_for_posts() && !served.gives_posts_up() {
            // Not copied again before there is.
            return Took::Waits;
        }
        let (geometry, before) = (served.memory.geometry(), state.mark());
        let at = self.inbox.used;
        match state.poll(served.memory.words(), geometry, port, &mut self.inbox.units[at..]) {
            Polled::Nothing => Took::Nothing,
            Polled::Malformed(bad) => {
                state.skip(&bad);
                put_back::go_on(served, port, before, state);
                self.outbox.posts.retain(|&(other, _)| other != port);
                refuse(served, port, bad);
                Took::Call
            }
            Polled::Message(message) => {
                let post = message.is_post();
                if post {
                    let service = self.snapshot.table.get(message.header.service);
                    if let Some(service) = service.filter(|service| service.run.defers() && !served.has_room_for_posts()) {
                        if !served.gives_posts_up() {
                            state.leave();
                            return Took::Waits;
                        }
                        give_up(served, service, message.lanes());
                        state.consume(&message, geometry);
                        put_back::go_on(served, port, before, state);
                        self.outbox.acknowledge(port, message.tag, true);
                        return Took::Post;
                    }
                }
                state.consume(&message, geometry);
                put_back::go_on(served, port, before, state);
                self.inbox.used += message.units();
                self.inbox.messages.push(Taken { port, at: at as u32, message });
                self.outbox.acknowledge(port, message.tag, post);
                if post { Took::Post } else { Took::Call }
            }
        }
    }

    /// Whether as much has been taken as should be handled at once.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.turn.is_enough(self.inbox.messages.len()) || self.inbox.used >= ENOUGH_UNITS
    }

    /// Handles and answers what has been taken.
    #[inline(always)]
    pub(crate) fn handle(&mut self, served: &Arc<Served>) {
        if !self.inbox.messages.is_empty() || !self.outbox.posts.is_empty() {
            self.handle_all(served);
        }
    }

    #[inline(never)]
    fn handle_all(&mut self, served: &Arc<Served>) {
        let messages = self.inbox.messages.len();
        self.refresh();
        let began = self.turn.begin(messages);
        while self.inbox.next < self.inbox.messages.len() {
            self.some(served);
            if self.outbox.used >= ENOUGH_REPLY_UNITS {
                self.outbox.answer(served);
                self.inbox.answered = self.inbox.next;
            }
        }
        self.inbox.messages.clear();
        (self.inbox.next, self.inbox.answered, self.inbox.used) = (0, 0, 0);
        self.outbox.answer(served);
        self.outbox.acknowledge_all(served);
        self.end_batch(messages, began);
    }

    /// Something outside handlers panicked while this worker was at `served`: the messages that it was at fail, and it
    /// goes on with the others. May panic again, for other messages.
    #[cold]
    pub(crate) fn recover(&mut self, served: &Arc<Served>) {
        self.core.running_of(self.index).leave();
        let Self { inbox, outbox, .. } = self;
        let mut posts = 0;
        for taken in &inbox.messages[inbox.answered..inbox.next] {
            if taken.message.is_post() {
                posts += taken.message.lanes();
                continue;
            }
            let answered =
                served.is_open(taken.port) || outbox.answers.iter().any(|reply| reply.port == taken.port && reply.tag == taken.message.tag);
            if !answered {
                outbox.end(taken, Status::HANDLER_PANICKED);
            }
        }
        inbox.answered = inbox.next;
        if posts > 0 {
            let text = format_args!("a panic outside of handlers, in the midst of {posts} posted calls: not all may have been handled");
            served.report.handler_failed("(posts)", 0, text);
        }
        self.handle(served);
    }

    /// Handles the next message, and those behind it that are of the same kind.
    #[inline(always)]
    fn some(&mut self, served: &Arc<Served>) {
        let Self { index, core, snapshot, found, inbox, outbox, scratch, entered, kept, .. } = self;
        let first = inbox.next;
        let Some(&taken) = inbox.messages.get(first) else { return };
        inbox.next += 1;
        let Taken { port, at, ref message } = taken;
        let (header, post) = (message.header, message.is_post());
        let ending = served.ending();
        let service = snapshot.table.get(header.service);
        let Some(service) = service.filter(|service| service.agrees(post) && (post || ending == Status::OK)) else {
            return outbox.turn_away(&core.registry, served, &taken, service.map(|service| &**service), ending);
        };
        let alike_in_size = post || service.reply_stride.is_some_and(|stride| stride <= served.full_room);
        if let (Run::Inline(_), None, true) = (&service.run, *found, alike_in_size) {
            let alike = |other: &&Taken| other.message.header.service == header.service && other.message.is_post() == post;
            inbox.next += inbox.messages[inbox.next..].iter().take_while(alike).count();
        }
        let messages = &inbox.messages[first..inbox.next];
        tracing::debug!(service = &**service.name(), messages = messages.len(), port, mask = header.mask, post, "calls");
        let lanes = messages.iter().map(|taken| taken.message.lanes()).sum::<u32>();
        let (stream_at, stride) = outbox.streams(served, service, message.lanes(), lanes, post);
        let started = found.map(|_| Instant::now());
        let mut late = u64::MAX >> (64 - message.lanes());
        let mut sample =
            Sample { messages: 1, calls: lanes, bytes_in: (lanes as usize * message.lane_units() * 4) as u64, ..Sample::default() };
        if let Run::Inline(handler) | Run::Adaptive(handler) = &service.run {
            let streams = Streams { units: &mut outbox.units, stride };
            let (units, staging) = (&inbox.units[..inbox.used], served.memory.staging());
            let replies = &mut outbox.answers;
            let (tenant, report, closing) = (&served.tenant, &served.report, &served.closing);
            let mut calls = Messages::new(service, tenant, report, closing, messages, units, staging, streams, stream_at, replies, scratch);
            let running = core.running_of(*index);
            *entered = entered.wrapping_add(1);
            running.enter(*entered, service.number, port, header.mask);
            calls.handle(&**handler);
            running.leave();
            (late, sample) = (calls.late, calls.sample);
            outbox.used = calls.stream_at;
            if let Some(after) = &service.after {
                after(tenant);
            }
        }
        service.counters.messages(*index, sample);
        if late != 0 {
            let payload = Payload {
                units: &inbox.units[at as usize..at as usize + message.units()],
                stride: message.stride(),
                lane_units: message.lane_units(),
                staged: header.flags.has(Flags::STAGED).then(|| served.memory.staging()),
            };
            let streams = &outbox.units[stream_at..stream_at + lanes as usize * stride + LaneReplies::SPARE];
            let (message, streams, found) = (*message, (streams, stride), *found);
            return exits::leave(core, kept.as_ref(), served, service, scratch, Late { message, port, payload, late, streams, found });
        }
        if let (Some(found), Some(started)) = (*found, started) {
            let done = Instant::now();
            service.counters.latency(*index, done - found, u64::from(lanes));
            if let Some(trace) = &core.trace {
                let bytes = sample.bytes_in + sample.bytes_out;
                trace.span(Span { service: service.name().clone(), port, lanes, bytes, found, started, done });
            }
        }
    }
}

impl Outbox {
    /// A message was taken: if it is a post, its port is acknowledged up to it; if not, its reply says so of all before
    /// it.
    #[inline(always)]
    fn acknowledge(&mut self, port: u32, tag: Tag, post: bool) {
        if self.posts.last().is_some_and(|&(last, _)| last == port) {
            self.posts.pop();
        }
        if post {
            self.posts.push((port, tag));
        }
    }

    /// Room for the replies of a service to `all` lanes of messages that are alike, the first of `lanes` lanes: where
    /// it begins, and units from one lane's to the next's.
    #[inline(always)]
    fn streams(&mut self, served: &Served, service: &Registered, lanes: u32, all: u32, post: bool) -> (usize, usize) {
        // What a full wave has room for, a message of fewer lanes has.
        let stride = match service.reply_stride {
            Some(stride) if stride <= served.full_room => stride,
            _ if post => 1,
            _ => 1 + largest_reply_dwords(served.memory.geometry(), lanes),
        };
        let needed = self.used + all as usize * stride + LaneReplies::SPARE;
        if self.units.len() < needed {
            self.units.resize(needed, 0);
        }
        (self.used, stride)
    }

    /// Answers all lanes of a message that no handler takes.
    #[cold]
    #[inline(never)]
    fn turn_away(&mut self, registry: &Registry, served: &Served, taken: &Taken, service: Option<&Registered>, ending: Status) {
        let &Taken { port, ref message, .. } = taken;
        let status = match service {
            Some(service) if !service.agrees(message.is_post()) => {
                served.report.malformed();
                Status::MALFORMED
            }
            _ if !message.is_post() && ending != Status::OK => ending,
            _ => Status::UNKNOWN_SERVICE,
        };
        let (number, lanes) = (message.header.service, message.lanes());
        tracing::debug!(service = number, port, ?status, "turned away");
        if status == Status::UNKNOWN_SERVICE {
            // Lanes that wait learn that nobody is there, and not who is missing. Of a post no lane learns anything.
            served.report.unknown_service(number, u64::from(lanes), message.is_post(), || {
                registry.name_of(number).map_or_else(|| format!("number {number}"), |name| name.to_string())
            });
        }
        if !message.is_post() {
            self.end(taken, status);
        }
    }

    /// All lanes of a message end with this status.
    #[cold]
    fn end(&mut self, taken: &Taken, status: Status) {
        let (lanes, at) = (taken.message.lanes(), self.used);
        self.used += 2 * lanes as usize;
        if self.units.len() < self.used + LaneReplies::SPARE {
            self.units.resize(self.used + LaneReplies::SPARE, 0);
        }
        for stream in self.units[at..self.used].chunks_exact_mut(2) {
            put_status(stream, status, 0);
        }
        self.answers.push(Reply { port: taken.port, tag: taken.message.tag, lanes, words: 1, at, stride: 2 });
    }

    /// The replies leave.
    #[inline(always)]
    fn answer(&mut self, served: &Served) {
        if self.answers.is_empty() {
            return;
        }
        let words = served.memory.words();
        words.before_replies();
        for &Reply { port, tag, lanes, words: count, at, stride } in &self.answers {
            let streams = &self.units[at..at + lanes as usize * stride + LaneReplies::SPARE];
            words.store_replies(served.memory.geometry(), port, tag, &LaneReplies { lanes, words: count, stride, streams });
        }
        words.after_replies();
        self.answers.clear();
        self.used = 0;
    }

    /// The acknowledgements leave: of each port's posts, the last one's.
    #[inline(always)]
    fn acknowledge_all(&mut self, served: &Served) {
        if self.posts.is_empty() {
            return;
        }
        let words = served.memory.words();
        for &(port, tag) in &self.posts {
            // In memory that was put back meanwhile this would be the reply to a call of the next pass. (The mark of a
            // port has the tag of its last message in its low bits.) Relaxed, and pairs with nothing, as in
            // `leave_mark`.
            if words.mark(port).load(Ordering::Relaxed) as u16 == tag.payload() {
                words.acknowledge(served.memory.geometry(), port, tag);
            }
        }
        words.after_replies();
        self.posts.clear();
    }
}

/// A post of a buffer that is being taken out of service will not be handled.
#[cold]
#[inline(never)]
fn give_up(served: &Served, service: &Registered, lanes: u32) {
    let failure = Failure::given_up(served.ending());
    (0..lanes).for_each(|_| note_failure(&served.report, service, &failure, true));
}

/// Answers a message that makes no sense.
#[cold]
#[inline(never)]
fn refuse(served: &Served, port: u32, bad: Malformed) {
    served.report.malformed();
    let geometry = served.memory.geometry();
    let lanes = bad.header.lanes().clamp(1, geometry.lanes);
    let head = ReplyHead { status: Status::MALFORMED, dwords: 0 }.encode();
    let mut streams = vec![head; lanes as usize];
    streams.extend([0; LaneReplies::SPARE]);
    let words = served.memory.words();
    words.store_replies(geometry, port, bad.tag, &LaneReplies { lanes, words: 1, stride: 1, streams: &streams });
    words.after_replies();
    // Last: a subscriber may panic.
    tracing::debug!(port, header = ?bad.header, "malformed message");
}
