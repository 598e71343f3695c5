//! What the tests over `.td` files share: running ours, running `llvm-tblgen-22`, and saying where two results part.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use tablegen::{Options, Severity};

/// What evaluating one file comes to.
pub(crate) enum Verdict {
    /// Both dumps.
    Records {
        /// `--print-records`: bytes, since strings are.
        text: Vec<u8>,
        /// `--dump-json`.
        json: String,
    },
    /// The first error: its place, if it has one, and all that was said.
    Error {
        /// `file:line`, the file without its directory.
        place: Option<String>,
        /// For people.
        told: String,
    },
    /// The tool crashed (LLVM's does, on some input that never ends).
    Crash,
}

/// Evaluates a file with this crate.
pub(crate) fn ours(input: &Path, include: &[PathBuf], defines: &[String]) -> Verdict {
    let options = Options { include_dirs: include.to_vec(), defines: defines.to_vec(), ..Options::default() };
    let outcome = tablegen::parse_file(input, &options);
    let Some(records) = &outcome.records else {
        let first = outcome.diagnostics.iter().find(|d| d.severity == Severity::Error).expect("no records, so there is an error");
        let place = first.span.map(|span| {
            let at = outcome.sources.location(span);
            format!("{}:{}", file_name(at.file), at.line)
        });
        let mut told = Vec::new();
        for diagnostic in &outcome.diagnostics {
            tablegen::emit(diagnostic, &outcome.sources, tablegen::Style::default(), &mut told).expect("written to memory");
        }
        return Verdict::Error { place, told: String::from_utf8(told).expect("UTF-8") };
    };
    let (mut text, mut json) = (Vec::new(), Vec::new());
    tablegen::print_records(records, &mut text).expect("written to memory");
    tablegen::dump_json(records, &mut json).expect("written to memory");
    Verdict::Records { text, json: String::from_utf8(json).expect("UTF-8") }
}

/// LLVM's tool.
pub(crate) struct Oracle(PathBuf);

impl Oracle {
    /// `llvm-tblgen-22`, or what `HOSTCALL_LLVM_TBLGEN` names; `Err` says why there is none.
    pub(crate) fn find() -> Result<Oracle, &'static str> {
        let named = std::env::var_os("HOSTCALL_LLVM_TBLGEN").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let packaged = std::env::split_paths(&path).map(|dir| dir.join("llvm-tblgen-22"));
        let candidates = named.into_iter().chain(packaged).chain([PathBuf::from("/usr/lib/llvm-22/bin/llvm-tblgen")]);
        candidates.into_iter().find(|path| path.is_file()).map(Oracle).ok_or("there is no llvm-tblgen-22 (Debian package llvm-22)")
    }

    /// Evaluates a file with LLVM's tool.
    pub(crate) fn run(&self, input: &Path, include: &[PathBuf], defines: &[String]) -> Verdict {
        let text = match self.dump("--print-records", input, include, defines) {
            Ok(text) => text,
            Err(verdict) => return verdict,
        };
        match self.dump("--dump-json", input, include, defines) {
            Ok(json) => Verdict::Records { text, json: String::from_utf8(json).expect("JSON is UTF-8") },
            Err(verdict) => verdict,
        }
    }

    fn dump(&self, action: &str, input: &Path, include: &[PathBuf], defines: &[String]) -> Result<Vec<u8>, Verdict> {
        let mut command = Command::new(&self.0);
        command.arg(action).arg(input);
        command.args(include.iter().map(|dir| joined("-I", dir.as_os_str())));
        command.args(defines.iter().map(|name| joined("-D", OsStr::new(name))));
        let output = command.output().expect("llvm-tblgen runs");
        if output.status.success() {
            return Ok(output.stdout);
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(match output.status.code() {
            Some(_) => Verdict::Error { place: first_error(&told), told },
            None => Verdict::Crash,
        })
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// `file:line` of the first error in what LLVM's tool says; `None` if that has no place.
fn first_error(told: &str) -> Option<String> {
    let line = told.lines().find(|line| line.contains("error: "))?;
    let (place, _) = line.split_once(": error: ")?;
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!("{}:{line}", file_name(file)))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Compares our result with LLVM's, and says where they part.
pub(crate) fn compare(ours: &Verdict, llvms: &Verdict) -> Result<(), String> {
    match (ours, llvms) {
        (Verdict::Records { text: our_text, json: our_json }, Verdict::Records { text, json }) => {
            same_text(our_text, text)?;
            same_json(our_json, json)
        }
        // Where LLVM names no place, any is an improvement.
        (Verdict::Error { .. }, Verdict::Error { place: None, .. } | Verdict::Crash) => Ok(()),
        (Verdict::Error { place, told }, Verdict::Error { place: theirs, told: they }) => {
            if place == theirs {
                Ok(())
            } else {
                Err(format!("the first error is elsewhere\n--- ours\n{told}--- LLVM's\n{they}"))
            }
        }
        (Verdict::Error { told, .. }, Verdict::Records { .. }) => Err(format!("LLVM accepts this; we say\n{told}")),
        (Verdict::Records { .. }, Verdict::Error { told, .. }) => Err(format!("we accept this; LLVM says\n{told}")),
        (Verdict::Records { .. }, Verdict::Crash) => Err("we accept this; LLVM's tool crashes".into()),
        (Verdict::Crash, _) => unreachable!("ours runs in this process"),
    }
}

/// Bytes as text in which two of them differ if the bytes do.
fn shown(line: &[u8]) -> String {
    str::from_utf8(line).map_or_else(|_| line.escape_ascii().to_string(), str::to_owned)
}

/// Compares two dumps of records, byte for byte.
pub(crate) fn same_text(ours: &[u8], llvms: &[u8]) -> Result<(), String> {
    if ours == llvms {
        return Ok(());
    }
    // Bytes that are no UTF-8 would all look the same.
    let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').map(shown).collect::<Vec<_>>();
    let (ours, llvms) = (lines(ours), lines(llvms));
    let (mut ours, mut llvms) = (ours.iter().map(String::as_str), llvms.iter().map(String::as_str));
    let mut heading = String::new();
    for number in 1.. {
        match (ours.next(), llvms.next()) {
            (None, None) => return Err("--print-records: only the ends of lines differ".into()),
            (our, their) if our != their => {
                let show = |line: Option<&str>| shorten(line.unwrap_or("<end of output>"));
                return Err(format!("--print-records, line {number}, in `{heading}`\n    ours: {}\n  LLVM's: {}", show(our), show(their)));
            }
            (Some(line), _) if line.ends_with('{') || line.contains(" {\t") => heading = shorten(line),
            _ => {}
        }
    }
    unreachable!("one of the outputs ends")
}

/// Compares two JSON dumps: byte for byte once the keys of each object are in order.
pub(crate) fn same_json(ours: &str, llvms: &str) -> Result<(), String> {
    if ours == llvms {
        return Ok(());
    }
    let parse = |text: &str, whose| serde_json::from_str(text).map_err(|error| format!("{whose} JSON is none: {error}"));
    let (ours, llvms): (serde_json::Value, serde_json::Value) = (parse(ours, "our")?, parse(llvms, "LLVM's")?);
    if ours == llvms {
        return Ok(());
    }
    let (place, our, their) = first_difference(String::new(), Some(&ours), Some(&llvms)).expect("they differ");
    Err(format!("--dump-json, at {place}\n    ours: {our}\n  LLVM's: {their}"))
}

fn first_difference(
    place: String,
    ours: Option<&serde_json::Value>,
    llvms: Option<&serde_json::Value>,
) -> Option<(String, String, String)> {
    use serde_json::Value::{Array, Object};
    if ours == llvms {
        return None;
    }
    match (ours, llvms) {
        (Some(Object(ours)), Some(Object(llvms))) => {
            let keys = ours.keys().chain(llvms.keys());
            keys.into_iter().find_map(|key| first_difference(format!("{place}.{key}"), ours.get(key), llvms.get(key)))
        }
        (Some(Array(ours)), Some(Array(llvms))) => {
            let count = ours.len().max(llvms.len());
            (0..count).find_map(|i| first_difference(format!("{place}[{i}]"), ours.get(i), llvms.get(i)))
        }
        _ => {
            let show = |value: Option<&serde_json::Value>| value.map_or("nothing".into(), |value| shorten(&value.to_string()));
            Some((place, show(ours), show(llvms)))
        }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
