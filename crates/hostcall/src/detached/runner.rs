//! Services, and the threads on which they run, without a server.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use hostcall_abi::Status;
use offload::host::StackSize;

use super::apart::{Apart, Done};
use super::message::{Invalid, Message, Replies};
use super::shared::Shared;
use crate::record::{Report, install_hook};
use crate::server::ServerError;
use crate::service::call::Thread;
use crate::service::closing::Closing;
use crate::service::definition::Definition;
use crate::service::lanes::{Answers, LaneCalls, Progress, bits_of};
use crate::service::registry::Registered;
use crate::service::{Run, Service};
#[cfg(feature = "tokio")]
use crate::serving::asynchronous::Runtime;
use crate::serving::exits::{self, Exits};
use crate::serving::pool::{Memory, Pool};
use crate::tenant::Tenant;

/// Runs services on messages that came through no port. It has what a [`Server`](crate::Server) has for handlers that
/// are not inline: a blocking pool, and with the feature `tokio` a runtime.
///
/// Dropping it answers calls that have not begun with [`CallError::ServerGone`](crate::CallError::ServerGone).
pub struct Runner {
    shared: Arc<Shared>,
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").finish_non_exhaustive()
    }
}

impl Default for Runner {
    fn default() -> Self {
        Self::new()
    }
}

impl Runner {
    /// The most threads that blocking handlers take together, unless said otherwise.
    const BLOCKING_THREADS: usize = 512;

    /// With a blocking pool of 512 threads at most, and a runtime of its own for async handlers: neither has threads
    /// before a service needs them.
    pub fn new() -> Self {
        Self::with_pool(Self::BLOCKING_THREADS)
    }

    /// With a blocking pool of so many threads at most.
    pub fn with_pool(blocking_threads: usize) -> Self {
        Self::made(
            blocking_threads,
            #[cfg(feature = "tokio")]
            None,
        )
    }

    /// With a blocking pool of so many threads at most, and a runtime for async handlers.
    #[cfg(feature = "tokio")]
    pub fn on(blocking_threads: usize, runtime: tokio::runtime::Handle) -> Self {
        Self::made(blocking_threads, Some(runtime))
    }

    fn made(blocking_threads: usize, #[cfg(feature = "tokio")] runtime: Option<tokio::runtime::Handle>) -> Self {
        install_hook();
        let shared = Shared {
            pool: Pool::new(blocking_threads, StackSize::default()),
            tenant: Tenant::new(),
            #[cfg(feature = "tokio")]
            runtime: Runtime::new(runtime, StackSize::default()),
            closing: Closing::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Makes a service ready to run.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn add(&self, service: Service) -> Result<Callable, ServerError> {
        match &service.run {
            Run::Inline(_) | Run::Later(_) | Run::LaterBatch(_) => {}
            Run::Blocking(_) | Run::Adaptive(_) => self.shared.pool.warm_up().map_err(ServerError::Thread)?,
            #[cfg(feature = "tokio")]
            Run::Future(_) => self.shared.runtime.warm_up().map_err(ServerError::Thread)?,
        }
        Ok(Callable { shared: self.shared.clone(), service: Arc::new(Registered::new(1, service, 0, false)) })
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.shared.closing.set(Status::SERVER_GONE);
        self.shared.pool.close();
        #[cfg(feature = "tokio")]
        self.shared.runtime.close();
    }
}

/// Somebody whose messages a [`Runner`] runs. Calls that have not begun when it is dropped end with
/// [`CallError::Detached`](crate::CallError::Detached).
pub struct Caller {
    shared: Arc<Shared>,
    tenant: Arc<Tenant>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("number", &self.tenant.number()).finish_non_exhaustive()
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.tenant.end(&[&self.shared.pool]);
    }
}

/// A service that runs on messages. Clones are the same service.
#[derive(Clone)]
pub struct Callable {
    shared: Arc<Shared>,
    service: Arc<Registered>,
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callable").field("service", &self.service).finish_non_exhaustive()
    }
}

thread_local! {
    /// What a thread reuses from message to message.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

impl Callable {
    /// What the service is.
    pub fn definition(&self) -> &Definition {
        &self.service.definition
    }

    /// How its handler runs: `inline`, `blocking`, `adaptive`, `deferred` or `async`.
    pub fn mode(&self) -> &'static str {
        self.service.run.name()
    }

    /// Units of memory that replies to a message take at most while it is handled.
    pub fn reply_units(&self, message: &Message) -> usize {
        message.lanes() as usize * message.stride(&self.service)
    }

    /// Somebody whose messages the runner of this service runs, and a stranger to all others: blocking handlers of one
    /// caller take turns with those of another, and leave as many threads as they take.
    pub fn caller(&self) -> Caller {
        Caller { shared: self.shared.clone(), tenant: Tenant::new() }
    }

    /// Runs it on a message, and tells `done` the replies: before this returns if the handler is inline, and from any
    /// thread if it is not.
    ///
    /// # Errors
    /// When it is no message of this service; `done` is then told nothing.
    pub fn run(&self, message: Message, done: impl FnOnce(Replies) + Send + 'static) -> Result<(), Invalid> {
        self.run_of(&self.shared.tenant, message, done)
    }

    /// As [`Callable::run`], for a caller of the same runner.
    ///
    /// # Errors
    /// As `run`.
    pub fn run_for(&self, caller: &Caller, message: Message, done: impl FnOnce(Replies) + Send + 'static) -> Result<(), Invalid> {
        self.run_of(&caller.tenant, message, done)
    }

    fn run_of(&self, tenant: &Arc<Tenant>, message: Message, done: impl FnOnce(Replies) + Send + 'static) -> Result<(), Invalid> {
        message.check(&self.service.definition)?;
        // Taken out, because handlers may run others.
        let mut memory = MEMORY.take();
        self.handle(tenant, message, done, &mut memory);
        memory.forget();
        MEMORY.set(memory);
        Ok(())
    }

    fn handle(&self, tenant: &Arc<Tenant>, message: Message, done: impl FnOnce(Replies) + Send + 'static, memory: &mut Memory) {
        let Self { shared, service } = self;
        let (lanes, stride, report) = (message.lanes(), message.stride(service), Report::default());
        let mut late = bits_of(0, lanes);
        let here = matches!(service.run, Run::Inline(_) | Run::Adaptive(_));
        let (scratch, streams) = memory.parts(if here { lanes } else { 0 }, stride);
        if let Run::Inline(handler) | Run::Adaptive(handler) = &service.run {
            let mut progress = Progress::default();
            let facts = message.facts(service, tenant, &report, &shared.closing);
            let mut answers = Answers { facts, progress: &mut progress, streams: &mut *streams, first: 0, stride, thread: Thread::Serving };
            answers.begin(0, lanes);
            LaneCalls { answers, scratch: &mut *scratch }.handle(&**handler);
            if let Some(after) = &service.after {
                after(tenant);
            }
            late = progress.late;
            if late == 0 {
                return done(Replies::of_streams(streams, stride, lanes, &report));
            }
        }
        let done: Done = Box::new(done);
        let apart = Apart::new((shared, tenant), service, message, report, late, (streams, stride), done);
        let exits = Exits {
            pool: &shared.pool,
            kept: None,
            #[cfg(feature = "tokio")]
            runtime: &shared.runtime,
        };
        exits::go(exits, &(apart as _), lanes, late, None, scratch);
    }
}
