//! The flight recorder: messages that never wait and overwrite the oldest, read when somebody asks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use behaviours_services::{Flown, Numbered};
use hostcall_stream::{Filter, Message, Origin, Policy, StartError, StreamCounts, Streams, Summary, WaitError};
use hostcall_tests::{Bench, device_spec, slow};
use offload::{Args, Device, Launch, SimConfig};

use crate::listening::start;

/// Rings of the least size: 4 at most.
const SMALL: usize = 256 << 10;

/// The values of each lane, in the order in which they arrived.
#[derive(Clone, Default)]
struct Flights(Arc<Mutex<BTreeMap<u32, Vec<u32>>>>);

impl Flights {
    fn take(&self) -> BTreeMap<u32, Vec<u32>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self) -> impl Fn(&Origin, &Flown) + Send + Sync + use<> {
        let all = self.0.clone();
        move |origin, value| {
            assert_eq!(*value, Flown::of(value.lane, value.number), "garbled, of {origin:?}");
            assert_eq!((origin.group, origin.after_gap), (u64::from(value.lane / 64), false), "{value:?}");
            all.lock().unwrap_or_else(PoisonError::into_inner).entry(value.lane).or_default().push(value.number);
        }
    }
}

fn counts(summary: &Summary) -> StreamCounts {
    summary.stream(Flown::NAME).expect("the stream").clone()
}

/// Sends `rounds` messages from lanes of a mask, and says how many values were sent.
fn fly(bench: &Bench, threads: u32, first: u32, rounds: u32, mask: u64) -> u64 {
    let sent = bench.device.alloc::<u32>(threads as usize).expect("memory");
    bench.launch("stream_flown", Launch::threads(threads, 64), Args::new().value(first).value(rounds).value(mask).slice(&sent));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    bench.queue.read(&sent).expect("what the kernel wrote").iter().map(|sent| u64::from(*sent)).sum()
}

#[test]
fn what_fits_is_received_at_the_wait_once_and_in_order() {
    let (bench, flights) = (Bench::new(|builder| builder), Flights::default());
    let streams = start(&bench, |builder| builder.memory(SMALL).each::<Flown>(flights.keep()));
    let mut all = StreamCounts { name: Flown::NAME.into(), ..StreamCounts::default() };
    for (round, mask) in [u64::MAX, 0x8000_0001_8000_0001, 0x0ff0, u64::MAX].into_iter().enumerate() {
        let first = 10 * round as u32;
        let sent = fly(&bench, 128, first, 10, mask);
        let summary = streams.wait(&bench.queue).expect("nothing is lost that may not be");
        let lanes: BTreeMap<u32, Vec<u32>> = flights.take();
        assert_eq!(lanes.values().map(|numbers| numbers.len() as u64).sum::<u64>(), sent, "launch {round}");
        assert!(lanes.values().all(|numbers| numbers.iter().copied().eq(first..first + 10)), "launch {round}: {lanes:?}");
        all.values += sent;
        let counted = counts(&summary);
        assert_eq!((counted.values, counted.overwritten, counted.dropped), (all.values, 0, 0), "launch {round}");
    }
    // Nothing comes twice.
    let before = streams.wait(&bench.queue).expect("nothing happened");
    assert_eq!((streams.snapshot(), flights.take().len()), (before, 0));
}

#[test]
fn messages_of_all_forms_are_received() {
    let (bench, flights) = (Bench::new(|builder| builder), Flights::default());
    let streams = start(&bench, |builder| builder.memory(SMALL).each::<Flown>(flights.keep()));
    let wave = bench.device.info().wave_size;
    let sent = bench.device.alloc::<u32>(64).expect("memory");
    bench.launch("stream_flown_shapes", Launch::threads(64, 64), Args::new().slice(&sent));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    streams.wait(&bench.queue).expect("nothing is lost that may not be");
    assert_eq!(bench.queue.read(&sent).expect("what the kernel wrote"), vec![4; 64]);
    for (lane, numbers) in flights.take() {
        let once = if lane.is_multiple_of(wave) { 3..4 } else { 3..3 };
        assert!((0..3).chain(once).chain([4, 5, 5, 5, 5, 5, 5]).eq(numbers.iter().copied()), "lane {lane}: {numbers:?}");
    }
}

#[test]
fn the_oldest_are_overwritten_and_counted_and_waves_never_wait() {
    let (bench, flights) = (Bench::new(|builder| builder), Flights::default());
    let streams = start(&bench, |builder| builder.memory(SMALL).each::<Flown>(flights.keep()));
    let rounds = if slow() { 3000 } else { 20_000 };
    let sent = fly(&bench, 128, 0, rounds, u64::MAX);
    assert_eq!(sent, 128 * u64::from(rounds));
    let summary = streams.wait(&bench.queue).expect("nothing is lost that may not be");
    let counted = counts(&summary);
    let messages = sent / u64::from(bench.device.info().wave_size);
    assert_eq!(counted.messages + counted.overwritten, messages, "{summary}");
    assert!(counted.messages > 0 && counted.overwritten > counted.messages && counted.waited == 0, "{summary}");
    assert!(summary.to_string().contains("overwritten"), "{summary}");
    let lanes = flights.take();
    assert_eq!(lanes.values().map(|numbers| numbers.len() as u64).sum::<u64>(), counted.values);
    assert!(lanes.values().all(|numbers| numbers.is_sorted_by(|a, b| a < b)), "a lane's values are in order");
    // A wave that ended early may be gone from its ring; whoever sent last is there with its last.
    assert!(
        lanes.values().any(|numbers| numbers.last() == Some(&(rounds - 1))),
        "{:?}",
        lanes.values().map(|of| of.last()).collect::<BTreeSet<_>>()
    );
}

#[test]
fn a_snapshot_shows_what_is_there_while_the_kernel_runs() {
    let (bench, flights) = (Bench::new(|builder| builder), Flights::default());
    let streams = start(&bench, |builder| {
        builder.memory(SMALL).each::<Flown>(flights.keep()).filter::<Numbered>(Filter::none()).each::<Numbered>(|_, _| ())
    });
    let rounds = 5;
    bench.launch("stream_flown_and_on", Launch::threads(64, 64), Args::new().value(rounds));
    let (mut seen, until) = (BTreeMap::<u32, Vec<u32>>::new(), Instant::now() + Duration::from_secs(60));
    while seen.values().map(Vec::len).sum::<usize>() < 64 * rounds as usize {
        assert!(Instant::now() < until, "after a minute there are {seen:?}");
        let summary = streams.snapshot();
        assert_eq!(counts(&summary).overwritten, 0);
        flights.take().into_iter().for_each(|(lane, numbers)| seen.entry(lane).or_default().extend(numbers));
    }
    assert!(bench.device.in_flight() > 0, "the kernel waits for us");
    streams.set_filter::<Numbered>(Filter::all()).expect("the stream is live");
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!((counts(&summary).values, flights.take().len()), (64 * u64::from(rounds), 0), "{summary}");
    assert!(seen.values().all(|numbers| numbers.iter().copied().eq(0..rounds)), "{seen:?}");
}

#[test]
fn after_the_device_was_lost_the_last_messages_are_received() {
    if !device_spec().starts_with("sim") {
        println!("not run: only the simulator's devices can be lost at will");
        return;
    }
    let mut received = 0;
    for lose_after in (10_000..40_000).step_by(5000) {
        let config = SimConfig { lose_after: Some(lose_after), seed: Some(lose_after), ..SimConfig::default() };
        let device = Device::sim(config).expect("a simulator");
        let (bench, flights) = (Bench::on(&device, |builder| builder), Flights::default());
        let streams = start(&bench, |builder| builder.memory(0).each::<Flown>(flights.keep()));
        let sent = device.alloc::<u32>(256).expect("memory");
        let args = Args::new().value(0u32).value(1_000_000u32).value(u64::MAX).slice(&sent);
        bench.launch("stream_flown", Launch::threads(256, 64), args);
        let error = streams.wait(&bench.queue).expect_err("the device is lost");
        assert!(matches!(&error, WaitError::Device { source: offload::Error::DeviceLost { .. }, .. }), "{error}");
        let lanes = flights.take();
        assert!(lanes.values().all(|numbers| numbers.is_sorted_by(|a, b| a < b)), "a lane's values are in order: {lanes:?}");
        received += counts(error.summary()).values;
        assert_eq!(counts(error.summary()).values, lanes.values().map(|of| of.len() as u64).sum::<u64>());
        // Nothing is found twice.
        assert_eq!((counts(&streams.snapshot()), flights.take().len()), (counts(error.summary()), 0));
    }
    assert!(received > 0);
}

#[test]
fn what_nobody_asked_for_is_handed_on_at_the_end_and_recorded() {
    let (bench, flights) = (Bench::new(|builder| builder), Flights::default());
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let streams = start(&bench, |builder| builder.memory(SMALL).record(&path).each::<Flown>(flights.keep()));
    let sent = fly(&bench, 64, 0, 20, u64::MAX);
    drop(streams);
    assert_eq!(flights.take().values().map(|numbers| numbers.len() as u64).sum::<u64>(), sent);
    let mut reader = hostcall_stream::open(&path).expect("a recording");
    let mut recorded = BTreeMap::<u32, Vec<u32>>::new();
    while let Some(message) = reader.next().expect("it is whole") {
        for row in message.rows() {
            let words: Vec<u32> =
                row.bytes().chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes"))).collect();
            let (lane, number) = (words[0], words[1]);
            assert_eq!(words[2..], Flown::of(lane, number).rest);
            recorded.entry(lane).or_default().push(number);
        }
    }
    assert_eq!(recorded.len(), 64);
    assert!(recorded.values().all(|numbers| numbers.iter().copied().eq(0..20)), "{recorded:?}");
}

#[test]
fn the_policy_is_the_definition_s_alone() {
    let bench = Bench::new(|builder| builder);
    assert_eq!(Flown::POLICY, Policy::Latest);
    for (builder, named) in [
        (Streams::builder().policy::<Flown>(Policy::Drop), "Flown"),
        (Streams::builder().policy::<Numbered>(Policy::Latest), "Numbered"),
        (Streams::builder().policy_of_unlistened(Policy::Latest), "nobody listens"),
    ] {
        let error = builder.start(&bench.device).expect_err("the policy cannot be that");
        assert!(matches!(error, StartError::Latest { .. }) && error.to_string().contains(named), "{error}");
    }
}
