//! The device library: print, files, heap, time, environment, random numbers, panics, exit.

use std::sync::{Arc, Mutex};

use hostcall::{Access, ServerBuilder, Sink, WaitError};
use hostcall_tests::Bench;
use offload::{Args, Launch};

/// What kernels printed.
#[derive(Clone)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn printing(set_up: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (Bench, Printed, Printed) {
    let ((out, out_memory), (err, err_memory)) = (Sink::buffer(), Sink::buffer());
    let bench = Bench::new(|builder| set_up(builder.stdout(out).stderr(err).heap(32 << 20)));
    (bench, Printed(out_memory), Printed(err_memory))
}

fn with_data(set_up: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (Bench, Printed, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (bench, out, _) = printing(|builder| set_up(builder.dir(dir.path(), "/data", Access::ReadWrite).unwrap()));
    (bench, out, dir)
}

#[test]
fn lines_of_all_lanes_come_out_whole_and_in_each_lanes_order() {
    let (bench, out, err) = printing(|builder| builder);
    let (lanes, lines) = (300u32, 12u32);
    bench.run("print_lines", Launch::threads(lanes, 100), Args::new().value(lines)).unwrap();
    let mut next = vec![0; lanes as usize];
    for line in out.text().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (lane, i): (usize, u32) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        assert_eq!(i, next[lane], "{line}");
        assert_eq!(line, format!("{lane} {i} {:.2} {:?} {:>width$}", lane as f32 / 4.0, Some(i), "x", width = i as usize % 90 + 1));
        next[lane] += 1;
    }
    assert!(next.iter().all(|n| *n == lines));
    let expected = (0..lanes).flat_map(|lane| (0..lines).map(move |i| lane + i)).filter(|n| n % 3 == 0).count();
    assert_eq!(err.text().lines().filter(|line| line.starts_with("error ")).count(), expected);
}

#[test]
fn lines_longer_than_any_buffer_come_out_whole() {
    let (bench, out, _) = printing(|builder| builder);
    bench.run("print_long", Launch::threads(70, 70), Args::new().value(3000u32)).unwrap();
    let text = out.text();
    let mut seen: Vec<usize> = text
        .lines()
        .map(|line| {
            let lane = line.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(line, format!("{lane} {lane:>3000}|"));
            lane
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..70).collect::<Vec<_>>());
}

#[test]
fn every_lane_has_files_of_its_own() {
    let (bench, out, dir) = with_data(|builder| builder);
    let right: Vec<u32> = bench.results("files", 100, 50, Args::new());
    assert_eq!(right, vec![1; 100], "{}", out.text());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_is_listed() {
    let (bench, out, dir) = with_data(|builder| builder);
    for i in 0..20 {
        std::fs::write(dir.path().join(format!("f{i:02}")), vec![0; i]).unwrap();
    }
    bench.run("list", Launch::threads(1, 1), Args::new()).unwrap();
    let mut lines: Vec<String> = out.text().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..20).map(|i| format!("/data/f{i:02} {i}")).collect::<Vec<_>>());
}

#[test]
fn waves_read_large_parts_together() {
    let (bench, _, dir) = with_data(|builder| builder);
    let bytes: Vec<u8> = (0..1_000_003u32).map(|i| ((i * 7) >> 3) as u8).collect();
    std::fs::write(dir.path().join("big"), &bytes).unwrap();
    let part = 150_000u32;
    let waves = bytes.len().div_ceil(part as usize) as u32;
    let size = bench.device.info().wave_size;
    let memory = bench.device.alloc::<u8>(bytes.len()).unwrap();
    bench.run("read_by_waves", Launch::threads(waves * size, size), Args::new().value(part).slice(&memory)).unwrap();
    assert!(bench.queue.read(&memory).unwrap() == bytes);
}

#[test]
fn many_lanes_allocate_at_once_and_everything_comes_back() {
    let (bench, _, _) = printing(|builder| builder);
    let wrong: Vec<u32> = bench.results("heap_churn", 512, 128, Args::new().value(60u32).value(700u32));
    assert_eq!(wrong, vec![0; 512]);
    let right: Vec<u64> = bench.results("heap_collections", 64, 64, Args::new());
    assert_eq!(right, vec![1; 64]);
    let stats: Vec<u64> = bench.results("heap_stats", 2, 1, Args::new());
    assert_eq!(stats[0], 0);
    assert!(stats[1] > 30 << 20);
}

#[test]
fn an_exhausted_heap_names_the_size_asked_for_and_the_setting() {
    let (bench, _, _) = printing(|builder| builder);
    let error = bench.run("heap_exhausted", Launch::threads(1, 1), Args::new().value(1u64 << 30)).unwrap_err();
    let message = &error.report().panics[0].message;
    assert!(message.contains("1073741824 bytes") && message.contains(".heap(bytes)") && message.contains("--heap"), "{message}");
}

#[test]
fn only_what_was_granted_of_the_surroundings_is_seen() {
    let (bench, out, _) = printing(|builder| builder.arg("one").arg("two words").env("GREETING", "hello"));
    bench.run("surroundings", Launch::threads(1, 1), Args::new()).unwrap();
    assert_eq!(out.text(), "[\"one\", \"two words\"] Some(\"hello\") None\n");
}

#[test]
fn a_panic_is_reported_with_its_place_and_the_device_stays_usable() {
    let (bench, out, _) = printing(|builder| builder);
    let error = bench.run("panics", Launch::threads(96, 32), Args::new().value(70u32)).unwrap_err();
    let WaitError::Kernel(report) = &error else { panic!("{error}") };
    assert_eq!(report.panics.len(), 1, "{error}");
    let panic = &report.panics[0];
    assert_eq!((panic.message.as_str(), panic.block, panic.thread), ("lane 70 had enough", [2, 0, 0], [6, 0, 0]));
    assert!(panic.file.ends_with("library.rs") && panic.line > 0);
    bench.run("print_lines", Launch::threads(1, 1), Args::new().value(1u32)).unwrap();
    assert!(out.text().starts_with("0 0 0.00"));
}

#[test]
fn an_exit_code_arrives() {
    let (bench, _, _) = printing(|builder| builder);
    bench.run("exits", Launch::threads(64, 32), Args::new().value(0i32)).unwrap();
    let error = bench.run("exits", Launch::threads(64, 32), Args::new().value(7i32)).unwrap_err();
    assert_eq!(error.report().exit_code(), Some(7));
}
