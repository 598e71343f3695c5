//! `cargo hostcall stream` over a recording of bytes and text (`hostcall-stream`'s `tests/files/v2.hcs`): two messages
//! of `Frame`, two of `Note`, of which one is no UTF-8, and one of `Loss`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-stream/tests/files/v2.hcs")
}

#[track_caller]
fn stream(arguments: &[&str], more: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    let output = command.args(["hostcall", "stream"]).args(arguments).arg(file()).args(more).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn values_are_a_line_each_text_in_quotes_and_bytes_in_digits() {
    let all = stream(&["cat"], &[]);
    let lines: Vec<_> = all.lines().map(|line| line.split_once(": ").expect("an origin").1).collect();
    let long: String = (0..200u8).map(|i| format!("{:02x}", i | 0x80)).collect();
    let expected = [
        "value=0x".into(),
        r#"value="text, \"quoted\"\nand more: ä""#.into(),
        "step=2147680769".into(),
        format!("value=0x{long}"),
        "value=\"a\u{fffd}b\"".into(),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn json_and_csv_have_the_length_too() {
    let said = stream(&["cat", "--format", "json", "--stream", "Note"], &[]);
    let values: Vec<_> = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["value"].clone()).collect();
    let text = "text, \"quoted\"\nand more: ä";
    assert_eq!(values, [serde_json::json!({"value": text, "length": text.len()}), serde_json::json!({"value": "a\u{fffd}b", "length": 3})]);
    let said = stream(&["cat", "--format", "csv", "--stream", "Note"], &[]);
    let mut lines = csv::Reader::from_reader(said.as_bytes());
    assert!(lines.headers().expect("names").iter().skip(14).eq(["value.value", "value.length"]), "{said}");
    let rows: Vec<_> = lines.records().map(|row| row.expect("a row")).collect();
    assert_eq!((&rows[0][14], &rows[0][15], rows.len()), (text, &*text.len().to_string(), 2));
    let said = stream(&["cat", "--format", "csv", "--stream", "Frame"], &[]);
    assert!(
        said.lines().nth(1).is_some_and(|line| line.ends_with(",0x,0")) && said.lines().nth(2).is_some_and(|line| line.ends_with("c7,200")),
        "{said}"
    );
}

#[test]
fn statistics_are_those_of_lengths() {
    let all: serde_json::Value = serde_json::from_str(&stream(&["stats", "--json"], &[])).expect("JSON");
    let (frame, field) = (&all["tables"]["streams"][0], &all["tables"]["fields"][0]);
    assert_eq!((&frame["stream"], &frame["messages"], &frame["values [bytes]"]), (&"Frame".into(), &2.into(), &200.into()));
    assert_eq!((&field["field"], &field["type"]), (&"length of value".into(), &"[u8]".into()));
    assert_eq!((&field["least"], &field["greatest"], &field["mean"]), (&0.0.into(), &200.0.into(), &100.0.into()));
}

#[test]
fn info_check_convert_and_report_know_them() {
    let said = stream(&["info"], &[]);
    assert!(said.contains("Frame { value: [u8] }") && said.contains("Note { value: str }"), "{said}");
    stream(&["check"], &[]);
    let dir = tempfile::tempdir().expect("a directory");
    let out = |name: &str| dir.path().join(name).to_str().expect("a name").to_owned();
    stream(&["convert"], &[&out("all.ndjson")]);
    let lines = std::fs::read_to_string(out("all.ndjson")).expect("the file");
    assert_eq!((lines.lines().count(), lines.matches("\"length\":").count()), (5, 4));
    stream(&["report"], &["-o", &out("page.html")]);
    let page = std::fs::read_to_string(out("page.html")).expect("the page");
    for name in ["Frame", "Note", "value: [u8]", "value: str"] {
        assert!(page.contains(name), "{name} is not on the page");
    }
}
