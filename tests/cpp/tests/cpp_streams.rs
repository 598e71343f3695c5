//! Messages that kernels in C++ send: read on the host as those of kernels in Rust.
#![allow(missing_docs, reason = "a test")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use hostcall_cpp_tests::services::{Blob, Line, Mark, Particle, Sample, Track};
use hostcall_cpp_tests::{Bench, Setting, device_spec, images, on_simulator};
use hostcall_stream::{Filter, Policy, Streams, StreamsBuilder, Summary};
use offload::{Args, Launch};

/// Modes of the simulator, or the GPU.
fn devices() -> Vec<String> {
    if !on_simulator() {
        return vec![device_spec()];
    }
    ["sim", "sim:lanes=64", "sim:threads", "sim:seed=7"].map(str::to_owned).into()
}

/// What came of each stream, by who sent it.
#[derive(Default)]
struct Came {
    samples: HashMap<u32, Vec<Sample>>,
    tracks: Vec<Track>,
    marks: Vec<(u32, i32)>,
    blobs: Vec<Vec<u8>>,
    lines: Vec<(u32, String)>,
}

/// Streams to which a program of each compiler is attached on each device, with what arrives.
fn each(set_up: impl Fn(StreamsBuilder) -> StreamsBuilder, test: impl Fn(&Bench, &Streams, &Mutex<Came>)) {
    for (compiler, image) in images() {
        for device in devices() {
            println!("{compiler}, {device}");
            let bench = Bench::new(&image, &Setting::usual(device), |builder| builder);
            let came = Arc::new(Mutex::new(Came::default()));
            let [samples, tracks, marks, blobs, lines] = [(); 5].map(|()| came.clone());
            let builder = Streams::builder()
                .each(move |_, sample: &Sample| {
                    samples.lock().unwrap().samples.entry(sample.lane).or_default().push(*sample);
                })
                .each(move |_, track: &Track| {
                    tracks.lock().unwrap().tracks.push(*track);
                })
                .each(move |origin, mark: &Mark| {
                    marks.lock().unwrap().marks.push((origin.lane, mark.value));
                })
                .bytes::<Blob>(move |_, bytes| blobs.lock().unwrap().blobs.push(bytes.to_vec()))
                .text::<Line>(move |origin, line| lines.lock().unwrap().lines.push((origin.lane, line.to_owned())));
            let streams = set_up(builder).start(&bench.device).expect("the threads start");
            streams.attach(&bench.program).expect("the program is attached");
            test(&bench, &streams, &came);
        }
    }
}

/// Runs `sends`; what became of the last message of each lane.
fn sends(bench: &Bench, lanes: u32, rounds: u32, mask: u64) -> Vec<u32> {
    let told = bench.device.alloc::<u32>(lanes as usize).expect("memory");
    bench.queue.copy_to(&told, 0, &vec![0; lanes as usize]).expect("cleared");
    let args = Args::new().value(rounds).value(mask).slice(&told);
    let kernel = bench.program.kernel("sends").expect("the kernel");
    // SAFETY: the kernel writes a word for each lane.
    unsafe { bench.queue.launch(&kernel, Launch::threads(lanes, 64), args) }.expect("the launch");
    bench.server.wait(&bench.queue).expect("the kernel ends");
    bench.queue.read(&told).expect("read")
}

fn values(summary: &Summary, name: &str) -> u64 {
    summary.stream(name).unwrap_or_else(|| panic!("no stream {name} in {summary}")).values
}

#[test]
fn every_message_arrives_once_whole_and_in_the_order_of_its_lane() {
    each(
        |builder| builder,
        |bench, streams, came| {
            let (lanes, rounds) = (200u32, 40u32);
            let mut all = 0u64;
            for mask in [u64::MAX, 1, 1 << 31, 0xf0f0_a5a5, 0x10_0001] {
                let told = sends(bench, lanes, rounds, mask);
                let senders: Vec<u32> = (0..lanes).filter(|lane| mask >> (lane % 32) & 1 == 1).collect();
                for (lane, told) in (0..).zip(told) {
                    assert_eq!(told, u32::from(senders.contains(&lane)), "lane {lane}: it sent, or it was not in the mask");
                }
                all += senders.len() as u64;
                let summary = streams.wait(&bench.queue).expect("nothing is lost");
                assert_eq!(values(&summary, "Sample"), all * u64::from(rounds));
                // Each message of marks is of three.
                assert_eq!(values(&summary, "Mark"), all * u64::from(rounds.div_ceil(3)) * 3);
                let came = std::mem::take(&mut *came.lock().unwrap());
                assert_eq!(came.samples.len(), senders.len());
                for lane in senders {
                    let expected: Vec<_> = (0..rounds)
                        .map(|round| Sample { lane, round, value: -(lane as f32), more: -(round as i32), inverted: !lane })
                        .collect();
                    assert_eq!(came.samples[&lane], expected, "mask {mask:#x}");
                }
                for track in came.tracks {
                    let Track { particle: Particle { place, mass, number }, seconds } = track;
                    let (lane, round) = ((number >> 40) as f32, (number & 0xffff) as f32);
                    assert_eq!((place, mass, seconds), ([lane, round, -1.0], -2.0, [round, -0.5]), "{track:?}");
                }
                let wave = bench.device.info().wave_size;
                assert!(came.marks.iter().all(|(lane, value)| *value >= 0 || (-1 - *value) as u32 % wave == *lane));
            }
        },
    );
}

#[test]
fn a_wave_sends_its_first_lanes_message_once() {
    each(
        |builder| builder,
        |bench, streams, came| {
            let (lanes, rounds) = (256u32, 9u32);
            let told = bench.device.alloc::<u32>(lanes as usize).expect("memory");
            let kernel = bench.program.kernel("sends_once").expect("the kernel");
            let args = Args::new().value(rounds).slice(&told);
            // SAFETY: the kernel writes a word for each lane.
            unsafe { bench.queue.launch(&kernel, Launch::threads(lanes, 64), args) }.expect("the launch");
            bench.server.wait(&bench.queue).expect("the kernel ends");
            assert_eq!(bench.queue.read(&told).expect("read"), vec![1000 + rounds; lanes as usize], "every lane is told");
            streams.wait(&bench.queue).expect("nothing is lost");
            let samples = std::mem::take(&mut came.lock().unwrap().samples);
            let firsts: Vec<u32> = (0..lanes).step_by(bench.device.info().wave_size as usize).collect();
            let mut senders: Vec<u32> = samples.keys().copied().collect();
            senders.sort_unstable();
            assert_eq!(senders, firsts);
            assert!(
                samples.values().all(|all| (0..).zip(all).all(|(round, sample)| sample.round == round) && all.len() == rounds as usize)
            );
        },
    );
}

#[test]
fn bytes_and_texts_of_any_length_arrive_whole() {
    each(
        // Room for all, so that none of the blobs is dropped.
        |builder| builder.memory(128 << 20).policy::<Blob>(Policy::Block),
        |bench, streams, came| {
            let (lanes, rounds, wave) = (80u32, 6u32, bench.device.info().wave_size);
            let room: Vec<u8> = (0..140_000u32).map(|i| if i < 64 { b'a' + (i % 26) as u8 } else { (i * 7) as u8 }).collect();
            let from = bench.device.alloc::<u8>(room.len()).expect("memory");
            bench.queue.copy_to(&from, 0, &room).expect("written");
            for (mask, bytes, step) in [(u64::MAX, 0, 1), (0x8001_0110, 13, 30), (u64::MAX, 200, 3000), (1 << 5, 122_000, 395)] {
                let args = Args::new().value(rounds).value(mask).value(bytes).value(step).address(from.address());
                let told: Vec<u32> = bench.run("sends_bytes", lanes, args).expect("the kernel ends");
                let senders: Vec<u32> = (0..lanes).filter(|lane| mask >> (lane % 32) & 1 == 1).collect();
                for (lane, told) in (0..).zip(told) {
                    let expected = if senders.contains(&lane) { 1_500_000 + 4 * rounds } else { 0 };
                    assert_eq!(told, expected, "lane {lane}, {bytes} bytes");
                }
                streams.wait(&bench.queue).expect("nothing is lost");
                let came = std::mem::take(&mut *came.lock().unwrap());
                let (mut blobs, mut lines) = (Vec::new(), Vec::new());
                for (lane, round) in senders.iter().flat_map(|lane| (0..rounds).map(move |round| (*lane, round))) {
                    let length = (bytes + (lane + round) % 3 * step) as usize;
                    blobs.push(room[lane as usize % 16..][..length].to_vec());
                    blobs.push((0..(lane + round) % 20).map(|k| (lane + round + k) as u8).collect());
                    lines.push((lane % wave, String::from_utf8(room[..length % 40].to_vec()).unwrap()));
                }
                // One of each wave, by the first of those that run.
                for first in (0..lanes).step_by(wave as usize) {
                    let leader = senders.iter().find(|lane| (first..first + wave).contains(*lane));
                    lines
                        .extend(leader.into_iter().flat_map(|lane| std::iter::repeat_n((lane % wave, "once".to_owned()), rounds as usize)));
                }
                let sorted = |mut all: Vec<_>| {
                    all.sort();
                    all
                };
                assert!(sorted(came.blobs) == sorted(blobs), "{bytes} bytes and {step} more");
                let (mut came, mut expected) = (came.lines, lines);
                came.sort();
                expected.sort();
                assert_eq!(came, expected);
            }
        },
    );
}

#[test]
fn what_has_no_room_is_dropped_and_counted_as_the_policy_says() {
    for policy in Policy::CHOICES {
        each(
            // The smallest rings, so that they are full at once.
            |builder| builder.memory(0).threads(1).policy::<Sample>(policy),
            |bench, streams, came| {
                let (lanes, rounds) = (256u32, 150u32);
                sends(bench, lanes, rounds, u64::MAX);
                let summary = streams.wait(&bench.queue).expect("the streams are read to their end");
                let counts = summary.stream("Sample").expect("the stream");
                let came = came.lock().unwrap();
                let arrived: u64 = came.samples.values().map(|all| all.len() as u64).sum();
                assert_eq!(counts.values, arrived, "{policy:?}");
                let messages = u64::from(lanes / bench.device.info().wave_size) * u64::from(rounds);
                assert_eq!(counts.messages + counts.dropped + counts.filtered, messages, "{policy:?}: {counts:?}");
                if policy == Policy::Block {
                    assert_eq!(counts.messages, messages);
                }
                // In order, whatever is missing between them.
                assert!(came.samples.values().all(|all| all.is_sorted_by_key(|sample| sample.round)), "{policy:?}");
            },
        );
    }
}

#[test]
fn a_gate_lets_through_what_the_host_wants() {
    each(
        |builder| builder.filter::<Sample>(Filter::all().groups(1..3)),
        |bench, streams, came| {
            let (lanes, rounds) = (256u32, 5u32);
            let told = sends(bench, lanes, rounds, u64::MAX);
            let summary = streams.wait(&bench.queue).expect("nothing is lost");
            // Workgroups of 64 lanes: the second and the third.
            let mut senders: Vec<u32> = came.lock().unwrap().samples.keys().copied().collect();
            senders.sort_unstable();
            assert_eq!(senders, (64..192).collect::<Vec<_>>());
            assert_eq!(values(&summary, "Sample"), 128 * u64::from(rounds));
            let filtered = hostcall_stream::Sent::Filtered as u32 + 1;
            assert!((0..lanes).zip(told).all(|(lane, told)| told == if (64..192).contains(&lane) { 1 } else { filtered }));
        },
    );
}
