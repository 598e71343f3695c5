//! A program on several devices at once: `--devices`.
//!
//! Each device has a program, a heap and a server of its own; what they share is this process, its standard output and
//! the directories that were granted. Standard input belongs to the first.

use std::ffi::OsString;
use std::path::Path;

use hostcall::fleet::Member;
use hostcall::{Fleet, Input};
use hostcall_build::ProgramBundle;
use offload::{Args, Device, Kernel, Launch, Program, Queue};

use super::ahead::Ahead;
use super::{ENTRY, Entry, GPU_KERNEL_STACK, HEAP, SIM_KERNEL_STACK, SIM_WAVES, SLOT, SLOTS, STACK, THREADS, Threads};
use crate::launch::{Launched, Together, Watch};
use crate::options::{Options, Room};
use crate::{Outcome, device, values};

/// What runs on each device.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) threads: Threads,
    pub(super) entry: &'a Entry,
    pub(super) image: &'a Path,
    pub(super) bundle: &'a ProgramBundle,
    pub(super) args: &'a [OsString],
}

/// A program that is loaded on one device.
struct Loaded {
    /// Before the program, which it belongs to.
    kernel: Kernel,
    program: Program,
}

impl Work<'_> {
    /// What it wants of a device.
    fn room(&self) -> Room {
        match self.entry.kernel {
            None => Room { waves: self.threads.threads.unwrap_or(THREADS), stack: STACK },
            Some(_) => {
                let waves = u32::try_from(self.entry.shape.lanes().div_ceil(32)).unwrap_or(u32::MAX).min(SIM_WAVES);
                Room { waves, stack: SIM_KERNEL_STACK }
            }
        }
    }

    /// Waves of the launch on a device.
    fn waves(&self, device: &Device) -> Result<u32, String> {
        let info = device.info();
        match self.threads.threads {
            Some(asked) if asked > info.resident_waves => {
                Err(format!("--threads {asked}: {} runs at most {} waves at once, and a thread is a wave", info.name, info.resident_waves))
            }
            asked => Ok(asked.unwrap_or(THREADS.min(info.resident_waves))),
        }
    }

    fn load(&self, spec: &str, device: &Device) -> Result<Loaded, Box<dyn std::error::Error>> {
        let ((), ahead) = Ahead::beside(Some(spec), self.bundle, || ());
        let program = ahead.load(device, self.bundle)?;
        let kernel = program.kernel(self.entry.kernel.as_deref().unwrap_or(ENTRY))?;
        Ok(Loaded { kernel, program })
    }

    /// The launch, its parameters, and the program's arguments.
    fn launch(&self, device: &Device, kernel: &Kernel) -> Result<(Launch, Args, &[OsString]), Box<dyn std::error::Error>> {
        match &self.entry.kernel {
            None => Ok((hostcall::std_programs::program_launch(kernel, self.waves(device)?), Args::new(), self.args)),
            Some(name) => {
                let (params, rest) = values::params(name, kernel.params(), self.args)?;
                Ok((self.entry.shape.launch(), params, rest))
            }
        }
    }

    fn launched<'a>(&self, program: &'a Program) -> Launched<'a> {
        if self.entry.kernel.is_none() { Launched::Main(program) } else { Launched::Kernel }
    }

    fn reserve_stacks(&self, options: &Options, device: &Device, program: &Program) -> Result<(), Box<dyn std::error::Error>> {
        match self.entry.kernel {
            None => {
                if !hostcall::std_programs::reserve_stacks(program, self.waves(device)?, options.stack.unwrap_or(STACK))? {
                    device::give_stack(device, options.stack)?;
                }
            }
            Some(_) => hostcall::std_programs::reserve_lane_stacks(program, options.stack.unwrap_or(GPU_KERNEL_STACK))?,
        }
        Ok(())
    }
}

/// Launches the program on each device that `list` names, and waits for all of them.
pub(super) fn run(options: &Options, list: &str, work: Work<'_>, quiet: bool) -> Outcome {
    let specs = Device::list(list)?;
    if specs.len() > 1 {
        options.check_names()?;
    }
    let open = |spec: &String| options.one_of(list, spec).open(work.bundle, work.room());
    let (devices, why): (Vec<Device>, Vec<String>) = specs.iter().map(open).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let loaded = specs.iter().zip(&devices).map(|(spec, device)| work.load(spec, device)).collect::<Result<Vec<_>, _>>()?;
    let launches =
        devices.iter().zip(&loaded).map(|(device, loaded)| work.launch(device, &loaded.kernel)).collect::<Result<Vec<_>, _>>()?;
    let fleet = Fleet::builder(devices.iter().cloned())
        .each(|rank, builder| {
            let mut builder = options.of_rank(Some(*rank))?.apply(builder, HEAP)?.arg(options.name(work.image));
            for argument in launches[rank.rank as usize].2 {
                builder = builder.arg(argument);
            }
            if rank.rank == 0 {
                builder = builder.stdin(Input::Stdin);
            }
            if options.ports.is_none() && work.entry.kernel.is_none() {
                // As for one device: no wave but a thread calls.
                let waves = work.waves(&devices[rank.rank as usize])?;
                builder = builder.ports(waves).staging(waves.min(SLOTS), SLOT);
            }
            Ok(builder)
        })
        .start()?;
    let mut receivers = Vec::new();
    for (member, Loaded { program, .. }) in fleet.members().zip(&loaded) {
        member.server().attach(program)?;
        receivers.push(options.of_rank(Some(member.rank()))?.receiver(member.device(), program)?);
        work.reserve_stacks(options, member.device(), program).map_err(|error| format!("device {}: {error}", member.label()))?;
    }
    let queues = fleet.queues()?;
    let watch = Watch::new(options.timeout)?;
    if !quiet {
        let labels: Vec<String> = fleet.members().map(Member::label).collect();
        match &why[..] {
            [why] => eprintln!("running {} on {} ({why})", work.image.display(), labels.join("")),
            _ => eprintln!("running {} on {} devices ({})", work.image.display(), fleet.len(), labels.join(", ")),
        }
    }
    launch_all(&queues, &loaded, launches)?;
    let launched = loaded.iter().map(|loaded| work.launched(&loaded.program)).collect();
    let outcome = watch.finish_all(Together { fleet, receivers, queues: &queues, launched }, options.stats, quiet);
    drop((queues, loaded, devices));
    outcome
}

fn launch_all(queues: &[Queue], loaded: &[Loaded], launches: Vec<(Launch, Args, &[OsString])>) -> Result<(), offload::Error> {
    for ((queue, Loaded { kernel, .. }), (launch, params, _)) in queues.iter().zip(loaded).zip(launches) {
        // SAFETY: a program's entry has no parameters and touches what is its program's own; a kernel's parameters have
        // the number and sizes that its own table says, and that they are numbers and no addresses is what whoever
        // types the command answers for.
        unsafe { queue.launch(kernel, launch, params) }?;
    }
    Ok(())
}
