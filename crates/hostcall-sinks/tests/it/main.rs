//! What sinks write, and what becomes of it when they cannot.

mod arrow;
mod batches;
mod bytes;
mod convert;
mod full;
#[cfg(feature = "nats")]
mod nats;
mod parquet;
mod perfetto;
mod python;
#[cfg(feature = "s3")]
mod s3;
mod support;
