//! How a call ended, and what came back: what all ways to make one share.

use crate::context::client;
use hostcall_abi::codec::Fixed;
use hostcall_abi::{CallError, Status, unrolled};

/// How a call ended, as the rare paths pass it on: a status, and the first unit of what came with it, in one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(u64);

impl Outcome {
    pub(crate) const OK: Self = Self(0);

    #[inline(always)]
    pub(crate) fn new(status: Status, detail: u32) -> Self {
        if status == Status::OK { Self::OK } else { Self(u64::from(status.0) | u64::from(detail) << 32) }
    }

    /// That of a call which got no staging slot.
    #[cold]
    #[inline(never)]
    pub(crate) fn no_slot() -> Self {
        Self::new(client().known_end(), 0)
    }

    #[inline(always)]
    pub(crate) fn status(self) -> Status {
        Status(self.0 as u16)
    }

    #[inline(always)]
    pub(crate) fn detail(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    pub(crate) fn result(self) -> Result<(), CallError> {
        check(self.status(), self.detail())
    }
}

/// Makes a result of a status and the first unit of what came with it.
#[inline(always)]
pub(crate) fn check(status: Status, detail: u32) -> Result<(), CallError> {
    if status == Status::OK { Ok(()) } else { Err(failed(status, detail)) }
}

/// The error of a call that is over, its port given back. Ends the lane instead if the kernel is being ended.
#[cold]
#[inline(never)]
fn failed(status: Status, detail: u32) -> CallError {
    if status == Status::KERNEL_ENDED {
        crate::ending::end_lane();
    }
    match (status, detail) {
        // The client itself says so of a call without strings and slices, and gives no limit.
        (Status::TOO_LARGE, 0) => CallError::TooLarge { max: client().largest(1) },
        _ => CallError::from_status(status, detail),
    }
}

/// The error for a call that got no port, and why it did not.
#[cold]
#[inline(always)]
pub(crate) fn no_port(why: Status) -> CallError {
    failed(why, 0)
}

/// A reply to a call with a result of a fixed size, still as it came.
pub(crate) type Raw<const REPLY_WORDS: usize> = hostcall_abi::port::Reply<REPLY_WORDS>;

/// Decodes a reply.
#[inline(always)]
pub(crate) fn decode<R: Fixed, const REPLY_WORDS: usize>(reply: &Raw<REPLY_WORDS>) -> Result<R, CallError> {
    check(reply.head.status, reply.unit(0))?;
    // Words hold a little less than four units each.
    let mut units = [[0; 4]; REPLY_WORDS];
    unrolled!(for j in 0..REPLY_WORDS as u32 => {
        if let Some(four) = units.get_mut(j as usize) {
            *four = [reply.unit(4 * j), reply.unit(4 * j + 1), reply.unit(4 * j + 2), reply.unit(4 * j + 3)];
        }
    });
    R::get(units.as_flattened()).map_err(|_| CallError::Malformed)
}
