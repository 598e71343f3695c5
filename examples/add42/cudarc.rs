//! An application that uses CUDA through cudarc already, and lends its context, its stream and its module to hostcall,
//! so that its kernels can call.
//!
//! `cargo run --release -p hostcall-examples --example cudarc` on a machine with an NVIDIA GPU and the device toolchain
//! (`cargo hostcall setup`). Elsewhere it says what is missing and ends.

use std::error::Error;

use add42_services::host;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use hostcall::{Device, Program, Queue, Server};
use hostcall_build::{ProgramSpec, Target, build_program};

fn main() -> Result<(), Box<dyn Error>> {
    // cudarc panics where there is no driver. This says what is missing.
    if let Err(why) = Device::cuda(0) {
        println!("skipped: {why}");
        return Ok(());
    }
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/add42/kernel");
    let built = build_program(&ProgramSpec { targets: vec![Target::nvptx()], ..ProgramSpec::new(kernels) })?;
    let image = built.bundle.images.first().ok_or("nothing was built for NVIDIA GPUs")?;

    // What the application has: a context, a stream, a module's function, memory.
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let module = context.load_module(Ptx::from_src(std::str::from_utf8(&image.bytes)?))?;
    let demo = module.load_function("demo")?;
    let mut y = stream.clone_htod(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;

    // What hostcall needs to know of them.
    let device = Device::from_cudarc(&context)?;
    let queue = Queue::from_cudarc(&device, &stream)?;
    let program = Program::from_cudarc(&device, "demo", &demo)?;
    let server = Server::builder(&device)
        .service(host::add42(|x| x + 42.0))
        .service(host::log(|message: &str| println!("the kernel says: {message}")))
        .start()?;
    server.attach(&program)?;

    // A slice is two parameters. `track` has the server awake while the kernel runs.
    let len = y.len() as u64;
    let shape = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel takes one slice of `f32`; `y` is one, and outlives the launch, which `wait` waits for.
    queue.track(|| unsafe { stream.launch_builder(&demo).arg(&mut y).arg(&len).launch(shape) })??;
    server.wait(&queue)?;
    println!("{:?}", stream.clone_dtoh(&y)?);
    Ok(())
}
