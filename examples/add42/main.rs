//! A host whose kernel asks it to add 42. The kernel is in `examples/add42/kernel`, what both sides share in
//! `examples/add42/services`.
//!
//! Programs usually build their kernels in a `build.rs` (`hostcall_build::program("…").emit()`) and include them with
//! `hostcall::include_program!`; an example has no `build.rs`, so this one builds its kernel when it runs.

use std::error::Error;

use add42_services::host;
use hostcall::{Args, Device, DeviceKind, Launch, Server};
use hostcall_build::{ProgramSpec, Target, build_program};

fn main() -> Result<(), Box<dyn Error>> {
    let (device, why) = Device::choose();
    println!("{why}");
    let target = if device.info().kind == DeviceKind::Sim { Target::Sim } else { Target::nvptx() };
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/add42/kernel");
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernels) })?;

    let server = Server::builder(&device)
        .service(host::add42(|x| x + 42.0))
        .service(host::log(|message: &str| println!("the kernel says: {message}")))
        .start()?;
    let program = device.load(&built.bundle)?;
    server.attach(&program)?;

    let queue = device.queue()?;
    let y = device.alloc::<f32>(8)?;
    queue.copy_to(&y, 0, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
    // SAFETY: the kernel takes one slice of `f32`; `y` is one and outlives the launch, which `wait` waits for.
    unsafe { queue.launch(&program.kernel("demo")?, Launch::threads(8, 32), Args::new().slice(&y))? };
    server.wait(&queue)?;
    println!("{:?}", queue.read(&y)?);
    Ok(())
}
