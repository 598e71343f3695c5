//! Reading a recording, which may be cut, damaged, or no recording at all.

use std::fmt;

use super::format::{FRAME, HEADER, MAGIC, Record, VERSION};
use crate::API_VERSION;

/// Why a file cannot be replayed.
#[derive(Clone, PartialEq, Eq)]
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

hostcall_error::readable!(FormatError);

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

    /// How many of them have not ended: the recorded program ended in them, or the recording is cut.
    pub fn open_calls(&self) -> usize {
        self.calls() - self.records.iter().filter(|record| matches!(record, Record::End(_))).count().min(self.calls())
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::{Arrived, Begin, End, Memory, Object, Value, header};
    use super::*;

    fn records() -> Vec<Record> {
        let inner = Memory { address: 0x2000, size: 9, lasts: true, bytes: vec![1, 2, 3], links: Vec::new() };
        let outer = Memory {
            address: 0x1000,
            size: 8,
            lasts: false,
            bytes: vec![0; 8],
            links: vec![(0, Value::Memory(inner)), (4, Value::Pointer(7)), (8, Value::Handle(u64::MAX))],
        };
        vec![
            Record::Object(Object { handle: 0xf2, is_device: true, backend: 4, ordinal: 1, name: "a processor".into() }),
            Record::Begin(Begin {
                call: 0,
                thread: 3,
                in_host_function: true,
                function: "olX".into(),
                arguments: vec![Value::Number(5), Value::Callback(true), Value::Memory(outer.clone()), Value::Handle(0)],
                unseen: vec!["this".into(), "that".into()],
            }),
            Record::End(End { call: 0, code: 3, details: "wrong".into(), outputs: vec![(2, Value::Memory(outer))], ranges: vec![(1, 2)] }),
            Record::Arrived(Arrived { call: 0, address: 9, bytes: b"data".to_vec() }),
        ]
    }

    fn file() -> Vec<u8> {
        records().iter().fold(header(), |mut file, record| {
            file.extend(record.encode());
            file
        })
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Recording::read(&file()).unwrap();
        assert_eq!((read.records, read.cut), (records(), 0));
    }

    #[test]
    fn a_file_that_is_cut_anywhere_has_the_records_before_that() {
        let file = file();
        let mut whole = 0;
        for length in 0..file.len() {
            match Recording::read(&file[..length]) {
                Err(error) => assert!(length < HEADER && error == FormatError::NoHeader { length }, "{length}: {error}"),
                Ok(read) => {
                    assert_eq!(read.records, records()[..read.records.len()], "{length}");
                    assert!(read.records.len() >= whole && read.records.len() < 4, "{length}");
                    whole = read.records.len();
                }
            }
        }
        assert_eq!(whole, 3);
    }

    #[test]
    fn no_changed_byte_goes_unnoticed_or_ends_the_reader() {
        let file = file();
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut changed = file.clone();
                changed[at] ^= 1 << bit;
                match Recording::read(&changed) {
                    Err(_) => {}
                    // A length that reaches beyond the end looks like a cut.
                    Ok(read) => assert!(read.cut > 0 && read.records == records()[..read.records.len()], "byte {at}, bit {bit}"),
                }
            }
        }
    }

    #[test]
    fn a_payload_that_says_more_than_it_holds_is_damaged() {
        let with_payload = |kind: u32, payload: &[u8]| {
            let mut file = header();
            file.extend(kind.to_le_bytes());
            file.extend(crc32fast::hash(payload).to_le_bytes());
            file.extend((payload.len() as u64).to_le_bytes());
            file.extend(payload);
            Recording::read(&file).unwrap_err().to_string()
        };
        let mut deep = vec![0; 16 + 1];
        deep.extend(3u64.to_le_bytes());
        deep.extend(b"olX");
        deep.extend(1u32.to_le_bytes());
        for _ in 0..10 {
            deep.push(4);
            deep.extend([0; 17 + 8]);
            deep.extend(1u32.to_le_bytes());
            deep.extend([0; 8]);
        }
        assert!(with_payload(2, &deep).contains("memory names memory more deeply than any call does"));
        let mut long = [0; 16].to_vec();
        long.extend(u64::MAX.to_le_bytes());
        assert!(with_payload(4, &long).contains("it says that 18446744073709551615 bytes follow, and 0 do"));
        assert!(with_payload(9, &[]).contains("there are no records of kind 9"));
        assert!(with_payload(4, &[0; 30]).contains("it is longer than what it holds"));
    }
}
