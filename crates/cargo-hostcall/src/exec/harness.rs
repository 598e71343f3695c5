//! Rust's test harness, whose tests run on the device, each as a process of its own.
//!
//! Panics abort on the device, and so libtest there can run one test by name and end, but not start itself again for the next: a
//! device has no processes. That part is done here: ask the harness for its list, start the image once for each test, and print what libtest would.
//! A test that crashes or hangs ends its own process and no other test.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::exec::Threads;
use crate::launch::TIMED_OUT;
use crate::options::Options;

/// By this variable libtest is told to run one test (`library/test/src/lib.rs`).
const INVOKE: &str = "__RUST_TEST_INVOKE";
/// libtest's exit code of such a run if the test did what it should (`library/test/src/test_result.rs`).
const PASSED: i32 = 50;
/// Of a run with failures, as libtest's own.
const FAILED: u8 = 101;

/// Whether this is the harness's first start: the ones that we start, and those that only ask, go to the device as they are.
pub(super) fn are_asked_for(args: &[String], options: &Options) -> bool {
    let invoked = options.variables.iter().any(|variable| variable.starts_with(INVOKE));
    !invoked && !args.iter().any(|arg| matches!(arg.as_str(), "--list" | "--help" | "-h" | "--bench"))
}

/// What of libtest's arguments concerns whoever runs tests; the others choose tests, and the harness itself reads them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    choosing: Vec<String>,
    nocapture: bool,
    show_output: bool,
    quiet: bool,
    ignored: bool,
    include_ignored: bool,
    at_once: Option<usize>,
}

impl Wanted {
    fn read(args: &[String]) -> Result<Wanted, String> {
        let mut wanted = Wanted::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let (key, joined) = word.split_once('=').map_or((word.as_str(), None), |(key, value)| (key, Some(value.to_owned())));
            let mut value = || joined.clone().or_else(|| words.next().cloned()).ok_or_else(|| format!("{key} needs a value"));
            match key {
                "--nocapture" | "--no-capture" => wanted.nocapture = true,
                "--show-output" => wanted.show_output = true,
                "-q" | "--quiet" => wanted.quiet = true,
                "--ignored" => wanted.ignored = true,
                "--include-ignored" => wanted.include_ignored = true,
                "--test-threads" => {
                    let text = value()?;
                    wanted.at_once =
                        Some(text.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("--test-threads {text}: a number from 1 on"))?);
                }
                "--format" | "--color" | "--report-time" | "--shuffle" | "--shuffle-seed" | "-Z" | "--logfile" => drop(value()?),
                "--skip" => wanted.choosing.extend(["--skip".into(), value()?]),
                "--test" => {}
                "--exact" => wanted.choosing.push(word.clone()),
                _ if word.starts_with('-') => return Err(format!("{word} is not known to tests on a device")),
                _ => wanted.choosing.push(word.clone()),
            }
        }
        Ok(wanted)
    }
}

/// One test's result.
enum Verdict {
    Ok,
    Failed(Option<String>),
}

pub(super) fn run(image: &Path, options: &Options, threads: Threads, args: &[String]) -> Outcome {
    let wanted = Wanted::read(args)?;
    let harness = Harness { image, options, threads };
    let all = harness.list(&wanted.choosing)?;
    let ignored = harness.list(&[&wanted.choosing[..], &["--ignored".into()]].concat())?;
    let total = if wanted.choosing.is_empty() { all.len() } else { harness.list(&[])?.len() };
    let chosen: Vec<&String> = all.iter().filter(|name| !wanted.ignored || ignored.contains(name)).collect();
    let runs = |name: &String| wanted.ignored || wanted.include_ignored || !ignored.contains(name);

    let started = Instant::now();
    let out = Mutex::new(io::stdout());
    let say = |text: String| {
        let mut out = out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Nobody reads any more: the tests' results still decide the exit code.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    };
    let plural = if chosen.len() == 1 { "" } else { "s" };
    say(format!("\nrunning {} test{plural}\n", chosen.len()));
    // Relaxed: it only hands out numbers; results are published by the mutex below.
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let worker = || {
        while let Some(&name) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !runs(name) {
                say(if wanted.quiet { "i".into() } else { format!("test {name} ... ignored\n") });
                continue;
            }
            let (verdict, output) = match harness.test(name, wanted.nocapture) {
                Ok(output) => (verdict(&output, options.timeout), text_of(&output)),
                Err(error) => (Verdict::Failed(Some(error.to_string())), String::new()),
            };
            let mark = match &verdict {
                Verdict::Ok if wanted.quiet => ".".into(),
                Verdict::Ok => format!("test {name} ... ok\n"),
                Verdict::Failed(_) if wanted.quiet => "F".into(),
                Verdict::Failed(_) => format!("test {name} ... FAILED\n"),
            };
            say(mark);
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((name, verdict, output));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..wanted.at_once.unwrap_or_else(at_once) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(name, ..)| *name);
    let failed: Vec<_> = results.iter().filter(|(_, verdict, _)| matches!(verdict, Verdict::Failed(_))).collect();
    say(report(&results, wanted.show_output));
    let (passed, left_out) = (results.len() - failed.len(), chosen.len() - results.len());
    say(format!(
        "\ntest result: {}. {passed} passed; {} failed; {left_out} ignored; 0 measured; {} filtered out; finished in {:.2}s\n\n",
        if failed.is_empty() { "ok" } else { "FAILED" },
        failed.len(),
        total - all.len().min(total),
        started.elapsed().as_secs_f64(),
    ));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// As many tests at once as this machine has processors; a GPU is shared by a few at most.
fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(8))
}

struct Harness<'a> {
    image: &'a Path,
    options: &'a Options,
    threads: Threads,
}

impl Harness<'_> {
    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["exec", "--quiet"]).args(self.options.to_arguments()).args(self.threads.to_arguments()).stdin(Stdio::null());
        Ok(command)
    }

    /// The names that the harness itself chooses.
    fn list(&self, choosing: &[String]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let output = self.command()?.arg("--").arg(self.image).args(["--list", "--format", "terse"]).args(choosing).output()?;
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

    fn test(&self, name: &str, nocapture: bool) -> io::Result<Output> {
        let mut command = self.command()?;
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
        Some(code) if code == i32::from(TIMED_OUT) => Verdict::Failed(timeout.map(|after| format!("timed out after {after:?}"))),
        // A panic, and `abort` as libtest ends a test that panicked where it should not, or did not where it should.
        Some(101 | 134) => Verdict::Failed(None),
        Some(code) => Verdict::Failed(Some(format!("ended with exit code {code}"))),
        None => Verdict::Failed(Some(format!("the process that ran it was killed ({})", output.status))),
    }
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// The outputs and the names of the tests that failed, as libtest writes them.
fn report(results: &[(&String, Verdict, String)], show_output: bool) -> String {
    let mut text = String::new();
    let mut section = |title: &str, chosen: &[&(&String, Verdict, String)]| {
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

    fn read(line: &str) -> Result<Wanted, String> {
        Wanted::read(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn libtests_arguments_are_told_apart() {
        let wanted = read("name --skip x --exact --test-threads=3 --nocapture -q --format pretty").expect("known");
        assert_eq!(wanted.choosing, ["name", "--skip", "x", "--exact"]);
        assert!(wanted.nocapture && wanted.quiet && !wanted.ignored);
        assert_eq!(wanted.at_once, Some(3));
        assert!(read("--test-threads 0").is_err() && read("--surprise").is_err() && read("--skip").is_err());
    }

    #[test]
    fn the_report_names_each_failed_test_with_its_output_and_the_reason() {
        let (a, b, c) = ("a".to_owned(), "b".to_owned(), "c".to_owned());
        let results = [
            (&a, Verdict::Ok, "fine\n".into()),
            (&b, Verdict::Failed(None), "panicked\n".into()),
            (&c, Verdict::Failed(Some("timed out after 1s".into())), String::new()),
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
