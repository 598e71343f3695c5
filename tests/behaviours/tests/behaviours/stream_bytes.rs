//! Messages of bytes and of text: of every length, from every kind of memory, whole and in order, or counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviours_services::{FRAME_MOST, Frame, Note, Numbered, frame_length, frame_start};
use hostcall_stream::file::Ending;
use hostcall_stream::{Batch, Filter, Flow, Handler, Policy, Report, Streams};
use hostcall_tests::{Bench, slow};
use offload::{Args, Launch, Memory};

use crate::listening::start;

const SOURCE: &str = include_str!("../../kernels/src/stream_bytes.rs");

/// Rings of the least size.
const SMALL: usize = 256 << 10;
/// Bytes of the longest message in a ring of the least size, and in any.
const MOST: [u32; 2] = [15_330, 122_790];

/// Bytes with top bits in no order.
fn source(length: u32) -> Vec<u8> {
    (0..length).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
}

/// What became of all lanes' messages: sent, dropped, filtered, too large, closed and off.
fn outcomes(bench: &Bench, kernel: &str, threads: u32, args: impl FnOnce(&Memory<[u32; 6]>) -> Args) -> [u64; 6] {
    let memory = bench.device.alloc::<[u32; 6]>(threads as usize).expect("memory");
    bench.launch(kernel, Launch::threads(threads, 64), args(&memory));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let all = bench.queue.read(&memory).expect("what the kernel wrote");
    [0, 1, 2, 3, 4, 5].map(|i| all.iter().map(|lane| u64::from(lane[i])).sum())
}

/// Keeps the messages of each lane, in order.
#[derive(Default)]
struct Kept;

type Messages = HashMap<(u64, u32, u32), Vec<Vec<u8>>>;

impl Handler<Frame> for Kept {
    type State = Messages;

    fn fold(&self, kept: &mut Messages, batch: &Batch<'_, Frame>) -> Flow {
        assert_eq!(batch.values().len(), batch.messages().len());
        for (origin, slice) in batch.slices() {
            kept.entry((origin.group, origin.wave, origin.lane)).or_default().push(slice.to_vec());
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Messages, from: &Messages) {
        // A ring is read by one thread, so no lane is with two.
        into.extend(from.iter().map(|(lane, messages)| (*lane, messages.clone())));
    }

    fn report(&self, _: &Messages) -> Report {
        Report::default()
    }
}

/// The messages of each lane by its number in the grid.
fn kept(bench: &Bench, streams: &Streams) -> HashMap<u32, Vec<Vec<u8>>> {
    let kept = streams.state::<Frame, Kept>().expect("the handler's state");
    let number = |(group, wave, lane): (u64, u32, u32)| group as u32 * 64 + wave * bench.device.info().wave_size + lane;
    kept.into_iter().map(|(lane, messages)| (number(lane), messages)).collect()
}

/// Lanes, messages of each, and the step between their lengths: every length from 0 on comes from some lane.
fn size() -> (u32, u32, u32) {
    if slow() { (64, 50, 7) } else { (256, FRAME_MOST, 1) }
}

#[test]
fn bytes_of_every_length_arrive_in_order_whichever_lanes_send() {
    let bench = Bench::new(|builder| builder);
    let (lanes, rounds, step) = size();
    let bytes = source(1024 + FRAME_MOST);
    let memory = bench.device.alloc::<u8>(bytes.len()).expect("memory");
    bench.queue.copy_to(&memory, 0, &bytes).expect("copied");
    let streams = start(&bench, |builder| builder.memory(SMALL).on::<Frame, _>(Kept).each::<Numbered>(|_, _| ()));
    let mut all = 0;
    for mask in [u64::MAX, 0x8000_0001_8000_0001, 0x10_0000_0010, 0x5555_5555_5555_5555] {
        let sends = |lane: u32| mask >> (lane % bench.device.info().wave_size) & 1 == 1;
        let senders = (0..lanes).filter(|lane| sends(*lane)).count() as u64;
        let args = |outcomes: &Memory<[u32; 6]>| Args::new().slice(&memory).value(rounds).value(step).value(mask).slice(outcomes);
        let sent = outcomes(&bench, "stream_bytes", lanes, args);
        assert_eq!(sent, [senders * u64::from(rounds), 0, 0, 0, 0, 0]);
        all += sent[0];
        let summary = streams.wait(&bench.queue).expect("nothing is lost");
        let counts = summary.stream("Frame").expect("the stream");
        assert_eq!((counts.messages, counts.values, counts.dropped, counts.filtered), (all, all, 0, 0));
        let kept = kept(&bench, &streams);
        assert_eq!(kept.len() as u64, senders);
        for (lane, messages) in kept {
            assert!(sends(lane) && messages.len() == rounds as usize, "{} messages of lane {lane}", messages.len());
            for (number, message) in (0..).zip(messages) {
                let (from, length) = (frame_start(lane, number) as usize, frame_length(lane, number, step) as usize);
                assert!(message == bytes[from..from + length], "message {number} of lane {lane}, of {length} bytes: {message:x?}");
            }
        }
        streams.clear();
    }
}

#[test]
fn bytes_on_lanes_own_stacks_arrive() {
    let bench = Bench::new(|builder| builder);
    let (lanes, rounds) = if slow() { (64, 20) } else { (128, 110) };
    let streams = start(&bench, |builder| builder.on::<Frame, _>(Kept));
    let sent = outcomes(&bench, "stream_bytes_of_stacks", lanes, |outcomes| Args::new().value(rounds).slice(outcomes));
    streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!(sent, [u64::from(lanes * rounds), 0, 0, 0, 0, 0]);
    let kept = kept(&bench, &streams);
    assert_eq!(kept.len() as u32, lanes);
    for (lane, messages) in kept {
        let expected = (0..rounds).map(|number| vec![(lane ^ number << 6) as u8; frame_length(lane, number, 1) as usize % 100]);
        assert!(messages.iter().cloned().eq(expected), "lane {lane}");
    }
}

/// Sends a message of each length, and says which are too large.
fn large(memory: usize, most: u32) {
    let bench = Bench::new(|builder| builder);
    let lengths: Vec<u32> = [0, 1, 4096, 8191, 15_000].into_iter().chain([most - 1, most, most + 1, MOST[1] + 1, 200_000]).collect();
    let bytes = source(200_000);
    let source = bench.device.alloc::<u8>(bytes.len()).expect("memory");
    bench.queue.copy_to(&source, 0, &bytes).expect("copied");
    let told = bench.device.alloc::<u32>(lengths.len()).expect("memory");
    let theirs = bench.device.alloc::<u32>(lengths.len()).expect("memory");
    bench.queue.copy_to(&theirs, 0, &lengths).expect("copied");
    let received: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let seen = received.clone();
    let streams = start(&bench, |builder| builder.memory(memory).bytes::<Frame>(move |_, bytes| seen.lock().unwrap().push(bytes.to_vec())));
    // Often enough that a ring of any size wraps.
    for _ in 0..5 {
        let args = Args::new().slice(&source).slice(&theirs).slice(&told);
        bench.launch("stream_bytes_large", Launch::threads(lengths.len() as u32, lengths.len() as u32), args);
        bench.server.wait(&bench.queue).expect("the kernel ends");
        let summary = streams.wait(&bench.queue).expect("nothing is lost");
        let told = bench.queue.read(&told).expect("what the kernel wrote");
        assert_eq!(told, lengths.iter().map(|length| u32::from(*length > most)).collect::<Vec<_>>());
        let mut received = std::mem::take(&mut *received.lock().unwrap());
        received.sort_by_key(Vec::len);
        let mut expected: Vec<_> = lengths.iter().filter(|length| **length <= most).map(|length| &bytes[..*length as usize]).collect();
        expected.sort_by_key(|bytes| bytes.len());
        assert!(received == expected, "other bytes: {summary}");
    }
}

#[test]
fn bytes_up_to_a_quarter_of_the_smallest_ring_arrive_and_more_are_too_large() {
    large(0, MOST[0]);
}

#[test]
fn bytes_up_to_the_longest_message_there_is_arrive_and_more_are_too_large() {
    // One ring for each SM, of 512 KiB at least.
    large(64 << 20, MOST[1]);
}

/// Whether a message of `stream_bytes_numbered` is as it was sent, by a lane.
fn is_right(lane: u32, message: &[u8]) -> Option<u32> {
    let (first, rest) = message.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let number = u32::from_le_bytes(*number);
    let right = u32::from_le_bytes(*first) == lane && rest.len() as u32 == number % 240 && rest.iter().all(|byte| *byte == !(number as u8));
    right.then_some(number)
}

/// Messages of a kernel that says which they are, through a ring that may be full: what each lane was told, what was
/// counted, and for how many messages those that arrived stand.
fn numbered(set_up: impl FnOnce(hostcall_stream::StreamsBuilder) -> hostcall_stream::StreamsBuilder, slowly: bool) -> ([u64; 6], u64) {
    let bench = Bench::new(|builder| builder);
    let (lanes, rounds) = if slow() { (128, 20) } else { (1024, 60) };
    let scratch = bench.device.alloc::<u8>(lanes as usize * 256).expect("memory");
    let (weights, wrong) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (sum, seen, next) = (weights.clone(), wrong.clone(), Mutex::new(HashMap::new()));
    let wave_size = bench.device.info().wave_size;
    let streams = start(&bench, |builder| {
        set_up(builder.bytes::<Frame>(move |origin, message| {
            let lane = origin.group as u32 * 64 + origin.wave * wave_size + origin.lane;
            sum.fetch_add(origin.weight.into(), Ordering::Relaxed);
            match is_right(lane, message) {
                Some(number) if next.lock().unwrap().insert(lane, number).is_none_or(|before| before < number) => {}
                _ => seen.lock().unwrap().push(format!("{origin:?} sent {message:?}")),
            }
            if slowly && lane.is_multiple_of(64) {
                std::thread::sleep(Duration::from_micros(300));
            }
        }))
    });
    let told = outcomes(&bench, "stream_bytes_numbered", lanes, |outcomes| Args::new().slice(&scratch).value(rounds).slice(outcomes));
    let summary = streams.wait(&bench.queue).expect("nothing is lost that may not be");
    assert_eq!(*wrong.lock().unwrap(), [""; 0]);
    assert_eq!(told.iter().sum::<u64>(), u64::from(lanes * rounds));
    // Each lane's is a message, so all of them are counted one by one.
    let counts = summary.stream("Frame").expect("the stream");
    assert_eq!([counts.messages, counts.dropped, counts.filtered, 0, 0, 0], told, "{summary}");
    (told, weights.load(Ordering::Relaxed))
}

#[test]
fn waves_wait_for_a_slow_handler_and_no_bytes_are_lost() {
    let ([sent, others @ ..], _) = numbered(|builder| builder.memory(0).threads(1), true);
    assert!(sent > 0 && others == [0; 5], "{others:?}");
}

#[test]
fn bytes_that_are_dropped_are_counted_and_all_others_arrive_whole() {
    let (told, _) = numbered(|builder| builder.memory(0).threads(1).policy::<Frame>(Policy::Drop), true);
    assert!(slow() || told[1] > 0, "the ring was never full: {told:?}");
}

#[test]
fn bytes_that_wait_for_a_while_are_dropped_when_it_is_over_and_counted() {
    let patience = Duration::from_micros(1);
    numbered(|builder| builder.memory(0).threads(1).policy::<Frame>(Policy::Wait).patience::<Frame>(patience), true);
}

#[test]
fn of_bytes_that_are_samples_fewer_are_sent_the_fuller_the_ring_is() {
    let (told, weights) = numbered(|builder| builder.memory(0).threads(1).policy::<Frame>(Policy::Sample), true);
    assert!(weights >= told[0], "{weights} for {told:?}");
    assert!(slow() || told[2] > 0 && weights > told[0], "{weights} for {told:?}");
}

#[test]
fn a_filter_asks_for_each_lanes_bytes() {
    let (told, _) = numbered(|builder| builder.filter::<Frame>(Filter::all().groups(1..2).lanes(0b101)), false);
    // Two lanes of each wave of one workgroup.
    let lanes = if slow() { 128u64 } else { 1024 };
    let waves = 64 / u64::from(Bench::new(|builder| builder).device.info().wave_size);
    let rounds = told.iter().sum::<u64>() / lanes;
    assert_eq!(told, [waves * 2 * rounds, 0, lanes * rounds - waves * 2 * rounds, 0, 0, 0]);
    let (told, weights) = numbered(|builder| builder.filter::<Frame>(Filter::all().one_in(4)), false);
    assert!(told[0] > 0 && told[2] > told[0] && weights == 4 * told[0], "{weights} for {told:?}");
    let (told, _) = numbered(|builder| builder.filter::<Frame>(Filter::all()), false);
    assert_eq!(told[1..], [0; 5]);
}

#[test]
fn lanes_that_send_bytes_are_told_when_nobody_reads_any_more() {
    let bench = Bench::new(|builder| builder);
    let scratch = bench.device.alloc::<u8>(128 * 256).expect("memory");
    let memory = bench.device.alloc::<[u32; 6]>(128).expect("memory");
    let (received, count) = (Arc::new(AtomicU64::new(0)), 1u32 << 30);
    let seen = received.clone();
    let streams = start(&bench, |builder| builder.memory(0).bytes::<Frame>(move |_, _| _ = seen.fetch_add(1, Ordering::Relaxed)));
    bench.launch("stream_bytes_numbered", Launch::threads(128, 64), Args::new().slice(&scratch).value(count).slice(&memory));
    while received.load(Ordering::Relaxed) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(streams);
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let all = bench.queue.read(&memory).expect("what the kernel wrote");
    assert!(all.iter().all(|told| told[4] == 1 && told[1] == 0 && told[5] == 0), "{all:?}");
}

#[test]
fn bytes_and_text_are_sent_once_for_a_wave_and_all_lanes_are_told() {
    let bench = Bench::new(|builder| builder);
    let bytes = source(256);
    let memory = bench.device.alloc::<u8>(bytes.len()).expect("memory");
    bench.queue.copy_to(&memory, 0, &bytes).expect("copied");
    let received: Arc<Mutex<(Vec<Vec<u8>>, u32)>> = Arc::default();
    let (frames, notes) = (received.clone(), received.clone());
    let wave_size = bench.device.info().wave_size;
    let streams = start(&bench, |builder| {
        let builder = builder.bytes::<Frame>(move |origin, slice| {
            let lane = origin.group as u32 * 64 + origin.wave * wave_size + origin.lane;
            assert_eq!(slice.len() as u32, lane, "each lane has its number of bytes");
            frames.lock().unwrap().0.push(slice.to_vec());
        });
        builder.text::<Note>(move |_, text| {
            assert_eq!(text, "once for the wave");
            notes.lock().unwrap().1 += 1;
        })
    });
    let sent = outcomes(&bench, "stream_bytes_once", 128, |outcomes| Args::new().slice(&memory).slice(outcomes));
    streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!(sent, [256, 0, 0, 0, 0, 0]);
    let (frames, notes) = std::mem::take(&mut *received.lock().unwrap());
    // One for each wave, or more where its lanes came apart.
    assert!(frames.len() as u32 >= 128 / wave_size && notes >= 128 / wave_size, "{} and {notes}", frames.len());
    assert!(frames.iter().all(|frame| *frame == bytes[..frame.len()]));
}

/// The lanes that sent each text from each place.
type Lanes = HashMap<(u32, String), Vec<u32>>;

#[test]
fn text_arrives_and_names_its_place() {
    let bench = Bench::new(|builder| builder);
    let received: Arc<Mutex<Lanes>> = Arc::default();
    let seen = received.clone();
    let wave_size = bench.device.info().wave_size;
    let streams = start(&bench, |builder| {
        builder.text::<Note>(move |origin, text| {
            let lane = origin.group as u32 * 64 + origin.wave * wave_size + origin.lane;
            seen.lock().unwrap().entry((origin.site, text.to_owned())).or_default().push(lane);
        })
    });
    let sent = outcomes(&bench, "stream_text", 128, |outcomes| Args::new().slice(outcomes));
    streams.wait(&bench.queue).expect("nothing is lost");
    assert_eq!(sent, [256, 0, 0, 0, 0, 0]);
    let mut received = std::mem::take(&mut *received.lock().unwrap());
    received.values_mut().for_each(|lanes| lanes.sort_unstable());
    let line = SOURCE.lines().position(|line| line.contains("from a place")).expect("the line") as u32 + 1;
    assert_eq!(received.len(), 3);
    for ((site, text), lanes) in received {
        let place = streams.sites().get(site).map(|site| site.line);
        match &*text {
            "from a place" => assert_eq!((place, lanes), (Some(line), (0..128).collect())),
            "" => assert_eq!((place, lanes), (None, (0..128).filter(|lane| lane % 2 == 1).collect())),
            text => assert_eq!((text, place, lanes), ("gerade: äöü €", None, (0..128).filter(|lane| lane % 2 == 0).collect())),
        }
    }
}

#[test]
fn a_recording_has_the_bytes_between_the_other_messages_of_their_waves() {
    let bench = Bench::new(|builder| builder);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let (lanes, rounds, step) = size();
    let bytes = source(1024 + FRAME_MOST);
    let memory = bench.device.alloc::<u8>(bytes.len()).expect("memory");
    bench.queue.copy_to(&memory, 0, &bytes).expect("copied");
    // One of them has a handler, and both are recorded.
    let handled = Arc::new(AtomicU64::new(0));
    let seen = handled.clone();
    let streams = start(&bench, |builder| {
        builder.memory(SMALL).record(&path).bytes::<Frame>(move |_, slice| _ = seen.fetch_add(slice.len() as u64, Ordering::Relaxed))
    });
    let args = |outcomes: &Memory<[u32; 6]>| Args::new().slice(&memory).value(rounds).value(step).value(u64::MAX).slice(outcomes);
    let sent = outcomes(&bench, "stream_bytes", lanes, args);
    let summary = streams.wait(&bench.queue).expect("nothing is lost");
    drop(streams);
    assert_eq!(sent[0], u64::from(lanes * rounds));
    let recording = summary.recording.as_ref().expect("a recording");
    assert_eq!((recording.lost, &recording.error), (0, &None));
    // For each lane: its messages of bytes so far.
    let (mut reader, mut next, mut total) = (hostcall_stream::open(&path).expect("a recording"), HashMap::<u32, u32>::new(), 0);
    while let Some(message) = reader.next().expect("it is whole") {
        let from = message.header.from;
        let lane = |lane: u32| from.group as u32 * 64 + from.wave * bench.device.info().wave_size + lane;
        if message.schema.name == "Frame" {
            let lane = lane(message.rows().next().expect("one value").lane);
            let number = next.entry(lane).or_default();
            let (from, length) = (frame_start(lane, *number) as usize, frame_length(lane, *number, step) as usize);
            assert!(message.bytes() == &bytes[from..from + length], "message {number} of lane {lane}");
            (*number, total) = (*number + 1, total + length as u64);
        } else {
            for row in message.rows() {
                let number = u32::from_le_bytes(row.bytes()[4..].try_into().expect("four bytes"));
                assert_eq!(next.get(&lane(row.lane)), Some(&(number + 1)), "{} is not where it was sent", message.schema.name);
            }
        }
    }
    assert_eq!((reader.ending(), total), (Some(Ending::Complete), handled.load(Ordering::Relaxed)));
    assert!(next.len() as u32 == lanes && next.values().all(|number| *number == rounds));
}
