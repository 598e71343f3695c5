//! What is in a recording.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use hostcall_stream::file::Ending;
use hostcall_stream::{Cell, Table};

use super::kernels::Kernels;
use super::{Filters, code, read};
use crate::Outcome;

pub(super) fn run(path: &Path, mut out: impl Write) -> Outcome {
    let (mut messages, mut values) = (BTreeMap::<u32, u64>::new(), BTreeMap::<u32, u64>::new());
    let mut kernels = Kernels::default();
    let (reader, right) = read(path, &Filters::default(), |message| {
        kernels.add(message);
        *messages.entry(message.header.stream).or_default() += 1;
        *values.entry(message.header.stream).or_default() += message.rows().count() as u64;
        Ok(true)
    })?;
    let ending = match reader.ending() {
        Some(Ending::Complete) => "complete",
        Some(Ending::Cut { .. }) => "cut off",
        None => "damaged",
    };
    writeln!(
        out,
        "{}: {} bytes in {} frames, {ending}; written by hostcall {}",
        path.display(),
        reader.offset(),
        reader.frames(),
        reader.hostcall()
    )?;
    let mut programs = Table::new("programs", &["program", "device", "kind", "number", "lanes of a wave", "rings"]);
    for program in reader.programs() {
        let device = &program.device;
        programs.row([
            (&program.name).into(),
            (&device.name).into(),
            (&device.kind).into(),
            device.number.into(),
            program.wave_size.into(),
            program.rings.into(),
        ]);
    }
    write!(out, "\n{programs}")?;
    let mut streams = Table::new("streams", &["number", "stream", "value [bytes]", "messages", "values", "definition"]);
    for (number, schema) in reader.streams() {
        let count = |of: &BTreeMap<u32, u64>| Cell::Count(of.get(&number).copied().unwrap_or(0));
        streams.row([
            number.into(),
            (&schema.name).into(),
            schema.bytes.into(),
            count(&messages),
            count(&values),
            schema.to_string().into(),
        ]);
    }
    write!(out, "\n{streams}")?;
    write!(out, "\n{}", kernels.table("kernels"))?;
    if let Some(counters) = reader.counters() {
        write!(out, "\ncounted\n{counters}\n")?;
    }
    out.flush()?;
    Ok(code(right))
}
