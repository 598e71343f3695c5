//! `cargo hostcall run CRATE KERNEL`: builds a kernel crate and launches one of its kernels.

use std::ffi::OsString;
use std::path::Path;

use hostcall::{Rank, Server};
use hostcall_build::{Instrument, ProgramSpec, Target, build_program};
use offload::{Device, DeviceKind, Launch, Program};

use crate::launch::{Launched, Watch};
use crate::options::Options;
use crate::{Outcome, device, values};

/// Bytes of heap, if nothing is said.
const HEAP: usize = 64 << 20;

/// How many lanes.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Workgroups of a kernel's launch
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = values::shape)]
    grid: [u32; 3],
    /// Threads of a workgroup of a kernel's launch
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = values::shape)]
    block: [u32; 3],
    /// Exact number of lanes of a kernel's launch, in workgroups of at most 256; instead of --grid and --block
    #[arg(long, value_name = "N", conflicts_with_all = ["grid", "block"], value_parser = clap::value_parser!(u32).range(1..))]
    lanes: Option<u32>,
}

impl Shape {
    /// The most lanes of a workgroup that `--lanes` makes.
    const MOST: u32 = 256;

    pub(crate) fn launch(self) -> Launch {
        let (groups, group_size) = match self.lanes {
            Some(lanes) => {
                let size = Self::group_of(lanes);
                ([lanes / size, 1, 1], [size, 1, 1])
            }
            None => (self.grid, self.block),
        };
        Launch { groups, group_size, dynamic_shared: 0 }
    }

    /// Workgroups of equal size that are `lanes` together: of whole waves if there is such a size.
    fn group_of(lanes: u32) -> u32 {
        let divisors = || (1..=Self::MOST).rev().filter(|size| lanes.is_multiple_of(*size));
        divisors().find(|size| size.is_multiple_of(32)).or_else(|| divisors().next()).unwrap_or(1)
    }

    /// All lanes, as far as they can be counted.
    pub(crate) fn lanes(self) -> u64 {
        let Launch { groups, group_size, .. } = self.launch();
        groups.into_iter().chain(group_size).fold(1, |lanes: u64, n| lanes.saturating_mul(n.into()))
    }

    /// The same as arguments, for another process.
    pub(crate) fn to_arguments(self) -> Vec<String> {
        match self.lanes {
            Some(lanes) => vec!["--lanes".into(), lanes.to_string()],
            None => {
                let text = |shape: [u32; 3]| shape.map(|n| n.to_string()).join(",");
                vec!["--grid".into(), text(self.grid), "--block".into(), text(self.block)]
            }
        }
    }
}

/// Builds the crate, launches the kernel with the parameters at the front of `texts`, and hands it the others as
/// arguments.
pub(crate) fn run(options: &Options, shape: &Shape, kernel_crate: &Path, name: &str, texts: &[OsString]) -> Outcome {
    if options.devices.is_some() {
        return Err("--devices is for programs with std (`cargo hostcall run [-p PACKAGE]`): a kernel crate runs on one device".into());
    }
    let options = &options.of_process()?.of_rank(Rank::from_env().ok())?;
    let (device, why) = device::open(options.device.as_deref(), None)?;
    if let (Some(stack), DeviceKind::Cuda) = (options.stack, device.info().kind) {
        offload::cuda::set_limit(&device, offload::cuda::Limit::StackBytes, stack)?;
    }
    device::give_stack(&device, options.stack)?;
    let program = load(kernel_crate, &device, options.instrument.clone())?;
    let kernel = program.kernel(name)?;
    let (params, rest) = values::params(name, kernel.params(), texts)?;

    let mut builder = options.apply(Server::builder(&device), HEAP)?.arg(name);
    for argument in rest {
        builder = builder.arg(argument);
    }
    let server = builder.start()?;
    server.attach(&program)?;
    let receiver = options.receiver(&device, &program)?;
    let queue = device.queue()?;
    let watch = Watch::new(options.timeout)?;
    // Who reads this may press Ctrl-C.
    eprintln!("running {name} on {} ({why})", device.info().name);
    // SAFETY: the parameters have the number and sizes that the kernel's own table says. That they are numbers and no
    // addresses is what whoever types the command answers for, as for the kernel itself.
    unsafe { queue.launch(&kernel, shape.launch(), params)? };
    watch.finish(Launched::Kernel, server, receiver, &queue, options.stats, false)
}

/// Builds the crate for the device, and loads what was built.
fn load(kernel_crate: &Path, device: &Device, instrument: Option<Instrument>) -> Result<Program, Box<dyn std::error::Error>> {
    let info = device.info();
    let target = match info.kind {
        DeviceKind::Sim => Target::Sim,
        DeviceKind::Cuda => Target::nvptx(),
        DeviceKind::Hsa => crate::cargo::amd_target(&info.arch),
        kind => return Err(format!("nothing is built for {kind} devices").into()),
    };
    eprintln!("building {} ({target})", kernel_crate.display());
    let spec = ProgramSpec { targets: vec![target], instrument, ..ProgramSpec::new(kernel_crate) };
    let built = build_program(&spec)?;
    for warning in &built.warnings {
        eprintln!("{warning}\n");
    }
    Ok(device.load(&built.bundle)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_as_many_as_were_asked_for_in_whole_waves_where_they_can_be() {
        let shape = |lanes| Shape { grid: [1; 3], block: [1; 3], lanes: Some(lanes) };
        for (lanes, size) in [(100_000, 160), (1, 1), (64, 64), (4096, 256), (100, 100), (257, 1), (1 << 31, 256), (u32::MAX, 255)] {
            let Launch { groups, group_size, .. } = shape(lanes).launch();
            assert_eq!((group_size, groups), ([size, 1, 1], [lanes / size, 1, 1]), "{lanes}");
            assert_eq!(shape(lanes).lanes(), u64::from(lanes));
        }
        assert_eq!(shape(7).to_arguments(), ["--lanes", "7"]);
        let grid = Shape { grid: [2, 3, 1], block: [32, 1, 1], lanes: None };
        assert_eq!((grid.lanes(), grid.to_arguments().join(" ")), (192, "--grid 2,3,1 --block 32,1,1".to_owned()));
    }
}
