//! Messages of NATS JetStream: those of a stream `Loss` go to the subject `PREFIX.Loss`, so that others can look at
//! them while kernels run.
//!
//! A message of NATS is a table in Arrow's streaming format, complete in itself, of up to some ten thousand values of
//! one stream: [`decode`](crate::decode) reads it, and in Python `pyarrow.ipc.open_stream(message.data).read_all()`.
//! `PREFIX._sites` has the places in the source that the column `site` names, as `_sites.arrow` of
//! [`Arrow`](crate::Arrow) has them: before the first message that names one, and all of them again when there are
//! more.
//!
//! The messages are kept by a JetStream stream, which is made if it is not there. Each is offered until the server
//! acknowledges it, with a number of its own by which the server knows one that it has stored already. So none is lost
//! or doubled when the server, or the way to it, fails for a while.

mod publish;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use hostcall_stream::Schema;
use hostcall_stream::sink::{Inlet, Sink, Sunk};

use crate::errors::OpenError;
use crate::intake::{Intake, Keeper, Pipe};
use publish::{Publisher, Server};

pub use async_nats;

/// How much longer than messages are offered the server has to know them: an offer may be on its way for some time.
const SLACK: Duration = Duration::from_secs(30);
/// How long a server knows messages if nobody says otherwise.
const WINDOW: Duration = Duration::from_secs(120);

/// A sink of messages of NATS that is being set up.
#[must_use = "nothing is sent before `open`"]
pub struct Nats {
    server: String,
    prefix: String,
    options: ConnectOptions,
    intake: Intake,
    jetstream: Option<String>,
    bytes: u64,
    age: Duration,
    storage: StorageType,
    replicas: usize,
    message: Option<usize>,
    period: Duration,
    retry: Duration,
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the options, which have secrets, nor the server's address, which may.
        f.debug_struct("Nats").field("prefix", &self.prefix).field("intake", &self.intake).finish_non_exhaustive()
    }
}

impl Nats {
    /// To a server, `nats://HOST` or `nats://USER:PASSWORD@HOST:PORT`, with subjects that begin with `prefix`: words
    /// with dots between.
    pub fn to(server: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            prefix: prefix.into(),
            options: ConnectOptions::new().name("hostcall"),
            intake: Intake::default(),
            jetstream: None,
            bytes: 1 << 30,
            age: Duration::ZERO,
            storage: StorageType::File,
            replicas: 1,
            message: None,
            period: Duration::from_secs(1),
            retry: Duration::from_secs(60),
        }
    }

    /// The same from one address: `nats://HOST/PREFIX`.
    pub fn at(url: impl AsRef<str>) -> Self {
        let url = url.as_ref();
        let begin = url.find("://").map_or(0, |at| at + 3);
        match url[begin..].find('/') {
            Some(at) => Self::to(&url[..begin + at], &url[begin + at + 1..]),
            None => Self::to(url, ""),
        }
    }

    /// How to connect: credentials, certificates, timeouts.
    pub fn options(mut self, options: ConnectOptions) -> Self {
        self.options = options;
        self
    }

    /// Which streams, and how much may wait. Default: one thread.
    pub fn intake(mut self, intake: Intake) -> Self {
        self.intake = intake;
        self
    }

    /// The JetStream stream that keeps the messages. Default: the prefix, with `_` for dots. One that is there is used
    /// as it is.
    pub fn jetstream(mut self, name: impl Into<String>) -> Self {
        self.jetstream = Some(name.into());
        self
    }

    /// Bytes that a stream keeps which is made. Default: 1 GiB. It takes no more when it is full, until messages are
    /// taken or [grow old](Nats::max_age).
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// How long a stream keeps messages which is made. Default: as long as it is there.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.age = age;
        self
    }

    /// A stream that is made keeps messages in the server's memory, and loses them with the server. Default: in files.
    pub fn in_memory(mut self) -> Self {
        self.storage = StorageType::Memory;
        self
    }

    /// On how many servers of a cluster a stream keeps messages which is made. Default: 1.
    pub fn replicas(mut self, servers: usize) -> Self {
        self.replicas = servers;
        self
    }

    /// Bytes of a message of NATS at most. Default, and the most there can be: what the server and the stream take.
    /// Larger tables are cut.
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message = Some(bytes);
        self
    }

    /// After what time tables are sent although they are small. Default: a second.
    pub fn roll_time(mut self, time: Duration) -> Self {
        self.period = time;
        self
    }

    /// How long a message is offered to a server that fails, with growing pauses, before it is counted as lost.
    /// Default: a minute. It must be half a minute shorter than the stream's duplicate window, which of one that is
    /// made is long enough.
    pub fn retry(mut self, time: Duration) -> Self {
        self.retry = time;
        self
    }

    /// Connects.
    ///
    /// # Errors
    /// When the server does not answer, has no JetStream, or has a stream of the name for other subjects; when `prefix`
    /// begins no subject, or [`retry`](Nats::retry) is too long; when the system has no thread left.
    pub fn open(self) -> Result<NatsSink, OpenError> {
        let Self { server, prefix, options, intake, jetstream, bytes, age, storage, replicas, message, period, retry } = self;
        let word = |word: &str| !word.is_empty() && !word.chars().any(|c| c.is_whitespace() || c.is_control() || "*>/".contains(c));
        if !prefix.split('.').all(word) {
            return Err(OpenError::Subject { prefix });
        }
        let mut window = WINDOW.max(retry.saturating_add(SLACK));
        if !age.is_zero() {
            window = window.min(age);
        }
        let config = Config {
            name: jetstream.unwrap_or_else(|| prefix.replace('.', "_")),
            subjects: vec![format!("{prefix}.>")],
            max_bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            max_age: age,
            // Otherwise the oldest would go, and nobody would hear of it.
            discard: DiscardPolicy::New,
            duplicate_window: window,
            description: Some("messages of kernels (hostcall)".into()),
            storage,
            num_replicas: replicas,
            ..Config::default()
        };
        let server = Arc::new(Server::connect(&server, prefix, options, config, message, retry)?);
        let threads = intake.threads_or(1);
        let run = crate::parquet::run();
        let publisher = |index: usize| Box::new(Publisher::new(server.clone(), format!("{run}-{index}"))) as Box<dyn Keeper>;
        let keepers = (0..threads).map(publisher).collect();
        let pipe = Pipe::start(server.place().to_owned(), intake, Some(period), keepers).map_err(OpenError::Thread)?;
        Ok(NatsSink(Arc::new(pipe)))
    }
}

/// A sink of messages of NATS. Clones are the same sink.
#[derive(Clone, Debug)]
pub struct NatsSink(Arc<Pipe>);

crate::intake::sink!(NatsSink);
