//! `cargo hostcall bench`: what calls cost, next to what the bus costs, in one run.
//!
//! The *floor* is one word there and one word back, with nothing around it. Every other row goes through the public
//! face: the stubs that `#[service]` made, registry, validation, status, panic guard. Each row is the median of several
//! samples, and the kernels check every answer. What cannot be measured on a device is said to be so, and left out of
//! the figures for programs.
//!
//! Rows whose names end in `.no_window` are measured with replies in host memory; all others with what the server uses
//! by itself, which is a window into the device's memory where there is one.
//!
//! * `rig`: the device, the server, and how long a launch takes.
//! * `floor`, `latency`, `throughput`, `bulk`, `files`, `heap`, `idle`, `closed`, `unused`: the measurements.
//! * `plain`: the same wire without a server, for comparison.
//! * `streams`: messages that nobody answers.
//! * `cpp`: kernels in C++ that do the same.
//! * `elsewhere`: rows of other programs.
//! * `fleet`: two devices at once.
//! * `standard`: what std costs, of a program that measures itself.
//! * `tune`: which first poll is best here.
//! * `target`: what rows should reach.
//! * `report`, `plot`: how they are shown.

mod bulk;
mod closed;
mod cpp;
mod elsewhere;
mod error;
mod files;
mod fleet;
mod floor;
mod heap;
mod idle;
mod latency;
mod plain;
mod plot;
mod report;
mod rig;
mod standard;
#[path = "../../tests/programs/costs/src/work.rs"]
mod standard_work;
mod streams;
mod target;
mod throughput;
mod tune;
mod unused;
mod watchdog;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;
use hostcall::__private::FirstPoll;
use hostcall::{Access, Placement};
use offload::{Device, DeviceInfo};

use bulk::Way;
use error::Error;
use latency::Shape;
use plot::Curve;
use report::{NAMES, Report, Row};
use rig::{Rig, Scale};
use throughput::Load;

/// Measures what calls cost, and compares it with what the bus costs
#[derive(clap::Parser)]
#[command(name = "hostcall-bench", version, max_term_width = 100)]
struct Arguments {
    /// The device: sim, sim:SETTINGS, cuda, cuda:N [default: the first CUDA device, else the simulator]
    #[arg(long)]
    device: Option<String>,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw plots in this directory
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Write the table of docs/notes/performance.md to this file, in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Measure only latencies, rates and the plain loop, in smaller samples; this takes at most a minute
    #[arg(long)]
    quick: bool,
    /// Clocks that a lane waits before it first looks for its reply, and further clocks for each lane that calls with
    /// it
    #[arg(long, value_name = "CLOCKS,PER_LANE", value_parser = tune::first_poll)]
    first_poll: Option<FirstPoll>,
    /// Where serving threads run: anywhere, near (the device's NUMA node), node:N (the wrong one, to see what it
    /// costs), or processors, as 0-27,56
    #[arg(long, value_name = "PLACE", default_value = "anywhere")]
    placement: Placement,
    /// Measure calls with many settings of --first-poll instead of the rows
    #[arg(long)]
    tune: bool,
    /// Also measure the cost of std with these images of `tests/programs/costs` and `tests/programs/lines` (`cargo
    /// hostcall build -r -p costs -p lines`)
    #[arg(long, value_name = "IMAGE", num_args = 1..)]
    std: Vec<PathBuf>,
    /// Also measure the client in C++ with this image of `bench/kernels/bench.cu`: a cubin, or for the simulator a
    /// shared library
    #[arg(long, value_name = "IMAGE")]
    cpp: Option<PathBuf>,
    /// Also take rows from this command, of the shell: lines of JSON, as programs print that measure handlers in C and
    /// in Python
    #[arg(long, value_name = "COMMAND", num_args = 1..)]
    rows: Vec<String>,
    /// Also measure this device and the first one at once, such as cuda:1
    #[arg(long, value_name = "DEVICE")]
    beside: Option<String>,
    /// Measure only these rows
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let Arguments { device, json, plot, markdown, quick, first_poll, placement, tune, std, cpp, rows, beside, mut only } = arguments;
    if let Some(name) = only.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(Error::Name { name: name.clone(), rows: &NAMES }.into());
    }
    if quick && only.is_empty() {
        only = quick_rows().map(str::to_owned).collect();
    }
    let programs = standard::programs(&std)?;
    let (device, why) = match device {
        Some(spec) => (Device::open(&spec)?, format!("because of --device {spec}")),
        None => Device::default_for(&rig::images()),
    };
    let DeviceInfo { name, arch, driver, .. } = device.info();
    eprintln!("{name}: {arch}, {driver} ({why})");
    let scale = Scale::new(device.info().kind, quick);
    // Before the kernels are loaded: that is when CUDA makes its heap. If it stays as small as it is, only that row
    // suffers.
    if let Err(error) = heap::prepare(&device, scale.heap_bytes) {
        eprintln!("CUDA's own heap keeps its size: {error}");
    }
    let info = device.info().clone();
    let rig = Rig::new(device, scale, first_poll.unwrap_or_default(), placement)?;
    let floor_us = floor::measure(&rig)?;
    eprintln!("floor: {floor_us:.3} us");
    if tune {
        tune::run(&rig, floor_us)?;
        return Ok(ExitCode::SUCCESS);
    }
    let unused = unused::lines(&rig)?;
    match &rig.window {
        Ok(provider) => eprintln!("window: by {provider}"),
        Err(why) => eprintln!("window: none: {why}"),
    }
    let report = Report {
        device: info,
        processor: processor(),
        window: rig.window.clone().ok(),
        commit: env!("HOSTCALL_COMMIT"),
        floor_us,
        rows: Vec::new(),
        skipped: Vec::new(),
        unused,
    };
    let mut sheet = Sheet { only, report, failed: false };
    plain(&rig, &mut sheet);
    few_waves(&rig, &mut sheet)?;
    all_waves(&rig, &mut sheet)?;
    messages(&rig, &mut sheet);
    in_cpp(&rig, &mut sheet, cpp.as_deref());
    of_others(&rig, &mut sheet, &rows);
    two_devices(&rig, &mut sheet, beside.as_deref());
    standard::rows(&rig, &mut sheet, &programs);
    let Sheet { mut report, failed, .. } = sheet;
    report.sort();
    print!("{}", report.table());
    if let Some(path) = &json {
        report.write_json(path)?;
    }
    if let Some(path) = &markdown {
        report.write_markdown(path)?;
    }
    if let Some(dir) = &plot {
        draw(&rig, floor_us, dir)?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The rows of a short run.
fn quick_rows() -> impl Iterator<Item = &'static str> {
    let ours = latency::ROWS.iter().map(|row| row.0).chain(throughput::ROWS.iter().map(|row| row.0));
    ours.flatten().chain(plain::ROWS.iter().flat_map(|row| [row.0, row.1]))
}

/// The host's processor, as the system names it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| Some(text.lines().find(|line| line.starts_with(name))?.split_once(':')?.1.trim().to_owned());
    field("model name").or_else(|| field("CPU part").map(|part| format!("{}, part {part}", std::env::consts::ARCH))).unwrap_or_else(|| {
        let arch = std::env::consts::ARCH;
        format!("a processor that the system does not name ({arch})")
    })
}

/// The rows as they come.
struct Sheet {
    only: Vec<String>,
    report: Report,
    /// Whether a row failed, which is more than not being measurable here.
    failed: bool,
}

impl Sheet {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    fn wants_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.wants(name))
    }

    /// Measures one row, if it is wanted, and keeps it or the reason why there is none.
    fn row(&mut self, name: &'static str, measure: impl FnOnce(f64) -> Result<Row, Error>) {
        if self.wants(name) {
            eprintln!("{name} …");
            let row = measure(self.report.floor_us);
            self.keep(name, row);
        }
    }

    /// Two rows that one measurement gives.
    fn pair(&mut self, names: [&'static str; 2], measure: impl FnOnce(f64) -> Result<[Row; 2], Error>) {
        let (first, second) = match measure(self.report.floor_us) {
            Ok([first, second]) => (Ok(first), Ok(second)),
            Err(error) => (Err(Error::Also(error.to_string())), Err(error)),
        };
        self.row(names[0], |_| first);
        self.row(names[1], |_| second);
    }

    fn keep(&mut self, name: &'static str, row: Result<Row, Error>) {
        match row {
            Ok(row) => self.report.rows.push(row),
            Err(error) => {
                self.failed |= !matches!(error, Error::NotHere(_) | Error::NoWindow(_));
                eprintln!("{name}: {error}");
                self.report.skipped.push((name, error.to_string()));
            }
        }
    }
}

/// The wire without a server.
fn plain(rig: &Rig, sheet: &mut Sheet) {
    for (with, without, what) in plain::ROWS {
        sheet.row(with, |floor| plain::row(rig, with, what, true, floor));
        sheet.row(without, |floor| plain::row(rig, without, what, false, floor));
    }
}

/// One wave, or none.
fn few_waves(rig: &Rig, sheet: &mut Sheet) -> Result<(), Error> {
    // One wave keeps one thread busy. On a GPU some more share the looking at doorbells; on the simulator they would
    // take the wave's processor.
    let most = if rig.is_sim() { 1 } else { 4 };
    let threads = rig.thread_counts().into_iter().rfind(|threads| *threads <= most).unwrap_or(1);
    for window in [true, false] {
        let latencies = latency::measure(rig, threads, window, |name| sheet.wants(name));
        for (i, us) in latencies.into_iter().enumerate() {
            sheet.row(latency::name(i, window), |floor| latency::row(rig, threads, i, window, us, floor));
        }
    }
    if sheet.wants_any(&["closed.call", "closed.learn"]) {
        sheet.pair(["closed.call", "closed.learn"], |floor| closed::rows(rig, threads, floor));
    }
    sheet.row(latency::BUSY, |floor| latency::busy(&rig.session(threads)?, floor));
    sheet.row("idle.no_server", |_| idle::no_server(rig));
    if !sheet.wants_any(&["post.issue", "idle.none", "idle.quiet", "wake"]) {
        return Ok(());
    }
    let session = &rig.session(threads)?;
    sheet.row("post.issue", |floor| throughput::post_issue(session, floor));
    sheet.row("idle.none", |_| idle::none(session));
    if sheet.wants_any(&["idle.quiet", "wake"]) {
        sheet.pair(["idle.quiet", "wake"], |floor| idle::quiet(session, floor));
    }
    Ok(())
}

/// All waves: calls and posts, then what the most server threads can move.
fn all_waves(rig: &Rig, sheet: &mut Sheet) -> Result<(), Error> {
    let counts = rig.thread_counts();
    for (names, load, threads) in throughput::ROWS {
        for (name, window) in names.into_iter().zip([true, false]) {
            sheet.row(name, |floor| throughput::row(rig, name, load, threads, window, floor));
        }
    }
    if sheet.wants_any(&["bulk.to_host", "bulk.to_kernel", "file.read", "malloc"]) {
        let threads = counts.last().copied().unwrap_or(1);
        let fixture = files::Fixture::create(rig)?;
        let session = &rig.session_with(threads, |builder| {
            Ok(builder.heap(rig.scale.heap_bytes).dir(fixture.dir(), files::GUEST, Access::ReadOnly)?)
        })?;
        sheet.row("bulk.to_host", |_| bulk::row(session, Way::ToHost));
        sheet.row("bulk.to_kernel", |_| bulk::row(session, Way::ToKernel));
        sheet.row("malloc", |_| heap::row(session));
        sheet.row("file.read", |_| files::row(session, &fixture));
    }
    Ok(())
}

/// Messages of streams.
fn messages(rig: &Rig, sheet: &mut Sheet) {
    let bus = streams::Bus::default();
    for (names, shape, threads) in streams::ROWS {
        for (name, window) in names.into_iter().zip([true, false]) {
            sheet.row(name, |_| streams::row(rig, name, shape, threads, window, &bus));
        }
    }
    for (name, window) in [("stream.issue", true), ("stream.issue.no_window", false)] {
        sheet.row(name, |floor| streams::issue(rig, window, name, floor));
    }
    sheet.row("stream.drop", |_| streams::dropped(rig, "stream.drop"));
    sheet.row("stream.gate.open", |_| streams::gate(rig, "stream.gate.open", true));
    sheet.row("stream.gate.shut", |_| streams::gate(rig, "stream.gate.shut", false));
    sheet.row("stream.parts", |floor| streams::parts(rig, "stream.parts", floor));
    sheet.row("stream.latency", |floor| streams::latency(rig, "stream.latency", floor));
    for (name, policy, window) in streams::PRICES {
        sheet.row(name, |_| streams::price(rig, name, policy, window, &bus));
    }
    sheet.row(streams::OFF, |_| streams::off(rig, streams::OFF));
    sheet.row("stream.dh_comms", |_| streams::dh_comms(rig, "stream.dh_comms"));
    sheet.row("stream.reader", |_| streams::reader(rig, "stream.reader"));
    sheet.row("stream.sweep", |_| streams::sweep(rig, "stream.sweep"));
    for name in ["stream.arrow", "stream.parquet"] {
        sheet.row(name, |_| streams::sinks(rig, name));
    }
}

/// The same kernels in C++, if there is an image of them.
fn in_cpp(rig: &Rig, sheet: &mut Sheet, image: Option<&Path>) {
    let Some(path) = image else {
        // Who asks for one of them by name is told.
        let asked = !sheet.only.is_empty();
        for (name, _) in cpp::ROWS.into_iter().filter(|_| asked) {
            sheet.row(name, |_| Err(cpp::NO_IMAGE));
        }
        return;
    };
    let other = cpp::images(rig, path).and_then(|images| rig.with(&images));
    let label = path.file_name().unwrap_or_default().to_string_lossy();
    for (name, what) in cpp::ROWS {
        sheet.row(name, |_| match &other {
            Ok(other) => cpp::row(rig, other, name, what, &label),
            Err(error) => Err(Error::Also(error.to_string())),
        });
    }
}

/// What other programs measure.
fn of_others(rig: &Rig, sheet: &mut Sheet, commands: &[String]) {
    let names = || elsewhere::ROWS.into_iter().map(|(name, _)| name);
    if commands.is_empty() {
        // Who asks for one of them by name is told.
        let asked = !sheet.only.is_empty();
        for name in names().filter(|_| asked) {
            sheet.row(name, |_| Err(elsewhere::NO_COMMAND));
        }
        return;
    }
    if !sheet.wants_any(&names().collect::<Vec<_>>()) {
        return;
    }
    for command in commands {
        eprintln!("{command} …");
        match elsewhere::run(command, &rig.watchdog, sheet.report.floor_us) {
            Ok(rows) => rows.into_iter().for_each(|row| sheet.row(row.name, |_| Ok(row))),
            Err(error) => {
                sheet.failed = true;
                eprintln!("{command}: {error}");
            }
        }
    }
}

/// Another device beside the first, if there is one.
fn two_devices(rig: &Rig, sheet: &mut Sheet, beside: Option<&str>) {
    // Who asks for one of the rows by name is told why there is none.
    if beside.is_none() && sheet.only.is_empty() {
        return;
    }
    let wanted = fleet::ROWS.into_iter().filter(|(name, _)| sheet.wants(name)).collect::<Vec<_>>();
    if wanted.is_empty() {
        return;
    }
    let other = beside.map(|device| fleet::beside(rig, device));
    for (name, what) in wanted {
        sheet.row(name, |_| match &other {
            None => Err(fleet::NO_SECOND),
            Some(Ok(other)) => fleet::row(rig, other, name, what),
            Some(Err(error)) => Err(Error::Also(error.to_string())),
        });
    }
}

/// Draws the plots, which take measurements of their own.
fn draw(rig: &Rig, floor_us: f64, dir: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(dir).map_err(|source| Error::File { doing: "cannot create", path: dir.into(), source })?;
    let device = &rig.device.info().name;
    let threads = rig.thread_counts().last().copied().unwrap_or(1);
    let session = &rig.session(threads)?;
    for (shape, file, what) in
        [(Shape::Scalar, "call.scalar.svg", "one lane, 64 B"), (Shape::Wide, "call.wide64.svg", "a wave, 64 B a lane")]
    {
        eprintln!("{file} …");
        plot::histogram(&dir.join(file), &format!("{device}: {what}"), latency::samples(session, shape)?, floor_us)?;
    }
    let mut curves = Vec::new();
    for (load, label) in [(Load::Scalar, "one lane a wave"), (Load::Wide, "all lanes"), (Load::Post, "posts, one lane a wave")] {
        eprintln!("throughput.svg: {label} …");
        let steps = throughput::steps(rig.all_waves()).into_iter();
        let points = steps.map(|waves| Ok((waves, throughput::rate(session, load, waves, 1)?))).collect::<Result<_, Error>>()?;
        curves.push(Curve { label: label.into(), points });
    }
    plot::throughput(&dir.join("throughput.svg"), &format!("{device}: 64 B calls of waves, {threads} server thread(s)"), &curves)
}
