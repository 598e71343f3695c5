//! Recordings: files that hold every call of a program with its data (`OFFLOAD_RECORD`), for [`replay`](crate::replay).
//!
//! A recording is a line of text, `offload-record 1 api 23` (the version of the format, and of the API), and entries. An entry is, in this order:
//!
//! | bytes | |
//! |--:|---|
//! | 4 | length of the text, little-endian |
//! | 8 | length of the data, little-endian |
//! | 8 | the first bytes of the SHA-256 of text and data |
//! | | the text: a JSON object, `docs/offload-record.schema.json` |
//! | | the data: what the text speaks of as data, one after the other |
//!
//! A call has two entries, one before it is made and one after it, so that a program that crashes leaves the call that it crashed in. Entries are
//! written whole.

use std::fmt;
use std::io::{self, Read, Write};

use serde_json::{Map, Value};

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// The version of the API that is recorded.
pub const API: u32 = crate::API_VERSION;

/// No text of an entry is longer: a length beyond it is a damaged one.
const MOST_TEXT: u32 = 64 << 20;

/// An entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// What it says.
    pub text: Map<String, Value>,
    /// What it brings along.
    pub data: Vec<u8>,
}

/// Why a recording cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordingError {
    /// It is something else.
    Foreign,
    /// It was written by another version of this library, or for another version of the API.
    Version {
        /// Its first line.
        line: String,
    },
    /// It ends within an entry.
    Cut {
        /// Which one, from 1.
        entry: u64,
        /// Where the entry begins, in bytes.
        at: u64,
    },
    /// An entry is not what was written.
    Corrupted {
        /// Which one, from 1.
        entry: u64,
        /// Where it begins, in bytes.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// The system cannot read it.
    Io(io::Error),
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("it is no recording: OFFLOAD_RECORD=FILE makes one"),
            Self::Version { line } => write!(f, "it says `{line}`, and this program reads `{}`", header()),
            Self::Cut { entry, at } => {
                write!(f, "it is cut off in entry {entry}, which begins at byte {at}: the disk was full, or the file was not copied whole")
            }
            Self::Corrupted { entry, at, what } => write!(f, "entry {entry}, which begins at byte {at}, is damaged: {what}"),
            Self::Io(error) => write!(f, "it cannot be read: {error}"),
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io(error) = self { Some(error) } else { None }
    }
}

fn header() -> String {
    format!("offload-record {VERSION} api {API}")
}

fn check_of(text: &[u8], data: &[u8]) -> [u8; 8] {
    let mut all = Vec::with_capacity(text.len() + data.len());
    all.extend_from_slice(text);
    all.extend_from_slice(data);
    let mut check = [0; 8];
    check.copy_from_slice(&offload::Sha256::of(&all).0[..8]);
    check
}

/// Begins a recording.
///
/// # Errors
/// The writer's.
pub fn begin(to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "{}", header())
}

/// Writes an entry in one piece.
///
/// # Errors
/// The writer's.
pub fn write(to: &mut impl Write, entry: &Entry) -> io::Result<()> {
    let text = serde_json::to_vec(&entry.text)?;
    let mut bytes = Vec::with_capacity(20 + text.len() + entry.data.len());
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(entry.data.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&check_of(&text, &entry.data));
    bytes.extend_from_slice(&text);
    bytes.extend_from_slice(&entry.data);
    to.write_all(&bytes)
}

/// Reads up to `most` bytes, fewer at the end.
fn up_to(from: &mut impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a recording.
///
/// # Errors
/// [`RecordingError`]: nothing of a recording that is not whole is given.
pub fn read(from: &mut impl Read) -> Result<Vec<Entry>, RecordingError> {
    let mut line = Vec::new();
    loop {
        match up_to(from, 1).map_err(RecordingError::Io)?.as_slice() {
            [b'\n'] => break,
            [byte] if line.len() < 80 => line.push(*byte),
            _ => return Err(RecordingError::Foreign),
        }
    }
    let line = String::from_utf8(line).map_err(|_| RecordingError::Foreign)?;
    if !line.starts_with("offload-record ") {
        return Err(RecordingError::Foreign);
    }
    if line != header() {
        return Err(RecordingError::Version { line });
    }
    let (mut entries, mut at) = (Vec::new(), line.len() as u64 + 1);
    loop {
        let entry = entries.len() as u64 + 1;
        let head = up_to(from, 20).map_err(RecordingError::Io)?;
        if head.is_empty() {
            return Ok(entries);
        }
        let cut = || RecordingError::Cut { entry, at };
        let (Some(text_len), Some(data_len), Some(check)) = (head.first_chunk::<4>(), head.get(4..12), head.get(12..20)) else {
            return Err(cut());
        };
        let text_len = u32::from_le_bytes(*text_len);
        let data_len = data_len.try_into().map_or(0, u64::from_le_bytes);
        let damaged = |what: String| RecordingError::Corrupted { entry, at, what };
        if text_len > MOST_TEXT {
            return Err(damaged(format!("its text is {text_len} bytes long")));
        }
        let text = up_to(from, text_len.into()).map_err(RecordingError::Io)?;
        let data = up_to(from, data_len).map_err(RecordingError::Io)?;
        if text.len() as u64 != u64::from(text_len) || data.len() as u64 != data_len {
            return Err(cut());
        }
        if check_of(&text, &data) != check {
            return Err(damaged("its check does not fit its content".into()));
        }
        let text = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        entries.push(Entry { text, data });
        at += 20 + u64::from(text_len) + data_len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(n: u64, data: &[u8]) -> Entry {
        Entry { text: json!({ "n": n, "call": "olX" }).as_object().unwrap().clone(), data: data.to_vec() }
    }

    fn recording() -> Vec<u8> {
        let mut bytes = Vec::new();
        begin(&mut bytes).unwrap();
        write(&mut bytes, &entry(1, b"")).unwrap();
        write(&mut bytes, &entry(2, b"data of the second")).unwrap();
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&mut &recording()[..]).unwrap(), [entry(1, b""), entry(2, b"data of the second")]);
    }

    #[test]
    fn a_recording_that_is_cut_anywhere_is_an_error_that_says_where_unless_whole_entries_are_left() {
        let whole = recording();
        let (mut ends, mut errors) = (Vec::new(), 0);
        for len in 0..whole.len() {
            match read(&mut &whole[..len]) {
                Ok(entries) => ends.push(entries.len()),
                Err(RecordingError::Cut { entry: 1 | 2, at }) => {
                    assert!(at < len as u64);
                    errors += 1;
                }
                Err(RecordingError::Foreign) => assert!(len <= header().len()),
                Err(other) => panic!("{len}: {other}"),
            }
        }
        assert_eq!(ends, [0, 1]);
        assert!(errors > 60);
        let text = read(&mut &whole[..whole.len() - 1]).unwrap_err().to_string();
        assert!(text.starts_with("it is cut off in entry 2, which begins at byte "), "{text}");
    }

    #[test]
    fn a_changed_byte_is_noticed_wherever_it_is() {
        let whole = recording();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            assert!(read(&mut &bytes[..]).is_err(), "byte {at}");
        }
    }

    #[test]
    fn other_versions_are_named() {
        let text = read(&mut &b"offload-record 7 api 24\n"[..]).unwrap_err().to_string();
        assert_eq!(text, format!("it says `offload-record 7 api 24`, and this program reads `offload-record 1 api {API}`"));
        assert!(matches!(read(&mut &b"\x7fELF....\n"[..]), Err(RecordingError::Foreign)));
        assert!(matches!(read(&mut &[b'x'; 4096][..]), Err(RecordingError::Foreign)));
    }
}
