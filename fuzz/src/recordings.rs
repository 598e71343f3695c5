//! A recording that somebody else has made: any bytes, and frames with right checksums around any contents.
//!
//! The oracle: reading ends in bounded steps, with what was read or an error that names a place inside the file, never
//! with a panic; and every message has as many values as its header says.

use hostcall_stream::Content;
use hostcall_stream::file::{Ending, Error, Reader};

use crate::Input;

/// Plays one input: the first byte says whether the rest is a file as it stands, or what frames are made of.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.byte() & 1 == 0 {
        return read(input.bytes(usize::MAX));
    }
    let text = br#"{"hostcall":"0.1.0"}"#;
    let mut file = b"HCSTREAM\x01\0\0\0".to_vec();
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(crc32c::crc32c(text).to_le_bytes());
    seal(&mut file, 0);
    file.extend(text);
    while !input.is_empty() {
        let start = file.len();
        // Kind, ring, flags and position; small numbers, most often.
        let (kind, ring, flags, position) = (input.byte() % 6, input.byte() % 8, input.byte() % 4, input.byte());
        let contents = input.contents(kind);
        file.extend([kind, 0, ring, 0, flags / 2, 0, 0, 0]);
        file.extend(u64::from(position).to_le_bytes());
        file.extend((contents.len() as u64).to_le_bytes());
        file.extend(crc32c::crc32c(&contents).to_le_bytes());
        seal(&mut file, start);
        file.extend(contents);
    }
    read(&file);
}

/// Puts the checksum of what stands from `start` on behind it.
fn seal(file: &mut Vec<u8>, start: usize) {
    let checksum = crc32c::crc32c(&file[start..]);
    file.extend(checksum.to_le_bytes());
}

impl Input<'_> {
    /// A program that makes sense but for a number or two, or any bytes.
    fn contents(&mut self, kind: u8) -> Vec<u8> {
        let length = usize::from(self.byte());
        if kind != 1 || length % 4 == 3 {
            // Whole granules, most often.
            return self.bytes(if length.is_multiple_of(2) { length / 2 * 64 } else { length }).to_vec();
        }
        let wave = if length.is_multiple_of(2) { 32 } else { 64 };
        let (first, units, number) = (self.byte() % 8, self.byte() % 33, self.byte() % 8);
        let bytes = 4 * u32::from(units);
        // Of no size: a stream of bytes or of text, or none.
        let (field, ty) = match (units, length % 16) {
            (0, 0) => ("value", "[u8]"),
            (0, 1) => ("value", "str"),
            _ => ("f", "[u16; N]"),
        };
        format!(
            r#"{{"name":"p","device":{{"number":0,"name":"d","kind":"sim"}},"wave_size":{wave},"first_ring":{first},"rings":2,"streams":[{{"number":{number},
            "name":"S","signature":"1","bytes":{bytes},"policy":"block","fields":[{{"name":"{field}","type":"{ty}","offset":0,"bytes":{bytes}}}]}}]}}"#
        )
        .into_bytes()
    }
}

/// Reads a file to its end.
fn read(file: &[u8]) {
    let within = |error: &Error| match error {
        Error::Io { .. } | Error::Open { .. } => panic!("memory failed: {error}"),
        Error::Checksum { offset, .. } | Error::Frame { offset, .. } => assert!(*offset <= file.len() as u64, "{error}"),
        _ => {}
    };
    let mut reader = match Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return within(&error),
    };
    // A message takes 64 bytes at least.
    for _ in 0..=file.len() / 64 {
        match reader.next() {
            Ok(Some(message)) => {
                let values = message.header.mask.count_ones() * message.header.values;
                assert_eq!(message.rows().count(), values as usize);
                match message.schema.content() {
                    Content::Values => assert_eq!(message.bytes().len(), values as usize * message.schema.bytes as usize),
                    Content::Bytes | Content::Text => assert!(values == 1 && message.raw().len().is_multiple_of(4)),
                }
                for row in message.rows() {
                    assert!(message.header.mask >> row.lane & 1 == 1);
                    row.fields().for_each(|(_, value)| drop(std::hint::black_box(value.to_string())));
                }
            }
            Ok(None) => {
                match reader.ending() {
                    Some(Ending::Complete) => assert_eq!(reader.offset(), file.len() as u64),
                    Some(Ending::Cut { whole }) => assert!(whole <= file.len() as u64),
                    None => panic!("neither an end nor an error"),
                }
                return;
            }
            Err(error) => {
                within(&error);
                assert!(reader.next().expect("one error only").is_none());
                return;
            }
        }
    }
    panic!("more messages than there is room for");
}
