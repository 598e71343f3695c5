//! The trait by which a late answer reaches the message that it belongs to.

use std::fmt::Debug;
use std::time::Instant;

use hostcall_abi::Status;

use super::failure::Failure;

/// When a call was found and handled; kept only with statistics or a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// The sweep that found it began.
    pub(crate) found: Instant,
    /// Its handler started.
    pub(crate) started: Instant,
}

/// A message some of whose lanes are answered later, from any thread.
pub(crate) trait Answer: Debug + Send + Sync {
    /// Whether nobody waits for the results.
    fn is_post(&self) -> bool;
    /// Units that each lane's reply may have.
    fn room(&self) -> usize;
    /// The status with which calls end instead of being handled: the kernel is being ended, or the server is going. [`Status::OK`]: neither.
    fn ending(&self) -> Status;
    /// The status with which the buffer is being taken out of service.
    fn closing(&self) -> Option<Status>;
    /// Reports a failed call.
    fn note(&self, failure: &Failure);
    /// The reply of the `rank`-th lane, once for each.
    fn answer(&self, rank: u32, status: Status, payload: &[u32], timing: Option<Timing>);
}
