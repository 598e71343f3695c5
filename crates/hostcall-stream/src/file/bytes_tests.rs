//! Recordings of messages of bytes and of text.

use hostcall_abi::stream::bytes::{BYTES_FIELDS, MAX_BYTES, TEXT_FIELDS};
use hostcall_abi::stream::header::MAX_GRANULES;
use hostcall_abi::stream::{From, GRANULE, Header, Kind, Packet, Policy, bytes, encode};
use proptest::prelude::*;

use super::read::{Ending, Error, Reader};
use super::value::Value;
use super::write::Recording;
use super::{Device, Program, Writer};
use crate::counts::{StreamCounts, Summary};
use crate::dispatch::Dispatch;
use crate::schema::{Content, Field, Schema};

/// Streams 1 and 2: bytes and text; 3: numbers.
fn schemas() -> Vec<(u32, Schema)> {
    let field =
        |field: &hostcall_abi::stream::Field| Field { name: field.name.into(), ty: field.ty.into(), offset: 0, bytes: field.bytes as u32 };
    let schema = |name: &str, bytes, fields: Vec<Field>| Schema { name: name.into(), signature: 9, bytes, policy: Policy::Block, fields };
    let number = Field { name: "step".into(), ty: "u32".into(), offset: 0, bytes: 4 };
    vec![
        (1, schema("Frame", 0, BYTES_FIELDS.iter().map(field).collect())),
        (2, schema("Note", 0, TEXT_FIELDS.iter().map(field).collect())),
        (3, schema("Loss", 4, vec![number])),
    ]
}

fn header(stream: u32, lane: u32) -> Header {
    let (kind, from) = (if stream == 3 { Kind::Rows } else { Kind::Bytes }, From { group: 3, wave: 1, sm: 9, launch: 2 });
    Header { stream, granules: 0, kind, mask: 1 << lane, wide: false, site: 0, weight: 1, user: 0, values: 1, time: Some(77), from }
}

/// Messages as streams, lanes and bytes.
type Messages = Vec<(u32, u32, Vec<u8>)>;

fn write(messages: &Messages) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    writer.program(Program::new("p", Device::new(0, "invented", "sim"), 1, schemas())).expect("memory");
    for (stream, lane, bytes) in messages {
        writer.message(0, header(*stream, *lane), bytes).expect("a message");
    }
    let count = |(number, schema): (u32, Schema)| {
        let messages = messages.iter().filter(|(stream, ..)| *stream == number).count() as u64;
        StreamCounts { name: schema.name, messages, values: messages, ..StreamCounts::default() }
    };
    writer.counters(&Summary { streams: schemas().into_iter().map(count).collect(), ..Summary::default() }).expect("memory");
    writer.end().expect("memory")
}

/// What a reader says of a file.
fn read(file: &[u8]) -> (Messages, Result<Option<Ending>, Error>) {
    let mut got = Vec::new();
    let mut reader = match Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return (got, Err(error)),
    };
    loop {
        match reader.next() {
            Ok(Some(message)) => {
                let rows: Vec<_> = message.rows().collect();
                let [row] = &rows[..] else { panic!("{} values in one message", rows.len()) };
                assert_eq!(row.bytes(), message.bytes());
                let value = row.fields().next().expect("a field").1;
                match message.schema.content() {
                    Content::Bytes => assert_eq!(value, Value::Bytes(row.bytes().into())),
                    Content::Text => assert_eq!(value, Value::Text(String::from_utf8_lossy(row.bytes()).into())),
                    Content::Values => assert_eq!(value, Value::Unsigned(u32::from_le_bytes(row.bytes().try_into().expect("four")).into())),
                }
                got.push((message.header.stream, row.lane, row.bytes().to_vec()));
            }
            Ok(None) => return (got, Ok(reader.ending())),
            Err(error) => return (got, Err(error)),
        }
    }
}

fn small() -> Messages {
    vec![
        (1, 0, Vec::new()),
        (2, 31, "text, \"quoted\"\nand more: ä".into()),
        (3, 7, vec![1, 2, 3, 0x80]),
        (1, 5, (0..200).map(|i| i | 0x80).collect()),
        (2, 1, vec![b'a', 0xff, b'b']),
    ]
}

#[test]
fn bytes_of_every_length_come_back() {
    let lengths = (0..200).chain([MAX_BYTES as usize - 1, MAX_BYTES as usize]);
    let messages: Messages = lengths.map(|length| (1, length as u32 % 32, (0..length).map(|i| (i * 31) as u8).collect())).collect();
    let (got, ending) = read(&write(&messages));
    assert_eq!(ending.expect("no damage"), Some(Ending::Complete));
    assert!(got == messages);
    let mut writer = Writer::new(Vec::new()).expect("memory");
    writer.program(Program::new("p", Device::new(0, "invented", "sim"), 1, schemas())).expect("memory");
    assert!(writer.message(0, header(1, 0), &vec![0; MAX_BYTES as usize + 1]).is_err(), "there is no message so long");
}

#[test]
fn a_file_with_bytes_that_is_cut_anywhere_or_has_a_wrong_bit_is_read_up_to_there() {
    let (messages, file) = (small(), write(&small()));
    let (got, ending) = read(&file);
    assert_eq!((got, ending.expect("no damage")), (messages.clone(), Some(Ending::Complete)));
    for end in 0..file.len() {
        let (got, ending) = read(&file[..end]);
        assert!(messages.starts_with(&got) && matches!(ending, Ok(Some(Ending::Cut { .. })) | Err(Error::NoHead { .. })), "cut at {end}");
    }
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            let (got, ending) = read(&damaged);
            assert!(messages.starts_with(&got), "bit {bit} of byte {at}: other messages");
            assert!(matches!(ending, Err(Error::Checksum { .. } | Error::Magic)), "bit {bit} of byte {at}: {ending:?}");
        }
    }
}

/// A recording of these units as they are, with right checksums.
fn recorded(raw: &[u32]) -> Vec<u8> {
    let mut file = write(&vec![(1, 0, vec![0; (raw.len() / 4 - 2) * 15])]);
    // The frame of data stands behind that of the program.
    let data = raw.len() * 4;
    let at = (32..file.len() - data)
        .find(|at| file[at - 32..at - 30] == [2, 0] && file[at - 16..at - 8] == (data as u64).to_le_bytes())
        .expect("the frame of data");
    for (bytes, unit) in file[at..at + data].as_chunks_mut::<4>().0.iter_mut().zip(raw) {
        *bytes = unit.to_le_bytes();
    }
    let checksum = crc32c::crc32c(&file[at..at + data]);
    file[at - 8..at - 4].copy_from_slice(&checksum.to_le_bytes());
    let checksum = crc32c::crc32c(&file[at - 32..at - 4]);
    file[at - 4..at].copy_from_slice(&checksum.to_le_bytes());
    file
}

/// The units of a message of bytes that takes five granules.
fn message() -> Vec<u32> {
    let mut units = vec![0; 80];
    assert_eq!(bytes::encode(header(1, 0), &[0xab; 270], &mut units), Some(80));
    units
}

#[test]
fn what_is_no_message_of_bytes_is_refused_though_its_checksum_is_right() {
    let (got, ending) = read(&recorded(&message()));
    assert_eq!((got, ending.expect("it is right")), (vec![(1, 0, vec![0xab; 270])], Some(Ending::Complete)));
    let refused = |what: &str, change: &dyn Fn(&mut Vec<u32>)| {
        let mut units = message();
        change(&mut units);
        let (got, ending) = read(&recorded(&units));
        assert!(
            got.is_empty() && matches!(&ending, Err(Error::Frame { what, .. }) if what.contains("no message begins here")),
            "{what}: {ending:?}"
        );
    };
    let set = |change: Header| move |units: &mut Vec<u32>| units[..8].copy_from_slice(&change.encode());
    let right = Header { granules: 5, ..header(1, 0) };
    refused("a quad that is not full in the middle", &|units| units[4 * 5 + 3] ^= 1 << 27);
    refused("more granules than it needs", &|units| units.iter_mut().skip(8).for_each(|unit| *unit = 0));
    refused("longer than the frame", &set(Header { granules: 6, ..right }));
    refused("no granule", &set(Header { granules: 0, ..right }));
    refused("two lanes", &set(Header { mask: 3, ..right }));
    refused("two values", &set(Header { values: 2, ..right }));
    refused("waves of 64", &set(Header { wide: true, ..right }));
    refused("a stream of numbers", &set(Header { stream: 3, ..right }));
    refused("a stream that there is not", &set(Header { stream: 4, ..right }));
    refused("values of a stream of bytes", &set(Header { kind: Kind::Rows, ..right }));
}

#[test]
fn what_a_thread_records_of_bytes_is_read_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let recording = Recording::start(&path, 1).expect("a file");
    recording.program(Program::new("p", Device::new(0, "invented", "sim"), 1, schemas())).expect("rings");
    // More than the buffers hold, with numbers in between.
    let lengths: Vec<u32> = (0..200).map(|i| if i % 2 == 0 { MAX_BYTES - i } else { 7 * i }).collect();
    let (mut position, mut raw) = (0, vec![0; (MAX_GRANULES * GRANULE) as usize]);
    for length in &lengths {
        for stream in [1, 3] {
            let units = match stream {
                1 => bytes::encode(header(1, 3), &vec![*length as u8; *length as usize], &mut raw),
                _ => encode(header(3, 3), &[*length], &mut raw),
            };
            let units = &raw[..units.expect("a message")];
            let packet = Packet::of_units(units, false, false, |stream| Some(if stream == 3 { 1 } else { 0 })).expect("a message");
            recording.turn(0).push(0, position, &packet, Dispatch::default());
            position += u64::from(packet.header.granules);
        }
    }
    recording.end(&Summary::default());
    let (got, ending) = read(&std::fs::read(&path).expect("the file"));
    assert_eq!((ending.expect("no damage"), recording.recorded().messages), (Some(Ending::Complete), 400));
    let expected: Messages =
        lengths.iter().flat_map(|length| [(1, 3, vec![*length as u8; *length as usize]), (3, 3, length.to_le_bytes().to_vec())]).collect();
    assert!(got == expected);
}

/// With `HOSTCALL_BLESS=1` the file is made first. It stays as it is otherwise: it is what the second version wrote.
#[test]
fn a_file_of_version_2_is_read_as_ever() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/v2.hcs");
    if std::env::var_os("HOSTCALL_BLESS").is_some() {
        std::fs::write(&path, write(&small())).expect("the file is written");
    }
    let (got, ending) = read(&std::fs::read(&path).expect("the file"));
    assert_eq!((got, ending.expect("it is whole")), (small(), Some(Ending::Complete)));
}

proptest! {
    #[test]
    fn messages_of_any_bytes_come_back(messages in prop::collection::vec((1..3u32, 0..32u32, prop::collection::vec(any::<u8>(), 0..200)), 0..20)) {
        let (got, ending) = read(&write(&messages));
        prop_assert_eq!(ending.expect("no damage"), Some(Ending::Complete));
        prop_assert_eq!(got, messages);
    }
}
