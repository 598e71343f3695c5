//! The lanes of one message, handled one after another by one call of the service's own loop.
//!
//! The common case made cheap: a handler that answers inline, arguments of fixed size. The loop is compiled once for each handler, which is
//! inlined into it; what is the same for all lanes is worked out once. A panic ends the loop, fails the lane that it happened in, and the loop
//! goes on with the next.

use hostcall_abi::Status;
use hostcall_abi::port::{Replies, largest_reply_dwords};

use crate::completion::note_failure;
use crate::invocation::{Caller, Invocation, Scratch, Var};
use crate::live::{Live, Place};
use crate::panics::guard;
use crate::registry::Slot;
use crate::service::{Failure, HandlerResult, NowFn};

/// The lanes of a message that have not been handled.
pub(crate) struct Batch<'a> {
    live: &'a Live,
    slot: &'a Slot,
    /// The payload of all lanes, each as long as the service's shape at least.
    units: &'a [u32],
    lane_dwords: usize,
    /// Of the next lane.
    place: Place,
    /// Lanes left, by number.
    left: u64,
    scratch: &'a mut Scratch,
    pub(crate) failed: u32,
    /// Units of all replies.
    pub(crate) dwords_out: usize,
}

impl<'a> Batch<'a> {
    /// The lanes `mask` of the message at `place`, whose service has a handler that answers inline and takes neither strings nor slices. `None`: their
    /// payload is shorter than the service's arguments.
    #[inline(always)]
    pub(crate) fn new(
        live: &'a Live,
        slot: &'a Slot,
        units: &'a [u32],
        lane_dwords: usize,
        place: Place,
        mask: u64,
        scratch: &'a mut Scratch,
    ) -> Option<Self> {
        let batch = Self { live, slot, units, lane_dwords, place, left: mask, scratch, failed: 0, dwords_out: 0 };
        (slot.shape.units <= lane_dwords).then_some(batch)
    }

    /// Handles and answers all lanes.
    #[inline(always)]
    pub(crate) fn handle(&mut self, handler: &NowFn) {
        while guard(self.live, self.slot, || handler.serve(self)).is_none() {
            self.panicked();
        }
    }

    /// The loop, for [`Handler::serve`](crate::service::Handler::serve). After a panic of `handler` it can be called again.
    #[inline(always)]
    pub(crate) fn each(&mut self, handler: impl Fn(&mut Invocation<'_>) -> HandlerResult) {
        let Self { live, slot, units, lane_dwords, ref mut place, ref mut left, ref mut scratch, ref mut failed, ref mut dwords_out } =
            *self;
        // One loop for both forms of words: a handler with one place to be called from is inlined there.
        let memory = live.memory.words();
        let geometry = live.memory.geometry();
        let post = place.post;
        let replies = Replies::new(geometry, place.port, place.lanes, place.tag);
        let room = if post { largest_reply_dwords(geometry, geometry.lanes) } else { replies.room() };
        let caller = Caller { service: slot.number, port: place.port, lane: 0, post, may_block: false, report: &live.report };
        let mut call = Invocation::new(&[], slot.shape, Var::Copied(&[]), room, true, scratch, caller);
        while *left != 0 {
            let at = place.rank as usize * lane_dwords;
            let status = if slot.admit() {
                call.restart(&units[at..at + lane_dwords], left.trailing_zeros());
                let result = handler(&mut call);
                if let Err(failure) = &result {
                    note_failure(live, slot, failure, post);
                }
                call.outcome(&result)
            } else {
                call.outcome(&Err(Failure::Status(slot.refusal())))
            };
            *failed += u32::from(status != Status::OK);
            let (short, len) = call.answer();
            *dwords_out += len;
            if !post {
                if len <= Replies::SHORT {
                    replies.write_short(&memory, geometry, place.rank, status, short, len);
                } else {
                    replies.write(&memory, geometry, place.rank, status, call.long_answer());
                }
            }
            place.rank += 1;
            *left &= *left - 1;
        }
    }

    /// Fails the lane whose handler panicked, which `guard` has reported.
    #[cold]
    fn panicked(&mut self) {
        let (status, detail) = Failure::Panicked.to_status();
        note_failure(self.live, self.slot, &Failure::Panicked, self.place.post);
        if !self.place.post {
            self.live.answer(self.place, status, &[detail]);
        }
        self.failed += 1;
        self.dwords_out += 1;
        self.place.rank += 1;
        self.left &= self.left.wrapping_sub(1);
    }
}
