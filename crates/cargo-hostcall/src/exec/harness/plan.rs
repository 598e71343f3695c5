//! Which tests are started next, and together with which others.
//!
//! A launch costs far more than most tests do, so tests share launches: one after another in the simulator, many at
//! once on a GPU. A test that ends the program ends what it shares a launch with; so it is started again, alone, and
//! what had not run goes on without it. After such an end the next launch is for twice as many tests as that one
//! completed, so that tests that end the program one after another cost a launch or two each, not ever new attempts at
//! all that remain. A GPU gives its time to processes in turn: while one runs many tests at once, no other is started.

use std::collections::VecDeque;

/// What to start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Job<'a> {
    /// These in one launch, so many at a time.
    Together(Vec<&'a str>, usize),
    /// This one, in a launch of its own.
    Alone(&'a str),
}

/// What became of tests that were started together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ended<'a> {
    /// How many have their result.
    pub(super) done: usize,
    /// Those that ran when the launch ended, or failed: their result is what they do alone.
    pub(super) doubtful: Vec<&'a str>,
    /// Those that had not begun.
    pub(super) rest: Vec<&'a str>,
}

/// Tests that are to be started.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// To be run many at a time in one launch.
    wide: VecDeque<&'a str>,
    /// To be run one after another in one launch.
    queue: VecDeque<&'a str>,
    alone: VecDeque<&'a str>,
    /// How many of `wide` run at a time.
    width: usize,
    /// The most of `queue` in one launch.
    limit: usize,
    /// Who asks for jobs.
    workers: usize,
    /// Jobs that were handed out and have not ended.
    running: usize,
    /// One of them runs many tests at a time.
    wide_runs: bool,
}

/// The fewest tests that are worth a launch, if there are more.
const FEWEST: usize = 8;

impl<'a> Plan<'a> {
    /// `together` may share launches, `width` of them running at a time; `alone` may not.
    pub(super) fn new(together: Vec<&'a str>, alone: Vec<&'a str>, width: usize, workers: usize) -> Plan<'a> {
        let (wide, queue) = if width > 1 { (together, Vec::new()) } else { (Vec::new(), together) };
        Plan {
            wide: wide.into(),
            queue: queue.into(),
            alone: alone.into(),
            width,
            limit: usize::MAX,
            workers,
            running: 0,
            wide_runs: false,
        }
    }

    /// The next job. `None`: there is none now, and there will be none if [`Plan::is_done`].
    pub(super) fn next(&mut self) -> Option<Job<'a>> {
        let job = if self.wide_runs {
            return None;
        } else if !self.wide.is_empty() {
            self.wide_runs = true;
            Job::Together(self.wide.drain(..).collect(), self.width)
        } else if !self.queue.is_empty() {
            // Large at first, small in the end, so that nobody has to wait for another's long rest.
            let share = self.queue.len().div_ceil(2 * self.workers).max(FEWEST).min(self.limit).min(self.queue.len());
            match self.queue.drain(..share).collect::<Vec<_>>() {
                one if one.len() == 1 => Job::Alone(one[0]),
                many => Job::Together(many, 1),
            }
        } else {
            Job::Alone(self.alone.pop_front()?)
        };
        self.running += 1;
        Some(job)
    }

    pub(super) fn is_done(&self) -> bool {
        self.running == 0 && self.wide.is_empty() && self.queue.is_empty() && self.alone.is_empty()
    }

    /// A launch of tests together has ended.
    pub(super) fn together_ended(&mut self, at_once: usize, ended: Ended<'a>) {
        self.running -= 1;
        let Ended { done, doubtful, rest } = ended;
        let went_through = rest.is_empty() && doubtful.is_empty();
        if at_once > 1 {
            self.wide_runs = false;
            // Which of those that ran at the same time it was shows when they run one after another.
            let got_on = done > 0 || !doubtful.is_empty();
            self.queue.extend(doubtful);
            if got_on { &mut self.wide } else { &mut self.queue }.extend(rest);
        } else {
            self.alone.extend(doubtful);
            rest.into_iter().rev().for_each(|name| self.queue.push_front(name));
            self.limit = if went_through { self.limit.saturating_mul(4) } else { (2 * done).max(1) };
        }
    }

    /// A test that was started alone has ended.
    pub(super) fn alone_ended(&mut self, passed: bool) {
        self.running -= 1;
        if passed {
            self.limit = self.limit.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a plan whose tests named `bad…` end the program; how often each was started, in all and alone.
    fn launches(names: &[&'static str], width: usize) -> (usize, Vec<&'static str>) {
        let mut plan = Plan::new(names.to_vec(), Vec::new(), width, 2);
        let (mut launches, mut results, mut alone) = (0, Vec::new(), Vec::new());
        while let Some(job) = plan.next() {
            launches += 1;
            match job {
                Job::Alone(name) => {
                    results.push(name);
                    alone.push(name);
                    plan.alone_ended(!name.starts_with("bad"));
                }
                Job::Together(names, at_once) => {
                    let bad = names.iter().position(|name| name.starts_with("bad"));
                    let begun = bad.map_or(names.len(), |at| (at + at_once).min(names.len()));
                    let done = bad.unwrap_or(names.len());
                    results.extend(&names[..done]);
                    plan.together_ended(at_once, Ended { done, doubtful: names[done..begun].to_vec(), rest: names[begun..].to_vec() });
                }
            }
        }
        assert!(plan.is_done());
        results.sort_unstable();
        let mut all = names.to_vec();
        all.sort_unstable();
        assert_eq!(results, all, "each test has one result");
        (launches, alone)
    }

    #[test]
    fn tests_that_pass_share_a_few_launches() {
        let (launches, alone) = launches(&["a"; 1000], 1);
        assert!(launches < 20, "{launches}");
        assert_eq!(alone, [""; 0]);
    }

    #[test]
    fn a_test_that_ends_the_program_is_started_alone_and_the_others_run() {
        for width in [1, 4] {
            let (_, alone) = launches(&["a", "b", "bad", "c", "d", "e", "f", "g", "h", "i", "j"], width);
            assert!(alone.contains(&"bad") && alone.len() <= 2, "{width}: {alone:?}");
        }
    }

    #[test]
    fn tests_that_all_end_the_program_cost_a_launch_or_two_each() {
        for width in [1, 4] {
            let (launches, _) = launches(&["bad"; 200], width);
            assert!(launches <= 2 * 200 + 2 * FEWEST, "{width}: {launches}");
        }
    }

    #[test]
    fn a_gpu_is_left_to_a_launch_of_many_tests() {
        let mut plan = Plan::new(vec!["a", "b"], vec!["panics"], 2, 8);
        assert_eq!(plan.next(), Some(Job::Together(vec!["a", "b"], 2)));
        assert!(plan.next().is_none() && !plan.is_done());
        plan.together_ended(2, Ended { done: 1, doubtful: vec!["b"], rest: vec![] });
        assert_eq!((plan.next(), plan.next()), (Some(Job::Alone("b")), Some(Job::Alone("panics"))));
    }

    #[test]
    fn a_launch_that_starts_nothing_ends_in_launches_of_one() {
        let mut plan = Plan::new(vec!["a", "b"], vec![], 8, 1);
        while let Some(job) = plan.next() {
            match job {
                Job::Together(names, at_once) => plan.together_ended(at_once, Ended { rest: names, ..Ended::default() }),
                Job::Alone(_) => plan.alone_ended(false),
            }
        }
        assert!(plan.is_done());
    }
}
