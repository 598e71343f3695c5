//! Rust's test harness, whose tests run on the device.
//!
//! Panics abort on the device, and so libtest would start itself again for each test; a device has no processes. That
//! part is done here: ask the harness for its list, start the image, and print what libtest would. Tests that are to
//! panic are started one by one. The others share launches ([`plan`]), in which libtest runs them ([`batch`]); what
//! fails there, crashes or hangs is started again by itself, and that is its result. So a test that ends the program
//! fails, and no other does.

mod batch;
mod plan;
mod wanted;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use batch::{Said, Together};
use hostcall_build::Machine;
use plan::{Job, Plan};
use wanted::Wanted;

use crate::environment::without_environment;
use crate::exec::Threads;
use crate::launch::TIMED_OUT;
use crate::options::Options;
use crate::{Outcome, cargo};

/// With this variable libtest takes its unstable options (`library/test/src/cli.rs`).
const UNSTABLE: &str = "RUSTC_BOOTSTRAP=1";
/// By this variable libtest is told to run one test (`library/test/src/lib.rs`).
const INVOKE: &str = "__RUST_TEST_INVOKE";
/// libtest's exit code of such a run if the test did what it should (`library/test/src/test_result.rs`).
const PASSED: i32 = 50;
/// Of a run with failures, as libtest's own.
const FAILED: u8 = 101;

/// Whether this is the harness's first start: the ones that we start, and those that only ask, go to the device as they
/// are.
pub(super) fn are_asked_for(args: &[OsString], options: &Options) -> bool {
    let invoked = options.variables.iter().any(|variable| variable.as_bytes().starts_with(INVOKE.as_bytes()));
    let asks = |arg: &OsString| matches!(arg.to_str(), Some("--list" | "--help" | "-h" | "--bench" | batch::IN_PROCESS));
    !invoked && !args.iter().any(asks)
}

/// One test's result.
enum Verdict {
    Ok,
    Failed(Option<String>),
}

pub(super) fn run(image: &Path, options: &Options, threads: Threads, args: &[OsString]) -> Outcome {
    let args =
        args.iter().map(|arg| arg.to_str().map(str::to_owned).ok_or_else(|| format!("{}: the names of tests are UTF-8", arg.display())));
    let wanted = Wanted::read(&args.collect::<Result<Vec<_>, _>>()?)?;
    let harness = Harness { image, options, threads };
    let all = harness.list(&wanted.choosing)?;
    let ignored = harness.list(&[&wanted.choosing[..], &["--ignored".into()]].concat())?;
    let total = if wanted.choosing.is_empty() { all.len() } else { harness.list(&[])?.len() };
    let ignored: HashSet<&str> = ignored.iter().map(String::as_str).collect();
    let chosen: Vec<&str> = all.iter().map(String::as_str).filter(|name| !wanted.ignored || ignored.contains(name)).collect();
    let (run, left_out): (Vec<&str>, Vec<&str>) =
        chosen.iter().partition(|name| wanted.ignored || wanted.include_ignored || !ignored.contains(*name));
    // What is printed as it comes belongs to one test at a time.
    let shares: HashSet<String> = if wanted.nocapture || run.len() < 2 { HashSet::new() } else { harness.sharing(&wanted.choosing)? };
    let (together, alone): (Vec<&str>, Vec<&str>) = run.iter().partition(|name| shares.contains(**name) && !wanted.is_alone(name));

    let started = Instant::now();
    let out = Mutex::new(io::stdout());
    let say = |text: String| {
        let mut out = locked(&out);
        // Nobody reads any more: the tests' results still decide the exit code.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    };
    let plural = if chosen.len() == 1 { "" } else { "s" };
    say(format!("\nrunning {} test{plural}\n", chosen.len()));
    for name in &left_out {
        say(if wanted.quiet { "i".into() } else { format!("test {name} ... ignored\n") });
    }
    let results = Mutex::new(Vec::new());
    let record = |name, verdict: Verdict, output: String| {
        say(match &verdict {
            Verdict::Ok if wanted.quiet => ".".into(),
            Verdict::Ok => format!("test {name} ... ok\n"),
            Verdict::Failed(_) if wanted.quiet => "F".into(),
            Verdict::Failed(_) => format!("test {name} ... FAILED\n"),
        });
        locked(&results).push((name, verdict, output));
    };
    let is_gpu = cargo::machine(options)? != Machine::Sim;
    let workers = if is_gpu { at_once() } else { wanted.at_once.unwrap_or_else(at_once) };
    let width = if is_gpu { wanted.at_once.unwrap_or(GPU_TESTS) } else { 1 };
    let show_output = wanted.show_output;
    let ignored = wanted.ignored || wanted.include_ignored;
    let plan = Mutex::new(Plan::new(together, alone, width, workers));
    let changed = Condvar::new();
    let worker = || {
        let mut now = locked(&plan);
        while !now.is_done() {
            let Some(job) = now.next() else {
                now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(now);
            match job {
                Job::Alone(name) => {
                    let (verdict, output) = match harness.test(name, wanted.nocapture) {
                        Ok(output) => (verdict(&output, options.timeout), text_of(&output)),
                        Err(error) => (Verdict::Failed(Some(error.to_string())), String::new()),
                    };
                    let passed = matches!(verdict, Verdict::Ok);
                    record(name, verdict, output);
                    now = locked(&plan);
                    now.alone_ended(passed);
                }
                Job::Together(names, at_once) => {
                    let together = Together { at_once, timeout: options.timeout, start: batch::START, ignored, show_output };
                    let ended = harness.tests(together, &names, |name, said| match said {
                        Said::Ok(output) => record(name, Verdict::Ok, output),
                        Said::TimedOut => record(name, Verdict::Failed(timed_out(options.timeout)), String::new()),
                    });
                    now = locked(&plan);
                    // A launch that could not even be started: alone they say why.
                    now.together_ended(at_once, ended.unwrap_or_else(|_| plan::Ended { doubtful: names, ..plan::Ended::default() }));
                }
            }
            changed.notify_all();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(worker);
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(name, ..)| *name);
    let failed: Vec<_> = results.iter().filter(|(_, verdict, _)| matches!(verdict, Verdict::Failed(_))).collect();
    say(report(&results, wanted.show_output));
    say(format!(
        "\ntest result: {}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n\n",
        if failed.is_empty() { "ok" } else { "FAILED" },
        results.len() - failed.len(),
        failed.len(),
        left_out.len(),
        total - all.len().min(total),
        started.elapsed().as_secs_f64(),
    ));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Tests that run at once in a launch on a GPU, if nothing is said: each may start threads, and all are waves of the
/// same launch.
const GPU_TESTS: usize = 16;

/// A lock that whoever panicked held protects nothing that is then wrong.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As many launches at once as this machine has processors; a GPU is shared by a few at most.
fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8))
}

struct Harness<'a> {
    image: &'a Path,
    options: &'a Options,
    threads: Threads,
}

impl Harness<'_> {
    fn command(&self, options: &Options) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        without_environment(&mut command);
        command.args(["exec", "--quiet"]).args(options.to_arguments()).args(self.threads.to_arguments()).stdin(Stdio::null());
        Ok(command)
    }

    /// The names that the harness itself chooses.
    fn list(&self, choosing: &[String]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let output = self
            .command(self.options)?
            .args(["--env", UNSTABLE, "--"])
            .arg(self.image)
            .args(["--list", "--format", "terse"])
            .args(choosing)
            .output()?;
        if !output.status.success() {
            return Err(format!("the test harness does not list its tests ({})\n{}", output.status, text_of(&output)).into());
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text
            .lines()
            .filter_map(|line| line.strip_suffix(": test").or_else(|| line.strip_suffix(": benchmark")))
            .map(str::to_owned)
            .collect())
    }

    /// Of the chosen names those of tests that are not to panic: others can do what they should without ending the
    /// program.
    fn sharing(&self, choosing: &[String]) -> Result<HashSet<String>, Box<dyn std::error::Error>> {
        let options = ["-Zunstable-options", "--exclude-should-panic"].map(String::from);
        Ok(self.list(&[choosing, &options].concat())?.into_iter().collect())
    }

    /// Tests that share a launch. Their time is looked at here, the launch's is not limited.
    fn tests<'a>(&self, together: Together, names: &[&'a str], each: impl FnMut(&'a str, Said)) -> io::Result<plan::Ended<'a>> {
        let mut command = self.command(&Options { timeout: None, ..self.options.clone() })?;
        command.args(["--env", UNSTABLE, "--"]).arg(self.image);
        together.run(command, names, each)
    }

    fn test(&self, name: &str, nocapture: bool) -> io::Result<Output> {
        let mut command = self.command(self.options)?;
        command.arg("--env").arg(format!("{INVOKE}={name}")).arg("--").arg(self.image);
        if nocapture {
            command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
        }
        command.output()
    }
}

fn verdict(output: &Output, timeout: Option<Duration>) -> Verdict {
    match output.status.code() {
        Some(PASSED) => Verdict::Ok,
        Some(code) if code == i32::from(TIMED_OUT) => Verdict::Failed(timed_out(timeout)),
        // A panic, and `abort` as libtest ends a test that panicked where it should not, or did not where it should.
        Some(101 | 134) => Verdict::Failed(None),
        Some(code) => Verdict::Failed(Some(format!("ended with exit code {code}"))),
        None => Verdict::Failed(Some(format!("the process that ran it was killed ({})", output.status))),
    }
}

fn timed_out(after: Option<Duration>) -> Option<String> {
    after.map(|after| format!("timed out after {after:?}"))
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// The outputs and the names of the tests that failed, as libtest writes them.
fn report(results: &[(&str, Verdict, String)], show_output: bool) -> String {
    let mut text = String::new();
    let mut section = |title: &str, chosen: &[&(&str, Verdict, String)]| {
        if chosen.is_empty() {
            return;
        }
        text += &format!("\n{title}:\n");
        for (name, verdict, output) in chosen {
            let why = match verdict {
                Verdict::Failed(Some(why)) => format!("{why}\n"),
                _ => String::new(),
            };
            if !output.is_empty() || !why.is_empty() {
                text += &format!("\n---- {name} stdout ----\n{output}{why}");
            }
        }
        text += &format!("\n\n{title}:\n");
        for (name, ..) in chosen {
            text += &format!("    {name}\n");
        }
    };
    let (passed, failed): (Vec<_>, Vec<_>) = results.iter().partition(|(_, verdict, _)| matches!(verdict, Verdict::Ok));
    if show_output {
        section("successes", &passed);
    }
    section("failures", &failed);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_each_failed_test_with_its_output_and_the_reason() {
        let results = [
            ("a", Verdict::Ok, "fine\n".into()),
            ("b", Verdict::Failed(None), "panicked\n".into()),
            ("c", Verdict::Failed(Some("timed out after 1s".into())), String::new()),
        ];
        let text = report(&results, false);
        assert_eq!(
            text,
            "\nfailures:\n\n---- b stdout ----\npanicked\n\n---- c stdout ----\ntimed out after 1s\n\n\nfailures:\n    b\n    c\n"
        );
        assert!(report(&results, true).starts_with("\nsuccesses:\n\n---- a stdout ----\nfine\n"));
        assert_eq!(report(&results[..1], false), "");
    }
}
