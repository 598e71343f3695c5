//! Reading a recording, which may be cut, damaged, or no recording at all.

use std::fmt;

use super::format::{FRAME, HEADER, MAGIC, Record, VERSION};
use crate::API_VERSION;

/// Why a file cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// It does not begin as recordings do.
    NoRecording,
    /// It ends before its first record.
    NoHeader {
        /// How many bytes it has.
        length: usize,
    },
    /// It was written in another version of the format, or for another API.
    Version {
        /// What is different: `format`, `API`, `size of addresses`.
        what: &'static str,
        /// What the file has.
        found: u32,
        /// What this program reads.
        wanted: u32,
    },
    /// A record is not what was written.
    Damaged {
        /// Where it begins.
        offset: usize,
        /// Its number, from 0.
        record: usize,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NoRecording => {
                f.write_str("this is no recording: it does not begin with OFLDREC; record a program by running it with OFFLOAD_RECORD=FILE")
            }
            FormatError::NoHeader { length } => write!(f, "the recording is cut after {length} bytes, before its first call"),
            FormatError::Version { what, found, wanted } => {
                write!(f, "the recording has {what} {found}, and this program replays {wanted}; use the program of the same release")
            }
            FormatError::Damaged { offset, record, reason } => {
                write!(f, "the recording is damaged in record {record}, at byte {offset}: {reason}")
            }
        }
    }
}

impl std::error::Error for FormatError {}

/// What is wrong with a payload.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) String);

/// The rest of a payload.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn refuse(&self, reason: impl Into<String>) -> Refused {
        Refused(reason.into())
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], Refused> {
        let taken = usize::try_from(count).ok().and_then(|count| self.0.split_at_checked(count));
        let Some((taken, rest)) = taken else {
            return Err(Refused(format!("it says that {count} bytes follow, and {} do", self.0.len())));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        let taken = self.take(N as u64)?;
        taken.try_into().map_err(|_| Refused("it ends too early".into()))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Refused> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Refused> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Refused(format!("{other} is neither yes nor no"))),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Refused> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Refused> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Refused> {
        let count = self.u64()?;
        self.take(count)
    }

    pub(crate) fn text(&mut self) -> Result<String, Refused> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| Refused("a text is not UTF-8".into()))
    }

    /// Items, however many are said to follow: each takes bytes, so that their number cannot be made up.
    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Reader<'a>) -> Result<T, Refused>) -> Result<Vec<T>, Refused> {
        let count = self.u32()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(each(self)?);
        }
        Ok(items)
    }
}

/// A recording that was read.
#[derive(Debug)]
pub struct Recording {
    pub(crate) records: Vec<Record>,
    /// How many bytes follow the last whole record.
    pub(crate) cut: usize,
}

impl Recording {
    /// Reads a recording, to its last whole record if it is cut.
    ///
    /// # Errors
    ///
    /// It is no recording, of another version, or damaged.
    pub fn read(file: &[u8]) -> Result<Recording, FormatError> {
        let known = file.len().min(MAGIC.len());
        if file[..known] != MAGIC[..known] {
            return Err(FormatError::NoRecording);
        }
        let Some((header, mut rest)) = file.split_at_checked(HEADER) else { return Err(FormatError::NoHeader { length: file.len() }) };
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        for (what, at, wanted) in [("format", 8, VERSION), ("API", 12, API_VERSION), ("size of addresses", 16, 8)] {
            if number(at) != wanted {
                return Err(FormatError::Version { what, found: number(at), wanted });
            }
        }
        let mut records = Vec::new();
        while let Some((frame, behind)) = rest.split_at_checked(FRAME) {
            let mut fields = Reader(frame);
            let at = |reason: Refused| FormatError::Damaged { offset: file.len() - rest.len(), record: records.len(), reason: reason.0 };
            let (kind, checksum, length) = (|| Ok((fields.u32()?, fields.u32()?, fields.u64()?)))().map_err(at)?;
            let Some((payload, behind)) = usize::try_from(length).ok().and_then(|length| behind.split_at_checked(length)) else { break };
            if crc32fast::hash(payload) != checksum {
                return Err(at(Refused("its bytes are not those that were written".into())));
            }
            let record = Record::decode(kind, &mut Reader(payload)).map_err(at)?;
            records.push(record);
            rest = behind;
        }
        Ok(Recording { records, cut: rest.len() })
    }

    /// How many bytes follow the last whole record: more than 0 if the file is cut.
    pub fn cut(&self) -> usize {
        self.cut
    }

    /// How many calls it has.
    pub fn calls(&self) -> usize {
        self.records.iter().filter(|record| matches!(record, Record::Begin(_))).count()
    }
}
