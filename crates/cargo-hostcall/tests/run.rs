//! `cargo hostcall run` on the simulator, with the kernels of `fixtures/ends`.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

const ENDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ends");

fn run(options: &[&str], kernel: &[&str]) -> Output {
    let mut command = Command::cargo_bin("cargo-hostcall").expect("the binary is built for its tests");
    command.args(["run", "--device", "sim"]).args(options).arg(ENDS).args(kernel).env("SHADE", "grey").env_remove("NOTHING");
    command.output().expect("runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn ends(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(code), stdout), "{said}");
    assert!(said.contains(stderr), "no `{stderr}` in {said}");
}

#[test]
fn parameters_arrive_as_they_were_typed() {
    ends(&run(&[], &["params", "200", "-7", "1.5", "0xffffffffff", "-2e3"]), 0, "200 -7 1.5 1099511627775 -2000\n", "running params");
}

#[test]
fn wrong_parameters_are_refused_before_the_launch() {
    ends(&run(&[], &["params", "1", "2"]), 1, "", "has 5 parameters, 2 are given");
    ends(&run(&[], &["params", "256", "0", "0.0", "0", "0.0"]), 1, "", "`256` is no number of 1 bytes for parameter 0");
    ends(&run(&[], &["nobody"]), 1, "", "nobody");
}

#[test]
fn the_exit_code_is_the_kernels() {
    ends(&run(&[], &["exits", "0"]), 0, "", "");
    ends(&run(&[], &["exits", "42"]), 42, "", "");
    // The low byte would be 0.
    ends(&run(&[], &["exits", "256"]), 1, "", "");
}

#[test]
fn what_the_compiler_warns_of_is_seen_before_the_kernel_runs() {
    let warns = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-build/tests/fixtures/warns");
    let mut command = Command::cargo_bin("cargo-hostcall").expect("the binary is built for its tests");
    let output = command.args(["run", "--device", "sim"]).arg(warns).arg("quiet").output().expect("runs");
    ends(&output, 0, "", "warning: unused `Result` that must be used");
}

#[test]
fn a_kernel_that_does_not_compile_begins_with_the_compilers_error() {
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-build/tests/fixtures/broken");
    let mut command = Command::cargo_bin("cargo-hostcall").expect("the binary is built for its tests");
    let output = command.args(["run", "--device", "sim"]).arg(broken).arg("k").output().expect("runs");
    let said = text(&output.stderr);
    // After the line that says what is built.
    assert!(said.lines().nth(1).is_some_and(|line| line.starts_with("error: `#[panic_handler]` function required")), "{said}");
    assert!(said.contains("\nerror[E0308]: mismatched types\n"), "{said}");
}

#[test]
fn a_panic_ends_with_101_and_its_message_and_place() {
    let output = run(&["--block", "8"], &["panics"]);
    ends(&output, 101, "", "lane three gives up");
    assert!(text(&output.stderr).contains("src/lib.rs:"), "{}", text(&output.stderr));
}

#[test]
fn a_kernel_that_does_not_end_is_ended() {
    ends(&run(&["--timeout", "0.5"], &["hangs"]), 124, "", "has not ended after 500ms");
}

#[test]
fn a_kernel_has_the_directories_and_variables_that_it_was_granted_and_no_others() {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("file"), "contents").expect("written");
    let grant = |guest: &str| format!("{}::{guest}", dir.path().display());
    let (read, write) = (grant("in:ro"), grant("out"));
    let both = ["--dir", &read, "--dir", &write];
    ends(&run(&[&both[..], &["--env", "COLOUR=red"]].concat(), &["copies"]), 0, "Ok(Some(\"red\"))\n", "");
    assert_eq!(fs::read(dir.path().join("copy")).expect("copied"), b"contents");

    let output = run(&both[..2], &["copies"]);
    assert_eq!(output.status.code(), Some(101), "nothing may be written: {}", text(&output.stderr));
    ends(&run(&["--env", "NOTHING"], &["copies"]), 1, "", "--env NOTHING: environment variable not found");
    ends(&run(&["--dir", "/nowhere/at/all"], &["copies"]), 1, "", "/nowhere/at/all");
}

#[test]
fn an_allocation_that_the_heap_cannot_hold_names_the_setting() {
    ends(&run(&[], &["allocates", "1000"]), 0, "1000\n", "");
    ends(&run(&["--heap", "1m"], &["allocates", "8000000"]), 101, "", "--heap");
}

#[test]
fn statistics_and_a_trace_tell_of_the_calls() {
    let dir = TempDir::new().expect("a directory");
    let trace = dir.path().join("trace.json");
    let output = run(&["--stats", "--trace", trace.to_str().expect("UTF-8")], &["allocates", "1"]);
    ends(&output, 0, "1\n", "Console__print");
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(&trace).expect("written")).expect("JSON");
    assert!(trace.to_string().contains("Console__print"), "{trace}");
}

#[test]
fn hostcall_debug_logs_each_call() {
    let mut command = Command::cargo_bin("cargo-hostcall").expect("the binary is built for its tests");
    command.args(["hostcall", "run", "--device", "sim", ENDS, "allocates", "1"]).env("HOSTCALL_DEBUG", "1");
    let output = command.output().expect("runs");
    ends(&output, 0, "1\n", "service=\"Console__print\"");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_run() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let binary = assert_cmd::cargo::cargo_bin("cargo-hostcall");
    let mut command = std::process::Command::new(binary);
    let child = command.args(["run", "--device", "sim", ENDS, "hangs"]).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    assert!(lines.any(|line| line.expect("text").starts_with("running hangs")));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    assert_eq!(child.wait().expect("ends").code(), Some(130));
}

#[test]
fn a_directory_without_a_kernel_crate_is_a_clear_error() {
    let dir = TempDir::new().expect("a directory");
    let here: &Path = dir.path();
    let mut command = Command::cargo_bin("cargo-hostcall").expect("the binary is built for its tests");
    let output = command.args(["run", "--device", "sim"]).arg(here).arg("k").output().expect("runs");
    ends(&output, 1, "", "Cargo.toml");
}
