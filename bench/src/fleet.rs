//! Two devices at once, each with a server of its own in this process: what one loses by the other's work.
//!
//! Alone and together are measured in turns, so that what a machine does at other times concerns both.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use offload::Device;

use super::error::Error;
use super::latency::{self, Shape};
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, middle};
use super::throughput::{self, Load};

/// What a row measures.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// Calls of all waves of both devices at once, with so many server threads for each.
    Rate(Load, usize),
    /// Calls of one wave of the first device, while all waves of the second one call.
    Loaded(Shape),
}

/// Server threads for each device: what a fleet has if nothing else is said.
const DEFAULT: usize = 4;

/// The rows.
pub(super) const ROWS: [(&str, What); 5] = [
    ("fleet.throughput.scalar", What::Rate(Load::Scalar, DEFAULT)),
    ("fleet.throughput.wide64", What::Rate(Load::Wide, DEFAULT)),
    ("fleet.throughput.scalar.8", What::Rate(Load::Scalar, 8)),
    ("fleet.throughput.wide64.8", What::Rate(Load::Wide, 8)),
    ("fleet.call.scalar", What::Loaded(Shape::Scalar)),
];

/// Why there are none unless they are asked for.
pub(super) const NO_SECOND: Error = Error::NotHere("`--beside DEVICE` names a second device, such as cuda:1");

/// Turns of each row. A ratio is the middle one of the turns': what a machine does for a second concerns one of them.
const TURNS: usize = 9;

/// The second device with the kernels loaded, set up as the first one.
pub(super) fn beside(rig: &Rig, device: &str) -> Result<Rig, Error> {
    Rig::new(Device::open(device)?, rig.scale, rig.first_poll, rig.placement.clone())
}

/// Measures one row.
pub(super) fn row(first: &Rig, second: &Rig, name: &'static str, what: What) -> Result<Row, Error> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let wanted = match what {
        What::Rate(_, threads) => threads,
        What::Loaded(_) => DEFAULT,
    };
    // As many for each device whether the other one works or not.
    let threads = first.threads(wanted)?.min((cores / 2).max(1));
    let sessions = [first.session(threads)?, second.session(threads)?];
    let (figure, alone, ratio, against) = match what {
        What::Rate(load, _) => {
            let Compared { alone, with, ratio } = rates(&sessions, load)?;
            (Figure::PerS(with), Figure::PerS(alone), ratio, Against::OneDevice)
        }
        What::Loaded(shape) => {
            let Compared { alone, with, ratio } = loaded(&sessions, shape)?;
            (Figure::Us(with), Figure::Us(alone), ratio, Against::Unloaded)
        }
    };
    let [one, other] = [first, second].map(|rig| rig.device.info());
    let same = if (one.kind, one.ordinal) == (other.kind, other.ordinal) { ", WHICH ARE ONE" } else { "" };
    let note = format!(
        "{} and {}{same}; alone {}; {TURNS} turns, {threads} server thread(s) each, of {cores} processors",
        one.name,
        other.name,
        alone.shown()
    );
    Ok(Row { name, figure, ratio, against, note })
}

/// Middle values of all turns.
struct Compared {
    /// One device alone.
    alone: f64,
    /// With the other one.
    with: f64,
    /// The second to the first, of each turn.
    ratio: f64,
}

impl Compared {
    fn of(turns: &[[f64; 2]]) -> Self {
        let column = |f: fn(&[f64; 2]) -> f64| middle(turns.iter().map(f).collect());
        Self { alone: column(|turn| turn[0]), with: column(|turn| turn[1]), ratio: column(|turn| turn[1] / turn[0]) }
    }
}

/// Calls a second of one device alone, each in turn, and of both at once.
fn rates(sessions: &[Session<'_>; 2], load: Load) -> Result<Compared, Error> {
    let waves = |session: &Session<'_>| session.rig.all_waves();
    let counts = [0, 1].map(|i| {
        let session = &sessions[i];
        session.rig.calibrate(|each| throughput::sample(session, load, waves(session), each))
    });
    let [first, second] = counts;
    let counts = [first?, second?];
    let rate = |i: usize| -> Result<f64, Error> {
        let start = Instant::now();
        throughput::sample(&sessions[i], load, waves(&sessions[i]), counts[i])?;
        Ok(f64::from(waves(&sessions[i])) * f64::from(counts[i]) / start.elapsed().as_secs_f64())
    };
    let mut turns = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        // One may be slower than the other by itself: what both lose is against the mean of both.
        let alone = f64::midpoint(rate(0)?, rate(1)?);
        let start = Barrier::new(2);
        let work = |i| {
            start.wait();
            rate(i)
        };
        let [one, other] = together(|| work(0), || work(1));
        // Each by its own time: the one that ends first does not wait for the other.
        turns.push([alone, one? + other?]);
    }
    Ok(Compared::of(&turns))
}

/// Microseconds of a call of one wave of the first device: while the second one rests, and while all its waves call.
fn loaded(sessions: &[Session<'_>; 2], shape: Shape) -> Result<Compared, Error> {
    let [session, busy] = sessions;
    let waves = busy.rig.all_waves();
    let each = busy.rig.calibrate(|each| throughput::sample(busy, Load::Scalar, waves, each))?;
    let mut turns = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        let alone = middle(latency::means(session, "call", shape)?);
        // Relaxed: it says when to stop, and nothing else depends on it.
        let (start, stop) = (Barrier::new(2), AtomicBool::new(false));
        let load = || -> Result<(), Error> {
            start.wait();
            while !stop.load(Ordering::Relaxed) {
                throughput::sample(busy, Load::Scalar, waves, each)?;
            }
            Ok(())
        };
        let call = || {
            start.wait();
            let means = latency::means(session, "call", shape);
            stop.store(true, Ordering::Relaxed);
            means
        };
        let (means, load) = std::thread::scope(|scope| {
            let load = scope.spawn(load);
            (call(), load.join())
        });
        turns.push([alone, middle(means?)]);
        load.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    }
    Ok(Compared::of(&turns))
}

/// Runs both at the same time.
fn together<T: Send>(first: impl FnOnce() -> T, second: impl FnOnce() -> T + Send) -> [T; 2] {
    std::thread::scope(|scope| {
        let second = scope.spawn(second);
        [first(), second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
    })
}

#[cfg(test)]
mod tests {
    use super::super::rig::tests::small;
    use super::*;

    #[test]
    fn two_devices_are_measured_at_once() {
        let (first, second) = (small(), small());
        for (name, what) in ROWS {
            // Every answer is checked, or there is no row.
            let row = row(&first, &second, name, what).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(row.ratio > 0.0, "{row:?}");
        }
    }
}
