//! Very many calls from all waves, with faults injected. Nothing may be lost, doubled or corrupted.
//!
//! Every call has a key of its own. Lanes check their replies and add up `mix(key)` over the calls that came back
//! right; handlers check their arguments and add up the same. After a round that nothing disturbed both sums and both
//! counts must be equal: a call that was lost, made twice or changed makes them differ. In a round that was disturbed
//! (the buffer or the server was taken away, or the kernel panicked or trapped) a call that ended with a status may
//! have been handled or not, so the handled ones must lie between the right ones and all; what came back must still be
//! right. (A posted call has nothing to come back: one that is sent while its server goes is in doubt as well.)
//!
//! A trap costs the CUDA context of its process, so the rounds are made by *parts*, each a process of its own, and this
//! one adds up what they say after each round. A signal ends it like a time limit: the round that runs is finished (or
//! given up, if it does not end), and what was done so far is summed up.
//!
//! With `--stranger` a second program calls the same server as no program should, and is removed in the midst of its
//! calls: see `stranger`. With `--stream-values` messages of streams are sent instead: see `streams`.

mod stranger;
mod streams;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use behaviours_services::{Large, mix, soak};
use clap::Parser;
use hostcall::{HandlerError, KernelReport, Server, Service};
use hostcall_tests::bundle;
use offload::{Args, Device, DeviceKind, Launch};
use stranger::Stranger;

/// Words of scratch memory per lane, as the kernel has it.
const SCRATCH: usize = 512;

#[derive(Parser)]
#[command(about = "Very many calls from all waves, with faults injected; nothing may be lost, doubled or corrupted")]
struct Cli {
    /// Calls to make
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// `sim`, `sim:threads`, `cuda:N`
    #[arg(long, default_value = "sim")]
    device: String,
    /// Stop after so many seconds, however many calls were made
    #[arg(long)]
    seconds: Option<u64>,
    /// Seed of the calls' kinds and sizes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Share the server with a program that calls as no program should
    #[arg(long, conflicts_with = "stream_values")]
    stranger: bool,
    /// Send so many values by message streams, instead of calls
    #[arg(long, value_name = "VALUES", conflicts_with = "calls")]
    stream_values: Option<u64>,
    /// Make one part, from this round on (what the program calls itself with)
    #[arg(long, hide = true)]
    part: Option<u32>,
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    calls: u64,
    rounds: u64,
    faults: u64,
    /// Calls of disturbed rounds that did not come back right.
    in_doubt: u64,
    /// Rounds that lanes of the stranger made.
    strange: u64,
}

impl Totals {
    /// Begins the line that a part prints after each round.
    const LINE: &str = "soak-part:";

    fn line(self) -> String {
        format!("{} {} {} {} {} {}", Self::LINE, self.calls, self.rounds, self.faults, self.in_doubt, self.strange)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix(Self::LINE)?.split_whitespace().map(|field| field.parse().ok());
        let mut next = || fields.next().flatten();
        Some(Self { calls: next()?, rounds: next()?, faults: next()?, in_doubt: next()?, strange: next()? })
    }

    fn so_far(self, parts: u32, time: Duration) -> String {
        let Self { calls, rounds, faults, in_doubt, strange } = self;
        let beside = if strange > 0 { format!(", beside a stranger that made {strange} rounds of its own") } else { String::new() };
        let seconds = time.as_secs_f64();
        format!(
            "{calls} calls in {rounds} rounds of {parts} parts and {seconds:.1} s ({:.2} M/s), {faults} rounds disturbed, {in_doubt} of their \
             calls ended early{beside}",
            calls as f64 / seconds / 1e6
        )
    }

    fn add(&mut self, part: Self) {
        self.calls += part.calls;
        self.rounds += part.rounds;
        self.faults += part.faults;
        self.in_doubt += part.in_doubt;
        self.strange += part.strange;
    }
}

/// Set by a signal: no further round is begun. Relaxed everywhere: it is all there is to say.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// What handlers saw: counts of their own for each thread, so that threads do not wait for one another's cache lines.
struct Handled([Padded; 64]);

impl Default for Handled {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Padded::default()))
    }
}

#[derive(Default)]
#[repr(align(128))]
struct Padded {
    count: AtomicU64,
    sum: AtomicU64,
    wrong: AtomicU64,
}

impl Handled {
    fn add(&self, key: u64, right: bool) -> u64 {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % 64);
        let Padded { count, sum, wrong } = &self.0[MINE.with(|mine| *mine)];
        // All relaxed: `wait` orders them before they are read.
        count.fetch_add(1, Ordering::Relaxed);
        sum.fetch_add(mix(key), Ordering::Relaxed);
        wrong.fetch_add(u64::from(!right), Ordering::Relaxed);
        mix(key)
    }

    fn totals(&self) -> [u64; 3] {
        self.0.iter().fold([0; 3], |[a, b, c], p| {
            let [count, sum, wrong] = [&p.count, &p.sum, &p.wrong].map(|word| word.load(Ordering::Relaxed));
            [a + count, b.wrapping_add(sum), c + wrong]
        })
    }
}

fn services(handled: &Arc<Handled>) -> Vec<Service> {
    let [a, b, c, d, e, f] = [(); 6].map(|()| handled.clone());
    vec![
        soak::mark(move |key| a.add(key, true)),
        soak::wide(move |key, value: Large| Large::of(b.add(key, value == Large::of(key)))),
        soak::bulk(move |key, data: &[u32], back: &mut [u32]| {
            let first = mix(key) as u32;
            let right = data.len() == back.len() && data.iter().enumerate().all(|(k, word)| *word == first.wrapping_add(k as u32));
            back.iter_mut().zip(data).for_each(|(back, word)| *back = !*word);
            c.add(key, right)
        }),
        soak::text(move |key, text: &str| d.add(key, text == &"soak, soak and soak again"[..(key % 26) as usize])),
        soak::post(move |key| {
            e.add(key, true);
        }),
        soak::fail(move |key| -> Result<u64, HandlerError> {
            f.add(key, true);
            assert!(key % 2 == 1, "a handler panic of the soak");
            Err(HandlerError::new(key as u32, "a handler error of the soak"))
        }),
    ]
}

/// What is done to a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing but handlers that fail and panic now and then.
    None,
    /// The port buffer is removed, and another attached.
    BufferRemoved,
    /// The server is dropped, and another started.
    ServerRestarted,
    /// A lane panics.
    KernelPanic,
    /// A lane writes where there is no memory, which ends the kernel with all its calls.
    KernelTrap,
}

impl Fault {
    /// Mostly none.
    fn of(round: u32) -> Self {
        match round % 8 {
            2 => Self::BufferRemoved,
            4 => Self::KernelPanic,
            6 => Self::ServerRestarted,
            7 if round % 16 == 15 => Self::KernelTrap,
            _ => Self::None,
        }
    }
}

/// Ends the process if the rounds stop.
fn watch(progress: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut seen = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = progress.load(Ordering::Relaxed);
            if now != seen.0 {
                seen = (now, Instant::now());
            } else if seen.1.elapsed() > Duration::from_secs(90) {
                eprintln!("soak: FAULT: no progress for 90 s in round {now}");
                std::process::exit(1);
            }
        }
    });
}

/// Makes rounds from `first` on, until there are calls enough, the time is up, or the device is lost to a trap.
fn run_part(cli: &Cli, first: u32) -> Result<Totals> {
    let device = Device::open(&cli.device)?;
    let info = device.info().clone();
    let lanes = info.resident_waves * info.wave_size;
    let per_round = (cli.calls / u64::from(lanes) / 16).clamp(8, 64) as u32;
    if first == 0 {
        println!("soak: {} calls on {} by {lanes} lanes, {per_round} calls each a round, seed {}", cli.calls, info.name, cli.seed);
    }
    let handled = Arc::new(Handled::default());
    let start_server = || -> Result<Server> {
        let strange = if cli.stranger { stranger::services() } else { Vec::new() };
        Ok(Server::builder(&device).services(services(&handled)).services(strange).start()?)
    };
    let program = device.load(&bundle())?;
    let queue = device.queue()?;
    let mut server = start_server()?;
    let mut buffer = server.attach(&program)?;
    let kernel = program.kernel("soak")?;
    let scratch = device.alloc::<u32>(lanes as usize * SCRATCH)?;
    let tallies = device.alloc::<[u64; 5]>(lanes as usize)?;
    let mut stranger = cli.stranger.then(|| Stranger::new(&device)).transpose()?;
    let progress = Arc::new(AtomicU64::new(0));
    watch(progress.clone());

    let start = Instant::now();
    let (mut totals, mut round) = (Totals::default(), first);
    while totals.calls < cli.calls && cli.seconds.is_none_or(|s| start.elapsed().as_secs() < s) && !interrupted() {
        let began = Instant::now();
        let fault = Fault::of(round);
        let before = handled.totals();
        queue.fill(&tallies, 0)?;
        if let Some(stranger) = &mut stranger {
            // First, so that it has its place on the device.
            stranger.begin(&server, cli.seed ^ u64::from(round))?;
        }
        let end = match fault {
            Fault::KernelPanic => 1u32,
            Fault::KernelTrap => 2,
            _ => 0,
        };
        let args = Args::new().value(cli.seed).value(round).value(per_round).value(end).slice(&scratch).slice(&tallies);
        // SAFETY: scratch and tallies are as large as the kernel takes them to be, and live beyond the wait.
        unsafe { queue.launch(&kernel, Launch::threads(lanes, 64), args) }?;
        let disturb = || {
            // In the midst of the calls: when some have been handled.
            let deadline = Instant::now() + Duration::from_secs(5);
            while handled.totals()[0] < before[0] + u64::from(lanes) && Instant::now() < deadline {
                std::thread::yield_now();
            }
        };
        match fault {
            Fault::None => {
                // Every other time, the stranger goes in the midst of everybody's calls.
                if let Some(stranger) = stranger.as_mut().filter(|_| round % 2 == 1) {
                    disturb();
                    stranger.remove(&server);
                }
            }
            Fault::KernelPanic | Fault::KernelTrap => {}
            Fault::BufferRemoved => {
                disturb();
                server.remove_buffer(&buffer).unwrap();
            }
            Fault::ServerRestarted => {
                disturb();
                drop(server);
                if let Some(stranger) = &mut stranger {
                    stranger.forget();
                }
                queue.synchronize()?;
                server = start_server()?;
            }
        }
        let report = match server.wait(&queue) {
            Ok(()) => KernelReport::default(),
            Err(hostcall::WaitError::Kernel(report)) => *report,
            Err(hostcall::WaitError::Device { report, .. }) if fault == Fault::KernelTrap => *report,
            Err(error) => return Err(error).context("the device failed"),
        };
        if fault == Fault::KernelTrap {
            // Its lanes released nothing.
            server.remove_buffer(&buffer).unwrap();
        }
        let lost = fault == Fault::KernelTrap && info.kind != DeviceKind::Sim;
        if let Some(stranger) = stranger.as_mut().filter(|_| !lost) {
            totals.strange += stranger.end()?;
        }
        if matches!(fault, Fault::BufferRemoved | Fault::ServerRestarted | Fault::KernelTrap) && !lost {
            buffer = server.attach(&program)?;
        }
        let after = handled.totals();
        // What the lanes noted is lost with the device.
        let tallied = if lost { Vec::new() } else { queue.read(&tallies)? };
        let sums = tallied.into_iter().fold([0u64; 5], |sum, t| [0, 1, 2, 3, 4].map(|k: usize| sum[k].wrapping_add(t[k])));
        let [right, sum, failed, wrong, posts] = sums;
        let (count, handled_sum) = (after[0] - before[0], after[1].wrapping_sub(before[1]));
        let all = u64::from(lanes) * u64::from(per_round);
        let what = format!("round {round} ({fault:?}): {right} right, {failed} with a status, {wrong} wrong, {count} handled");
        ensure!(wrong == 0 && after[2] == 0, "{what}: corrupted, {} of them on the host", after[2]);
        ensure!(report.malformed == 0, "{what}: {} malformed messages", report.malformed);
        if fault == Fault::None {
            ensure!(right == all && failed == 0, "{what}: lost, of {all}");
            ensure!(count == all && handled_sum == sum, "{what}: lost or doubled on the host, of {all}");
            ensure!(report.panics.is_empty() && report.exits.is_empty(), "{what}: {report}");
        } else {
            ensure!((right - posts..=all).contains(&count), "{what}: lost or doubled, of {all}");
            ensure!(fault != Fault::KernelPanic || report.panics.len() == 1, "{what}: {report}");
            totals.in_doubt += all - right;
            totals.faults += 1;
        }
        totals.calls += count;
        totals.rounds += 1;
        round += 1;
        progress.store(u64::from(round), Ordering::Relaxed);
        println!("soak: {what}; {:.3} s", began.elapsed().as_secs_f64());
        println!("{}", totals.line());
        if lost {
            break;
        }
    }
    Ok(totals)
}

/// The part that runs.
type Running = Arc<Mutex<Option<Child>>>;

/// A signal is remembered, and a part that does not end by itself soon after is ended: its round hangs, or its server
/// does.
fn end_with_signal(running: Running) -> Result<()> {
    /// Shorter than what `timeout -k` leaves.
    const PATIENCE: Duration = Duration::from_secs(3);
    let handler = move || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            return;
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            if running.as_mut().is_none_or(|part| !matches!(part.try_wait(), Ok(None))) {
                return;
            }
        }
        if let Some(part) = running.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            eprintln!("soak: the round that runs did not end within {} s of the signal and is given up", PATIENCE.as_secs());
            // It may have ended by itself by now.
            part.kill().ok();
        }
    };
    ctrlc::set_handler(handler).context("watching for signals")
}

/// Runs one part to its end: what it did.
fn part(cli: &Cli, running: &Running, before: Totals, left: Option<u64>) -> Result<Totals> {
    let mut command = Command::new(std::env::current_exe().context("this program has a path")?);
    command.args(["--device", &cli.device, "--seed", &cli.seed.to_string(), "--part", &before.rounds.to_string()]);
    command.args(["--calls", &(cli.calls - before.calls).to_string()]);
    if cli.stranger {
        command.arg("--stranger");
    }
    if let Some(left) = left {
        command.args(["--seconds", &left.to_string()]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("starting a part")?;
    let output = child.stdout.take().context("the part's output")?;
    *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    let mut done = Totals::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        match Totals::parse(&line) {
            Some(totals) => done = totals,
            None => println!("{line}"),
        }
    }
    let child = running.lock().unwrap_or_else(PoisonError::into_inner).take();
    let status = child.context("the part is kept until it has ended")?.wait()?;
    ensure!(status.success() || interrupted(), "the part from round {} on failed after {} rounds: {status}", before.rounds, done.rounds);
    Ok(done)
}

/// Makes the parts.
fn run(cli: &Cli) -> Result<()> {
    let start = Instant::now();
    let running = Running::default();
    end_with_signal(running.clone())?;
    let mut totals = Totals::default();
    let mut parts = 0;
    let failed = loop {
        let left = cli.seconds.map(|seconds| seconds.saturating_sub(start.elapsed().as_secs()));
        if totals.calls >= cli.calls || left == Some(0) || interrupted() {
            break None;
        }
        match part(cli, &running, totals, left) {
            Ok(done) => totals.add(done),
            Err(error) => break Some(error),
        }
        parts += 1;
        println!("soak: {}", totals.so_far(parts, start.elapsed()));
    };
    if let Some(error) = failed {
        println!("soak: before the fault: {}", totals.so_far(parts, start.elapsed()));
        return Err(error);
    }
    let why = match () {
        () if totals.calls >= cli.calls => String::new(),
        () if interrupted() => format!(" (cut short by a signal, of {} calls)", cli.calls),
        () => format!(" (cut short by --seconds, of {} calls)", cli.calls),
    };
    println!("soak: in all{why}: {}: 0 lost, 0 doubled, 0 corrupted", totals.so_far(parts, start.elapsed()));
    Ok(())
}

/// A signal is remembered, and no more.
fn signalled() -> Result<()> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).context("watching for signals")
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match (cli.part, cli.stream_values) {
        (_, Some(values)) => signalled().and_then(|()| streams::run(&cli, values)),
        (None, None) => run(&cli),
        (Some(first), None) => signalled().and_then(|()| run_part(&cli, first)).map(|totals| println!("{}", totals.line())),
    };
    match outcome {
        // As a shell says that a signal ended a program.
        Ok(()) if cli.part.is_none() && interrupted() => ExitCode::from(130),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("soak: FAULT: {error:#}");
            ExitCode::FAILURE
        }
    }
}
