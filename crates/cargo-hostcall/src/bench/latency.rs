//! Calls of one wave on an otherwise idle device.

use offload::{Args, Launch};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Scale, Session, median};

/// What one wave's calls are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One lane.
    Scalar,
    /// A whole wave.
    Wide,
}

impl Shape {
    fn launch(self, session: &Session<'_>) -> Launch {
        Launch::linear(1, if self == Self::Scalar { 1 } else { session.rig.device.info().wave_size })
    }
}

/// The row `name`: the kernel's time divided by its calls.
pub(super) fn row(session: &Session<'_>, name: &'static str, kernel: &str, shape: Shape, floor_us: f64) -> Result<Row, Error> {
    let us = mean(session, kernel, shape)?;
    let Scale { latency_samples, calls, .. } = session.rig.scale;
    let registers = session.rig.registers(kernel)?;
    let note = format!("median of {latency_samples} x {calls} calls, {} server thread(s){registers}", session.threads);
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

/// Microseconds of a call: the median of several launches' means.
pub(super) fn mean(session: &Session<'_>, kernel: &str, shape: Shape) -> Result<f64, Error> {
    let rig = session.rig;
    let launch = shape.launch(session);
    let lanes = launch.group_threads();
    let (warm, calls) = (rig.scale.calls / 10, rig.scale.calls);
    median(rig.scale.latency_samples, || {
        let out = rig.zeroed::<[u64; 2]>(lanes as usize)?;
        session.run(kernel, launch, Args::new().value(warm).value(calls).slice(&out))?;
        let out = rig.queue.read(&out)?;
        Error::unless_all(format!("answers to `{kernel}`"), out.iter().map(|lane| lane[1]).sum(), lanes * u64::from(calls))?;
        // Lanes end together; the first one's clock stands for all.
        Ok(out[0][0] as f64 / 1e3 / f64::from(calls))
    })
}

/// Microseconds of each of many calls.
pub(super) fn samples(session: &Session<'_>, shape: Shape) -> Result<Vec<f64>, Error> {
    let rig = session.rig;
    let launch = shape.launch(session);
    let (warm, calls) = (rig.scale.calls / 10, rig.scale.calls * if rig.is_sim() { 10 } else { 1 });
    let (ticks, out) = (rig.zeroed::<u32>(calls as usize)?, rig.zeroed::<u64>(3)?);
    session.run("call_latency", launch, Args::new().value(warm).slice(&ticks).slice(&out))?;
    let [ns, total, right] = rig.queue.read(&out)?[..] else { return Ok(Vec::new()) };
    Error::unless_all("answers to `call_latency`", right, calls.into())?;
    let tick_us = ns as f64 / 1e3 / total.max(1) as f64;
    Ok(rig.queue.read(&ticks)?.into_iter().map(|ticks| f64::from(ticks) * tick_us).collect())
}
