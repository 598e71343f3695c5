//! The side of the kernel: remote services, as services of a server.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use hostcall::{DeferredBatch, Definition, Service};

use crate::connector::{Connector, Running};
use crate::engine::Engine;
use crate::errors::RemoteError;
use crate::stats::{CallStats, Calls};
use crate::transport::{Ear, Heard, Transport};

/// How calls of one remote service are made.
#[derive(Clone, Debug)]
#[must_use]
pub struct CallOptions {
    pub(crate) timeout: Duration,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) worker_wait: Duration,
    pub(crate) in_flight: usize,
    pub(crate) kept: bool,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CallOptions {
    /// Ten seconds; no retries; no waiting for workers; 16 requests at once.
    pub const fn new() -> Self {
        Self { timeout: Duration::from_secs(10), retry_after: None, worker_wait: Duration::ZERO, in_flight: 16, kept: false }
    }

    /// How long a call takes at most, from the moment it was found: then it ends as
    /// [`CallError::Timeout`](hostcall::CallError::Timeout). Waiting to be sent is part of it. Default: 10 s.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The handler may run more than once for a call: what is not answered after so long is sent again, until the
    /// timeout.
    pub const fn idempotent(mut self, retry_after: Duration) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// How long a call waits for a worker if there is none, before it ends as
    /// [`CallError::UnknownService`](hostcall::CallError::UnknownService). Nothing has run meanwhile, so no call runs
    /// twice. Default: not at all.
    pub const fn worker_wait(mut self, wait: Duration) -> Self {
        self.worker_wait = wait;
        self
    }

    /// Requests that are under way at once. What comes meanwhile waits, and goes together in the next one. Default: 16.
    pub const fn in_flight(mut self, requests: usize) -> Self {
        self.in_flight = if requests == 0 { 1 } else { requests };
        self
    }

    /// Posts are kept by the broker (NATS JetStream) until a worker has handled them, though there be none now. They
    /// are handed over before `Server::wait` returns. A worker that is lost with a post leaves it to another, so a
    /// handler may run more than once. Workers take them if they are [told to](crate::WorkerBuilder::kept). No effect
    /// on calls.
    pub const fn kept(mut self) -> Self {
        self.kept = true;
        self
    }
}

/// A connection of callers. Clones are the same connection; services that were made by it keep it.
#[derive(Clone)]
pub struct Remote {
    link: Arc<Link>,
    runtime: Arc<Running>,
    options: CallOptions,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("place", &self.link.transport.place()).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Connector {
    /// Connects.
    ///
    /// # Errors
    /// When the broker does not answer or does not know us, a file cannot be read, or the system has no thread left.
    pub fn connect(self) -> Result<Remote, RemoteError> {
        let runtime = self.runtime()?;
        let engines = Arc::new(Engines::default());
        let theirs = engines.clone();
        let ear: Ear = Arc::new(move |number, heard| theirs.heard(number, heard));
        // Answers are looked at as they come; there are no more than were asked for.
        let transport = runtime.block_on(self.transport(Some(ear), 1 << 16))?;
        tracing::debug!(place = transport.place(), "connected to call");
        let link = Arc::new(Link { transport, engines, counts: Mutex::default() });
        Ok(Remote { link, runtime: Arc::new(Running::new(runtime)), options: CallOptions::new() })
    }
}

impl Remote {
    /// What services that are made from now on are called with, unless they say it themselves.
    #[must_use]
    pub fn with_options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// A service that is answered by workers: for [`ServerBuilder::service`](hostcall::ServerBuilder::service), as any
    /// other. The definition is that of a function of `#[service]`, such as `host::definition::lookup()`.
    pub fn service(&self, definition: Definition) -> Service {
        self.service_with(definition, self.options.clone())
    }

    /// The same with options of its own.
    pub fn service_with(&self, definition: Definition, options: CallOptions) -> Service {
        let start = |first| Engine::start(self.link.clone(), self.runtime.handle(), first, definition.clone(), options);
        let engine = self.link.engines.add(start);
        self.link.counts().push((definition.name.to_string(), engine.counts.clone()));
        let serving = Serving { engine, _runtime: self.runtime.clone() };
        Service::batch_deferred(definition, move |batch| serving.call(batch))
    }

    /// Counts of each service that was made by this connection, in that order.
    pub fn stats(&self) -> Vec<CallStats> {
        self.link.counts().iter().map(|(service, counts)| counts.row(service)).collect()
    }
}

/// What a service keeps: its end is its engine's.
struct Serving {
    engine: Arc<Engine>,
    _runtime: Arc<Running>,
}

impl Serving {
    fn call(&self, batch: DeferredBatch) {
        self.engine.call(batch);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.engine.end();
    }
}

/// What all services of a connection share.
pub(crate) struct Link {
    pub(crate) transport: Transport,
    engines: Arc<Engines>,
    counts: Mutex<Vec<(String, Arc<Calls>)>>,
}

impl Link {
    /// Held for a look or a change.
    fn counts(&self) -> MutexGuard<'_, Vec<(String, Arc<Calls>)>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The services of a connection, by the numbers of their requests.
#[derive(Default)]
struct Engines(RwLock<Vec<Weak<Engine>>>);

impl Engines {
    /// Requests of one service, more than there will be.
    const REQUESTS: u32 = 40;

    /// A service, which is started with the number of its first request.
    fn add(&self, start: impl FnOnce(u64) -> Arc<Engine>) -> Arc<Engine> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let engine = start((all.len() as u64) << Self::REQUESTS);
        all.push(Arc::downgrade(&engine));
        engine
    }

    /// Gives what is heard to the service that has asked.
    fn heard(&self, number: u64, heard: Heard) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let engine = usize::try_from(number >> Self::REQUESTS).ok().and_then(|place| all.get(place)?.upgrade());
        drop(all);
        if let Some(engine) = engine {
            engine.heard(number, heard);
        }
    }
}
