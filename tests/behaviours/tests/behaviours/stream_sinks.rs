//! Sinks: what kernels send is kept as handlers were given it, also of streams that nobody handles, and a sink that
//! fails holds up nobody.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use behaviours_services::{Big, Mixed, Numbered, Tiny};
use hostcall_sinks::object_store::memory::InMemory;
use hostcall_sinks::{Arrow, Full, Intake, Nats, Parquet, Perfetto, Rows, decode, open};
use hostcall_stream::sink::{Inlet, RawBatch, Sink, SinkError, Sunk};
use hostcall_stream::{Filter, Message, Origin, Schema, StreamsBuilder, WaitError};
use hostcall_test_support::{Broker, Bucket};
use hostcall_tests::Bench;
use offload::{Args, Launch};
use prost::Message as _;

use crate::listening::{run_all, start};

type Lines = HashMap<String, u32>;

/// (Tables do not have the shapes of launches; recordings do.)
fn line<M: Message>(origin: &Origin, value: &M) -> String {
    let origin = Origin { dispatch: origin.dispatch.with_shape(None), ..*origin };
    format!("{} {origin:?} {:02x?}", M::NAME, hostcall_abi::codec::bytes(std::slice::from_ref(value)))
}

fn keep<M: Message>(builder: StreamsBuilder, lines: &Arc<Mutex<Lines>>) -> StreamsBuilder {
    let lines = lines.clone();
    builder.each::<M>(move |origin, value| *lines.lock().unwrap().entry(line(origin, value)).or_default() += 1)
}

fn add<M: Message>(rows: &Rows<M>, lines: &mut Lines) {
    for (origin, value) in rows.origins.iter().zip(&rows.values) {
        *lines.entry(line(origin, value)).or_default() += 1;
    }
}

fn read<M: Message>(path: &Path, lines: &mut Lines) {
    for rows in open::<M>(path).expect("files of the stream") {
        add(&rows.expect("they are whole"), lines);
    }
}

/// What files have, of all streams that were handled.
fn read_all(path: &Path, handled: &Lines) -> Lines {
    let mut all = Lines::new();
    read::<Tiny>(path, &mut all);
    read::<Mixed>(path, &mut all);
    read::<Numbered>(path, &mut all);
    if handled.keys().any(|line| line.starts_with("Big ")) {
        read::<Big>(path, &mut all);
    }
    all
}

/// Runs kernels that send to all streams, twice, and gives what handlers had of it. The first sink has kept all of it
/// whenever `wait` returns.
fn handled(bench: &Bench, set_up: impl FnOnce(StreamsBuilder) -> StreamsBuilder) -> Lines {
    let lines = Arc::default();
    let streams = start(bench, |builder| {
        let builder = keep::<Mixed>(keep::<Tiny>(builder, &lines), &lines);
        set_up(keep::<Big>(keep::<Numbered>(builder, &lines), &lines)).memory(256 << 10)
    });
    for _ in 0..2 {
        run_all(bench, 50);
        let summary = streams.wait(&bench.queue).expect("nothing is lost");
        let received = summary.streams.iter().map(|stream| stream.messages).sum::<u64>();
        assert_eq!((summary.sinks[0].messages, summary.sinks[0].lost, summary.sinks[0].shed), (received, 0, 0), "{summary}");
        assert!(summary.to_string().contains(&format!("{received} messages of ")), "{summary}");
    }
    drop(streams);
    let handled = std::mem::take(&mut *lines.lock().unwrap());
    assert!(handled.len() > 1000, "{} different values", handled.len());
    handled
}

#[test]
fn parquet_and_arrow_have_what_the_handlers_were_given() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let (parquet, arrow) = (dir.path().join("parquet"), dir.path().join("arrow"));
    let handled = handled(&bench, |builder| {
        let kept = Parquet::to(&parquet).intake(Intake::default().rows(500)).row_group(1000).open().expect("it opens");
        builder.sink(kept).sink(Arrow::files(&arrow).open().expect("it opens"))
    });
    for path in [parquet, arrow] {
        let all = read_all(&path, &handled);
        assert!(all == handled, "{}: {} values kept, {} handled", path.display(), all.len(), handled.len());
    }
}

#[test]
fn a_bucket_of_s3_has_what_the_handlers_were_given() {
    let bench = Bench::new(|builder| builder);
    let bucket = Bucket::start();
    let sink = Parquet::in_store(bucket.store(), "lab/run").roll_bytes(20_000).open().expect("it opens");
    let handled = handled(&bench, |builder| builder.sink(sink));
    let dir = tempfile::tempdir().expect("a directory");
    let names = bucket.fetch("lab", dir.path());
    assert!(names.iter().any(|name| name == "lab/run/stream=Numbered/device=0/part-00002.parquet"), "{names:?}");
    let all = read_all(&dir.path().join("lab/run"), &handled);
    assert!(all == handled, "{} values kept, {} handled", all.len(), handled.len());
}

#[test]
fn messages_of_jetstream_have_what_the_handlers_were_given() {
    let Some(broker) = Broker::with_jetstream("") else { return };
    let bench = Bench::new(|builder| builder);
    let sink = Nats::to(broker.address(), "lab.run").intake(Intake::default().rows(500)).open().expect("it opens");
    let handled = handled(&bench, |builder| builder.sink(sink));
    let mut all = Lines::new();
    for message in broker.kept("lab_run") {
        match message.subject.as_str() {
            "lab.run.Tiny" => add(&decode::<Tiny>(&message.payload).expect("a table"), &mut all),
            "lab.run.Mixed" => add(&decode::<Mixed>(&message.payload).expect("a table"), &mut all),
            "lab.run.Numbered" => add(&decode::<Numbered>(&message.payload).expect("a table"), &mut all),
            "lab.run.Big" => add(&decode::<Big>(&message.payload).expect("a table"), &mut all),
            other => assert_eq!(other, "lab.run._sites"),
        }
    }
    assert!(all == handled, "{} values kept, {} handled", all.len(), handled.len());
}

/// The parts of `protos/perfetto/trace/*.proto` that say what was measured.
mod perfetto {
    #[derive(prost::Message)]
    pub(super) struct Trace {
        #[prost(message, repeated, tag = "1")]
        pub(super) packet: Vec<Packet>,
    }

    #[derive(prost::Message)]
    pub(super) struct Packet {
        #[prost(uint64, optional, tag = "8")]
        pub(super) timestamp: Option<u64>,
        #[prost(message, optional, tag = "11")]
        pub(super) track_event: Option<Event>,
    }

    #[derive(prost::Message)]
    pub(super) struct Event {
        /// 1: a slice begins; 2: it ends.
        #[prost(int32, optional, tag = "9")]
        pub(super) r#type: Option<i32>,
        #[prost(string, optional, tag = "23")]
        pub(super) name: Option<String>,
    }
}

#[test]
fn a_trace_has_each_interval_that_a_kernel_measured() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.perfetto-trace");
    let (groups, lanes, steps) = (12u32, 128u32, 5u32);
    // What the kernel calls a wave as a whole, and a step.
    let sink = Perfetto::to(&path).named(10, "whole").named(11, "step").open().expect("it opens");
    let streams = start(&bench, |builder| builder.sink(sink.clone()));
    let out = bench.device.alloc::<u32>((groups * lanes) as usize).expect("memory");
    bench.launch("interval_blocks", Launch::threads(groups * lanes, lanes), Args::new().value(steps).slice(&out));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    streams.wait(&bench.queue).expect("nothing is lost");
    drop(streams);
    let waves = (groups * lanes / bench.device.info().wave_size) as usize;
    let all = waves * (1 + steps as usize);
    assert_eq!((sink.sunk().messages, sink.sunk().lost), (all as u64, 0));
    let trace = perfetto::Trace::decode(&*std::fs::read(&path).expect("the trace")).expect("a trace");
    let events: Vec<_> = trace.packet.iter().filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?))).collect();
    let begun = |name: &str| events.iter().filter(|(_, event)| event.r#type == Some(1) && event.name.as_deref() == Some(name)).count();
    assert_eq!((begun("whole"), begun("step")), (waves, waves * steps as usize));
    assert_eq!(events.iter().filter(|(_, event)| event.r#type == Some(2)).count(), all);
    assert!(events.iter().all(|(time, _)| *time > 0));
}

#[test]
fn a_sink_turns_on_the_streams_that_it_takes_and_no_others() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).intake(Intake::default().only(["Mixed"])).open().expect("it opens");
    let streams = start(&bench, |builder| builder.each::<Tiny>(|_, _| ()).sink(sink));
    run_all(&bench, 3);
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    let mixed = summary.stream("Mixed").expect("the stream is on").clone();
    assert!(mixed.messages > 0 && summary.stream("Numbered").is_none(), "{summary}");
    assert_eq!((summary.sinks[0].messages, summary.sinks[0].values), (mixed.messages, mixed.values));
    let mut values = 0;
    for rows in open::<Mixed>(dir.path()).expect("files") {
        for value in rows.expect("they are whole").values {
            assert_eq!(value, Mixed::of(value.lane.unsigned_abs()));
            values += 1;
        }
    }
    assert_eq!(values, mixed.values);
}

/// Keeps nothing from the beginning.
#[derive(Debug, Default)]
struct Broken(Arc<Mutex<Sunk>>);

struct BrokenInlet(Arc<Mutex<Sunk>>);

impl Inlet for BrokenInlet {
    fn take(&mut self, batch: &RawBatch<'_>) {
        self.0.lock().unwrap().lost += batch.heads().len() as u64;
    }
}

impl Sink for Broken {
    fn takes(&self, _: &Schema) -> bool {
        true
    }

    fn inlet(&self, _: &Schema) -> Box<dyn Inlet> {
        Box::new(BrokenInlet(self.0.clone()))
    }

    fn flush(&self) {
        let (sink, kind) = ("nowhere".into(), std::io::ErrorKind::Other);
        self.0.lock().unwrap().error = Some(SinkError { sink, kind, message: "it is broken".into(), fix: "use another".into() });
    }

    fn finish(&self) {}

    fn sunk(&self) -> Sunk {
        self.0.lock().unwrap().clone()
    }
}

#[test]
fn a_sink_that_fails_is_told_by_wait_and_holds_up_neither_kernels_nor_handlers() {
    let bench = Bench::new(|builder| builder);
    let lines = Arc::default();
    let streams = start(&bench, |builder| keep::<Numbered>(builder, &lines).sink(Broken::default()).memory(0));
    for _ in 0..2 {
        run_all(&bench, 50);
        let error = streams.wait(&bench.queue).expect_err("nothing was kept");
        let WaitError::Sink { source, summary } = &error else { panic!("{error}") };
        assert_eq!(source.message, "it is broken");
        assert!(error.to_string().starts_with("cannot write to nowhere: it is broken; use another"), "{error}");
        let received = summary.streams.iter().map(|stream| stream.messages).sum::<u64>();
        assert_eq!(summary.sinks[0].lost, received);
        let handled = lines.lock().unwrap().values().map(|count| u64::from(*count)).sum::<u64>();
        assert_eq!(summary.stream("Numbered").expect("the stream").values, handled);
    }
}

#[test]
fn a_queue_without_room_holds_waves_up_or_sheds_and_each_message_is_counted() {
    for full in [Full::Block, Full::Shed] {
        let bench = Bench::new(|builder| builder);
        let intake = Intake::default().rows(1).queue(1).threads(1).when_full(full);
        let sink = Parquet::in_store(Arc::new(InMemory::new()), "run").intake(intake).roll_bytes(1).open().expect("it opens");
        let streams = start(&bench, |builder| builder.sink(sink).memory(0));
        run_all(&bench, 20);
        let summary = streams.wait(&bench.queue).expect("what is shed is so by policy");
        let received = summary.streams.iter().map(|stream| stream.messages).sum::<u64>();
        let sunk = &summary.sinks[0];
        assert_eq!((sunk.messages + sunk.shed, sunk.lost), (received, 0), "{summary}");
        assert!(full == Full::Shed || sunk.shed == 0, "{summary}");
        assert!(sunk.messages > 0);
    }
}

#[test]
fn a_sink_has_the_places_that_messages_name_and_a_filter_by_name_is_obeyed_by_streams_that_nobody_handles() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).open().expect("it opens");
    let streams = start(&bench, |builder| builder.sink(sink).filter_named("Tiny", Filter::all()).filter_named("Tiny", Filter::none()));
    let values = bench.device.alloc::<u32>(128).expect("memory");
    bench.launch("stream_sites", Launch::threads(128, 64), Args::new().slice(&values));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    let tiny = summary.stream("Tiny").expect("the stream is on, and shut");
    assert_eq!((tiny.messages, tiny.filtered), (0, 0), "{summary}");
    let places = hostcall_sinks::sites(dir.path()).expect("the table of places");
    let known: std::collections::BTreeMap<_, _> =
        streams.sites().all().into_iter().map(|(number, site)| (number, (*site).clone())).collect();
    assert_eq!(places, known);
    assert!(places.values().any(|site| site.text == "the whole kernel"), "{places:?}");
    let mut named = 0;
    for rows in open::<Numbered>(dir.path()).expect("files of the stream") {
        for origin in rows.expect("they are whole").origins {
            if origin.site > 0 {
                assert!(places[&origin.site].file.ends_with("stream_sites.rs"), "{origin:?}");
                named += 1;
            }
        }
    }
    assert!(named > 0, "{summary}");
}
