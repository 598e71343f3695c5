//! Traces that <https://ui.perfetto.dev> shows.
//!
//! Each value of [`Interval`](hostcall_stream::Interval) is a slice, on a track of its wave below one of its SM. Lanes
//! whose intervals are the same as the first lane's are in its slice; others have tracks of their own. Lines of a
//! [log](Log) are instants of their waves. Each number among the fields of another stream is a counter of its device,
//! with the first lane's value of each message. Messages of streams without numbers are instants. What has no time has
//! no place in a trace, and is counted as lost.
//!
//! A slice has the name that its label was [given](Perfetto::named), else the text of its place in the source. Slices
//! and instants say where in the source they come from, if they know (`source.file_name` and `source.line_number` in
//! Perfetto).
//!
//! The format is protobuf, of which a trace needs six messages: `Trace`, `TracePacket`, `TrackDescriptor`,
//! `TrackEvent`, `CounterDescriptor` and `SourceLocation`, by `protos/perfetto/trace` of Perfetto's sources.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_schema::DataType;
use hostcall_stream::sink::{Inlet, Sink, SinkError, Sunk};
use hostcall_stream::{Interval, Log, Message as _, Schema, Site};
use tempfile::NamedTempFile;

use crate::columns::{Run, Table};
use crate::definition::{ORIGINS, is};
use crate::errors::OpenError;
use crate::intake::{Account, Intake, Keeper, Piece, Pipe, Stream};
use crate::part;

/// A trace that is being set up.
#[must_use = "nothing is kept before `open`"]
#[derive(Debug)]
pub struct Perfetto {
    path: PathBuf,
    intake: Intake,
    labels: Vec<(u32, String)>,
}

impl Perfetto {
    /// Into a file, by custom `.perfetto-trace`. It appears when it is whole, at the end.
    pub fn to(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().into(), intake: Intake::default(), labels: Vec::new() }
    }

    /// Which streams, and how much may wait. Always one thread.
    pub fn intake(mut self, intake: Intake) -> Self {
        self.intake = intake;
        self
    }

    /// What intervals of a label are called.
    pub fn named(mut self, label: u32, name: impl Into<String>) -> Self {
        self.labels.push((label, name.into()));
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// When the file cannot be written, or the system has no thread left.
    pub fn open(self) -> Result<PerfettoSink, OpenError> {
        let Self { path, intake, labels } = self;
        let file = part::beside(&path).map_err(|source| OpenError::Path { path: path.clone(), source })?;
        let name = format!("`{}`", path.display());
        let to = BufWriter::with_capacity(1 << 20, file);
        let trace = Trace { path, to: Some(to), labels, tracks: HashSet::new(), bytes: 0, messages: 0, values: 0, entering: 0, untimed: 0 };
        Ok(PerfettoSink(Arc::new(Pipe::start(name, intake, None, vec![Box::new(trace)]).map_err(OpenError::Thread)?)))
    }
}

/// A trace. Clones are the same sink.
#[derive(Clone, Debug)]
pub struct PerfettoSink(Arc<Pipe>);

crate::intake::sink!(PerfettoSink);

struct Trace {
    path: PathBuf,
    /// `None`: it is complete, or given up.
    to: Option<BufWriter<NamedTempFile>>,
    labels: Vec<(u32, String)>,
    /// Those that the trace knows.
    tracks: HashSet<u64>,
    bytes: u64,
    messages: u64,
    values: u64,
    entering: u64,
    untimed: u64,
}

/// Kinds of `TrackEvent`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// A message of protobuf's.
#[derive(Default)]
struct Proto(Vec<u8>);

impl Proto {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Where in the source an event comes from: `TrackEvent.source_location`.
    fn source(self, site: Option<&Site>) -> Self {
        let Some(site) = site else { return self };
        let location = Self::default().text(2, &site.file).text(3, &site.module).number(4, site.line.into());
        self.bytes(33, &location.0)
    }

    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn double(mut self, field: u64, number: f64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }
}

/// The number of a track.
fn track(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    // 0 is the trace's own.
    hasher.finish().max(1)
}

impl Trace {
    /// Writes a `TracePacket`.
    fn packet(&mut self, packet: Proto) -> std::io::Result<()> {
        // `trusted_packet_sequence_id`: all of it is one sequence.
        let packet = packet.number(10, 1);
        let whole = Proto::default().bytes(1, &packet.0);
        self.bytes += whole.0.len() as u64;
        self.to.as_mut().map_or(Ok(()), |to| to.write_all(&whole.0))
    }

    /// Writes the descriptor of a track that is new.
    fn track(&mut self, id: u64, parent: Option<u64>, counter: bool, name: impl FnOnce() -> String) -> std::io::Result<()> {
        if !self.tracks.insert(id) {
            return Ok(());
        }
        let mut descriptor = Proto::default().number(1, id).text(2, &name());
        if let Some(parent) = parent {
            descriptor = descriptor.number(5, parent);
        }
        if counter {
            descriptor = descriptor.bytes(8, &[]);
        }
        self.packet(Proto::default().bytes(60, &descriptor.0))
    }

    fn event(&mut self, time: u64, kind: u64, track: u64, more: impl FnOnce(Proto) -> Proto) -> std::io::Result<()> {
        let event = more(Proto::default().number(9, kind).number(11, track));
        self.packet(Proto::default().number(8, time).bytes(11, &event.0))
    }

    /// The track of a device.
    fn device(&mut self, device: u32) -> std::io::Result<u64> {
        let id = track(("device", device));
        self.track(id, None, false, || format!("device {device}"))?;
        Ok(id)
    }

    /// The track of an SM.
    fn sm(&mut self, device: u32, run: &Run) -> std::io::Result<u64> {
        let (parent, id) = (self.device(device)?, track(("sm", device, run.sm)));
        self.track(id, Some(parent), false, || format!("SM {}", run.sm))?;
        Ok(id)
    }

    /// The track of a wave.
    fn wave(&mut self, device: u32, run: &Run) -> std::io::Result<u64> {
        let parent = self.sm(device, run)?;
        let id = track((parent, run.launch, run.group, run.wave));
        self.track(id, Some(parent), false, || format!("launch {} workgroup {} wave {}", run.launch, run.group, run.wave))?;
        Ok(id)
    }

    fn intervals(&mut self, table: &Table, device: u32, account: &Account) -> std::io::Result<()> {
        let [start, end] = [0, 1].map(|at| table.fields[at].as_primitive::<UInt64Type>());
        let label = table.fields[2].as_primitive::<UInt32Type>();
        let mut first = 0;
        for run in &table.runs {
            let wave = self.wave(device, run)?;
            let site = account.site(run.site);
            let site = site.as_deref();
            let of = |row: usize| (start.value(row), end.value(row), label.value(row));
            for row in first..first + run.values as usize {
                let (begin, end, label) = of(row);
                let mut on = wave;
                if row > first {
                    if of(row) == of(first) {
                        continue;
                    }
                    let lane = table.lanes[row];
                    on = track((wave, lane));
                    self.track(on, Some(wave), false, || format!("lane {lane}"))?;
                }
                let known = self.labels.iter().find(|(named, _)| *named == label).map(|(_, name)| name.clone());
                let text = || site.map(|site| site.text.clone()).filter(|text| !text.is_empty());
                let name = known.or_else(text).unwrap_or_else(|| format!("interval {label}"));
                self.event(begin, BEGIN, on, |event| event.text(23, &name).source(site))?;
                self.event(end.max(begin), END, on, |event| event)?;
            }
            first += run.values as usize;
        }
        Ok(())
    }

    /// Lines of a log, one of each lane; lanes that say what the first one says are in its line.
    fn lines(&mut self, table: &Table, device: u32, account: &Account) -> std::io::Result<()> {
        let units = table.fields[0].as_primitive::<UInt32Type>().values();
        let mut first = 0;
        for run in &table.runs {
            let rows = first..first + run.values as usize;
            first = rows.end;
            let (Some(time), site) = (run.time, account.site(run.site)) else {
                self.untimed += 1;
                continue;
            };
            let (wave, mut said) = (self.wave(device, run)?, None);
            let mut at = rows.start;
            for lane in table.lanes[rows].chunk_by(|one, other| one == other) {
                let arguments: Vec<Log> = units[at..at + lane.len()].iter().map(|unit| Log { unit: *unit }).collect();
                let line = site.as_ref().and_then(|site| site.line(&arguments)).unwrap_or_else(|| Log::NAME.into());
                if said.as_ref() != Some(&line) {
                    self.event(time, INSTANT, wave, |event| event.text(23, &line).source(site.as_deref()))?;
                }
                said.get_or_insert(line);
                at += lane.len();
            }
        }
        Ok(())
    }

    fn counters(&mut self, stream: &Stream, table: &Table, device: u32, account: &Account) -> std::io::Result<()> {
        let parent = self.device(device)?;
        let mut counters = Vec::new();
        for (field, array) in stream.arrow.fields()[ORIGINS.len()..].iter().zip(&table.fields) {
            if let Some(number) = number(array) {
                let id = track(("counter", device, &stream.label, field.name()));
                self.track(id, Some(parent), true, || format!("{}.{}", stream.label, field.name()))?;
                counters.push((id, number));
            }
        }
        let mut first = 0;
        for run in &table.runs {
            match run.time {
                None => self.untimed += 1,
                Some(time) => {
                    for (id, number) in &counters {
                        self.event(time, COUNTER, *id, |event| event.double(44, number(first)))?;
                    }
                    if counters.is_empty() {
                        let (wave, site) = (self.wave(device, run)?, account.site(run.site));
                        self.event(time, INSTANT, wave, |event| event.text(23, stream.label.as_str()).source(site.as_deref()))?;
                    }
                }
            }
            first += run.values as usize;
        }
        Ok(())
    }
}

/// Values of an array by row, if they are numbers.
fn number(array: &arrow_array::ArrayRef) -> Option<Box<dyn Fn(usize) -> f64 + '_>> {
    use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type};
    macro_rules! of {
        ($($data:ident => $ty:ident),*) => {
            match array.data_type() {
                $(DataType::$data => {
                    let array = array.as_primitive::<$ty>();
                    Some(Box::new(move |row| array.value(row) as f64))
                })*
                _ => None,
            }
        };
    }
    of!(
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type, Int8 => Int8Type, Int16 => Int16Type,
        Int32 => Int32Type, Int64 => Int64Type, Float32 => Float32Type, Float64 => Float64Type
    )
}

impl Keeper for Trace {
    fn put(&mut self, piece: Piece, account: &Account) -> Result<(), SinkError> {
        let Piece { stream, device, table } = piece;
        self.entering = table.messages();
        let untimed = self.untimed;
        let done = if is::<Interval>(&stream.schema) {
            self.intervals(&table, device, account)
        } else if is::<Log>(&stream.schema) {
            self.lines(&table, device, account)
        } else {
            self.counters(&stream, &table, device, account)
        };
        done.map_err(|error| part::failed(account, error))?;
        self.messages += std::mem::take(&mut self.entering) - (self.untimed - untimed);
        self.values += table.rows() as u64;
        Ok(())
    }

    fn flush(&mut self, account: &Account) -> Result<(), SinkError> {
        self.to.as_mut().map_or(Ok(()), Write::flush).map_err(|error| part::failed(account, error))
    }

    fn roll(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self, account: &Account) -> Result<(), SinkError> {
        let Some(to) = self.to.take() else { return Ok(()) };
        let file = to.into_inner().map_err(|error| part::failed(account, error.into_error()))?;
        file.persist(&self.path).map_err(|error| part::failed(account, error.error))?;
        account.kept(std::mem::take(&mut self.messages), std::mem::take(&mut self.values), self.bytes);
        if self.untimed > 0 {
            let message = format!("{} messages have no time, and so no place in a trace", self.untimed);
            return Err(account.error(std::io::ErrorKind::InvalidData, message, "let their streams be `timed`"));
        }
        Ok(())
    }

    fn abandon(&mut self) -> u64 {
        self.to = None;
        std::mem::take(&mut self.messages) + std::mem::take(&mut self.entering) + std::mem::take(&mut self.untimed)
    }
}
