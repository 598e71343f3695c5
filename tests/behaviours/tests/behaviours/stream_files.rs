//! Recordings of streams: everything that was received is in the file, and a file that cannot be written holds up
//! nobody.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use behaviours_services::{Big, Mixed, Numbered, Tiny};
use hostcall_stream::file::{Ending, Value};
use hostcall_stream::{Message, Name, Origin, StartError, Streams, StreamsBuilder, WaitError};
use hostcall_tests::Bench;
use offload::{Args, Launch};

use crate::listening::{run_all, start};

/// A value as a line: its stream, who sent it, and its bytes.
fn line(stream: &str, origin: &Origin, bytes: &[u8]) -> String {
    let Origin { device, launch, dispatch, group, wave, lane, sm, time, site, weight, after_gap } = origin;
    format!("{stream} {device} {launch} {dispatch} {group} {wave} {lane} {sm} {time:?} {site} {weight} {after_gap} {bytes:02x?}")
}

type Lines = Arc<Mutex<HashMap<String, u32>>>;

fn put(lines: &mut HashMap<String, u32>, line: String) {
    *lines.entry(line).or_default() += 1;
}

/// Keeps what handlers of `M` are given.
fn keep<M: Message>(builder: StreamsBuilder, lines: &Lines) -> StreamsBuilder {
    let lines = lines.clone();
    builder.each::<M>(move |origin, value| {
        // SAFETY: a message has no padding, as `hostcall::stream` sees to.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<M>()) };
        put(&mut lines.lock().unwrap(), line(M::NAME, origin, bytes));
    })
}

/// What a recording has, in the same form; and that it is complete, with counters that say the same.
fn recorded(path: &Path) -> HashMap<String, u32> {
    let mut reader = hostcall_stream::open(path).expect("a recording");
    let (mut lines, mut messages) = (HashMap::new(), HashMap::<Name, u64>::new());
    while let Some(message) = reader.next().expect("it is whole") {
        *messages.entry(message.schema.name.clone()).or_default() += 1;
        for row in message.rows() {
            let from = message.header.from;
            let origin = Origin {
                device: message.program.device.number,
                launch: from.launch,
                dispatch: message.dispatch,
                group: from.group,
                wave: from.wave,
                lane: row.lane,
                sm: from.sm,
                time: message.header.time,
                site: message.header.site,
                weight: 1 << message.header.weight,
                after_gap: message.after_gap,
            };
            put(&mut lines, line(&message.schema.name, &origin, row.bytes()));
        }
    }
    assert_eq!(reader.ending(), Some(Ending::Complete));
    for stream in &reader.counters().expect("counters").streams {
        assert_eq!(messages.get(&stream.name).copied().unwrap_or(0), stream.messages, "{stream:?}");
    }
    lines
}

#[test]
fn a_recording_has_what_the_handlers_were_given() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let lines = Lines::default();
    let streams = start(&bench, |builder| {
        let builder = keep::<Mixed>(keep::<Tiny>(builder, &lines), &lines);
        keep::<Big>(keep::<Numbered>(builder, &lines), &lines).record(&path).memory(256 << 10)
    });
    for _ in 0..2 {
        run_all(&bench, 50);
        let summary = streams.wait(&bench.queue).expect("nothing is lost");
        let recording = summary.recording.expect("a recording");
        let received = summary.streams.iter().map(|stream| stream.messages).sum::<u64>();
        assert_eq!((recording.messages, recording.lost, recording.error), (received, 0, None));
        assert_eq!(recording.path, path);
        // All of it is in the file already.
        assert_eq!(std::fs::metadata(&path).expect("the file").len(), recording.bytes);
    }
    drop(streams);
    let (recorded, handled) = (recorded(&path), std::mem::take(&mut *lines.lock().unwrap()));
    assert!(handled.len() > 1000, "{} different values", handled.len());
    assert!(recorded == handled, "{} values recorded, {} handled", recorded.len(), handled.len());
}

#[test]
fn a_recording_has_streams_that_nobody_handles_and_says_what_they_are() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let streams = start(&bench, |builder| builder.each::<Tiny>(|_, _| ()).record(&path));
    run_all(&bench, 3);
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    drop(streams);
    assert!(
        ["Tiny", "Numbered", "Mixed", "Big"].iter().all(|name| summary.stream(name).is_some_and(|stream| stream.messages > 0)),
        "{summary}"
    );
    let mut reader = hostcall_stream::open(&path).expect("a recording");
    let mut halves = 0;
    while let Some(message) = reader.next().expect("it is whole") {
        assert_eq!(
            (message.program.name.as_str(), message.program.device.name.as_str()),
            ("behaviours", bench.device.info().name.as_str())
        );
        if message.schema.name == "Mixed" {
            for row in message.rows() {
                let fields: HashMap<_, _> = row.fields().map(|(field, value)| (field.name.as_str(), value)).collect();
                let Value::Signed(lane) = fields["lane"] else { panic!("{fields:?}") };
                let mixed = Mixed::of(lane.unsigned_abs() as u32);
                assert_eq!(fields["bits"], Value::Unsigned(mixed.bits));
                assert_eq!(fields["half"], Value::F64(mixed.half));
                assert_eq!(fields["bytes"], Value::List(mixed.bytes.map(|byte| Value::Unsigned(byte.into())).into()));
                halves += 1;
            }
        }
    }
    assert_eq!(halves, summary.stream("Mixed").expect("the stream").values);
    assert_eq!(reader.hostcall(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn several_programs_are_recorded_in_one_file_each_with_rings_of_its_own() {
    let one = Bench::new(|builder| builder);
    let other = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let streams = start(&one, |builder| builder.record(&path));
    streams.attach(&other.program).expect("the other is attached");
    run_all(&one, 3);
    run_all(&other, 3);
    streams.wait(&one.queue).expect("nothing is lost");
    let summary = streams.wait(&other.queue).expect("nothing is lost");
    drop(streams);
    let mut reader = hostcall_stream::open(&path).expect("a recording");
    let mut messages = HashMap::<u32, u64>::new();
    while let Some(message) = reader.next().expect("it is whole") {
        *messages.entry(message.program.first_ring).or_default() += 1;
    }
    assert_eq!(messages.values().sum::<u64>(), summary.streams.iter().map(|stream| stream.messages).sum::<u64>());
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn a_recording_that_was_never_completed_has_what_was_received_before_the_wait() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let (path, copy) = (dir.path().join("run.hcs"), dir.path().join("copy.hcs"));
    let streams = start(&bench, |builder| builder.record(&path));
    run_all(&bench, 3);
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    // As if the program had been killed now.
    std::fs::copy(&path, &copy).expect("copied");
    let mut reader = hostcall_stream::open(&copy).expect("a recording");
    let mut messages = 0;
    while reader.next().expect("it is right as far as it goes").is_some() {
        messages += 1;
    }
    assert_eq!(messages, summary.streams.iter().map(|stream| stream.messages).sum::<u64>());
    assert_eq!(reader.counters().expect("counters").streams, summary.streams);
    assert!(matches!(reader.ending(), Some(Ending::Cut { .. })));
}

#[test]
fn a_full_disk_is_told_with_its_path_and_holds_up_neither_kernels_nor_handlers() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        println!("not run: there is no /dev/full");
        return;
    }
    let bench = Bench::new(|builder| builder);
    let lines = Lines::default();
    let streams = start(&bench, |builder| keep::<Numbered>(builder, &lines).record(full).memory(0));
    for round in 1..3 {
        run_all(&bench, 50);
        let error = streams.wait(&bench.queue).expect_err("nothing was recorded");
        let WaitError::Record { source, summary } = &error else { panic!("{error}") };
        assert_eq!((source.path.as_path(), source.kind), (full, std::io::ErrorKind::StorageFull));
        assert!(error.to_string().contains("cannot write the recording `/dev/full`: No space left on device"), "{error}");
        let received = summary.streams.iter().map(|stream| stream.messages).sum::<u64>();
        let recording = summary.recording.as_ref().expect("a recording");
        assert_eq!((recording.messages, recording.lost, recording.bytes), (0, received, 0));
        let handled = lines.lock().unwrap().values().map(|count| u64::from(*count)).sum::<u64>();
        assert_eq!(summary.stream("Numbered").expect("the stream").values, handled);
        // (Those of `Big` may all be dropped.)
        let all = ["Numbered", "Mixed", "Tiny"].map(|name| summary.stream(name).map_or(0, |stream| stream.messages));
        assert!(handled > 0 && all.iter().all(|messages| *messages > 0), "round {round}: {summary}");
    }
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_at_the_start() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    for path in [dir.path().to_owned(), dir.path().join("nowhere/run.hcs"), "/proc/run.hcs".into()] {
        let error = Streams::builder().record(&path).start(&bench.device).expect_err("no file");
        assert!(matches!(&error, StartError::Record { path: named, .. } if *named == path), "{error}");
        assert!(error.to_string().contains(&format!("cannot record to `{}`", path.display())), "{error}");
    }
}

#[test]
fn messages_that_were_sent_before_a_lane_panicked_are_in_the_recording() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let lines = Lines::default();
    let streams = start(&bench, |builder| keep::<Numbered>(builder, &lines).record(&path));
    bench.launch("stream_panic", Launch::threads(128, 64), Args::new().value(77u32).value(100u32));
    bench.server.wait(&bench.queue).expect_err("a lane panics");
    streams.wait(&bench.queue).expect("what was sent is whole");
    drop(streams);
    let (recorded, handled) = (recorded(&path), std::mem::take(&mut *lines.lock().unwrap()));
    assert!(recorded == handled && !handled.is_empty(), "{} values recorded, {} handled", recorded.len(), handled.len());
}
