//! Tests that share a launch, and what libtest says of them while it runs.
//!
//! libtest runs tests in its own process if it is told to, and writes a line for every test that begins or ends. What
//! it has not said when the launch is over is known all the same: a test that began and did not end is one that ended
//! the launch, or ran beside that one.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::plan::Ended;

/// How tests are run together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Together {
    /// Tests at a time.
    pub(super) at_once: usize,
    /// The most time for each.
    pub(super) timeout: Option<Duration>,
    /// If there is such a time: how much longer the program may take until its first test begins.
    pub(super) start: Duration,
    /// Tests that are marked `#[ignore]` are run, too: what `--ignored` and `--include-ignored` ask for.
    pub(super) ignored: bool,
    /// What tests that pass write is wanted.
    pub(super) show_output: bool,
}

/// The result of one test, as far as a launch with others gives one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It passed, and wrote this.
    Ok(String),
    /// It did not end in time.
    TimedOut,
}

/// Tells libtest to run the tests itself.
pub(super) const IN_PROCESS: &str = "--force-run-in-process";

/// Time for a program to be loaded (and, from PTX, assembled) before its tests begin.
pub(super) const START: Duration = Duration::from_secs(120);

/// Time for a program to end whose tests all have ended.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waits,
    Runs(Instant),
    Done,
    /// It failed, without ending the program.
    Failed,
}

impl Together {
    /// libtest's arguments.
    fn arguments(&self, names: &[&str]) -> Vec<String> {
        let mut all: Vec<String> =
            ["-Zunstable-options", IN_PROCESS, "--format", "json", "--exact", "--test-threads"].map(String::from).to_vec();
        all.push(self.at_once.to_string());
        let flags = [("--include-ignored", self.ignored), ("--show-output", self.show_output)];
        all.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.into()));
        all.extend(names.iter().map(|name| (*name).to_owned()));
        all
    }

    /// Starts `names` with `command`, the launch without libtest's arguments, and tells `each` of results as they come.
    pub(super) fn run<'a>(&self, mut command: Command, names: &[&'a str], mut each: impl FnMut(&'a str, Said)) -> io::Result<Ended<'a>> {
        let mut child = command.args(self.arguments(names)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let lines = lines(&mut child);
        let notes = child.stderr.take().map(|mut stderr| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                // What was read before an error is all there is to say.
                let _ = stderr.read_to_end(&mut bytes);
                bytes
            })
        });
        let mut states: HashMap<&'a str, State> = names.iter().map(|name| (*name, State::Waits)).collect();
        let mut left = states.len();
        // Loading and starting take their time, and are not the tests'.
        let mut last = Instant::now() + self.start;
        loop {
            let line = match self.deadline(&states, left, last) {
                Some(deadline) => lines.recv_timeout(deadline.saturating_duration_since(Instant::now())),
                None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match line {
                Ok(line) => {
                    last = Instant::now();
                    let Some((name, event)) = read(&line) else { continue };
                    let Some((&name, state)) = states.get_key_value(&*name).map(|(name, state)| (name, *state)) else { continue };
                    let next = match (state, event) {
                        (State::Waits, Event::Started) => State::Runs(Instant::now()),
                        (State::Waits | State::Runs(_), Event::Ok(output)) => {
                            each(name, Said::Ok(output));
                            State::Done
                        }
                        (State::Waits | State::Runs(_), Event::Failed) => State::Failed,
                        _ => continue,
                    };
                    left -= usize::from(matches!(next, State::Done | State::Failed));
                    states.insert(name, next);
                }
                Err(RecvTimeoutError::Timeout) => {
                    for (&name, state) in &mut states {
                        if let (State::Runs(since), Some(timeout)) = (*state, self.timeout)
                            && since.elapsed() >= timeout
                        {
                            *state = State::Done;
                            each(name, Said::TimedOut);
                        }
                    }
                    // It may have ended by itself just now.
                    let _ = child.kill();
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = child.wait()?;
        let notes = notes.and_then(|notes| notes.join().ok()).unwrap_or_default();
        if status.success() {
            // What was refused, and statistics. What a launch wrote that ended otherwise is written again by the tests
            // that it is about.
            eprint!("{}", String::from_utf8_lossy(&notes));
        }
        let with = |wanted: fn(State) -> bool| names.iter().copied().filter(|name| states.get(name).copied().is_some_and(wanted)).collect();
        Ok(Ended {
            done: states.values().filter(|state| **state == State::Done).count(),
            doubtful: with(|state| matches!(state, State::Runs(_) | State::Failed)),
            rest: with(|state| state == State::Waits),
        })
    }

    /// Until when to wait for the next line.
    fn deadline(&self, states: &HashMap<&str, State>, left: usize, last: Instant) -> Option<Instant> {
        if left == 0 {
            return Some(last + GRACE);
        }
        let oldest = states.values().filter_map(|state| if let State::Runs(since) = state { Some(*since) } else { None }).min();
        Some(oldest.unwrap_or(last) + self.timeout?)
    }
}

/// The lines of a child's standard output, read by a thread.
fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
    }
    lines
}

/// What libtest says of a test.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Started,
    Ok(String),
    Failed,
}

/// Reads a line of `--format json`. Before it, on the same line, may be what a test wrote past the harness.
fn read(line: &str) -> Option<(String, Event)> {
    let at = line.find("{ \"type\": \"test\"")?;
    let value: Value = serde_json::from_str(line[at..].trim_end()).ok()?;
    let event = match value["event"].as_str()? {
        "started" => Event::Started,
        "ok" => Event::Ok(value["stdout"].as_str().unwrap_or_default().to_owned()),
        "failed" => Event::Failed,
        _ => return None,
    };
    Some((value["name"].as_str()?.to_owned(), event))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that says `script` in libtest's place.
    fn told(script: &str, names: &[&'static str], timeout: Option<Duration>) -> (Ended<'static>, Vec<(&'static str, Said)>) {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]);
        let mut results = Vec::new();
        let together = Together { at_once: 1, timeout, start: Duration::ZERO, ignored: false, show_output: false };
        let ended = together.run(command, names, |name, said| results.push((name, said))).expect("a shell");
        (ended, results)
    }

    const STARTS_A: &str = r#"echo '{ "type": "test", "event": "started", "name": "a" }'"#;
    const A_IS_OK: &str = r#"printf 'no newline%s\n' '{ "type": "test", "name": "a", "event": "ok", "stdout": "x\ny" }'"#;
    const STARTS_B: &str = r#"echo '{ "type": "test", "event": "started", "name": "b" }'"#;
    const B_FAILS: &str = r#"echo '{ "type": "test", "name": "b", "event": "failed", "message": "m" }'"#;

    #[test]
    fn a_launch_that_ends_early_tells_which_test_ran() {
        let script = [STARTS_A, A_IS_OK, STARTS_B, "exit 101"].join("\n");
        let (ended, results) = told(&script, &["a", "b", "c"], None);
        assert_eq!(results, [("a", Said::Ok("x\ny".into()))]);
        assert_eq!(ended, Ended { done: 1, doubtful: vec!["b"], rest: vec!["c"] });
    }

    #[test]
    fn a_failure_that_does_not_end_the_launch_is_looked_at_alone() {
        let script = [STARTS_B, B_FAILS, STARTS_A, A_IS_OK].join("\n");
        let (ended, results) = told(&script, &["a", "b"], None);
        assert_eq!(results.len(), 1);
        assert_eq!(ended, Ended { done: 1, doubtful: vec!["b"], rest: vec![] });
    }

    #[test]
    fn a_test_that_does_not_end_is_timed_out_and_the_launch_killed() {
        // Were it not killed, this test would not end either.
        let script = [STARTS_A, A_IS_OK, STARTS_B, "exec sleep 1000000"].join("\n");
        let (ended, results) = told(&script, &["a", "b", "c"], Some(Duration::from_millis(300)));
        assert_eq!(results.last(), Some(&("b", Said::TimedOut)));
        assert_eq!(ended, Ended { done: 2, doubtful: vec![], rest: vec!["c"] });
    }

    #[test]
    fn a_launch_that_begins_no_test_is_killed_as_well() {
        let (ended, results) = told("exec sleep 1000000", &["a", "b"], Some(Duration::from_millis(300)));
        assert_eq!((ended, results.len()), (Ended { done: 0, doubtful: vec![], rest: vec!["a", "b"] }, 0));
    }

    #[test]
    fn other_lines_say_nothing_of_tests() {
        for line in
            ["{ \"type\": \"suite\", \"event\": \"started\" }", "", "{ \"type\": \"test\" }", "{ \"type\": \"test\", \"event\": \"ok\""]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
