//! `cargo hostcall top` looks at a process that runs: a program whose read of standard input waits.
#![cfg(unix)]

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Ran, command, needs_toolchain, programs};

/// `cargo hostcall top`, for a user whose sockets lie in this directory.
fn top(runtime: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("cargo-hostcall"));
    command.arg("top").args(arguments).env("XDG_RUNTIME_DIR", runtime).env_remove("HOSTCALL_TOP");
    Ran::of(command.stdin(Stdio::null()).output().expect("it starts"))
}

#[test]
fn who_is_not_there_is_said_with_what_to_do() {
    let here = tempfile::tempdir().expect("a directory");
    let missing = here.path().join("none.sock").display().to_string();
    for arguments in [&[][..], &["1"], &["--socket", &missing]] {
        let ran = top(here.path(), arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("HOSTCALL_TOP=1 in its environment"), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(top(here.path(), &["--count", "0"]).code, Some(2));
}

#[test]
fn a_read_that_waits_is_seen_from_outside() {
    needs_toolchain!();
    let here = tempfile::tempdir().expect("a directory");
    let mut program = command(&["--threads", "1"], "cat", &[]);
    program.current_dir(programs()).env("XDG_RUNTIME_DIR", here.path()).env("HOSTCALL_TOP", "1");
    let mut program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
    // It is built first.
    let begin = Instant::now();
    let seen = loop {
        let ran = top(here.path(), &["--count", "1"]);
        if ran.text().contains("calls that wait for their answer") {
            break ran.text();
        }
        assert!(begin.elapsed() < Duration::from_secs(600), "{}\n{}", ran.text(), ran.stderr);
        assert_eq!(program.try_wait().expect("it is ours"), None, "{}", ran.stderr);
        std::thread::sleep(Duration::from_millis(100));
    };
    for word in ["service", "calls/s", "p99.9", "since", "program", "fds"] {
        assert!(seen.contains(word), "{word}: {seen}");
    }
    let json = top(here.path(), &["--format", "json", "--count", "2", "--every", "0.05"]).succeeded().text();
    let views: Vec<hostcall_top::View> = json.lines().map(|line| serde_json::from_str(line).expect("a view")).collect();
    let [first, second] = &views[..] else { panic!("two lines: {json}") };
    assert!(second.seconds > first.seconds && first.servers[0].waiting.len() == 1, "{json}");
    drop(program.stdin.take().map(|mut stdin| stdin.write_all(b"over")));
    let output = program.wait_with_output().expect("it is ours");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"over"[..]));
    assert_eq!(top(here.path(), &[]).code, Some(1), "it has ended");
}
