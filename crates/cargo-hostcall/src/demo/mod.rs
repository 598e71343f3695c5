//! `cargo hostcall demo`: counts the words of a file, in a kernel that reads it by hostcalls.
//!
//! The host's part is small: it grants the kernels one directory to read and one to write, answers the progress service, and launches
//! the kernels of `kernels/wordcount` (see [`job`]). Opening, reading and writing files is theirs.

mod job;
mod progress;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use hostcall::{Access, Server};

use crate::{Outcome, device};
use progress::Counts;

/// What is counted if no file is given.
const LICENCE: &[u8] = include_bytes!("../../../../LICENSE-APACHE");

/// What to count, and where.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file whose words are counted [default: the Apache licence]
    file: Option<PathBuf>,
    /// The device: sim, sim:SETTINGS, cuda, cuda:N [default: the first CUDA device, else the simulator]
    #[arg(long, value_name = "D", overrides_with = "device")]
    device: Option<String>,
    /// Where the kernel writes all counts
    #[arg(long, value_name = "FILE", default_value = "wordcount.txt")]
    output: PathBuf,
}

/// Why there is no count.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The path does not lead to a file with a length.
    #[error("cannot count the words of {path}: it is {what}, not a regular file", path = path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    /// The counts have no place to go to.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The output would replace what is read.
    #[error("the counts would overwrite {path}, whose words are counted: choose another file with --output", path = path.display())]
    Overwrite { path: PathBuf },
    /// Kernels know paths as text.
    #[error("the name of {path} is not UTF-8, and kernels take only paths that are", path = path.display())]
    Name { path: PathBuf },
    /// Places in the table have 40 bits.
    #[error("{path} has {len} bytes; at most 2^40 - 2 can be counted", path = path.display())]
    TooLong { path: PathBuf, len: u64 },
    /// The kernels failed.
    #[error("{}", device::summary(.0.report()))]
    Kernel(Box<hostcall::WaitError>),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let licence;
    let path = match &arguments.file {
        Some(path) => path,
        None => {
            licence = write_licence()?;
            &licence.path().to_path_buf()
        }
    };
    let input = Input::open(path)?;
    let output = Output::find(&arguments.output)?;
    if output.full.canonicalize().is_ok_and(|existing| existing == input.full) {
        return Err(Error::Overwrite { path: path.clone() }.into());
    }

    let bundle = offload::include_program!("wordcount");
    let (device, why) = device::open(arguments.device.as_deref(), Some(&bundle))?;
    eprintln!("device: {}", device::describe(&device));
    eprintln!("why:    {why}");

    let counts = Counts::new(input.len);
    let server = Server::builder(&device)
        .services(counts.services())
        .dir(&input.directory, "in", Access::ReadOnly)?
        .dir(&output.directory, "out", Access::ReadWrite)?
        .stats(true)
        .start()?;
    let program = device.load(&bundle)?;
    server.attach(&program)?;

    let started = Instant::now();
    let ticker = counts.show();
    let job = job::Job::new(&device, &server, &program)?;
    let outcome = job.run(&format!("in/{}", input.name), input.len, &format!("out/{}", output.name));
    drop(ticker);
    let counted = outcome?;
    let total = started.elapsed();

    print_top(&counted.top)?;
    let what = arguments.file.as_deref().map_or("the Apache licence".into(), |path| path.display().to_string());
    eprintln!("counted: {} words, {} different, in {what} ({})", counted.words, counted.distinct, device::bytes(input.len));
    eprintln!("kernels reported: {counts}");
    let rate = input.len as f64 / counted.times.load.as_secs_f64() / 1e9;
    eprintln!("time:    {total:.1?} ({}; read at {rate:.2} GB/s)", counted.times);
    eprintln!("written: {}, by a kernel", output.full.display());
    eprintln!("\n{}", device::called(&server));
    Ok(ExitCode::SUCCESS)
}

/// The licence's text as a file, for kernels to open.
fn write_licence() -> Result<tempfile::NamedTempFile, Error> {
    let make = || {
        let mut file = tempfile::Builder::new().prefix("LICENSE-APACHE-").tempfile()?;
        file.write_all(LICENCE)?;
        Ok(file)
    };
    make().map_err(|source| Error::Write { path: std::env::temp_dir(), source })
}

/// A closed pipe is no failure of ours: `demo | head -1`.
fn print_top(top: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(top).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The file, as the kernels are to find it.
struct Input {
    full: PathBuf,
    directory: PathBuf,
    name: String,
    len: u64,
}

impl Input {
    /// Finds out here what would go wrong there, because errors are better before a launch than after it.
    fn open(path: &Path) -> Result<Input, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        // Kernels see one directory, which a symbolic link may not lead out of.
        let full = path.canonicalize().map_err(unreadable)?;
        let metadata = full.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Error::NotAFile { path: path.into(), what: "a directory" });
        }
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: path.into(), what: "a device, pipe or socket" });
        }
        fs::File::open(&full).map_err(unreadable)?;
        let len = metadata.len();
        if len > (1 << 40) - 2 {
            return Err(Error::TooLong { path: path.into(), len });
        }
        let (directory, name) = split(&full)?;
        Ok(Input { full, directory, name, len })
    }
}

/// Where the counts go.
struct Output {
    full: PathBuf,
    directory: PathBuf,
    name: String,
}

impl Output {
    fn find(path: &Path) -> Result<Output, Error> {
        let unwritable = |source| Error::Write { path: path.into(), source };
        let full = std::path::absolute(path).map_err(unwritable)?;
        let (directory, name) = split(&full)?;
        // Not truncated yet: that is the kernel's to do, once there is something to write.
        fs::File::options().append(true).create(true).open(&full).map_err(unwritable)?;
        Ok(Output { full, directory, name })
    }
}

fn split(full: &Path) -> Result<(PathBuf, String), Error> {
    let name = full.file_name().and_then(|name| name.to_str());
    match (full.parent(), name) {
        (Some(directory), Some(name)) => Ok((directory.into(), name.into())),
        _ => Err(Error::Name { path: full.into() }),
    }
}
