//! What can be called: a name, the shape of its arguments, and the code behind it.

use std::fmt;
#[cfg(feature = "tokio")]
use std::future::Future;
#[cfg(feature = "tokio")]
use std::pin::Pin;
use std::sync::Arc;

use hostcall_abi::codec::{DecodeError, Fixed};
use hostcall_abi::{CallError, Status};

use crate::batch::Batch;
use crate::completion::Completion;
use crate::invocation::Invocation;

/// What both sides must agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name on the wire, such as `Host__add42`.
    pub name: &'static str,
    /// Hash of the definition, compared with the program's when it is attached.
    pub signature: u64,
    /// Whether the service takes strings or slices (in or out), so that its payload starts with a
    /// [`VarHead`](hostcall_abi::codec::VarHead).
    pub takes_var: bool,
    /// 32-bit units of a request before its variable bytes: the `VarHead` if there is one, each fixed argument, and one
    /// unit (the length) for each string or slice. The stub's `UNITS`.
    pub units: usize,
    /// Units of the result; `None` for a posted function.
    pub reply_dwords: Option<usize>,
}

impl Definition {
    pub(crate) fn shape(&self) -> Shape {
        Shape { units: self.units, takes_var: self.takes_var }
    }
}

/// How the payload of a service's calls is laid out; see [`hostcall_abi::codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) units: usize,
    pub(crate) takes_var: bool,
}

/// The error a handler returns: the lane gets [`CallError::HandlerFailed`] with the code, the host's report the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct HandlerError {
    /// What the calling lane gets to see.
    pub code: u32,
    /// What the host's report shows.
    pub message: String,
}

impl HandlerError {
    /// An error with a code for the lane and a message for the host.
    pub fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Why one lane's call has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The handler returned an error.
    #[error("the handler failed with code {code}: {message}")]
    HandlerFailed {
        /// What the lane gets to see.
        code: u32,
        /// What the host's report shows.
        message: String,
    },
    /// The policy does not allow it.
    #[error("refused by the policy with code {code}")]
    Refused {
        /// Errno-like number of the limit.
        code: u32,
    },
    /// The result and the slices asked for do not fit into a reply.
    #[error("the reply does not fit: {max} bytes at most")]
    TooLarge {
        /// The most bytes that one lane's reply carries.
        max: u32,
    },
    /// The payload is not what the service takes.
    #[error("malformed arguments: {0}")]
    Decode(#[from] DecodeError),
    /// The handler panicked. (The panic is kept in the report; nobody but the server makes this.)
    #[error("the handler panicked")]
    Panicked,
    /// The handler would block and may not, see [`Service::blocking_if_needed`].
    #[error("it would block")]
    WouldBlock,
    /// Any other status, for services that decide it themselves.
    #[error("{0}")]
    Status(CallError),
}

impl Failure {
    /// The status and detail that the lane gets.
    pub fn to_status(&self) -> (Status, u32) {
        match self {
            Self::HandlerFailed { code, .. } => (Status::HANDLER_FAILED, *code),
            Self::Refused { code } => (Status::REFUSED, *code),
            Self::TooLarge { max } => (Status::TOO_LARGE, *max),
            Self::Decode(_) => (Status::MALFORMED, 0),
            Self::Panicked => (Status::HANDLER_PANICKED, 0),
            Self::WouldBlock => (Status::BUSY, 0),
            Self::Status(error) => error.to_status(),
        }
    }
}

impl From<HandlerError> for Failure {
    fn from(e: HandlerError) -> Self {
        Self::HandlerFailed { code: e.code, message: e.message }
    }
}

/// What the glue around a handler returns. The result itself was given to [`Invocation::reply`].
pub type HandlerResult = Result<(), Failure>;

/// What a handler of a service with result `R` may return: an `R`, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a handler of this service must return `{R}` or `Result<{R}, HandlerError>`, not `{Self}`",
    label = "not the service's result"
)]
pub trait IntoReply<R> {
    /// The result, or why there is none.
    ///
    /// # Errors
    /// What the handler returned as an error.
    fn into_reply(self) -> Result<R, Failure>;
}

impl<R> IntoReply<R> for R {
    fn into_reply(self) -> Result<R, Failure> {
        Ok(self)
    }
}

impl<R> IntoReply<R> for Result<R, HandlerError> {
    fn into_reply(self) -> Result<R, Failure> {
        self.map_err(Failure::from)
    }
}

/// A handler that answers before it returns.
pub(crate) trait Handler: Send + Sync {
    /// Handles one lane's call.
    fn call(&self, call: &mut Invocation<'_>) -> HandlerResult;
    /// Handles all lanes of a message: a loop into which the handler is compiled.
    fn serve(&self, batch: &mut Batch<'_>);
}

impl<F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync> Handler for F {
    fn call(&self, call: &mut Invocation<'_>) -> HandlerResult {
        self(call)
    }

    fn serve(&self, batch: &mut Batch<'_>) {
        batch.each(self);
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

/// Something a kernel can call. Made by the functions that `#[hostcall::service]` generates, refined here, and
/// registered with [`ServerBuilder::service`](crate::ServerBuilder::service) or [`Server::register`](crate::Server::register).
#[derive(Clone)]
pub struct Service {
    pub(crate) definition: Definition,
    pub(crate) run: Run,
    pub(crate) once: bool,
    /// Called on the serving thread when all lanes of a message have been handled there.
    pub(crate) after: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Service {
    /// A service whose handler runs on the serving thread and answers before it returns.
    ///
    /// Such a handler must be quick: it delays the calls of all ports of its thread. Say [`Service::blocking`] if it is not.
    pub fn new(definition: Definition, handler: impl Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static) -> Self {
        Self { definition, run: Run::Inline(Arc::new(handler)), once: false, after: None }
    }

    /// A service whose handler takes a [`Completion`] along and answers it later, from any thread.
    ///
    /// The handler decodes its arguments before it returns; it can ask for no `&mut [T]` scratch.
    pub fn deferred(definition: Definition, handler: impl Fn(&mut Invocation<'_>, Completion) + Send + Sync + 'static) -> Self {
        Self { definition, run: Run::Later(Arc::new(handler)), once: false, after: None }
    }

    /// A service whose handler decodes its arguments at once and gives a future, which runs on the server's tokio runtime.
    #[cfg(feature = "tokio")]
    pub fn new_async<R, Fut>(
        definition: Definition,
        handler: impl Fn(&mut Invocation<'_>) -> Result<Fut, Failure> + Send + Sync + 'static,
    ) -> Self
    where
        R: Fixed + Send + 'static,
        Fut: Future<Output = Result<R, Failure>> + Send + 'static,
    {
        let run: Arc<FutureFn> = Arc::new(move |call| {
            let future = handler(call)?;
            Ok(Box::pin(async move {
                let value = future.await?;
                let mut units = Vec::new();
                units_of(&value, &mut units);
                Ok(units)
            }))
        });
        Self { definition, run: Run::Future(run), once: false, after: None }
    }

    /// Runs the handler on the server's blocking pool, one job per lane: it may sleep, read a disk or wait for
    /// another kernel without delaying any other call. No effect on deferred and async services, which never block.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        if let Run::Inline(f) = self.run {
            self.run = Run::Blocking(f);
        }
        self
    }

    /// Runs the handler on the serving thread, where [`Invocation::may_block`] is false. If it then fails with
    /// [`Failure::WouldBlock`] it is run again, from the start, on the blocking pool. No effect on deferred and async services.
    #[must_use]
    pub fn blocking_if_needed(mut self) -> Self {
        if let Run::Inline(f) = self.run {
            self.run = Run::Adaptive(f);
        }
        self
    }

    /// Calls `f` whenever all lanes of a message have been handled on the serving thread: what they left there can then be dealt with at once.
    #[must_use]
    pub(crate) fn after_messages(mut self, f: impl Fn() + Send + Sync + 'static) -> Self {
        self.after = Some(Arc::new(f));
        self
    }

    /// Takes one call (of one lane); every further one ends as [`CallError::Finished`].
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// What it is, for both sides.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The name on the wire.
    pub fn name(&self) -> &str {
        self.definition.name
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.run {
            Run::Inline(_) => "inline",
            Run::Blocking(_) => "blocking",
            Run::Adaptive(_) => "adaptive",
            Run::Later(_) => "deferred",
            #[cfg(feature = "tokio")]
            Run::Future(_) => "async",
        };
        f.debug_struct("Service").field("definition", &self.definition).field("mode", &mode).field("once", &self.once).finish()
    }
}

/// The units of a value: what a reply carries.
#[inline(always)]
pub(crate) fn units_of<R: Fixed>(value: &R, into: &mut Vec<u32>) {
    into.clear();
    into.resize(R::DWORDS, 0);
    value.put(into);
}
