//! The door out of the corridor: an owned token that answers one lane's call later, from any thread.

use std::sync::Arc;
use std::time::Instant;

use hostcall_abi::Status;
use hostcall_abi::codec::Fixed;
use hostcall_abi::port::largest_reply_dwords;

use crate::live::{Live, Place};
use crate::registry::Slot;
use crate::service::{Failure, units_of};
use crate::trace::{Span, Trace};

/// When a call was found and handled; kept only with statistics or a trace.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) found: Instant,
    pub(crate) started: Instant,
    pub(crate) trace: Option<Arc<Trace>>,
}

/// Answers one lane's call, once. Dropped unanswered, it answers [`Status::HANDLER_FAILED`].
#[derive(Debug)]
#[must_use = "dropping it fails the call"]
pub struct Completion {
    live: Arc<Live>,
    slot: Arc<Slot>,
    place: Place,
    timing: Option<Timing>,
    answered: bool,
}

impl Completion {
    pub(crate) fn new(live: Arc<Live>, slot: Arc<Slot>, place: Place, timing: Option<Timing>) -> Self {
        Self { live, slot, place, timing, answered: false }
    }

    /// Whether nobody waits for the result (it was posted).
    pub fn is_post(&self) -> bool {
        self.place.post
    }

    /// The call's result.
    pub fn reply<R: Fixed>(self, value: &R) {
        let mut units = Vec::new();
        units_of(value, &mut units);
        self.reply_units(&units);
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

    /// What it answers, for whoever handles the call elsewhere.
    pub(crate) fn parts(&self) -> (Arc<Live>, Arc<Slot>, Place) {
        (self.live.clone(), self.slot.clone(), self.place)
    }

    /// The status with which calls end instead of being handled, if the kernel is being ended or the server is going.
    pub(crate) fn verdict(&self) -> Option<Status> {
        Some(self.live.verdict()).filter(|&verdict| verdict != Status::OK)
    }

    /// Answers with a status and no result.
    pub(crate) fn end(mut self, status: Status) {
        self.send(status, &[0]);
    }

    pub(crate) fn reply_units(mut self, units: &[u32]) {
        let room = largest_reply_dwords(self.live.memory.geometry(), self.place.lanes);
        if units.len() > room {
            self.fail_with(&Failure::TooLarge { max: (room * 4) as u32 });
        } else {
            self.send(Status::OK, units);
        }
    }

    fn fail_with(&mut self, failure: &Failure) {
        note_failure(&self.live, &self.slot, failure, self.place.post);
        let (status, detail) = failure.to_status();
        self.send(status, &[detail]);
    }

    pub(crate) fn send(&mut self, status: Status, payload: &[u32]) {
        if !self.place.post {
            self.live.answer(self.place, status, payload);
        }
        self.answered = true;
        let bytes = size_of_val(payload) as u64;
        let done = self.timing.as_ref().map(|_| Instant::now());
        self.slot.counters.answered(status != Status::OK, bytes, self.timing.as_ref().zip(done).map(|(t, done)| done - t.found));
        if let (Some(Timing { found, started, trace: Some(trace) }), Some(done)) = (&self.timing, done) {
            let (service, port) = (self.slot.name(), self.place.port);
            trace.span(Span { service, port, lanes: 1, bytes, found: *found, started: *started, done });
        }
        self.live.done(self.place);
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        if let Some(status) = self.live.condemned() {
            self.send(status, &[0]);
        } else if std::thread::panicking() {
            self.fail_with(&Failure::Panicked);
        } else {
            self.fail_with(&Failure::HandlerFailed { code: 0, message: "the handler dropped its completion unanswered".into() });
        }
    }
}

/// Reports what the host must learn of a failed call: a handler's error always, and of a post anything, since no lane learns it.
pub(crate) fn note_failure(live: &Live, slot: &Slot, failure: &Failure, post: bool) {
    match failure {
        Failure::HandlerFailed { code, message } => live.report.handler_failed(slot.name(), *code, message),
        Failure::Panicked => {}
        other if post => live.report.handler_failed(slot.name(), 0, &other.to_string()),
        _ => {}
    }
}
