//! C programs, compiled against the generated header and linked to the generated entry points.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The C compiler that the environment names, or `cc`.
fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

/// Where the library for the tests is. Tests may be built without it (`--test` builds one target), so it is built here.
fn stub() -> &'static Path {
    static STUB: OnceLock<PathBuf> = OnceLock::new();
    STUB.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args(["build", "--package", "hostcall-offload-api", "--example", "stub", "--message-format", "json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        let built = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let library = built
            .filter(|message| message["target"]["name"] == "stub")
            .find_map(|message| Some(message["filenames"][0].as_str()?.to_owned()));
        PathBuf::from(library.expect("cargo says where the library is"))
    })
}

/// Compiles one of the programs.
fn compile(name: &str, folder: &Path) -> PathBuf {
    compile_all(&[name], folder)
}

/// Compiles a program of several files.
fn compile_all(names: &[&str], folder: &Path) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join(names[0]);
    let output = Command::new(compiler())
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread", "-I"])
        .arg(crate_folder.join("include"))
        .args(names.iter().map(|name| crate_folder.join(format!("tests/c/{name}.c"))))
        .arg(stub())
        .arg(format!("-Wl,-rpath,{}", stub().parent().expect("a file is in a folder").display()))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler (Debian: gcc, or name one in CC)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program);
    command.args(args).env_remove("OFFLOAD_TRACE").env_remove("OFFLOAD_TRACE_FILTER").env_remove("OFFLOAD_DISABLE_VALIDATION");
    let output = command.envs(environment.iter().copied()).output().expect("the program runs");
    assert!(output.status.success(), "{:?}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("programs and traces write UTF-8")
}

/// Replaces what differs from run to run.
fn stable(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("0x") {
        out.push_str(&rest[..at]);
        out.push_str("0x…");
        rest = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out.push_str(rest);
    let words = out.split(' ').map(|word| match word.split_once('=') {
        Some((name @ ("start" | "duration" | "thread"), _)) => format!("{name}=…"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn errors_say_what_was_wrong_and_where_the_caller_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&compile("three_calls", folder.path()), &[], &[]);
    let lines: Vec<_> = text(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "olInit: success",
            "olMemFill: 8: three_calls.c:20:5 (main): `PatternSize == 0`",
            "olMemFree: 1: three_calls.c:21:5 (main): the library panicked in olMemFree: cannot free false",
        ]
    );
}

#[test]
fn the_trace_has_a_line_for_each_call() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&compile("three_calls", folder.path()), &[], &[("OFFLOAD_TRACE", "1")]);
    let lines: Vec<_> = text(&output.stderr).lines().filter(|line| line.starts_with("offload: ")).map(stable).collect();
    let head = "offload: thread=… depth=0 start=… duration=…";
    assert_eq!(
        lines,
        [
            format!("{head} olInit(.InitArgs = NULL) -> OL_SUCCESS"),
            format!(
                "{head} olMemFill(.Queue = NULL, .Ptr = 0x…, .PatternSize = 0, .PatternPtr = 0x…, .FillSize = 8) -> \
                 OL_ERRC_INVALID_SIZE \"three_calls.c:20:5 (main): `PatternSize == 0`\""
            ),
            format!(
                "{head} olMemFree(.Address = 0x…) -> \
                 OL_ERRC_UNKNOWN \"three_calls.c:21:5 (main): the library panicked in olMemFree: cannot free false\""
            ),
        ]
    );
}

#[test]
fn no_fault_of_the_caller_crashes_and_each_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&compile("faults", folder.path()), &[], &[]);
    let expected = "\
before olInit: 18: olSyncQueue was called before olInit, or after the last olShutDown
platforms without a list: 5: `InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL`
olInit: success
olIterateDevices: success
null handle: 19: Device must not be NULL
null pointer: 4: Queue must not be NULL
olCreateQueue: success
olCreateQueue: success
olCreateEvent: success
enumeration: 9: Type is 77 (not in ol_alloc_type_t), which is no value of ol_alloc_type_t
flags: 9: Flags is 0x41, of which 0x40 are no bits of ol_memory_register_flag_t
size: 8: `Size == 0`
alignment zero: 5: `Alignment == 0`
alignment: 5: `(Alignment & (Alignment - 1)) != 0`
no multiple: 8: `FillSize % PatternSize != 0`
optional queue: success
kind: 22: Queue is a handle of kind Device, and one of kind Queue is needed
element null: 19: Events[1]: a handle must not be NULL
element kind: 23: Events[2]: Events is a handle of kind Queue, and one of kind Event is needed
elements: success
member: 5: Kernel is a handle of kind Device, and one of kind Symbol is needed
room: 8: the name needs 14 bytes
name: success
nested: success
olDestroyQueue: success
again: 22: Queue is no handle of kind Queue that exists: it has been destroyed, or this library never made it
olShutDown: success
after the end: 18: olSyncQueue was called before olInit, or after the last olShutDown
";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn what_a_call_writes_is_traced_after_success_only() {
    let folder = tempfile::tempdir().unwrap();
    let environment = [("OFFLOAD_TRACE", "1"), ("OFFLOAD_TRACE_FILTER", "olGetDeviceInfo,ol*Queue,-olDestroyQueue,-olCreateQueue")];
    let output = run(&compile("faults", folder.path()), &[], &environment);
    let lines: Vec<_> = text(&output.stderr).lines().filter(|line| line.starts_with("offload: ")).map(stable).collect();
    let shown: Vec<_> = lines.iter().map(|line| line.split_once("duration=… ").expect("a duration").1).collect();
    let not_initialized = r#"OL_ERRC_UNINITIALIZED "olSyncQueue was called before olInit, or after the last olShutDown""#;
    assert_eq!(
        shown,
        [
            format!("olSyncQueue(.Queue = NULL) -> {not_initialized}").as_str(),
            r#"olSyncQueue(.Queue = 0x…) -> OL_ERRC_INVALID_QUEUE "Queue is a handle of kind Device, and one of kind Queue is needed""#,
            r#"olGetDeviceInfo(.Device = 0x…, .PropName = OL_DEVICE_INFO_NAME, .PropSize = 2, .PropValue = 0x…) -> OL_ERRC_INVALID_SIZE "the name needs 14 bytes""#,
            r#"olGetDeviceInfo(.Device = 0x…, .PropName = OL_DEVICE_INFO_NAME, .PropSize = 64, .PropValue = 0x… ("stub \"device\"")) -> OL_SUCCESS"#,
            "olQueryQueue(.Queue = 0x…, .IsQueueWorkCompleted = 0x… (false)) -> OL_SUCCESS",
            "olSyncQueue(.Queue = 0x…) -> OL_SUCCESS",
            format!("olSyncQueue(.Queue = 0x…) -> {not_initialized}").as_str(),
        ]
    );
    assert!(lines[4].contains("depth=1") && lines[5].contains("depth=0"), "a call within a call is one deeper: {lines:?}");
}

/// How many times each of the eight threads goes round.
const ROUNDS: usize = 300;

#[test]
fn lines_of_eight_threads_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.txt");
    run(&compile("threads", folder.path()), &[&ROUNDS.to_string()], &[("OFFLOAD_TRACE", trace.to_str().unwrap())]);
    let mut calls: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in std::fs::read_to_string(&trace).unwrap().lines() {
        let rest = line.strip_prefix("offload: thread=").unwrap_or_else(|| panic!("no line begins like this: {line}"));
        let (thread, rest) = rest.split_once(' ').expect("a thread");
        let call = rest.split_once("us ").expect("a duration").1;
        let (name, rest) = call.split_once('(').expect("arguments");
        let (arguments, result) = rest.rsplit_once(") -> ").expect("a result");
        if name == "olGetSymbol" {
            let symbol = arguments.split('"').nth(1).expect("a name in quotation marks");
            assert_eq!(symbol.len(), 200, "{line}");
            assert!(symbol.bytes().all(|byte| Some(byte) == symbol.bytes().next()), "{line}");
            assert!(result.ends_with("(work): Program must not be NULL\""), "{line}");
        }
        *calls.entry((name.to_owned(), thread.to_owned())).or_default() += 1;
    }
    for name in ["olGetSymbol", "olMemFree", "olSyncQueue", "olQueryQueue"] {
        let counts: Vec<_> = calls.iter().filter(|((called, _), _)| called == name).map(|(_, count)| *count).collect();
        assert_eq!(counts, [ROUNDS; 8], "{name}");
    }
}

#[test]
fn the_json_trace_is_a_list_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    run(&compile("threads", folder.path()), &["50"], &[("OFFLOAD_TRACE", trace.to_str().unwrap())]);
    // The closing bracket is never written.
    let events: Vec<serde_json::Value> = serde_json::from_str(&(std::fs::read_to_string(&trace).unwrap() + "]")).unwrap();
    assert_eq!(events.len(), 2 + 8 * (1 + 4 * 50));
    for event in &events {
        assert_eq!(event["ph"], "X", "{event}");
        assert!(event["ts"].is_number() && event["dur"].is_number() && event["pid"].is_number() && event["tid"].is_number(), "{event}");
    }
    let inner = events.iter().find(|event| event["name"] == "olQueryQueue").unwrap();
    assert_eq!((&inner["args"]["depth"], &inner["args"]["result"]), (&1.into(), &"OL_SUCCESS".into()));
    let outer = events.iter().find(|event| event["name"] == "olSyncQueue" && event["tid"] == inner["tid"]).unwrap();
    let span = |event: &serde_json::Value| (event["ts"].as_f64().unwrap(), event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap());
    assert!(span(outer).0 <= span(inner).0 && span(inner).1 <= span(outer).1 + 0.01, "{outer} {inner}");
}

#[test]
fn checks_can_be_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&compile("three_calls", folder.path()), &[], &[("OFFLOAD_DISABLE_VALIDATION", "1")]);
    assert!(text(&output.stdout).contains("olMemFill: success\n"), "{output:?}");
}

#[test]
fn a_trace_that_cannot_be_written_is_reported_and_calls_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&compile("three_calls", folder.path()), &[], &[("OFFLOAD_TRACE", "/no/such/folder/trace.txt")]);
    assert!(text(&output.stderr).contains("offload: cannot write to /no/such/folder/trace.txt, which OFFLOAD_TRACE names: "), "{output:?}");
    assert!(text(&output.stdout).starts_with("olInit: success\n"));
}

#[test]
fn faults_can_be_injected_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&compile("faults", folder.path()), &[], &[("OFFLOAD_MOCK_FAIL", "olCreateQueue:2:OL_ERRC_OUT_OF_RESOURCES")]);
    let stdout = text(&output.stdout);
    assert!(stdout.contains("olCreateQueue: success\nolCreateQueue: 7: this fault was injected\n"), "{stdout}");
}

#[test]
fn the_conformance_tests_pass_where_there_is_a_fixture() {
    let folder = tempfile::tempdir().unwrap();
    let output = text(&run(&compile_all(&["conformance", "fixture"], folder.path()), &[], &[]).stdout);
    let summary = output.lines().last().expect("a summary");
    // olCreateQueue: two nulls; olMemAllocAligned: two sizes and two nulls; olMemFill: one size and two nulls.
    assert!(summary.starts_with("9 passed, 0 failed, "), "{output}");
    assert!(
        output.contains("SKIP test_ol_mem_fill_ol_errc_invalid_size_fill_size_pattern_size_0: `FillSize % PatternSize != 0`"),
        "{output}"
    );
}
