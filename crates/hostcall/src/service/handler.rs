//! The code behind a service, by where it runs.

#[cfg(feature = "tokio")]
use std::future::Future;
#[cfg(feature = "tokio")]
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "tokio")]
use super::Failure;
use super::call::Invocation;
use super::completion::Completion;
use super::failure::HandlerResult;
use super::lanes::LaneCalls;

/// A handler that answers before it returns.
pub(crate) trait Handler: Send + Sync {
    /// Handles one lane's call.
    fn call(&self, call: &mut Invocation<'_>) -> HandlerResult;
    /// Handles all lanes of a message that are left: a loop into which the handler is compiled. After a panic it is called again.
    fn serve(&self, lanes: &mut LaneCalls<'_>);
}

impl<F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync> Handler for F {
    fn call(&self, call: &mut Invocation<'_>) -> HandlerResult {
        self(call)
    }

    fn serve(&self, lanes: &mut LaneCalls<'_>) {
        lanes.each(self);
    }
}

pub(crate) type NowFn = dyn Handler;
pub(crate) type LaterFn = dyn Fn(&mut Invocation<'_>, Completion) + Send + Sync;
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
    /// On the blocking pool, one job per lane.
    Blocking(Arc<NowFn>),
    /// On the serving thread, and if it would block, again on the blocking pool.
    Adaptive(Arc<NowFn>),
    /// Starts on the serving thread and answers whenever it likes.
    Later(Arc<LaterFn>),
    /// A future per lane, on the async runtime.
    #[cfg(feature = "tokio")]
    Future(Arc<FutureFn>),
}

impl Run {
    /// Whether calls may stay open when the serving thread has gone on.
    pub(crate) fn defers(&self) -> bool {
        !matches!(self, Self::Inline(_))
    }

    /// As the user says it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Inline(_) => "inline",
            Self::Blocking(_) => "blocking",
            Self::Adaptive(_) => "adaptive",
            Self::Later(_) => "deferred",
            #[cfg(feature = "tokio")]
            Self::Future(_) => "async",
        }
    }
}
