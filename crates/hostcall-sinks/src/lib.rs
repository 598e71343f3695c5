//! Where messages of kernels are kept for analysis.
//!
//! A sink is given to [`StreamsBuilder::sink`](hostcall_stream::StreamsBuilder::sink). It takes the messages of all
//! streams of the attached programs, or of those that its [`Intake`] names, on threads of its own.
//!
//! * [`Parquet`]: files in a directory or an object store, for DuckDB, pandas, Spark.
//! * [`Arrow`]: Arrow's own files, whole or as they grow.
//! * [`Perfetto`]: a trace to look at.
//! * [`Batches`]: record batches for a function of the program itself.
//! * `Nats`, with the feature `nats`: messages of NATS JetStream.
//! * [`convert`]: recordings as such files.
//! * [`report`]: what handlers found out, as tables of Arrow.
//! * [`open`], [`decode`]: what a sink wrote, back as values of their type. [`sites`]: the places in the source that it
//!   names.
//!
//! The guide is `docs/guide/streams.md`.

mod arrow;
mod batches;
mod columns;
pub mod convert;
mod definition;
mod errors;
mod intake;
#[doc(hidden)]
pub mod measure;
#[cfg(feature = "nats")]
pub mod nats;
pub mod parquet;
mod part;
mod perfetto;
mod read;
pub mod report;
mod retry;
mod sites;
mod slices;

pub use arrow::{Arrow, ArrowSink};
pub use batches::{Batches, BatchesSink};
pub use definition::arrow_schema;
pub use errors::{OpenError, ReadError};
pub use intake::{Full, Intake};
#[cfg(feature = "nats")]
pub use nats::{Nats, NatsSink};
pub use object_store;
pub use parquet::{Codec, Parquet, ParquetSink};
pub use perfetto::{Perfetto, PerfettoSink};
pub use read::{Rows, Values, decode, open};
pub use sites::sites;
