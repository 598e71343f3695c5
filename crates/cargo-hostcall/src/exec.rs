//! `cargo hostcall exec IMAGE`: starts a program that is built, on a device. This is what cargo runs programs and tests with.

mod harness;
mod phases;

use std::fs;
use std::path::{Path, PathBuf};

use hostcall::{Input, Server};
use hostcall_build::{ProgramBundle, Ptxas};
use offload::{Args, Device, DeviceKind, Image, ImageKind, Program};

use crate::kernel::Shape;
use crate::launch::Watch;
use crate::options::{Options, Room};
use crate::{Outcome, values};
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
    pub(crate) fn to_arguments(self) -> Vec<String> {
        self.threads.map(|threads| vec!["--threads".into(), threads.to_string()]).unwrap_or_default()
    }
}

/// Where a program is entered.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Entry {
    /// Launch this kernel of the program instead of `main`. The words after `--` are its parameters, which must be numbers, then arguments
    #[arg(long = "kernel", id = "of_program", value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    pub(crate) shape: Shape,
}

impl Entry {
    pub(crate) fn to_arguments(&self) -> Vec<String> {
        let Some(kernel) = &self.kernel else { return Vec::new() };
        ["--kernel".to_owned(), kernel.clone()].into_iter().chain(self.shape.to_arguments()).collect()
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
    /// Do not print on which device the program runs
    #[arg(short, long)]
    quiet: bool,
    /// The image that `cargo hostcall build` made
    image: PathBuf,
    /// The program's arguments; after `--` they may look like options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// More options, from the environment: for those who have cargo call us.
const VARIABLE: &str = "HOSTCALL_RUN";

/// The words of [`VARIABLE`], which go before all others.
pub(crate) fn options_from_environment() -> Vec<std::ffi::OsString> {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    text.split_whitespace().map(Into::into).collect()
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { options, threads, entry, quiet, image, args } = arguments;
    let bytes = fs::read(&image).map_err(|error| format!("cannot read {}: {error}", image.display()))?;
    let bundle = ProgramBundle::from_bytes(&bytes).map_err(|error| format!("{}: {error}", image.display()))?;
    check_runtime(&image, &bundle)?;
    if hostcall_build::is_test_harness(&bundle) && harness::are_asked_for(&args, &options) {
        return harness::run(&image, &options, threads, &args);
    }
    match &entry.kernel {
        Some(kernel) => launch(&options, kernel, entry.shape, quiet, &image, bundle, &args),
        None => start(&options, threads, quiet, &image, bundle, &args),
    }
}

/// What the program was linked with and what answers it here must be of one state: they speak to each other in words of their own.
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
fn start(options: &Options, threads: Threads, quiet: bool, image: &Path, bundle: ProgramBundle, args: &[String]) -> Outcome {
    let waves = threads.threads.unwrap_or(THREADS);
    let mut phases = Phases::begin();
    let (device, why) = options.open(&bundle, Room { waves, stack: STACK })?;
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
    phases.end("open the device");
    let program = load(&device, bundle)?;
    let kernel = program.kernel(ENTRY)?;
    phases.end("load the program");
    let mut builder = options.apply(Server::builder(&device), HEAP)?.stdin(Input::Stdin).arg(image.display().to_string());
    for argument in args {
        builder = builder.arg(argument);
    }
    if options.ports.is_none() {
        // No wave but a thread calls, and none makes two calls at once. Less memory to pin is most of the server's start.
        builder = builder.ports(waves).staging(waves.min(SLOTS), SLOT);
    }
    let server = builder.start()?;
    server.attach(&program)?;
    let stack = options.stack.unwrap_or(STACK);
    hostcall::reserve_stacks(&program, waves, stack)
        .map_err(|error| format!("{waves} threads (--threads) with {stack} bytes of stack each (--stack): {error}"))?;
    phases.end("start the server, with heap and stacks");
    let queue = device.queue()?;
    let watch = Watch::new(options.timeout)?;
    if !quiet {
        eprintln!("running {} on {} ({why})", image.display(), device.info().name);
    }
    let launch = hostcall::program_launch(&kernel, waves);
    // SAFETY: the entry has no parameters, and all that it touches is its own program's: the image was linked by our linker around it.
    unsafe { queue.launch(&kernel, launch, Args::new())? };
    let outcome = watch.finish("program", server, &queue, options.stats, quiet);
    phases.end("run");
    if device.info().kind == DeviceKind::Sim {
        drop((queue, kernel, program, device));
    } else {
        // The process ends next, and the system gives back what it has of the device, faster than the driver when it is asked to.
        std::mem::forget((queue, kernel, program, device));
    }
    phases.end("release the device");
    if options.stats {
        eprint!("\n{phases}");
    }
    outcome
}

/// Launches a kernel of the program and waits for its end.
fn launch(options: &Options, name: &str, shape: Shape, quiet: bool, image: &Path, bundle: ProgramBundle, args: &[String]) -> Outcome {
    let waves = u32::try_from(shape.lanes().div_ceil(32)).unwrap_or(u32::MAX).min(SIM_WAVES);
    let (device, why) = options.open(&bundle, Room { waves, stack: SIM_KERNEL_STACK })?;
    let program = load(&device, bundle)?;
    let kernel = program.kernel(name)?;
    let (params, rest) = values::params(name, kernel.params(), args)?;
    let mut builder = options.apply(Server::builder(&device), HEAP)?.stdin(Input::Stdin).arg(image.display().to_string());
    for argument in rest {
        builder = builder.arg(argument);
    }
    let server = builder.start()?;
    server.attach(&program)?;
    let stack = options.stack.unwrap_or(GPU_KERNEL_STACK);
    hostcall::reserve_lane_stacks(&program, stack).map_err(|error| format!("lanes with {stack} bytes of stack each (--stack): {error}"))?;
    let queue = device.queue()?;
    let watch = Watch::new(options.timeout)?;
    if !quiet {
        eprintln!("running {name} of {} on {} ({why})", image.display(), device.info().name);
    }
    // SAFETY: the parameters have the number and sizes that the kernel's own table says. That they are numbers and no addresses is what
    // whoever types the command answers for, as for the kernel itself.
    unsafe { queue.launch(&kernel, shape.launch(), params)? };
    watch.finish("kernel", server, &queue, options.stats, quiet)
}

/// Loads the program; on NVIDIA GPUs as machine code if there is an assembler, which is kept, so that the driver need not compile it at each start.
/// It is assembled quickly, because somebody waits; machine code that was shipped (`--for cubin:…`) is optimised in full.
fn load(device: &Device, bundle: ProgramBundle) -> Result<Program, Box<dyn std::error::Error>> {
    let arch = &device.info().arch;
    let has_cubin = bundle.images_of(ImageKind::Cubin).any(|image| image.arch == *arch);
    if device.info().kind == DeviceKind::Cuda
        && !has_cubin
        && let Some(ptx) = bundle.images_of(ImageKind::Ptx).next()
        && let Ok(ptxas) = Ptxas::find()
    {
        let ptx = bundle.checked(ptx)?;
        // What one release assembles another driver may not load: the PTX it always can.
        if let Ok(code) = hostcall_build::assemble_quickly(&ptxas, &ptx.bytes, arch) {
            let assembled = ProgramBundle::new(bundle.name.clone(), vec![Image::new(ImageKind::Cubin, arch.clone(), code)]);
            if let Ok(program) = device.load(&assembled) {
                return Ok(program);
            }
        }
    }
    Ok(device.load(&bundle)?)
}
