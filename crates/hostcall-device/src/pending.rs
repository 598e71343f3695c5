//! A call that has been sent and whose result is fetched later.

use crate::context::{client, machine};
use crate::outcome::decode;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use hostcall_abi::CallError;
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Group, Held};

/// A call under way whose result is an `R`: what the stubs `start_…` return. It holds a port until it is waited for or
/// dropped.
///
/// The lanes that started it together must wait for it (or drop it) together.
#[must_use = "a call whose result is never fetched could have been posted"]
pub trait Pending<R>: sealed::Sealed + Sized {
    /// Whether every lane's result is there. One read over the bus.
    fn is_ready(&self) -> bool;

    /// Waits for the result.
    ///
    /// # Errors
    /// Whatever ended the call.
    fn wait(self) -> Result<R, CallError>;

    /// Waits for the result, at most `ns` nanoseconds. A call that was given up is still carried out; its
    /// port is reused once the host has answered.
    ///
    /// # Errors
    /// [`CallError::Timeout`], or whatever ended the call.
    fn wait_timeout(self, ns: u64) -> Result<R, CallError>;
}

mod sealed {
    /// Nobody else's calls are pending.
    pub trait Sealed {}
}

/// A [`Pending`] call whose replies have `REPLY_WORDS` words.
pub struct Started<R: Fixed, const REPLY_WORDS: usize> {
    group: Group,
    held: Held,
    result: PhantomData<fn() -> R>,
}

impl<R: Fixed, const REPLY_WORDS: usize> Started<R, REPLY_WORDS> {
    #[inline(always)]
    pub(crate) fn new(group: Group, held: Held) -> Self {
        Self { group, held, result: PhantomData }
    }

    #[inline(always)]
    fn finish(self, deadline_ns: u64) -> Result<R, CallError> {
        let mut this = ManuallyDrop::new(self);
        let group = this.group;
        let reply = client().receive_late::<REPLY_WORDS>(&group, &mut this.held, deadline_ns);
        client().release(&group, this.held);
        decode(&reply)
    }
}

impl<R: Fixed, const REPLY_WORDS: usize> sealed::Sealed for Started<R, REPLY_WORDS> {}

impl<R: Fixed, const REPLY_WORDS: usize> Pending<R> for Started<R, REPLY_WORDS> {
    #[inline(always)]
    fn is_ready(&self) -> bool {
        client().ready(&self.group, &self.held)
    }

    #[inline(always)]
    fn wait(self) -> Result<R, CallError> {
        self.finish(0)
    }

    #[inline(always)]
    fn wait_timeout(self, ns: u64) -> Result<R, CallError> {
        let deadline = machine().now_ns().saturating_add(ns.max(1));
        self.finish(deadline)
    }
}

impl<R: Fixed, const REPLY_WORDS: usize> Drop for Started<R, REPLY_WORDS> {
    #[inline(always)]
    fn drop(&mut self) {
        // The port's state says that its last message is unanswered: its next owner waits for that.
        client().release(&self.group, self.held);
    }
}

impl<R: Fixed, const REPLY_WORDS: usize> core::fmt::Debug for Started<R, REPLY_WORDS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pending").field("port", &self.held.port).field("lanes", &self.group.count).finish_non_exhaustive()
    }
}
