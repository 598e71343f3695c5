//! The rest of the device library: clocks, environment, random numbers, ends of kernels, the heap.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use behaviours_services::tally;
use hostcall::{ServerBuilder, Sink, WaitError};
use hostcall_tests::{Bench, on_gpu};
use offload::{Args, Launch};

fn ticking(builder: ServerBuilder) -> ServerBuilder {
    builder.service(tally::tick(|_| 1))
}

#[test]
fn the_host_tells_the_time_and_the_device_measures_it() {
    let bench = Bench::new(|b| b);
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let before = now();
    let memory = bench.device.alloc::<u64>(3).unwrap();
    bench.run("clocks", Launch::linear(1, 1), Args::new().slice(&memory)).unwrap();
    let [seconds, nanos, slept] = bench.queue.read(&memory).unwrap()[..] else { panic!() };
    assert!((before..=now()).contains(&seconds) && nanos < 1_000_000_000, "{seconds}.{nanos:09}");
    assert!(slept >= 2_000_000, "2 ms took {slept} ns");
}

#[test]
fn arguments_and_variables_are_those_that_were_granted() {
    let (sink, out) = Sink::buffer();
    let long = "ä".repeat(500);
    let bench = Bench::new(|b| b.heap(1 << 20).stdout(sink).arg("zero").arg(&long).arg("").env("GIVEN", "a value"));
    bench.run("environment", Launch::linear(1, 1), Args::new()).unwrap();
    let expected = format!("0=zero\n1={long}\n2=\n{:?} None\n{:?} None None\n", Some(long.as_str()), Some("a value"));
    assert_eq!(String::from_utf8(out.lock().unwrap().clone()).unwrap(), expected);
}

#[test]
fn no_two_lanes_draw_the_same_random_numbers_and_a_seed_repeats_them() {
    let draw = |lanes| -> Vec<[u64; 3]> {
        let bench = Bench::new(|b| b);
        let memory = bench.device.alloc::<[u64; 3]>(lanes as usize).unwrap();
        bench.run("randoms", Launch::threads(lanes, 64), Args::new().slice(&memory)).unwrap();
        bench.queue.read(&memory).unwrap()
    };
    let lanes = if on_gpu() { 100_000 } else { 1000 };
    let (first, second) = (draw(lanes), draw(lanes));
    let different: BTreeSet<u64> = first.iter().chain(&second).flat_map(|[a, b, _]| [*a, *b]).collect();
    assert_eq!(different.len(), 4 * lanes as usize, "each server draws a seed of its own");
    assert!(first.iter().zip(&second).all(|(a, b)| a[2] == b[2]), "a seed of one's own gives the same again");
    assert_eq!(first.iter().map(|n| n[2]).collect::<BTreeSet<_>>().len(), lanes as usize);
}

#[test]
fn an_exit_ends_all_lanes_and_gives_the_host_its_code() {
    let bench = Bench::new(ticking);
    for status in [3, -1, 0] {
        let after = bench.device.alloc::<u32>(256).unwrap();
        bench.queue.fill(&after, 0).unwrap();
        let ended = bench.run("exits", Launch::linear(4, 64), Args::new().value(status).slice(&after));
        match ended {
            Ok(()) => assert_eq!(status, 0),
            Err(error) => assert_eq!(error.report().exit_code(), Some(status), "{error}"),
        }
        assert_eq!(bench.queue.read(&after).unwrap(), [0; 256], "no lane went on");
    }
}

#[test]
fn an_abort_ends_all_lanes() {
    let bench = Bench::new(ticking);
    let after = bench.device.alloc::<u32>(256).unwrap();
    bench.queue.fill(&after, 0).unwrap();
    let error = bench.run("aborts", Launch::linear(4, 64), Args::new().slice(&after)).unwrap_err();
    assert_eq!((error.report().panics[0].message.as_str(), error.report().panics[0].thread), ("aborted", [1, 0, 0]), "{error}");
    assert_eq!(bench.queue.read(&after).unwrap(), [0; 256]);
}

fn panics(bench: &Bench, kernel: &str, launch: Launch, args: Args) -> WaitError {
    let error = bench.run(kernel, launch, args).unwrap_err();
    assert!(matches!(error, WaitError::Kernel(_)), "the context stays usable: {error}");
    error
}

#[test]
fn panics_are_reported_once_per_wave_with_message_and_place_and_the_next_kernel_runs() {
    let bench = Bench::new(ticking);
    let wave = bench.device.info().wave_size;
    let after = bench.device.alloc::<u32>(4 * 64).unwrap();
    for mask in [u64::MAX, 1 << 5, 0xf0] {
        bench.queue.fill(&after, 0).unwrap();
        let error = panics(&bench, "panics", Launch::linear(4, 64), Args::new().value(mask).slice(&after));
        let report = error.report();
        let waves = 4 * 64 / wave;
        // Lanes that come to a panic after the first ones' report are still told of; others end at a call instead.
        assert!((1..=waves as usize).contains(&report.panics.len()), "{error}");
        for panic in &report.panics {
            let first = mask.trailing_zeros();
            // While many lanes report at once, some report their place only.
            assert!(panic.message.contains("was told to: Some(") || panic.message.contains("another lane's report"), "{panic}");
            assert!(panic.file.ends_with("library.rs") && panic.line > 0, "{panic}");
            assert_eq!(panic.thread[0] % wave, first, "{panic}");
            let lanes = (mask & (u64::MAX >> (64 - wave))).count_ones();
            assert_eq!(panic.lanes, u64::from(lanes), "{panic}");
        }
        assert!(report.panics.iter().any(|panic| panic.message.contains("was told to: Some(")), "{error}");
        let places: BTreeSet<_> = report.panics.iter().map(|p| (p.block, p.thread[0] / wave)).collect();
        assert_eq!(places.len(), report.panics.len(), "one report for each wave: {error}");
        assert_eq!(bench.queue.read(&after).unwrap(), [0; 256], "no lane went on");
        bench.run("calls", Launch::linear(1, 1), Args::new().value(1u32).slice(&bench.device.alloc::<u64>(1).unwrap())).unwrap();
    }
}

#[test]
fn panics_of_every_kind_end_the_kernel_with_their_message() {
    let bench = Bench::new(|b| ticking(b).heap(1 << 20));
    let memory = bench.device.alloc::<u32>(4).unwrap();
    let error = panics(&bench, "panics_by_index", Launch::linear(1, 32), Args::new().slice(&memory));
    assert!(error.to_string().contains("index out of bounds: the len is 4 but the index is 10"), "{error}");
    let error = panics(&bench, "panics_at_length", Launch::linear(1, 1), Args::new());
    let message = &error.report().panics[0].message;
    assert!(message.starts_with("långt långt") && message.ends_with("[…]"), "{error}");
    let error = panics(&bench, "returns_an_error", Launch::linear(1, 1), Args::new());
    assert!(error.to_string().contains("no reply in the time allowed"), "{error}");
    assert_eq!(bench.results::<u64>("calls", 32, 32, Args::new().value(2u32)), [2; 32]);
}

#[test]
fn a_panic_within_the_report_of_a_panic_ends_the_lane() {
    let bench = Bench::new(ticking);
    // The second panic leaves nobody who could report: the kernel ends, and the device lives.
    let _ = bench.run("panics_twice", Launch::linear(1, 32), Args::new());
    assert_eq!(bench.results::<u64>("calls", 32, 32, Args::new().value(2u32)), [2; 32]);
}

/// Bytes of the heap in use.
fn heap_use(bench: &Bench) -> [u64; 2] {
    let memory = bench.device.alloc::<u64>(2).unwrap();
    bench.run("heap_use", Launch::linear(1, 1), Args::new().slice(&memory)).unwrap();
    bench.queue.read(&memory).unwrap().try_into().unwrap()
}

#[test]
fn strings_vectors_and_boxes_of_many_lanes_do_not_overlap_and_are_all_freed() {
    let (lanes, rounds) = if on_gpu() { (65_536, 10u32) } else { (1024, 3) };
    let bench = Bench::new(|b| b.heap(if on_gpu() { 1 << 30 } else { 64 << 20 }));
    let right: Vec<u32> = bench.results("allocates", lanes, 128, Args::new().value(rounds));
    assert_eq!(right, vec![rounds; lanes as usize]);
    assert_eq!(heap_use(&bench)[0], 0, "all freed");
}

#[test]
fn what_one_kernel_leaves_on_the_heap_another_frees() {
    let bench = Bench::new(|b| b.heap(16 << 20));
    let keep = bench.device.alloc::<u64>(1024).unwrap();
    bench.run("leaks", Launch::linear(8, 128), Args::new().slice(&keep)).unwrap();
    assert!(heap_use(&bench)[0] >= 1024 * 72);
    let blocks = bench.queue.read(&keep).unwrap();
    assert_eq!(blocks.iter().collect::<BTreeSet<_>>().len(), 1024);
    bench.run("frees", Launch::linear(8, 128), Args::new().slice(&keep)).unwrap();
    assert_eq!(bench.queue.read(&keep).unwrap(), [1; 1024]);
    assert_eq!(heap_use(&bench)[0], 0);
}

#[test]
fn an_exhausted_heap_names_the_size_asked_for_and_the_setting() {
    let bench = Bench::new(|b| ticking(b).heap(4 << 20));
    let asked = Args::new().value(100u64 << 20);
    let refused: Vec<u64> = bench.results("exhausts", 64, 64, asked.clone().value(1u32));
    assert_eq!(refused, [1; 64], "`try_reserve` returns an error");
    let memory = bench.device.alloc::<u64>(64).unwrap();
    let error = panics(&bench, "exhausts", Launch::linear(1, 64), asked.value(0u32).slice(&memory));
    for part in ["memory allocation of 104857600 bytes failed", ".heap(bytes)", "--heap"] {
        assert!(error.to_string().contains(part), "{part:?} is not in: {error}");
    }
    assert_eq!(heap_use(&bench)[0], 0);
    assert_eq!(bench.results::<u64>("exhausts", 1, 1, Args::new().value(1000u64).value(1u32)), [0]);
}

#[test]
fn without_a_heap_an_allocation_is_an_error_too() {
    let bench = Bench::new(|b| b);
    assert_eq!(bench.results::<u64>("exhausts", 64, 64, Args::new().value(16u64).value(1u32)), [1; 64]);
}

#[test]
fn nothing_is_granted_by_default_but_output_and_the_clock() {
    let (sink, out) = Sink::buffer();
    let bench = Bench::new(|b| b.heap(1 << 20).stdout(sink));
    let memory = bench.device.alloc::<u64>(5).unwrap();
    bench.run("asks_for_all", Launch::linear(1, 1), Args::new().slice(&memory)).unwrap();
    assert_eq!(bench.queue.read(&memory).unwrap(), [1; 5]);
    assert_eq!(*out.lock().unwrap(), b"printed\n");
}
