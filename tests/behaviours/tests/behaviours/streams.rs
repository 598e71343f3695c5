//! Streams: every message arrives once, whole and in the order of its wave, or is counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviours_services::{Big, Mixed, Numbered, Tiny};
use hostcall_stream::{Batch, Flow, Handler, Origin, Policy, Report, StreamCounts, Streams, Summary, WaitError};
use hostcall_tests::{Bench, device_spec, slow};
use offload::{Args, Device, Launch, Memory, SimConfig};

use crate::listening::start;

/// Rings of the least size, so that all of them are full at once.
const SMALL: usize = 256 << 10;

/// Waves of the launches, and messages of each.
fn size() -> (u32, u32) {
    if slow() { (4, 30) } else { (32, 400) }
}

/// Runs a kernel whose last argument is what became of each lane's messages, and sums that up.
fn outcomes(bench: &Bench, kernel: &str, threads: u32, args: impl FnOnce(&Memory<[u32; 3]>) -> Args) -> [u64; 3] {
    let memory = bench.device.alloc::<[u32; 3]>(threads as usize).expect("memory");
    bench.launch(kernel, Launch::threads(threads, 64), args(&memory));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    sums(bench, &memory)
}

fn sums(bench: &Bench, memory: &Memory<[u32; 3]>) -> [u64; 3] {
    let all = bench.queue.read(memory).expect("what the kernel wrote");
    [0, 1, 2].map(|i| all.iter().map(|lane| u64::from(lane[i])).sum())
}

fn counts<'a>(summary: &'a Summary, name: &str) -> &'a StreamCounts {
    summary.stream(name).unwrap_or_else(|| panic!("no stream {name} in {summary}"))
}

/// Looks that each lane's numbers come in order, and keeps how many came.
#[derive(Default)]
struct InOrder {
    slow: bool,
}

/// The next number of each lane, and what was wrong.
type Seen = (HashMap<u32, u32>, Vec<String>);

impl Handler<Numbered> for InOrder {
    type State = Seen;

    fn fold(&self, (next, wrong): &mut Seen, batch: &Batch<'_, Numbered>) -> Flow {
        for (origin, value) in batch.iter() {
            let expected = next.entry(!value.lane).or_default();
            if value.number != *expected || origin.lane != !value.lane % 32 || origin.group != u64::from(!value.lane / 64) {
                wrong.push(format!("{origin:?} sent {value:?}, and {expected} was next"));
            }
            *expected = value.number + 1;
        }
        if self.slow {
            std::thread::sleep(Duration::from_millis(2));
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Seen, from: &Seen) {
        // A ring is read by one thread, so no lane is with two.
        into.0.extend(&from.0);
        into.1.extend(from.1.iter().cloned());
    }

    fn report(&self, (next, wrong): &Seen) -> Report {
        Report { lines: wrong.clone(), ..Report::new(format!("{} lanes", next.len())) }
    }
}

/// Lanes of a wave of 32 whose messages are in the mask, of so many threads.
fn senders(threads: u32, mask: u64) -> u64 {
    u64::from(threads / 32) * u64::from((mask as u32).count_ones())
}

#[test]
fn every_message_arrives_once_and_in_the_order_of_its_wave() {
    let bench = Bench::new(|builder| builder);
    if bench.device.info().wave_size != 32 {
        println!("not run: the test names lanes of waves of 32");
        return;
    }
    let (waves, rounds) = size();
    let streams = start(&bench, |builder| builder.memory(SMALL).on::<Numbered, _>(InOrder::default()));
    let mut sent = 0;
    for mask in [u64::MAX, 0x8000_0001_8000_0001, 0x10_0000_0010, 0x5555_5555_5555_5555] {
        let [all, dropped, other] =
            outcomes(&bench, "stream_numbered", waves * 32, |memory| Args::new().value(rounds).value(mask).slice(memory));
        assert_eq!((all, dropped, other), (senders(waves * 32, mask) * u64::from(rounds), 0, 0));
        sent += all;
        let summary = streams.wait(&bench.queue).expect("nothing is lost");
        assert_eq!(counts(&summary, "Numbered").values, sent);
        let (next, wrong) = streams.state::<Numbered, InOrder>().expect("the handler's state");
        assert_eq!(wrong, [""; 0]);
        assert_eq!(next.len() as u64, senders(waves * 32, mask));
        assert!(next.values().all(|next| *next == rounds));
        streams.clear();
    }
}

#[test]
fn waves_wait_for_a_slow_handler_and_nothing_is_lost() {
    let bench = Bench::new(|builder| builder);
    let (waves, rounds) = size();
    let streams = start(&bench, |builder| builder.memory(0).threads(1).on::<Numbered, _>(InOrder { slow: true }));
    let [sent, ..] = outcomes(&bench, "stream_numbered", waves * 64, |memory| Args::new().value(rounds).value(u64::MAX).slice(memory));
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    let counts = counts(&summary, "Numbered");
    assert_eq!((counts.values, counts.dropped), (sent, 0));
    assert!(slow() || counts.waited > 0, "the ring was never full: {counts:?}");
}

#[test]
fn messages_that_are_dropped_are_counted_and_all_others_arrive_whole() {
    let bench = Bench::new(|builder| builder);
    let (waves, rounds) = size();
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let seen = wrong.clone();
    let streams = start(&bench, |builder| {
        builder.memory(0).threads(1).each::<Big>(move |origin, value| {
            if *value != Big::of(value.lane, value.number) {
                seen.lock().unwrap().push(format!("{origin:?} sent {value:?}"));
            }
            if value.lane == 0 {
                std::thread::sleep(Duration::from_micros(200));
            }
        })
    });
    let [sent, dropped, other] = outcomes(&bench, "stream_big", waves * 64, |memory| Args::new().value(rounds).slice(memory));
    let summary = streams.wait(&bench.queue).expect("nothing else is lost");
    let counts = counts(&summary, "Big");
    assert_eq!(*wrong.lock().unwrap(), [""; 0]);
    assert_eq!((counts.values, other), (sent, 0));
    assert_eq!(sent + dropped, u64::from(waves * 64 * rounds));
    let lanes = u64::from(bench.device.info().wave_size);
    assert!(counts.dropped <= dropped && counts.dropped * lanes >= dropped, "{} messages of {dropped} values dropped", counts.dropped);
    assert!(slow() || dropped > 0, "the ring was never full");
}

#[test]
fn messages_of_all_types_arrive_as_they_were_sent_whichever_lanes_send() {
    let bench = Bench::new(|builder| builder);
    type Received = (Vec<Mixed>, Vec<(u32, Tiny)>);
    let received: Arc<Mutex<Received>> = Arc::default();
    let (mixed, tiny) = (received.clone(), received.clone());
    let streams = start(&bench, |builder| {
        let builder = builder.each::<Mixed>(move |_, value| mixed.lock().unwrap().0.push(*value));
        builder.each::<Tiny>(move |origin, value| tiny.lock().unwrap().1.push((origin.lane, *value)))
    });
    let threads = 256;
    let [sent, ..] = outcomes(&bench, "stream_shapes", threads, |memory| Args::new().slice(memory));
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    let wave = bench.device.info().wave_size;
    let waves = threads / wave;
    let (mut mixed, tiny) = std::mem::take(&mut *received.lock().unwrap());
    // All, half of them, lane 31 of each wave, and four times all.
    let expected = (0..threads).flat_map(|lane| {
        let copies = 1 + u32::from(lane % 2 == 0) + u32::from(lane % wave == 31) + 4;
        (0..copies).map(move |_| Mixed::of(lane))
    });
    let mut expected: Vec<Mixed> = expected.collect();
    mixed.sort_by_key(|value| value.lane);
    expected.sort_by_key(|value| value.lane);
    assert_eq!(mixed, expected);
    let mut values: Vec<u32> = tiny.iter().map(|(_, value)| value.value).collect();
    values.sort_unstable();
    let lane_of = |lane: u32| (0..if lane % wave == 5 { 5 } else { 3 }).map(move |number| lane << 8 | number | 1 << 31);
    assert_eq!(values, (0..threads).flat_map(lane_of).collect::<Vec<_>>());
    assert!(tiny.iter().all(|(lane, value)| value.value << 1 >> 9 & (wave - 1) == *lane));
    // One for each place in the source, or more where lanes of a wave came apart.
    assert!(counts(&summary, "Mixed").messages >= u64::from(waves) * 4 && counts(&summary, "Tiny").messages >= u64::from(waves) * 2);
    assert_eq!(sent, u64::from(threads * 3 + threads / 2 + waves * 2));
}

#[test]
fn a_value_that_is_sent_once_for_a_wave_is_one_of_its_lanes_and_all_are_told() {
    let bench = Bench::new(|builder| builder);
    let received: Arc<Mutex<[Vec<u32>; 2]>> = Arc::default();
    let (small, large) = (received.clone(), received.clone());
    let streams = start(&bench, |builder| {
        let builder = builder.each::<Numbered>(move |origin, value| {
            assert!(value.number == 7 && !value.lane % 32 == origin.lane % 32, "{origin:?} sent {value:?}");
            small.lock().unwrap()[0].push(!value.lane);
        });
        builder.each::<Big>(move |origin, value| {
            assert_eq!(*value, Big::of(value.lane, 7), "sent by {origin:?}");
            large.lock().unwrap()[1].push(value.lane);
        })
    });
    let threads = 256;
    let sent = outcomes(&bench, "stream_once", threads, |memory| Args::new().slice(memory));
    streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!(sent, [u64::from(threads) * 2, 0, 0]);
    for mut lanes in std::mem::take(&mut *received.lock().unwrap()) {
        lanes.sort_unstable();
        assert!(lanes.windows(2).all(|two| two[0] < two[1]), "a lane's value came twice: {lanes:?}");
        let mut waves: Vec<u32> = lanes.iter().map(|lane| lane / bench.device.info().wave_size).collect();
        waves.dedup();
        assert_eq!(waves, (0..threads / bench.device.info().wave_size).collect::<Vec<_>>());
    }
}

#[test]
fn a_stream_to_which_nobody_listens_is_off_and_so_is_one_of_a_program_that_is_not_attached() {
    let bench = Bench::new(|builder| builder);
    let run = || outcomes(&bench, "stream_numbered", 64, |memory| Args::new().value(3u32).value(u64::MAX).slice(memory));
    assert_eq!(run(), [0, 0, 192]);
    let streams = start(&bench, |builder| builder.each::<Tiny>(|_, _| ()));
    assert_eq!(run(), [0, 0, 192]);
    assert_eq!(counts(&streams.wait(&bench.queue).expect("nothing is lost"), "Tiny").messages, 0);
}

#[test]
fn the_host_chooses_the_policy_and_a_second_kernel_goes_on_where_the_first_ended() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| {
        builder.memory(0).threads(1).policy::<Numbered>(Policy::Drop).timed::<Numbered>(false).on::<Numbered, _>(Untimed)
    });
    let (waves, rounds) = size();
    let mut all = [0; 3];
    for _ in 0..3 {
        let run = outcomes(&bench, "stream_numbered", waves * 32, |memory| Args::new().value(rounds).value(u64::MAX).slice(memory));
        all = [0, 1, 2].map(|i| all[i] + run[i]);
        let summary = streams.wait(&bench.queue).expect("nothing else is lost");
        assert_eq!((counts(&summary, "Numbered").values, all[2]), (all[0], 0));
    }
    assert_eq!(streams.state::<Numbered, Untimed>(), Some(0));
}

/// How many messages said when they were sent.
struct Untimed;

impl Handler<Numbered> for Untimed {
    type State = usize;
    fn fold(&self, timed: &mut usize, batch: &Batch<'_, Numbered>) -> Flow {
        *timed += batch.messages().filter(|message| message.head.header().time.is_some()).count();
        Flow::Next
    }
    fn merge(&self, into: &mut usize, from: &usize) {
        *into += from;
    }
    fn report(&self, _: &usize) -> Report {
        Report::default()
    }
}

#[test]
fn messages_that_were_sent_before_a_lane_panicked_arrive() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.memory(SMALL).on::<Numbered, _>(InOrder::default()));
    bench.launch("stream_panic", Launch::threads(128, 64), Args::new().value(77u32).value(100u32));
    let error = bench.server.wait(&bench.queue).expect_err("a lane panics");
    assert!(error.to_string().contains("after 50 messages"), "{error}");
    let summary = streams.wait(&bench.queue).expect("what was sent is whole");
    let (next, wrong) = streams.state::<Numbered, InOrder>().expect("the handler's state");
    if bench.device.info().wave_size == 32 {
        assert_eq!(wrong, [""; 0]);
    }
    assert!(next[&77] >= 51, "lane 77 sent 51 messages, and {} arrived", next[&77]);
    assert_eq!(counts(&summary, "Numbered").values, next.values().map(|next| u64::from(*next)).sum::<u64>());
}

#[test]
fn after_the_device_was_lost_what_is_whole_is_received_before_and_behind_what_is_not() {
    if !device_spec().starts_with("sim") {
        println!("not run: only the simulator's devices can be lost at will");
        return;
    }
    let (mut received, mut torn, mut behind) = (0, 0, 0);
    // Wherever waves are just then. Once they are between reserving and storing, while others of the same ring have
    // stored.
    for lose_after in (3000..33_000).step_by(1500) {
        let config = SimConfig { lose_after: Some(lose_after), seed: Some(lose_after), ..SimConfig::default() };
        let device = Device::sim(config).expect("a simulator");
        let bench = Bench::on(&device, |builder| builder);
        let gaps = Arc::new(AtomicU64::new(0));
        let theirs = gaps.clone();
        let count = move |origin: &Origin, value: &Numbered| {
            assert_eq!(origin.group, u64::from(!value.lane / 64), "garbled");
            theirs.fetch_add(u64::from(origin.after_gap), Ordering::Relaxed);
        };
        let streams = start(&bench, |builder| builder.memory(0).each::<Numbered>(count));
        let memory = device.alloc::<[u32; 3]>(16 * 32).expect("memory");
        bench.launch("stream_numbered", Launch::threads(16 * 32, 64), Args::new().value(1000u32).value(u64::MAX).slice(&memory));
        let error = streams.wait(&bench.queue).expect_err("the device is lost");
        assert!(matches!(&error, WaitError::Device { source: offload::Error::DeviceLost { .. }, .. }), "{error}");
        let summary = error.summary();
        assert!(summary.end_unknown && !summary.is_complete() && summary.malformed == 0 && summary.handler_panics == 0, "{summary}");
        assert!(error.to_string().contains("the device was lost"), "{error}");
        received += counts(summary, "Numbered").messages;
        torn += summary.torn;
        behind += gaps.load(Ordering::Relaxed);
        // It stays lost, and nothing is found twice.
        let again = streams.wait(&bench.queue).expect_err("the device is lost");
        assert_eq!(again.summary(), summary);
    }
    assert!(received > 0 && torn > 0 && behind > 0, "{received} messages received, {torn} torn, {behind} values behind them");
}

#[test]
fn what_waves_left_unfinished_when_a_lane_faulted_is_counted_and_the_device_goes_on() {
    if !device_spec().starts_with("sim") {
        println!("not run: elsewhere a fault takes the device");
        return;
    }
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.memory(0).on::<Numbered, _>(InOrder::default()));
    // Its last argument is a slice of memory that is not there.
    let args = Args::new().value(100u32).value(u64::MAX).value(1u64 << 46).value(128u64);
    bench.launch("stream_numbered", Launch::threads(128, 64), args);
    let error = streams.wait(&bench.queue).expect_err("a lane faults");
    assert!(matches!(&error, WaitError::Device { source: offload::Error::Fault(_), .. }), "{error}");
    let summary = error.summary();
    assert!(!summary.end_unknown, "the device can be asked: {summary}");
    let before = counts(summary, "Numbered").values;
    assert!(before > 0);
    // The rings go on where they were.
    let [sent, ..] = outcomes(&bench, "stream_numbered", 128, |memory| Args::new().value(10u32).value(u64::MAX).slice(memory));
    let summary = match streams.wait(&bench.queue) {
        Ok(summary) | Err(WaitError::Incomplete(summary)) => summary,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(counts(&summary, "Numbered").values - before, sent);
}

#[test]
fn waves_are_told_when_nobody_reads_any_more() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.memory(0).on::<Numbered, _>(InOrder::default()));
    let memory = bench.device.alloc::<[u32; 3]>(128).expect("memory");
    bench.launch("stream_until_closed", Launch::threads(128, 64), Args::new().slice(&memory));
    while streams.state::<Numbered, InOrder>().is_none_or(|(next, _)| next.is_empty()) {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(streams);
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let [sent, dropped, closed] = sums(&bench, &memory);
    assert!(sent > 0 && dropped == 0);
    assert_eq!(closed, 128, "each lane was told once");
    // Another reader starts with rings of its own.
    let streams = start(&bench, |builder| builder.memory(SMALL).on::<Numbered, _>(InOrder::default()));
    let [sent, ..] = outcomes(&bench, "stream_numbered", 128, |memory| Args::new().value(10u32).value(u64::MAX).slice(memory));
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!((counts(&summary, "Numbered").values, sent), (1280, 1280));
}

#[test]
fn a_handler_that_panics_is_told_and_the_others_go_on() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| {
        let builder = builder.each::<Tiny>(|_, _| panic!("a handler's own fault"));
        builder.each::<Mixed>(|_, _| ())
    });
    let _ = outcomes(&bench, "stream_shapes", 64, |memory| Args::new().slice(memory));
    let error = streams.wait(&bench.queue).expect_err("batches are lost");
    assert!(error.summary().handler_panics > 0 && error.to_string().contains("made a handler panic"), "{error}");
    assert!(counts(error.summary(), "Mixed").values > 0);
}

/// A program has other fields under the same name.
#[derive(Clone, Copy)]
#[repr(C)]
struct Other {
    _value: f32,
}

// SAFETY: a number.
unsafe impl hostcall::Plain for Other {}

impl hostcall_stream::Message for Other {
    const NAME: &'static str = "Tiny";
    const SIGNATURE: u64 = 1;
    const FIELDS: &'static [hostcall_abi::stream::Field] = &[hostcall_abi::stream::Field { name: "value", ty: "f32", offset: 0, bytes: 4 }];
    const POLICY: Policy = Policy::Block;
}

#[test]
fn a_program_of_another_definition_is_refused_with_both_and_so_is_one_that_is_attached() {
    let bench = Bench::new(|builder| builder);
    let other = Streams::builder().each::<Other>(|_, _| ()).start(&bench.device).expect("the threads start");
    let error = other.attach(&bench.program).expect_err("another definition");
    assert!(error.to_string().contains("`Tiny { value: u32 }` there, `Tiny { value: f32 }` here"), "{error}");
    let streams = start(&bench, |builder| builder.each::<Tiny>(|_, _| ()));
    let error = streams.attach(&bench.program).expect_err("attached already");
    assert!(error.to_string().contains("sends to other streams already"), "{error}");
    let both = Streams::builder().each::<Tiny>(|_, _| ()).each::<Other>(|_, _| ()).start(&bench.device).expect_err("two of a name");
    assert!(both.to_string().contains("two types are called `Tiny`"), "{both}");
}

#[test]
fn a_program_sends_nothing_of_what_those_listened_to_who_had_it_before() {
    let bench = Bench::new(|builder| builder);
    let (waves, rounds) = size();
    let sends = || outcomes(&bench, "stream_numbered", waves * 32, |memory| Args::new().value(rounds).value(u64::MAX).slice(memory));
    let before = start(&bench, |builder| builder.each::<Numbered>(|_, _| ()).each::<Tiny>(|_, _| ()));
    assert_eq!(sends()[0], u64::from(waves * 32 * rounds));
    drop(before);
    let streams = start(&bench, |builder| builder.each::<Tiny>(|_, _| ()));
    assert_eq!(sends(), [0, 0, u64::from(waves * 32 * rounds)]);
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!((counts(&summary, "Tiny").messages, summary.streams.len()), (0, 1));
}
