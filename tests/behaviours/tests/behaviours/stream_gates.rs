//! Which messages are sent: what the host says while kernels run, and what becomes of the others.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviours_services::{Numbered, Patient, Sampled};
use hostcall_stream::{Batch, Filter, FilterError, Flow, Handler, Message, NamedFilter, Policy, Report, Shape, StreamCounts, Streams};
use hostcall_tests::{Bench, slow};
use offload::{Args, Launch, Memory};

use crate::listening::start;

/// Rings of the least size.
const SMALL: usize = 256 << 10;

/// Lanes of the launches, in workgroups of 64, and messages of each.
fn size() -> (u32, u32) {
    if slow() { (256, 30) } else { (2048, 200) }
}

/// What became of all lanes' messages, and what was counted: sent, dropped, filtered and off, by lane.
fn run<M: Message>(bench: &Bench, streams: &Streams, kernel: &str) -> ([u64; 4], StreamCounts) {
    let (lanes, rounds) = size();
    let memory = bench.device.alloc::<[u32; 4]>(lanes as usize).expect("memory");
    bench.launch(kernel, Launch::threads(lanes, 64), Args::new().value(rounds).slice(&memory));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let summary = streams.wait(&bench.queue).expect("nothing is lost that may not be");
    (sums(bench, &memory), summary.stream(M::NAME).expect("the stream").clone())
}

fn sums(bench: &Bench, memory: &Memory<[u32; 4]>) -> [u64; 4] {
    let all = bench.queue.read(memory).expect("what the kernel wrote");
    [0, 1, 2, 3].map(|i| all.iter().map(|lane| u64::from(lane[i])).sum())
}

/// Which workgroups and lanes sent, the weights of their messages, and for how many values these stand.
#[derive(Default)]
struct Seen {
    /// Takes its time for each batch.
    slowly: bool,
}

type Who = (BTreeSet<u64>, BTreeSet<u32>, BTreeSet<u32>, u64);

impl<M: Message> Handler<M> for Seen {
    type State = Who;

    fn fold(&self, (groups, lanes, weights, stand_for): &mut Who, batch: &Batch<'_, M>) -> Flow {
        for (origin, _) in batch.iter() {
            groups.insert(origin.group);
            lanes.insert(origin.lane);
            weights.insert(origin.weight);
            *stand_for += u64::from(origin.weight);
        }
        if self.slowly {
            std::thread::sleep(Duration::from_millis(3));
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Who, from: &Who) {
        into.0.extend(&from.0);
        into.1.extend(&from.1);
        into.2.extend(&from.2);
        into.3 += from.3;
    }

    fn report(&self, _: &Who) -> Report {
        Report::default()
    }
}

fn seen<M: Message>(streams: &Streams) -> Who {
    streams.state::<M, Seen>().expect("the handler's state")
}

#[test]
fn only_workgroups_that_are_wanted_send_and_the_others_messages_are_counted() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.filter::<Numbered>(Filter::all().groups(1..3)).on::<Numbered, _>(Seen::default()));
    let ([sent, dropped, filtered, off], counts) = run::<Numbered>(&bench, &streams, "stream_gated");
    let (lanes, rounds) = size();
    let (all, wave) = (u64::from(lanes * rounds), u64::from(bench.device.info().wave_size));
    assert_eq!((sent, dropped, filtered, off), (u64::from(2 * 64 * rounds), 0, all - sent, 0));
    assert_eq!((counts.values, counts.filtered * wave), (sent, filtered));
    assert_eq!(seen::<Numbered>(&streams).0, BTreeSet::from([1, 2]));
}

#[test]
fn only_lanes_that_are_wanted_send() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.filter::<Numbered>(Filter::all().lanes(0x8000_0101)).on::<Numbered, _>(Seen::default()));
    let ([sent, dropped, filtered, off], counts) = run::<Numbered>(&bench, &streams, "stream_gated");
    let (lanes, rounds) = size();
    let waves = u64::from(lanes / bench.device.info().wave_size);
    assert_eq!((sent, dropped, filtered, off), (waves * 3 * u64::from(rounds), 0, u64::from(lanes * rounds) - sent, 0));
    assert_eq!((counts.values, counts.filtered, counts.messages), (sent, 0, waves * u64::from(rounds)));
    assert_eq!(seen::<Numbered>(&streams).1, BTreeSet::from([0, 8, 31]));
}

/// A grid of three dimensions, in workgroups of two waves of 32.
const GRID: Launch = Launch { groups: [4, 3, 2], group_size: [8, 4, 2], dynamic_shared: 0 };

/// One message of each lane of [`GRID`], and the values that come, each with the shape that its launch is known to
/// have.
fn grid(bench: &Bench, streams: &Streams) -> StreamCounts {
    let memory = bench.device.alloc::<[u32; 4]>(24 * 64).expect("memory");
    bench.launch("stream_gated", GRID, Args::new().value(1u32).slice(&memory));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    summary.stream(Numbered::NAME).expect("the stream").clone()
}

#[test]
fn places_that_are_wanted_send_and_a_recording_read_by_the_same_filter_says_the_same() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("all.hcs");
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.record(&path).on::<Numbered, _>(Seen::default()));
    grid(&bench, &streams);
    drop(streams);
    let shape = Some(Shape { groups: GRID.groups, group_size: GRID.group_size });
    // Whether a value is expected, by x, y and z of workgroup and lane.
    type Expected = fn([u32; 3], [u32; 3]) -> bool;
    let cases: [(&str, Expected); 6] = [
        ("group.x=1..3", |[x, ..], _| x == 1 || x == 2),
        ("group.y=2, group.z=1", |[_, y, z], _| (y, z) == (2, 1)),
        ("lane.x=2..4", |_, [x, ..]| x == 2 || x == 3),
        ("lane.y=1.., lane.z=0, lanes=0xffff0f00", |_, [x, y, z]| z == 0 && (y >= 2 || y == 1 && x < 4)),
        ("waves=1", |_, [.., z]| z == 1),
        ("groups=4..12, group.x=3, lane.z=1, lane.x=7", |[x, y, z], [w, _, d]| (x, z) == (3, 0) && y >= 1 && (w, d) == (7, 1)),
    ];
    for (text, expected) in cases {
        let NamedFilter { stream, filter, .. } = format!("{}: {text}", Numbered::NAME).parse().expect(text);
        let wide = bench.device.info().wave_size == 64;
        if wide && (text.contains("waves") || text.contains("lanes")) {
            // These are of waves of 32 lanes.
            continue;
        }
        let place = |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / x / y];
        let numbers = (0..24 * 64u32).filter(|number| expected(place(number / 64, GRID.groups), place(number % 64, GRID.group_size)));
        let numbers: BTreeSet<u32> = numbers.collect();

        let bench = Bench::new(|builder| builder);
        let received: Arc<Mutex<BTreeSet<u32>>> = Arc::default();
        let theirs = received.clone();
        let streams = start(&bench, |builder| {
            builder.filter_named(&stream, filter).each::<Numbered>(move |origin, value| {
                assert_eq!(origin.dispatch.shape, shape);
                assert!(theirs.lock().expect("no panic").insert(value.lane), "{value:?} came twice");
            })
        });
        let counts = grid(&bench, &streams);
        assert_eq!(*received.lock().expect("no panic"), numbers, "{text}");
        assert_eq!(
            (counts.values, counts.messages + counts.filtered),
            (numbers.len() as u64, 24 * 64 / u64::from(bench.device.info().wave_size))
        );

        let mut reader = hostcall_stream::open(&path).expect("the recording");
        reader.select(&[format!("{stream}: {text}").parse().expect(text)]).expect("no rate");
        let mut read = BTreeSet::new();
        while let Some(message) = reader.next().expect("a whole file") {
            read.extend(message.rows().map(|row| u32::from_le_bytes(*row.bytes().first_chunk().expect("a lane"))));
        }
        assert_eq!((read, reader.unplaced()), (numbers, 0), "{text}");
    }
}

#[test]
fn messages_that_nobody_handles_are_counted_as_such() {
    let bench = Bench::new(|builder| builder);
    let counts = |builder: fn(hostcall_stream::StreamsBuilder) -> hostcall_stream::StreamsBuilder| {
        let counts = grid(&bench, &start(&bench, builder));
        assert_eq!(counts.values, 24 * 64);
        (counts.messages, counts.unhandled)
    };
    let (messages, unhandled) = counts(|builder| builder.filter::<Numbered>(Filter::all()));
    assert_eq!(unhandled, messages, "a stream that is chosen, and to which nobody listens");
    assert_eq!(counts(|builder| builder.each::<Numbered>(|_, _| {})), (messages, 0));
}

#[test]
fn of_many_messages_some_are_sent_and_stand_for_all() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.filter::<Numbered>(Filter::all().one_in(4)).on::<Numbered, _>(Seen::default()));
    let ([sent, dropped, filtered, off], counts) = run::<Numbered>(&bench, &streams, "stream_gated");
    let (lanes, rounds) = size();
    assert_eq!((sent + filtered, dropped, off), (u64::from(lanes * rounds), 0, 0));
    let messages = sent / u64::from(bench.device.info().wave_size);
    assert_eq!((counts.values, counts.messages), (sent, messages));
    let (_, _, weights, stand_for) = seen::<Numbered>(&streams);
    assert_eq!((weights, stand_for), (BTreeSet::from([4]), 4 * sent));
    // By chance: far from none and from all.
    assert!(sent * 8 > filtered / 4 && filtered > sent, "{sent} sent, {filtered} left out");
}

#[test]
fn what_nobody_wants_is_off_until_somebody_wants_it_while_the_kernel_runs() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.memory(SMALL).filter::<Numbered>(Filter::none()).on::<Numbered, _>(Seen::default()));
    let lanes = 128;
    let memory = bench.device.alloc::<[u32; 4]>(lanes as usize).expect("memory");
    bench.launch("stream_until_wanted", Launch::threads(lanes, 64), Args::new().value(5u32).slice(&memory));
    std::thread::sleep(Duration::from_millis(20));
    assert!(!bench.queue.is_idle().expect("the queue"), "it ended although nothing was wanted");
    streams.set_filter::<Numbered>(Filter::all()).expect("it is live");
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    let [sent, dropped, ..] = sums(&bench, &memory);
    assert!(sent >= u64::from(5 * lanes) && dropped == 0);
    let counts = summary.stream("Numbered").expect("the stream");
    assert_eq!((counts.values, counts.filtered), (sent, 0));
}

#[test]
fn a_filter_for_a_stream_that_does_not_ask_is_refused() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.on::<Numbered, _>(Seen::default()));
    let refused = streams.set_filter::<Numbered>(Filter::none()).expect_err("it is not live");
    assert!(matches!(&refused, FilterError::NotLive { stream } if stream == "Numbered"));
    assert!(refused.to_string().contains("filter::<Numbered>"), "{refused}");
    assert!(streams.set_filter::<Patient>(Filter::none()).is_err(), "nobody listens to it");
}

#[test]
fn a_filter_is_that_of_programs_which_come_later_too() {
    let bench = Bench::new(|builder| builder);
    let streams =
        Streams::builder().filter::<Numbered>(Filter::all()).on::<Numbered, _>(Seen::default()).start(&bench.device).expect("threads");
    streams.set_filter::<Numbered>(Filter::all().groups(0..1)).expect("it is live");
    streams.attach(&bench.program).expect("the program is attached");
    let ([sent, ..], _) = run::<Numbered>(&bench, &streams, "stream_gated");
    assert_eq!(sent, u64::from(64 * size().1));
}

#[test]
fn messages_that_wait_for_a_while_lose_nothing_if_the_while_is_long() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| {
        builder.memory(0).threads(1).patience::<Patient>(Duration::from_secs(4)).on::<Patient, _>(Seen { slowly: true })
    });
    let ([sent, dropped, filtered, off], counts) = run::<Patient>(&bench, &streams, "stream_patient");
    let (lanes, rounds) = size();
    assert_eq!((sent, dropped, filtered, off), (u64::from(lanes * rounds), 0, 0, 0));
    assert_eq!((counts.values, counts.dropped), (sent, 0));
    assert!(slow() || counts.waited > 0, "the ring was never full: {counts:?}");
}

#[test]
fn messages_that_do_not_wait_long_are_dropped_and_counted() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| {
        builder.memory(0).threads(1).patience::<Patient>(Duration::from_nanos(1)).on::<Patient, _>(Seen { slowly: true })
    });
    let ([sent, dropped, filtered, off], counts) = run::<Patient>(&bench, &streams, "stream_patient");
    let (lanes, rounds) = size();
    assert_eq!((sent + dropped, filtered, off), (u64::from(lanes * rounds), 0, 0));
    assert_eq!((counts.values, counts.dropped * u64::from(bench.device.info().wave_size)), (sent, dropped));
    assert!(slow() || dropped > 0, "the ring was never full: {counts:?}");
}

#[test]
fn samples_stand_for_what_was_left_out_where_the_ring_is_full() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.memory(0).threads(1).on::<Sampled, _>(Seen { slowly: true }));
    let ([sent, dropped, filtered, off], counts) = run::<Sampled>(&bench, &streams, "stream_sampled");
    let (lanes, rounds) = size();
    assert_eq!((sent + dropped + filtered, off), (u64::from(lanes * rounds), 0));
    let wave = u64::from(bench.device.info().wave_size);
    assert_eq!((counts.values, counts.dropped * wave, counts.filtered * wave), (sent, dropped, filtered));
    let (_, _, weights, stand_for) = seen::<Sampled>(&streams);
    assert!(weights.is_subset(&BTreeSet::from([1, 2, 4, 16, 64, 256, 1024, 4096])), "{weights:?}");
    assert!(stand_for >= sent && (slow() || filtered > 0 && stand_for > sent), "{sent} sent, {filtered} left out");
}

#[test]
fn a_type_says_what_its_messages_do_and_the_host_may_say_something_else() {
    assert_eq!([Patient::POLICY, Sampled::POLICY], [Policy::Wait, Policy::Sample]);
    let bench = Bench::new(|builder| builder);
    let total = Arc::new(Mutex::new(0u64));
    let streams = start(&bench, |builder| {
        let total = total.clone();
        builder.memory(0).threads(1).policy::<Sampled>(Policy::Block).each::<Sampled>(move |origin, _| {
            *total.lock().unwrap() += u64::from(origin.weight);
        })
    });
    let ([sent, ..], counts) = run::<Sampled>(&bench, &streams, "stream_sampled");
    let (lanes, rounds) = size();
    assert_eq!((sent, counts.filtered, *total.lock().unwrap()), (u64::from(lanes * rounds), 0, sent));
}
