//! Programs over LLVM 24's API that are recorded and replayed, on the host.

#[path = "../../hostcall-offload/tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::{command, image, kernels, ported, program, source, tool};
use hostcall_test_support::{succeed, text};

/// Records a run of a program over both kinds of images.
fn record(folder: &Path, program: &Path, images: &[PathBuf]) -> PathBuf {
    let file = folder.join(program.file_name().expect("a program has a name")).with_extension("rec");
    succeed(command(program).args(images).env("OFFLOAD_RECORD", &file));
    file
}

fn replay(tool_name: &str, file: &Path) -> Output {
    command(&tool(tool_name)).arg(file).output().expect("it runs")
}

#[test]
fn programs_replay_as_they_were_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let images = [image(folder.path(), &kernels(), false), image(folder.path(), &kernels(), true)];
    let recorded = ported(folder.path(), "recorded", &[source("recorded.c")]);
    let suite = ported(folder.path(), "suite", &[source("suite.c")]);
    let own = program(folder.path(), "suite24", &[source("suite24.c")]);
    for (program, images) in [(&recorded, &images[1..]), (&suite, &images[..]), (&own, &images[..])] {
        let output = replay("offload-replay24", &record(folder.path(), program, images));
        let stdout = text(&output.stdout);
        let summary = stdout.lines().last().unwrap_or_default();
        let numbers: Vec<usize> = summary.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
        assert!(output.status.success() && numbers.len() == 3 && numbers[0] > 20 && numbers[1] > 20 && numbers[2] == 0, "{output:?}");
        // What cannot be replayed is said.
        let only_shown = stdout.contains("olGetSymbolInfo, is left out: only a function of olIterateSymbols was shown its symbol");
        assert_eq!(only_shown, program == &own, "{stdout}");
    }
}

#[test]
fn the_tool_of_the_other_version_refuses_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = ported(folder.path(), "recorded", &[source("recorded.c")]);
    let file = record(folder.path(), &recorded, &[image(folder.path(), &kernels(), true)]);
    let output = replay("offload-replay", &file);
    let stderr = text(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("the recording has API 24, and this program replays 23"), "{output:?}");
}
