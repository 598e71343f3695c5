//! The code behind a service, by where it runs.

#[cfg(feature = "tokio")]
use std::future::Future;
use std::marker::PhantomData;
#[cfg(feature = "tokio")]
use std::pin::Pin;
use std::sync::Arc;

use hostcall_abi::codec::Fixed;

use super::batch::Batch;
use super::call::Invocation;
use super::completion::Completion;
use super::deferred::DeferredBatch;
use super::direct::Direct;
use super::failure::{Failure, HandlerResult};
use super::lanes::LaneCalls;
use super::messages::Messages;

/// A handler that answers before it returns: all that is left of a message.
pub(crate) trait Handler: Send + Sync {
    /// Handles the lanes that are left. After a panic, it is called again for those that are left then.
    fn serve(&self, calls: &mut LaneCalls<'_>);

    /// Handles message after message: a loop into which the handler is compiled.
    #[inline]
    fn serve_all(&self, messages: &mut Messages<'_>) {
        messages.each(self);
    }

    /// Handles what comes the [direct](super::direct) way.
    #[inline]
    fn direct(&self, _: &mut Direct<'_, '_>) {}

    /// Whether anything does.
    fn is_direct(&self) -> bool {
        false
    }

    /// Whether the user's code answers all lanes of a message at once: what is one piece stays so.
    fn is_whole(&self) -> bool {
        false
    }
}

/// Handles lane after lane.
pub(super) struct EachLane<F>(pub(super) F);

impl<F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync> Handler for EachLane<F> {
    #[inline(always)]
    fn serve(&self, calls: &mut LaneCalls<'_>) {
        calls.each(&self.0);
    }
}

/// Handles lane after lane, with arguments and result of fixed size.
pub(super) struct Typed<A, R, F>(F, PhantomData<fn(A) -> R>);

impl<A, R, F> Typed<A, R, F> {
    pub(super) const fn new(f: F) -> Self {
        Self(f, PhantomData)
    }
}

impl<A: Fixed, R: Fixed, F: Fn(A) -> Result<R, Failure> + Send + Sync> Handler for Typed<A, R, F> {
    #[inline(always)]
    fn serve(&self, calls: &mut LaneCalls<'_>) {
        calls.typed(&self.0);
    }

    fn direct(&self, direct: &mut Direct<'_, '_>) {
        direct.typed(&self.0);
    }

    fn is_direct(&self) -> bool {
        true
    }
}

/// Handles a message at once.
pub(super) struct Whole<F>(pub(super) F);

impl<F: Fn(&mut Batch<'_>) + Send + Sync> Handler for Whole<F> {
    #[inline(always)]
    fn serve(&self, calls: &mut LaneCalls<'_>) {
        calls.whole(&self.0);
    }

    fn direct(&self, direct: &mut Direct<'_, '_>) {
        direct.whole(&self.0);
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn is_whole(&self) -> bool {
        true
    }
}

pub(crate) type NowFn = dyn Handler;
pub(crate) type LaterFn = dyn Fn(&mut Invocation<'_>, Completion) + Send + Sync;
pub(crate) type LaterBatchFn = dyn Fn(DeferredBatch) + Send + Sync;
/// A lane's async call: its result as wire units.
#[cfg(feature = "tokio")]
pub(crate) type ReplyFuture = Pin<Box<dyn Future<Output = Result<Vec<u32>, Failure>> + Send>>;
#[cfg(feature = "tokio")]
pub(crate) type FutureFn = dyn Fn(&mut Invocation<'_>) -> Result<ReplyFuture, Failure> + Send + Sync;

/// The code behind a service, by where it runs.
#[derive(Clone)]
pub(crate) enum Run {
    /// On the serving thread.
    Inline(Arc<NowFn>),
    /// On the blocking pool, one job per lane, or per message if the handler is whole.
    Blocking(Arc<NowFn>),
    /// On the serving thread, and if it would block, again on the blocking pool.
    Adaptive(Arc<NowFn>),
    /// Starts on the serving thread and answers whenever it likes.
    Later(Arc<LaterFn>),
    /// The same, for a whole message.
    LaterBatch(Arc<LaterBatchFn>),
    /// A future per lane, on the async runtime.
    #[cfg(feature = "tokio")]
    Future(Arc<FutureFn>),
}

impl Run {
    /// Whether calls may stay open when the serving thread has gone on.
    pub(crate) fn defers(&self) -> bool {
        !matches!(self, Self::Inline(_))
    }

    /// Whether the user's code answers all lanes of a message at once.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Self::Inline(handler) | Self::Blocking(handler) | Self::Adaptive(handler) if handler.is_whole())
    }

    /// As the user says it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Inline(_) => "inline",
            Self::Blocking(_) => "blocking",
            Self::Adaptive(_) => "adaptive",
            Self::Later(_) | Self::LaterBatch(_) => "deferred",
            #[cfg(feature = "tokio")]
            Self::Future(_) => "async",
        }
    }
}
