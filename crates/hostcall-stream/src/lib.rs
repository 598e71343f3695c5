//! Receives the messages that kernels send by the million.
//!
//! A *stream* is a type ([`hostcall::stream`](https://docs.rs/hostcall)) whose values kernels send, and nobody answers.
//! They lie in rings in host memory, which threads of [`Streams`] read while the kernels run. A [`Handler`] takes
//! messages in batches, with a state for each thread; states are merged for a [`Report`]. Nothing is lost in silence:
//! [`Streams::wait`] returns a [`Summary`] in which sent and received add up.
//!
//! * [`Streams`], [`StreamsBuilder`]: who listens, attaching programs, waiting.
//! * [`Handler`], [`Batch`], [`Origin`]: what handlers see.
//! * [`StreamsBuilder::bytes`], [`StreamsBuilder::text`], [`Batch::slices`]: streams of bytes and of text.
//! * [`Report`], [`Table`]: what they find out, as text, JSON and CSV.
//! * [`handlers`]: handlers that are ready; [`probes`]: those of instrumented kernels, and their findings as text.
//! * [`Filter`], [`NamedFilter`]: which messages are wanted, while kernels run.
//! * [`Sites`]: places in the source that messages name.
//! * [`Summary`]: what was counted.
//! * [`Schema`]: what messages are made of; [`Name`]: what others call them.
//! * [`StreamsBuilder::sink`], [`mod@sink`]: where messages are kept for analysis.
//! * [`StreamsBuilder::record`], [`mod@file`], [`open`]: recordings, files that keep all messages.
//!
//! The wire is `hostcall_abi::stream`; the guide is `docs/guide/streams.md`.

mod batch;
mod builder;
mod bytes;
mod consumer;
mod counts;
mod dispatch;
mod errors;
pub mod file;
mod filter;
mod format;
mod handler;
pub mod handlers;
mod latest;
#[doc(hidden)]
pub mod measure;
mod memory;
mod name;
mod named_filter;
pub mod probes;
mod registry;
mod report;
mod rest;
mod ring;
mod schema;
pub mod sink;
mod sites;
mod streams;
mod top;
mod view;

pub use batch::{Batch, Delivery, Head, Origin};
pub use builder::StreamsBuilder;
pub use counts::{StreamCounts, Summary};
pub use dispatch::{Dispatch, Shape};
pub use errors::{AttachError, FilterError, StartError, WaitError};
pub use file::open;
pub use filter::Filter;
pub use handler::{Flow, Handler};
pub use hostcall_abi::stream::{
    Access, AccessKind, ByteStream, Header, Interval, Log, Message, Policy, Sent, Space, Step, StepKind, TextStream,
};
pub use name::Name;
pub use named_filter::{NamedFilter, ParseFilterError};
/// For the crates beside this one.
#[doc(hidden)]
pub use offload::overdue;
pub use report::{Cell, Report, Table};
pub use schema::{Content, Field, Schema};
pub use sites::{Level, Site, Sites};
pub use streams::{Awake, Streams};
