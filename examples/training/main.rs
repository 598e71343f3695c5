//! A training that samples its loss while it runs. The kernel is in `examples/training/kernel`. For minutes, with a
//! view of it in another terminal:
//!
//! ```text
//! cargo run --release -p hostcall-examples --example training -- --seconds 300 --record run.hcs
//! cargo hostcall stream live run.hcs
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hostcall::{Args, Device, DeviceKind, Launch, Server};
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_stream::Streams;

/// Lanes, and steps between two samples of a wave.
const LANES: u32 = 1024;
const EVERY: u32 = 250;
/// Steps of a launch.
const GPU_STEPS: u32 = 200_000;
const SIM_STEPS: u32 = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut seconds, mut path) = (3.0, std::env::temp_dir().join("training.hcs"));
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} what?"))?;
        match argument.as_str() {
            "--seconds" => seconds = value.parse()?,
            "--record" => path = PathBuf::from(value),
            _ => return Err(format!("{argument}: there are --seconds and --record").into()),
        }
    }
    let (device, why) = Device::choose();
    println!("{why}");
    println!("recording to {0}; look at it by `cargo hostcall stream live {0}`", path.display());
    let (first, last) = train(&device, &path, Duration::from_secs_f64(seconds))?;
    println!("loss at first {first:.4}, at last {last:.4}");
    Ok(())
}

/// Trains for so long, and says the mean loss of the first and of the last samples.
pub(crate) fn train(device: &Device, path: &Path, time: Duration) -> Result<(f64, f64), Box<dyn Error>> {
    let (target, steps) = match device.info().kind {
        DeviceKind::Sim => (Target::Sim, SIM_STEPS),
        _ => (Target::nvptx(), GPU_STEPS),
    };
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/training/kernel");
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernels) })?;
    let program = device.load(&built.bundle)?;
    // Answers calls: that of a lane which panics, say.
    let server = Server::builder(device).start()?;
    server.attach(&program)?;
    let streams = Streams::builder().record(path).start(device)?;
    streams.attach(&program)?;
    let queue = device.queue()?;
    let kernel = program.kernel("train")?;
    let lines = device.alloc::<f32>(2 * LANES as usize)?;
    queue.copy_to(&lines, 0, &vec![0.0; 2 * LANES as usize])?;

    let (begin, mut step) = (Instant::now(), 0u32);
    while step < 2 * SIM_STEPS || (begin.elapsed() < time && step < u32::MAX - steps) {
        let args = Args::new().slice(&lines).value(step).value(steps).value(EVERY);
        // SAFETY: the kernel takes a slice of `f32` with two for each lane, and three `u32`s; the slice outlives the
        // launch, which `wait` waits for.
        unsafe { queue.launch(&kernel, Launch::threads(LANES, 128), args)? };
        server.wait(&queue)?;
        // The counters are in the recording after it, where the view finds them.
        streams.wait(&queue)?;
        step += steps;
    }
    let summary = streams.wait(&queue)?;
    println!("{summary}");
    drop(streams);
    losses(path, step)
}

/// The mean of the first samples of all waves, and of the last ones.
fn losses(path: &Path, steps: u32) -> Result<(f64, f64), Box<dyn Error>> {
    let mut reader = hostcall_stream::open(path)?;
    let (mut first, mut last) = ((0.0, 0u32), (0.0, 0u32));
    while let Some(message) = reader.next()? {
        if message.schema.name != "Loss" {
            continue;
        }
        for row in message.rows() {
            let [step, value] = [0, 1].map(|index| row.fields().nth(index).and_then(|(_, value)| value.number()).unwrap_or(f64::NAN));
            let of = if step <= f64::from(EVERY) { &mut first } else { &mut last };
            if step <= f64::from(EVERY) || step >= f64::from(steps) {
                *of = (of.0 + value, of.1 + 1);
            }
        }
    }
    Ok((first.0 / f64::from(first.1), last.0 / f64::from(last.1)))
}
