//! Writing a recording message by message: for tests of what reads recordings, and for programs that turn other traces
//! into recordings.

use std::io::{self, Write};

use hostcall_abi::stream::header::MAX_GRANULES;
use hostcall_abi::stream::{GRANULE, Header, bytes, encode};

use super::format::{Device, FrameHead, Kind, LAUNCH, MAX_RINGS, Program, counters_to_text, dispatch_frame, file_head, text_frame};
use crate::counts::Summary;
use crate::dispatch::Dispatch;
use crate::name::Name;
use crate::schema::Schema;

/// Bytes of a frame after which it is written.
const FULL: usize = 1 << 20;
/// Units of the longest message.
const LONGEST: usize = (MAX_GRANULES * GRANULE) as usize;

/// Writes a recording of messages that no ring held.
///
/// [`StreamsBuilder::record`](crate::StreamsBuilder::record) is how a run is recorded. A writer checks nothing but what
/// it could not write: what it is given may be a recording that a [`Reader`](super::Reader) refuses.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// Granules that each ring took.
    positions: Vec<u64>,
    /// The ring of the frame that is being filled, and where it began.
    frame: Option<(u32, u64)>,
    contents: Vec<u8>,
    units: Vec<u32>,
}

impl Device {
    /// A device with a number among those of its kind.
    pub fn new(number: u32, name: impl Into<Name>, kind: impl Into<Name>) -> Self {
        Self { number, name: name.into(), kind: kind.into() }
    }
}

impl Program {
    /// A program of waves of 32 lanes; its rings are numbered by [`Writer::program`].
    pub fn new(name: impl Into<Name>, device: Device, rings: u32, streams: Vec<(u32, Schema)>) -> Self {
        Self { name: name.into(), device, wave_size: 32, first_ring: 0, rings, streams, sites: Vec::new() }
    }
}

impl<W: Write> Writer<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// The system's.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&file_head())?;
        Ok(Self { out, positions: Vec::new(), frame: None, contents: Vec::new(), units: vec![0; LONGEST] })
    }

    /// Adds a program; the number of its first ring.
    ///
    /// # Errors
    /// The system's, and when there are no numbers left for its rings.
    pub fn program(&mut self, mut program: Program) -> io::Result<u32> {
        self.flush()?;
        let first = self.positions.len() as u32;
        program.first_ring = first;
        if program.rings > MAX_RINGS - first {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("a recording has {MAX_RINGS} rings at most")));
        }
        self.positions.resize((first + program.rings) as usize, 0);
        self.out.write_all(&text_frame(Kind::Program, &program.to_text()))?;
        Ok(first)
    }

    /// Says which launch messages of a ring are of whose headers have these low bits of its number, from here on.
    ///
    /// # Errors
    /// The system's, and when no program has the ring.
    pub fn dispatch(&mut self, ring: u32, launch: u32, dispatch: Dispatch) -> io::Result<()> {
        self.flush()?;
        if ring as usize >= self.positions.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no program has ring {ring}")));
        }
        self.out.write_all(&dispatch_frame(ring as u16, launch & LAUNCH, dispatch))
    }

    /// Adds a message: its header, and the values of its lanes, lane by lane; or, if it is [of
    /// bytes](hostcall_abi::stream::Kind::Bytes), these. [`Header::granules`] is set as it must be.
    ///
    /// # Errors
    /// The system's, and when no program has the ring or there is no such message.
    pub fn message(&mut self, ring: u32, header: Header, values: &[u8]) -> io::Result<()> {
        let none = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        if self.frame.is_some_and(|(open, _)| open != ring) || self.contents.len() >= FULL {
            self.flush()?;
        }
        let position = self.positions.get_mut(ring as usize).ok_or_else(|| none(format!("no program has ring {ring}")))?;
        let (rows, rest) = values.as_chunks::<4>();
        let length = if header.kind == hostcall_abi::stream::Kind::Bytes {
            bytes::encode(header, values, &mut self.units)
        } else {
            let rows: Vec<u32> = rows.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
            rest.is_empty().then(|| encode(header, &rows, &mut self.units)).flatten()
        };
        let Some(length) = length else {
            return Err(none(format!("no message has {} bytes of {} lanes", values.len(), header.mask.count_ones())));
        };
        self.frame.get_or_insert((ring, *position));
        *position += (length / GRANULE as usize) as u64;
        self.contents.extend(self.units[..length].iter().flat_map(|unit| unit.to_le_bytes()));
        Ok(())
    }

    /// Writes the messages so far.
    ///
    /// # Errors
    /// The system's.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some((ring, position)) = self.frame.take() {
            let (bytes, checksum) = (self.contents.len() as u64, crc32c::crc32c(&self.contents));
            let head = FrameHead { kind: Kind::Data as u16, ring: ring as u16, flags: 0, position, bytes, checksum };
            self.out.write_all(&head.encode())?;
            self.out.write_all(&self.contents)?;
            self.contents.clear();
        }
        self.out.flush()
    }

    /// Adds what was counted so far.
    ///
    /// # Errors
    /// The system's.
    pub fn counters(&mut self, counted: &Summary) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(&text_frame(Kind::Counters, &counters_to_text(counted)))?;
        self.out.flush()
    }

    /// Ends the recording. Without this it counts as cut off.
    ///
    /// # Errors
    /// The system's.
    pub fn end(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.write_all(&text_frame(Kind::End, &[]))?;
        self.out.flush()?;
        Ok(self.out)
    }
}
