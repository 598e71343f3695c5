//! Rounds of three measurements, and what they say of a ratio.

use std::error::Error;
use std::fmt;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Rust,
    C,
    RustAgain,
}

impl Who {
    pub(crate) fn is_c(self) -> bool {
        self == Self::C
    }
}

/// What each took, round by round.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    times: [Vec<f64>; 3],
}

/// In which order a round measures: all there are, so that each is first, second and last equally often.
const ORDERS: [[Who; 3]; 6] = [
    [Who::Rust, Who::C, Who::RustAgain],
    [Who::RustAgain, Who::C, Who::Rust],
    [Who::C, Who::RustAgain, Who::Rust],
    [Who::Rust, Who::RustAgain, Who::C],
    [Who::RustAgain, Who::Rust, Who::C],
    [Who::C, Who::Rust, Who::RustAgain],
];

impl Rounds {
    /// One more round.
    pub(crate) fn round(&mut self, mut measure: impl FnMut(Who) -> Result<f64, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
        for who in ORDERS[self.times[0].len() % ORDERS.len()] {
            let time = measure(who)?;
            self.times[who as usize].push(time);
        }
        Ok(())
    }

    /// The same in other units.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.times.iter_mut().flatten().for_each(|time| *time *= factor);
        self
    }

    /// How many times as long as the closure's.
    fn ratios(&self, who: Who) -> Vec<f64> {
        self.times[who as usize].iter().zip(&self.times[Who::Rust as usize]).map(|(time, closure)| time / closure).collect()
    }
}

impl Rounds {
    /// As a row of `cargo hostcall bench --rows`, of times in nanoseconds.
    pub(crate) fn row(&self, about: &str) -> String {
        let [low, ratio, high] = median(self.ratios(Who::C));
        let [[_, again, _], [_, c, _]] = [self.ratios(Who::RustAgain), self.times[Who::C as usize].clone()].map(median);
        let rounds = self.times[0].len();
        let us = c / 1e3;
        format!(
            "{{\"row\": \"c.handler\", \"us\": {us:.4}, \"ratio\": {ratio:.4}, \"note\": \"{about}, {rounds} rounds ({low:.4} to {high:.4}); \
             the closure again {again:.4}x\"}}"
        )
    }
}

/// The median and its confidence interval of 95 %, from the ranks between which it lies with that probability (normal
/// approximation of the binomial distribution): nothing is assumed of how the values are distributed.
fn median(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let (n, last) = (values.len() as f64, values.len().saturating_sub(1));
    let at = |rank: f64| values.get((rank.max(0.0) as usize).min(last)).copied().unwrap_or(f64::NAN);
    let half = 0.98 * n.sqrt();
    [at((n / 2.0 - half).floor()), at((n / 2.0).floor()), at((n / 2.0 + half).ceil())]
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        for (who, name) in [(Who::C, "through C"), (Who::RustAgain, "the closure again")] {
            let [low, middle, high] = median(self.ratios(who));
            writeln!(f, "  {name}: {middle:.4}x, 95 % interval {low:.4} to {high:.4}, of {} rounds", self.times[0].len())?;
        }
        let [[_, rust, _], [_, c, _]] = [Who::Rust, Who::C].map(|who| median(self.times[who as usize].clone()));
        write!(f, "  medians: closure {rust:.digits$} ns, through C {c:.digits$} ns")
    }
}
