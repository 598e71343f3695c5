//! Bank conflicts of a transpose, by place in the source, with and without a padding word in each row of its tiles. The
//! kernel is in `examples/heatmap/kernel`.

use std::error::Error;
use std::path::PathBuf;

use hostcall::{Args, Device, DeviceKind, Launch, Server};
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_stream::handlers::{BankConflicts, Banks, CacheLines};
use hostcall_stream::{Access, Streams};

/// Rows and columns of the matrix.
const SIDE: u32 = 128;
/// Lanes of a workgroup.
const LANES: u32 = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let (device, why) = Device::choose();
    println!("{why}");
    // For `cargo hostcall stream report`.
    let record = std::env::args().nth(1).map(PathBuf::from);
    transpose(&device, record, |pitch, streams| {
        println!("\n# {pitch} words a row");
        for report in streams.reports() {
            print!("\n{report}");
        }
    })
}

/// Transposes with 32 and with 33 words in each row of a tile, and has each looked at.
pub(crate) fn transpose(device: &Device, record: Option<PathBuf>, mut look: impl FnMut(u32, &Streams)) -> Result<(), Box<dyn Error>> {
    let target = if device.info().kind == DeviceKind::Sim { Target::Sim } else { Target::nvptx() };
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/heatmap/kernel");
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernels) })?;
    let program = device.load(&built.bundle)?;
    // Answers calls: that of a lane which panics, say.
    let server = Server::builder(device).start()?;
    server.attach(&program)?;
    let mut streams = Streams::builder().on::<Access, _>(BankConflicts::of(Banks::nvidia())).on::<Access, _>(CacheLines::of(128));
    if let Some(path) = record {
        streams = streams.record(path);
    }
    let streams = streams.start(device)?;
    streams.attach(&program)?;

    let queue = device.queue()?;
    let values = (SIDE * SIDE) as usize;
    let [input, output] = [device.alloc::<f32>(values)?, device.alloc::<f32>(values)?];
    let content: Vec<f32> = (0..SIDE * SIDE).map(|i| i as f32).collect();
    queue.copy_to(&input, 0, &content)?;
    let transposed: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % SIDE * SIDE + i / SIDE) as f32).collect();
    let groups = (SIDE / 32).pow(2);
    for pitch in [32, 33] {
        let tiles = device.alloc::<f32>((groups * 32 * pitch) as usize)?;
        let args = Args::new().slice(&input).value(SIDE).value(pitch).slice(&tiles).slice(&output);
        // SAFETY: the kernel takes slices and numbers of these types; all memory outlives the launch, which `wait`
        // waits for.
        unsafe { queue.launch(&program.kernel("transpose")?, Launch::linear(groups, LANES), args)? };
        server.wait(&queue)?;
        streams.wait(&queue)?;
        assert_eq!(queue.read(&output)?, transposed);
        look(pitch, &streams);
        streams.clear();
    }
    Ok(())
}
