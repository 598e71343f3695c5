//! Rates and sizes of streams, and the range of their fields.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use hostcall_abi::Shown;
use hostcall_stream::file::{Message, Value};
use hostcall_stream::{Cell, Content, Report, Table};

use super::kernels::Kernels;
use super::{Filters, code, read};
use crate::Outcome;

/// What is found out of a stream.
#[derive(Default)]
struct Stream {
    messages: u64,
    values: u64,
    /// Of messages in their rings.
    bytes: u64,
    /// Of their values.
    payload: u64,
    /// First and last time, in nanoseconds of the device.
    times: Option<(u64, u64)>,
    /// Of each field, in the order of memory.
    fields: Vec<Field>,
}

/// What is found out of a field, or of all elements of one that is an array.
#[derive(Default)]
struct Field {
    /// Numbers that are some: neither infinite nor none.
    count: u64,
    others: u64,
    least: f64,
    greatest: f64,
    mean: f64,
}

impl Field {
    fn add(&mut self, value: &Value) {
        if let Value::List(values) = value {
            return values.iter().for_each(|value| self.add(value));
        }
        let Some(number) = value.number().filter(|number| number.is_finite()) else {
            self.others += 1;
            return;
        };
        (self.least, self.greatest) = if self.count == 0 { (number, number) } else { (self.least.min(number), self.greatest.max(number)) };
        self.count += 1;
        // Welford's: a sum of many values would lose digits.
        self.mean += (number - self.mean) / self.count as f64;
    }
}

impl Stream {
    fn add(&mut self, message: &Message<'_>) {
        self.messages += 1;
        self.bytes += u64::from(message.header.granules) * 64;
        if let Some(time) = message.header.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        self.payload += message.bytes().len() as u64;
        if message.schema.content() != Content::Values {
            // Of bytes and text: how long they are.
            self.values += 1;
            self.fields.resize_with(1, Field::default);
            return self.fields[0].add(&Value::Unsigned(message.bytes().len() as u64));
        }
        for row in message.rows() {
            self.values += 1;
            self.fields.resize_with(row.fields().len(), Field::default);
            for (field, (_, value)) in self.fields.iter_mut().zip(row.fields()) {
                field.add(&value);
            }
        }
    }
}

pub(super) fn run(path: &Path, filters: &Filters, json: bool, mut out: impl Write) -> Outcome {
    let mut all = BTreeMap::<u32, Stream>::new();
    let mut kernels = Kernels::default();
    let (reader, right) = read(path, filters, |message| {
        kernels.add(message);
        all.entry(message.header.stream).or_default().add(message);
        Ok(true)
    })?;
    let columns =
        ["stream", "messages", "values", "ring [bytes]", "values [bytes]", "span [ms]", "messages per second", "values per second"];
    let mut streams = Table::new("streams", &columns);
    let mut fields = Table::new("fields", &["stream", "field", "type", "numbers", "least", "greatest", "mean", "others"]);
    for (number, schema) in reader.streams() {
        let none = Stream::default();
        let stream = all.get(&number).unwrap_or(&none);
        let span = stream.times.map(|(first, last)| (last - first) as f64);
        let rate = |count: u64| Cell::from(span.filter(|span| *span > 0.0).map(|span| (count as f64 / span * 1e9).round()));
        streams.row([
            (&schema.name).into(),
            stream.messages.into(),
            stream.values.into(),
            stream.bytes.into(),
            stream.payload.into(),
            span.map(|span| span / 1e6).into(),
            rate(stream.messages),
            rate(stream.values),
        ]);
        for (field, found) in schema.fields.iter().zip(&stream.fields) {
            let number = |number: f64| Cell::from((found.count > 0).then_some(number));
            fields.row([
                (&schema.name).into(),
                (if schema.content() == Content::Values { field.name.to_string() } else { format!("length of {}", field.name) }).into(),
                (&field.ty).into(),
                found.count.into(),
                number(found.least),
                number(found.greatest),
                number(found.mean),
                found.others.into(),
            ]);
        }
    }
    let report =
        Report { tables: vec![streams, fields, kernels.table("kernels")], ..Report::new(filters.named(path.display().to_string())) };
    if json {
        writeln!(out, "{:#}", Shown(&report.to_json().to_string()))?;
    } else {
        write!(out, "{report}")?;
    }
    out.flush()?;
    Ok(code(right))
}
