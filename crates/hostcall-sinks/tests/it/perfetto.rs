//! Traces, decoded by Perfetto's own definitions.

use hostcall_sinks::Perfetto;
use hostcall_stream::sink::Sink;
use hostcall_stream::{Head, Header, Interval, Log};
use prost::Message as _;

use crate::support::{Loss, Sent, give, losses, places};

// The parts of `protos/perfetto/trace/*.proto` that matter here.
#[derive(prost::Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}
#[derive(prost::Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<Event>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<Track>,
}
#[derive(prost::Message)]
struct Event {
    #[prost(int32, optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(message, optional, tag = "33")]
    source_location: Option<Source>,
    #[prost(double, optional, tag = "44")]
    double_counter_value: Option<f64>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Source {
    #[prost(string, optional, tag = "2")]
    file_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    function_name: Option<String>,
    #[prost(uint32, optional, tag = "4")]
    line_number: Option<u32>,
}
#[derive(prost::Message)]
struct Track {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<Counter>,
}
#[derive(prost::Message)]
struct Counter {}

/// The name of a track behind those above it.
fn name(trace: &Trace, uuid: u64) -> String {
    let tracks = || trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let track = tracks().find(|track| track.uuid == Some(uuid)).expect("a track that was described");
    let above = track.parent_uuid.map(|parent| name(trace, parent) + "/").unwrap_or_default();
    above + track.name.as_deref().expect("a name")
}

#[test]
fn intervals_are_slices_of_their_waves_and_numbers_are_counters() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.perfetto-trace");
    let sink = Perfetto::to(&path).named(1, "load").open().expect("it opens");
    let losses = losses(3);
    give(&sink, &losses, 2);
    let one = Interval { start: 1000, end: 3000, label: 1, detail: 0 };
    let other = Interval { start: 1500, end: 2500, label: 7, detail: 0 };
    let values: Vec<_> = (0..32).map(|lane| if lane == 5 { other } else { one }).collect();
    give(&sink, &[Sent { head: losses[2].head, values }], 1);
    assert!(!path.exists(), "before the end");
    sink.finish();
    assert_eq!((sink.sunk().messages, sink.sunk().error), (4, None));
    let trace = Trace::decode(&*std::fs::read(&path).expect("the trace")).expect("a trace");
    assert!(trace.packet.iter().all(|packet| packet.trusted_packet_sequence_id == Some(1)));
    let mut events = Vec::new();
    for packet in &trace.packet {
        if let Some(event) = &packet.track_event {
            let on = name(&trace, event.track_uuid.expect("a track"));
            events.push((
                packet.timestamp.expect("a time"),
                event.r#type.expect("a kind"),
                on,
                event.name.clone(),
                event.double_counter_value,
            ));
        }
    }
    let wave = "device 0/SM 2/launch 1 workgroup 0 wave 2".to_owned();
    for (time, kind, on, called) in [
        (1000, 1, wave.clone(), Some("load")),
        (3000, 2, wave.clone(), None),
        (1500, 1, format!("{wave}/lane 5"), Some("interval 7")),
        (2500, 2, format!("{wave}/lane 5"), None),
    ] {
        let event = (time, kind, on, called.map(str::to_owned), None);
        assert_eq!(events.iter().filter(|one| **one == event).count(), 1, "{event:?} of {events:?}");
    }
    for (time, Loss { step, value }) in [(0, losses[0].values[0]), (1000, losses[1].values[0]), (2000, losses[2].values[0])] {
        for (field, number) in [("step", f64::from(step)), ("value", f64::from(value))] {
            let event = (time, 4, format!("device 0/Loss.{field}"), None, Some(number));
            assert!(events.contains(&event), "{event:?}");
        }
    }
    assert_eq!(events.len(), 4 + 6);
}

#[test]
fn messages_without_a_time_are_counted_as_lost_to_a_trace() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Perfetto::to(dir.path().join("run.perfetto-trace")).open().expect("it opens");
    let mut losses = losses(3);
    let header = Header { time: None, ..losses[1].head.header() };
    losses[1].head = Head::new(header, 0, false);
    give(&sink, &losses, 3);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (2, 1));
    assert!(sunk.error.expect("an error").to_string().contains("let their streams be `timed`"));
}

#[test]
fn slices_have_the_text_of_their_place_and_lines_of_a_log_are_instants_with_theirs() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.perfetto-trace");
    let sink = Perfetto::to(&path).named(1, "load").open().expect("it opens");
    sink.begin(&places());
    let losses = losses(3);
    let interval = |label| Interval { start: 1000, end: 3000, label, detail: 0 };
    let of = |message: &Sent<Loss>, header: &dyn Fn(Header) -> Header| Head::new(header(message.head.header()), 0, false);
    give(&sink, &[Sent { head: of(&losses[0], &|header| header), values: vec![interval(1); 32] }], 1);
    give(&sink, &[Sent { head: of(&losses[1], &|header| header), values: vec![interval(0); 32] }], 1);
    // A place that nobody knows.
    give(&sink, &[Sent { head: of(&losses[2], &|header| Header { site: 8, ..header }), values: vec![interval(5); 32] }], 1);
    // Two lanes, each of one argument of 64 bits, `u32`s as it were.
    let line = |step: u32| [1, step, 0].map(|unit| Log { unit });
    let head = of(&losses[0], &|header| Header { mask: 0b101, values: 3, site: 9, ..header });
    give(&sink, &[Sent { head, values: [line(7), line(8)].concat() }], 1);
    let head = of(&losses[1], &|header| Header { mask: 0b11, values: 3, site: 9, ..header });
    give(&sink, &[Sent { head, values: [line(9), line(9)].concat() }], 1);
    sink.finish();
    assert_eq!((sink.sunk().messages, sink.sunk().error), (5, None));
    let trace = Trace::decode(&*std::fs::read(&path).expect("the trace")).expect("a trace");
    let events = trace.packet.iter().filter_map(|packet| packet.track_event.as_ref()).filter(|event| event.name.is_some());
    let mut said: Vec<_> = events
        .map(|event| {
            let source = event.source_location.as_ref();
            let file = source.and_then(|source| source.file_name.clone());
            let line = source.and_then(|source| source.line_number);
            assert!(source.is_none_or(|source| source.function_name.as_deref() == Some("model")));
            (event.r#type.expect("a kind"), event.name.clone().expect("a name"), file, line)
        })
        .collect();
    said.sort();
    let at = |kind, name: &str, line: Option<u32>| (kind, name.to_owned(), line.map(|_| "src/model.rs".to_owned()), line);
    let softmax = "softmax \"é\"";
    let line = Some(40 + softmax.len() as u32);
    let log = Some(40 + "step {0:}".len() as u32);
    let expected = [
        at(1, "interval 5", None),
        at(1, "load", line),
        at(1, softmax, line),
        at(3, "step 7", log),
        at(3, "step 8", log),
        at(3, "step 9", log),
    ];
    assert_eq!(said, expected);
}
