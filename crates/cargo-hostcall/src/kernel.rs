//! `cargo hostcall run CRATE KERNEL`: builds a kernel crate and launches one of its kernels.

use std::path::Path;

use hostcall::Server;
use hostcall_build::{ProgramSpec, Target, build_program};
use offload::{Device, DeviceKind, Launch, Program};

use crate::launch::Watch;
use crate::options::Options;
use crate::{Outcome, device, values};

/// Bytes of heap, if nothing is said.
const HEAP: usize = 64 << 20;

/// How many lanes.
#[derive(clap::Args)]
pub(crate) struct Shape {
    /// Of a kernel: workgroups
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = values::shape)]
    grid: [u32; 3],
    /// Of a kernel: threads of a workgroup
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = values::shape)]
    block: [u32; 3],
}

/// Builds the crate, launches the kernel with the parameters at the front of `texts`, and hands it the others as arguments.
pub(crate) fn run(options: &Options, shape: &Shape, kernel_crate: &Path, name: &str, texts: &[String]) -> Outcome {
    let (device, why) = device::open(options.device.as_deref(), None)?;
    if let (Some(stack), DeviceKind::Cuda) = (options.stack, device.info().kind) {
        offload::cuda::set_limit(&device, offload::cuda::Limit::StackBytes, stack)?;
    }
    let program = load(kernel_crate, &device)?;
    let kernel = program.kernel(name)?;
    let (params, rest) = values::params(name, kernel.params(), texts)?;

    let mut builder = options.apply(Server::builder(&device), HEAP)?.arg(name);
    for argument in rest {
        builder = builder.arg(argument);
    }
    let server = builder.start()?;
    server.attach(&program)?;
    eprintln!("running {name} on {} ({why})", device.info().name);

    let queue = device.queue()?;
    let launch = Launch { groups: shape.grid, group_size: shape.block, dynamic_shared: 0 };
    let watch = Watch::new(options.timeout)?;
    // SAFETY: the parameters have the number and sizes that the kernel's own table says. That they are numbers and no addresses is what
    // whoever types the command answers for, as for the kernel itself.
    unsafe { queue.launch(&kernel, launch, params)? };
    watch.finish("kernel", server, &queue, options.stats)
}

/// Builds the crate for the device, and loads what was built.
fn load(kernel_crate: &Path, device: &Device) -> Result<Program, Box<dyn std::error::Error>> {
    let info = device.info();
    let target = match info.kind {
        DeviceKind::Sim => Target::Sim,
        DeviceKind::Cuda => Target::nvptx(),
        DeviceKind::Hip => Target::Amdgpu { arch: info.arch.clone() },
        kind => return Err(format!("nothing is built for {kind} devices").into()),
    };
    eprintln!("building {} ({target})", kernel_crate.display());
    let spec = ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernel_crate) };
    Ok(device.load(&build_program(&spec)?.bundle)?)
}
