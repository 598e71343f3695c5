//! The device's allocator against the one that is there anyway.

use std::time::{Duration, Instant};

use offload::Args;
use offload::cuda::{Limit, set_limit};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, median};

/// Bytes of CUDA's own device-side heap, which has to be asked for before kernels that use it are loaded.
pub(super) fn prepare(device: &offload::Device, bytes: usize) -> Result<(), Error> {
    if device.info().kind == offload::DeviceKind::Cuda {
        set_limit(device, Limit::MallocHeapBytes, bytes)?;
    }
    Ok(())
}

/// The row `malloc`: pairs of allocating and freeing, by all lanes of all resident waves.
pub(super) fn row(session: &Session<'_>) -> Result<Row, Error> {
    let rig = session.rig;
    let ours = device_rate(session, "heap_pairs")?;
    let (theirs, whose) = match rig.device.info().kind {
        offload::DeviceKind::Cuda => (device_rate(session, "heap_pairs_cuda")?, "CUDA's in-kernel malloc".to_owned()),
        offload::DeviceKind::Sim => host_rate(rig)?,
        _ => return Err(Error::NotHere("this device has no allocator of its own to compare with")),
    };
    let note = format!("16-512 B, {} waves, all lanes; {whose}: {:.2} M/s{}", rig.all_waves(), theirs / 1e6, rig.registers("heap_pairs")?);
    Ok(Row { name: "malloc", figure: Figure::PerS(ours), ratio: ours / theirs, against: Against::Malloc, note })
}

fn device_rate(session: &Session<'_>, kernel: &str) -> Result<f64, Error> {
    let rig = session.rig;
    let launch = rig.waves(rig.all_waves());
    let lanes = launch.group_count() * launch.group_threads();
    let sample = |pairs: u32| -> Result<Duration, Error> {
        let right = rig.zeroed::<u32>(lanes as usize)?;
        let took = session.run(kernel, launch, Args::new().value(pairs).slice(&right))?;
        let right = rig.queue.read(&right)?.into_iter().map(u64::from).sum();
        Error::unless_all(format!("blocks of `{kernel}`"), right, lanes * u64::from(pairs))?;
        Ok(took)
    };
    let pairs = session.rig.calibrate(sample)?;
    median(rig.scale.samples, || Ok(lanes as f64 * f64::from(pairs) / sample(pairs)?.as_secs_f64()))
}

/// The host's allocator with a thread on each core, which is what runs the simulator's waves.
fn host_rate(rig: &Rig) -> Result<(f64, String), Error> {
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let pairs = 1_000_000u32;
    let rate = median(rig.scale.samples, || {
        let start = Instant::now();
        std::thread::scope(|scope| -> Result<(), Error> {
            for thread in 0..threads {
                let work = move || {
                    let mut state = (thread as u32).wrapping_mul(0x9e37_79b9) | 1;
                    for _ in 0..pairs {
                        state ^= state << 13;
                        state ^= state >> 17;
                        state ^= state << 5;
                        let mut block = Vec::<u8>::with_capacity(16 + (state % 497) as usize);
                        block.push(state as u8);
                        std::hint::black_box(&mut block);
                    }
                };
                std::thread::Builder::new().spawn_scoped(scope, work).map_err(Error::Thread)?;
            }
            Ok(())
        })?;
        Ok(threads as f64 * f64::from(pairs) / start.elapsed().as_secs_f64())
    })?;
    Ok((rate, format!("the host's malloc on {threads} core(s)")))
}
