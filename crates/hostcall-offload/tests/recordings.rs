//! Recordings of C programs, and what `offload-replay` makes of them.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{command, image, liboffload, program, succeed, text};

fn kernels() -> PathBuf {
    liboffload().join("tests/images/kernels.c")
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

/// Records `recorded.c`; the recording.
fn record(folder: &Path, arguments: &[&str]) -> PathBuf {
    let recorded = program(folder, "recorded", &[source("recorded.c")]);
    let path = folder.join("run.olrec");
    let image = image(folder, &kernels(), false);
    let output = command(&recorded).arg(image).args(arguments).env("OFFLOAD_RECORD", &path).output().unwrap();
    assert_eq!(output.status.success(), arguments.is_empty(), "{output:?}");
    path
}

fn replay(recording: &Path, arguments: &[&str]) -> Output {
    let mut replay = command(Path::new(env!("CARGO_BIN_EXE_offload-replay")));
    replay.args(arguments).arg(recording).output().expect("it runs")
}

#[test]
fn a_program_that_was_recorded_gives_the_same_results_when_it_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record(folder.path(), &[]);
    for arguments in [&[][..], &["--device", "HOST"]] {
        let output = replay(&recording, arguments);
        let said = text(&output.stdout);
        assert!(output.status.success() && said.ends_with(" 0 different\n"), "{output:?}");
        let numbers: Vec<usize> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // All calls but those that only ask; their codes, three copies and what kernels left in regions.
        assert!(numbers[0] >= 38 && numbers[1] > numbers[0] + 6, "{said}");
    }
}

#[test]
fn kernels_that_compute_something_else_are_different() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record(folder.path(), &[]);
    let changed = folder.path().join("changed.c");
    let kernels = std::fs::read_to_string(kernels()).unwrap();
    assert!(kernels.contains("a[item()] + b[item()]"));
    std::fs::write(&changed, kernels.replace("a[item()] + b[item()]", "a[item()] ^ b[item()]")).unwrap();
    let changed = image(folder.path(), &changed, false);
    let output = replay(&recording, &["--image", changed.to_str().unwrap()]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said.contains("different: olSyncQueue (call ") && said.contains(" copied was 0x"), "{said}");
    assert!(said.contains("has another content"), "{said}");
}

#[test]
fn a_program_that_crashes_leaves_a_recording_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record(folder.path(), &["crash"]);
    let output = replay(&recording, &[]);
    assert!(output.status.success() && text(&output.stdout).ends_with(" 0 different\n"), "{output:?}");
}

#[test]
fn what_is_no_whole_recording_is_an_error_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record(folder.path(), &[]);
    let whole = std::fs::read(&recording).unwrap();
    let expect = |bytes: &[u8], what: &str| {
        let path = folder.path().join("damaged");
        std::fs::write(&path, bytes).unwrap();
        let output = replay(&path, &[]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(what), "{what}: {}", text(&output.stderr));
    };
    expect(&whole[..whole.len() - 3], "it is cut off in entry ");
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    expect(&changed, "is damaged: its check does not fit its content");
    expect(b"int main(void) {}\n", "it is no recording");
    expect(b"offload-record 9 api 23\n", "it says `offload-record 9 api 23`, and this program reads `offload-record 1 api ");
    let output = replay(&folder.path().join("nothing"), &[]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("it cannot be read: "), "{output:?}");
}

#[test]
fn a_device_that_is_not_there_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let recording = record(folder.path(), &[]);
    let output = replay(&recording, &["--device", "LEVEL_ZERO"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("no device 0 of LEVEL_ZERO here: choose another one with --device HOST"), "{output:?}");
}

#[test]
fn a_program_with_queues_events_and_errors_is_replayed_call_by_call() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), "suite", &[liboffload().join("tests/c/suite.c")]);
    let (simulated, host) = (image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true));
    let path = folder.path().join("suite.olrec");
    let recorded = succeed(command(&suite).arg(simulated).arg(host).env("OFFLOAD_RECORD", &path));
    assert!(text(&recorded.stdout).ends_with(" 0 failed\n"), "recording changes nothing: {recorded:?}");
    let output = replay(&path, &[]);
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    assert!(text(&output.stdout).contains(" results compared, "), "{output:?}");
}

#[test]
fn nothing_is_recorded_where_no_file_can_be_made_and_the_program_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let add = program(folder.path(), "add", &[Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/c/vector_add.c")]);
    let kernel = image(folder.path(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/c/vector_add_kernel.c"), false);
    let output = succeed(Command::new(&add).arg(kernel).env("OFFLOAD_PLATFORMS", "host").env("OFFLOAD_RECORD", "/nowhere/at/all"));
    assert!(text(&output.stderr).contains("offload: cannot write to /nowhere/at/all, which OFFLOAD_RECORD names: "), "{output:?}");
}
