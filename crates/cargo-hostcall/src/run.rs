//! `cargo hostcall run`: builds a kernel crate and launches one of its kernels.

mod values;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use hostcall::{DirGrant, KernelReport, Server, WaitError};
use hostcall_build::{ProgramSpec, Target, build_program};
use offload::{Device, DeviceKind, Launch, Program, Queue};

use crate::{Outcome, device};

/// Exit code after a device panic: that of a Rust program that panicked.
const PANICKED: u8 = 101;
/// Exit code after `--timeout`: that of `timeout(1)`.
const TIMED_OUT: u8 = 124;
/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

/// What to run, where, and what it may do.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The device: sim, sim:SETTINGS, cuda, cuda:N [default: the first CUDA device, else the simulator]
    #[arg(long, value_name = "D", overrides_with = "device")]
    device: Option<String>,
    /// Grant the kernel a directory, under the name GUEST, read-only with `:ro`
    #[arg(long = "dir", value_name = "HOST[::GUEST][:ro]")]
    dirs: Vec<DirGrant>,
    /// Grant the kernel an environment variable, with this value or with its value here
    #[arg(long = "env", value_name = "K[=V]")]
    variables: Vec<String>,
    /// Device memory for the kernel's heap, in bytes, or with k, m or g
    #[arg(long, value_name = "BYTES", default_value = "64m", value_parser = values::size)]
    heap: usize,
    /// Ports, that is, waves that can be in a call at once [default: all that the device can run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ports: Option<u32>,
    /// Workgroups
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = values::shape)]
    grid: [u32; 3],
    /// Threads of a workgroup
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = values::shape)]
    block: [u32; 3],
    /// Say at the end what was called how often, and how long it took
    #[arg(long)]
    stats: bool,
    /// Write a trace of all calls, for Chrome's and Perfetto's viewers
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// End the run after this many seconds
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    timeout: Option<Duration>,
    /// The kernel crate's directory
    kernel_crate: PathBuf,
    /// The kernel
    kernel: String,
    /// The kernel's parameters, which must be numbers (3, -1, 2.5, 7u64, 1f32); what follows them are arguments that it reads itself
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// How the run ended.
enum End {
    Finished,
    TimedOut(Duration),
    Interrupted,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let (device, why) = device::open(arguments.device.as_deref(), None)?;
    let program = load(&arguments, &device)?;
    let kernel = program.kernel(&arguments.kernel)?;
    let (params, rest) = values::params(&arguments.kernel, kernel.params(), &arguments.args)?;

    let mut builder = Server::builder(&device).heap(arguments.heap).stats(arguments.stats).arg(&arguments.kernel);
    for argument in rest {
        builder = builder.arg(argument);
    }
    for grant in &arguments.dirs {
        builder = builder.grant(grant)?;
    }
    for variable in &arguments.variables {
        let (name, value) = match variable.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (variable.as_str(), std::env::var(variable).map_err(|error| format!("--env {variable}: {error}"))?),
        };
        builder = builder.env(name, value);
    }
    if let Some(ports) = arguments.ports {
        builder = builder.ports(ports);
    }
    if let Some(path) = &arguments.trace {
        builder = builder.trace(path);
    }
    let server = builder.start()?;
    server.attach(&program)?;
    eprintln!("running {} on {} ({why})", arguments.kernel, device.info().name);

    let queue = device.queue()?;
    let launch = Launch { groups: arguments.grid, group_size: arguments.block, dynamic_shared: 0 };
    let end = watch(arguments.timeout)?;
    // SAFETY: the parameters have the number and sizes that the kernel's own table says. That they are numbers and no addresses is what
    // whoever types the command answers for, as for the kernel itself.
    unsafe { queue.launch(&kernel, launch, params)? };
    let code = match end.wait(&queue)? {
        End::Finished => finished(server.wait(&queue)),
        End::TimedOut(after) => {
            eprintln!("error: the kernel has not ended after {after:?}");
            Some(TIMED_OUT)
        }
        End::Interrupted => {
            eprintln!("interrupted");
            Some(INTERRUPTED)
        }
    };
    if arguments.stats {
        eprintln!("\n{}", device::called(&server));
    }
    match code {
        Some(code @ (TIMED_OUT | INTERRUPTED)) => {
            // Calls fail from now on, and the trace is complete. The kernel may run on all the same: it ends with this process.
            drop(server);
            std::process::exit(code.into());
        }
        code => Ok(code.map_or(ExitCode::FAILURE, ExitCode::from)),
    }
}

/// Builds the crate for the device, and loads what was built.
fn load(arguments: &Arguments, device: &Device) -> Result<Program, Box<dyn std::error::Error>> {
    let info = device.info();
    let target = match info.kind {
        DeviceKind::Sim => Target::Sim,
        DeviceKind::Cuda => Target::nvptx(),
        DeviceKind::Hip => Target::Amdgpu { arch: info.arch.clone() },
        kind => return Err(format!("nothing is built for {kind} devices").into()),
    };
    eprintln!("building {} ({target})", arguments.kernel_crate.display());
    let spec = ProgramSpec { targets: vec![target], ..ProgramSpec::new(&arguments.kernel_crate) };
    Ok(device.load(&build_program(&spec)?.bundle)?)
}

/// The exit code of a kernel that has ended; says on stderr what went wrong.
fn finished(outcome: Result<(), WaitError>) -> Option<u8> {
    let Err(error) = outcome else { return Some(0) };
    let report = error.report();
    let KernelReport { panics, exits, handler_panics, handler_failures, .. } = report;
    let only_exits = panics.is_empty() && handler_panics.is_empty() && handler_failures.is_empty() && !exits.is_empty();
    match &error {
        WaitError::Kernel(_) if only_exits => {}
        WaitError::Kernel(report) => eprintln!("{}", device::summary(report)),
        error => eprintln!("error: {error}"),
    }
    match report.exit_code() {
        _ if !panics.is_empty() => Some(PANICKED),
        // As the operating system does, the low byte; but a failure is never taken for a success.
        Some(code) if code != 0 => Some((code as u8).max(1)),
        _ => None,
    }
}

/// What ends a run.
struct Watch {
    events: mpsc::Receiver<End>,
    sender: mpsc::Sender<End>,
    timeout: Option<Duration>,
}

/// Ctrl-C is looked out for from here on: the first one ends the run, a second one the process.
fn watch(timeout: Option<Duration>) -> Result<Watch, ctrlc::Error> {
    let (sender, events) = mpsc::channel();
    let interrupts = sender.clone();
    let mut first = true;
    ctrlc::set_handler(move || {
        if !std::mem::take(&mut first) || interrupts.send(End::Interrupted).is_err() {
            std::process::exit(INTERRUPTED.into());
        }
    })?;
    Ok(Watch { events, sender, timeout })
}

impl Watch {
    /// Waits until the queue is empty, or something ends the run before.
    fn wait(self, queue: &Queue) -> Result<End, offload::Error> {
        let Watch { events, sender, timeout } = self;
        queue.on_complete(Box::new(move || {
            // Nobody listens if the run was ended before.
            let _ = sender.send(End::Finished);
        }))?;
        let Some(timeout) = timeout else { return Ok(events.recv().unwrap_or(End::Finished)) };
        Ok(match events.recv_timeout(timeout) {
            Ok(end) => end,
            Err(RecvTimeoutError::Timeout) => End::TimedOut(timeout),
            Err(RecvTimeoutError::Disconnected) => End::Finished,
        })
    }
}
