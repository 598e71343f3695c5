//! Streams of one or several devices: who listens, the threads that read, and waiting for all of it.

use std::any::TypeId;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostcall_abi::stream::header::MAX_STREAM;
use hostcall_abi::stream::message::{SCHEMA_PREFIX, STREAM_PREFIX, word};
use hostcall_abi::stream::rings::RINGS_SYMBOL;
use hostcall_abi::stream::{Counters, Message, Policy};
use offload::{Device, DeviceKind, Program, Queue, Subscription};

use crate::batch::Origin;
use crate::consumer::{Consumer, Shared};
use crate::counts::{StreamCounts, Summary};
use crate::errors::{AttachError, StartError, WaitError};
use crate::file::{self, Recording};
use crate::handler::{Chain, Each, Handler, TypedChain};
use crate::memory::{RingSet, Sizes};
use crate::registry::{Registered, Registry, numbered};
use crate::report::Report;
use crate::schema::Schema;

/// How streams are set up. See [`Streams::builder`].
#[must_use = "nothing is received until `start`"]
#[derive(Debug)]
pub struct StreamsBuilder {
    memory: Option<usize>,
    threads: Option<usize>,
    window: bool,
    record: Option<PathBuf>,
    streams: Vec<Listed>,
}

/// A stream with its handlers, which are typed while they are added.
struct Listed {
    schema: Schema,
    policy: Policy,
    timed: bool,
    handlers: Box<dyn std::any::Any + Send>,
    finish: fn(Box<dyn std::any::Any + Send>) -> Box<dyn Chain>,
}

impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.schema)
    }
}

impl StreamsBuilder {
    /// Bytes of the rings of each attached program, in host memory. Default: 64 MiB, and 2 MiB in the simulator. Sizes are powers of two, so it may be
    /// less; the least is one ring of 64 KiB.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Threads that read rings. Default: half of the processors, at least 1 and at most 8.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Whether waves are told of room through a [window](offload::Window) into the device's memory where it has one. Default: yes.
    pub fn window(mut self, wanted: bool) -> Self {
        self.window = wanted;
        self
    }

    /// Keeps all messages in a file, see [`file`](crate::file). Streams of attached programs are on then, whether anybody listens or not; of modules that
    /// were loaded elsewhere only those to which somebody listens, because nobody knows the others' names. A file that is there is written over.
    ///
    /// Waves are held up where the file is too slow, as by any slow handler. If it cannot be written (the disk is full), kernels and handlers go on, what is
    /// lost to it is counted, and [`Streams::wait`] returns the error. Dropping [`Streams`] completes the file.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// Handles the messages of `M`, behind the handlers that were given before.
    pub fn on<M: Message, H: Handler<M>>(mut self, handler: H) -> Self {
        let chain: &mut TypedChain<M> = self.listed::<M>().handlers.downcast_mut().expect("the chain of `M`");
        chain.push(handler);
        self
    }

    /// Calls `f` for each value of `M`, on the threads that read.
    pub fn each<M: Message>(self, f: impl Fn(&Origin, &M) + Send + Sync + 'static) -> Self {
        self.on::<M, _>(Each(f))
    }

    /// What messages of `M` do when their ring is full, whatever its definition says.
    pub fn policy<M: Message>(mut self, policy: Policy) -> Self {
        self.listed::<M>().policy = policy;
        self
    }

    /// Whether messages of `M` say when they were sent. Default: yes.
    pub fn timed<M: Message>(mut self, timed: bool) -> Self {
        self.listed::<M>().timed = timed;
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
                handlers: Box::new(TypedChain::<M>::new()),
                finish,
            });
            self.streams.len() - 1
        });
        &mut self.streams[at]
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// When two streams have one name, there are too many, the file of a recording cannot be made, or the system has no thread left.
    pub fn start(self, device: &Device) -> Result<Streams, StartError> {
        for (i, listed) in self.streams.iter().enumerate() {
            if let Some(other) = self.streams[..i].iter().find(|other| other.schema.name == listed.schema.name) {
                let (one, other) = (Box::new(other.schema.clone()), Box::new(listed.schema.clone()));
                return Err(StartError::Name { name: one.name.clone(), one, other });
            }
        }
        if self.streams.len() > MAX_STREAM as usize {
            return Err(StartError::TooMany { count: self.streams.len() });
        }
        let threads = self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).clamp(1, 8)));
        let registered = |listed: Listed| Registered {
            schema: listed.schema,
            policy: listed.policy,
            timed: listed.timed,
            chain: Some((listed.finish)(listed.handlers)),
            messages: Default::default(),
            values: Default::default(),
        };
        let modest = device.info().kind == DeviceKind::Sim;
        let record = |path: PathBuf| Recording::start(&path, threads).map_err(|source| StartError::Record { path, source });
        let recording = self.record.map(record).transpose()?;
        let shared = Shared::new(Registry::new(self.streams.into_iter().map(registered)), recording, threads, modest);
        let mut streams = Streams {
            shared,
            threads: Vec::new(),
            devices: Mutex::default(),
            counted: Mutex::default(),
            memory: self.memory,
            window: self.window,
        };
        for index in 0..threads {
            let consumer = Consumer::new(streams.shared.clone(), index, threads);
            let spawned = std::thread::Builder::new().name(format!("hostcall-stream-{index}")).spawn(move || consumer.run());
            let thread = spawned.map_err(StartError::Thread)?;
            streams.shared.started(thread.thread().clone());
            streams.threads.push(thread);
        }
        Ok(streams)
    }
}

/// A device on which kernels of attached programs run.
#[derive(Debug)]
struct Watched {
    device: Device,
    _subscription: Subscription,
}

/// Receives the messages of kernels, on threads of its own. Dropping it receives what has arrived, and closes the rings: later messages end as
/// [`Sent::Closed`](hostcall_abi::stream::Sent::Closed).
#[derive(Debug)]
pub struct Streams {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    devices: Mutex<Vec<Watched>>,
    /// What the devices had counted at the last [`Streams::wait`], and whether they could be asked.
    counted: Mutex<(Vec<Counters>, bool)>,
    memory: Option<usize>,
    window: bool,
}

/// The rings of a program, as it keeps them.
#[derive(Debug)]
struct Kept {
    _set: Arc<RingSet>,
    /// Nobody reads them any more.
    closed: Arc<AtomicBool>,
}

impl Streams {
    /// Streams to which nobody listens yet.
    pub fn builder() -> StreamsBuilder {
        StreamsBuilder { memory: None, threads: None, window: true, record: None, streams: Vec::new() }
    }

    /// Gives a program rings of its own, and its streams their numbers: from the next launch on its messages are received. Streams of the program
    /// to which nobody listens stay off, and cost its kernels a branch, unless they are recorded.
    ///
    /// # Errors
    /// When the program was built with another definition of a stream, its messages go elsewhere already, the device has no memory left, or a recording
    /// no numbers.
    pub fn attach(&self, program: &Program) -> Result<(), AttachError> {
        let name = || program.name().to_owned();
        if program.kept::<Kept>().is_some_and(|kept| !kept.is_closed()) {
            return Err(AttachError::Attached { program: name() });
        }
        let descriptor = program.find_global(RINGS_SYMBOL)?.ok_or_else(|| AttachError::NoRings { program: name() })?;
        if self.shared.recording.is_some() {
            self.learn(program)?;
        }
        let streams = self.shared.registry.all();
        // All of them, before the first is written.
        let mut words = Vec::new();
        for (number, stream) in numbered(&streams) {
            let schema = &stream.schema;
            let Some(theirs) = definition(program, &schema.name)? else { continue };
            if theirs.as_ref().is_none_or(|theirs| theirs.signature != schema.signature || theirs.bytes != schema.bytes) {
                if stream.chain.is_none() {
                    // Another program's, of the same name.
                    continue;
                }
                let theirs = theirs.map_or_else(|| "something that is no definition".to_owned(), |theirs| theirs.to_string());
                return Err(AttachError::Definition { program: name(), stream: schema.name.clone(), theirs, ours: schema.to_string() });
            }
            let Some(word) = program.find_global(&format!("{STREAM_PREFIX}{}", schema.name))? else { continue };
            let policy = if stream.policy == Policy::Drop { word::DROP } else { 0 };
            words.push((word, number | policy | if stream.timed { 0 } else { word::UNTIMED }));
        }
        let device = program.device();
        let memory = self.memory.unwrap_or(if device.info().kind == DeviceKind::Sim { 2 << 20 } else { 64 << 20 });
        let mut set = RingSet::new(device, Sizes::new(memory, device.info().sms), streams.len() as u32, self.window)?;
        if let Some(recording) = &self.shared.recording {
            let program = file::Program {
                name: name(),
                device: file::Device::of(device.info()),
                wave_size: device.info().wave_size,
                first_ring: 0,
                rings: set.sizes().rings() as u32,
                // A message may be of any, whatever its program defines.
                streams: numbered(&streams).map(|(number, stream)| (number, stream.schema.clone())).collect(),
            };
            let full = || AttachError::RecordingFull { program: name(), path: recording.path().to_owned() };
            set.number_rings(recording.program(program).ok_or_else(full)?);
        }
        let set = Arc::new(set);
        // Before its address is known there.
        program.keep(Arc::new(Kept { _set: set.clone(), closed: set.closed().clone() }));
        descriptor.write(set.descriptor().as_bytes())?;
        for (word, value) in words {
            word.write(&value.to_ne_bytes())?;
        }
        self.watch(device);
        self.shared.add(set);
        Ok(())
    }

    /// Gives numbers to the streams of a program to which nobody listens.
    fn learn(&self, program: &Program) -> Result<(), AttachError> {
        let known = self.shared.registry.all();
        let listened = |name: &str| known.iter().any(|stream| stream.chain.is_some() && stream.schema.name == name);
        let mut schemas = Vec::new();
        for stream in program.streams().iter().filter(|name| !listened(name)) {
            // Mentioned only, otherwise.
            if let Some(schema) = definition(program, stream)? {
                schemas.push(schema.ok_or_else(|| AttachError::NoDefinition { program: program.name().into(), stream: stream.clone() })?);
            }
        }
        match self.shared.registry.learn(schemas) {
            None => Ok(()),
            Some(schema) => Err(AttachError::TooManyStreams { program: program.name().into(), stream: schema.name }),
        }
    }

    /// Wakes the threads when kernels run on the device.
    fn watch(&self, device: &Device) {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if devices.iter().any(|watched| watched.device.is_same(device)) {
            return;
        }
        let shared = self.shared.clone();
        let was_busy = AtomicBool::new(false);
        let told = Arc::new(move |busy| {
            // Told one after another, so relaxed is enough.
            if was_busy.swap(busy, Ordering::Relaxed) != busy {
                if busy { shared.arm() } else { shared.disarm() }
            }
        });
        let subscription = device.subscribe(told.clone());
        // A kernel that was launched before is one all the same; `subscribe` tells only of changes.
        if device.in_flight() > 0 {
            told(true);
        }
        devices.push(Watched { device: device.clone(), _subscription: subscription });
    }

    /// Waits until the kernels in the queue have ended and every message that they sent has been handled, and says what was counted since the start.
    ///
    /// # Errors
    /// When the device failed, or messages are lost that no policy allowed to be.
    pub fn wait(&self, queue: &Queue) -> Result<Summary, WaitError> {
        self.shared.arm();
        let waited = queue.synchronize().and_then(|()| self.drain(queue));
        if waited.is_err() {
            // Nothing is known of the device; whatever it stored is there.
            self.shared.wait_until_idle();
        }
        self.shared.disarm();
        let (counted, failure) = match waited {
            Ok(counted) => ((counted, false), None),
            Err(source) => ((Vec::new(), true), Some(source)),
        };
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        if let Some(recording) = &self.shared.recording {
            recording.flush(&self.summary());
        }
        let summary = self.summary();
        if let Some(source) = failure {
            return Err(WaitError::Device { source, summary: Box::new(summary) });
        }
        if summary.is_complete() {
            return Ok(summary);
        }
        let received = Summary { recording: None, ..summary.clone() }.is_complete();
        match summary.recording.as_ref().and_then(|recording| recording.error.clone()) {
            Some(source) if received => Err(WaitError::Record { source, summary: Box::new(summary) }),
            _ => Err(WaitError::Incomplete(summary)),
        }
    }

    /// Waits until what has been reserved on the queue's device has been read, and returns what was counted there.
    fn drain(&self, queue: &Queue) -> Result<Vec<Counters>, offload::Error> {
        let mut all = vec![Counters::default(); self.shared.registry.all().len()];
        for set in self.shared.rings() {
            let elsewhere;
            let queue = if set.device().is_same(queue.device()) {
                queue
            } else {
                elsewhere = set.device().queue()?;
                &elsewhere
            };
            let counted = self.drain_set(&set, queue)?;
            for (sum, counters) in all.iter_mut().zip(counted) {
                sum.dropped += counters.dropped;
                sum.waited += counters.waited;
            }
        }
        Ok(all)
    }

    /// The same for one program's rings.
    fn drain_set(&self, set: &RingSet, queue: &Queue) -> Result<Vec<Counters>, offload::Error> {
        let (heads, counted) = set.read_device(queue)?;
        let reached = || set.progress().iter().zip(&heads).all(|(progress, head)| progress.has_reached(*head));
        let mut pause = Duration::from_micros(20);
        while !reached() {
            // With no kernel in flight nothing more will come: what is not whole then never will be.
            let ended = set.device().while_idle(|| -> Result<_, offload::Error> {
                let (heads, counted) = set.read_device(queue)?;
                for (progress, head) in set.progress().iter().zip(&heads) {
                    progress.set_end(Some(*head));
                }
                while !set.progress().iter().zip(&heads).all(|(progress, head)| progress.has_reached(*head)) {
                    std::thread::sleep(Duration::from_micros(20));
                }
                set.progress().iter().for_each(|progress| progress.set_end(None));
                Ok(counted)
            });
            if let Some(ended) = ended {
                return ended;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(counted)
    }

    /// What has been counted by now, and by the devices at the last wait.
    fn summary(&self) -> Summary {
        let (counted, end_unknown) = &*self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |(number, stream): (u32, &Registered)| {
            let counters = counted.get(number as usize - 1).copied().unwrap_or_default();
            StreamCounts {
                name: stream.schema.name.clone(),
                // Relaxed: `Progress::has_reached` has been asked before.
                messages: stream.messages.load(Ordering::Relaxed),
                values: stream.values.load(Ordering::Relaxed),
                dropped: counters.dropped,
                waited: counters.waited,
            }
        };
        Summary {
            streams: numbered(&self.shared.registry.all()).map(of).collect(),
            torn: self.shared.torn.load(Ordering::Relaxed),
            malformed: self.shared.malformed.load(Ordering::Relaxed),
            handler_panics: self.shared.handler_panics.load(Ordering::Relaxed),
            end_unknown: *end_unknown,
            recording: self.shared.recording.as_ref().map(|recording| Box::new(recording.recorded())),
        }
    }

    /// What all handlers have found out so far.
    pub fn reports(&self) -> Vec<Report> {
        self.reports_by(None)
    }

    /// What the handlers of one type have found out so far: one report for each stream that has one.
    pub fn reports_of<H: 'static>(&self) -> Vec<Report> {
        self.reports_by(Some(TypeId::of::<H>()))
    }

    fn reports_by(&self, only: Option<TypeId>) -> Vec<Report> {
        let streams = self.shared.registry.all();
        streams.iter().filter_map(|stream| stream.chain.as_ref()).flat_map(|chain| chain.reports(only)).collect()
    }

    /// What the first handler of this type for `M` has kept so far, on all threads.
    pub fn state<M: Message, H: Handler<M>>(&self) -> Option<H::State> {
        let streams = self.shared.registry.all();
        let mut of_type = streams.iter().filter(|stream| stream.schema.signature == M::SIGNATURE && stream.schema.name == M::NAME);
        let chain = of_type.find_map(|stream| stream.chain.as_ref())?;
        chain.state(TypeId::of::<H>())?.downcast().ok().map(|state| *state)
    }

    /// Forgets what all handlers have kept. What is counted stays.
    pub fn clear(&self) {
        self.shared.registry.all().iter().filter_map(|stream| stream.chain.as_ref()).for_each(|chain| chain.clear());
    }
}

/// What a program says of one of its streams; `None`: it says nothing, `Some(None)`: nothing that makes sense.
fn definition(program: &Program, stream: &str) -> Result<Option<Option<Schema>>, offload::Error> {
    let Some(said) = program.find_global(&format!("{SCHEMA_PREFIX}{stream}"))? else { return Ok(None) };
    let mut bytes = vec![0; said.size().min(4096)];
    said.read(&mut bytes)?;
    Ok(Some(Schema::parse(stream, &bytes)))
}

impl Kept {
    fn is_closed(&self) -> bool {
        // Pairs with the store in `RingSet::close`.
        self.closed.load(Ordering::Acquire)
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).clear();
        // Waves that wait for room are told first; what they stored is read all the same.
        let sets = self.shared.rings();
        sets.iter().for_each(|set| set.close());
        self.shared.end();
        for thread in self.threads.drain(..) {
            // A thread guards handlers; should one have panicked all the same, there is nobody to tell.
            let _ = thread.join();
        }
        // Once more, behind what the threads have told them.
        sets.iter().for_each(|set| set.close());
        if let Some(recording) = &self.shared.recording {
            recording.end(&self.summary());
        }
    }
}
