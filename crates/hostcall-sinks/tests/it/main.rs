//! What sinks write, and what becomes of it when they cannot.

mod arrow;
mod bytes;
mod convert;
mod parquet;
mod perfetto;
mod support;
