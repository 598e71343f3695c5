//! Parquet files, in a directory or in an object store.
//!
//! ```text
//! run7/stream=Loss/device=0/part-00001.parquet
//! run7/stream=Loss/device=0/part-00002.parquet
//! run7/stream=Access/device=0/part-00001.parquet
//! run7/_sites.parquet
//! ```
//!
//! `stream` and `device` are columns to whoever reads the directory as one table: DuckDB with `hive_partitioning`,
//! pandas by itself. A file holds one stream's values of one device, in row groups of about a million. It is encoded in
//! memory, and appears under its name when it is whole: after [a size](Parquet::roll_bytes), after [a
//! time](Parquet::roll_time), when somebody [waits](hostcall_stream::Streams::wait) for the streams, and at the end.
//!
//! `_sites.parquet` has the places in the source that the column `site` names: `site`, `file`, `line`, `column`,
//! `module`, `level`, `text`. It is there, if messages name places, before the first of them, and again when more
//! programs are attached. Parts that were [added](Parquet::append), `part-RUN-00001`, have a table of their own,
//! `_sites-RUN.parquet`: each run numbers places by itself.

mod chunk;
mod encode;
mod files;
mod origins;
mod place;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hostcall_stream::Schema;
use hostcall_stream::sink::{Inlet, Sink, Sunk};
use object_store::ObjectStore;

use crate::errors::OpenError;
use crate::intake::{Intake, Pipe};
pub use encode::Codec;
pub(crate) use encode::{Encoder, Measured};
use files::{Files, Limits};
use place::Place;
#[cfg(feature = "nats")]
pub(crate) use place::run;

/// A sink of Parquet files that is being set up.
#[must_use = "nothing is kept before `open`"]
#[derive(Debug)]
pub struct Parquet {
    target: Target,
    intake: Intake,
    limits: Limits,
    retry: Duration,
    append: bool,
}

#[derive(Debug)]
enum Target {
    Directory(std::path::PathBuf),
    Store(Arc<dyn ObjectStore>, object_store::path::Path),
    Url(String),
}

impl Parquet {
    fn new(target: Target) -> Self {
        Self { target, intake: Intake::default(), limits: Limits::default(), retry: Duration::from_secs(120), append: false }
    }

    /// Into a directory, which is made if it is not there.
    pub fn to(directory: impl AsRef<Path>) -> Self {
        Self::new(Target::Directory(directory.as_ref().into()))
    }

    /// Into an object store, below `prefix`.
    pub fn in_store(store: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self::new(Target::Store(store, prefix.into()))
    }

    /// Into the object store of an address: `s3://bucket/run7`, `gs://…`, `az://…` with the features `s3`, `gcs` and
    /// `azure`, `memory:///`, `file:///run7`. Credentials come from the environment, as `object_store` documents:
    /// `AWS_ACCESS_KEY_ID` and the like.
    pub fn at(url: impl Into<String>) -> Self {
        Self::new(Target::Url(url.into()))
    }

    /// Which streams, and how much may wait. Default: two threads, which is also the most that are made on a machine of
    /// four processors or fewer.
    pub fn intake(mut self, intake: Intake) -> Self {
        self.intake = intake;
        self
    }

    /// How files are compressed. Default: [`Codec::Zstd`] of level 1.
    pub fn codec(mut self, codec: Codec) -> Self {
        self.limits.codec = codec;
        self
    }

    /// Bytes after which a file is completed and the next one begun. Default: 128 MiB. The file is kept in memory until
    /// then.
    pub fn roll_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// After what time a file is completed although it is small. Default: a minute.
    pub fn roll_time(mut self, time: Duration) -> Self {
        self.limits.time = time;
        self
    }

    /// Values of a row group. Default: 2^20.
    pub fn row_group(mut self, rows: usize) -> Self {
        self.limits.rows = rows.max(1);
        self
    }

    /// Whether [`Streams::wait`](hostcall_stream::Streams::wait) completes all files, so that everything is where it
    /// belongs when it returns. Default: yes. Programs that wait often, after a little each time, make many small files
    /// by it. With `false` an error is told by a later wait than its messages'.
    pub fn whole_at_wait(mut self, whole: bool) -> Self {
        self.limits.whole_at_wait = whole;
        self
    }

    /// How long a file is offered to a store that fails, with growing pauses, before its messages are counted as lost.
    /// Default: two minutes. Errors that no pause mends (no permission, a full disk) are told at once.
    pub fn retry(mut self, time: Duration) -> Self {
        self.retry = time;
        self
    }

    /// Adds to what is there: parts get names of their own. Otherwise that a stream is there already is an error.
    pub fn append(mut self) -> Self {
        self.append = true;
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// When nothing can be written there, something is there already, or the system has no thread left.
    pub fn open(self) -> Result<ParquetSink, OpenError> {
        let Self { target, intake, limits, retry, append } = self;
        let place = Arc::new(match target {
            Target::Directory(path) => Place::directory(&path, retry),
            Target::Store(store, prefix) => Place::store(store, prefix, retry),
            Target::Url(url) => Place::url(&url, retry),
        }?);
        let run = if append { Some(place::run()) } else { place.must_be_empty().map(|()| None)? };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = intake.threads_or(if cores > 4 { 2 } else { 1 });
        let (period, name) = (Some(limits.time), place.name().to_owned());
        let numbers = files::Numbers::default();
        let places = files::Places::default();
        let files = || Files::new(place.clone(), limits.clone(), run.clone(), numbers.clone(), places.clone());
        let keepers = (0..threads).map(|_| Box::new(files()) as Box<_>).collect();
        Ok(ParquetSink(Arc::new(Pipe::start(name, intake, period, keepers).map_err(OpenError::Thread)?)))
    }
}

/// A sink of Parquet files. Clones are the same sink.
#[derive(Clone, Debug)]
pub struct ParquetSink(Arc<Pipe>);

crate::intake::sink!(ParquetSink);
