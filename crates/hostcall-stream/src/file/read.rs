//! Reading a recording.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use hostcall_abi::stream::{GRANULE, Packet};

use super::format::{
    AFTER_GAP, FILE_HEAD, FRAME_HEAD, FileText, FrameHead, Kind, LAUNCH, MAGIC, MAX_DISPATCHES, MAX_FRAME, MAX_PROGRAMS, MAX_TEXT, Program,
    VERSION, counters_of_text, dispatch_of_text, is_sealed, number,
};
use super::value::Type;
use crate::bytes;
use crate::counts::Summary;
use crate::dispatch::Dispatch;
use crate::name::Name;
use crate::named_filter::NamedFilter;
use crate::schema::Schema;
use crate::sites::Sites;

mod message;
mod select;

pub use message::{LogLines, Message, Row};
pub use select::SelectError;
use select::Selection;

/// Why a recording cannot be read, or not on from here. What was read before is right.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It could not be opened.
    #[error("cannot open the recording `{}`: {source}", path.display())]
    Open {
        /// The file.
        path: std::path::PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system failed.
    #[error("cannot read the recording at byte {offset}: {source}")]
    Io {
        /// Where the part begins that could not be read.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// It is something else.
    #[error("not a recording: it does not begin with `HCSTREAM`; give a file that `StreamsBuilder::record` wrote")]
    Magic,
    /// It ends before its first frame could begin.
    #[error("the recording ends within its head, after {bytes} bytes: there is nothing in it; record again")]
    NoHead {
        /// How long it is.
        bytes: u64,
    },
    /// A newer hostcall wrote it.
    #[error("the recording has version {version}, and this hostcall reads versions 1 to 3: use the hostcall that wrote it, or a newer one")]
    Version {
        /// Its version.
        version: u32,
    },
    /// Bytes have changed since it was written.
    #[error("the recording is damaged: the {part} at byte {offset} has another checksum; copy the file again, or use what is before")]
    Checksum {
        /// Where the part begins.
        offset: u64,
        /// The part.
        part: &'static str,
    },
    /// A frame is not as the format says.
    #[error("the recording makes no sense at byte {offset}: {what}; it was not written by this version of hostcall, use what is before")]
    Frame {
        /// Where the frame begins, or the message in it.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

impl Error {
    /// A frame is not as the format says. What is wrong may quote the file.
    fn frame(offset: u64, what: impl Into<Name>) -> Self {
        Self::Frame { offset, what: what.into().into() }
    }
}

hostcall_error::readable!(Error);

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a frame that says so: everything that was recorded is there.
    Complete,
    /// In the middle: its program was killed, the disk was full, or the file was not copied whole.
    Cut {
        /// Bytes of what could be read.
        whole: u64,
    },
}

/// A stream of the recording.
#[derive(Debug)]
struct Stream {
    schema: Schema,
    types: Vec<Type>,
}

/// Where the current message is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Units of the frame before it.
    unit: usize,
    /// Units of it; 0: none is current.
    length: usize,
    ring: u16,
    after_gap: bool,
    /// Granules of the ring before the frame.
    position: u64,
    /// Byte of the file at which the frame's contents begin.
    offset: u64,
    /// Which program's ring it is.
    program: usize,
}

/// Reads a recording from its beginning to its end, message by message.
///
/// Memory: the contents of one frame (16 MiB at most, in two forms), the values of one message (8 KiB, and 120 KiB of
/// bytes or text), the programs (64 MiB of text at most), and launches (4 million at most, of each ring and number the
/// last).
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    /// Bytes read so far.
    offset: u64,
    hostcall: Name,
    programs: Vec<Program>,
    sites: Arc<Sites>,
    /// Bytes of the programs' texts.
    described: u64,
    /// By number.
    streams: Vec<Option<Stream>>,
    /// The program of each ring, and the granules of the ring that have been read.
    rings: Vec<Option<(usize, u64)>>,
    /// Which launch messages are of, by ring and bits.
    dispatches: HashMap<(u16, u32), Dispatch>,
    counters: Option<Summary>,
    ending: Option<Ending>,
    /// An error was returned.
    failed: bool,
    frames: u64,
    contents: Vec<u8>,
    units: Vec<u32>,
    place: Place,
    rows: Vec<u32>,
    /// The current message's values, as sinks take them.
    bytes: Vec<u8>,
    /// Its length, if it is of bytes.
    length: Option<u32>,
    /// What of it is wanted.
    selection: Selection,
}

/// Opens a recording.
///
/// # Errors
/// When there is no such file, or it does not begin as a recording does.
pub fn open(path: impl AsRef<Path>) -> Result<Reader<BufReader<fs::File>>, Error> {
    let path = path.as_ref();
    let file = fs::File::open(path).map_err(|source| Error::Open { path: path.into(), source })?;
    Reader::new(BufReader::with_capacity(1 << 16, file))
}

/// Reads up to `bytes.len()` bytes; fewer only at the end.
fn read_up_to(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match input.read(&mut bytes[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

impl<R: Read> Reader<R> {
    /// Reads a recording from anywhere.
    ///
    /// # Errors
    /// When it does not begin as a recording does.
    pub fn new(mut input: R) -> Result<Self, Error> {
        let io = |offset| move |source| Error::Io { offset, source };
        let mut head = [0; FILE_HEAD];
        let read = read_up_to(&mut input, &mut head).map_err(io(0))?;
        if head[..read.min(MAGIC.len())] != MAGIC[..read.min(MAGIC.len())] {
            return Err(Error::Magic);
        }
        if read < FILE_HEAD {
            return Err(Error::NoHead { bytes: read as u64 });
        }
        if !is_sealed(&head) {
            return Err(Error::Checksum { offset: 0, part: "head of the file" });
        }
        if !(1..=VERSION).contains(&number(&head, 8)) {
            return Err(Error::Version { version: number(&head, 8) });
        }
        let mut reader = Self {
            input,
            offset: FILE_HEAD as u64,
            hostcall: Name::default(),
            programs: Vec::new(),
            sites: Arc::default(),
            described: 0,
            streams: Vec::new(),
            rings: Vec::new(),
            dispatches: HashMap::new(),
            counters: None,
            ending: None,
            failed: false,
            frames: 0,
            contents: Vec::new(),
            units: Vec::new(),
            place: Place::default(),
            rows: Vec::new(),
            bytes: Vec::new(),
            length: None,
            selection: Selection::default(),
        };
        let frame = |what| Error::frame(0, what);
        let bytes = u64::from(number(&head, 12));
        if bytes > MAX_TEXT {
            return Err(frame(format!("a text of {bytes} bytes")));
        }
        if !reader.read_contents(bytes)? {
            return Err(Error::NoHead { bytes: reader.offset });
        }
        if crc32c::crc32c(&reader.contents) != number(&head, 16) {
            return Err(Error::Checksum { offset: FILE_HEAD as u64, part: "text of the file" });
        }
        let text: FileText = serde_json::from_slice(&reader.contents).map_err(|error| frame(format!("its text: {error}")))?;
        reader.hostcall = text.hostcall;
        Ok(reader)
    }

    /// The version of hostcall that wrote it.
    pub fn hostcall(&self) -> &str {
        &self.hostcall
    }

    /// The places in the programs' source that messages name, of the programs so far.
    pub fn sites(&self) -> &Arc<Sites> {
        &self.sites
    }

    /// The programs so far, in the order in which they were attached.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The streams so far, by number.
    pub fn streams(&self) -> impl Iterator<Item = (u32, &Schema)> {
        (0..).zip(&self.streams).filter_map(|(number, stream)| Some((number, &stream.as_ref()?.schema)))
    }

    /// What was counted, as far as the file has been read; `None`: nothing yet.
    pub fn counters(&self) -> Option<&Summary> {
        self.counters.as_ref()
    }

    /// How it ends; `None`: that is not known before [`Reader::next`] has returned `None`, and after an error it never
    /// is.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Frames read so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Bytes read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next message; `None` at the end. After an error there is none.
    ///
    /// # Errors
    /// When the file is damaged, or the system fails to read it. That a file is cut off is no error, see
    /// [`Reader::ending`].
    #[expect(clippy::should_implement_trait, reason = "messages borrow the reader's memory, which iterators cannot say")]
    pub fn next(&mut self) -> Result<Option<Message<'_>>, Error> {
        if self.failed {
            return Ok(None);
        }
        loop {
            match self.advance() {
                Ok(true) if !self.narrow() => {}
                Ok(true) => return Ok(Some(self.message())),
                Ok(false) => return Ok(None),
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
    }

    /// Where it is read from.
    pub(super) fn input(&self) -> &R {
        &self.input
    }

    /// Forgets that it ended in the middle: more has been written since. Only if it ended between two frames.
    pub(super) fn resume(&mut self) {
        if self.ending == Some(Ending::Cut { whole: self.offset }) {
            self.ending = None;
        }
    }

    /// Goes on to the next message, through as many frames as it takes. Whether there is one.
    fn advance(&mut self) -> Result<bool, Error> {
        self.place.unit += std::mem::take(&mut self.place.length);
        while self.place.unit == self.units.len() {
            if self.ending.is_some() || !self.frame()? {
                return Ok(false);
            }
        }
        // Checked here, so that `message` can rely on it.
        let (mut rows, mut bytes) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.bytes));
        let packet = self.packet()?;
        let (length, of_bytes) = (packet.raw().len(), packet.bytes());
        rows.resize((packet.rows() * packet.units()) as usize, 0);
        match of_bytes {
            Some(length) => bytes::put(&packet, length, &mut bytes),
            None => {
                packet.copy_rows(&mut rows);
                bytes.clear();
                bytes.extend(rows.iter().flat_map(|unit| unit.to_le_bytes()));
            }
        }
        (self.place.length, self.rows, self.bytes, self.length) = (length, rows, bytes, of_bytes);
        Ok(true)
    }

    /// The message at the current place.
    fn packet(&self) -> Result<Packet<'_>, Error> {
        let Place { unit, after_gap, offset, program, .. } = self.place;
        let value = |number: u32| Some(self.streams.get(number as usize)?.as_ref()?.schema.units());
        Packet::of_units(&self.units[unit..], self.programs[program].wave_size == 64, after_gap, value)
            .ok_or_else(|| Error::frame(offset + 4 * unit as u64, "no message begins here"))
    }

    fn message(&self) -> Message<'_> {
        let packet = self.packet().expect("it has been checked");
        let stream = self.streams[packet.header.stream as usize].as_ref().expect("a stream of the program");
        Message {
            header: self.selection.header(packet.header),
            after_gap: packet.after_gap,
            ring: self.place.ring,
            dispatch: self.dispatch_of(packet.header.from.launch),
            position: self.place.position + (self.place.unit / GRANULE as usize) as u64,
            program: &self.programs[self.place.program],
            schema: &stream.schema,
            sites: &self.sites,
            types: &stream.types,
            raw: &self.bytes,
            bytes: match self.length {
                Some(length) => &self.bytes[4..4 + length as usize],
                None => &self.bytes,
            },
        }
    }

    /// The launch of messages of the current ring with these bits.
    fn dispatch_of(&self, bits: u32) -> Dispatch {
        self.dispatches.get(&(self.place.ring, bits)).copied().unwrap_or_default()
    }

    /// Reads so many bytes into `contents`. Whether they are there.
    fn read_contents(&mut self, bytes: u64) -> Result<bool, Error> {
        self.contents.clear();
        let offset = self.offset;
        // It grows with what is there, not with what a length says.
        let read = (&mut self.input).take(bytes).read_to_end(&mut self.contents).map_err(|source| Error::Io { offset, source })?;
        self.offset += read as u64;
        Ok(read as u64 == bytes)
    }

    /// Reads a frame. Whether there was one.
    fn frame(&mut self) -> Result<bool, Error> {
        let offset = self.offset;
        let wrong = |what: String| Error::frame(offset, what);
        let cut = |reader: &mut Self| {
            reader.ending = Some(Ending::Cut { whole: offset });
            Ok(false)
        };
        let mut head = [0; FRAME_HEAD];
        let read = read_up_to(&mut self.input, &mut head).map_err(|source| Error::Io { offset, source })?;
        self.offset += read as u64;
        if read < FRAME_HEAD {
            return cut(self);
        }
        let Some(head) = FrameHead::decode(&head) else { return Err(Error::Checksum { offset, part: "head of the frame" }) };
        let FrameHead { kind, ring, flags, position, bytes, checksum } = head;
        let Some(kind) = Kind::new(kind) else { return Err(wrong(format!("a frame of kind {kind}"))) };
        let most = if kind == Kind::Data { MAX_FRAME } else { MAX_TEXT };
        if bytes > most {
            return Err(wrong(format!("a frame of {bytes} bytes, and the most are {most}")));
        }
        let strange = match kind {
            Kind::Data => flags & !AFTER_GAP != 0,
            Kind::Dispatch => flags & !LAUNCH != 0 || position != 0,
            Kind::Program | Kind::Counters | Kind::End => flags != 0 || ring != 0 || position != 0,
        };
        if strange {
            return Err(wrong(format!("a frame of kind {kind:?} with flags {flags:#x}, ring {ring} and position {position}")));
        }
        if !self.read_contents(bytes)? {
            return cut(self);
        }
        if crc32c::crc32c(&self.contents) != checksum {
            return Err(Error::Checksum { offset, part: "frame" });
        }
        self.frames += 1;
        match kind {
            Kind::Program => self.program().map_err(wrong)?,
            Kind::Counters => match counters_of_text(&self.contents) {
                Ok(counters) => self.counters = Some(counters),
                Err(error) => return Err(wrong(format!("counters: {error}"))),
            },
            Kind::Dispatch => self.dispatch(ring, flags).map_err(wrong)?,
            Kind::Data => self.data(offset + FRAME_HEAD as u64, &head).map_err(wrong)?,
            Kind::End => {
                if bytes > 0 || read_up_to(&mut self.input, &mut [0]).map_err(|source| Error::Io { offset: self.offset, source })? > 0 {
                    return Err(wrong("something follows the end".into()));
                }
                self.ending = Some(Ending::Complete);
            }
        }
        Ok(true)
    }

    /// Learns a program from a frame's contents.
    fn program(&mut self) -> Result<(), String> {
        self.described += self.contents.len() as u64;
        if self.described > MAX_PROGRAMS {
            return Err(format!("more than {MAX_PROGRAMS} bytes of programs"));
        }
        let program = Program::of_text(&self.contents)?;
        let (first, end) = (program.first_ring as usize, (program.first_ring + program.rings) as usize);
        self.rings.resize(self.rings.len().max(end), None);
        if self.rings[first..end].iter().any(Option::is_some) {
            return Err(format!("program `{}` has rings of another", program.name));
        }
        self.rings[first..end].fill(Some((self.programs.len(), 0)));
        for (number, schema) in &program.streams {
            let number = *number as usize;
            self.streams.resize_with(self.streams.len().max(number + 1), || None);
            match &self.streams[number] {
                Some(known) if known.schema != *schema => return Err(format!("stream {number} is `{schema}`, and was `{}`", known.schema)),
                Some(_) => {}
                None => {
                    let types = schema.fields.iter().map(Type::of).collect();
                    self.streams[number] = Some(Stream { schema: schema.clone(), types });
                }
            }
        }
        for (number, site) in &program.sites {
            self.sites.insert(*number, site.clone());
        }
        self.programs.push(program);
        Ok(())
    }

    /// Learns which launch messages of a ring are of.
    fn dispatch(&mut self, ring: u16, bits: u32) -> Result<(), String> {
        if !matches!(self.rings.get(usize::from(ring)), Some(Some(_))) {
            return Err(format!("a launch of ring {ring}, which no program has"));
        }
        let dispatch = dispatch_of_text(&self.contents).map_err(|error| format!("a launch: {error}"))?;
        self.dispatches.insert((ring, bits), dispatch);
        if self.dispatches.len() > MAX_DISPATCHES { Err(format!("more than {MAX_DISPATCHES} launches")) } else { Ok(()) }
    }

    /// Takes messages from a frame's contents.
    fn data(&mut self, offset: u64, head: &FrameHead) -> Result<(), String> {
        let FrameHead { ring, flags, position, bytes, .. } = *head;
        if !bytes.is_multiple_of(4 * u64::from(GRANULE)) {
            return Err(format!("messages of {bytes} bytes"));
        }
        let Some(Some((program, read))) = self.rings.get_mut(usize::from(ring)) else {
            return Err(format!("ring {ring}, which no program has"));
        };
        let Some(end) = position.checked_add(bytes / (4 * u64::from(GRANULE))).filter(|_| position >= *read) else {
            return Err(format!("position {position} of ring {ring}, of which {read} granules have been read"));
        };
        *read = end;
        let program = *program;
        self.units.clear();
        let (units, _) = self.contents.as_chunks::<4>();
        self.units.extend(units.iter().map(|unit| u32::from_le_bytes(*unit)));
        self.place = Place { unit: 0, length: 0, ring, after_gap: flags & AFTER_GAP != 0, position, offset, program };
        Ok(())
    }
}

impl<R: Read> Reader<R> {
    /// Hands on only what filters want of the streams that they name, and everything of others. The last filter of a
    /// name counts. Of a message of which some lanes are wanted, the values of the others are left out.
    ///
    /// # Errors
    /// When a filter has a rate.
    pub fn select(&mut self, filters: &[NamedFilter]) -> Result<(), SelectError> {
        if let Some(filter) = filters.iter().find(|named| named.filter.is_by_chance()) {
            return Err(SelectError::ByChance { filter: filter.to_string() });
        }
        self.selection = Selection { filters: filters.to_vec(), ..Selection::default() };
        Ok(())
    }

    /// Messages so far that were left out because nobody can tell whether they are wanted: a filter asks for x, y or z,
    /// and the shape of their launch is unknown, as in files that were written before shapes were, or is not one that
    /// the message can be of.
    pub fn unplaced(&self) -> u64 {
        self.selection.unplaced
    }

    /// Leaves out of the current message what is not wanted. Whether anything is.
    fn narrow(&mut self) -> bool {
        if self.selection.filters.is_empty() {
            return true;
        }
        let header = self.packet().expect("it has been checked").header;
        let stream = self.streams[header.stream as usize].as_ref().expect("a stream of the program");
        self.selection.lanes = None;
        let Some(named) = self.selection.filters.iter().rfind(|named| stream.schema.name == named.stream) else { return true };
        let Some(lanes) = named.filter.lanes_of(&header, self.dispatch_of(header.from.launch).shape) else {
            self.selection.unplaced += 1;
            return false;
        };
        if lanes == 0 || lanes == header.mask {
            return lanes != 0;
        }
        // (A message of bytes is of one lane.)
        let (each, mut kept) = (self.bytes.len() / header.mask.count_ones() as usize, 0);
        for (at, lane) in (0..64).filter(|lane| header.mask >> lane & 1 != 0).enumerate() {
            if lanes >> lane & 1 != 0 {
                self.bytes.copy_within(at * each..(at + 1) * each, kept);
                kept += each;
            }
        }
        self.bytes.truncate(kept);
        self.selection.lanes = Some(lanes);
        true
    }
}
