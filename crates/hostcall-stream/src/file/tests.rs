//! Recordings of invented messages: as they were written, cut, and damaged.

use hostcall_abi::stream::unit::PHASE;
use hostcall_abi::stream::{From, Header, Kind, Packet, Policy, encode};
use proptest::prelude::*;

use super::read::{Ending, Error, Reader};
use super::write::Recording;
use super::{Device, Program};
use crate::counts::{StreamCounts, Summary};
use crate::dispatch::Dispatch;
use crate::schema::{Field, Schema};

/// A message to record: from which ring, behind how many granules that hold none, with which header and values.
#[derive(Clone, Debug)]
struct Sent {
    ring: u32,
    gap: u64,
    after_gap: bool,
    header: Header,
    /// Units of all lanes, lane by lane.
    rows: Vec<u32>,
}

/// What a reader says of a message.
#[derive(Debug, PartialEq)]
struct Got {
    ring: u16,
    position: u64,
    after_gap: bool,
    header: Header,
    stream: String,
    lanes: Vec<u32>,
    bytes: Vec<u8>,
}

/// The message as it lies in a ring, in a lap of either phase.
fn units(sent: &Sent, phase: u32) -> Vec<u32> {
    let mut units = vec![0; 129 * 16];
    let length = encode(sent.header, &sent.rows, &mut units).expect("a message");
    units[..length].iter().map(|unit| unit | phase).collect()
}

/// A recording of a program with these streams, and what a reader should say.
fn record(wide: bool, rings: u32, schemas: &[Schema], messages: &[Sent], ended: bool) -> (Vec<u8>, Vec<Got>) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let recording = Recording::start(&path, 2).expect("a file");
    let program = |name: &str, rings| Program {
        name: name.into(),
        device: Device { number: 3, name: "invented".into(), kind: "sim".into() },
        wave_size: if wide { 64 } else { 32 },
        first_ring: 77,
        rings,
        streams: (1..).zip(schemas.iter().cloned()).collect(),
        sites: Vec::new(),
    };
    let other = recording.program(program("other", 5)).expect("rings");
    let first = recording.program(program("p", rings)).expect("rings");
    assert_eq!((other, first), (0, 5));
    let mut positions = vec![0; rings as usize];
    let mut expected = Vec::new();
    let mut counts: Vec<_> = schemas.iter().map(|schema| StreamCounts { name: schema.name.clone(), ..StreamCounts::default() }).collect();
    for sent in messages {
        let schema = &schemas[sent.header.stream as usize - 1];
        let raw = units(sent, if positions[sent.ring as usize] & 1 == 0 { PHASE } else { 0 });
        let packet = Packet::of_units(&raw, wide, sent.after_gap, |_| Some(schema.units())).expect("a message");
        let position = positions[sent.ring as usize] + sent.gap;
        recording.turn((sent.ring % 2) as usize).push(first + sent.ring, position, &packet, Dispatch::default());
        positions[sent.ring as usize] = position + u64::from(packet.header.granules);
        let count = &mut counts[sent.header.stream as usize - 1];
        count.messages += 1;
        count.values += u64::from(packet.header.mask.count_ones() * packet.header.values);
        expected.push(Got {
            ring: (first + sent.ring) as u16,
            position,
            after_gap: sent.after_gap,
            header: packet.header,
            stream: schema.name.to_string(),
            lanes: packet.lanes().flat_map(|lane| std::iter::repeat_n(lane, packet.header.values as usize)).collect(),
            bytes: sent.rows.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        });
    }
    let summary = Summary { streams: counts, ..Summary::default() };
    recording.flush(&summary);
    if ended {
        recording.end(&summary);
    }
    let recorded = recording.recorded();
    let bytes = std::fs::read(&path).expect("the file");
    assert_eq!((recorded.messages, recorded.bytes, recorded.error), (messages.len() as u64, bytes.len() as u64, None));
    if !ended {
        recording.end(&summary);
    }
    (bytes, expected)
}

/// Everything that a reader says of a file.
fn read(bytes: &[u8]) -> (Vec<Got>, Result<Option<Ending>, Error>) {
    let mut got = Vec::new();
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (got, Err(error)),
    };
    loop {
        match reader.next() {
            Ok(Some(message)) => got.push(Got {
                ring: message.ring,
                position: message.position,
                after_gap: message.after_gap,
                header: message.header,
                stream: message.schema.name.to_string(),
                lanes: message.rows().map(|row| row.lane).collect(),
                bytes: message.rows().flat_map(|row| row.bytes().to_vec()).collect(),
            }),
            Ok(None) => return (got, Ok(reader.ending())),
            Err(error) => {
                assert!(reader.next().expect("no second error").is_none() && reader.ending().is_none());
                return (got, Err(error));
            }
        }
    }
}

/// Messages of each ring in order: threads have buffers of their own, so rings may come in another order.
fn by_ring(mut got: Vec<Got>) -> Vec<Got> {
    got.sort_by_key(|got| got.ring);
    got
}

fn schema(number: usize, units: u32) -> Schema {
    let field = |name: &str, ty: &str, offset, bytes| Field { name: name.into(), ty: ty.into(), offset, bytes };
    let mut fields = vec![field("first", "u32", 0, 4)];
    if units > 1 {
        fields.push(field("rest", "[f32; N]", 4, 4 * units - 4));
    }
    Schema { name: format!("S{number}").into(), signature: u64::MAX - number as u64, bytes: 4 * units, policy: Policy::Block, fields }
}

fn header(stream: u32, mask: u64, wide: bool, values: u32) -> Header {
    let from = From { group: 1 << 40 | 5, wave: 7, sm: 99, launch: 1023 };
    Header { stream, granules: 1, kind: Kind::Rows, mask, wide, site: 4, weight: 2, user: 0, values, time: Some(1 << 50 | 12345), from }
}

#[derive(Clone, Debug)]
struct Case {
    wide: bool,
    rings: u32,
    schemas: Vec<Schema>,
    messages: Vec<Sent>,
}

fn cases() -> impl Strategy<Value = Case> {
    let streams = proptest::collection::vec(1..=31u32, 1..5);
    let message = (any::<prop::sample::Index>(), 1..=u64::MAX, 1..=32u32, 0..8u32, 0..3u64, any::<bool>(), any::<u32>());
    let messages = proptest::collection::vec(message, 0..40);
    (any::<bool>(), streams, messages).prop_map(|(wide, units, messages)| {
        let schemas: Vec<_> = units.iter().enumerate().map(|(number, units)| schema(number, *units)).collect();
        let sent = messages.into_iter().map(|(stream, mask, values, ring, gap, after_gap, seed)| {
            let stream = stream.index(schemas.len());
            let values = values.min(31 / units[stream]).max(1);
            let mask = if wide { mask } else { (mask & u64::from(u32::MAX)).max(1) };
            let count = mask.count_ones() * values * units[stream];
            let rows = (0..count).map(|i| (seed ^ i).wrapping_mul(0x9e37_79b9)).collect();
            Sent { ring, gap: gap / 2, after_gap: after_gap && gap == 2, header: header(stream as u32 + 1, mask, wide, values), rows }
        });
        let messages = sent.collect();
        Case { wide, rings: 8, schemas, messages }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn messages_of_any_streams_come_back_as_they_were(case in cases(), ended: bool) {
        let (bytes, expected) = record(case.wide, case.rings, &case.schemas, &case.messages, ended);
        let (got, ending) = read(&bytes);
        let whole = bytes.len() as u64;
        prop_assert_eq!(ending.expect("it can be read"), Some(if ended { Ending::Complete } else { Ending::Cut { whole } }));
        prop_assert_eq!(by_ring(got), by_ring(expected));
    }

    #[test]
    fn any_bytes_are_read_to_an_end_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400), begun: bool) {
        let head = if begun { super::format::file_head() } else { Vec::new() };
        let (got, _) = read(&[head, bytes].concat());
        prop_assert!(got.is_empty(), "no program, no messages");
    }
}

/// A file of a few messages, of lanes alone and together, with a gap.
fn small() -> (Vec<u8>, Vec<Got>) {
    let rows = |count: u32| (0..count).map(|i| i.wrapping_mul(0xdead_beef)).collect::<Vec<_>>();
    let message = |ring, gap, mask: u64, stream, values| {
        let count = mask.count_ones() * values * [1, 3][stream as usize - 1];
        Sent { ring, gap, after_gap: gap > 0, header: header(stream, mask, false, values), rows: rows(count) }
    };
    let messages = [
        message(0, 0, 1 << 31, 2, 1),
        message(0, 0, 0b101, 1, 4),
        message(0, 3, 0xff, 2, 1),
        message(1, 0, 0xffff_ffff, 1, 1),
        message(0, 0, 1, 1, 1),
    ];
    record(false, 2, &[schema(0, 1), schema(1, 3)], &messages, true)
}

#[test]
fn a_file_that_is_cut_at_any_byte_is_read_up_to_its_last_whole_frame() {
    let (bytes, expected) = small();
    let (mut most, mut heads) = (0, 0);
    for end in 0..bytes.len() {
        let (got, ending) = read(&bytes[..end]);
        assert!(got.len() >= most && got.len() <= expected.len(), "{} messages of {end} bytes", got.len());
        assert!(by_ring_is_prefix(&got, &expected), "other messages");
        most = got.len();
        match ending {
            Ok(Some(Ending::Cut { whole })) => assert!(whole <= end as u64),
            Err(Error::NoHead { bytes }) => {
                assert_eq!(bytes, end as u64);
                heads += 1;
            }
            other => panic!("cut at {end}: {other:?}"),
        }
    }
    // Counters and the end follow the last message.
    assert_eq!(most, expected.len());
    assert!((24..100).contains(&heads), "{heads} cuts within the head");
}

/// Whether the messages of each ring are the first ones of that ring.
fn by_ring_is_prefix(got: &[Got], expected: &[Got]) -> bool {
    (0..10).all(|ring| {
        let of = |all: &[Got]| all.iter().filter(|got| got.ring == ring).map(|got| (got.position, got.bytes.clone())).collect::<Vec<_>>();
        of(expected).starts_with(&of(got))
    })
}

#[test]
fn every_bit_that_is_flipped_is_noticed_where_it_is() {
    let (bytes, expected) = small();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let (got, ending) = read(&damaged);
            assert!(by_ring_is_prefix(&got, &expected), "bit {bit} of byte {at}: other messages");
            match ending {
                Err(Error::Checksum { offset, .. }) => assert!(offset <= at as u64, "bit {bit} of byte {at}: damaged at {offset}?"),
                Err(Error::Magic) => assert!(at < 8),
                other => panic!("bit {bit} of byte {at}: {other:?}"),
            }
        }
    }
}

/// So many messages of 32 lanes, from each of two threads at once, as fast as the file takes them.
fn record_many(path: &std::path::Path, count: u64) -> super::Recorded {
    let recording = Recording::start(path, 2).expect("a file");
    let schema = schema(0, 4);
    let device = Device { number: 0, name: "invented".into(), kind: "sim".into() };
    let program =
        Program { name: "p".into(), device, wave_size: 32, first_ring: 0, rings: 2, streams: vec![(1, schema.clone())], sites: Vec::new() };
    recording.program(program).expect("rings");
    std::thread::scope(|scope| {
        for ring in 0..2 {
            let (recording, schema) = (&recording, &schema);
            scope.spawn(move || {
                let sent = Sent { ring, gap: 0, after_gap: false, header: header(1, u32::MAX.into(), false, 1), rows: vec![ring; 128] };
                let raw = units(&sent, PHASE);
                let packet = Packet::of_units(&raw, false, false, |_| Some(schema.units())).expect("a message");
                for number in 0..count {
                    recording.turn(ring as usize).push(ring, number * u64::from(packet.header.granules), &packet, Dispatch::default());
                }
            });
        }
    });
    recording.end(&Summary::default());
    recording.recorded()
}

#[test]
fn more_than_the_buffers_hold_is_recorded_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let recorded = record_many(&path, 20_000);
    assert_eq!((recorded.messages, recorded.lost), (40_000, 0));
    let mut reader = super::open(&path).expect("a recording");
    let mut next = [0; 2];
    while let Some(message) = reader.next().expect("whole") {
        let ring = usize::from(message.ring);
        assert_eq!(message.position, next[ring]);
        assert!(message.bytes().chunks_exact(4).all(|unit| unit == (ring as u32).to_le_bytes()));
        next[ring] += u64::from(message.header.granules);
    }
    assert_eq!((reader.ending(), next), (Some(Ending::Complete), [180_000; 2]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_slower_than_its_messages_holds_them_up_and_nothing_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).expect("a FIFO");
    let (messages, recorded) = std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let mut reader = super::open(&path).expect("a recording");
            let mut messages = 0u64;
            while reader.next().expect("whole").is_some() {
                messages += 1;
                if messages.is_multiple_of(2000) {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            }
            assert_eq!(reader.ending(), Some(Ending::Complete));
            messages
        });
        let recorded = record_many(&path, 15_000);
        (slow.join().expect("it ends"), recorded)
    });
    assert_eq!((messages, recorded.messages, recorded.lost), (30_000, 30_000, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_nobody_reads_any_more_loses_what_comes_later_and_holds_up_nobody() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).expect("a FIFO");
    let recorded = std::thread::scope(|scope| {
        scope.spawn(|| drop(super::open(&path).expect("a recording")));
        record_many(&path, 15_000)
    });
    assert_eq!(recorded.messages + recorded.lost, 30_000);
    assert!(recorded.lost > 0);
    assert_eq!(recorded.error.expect("why").kind, std::io::ErrorKind::BrokenPipe);
}

#[test]
fn bytes_behind_the_end_and_a_newer_version_are_refused() {
    let (bytes, expected) = small();
    let (got, ending) = read(&[&bytes[..], b"x"].concat());
    assert_eq!(got.len(), expected.len());
    assert!(matches!(ending, Err(Error::Frame { ref what, .. }) if what.contains("follows the end")), "{ending:?}");
    let mut newer = bytes;
    newer[8] = 4;
    let checksum = crc32c::crc32c(&newer[..20]);
    newer[20..24].copy_from_slice(&checksum.to_le_bytes());
    let (_, ending) = read(&newer);
    assert_eq!(
        ending.expect_err("newer").to_string(),
        "the recording has version 4, and this hostcall reads versions 1 to 3: use the hostcall that wrote it, or a newer one"
    );
}

/// The messages of `tests/files/v1.hcs`.
fn corpus() -> (Vec<Schema>, Vec<Sent>) {
    let field = |name: &str, ty: &str, offset, bytes| Field { name: name.into(), ty: ty.into(), offset, bytes };
    let schema = |name: &str, signature, bytes, fields| Schema { name: name.into(), signature, bytes, policy: Policy::Drop, fields };
    let schemas = vec![
        schema("Loss", 1, 8, vec![field("step", "u32", 0, 4), field("value", "f32", 4, 4)]),
        schema("Access", 2, 16, vec![field("address", "u64", 0, 8), field("sizes", "[u16; 2]", 8, 4), field("kind", "Kind", 12, 4)]),
        schema("Silent", 3, 4, vec![field("never", "u32", 0, 4)]),
    ];
    let loss = |step: u32| Sent {
        ring: step % 2,
        gap: 0,
        after_gap: false,
        header: Header { time: Some(1_000_000 + u64::from(step) * 500), ..header(1, 0b1001, false, 1) },
        rows: [0, 1].into_iter().flat_map(|lane| [step, (0.5 * (step + lane) as f32).to_bits()]).collect(),
    };
    let access = Sent {
        ring: 1,
        gap: 1,
        after_gap: true,
        header: Header { time: None, weight: 0, site: 0, ..header(2, 1 << 31, false, 1) },
        rows: vec![0x8000_1000, 0xffff_8000, 8 << 16 | 4, 0xefbe_adde],
    };
    (schemas, (0..6).map(loss).chain([access]).collect())
}

/// It stays as it is: it is what the first version wrote.
#[test]
fn a_file_of_version_1_is_read_as_ever() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/v1.hcs");
    let (schemas, messages) = corpus();
    let (_, expected) = record(false, 2, &schemas, &messages, true);
    let (got, ending) = read(&std::fs::read(&path).expect("the file"));
    assert_eq!(ending.expect("it is whole"), Some(Ending::Complete));
    assert_eq!(by_ring(got), by_ring(expected));
}

/// A file of 300 messages that is written piece by piece is followed message by message, whatever the pieces are.
#[test]
fn a_file_that_grows_by_any_pieces_is_read_frame_by_frame() {
    let (bytes, expected) = small();
    let dir = tempfile::tempdir().expect("a directory");
    for piece in [1, 7, 64, 1000, bytes.len()] {
        let path = dir.path().join(format!("{piece}.hcs"));
        let mut file = std::fs::File::create(&path).expect("a file");
        let (mut follower, mut count, mut end) = (None, 0, 0);
        for piece in bytes.chunks(piece) {
            std::io::Write::write_all(&mut file, piece).expect("written");
            end += piece.len();
            if follower.is_none() {
                follower = super::follow(&path).expect("it begins as one");
            }
            let Some(follower) = &mut follower else { continue };
            while follower.next().expect("no damage").is_some() {
                count += 1;
            }
            assert_eq!(follower.has_ended(), end == bytes.len(), "{end} of {}", bytes.len());
            assert!(follower.behind().expect("its length") < 1 << 16);
        }
        assert_eq!(count, expected.len(), "pieces of {piece}");
    }
}

#[test]
fn a_file_that_is_followed_and_becomes_shorter_or_is_damaged_is_an_error() {
    let (bytes, _) = small();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    std::fs::write(&path, &bytes[..bytes.len() - 32]).expect("written");
    let mut follower = super::follow(&path).expect("a recording").expect("its head");
    while follower.next().expect("no damage").is_some() {}
    assert!(!follower.has_ended());
    std::fs::write(&path, &bytes[..30]).expect("written");
    let error = follower.next().expect_err("it is shorter");
    assert!(error.to_string().contains("become shorter"), "{error}");
    assert!(follower.next().expect("no more").is_none());
    let mut damaged = bytes;
    let at = damaged.len() - 10;
    damaged[at] ^= 1;
    std::fs::write(&path, &damaged).expect("written");
    let mut follower = super::follow(&path).expect("a recording").expect("its head");
    let error = loop {
        match follower.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the damage is not seen"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Checksum { .. }), "{error}");
}

#[test]
fn what_a_writer_writes_is_read_again() {
    let schema = Schema {
        name: "Loss".into(),
        signature: 1,
        bytes: 8,
        policy: Policy::Drop,
        fields: vec![Field { name: "step".into(), ty: "u64".into(), offset: 0, bytes: 8 }],
    };
    let mut writer = super::Writer::new(Vec::new()).expect("memory");
    let first = writer.program(Program::new("one", Device::new(0, "a", "sim"), 3, vec![(1, schema.clone())])).expect("memory");
    let second = writer.program(Program::new("two", Device::new(1, "b", "sim"), 2, vec![(1, schema)])).expect("memory");
    assert_eq!((first, second), (0, 3));
    for i in 0..100u64 {
        let values: Vec<u8> = (0..4).flat_map(|lane| (i + lane).to_le_bytes()).collect();
        writer.message((i % 5) as u32, header(1, 0b1111, false, 1), &values).expect("memory");
    }
    assert!(writer.message(5, header(1, 1, false, 1), &[0; 8]).is_err(), "no program has the ring");
    assert!(writer.message(0, header(1, 1, false, 1), &[0; 7]).is_err(), "no value has 7 bytes");
    writer.counters(&Summary::default()).expect("memory");
    let (got, ending) = read(&writer.end().expect("memory"));
    assert_eq!((got.len(), ending.expect("no damage")), (100, Some(Ending::Complete)));
    assert!(got.iter().all(|got| got.lanes == [0, 1, 2, 3] && got.stream == "Loss"));
}

/// A handler takes the messages of a file as it takes those of a kernel.
#[test]
fn a_recording_is_replayed_into_a_handler() {
    use crate::Handler;
    use crate::handlers::HeatMap;
    use hostcall_abi::stream::{Access, AccessKind, Message as _, Space};

    let mut writer = super::Writer::new(Vec::new()).expect("memory");
    let schema = Schema::of::<Access>();
    let ring = writer.program(Program::new("one", Device::new(7, "a", "sim"), 1, vec![(1, schema.clone())])).expect("memory");
    for i in 0..3000u64 {
        let access = |lane: u32| Access::new(4096 * (i % 3) + 4 * u64::from(lane), AccessKind::Read, Space::Global, 4);
        let values: Vec<u8> = (0..2).flat_map(|lane| hostcall_abi::codec::bytes(&[access(lane)]).to_vec()).collect();
        writer.message(ring, header(1, 0b11, false, 1), &values).expect("memory");
    }
    let bytes = writer.end().expect("memory");
    let mut reader = Reader::new(&bytes[..]).expect("a recording");
    let (handler, mut heat, mut replay, mut batches) = (HeatMap::pages(4096), Default::default(), super::Replay::<Access>::default(), 0);
    while let Some(message) = reader.next().expect("no damage") {
        assert!(super::Replay::<Access>::takes(message.schema) && message.schema.name == Access::NAME);
        replay.push(&message, |batch| {
            batches += 1;
            let _ = handler.fold(&mut heat, batch);
        });
    }
    replay.rest(|batch| assert_eq!(handler.fold(&mut heat, batch), crate::Flow::Next));
    assert!(batches >= 2, "{batches}");
    assert_eq!(
        heat.pages().iter().map(|(page, traffic)| (*page, traffic.reads)).collect::<Vec<_>>(),
        [(0, 2000), (4096, 2000), (8192, 2000)]
    );
    assert_eq!(heat.launches()[0].0, 7, "the device");
}
