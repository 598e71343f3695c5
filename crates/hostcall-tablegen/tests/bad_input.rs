//! Bad input, through the command: one clear diagnostic, exit code 1, the output file untouched, and all of it soon.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Generous: tests run unoptimised, beside others, on slow machines. What must not happen is that time or memory
/// explode.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the command in `dir`, and ends it at the limit.
fn tablegen(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tablegen"));
    command.current_dir(dir).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let began = Instant::now();
    // What is written in these tests fits into the pipes' buffers; but for a runaway, which the limit ends.
    while child.try_wait().expect("a child").is_none() {
        if began.elapsed() > LIMIT {
            child.kill().expect("ended");
            panic!("{arguments:?} runs for more than {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it ended")
}

/// Evaluates `source` as `bad.td`, and checks all that holds for any bad input. Gives what was said.
fn refused(source: impl AsRef<[u8]>) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("bad.td"), source).expect("written");
    refused_in(dir.path(), &["bad.td", "-o", "out", "-d", "deps"])
}

fn refused_in(dir: &Path, arguments: &[&str]) -> String {
    fs::write(dir.join("out"), "what was there before").expect("written");
    let output = tablegen(dir, arguments);
    let told = String::from_utf8(output.stderr).expect("diagnostics are UTF-8");
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(output.stdout, b"");
    assert!(told.contains("error"), "{told}");
    assert!(told.len() < 10_000, "{} bytes of diagnostics", told.len());
    assert_eq!(fs::read_to_string(dir.join("out")).expect("still there"), "what was there before");
    assert!(!dir.join("deps").exists(), "no dependency file for no output");
    told
}

/// As [`refused`], with one error only, that says each of `words`.
fn refused_once(source: impl AsRef<[u8]>, words: &[&str]) {
    let told = refused(source);
    assert_eq!(told.matches("error: ").count(), 1, "{told}");
    for word in words {
        assert!(told.contains(word), "`{word}` is not in\n{told}");
    }
}

#[test]
fn a_number_of_a_loop_that_is_too_large_is_called_that() {
    refused_once("foreach i = 4294967296 in def A#i;\n", &["bad.td:1:13", "4294967296 is too large", "at most 4294967295"]);
    refused_once("foreach i = {0...4294967296} in def A#i;\n", &["bad.td:1:18", "4294967296 is too large"]);
}

#[test]
fn a_missing_include_names_the_file_and_where_it_was_looked_for() {
    refused_once("include \"nowhere.td\"\n", &["bad.td:1:9", "nowhere.td"]);
}

#[test]
fn a_missing_input_file_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let told = refused_in(dir.path(), &["missing.td", "-o", "out"]);
    assert!(told.contains("missing.td"), "{told}");
}

#[test]
fn a_directory_is_no_input() {
    let dir = tempfile::tempdir().expect("a directory");
    refused_in(dir.path(), &[".", "-o", "out"]);
}

#[test]
fn a_cyclic_include_is_told_once() {
    refused_once("include \"bad.td\"\n", &["bad.td:1:9"]);
}

#[test]
fn a_cyclic_class_is_an_error() {
    refused_once("class A<int n> { int R = A<!add(n, 1)>.R; }\ndef D : A<0>;\n", &["bad.td"]);
    refused("class A : A;\n");
    refused("class A<list<int> l> { list<int> R = A<l # l # [1]>.R; }\ndef D : A<[1]>;\n");
}

#[test]
fn an_undefined_name_is_quoted() {
    refused_once("def D { int X = nothing; }\n", &["bad.td:1:17", "nothing"]);
    refused_once("def D : Nothing;\n", &["bad.td:1:9", "Nothing"]);
}

#[test]
fn a_wrong_type_names_both_types() {
    refused_once("def D { int X = \"text\"; }\n", &["bad.td:1:17", "int", "string"]);
}

#[test]
fn a_field_that_needs_itself_is_an_error() {
    refused("class A { int X = 1; }\ndef D : A { let X = !add(X, 1); }\n");
}

#[test]
fn an_unterminated_string_is_found_on_its_line() {
    refused_once("def D {\n  string S = \"abc\n}\n", &["bad.td:2"]);
    refused_once("def D { code C = [{ abc", &["bad.td:1"]);
    refused_once("/* abc", &["bad.td:1"]);
}

#[test]
fn a_line_of_10_mb_is_not_printed() {
    let mut source = String::from("def D { string S = \"");
    source.extend(std::iter::repeat_n('x', 10 << 20));
    refused_once(&source, &["bad.td:1"]);
    source.push_str("\"; int X = nothing; }\n");
    refused_once(&source, &["bad.td:1:10485792"]);
}

#[test]
fn nesting_10000_deep_is_refused_or_done_but_does_not_overflow_the_stack() {
    let deep = |open: &str, middle: &str, close: &str| {
        let mut text = String::new();
        for part in [open, middle, close] {
            let times = if part == middle { 1 } else { 10_000 };
            text.extend(std::iter::repeat_n(part, times));
        }
        text
    };
    let sources = [
        format!("def D {{ list<int> L = {}; }}", deep("[", "1", "]")),
        format!("def D {{ int X = {}; }}", deep("!add(1, ", "1", ")")),
        format!("def op; def D {{ dag X = {}; }}", deep("(op ", "1", ")")),
        format!("def D {{ {} L; }}", deep("list<", "int", ">")),
        format!("class A<int x> {{ int X = x; }} def D {{ int X = {}; }}", deep("A<", "1", ">.X")),
        format!("def D {{ bits<1> X = {}; }}", deep("{", "1", "}")),
        deep("{", "", "}"),
        deep("(", "", ")"),
        deep("[", "", "]"),
        deep("<", "", ">"),
        format!("class A {{ int X = 0; }} {}", deep("let X = 1 in { ", "def D : A;", "}")),
        deep("foreach i = [1] in { ", "def D;", "}"),
        deep("if 1 then { ", "def D;", "}"),
        format!("{} def D;", deep("if 0 then def E; else ", "", "")),
        deep("#ifndef X\n", "def D;\n", "#endif\n"),
        deep("/*", "x", "*/") + "def D {",
        format!("def D {{ string S = {} \"\"; }}", deep("\"a\" # ", "", "")),
        format!("class R; def D {{ R X; int Y = X{}; }}", deep(".X", "", "")),
        format!("def D {{ list<int> X = [1]; int Y = X{}; }}", deep("[0]", "", "")),
        format!("defset list<int> L = {}", deep("{ defset list<int> L = ", "{}", "}")),
        deep("multiclass M { ", "", "}"),
    ];
    for source in sources {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("deep.td"), &source).expect("written");
        let output = tablegen(dir.path(), &["deep.td", "-o", "out"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}…: {:?}\n{told}", &source[..60.min(source.len())], output.status);
        assert!(told.len() < 100_000, "{}…: {} bytes of diagnostics", &source[..60.min(source.len())], told.len());
        assert_eq!(output.status.success(), dir.path().join("out").exists());
    }
}

#[test]
fn a_chain_of_100000_records_does_not_overflow_the_stack() {
    let mut source = String::from("class A { A Next = ?; int V = 0; }\ndef R0 : A;\n");
    for i in 1..100_000 {
        writeln!(source, "def R{i} : A {{ let Next = R{}; }}", i - 1).expect("written");
    }
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("chain.td"), source).expect("written");
    let output = tablegen(dir.path(), &["chain.td", "--null-backend"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_chain_of_classes_5000_long_is_resolved() {
    let mut source = String::from("class C0 { int X = 0; }\n");
    for i in 1..5_000 {
        writeln!(source, "class C{i} : C{};", i - 1).expect("written");
    }
    source.push_str("def D : C4999;\n");
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("chain.td"), source).expect("written");
    let output = tablegen(dir.path(), &["chain.td", "--null-backend"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    // Each doubles something 60 times, or asks for it at once.
    let doubling = |start: &str, step: &str, kind: &str| {
        let mut source = format!("def D {{ {kind} X0 = {start};\n");
        for i in 1..60 {
            writeln!(source, "  {kind} X{i} = {};", step.replace('@', &format!("X{}", i - 1))).expect("written");
        }
        source + "}\n"
    };
    for source in [
        doubling("\"x\"", "!strconcat(@, @)", "string"),
        doubling("[1]", "!listconcat(@, @)", "list<int>"),
        "def D { list<int> L = !range(0, 9223372036854775807); }\n".into(),
        "def D { list<int> L = !listsplat(1, 9223372036854775807); }\n".into(),
        "foreach i = 0...9223372036854775806 in def D # i;\n".into(),
        "def D { bits<4294967295> B = 0; }\n".into(),
        "class A { bits<8> B; } def D : A { let B{0-4294967295} = 0; }\n".into(),
    ] {
        refused(source);
    }
}

#[test]
fn invalid_utf_8_is_told_with_its_place() {
    let told = refused(b"def A;\ndef \xff\xfe;\n");
    assert!(told.contains("UTF-8") && told.contains("bad.td:2"), "{told}");
}

#[test]
fn null_bytes_and_control_characters_are_refused() {
    refused(b"def A;\0def B;\n");
    refused(b"\x01\x02\x03");
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("good.td"), "def D;\n").expect("written");
    for out in ["missing/out", "."] {
        let output = tablegen(dir.path(), &["good.td", "-o", out]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(out) && told.lines().count() == 1, "{told}");
    }
}

#[test]
fn an_unknown_action_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("good.td"), "def D;\n").expect("written");
    for action in ["--gen-nothing", "-gen-nothing"] {
        let told = refused_in(dir.path(), &["good.td", action, "-o", "out"]);
        assert!(told.contains("gen-nothing") || told.contains("-g"), "{told}");
    }
}

#[test]
fn a_bad_macro_name_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("good.td"), "def D;\n").expect("written");
    for define in ["-D1", "-DA=1", "-D", ""] {
        let arguments: Vec<_> = ["good.td", "-o", "out", define].into_iter().filter(|argument| !argument.is_empty()).collect();
        if define.is_empty() {
            assert_eq!(tablegen(dir.path(), &arguments).status.code(), Some(0));
        } else {
            refused_in(dir.path(), &arguments);
        }
    }
}

#[test]
fn several_errors_are_told_in_one_run() {
    let told = refused("class A { int X = \"one\"; }\nclass B { string Y = 2; }\ndef D : Nothing;\n");
    assert!(told.matches("error: ").count() >= 2, "{told}");
}

#[test]
fn a_million_errors_are_not_all_told() {
    refused("def D : Nothing;\n".repeat(100_000));
}
