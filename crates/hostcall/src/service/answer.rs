//! What a call that is answered later needs of whoever took its message.

use std::fmt::Debug;
use std::time::Instant;

use hostcall_abi::Status;

use super::failure::Failure;
use super::lanes::Facts;

/// When a call was found and handled; kept only with statistics or a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// The sweep that found it began.
    pub(crate) found: Instant,
    /// Its handler started.
    pub(crate) started: Instant,
}

/// The reply to one lane of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneReply<'a> {
    /// Which of the message's lanes it is for.
    pub(crate) rank: u32,
    pub(crate) status: Status,
    pub(crate) payload: &'a [u32],
}

/// A message some of whose lanes are answered later, from any thread.
pub(crate) trait Answer: Debug + Send + Sync {
    /// What is known of it.
    fn facts(&self) -> Facts<'_>;
    /// Units that each lane's reply may have.
    fn room(&self) -> usize;
    /// Units that a lane's reply takes where its handler puts it, the head included.
    fn stride(&self) -> usize {
        let facts = self.facts();
        if facts.post {
            return 1;
        }
        let room = self.room();
        1 + facts.service.reply_stride.map_or(room, |stride| (stride - 1).min(room))
    }
    /// The status with which calls end instead of being handled: the kernel is being ended, or the server is going. [`Status::OK`]: neither.
    fn ending(&self) -> Status;
    /// The status with which the buffer is being taken out of service.
    fn closing(&self) -> Option<Status>;
    /// Reports a failed call.
    fn note(&self, failure: &Failure);
    /// Replies to some lanes, once for each.
    fn answer(&self, replies: &mut dyn Iterator<Item = LaneReply<'_>>, timing: Option<Timing>);
}
