//! How messages come into a sink: tables that threads which read rings fill, a bounded queue of full ones, and the
//! sink's own threads behind it.
//!
//! A thread that reads rings fills tables of its own, one for each stream and device. A full table goes into the queue
//! of one of the sink's threads. While the queue is full the reading thread waits, or lets the table go, as [`Full`]
//! says. When a sink fails for good, what it has not kept is counted as lost, later messages are counted and let go,
//! and nobody waits any more.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostcall_stream::sink::{Inlet, RawBatch, SinkError, Sunk};
use hostcall_stream::{Schema, Site, Sites};

use crate::columns::{Columns, Table};
use crate::definition::arrow_schema;

/// What happens to messages for which the queue of a sink has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Full {
    /// The thread that reads rings waits, so waves wait for room or drop messages, as their policy says.
    #[default]
    Block,
    /// They are not kept, and counted ([`Sunk::shed`]). Kernels are not held up.
    Shed,
}

/// Which streams a sink keeps, how much may wait for it, and what happens when that is too much.
#[derive(Clone, Debug)]
pub struct Intake {
    only: Option<Vec<String>>,
    full: Full,
    rows: usize,
    tables: usize,
    threads: Option<usize>,
}

impl Default for Intake {
    /// All streams; eight tables of 64 Ki rows may wait for each thread; [`Full::Block`].
    fn default() -> Self {
        Self { only: None, full: Full::Block, rows: 1 << 16, tables: 8, threads: None }
    }
}

impl Intake {
    /// Only streams of these names.
    pub fn only(mut self, streams: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.only = Some(streams.into_iter().map(Into::into).collect());
        self
    }

    /// What happens when the queue is full.
    pub fn when_full(mut self, full: Full) -> Self {
        self.full = full;
        self
    }

    /// Values of a table that is handed on, about. Default: 65536.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = rows.max(1);
        self
    }

    /// Tables that may wait for each of the sink's threads. Default: 8.
    pub fn queue(mut self, tables: usize) -> Self {
        self.tables = tables.max(1);
        self
    }

    /// Threads of the sink. The default is the sink's.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// How many threads, if nothing else was said.
    pub(crate) fn threads_or(&self, threads: usize) -> usize {
        self.threads.unwrap_or(threads)
    }

    pub(crate) fn takes(&self, schema: &Schema) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| schema.name == *name))
    }
}

/// A stream as a sink knows it.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) schema: Schema,
    pub(crate) arrow: arrow_schema::SchemaRef,
    pub(crate) label: Label,
}

/// A stream's name as a word: part of a path, of a key and of a subject. Whoever made the stream chose its name, and a
/// word leads nowhere: it has letters, digits, `_` and `-`, and `_` for what else there is in the name. If another
/// stream has the word, the signature stands behind it, and if need be a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Label(String);

impl Label {
    /// Bytes of a name that are kept: what stands behind them, and the ending of a file, fit into what file systems
    /// allow.
    const BYTES: usize = 200;

    /// That of a stream, which no other has.
    fn new(schema: &Schema, taken: impl Fn(&Self) -> bool) -> Self {
        let mut word: String = schema.name.chars().map(|c| if c.is_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
        word.truncate(word.floor_char_boundary(Self::BYTES));
        if word.is_empty() {
            word.push('_');
        }
        let signed = format!("{word}-{:016x}", schema.signature);
        let numbered = (2..).map(|number| format!("{signed}-{number}"));
        let mut all = [word, signed.clone()].into_iter().chain(numbered).map(Self);
        // Numbers do not end before names are found; the table of places has a name of its own.
        all.find(|label| label.as_str() != crate::sites::NAME && !taken(label)).unwrap_or(Self(signed))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A full table of a stream.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) stream: Arc<Stream>,
    pub(crate) device: u32,
    pub(crate) table: Table,
}

/// What one of a sink's threads does with tables.
pub(crate) trait Keeper: Send {
    /// Takes a table. After an error nothing but [`Keeper::abandon`] is called.
    fn put(&mut self, piece: Piece, account: &Account) -> Result<(), SinkError>;
    /// Brings everything where it belongs: somebody waits for it.
    fn flush(&mut self, account: &Account) -> Result<(), SinkError>;
    /// The same because its time has come.
    fn roll(&mut self, account: &Account) -> Result<(), SinkError>;
    /// Completes what is kept. Nothing comes any more.
    fn finish(&mut self, account: &Account) -> Result<(), SinkError>;
    /// Gives up what it has taken and not [kept](Account::kept). How many messages that is.
    fn abandon(&mut self) -> u64;
}

/// What has become of messages.
#[derive(Debug)]
pub(crate) struct Account {
    sunk: Mutex<Sunk>,
    failed: AtomicBool,
    sites: OnceLock<Arc<Sites>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics between two steps of a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Account {
    fn new(name: String) -> Self {
        Self { sunk: Mutex::new(Sunk { name, ..Sunk::default() }), failed: AtomicBool::new(false), sites: OnceLock::new() }
    }

    /// The places that messages name, if they are known.
    pub(crate) fn sites(&self) -> Option<&Arc<Sites>> {
        self.sites.get()
    }

    /// The place with a number, if it is known.
    pub(crate) fn site(&self, number: u32) -> Option<Arc<Site>> {
        self.sites.get()?.get(number)
    }

    /// These are where they belong.
    pub(crate) fn kept(&self, messages: u64, values: u64, bytes: u64) {
        let sunk = &mut *locked(&self.sunk);
        sunk.messages += messages;
        sunk.values += values;
        sunk.bytes += bytes;
    }

    fn lost(&self, messages: u64) {
        locked(&self.sunk).lost += messages;
    }

    fn fail(&self, error: SinkError, lost: u64) {
        let sunk = &mut *locked(&self.sunk);
        sunk.lost += lost;
        if sunk.error.is_none() {
            tracing::error!(%error, "a sink keeps nothing from now on");
            sunk.error = Some(error);
        }
        // Relaxed: a hint that nothing more is worth the work; counts are behind the lock.
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_failed(&self) -> bool {
        // Relaxed: see `fail`.
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn sunk(&self) -> Sunk {
        locked(&self.sunk).clone()
    }

    pub(crate) fn error(&self, kind: std::io::ErrorKind, message: String, fix: &str) -> SinkError {
        SinkError { sink: locked(&self.sunk).name.clone(), kind, message, fix: fix.into() }
    }
}

/// A sink whose field is its [`Pipe`].
macro_rules! sink {
    ($name:ident) => {
        impl Sink for $name {
            fn takes(&self, schema: &Schema) -> bool {
                self.0.takes(schema)
            }

            fn begin(&self, sites: &std::sync::Arc<hostcall_stream::Sites>) {
                self.0.begin(sites);
            }

            fn inlet(&self, schema: &Schema) -> Box<dyn Inlet> {
                self.0.inlet(schema)
            }

            fn flush(&self) {
                self.0.flush();
            }

            fn finish(&self) {
                self.0.finish();
            }

            fn sunk(&self) -> Sunk {
                self.0.sunk()
            }
        }
    };
}
pub(crate) use sink;

enum Job {
    Piece(Piece),
    /// A table got its first rows: time counts from now.
    Began,
    /// Answer when everything before is where it belongs.
    Flush(SyncSender<()>),
    End,
}

/// Tables that one thread which reads rings fills for one stream.
#[derive(Debug)]
struct Filling {
    stream: Arc<Stream>,
    rows: usize,
    /// By device.
    tables: Vec<(u32, Columns)>,
}

/// The way into a sink.
pub(crate) struct Pipe {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    intake: Intake,
    account: Account,
    queues: Vec<SyncSender<Job>>,
    streams: Mutex<Vec<Arc<Stream>>>,
    /// Each with the thread behind it.
    fillings: Mutex<Vec<(usize, Arc<Mutex<Filling>>)>>,
    inlets: AtomicUsize,
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pipe").field(&self.shared.account).finish()
    }
}

impl Pipe {
    /// Starts a thread for each keeper. `period`: after what time tables that are not full are handed on, and the
    /// keeper rolls.
    pub(crate) fn start(name: String, intake: Intake, period: Option<Duration>, keepers: Vec<Box<dyn Keeper>>) -> std::io::Result<Self> {
        let (queues, jobs): (Vec<_>, Vec<_>) = keepers.iter().map(|_| mpsc::sync_channel(intake.tables)).unzip();
        let account = Account::new(name);
        let (streams, fillings, inlets) = Default::default();
        let shared = Arc::new(Shared { intake, account, queues, streams, fillings, inlets });
        let pipe = Self { shared: shared.clone(), threads: Mutex::default() };
        for (index, (keeper, jobs)) in keepers.into_iter().zip(jobs).enumerate() {
            let worker = Worker { shared: shared.clone(), index, keeper, period, deadline: None, ended: false };
            let thread = std::thread::Builder::new().name(format!("hostcall-sink-{index}")).spawn(move || worker.run(&jobs))?;
            locked(&pipe.threads).push(thread);
        }
        Ok(pipe)
    }

    pub(crate) fn takes(&self, schema: &Schema) -> bool {
        self.shared.intake.takes(schema)
    }

    /// Takes the places that messages name. Those of the first who says so are kept: another's have other numbers.
    pub(crate) fn begin(&self, sites: &Arc<Sites>) {
        if !Arc::ptr_eq(self.shared.account.sites.get_or_init(|| sites.clone()), sites) {
            tracing::warn!(sink = self.sunk().name, "a sink was given to several streams: it keeps the places in the source of the first");
        }
    }

    pub(crate) fn inlet(&self, schema: &Schema) -> Box<dyn Inlet> {
        let shared = &self.shared;
        let stream = shared.stream(schema);
        // Relaxed: it only spreads inlets over threads.
        let queue = shared.inlets.fetch_add(1, Ordering::Relaxed) % shared.queues.len();
        let filling = Arc::new(Mutex::new(Filling { stream, rows: shared.intake.rows, tables: Vec::new() }));
        locked(&shared.fillings).push((queue, filling.clone()));
        Box::new(Filler { shared: shared.clone(), queue, filling })
    }

    /// Hands everything on and waits until it is where it belongs, or lost.
    pub(crate) fn flush(&self) {
        let fillings = locked(&self.shared.fillings).clone();
        for (queue, filling) in fillings {
            self.shared.hand_on(queue, &mut locked(&filling), 1, Full::Block);
        }
        let answers = self.shared.queues.iter().map(|queue| {
            let (sender, answer) = mpsc::sync_channel(1);
            queue.send(Job::Flush(sender)).is_ok().then_some(answer)
        });
        // An error: the thread has ended, and there is nothing to wait for.
        for answer in answers.collect::<Vec<_>>().into_iter().flatten() {
            let _ = answer.recv();
        }
    }

    /// Hands everything on, and ends the threads.
    pub(crate) fn finish(&self) {
        let threads = std::mem::take(&mut *locked(&self.threads));
        if threads.is_empty() {
            return;
        }
        for (queue, filling) in std::mem::take(&mut *locked(&self.shared.fillings)) {
            self.shared.hand_on(queue, &mut locked(&filling), 1, Full::Block);
        }
        // An error: it has ended.
        self.shared.queues.iter().for_each(|queue| drop(queue.send(Job::End)));
        // What they do is guarded against panics.
        for thread in threads {
            let what = || format!("sink `{}`, which ends, waits until what it was given is kept", self.shared.account.sunk().name);
            let _ = hostcall_stream::overdue::join(thread, what);
        }
    }

    pub(crate) fn sunk(&self) -> Sunk {
        self.shared.account.sunk()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn stream(&self, schema: &Schema) -> Arc<Stream> {
        let streams = &mut *locked(&self.streams);
        if let Some(known) = streams.iter().find(|stream| stream.schema == *schema) {
            return known.clone();
        }
        let label = Label::new(schema, |label| streams.iter().any(|stream| stream.label == *label));
        let stream = Arc::new(Stream { schema: schema.clone(), arrow: arrow_schema(schema), label });
        streams.push(stream.clone());
        stream
    }

    /// Hands on the tables that have at least so many rows.
    fn hand_on(&self, queue: usize, filling: &mut Filling, least: usize, full: Full) {
        let Filling { stream, tables, .. } = filling;
        for (device, columns) in tables.iter_mut().filter(|(_, columns)| columns.weight() >= least) {
            let Some(table) = columns.take() else { continue };
            let (messages, queue) = (table.messages(), &self.queues[queue]);
            let job = Job::Piece(Piece { stream: stream.clone(), device: *device, table });
            match full {
                Full::Block => {
                    if queue.send(job).is_err() {
                        self.account.lost(messages);
                    }
                }
                Full::Shed => match queue.try_send(job) {
                    Ok(()) => {}
                    Err(TrySendError::Full(_)) => locked(&self.account.sunk).shed += messages,
                    Err(TrySendError::Disconnected(_)) => self.account.lost(messages),
                },
            }
        }
    }
}

/// Fills tables.
struct Filler {
    shared: Arc<Shared>,
    queue: usize,
    filling: Arc<Mutex<Filling>>,
}

impl Inlet for Filler {
    fn take(&mut self, batch: &RawBatch<'_>) {
        let Self { shared, queue, filling } = self;
        if shared.account.has_failed() {
            return shared.account.lost(batch.heads().len() as u64);
        }
        let mut filling = locked(filling);
        let mut rest = *batch;
        while let Some(first) = rest.heads().first() {
            let same = rest.heads().iter().position(|head| head.device != first.device).unwrap_or(rest.heads().len());
            let (these, later) = rest.split_at(same);
            let least = filling.rows;
            let columns = filling.table(first.device);
            let began = columns.rows() == 0;
            columns.push(&these);
            if began && columns.weight() < least {
                // Full: the thread is at work, and counts time anyway.
                let _ = shared.queues[*queue].try_send(Job::Began);
            }
            rest = later;
        }
        let least = filling.rows;
        shared.hand_on(*queue, &mut filling, least, shared.intake.full);
    }
}

impl Filling {
    fn table(&mut self, device: u32) -> &mut Columns {
        let at = self.tables.iter().position(|(of, _)| *of == device).unwrap_or_else(|| {
            // With room for the batch that makes it full.
            self.tables.push((device, Columns::new(&self.stream.schema, self.rows + self.rows / 2)));
            self.tables.len() - 1
        });
        &mut self.tables[at].1
    }
}

/// One of a sink's threads.
struct Worker {
    shared: Arc<Shared>,
    index: usize,
    keeper: Box<dyn Keeper>,
    period: Option<Duration>,
    /// When tables are handed on although they are not full.
    deadline: Option<Instant>,
    ended: bool,
}

impl Worker {
    fn run(mut self, jobs: &Receiver<Job>) {
        while !self.ended {
            let job = match self.deadline {
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => jobs.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match job {
                Ok(job) => self.job(job),
                Err(RecvTimeoutError::Timeout) => self.roll(jobs),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.guarded(|keeper, account| keeper.finish(account), 0);
    }

    fn job(&mut self, job: Job) {
        if let (Job::Piece(_) | Job::Began, None, Some(period)) = (&job, self.deadline, self.period) {
            self.deadline = Some(Instant::now() + period);
        }
        match job {
            Job::Piece(piece) => self.put(piece),
            Job::Began => {}
            Job::Flush(answer) => {
                self.guarded(|keeper, account| keeper.flush(account), 0);
                // Who asked may have gone.
                let _ = answer.send(());
            }
            Job::End => self.ended = true,
        }
    }

    fn put(&mut self, mut piece: Piece) {
        let messages = piece.table.messages();
        self.guarded(
            |keeper, account| {
                piece.table.add_lines(&piece.stream.schema, account.sites().map(|sites| &**sites));
                keeper.put(piece, account)
            },
            messages,
        );
    }

    /// Takes what is there, and lets the keeper roll.
    fn roll(&mut self, jobs: &Receiver<Job>) {
        let fillings = locked(&self.shared.fillings).clone();
        let (mut busy, index) = (false, self.index);
        for (_, filling) in fillings.iter().filter(|(queue, _)| *queue == index) {
            // Not `lock`: who has it may wait for this thread.
            let mut filling = match filling.try_lock() {
                Ok(filling) => filling,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    busy = true;
                    continue;
                }
            };
            // What it handed on before comes before.
            while let Ok(job) = jobs.try_recv() {
                self.job(job);
            }
            let stream = filling.stream.clone();
            let tables: Vec<_> = filling.tables.iter_mut().filter_map(|(device, columns)| Some((*device, columns.take()?))).collect();
            drop(filling);
            for (device, table) in tables {
                self.put(Piece { stream: stream.clone(), device, table });
            }
        }
        self.deadline = busy.then(|| Instant::now() + Duration::from_millis(10));
        self.guarded(|keeper, account| keeper.roll(account), 0);
    }

    /// Does something unless the sink has failed. `messages`: what is lost then, besides what the keeper has.
    fn guarded(&mut self, act: impl FnOnce(&mut dyn Keeper, &Account) -> Result<(), SinkError>, messages: u64) {
        let (keeper, account) = (&mut *self.keeper, &self.shared.account);
        if account.has_failed() {
            return account.lost(messages + keeper.abandon());
        }
        let error = match catch_unwind(AssertUnwindSafe(|| act(keeper, account))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => account.error(std::io::ErrorKind::Other, "its writer panicked".into(), "report it with the panic's message"),
        };
        account.fail(error, keeper.abandon());
    }
}
