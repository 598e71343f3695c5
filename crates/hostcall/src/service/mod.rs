//! What can be called: a definition, and the code behind it.
//!
//! * [`definition`]: what both sides agree on.
//! * [`handler`]: the code, by where it runs.
//! * [`arguments`], [`out`], [`call`]: one lane's call, as its handler sees it.
//! * [`direct`]: the way of what nearly every message is. [`lanes`]: the calls of one message, in one loop, and
//!   [`messages`]: message after message, of whatever else there is.
//! * [`batch`], [`rows`], [`typed`], [`deferred`]: the calls of one message, as a handler of whole messages sees them.
//! * [`carry`]: a message as data, to be answered elsewhere.
//! * [`failure`]: why a call has no result.
//! * [`registry`]: services by number.
//! * [`completion`], [`answer`]: a call that is answered later.
//! * [`closing`]: whether calls are handled at all.

pub(crate) mod answer;
pub(crate) mod arguments;
mod batch;
pub(crate) mod call;
mod carry;
pub(crate) mod closing;
pub(crate) mod completion;
mod deferred;
pub(crate) mod definition;
mod describe;
pub(crate) mod direct;
pub(crate) mod failure;
pub(crate) mod handler;
pub(crate) mod lanes;
pub(crate) mod messages;
pub(crate) mod out;
pub(crate) mod registry;
mod rows;
mod typed;

use std::fmt;
#[cfg(feature = "tokio")]
use std::future::Future;
use std::sync::Arc;

use hostcall_abi::codec::Fixed;

use crate::tenant::Tenant;
pub use arguments::{Arguments, RawSlice};
pub use batch::{Batch, Requests};
pub use call::Invocation;
pub use deferred::DeferredBatch;
pub use definition::Definition;
pub use describe::{DefinitionBuilder, DefinitionError, Variable, VariableKind};
pub use failure::{Failure, HandlerError, HandlerResult, IntoReply};
#[cfg(feature = "tokio")]
pub(crate) use handler::FutureFn;
pub(crate) use handler::Run;
use handler::{EachLane, Typed, Whole};

pub use completion::{Completion, Deferred};
pub use out::{Out, OutSlice, RawOut, Written};
pub use rows::{Column, ColumnMut, Rows, RowsMut};
pub use typed::Calls;

/// What is done whenever messages of a program have been handled on a serving thread.
pub(crate) type After = Arc<dyn Fn(&Arc<Tenant>) + Send + Sync>;

/// Something a kernel can call. Made by the functions that `#[hostcall::service]` generates, refined here, and
/// registered with [`ServerBuilder::service`](crate::ServerBuilder::service) or
/// [`Server::register`](crate::Server::register).
#[derive(Clone)]
pub struct Service {
    pub(crate) definition: Definition,
    pub(crate) run: Run,
    pub(crate) once: bool,
    pub(crate) brief: Brief,
    /// Called on the serving thread when all lanes of a message have been handled there.
    pub(crate) after: Option<After>,
}

/// Whether a wave that waits may run a service's handler: see [`Service::brief`].
#[derive(Clone)]
pub(crate) enum Brief {
    Never,
    Always,
    /// As long as this is true.
    While(Arc<dyn Fn() -> bool + Send + Sync>),
}

impl Brief {
    /// Whether it may now.
    pub(crate) fn now(&self) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::While(f) => f(),
        }
    }
}

impl Service {
    /// A service whose handler runs on the serving thread and answers before it returns.
    ///
    /// Such a handler must be quick: it delays the calls of all ports of its thread. Say [`Service::blocking`] if it is
    /// not.
    pub fn new(definition: Definition, handler: impl Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static) -> Self {
        Self::of(definition, Run::Inline(Arc::new(EachLane(handler))))
    }

    /// A service of arguments and a result of fixed size, by their types: the arguments are one value, such as a tuple.
    pub(crate) fn typed<A: Fixed + 'static, R: Fixed + 'static>(
        definition: Definition,
        handler: impl Fn(A) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::of(definition, Run::Inline(Arc::new(Typed::new(handler))))
    }

    /// A service whose handler takes a whole message: the calls that lanes of a wave made together. It runs on the
    /// serving thread; say [`Service::blocking`] if it is not quick, and the message goes to the blocking pool in one
    /// piece.
    ///
    /// A panic fails the lanes that have no answer yet.
    pub fn batch(definition: Definition, handler: impl Fn(&mut Batch<'_>) + Send + Sync + 'static) -> Self {
        Self::of(definition, Run::Inline(Arc::new(Whole(handler))))
    }

    /// A service whose handler gets a whole message to keep, and answers it later, from any thread.
    pub fn batch_deferred(definition: Definition, handler: impl Fn(DeferredBatch) + Send + Sync + 'static) -> Self {
        Self::of(definition, Run::LaterBatch(Arc::new(handler)))
    }

    fn of(definition: Definition, run: Run) -> Self {
        Self { definition, run, once: false, brief: Brief::Never, after: None }
    }

    /// A service whose handler takes a [`Completion`] along and answers it later, from any thread.
    ///
    /// The handler decodes its arguments before it returns; it can ask for no `&mut [T]` scratch.
    pub fn deferred(definition: Definition, handler: impl Fn(&mut Invocation<'_>, Completion) + Send + Sync + 'static) -> Self {
        Self::of(definition, Run::Later(Arc::new(handler)))
    }

    /// A service whose handler decodes its arguments at once and gives a future, which runs on the server's tokio
    /// runtime.
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
                Ok(units_of(&value))
            }))
        });
        Self::of(definition, Run::Future(run))
    }

    /// Runs the handler on the server's blocking pool, one job per lane (of a batch service per message): it may sleep,
    /// read a disk or wait for another kernel without delaying any other call. No effect on deferred and async
    /// services, which never block.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        if let Run::Inline(f) = self.run {
            self.run = Run::Blocking(f);
        }
        self
    }

    /// Runs the handler on the serving thread, where [`Invocation::may_block`] is false. If it then fails with
    /// [`Failure::WouldBlock`] it is run again, from the start, on the blocking pool. No effect on deferred and async
    /// services.
    #[must_use]
    pub fn blocking_if_needed(mut self) -> Self {
        if let Run::Inline(f) = self.run {
            self.run = Run::Adaptive(f);
        }
        self
    }

    /// A handler that may block, but waits for nobody: what it does comes to an end whatever others do. So a wave that
    /// waits may run it.
    #[must_use]
    pub(crate) fn brief(mut self) -> Self {
        self.brief = Brief::Always;
        self
    }

    /// As [`Service::brief`], while `f` says so.
    #[must_use]
    pub(crate) fn brief_while(mut self, f: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.brief = Brief::While(Arc::new(f));
        self
    }

    /// Calls `f` whenever all lanes of a message have been handled on the serving thread: what they left there can then
    /// be dealt with at once.
    #[must_use]
    pub(crate) fn after_messages(mut self, f: impl Fn(&Arc<Tenant>) + Send + Sync + 'static) -> Self {
        self.after = Some(Arc::new(f));
        self
    }

    /// Takes one call (of one lane); every further one ends as [`CallError::Finished`](crate::CallError::Finished).
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
        &self.definition.name
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("definition", &self.definition).field("mode", &self.run.name()).field("once", &self.once).finish()
    }
}

/// The units of a value: what a reply carries.
pub(crate) fn units_of<R: Fixed>(value: &R) -> Vec<u32> {
    let mut units = vec![0; R::DWORDS];
    value.put(&mut units);
    units
}
