//! A message some of whose lanes are answered later, apart from its port.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostcall_abi::{ReplyHead, Status};

use super::message::{Message, Replies};
use super::shared::Shared;
use crate::record::{Report, tell};
use crate::service::Failure;
use crate::service::answer::{Answer, LaneReply, Timing};
use crate::service::lanes::{Facts, note_failure};
use crate::service::registry::Registered;
use crate::tenant::Tenant;

/// What is told of the replies, once.
pub(super) type Done = Box<dyn FnOnce(Replies) + Send>;

/// An open message.
pub(super) struct Apart {
    pub(super) shared: Arc<Shared>,
    pub(super) tenant: Arc<Tenant>,
    pub(super) service: Arc<Registered>,
    pub(super) message: Message,
    pub(super) report: Report,
    given: Mutex<Given>,
}

/// The replies that have been given.
struct Given {
    /// How each lane's call ended, by rank, and where its units are.
    lanes: Vec<(ReplyHead, u32)>,
    /// The units of all lanes, in the order in which they were given.
    units: Vec<u32>,
    /// Lanes whose reply is missing, by rank.
    missing: u64,
    done: Option<Done>,
}

impl Apart {
    /// The message whose lanes `late`, by rank, are answered later; the replies of the others, `stride` units apart,
    /// are in `streams`.
    pub(super) fn new(
        (shared, tenant): (&Arc<Shared>, &Arc<Tenant>),
        service: &Arc<Registered>,
        message: Message,
        report: Report,
        late: u64,
        (streams, stride): (&[u32], usize),
        done: Done,
    ) -> Arc<Self> {
        let lanes = vec![(ReplyHead { status: Status::OK, dwords: 0 }, 0); message.lanes() as usize];
        let mut given = Given { lanes, units: Vec::new(), missing: late, done: Some(done) };
        for rank in (0..message.lanes()).filter(|rank| late >> rank & 1 == 0) {
            let stream = &streams[rank as usize * stride..][..stride];
            let head = ReplyHead::decode(stream[0]);
            given.put(rank, head.status, &stream[1..=usize::from(head.dwords)]);
        }
        let given = Mutex::new(given);
        Arc::new(Self { shared: shared.clone(), tenant: tenant.clone(), service: service.clone(), message, report, given })
    }

    fn replies(&self, lanes: Vec<(ReplyHead, u32)>, given: Vec<u32>) -> Replies {
        let heads: Vec<ReplyHead> = lanes.iter().map(|(head, _)| *head).collect();
        let failed = heads.iter().any(|head| head.status != Status::OK);
        let mut end = 0;
        let in_order = lanes.iter().all(|(head, at)| std::mem::replace(&mut end, *at + u32::from(head.dwords)) == *at);
        let units = match in_order && end as usize == given.len() {
            true => given,
            false => lanes.iter().flat_map(|(head, at)| &given[*at as usize..][..usize::from(head.dwords)]).copied().collect(),
        };
        let notes = if failed { super::message::notes(&self.report) } else { Vec::new() };
        Replies { heads, units, notes }
    }
}

impl Given {
    fn put(&mut self, rank: u32, status: Status, payload: &[u32]) {
        self.lanes[rank as usize] = (ReplyHead { status, dwords: payload.len() as u16 }, self.units.len() as u32);
        self.units.extend_from_slice(payload);
    }
}

impl fmt::Debug for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apart").field("service", self.service.name()).field("mask", &self.message.mask).finish_non_exhaustive()
    }
}

impl Answer for Apart {
    fn facts(&self) -> Facts<'_> {
        self.message.facts(&self.service, &self.tenant, &self.report, &self.shared.closing)
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
            state.put(rank, status, payload);
            state.missing &= !(1 << rank);
        }
        if state.missing == 0
            && let Some(done) = state.done.take()
        {
            let (lanes, units) = (std::mem::take(&mut state.lanes), std::mem::take(&mut state.units));
            drop(state);
            done(self.replies(lanes, units));
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
