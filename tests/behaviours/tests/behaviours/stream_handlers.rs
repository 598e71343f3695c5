//! Ready handlers, from a kernel's accesses and times to what is reported, against plain computations of the same
//! kernel.

use std::collections::BTreeMap;
use std::fmt::Debug;

use hostcall_stream::handlers::{
    BankConflicts, BankUse, Banks, Blocks, CacheLines, Counts, HeatMap, Histogram, Intervals, LineUse, TopK, Traffic,
};
use hostcall_stream::{Access, AccessKind, Interval, Origin, Space};
use hostcall_tests::{Bench, on_gpu, slow};
use offload::{Args, Device, Launch};

use crate::listening::start;

/// Whether waves have 32 lanes, as the expectations of a test say. Prints why not.
fn waves_of_32(bench: &Bench) -> bool {
    let lanes = bench.device.info().wave_size;
    if lanes != 32 {
        println!("not run: the test counts accesses of waves of 32 lanes, and this device's have {lanes}");
    }
    lanes == 32
}

#[test]
fn a_heat_map_of_an_array_walk_is_what_the_walk_touches() {
    let bench = Bench::new(|builder| builder);
    let (threads, rounds) = if slow() { (64u32, 5u32) } else { (256, 40) };
    let (stride, page) = (777u32, 4096u64);
    let walked = 20_000;
    let streams = start(&bench, |builder| {
        let words = TopK::of("word", 64, |_: &Origin, access: &Access| access.address() / 4);
        builder.on::<Access, _>(HeatMap::pages(page)).on::<Access, _>(words)
    });
    let values = bench.device.alloc::<u32>(walked).expect("memory");
    let sums = bench.device.alloc::<u32>(threads as usize).expect("memory");
    let content: Vec<u32> = (0..walked as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    bench.queue.copy_to(&values, 0, &content).expect("the array");
    for launches in 1..=2u64 {
        bench.launch("access_walk", Launch::threads(threads, 64), Args::new().slice(&values).value(rounds).value(stride).slice(&sums));
        bench.server.wait(&bench.queue).expect("the kernel ends");
        let summary = streams.wait(&bench.queue).expect("nothing is lost");

        let mut expected: BTreeMap<u64, Traffic> = BTreeMap::new();
        let mut touch = |address: u64, reads: u64| {
            let traffic = expected.entry(address / page * page).or_default();
            *traffic = Traffic {
                accesses: traffic.accesses + launches,
                reads: traffic.reads + reads * launches,
                writes: traffic.writes + (1 - reads) * launches,
                bytes: traffic.bytes + 4 * launches,
            };
        };
        let mut expected_sums = vec![0u32; threads as usize];
        for (lane, sum) in expected_sums.iter_mut().enumerate() {
            for round in 0..rounds as usize {
                let i = (lane + round * stride as usize) % walked;
                touch(values.address() + 4 * i as u64, 1);
                *sum = sum.wrapping_add(content[i]);
            }
            touch(sums.address() + 4 * lane as u64, 0);
        }
        let heat = streams.state::<Access, HeatMap>().expect("the handler's state");
        assert_eq!(heat.pages(), expected.into_iter().collect::<Vec<_>>());
        assert_eq!(bench.queue.read(&sums).expect("the sums"), expected_sums);
        let accesses = u64::from(threads * (rounds + 1)) * launches;
        assert_eq!((heat.all().accesses, heat.all().bytes), (accesses, 4 * accesses));
        assert_eq!(summary.stream("Access").map(|stream| stream.values), Some(accesses));
        // Where a launch has a number, each has its own; else they are one.
        let by_launch: Vec<u64> = heat.launches().iter().map(|(_, _, traffic)| traffic.accesses).collect();
        assert!(by_launch == [accesses] || by_launch == vec![accesses / launches; launches as usize], "{by_launch:?}");
    }
    let reports = streams.reports();
    assert_eq!(reports.len(), 2);
    assert!(reports[0].to_string().contains("pages of 4096 bytes") && reports[1].title.contains("Most frequent word"), "{reports:?}");
}

/// The kinds of accesses that came, and how many of each.
fn kinds<K: Debug + Ord>(rows: Vec<(K, u64)>) -> BTreeMap<K, u64> {
    rows.into_iter().collect()
}

/// A key for counting: the access in words.
fn in_words(_: &Origin, access: &Access) -> String {
    format!("{} of {} bytes, {:?}", access.kind().name(), access.bytes(), access.space())
}

#[test]
fn an_access_says_kind_size_and_memory_as_far_as_the_machine_knows_it() {
    let bench = Bench::new(|builder| builder);
    let threads = 96;
    let values = bench.device.alloc::<u64>(threads as usize).expect("memory");
    let run = || bench.results::<u32>("access_kinds", threads, 32, Args::new().slice(&values));
    assert_eq!(run(), vec![0; threads as usize], "nobody listens, nothing is sent");

    type ByWords = fn(&Origin, &Access) -> String;
    let streams = start(&bench, |builder| {
        let builder = builder.on::<Access, _>(Counts::of("accesses", in_words as ByWords));
        builder.on::<Access, _>(HeatMap::pages(1 << 20).only(&[Space::Region]))
    });
    assert_eq!(run(), vec![5 | 1 << 8; threads as usize]);
    streams.wait(&bench.queue).expect("nothing is lost");
    let counted = streams.state::<Access, Counts<ByWords>>().expect("the handler's state");
    let expected = [
        "read of 2 bytes, Private",
        "write of 8 bytes, Global",
        "atomic of 8 bytes, Global",
        "read and write of 128 bytes, Global",
        "read of 1 bytes, Region",
    ];
    assert_eq!(kinds(counted.rows()), expected.iter().map(|words| ((*words).to_owned(), u64::from(threads))).collect());
    let heat = streams.state::<Access, HeatMap>().expect("the handler's state");
    assert_eq!(heat.pages().iter().map(|(page, traffic)| (*page, traffic.reads)).collect::<Vec<_>>(), [(0, u64::from(threads))]);
}

/// What the kernel calls a wave as a whole, and a step.
const WHOLE: u32 = 10;
const STEP: u32 = 11;

#[test]
fn intervals_of_workgroups_lie_in_time_as_they_ran() {
    let bench = Bench::new(|builder| builder);
    let (groups, lanes, steps) = (24u32, 128u32, 6u32);
    let waves = lanes / bench.device.info().wave_size;
    let streams = start(&bench, |builder| {
        let intervals = Intervals::default().named(WHOLE, "whole").named(STEP, "step");
        let details = Histogram::of("detail", (|interval: &Interval| interval.detail.into()) as fn(&Interval) -> u64);
        builder.on::<Interval, _>(intervals).on::<Interval, _>(Blocks::default().only(WHOLE)).on::<Interval, _>(details)
    });
    let out = bench.device.alloc::<u32>((groups * lanes) as usize).expect("memory");
    bench.launch("interval_blocks", Launch::threads(groups * lanes, lanes), Args::new().value(steps).slice(&out));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    let summary = streams.wait(&bench.queue).expect("nothing is lost");

    let all = u64::from(groups * waves);
    let times = streams.state::<Interval, Intervals>().expect("the handler's state");
    let [whole, step] = [WHOLE, STEP].map(|label| times.label(label).expect("it was measured"));
    assert_eq!((whole.times.count(), step.times.count()), (all, all * u64::from(steps)));
    assert_eq!((times.backwards(), times.elsewhere()), (0, 0));
    // Steps lie within the wave's interval, one after another.
    assert!(whole.first <= step.first && step.last <= whole.last, "{whole:?} {step:?}");
    assert!(step.times.sum() <= whole.times.sum() && step.times.max() <= whole.times.max());
    assert!(u128::from(whole.span()) * u128::from(all) >= whole.times.sum());

    let timeline = streams.state::<Interval, Blocks>().expect("the handler's state");
    let blocks = timeline.blocks();
    assert_eq!(blocks.iter().map(|block| block.group).collect::<Vec<_>>(), (0..u64::from(groups)).collect::<Vec<_>>());
    for block in &blocks {
        assert_eq!((block.intervals, block.waves), (u64::from(waves), (1 << waves) - 1), "{block:?}");
        assert!(block.launch == blocks[0].launch && block.device == 0);
        assert!(whole.first <= block.start && block.start <= block.end && block.end <= whole.last, "{block:?}");
    }
    assert_eq!(blocks.iter().map(|block| block.start).min(), Some(whole.first));
    for wave in 0..waves {
        assert_eq!(timeline.wave(wave).map(|times| times.count()), Some(u64::from(groups)));
    }
    let details = streams.state::<Interval, Histogram<fn(&Interval) -> u64>>().expect("the handler's state");
    assert_eq!((details.max(), details.count()), (Some(steps.into()), all * u64::from(steps + 1)));
    assert_eq!(summary.stream("Interval").map(|stream| stream.messages), Some(details.count()));
    let report = streams.reports().iter().map(ToString::to_string).collect::<String>();
    for wanted in ["whole", "step", "24 workgroups on", "Distribution of detail in Interval"] {
        assert!(report.contains(wanted), "{report}");
    }
}

#[test]
fn an_interval_that_was_measured_elsewhere_is_sent_once_for_a_wave() {
    let bench = Bench::new(|builder| builder);
    let threads = 256;
    let wave = bench.device.info().wave_size;
    let run = || bench.results::<u32>("interval_sent", threads, 64, Args::new().value(1u64 << 62));
    assert_eq!(run(), vec![0; threads as usize], "nobody listens, nothing is sent");
    let streams = start(&bench, |builder| builder.on::<Interval, _>(Intervals::default()));
    assert_eq!(run(), vec![1 | 1 << 8; threads as usize]);
    streams.wait(&bench.queue).expect("nothing is lost");
    let times = streams.state::<Interval, Intervals>().expect("the handler's state");
    let said: Vec<_> = times.rows().iter().map(|(label, _, its)| (*label, its.times.count(), its.times.max(), its.first)).collect();
    let expected = (0..threads / wave).map(|wave| (wave, 1, Some(2 * u64::from(wave)), (1 << 62) + u64::from(wave)));
    assert_eq!(said, expected.collect::<Vec<_>>());
}

#[test]
fn lanes_on_threads_of_their_own_are_converged_behind_a_barrier() {
    if on_gpu() {
        println!("not run: this is about the simulator's threads, not about a GPU");
        return;
    }
    let device = Device::open("sim:threads").expect("the simulator");
    transpose(&Bench::on(&device, |builder| builder), 32, &PITCHES[..1]);
}

#[test]
fn a_transpose_has_the_bank_conflicts_and_cache_lines_that_its_padding_gives_it() {
    let bench = Bench::new(|builder| builder);
    if waves_of_32(&bench) {
        transpose(&bench, if slow() { 64 } else { 128 }, &PITCHES);
    }
}

/// Words of a row of a tile, and the cycles of a wave that reads a column: all 32 words are in one bank, in all banks,
/// in 16 and in 8 of them.
const PITCHES: [(u32, u64); 4] = [(32, 32), (33, 1), (34, 2), (36, 4)];

/// Transposes a square of `side` by `side` values with tiles of these pitches, and looks at what is said of it.
fn transpose(bench: &Bench, side: u32, pitches: &[(u32, u64)]) {
    let tiles = u64::from(side / 32).pow(2);
    let [input, output] = [(), ()].map(|()| bench.device.alloc::<u32>((side * side) as usize).expect("memory"));
    let content: Vec<u32> = (0..side * side).collect();
    bench.queue.copy_to(&input, 0, &content).expect("the input");
    let streams = start(bench, |builder| builder.on::<Access, _>(BankConflicts::of(Banks::nvidia())).on::<Access, _>(CacheLines::of(128)));
    for &(pitch, cycles) in pitches {
        let memory = bench.device.alloc::<u32>((tiles * 32 * u64::from(pitch)) as usize).expect("memory");
        let args = Args::new().slice(&input).value(side).value(pitch).slice(&memory).slice(&output);
        bench.launch("access_transpose", Launch::threads(tiles as u32 * 256, 256), args);
        bench.server.wait(&bench.queue).expect("the kernel ends");
        streams.wait(&bench.queue).expect("nothing is lost");
        let transposed: Vec<u32> = (0..side * side).map(|i| i % side * side + i / side).collect();
        assert_eq!(bench.queue.read(&output).expect("the output"), transposed);

        let conflicts = streams.state::<Access, BankConflicts>().expect("the handler's state");
        let waves = tiles * 32;
        let used = |cycles: u64| BankUse {
            accesses: waves,
            lanes: waves * 32,
            cycles: waves * cycles,
            extra: waves * (cycles - 1),
            worst: cycles,
        };
        assert_eq!(conflicts.rows(), [(0, AccessKind::Read, used(cycles)), (0, AccessKind::Write, used(1))], "{pitch} words a row");

        // Both sides in memory are rows of 128 bytes, so the tile has done its work.
        let lines = streams.state::<Access, CacheLines>().expect("the handler's state");
        let rows = [(&input, AccessKind::Read), (&output, AccessKind::Write)].map(|(memory, kind)| {
            let touched = |piece: u64| (memory.address() % piece + 128).div_ceil(piece);
            let used = LineUse {
                accesses: waves,
                lanes: waves * 32,
                bytes: waves * 128,
                lines: waves * touched(128),
                least_lines: waves,
                sectors: waves * touched(32),
                least_sectors: waves * 4,
            };
            (0, kind, used)
        });
        assert_eq!(lines.rows(), rows);
        let [banks, lines] = &streams.reports()[..] else { panic!("two handlers, two reports") };
        assert!(banks.lines[0].ends_with(&format!("{} of them for conflicts", waves * (cycles - 1))), "{banks}");
        assert!(lines.to_string().contains("Use of cache lines of 128 bytes"), "{lines}");
        streams.clear();
    }
}
