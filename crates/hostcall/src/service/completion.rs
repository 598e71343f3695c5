//! An owned token that answers one lane's call later, from any thread.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::Status;
use hostcall_abi::codec::Fixed;

use super::answer::{Answer, Timing};
use super::failure::{Failure, IntoReply};

/// Answers one lane's call, once. Dropped unanswered, it answers [`Status::HANDLER_FAILED`].
///
/// A message is answered as a whole: its lanes' replies leave when the last of them is given.
#[derive(Debug)]
#[must_use = "dropping it fails the call"]
pub struct Completion {
    message: Arc<dyn Answer>,
    rank: u32,
    timing: Option<Timing>,
    answered: bool,
}

impl Completion {
    /// Of the `rank`-th lane.
    pub(crate) fn new(message: Arc<dyn Answer>, rank: u32, timing: Option<Timing>) -> Self {
        Self { message, rank, timing, answered: false }
    }

    /// Whether nobody waits for the result (it was posted).
    pub fn is_post(&self) -> bool {
        self.message.is_post()
    }

    /// The call's result.
    pub fn reply<R: Fixed>(self, value: &R) {
        self.reply_units(&super::units_of(value));
    }

    /// There is no result.
    pub fn fail(mut self, failure: impl Into<Failure>) {
        self.fail_with(&failure.into());
    }

    /// Its handling begins now.
    pub(crate) fn start(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.started = Instant::now();
        }
    }

    /// The status with which calls end instead of being handled, if the kernel is being ended or the server is going.
    pub(crate) fn verdict(&self) -> Option<Status> {
        Some(self.message.ending()).filter(|&status| status != Status::OK)
    }

    /// Answers with a status and no result.
    pub(crate) fn end(mut self, status: Status) {
        self.send(status, &[0]);
    }

    pub(crate) fn reply_units(mut self, units: &[u32]) {
        let room = self.message.room();
        if units.len() > room {
            self.fail_with(&Failure::TooLarge { max: (room * 4) as u32 });
        } else {
            self.send(Status::OK, units);
        }
    }

    fn fail_with(&mut self, failure: &Failure) {
        self.message.note(failure);
        let (status, detail) = failure.to_status();
        self.send(status, &[detail]);
    }

    pub(crate) fn send(&mut self, status: Status, payload: &[u32]) {
        self.answered = true;
        self.message.answer(self.rank, status, payload, self.timing);
    }
}

/// Answers one lane's call of a service whose result is an `R`, once, from any thread: what closures given to the constructors
/// `host::…_deferred` get. Dropped unanswered, it fails the call.
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

impl Drop for Completion {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        if let Some(status) = self.message.closing() {
            self.send(status, &[0]);
        } else if std::thread::panicking() {
            self.fail_with(&Failure::Panicked);
        } else {
            self.fail_with(&Failure::HandlerFailed { code: 0, message: "the handler dropped its completion unanswered".into() });
        }
    }
}
