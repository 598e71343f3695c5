//! The side of the work: services as a server has them, run on what comes from elsewhere.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostcall::Service;
use hostcall::detached::{Callable, Replies, Runner};
use tokio::sync::watch;

use crate::callers::{Callers, Full, Name};
use crate::connector::{Connector, Running};
use crate::errors::RemoteError;
use crate::stats::{WorkStats, Works};
use crate::transport::{Request, Requests, Transport};
use crate::wire;

/// Requests of a service that may wait to be looked at, which takes microseconds: beyond that the connection drops
/// some, and their calls time out. So it is far more than are worked on at once.
const WAITING: usize = 4096;

/// A worker that is being set up.
#[derive(Debug)]
#[must_use = "nothing is served before `start`"]
pub struct WorkerBuilder {
    connector: Connector,
    services: Vec<Service>,
    kept: bool,
    requests: usize,
    bytes: usize,
    blocking_threads: usize,
}

/// Answers the calls of kernels elsewhere. Dropping it stops taking requests and gives up those it has;
/// [`Worker::stop`] finishes them first.
pub struct Worker {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    listeners: Vec<tokio::task::JoinHandle<()>>,
    runtime: Running,
    /// Last: handlers may wait for what the others do.
    runner: Option<Runner>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.runtime.is_here() {
            // A forked child's copy: what it has begun is its parent's.
            std::mem::forget((self.shared.clone(), std::mem::take(&mut self.listeners), self.runner.take()));
            return;
        }
        // What waits for its turn keeps what it waits in.
        self.shared.callers.close();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("name", &self.shared.name).field("place", &self.shared.transport.place()).finish_non_exhaustive()
    }
}

/// What it is called, where it listens and what it serves, in lines.
impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {} at {} serves", self.shared.name, self.shared.transport.place())?;
        for served in &self.shared.served {
            let definition = served.callable.definition();
            write!(f, "\n  {}: {} ({}, subject {})", definition.name, definition.text, served.callable.mode(), served.subject)?;
            if let Some(kept) = &served.kept {
                write!(f, "\n    and what is kept of {kept}")?;
            }
        }
        Ok(())
    }
}

struct Shared {
    name: String,
    transport: Transport,
    served: Vec<Served>,
    /// Whose requests are being done.
    callers: Arc<Callers<Work>>,
}

/// A request that waits for its caller's turn.
struct Work {
    index: usize,
    request: Request,
    doing: Doing,
}

/// A request that is being done.
type Doing = crate::callers::Doing<Work>;

struct Served {
    callable: Callable,
    subject: String,
    kept: Option<String>,
    counts: Works,
}

impl Worker {
    /// A worker of a NATS server, see [`nats`](crate::nats).
    #[cfg(feature = "nats")]
    pub fn nats(url: impl Into<String>) -> WorkerBuilder {
        Self::on(crate::nats(url))
    }

    /// A worker at the place that the environment names, see [`Connector::from_env`].
    ///
    /// # Errors
    /// When it names none.
    #[cfg(feature = "nats")]
    pub fn from_env() -> Result<WorkerBuilder, RemoteError> {
        Connector::from_env().map(Self::on)
    }

    /// A worker at a place.
    pub fn on(connector: Connector) -> WorkerBuilder {
        WorkerBuilder { connector, services: Vec::new(), kept: false, requests: 1024, bytes: 64 << 20, blocking_threads: 512 }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Counts of each service, in the order in which they were given.
    pub fn stats(&self) -> Vec<WorkStats> {
        self.shared.served.iter().map(|served| served.counts.row(&served.callable.definition().name)).collect()
    }

    /// Serves until the process ends: for the `main` of a worker.
    pub fn run(self) -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Takes no more requests, finishes those that it has, for so long at most, and ends. Whether all were finished.
    ///
    /// In a forked child of its process it does nothing, and says `false`.
    ///
    /// Must not be called from an async function.
    pub fn stop(mut self, longest: Duration) -> bool {
        if !self.runtime.is_here() {
            return false;
        }
        // An error: the listeners have ended.
        let _ = self.stop.send(true);
        let (shared, listeners) = (self.shared.clone(), std::mem::take(&mut self.listeners));
        let finish = async move {
            for listener in listeners {
                // A listener that panicked listens no more.
                let _ = listener.await;
            }
            loop {
                let idle = shared.callers.idle.notified();
                // What was done has been sent.
                if shared.callers.are_idle() {
                    break;
                }
                tokio::select! {
                    () = idle => {}
                    () = tokio::time::sleep(Duration::from_millis(20)) => {}
                }
            }
            shared.transport.flush().await;
        };
        let finished = self.runtime.handle().block_on(async { tokio::time::timeout(longest, finish).await.is_ok() });
        drop(self.runner.take());
        finished
    }
}

impl WorkerBuilder {
    /// A service, as a server has it: of any kind.
    pub fn service(mut self, service: Service) -> Self {
        self.services.push(service);
        self
    }

    /// Services.
    pub fn services(mut self, services: impl IntoIterator<Item = Service>) -> Self {
        self.services.extend(services);
        self
    }

    /// What it is called, in logs and in callers' traces. Default: host and process number.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.connector = self.connector.name(name);
        self
    }

    /// Threads on which requests are read, and inline handlers run. Default: 2.
    pub fn threads(mut self, threads: usize) -> Self {
        self.connector = self.connector.threads(threads);
        self
    }

    /// Takes posts that are [kept](crate::CallOptions::kept), too: of NATS, JetStream must be there.
    pub fn kept(mut self) -> Self {
        self.kept = true;
        self
    }

    /// How much it does at once: requests, and bytes of memory, which are those of the requests and what their calls
    /// ask for: room for replies, and 256 bytes for each call. They are counted before they are taken, and a handler's
    /// own memory is not among them; all together a worker takes a few times as many. What comes beyond is sent back to
    /// the caller, who sends it again later, maybe to another worker. A request that alone asks for more fails, as the
    /// fault of its caller; none asks for more than 35 MiB. A caller, which is a connection, has at most as much as it
    /// leaves for others: alone it has half of each. (One request may have all that is free.) Default: 1024 requests,
    /// 64 MiB.
    pub fn at_once(mut self, requests: usize, bytes: usize) -> Self {
        (self.requests, self.bytes) = (requests.max(1), bytes);
        self
    }

    /// The most threads that blocking handlers take together. Default: 512.
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = threads;
        self
    }

    /// Connects and serves.
    ///
    /// # Errors
    /// When the broker does not answer or does not know us, a file cannot be read, the system has no thread left, or
    /// there is no service, or one twice.
    pub fn start(self) -> Result<Worker, RemoteError> {
        let Self { connector, services, kept, requests, bytes, blocking_threads } = self;
        for (i, service) in services.iter().enumerate() {
            if services[..i].iter().any(|other| other.name() == service.name()) {
                return Err(RemoteError::Taken { name: service.name().to_owned() });
            }
        }
        let runtime = connector.runtime()?;
        let runner = Runner::on(blocking_threads, runtime.handle().clone());
        let ready = |service: Service| {
            let callable = runner.add(service)?;
            let definition = callable.definition();
            let kept = (kept && definition.reply_dwords.is_none()).then(|| crate::kept_subject(definition));
            Ok(Served { subject: crate::subject(definition), kept, callable, counts: Works::default() })
        };
        let served: Vec<Served> = services.into_iter().map(ready).collect::<Result<_, RemoteError>>()?;
        let [first, ..] = &served[..] else { return Err(RemoteError::Nothing) };
        let callers = Arc::new(Callers::new(requests, bytes, connector.thread_count(), first.callable.clone()));
        let transport = runtime.block_on(connector.transport(None, WAITING.max(4 * requests)))?;
        let shared = Arc::new(Shared { name: connector.called(), transport, served, callers });
        let (stop, stopped) = watch::channel(false);
        let mut listeners = Vec::new();
        for (index, served) in shared.served.iter().enumerate() {
            let requests = runtime.block_on(shared.transport.listen(&served.subject, &crate::word(served.callable.definition())))?;
            listeners.push(runtime.spawn(shared.clone().listen(index, requests, stopped.clone())));
            if let Some(subject) = &served.kept {
                let kept = runtime.block_on(shared.transport.take_kept(subject))?;
                listeners.push(runtime.spawn(shared.clone().listen(index, kept, stopped.clone())));
            }
        }
        runtime.block_on(shared.transport.settle())?;
        let worker = Worker { shared, stop, listeners, runtime: Running::new(runtime), runner: Some(runner) };
        tracing::info!("{worker}");
        Ok(worker)
    }
}

impl Shared {
    /// A kept request of so many bytes, when there is room for it, or nothing else is done. `None`: the worker stops.
    async fn begin_kept(self: &Arc<Self>, bytes: usize, stopped: &mut watch::Receiver<bool>) -> Option<Doing> {
        loop {
            let idle = self.callers.idle.notified();
            let begun = match self.callers.begin(&Name::Keeper, bytes) {
                Err(Full::Ever { .. }) => self.callers.begin_alone(&Name::Keeper).map(|mut doing| {
                    doing.ask_anyway(bytes);
                    doing
                }),
                begun => begun.ok(),
            };
            if begun.is_some() {
                return begun;
            }
            tokio::select! {
                () = idle => {}
                // What is done may have ended before it was waited for.
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
                _ = stopped.changed() => return None,
            }
        }
    }

    /// A request that is not done goes back.
    async fn send_back(&self, index: usize, request: &Request, full: &Full) {
        let Served { callable, counts, .. } = &self.served[index];
        let service = &callable.definition().name;
        match full {
            Full::Now => {
                counts.refused.add(1);
                tracing::debug!(%service, "too much to do: a request is sent back");
                self.say(index, request, wire::refusal(&self.name, None)).await;
            }
            Full::Ever { .. } => {
                counts.invalid.add(1);
                tracing::warn!(error = %full, %service, "a request that asks for too much");
                self.say(index, request, wire::refusal(&self.name, Some(&full.to_string()))).await;
            }
        }
    }

    async fn listen(self: Arc<Self>, index: usize, mut requests: Requests, mut stopped: watch::Receiver<bool>) {
        let mut ending = false;
        loop {
            let request = tokio::select! {
                request = requests.next() => request,
                _ = stopped.changed(), if !ending => {
                    ending = true;
                    requests.end().await;
                    if matches!(requests, Requests::LocalKept(_)) {
                        return;
                    }
                    #[cfg(feature = "nats")]
                    if matches!(requests, Requests::NatsKept(_)) {
                        return;
                    }
                    continue;
                }
            };
            let Some(request) = request else { return };
            let doing = if request.back.is_kept() {
                // Whoever keeps it gives it to another, if not to us.
                let Some(doing) = self.begin_kept(request.body.len(), &mut stopped).await else { return };
                Ok(doing)
            } else {
                self.callers.begin(&request.back.caller(), request.body.len())
            };
            match doing {
                Ok(doing) => {
                    let name = doing.name().clone();
                    if self.callers.push(&name, Work { index, request, doing }) {
                        tokio::spawn(self.clone().take_turns(name));
                    }
                }
                Err(full) => self.send_back(index, &request, &full).await,
            }
        }
    }

    async fn say(&self, index: usize, request: &Request, body: bytes::Bytes) {
        let counts = &self.served[index].counts;
        counts.bytes_out.add(body.len());
        if let Err(error) = request.back.answer(body).await {
            // The caller's timeout tells it.
            tracing::warn!(%error, service = %self.served[index].callable.definition().name, "an answer was not sent");
        }
    }

    /// Does what a caller asks for, one request after another, and lets others have their turns in between.
    async fn take_turns(self: Arc<Self>, name: Name) {
        while let Some(Work { index, request, doing }) = self.callers.next(&name) {
            // A panic in it is its own affair.
            let _ = tokio::spawn(self.clone().work(index, request, doing)).await;
            tokio::task::yield_now().await;
        }
    }

    async fn work(self: Arc<Self>, index: usize, request: Request, mut doing: Doing) {
        let Served { callable, counts, .. } = &self.served[index];
        counts.bytes_in.add(request.body.len());
        let messages = match wire::read_request(callable.definition(), &request.body) {
            Ok(messages) => messages,
            Err(error) => {
                counts.invalid.add(1);
                tracing::warn!(%error, service = %callable.definition().name, "a request that is none");
                self.say(index, &request, wire::refusal(&self.name, Some(&error.to_string()))).await;
                if let Err(error) = request.back.handled().await {
                    tracing::warn!(%error, "a kept post that is none stays");
                }
                return;
            }
        };
        // What one request may ask for fits.
        let asked = messages.iter().map(|message| wire::asked(callable.definition(), message)).sum::<u64>() as usize;
        if request.back.is_kept() {
            doing.ask_anyway(asked);
        } else if let Err(full) = doing.ask(asked) {
            return self.send_back(index, &request, &full).await;
        }
        counts.requests.add(1);
        counts.messages.add(messages.len());
        counts.calls.add(messages.iter().map(|message| message.lanes() as usize).sum());
        let span =
            tracing::debug_span!("remote_work", worker = self.name, service = %callable.definition().name, messages = messages.len());
        let job = Arc::new(Job {
            shared: self.clone(),
            index,
            request,
            handle: tokio::runtime::Handle::current(),
            state: Mutex::new(State { ready: Vec::new(), left: messages.len(), gathering: true }),
            doing,
        });
        span.in_scope(|| {
            for (number, message) in (0..).zip(messages) {
                let theirs = job.clone();
                // It was checked when it was read.
                if let Err(error) = callable.run_for(job.doing.runs(), message, move |replies| theirs.replied(number, replies)) {
                    tracing::warn!(%error, "a message that is none");
                }
            }
        });
        if let Some((ready, all)) = job.gathered() {
            job.send(ready, all).await;
        }
    }
}

/// A request that is being answered.
struct Job {
    shared: Arc<Shared>,
    index: usize,
    request: Request,
    handle: tokio::runtime::Handle,
    state: Mutex<State>,
    doing: Doing,
}

struct State {
    /// Replies that are not sent.
    ready: Vec<(u32, Replies)>,
    /// Messages that have no replies.
    left: usize,
    /// Handlers that answer at once are being run: what they reply is sent together.
    gathering: bool,
}

impl Job {
    /// Held for a push or a take.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The replies to a message.
    fn replied(self: Arc<Self>, number: u32, replies: Replies) {
        let mut state = self.state();
        state.ready.push((number, replies));
        state.left -= 1;
        if state.gathering {
            return;
        }
        let (ready, all) = (std::mem::take(&mut state.ready), state.left == 0);
        drop(state);
        let handle = self.handle.clone();
        handle.spawn(async move { self.send(ready, all).await });
    }

    /// All handlers have been called: what there is is sent.
    fn gathered(&self) -> Option<(Vec<(u32, Replies)>, bool)> {
        let mut state = self.state();
        state.gathering = false;
        let ready = std::mem::take(&mut state.ready);
        (!ready.is_empty()).then_some((ready, state.left == 0))
    }

    /// Sends replies; `all`: they are the last.
    async fn send(&self, ready: Vec<(u32, Replies)>, all: bool) {
        let Self { shared, index, request, .. } = self;
        if !request.back.is_kept() {
            for body in wire::answers(&shared.name, &ready, shared.transport.most_bytes()) {
                shared.say(*index, request, body).await;
            }
            return;
        }
        for note in ready.iter().flat_map(|(_, replies)| &replies.notes) {
            let service = &shared.served[*index].callable.definition().name;
            tracing::error!(%service, code = note.code, message = note.message, lanes = note.lanes, "a kept post failed");
        }
        if all && let Err(error) = request.back.handled().await {
            tracing::warn!(%error, "a kept post that was handled stays, and is handled again");
        }
    }
}
