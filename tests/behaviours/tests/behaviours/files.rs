//! Files of the host, and what is not granted.

use std::fs;
use std::path::Path;

use hostcall::{Access, Limits, ServerBuilder};
use hostcall_tests::{Bench, on_gpu};
use offload::{Args, Launch};
use tempfile::TempDir;

/// A directory with `ro` and `rw`, both granted, and a `secret` beside them, which is not.
fn tree() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["ro", "rw", "ro/dir", "outside"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("secret"), "secret").unwrap();
    fs::write(at("outside/secret"), "secret").unwrap();
    fs::write(at("ro/given"), "given").unwrap();
    fs::write(at("rw/mine"), "mine").unwrap();
    std::os::unix::fs::symlink("../secret", at("rw/link")).unwrap();
    std::os::unix::fs::symlink(at("outside"), at("rw/linkdir")).unwrap();
    dir
}

fn granted(dir: &Path) -> impl FnOnce(ServerBuilder) -> ServerBuilder {
    move |b| {
        let b = b.heap(8 << 20).dir(dir.join("ro"), "ro", Access::ReadOnly).unwrap();
        b.dir(dir.join("rw"), "rw", Access::ReadWrite).unwrap()
    }
}

/// Bytes that differ from place to place.
fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 255 + i / 65_537) as u8).collect()
}

#[test]
fn a_kernel_creates_writes_reads_seeks_renames_and_removes_files() {
    let dir = tree();
    Bench::new(granted(dir.path())).run("file_life", Launch::linear(1, 1), Args::new()).unwrap();
    assert_eq!(fs::read_dir(dir.path().join("rw")).unwrap().count(), 3, "what it made it removed");
}

#[test]
fn a_kernel_creates_lists_and_removes_directories() {
    let dir = tree();
    Bench::new(granted(dir.path())).run("directory_life", Launch::linear(1, 1), Args::new()).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("rw/d/file-7")).unwrap(), "file-7");
    assert!(!dir.path().join("rw/d/e/f").exists());
}

#[test]
fn paths_out_of_a_grant_and_writes_to_a_read_only_one_are_refused() {
    let dir = tree();
    Bench::new(granted(dir.path())).run("file_refusals", Launch::linear(1, 1), Args::new()).unwrap();
    for (name, contents) in [("secret", "secret"), ("outside/secret", "secret"), ("ro/given", "given"), ("rw/mine", "mine")] {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), contents, "{name}");
    }
    assert_eq!(fs::read_dir(dir.path().join("ro")).unwrap().count(), 2);
}

#[test]
fn handles_that_were_never_given_to_the_program_are_refused() {
    let dir = tree();
    let bench = Bench::new(granted(dir.path()));
    let other = bench.device.load(&hostcall_tests::bundle()).unwrap();
    bench.server.attach(&other).unwrap();
    let memory = bench.device.alloc::<u64>(1).unwrap();
    // SAFETY: the kernel writes the one word.
    unsafe { bench.queue.launch(&other.kernel("leaves_open").unwrap(), Launch::linear(1, 1), Args::new().slice(&memory)) }.unwrap();
    bench.server.wait(&bench.queue).unwrap();
    let foreign = bench.queue.read(&memory).unwrap()[0];
    bench.run("hostile_handles", Launch::linear(1, 1), Args::new().value(foreign)).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("ro/given")).unwrap(), "given");
}

#[test]
fn many_lanes_read_one_file_each_its_own_part() {
    let dir = tree();
    for (lanes, part) in [(if on_gpu() { 4096 } else { 512 }, 97u32), (70, 5000), (5, 300_000)] {
        // The last lanes find the end of the file.
        let bytes = data((lanes * part) as usize - part as usize / 2);
        fs::write(dir.path().join("ro/big"), &bytes).unwrap();
        let bench = Bench::new(granted(dir.path()));
        let buffer = bench.device.alloc::<u8>((lanes * part) as usize).unwrap();
        let sums: Vec<u64> = bench.results("reads_parts", lanes, 64.min(lanes), Args::new().value(part).slice(&buffer));
        let read = bench.queue.read(&buffer).unwrap();
        assert!(read[..bytes.len()] == bytes, "{lanes} lanes of {part} bytes");
        for (i, sum) in sums.into_iter().enumerate() {
            let own = &bytes[i * part as usize..((i + 1) * part as usize).min(bytes.len())];
            let expected = own.iter().map(|b| u64::from(*b)).sum::<u64>() << 8 | u64::from(own.len() == part as usize);
            assert_eq!(sum, expected, "lane {i}");
        }
    }
}

#[test]
fn waves_copy_a_large_file_together() {
    let dir = tree();
    let bench = Bench::new(granted(dir.path()));
    let wave = bench.device.info().wave_size;
    let (groups, group) = (4, 2 * wave);
    let waves = (groups * 2) as usize;
    let part = if on_gpu() { 4 << 20 } else { 300_001 };
    let bytes = data(waves * part);
    fs::write(dir.path().join("ro/big"), &bytes).unwrap();
    fs::write(dir.path().join("rw/copy"), "").unwrap();
    let buffer = bench.device.alloc::<u8>(bytes.len()).unwrap();
    let read: Vec<u64> = bench.results("copies_by_wave", groups * group, group, Args::new().slice(&buffer));
    assert!(read.iter().all(|n| *n == part as u64), "{read:?}");
    assert!(bench.queue.read(&buffer).unwrap() == bytes, "what was read");
    assert!(fs::read(dir.path().join("rw/copy")).unwrap() == bytes, "what was written");
}

#[test]
fn appended_lines_of_many_lanes_are_all_there_and_whole() {
    let dir = tree();
    Bench::new(granted(dir.path())).run("appends", Launch::linear(6, 64), Args::new()).unwrap();
    let text = fs::read_to_string(dir.path().join("rw/lines")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..384).map(|i| format!("line {i:05}")).collect::<Vec<_>>());
}

#[test]
fn open_files_calls_and_bytes_in_flight_are_capped() {
    let dir = tree();
    fs::write(dir.path().join("ro/big"), data(1 << 20)).unwrap();
    let limited = |limits| Bench::new(|b| granted(dir.path())(b).limits(limits));
    let bench = limited(Limits::default().open_files(10));
    assert_eq!(bench.results::<u64>("opens_many", 1, 1, Args::new()), [10]);

    const EDQUOT: u64 = 122;
    let bench = limited(Limits::default().calls(25));
    let memory = bench.device.alloc::<u64>(2).unwrap();
    bench.run("calls_until_capped", Launch::linear(1, 1), Args::new().slice(&memory)).unwrap();
    assert_eq!(bench.queue.read(&memory).unwrap(), [25, EDQUOT]);

    let bench = limited(Limits::default().bytes_in_flight(1000));
    let buffer = bench.device.alloc::<u8>(60_000).unwrap();
    let refused: Vec<u64> = bench.results("reads_too_much", 1, 1, Args::new().slice(&buffer));
    assert_eq!(refused, [EDQUOT]);
}
