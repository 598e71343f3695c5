//! What can be called: a definition, and the code behind it.
//!
//! * [`definition`]: what both sides agree on.
//! * [`handler`]: the code, by where it runs.
//! * [`call`]: one lane's call, as its handler sees it.
//! * [`lanes`]: all calls of one message, in one loop.
//! * [`failure`]: why a call has no result.
//! * [`registry`]: services by number.
//! * [`completion`], [`answer`]: a call that is answered later.
//! * [`closing`]: whether calls are handled at all.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod closing;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod failure;
pub(crate) mod handler;
pub(crate) mod lanes;
pub(crate) mod registry;

use std::fmt;
#[cfg(feature = "tokio")]
use std::future::Future;
use std::sync::Arc;

use hostcall_abi::codec::Fixed;

pub use call::{Invocation, OutSlice, RawOut, RawSlice};
pub use definition::Definition;
pub use failure::{Failure, HandlerError, HandlerResult, IntoReply};
#[cfg(feature = "tokio")]
pub(crate) use handler::FutureFn;
pub(crate) use handler::Run;

pub use completion::{Completion, Deferred};

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
                Ok(units_of(&value))
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
