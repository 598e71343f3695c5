//! `cargo xtask rust-tests`: Rust's own tests of `core`, `alloc` and `std`, from the user's rust-src, on a device.
//!
//! The tests are built where they lie, by packages of ours outside of the tree ([`layout`]), and run through `cargo
//! hostcall test`; or they are built on one machine and run on another, which has neither Rust nor its sources
//! ([`images`]). Which of them cannot do what they should on a device, and why, is written down
//! (`tests/suites/rust/*.toml`, [`lists`]). They are run all the same: one that is listed and passes is as much an
//! error as one that is not and fails.

mod images;
mod layout;
pub(crate) mod lists;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use layout::Suite;
use lists::Lists;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this suite
    #[arg(long, value_enum)]
    suite: Option<Suite>,
    /// Only this crate of tests, as the lists name it: `alloctests`, `std`, `sync`
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// The device: sim, cuda:N
    #[arg(long, default_value = "sim")]
    device: String,
    /// Seconds that a test may take
    #[arg(long, default_value_t = 120)]
    timeout: u32,
    /// The `cargo-hostcall` to use, instead of building it
    #[arg(long)]
    tool: Option<PathBuf>,
    /// Build the tests for this (sim, nvptx, cubin:sm_NN) and run nothing
    #[arg(long = "for", value_name = "TARGET", requires = "output")]
    target_device: Option<String>,
    /// Where to leave what was built: DIR/SUITE/TARGET.program.gz
    #[arg(long, value_name = "DIR", requires = "target_device")]
    output: Option<PathBuf>,
    /// Run what was left there, and build nothing
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    images: Option<PathBuf>,
    /// The directory of the lists [default: tests/suites/rust of this repository]
    #[arg(long, value_name = "DIR")]
    lists: Option<PathBuf>,
    /// Leave there what the tests of each target print
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Only tests whose names contain this
    filter: Option<String>,
}

impl Arguments {
    /// What CI runs, with a `cargo-hostcall` that is built.
    pub(crate) fn in_ci(tool: PathBuf) -> Self {
        Self {
            suite: None,
            target: None,
            device: "sim".into(),
            timeout: 120,
            tool: Some(tool),
            target_device: None,
            output: None,
            images: None,
            lists: None,
            logs: None,
            filter: None,
        }
    }

    fn lists(&self, suite: Suite) -> Result<Lists> {
        let dir = self.lists.clone().unwrap_or_else(|| super::root().join("tests/suites/rust"));
        Lists::read(&dir.join(format!("{}.toml", suite.name())))
    }

    /// Whether a target was chosen.
    fn wants(&self, target: &str) -> bool {
        self.target.as_deref().is_none_or(|wanted| wanted == target)
    }
}

/// The results of tests by name.
pub(crate) type Results = BTreeMap<String, Outcome>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// By Rust's own `#[ignore]`, which may depend on the target and on how panics end.
    Ignored,
}

/// A crate of tests, as the lists call it, or a part of one, and the command that runs them, to which libtest's
/// arguments are added.
struct Runnable {
    target: String,
    command: Command,
}

pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let tool = match &arguments.tool {
        Some(tool) => std::path::absolute(tool)?,
        None => build_tool(sh)?,
    };
    let suites = arguments.suite.map_or_else(|| vec![Suite::Core, Suite::Alloc, Suite::Std], |suite| vec![suite]);
    let one = |suite: &Suite| run_one(&tool, arguments, *suite);
    // Beside one another, since each is built by one processor for most of the time. A GPU they would take from each
    // other.
    let found: Vec<Result<Vec<String>>> = if arguments.device.starts_with("sim") && arguments.target_device.is_none() {
        std::thread::scope(|scope| {
            let suites: Vec<_> = suites.iter().map(|suite| scope.spawn(move || one(suite))).collect();
            suites.into_iter().map(|suite| suite.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    } else {
        suites.iter().map(one).collect()
    };
    let problems = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{} are not as they should be:\n  {}", problems.len(), problems.join("\n  "))
}

/// Builds or runs a suite: what is not as listed.
fn run_one(tool: &Path, arguments: &Arguments, suite: Suite) -> Result<Vec<String>> {
    let lists = arguments.lists(suite)?;
    if let (Some(target), Some(dir)) = (&arguments.target_device, &arguments.output) {
        return images::build(tool, arguments, suite, &lists, target, dir);
    }
    let Some(dir) = &arguments.images else {
        let parts = arguments.device.starts_with("cuda");
        let place = place(suite, parts);
        let targets = layout::write(suite, &lists, &arguments.device, &place, parts)?;
        let chosen = targets.iter().filter(|target| arguments.wants(&target.name));
        let runnable = chosen.map(|target| Runnable { target: target.name.clone(), command: test(tool, arguments, &place, target) });
        return run_suite(arguments, suite, &lists, runnable.collect());
    };
    let unpacked = Shell::new()?.create_temp_dir()?;
    let all = images::unpack(dir, suite, unpacked.path(), |target| arguments.wants(target))?;
    fs::create_dir_all(unpacked.path().join("root/tmp"))?;
    let runnable = all.into_iter().map(|(target, image)| {
        let mut command = hostcall(tool, "exec", arguments, unpacked.path());
        command.arg("--quiet").arg("--").arg(image).args(&arguments.filter);
        Runnable { target, command }
    });
    run_suite(arguments, suite, &lists, runnable.collect())
}

/// Where a suite is built.
fn place(suite: Suite, parts: bool) -> PathBuf {
    super::target_directory().join("rust-tests").join(suite.directory(parts))
}

/// Runs all tests of a suite and reports; what is not as listed.
fn run_suite(arguments: &Arguments, suite: Suite, lists: &Lists, all: Vec<Runnable>) -> Result<Vec<String>> {
    let began = Instant::now();
    let (mut results, mut problems) = (Results::new(), Vec::new());
    let mut targets: BTreeMap<String, (Results, String)> = BTreeMap::new();
    for (number, Runnable { target, mut command }) in all.into_iter().enumerate() {
        let listed = lists.of(&target, &arguments.device);
        // They would end launches that others share.
        command.args(listed.failing().flat_map(|name| ["--alone", name]));
        command.args(listed.never().flat_map(|name| ["--skip", name])).args(listed.never().next().map(|_| "--exact"));
        let log = match &arguments.logs {
            Some(dir) => {
                fs::create_dir_all(dir)?;
                Some(dir.join(format!("{}-{number:02}-{target}.log", suite.name())))
            }
            None => None,
        };
        let (found, text) = match run_target(command, log.as_deref()) {
            Ok(run) => run,
            Err(error) => {
                problems.push(format!("{}/{target}: {error:#}", suite.name()));
                continue;
            }
        };
        let of_target = targets.entry(target).or_default();
        of_target.0.extend(found);
        of_target.1 += &text;
    }
    // What is said of a suite stays together.
    let _together = std::io::stdout().lock();
    for (target, (found, text)) in &targets {
        for problem in lists.of(target, &arguments.device).compare(found, arguments.filter.is_some()) {
            let name = problem.split(' ').next().unwrap_or_default();
            println!("{}/{target}: {problem}\n{}", suite.name(), output_of(text, name));
            problems.push(format!("{}/{target}: {problem}", suite.name()));
        }
        results.extend(found.iter().map(|(name, outcome)| (format!("{target}/{name}"), *outcome)));
    }
    let targets = targets.into_keys().collect();
    report(suite, lists, arguments, &targets, &results, began.elapsed().as_secs());
    Ok(problems)
}

/// The command line program, without GPU images of its own demonstrations.
pub(crate) fn build_tool(sh: &Shell) -> Result<PathBuf> {
    cmd!(sh, "cargo build --quiet --package cargo-hostcall").run()?;
    Ok(super::target_directory().join("debug/cargo-hostcall"))
}

/// `cargo hostcall VERB`, with what the tests are granted: a directory in `place` and the network, which those of files
/// and sockets use; others do not notice.
fn hostcall(tool: &Path, verb: &str, arguments: &Arguments, place: &Path) -> Command {
    let mut command = Command::new(tool);
    command.args(["hostcall", verb, "--device", &arguments.device, "--timeout", &arguments.timeout.to_string()]);
    command.arg("--net").arg("--dir").arg(format!("{}::/:special", place.join("root").display()));
    command
}

/// What builds and runs a target's tests.
fn test(tool: &Path, arguments: &Arguments, place: &Path, target: &layout::Target) -> Command {
    let mut command = hostcall(tool, "test", arguments, place);
    command.args(&target.selection).args(&arguments.filter).arg("--");
    builds(&mut command, place, target);
    command
}

/// How cargo is to build a target.
fn builds(command: &mut Command, place: &Path, target: &layout::Target) {
    command.current_dir(place);
    // Cargo's own variables of whoever runs us would choose another toolchain, or place.
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC", "RUSTUP_TOOLCHAIN", "CARGO"] {
        command.env_remove(name);
    }
    command.env("CARGO_TARGET_DIR", place.join("target")).env("RUSTFLAGS", &target.flags);
}

/// Runs one target's tests: their results, and all that was written, which is also in `log` as it comes.
fn run_target(mut command: Command, log: Option<&Path>) -> Result<(Results, String)> {
    command.stdin(Stdio::null());
    let (status, text, notes) = if let Some(log) = log {
        let file = fs::File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
        command.stdout(file.try_clone()?).stderr(file);
        let status = command.status()?;
        (status, String::from_utf8_lossy(&fs::read(log)?).into_owned(), String::new())
    } else {
        let output = command.output()?;
        let [text, notes] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status, text, notes)
    };
    if !text.contains("\ntest result: ") {
        bail!("the tests did not run to their end ({status}):\n{text}\n{notes}");
    }
    let results = parse(&text);
    ensure!(!results.is_empty() || text.contains("running 0 tests"), "no result can be read from:\n{text}");
    Ok((results, text))
}

/// The most lines of a failed test's output that are shown.
const LINES: usize = 30;

/// What a test that failed wrote.
fn output_of(text: &str, name: &str) -> String {
    let begin = format!("---- {name} stdout ----");
    let lines = text.lines().skip_while(|line| *line != begin).take_while(|line| *line == begin || !line.starts_with("---- "));
    lines.take_while(|line| *line != "failures:").take(LINES).map(|line| format!("    {line}\n")).collect()
}

/// Reads libtest's lines.
pub(crate) fn parse(text: &str) -> Results {
    let line = |line: &str| {
        let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let outcome = match outcome {
            "ok" => Outcome::Passed,
            "FAILED" => Outcome::Failed,
            "ignored" => Outcome::Ignored,
            _ => return None,
        };
        // libtest adds to the name that a test is to panic.
        Some((name.strip_suffix(" - should panic").unwrap_or(name).to_owned(), outcome))
    };
    text.lines().filter_map(line).collect()
}

fn report(suite: Suite, lists: &Lists, arguments: &Arguments, targets: &BTreeSet<String>, results: &Results, seconds: u64) {
    let device = &*arguments.device;
    let count = |wanted: Outcome| results.values().filter(|outcome| **outcome == wanted).count();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut expected = BTreeSet::new();
    for (target, name) in results.iter().filter(|(_, outcome)| **outcome == Outcome::Failed).filter_map(|(key, _)| key.split_once('/')) {
        if let Some(reason) = lists.of(target, device).reason(name) {
            *reasons.entry(reason).or_default() += 1;
            expected.insert((target, name));
        }
    }
    let never = lists.never(device, targets);
    // Of which target they are is not said.
    let cut = if arguments.target.is_none() { lists.cut(device) } else { Vec::new() };
    let failed = count(Outcome::Failed) - expected.len();
    println!(
        "{}: {} tests on {device}: {} passed, {} do not apply, {} ignored by Rust, {failed} failed; {seconds} s",
        suite.name(),
        results.len() + never.len() + cut.len(),
        count(Outcome::Passed),
        expected.len() + never.len() + cut.len(),
        count(Outcome::Ignored),
    );
    for reason in never.iter().chain(&cut) {
        *reasons.entry(reason).or_default() += 1;
    }
    for (reason, count) in reasons {
        println!("  {count:5}  {reason}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_test_is_found() {
        let text = "failures:\n\n---- a stdout ----\nof a\n---- b stdout ----\nof b\n\n\nfailures:\n    a\n";
        assert_eq!(output_of(text, "a"), "    ---- a stdout ----\n    of a\n");
        assert!(output_of(text, "b").ends_with("of b\n    \n    \n") && output_of(text, "c").is_empty());
    }

    #[test]
    fn libtests_lines_are_read() {
        let results =
            parse("\nrunning 3 tests\ntest a::b ... ok\ntest c - should panic ... FAILED\ntest d ... ignored\ntest result: ok. 1\n");
        let expected = [("a::b", Outcome::Passed), ("c", Outcome::Failed), ("d", Outcome::Ignored)];
        assert_eq!(results, expected.map(|(name, outcome)| (name.to_owned(), outcome)).into());
    }
}
