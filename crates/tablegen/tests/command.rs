//! The command's options, as build systems use them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablegen"));
    command.current_dir(dir).args(arguments);
    command
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    let output = command(dir, arguments).output().expect("the command runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("made");
    fs::write(dir.path().join("main.td"), "include \"b.inc\"\ninclude \"a.inc\"\n#ifdef MORE\ndef More;\n#endif\n").expect("written");
    fs::write(dir.path().join("sub/a.inc"), "def A;\n").expect("written");
    fs::write(dir.path().join("sub/b.inc"), "def B;\n").expect("written");
    dir
}

const RECORDS: &str = "------------- Classes -----------------\n------------- Defs -----------------\ndef A {\n}\ndef B {\n}\n";

#[test]
fn records_are_printed_to_the_standard_output_by_default() {
    let dir = folder();
    assert_eq!(String::from_utf8_lossy(&run(dir.path(), &["main.td", "-I", "sub"]).stdout), RECORDS);
    assert_eq!(String::from_utf8_lossy(&run(dir.path(), &["-Isub", "-print-records", "main.td"]).stdout), RECORDS);
    assert_eq!(String::from_utf8_lossy(&run(dir.path(), &["--I=sub", "--print-records", "main.td", "-o", "-"]).stdout), RECORDS);
}

#[test]
fn json_is_printed_with_either_spelling_and_the_last_action_counts() {
    let dir = folder();
    for arguments in [["-dump-json", "-Isub", "main.td"], ["--dump-json", "-Isub", "main.td"]] {
        let json: serde_json::Value = serde_json::from_slice(&run(dir.path(), &arguments).stdout).expect("JSON");
        assert_eq!(json["A"]["!name"], "A");
    }
    assert!(run(dir.path(), &["--print-records", "-dump-json", "-Isub", "main.td"]).stdout.starts_with(b"{"));
    assert_eq!(run(dir.path(), &["-dump-json", "--null-backend", "-Isub", "main.td"]).stdout, b"");
}

#[test]
fn the_source_may_come_from_the_standard_input() {
    let dir = folder();
    for arguments in [&["-Isub"][..], &["-Isub", "-"]] {
        let mut child = command(dir.path(), arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("piped").write_all(b"include \"a.inc\"\ndef B;\n").expect("read");
        assert_eq!(String::from_utf8_lossy(&child.wait_with_output().expect("it ends").stdout), RECORDS);
    }
}

#[test]
fn macros_are_defined_with_or_without_a_blank() {
    let dir = folder();
    for arguments in [&["-DMORE", "-Isub", "main.td"][..], &["-D", "MORE", "-Isub", "main.td"], &["-D=MORE", "-Isub", "main.td"]] {
        let output = run(dir.path(), arguments);
        assert!(String::from_utf8_lossy(&output.stdout).contains("def More {"), "{arguments:?}");
    }
}

#[test]
fn the_dependency_file_names_what_was_included() {
    let dir = folder();
    run(dir.path(), &["main.td", "-I", "sub", "-o", "out.inc", "-d", "out.d"]);
    assert_eq!(fs::read_to_string(dir.path().join("out.d")).expect("written"), "out.inc: sub/a.inc sub/b.inc\n");
    assert_eq!(fs::read_to_string(dir.path().join("out.inc")).expect("written"), RECORDS);
}

#[test]
fn a_dependency_file_needs_an_output_file() {
    let dir = folder();
    let output = command(dir.path(), &["main.td", "-I", "sub", "-d", "out.d"]).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "tablegen: error: the option -d must be used together with -o\n");
}

#[test]
fn an_unchanged_output_keeps_its_time() {
    let dir = folder();
    let out = dir.path().join("out");
    let arguments = ["main.td", "-Isub", "-o", "out", "-write-if-changed"];
    run(dir.path(), &arguments);
    let before = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&out).and_then(|file| file.set_modified(before)).expect("set");
    run(dir.path(), &arguments);
    assert_eq!(fs::metadata(&out).and_then(|metadata| metadata.modified()).expect("known"), before);
    run(dir.path(), &arguments[..4]);
    assert_ne!(fs::metadata(&out).and_then(|metadata| metadata.modified()).expect("known"), before);
}

#[test]
fn help_and_version_are_no_failure() {
    let dir = folder();
    assert!(String::from_utf8_lossy(&run(dir.path(), &["-help"]).stdout).contains("--dump-json"));
    assert!(String::from_utf8_lossy(&run(dir.path(), &["--version"]).stdout).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_closed_standard_output_is_an_error_and_no_panic() {
    let dir = folder();
    let mut child = command(dir.path(), &["main.td", "-Isub"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
