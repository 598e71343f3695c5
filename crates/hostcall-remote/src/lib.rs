//! Services of kernels that are answered elsewhere: by workers on other machines, through [NATS](https://nats.io), or
//! in the same process.
//!
//! A kernel calls as it always does, and its server serves it as it always does. One of the server's services is
//! *remote*: its calls are sent to a [`Worker`], which has the same service as a server would have it, and answered
//! when the worker has answered. Neither the kernel nor the server is changed.
//!
//! ```
//! use hostcall::Server;
//! use hostcall_remote::{Worker, local};
//!
//! #[hostcall::service]
//! pub trait Host {
//!     fn lookup(key: u64) -> Option<u64>;
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Within the process. `hostcall_remote::nats("nats://broker:4222")` is the same through a broker.
//! let place = local();
//!
//! // Where the work is done, usually on another machine:
//! let worker = Worker::on(place.clone()).service(host::lookup(|key| (key < 10).then_some(key * key))).start()?;
//!
//! // Where the GPU is:
//! let remote = place.connect()?;
//! let server = Server::without_device().service(remote.service(host::definition::lookup())).start()?;
//! # drop(server);
//! # drop(worker);
//! # Ok(())
//! # }
//! ```
//!
//! # What a remote call promises
//!
//! A call is run *at most once*, and ends within its [timeout](CallOptions::timeout) as one of these:
//!
//! | what happened | the lane gets |
//! |---|---|
//! | the worker answered | its result, or its failure |
//! | no worker serves this definition | `UnknownService` (after [`worker_wait`](CallOptions::worker_wait), if there is one) |
//! | no answer in time: a slow or lost worker, a lost broker, a full queue | `Timeout`; the handler may have run |
//! | the calls of one message do not fit into one message of the broker | `TooLarge` |
//!
//! A service that is declared [`idempotent`](CallOptions::idempotent) is asked for again when an answer is late, so its
//! handler may run more than once. Posts are handed over before `Server::wait` returns: to a worker, which has handled
//! them by then, or with [`kept`](CallOptions::kept) to the broker's disk.
//!
//! A remote call takes some hundred microseconds where a local one takes a few, and the lanes wait meanwhile. See
//! `docs/guide/scale.md`.

mod caller;
mod callers;
mod connector;
mod engine;
mod errors;
mod stats;
mod transport;
#[doc(hidden)]
pub mod wire;
mod worker;

pub use caller::{CallOptions, Remote};
#[cfg(feature = "nats")]
pub use connector::nats;
pub use connector::{Connector, local};
pub use errors::RemoteError;
pub use stats::{CallStats, WorkStats};
pub use worker::{Worker, WorkerBuilder};

/// The subject of a service: those of other definitions never meet it.
fn subject(definition: &hostcall::Definition) -> String {
    format!("hostcall.{}.{:016x}", word(definition), definition.signature)
}

/// The subject under which posts of a service are kept. Another one, so that they are not given to workers at once as
/// well.
fn kept_subject(definition: &hostcall::Definition) -> String {
    format!("hostcall-kept.{}.{:016x}", word(definition), definition.signature)
}

/// A service's name as a word of a subject. Names are identifiers, unless somebody made a definition by hand.
fn word(definition: &hostcall::Definition) -> String {
    definition.name.chars().map(|c| if c.is_alphanumeric() || "_-:".contains(c) { c } else { '_' }).collect()
}
