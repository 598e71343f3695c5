//! Very many calls from all waves, with faults injected. Nothing may be lost, doubled or corrupted.
//!
//! Every call has a key of its own. Lanes check their replies and add up `mix(key)` over the calls that came back right; handlers
//! check their arguments and add up the same. After a round that nothing disturbed both sums and both counts must be equal: a call
//! that was lost, made twice or changed makes them differ. In a round that was disturbed (the buffer or the server was taken away, or the
//! kernel panicked) a call that ended with a status may have been handled or not, so the handled ones must lie between the
//! right ones and all; what came back must still be right. (A posted call has nothing to come back: one that is sent while its server goes
//! is in doubt as well.)

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use behaviours_services::{Large, mix, soak};
use clap::Parser;
use hostcall::{HandlerError, KernelReport, Server, Service};
use hostcall_tests::bundle;
use offload::{Args, Device, Launch};

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
}

impl Fault {
    /// Mostly none.
    fn of(round: u32) -> Self {
        match round % 8 {
            2 => Self::BufferRemoved,
            4 => Self::KernelPanic,
            6 => Self::ServerRestarted,
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

fn run(cli: &Cli) -> Result<()> {
    let device = Device::open(&cli.device)?;
    let info = device.info().clone();
    let lanes = info.resident_waves * info.wave_size;
    let per_round = (cli.calls / u64::from(lanes) / 16).clamp(8, 64) as u32;
    println!("soak: {} calls on {} by {lanes} lanes, {per_round} calls each a round, seed {}", cli.calls, info.name, cli.seed);
    let handled = Arc::new(Handled::default());
    let start_server = || -> Result<Server> { Ok(Server::builder(&device).services(services(&handled)).start()?) };
    let program = device.load(&bundle())?;
    let queue = device.queue()?;
    let mut server = start_server()?;
    let mut buffer = server.attach(&program)?;
    let kernel = program.kernel("soak")?;
    let scratch = device.alloc::<u32>(lanes as usize * SCRATCH)?;
    let tallies = device.alloc::<[u64; 5]>(lanes as usize)?;
    let progress = Arc::new(AtomicU64::new(0));
    watch(progress.clone());

    let start = Instant::now();
    let (mut made, mut round, mut faults, mut in_doubt) = (0u64, 0u32, 0u64, 0u64);
    while made < cli.calls && cli.seconds.is_none_or(|s| start.elapsed().as_secs() < s) {
        let fault = Fault::of(round);
        let before = handled.totals();
        queue.fill(&tallies, 0)?;
        let end = u32::from(fault == Fault::KernelPanic);
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
            Fault::None | Fault::KernelPanic => {}
            Fault::BufferRemoved => {
                disturb();
                server.remove_buffer(&buffer);
            }
            Fault::ServerRestarted => {
                disturb();
                drop(server);
                queue.synchronize()?;
                server = start_server()?;
            }
        }
        let report = match server.wait(&queue) {
            Ok(()) => KernelReport::default(),
            Err(hostcall::WaitError::Kernel(report)) => *report,
            Err(error) => return Err(error).context("the device failed"),
        };
        if matches!(fault, Fault::BufferRemoved | Fault::ServerRestarted) {
            buffer = server.attach(&program)?;
        }
        let after = handled.totals();
        let sums = queue.read(&tallies)?.into_iter().fold([0u64; 5], |sum, t| [0, 1, 2, 3, 4].map(|k: usize| sum[k].wrapping_add(t[k])));
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
            in_doubt += all - right;
            faults += 1;
        }
        made += count;
        round += 1;
        progress.store(u64::from(round), Ordering::Relaxed);
        if round.is_power_of_two() || round.is_multiple_of(64) {
            println!("soak: {what}; {made} calls in {:.1} s", start.elapsed().as_secs_f64());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "soak: {made} calls in {round} rounds and {seconds:.1} s ({:.2} M/s): 0 lost, 0 doubled, 0 corrupted; {faults} rounds disturbed, {in_doubt} of their calls ended early",
        made as f64 / seconds / 1e6
    );
    Ok(())
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("soak: FAULT: {error:#}");
            ExitCode::FAILURE
        }
    }
}
