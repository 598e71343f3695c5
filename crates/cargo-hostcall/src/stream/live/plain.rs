//! Lines instead of a drawing: one for each stream.

use std::io::{self, Write};

use serde_json::json;

use super::model::Model;
use crate::screen::short;

pub(super) fn print(model: &Model, seconds: f64, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    for stream in model.streams.values() {
        let (all, rate) = (stream.all, stream.rate);
        let (dropped, waited) = stream.counted.unzip();
        if as_json {
            let line = json!({
                "seconds": (seconds * 1e3).round() / 1e3,
                "stream": stream.name,
                "messages": all.messages,
                "values": all.values,
                "bytes": all.bytes,
                "messages_per_second": rate.messages,
                "values_per_second": rate.values,
                "bytes_per_second": rate.bytes,
                "dropped": dropped,
                "waited": waited,
                "last": stream.last,
            });
            writeln!(out, "{line}")?;
            continue;
        }
        write!(
            out,
            "{seconds:8.1} s  {}: {} values/s, {}B/s, {} values",
            stream.name,
            short(rate.values),
            short(rate.bytes),
            short(all.values)
        )?;
        for (count, what) in [(dropped, "dropped"), (waited, "waited")] {
            if let Some(count) = count.filter(|count| *count > 0) {
                write!(out, ", {} {what}", short(count))?;
            }
        }
        if !stream.last.is_empty() {
            write!(out, "; {}", stream.last)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
