//! A kernel whose calls are answered by workers: that of the example `add42` of `hostcall`, unchanged.
//!
//! `HOSTCALL_REMOTE=nats://127.0.0.1:4222 cargo run --release -p hostcall-examples --features remote --example caller`,
//! with the example `worker` running anywhere.

use std::error::Error;
use std::time::Duration;

use add42_services::host;
use hostcall::{Args, Device, DeviceKind, Launch, Server};
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_remote::{CallOptions, Connector};

fn main() -> Result<(), Box<dyn Error>> {
    let (device, why) = Device::choose();
    println!("{why}");
    let target = if device.info().kind == DeviceKind::Sim { Target::Sim } else { Target::nvptx() };
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/add42/kernel");
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernels) })?;

    // Workers may start later than this program.
    let options = CallOptions::new().worker_wait(Duration::from_secs(60)).timeout(Duration::from_secs(60));
    let remote = Connector::from_env()?.connect()?.with_options(options);
    let server = Server::builder(&device)
        .service(remote.service(host::definition::add42()))
        .service(remote.service(host::definition::log()))
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
    for stats in remote.stats() {
        println!("{stats:?}");
    }
    Ok(())
}
