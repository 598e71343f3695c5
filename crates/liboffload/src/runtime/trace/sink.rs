//! Writing events, each as a whole.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

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
    pub(super) arguments: &'a [(&'static str, String)],
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
}

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
        Ok(Sink { is_json: config.is_json, output: Mutex::new(Output { writer, is_empty: true }) })
    }

    /// Writes an event: one line, in one piece. A trace that cannot be written (a full disk, a closed pipe) is no reason for a call to fail.
    pub(super) fn write(&self, event: &Event<'_>) {
        let text = if self.is_json { json(event) } else { text(event) };
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let line = match (self.is_json, output.is_empty) {
            (true, true) => format!("[\n{text}"),
            (true, false) => format!(",\n{text}"),
            (false, _) => format!("{text}\n"),
        };
        output.is_empty = false;
        let _ = output.writer.write_all(line.as_bytes());
    }
}

fn text(event: &Event<'_>) -> String {
    let mut line = format!(
        "offload: thread={} depth={} start={:.6}s duration={:.1}us {}(",
        event.thread,
        event.depth,
        event.start.as_secs_f64(),
        event.duration.as_secs_f64() * 1e6,
        event.name
    );
    for (index, (name, value)) in event.arguments.iter().enumerate() {
        let _ = write!(line, "{}.{name} = {value}", if index == 0 { "" } else { ", " });
    }
    let _ = match event.result {
        Ok(()) => write!(line, ") -> OL_SUCCESS"),
        Err(error) => write!(line, ") -> {} \"{}\"", error.code, details(event, error).escape_debug()),
    };
    line
}

fn details(event: &Event<'_>, error: &Error) -> String {
    event.location.map_or_else(|| error.details.clone().into_owned(), |location| format!("{location}: {}", error.details))
}

fn json(event: &Event<'_>) -> String {
    let mut args = Map::new();
    for (name, value) in event.arguments {
        args.insert((*name).to_owned(), value.as_str().into());
    }
    // Parameters begin with a capital letter, so that these are names of their own.
    args.insert("depth".into(), event.depth.into());
    let result = match event.result {
        Ok(()) => "OL_SUCCESS".to_owned(),
        Err(error) => error.code.to_string(),
    };
    args.insert("result".into(), result.into());
    if let Err(error) = event.result {
        args.insert("details".into(), details(event, error).into());
    }
    if let Some(location) = event.location {
        args.insert("location".into(), location.to_string().into());
    }
    let micros = |duration: Duration| Value::from(duration.as_nanos() as f64 / 1e3);
    json!({
        "name": event.name, "cat": "offload", "ph": "X", "ts": micros(event.start), "dur": micros(event.duration),
        "pid": std::process::id(), "tid": event.thread, "args": args,
    })
    .to_string()
}
