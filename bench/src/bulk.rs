//! Large slices against the bus.

use offload::{Args, HostMemory, Launch};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{CHUNK, Rig, Session, median};

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    ToHost,
    ToKernel,
}

/// The row of one way.
pub(super) fn row(session: &Session<'_>, way: Way) -> Result<Row, Error> {
    let bytes = session.rig.scale.bulk_bytes;
    let bus = bus(session.rig, way, bytes)?;
    let (ours, waves) = rate(session, way)?;
    let name = if way == Way::ToHost { "bulk.to_host" } else { "bulk.to_kernel" };
    let note = format!(
        "{} MiB in slices of {} KiB by {waves} waves, {} server thread(s); bus {bus:.2} GB/s",
        bytes >> 20,
        CHUNK >> 10,
        session.threads
    );
    Ok(Row { name, figure: Figure::GbS(ours), ratio: ours / bus, against: Against::Bus, note })
}

/// 10⁹ bytes a second, and by how many waves.
pub(super) fn rate(session: &Session<'_>, way: Way) -> Result<(f64, u64), Error> {
    let rig = session.rig;
    let bytes = rig.scale.bulk_bytes;
    let info = rig.device.info();
    // More waves than SMs can copy at once would only wait for staging slots.
    let launch = rig.waves(if rig.is_sim() { rig.all_waves() } else { info.sms * 8 });
    let waves = launch.group_count() * launch.group_threads() / u64::from(info.wave_size);
    let data = rig.zeroed::<u8>(bytes)?;
    let pattern: Vec<u8> = (0..bytes).map(|i| (i ^ (i >> 16)) as u8).collect();
    rig.queue.copy_to(&data, 0, &pattern)?;
    let rate = median(rig.scale.samples, || {
        let right = rig.zeroed::<u64>(waves as usize)?;
        let (kernel, args) = match way {
            Way::ToHost => ("bulk_to_host", Args::new().value(CHUNK).slice(&data).slice(&right)),
            Way::ToKernel => ("bulk_to_kernel", Args::new().value(CHUNK).address(data.address()).value(bytes as u64).slice(&right)),
        };
        let took = session.run(kernel, launch, args)?;
        Error::unless_all(format!("bytes of `{kernel}`"), rig.queue.read(&right)?.iter().sum(), bytes as u64)?;
        Ok(bytes as f64 / 1e9 / took.as_secs_f64())
    })?;
    Ok((rate, waves))
}

/// 10⁹ bytes a second that a kernel's plain loads and stores of host memory reach.
pub(super) fn bus(rig: &Rig, way: Way, bytes: usize) -> Result<f64, Error> {
    let host: HostMemory<u128> = rig.device.alloc_host(bytes / size_of::<u128>())?;
    let out = rig.zeroed::<u128>(1)?;
    let launch = if rig.is_sim() { rig.waves(rig.all_waves()) } else { Launch::linear(rig.device.info().sms * 2, 512) };
    median(rig.scale.samples, || {
        let args = Args::new().address(host.address()).value(host.len() as u64);
        let (kernel, args) = match way {
            Way::ToHost => ("bus_to_host", args),
            Way::ToKernel => ("bus_to_kernel", args.address(out.address())),
        };
        let took = rig.run(kernel, launch, args, || Ok(rig.queue.synchronize()?))?;
        Ok(bytes as f64 / 1e9 / took.as_secs_f64())
    })
}
