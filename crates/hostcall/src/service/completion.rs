//! An owned token that answers one lane's call later, from any thread.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::codec::Fixed;
use hostcall_abi::{ReplyHead, Status};

use super::answer::{AllAlike, Answer, LaneReply, Timing};
use super::failure::{Failure, IntoReply};
use super::lanes::bits_of;

/// Lanes of one message to which answers are owed. Dropped, it answers those that have none:
/// [`Status::HANDLER_FAILED`], or what ends them.
#[derive(Debug)]
pub(crate) struct Owed {
    pub(crate) message: Arc<dyn Answer>,
    /// By rank.
    left: u64,
    timing: Option<Timing>,
}

impl Owed {
    /// To the lanes `ranks` of a message.
    pub(crate) fn new(message: Arc<dyn Answer>, ranks: u64, timing: Option<Timing>) -> Self {
        Self { message, left: ranks, timing }
    }

    /// The lanes, by rank.
    pub(crate) fn ranks(&self) -> u64 {
        self.left
    }

    /// Their handling begins now.
    pub(crate) fn start(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.started = Instant::now();
        }
    }

    /// The status with which calls end instead of being handled, if the kernel is being ended or the server is going.
    pub(crate) fn verdict(&self) -> Option<Status> {
        Some(self.message.ending()).filter(|&status| status != Status::OK)
    }

    /// Hands over what is owed to one of them.
    pub(crate) fn part(&mut self, rank: u32) -> Completion {
        let mine = self.left & 1 << rank;
        self.left &= !mine;
        Completion { rank, owed: Self::new(self.message.clone(), mine, self.timing) }
    }

    /// All that are left end with this status.
    pub(crate) fn end(&mut self, status: Status) {
        self.send(status, &[0]);
    }

    /// All that are left will not be handled, and end with this status. Of a post no lane learns that, so the host
    /// does.
    pub(crate) fn give_up(&mut self, status: Status) {
        if self.message.facts().post {
            let failure = Failure::given_up(status);
            (0..self.left.count_ones()).for_each(|_| self.message.note(&failure));
        }
        self.end(status);
    }

    /// All that are left failed.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        (0..self.left.count_ones()).for_each(|_| self.message.note(failure));
        let (status, detail) = failure.to_status();
        self.send(status, &[detail]);
    }

    /// All that are left get the same reply.
    fn send(&mut self, status: Status, payload: &[u32]) {
        let ranks = std::mem::take(&mut self.left);
        self.message.answer(&mut bits(ranks).map(|rank| LaneReply { rank, status, payload }), self.timing);
    }

    /// If all lanes of the message are left, they get these replies. Whether they are.
    pub(crate) fn send_all(&mut self, lanes: u32, all: AllAlike<'_>) -> bool {
        if self.left != bits_of(0, lanes) {
            return false;
        }
        self.left = 0;
        self.message.answer_all(all, self.timing);
        true
    }

    /// Those of `ranks` that are left get the replies that are in their streams, which begin with that of rank `first`
    /// and are `stride` units apart.
    pub(crate) fn send_streams(&mut self, ranks: u64, streams: &[u32], first: u32, stride: usize) {
        let ranks = ranks & self.left;
        if ranks == 0 {
            return;
        }
        self.left &= !ranks;
        let reply = |rank: u32| {
            let stream = &streams[(rank - first) as usize * stride..][..stride];
            let ReplyHead { status, dwords } = ReplyHead::decode(stream[0]);
            LaneReply { rank, status, payload: &stream[1..=usize::from(dwords)] }
        };
        self.message.answer(&mut bits(ranks).map(reply), self.timing);
    }
}

fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

impl Drop for Owed {
    fn drop(&mut self) {
        if self.left == 0 {
            return;
        }
        if let Some(status) = self.message.closing() {
            self.end(status);
        } else if std::thread::panicking() {
            self.fail(&Failure::Panicked);
        } else {
            self.fail(&Failure::HandlerFailed { code: 0, message: "the handler dropped its completion unanswered".into() });
        }
    }
}

/// Answers one lane's call, once. Dropped unanswered, it answers [`Status::HANDLER_FAILED`].
///
/// A message is answered as a whole: its lanes' replies leave when the last of them is given.
#[derive(Debug)]
#[must_use = "dropping it fails the call"]
pub struct Completion {
    owed: Owed,
    rank: u32,
}

impl Completion {
    /// Whether nobody waits for the result (it was posted).
    pub fn is_post(&self) -> bool {
        self.owed.message.facts().post
    }

    /// The calling lane's number in its wave.
    pub fn lane(&self) -> u32 {
        super::call::lane_number(self.owed.message.facts().mask, self.rank)
    }

    /// The call's result.
    pub fn reply<R: Fixed>(self, value: &R) {
        self.reply_units(&super::units_of(value));
    }

    /// There is no result.
    pub fn fail(mut self, failure: impl Into<Failure>) {
        self.owed.fail(&failure.into());
    }

    /// Its handling begins now.
    pub(crate) fn start(&mut self) {
        self.owed.start();
    }

    /// The status with which calls end instead of being handled, if the kernel is being ended or the server is going.
    pub(crate) fn verdict(&self) -> Option<Status> {
        self.owed.verdict()
    }

    /// Answers with a status and no result.
    pub(crate) fn end(mut self, status: Status) {
        self.owed.end(status);
    }

    pub(crate) fn reply_units(mut self, units: &[u32]) {
        let room = self.owed.message.room();
        if units.len() > room {
            self.owed.fail(&Failure::TooLarge { max: (room * 4) as u32 });
        } else {
            self.owed.send(Status::OK, units);
        }
    }
}

/// Answers one lane's call of a service whose result is an `R`, once, from any thread: what closures given to the
/// constructors `host::…_deferred` get. Dropped unanswered, it fails the call.
#[derive(Debug)]
#[must_use = "dropping it fails the call"]
pub struct Deferred<R> {
    completion: Completion,
    result: PhantomData<fn(R)>,
}

impl<R: Fixed> Deferred<R> {
    /// For the macro, which knows that the service's result is an `R`.
    #[doc(hidden)]
    pub fn new(completion: Completion) -> Self {
        Self { completion, result: PhantomData }
    }

    /// Whether nobody waits for the result (it was posted).
    pub fn is_post(&self) -> bool {
        self.completion.is_post()
    }

    /// Gives the result, as a handler returns it: an `R`, or a `Result` of one.
    pub fn reply(self, result: impl IntoReply<R>) {
        match result.into_reply() {
            Ok(value) => self.completion.reply(&value),
            Err(failure) => self.completion.fail(failure),
        }
    }
}
