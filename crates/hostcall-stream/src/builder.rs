//! How streams are set up: who listens, and how messages are sent.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostcall_abi::stream::header::MAX_STREAM;
use hostcall_abi::stream::{Message, Policy};
use offload::{Device, DeviceKind};

use crate::batch::Origin;
use crate::consumer::Shared;
use crate::dispatch::Dispatches;
use crate::errors::StartError;
use crate::file::Recording;
use crate::filter::Filter;
use crate::handler::{Chain, Each, Handler, TypedChain};
use crate::registry::{Registered, Registry};
use crate::schema::Schema;
use crate::sink::{self, Sink};
use crate::sites::{Site, Sites};
use crate::streams::Streams;

/// How streams are set up. See [`Streams::builder`].
#[must_use = "nothing is received until `start`"]
#[derive(Debug)]
pub struct StreamsBuilder {
    memory: Option<usize>,
    threads: Option<usize>,
    window: bool,
    huge: bool,
    record: Option<PathBuf>,
    unlistened: Option<Policy>,
    sinks: Vec<Arc<dyn Sink>>,
    streams: Vec<Listed>,
    policies: Vec<(String, Policy)>,
    filters: Vec<(String, Filter)>,
    names: Vec<String>,
    sites: Arc<Sites>,
    dispatches: Arc<Dispatches>,
    wanted: Wanted,
}

/// Which places in the source are to send.
pub(crate) struct Wanted(Box<dyn Fn(&Site) -> bool + Send + Sync>);

impl Wanted {
    /// Whether messages from there are wanted.
    pub(crate) fn takes(&self, site: &Site) -> bool {
        self.0(site)
    }
}

impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a choice of places")
    }
}

/// What is decided once, for all programs.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) sinks: Vec<Arc<dyn Sink>>,
    pub(crate) sites: Arc<Sites>,
    pub(crate) wanted: Wanted,
    /// Bytes of the rings of each program, if somebody said how many.
    pub(crate) memory: Option<usize>,
    /// Whether windows are wanted.
    pub(crate) window: bool,
    /// Whether huge pages are.
    pub(crate) huge: bool,
    /// The policy of streams to which nobody listens, if not their own.
    pub(crate) unlistened: Option<Policy>,
    /// The same of some of them, by their names.
    pub(crate) policies: Vec<(String, Policy)>,
    /// Filters of streams to which nobody listens, by their names.
    pub(crate) filters: Vec<(String, Filter)>,
    /// Names of streams that are looked for in programs which do not say what they mention.
    pub(crate) names: Vec<String>,
}

/// A stream with its handlers, which are typed while they are added.
struct Listed {
    schema: Schema,
    policy: Policy,
    timed: bool,
    live: bool,
    filter: Filter,
    handlers: Box<dyn std::any::Any + Send>,
    finish: fn(Box<dyn std::any::Any + Send>) -> Box<dyn Chain>,
}

impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.schema)
    }
}

impl StreamsBuilder {
    pub(crate) fn new() -> Self {
        Self {
            memory: None,
            threads: None,
            window: true,
            huge: true,
            record: None,
            unlistened: None,
            sinks: Vec::new(),
            streams: Vec::new(),
            policies: Vec::new(),
            filters: Vec::new(),
            names: Vec::new(),
            sites: Arc::default(),
            dispatches: Arc::default(),
            wanted: Wanted(Box::new(|_| true)),
        }
    }

    /// Bytes of the rings of each attached program, in host memory. Default: 64 MiB, and 2 MiB in the simulator. Sizes
    /// are powers of two, so it may be less; the least is one ring of 64 KiB.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Threads that read rings. Default: half of the processors, at least 1 and at most 8.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Whether waves are told of room through a [window](offload::Window) into the device's memory where it has one.
    /// Default: yes.
    pub fn window(mut self, wanted: bool) -> Self {
        self.window = wanted;
        self
    }

    /// Whether rings lie on huge pages where the system gives them ([`Device::alloc_host_huge`]), which makes reading
    /// faster. Default: yes, from 8 MiB on.
    pub fn huge_pages(mut self, wanted: bool) -> Self {
        self.huge = wanted;
        self
    }

    /// Keeps all messages in a file, see [`file`](crate::file). Streams of attached programs are on then, whether
    /// anybody listens or not; of modules that were loaded elsewhere only those to which somebody listens, because
    /// nobody knows the others' names. A file that is there is written over.
    ///
    /// Waves are held up where the file is too slow, as by any slow handler. If it cannot be written (the disk is
    /// full), kernels and handlers go on, what is lost to it is counted, and [`Streams::wait`] returns the error.
    /// Dropping [`Streams`] completes the file.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// What messages do when their ring is full, of streams that are only recorded or kept by sinks, whatever their
    /// definitions say, but for [`Policy::Latest`], which only a definition can say.
    pub fn policy_of_unlistened(mut self, policy: Policy) -> Self {
        self.unlistened = Some(policy);
        self
    }

    /// The same for the streams of a name. The last policy of a name counts.
    pub fn policy_named(mut self, stream: impl Into<String>, policy: Policy) -> Self {
        self.policies.push((stream.into(), policy));
        self
    }

    /// Names of streams that sinks take and recordings keep of modules that were loaded elsewhere, too: such a module
    /// has what it sends by its name, and no list of names.
    pub fn names(mut self, streams: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names.extend(streams.into_iter().map(Into::into));
        self
    }

    /// Keeps the messages of the streams that a sink takes. Streams of attached programs are on then, as for
    /// [`record`](StreamsBuilder::record). A sink sees messages before handlers do.
    ///
    /// If it cannot keep them, kernels and handlers go on, what is lost to it is counted, and [`Streams::wait`] returns
    /// the error. Dropping [`Streams`] completes what is kept.
    pub fn sink(mut self, sink: impl Sink) -> Self {
        self.sinks.push(Arc::new(sink));
        self
    }

    /// Handles the messages of `M`, behind the handlers that were given before.
    pub fn on<M: Message, H: Handler<M>>(mut self, handler: H) -> Self {
        let chain: &mut TypedChain<M> = self.listed::<M>().handlers.downcast_mut().expect("the chain of `M`");
        chain.push(handler);
        self
    }

    /// Calls `f` for each value of `M`, on the threads that read.
    ///
    /// Of bytes and text [`StreamsBuilder::bytes`] and [`StreamsBuilder::text`] do so.
    pub fn each<M: Message>(self, f: impl Fn(&Origin, &M) + Send + Sync + 'static) -> Self {
        const { assert!(size_of::<M>() > 0, "a stream of bytes or text has no values: use `bytes` or `text` instead of `each`") };
        self.on::<M, _>(Each(f))
    }

    /// What messages of `M` do when their ring is full, whatever its definition says. [`Policy::Latest`] is for the
    /// definition alone: its messages have another form.
    pub fn policy<M: Message>(mut self, policy: Policy) -> Self {
        self.listed::<M>().policy = policy;
        self
    }

    /// Whether messages of `M` say when they were sent. Default: yes.
    pub fn timed<M: Message>(mut self, timed: bool) -> Self {
        self.listed::<M>().timed = timed;
        self
    }

    /// Which messages of `M` are wanted. The stream is *live* then: [`Streams::set_filter`] changes it while kernels
    /// run. A message that asks takes a wave alone some 0.2 us longer on an H200.
    pub fn filter<M: Message>(mut self, filter: Filter) -> Self {
        let listed = self.listed::<M>();
        listed.filter = filter.as_patient_as(listed.filter);
        listed.live = true;
        self
    }

    /// The same for the streams of a name, also those to which nobody listens, but which are recorded or kept by sinks.
    /// The last filter of a name counts. A name that no stream has does nothing.
    pub fn filter_named(mut self, stream: impl Into<String>, filter: Filter) -> Self {
        self.filters.push((stream.into(), filter));
        self
    }

    /// How long messages of `M` wait for room with [`Policy::Wait`], up to 4 seconds. Default: a millisecond.
    pub fn patience<M: Message>(mut self, limit: Duration) -> Self {
        let listed = self.listed::<M>();
        listed.filter = listed.filter.with_patience(limit);
        self
    }

    /// Messages that say where in the source they are from are wanted from these places only. Programs are told when
    /// they are attached.
    pub fn sites(mut self, wanted: impl Fn(&Site) -> bool + Send + Sync + 'static) -> Self {
        self.wanted = Wanted(Box::new(wanted));
        self
    }

    fn listed<M: Message>(&mut self) -> &mut Listed {
        let known = |listed: &Listed| listed.handlers.is::<TypedChain<M>>();
        let at = self.streams.iter().position(known).unwrap_or_else(|| {
            let finish =
                |chain: Box<dyn std::any::Any + Send>| -> Box<dyn Chain> { chain.downcast::<TypedChain<M>>().expect("the chain of `M`") };
            self.streams.push(Listed {
                schema: Schema::of::<M>(),
                policy: M::POLICY,
                timed: true,
                live: false,
                filter: Filter::all(),
                handlers: Box::new(TypedChain::<M>::new(self.sites.clone())),
                finish,
            });
            self.streams.len() - 1
        });
        &mut self.streams[at]
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// When two streams have one name, there are too many, one has a policy that only its definition can give or take,
    /// the file of a recording cannot be made, or the system has no thread left.
    pub fn start(mut self, device: &Device) -> Result<Streams, StartError> {
        for (name, filter) in &self.filters {
            for listed in self.streams.iter_mut().filter(|listed| listed.schema.name == *name) {
                (listed.filter, listed.live) = (filter.as_patient_as(listed.filter), true);
            }
        }
        for (i, listed) in self.streams.iter().enumerate() {
            if let Some(other) = self.streams[..i].iter().find(|other| other.schema.name == listed.schema.name) {
                let (one, other) = (Box::new(other.schema.clone()), Box::new(listed.schema.clone()));
                return Err(StartError::Name { name: one.name.to_string(), one, other });
            }
        }
        let is_latest = |policy| policy == Policy::Latest;
        if let Some(listed) = self.streams.iter().find(|listed| is_latest(listed.policy) != is_latest(listed.schema.policy)) {
            return Err(StartError::Latest { stream: listed.schema.name.to_string(), wanted: listed.policy });
        }
        let mut unlistened = self.policies.iter().map(|(_, policy)| *policy).chain(self.unlistened);
        if let Some(wanted) = unlistened.find(|policy| is_latest(*policy)) {
            return Err(StartError::Latest { stream: "streams to which nobody listens".into(), wanted });
        }
        if self.streams.len() > MAX_STREAM as usize {
            return Err(StartError::TooMany { count: self.streams.len() });
        }
        let threads = self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).clamp(1, 8)));
        let sinks = self.sinks;
        sinks.iter().for_each(|sink| sink.begin(&self.sites));
        let registered = |listed: Listed| Registered {
            sinks: sink::of_stream(&sinks, &listed.schema),
            schema: listed.schema,
            policy: listed.policy,
            timed: listed.timed,
            live: listed.live,
            filter: Mutex::new(listed.filter),
            chain: Some((listed.finish)(listed.handlers)),
            messages: Default::default(),
            values: Default::default(),
            unhandled: Default::default(),
        };
        let modest = device.info().kind == DeviceKind::Sim;
        let record = |path: PathBuf| Recording::start(&path, threads).map_err(|source| StartError::Record { path, source });
        let recording = self.record.map(record).transpose()?;
        let shared =
            Shared::new(Registry::new(self.streams.into_iter().map(registered)), recording, self.dispatches, self.sites.clone(), modest);
        let settings = Settings {
            sinks,
            sites: self.sites,
            wanted: self.wanted,
            memory: self.memory,
            window: self.window,
            huge: self.huge,
            unlistened: self.unlistened,
            policies: self.policies,
            filters: self.filters,
            names: self.names,
        };
        Streams::new(shared, settings, threads)
    }
}
