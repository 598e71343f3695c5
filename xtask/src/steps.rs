//! Steps of a long command: each has a name, and a line at the end with what it took and what it counted. One that
//! fails keeps none of the others from running; the command fails when all have run.

use std::fmt;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// The steps that have run.
#[derive(Debug)]
pub(crate) struct Steps {
    began: Instant,
    done: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    took: Duration,
    /// Processor time of the commands that it ran.
    busy: Duration,
    outcome: Result<Option<Counts>, String>,
}

/// Tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    passed: u64,
    failed: u64,
    /// Not run: those that are marked so, or were filtered out.
    skipped: u64,
}

impl Steps {
    pub(crate) fn begin() -> Steps {
        Steps { began: Instant::now(), done: Vec::new() }
    }

    /// Runs a step that counts nothing, and says whether it succeeded.
    pub(crate) fn run(&mut self, name: impl Into<String>, step: impl FnOnce() -> Result<()>) -> bool {
        self.add(name, || step().map(|()| None));
        self.done.last().is_some_and(|step| step.outcome.is_ok())
    }

    /// Runs a step that is a command, or several, with tests.
    pub(crate) fn tests(&mut self, name: impl Into<String>, commands: impl IntoIterator<Item = Command>) {
        self.add(name, || {
            let mut counts = Counts::default();
            let mut problems = Vec::new();
            for command in commands {
                if let Err(error) = count(command, &mut counts) {
                    problems.push(format!("{error:#}"));
                }
            }
            if !problems.is_empty() {
                let counted = if counts == Counts::default() { String::new() } else { format!("{counts}; ") };
                bail!("{counted}{}", problems.join("; "));
            }
            Ok(Some(counts))
        });
    }

    fn add(&mut self, name: impl Into<String>, step: impl FnOnce() -> Result<Option<Counts>>) {
        let name = name.into();
        println!("== {name}");
        let (began, before) = (Instant::now(), busy());
        let outcome = step().map_err(|error| format!("{error:#}"));
        let step = Step { name, took: began.elapsed(), busy: busy().saturating_sub(before), outcome };
        if step.outcome.is_err() {
            println!("{step}");
        }
        self.done.push(step);
    }

    /// How long a step took that has succeeded, and the processor time of its commands.
    pub(crate) fn times(&self, name: &str) -> Option<(Duration, Duration)> {
        self.done.iter().find(|step| step.name == name && step.outcome.is_ok()).map(|step| (step.took, step.busy))
    }

    /// Prints a line for each step, and fails if one has failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!("\n{self}");
        let failed = self.done.iter().filter(|step| step.outcome.is_err()).count();
        ensure!(failed == 0, "{failed} of {} steps failed", self.done.len());
        Ok(())
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.done {
            writeln!(f, "{step}")?;
        }
        write!(f, "in all  {:>6} s", self.began.elapsed().as_secs())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.outcome.is_ok() { "ok" } else { "FAILED" };
        let [took, busy] = [self.took, self.busy].map(|time| time.as_secs_f64().round());
        write!(f, "{mark:<6}  {took:>6} s, {busy:>6} s of processors  {}", self.name)?;
        match &self.outcome {
            Ok(None) => Ok(()),
            Ok(Some(counts)) => write!(f, ": {counts}"),
            Err(problem) => write!(f, ": {problem}"),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} not run")
    }
}

/// Processor time of all commands that this process has waited for; nothing where the system does not say it as Linux
/// does.
fn busy() -> Duration {
    std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| of_commands(&stat)).unwrap_or_default()
}

/// The sum of `cutime` and `cstime` (`proc_pid_stat(5)`), which are in ticks of a hundredth of a second.
fn of_commands(stat: &str) -> Option<Duration> {
    // The name, which comes second, may have any character; the state behind it is the third word.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(13).map(|word| word.parse::<u64>().ok());
    Some(Duration::from_millis((words.next()?? + words.next()??) * 10))
}

/// Runs a command whose output has test results in it, passes the output on, and adds the results.
fn count(mut command: Command, counts: &mut Counts) -> Result<()> {
    let shown = shown(&command);
    println!("$ {shown}");
    if std::io::stderr().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run `{shown}`"))?;
    let found = Mutex::new(Counts::default());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        if let Some(stderr) = stderr {
            scope.spawn(|| pass_on(stderr, std::io::stderr(), &found));
        }
        if let Some(stdout) = stdout {
            pass_on(stdout, std::io::stdout(), &found);
        }
    });
    let status = child.wait()?;
    let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    counts.add(found);
    ensure!(status.success(), "`{shown}`: {status}");
    Ok(())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

fn pass_on(from: impl Read, mut to: impl Write, found: &Mutex<Counts>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    // A read error ends the text; the exit status still tells what happened. Nor does it matter here if nobody reads.
    while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let _ = to.write_all(&line).and_then(|()| to.flush());
        if let Some(counts) = Counts::of_line(&String::from_utf8_lossy(&line)) {
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(counts);
        }
        line.clear();
    }
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// The results in a line of libtest's (`test result: ok. 5 passed; 0 failed; 1 ignored; …`), of nextest's
    /// (`Summary [ 1.0s] 12 tests run: 9 passed (1 slow), 3 failed, 104 skipped`) or of pytest's.
    fn of_line(line: &str) -> Option<Counts> {
        let line = without_colours(line);
        // (What nextest shows of a test that failed is indented, and counted by its summary.)
        let libtest = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")).map(|(_, rest)| rest.to_owned());
        let nextest =
            || line.trim_start().strip_prefix("Summary [").and_then(|rest| rest.split_once(" run: ")).map(|(_, rest)| rest.to_owned());
        let mut counts = Counts::default();
        for part in libtest.or_else(nextest).or_else(|| pytest(&line))?.split([';', ',', '(']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next().and_then(|word| word.parse::<u64>().ok()), words.next()) else { continue };
            match what {
                "passed" => counts.passed += number,
                // What is timed out has failed; "flaky", "slow" and "leaky" are among the others.
                "failed" | "timed" | "exec" | "error" | "errors" => counts.failed += number,
                "ignored" | "skipped" | "filtered" => counts.skipped += number,
                _ => {}
            }
        }
        Some(counts)
    }
}

/// The counts in the last line of pytest's: `== 2 failed, 61 passed, 1 skipped in 60.28s (0:01:00) ==`.
fn pytest(line: &str) -> Option<String> {
    let (counts, took) = line.trim_matches([' ', '=', '\n']).split_once(" in ")?;
    let is_count = |part: &str| {
        let part = part.trim().split_once(' ');
        part.is_some_and(|(number, what)| {
            number.parse::<u64>().is_ok() && ["passed", "failed", "skipped", "error", "errors"].contains(&what)
        })
    };
    (took.split('s').next()?.parse::<f64>().is_ok() && counts.split(',').any(is_count)).then(|| counts.to_owned())
}

/// The text without what sets colours: from an escape to an `m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn processor_time_of_commands_is_that_of_those_waited_for() {
        let stat = "71 (a ) b) S 1 71 71 0 -1 4194304 10 20 0 0 31 32 33 9 20 0 1 0 100 200 300";
        assert_eq!(of_commands(stat), Some(Duration::from_millis(420)));
        assert_eq!(of_commands("71 (a) S 1"), None);
        let before = busy();
        shell("i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done").status().unwrap();
        assert!(busy() > before);
    }

    #[test]
    fn results_are_read_from_every_kind_of_summary_with_and_without_colours() {
        let libtest = "test result: FAILED. 3 passed; 4 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n";
        assert_eq!(Counts::of_line(libtest), Some(Counts { passed: 3, failed: 4, skipped: 3 }));
        let nextest = "\u{1b}[32;1m     Summary\u{1b}[0m [  17.267s] \u{1b}[1m12\u{1b}[0m tests run: 9 passed (1 slow), 2 failed, 1 timed out, 104 skipped\n";
        assert_eq!(Counts::of_line(nextest), Some(Counts { passed: 9, failed: 3, skipped: 104 }));
        let pytest = "\u{1b}[31m===== \u{1b}[1m2 failed\u{1b}[0m, 61 passed, 3 skipped, 1 warning in 60.28s (0:01:00) =====\n";
        assert_eq!(Counts::of_line(pytest), Some(Counts { passed: 61, failed: 2, skipped: 3 }));
        assert_eq!(Counts::of_line("1 failed, 8 passed in 0.72s\n"), Some(Counts { passed: 8, failed: 1, skipped: 0 }));
        assert_eq!(Counts::of_line("    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out"), None);
        assert_eq!(Counts::of_line("it passed in time"), None);
        assert_eq!(Counts::of_line("        PASS [   0.1s] a test that has passed; 3 passed"), None);
    }

    #[test]
    fn a_step_that_fails_is_named_with_its_counts_and_the_later_ones_run() {
        let mut steps = Steps::begin();
        let results = |failed| format!("echo 'test result: x. 2 passed; {failed} failed; 0 ignored'; exit {failed}");
        steps.run("first", || Ok(()));
        steps.tests("second", [shell(&results(1)), shell(&results(0))]);
        steps.tests("third", [shell(&results(0)), shell(&results(0))]);
        let text = steps.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("ok ") && lines[0].ends_with(" s of processors  first"), "{text}");
        assert!(lines[1].starts_with("FAILED") && lines[1].contains("second: 4 passed, 1 failed, 0 not run; `sh -c"), "{text}");
        assert!(lines[2].starts_with("ok ") && lines[2].ends_with("third: 4 passed, 0 failed, 0 not run"), "{text}");
        assert!(steps.finish().expect_err("one failed").to_string().starts_with("1 of 3 steps failed"));
    }

    #[test]
    fn a_command_that_is_not_there_fails_its_step_only() {
        let mut steps = Steps::begin();
        steps.tests("first", [Command::new("/no/such/program")]);
        steps.run("second", || Ok(()));
        assert!(steps.to_string().contains("cannot run `/no/such/program`"));
        assert!(steps.finish().is_err());
    }
}
