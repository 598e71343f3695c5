//! Message streams, for `hostcall.Streams`: what kernels send is kept as record batches until Python takes it.
//!
//! No thread that reads rings, and none of the sink behind them, touches Python.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hostcall::Local;
use hostcall_sinks::{Batches, Intake, Parquet};
use hostcall_stream::{AttachError, NamedFilter, Policy, Schema, Summary, WaitError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::arrow::{self, RecordBatch};
use crate::attach::Attachment;
use crate::error::{invalid, of_device, of_stream, stopped};
use crate::queue::lock;
use crate::server::{Server, Shared};

/// The keyword arguments of `hostcall.Server.streams`, all of them there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    names: Vec<String>,
    policy: Option<String>,
    policies: HashMap<String, String>,
    filters: Vec<String>,
    record: Option<PathBuf>,
    parquet: Option<PathBuf>,
    memory: Option<usize>,
    threads: Option<usize>,
    rows: usize,
    period: f64,
    keep: Option<usize>,
}

/// What has come of one stream and nobody has taken.
#[derive(Debug, Default)]
struct Kept {
    batches: VecDeque<arrow_array::RecordBatch>,
    rows: usize,
    /// Rows that went because there were too many behind them.
    forgotten: u64,
}

impl Kept {
    /// One more batch. The oldest ones go, if there are more than `most` rows with them; the last one stays, however
    /// large it is.
    fn put(&mut self, batch: arrow_array::RecordBatch, most: usize) {
        self.rows += batch.num_rows();
        self.batches.push_back(batch);
        while self.rows > most && self.batches.len() > 1 {
            self.forgotten += self.take().map_or(0, |batch| batch.num_rows() as u64);
        }
    }

    fn take(&mut self) -> Option<arrow_array::RecordBatch> {
        let batch = self.batches.pop_front()?;
        self.rows -= batch.num_rows();
        Some(batch)
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.rows = 0;
    }
}

/// The same of all streams. A thread of the sink's never waits for room here: kernels that wait for it, and who waits
/// for them, would wait for whoever takes.
#[derive(Debug)]
struct Came {
    kept: Mutex<HashMap<String, Kept>>,
    more: Condvar,
    /// Rows of a stream at most.
    most: usize,
}

impl Came {
    fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), more: Condvar::new(), most }
    }

    fn put(&self, stream: &str, batch: arrow_array::RecordBatch) {
        lock(&self.kept).entry(stream.to_owned()).or_default().put(batch, self.most);
        self.more.notify_all();
    }

    /// The first batch of a stream, if one comes within the time.
    fn take(&self, stream: &str, limit: Duration) -> Option<arrow_array::RecordBatch> {
        let until = Instant::now() + limit;
        let mut kept = lock(&self.kept);
        loop {
            if let Some(batch) = kept.get_mut(stream).and_then(Kept::take) {
                return Some(batch);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            kept = self.more.wait_timeout(kept, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn all(&self, stream: &str) -> Vec<arrow_array::RecordBatch> {
        lock(&self.kept).get(stream).into_iter().flat_map(|kept| &kept.batches).cloned().collect()
    }
}

/// The streams of a server's programs.
#[pyclass(frozen, module = "hostcall._hostcall")]
pub(crate) struct Streams {
    server: Arc<Shared>,
    came: Arc<Came>,
    running: Local<Mutex<Option<Arc<hostcall_stream::Streams>>>>,
    /// What was known when it stopped.
    ended: Mutex<(Summary, Vec<Schema>)>,
}

fn policy(name: &str) -> PyResult<Policy> {
    let known = Policy::CHOICES.into_iter().find(|policy| policy.name() == name);
    known.ok_or_else(|| {
        let names = Policy::CHOICES.map(Policy::name).join(", ");
        invalid(format!("`{name}` is no policy that a host chooses: {names} are, and only a definition says `latest`"))
    })
}

impl Streams {
    fn running(&self) -> PyResult<Arc<hostcall_stream::Streams>> {
        self.running.origin().check("`Streams`").map_err(stopped)?;
        lock(&self.running).clone().ok_or_else(|| stopped("these streams have stopped"))
    }

    /// What is counted, and the streams, now or when it stopped.
    fn known(&self) -> (Summary, Vec<Schema>) {
        match self.running() {
            Ok(running) => (running.summary(), running.schemas()),
            Err(_) => lock(&self.ended).clone(),
        }
    }
}

#[pymethods]
impl Streams {
    #[new]
    fn new(py: Python<'_>, server: &Server, settings: Settings) -> PyResult<Self> {
        let server = server.shared().clone();
        let came = Arc::new(Came::new(settings.keep.unwrap_or(usize::MAX)));
        let mut builder = hostcall_stream::Streams::builder().names(settings.names);
        if let Some(chosen) = settings.policy {
            builder = builder.policy_of_unlistened(policy(&chosen)?);
        }
        for (stream, chosen) in settings.policies {
            builder = builder.policy_named(stream, policy(&chosen)?);
        }
        for filter in settings.filters {
            let NamedFilter { stream, filter, .. } = filter.parse().map_err(invalid)?;
            builder = builder.filter_named(stream, filter);
        }
        if let Some(bytes) = settings.memory {
            builder = builder.memory(bytes);
        }
        if let Some(threads) = settings.threads {
            builder = builder.threads(threads);
        }
        if let Some(path) = settings.record {
            builder = builder.record(path);
        }
        let period = Duration::try_from_secs_f64(settings.period).map_err(|error| invalid(format!("period: {error}")))?;
        let takes = came.clone();
        let streams = py.detach(|| {
            if let Some(directory) = settings.parquet {
                builder = builder.sink(Parquet::to(directory).open().map_err(of_stream)?);
            }
            let batches = Batches::default().intake(Intake::default().rows(settings.rows)).period(period);
            let sink = batches.open(move |stream, batch| takes.put(&stream.name, batch)).map_err(of_stream)?;
            builder.sink(sink).start(&server.opened.device).map_err(of_stream)
        })?;
        Ok(Self { server, came, running: Local::new(Mutex::new(Some(Arc::new(streams)))), ended: Mutex::default() })
    }

    /// Takes the messages of a program from its next launch on. Whether it sends any.
    fn attach(&self, py: Python<'_>, attachment: &Attachment) -> PyResult<bool> {
        let running = self.running()?;
        match py.detach(|| running.attach(&attachment.program)) {
            Ok(()) => Ok(true),
            // It sends nothing.
            Err(AttachError::NoRings { .. }) => Ok(false),
            Err(error) => Err(of_stream(error)),
        }
    }

    /// Waits until the kernels of the CUDA stream have ended, and all that they sent is here.
    #[pyo3(signature = (stream=None))]
    fn wait(&self, py: Python<'_>, stream: Option<u64>) -> PyResult<()> {
        let running = self.running()?;
        let queue = self.server.opened.queue(py, stream)?;
        match py.detach(|| running.wait(&queue)) {
            Ok(_) => Ok(()),
            Err(WaitError::Device { source, .. }) => Err(of_device(source)),
            Err(error) => Err(of_stream(error)),
        }
    }

    /// Whether the kernels of the CUDA stream have ended.
    #[pyo3(signature = (stream=None))]
    fn idle(&self, py: Python<'_>, stream: Option<u64>) -> PyResult<bool> {
        let queue = self.server.opened.queue(py, stream)?;
        py.detach(|| queue.is_idle()).map_err(of_device)
    }

    /// The first batch of a stream, if one comes within so many seconds. It is gone then.
    fn take(&self, py: Python<'_>, stream: &str, seconds: f64) -> PyResult<Option<RecordBatch>> {
        let limit = Duration::try_from_secs_f64(seconds).map_err(|error| invalid(format!("timeout: {error}")))?;
        Ok(py.detach(|| self.came.take(stream, limit)).map(RecordBatch))
    }

    /// Rows of a stream that nobody has taken.
    fn rows(&self, stream: &str) -> usize {
        lock(&self.came.kept).get(stream).map_or(0, |kept| kept.rows)
    }

    /// Rows of a stream that were not kept.
    fn forgotten(&self, stream: &str) -> u64 {
        lock(&self.came.kept).get(stream).map_or(0, |kept| kept.forgotten)
    }

    /// They stay.
    fn export<'py>(&self, py: Python<'py>, stream: &str) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = self.came.all(stream);
        let schema = match batches.first() {
            Some(batch) => batch.schema(),
            None => {
                let (_, schemas) = self.known();
                let known = schemas.iter().find(|schema| schema.name == stream);
                hostcall_sinks::arrow_schema(known.ok_or_else(|| invalid(format!("no attached program has a stream `{stream}`")))?)
            }
        };
        if batches.iter().any(|batch| batch.schema_ref() != &schema) {
            return Err(of_stream(format!(
                "two programs define the stream `{stream}` differently, which is no table: iterate over its batches"
            )));
        }
        arrow::stream(py, schema, batches)
    }

    /// Forgets what nobody has taken.
    fn clear(&self, stream: &str) {
        if let Some(kept) = lock(&self.came.kept).get_mut(stream) {
            kept.clear();
        }
    }

    /// What was counted of each stream. What devices count is known since the last wait.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (summary, _) = self.known();
        let row = |it: &hostcall_stream::StreamCounts| {
            let d = PyDict::new(py);
            d.set_item("name", it.name.as_str())?;
            d.set_item("messages", it.messages)?;
            d.set_item("values", it.values)?;
            d.set_item("dropped", it.dropped)?;
            d.set_item("waited", it.waited)?;
            d.set_item("filtered", it.filtered)?;
            d.set_item("overwritten", it.overwritten)?;
            d.set_item("unhandled", it.unhandled)?;
            Ok(d)
        };
        summary.streams.iter().map(row).collect()
    }

    /// Takes what has come, completes files, and closes the rings. What nobody has taken stays.
    fn stop(&self, py: Python<'_>) {
        let known = self.known();
        let Some(mut running) = lock(&self.running).take() else { return };
        *lock(&self.ended) = known;
        py.detach(|| {
            loop {
                match Arc::try_unwrap(running) {
                    Ok(alone) => return drop(alone),
                    // Somebody waits, or attaches.
                    Err(shared) => running = shared,
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    }
}
