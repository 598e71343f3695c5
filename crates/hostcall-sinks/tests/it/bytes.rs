//! Streams of bytes and of text.

use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::DataType;
use hostcall_abi::stream::{From, Kind};
use hostcall_sinks::{Arrow, Intake, Parquet};
use hostcall_stream::sink::{RawBatch, Sink};
use hostcall_stream::{Field, Head, Header, Policy, Schema};

fn schema(name: &str, ty: &str) -> Schema {
    let field = Field { name: "value".into(), ty: ty.into(), offset: 0, bytes: 0 };
    Schema { name: name.into(), signature: 21, bytes: 0, policy: Policy::Block, fields: vec![field] }
}

/// The head of a message of a lane.
fn head(lane: u32, device: u32) -> Head {
    let (mask, from) = (1 << lane, From { group: 5, wave: 1, sm: 2, launch: 3 });
    let (kind, time) = (Kind::Bytes, Some(u64::from(lane)));
    Head::new(Header { stream: 1, granules: 1, kind, mask, wide: false, site: 9, weight: 0, user: 0, values: 1, time, from }, device, false)
}

/// Gives messages to a sink, some together, of two devices in turns.
fn give(sink: &dyn Sink, schema: &Schema, messages: &[Vec<u8>]) {
    assert!(sink.takes(schema));
    let mut inlet = sink.inlet(schema);
    for (first, together) in (0..).step_by(7).zip(messages.chunks(7)) {
        let heads: Vec<Head> = (0..together.len()).map(|i| head((first + i) as u32 % 32, (i / 3 % 2) as u32)).collect();
        let mut raw = Vec::new();
        for message in together {
            raw.extend((message.len() as u32).to_ne_bytes());
            raw.extend_from_slice(message);
            raw.resize(raw.len().next_multiple_of(4), 0);
        }
        inlet.take(&RawBatch::new(&heads, &raw, 0));
    }
    drop(inlet);
    sink.flush();
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.error), (messages.len() as u64, messages.len() as u64, None));
}

/// Every length that matters, and much more than a table of so few rows should keep.
fn messages() -> Vec<Vec<u8>> {
    let lengths = (0..40).chain([1000, 120_000, 0, 3]);
    lengths.cycle().take(500).enumerate().map(|(i, length)| (0..length).map(|k| b'a' + ((i + k) % 26) as u8).collect()).collect()
}

/// The messages of two devices, by device and in order, as [`give`] gave them.
fn of_devices(messages: &[Vec<u8>]) -> [Vec<Vec<u8>>; 2] {
    let of = |device| {
        messages
            .chunks(7)
            .flat_map(move |together| together.iter().enumerate().filter(move |(i, _)| i / 3 % 2 == device))
            .map(|(_, m)| m.clone())
    };
    [of(0).collect(), of(1).collect()]
}

/// The column of values.
fn values(table: &RecordBatch, ty: &DataType) -> Vec<Vec<u8>> {
    let column = table.column_by_name("value").expect("the column");
    assert_eq!((column.data_type(), column.null_count()), (ty, 0));
    match ty {
        DataType::Utf8 => column.as_string::<i32>().iter().map(|text| text.expect("no null").as_bytes().to_vec()).collect(),
        _ => column.as_binary::<i32>().iter().map(|bytes| bytes.expect("no null").to_vec()).collect(),
    }
}

fn parquet(path: &Path) -> Vec<RecordBatch> {
    let mut tables = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(path).expect("the device's files").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    for path in files {
        let file = std::fs::File::open(path).expect("a file");
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("rows");
        tables.extend(reader.map(|table| table.expect("rows")));
    }
    tables
}

#[test]
fn bytes_and_text_are_a_column_of_parquet_files() {
    for (ty, arrow) in [("[u8]", DataType::Binary), ("str", DataType::Utf8)] {
        let (dir, messages) = (tempfile::tempdir().expect("a directory"), messages());
        let sink = Parquet::to(dir.path()).intake(Intake::default().rows(64)).open().expect("a sink");
        give(&sink, &schema("Frame", ty), &messages);
        for (device, expected) in (0..).zip(of_devices(&messages)) {
            let tables = parquet(&dir.path().join(format!("stream=Frame/device={device}")));
            let got: Vec<_> = tables.iter().flat_map(|table| values(table, &arrow)).collect();
            assert!(got == expected, "{ty} of device {device}: {} values", got.len());
            assert!(tables.iter().all(|table| table.column_by_name("lane").is_some_and(|lanes| lanes.len() == table.num_rows())));
        }
    }
}

#[test]
fn text_that_is_not_utf8_is_replaced_in_arrow_files_and_bytes_are_not() {
    let messages = vec![b"a\xffb".to_vec(), Vec::new(), "ä".into()];
    for (ty, arrow, first) in [("[u8]", DataType::Binary, &b"a\xffb"[..]), ("str", DataType::Utf8, "a\u{fffd}b".as_bytes())] {
        let dir = tempfile::tempdir().expect("a directory");
        let sink = Arrow::files(dir.path()).open().expect("a sink");
        give(&sink, &schema("Note", ty), &messages);
        let file = std::fs::File::open(dir.path().join("Note.arrow")).expect("a file");
        let tables = arrow_ipc::reader::FileReader::try_new(file, None).expect("Arrow");
        let got: Vec<_> = tables.flat_map(|table| values(&table.expect("rows"), &arrow)).collect();
        assert_eq!(got, [first.to_vec(), Vec::new(), "ä".into()]);
    }
}
