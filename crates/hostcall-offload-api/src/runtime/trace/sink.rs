//! Writing events, each as a whole.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Arguments;
use super::config::{Config, Target};
use crate::runtime::Error;

/// One call.
pub(super) struct Event<'a> {
    pub(super) name: &'a str,
    pub(super) thread: u64,
    pub(super) depth: u32,
    /// Since the trace began.
    pub(super) start: Duration,
    pub(super) duration: Duration,
    pub(super) arguments: &'a Arguments,
    pub(super) result: &'a Result<(), Error>,
    pub(super) location: Option<&'a dyn Display>,
}

pub(super) struct Sink {
    is_json: bool,
    output: Mutex<Output>,
}

struct Output {
    writer: Box<dyn Write + Send>,
    is_empty: bool,
    /// Room for a line.
    line: Vec<u8>,
}

/// How much room is kept from one line to the next.
const MOST_ROOM: usize = 64 << 10;

/// Why no trace can be written.
#[derive(Debug)]
pub(super) struct OpenError {
    path: std::path::PathBuf,
    error: io::Error,
}

impl Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot write to {}, which OFFLOAD_TRACE names: {}", self.path.display(), self.error)
    }
}

impl Sink {
    pub(super) fn open(config: &Config) -> Result<Sink, OpenError> {
        let writer: Box<dyn Write + Send> = match &config.target {
            Target::Stderr => Box::new(io::stderr()),
            Target::File(path) => Box::new(File::create(path).map_err(|error| OpenError { path: path.clone(), error })?),
        };
        Ok(Sink { is_json: config.is_json, output: Mutex::new(Output { writer, is_empty: true, line: Vec::new() }) })
    }

    /// Writes an event: one line, in one piece. A trace that cannot be written (a full disk, a closed pipe) is no
    /// reason for a call to fail.
    pub(super) fn write(&self, event: &Event<'_>) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Output { writer, is_empty, line } = &mut *output;
        line.clear();
        let _ = if self.is_json { json(line, event, *is_empty) } else { text(line, event) }.and_then(|()| writer.write_all(line));
        *is_empty = false;
        line.shrink_to(MOST_ROOM);
    }
}

/// Adds a number.
fn number(to: &mut Vec<u8>, value: u64) {
    to.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Adds a number with `DIGITS` digits behind its point; `value` is the number without the point.
fn decimal<const DIGITS: u32>(to: &mut Vec<u8>, value: u64) {
    let one = const { 10u64.pow(DIGITS) };
    number(to, value / one);
    to.push(b'.');
    let rest = value % one;
    // The digits of `1…` have the zeros that those of the rest alone would lack.
    to.extend_from_slice(&itoa::Buffer::new().format(one + rest).as_bytes()[1..]);
}

fn text(to: &mut Vec<u8>, event: &Event<'_>) -> io::Result<()> {
    to.extend_from_slice(b"offload: thread=");
    number(to, event.thread);
    to.extend_from_slice(b" depth=");
    number(to, event.depth.into());
    to.extend_from_slice(b" start=");
    decimal::<6>(to, event.start.as_micros() as u64);
    to.extend_from_slice(b"s duration=");
    decimal::<1>(to, (event.duration.as_nanos() as u64 + 50) / 100);
    to.extend_from_slice(b"us ");
    to.extend_from_slice(event.name.as_bytes());
    to.push(b'(');
    for (index, (name, value)) in event.arguments.list().enumerate() {
        to.extend_from_slice(if index == 0 { b"." } else { b", ." });
        to.extend_from_slice(name.as_bytes());
        to.extend_from_slice(b" = ");
        to.extend_from_slice(value.as_bytes());
    }
    match event.result {
        Ok(()) => to.extend_from_slice(b") -> OL_SUCCESS"),
        Err(error) => write!(to, ") -> {} \"{}\"", error.code, details(event, error).escape_debug())?,
    }
    to.push(b'\n');
    Ok(())
}

fn details<'a>(event: &Event<'_>, error: &'a Error) -> Cow<'a, str> {
    event.location.map_or_else(|| error.details(), |location| format!("{location}: {}", error.details()).into())
}

/// A member of an object behind others, whose name needs no escapes and whose value is text.
fn member(to: &mut Vec<u8>, name: &str, value: &str) -> io::Result<()> {
    to.extend_from_slice(b",\"");
    to.extend_from_slice(name.as_bytes());
    to.extend_from_slice(b"\":");
    serde_json::to_writer(to, value)?;
    Ok(())
}

fn json(to: &mut Vec<u8>, event: &Event<'_>, is_first: bool) -> io::Result<()> {
    to.extend_from_slice(if is_first { b"[\n" } else { b",\n" });
    to.extend_from_slice(br#"{"cat":"offload","ph":"X","ts":"#);
    decimal::<3>(to, event.start.as_nanos() as u64);
    to.extend_from_slice(br#","dur":"#);
    decimal::<3>(to, event.duration.as_nanos() as u64);
    to.extend_from_slice(br#","pid":"#);
    number(to, std::process::id().into());
    to.extend_from_slice(br#","tid":"#);
    number(to, event.thread);
    member(to, "name", event.name)?;
    // Parameters begin with a capital letter, so that these are names of their own.
    to.extend_from_slice(br#","args":{"depth":"#);
    number(to, event.depth.into());
    match event.result {
        Ok(()) => member(to, "result", "OL_SUCCESS")?,
        Err(error) => {
            member(to, "result", &error.code.to_string())?;
            member(to, "details", &details(event, error))?;
        }
    }
    if let Some(location) = event.location {
        member(to, "location", &location.to_string())?;
    }
    for (name, value) in event.arguments.list() {
        member(to, name, value)?;
    }
    to.extend_from_slice(b"}}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_all_their_digits() {
        fn shown<const DIGITS: u32>(value: u64) -> String {
            let mut text = Vec::new();
            decimal::<DIGITS>(&mut text, value);
            String::from_utf8(text).unwrap()
        }
        assert_eq!([shown::<6>(42), shown::<1>(31), shown::<3>(5), shown::<6>(12_000_042)], ["0.000042", "3.1", "0.005", "12.000042"]);
        assert_eq!([shown::<3>(0), shown::<3>(u64::MAX)], ["0.000", "18446744073709551.615"]);
    }

    #[test]
    fn an_event_is_one_object_whatever_its_texts_hold() {
        let mut arguments = Arguments::new(true);
        arguments.value("Size", &7usize);
        // SAFETY: text that ends in a zero.
        unsafe { arguments.text("Name", c"a \"name\"\n".as_ptr()) };
        let result = Err(Error::new(crate::sys::ol_errc_t::OL_ERRC_INVALID_SIZE, "\"7\"\n"));
        let event = Event {
            name: "olX",
            thread: 1,
            depth: 2,
            start: Duration::from_nanos(1_500),
            duration: Duration::from_nanos(1_250),
            arguments: &arguments,
            result: &result,
            location: Some(&"main.c:1"),
        };
        let mut line = Vec::new();
        json(&mut line, &event, true).unwrap();
        let line = String::from_utf8(line).unwrap();
        let object: serde_json::Value = serde_json::from_str(line.strip_prefix("[\n").unwrap()).unwrap();
        assert_eq!((&object["name"], object["ts"].as_f64(), object["dur"].as_f64()), (&"olX".into(), Some(1.5), Some(1.25)));
        let args = &object["args"];
        assert_eq!((&args["Size"], &args["depth"], &args["result"]), (&"7".into(), &2.into(), &"OL_ERRC_INVALID_SIZE".into()));
        assert_eq!((&args["details"], &args["location"]), (&"main.c:1: \"7\"\n".into(), &"main.c:1".into()));
        assert!(args["Name"].as_str().unwrap().ends_with(r#"("a \"name\"\n")"#), "{line}");

        let mut line = Vec::new();
        text(&mut line, &event).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(line.starts_with("offload: thread=1 depth=2 start=0.000001s duration=1.3us olX(.Size = 7, .Name = 0x"), "{line}");
        assert!(line.ends_with("-> OL_ERRC_INVALID_SIZE \"main.c:1: \\\"7\\\"\\n\"\n") && line.matches('\n').count() == 1, "{line}");
    }
}
