//! Asserts and prints of kernels in C++ that know nothing of hostcall, in the simulator.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use hostcall::{DevicePanic, KernelReport, Sink};
use hostcall_cpp_tests::{Bench, Setting, assert_images, continue_images};
use offload::{Args, Launch};

/// Lanes as fibers and as threads, in both wave sizes, and with one port and two staging slots.
fn settings() -> Vec<Setting> {
    let usual = ["sim", "sim:lanes=64", "sim:threads"].map(Setting::usual);
    let scarce = ["sim", "sim:seed=7,lanes=64"].map(|device| Setting { device: device.into(), scarce: Some((1, 2)) });
    usual.into_iter().chain(scarce).collect()
}

/// Runs a test with the kernels of each compiler.
fn each(test: impl Fn(&Path, &Setting)) {
    for (compiler, image) in assert_images() {
        for setting in settings() {
            println!("{compiler}, {setting:?}");
            test(&image, &setting);
        }
    }
}

fn bench(image: &Path, setting: &Setting) -> Bench {
    Bench::new(image, setting, |builder| builder)
}

/// Launches a kernel whose last parameter is a word for each lane, and waits: the words, and what was reported.
fn run(bench: &Bench, kernel: &str, lanes: u32, args: Args) -> (Vec<u64>, KernelReport) {
    let after = bench.launch::<u64>(kernel, lanes, 1, args);
    let report = match bench.server.wait(&bench.queue) {
        Ok(()) => KernelReport::default(),
        Err(error) => error.report().clone(),
    };
    (bench.queue.read(&after).unwrap(), report)
}

/// The only entry of a report.
fn only(report: &KernelReport) -> &DevicePanic {
    assert_eq!((report.exits.len(), report.handler_failures.len(), report.malformed, report.omitted), (0, 0, 0, 0), "{report}");
    let [panic] = &report.panics[..] else { panic!("{report}") };
    panic
}

#[test]
fn a_failing_assert_is_told_with_the_values_of_both_sides_and_ends_its_lanes_only() {
    each(|image, setting| {
        let bench = bench(image, setting);
        for round in 0..2 {
            let (after, report) = run(&bench, "compares", 100, Args::new().value(70u32));
            let panic = only(&report);
            let value = panic.block[0] * 96 + panic.thread[0] + 100;
            let told = format!("assertion `value < most + 100` failed\n  left: {value}\n right: 170\n    in: ");
            assert!(value >= 170 && panic.message.starts_with(&told), "{panic}");
            assert!(panic.message.contains("compares"), "the function is named: {panic}");
            assert!(panic.file.ends_with("tests/cpp/cpp/asserts.cu") && panic.line > 20, "{panic}");
            assert_eq!((panic.lanes, panic.program.as_str()), (30, "behaviours.cu"), "{panic}");
            assert!(report.to_string().contains("and 29 more lanes: assertion"), "{report}");
            let expected: Vec<u64> = (0..100).map(|i| if i < 70 { i + 1 } else { 0 }).collect();
            assert_eq!(after, expected, "round {round}");
        }
        // The next launch works, and what holds reports nothing.
        let (after, report) = run(&bench, "compares", 100, Args::new().value(100u32));
        assert!(report.is_success(), "{report}");
        assert_eq!(after, (1..=100).collect::<Vec<u64>>());
    });
}

#[test]
fn every_place_is_told_once_with_the_number_of_its_lanes() {
    each(|image, setting| {
        let (after, report) = run(&bench(image, setting), "two_places", 192, Args::new());
        let mut told: Vec<(u64, bool)> = report.panics.iter().map(|panic| (panic.lanes, panic.message.contains("of a quarter"))).collect();
        told.sort_unstable();
        assert_eq!(told, [(48, true), (96, false)], "{report}");
        assert_eq!(after.iter().filter(|word| **word != 0).count(), 48);
    });
}

#[test]
fn a_hundred_thousand_failing_lanes_are_one_report_and_the_next_launch_works() {
    for (compiler, image) in assert_images() {
        println!("{compiler}");
        let bench = bench(&image, &Setting::usual("sim"));
        let (after, report) = run(&bench, "compares", 100_000, Args::new().value(0u32));
        assert_eq!(only(&report).lanes, 100_000, "{report}");
        assert!(after.iter().all(|word| *word == 0), "no lane went on");
        let (after, report) = run(&bench, "compares", 96, Args::new().value(96u32));
        assert!(report.is_success() && after == (1..=96).collect::<Vec<u64>>(), "{report}");
    }
}

/// What is told of each lane of `types`, without its function.
const TOLD: [&str; 15] = [
    "assertion `narrow > 0` failed\n  left: -5\n right: 0",
    "assertion `real == 0.25f` failed\n  left: 0.1\n right: 0.25",
    "assertion `wide > 2` failed\n  left: 0.1\n right: 2",
    "assertion `yes == false` failed\n  left: true\n right: false",
    "assertion `after == nullptr` failed\n  left: 0x",
    "assertion `shade::dark == shade::light` failed\n  left: -3\n right: 3",
    "assertion `one == other` failed\n  left: ?\n right: ?",
    "assertion `half < 2.f` failed\n  left: 2.5\n right: 2.0",
    "assertion `!yes` failed",
    "assertion `i != 9 || i < 3` failed\n  left: 9 (of the first comparison)\n right: 9",
    "assertion `(i & 1) && i == 3` failed",
    "assertion `i & 4` failed",
    "assertion `hostcall::wave_size() == 7u && after` failed\n  left: 32 (of the first comparison)\n right: 7",
    "assertion `i == 0` failed: the \\u{1b}[31mthirteenth\n  left: 13\n right: 0",
    "assertion `i < 3` failed: lane 14 of few, 2.5\n  left: 14\n right: 3",
];

#[test]
fn values_of_every_type_are_told_and_conditions_that_are_no_comparison_by_their_text() {
    for (compiler, image) in assert_images() {
        let (after, report) = run(&bench(&image, &Setting::usual("sim")), "types", TOLD.len() as u32, Args::new());
        assert_eq!(after, [0; TOLD.len()], "{report}");
        assert_eq!(report.panics.len(), TOLD.len(), "{report}");
        for panic in &report.panics {
            let expected = TOLD[panic.thread[0] as usize];
            // As it is printed: escapes are the printer's.
            let shown = panic.to_string();
            let (_, message) = shown.split_once("): ").unwrap();
            let rest = message.strip_prefix(expected).unwrap_or_else(|| panic!("{compiler}: {message}\n{expected}"));
            assert!(rest.starts_with("\n    in: ") || panic.thread[0] == 4, "{message}");
            assert_eq!(panic.lanes, 1);
        }
    }
}

#[test]
fn what_holds_reports_nothing_and_is_evaluated_once_as_c_evaluates_it() {
    each(|image, setting| {
        let (after, report) = run(&bench(image, setting), "passes", 100, Args::new());
        assert!(report.is_success(), "{report}");
        assert_eq!(after, [4; 100], "each condition once, and nothing that is decided");
    });
}

#[test]
fn texts_that_do_not_fit_into_a_message_are_cut() {
    each(|image, setting| {
        let (_, report) = run(&bench(image, setting), "long_texts", 1, Args::new());
        let panic = only(&report);
        let told = panic.message.strip_prefix("assertion `n == 0` failed: ").unwrap();
        let text = "0123456789abcdef".repeat(256);
        let (told, sides) = told.split_at(told.find("\n  left: 1\n right: 0").unwrap());
        assert!(told.len() > 1000 && text.starts_with(told) && !sides.contains("in: "), "{panic}");
    });
}

#[test]
fn lanes_go_on_where_the_source_says_so_and_every_failure_is_counted() {
    for (compiler, image) in continue_images() {
        for setting in settings() {
            println!("{compiler}, {setting:?}");
            let (after, report) = run(&bench(&image, &setting), "goes_on", 70, Args::new().value(5u32));
            let panic = only(&report);
            assert!(panic.message.starts_with("assertion `round > 100` failed (the lanes went on)\n  left: "), "{panic}");
            assert_eq!(panic.lanes, 5 * 70, "{panic}");
            assert_eq!(after, (1..=70).collect::<Vec<u64>>());
        }
    }
}

#[test]
fn prints_come_out_whole_in_the_order_of_each_lane_and_errors_where_they_belong() {
    each(|image, setting| {
        let [(out, printed), (error, errors)] = [Sink::buffer(), Sink::buffer()];
        let bench = Bench::new(image, setting, |builder| builder.stdout(out).stderr(error));
        // Longer than a message, and than CUDA's own buffer of prints for all lanes together.
        let (lanes, text) = (80u64, "x".repeat(20_000));
        let memory = bench.device.alloc::<u8>(text.len() + 1).unwrap();
        bench.queue.copy_to(&memory, 0, &[text.as_bytes(), b"\0"].concat()).unwrap();
        let (after, report) = run(&bench, "prints", lanes as u32, Args::new().address(memory.address()));
        assert!(report.is_success(), "{report}");
        let printed = String::from_utf8(printed.lock().unwrap().clone()).unwrap();
        for lane in 0..lanes {
            let begins = format!("lane {lane} ");
            let lines: Vec<&str> = printed.lines().filter(|line| line.starts_with(&begins)).collect();
            let expected = [format!("lane {lane} begins: 5%"), format!("lane {lane} has {text}"), format!("lane {lane} ends")];
            assert_eq!(lines, expected);
            assert_eq!(after[lane as usize], (expected[0].len() + expected[1].len() + 2) as u64, "printf gives the number of bytes");
        }
        assert_eq!(printed.lines().count() as u64, 3 * lanes);
        let errors = String::from_utf8(errors.lock().unwrap().clone()).unwrap();
        let mut lines: Vec<&str> = errors.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<String> = (0..lanes).map(|lane| format!("error of {lane}")).collect();
        expected.sort_unstable();
        assert_eq!(lines, expected);
    });
}

#[test]
fn an_index_out_of_an_embedding_is_told_and_the_table_can_be_looked_up_again() {
    each(|image, setting| {
        let bench = bench(image, setting);
        let (count, width, rows) = (100u32, 8u32, 50i64);
        let lanes = count * width;
        let [out, table] = [lanes, rows as u32 * width].map(|len| bench.device.alloc::<f32>(len as usize).unwrap());
        let rows_of_table: Vec<f32> = (0..rows as u32 * width).map(|i| (i / width) as f32).collect();
        bench.queue.copy_to(&table, 0, &rows_of_table).unwrap();
        let index = bench.device.alloc::<i64>(count as usize).unwrap();
        let mut wanted: Vec<i64> = (0..i64::from(count)).map(|i| i % rows - if i % 3 == 0 { rows } else { 0 }).collect();
        wanted[17] = rows;
        let kernel = bench.program.kernel("embedding").unwrap();
        let launch = |wanted: &[i64]| {
            bench.queue.copy_to(&index, 0, wanted).unwrap();
            let args = Args::new().address(out.address()).address(table.address()).address(index.address());
            let args = args.value(count).value(width).value(rows).value(0u64);
            // SAFETY: the kernel reads and writes what its arguments say, and an index that is out of range it refuses.
            unsafe { bench.queue.launch(&kernel, Launch::threads(lanes, 64), args) }.unwrap();
            bench.server.wait(&bench.queue)
        };
        let error = launch(&wanted).unwrap_err();
        let panic = only(error.report());
        assert_eq!(panic.lanes, 8, "{panic}");
        let condition = "assertion `-rows <= row && row < rows && \"index out of bounds\"` failed";
        assert!(panic.message.starts_with(&format!("{condition}\n  left: -50 (of the first comparison)\n right: 50\n")), "{panic}");
        assert!(panic.file.ends_with("embedding.cuh"), "{panic}");
        wanted[17] = 0;
        launch(&wanted).unwrap();
        let expected: Vec<f32> = wanted.iter().flat_map(|row| vec![row.rem_euclid(rows) as f32; width as usize]).collect();
        assert_eq!(bench.queue.read(&out).unwrap(), expected);
    });
}
