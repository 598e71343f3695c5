//! A message some of whose lanes are answered later, apart from its port.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostcall_abi::{ReplyHead, Status};

use super::message::{Message, Replies};
use super::runner::Shared;
use crate::record::{Report, tell};
use crate::service::Failure;
use crate::service::answer::{Answer, LaneReply, Timing};
use crate::service::lanes::{Facts, note_failure};
use crate::service::registry::Registered;

/// What is told of the replies, once.
pub(super) type Done = Box<dyn FnOnce(Replies) + Send>;

/// An open message.
pub(super) struct Apart {
    pub(super) shared: Arc<Shared>,
    pub(super) service: Arc<Registered>,
    pub(super) message: Message,
    pub(super) report: Report,
    given: Mutex<Given>,
}

/// The replies that have been given.
struct Given {
    /// A reply for each lane, by rank.
    lanes: Vec<(ReplyHead, Box<[u32]>)>,
    /// Lanes whose reply is missing, by rank.
    missing: u64,
    done: Option<Done>,
}

impl Apart {
    /// The message whose lanes `late`, by rank, are answered later; the replies of the others, `stride` units apart, are in `streams`.
    pub(super) fn new(
        shared: &Arc<Shared>,
        service: &Arc<Registered>,
        message: Message,
        report: Report,
        late: u64,
        (streams, stride): (&[u32], usize),
        done: Done,
    ) -> Arc<Self> {
        let lane = |rank: u32| {
            let none = (ReplyHead { status: Status::OK, dwords: 0 }, Box::default());
            if late >> rank & 1 == 1 {
                return none;
            }
            let stream = &streams[rank as usize * stride..][..stride];
            let head = ReplyHead::decode(stream[0]);
            (head, stream[1..=usize::from(head.dwords)].into())
        };
        let lanes = (0..message.lanes()).map(lane).collect();
        let given = Mutex::new(Given { lanes, missing: late, done: Some(done) });
        Arc::new(Self { shared: shared.clone(), service: service.clone(), message, report, given })
    }

    fn replies(&self, lanes: Vec<(ReplyHead, Box<[u32]>)>) -> Replies {
        let failed = lanes.iter().any(|(head, _)| head.status != Status::OK);
        let mut replies = Replies::default();
        for (head, payload) in lanes {
            replies.heads.push(head);
            replies.units.extend_from_slice(&payload);
        }
        if failed {
            replies.notes = super::message::notes(&self.report);
        }
        replies
    }
}

impl fmt::Debug for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apart").field("service", self.service.name()).field("mask", &self.message.mask).finish_non_exhaustive()
    }
}

impl Answer for Apart {
    fn facts(&self) -> Facts<'_> {
        self.message.facts(&self.service, &self.report, &self.shared.closing)
    }

    fn room(&self) -> usize {
        usize::from(self.message.room)
    }

    fn ending(&self) -> Status {
        self.shared.closing.get().unwrap_or(Status::OK)
    }

    fn closing(&self) -> Option<Status> {
        self.shared.closing.get()
    }

    fn note(&self, failure: &Failure) {
        note_failure(&self.report, &self.service, failure, self.message.post);
    }

    fn answer(&self, given: &mut dyn Iterator<Item = LaneReply<'_>>, _: Option<Timing>) {
        // Held while replies are put.
        let mut state = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        for LaneReply { rank, status, payload } in given {
            state.lanes[rank as usize] = (ReplyHead { status, dwords: payload.len() as u16 }, payload.into());
            state.missing &= !(1 << rank);
        }
        if state.missing == 0
            && let Some(done) = state.done.take()
        {
            let lanes = std::mem::take(&mut state.lanes);
            drop(state);
            done(self.replies(lanes));
        }
    }
}

impl Drop for Apart {
    /// A panic of a handler that had its calls to keep is known only after they were answered.
    fn drop(&mut self) {
        let left = self.report.take();
        if !left.is_success() {
            tell(&left);
        }
    }
}
