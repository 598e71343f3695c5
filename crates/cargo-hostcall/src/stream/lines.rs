//! Values as lines: text, JSON objects, or CSV.

use std::error::Error;
use std::io::Write;

use hostcall_abi::Shown;
use hostcall_stream::file::{LogLines, Message, Row, Value};
use hostcall_stream::{Content, Level, Schema, Site};
use serde_json::{Map, json};

/// How values are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// A JSON object a line (NDJSON)
    Json,
    /// Comma-separated values (RFC 4180), with a line of names
    Csv,
}

/// The columns of CSV before those of the fields.
const COLUMNS: [&str; 14] =
    ["program", "device", "launch", "dispatch", "kernel", "group", "wave", "lane", "sm", "time", "site", "weight", "after_gap", "position"];

/// Where values go.
pub(super) struct Lines<W: Write> {
    format: Format,
    /// The stream that is wanted; `None`: all.
    only: Option<String>,
    out: Out<W>,
    /// The stream whose names are in the first line.
    named: Option<Schema>,
    values: u64,
    /// Texts in CSV, which has no escapes, are [shown](Shown): somebody looks at them.
    shown: bool,
}

enum Out<W: Write> {
    Plain(W),
    Csv(Box<csv::Writer<W>>),
}

impl<W: Write> Lines<W> {
    pub(super) fn new(format: Format, only: Option<String>, out: W) -> Self {
        let csv = |out| csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        let out = if format == Format::Csv { Out::Csv(Box::new(csv(out))) } else { Out::Plain(out) };
        Self { format, only, out, named: None, values: 0, shown: false }
    }

    /// Whether they go to a terminal.
    pub(super) fn for_terminal(mut self, terminal: bool) -> Self {
        self.shown = terminal;
        self
    }

    /// Values written so far.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// Writes the values of a message, up to `most` in all. Whether there is room for more.
    pub(super) fn message(&mut self, message: &Message<'_>, most: u64) -> Result<bool, Box<dyn Error>> {
        if self.only.as_ref().is_some_and(|only| *only != message.schema.name) {
            return Ok(true);
        }
        if let (Out::Plain(out), Some(LogLines { site, lines })) = (&mut self.out, message.log()) {
            for (lane, line) in lines {
                if self.values >= most {
                    return Ok(false);
                }
                match self.format {
                    Format::Json => writeln!(out, "{}", json_line(&log_object(message, lane, &site, &line)))?,
                    _ => writeln!(out, "{}", log_text(message, lane, &site, &line))?,
                }
                self.values += 1;
            }
            return Ok(self.values < most);
        }
        for row in message.rows() {
            if self.values >= most {
                return Ok(false);
            }
            match &mut self.out {
                Out::Plain(out) if self.format == Format::Json => writeln!(out, "{}", json_line(&object(message, &row)))?,
                Out::Plain(out) => writeln!(out, "{}", text(message, &row))?,
                Out::Csv(out) => {
                    match &self.named {
                        None => {
                            out.write_record(COLUMNS.into_iter().map(String::from).chain(names(message, &row))).map_err(unwrapped)?;
                            self.named = Some(message.schema.clone());
                        }
                        Some(named) if named != message.schema => return Err(several(named, message.schema)),
                        Some(_) => {}
                    }
                    out.write_record(cells(message, &row, self.shown)).map_err(unwrapped)?;
                }
            }
            self.values += 1;
        }
        Ok(self.values < most)
    }

    /// Writes what is left in buffers. Whether there were any values.
    pub(super) fn finish(self) -> Result<bool, Box<dyn Error>> {
        match self.out {
            Out::Plain(mut out) => out.flush()?,
            Out::Csv(mut out) => out.flush()?,
        }
        Ok(self.values > 0)
    }
}

/// The system's error as it was.
fn unwrapped(error: csv::Error) -> Box<dyn Error> {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => format!("{other:?}").into(),
    }
}

fn several(one: &Schema, other: &Schema) -> Box<dyn Error> {
    let (one, other) = (&one.name, &other.name);
    format!("the recording has values of `{one}` and of `{other}`, and a table has columns of one: choose with `--stream {one}`").into()
}

/// Who sent it, for people.
fn origin(message: &Message<'_>, lane: u32) -> String {
    let (from, kernel) = (message.header.from, message.dispatch.kernel_name());
    // Where it is unknown, its low bits are.
    let launch = message.dispatch.number.unwrap_or(from.launch.into());
    let mut line = format!(
        "{} launch {} kernel {} group {} wave {} lane {lane} sm {}",
        message.schema.name, launch, kernel, from.group, from.wave, from.sm
    );
    if let Some(time) = message.header.time {
        line += &format!(" time {time} ns");
    }
    match message.sites.get(message.header.site) {
        Some(site) => line += &format!(" at {site}"),
        None if message.header.site > 0 => line += &format!(" site {}", message.header.site),
        None => {}
    }
    if message.after_gap {
        line += " after a gap";
    }
    line + ":"
}

/// JSON in which nothing steers a terminal: the same values, with more escapes.
fn json_line(value: &serde_json::Value) -> String {
    format!("{:#}", Shown(&value.to_string()))
}

/// A line of a log, for people.
fn log_text(message: &Message<'_>, lane: u32, site: &Site, line: &str) -> String {
    format!("{} {}: {}", origin(message, lane), site.level.map_or("", Level::name), Shown(line))
}

fn log_object(message: &Message<'_>, lane: u32, site: &Site, line: &str) -> serde_json::Value {
    described(message, lane, json!({ "level": site.level.map(Level::name), "text": line }))
}

/// A value for people.
fn text(message: &Message<'_>, row: &Row<'_>) -> String {
    let mut line = origin(message, row.lane);
    for (field, value) in row.fields() {
        line += &match value {
            // One line, whatever is in it.
            Value::Text(text) => format!(" {}={text:?}", field.name),
            value => format!(" {}={value}", field.name),
        };
    }
    line
}

fn object(message: &Message<'_>, row: &Row<'_>) -> serde_json::Value {
    let mut fields: Map<_, _> = row.fields().map(|(field, value)| (field.name.to_string(), value.to_json())).collect();
    if message.schema.content() != Content::Values {
        fields.insert("length".into(), row.bytes().len().into());
    }
    described(message, row.lane, fields.into())
}

/// A value with who sent it.
fn described(message: &Message<'_>, lane: u32, value: serde_json::Value) -> serde_json::Value {
    let header = &message.header;
    json!({
        "stream": message.schema.name,
        "program": message.program.name,
        "device": message.program.device.number,
        "launch": header.from.launch,
        "dispatch": message.dispatch.number,
        "kernel": message.dispatch.kernel,
        "group": header.from.group,
        "wave": header.from.wave,
        "lane": lane,
        "sm": header.from.sm,
        "time": header.time,
        "site": header.site,
        "weight": 1u32 << header.weight,
        "after_gap": message.after_gap,
        "position": message.position,
        "place": message.sites.get(header.site).map(|site| site.to_string()),
        "value": value,
    })
}

fn cells(message: &Message<'_>, row: &Row<'_>, shown: bool) -> Vec<String> {
    let header = &message.header;
    let mut cells = vec![
        message.program.name.to_string(),
        message.program.device.number.to_string(),
        header.from.launch.to_string(),
        message.dispatch.number.map(|number| number.to_string()).unwrap_or_default(),
        message.dispatch.kernel.unwrap_or_default().to_owned(),
        header.from.group.to_string(),
        header.from.wave.to_string(),
        row.lane.to_string(),
        header.from.sm.to_string(),
        header.time.map(|time| time.to_string()).unwrap_or_default(),
        header.site.to_string(),
        (1u32 << header.weight).to_string(),
        message.after_gap.to_string(),
        message.position.to_string(),
    ];
    for (_, value) in row.fields() {
        let text = |value: &Value| if shown { Shown(&value.to_string()).to_string() } else { value.to_string() };
        flat(&value, &mut |_, value| cells.push(text(value)));
    }
    if message.schema.content() != Content::Values {
        cells.push(row.bytes().len().to_string());
    }
    cells
}

/// The names of the columns of fields. Those of an array's elements end in their indices. Bytes and text have one for
/// their length, too.
fn names(message: &Message<'_>, row: &Row<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for (field, value) in row.fields() {
        flat(&value, &mut |path, _| names.push(format!("value.{}{path}", field.name)));
    }
    if message.schema.content() != Content::Values {
        names.push("value.length".into());
    }
    names
}

/// Calls `each` for a value, or for each element of an array, with its indices.
fn flat(value: &Value, each: &mut impl FnMut(&str, &Value)) {
    fn inner(path: &str, value: &Value, each: &mut impl FnMut(&str, &Value)) {
        let Value::List(values) = value else { return each(path, value) };
        for (index, value) in values.iter().enumerate() {
            inner(&format!("{path}.{index}"), value, each);
        }
    }
    inner("", value, each);
}
