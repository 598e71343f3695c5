//! Whether a recording is whole, and says the same everywhere.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use hostcall_stream::Summary;
use hostcall_stream::file::Ending;

use super::{Filters, code, read};
use crate::Outcome;

/// Reading checks the frames' checksums, the messages, and the order of positions in each ring; the rest is checked
/// here.
pub(super) fn run(path: &Path, mut out: impl Write) -> Outcome {
    let mut found = BTreeMap::<u32, (u64, u64)>::new();
    let (reader, mut right) = read(path, &Filters::default(), |message| {
        let (messages, values) = found.entry(message.header.stream).or_default();
        *messages += 1;
        *values += message.rows().count() as u64;
        Ok(true)
    })?;
    let complete = reader.ending() == Some(Ending::Complete);
    right &= complete;
    if complete {
        // Counters of a file that is cut are those of an earlier time.
        for difference in reader.counters().map_or_else(|| vec!["there are no counters".into()], |counters| differences(counters, &found)) {
            right = false;
            eprintln!("error: {difference}");
        }
    }
    if let Some(counters) = reader.counters().filter(|counters| !counters.is_complete()) {
        eprintln!("note: not everything that was sent was received:\n{counters}");
    }
    let messages: u64 = found.values().map(|(messages, _)| messages).sum();
    let verdict = if right { "whole" } else { "not whole" };
    writeln!(out, "{}: {verdict}; {messages} messages in {} frames, {} bytes", path.display(), reader.frames(), reader.offset())?;
    out.flush()?;
    Ok(code(right))
}

/// Where the counters say something else than the messages.
fn differences(counters: &Summary, found: &BTreeMap<u32, (u64, u64)>) -> Vec<String> {
    let mut differences = Vec::new();
    for (number, stream) in (1..).zip(&counters.streams) {
        let (messages, values) = found.get(&number).copied().unwrap_or_default();
        if (messages, values) != (stream.messages, stream.values) {
            let (name, counted, counted_values) = (&stream.name, stream.messages, stream.values);
            differences.push(format!(
                "stream `{name}`: {messages} messages of {values} values are there, and {counted} of {counted_values} were counted"
            ));
        }
    }
    for number in found.keys().filter(|number| **number as usize > counters.streams.len()) {
        differences.push(format!("messages of stream {number} are there, which was not counted"));
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostcall_stream::StreamCounts;

    #[test]
    fn counters_that_say_something_else_are_named() {
        let stream = |name: &str, messages, values| StreamCounts { name: name.into(), messages, values, ..StreamCounts::default() };
        let counters = Summary { streams: vec![stream("A", 2, 64), stream("B", 0, 0)], ..Summary::default() };
        assert_eq!(differences(&counters, &[(1, (2, 64))].into()), [""; 0]);
        assert_eq!(
            differences(&counters, &[(1, (2, 63)), (3, (1, 1))].into()),
            [
                "stream `A`: 2 messages of 63 values are there, and 2 of 64 were counted",
                "messages of stream 3 are there, which was not counted"
            ]
        );
    }
}
