//! Calls of one wave on an otherwise idle device, answered by one fresh server after another.

use std::sync::atomic::{AtomicBool, Ordering};

use offload::{Args, Launch};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Scale, Session, middle};

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

/// The rows: their names with a window and without, the kernels that call, and with how many lanes.
pub(super) const ROWS: [([&str; 2], &str, Shape); 5] = [
    (["call.scalar.held", "call.scalar.held.no_window"], "call_held", Shape::Scalar),
    (["call.scalar", "call.scalar.no_window"], "call", Shape::Scalar),
    (["call.wide64", "call.wide64.no_window"], "call", Shape::Wide),
    (["call.scalar.device", "call.scalar.device.no_window"], "call_device", Shape::Scalar),
    (["call.wide64.device", "call.wide64.device.no_window"], "call_device", Shape::Wide),
];

/// The name of row number `i` of [`ROWS`].
pub(super) fn name(i: usize, window: bool) -> &'static str {
    ROWS[i].0[usize::from(!window)]
}

/// Microseconds of a call of each of the rows that `wants` names: several launches' means, on each of several servers.
///
/// A server's threads, and its buffer, are where they happen to be, so one server's figure is that of one place.
pub(super) fn measure(rig: &Rig, threads: usize, window: bool, wants: impl Fn(&str) -> bool) -> [Result<Vec<f64>, Error>; ROWS.len()] {
    let mut all = ROWS.map(|_| Ok(Vec::new()));
    for _ in 0..rig.scale.hosts {
        let session = rig.session_in(threads, window);
        for (i, all) in all.iter_mut().enumerate().filter(|(i, _)| wants(name(*i, window))) {
            eprintln!("{} …", name(i, window));
            let (_, kernel, shape) = ROWS[i];
            let more = match &session {
                Ok(session) => means(session, kernel, shape),
                Err(Error::NoWindow(why)) => Err(Error::NoWindow(why.clone())),
                Err(error) => Err(Error::Also(error.to_string())),
            };
            match (more, &mut *all) {
                (Ok(more), Ok(all)) => all.extend(more),
                (Err(error), Ok(_)) => *all = Err(error),
                (_, Err(_)) => {}
            }
        }
    }
    all
}

/// The row number `i` of [`ROWS`], of what [`measure`] gave for it.
pub(super) fn row(rig: &Rig, threads: usize, i: usize, window: bool, us: Result<Vec<f64>, Error>, floor_us: f64) -> Result<Row, Error> {
    let (name, kernel) = (name(i, window), ROWS[i].1);
    let us = middle(us?);
    let Scale { latency_samples, hosts, calls, .. } = rig.scale;
    let note =
        format!("median of {hosts} servers x {latency_samples} x {calls} calls, {threads} server thread(s){}", rig.registers(kernel)?);
    Ok(Row { name, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

/// Microseconds of a call: the means of several launches.
pub(super) fn means(session: &Session<'_>, kernel: &str, shape: Shape) -> Result<Vec<f64>, Error> {
    let rig = session.rig;
    let launch = shape.launch(session);
    let lanes = launch.group_threads();
    let (warm, calls) = (rig.scale.calls / 10, rig.scale.calls);
    let sample = |_| {
        let out = rig.zeroed::<[u64; 2]>(lanes as usize)?;
        session.run(kernel, launch, Args::new().value(warm).value(calls).slice(&out))?;
        let out = rig.queue.read(&out)?;
        Error::unless_all(format!("answers to `{kernel}`"), out.iter().map(|lane| lane[1]).sum(), lanes * u64::from(calls))?;
        // Lanes end together; the first one's clock stands for all.
        Ok(out[0][0] as f64 / 1e3 / f64::from(calls))
    };
    (0..rig.scale.latency_samples).map(sample).collect()
}

/// The name of the row of [`busy`].
pub(super) const BUSY: &str = "call.scalar.busy.p999";

/// The time within which 99.9 % of one lane's calls are answered while half of this machine's processors do something
/// else.
pub(super) fn busy(session: &Session<'_>, floor_us: f64) -> Result<Row, Error> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let others = cores.div_ceil(2);
    let over = AtomicBool::new(false);
    let samples = std::thread::scope(|scope| {
        // Ended however the measurement ends.
        let _over = Over(&over);
        for _ in 0..others {
            let busy = || {
                // Relaxed: it says nothing but that it is enough. Pairs with the drop of `Over`.
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            std::thread::Builder::new().spawn_scoped(scope, busy).map_err(Error::Thread)?;
        }
        samples(session, Shape::Scalar)
    });
    let mut samples = samples?;
    samples.sort_by(f64::total_cmp);
    let calls = samples.len();
    let us = samples.get((calls * 999).div_ceil(1000).saturating_sub(1)).copied().unwrap_or(f64::NAN);
    let note = format!("99.9 % of {calls} calls, {others} of {cores} processors busy");
    Ok(Row { name: BUSY, figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

/// Says when it is dropped that it is enough.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // Pairs with the loads in `busy`.
        self.0.store(true, Ordering::Relaxed);
    }
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
