//! `cargo hostcall stream` over a recording whose names and texts steer terminals.

use std::path::Path;
use std::process::Command;

use hostcall_abi::stream::{From, Header, Kind, Policy};
use hostcall_stream::file::{Device, Program, Writer};
use hostcall_stream::{Dispatch, Field, Level, Schema, Site, StreamCounts, Summary};

/// Six letters, for which the recording has an escape of JSON that is as long.
const MARK: &str = "ESCAPE";
const ESCAPES: [&str; 3] = ["\\u001b", "\\u009b", "\\u202e"];

/// CRC-32C, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}

/// Puts the right checksums into the frames of a recording.
fn seal(file: &mut [u8]) {
    let mut at = 24 + number(file, 12);
    while at < file.len() {
        let contents = at + 32..at + 32 + number(file, at + 16);
        let sum = checksum(&file[contents.clone()]);
        file[at + 24..at + 28].copy_from_slice(&sum.to_le_bytes());
        let sum = checksum(&file[at..at + 28]);
        file[at + 28..at + 32].copy_from_slice(&sum.to_le_bytes());
        at = contents.end;
    }
}

/// A recording with `escape` in each name, and raw characters in a text.
fn record(path: &Path, escape: &str) {
    let marked = |name: &str| format!("{name}{MARK}");
    let field = |name: &str, ty: &str, bytes| Field { name: name.into(), ty: ty.into(), offset: 0, bytes };
    let values = Schema {
        name: marked("Values").into(),
        signature: 1,
        bytes: 4,
        policy: Policy::Block,
        fields: vec![field(&marked("field"), "u32", 4)],
    };
    let text = Schema { name: "Note".into(), signature: 2, bytes: 0, policy: Policy::Block, fields: vec![field("value", "str", 0)] };
    let device = Device::new(0, marked("device"), "sim");
    let mut program = Program::new(marked("program"), device, 1, vec![(1, values), (2, text)]);
    program.sites = vec![(
        7,
        Site {
            file: marked("file").as_str().into(),
            line: 1,
            column: 1,
            module: marked("module").as_str().into(),
            level: Some(Level::Info),
            text: marked("text"),
            kernel: "".into(),
        },
    )];
    let mut writer = Writer::new(Vec::new()).expect("memory");
    writer.program(program).expect("memory");
    writer.dispatch(0, 3, Dispatch::new(Some(3), Some(&marked("kernel")))).expect("memory");
    let from = From { launch: 3, ..From::default() };
    let header =
        Header { stream: 1, granules: 0, kind: Kind::Rows, mask: 1, wide: false, site: 7, weight: 0, user: 0, values: 1, time: None, from };
    writer.message(0, header, &5u32.to_le_bytes()).expect("memory");
    let note = Header { stream: 2, kind: Kind::Bytes, ..header };
    writer.message(0, note, "raw \u{1b}[2J \u{9b}1m \u{202e}".as_bytes()).expect("memory");
    let counts = |name: &str| StreamCounts { name: name.into(), messages: 1, values: 1, ..StreamCounts::default() };
    let streams = vec![counts(&marked("Values")), counts("Note")];
    writer.counters(&Summary { streams, torn: 1, ..Summary::default() }).expect("memory");
    let mut file = writer.end().expect("memory");
    for at in 0..file.len() - MARK.len() {
        if file[at..].starts_with(MARK.as_bytes()) {
            file[at..at + MARK.len()].copy_from_slice(escape.as_bytes());
        }
    }
    seal(&mut file);
    std::fs::write(path, file).expect("a file");
}

#[test]
fn nothing_that_steers_a_terminal_is_printed_of_a_recording() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("names.hcs");
    let commands: [&[&str]; 8] =
        [&["info"], &["check"], &["head"], &["cat"], &["cat", "--format", "json"], &["stats"], &["stats", "--json"], &["live", "--plain"]];
    for escape in ESCAPES {
        record(&file, escape);
        for command in commands {
            let output = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall")).args(["hostcall", "stream"]).args(command).arg(&file).output();
            let output = output.expect("it starts");
            let said = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
            assert!(output.status.success(), "{command:?}: {said}");
            let steers = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!said.contains(steers), "{command:?}: {said:?}");
            assert!(said.contains(&escape[4..]), "{command:?} does not show {escape}: {said}");
            if command == ["cat", "--format", "json"] {
                let last: serde_json::Value = serde_json::from_str(said.lines().last().expect("a value")).expect("JSON");
                assert_eq!(last["value"]["value"], "raw \u{1b}[2J \u{9b}1m \u{202e}", "JSON says what was sent");
            }
        }
    }
}
