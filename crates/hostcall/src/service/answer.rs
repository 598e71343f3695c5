//! The trait by which a late answer reaches the message that it belongs to.

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

/// Replies of equal length to all lanes of a message, all of them results: a stream for each, its head first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllAlike<'a> {
    /// Units of each, the head not counted.
    pub(crate) units: u32,
    /// The streams (none of a post), and [`LaneReplies::SPARE`](hostcall_abi::port::LaneReplies::SPARE) units more.
    pub(crate) streams: &'a [u32],
    /// Units from one to the next.
    pub(crate) stride: usize,
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
    /// The status with which calls end instead of being handled: the kernel is being ended, or the server is going.
    /// [`Status::OK`]: neither.
    fn ending(&self) -> Status;
    /// The status with which the buffer is being taken out of service.
    fn closing(&self) -> Option<Status>;
    /// Reports a failed call.
    fn note(&self, failure: &Failure);
    /// Replies to some lanes, once for each.
    fn answer(&self, replies: &mut dyn Iterator<Item = LaneReply<'_>>, timing: Option<Timing>);
    /// Replies to all lanes, none of which has one.
    fn answer_all(&self, all: AllAlike<'_>, timing: Option<Timing>) {
        let AllAlike { units, streams, stride } = all;
        let reply = |rank| {
            let start = rank as usize * stride + 1;
            // Of posts there are no streams.
            let payload = if units == 0 { &[] } else { &streams[start..start + units as usize] };
            LaneReply { rank, status: Status::OK, payload }
        };
        self.answer(&mut (0..self.facts().lanes).map(reply), timing);
    }
}
