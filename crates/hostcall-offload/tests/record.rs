//! Programs that are recorded (`OFFLOAD_RECORD`) and replayed (`offload-replay`), on the host.

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use common::{command, example, image, kernels, program, source, tool};
use hostcall_test_support::{succeed, text};

fn replay(arguments: &[&Path]) -> Output {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    let mut command = command(TOOL.get_or_init(|| tool("offload-replay")));
    command.args(arguments).output().expect("it runs")
}

/// A recording of vector_add, in the simulator, and its image.
fn vector_add(folder: &Path) -> (PathBuf, PathBuf) {
    let add = program(folder, "vector_add", &[example("vector_add.c")]);
    let image = image(folder, &example("vector_add_kernel.c"), false);
    let file = folder.join("add.rec");
    let output = succeed(command(&add).arg(&image).env("OFFLOAD_RECORD", &file));
    assert!(text(&output.stdout).contains("1024 sums are right"), "{output:?}");
    (file, image)
}

/// How many calls were replayed, results compared, and how many differ.
fn summary(output: &Output) -> [usize; 3] {
    let stdout = text(&output.stdout);
    let line = stdout.lines().last().unwrap_or_else(|| panic!("a summary: {output:?}"));
    let numbers: Vec<usize> = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("three numbers: {output:?}"))
}

#[test]
fn a_program_is_replayed_with_the_data_that_it_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = vector_add(folder.path());
    let output = replay(&[&file]);
    let [calls, compared, differ] = summary(&output);
    assert!(output.status.success() && differ == 0 && calls > 15 && compared > calls, "{output:?}");
}

#[test]
fn a_changed_result_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = vector_add(folder.path());
    // The same kernel's name, which subtracts.
    let source = std::fs::read_to_string(example("vector_add_kernel.c")).unwrap();
    let other = folder.path().join("other.c");
    std::fs::write(&other, source.replace("a[i] + b[i]", "a[i] - b[i]")).unwrap();
    let other = image(folder.path(), &other, false);
    let output = replay(&[&file, Path::new("--image"), &other]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout.contains("difference: data that queues had written when call "), "{stdout}");
    assert_eq!(summary(&output)[2], 1, "{stdout}");

    // An image that has no such kernel: the codes differ from there on.
    let other = image(folder.path(), &kernels(), false);
    let output = replay(&[&file, Path::new("--image"), &other]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        stdout.contains("olGetSymbol: gives OL_ERRC_NOT_FOUND (the program has no kernel `vector_add`; its image has `add`, ")
            && stdout.contains("…); the recording has OL_ERRC_SUCCESS"),
        "{stdout}"
    );
}

#[test]
fn a_recording_with_a_host_image_replays_in_the_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let leaks = program(folder.path(), "launches", &[source("recorded.c")]);
    let (host, simulated) = (image(folder.path(), &kernels(), true), image(folder.path(), &kernels(), false));
    let file = folder.path().join("host.rec");
    succeed(command(&leaks).arg(&host).env("OFFLOAD_RECORD", &file));
    for arguments in
        [vec![file.as_path()], vec![&file, Path::new("--image"), &simulated], vec![&file, Path::new("--device"), Path::new("host")]]
    {
        let output = replay(&arguments);
        let [calls, compared, differ] = summary(&output);
        assert!(output.status.success() && differ == 0 && calls > 20 && compared > calls, "{output:?}");
    }
    // What cannot be replayed is said.
    let stdout = text(&replay(&[&file]).stdout);
    assert!(stdout.contains("olLaunchHostFunction: cannot be replayed: what the host function does"), "{stdout}");
    assert!(stdout.contains("which argument 2 names and the library never saw"), "{stdout}");
}

#[test]
fn the_whole_suite_of_the_api_replays_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), "suite", &[source("suite.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let file = folder.path().join("suite.rec");
    let recorded = text(&succeed(command(&suite).arg(simulated).arg(host).env("OFFLOAD_RECORD", &file)).stdout);
    assert!(recorded.ends_with(" 0 failed\n"), "{recorded}");
    let output = replay(&[&file]);
    let [calls, compared, differ] = summary(&output);
    assert!(output.status.success() && differ == 0 && calls > 700 && compared > 700, "{}", text(&output.stdout));
}

#[test]
fn a_recording_that_is_cut_replays_to_its_last_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = vector_add(folder.path());
    let bytes = std::fs::read(&file).unwrap();
    let cut = folder.path().join("cut.rec");
    let mut calls_before = 0;
    for part in 1..24 {
        let length = bytes.len() * part / 24 + part % 3;
        std::fs::write(&cut, &bytes[..length]).unwrap();
        let output = replay(&[&cut]);
        let stdout = text(&output.stdout);
        let [calls, _, differ] = summary(&output);
        assert!(output.status.success() && differ == 0 && calls >= calls_before, "{length} bytes: {output:?}");
        assert!(stdout.contains("note: the recording is cut: "), "{length} bytes: {stdout}");
        calls_before = calls;
    }
    assert!(calls_before > 10);
}

#[test]
fn what_is_no_recording_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = vector_add(folder.path());
    let bytes = std::fs::read(&file).unwrap();
    let changed = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        bytes
    };
    for (content, reason) in [
        (b"int main(void) { return 0; }".to_vec(), "this is no recording"),
        (bytes[..13].to_vec(), "the recording is cut after 13 bytes, before its first call"),
        (Vec::new(), "the recording is cut after 0 bytes"),
        (changed(8, 9), "the recording has format 9, and this program replays 1"),
        (changed(12, 24), "the recording has API 24, and this program replays 23"),
        (changed(16, 4), "the recording has size of addresses 4"),
        (changed(60, bytes[60] ^ 1), "the recording is damaged in record 0, at byte 20: its bytes are not those that were written"),
    ] {
        let bad = folder.path().join("bad.rec");
        std::fs::write(&bad, content).unwrap();
        let output = replay(&[&bad]);
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(reason), "{reason}: {output:?}");
    }
    for (arguments, reason) in [
        (vec![Path::new("/no/such/file")], "cannot read /no/such/file"),
        (vec![&*file, Path::new("--device"), Path::new("gpu")], "`gpu` is no device"),
        (vec![&*file, Path::new("--device"), Path::new("host:7")], "host:7 ("),
        (vec![], "usage: offload-replay FILE"),
    ] {
        let output = replay(&arguments);
        assert!(output.status.code() == Some(2) && text(&output.stderr).contains(reason), "{reason}: {output:?}");
    }
}

#[test]
fn a_program_that_crashes_leaves_the_call_that_it_crashed_in() {
    let folder = tempfile::tempdir().unwrap();
    let crash = program(folder.path(), "crash", &[source("crash.c")]);
    let file = folder.path().join("crash.rec");
    let output = command(&crash).env("OFFLOAD_RECORD", &file).output().unwrap();
    assert!(!output.status.success(), "it crashes: {output:?}");
    let output = replay(&[&file]);
    let stdout = text(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("olIterateDevices: the recording ends in it; here it gives OL_SUCCESS"),
        "{output:?}"
    );
}

#[test]
fn calls_of_many_threads_are_recorded_whole() {
    let folder = tempfile::tempdir().unwrap();
    let stress = program(folder.path(), "stress", &[source("stress.c")]);
    let image = image(folder.path(), &kernels(), true);
    let file = folder.path().join("stress.rec");
    let output = text(&succeed(command(&stress).arg(image).args(["8", "100", "1"]).env("OFFLOAD_RECORD", &file)).stdout);
    assert!(output.contains("8 threads, 800 steps, 0 surprises"), "{output}");
    let recording = liboffload::library::Recording::read(&std::fs::read(&file).unwrap()).unwrap();
    assert!(recording.cut() == 0 && recording.calls() > 800, "{} calls, {} bytes cut", recording.calls(), recording.cut());
    assert_eq!(recording.open_calls(), 0, "each call has its end");
}

#[test]
fn a_recording_that_cannot_be_written_is_reported_and_calls_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let add = program(folder.path(), "vector_add", &[example("vector_add.c")]);
    let image = image(folder.path(), &example("vector_add_kernel.c"), false);
    let output = succeed(command(&add).arg(&image).env("OFFLOAD_RECORD", "/no/such/folder/x.rec"));
    assert!(text(&output.stderr).contains("offload: cannot write to /no/such/folder/x.rec, which OFFLOAD_RECORD names: "), "{output:?}");
    assert!(text(&output.stdout).contains("1024 sums are right"));
}
