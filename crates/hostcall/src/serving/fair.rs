//! A queue of jobs that is fair among programs.
//!
//! Each program has a queue of its own. The next job is one of the program that has used the least time of threads so
//! far. Among those that have used as much they take turns. Who had nothing to do has saved nothing up: it begins with
//! the time of the program that came last. How many jobs of a program run at a time is bounded by what others leave
//! free, so that somebody who comes later finds something free:
//!
//! * A program runs at most [`most`](Fair::new) jobs. There is room for twice as many, so a program that is alone runs
//!   all that it may.
//! * It runs at most as many as there is room left for. A second program that wants all it may have gets half of the
//!   rest, a third one half of what is then left, and so on.
//! * It always runs one. Whatever others do, nobody waits for them alone.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use crate::tenant::Number;

/// The most time by which a program that used it is behind others: a job may have waited for something for hours.
const LAG: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Program<J> {
    jobs: VecDeque<J>,
    running: usize,
    /// The time that its jobs have taken, and what it began with.
    used: Duration,
    /// It is forgotten when nothing of it is left.
    ended: bool,
}

impl<J> Default for Program<J> {
    fn default() -> Self {
        Self { jobs: VecDeque::new(), running: 0, used: Duration::ZERO, ended: false }
    }
}

/// Jobs, and how many of them run.
#[derive(Debug)]
pub(super) struct Fair<J> {
    programs: HashMap<Number, Program<J>>,
    /// The programs that have jobs in their queues. The first one's turn is next.
    turns: VecDeque<Number>,
    /// What the program had used whose job began last.
    used: Duration,
    running: usize,
    most: usize,
}

impl<J> Fair<J> {
    /// With at most so many jobs of a program that run at a time; one at least.
    pub(super) fn new(most: usize) -> Self {
        Self { programs: HashMap::new(), turns: VecDeque::new(), used: Duration::ZERO, running: 0, most: most.max(1) }
    }

    /// The most jobs that can run at a time: those for which there is room, one of each program, and one of a program
    /// that has none yet.
    pub(super) fn room(&self) -> usize {
        (2 * self.most).saturating_add(self.programs.len() + 1)
    }

    /// Jobs that run, jobs that wait, and the most of one program that run at a time.
    pub(super) fn fill(&self) -> (usize, usize, usize) {
        (self.running, self.programs.values().map(|program| program.jobs.len()).sum(), self.most)
    }

    /// Queues a job of a program, which may have ended.
    pub(super) fn push(&mut self, number: Number, ended: bool, job: J) {
        let program = self.programs.entry(number).or_default();
        program.ended |= ended;
        if program.jobs.is_empty() && program.running == 0 {
            program.used = program.used.max(self.used);
        }
        program.jobs.push_back(job);
        if program.jobs.len() == 1 {
            self.turns.push_back(number);
        }
    }

    /// The next job that may run now, and its program: it then runs until [`Fair::finished`].
    pub(super) fn next(&mut self) -> Option<(Number, J)> {
        let share = self.most.min((2 * self.most).saturating_sub(self.running)).max(1);
        let may_run = |(turn, number)| {
            let program: &Program<J> = self.programs.get(number)?;
            (program.running < share).then_some((turn, program.used))
        };
        let (turn, used) = self.turns.iter().enumerate().filter_map(may_run).min_by_key(|(_, used)| *used)?;
        // Those that have to wait keep their turns.
        let number = self.turns.remove(turn)?;
        let program = self.programs.get_mut(&number)?;
        let job = program.jobs.pop_front()?;
        program.running += 1;
        self.running += 1;
        self.used = self.used.max(used);
        if !program.jobs.is_empty() {
            self.turns.push_back(number);
        }
        Some((number, job))
    }

    /// A job of this program runs no more, for which a thread took so long.
    pub(super) fn finished(&mut self, number: Number, took: Duration) {
        self.running -= 1;
        if let Some(program) = self.programs.get_mut(&number) {
            program.running -= 1;
            program.used = (program.used + took).min(self.used + LAG).max(program.used);
            self.tidy(number);
        }
    }

    /// A program has ended: takes out of its queue what is not to be done any more.
    pub(super) fn let_go(&mut self, number: Number, mut is_over: impl FnMut(&J) -> bool) -> VecDeque<J> {
        let Some(program) = self.programs.get_mut(&number) else { return VecDeque::new() };
        program.ended = true;
        let (over, left) = std::mem::take(&mut program.jobs).into_iter().partition(|job| is_over(job));
        program.jobs = left;
        if program.jobs.is_empty() {
            self.turns.retain(|turn| *turn != number);
        }
        self.tidy(number);
        over
    }

    /// Takes everything out of all queues.
    pub(super) fn take_all(&mut self) -> Vec<J> {
        self.turns.clear();
        self.programs.values_mut().flat_map(|program| std::mem::take(&mut program.jobs)).collect()
    }

    fn tidy(&mut self, number: Number) {
        let is_over = |program: &Program<J>| program.ended && program.running == 0 && program.jobs.is_empty();
        if self.programs.get(&number).is_some_and(is_over) {
            self.programs.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::Tenant;

    fn numbers<const N: usize>() -> [Number; N] {
        std::array::from_fn(|_| Tenant::new().number())
    }

    /// Starts all that may run: how many jobs of each program.
    fn start<const N: usize>(fair: &mut Fair<u32>, programs: [Number; N]) -> [usize; N] {
        let mut started = [0; N];
        while let Some((number, _)) = fair.next() {
            started[programs.iter().position(|program| *program == number).unwrap()] += 1;
        }
        started
    }

    #[test]
    fn programs_take_turns_however_many_jobs_one_of_them_has() {
        let (mut fair, [hostile, honest]) = (Fair::new(1), numbers());
        (0..1000).for_each(|job| fair.push(hostile, false, job));
        let (first, _) = fair.next().unwrap();
        (0..3).for_each(|job| fair.push(honest, false, job));
        assert_eq!((first, fair.next()), (hostile, Some((honest, 0))), "it waits for nobody");
        let mut order = Vec::new();
        for running in [hostile, honest, hostile, honest, hostile, honest] {
            fair.finished(running, Duration::ZERO);
            order.extend(fair.next().map(|(number, _)| number));
        }
        assert_eq!(order, [hostile, honest, hostile, honest, hostile], "there is one thread for each, and the honest one is through");
    }

    /// One thread runs all jobs, of which each program's take so long: in which order programs have turns.
    fn order<const N: usize>(fair: &mut Fair<u32>, programs: [(Number, Duration); N], turns: usize) -> Vec<usize> {
        let place = |number| programs.iter().position(|(program, _)| *program == number).unwrap();
        let mut run = || {
            let program = place(fair.next()?.0);
            fair.finished(programs[program].0, programs[program].1);
            Some(program)
        };
        (0..turns).map_while(|_| run()).collect()
    }

    #[test]
    fn a_program_whose_jobs_take_long_has_fewer_turns_than_one_whose_jobs_are_short() {
        let (mut fair, [hostile, honest]) = (Fair::new(8), numbers());
        (0..100).for_each(|job| [hostile, honest].into_iter().for_each(|program| fair.push(program, false, job)));
        let programs = [(hostile, Duration::from_millis(9)), (honest, Duration::from_millis(1))];
        let turns = order(&mut fair, programs, 50);
        assert_eq!(turns.iter().filter(|program| **program == 0).count(), 5, "{turns:?}");
    }

    #[test]
    fn nobody_saves_up_time_and_nobody_owes_more_than_a_little() {
        let (mut fair, [busy, late, slow]) = (Fair::new(8), numbers());
        let ms = Duration::from_millis;
        (0..1000).for_each(|job| fair.push(busy, false, job));
        order(&mut fair, [(busy, ms(10))], 100);
        // A program that had nothing to do for all that time.
        (0..1000).for_each(|job| fair.push(late, false, job));
        let turns = order(&mut fair, [(busy, ms(10)), (late, ms(10))], 20);
        assert_eq!(turns.iter().filter(|program| **program == 0).count(), 10, "{turns:?}");
        // One whose job has waited for an hour.
        (0..1000).for_each(|job| fair.push(slow, false, job));
        let (first, _) = fair.next().unwrap();
        fair.finished(first, if first == slow { ms(3_600_000) } else { ms(10) });
        let turns = order(&mut fair, [(busy, ms(10)), (late, ms(10)), (slow, ms(3_600_000))], 100);
        assert!(turns.iter().filter(|program| **program == 2).count() > 1, "{turns:?}");
    }

    #[test]
    fn a_program_that_is_alone_runs_all_that_it_may_and_others_always_find_room() {
        let (mut fair, programs) = (Fair::new(8), numbers::<6>());
        let push = |fair: &mut Fair<u32>, program| (0..100).for_each(|job| fair.push(programs[program], false, job));
        push(&mut fair, 0);
        assert_eq!(start(&mut fair, programs), [8, 0, 0, 0, 0, 0]);
        for (program, room) in [(1, 4), (2, 2), (3, 1), (4, 1), (5, 1)] {
            push(&mut fair, program);
            let started = start(&mut fair, programs);
            assert_eq!((started[program], started.iter().sum::<usize>()), (room, room), "program {program}");
        }
        assert!(fair.running <= fair.room());
        // What ends makes room for those that have least, not for the one that had most.
        (0..8).for_each(|_| fair.finished(programs[0], Duration::ZERO));
        let started = start(&mut fair, programs);
        assert!(started.iter().skip(1).sum::<usize>() >= started[0], "{started:?}");
    }

    #[test]
    fn there_is_room_for_twice_the_most_and_one_of_each_program_and_of_one_more() {
        let (mut fair, [one, other]) = (Fair::new(8), numbers());
        assert_eq!(fair.room(), 17);
        [one, other].into_iter().for_each(|program| fair.push(program, false, 0));
        assert_eq!(fair.room(), 19);
        assert_eq!(Fair::<u32>::new(usize::MAX / 2).room(), usize::MAX, "nothing overflows");
    }

    #[test]
    fn a_program_that_ended_before_its_job_came_is_forgotten_with_it_and_others_keep_their_turns() {
        let (mut fair, [gone, other, late]) = (Fair::new(2), numbers());
        fair.push(gone, false, 1);
        fair.push(other, false, 2);
        fair.push(late, true, 3);
        assert_eq!(fair.let_go(gone, |_| true), [1]);
        assert_eq!((fair.next(), fair.next()), (Some((other, 2)), Some((late, 3))));
        [other, late].into_iter().for_each(|program| fair.finished(program, Duration::ZERO));
        assert!(fair.programs.len() == 1 && fair.programs.contains_key(&other));
    }

    #[test]
    fn only_a_program_that_had_nothing_to_do_begins_with_what_others_have_used() {
        let (mut fair, [program]) = (Fair::new(2), numbers());
        let ms = Duration::from_millis;
        fair.used = ms(100);
        fair.push(program, false, 1);
        assert_eq!((fair.programs[&program].used, fair.next()), (ms(100), Some((program, 1))));
        fair.used = ms(200);
        fair.push(program, false, 2);
        assert_eq!(fair.programs[&program].used, ms(100), "a job of it runs");
        assert_eq!(fair.next(), Some((program, 2)));
    }

    #[test]
    fn a_program_that_has_ended_leaves_nothing_but_what_is_to_be_done_all_the_same() {
        let (mut fair, [ended, other]) = (Fair::new(2), numbers());
        (0..10).for_each(|job| fair.push(ended, false, job));
        fair.push(other, false, 77);
        let (_, running) = fair.next().unwrap();
        assert_eq!(fair.let_go(ended, |job| job % 2 == 0), [2, 4, 6, 8]);
        assert_eq!(start(&mut fair, [ended, other]), [1, 1]);
        assert_eq!(running, 0);
        // One that comes late.
        fair.push(ended, true, 11);
        (0..2).for_each(|_| fair.finished(ended, Duration::ZERO));
        while let Some((number, _)) = fair.next() {
            fair.finished(number, Duration::ZERO);
        }
        fair.finished(other, Duration::ZERO);
        assert_eq!((fair.running, fair.programs.len(), fair.turns.len()), (0, 1, 0), "of the other one it still knows");
        assert!(fair.let_go(other, |_| true).is_empty() && fair.programs.is_empty());
    }

    #[test]
    fn what_a_queue_has_to_do_is_told_as_what_runs_what_waits_and_the_most_that_may_run() {
        let (mut fair, [one, other]) = (Fair::new(8), numbers());
        (0..3).for_each(|job| fair.push(one, false, job));
        (0..2).for_each(|job| fair.push(other, false, job));
        assert!(fair.next().is_some() && fair.next().is_some());
        assert_eq!(fair.fill(), (2, 3, 8));
    }
}
