//! `cargo hostcall exec IMAGE`: starts a program that is built, on a device. This is what cargo runs programs and tests
//! with.

mod ahead;
mod fleet;
mod harness;
mod image;
mod isolated;
mod phases;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hostcall::{BufferHandle, Input, Rank, Server, ServerBuilder};
use hostcall_build::ProgramBundle;
use offload::{Args, Device, DeviceKind, Error};

use crate::kernel::Shape;
use crate::launch::{Launched, Watch};
use crate::options::{Options, Room};
use crate::{Outcome, device, values};
use ahead::{Ahead, beside};
use phases::Phases;

/// The kernel that is every program's entry.
const ENTRY: &str = "hostcall_std";
/// Bytes of heap, if nothing is said.
const HEAP: usize = 256 << 20;
/// Bytes of stack of a thread, if nothing is said.
const STACK: usize = 1 << 20;
/// Of a kernel's lane: there are thousands of them.
const SIM_KERNEL_STACK: usize = 256 << 10;
const GPU_KERNEL_STACK: usize = 32 << 10;
/// The most waves that the simulator runs at once for a kernel, if its settings say nothing else.
const SIM_WAVES: u32 = 256;
/// The most staging slots, and bytes of each: what servers have if nothing is said.
const SLOTS: u32 = 1024;
const SLOT: u32 = 64 << 10;
/// Threads, if nothing is said.
const THREADS: u32 = 128;

/// How many threads a program may have.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Threads {
    /// Most threads of a program at once, each a wave of the launch [default: 128, or as many as the device runs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    threads: Option<u32>,
}

impl Threads {
    pub(crate) fn to_arguments(self) -> Vec<OsString> {
        self.threads.map(|threads| vec!["--threads".into(), threads.to_string().into()]).unwrap_or_default()
    }
}

/// Where a program is entered.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Entry {
    /// Launch this kernel of the program instead of `main`. The words after `--` are its parameters, which must be
    /// numbers, then arguments
    #[arg(long = "kernel", id = "of_program", value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    pub(crate) shape: Shape,
}

impl Entry {
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let Some(kernel) = &self.kernel else { return Vec::new() };
        ["--kernel".to_owned(), kernel.clone()].into_iter().chain(self.shape.to_arguments()).map(OsString::from).collect()
    }
}

/// What to start.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    entry: Entry,
    /// Do not print on which device the program runs, nor, if it succeeds, what it was refused
    #[arg(short, long)]
    quiet: bool,
    /// The image that `cargo hostcall build` made
    image: PathBuf,
    /// The program's arguments; after `--` they may look like options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { options, threads, entry, quiet, image, args } = arguments;
    let phases = Phases::begin();
    let bundle = image::read(&image)?;
    if let Some(list) = &options.devices {
        check_runtime(&image, &bundle)?;
        if options.isolated {
            let work = isolated::Work { threads, entry: entry.to_arguments(), image: &image, args: &args, quiet };
            return isolated::run(&options, list, &work);
        }
        return fleet::run(&options, list, fleet::Work { threads, entry: &entry, image: &image, bundle: &bundle, args: &args }, quiet);
    }
    let options = options.of_process()?.of_rank(Rank::from_env().ok())?;
    if hostcall_build::is_test_harness(&bundle) && harness::are_asked_for(&args, &options) {
        check_runtime(&image, &bundle)?;
        return harness::run(&image, &options, threads, &args);
    }
    match &entry.kernel {
        Some(kernel) => launch(&options, kernel, entry.shape, quiet, &image, &bundle, &args),
        None => start(&options, threads, quiet, &image, &bundle, &args, phases),
    }
}

/// What the program was linked with and what answers it here must be of one state: they speak to each other in words of
/// their own.
fn check_runtime(image: &Path, bundle: &ProgramBundle) -> Result<(), String> {
    match (hostcall_build::linked_runtime(bundle), hostcall_build::runtime_state()) {
        (Some(linked), Some(ours)) if linked != ours => Err(format!(
            "{} was linked with the runtime {linked}, and this is the cargo-hostcall of the runtime {ours}; build it again with this one \
             (`cargo hostcall build`, or `cargo hostcall config` where plain cargo builds it), or run it with the one that built it",
            image.display()
        )),
        _ => Ok(()),
    }
}

/// Launches the program and waits for its end.
///
/// Somebody waits, and most of a start on a GPU is the driver's: so what does not need it is done beside it.
fn start(
    options: &Options,
    threads: Threads,
    quiet: bool,
    image: &Path,
    bundle: &ProgramBundle,
    args: &[OsString],
    mut phases: Phases,
) -> Outcome {
    let waves = threads.threads.unwrap_or(THREADS);
    phases.end("read the program");
    let ((opened, ahead), checked) = beside(
        || Ahead::beside(options.device.as_deref(), bundle, || options.open(bundle, Room { waves, stack: STACK })),
        || check_runtime(image, bundle),
    );
    checked?;
    let (device, why) = opened?;
    let waves = match threads.threads {
        Some(asked) if asked > device.info().resident_waves => {
            let most = device.info().resident_waves;
            return Err(
                format!("--threads {asked}: {} runs at most {most} waves at once, and a thread is a wave", device.info().name).into()
            );
        }
        Some(asked) => asked,
        None => waves.min(device.info().resident_waves),
    };
    phases.end("open the device, and assemble");
    let mut builder = options.apply(Server::builder(&device), HEAP)?.stdin(Input::Stdin).arg(options.name(image));
    for argument in args {
        builder = builder.arg(argument);
    }
    if options.ports.is_none() {
        // No wave but a thread calls, and none makes two calls at once. Less memory to pin is most of the server's
        // start.
        builder = builder.ports(waves).staging(waves.min(SLOTS), SLOT);
    }
    let (loaded, served) = beside(|| ahead.load(&device, bundle), || serve(builder, &device));
    let program = loaded?;
    let (server, buffer) = served.map_err(|error| -> Box<dyn std::error::Error> { error })?;
    let kernel = program.kernel(ENTRY)?;
    phases.end("load the program, start the server with its heap");
    server.attach_to(&program, &buffer)?;
    let receiver = options.receiver(&device, &program)?;
    let stack = options.stack.unwrap_or(STACK);
    let reserved = hostcall::std_programs::reserve_stacks(&program, waves, stack)
        .map_err(|error| format!("{waves} threads (--threads) with {stack} bytes of stack each (--stack): {error}"))?;
    if !reserved {
        device::give_stack(&device, options.stack)?;
    }
    phases.end("attach the program, reserve stacks");
    let queue = device.queue()?;
    let watch = Watch::new(options.timeout)?;
    if !quiet {
        eprintln!("running {} on {} ({why})", image.display(), device.info().name);
    }
    let launch = hostcall::std_programs::program_launch(&kernel, waves);
    // SAFETY: the entry has no parameters, and all that it touches is its own program's: the image was linked by our
    // linker around it.
    unsafe { queue.launch(&kernel, launch, Args::new()) }.map_err(|error| match error {
        // The simulator's waves are threads of this machine.
        Error::Backend { .. } if device.info().kind == DeviceKind::Sim => format!("--threads {waves}: {error}"),
        error => error.to_string(),
    })?;
    let outcome = watch.finish(Launched::Main(&program), server, receiver, &queue, options.stats, quiet);
    phases.end("run");
    if device.info().kind == DeviceKind::Sim {
        drop((queue, kernel, program, device));
    } else {
        // The process ends next, and the system gives back what it has of the device, faster than the driver when it is
        // asked to.
        std::mem::forget((queue, kernel, program, device));
    }
    phases.end("release the device");
    if options.stats {
        eprint!("\n{phases}");
    }
    outcome
}

/// The server, and the port buffer that the program gets.
fn serve(builder: ServerBuilder, device: &Device) -> Result<(Server, BufferHandle), Box<dyn std::error::Error + Send + Sync>> {
    let server = builder.start()?;
    let buffer = server.allocate(device)?;
    Ok((server, buffer))
}

/// Launches a kernel of the program and waits for its end.
fn launch(options: &Options, name: &str, shape: Shape, quiet: bool, image: &Path, bundle: &ProgramBundle, args: &[OsString]) -> Outcome {
    check_runtime(image, bundle)?;
    let waves = u32::try_from(shape.lanes().div_ceil(32)).unwrap_or(u32::MAX).min(SIM_WAVES);
    let (opened, ahead) =
        Ahead::beside(options.device.as_deref(), bundle, || options.open(bundle, Room { waves, stack: SIM_KERNEL_STACK }));
    let (device, why) = opened?;
    device::give_stack(&device, options.stack)?;
    let program = ahead.load(&device, bundle)?;
    let kernel = program.kernel(name)?;
    let (params, rest) = values::params(name, kernel.params(), args)?;
    let mut builder = options.apply(Server::builder(&device), HEAP)?.stdin(Input::Stdin).arg(options.name(image));
    for argument in rest {
        builder = builder.arg(argument);
    }
    let server = builder.start()?;
    server.attach(&program)?;
    let receiver = options.receiver(&device, &program)?;
    let stack = options.stack.unwrap_or(GPU_KERNEL_STACK);
    hostcall::std_programs::reserve_lane_stacks(&program, stack)
        .map_err(|error| format!("lanes with {stack} bytes of stack each (--stack): {error}"))?;
    let queue = device.queue()?;
    let watch = Watch::new(options.timeout)?;
    if !quiet {
        eprintln!("running {name} of {} on {} ({why})", image.display(), device.info().name);
    }
    // SAFETY: the parameters have the number and sizes that the kernel's own table says. That they are numbers and no
    // addresses is what whoever types the command answers for, as for the kernel itself.
    unsafe { queue.launch(&kernel, shape.launch(), params)? };
    watch.finish(Launched::Kernel, server, receiver, &queue, options.stats, quiet)
}
