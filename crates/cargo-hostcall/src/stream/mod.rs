//! `cargo hostcall stream`: shows, checks and converts recordings of message streams (`.hcs`, see
//! `hostcall_stream::file`).
//!
//! * `info`: programs, devices, streams, and how many messages there are.
//! * `cat`, `head`: the values, one a line, as text, JSON or CSV.
//! * `stats`: rates and sizes of streams; least, greatest and mean of fields.
//! * `check`: whether the file is whole and says the same everywhere. The exit code is 1 if not.
//! * `convert`: into JSON lines, CSV, Parquet, Arrow, a trace for Perfetto, or to whatever address a sink takes.
//! * `live`: rates, losses and last values of one that is being written.
//! * `report`: one HTML file with plots.
//!
//! A file that is cut off is read as far as it goes, and a note says so. One that is damaged is read up to the damage,
//! and the exit code is 1.

mod check;
mod convert;
mod info;
mod kernels;
mod lines;
mod live;
pub(crate) mod receiver;
mod report;
mod stats;
pub(crate) mod target;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostcall_stream::NamedFilter;
use hostcall_stream::file::{Ending, Message, Reader};

use crate::Outcome;
use lines::{Format, Lines};

/// What is done with a recording.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Says which programs and streams are in a recording, and how many messages
    Info {
        /// The recording
        file: PathBuf,
    },
    /// Prints all values of a recording, one a line
    Cat {
        /// The recording
        file: PathBuf,
        #[command(flatten)]
        selection: Selection,
    },
    /// Prints the first values of a recording, one a line
    Head {
        /// The recording
        file: PathBuf,
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
        count: u64,
        #[command(flatten)]
        selection: Selection,
    },
    /// Prints rates and sizes of streams, and least, greatest and mean of their fields
    Stats {
        /// The recording
        file: PathBuf,
        #[command(flatten)]
        filters: Filters,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Checks that a recording is whole, and that its counters agree with its messages; the exit code says so
    Check {
        /// The recording
        file: PathBuf,
    },
    /// Shows rates, losses and last values of a recording while it is written
    Live(live::Arguments),
    /// Writes an HTML file with plots of a recording: one file, which works offline
    Report {
        /// The recording
        file: PathBuf,
        /// The page to write; by default the recording's name with .html
        #[arg(short = 'o', long, value_name = "PAGE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        filters: Filters,
    },
    /// Writes the values of a recording into another file: .ndjson, .csv; built with the feature `sinks` also .parquet,
    /// .arrow, .perfetto-trace, and DIRECTORY/ of Parquet files; or to whatever address `run --stream` takes
    Convert {
        /// The recording
        file: PathBuf,
        /// The file to write, or a directory, which ends in `/`; the ending says the format. Or an address, as
        /// parquet://DIR or nats://HOST/PREFIX
        out: PathBuf,
        /// The format, whatever the ending says
        #[arg(long, value_enum)]
        to: Option<convert::To>,
        /// Only values of this stream
        #[arg(long, value_name = "NAME")]
        stream: Option<String>,
        #[command(flatten)]
        filters: Filters,
    },
}

/// Which messages are wanted.
#[derive(clap::Args, Clone, Default)]
struct Filters {
    /// Which messages of a stream are wanted, as `run --stream-filter` takes it: `NAME: group.x=0..8, lane.y=0,
    /// waves=0..2, lanes=0xff`, some of these. May be given for several streams
    #[arg(long = "filter", value_name = "FILTER", value_parser = crate::options::filter)]
    filters: Vec<NamedFilter>,
}

impl Filters {
    /// A name with them behind it.
    fn named(&self, name: impl Into<String>) -> String {
        self.filters.iter().fold(name.into(), |name, filter| format!("{name} ({filter})"))
    }

    /// Opens a recording, of which it hands on what they want.
    fn open(&self, path: &Path) -> Result<Recording, Box<dyn std::error::Error>> {
        let mut reader = hostcall_stream::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        reader.select(&self.filters)?;
        Ok(reader)
    }

    /// Says what could not be told, and that a filter names a stream that the recording has not.
    fn check(&self, path: &Path, reader: &Recording) -> Result<(), Box<dyn std::error::Error>> {
        if reader.unplaced() > 0 {
            let (path, left_out) = (path.display(), reader.unplaced());
            eprintln!("note: {path}: {left_out} messages are left out: the shape of their launch is unknown, so x, y and z cannot be told");
        }
        self.filters.iter().try_for_each(|filter| known_stream(reader, Some(&filter.stream), false))
    }
}

/// Which values, and how they are printed.
#[derive(clap::Args)]
struct Selection {
    /// How values are printed; CSV is that of one stream
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only values of this stream
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    #[command(flatten)]
    filters: Filters,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> Outcome {
    let out = BufWriter::new(io::stdout().lock());
    match arguments.command {
        Command::Info { file } => info::run(&file, out),
        Command::Cat { file, selection } => print(&file, &selection, u64::MAX, out),
        Command::Head { file, count, selection } => print(&file, &selection, count, out),
        Command::Stats { file, filters, json } => stats::run(&file, &filters, json, out),
        Command::Check { file } => check::run(&file, out),
        Command::Live(arguments) => live::run(&arguments, out),
        Command::Report { file, out, filters } => report::run(&file, out, &filters),
        Command::Convert { file, out, to, stream, filters } => convert::run(&file, &out, to, stream, &filters),
    }
}

/// A recording, with what is said of it at its end.
type Recording = Reader<BufReader<File>>;

/// Hands each message on until `each` says that it is enough, and says on stderr if there might have been more. Whether
/// the file is right as far as it was read.
fn read(
    path: &Path,
    filters: &Filters,
    mut each: impl FnMut(&Message<'_>) -> Result<bool, Box<dyn std::error::Error>>,
) -> Result<(Recording, bool), Box<dyn std::error::Error>> {
    let mut reader = filters.open(path)?;
    loop {
        match reader.next() {
            Ok(Some(message)) => {
                if !each(&message)? {
                    return Ok((reader, true));
                }
            }
            Ok(None) => break,
            Err(error) => {
                eprintln!("error: {}: {error}", path.display());
                return Ok((reader, false));
            }
        }
    }
    if let Some(Ending::Cut { whole }) = reader.ending() {
        eprintln!("note: {} is cut off behind byte {whole}: its program has not completed it", path.display());
    }
    filters.check(path, &reader)?;
    Ok((reader, true))
}

fn code(right: bool) -> ExitCode {
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints up to `most` values.
fn print(path: &Path, selection: &Selection, most: u64, out: impl Write) -> Outcome {
    let mut lines = Lines::new(selection.format, selection.stream.clone(), out).for_terminal(io::stdout().is_terminal());
    let (reader, right) = read(path, &selection.filters, |message| lines.message(message, most))?;
    let known = lines.finish()?;
    known_stream(&reader, selection.stream.as_deref(), known)?;
    Ok(code(right))
}

/// A name that no stream has is more likely wrong than a stream without messages.
fn known_stream(reader: &Recording, name: Option<&str>, known: bool) -> Result<(), Box<dyn std::error::Error>> {
    let Some(name) = name.filter(|_| !known) else { return Ok(()) };
    if reader.streams().any(|(_, schema)| schema.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = reader.streams().map(|(_, schema)| schema.name.as_str()).collect();
    Err(format!("there is no stream `{name}` in the recording; its streams are: {}", names.join(", ")).into())
}

/// A file that is to be called `out` when it is whole.
fn beside(out: &Path) -> Result<tempfile::NamedTempFile, String> {
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hcs-");
    // As files are made in the ordinary way; temporary ones are their owner's alone.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent).map_err(|error| cannot_write(out, &error))
}

fn cannot_write(out: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot write `{}`: {error}", out.display())
}
