//! Streams of one or several devices: attaching programs, and waiting for all of it.

use std::any::TypeId;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use hostcall_abi::stream::message::{SCHEMA_PREFIX, STREAM_PREFIX, word};
use hostcall_abi::stream::rings::RINGS_SYMBOL;
use hostcall_abi::stream::site::{MAX_SITE, MAX_TEXT, SITE_HEAD, SITE_OFF, SITE_PREFIX};
use hostcall_abi::stream::{Counters, Message, Policy, SiteText};
use hostcall_error::{Forked, Local};
use offload::host::{self, StackSize};
use offload::{Device, DeviceKind, LaunchedElsewhere, Program, Queue, Subscription, overdue};

use crate::builder::{Settings, StreamsBuilder};
use crate::consumer::{Consumer, Shared};
use crate::counts::Summary;
use crate::errors::{AttachError, FilterError, StartError, WaitError};
use crate::file;
use crate::filter::Filter;
use crate::handler::Handler;
use crate::memory::{RingSet, Sizes};
use crate::registry::numbered;
use crate::report::Report;
use crate::schema::Schema;
use crate::sites::{Site, Sites};

/// A device on which kernels of attached programs run.
#[derive(Debug)]
struct Watched {
    device: Device,
    _subscription: Subscription,
}

/// Receives the messages of kernels, on threads of its own. Dropping it receives what has arrived, and closes the
/// rings: later messages end as [`Sent::Closed`](hostcall_abi::stream::Sent::Closed).
///
/// In a child that `fork` has made of this process its threads are missing. There, functions that can fail do so with
/// [`Forked`], the others know nothing, and dropping it does nothing.
#[derive(Debug)]
pub struct Streams {
    parts: Local<Parts>,
}

/// What it has.
#[derive(Debug)]
struct Parts {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    devices: Mutex<Vec<Watched>>,
    /// Held by who waits until everything has been read.
    draining: Mutex<()>,
    settings: Settings,
    ended: bool,
    /// While others may look at it (`HOSTCALL_TOP`).
    shown: Option<hostcall_top::Shown>,
}

/// The rings of a program, as it keeps them.
#[derive(Debug)]
struct Kept {
    set: Arc<RingSet>,
    shared: Weak<Shared>,
    /// Nobody reads them any more.
    closed: Arc<AtomicBool>,
}

impl Streams {
    /// With so many threads that read.
    pub(crate) fn new(shared: Arc<Shared>, settings: Settings, threads: usize) -> Result<Self, StartError> {
        let parts = Parts {
            shared,
            threads: Vec::new(),
            devices: Mutex::default(),
            draining: Mutex::default(),
            settings,
            ended: false,
            shown: None,
        };
        let mut streams = Self { parts: Local::new(parts) };
        for index in 0..threads {
            let consumer = Consumer::new(streams.parts.shared.clone(), index, threads);
            let spawned = host::spawn(format!("hostcall-stream-{index}"), StackSize::default(), move || consumer.run());
            let thread = spawned.map_err(StartError::Thread)?;
            streams.parts.shared.started(thread.thread().clone());
            streams.parts.threads.push(thread);
        }
        streams.parts.shown = crate::top::show(&streams.parts.shared, threads);
        Ok(streams)
    }

    /// Streams to which nobody listens yet.
    pub fn builder() -> StreamsBuilder {
        StreamsBuilder::new()
    }

    /// Gives a program rings of its own, and its streams their numbers: from the next launch on its messages are
    /// received. Streams of the program to which nobody listens stay off, and cost its kernels a branch, unless they
    /// are recorded or a sink takes them.
    ///
    /// # Errors
    /// When the program was built with another definition of a stream, its messages go elsewhere already, the device
    /// has no memory left, or a recording no numbers.
    pub fn attach(&self, program: &Program) -> Result<(), AttachError> {
        self.check_origin()?;
        let name = || program.name().to_owned();
        if program.kept::<Kept>().is_some_and(|kept| !kept.is_closed()) {
            return Err(AttachError::Attached { program: name() });
        }
        let descriptor = program.find_global(RINGS_SYMBOL)?.ok_or_else(|| AttachError::NoRings { program: name() })?;
        if self.parts.shared.recording.is_some() || !self.parts.settings.sinks.is_empty() {
            self.learn(program)?;
        }
        let streams = self.parts.shared.registry.all();
        // All of them, before the first is written.
        let (mut words, mut listened) = (Vec::new(), Vec::new());
        for (number, stream) in numbered(&streams) {
            let schema = &stream.schema;
            let Some(theirs) = definition(program, &schema.name)? else { continue };
            if theirs.as_ref().is_none_or(|theirs| theirs.signature != schema.signature || theirs.bytes != schema.bytes) {
                if stream.chain.is_none() {
                    // Another program's, of the same name.
                    continue;
                }
                let theirs = theirs.map_or_else(|| "something that is no definition".to_owned(), |theirs| theirs.to_string());
                return Err(AttachError::Definition { program: name(), stream: schema.name.to_string(), theirs, ours: schema.to_string() });
            }
            let Some(word) = program.find_global(&format!("{STREAM_PREFIX}{}", schema.name))? else { continue };
            let flags = if stream.timed { 0 } else { word::UNTIMED } | if stream.live { word::LIVE } else { 0 };
            words.push((word, word::of(number, stream.policy) | flags));
            listened.push(number);
        }
        // Those to which nobody listens are off, whoever listened before.
        for name in program.streams() {
            if let Some(word) = program.find_global(&format!("{STREAM_PREFIX}{name}"))?
                && words.iter().all(|(written, _)| written.name() != word.name())
            {
                words.push((word, 0));
            }
        }
        let sites = self.number_sites(program)?;
        let device = program.device();
        let memory = self.parts.settings.memory.unwrap_or(if device.info().kind == DeviceKind::Sim { 2 << 20 } else { 64 << 20 });
        let latest = listened.iter().any(|number| streams[*number as usize - 1].policy == Policy::Latest);
        let sizes = Sizes::new(memory, device.info().sms);
        let mut set = RingSet::new(device, sizes, streams.len() as u32, self.parts.settings.window, self.parts.settings.huge, latest)?;
        // Before the first message.
        set.set_source(self.parts.shared.dispatches.source(device, latest));
        if let Some(recording) = &self.parts.shared.recording {
            let program = file::Program {
                name: name().into(),
                device: file::Device::of(device.info()),
                wave_size: device.info().wave_size,
                first_ring: 0,
                rings: set.recorded_rings(),
                // A message may be of any, whatever its program defines.
                streams: numbered(&streams).map(|(number, stream)| (number, stream.schema.clone())).collect(),
                sites,
            };
            let full = || AttachError::RecordingFull { program: name(), path: recording.path().to_owned() };
            set.number_rings(recording.program(program).ok_or_else(full)?);
        }
        let set = Arc::new(set);
        for (number, stream) in numbered(&streams) {
            set.set_filter(number, &stream.filter())?;
        }
        // Before its address is known there.
        let kept = Arc::new(Kept { set: set.clone(), shared: Arc::downgrade(&self.parts.shared), closed: set.closed().clone() });
        program.tell_if_launched_elsewhere(&kept);
        program.keep(kept);
        descriptor.write(set.descriptor().as_bytes())?;
        for (word, value) in words {
            word.write(&value.to_ne_bytes())?;
        }
        self.watch(device);
        self.parts.shared.add(set.clone());
        for (number, stream) in numbered(&streams).filter(|(_, stream)| stream.live) {
            // It may have changed, and whoever changed it did not know of these rings.
            set.set_filter(number, &stream.filter())?;
        }
        Ok(())
    }

    /// Tells a program the numbers of its places in the source, and from which of them nothing is wanted. The places
    /// that have numbers.
    fn number_sites(&self, program: &Program) -> Result<Vec<(u32, Site)>, offload::Error> {
        let mut sites = Vec::new();
        for name in program.sites() {
            let Some(word) = program.find_global(&format!("{SITE_PREFIX}{name}"))? else { continue };
            let mut bytes = vec![0; word.size().min(SITE_HEAD + 3 * MAX_TEXT)];
            word.read(&mut bytes)?;
            let Some(site) = SiteText::parse(&bytes) else {
                tracing::warn!(program = program.name(), name, "what a program says of a place in its source makes no sense");
                continue;
            };
            let site = Site::from(site);
            let number = if self.parts.settings.wanted.takes(&site) { self.parts.settings.sites.number(site.clone()) } else { SITE_OFF };
            word.write(&number.to_ne_bytes())?;
            if (1..=MAX_SITE).contains(&number) {
                sites.push((number, site));
            }
        }
        Ok(sites)
    }

    /// The places in the source that the attached programs' messages name.
    pub fn sites(&self) -> &Sites {
        &self.parts.settings.sites
    }

    /// Says which messages of `M` are wanted from now on, while kernels run. On NVIDIA a wave looks past its cache at
    /// about one of 128 messages, and hears of it then.
    ///
    /// # Errors
    /// When the stream is not live, or a device failed.
    pub fn set_filter<M: Message>(&self, filter: Filter) -> Result<(), FilterError> {
        self.check_origin()?;
        let streams = self.parts.shared.registry.all();
        let known = numbered(&streams).find(|(_, stream)| stream.schema.signature == M::SIGNATURE && stream.schema.name == M::NAME);
        let Some((number, stream)) = known.filter(|(_, stream)| stream.live) else {
            return Err(FilterError::NotLive { stream: M::NAME.into() });
        };
        // Held until all are told, so that the last word is the same everywhere.
        let mut now = stream.filter();
        *now = filter.as_patient_as(*now);
        for set in self.parts.shared.rings() {
            set.set_filter(number, &now)?;
        }
        Ok(())
    }

    /// Gives numbers to the streams of a program to which nobody listens.
    fn learn(&self, program: &Program) -> Result<(), AttachError> {
        let known = self.parts.shared.registry.all();
        let listened = |name: &str| known.iter().any(|stream| stream.chain.is_some() && stream.schema.name == name);
        let mut schemas = Vec::new();
        let said = program.streams();
        let named = self.parts.settings.names.iter().filter(|name| !said.contains(name));
        for stream in said.iter().chain(named).filter(|name| !listened(name)) {
            // Mentioned only, otherwise.
            if let Some(schema) = definition(program, stream)? {
                let mut schema =
                    schema.ok_or_else(|| AttachError::NoDefinition { program: program.name().into(), stream: stream.clone() })?;
                if schema.policy != Policy::Latest {
                    let chosen =
                        self.parts.settings.policies.iter().rev().find(|(name, _)| *name == schema.name).map(|(_, policy)| *policy);
                    schema.policy = chosen.or(self.parts.settings.unlistened).unwrap_or(schema.policy);
                }
                if self.parts.shared.recording.is_some() || self.parts.settings.sinks.iter().any(|sink| sink.takes(&schema)) {
                    schemas.push(schema);
                }
            }
        }
        match self.parts.shared.registry.learn(schemas, &self.parts.settings.sinks, &self.parts.settings.filters) {
            None => Ok(()),
            Some(schema) => Err(AttachError::TooManyStreams { program: program.name().into(), stream: schema.name.into() }),
        }
    }

    /// Wakes the threads when kernels run on the device.
    fn watch(&self, device: &Device) {
        let mut devices = self.parts.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if devices.iter().any(|watched| watched.device.is_same(device)) {
            return;
        }
        let shared = self.parts.shared.clone();
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

    /// Hands on what the areas of the latest messages hold now, of streams of [`Policy::Latest`], while kernels run:
    /// what was not handed on before, and has not been overwritten. [`Streams::wait`] does so, too. Returns what has
    /// been counted by now; what the devices count is known since the last wait.
    pub fn snapshot(&self) -> Summary {
        if self.check_origin().is_err() {
            return self.summary();
        }
        self.parts.shared.arm();
        self.recall();
        self.parts.shared.disarm();
        self.summary()
    }

    /// # Errors
    /// In a forked child.
    fn check_origin(&self) -> Result<(), Forked> {
        self.parts.origin().check("`Streams`")
    }

    /// Keeps the threads looking at rings, as if kernels ran, until what is returned is dropped: for kernels that are
    /// launched by other means than `offload`'s queues. Without, threads look at the rings of programs that others may
    /// launch now and then, and a kernel may have filled its rings before they do.
    pub fn keep_awake(&self) -> Awake {
        self.parts.shared.arm();
        Awake(self.parts.shared.clone())
    }

    /// Has the areas of the latest messages read, and waits until it is done.
    fn recall(&self) {
        let asked: Vec<_> = self.parts.shared.rings().into_iter().map(|set| (set.recall(), set)).collect();
        for (recall, set) in asked {
            while !set.is_recalled(recall) {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
    }

    /// Waits until the kernels in the queue have ended and every message that they sent has been handled, and says what
    /// was counted since the start.
    ///
    /// # Errors
    /// When the device failed, or messages are lost that no policy allowed to be.
    pub fn wait(&self, queue: &Queue) -> Result<Summary, WaitError> {
        self.check_origin()?;
        self.parts.shared.arm();
        // A fault may have ended a kernel and left the device as it was: what can be known is asked for all the same.
        let failed = queue.synchronize().err();
        let ended = self.parts.shared.dispatches.ended();
        let (counted, end_unknown, lost) = self.drain(queue);
        self.recall();
        if !end_unknown {
            self.parts.shared.dispatches.drained(&ended);
        }
        self.parts.shared.disarm();
        let failure = failed.or(lost);
        let counted = (counted, end_unknown);
        *self.parts.shared.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        if let Some(recording) = &self.parts.shared.recording {
            recording.flush(&self.summary());
        }
        self.parts.settings.sinks.iter().for_each(|sink| sink.flush());
        let summary = self.summary();
        if let Some(source) = failure {
            return Err(WaitError::Device { source, summary: Box::new(summary) });
        }
        if summary.is_complete() {
            return Ok(summary);
        }
        let received = Summary { recording: None, sinks: Vec::new(), ..summary.clone() }.is_complete();
        let record = summary.recording.as_ref().and_then(|recording| recording.error.clone());
        let sink = summary.sinks.iter().find_map(|sunk| sunk.error.clone());
        match (record, sink) {
            (Some(source), _) if received => Err(WaitError::Record { source, summary: Box::new(summary) }),
            (None, Some(source)) if received => Err(WaitError::Sink { source, summary: Box::new(summary) }),
            _ => Err(WaitError::Incomplete(summary)),
        }
    }

    /// Waits until what has been reserved has been read, and returns what was counted, whether a device is lost, and
    /// its error if that is news.
    fn drain(&self, queue: &Queue) -> (Vec<Counters>, bool, Option<offload::Error>) {
        // What one says of a ring's end, another does not take back.
        let _alone = self.parts.draining.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = vec![Counters::default(); self.parts.shared.registry.all().len()];
        let (mut end_unknown, mut news) = (false, None);
        for set in self.parts.shared.rings() {
            let drained = if set.is_lost() { None } else { Some(self.drain_on(&set, queue)) };
            match drained {
                Some(Ok(counted)) => {
                    for (sum, counters) in all.iter_mut().zip(counted) {
                        sum.dropped += counters.dropped;
                        sum.waited += counters.waited;
                        sum.filtered += counters.filtered;
                        sum.sent += counters.sent;
                    }
                    continue;
                }
                Some(Err(error)) => {
                    if matches!(error, offload::Error::DeviceLost { .. }) {
                        set.lose();
                    }
                    news.get_or_insert(error);
                }
                None => {}
            }
            // Whatever a lost device has stored is there, and nothing of it will change: each ring is searched once,
            // whatever other devices do.
            end_unknown = true;
            while set.is_lost() && !set.is_searched() {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
        (all, end_unknown, news)
    }

    /// The same for one program's rings, whichever device the queue is of.
    fn drain_on(&self, set: &RingSet, queue: &Queue) -> Result<Vec<Counters>, offload::Error> {
        if set.device().is_same(queue.device()) { self.drain_set(set, queue) } else { self.drain_set(set, &set.device().queue()?) }
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
                set.set_ends(Some(&heads));
                while !set.progress().iter().zip(&heads).all(|(progress, head)| progress.has_reached(*head)) {
                    std::thread::sleep(Duration::from_micros(20));
                }
                set.set_ends(None);
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

    /// What has been counted by now; what the devices count (dropped, waited, filtered) is known since the last wait.
    pub fn summary(&self) -> Summary {
        if self.check_origin().is_err() {
            return Summary { end_unknown: true, ..Summary::default() };
        }
        let (streams, end_unknown) = self.parts.shared.counts();
        Summary {
            streams,
            torn: self.parts.shared.torn.load(Ordering::Relaxed),
            malformed: self.parts.shared.malformed.load(Ordering::Relaxed),
            handler_panics: self.parts.shared.handler_panics.load(Ordering::Relaxed),
            end_unknown,
            recording: self.parts.shared.recording.as_ref().map(|recording| Box::new(recording.recorded())),
            sinks: self.parts.settings.sinks.iter().map(|sink| sink.sunk()).collect(),
        }
    }

    /// What is known of the streams of the attached programs that somebody listens to, or that are recorded or kept by
    /// sinks.
    pub fn schemas(&self) -> Vec<Schema> {
        if self.check_origin().is_err() {
            return Vec::new();
        }
        self.parts.shared.registry.all().iter().map(|stream| stream.schema.clone()).collect()
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
        if self.check_origin().is_err() {
            return Vec::new();
        }
        let streams = self.parts.shared.registry.all();
        streams.iter().filter_map(|stream| stream.chain.as_ref()).flat_map(|chain| chain.reports(only)).collect()
    }

    /// What the first handler of this type for `M` has kept so far, on all threads.
    pub fn state<M: Message, H: Handler<M>>(&self) -> Option<H::State> {
        self.check_origin().ok()?;
        let streams = self.parts.shared.registry.all();
        let mut of_type = streams.iter().filter(|stream| stream.schema.signature == M::SIGNATURE && stream.schema.name == M::NAME);
        let chain = of_type.find_map(|stream| stream.chain.as_ref())?;
        chain.state(TypeId::of::<H>())?.downcast().ok().map(|state| *state)
    }

    /// Forgets what all handlers have kept. What is counted stays.
    pub fn clear(&self) {
        if self.check_origin().is_err() {
            return;
        }
        self.parts.shared.registry.all().iter().filter_map(|stream| stream.chain.as_ref()).for_each(|chain| chain.clear());
    }
}

/// Threads look at rings. See [`Streams::keep_awake`].
#[derive(Debug)]
pub struct Awake(Arc<Shared>);

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.disarm();
    }
}

/// What a program says of one of its streams; `None`: it says nothing, `Some(None)`: nothing that makes sense.
fn definition(program: &Program, stream: &str) -> Result<Option<Option<Schema>>, offload::Error> {
    let Some(said) = program.find_global(&format!("{SCHEMA_PREFIX}{stream}"))? else { return Ok(None) };
    let mut bytes = vec![0; said.size().min(4096)];
    said.read(&mut bytes)?;
    Ok(Some(Schema::parse(stream, &bytes)))
}

impl LaunchedElsewhere for Kept {
    fn launched_elsewhere(&self) {
        self.set.set_launched_elsewhere();
        if let Some(shared) = self.shared.upgrade() {
            shared.wake();
        }
    }
}

impl Kept {
    fn is_closed(&self) -> bool {
        // Pairs with the store in `RingSet::close`.
        self.closed.load(Ordering::Acquire)
    }
}

impl Streams {
    /// Ends, as dropping does, whether kernels still run or not, and returns what has been counted. What devices count
    /// is that of the last
    /// [`Streams::wait`]: if there was none, or a kernel runs, the [end is unknown](Summary::end_unknown).
    pub fn end(mut self) -> Summary {
        if self.check_origin().is_err() {
            return self.summary();
        }
        let running = self.parts.shared.rings().iter().any(|set| set.device().in_flight() > 0);
        {
            let (counted, end_unknown) = &mut *self.parts.shared.counted.lock().unwrap_or_else(PoisonError::into_inner);
            *end_unknown |= running || counted.is_empty();
        }
        self.finish();
        self.summary()
    }

    fn finish(&mut self) {
        if self.check_origin().is_err() || std::mem::replace(&mut self.parts.ended, true) {
            return;
        }
        self.parts.devices.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.parts.shared.arm();
        self.recall();
        // Waves that wait for room are told first; what they stored is read all the same.
        let sets = self.parts.shared.rings();
        sets.iter().for_each(|set| set.close());
        self.parts.shared.end();
        for thread in self.parts.threads.drain(..) {
            // A thread guards handlers; should one have panicked all the same, there is nobody to tell.
            let _ = overdue::join(thread, || "streams that end wait for a handler of theirs".to_owned());
        }
        // Once more, behind what the threads have told them.
        sets.iter().for_each(|set| set.close());
        if let Some(recording) = &self.parts.shared.recording {
            recording.end(&self.summary());
        }
        for sink in &self.parts.settings.sinks {
            sink.finish();
            if let Some(error) = sink.sunk().error {
                tracing::error!(%error, "a sink has not kept everything");
            }
        }
        // Nobody looks at them any more.
        self.parts.shown = None;
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.finish();
    }
}
