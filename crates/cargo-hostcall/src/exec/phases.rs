//! Where the time of a run goes.

use std::fmt;
use std::time::{Duration, Instant};

/// The parts of a run, one after another.
#[derive(Debug)]
pub(super) struct Phases {
    last: Instant,
    spans: Vec<(&'static str, Duration)>,
}

impl Phases {
    pub(super) fn begin() -> Phases {
        Phases { last: Instant::now(), spans: Vec::new() }
    }

    /// What went on since the last phase ended is called `name`.
    pub(super) fn end(&mut self, name: &'static str) {
        let now = Instant::now();
        self.spans.push((name, now - self.last));
        self.last = now;
    }
}

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Duration = self.spans.iter().map(|(_, took)| *took).sum();
        for (name, took) in self.spans.iter().copied().chain([("in all", all)]) {
            writeln!(f, "{:>9.1} ms  {name}", took.as_secs_f64() * 1e3)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_has_a_line_and_the_last_is_their_sum() {
        let ms = Duration::from_millis;
        let phases = Phases { last: Instant::now(), spans: vec![("open", ms(200)), ("run", ms(3))] };
        assert_eq!(phases.to_string(), "    200.0 ms  open\n      3.0 ms  run\n    203.0 ms  in all\n");
    }
}
