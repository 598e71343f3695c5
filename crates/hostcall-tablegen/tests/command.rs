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
    assert!(run(dir.path(), &["--dump-json", "-print-records", "-print-records", "-Isub", "main.td"]).stdout.starts_with(b"---"));
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
    assert_eq!(String::from_utf8_lossy(&output.stderr), "tablegen: error: -d names what an output file depends on; give -o as well\n");
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
fn unused_arguments_are_warned_of_unless_that_is_switched_off() {
    let dir = folder();
    fs::write(dir.path().join("unused.td"), "class A<int x>;\n").expect("written");
    let told = |arguments: &[&str]| String::from_utf8(run(dir.path(), arguments).stderr).expect("text");
    assert!(told(&["unused.td"]).contains("'A:x' is not used"));
    assert_eq!(told(&["unused.td", "--no-warn-on-unused-template-args"]), "");
}

#[test]
fn diagnostics_are_in_llvm_s_format_if_asked_for_or_if_the_program_has_llvm_s_name() {
    let dir = folder();
    fs::write(dir.path().join("bad.td"), "include \"in.inc\"\n").expect("written");
    fs::write(dir.path().join("sub/in.inc"), "def A : Nothing;\n").expect("written");
    let wanted = "Included from bad.td:1:\nsub/in.inc:1:9: error: there is no class 'Nothing'\ndef A : Nothing;\n        ^\n";
    let asked = command(dir.path(), &["bad.td", "-Isub", "--diagnostics=llvm"]).output().expect("the command runs");
    assert_eq!((asked.status.code(), String::from_utf8_lossy(&asked.stderr).as_ref()), (Some(1), wanted));
    let rich = command(dir.path(), &["bad.td", "-Isub"]).output().expect("the command runs");
    assert!(String::from_utf8_lossy(&rich.stderr).starts_with("error: there is no class 'Nothing'\n"));
    let named = dir.path().join("llvm-tblgen-22");
    fs::copy(env!("CARGO_BIN_EXE_tablegen"), &named).expect("copied");
    let named = Command::new(named).current_dir(dir.path()).args(["bad.td", "-Isub"]).output().expect("the command runs");
    assert_eq!(String::from_utf8_lossy(&named.stderr), wanted);
}

#[test]
fn phases_are_timed_and_colours_are_used_if_asked_for() {
    let dir = folder();
    let told = String::from_utf8(run(dir.path(), &["main.td", "-Isub", "-time-phases"]).stderr).expect("text");
    assert!(told.contains("read and evaluate") && told.contains("total"), "{told}");
    fs::write(dir.path().join("bad.td"), "def A : Nothing;\n").expect("written");
    let told = |color: &str| command(dir.path(), &["bad.td", color]).output().expect("the command runs").stderr;
    assert!(told("--color").contains(&b'\x1b') && !told("--color=false").contains(&b'\x1b'));
}

#[test]
fn help_and_version_are_no_failure() {
    let dir = folder();
    assert!(String::from_utf8_lossy(&run(dir.path(), &["-help"]).stdout).contains("--dump-json"));
    assert!(String::from_utf8_lossy(&run(dir.path(), &["--version"]).stdout).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_closed_standard_output_is_no_panic() {
    let dir = folder();
    let mut child = command(dir.path(), &["main.td", "-Isub"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
