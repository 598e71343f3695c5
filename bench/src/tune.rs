//! Which first poll is best on this machine: calls of one wave with many settings, one line each.
//!
//! The mean is what the rows of the table measure; the percentiles, which have two clock readings more in each call,
//! show how many calls miss their first poll.

use hostcall::__private::FirstPoll;

use super::error::Error;
use super::latency::{self, Shape};
use super::rig::{Rig, middle};

/// Reads `CLOCKS,PER_LANE`.
pub(super) fn first_poll(text: &str) -> Result<FirstPoll, String> {
    let numbers: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|error| format!("{error}"))?;
    let &[clocks, per_lane] = &numbers[..] else { return Err("give two numbers".into()) };
    // More than this is no delay that any reply is worth, and their sum must stay a number of clocks.
    match [clocks, per_lane].into_iter().find(|n| *n > 1 << 20) {
        Some(n) => Err(format!("{n} is more than {}", 1 << 20)),
        None => Ok(FirstPoll { clocks, per_lane }),
    }
}

/// Prints a line for each of many delays, or for the setting that the rig was given.
pub(super) fn run(rig: &Rig, floor_us: f64) -> Result<(), Error> {
    let given = (rig.first_poll != FirstPoll::DEFAULT).then_some(rig.first_poll);
    let threads = rig.thread_counts().into_iter().rfind(|threads| *threads <= 4).unwrap_or(1);
    println!("floor {floor_us:.3} us, {threads} server thread(s); us: median of the means of a call (p5 p50 p95 p99)");
    println!("{:>6} {:>8}  {:>6}  {:>34}  {:>34}", "clocks", "per_lane", "held", "scalar", "wide64");
    let delays = (0..=2000).step_by(100).map(|clocks| FirstPoll { clocks, per_lane: 0 }).collect();
    for setting in given.map_or(delays, |setting| vec![setting]) {
        let session = rig.session_with(threads, |builder| Ok(builder.first_poll(setting)))?;
        let mean = |kernel, shape| Ok::<_, Error>(middle(latency::means(&session, kernel, shape)?));
        let spread = |shape| -> Result<String, Error> {
            let mut samples = latency::samples(&session, shape)?;
            samples.sort_by(f64::total_cmp);
            let at = |percent: usize| samples.get(samples.len() * percent / 100).copied().unwrap_or(f64::NAN);
            Ok(format!("({:.2} {:.2} {:.2} {:.2})", at(5), at(50), at(95), at(99)))
        };
        let held = mean("call_held", Shape::Scalar)?;
        let (scalar, scalars) = (mean("call", Shape::Scalar)?, spread(Shape::Scalar)?);
        let (wide, wides) = (mean("call", Shape::Wide)?, spread(Shape::Wide)?);
        let FirstPoll { clocks, per_lane } = setting;
        println!("{clocks:>6} {per_lane:>8}  {held:>6.3}  {scalar:>8.3} {scalars:>25}  {wide:>8.3} {wides:>25}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_two_numbers_and_nothing_else() {
        assert_eq!(first_poll("800,28"), Ok(FirstPoll { clocks: 800, per_lane: 28 }));
        for wrong in ["", "1", "1,2,3", "a,b", "-1,2", "4294967295,1"] {
            assert!(first_poll(wrong).is_err(), "{wrong}");
        }
    }
}
