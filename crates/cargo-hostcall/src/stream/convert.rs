//! `cargo hostcall stream convert`.

use std::io::BufWriter;
use std::path::Path;

use super::lines::{Format, Lines};
use super::target::Target;
use super::{Filters, beside, cannot_write, code, known_stream, read};
use crate::Outcome;

/// What a recording is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum To {
    /// JSON, a line for each value
    Ndjson,
    /// A table of comma-separated values, of one stream
    Csv,
    /// A Parquet file, of one stream
    Parquet,
    /// A directory of Parquet files: `stream=NAME/device=N/part-00001.parquet`
    ParquetDirectory,
    /// An Arrow file, of one stream
    Arrow,
    /// A directory of Arrow files, one for each stream
    ArrowDirectory,
    /// A trace for <https://ui.perfetto.dev>
    Perfetto,
}

impl To {
    /// What a path looks like.
    fn of(path: &Path) -> Option<Self> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir() {
            return Some(Self::ParquetDirectory);
        }
        match path.extension()?.to_str()? {
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "arrow" => Some(Self::Arrow),
            "perfetto-trace" | "pftrace" => Some(Self::Perfetto),
            _ => None,
        }
    }
}

pub(super) fn run(path: &Path, out: &Path, to: Option<To>, stream: Option<String>, filters: &Filters) -> Outcome {
    let unknown = || {
        format!(
            "cannot tell the format of `{}`: name it .ndjson, .csv, .parquet, .arrow or .perfetto-trace, or a directory/",
            out.display()
        )
    };
    match (to, Target::parse(out.as_os_str())?) {
        (Some(_), _) | (None, Target::Recording(_)) => {}
        #[cfg(feature = "sinks")]
        (None, Target::Sink(place)) => {
            readable(path)?;
            return through(path, out, hostcall_sinks::convert::Converter::into_sink(place.open()?, stream.clone()), stream, filters);
        }
    }
    match to.or_else(|| To::of(out)).ok_or_else(unknown)? {
        To::Ndjson => lines(path, out, Format::Json, stream, filters),
        To::Csv => lines(path, out, Format::Csv, stream, filters),
        to => analysis(path, out, to, stream, filters),
    }
}

#[cfg(not(feature = "sinks"))]
fn analysis(_: &Path, out: &Path, _: To, _: Option<String>, _: &Filters) -> Outcome {
    let advice = "this build writes .ndjson and .csv only; install it with `cargo install cargo-hostcall --features sinks`";
    Err(format!("cannot write `{}`: {advice}", out.display()).into())
}

/// Writes all values into a file or a directory for analysis.
#[cfg(feature = "sinks")]
fn analysis(path: &Path, out: &Path, to: To, stream: Option<String>, filters: &Filters) -> Outcome {
    use hostcall_sinks::convert::{Converter, Form};
    let form = match to {
        To::Parquet => Form::Parquet,
        To::ParquetDirectory => Form::ParquetDirectory,
        To::Arrow => Form::Arrow,
        To::ArrowDirectory => Form::ArrowDirectory,
        To::Perfetto => Form::Perfetto,
        To::Ndjson | To::Csv => unreachable!("these are lines"),
    };
    readable(path)?;
    through(path, out, Converter::new(out, form, stream.clone())?, stream, filters)
}

/// Errors of the recording come before anything is written.
#[cfg(feature = "sinks")]
fn readable(path: &Path) -> Result<(), String> {
    hostcall_stream::open(path).map(drop).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(feature = "sinks")]
fn through(
    path: &Path,
    out: &Path,
    mut converter: hostcall_sinks::convert::Converter,
    stream: Option<String>,
    filters: &Filters,
) -> Outcome {
    let mut known = false;
    let (reader, right) = read(path, filters, |message| {
        known |= stream.as_ref().is_some_and(|stream| *stream == message.schema.name);
        converter.message(message)?;
        Ok(true)
    })?;
    known_stream(&reader, stream.as_deref(), known)?;
    let values = converter.finish()?;
    eprintln!("{values} values written to {}", out.display());
    Ok(code(right))
}

/// Writes all values into a file, which appears under its name when it is whole.
fn lines(path: &Path, out: &Path, format: Format, stream: Option<String>, filters: &Filters) -> Outcome {
    let file = beside(out)?;
    let mut lines = Lines::new(format, stream.clone(), BufWriter::with_capacity(1 << 16, file.as_file()));
    let (reader, right) = read(path, filters, |message| lines.message(message, u64::MAX))?;
    let (values, known) = (lines.values(), lines.finish()?);
    known_stream(&reader, stream.as_deref(), known)?;
    file.persist(out).map_err(|error| cannot_write(out, &error.error))?;
    eprintln!("{values} values written to {}", out.display());
    Ok(code(right))
}
