//! Where messages of kernels are kept for analysis.
//!
//! A sink is given to [`StreamsBuilder::sink`](hostcall_stream::StreamsBuilder::sink). It takes the messages of all streams of the attached programs, or of
//! those that its [`Intake`] names, on threads of its own.
//!
//! * [`Parquet`]: files in a directory or an object store, for DuckDB, pandas, Spark.
//! * [`Arrow`]: Arrow's own files, whole or as they grow.
//! * [`Perfetto`]: a trace to look at.
//! * [`convert`]: recordings as such files.
//! * [`report`]: what handlers found out, as tables of Arrow.
//! * [`open`]: what a sink wrote, back as values of their type.
//!
//! The guide is `docs/streams.md`.

mod arrow;
mod columns;
pub mod convert;
mod definition;
mod errors;
mod intake;
#[doc(hidden)]
pub mod measure;
pub mod parquet;
mod part;
mod perfetto;
mod read;
pub mod report;
mod slices;

pub use arrow::{Arrow, ArrowSink};
pub use errors::{OpenError, ReadError};
pub use intake::{Full, Intake};
pub use object_store;
pub use parquet::{Codec, Parquet, ParquetSink};
pub use perfetto::{Perfetto, PerfettoSink};
pub use read::{Rows, Values, open};
