//! Which memory two kernels access, how well they use cache lines, and how long their waves take. The kernels are in
//! `examples/heatmap/kernel`: what they access, they say by `hostcall::stream::access`.

use std::error::Error;

use hostcall::{Args, Device, DeviceKind, Launch, Server};
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_stream::handlers::{CacheLines, HeatMap, Intervals};
use hostcall_stream::{Access, Interval, Streams};

/// Rows and columns of the matrix.
const SIDE: u32 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let (device, why) = Device::choose();
    println!("{why}");
    let target = if device.info().kind == DeviceKind::Sim { Target::Sim } else { Target::nvptx() };
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/heatmap/kernel");
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernels) })?;
    let program = device.load(&built.bundle)?;

    // Answers calls: that of a lane which panics, say.
    let server = Server::builder(&device).start()?;
    server.attach(&program)?;
    let mut streams = Streams::builder()
        .on::<Access, _>(HeatMap::pages(4096))
        .on::<Access, _>(CacheLines::of(128))
        .on::<Interval, _>(Intervals::default().named(0, "a wave's sums"));
    // For `cargo hostcall stream report`.
    if let Some(path) = std::env::args().nth(1) {
        streams = streams.record(path);
    }
    let streams = streams.start(&device)?;
    streams.attach(&program)?;

    let queue = device.queue()?;
    let matrix = device.alloc::<f32>((SIDE * SIDE) as usize)?;
    queue.copy_to(&matrix, 0, &vec![1.0; (SIDE * SIDE) as usize])?;
    let sums = device.alloc::<f32>(SIDE as usize)?;
    for kernel in ["sum_rows", "sum_columns"] {
        let args = Args::new().slice(&matrix).slice(&sums);
        // SAFETY: the kernel takes two slices of `f32`; both outlive the launch, which `wait` waits for.
        unsafe { queue.launch(&program.kernel(kernel)?, Launch::threads(SIDE, 32), args)? };
        server.wait(&queue)?;
        println!("\n# {kernel}\n\n{}", streams.wait(&queue)?);
        assert_eq!(queue.read(&sums)?, [SIDE as f32; SIDE as usize]);
        for report in streams.reports() {
            print!("\n{report}");
        }
        streams.clear();
    }
    Ok(())
}
