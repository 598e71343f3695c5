//! What is kept of a recording's messages.

pub(crate) mod bins;
pub(crate) mod fields;
mod grid;
mod memory;
mod spans;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use hostcall_stream::file::{Ending, Message, Program, Reader, Replay};
use hostcall_stream::{Access, Content, Interval, Schema, Sites, Summary};

use bins::{Bins, Sum};
use fields::Fields;
pub(crate) use grid::Grid;
pub(crate) use memory::{Memory, PAGE};
pub(crate) use spans::{SMS, Span, Spans};

/// What a recording says, in sums.
#[derive(Default)]
pub struct Digest {
    /// The version of hostcall that wrote it.
    pub(crate) hostcall: String,
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
    pub(crate) programs: Vec<Program>,
    pub(crate) streams: BTreeMap<u32, Stream>,
    pub(crate) counters: Option<Summary>,
    /// Why it is not whole; `None`: it is.
    pub(crate) problem: Option<String>,
    /// Whether that is damage, and not that it is cut off.
    damaged: bool,
    /// Values of each stream (by the program's device and the stream's number), over nanoseconds since the first
    /// message of that device.
    pub(crate) rates: BTreeMap<(u32, u32), Bins<Load>>,
    /// By the number of the stream and of the place.
    pub(crate) sites: BTreeMap<(u32, u32), Load>,
    /// What places are called.
    pub(crate) places: Arc<Sites>,
    pub(crate) more_sites: u64,
    pub(crate) memory: Option<Memory>,
    pub(crate) spans: Option<Spans>,
    begins: BTreeMap<u32, u64>,
}

/// What is kept of a stream.
pub(crate) struct Stream {
    pub(crate) schema: Schema,
    pub(crate) load: Load,
    /// Bytes of values, of bytes and of text.
    pub(crate) payload: u64,
    /// Messages that were found behind one that never became whole.
    pub(crate) after_gap: u64,
    /// First and last time, in nanoseconds of the device.
    pub(crate) times: Option<(u64, u64)>,
    /// `None`: accesses, intervals, bytes and text, or no message yet.
    pub(crate) fields: Option<Fields>,
}

/// How much there is of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) messages: u64,
    pub(crate) values: u64,
    /// Of rings.
    pub(crate) bytes: u64,
}

impl Sum for Load {
    fn merge(&mut self, other: &Self) {
        self.messages = self.messages.saturating_add(other.messages);
        self.values = self.values.saturating_add(other.values);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Fields of all streams of which values are kept: 4 MB.
const FIELDS: usize = 64;
/// Streams and devices whose rates are kept, and cells of each.
const RATES: (usize, usize) = (64, 512);
/// Places in the source at which messages are counted.
const SITES: usize = 1 << 12;

impl Digest {
    /// Reads a recording to its end. Damage ends it earlier, and the page says so.
    pub fn read(mut reader: Reader<impl Read>) -> Self {
        let mut digest = Self { hostcall: reader.hostcall().to_owned(), ..Self::default() };
        let mut room = FIELDS;
        loop {
            match reader.next() {
                Ok(Some(message)) => digest.add(&message, &mut room),
                Ok(None) => break,
                Err(error) => {
                    (digest.problem, digest.damaged) = (Some(error.to_string()), true);
                    break;
                }
            }
        }
        if let Some(Ending::Cut { whole }) = reader.ending() {
            digest.problem = Some(format!("it is cut off behind byte {whole}: its program has not completed it"));
        }
        if reader.unplaced() > 0 && digest.problem.is_none() {
            let left_out = reader.unplaced();
            digest.problem =
                Some(format!("{left_out} messages are left out: the shape of their launch is unknown, so x, y and z cannot be told"));
        }
        for (number, schema) in reader.streams() {
            digest.streams.entry(number).or_insert_with(|| Stream::new(schema.clone()));
        }
        (digest.bytes, digest.frames) = (reader.offset(), reader.frames());
        digest.programs = reader.programs().to_vec();
        digest.places = reader.sites().clone();
        digest.counters = reader.counters().cloned();
        digest.memory.iter_mut().for_each(Memory::finish);
        digest.spans.iter_mut().for_each(Spans::finish);
        digest
    }

    /// A page for a recording that cannot be read at all.
    pub fn unreadable(error: &hostcall_stream::file::Error) -> Self {
        Self { problem: Some(error.to_string()), damaged: true, ..Self::default() }
    }

    /// Why the recording is not whole; `None`: it is.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether the recording is damaged. One that is cut off is not: a program that was killed leaves such a one.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// How many values there are.
    pub fn values(&self) -> u64 {
        self.streams.values().fold(0, |all, stream| all.saturating_add(stream.load.values))
    }

    fn add(&mut self, message: &Message<'_>, room: &mut usize) {
        let header = &message.header;
        let load =
            Load { messages: 1, values: u64::from(header.mask.count_ones() * header.values), bytes: u64::from(header.granules) * 64 };
        let stream = self.streams.entry(header.stream).or_insert_with(|| Stream::new(message.schema.clone()));
        stream.load.merge(&load);
        stream.payload = stream.payload.saturating_add(message.bytes().len() as u64);
        stream.after_gap += u64::from(message.after_gap);
        if header.site > 0 {
            let key = (header.stream, header.site);
            if self.sites.len() < SITES || self.sites.contains_key(&key) {
                self.sites.entry(key).or_default().merge(&load);
            } else {
                self.more_sites += 1;
            }
        }
        if let Some(time) = header.time {
            let (first, last) = stream.times.unwrap_or((time, time));
            stream.times = Some((first.min(time), last.max(time)));
            let device = message.program.device.number;
            let begin = *self.begins.entry(device).or_insert(time);
            let key = (device, header.stream);
            if self.rates.len() < RATES.0 || self.rates.contains_key(&key) {
                self.rates.entry(key).or_insert_with(|| Bins::new(RATES.1, 0)).add(time.wrapping_sub(begin) as i64 as f64, &load);
            }
        }
        if Replay::<Access>::takes(message.schema) {
            self.memory.get_or_insert_default().add(message);
        } else if Replay::<Interval>::takes(message.schema) {
            self.spans.get_or_insert_default().add(message);
        } else if message.schema.content() == Content::Values {
            let timed = header.time.is_some();
            stream.fields.get_or_insert_with(|| Fields::new(message.schema, timed, room)).add(message);
        }
    }
}

impl Stream {
    fn new(schema: Schema) -> Self {
        Self { schema, load: Load::default(), payload: 0, after_gap: 0, times: None, fields: None }
    }
}
