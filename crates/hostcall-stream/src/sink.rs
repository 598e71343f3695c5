//! Sinks: where messages of any streams are kept, by the description of their values instead of by their type.
//!
//! A sink gives each thread that reads rings an [`Inlet`] for each stream. An inlet takes batches as bytes. It may wait
//! for room, and waves then wait for room or drop their messages as their policy says; it does nothing else that takes
//! long. Sinks that write Arrow and Parquet are in the crate `hostcall-sinks`.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::batch::{Head, Pending};
use crate::bytes::Slices;
use crate::dispatch::Dispatch;
use crate::handler::{Chain, Part};
use crate::schema::Schema;
use crate::sites::Sites;

/// Keeps the messages of streams. See [`StreamsBuilder::sink`](crate::StreamsBuilder::sink).
pub trait Sink: Send + Sync + fmt::Debug + 'static {
    /// Whether it keeps the messages of a stream. Streams of attached programs that a sink keeps are on, whether
    /// anybody listens or not.
    fn takes(&self, schema: &Schema) -> bool;

    /// Messages come soon. Their [sites](crate::Origin::site) are numbers of these places: those of a program are there
    /// before its messages, and none ever goes. Of a sink that is given to several [`Streams`](crate::Streams), each
    /// calls it, and numbers places by itself.
    fn begin(&self, sites: &Arc<Sites>) {
        _ = sites;
    }

    /// Where one thread puts the messages of one stream.
    fn inlet(&self, schema: &Schema) -> Box<dyn Inlet>;

    /// Returns when everything that its inlets have taken is where it belongs, or is counted as lost.
    /// [`Streams::wait`](crate::Streams::wait) calls it.
    fn flush(&self);

    /// Completes what is kept. Its inlets are gone. Dropping [`Streams`](crate::Streams) calls it.
    fn finish(&self);

    /// What has become of the messages so far.
    fn sunk(&self) -> Sunk;
}

/// The same sink: who keeps the other one can ask it what it has kept after the [`Streams`](crate::Streams) are gone.
impl<S: Sink + ?Sized> Sink for Arc<S> {
    fn takes(&self, schema: &Schema) -> bool {
        (**self).takes(schema)
    }

    fn begin(&self, sites: &Arc<Sites>) {
        (**self).begin(sites);
    }

    fn inlet(&self, schema: &Schema) -> Box<dyn Inlet> {
        (**self).inlet(schema)
    }

    fn flush(&self) {
        (**self).flush();
    }

    fn finish(&self) {
        (**self).finish();
    }

    fn sunk(&self) -> Sunk {
        (**self).sunk()
    }
}

/// Where a thread puts the messages of one stream.
pub trait Inlet: Send {
    /// Takes a batch.
    fn take(&mut self, batch: &RawBatch<'_>);
}

/// Messages of one stream, whose values are bytes: those of each wave in the order in which it sent them, which also
/// goes for the batches of an inlet.
#[derive(Clone, Copy, Debug)]
pub struct RawBatch<'a> {
    heads: &'a [Head],
    bytes: &'a [u8],
    value_bytes: u32,
    dispatches: &'a [Dispatch],
}

impl<'a> RawBatch<'a> {
    /// Messages from elsewhere than a ring. Those of a stream of bytes or of text (`value_bytes` is 0) are each its
    /// length, as an `u32` of this machine, its bytes, and zeros up to a multiple of 4.
    ///
    /// # Panics
    /// When the bytes are not those of `heads`, whose values have `value_bytes` bytes each.
    pub fn new(heads: &'a [Head], bytes: &'a [u8], value_bytes: u32) -> Self {
        let batch = Self { heads, bytes, value_bytes, dispatches: &[] };
        assert_eq!(batch.bytes_of(heads.len()), bytes.len(), "the bytes of all values");
        batch
    }

    /// The same messages, all of which are of this launch. Of others than a stream's own nothing is known otherwise.
    pub fn dispatched(self, dispatch: &'a Dispatch) -> Self {
        Self { dispatches: std::slice::from_ref(dispatch), ..self }
    }

    /// The launch that each of the messages is of, and its kernel.
    pub fn dispatches(&self) -> impl Iterator<Item = Dispatch> + use<'a> {
        let dispatches = self.dispatches;
        self.heads.iter().map(move |head| head.dispatch(dispatches))
    }

    /// Bytes of the first messages.
    fn bytes_of(&self, messages: usize) -> usize {
        if self.value_bytes == 0 {
            let mut slices = Slices::of(self.bytes);
            assert_eq!(slices.by_ref().take(messages).count(), messages, "messages of bytes");
            return self.bytes.len() - slices.rest().len();
        }
        let values: usize = self.heads[..messages].iter().map(|head| head.values() as usize).sum();
        values * self.value_bytes as usize
    }

    /// The first messages, so many of them, and the others.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn split_at(&self, messages: usize) -> (Self, Self) {
        let ((heads, later), (bytes, behind)) = (self.heads.split_at(messages), self.bytes.split_at(self.bytes_of(messages)));
        (Self { heads, bytes, ..*self }, Self { heads: later, bytes: behind, ..*self })
    }

    /// The messages of a stream of bytes or of text, one for each head. Of other streams there are none.
    pub fn slices(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Slices::of(if self.value_bytes == 0 { self.bytes } else { &[] })
    }

    /// What is known of each message. Its values are [`Head::values`] many, and stand behind those of the message
    /// before.
    pub fn heads(&self) -> &'a [Head] {
        self.heads
    }

    /// The bytes of all values, one behind another, in this machine's order. Of a stream of bytes or of text as
    /// [`RawBatch::new`] says.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// What a sink has kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sunk {
    /// Where.
    pub name: String,
    /// Messages that are there.
    pub messages: u64,
    /// Values of these messages.
    pub values: u64,
    /// Bytes that were written.
    pub bytes: u64,
    /// Messages that were not kept because the sink was too slow, as its policy says.
    pub shed: u64,
    /// Messages that were to be kept, and are lost.
    pub lost: u64,
    /// Why the first of them was lost.
    pub error: Option<SinkError>,
}

/// Why a sink has not kept everything.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write to {sink}: {message}; {fix}")]
pub struct SinkError {
    /// Where.
    pub sink: String,
    /// What the error means.
    pub kind: io::ErrorKind,
    /// What the system or the store says.
    pub message: String,
    /// What helps.
    pub fix: String,
}

hostcall_error::readable!(SinkError);

impl fmt::Display for Sunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, messages, values, bytes, shed, lost, error } = self;
        write!(f, "{messages} messages of {values} values in {name}, {bytes} bytes")?;
        if *shed > 0 {
            write!(f, "; {shed} messages were shed because it was too slow")?;
        }
        match error {
            Some(error) => write!(f, "; {lost} messages are lost to it: {error}"),
            None => Ok(()),
        }
    }
}

/// Those of the sinks that keep a stream.
pub(crate) fn of_stream(sinks: &[Arc<dyn Sink>], schema: &Schema) -> Vec<Arc<dyn Sink>> {
    sinks.iter().filter(|sink| sink.takes(schema)).cloned().collect()
}

/// What a thread has of a stream's sinks and handlers; `None`: there are neither.
pub(crate) fn part(schema: &Schema, sinks: &[Arc<dyn Sink>], chain: Option<&dyn Chain>) -> Option<Box<dyn Part>> {
    let handlers = chain.map(Chain::thread);
    if sinks.is_empty() {
        return handlers;
    }
    let inlets = sinks.iter().map(|sink| sink.inlet(schema)).collect();
    Some(Box::new(Sinking { inlets, value_bytes: schema.bytes, handlers }))
}

/// Hands messages to sinks, then to handlers.
struct Sinking {
    inlets: Vec<Box<dyn Inlet>>,
    value_bytes: u32,
    handlers: Option<Box<dyn Part>>,
}

impl Part for Sinking {
    fn flush(&mut self, pending: &mut Pending) {
        let (heads, bytes) = pending.raw();
        let batch = RawBatch { dispatches: pending.dispatches(), ..RawBatch::new(heads, bytes, self.value_bytes) };
        self.inlets.iter_mut().for_each(|inlet| inlet.take(&batch));
        match &mut self.handlers {
            Some(handlers) => handlers.flush(pending),
            None => pending.clear(),
        }
    }
}
