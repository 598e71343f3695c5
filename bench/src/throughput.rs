//! Calls and posts of many waves at once.

use std::time::Duration;

use offload::{Args, Launch};

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{Rig, Session, median, middle};

/// What the waves do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// One lane of each wave calls.
    Scalar,
    /// All lanes of each wave call.
    Wide,
    /// One lane of each wave posts.
    Post,
}

impl Load {
    pub(super) fn kernel(self) -> &'static str {
        match self {
            Self::Scalar => "throughput_scalar",
            Self::Wide => "throughput_wide",
            Self::Post => "post_rate",
        }
    }
}

/// Runs the load on `waves` waves, `each` times per wave, and checks that every call was answered right, every post
/// handled.
pub(super) fn sample(session: &Session<'_>, load: Load, waves: u32, each: u32) -> Result<Duration, Error> {
    let rig = session.rig;
    let launch = rig.waves(waves);
    let what = || format!("answers to `{}`", load.kernel());
    match load {
        Load::Post => {
            let handled = || session.server.stats().service("Bench__note").map_or(0, |service| service.calls);
            let before = handled();
            let start = std::time::Instant::now();
            session.run(load.kernel(), launch, Args::new().value(each))?;
            // Posts count when they are handled, not when the kernel has sent them.
            let took = start.elapsed();
            Error::unless_all("posts", handled() - before, u64::from(waves) * u64::from(each))?;
            Ok(took)
        }
        Load::Scalar | Load::Wide => {
            let lanes = if load == Load::Wide { launch.group_count() * launch.group_threads() } else { waves.into() };
            let right = rig.zeroed::<u64>(lanes as usize)?;
            let took = session.run(load.kernel(), launch, Args::new().value(each).slice(&right))?;
            Error::unless_all(what(), rig.queue.read(&right)?.iter().sum(), lanes * u64::from(each))?;
            Ok(took)
        }
    }
}

/// Calls (of a wave, whatever its lanes) a second, the median of `samples`.
pub(super) fn rate(session: &Session<'_>, load: Load, waves: u32, samples: usize) -> Result<f64, Error> {
    let each = session.rig.calibrate(|each| sample(session, load, waves, each))?;
    median(samples, || Ok(f64::from(waves) * f64::from(each) / sample(session, load, waves, each)?.as_secs_f64()))
}

/// The rows: their names with a window and without, what the waves do, and with how many server threads.
pub(super) const ROWS: [([&str; 2], Load, usize); 5] = [
    (["throughput.scalar.1", "throughput.scalar.1.no_window"], Load::Scalar, 1),
    (["throughput.scalar", "throughput.scalar.no_window"], Load::Scalar, 8),
    (["throughput.wide64", "throughput.wide64.no_window"], Load::Wide, 8),
    (["throughput.wide64.12", "throughput.wide64.12.no_window"], Load::Wide, 12),
    (["post.rate", "post.rate.no_window"], Load::Post, 8),
];

/// Measures one row.
pub(super) fn row(rig: &Rig, name: &'static str, load: Load, threads: usize, window: bool, floor_us: f64) -> Result<Row, Error> {
    let threads = rig.threads(threads)?;
    let session = rig.session_in(threads, window)?;
    let rate = rate(&session, load, rig.all_waves(), rig.scale.samples)?;
    let lanes = if load == Load::Wide { format!(" of {} lanes", rig.device.info().wave_size) } else { String::new() };
    let note = format!("{} waves{lanes}, {threads} server thread(s){}", rig.all_waves(), rig.registers(load.kernel())?);
    Ok(Row { name, figure: Figure::PerS(rate), ratio: rate * floor_us / 1e6, against: Against::PerFloor, note })
}

/// The row `post.issue`: what a post costs the wave that makes it.
pub(super) fn post_issue(session: &Session<'_>, floor_us: f64) -> Result<Row, Error> {
    let rig = session.rig;
    let all = issue(session)?;
    let [us, taken] = [0, 1].map(|i| middle(all.iter().map(|sample| sample[i]).collect()));
    let note = format!(
        "median of {} x {} posts in a row over a held port ({taken:.3} us with one taken for each), {} server thread(s)",
        rig.scale.latency_samples, rig.scale.calls, session.threads
    );
    Ok(Row { name: "post.issue", figure: Figure::Us(us), ratio: us / floor_us, against: Against::Floor, note })
}

/// Microseconds of a post over a held port, and with one taken for each, of several launches.
pub(super) fn issue(session: &Session<'_>) -> Result<Vec<[f64; 2]>, Error> {
    let rig = session.rig;
    let (warm, posts) = (rig.scale.calls / 10, rig.scale.calls);
    let sample = |_| {
        let out = rig.zeroed::<u64>(2)?;
        session.run("post_issue", Launch::linear(1, 1), Args::new().value(warm).value(posts).slice(&out))?;
        let all = rig.queue.read(&out)?;
        Ok([0, 1].map(|i| all.get(i).map_or(0.0, |&ns| ns as f64 / 1e3 / f64::from(posts))))
    };
    (0..rig.scale.latency_samples).map(sample).collect()
}

/// Numbers of waves for the curve.
pub(super) fn steps(most: u32) -> Vec<u32> {
    let mut steps: Vec<u32> = std::iter::successors(Some(1u32), |waves| waves.checked_mul(2)).take_while(|waves| *waves < most).collect();
    steps.push(most);
    steps
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_curve_ends_with_all_waves() {
        assert_eq!(super::steps(1), [1]);
        assert_eq!(super::steps(8), [1, 2, 4, 8]);
        assert_eq!(super::steps(9), [1, 2, 4, 8, 9]);
    }
}
