//! `cargo hostcall demo`: counts the words of a file, in a kernel that reads it by hostcalls.
//!
//! The host's part is small: it grants the kernels one directory to read and one to write, answers the progress
//! service, and launches the kernels of `hostcall-demo` (see [`job`]). Opening, reading and writing files
//! is theirs. Of several devices each counts a part, and the host puts the counts together.

mod input;
mod job;
mod merge;
mod progress;
#[cfg(feature = "remote")]
mod remote;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use hostcall::{Access, Fleet, Service};
use offload::{Device, Program, ProgramBundle};

use crate::{Outcome, device};
use input::{Input, Output};
use job::{From, Job, Part, Times};
use progress::Counts;

/// What to count, and where.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file whose words are counted [default: the Apache licence]
    file: Option<PathBuf>,
    /// The device: sim, sim:SETTINGS, cuda, cuda:N [default: the first CUDA device, else the simulator]
    #[arg(long, value_name = "D", overrides_with = "device")]
    device: Option<String>,
    /// Several devices, each of which counts a part: all, cuda, cuda:0,1, sim*4
    #[arg(long, value_name = "LIST", conflicts_with = "device")]
    devices: Option<String>,
    /// Have the file read by the process that serves it at this NATS server, nats://HOST:PORT; env: at the one that
    /// HOSTCALL_REMOTE names; local: by this process
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL")]
    remote: Option<String>,
    /// Count nothing: read the file for those who count with --remote, until the process is ended
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL", conflicts_with_all = ["device", "devices", "remote", "output"])]
    serve: Option<String>,
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
    /// Whoever serves the text says which one it is.
    #[cfg(feature = "remote")]
    #[error("{path} is named where it is read: `cargo hostcall demo {path} --serve URL`", path = path.display())]
    Elsewhere { path: PathBuf },
    /// A worker that nobody reaches.
    #[cfg(feature = "remote")]
    #[error("--serve local would serve this process alone, which counts nothing: name the server, or use `--remote local`")]
    ServeHere,
    /// The kernels failed.
    #[error("{}", device::summary(.0.report()))]
    Kernel(Box<hostcall::WaitError>),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
}

/// What is counted, and how kernels read it.
struct Source {
    what: String,
    /// `None`: services read it, elsewhere or here.
    input: Option<Input>,
    services: Vec<Service>,
    /// What those services need.
    _keep: Box<dyn std::any::Any>,
}

impl Source {
    fn find(arguments: &Arguments) -> Result<Self, Box<dyn std::error::Error>> {
        #[cfg(feature = "remote")]
        if let Some(place) = &arguments.remote {
            return remote::source(place, arguments.file.as_deref());
        }
        let (path, licence) = input::or_licence(arguments.file.as_deref())?;
        let what = arguments.file.as_deref().map_or("the Apache licence".into(), |path| path.display().to_string());
        Ok(Self { what, input: Some(Input::open(&path)?), services: Vec::new(), _keep: Box::new(licence) })
    }
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    #[cfg(feature = "remote")]
    if let Some(place) = &arguments.serve {
        return remote::serve(place, arguments.file.as_deref());
    }
    let source = Source::find(&arguments)?;
    let output = Output::find(&arguments.output)?;
    if let Some(input) = &source.input
        && output.full.canonicalize().is_ok_and(|existing| existing == input.full)
    {
        return Err(Error::Overwrite { path: arguments.file.clone().unwrap_or_default() }.into());
    }

    let bundle = hostcall_demo::program();
    let devices = open(&arguments, &bundle)?;
    let counts = Counts::new();
    let fleet = Fleet::builder(devices).services(counts.services()).services(source.services.iter().cloned());
    let fleet = fleet.each(|_, mut builder| {
        if let Some(input) = &source.input {
            builder = builder.dir(&input.directory, "in", Access::ReadOnly)?;
        }
        Ok(builder.dir(&output.directory, "out", Access::ReadWrite)?.stats(true))
    });
    let fleet = fleet.start()?;
    let load = |member: &hostcall::fleet::Member| {
        let program = member.device().load(&bundle)?;
        member.server().attach(&program)?;
        Ok(program)
    };
    let programs: Vec<Program> = fleet.members().map(load).collect::<Result<_, Box<dyn std::error::Error>>>()?;

    let started = Instant::now();
    let ticker = counts.show();
    let counted = count(&fleet, &programs, &source, &counts, &output);
    drop(ticker);
    let Counted { words, distinct, top, times, len } = counted?;
    let total = started.elapsed();

    print_top(&top)?;
    eprintln!("counted: {words} words, {distinct} different, in {} ({})", source.what, device::bytes(len));
    eprintln!("kernels reported: {counts}");
    let rate = len as f64 / times.load.as_secs_f64() / 1e9;
    eprintln!("time:    {total:.1?} ({times}; read at {rate:.2} GB/s)");
    let by = if fleet.len() == 1 { "by a kernel" } else { "by the host, which put the devices' counts together" };
    eprintln!("written: {}, {by}", output.full.display());
    if fleet.len() == 1 {
        eprintln!("\n{}", device::called(fleet.server(0)))
    } else {
        eprintln!("\n{}", fleet.stats().called())
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the devices, and says which, and why.
fn open(arguments: &Arguments, bundle: &ProgramBundle) -> Result<Vec<Device>, offload::Error> {
    let opened = match &arguments.devices {
        Some(list) => device::open_list(list, bundle)?,
        None => vec![device::open(arguments.device.as_deref(), Some(bundle))?],
    };
    let open = |(device, why)| {
        eprintln!("device: {}", device::describe(&device));
        eprintln!("why:    {why}");
        device
    };
    Ok(opened.into_iter().map(open).collect())
}

/// What came out.
struct Counted {
    words: u64,
    distinct: u64,
    /// The first lines of the counts.
    top: Vec<u8>,
    times: Times,
    /// Bytes of the text.
    len: u64,
}

/// Counts on all devices at once, each its part of the text, and writes the counts.
fn count(fleet: &Fleet, programs: &[Program], source: &Source, counts: &Counts, output: &Output) -> Result<Counted, Error> {
    let job = |(member, program)| Job::new(member, program);
    let jobs: Vec<Job<'_>> = fleet.members().zip(programs).map(job).collect::<Result<_, _>>()?;
    let parts = jobs.len() as u32;
    let (from, begins) = match &source.input {
        Some(input) => {
            let begin = |part| input.text.begin(part, parts).map_err(|source| Error::Read { path: input.full.clone(), source });
            (From::File(format!("in/{}", input.name)), (0..=parts).map(begin).collect::<Result<Vec<_>, _>>()?)
        }
        None => (From::Service, jobs[0].begins(parts)?),
    };
    let len = begins.last().copied().unwrap_or_default();
    counts.expect(len);
    let mut all: Vec<Part> = std::thread::scope(|scope| {
        let from = &from;
        let running: Vec<_> =
            jobs.iter().zip(begins.windows(2)).map(|(job, ends)| scope.spawn(|| job.count(from, ends[0]..ends[1]))).collect();
        // All of them, whatever becomes of one: what they use is the fleet's.
        let ended: Vec<_> = running.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        ended.into_iter().collect::<Result<_, _>>()
    })?;
    let words = all.iter().map(|part| part.words).sum();
    let mut times = all.iter().fold(Times::default(), |times, part| times.longest(part.times));
    let (distinct, top) = match (&jobs[..], &mut all[..]) {
        ([job], [part]) => {
            job.write(part, &format!("out/{}", output.name), &mut times)?;
            (part.distinct, job.top(part)?)
        }
        (jobs, parts) => {
            let lines = jobs.iter().zip(parts).map(|(job, part)| job.lines(part)).collect::<Result<Vec<_>, _>>()?;
            let merged = merge::merge(&lines);
            let unwritable = |source| Error::Write { path: output.full.clone(), source };
            job::timed(&mut times.write, || std::fs::write(&output.full, &merged.lines)).map_err(unwritable)?;
            (merged.distinct, merged.top(job::TOP).to_vec())
        }
    };
    Ok(Counted { words, distinct, top, times, len })
}

/// A closed pipe is no failure of ours: `demo | head -1`.
fn print_top(top: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(top).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
