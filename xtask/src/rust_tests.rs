//! `cargo xtask rust-tests`: Rust's own tests of `core`, `alloc` and `std`, from the user's rust-src, on a device.
//!
//! The tests are built where they lie, by packages of ours outside of the tree ([`layout`]), and run through `cargo hostcall test`. Which of them cannot do
//! what they should on a device, and why, is written down (`tests/rust-suites/*.toml`, [`lists`]). They are run all the same: one that is listed and passes
//! is as much an error as one that is not and fails.

mod layout;
mod lists;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use layout::{Suite, Target};
use lists::Lists;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this suite
    #[arg(long, value_enum)]
    suite: Option<Suite>,
    /// The device: sim, cuda:N
    #[arg(long, default_value = "sim")]
    device: String,
    /// Seconds that a test may take
    #[arg(long, default_value_t = 120)]
    timeout: u32,
    /// The `cargo-hostcall` to use, instead of building it
    #[arg(long)]
    tool: Option<PathBuf>,
    /// Build the tests and do not run them; say where the images are
    #[arg(long)]
    no_run: bool,
    /// Only tests whose names contain this
    filter: Option<String>,
}

impl Arguments {
    /// What CI runs, with a `cargo-hostcall` that is built.
    pub(crate) fn in_ci(tool: PathBuf) -> Self {
        Self { suite: None, device: "sim".into(), timeout: 120, tool: Some(tool), no_run: false, filter: None }
    }
}

/// The results of tests by name.
type Results = BTreeMap<String, Outcome>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// By Rust's own `#[ignore]`, which may depend on the target and on how panics end.
    Ignored,
}

pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let tool = match &arguments.tool {
        Some(tool) => tool.clone(),
        None => build_tool(sh)?,
    };
    let suites = arguments.suite.map_or_else(|| vec![Suite::Core, Suite::Alloc, Suite::Std], |suite| vec![suite]);
    let mut problems = Vec::new();
    for suite in suites {
        let lists = Lists::read(&super::root().join(format!("tests/rust-suites/{}.toml", suite.name())))?;
        let place = super::target_directory().join("rust-tests").join(suite.name());
        let targets = layout::write(suite, &lists, &place)?;
        if arguments.no_run {
            for target in &targets {
                let status = cargo_hostcall(&tool, arguments, &place, target).arg("--no-run").status()?;
                ensure!(status.success(), "{} of {} does not build", target.name, suite.name());
            }
            continue;
        }
        let began = Instant::now();
        let mut results = Results::new();
        for target in &targets {
            let listed = lists.of(&target.name, &arguments.device);
            let mut command = cargo_hostcall(&tool, arguments, &place, target);
            command.args(&arguments.filter).arg("--");
            command.args(listed.never().flat_map(|name| ["--skip", name])).args(listed.never().next().map(|_| "--exact"));
            let (found, text) = run_target(command).with_context(|| format!("{} of {}", target.name, suite.name()))?;
            for problem in listed.compare(&found, arguments.filter.is_some()) {
                let name = problem.split(' ').next().unwrap_or_default();
                println!("{}/{}: {problem}\n{}", suite.name(), target.name, output_of(&text, name));
                problems.push(format!("{}/{}: {problem}", suite.name(), target.name));
            }
            results.extend(found.into_iter().map(|(name, outcome)| (format!("{}/{name}", target.name), outcome)));
        }
        report(suite, &lists, &arguments.device, &results, began.elapsed().as_secs());
    }
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{} tests are not as tests/rust-suites says:\n  {}", problems.len(), problems.join("\n  "))
}

/// The command line program, without GPU images of its own demonstrations.
fn build_tool(sh: &Shell) -> Result<PathBuf> {
    cmd!(sh, "cargo build --quiet --package cargo-hostcall").run()?;
    Ok(super::target_directory().join("debug/cargo-hostcall"))
}

fn cargo_hostcall(tool: &Path, arguments: &Arguments, place: &Path, target: &Target) -> Command {
    let mut command = Command::new(tool);
    command.args(["hostcall", "test", "--device", &arguments.device, "--timeout", &arguments.timeout.to_string()]);
    // What the tests of files and sockets use; other tests do not notice.
    command.arg("--net").arg("--dir").arg(format!("{}::/", place.join("root").display()));
    command.args(&target.selection).current_dir(place);
    // Cargo's own variables of whoever runs us would choose another toolchain, or place.
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC", "RUSTUP_TOOLCHAIN", "CARGO"] {
        command.env_remove(name);
    }
    command.env("CARGO_TARGET_DIR", place.join("target")).env("RUSTFLAGS", &target.flags);
    command
}

/// Runs one target's tests: their results, and all that was written.
fn run_target(mut command: Command) -> Result<(Results, String)> {
    let output = command.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.contains("\ntest result: ") {
        bail!("the tests did not run to their end ({}):\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
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
fn parse(text: &str) -> Results {
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

fn report(suite: Suite, lists: &Lists, device: &str, results: &Results, seconds: u64) {
    let count = |wanted: Outcome| results.values().filter(|outcome| **outcome == wanted).count();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut expected = BTreeSet::new();
    for (target, name) in results.iter().filter(|(_, outcome)| **outcome == Outcome::Failed).filter_map(|(key, _)| key.split_once('/')) {
        if let Some(reason) = lists.of(target, device).reason(name) {
            *reasons.entry(reason).or_default() += 1;
            expected.insert((target, name));
        }
    }
    let never = lists.never(device);
    let cut = lists.cut();
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
