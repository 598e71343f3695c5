//! `cargo xtask uutils`: uutils' own tests of their tools, as they are published, against the tools as programs of a
//! device.
//!
//! The tests are built for this machine, and start whatever program they are told to. They are told of a link to this
//! one ([`stand_in`]), which starts the tools on the device. What the tests write lies in one directory, which the
//! tools are granted under its own name, so that paths mean the same on both sides. Which tests do not apply, and why,
//! is written down (`tests/suites/uutils.toml`): one that is listed and passes is as much an error as one that is not
//! and fails. Some fail with the tools themselves, depending on the machine: a test that fails and is not listed is
//! tried with those as well, and counts only if it passes then. Some have deadlines: one that counts so far is run
//! again when all others are done, by itself.
//!
//! They are no tests for the superuser, whom no permission holds: started as such, they run as `nobody`.

mod stand_in;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use crate::rust_tests::lists::{Listed, Lists};
use crate::rust_tests::{self, Outcome, Results};

pub(crate) use stand_in::act_as_tool;

/// The package, and the tools that need neither a terminal nor the users' log files.
const PACKAGE: &str = "coreutils-0.12.0";
const FEATURES: [&str; 3] = ["--no-default-features", "--features", "feat_common_core,feat_require_unix_musl"];
/// In the lists.
const TARGET: &str = "tests";
/// Seconds that a test may take.
const LIMIT: &str = "60";
/// The largest file that may be written: some tests write until they are ended.
const LARGEST: &str = "--fsize=2000000000";
/// Who runs the tests instead of the superuser.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The device: sim, cuda:N
    #[arg(long, default_value = "sim")]
    device: String,
    /// Tests at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// The `cargo-hostcall` to use, instead of building it
    #[arg(long)]
    tool: Option<PathBuf>,
    /// The tools themselves, natively, instead of those on a device, and without a list
    #[arg(long)]
    native: bool,
    /// Build nothing, but run what an earlier run has made in `hostcall-uutils` in the directory for temporary files:
    /// on another machine from a copy of it, without its `target`, by `bin/xtask`
    #[arg(long, conflicts_with = "tool")]
    made: bool,
    /// Leave there what the tests that fail print, a file for each
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Only tests whose names contain one of these
    filters: Vec<String>,
}

/// Where all of it lies: outside of this workspace, where everybody may read it.
struct Place(PathBuf);

impl Place {
    fn sources(&self) -> PathBuf {
        self.0.join(PACKAGE)
    }

    fn target(&self) -> PathBuf {
        self.0.join("target")
    }

    /// What the tests write: not below `/tmp`, which is another directory for the tools, in which there is no way to
    /// it.
    fn written(&self) -> PathBuf {
        "/var/tmp/hostcall-uutils".into()
    }

    /// What the tools write where they find no other place: their `/tmp`.
    fn elsewhere(&self) -> PathBuf {
        self.0.join("elsewhere")
    }

    /// What the tests start instead of the tools.
    fn stand_in(&self) -> PathBuf {
        self.0.join("bin/coreutils")
    }

    /// The tools themselves, natively.
    fn native(&self) -> PathBuf {
        self.0.join("bin/native/coreutils")
    }

    fn tests(&self) -> PathBuf {
        self.0.join("bin/tests")
    }

    fn lists(&self) -> PathBuf {
        self.0.join("bin/uutils.toml")
    }
}

pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let place = Place(std::env::temp_dir().join("hostcall-uutils"));
    for dir in [place.written(), place.elsewhere()] {
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir)?;
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o1777))?;
    }
    if !arguments.made {
        make(sh, arguments, &place)?;
    }
    let (lists, tests) = (Lists::read(&place.lists())?, place.tests());
    let all = names(&tests)?;
    let chosen: Vec<&str> = all.iter().map(|name| &**name).filter(|name| arguments.chooses(name)).collect();
    println!("{} tests", chosen.len());
    let began = Instant::now();
    let run = |tool: &Path, jobs, names: &[&str]| run_all(arguments, &place, tool, jobs, names);
    let (tool, device) = if arguments.native { (place.native(), "native") } else { (place.stand_in(), &*arguments.device) };
    let listed = lists.of(TARGET, device);
    let mut found = Found { first: run(&tool, arguments.jobs, &chosen)?, ..Found::default() };
    if !arguments.native {
        let unlisted: Vec<&str> = failed(&found.first).filter(|name| listed.reason(name).is_none()).collect();
        let natively = run(&place.native(), arguments.jobs, &unlisted)?;
        let again: Vec<&str> = unlisted.into_iter().filter(|name| natively[*name] != Outcome::Failed).collect();
        let second = run(&tool, 1, &again)?;
        found.natively = failed(&natively).map(str::to_owned).collect();
        found.late = second.into_iter().filter(|(_, outcome)| *outcome == Outcome::Passed).map(|(name, _)| name).collect();
    }
    found.report(arguments, &listed, device, began.elapsed().as_secs())
}

impl Arguments {
    fn chooses(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }
}

/// Those that failed.
fn failed(results: &Results) -> impl Iterator<Item = &str> {
    results.iter().filter(|(_, outcome)| **outcome == Outcome::Failed).map(|(name, _)| &**name)
}

/// Runs tests, `jobs` at a time.
fn run_all(arguments: &Arguments, place: &Place, tool: &Path, jobs: usize, names: &[&str]) -> Result<Results> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Results::new()));
    std::thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> = (0..jobs.max(1))
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    // Relaxed: each number is given once, and nothing else is told by it.
                    while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = one(arguments, place, tool, name)?;
                        results.lock().expect("nobody panics with it").insert((*name).to_owned(), outcome);
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    Ok(results.into_inner().expect("nobody panics with it"))
}

/// Makes everything that is run, outside of where cargo builds it.
fn make(sh: &Shell, arguments: &Arguments, place: &Place) -> Result<()> {
    sources(sh, place)?;
    let tests = tests(place)?;
    fs::create_dir_all(place.native().parent().expect("it has one"))?;
    fs::copy(tests, place.tests())?;
    // They were built with the tests, which would start them if they were told of no others.
    fs::copy(place.target().join("debug/coreutils"), place.native())?;
    fs::copy(crate::root().join("tests/suites/uutils.toml"), place.lists())?;
    if arguments.native {
        return Ok(());
    }
    let tool = match &arguments.tool {
        Some(tool) => std::path::absolute(tool)?,
        None => rust_tests::build_tool(sh)?,
    };
    make_tool(arguments, &tool, place)
}

/// A copy of the package's sources, which cargo fetches with other programs of the registry.
fn sources(sh: &Shell, place: &Place) -> Result<()> {
    let to = place.sources();
    if to.exists() {
        return Ok(());
    }
    cmd!(sh, "cargo fetch --locked --manifest-path tests/suites/registry-programs/Cargo.toml").run()?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registries = home.context("there is no home directory")?.join("registry/src");
    for registry in fs::read_dir(&registries).with_context(|| format!("cannot list {}", registries.display()))? {
        let from = registry?.path().join(PACKAGE);
        if from.is_dir() {
            cmd!(sh, "cp -r {from} {to}").run()?;
            return Ok(());
        }
    }
    bail!("cargo has not fetched {PACKAGE} into {}", registries.display())
}

fn cargo(place: &Place) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(place.sources()).env("CARGO_TARGET_DIR", place.target()).env_remove("RUSTFLAGS");
    command
}

/// Builds the tests for this machine: the program that has them.
fn tests(place: &Place) -> Result<PathBuf> {
    let mut command = cargo(place);
    command.args(["test", "--locked", "--no-run", "--test", "tests", "--message-format=json-render-diagnostics"]).args(FEATURES);
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "uutils' tests do not build: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    // The last artifact with a program is the tests.
    let field = text.lines().rev().find_map(|line| line.split_once("\"executable\":\"")?.1.split_once('"'));
    Ok(field.context("cargo names no program with the tests")?.0.into())
}

/// Puts what the tests start in its place.
fn make_tool(arguments: &Arguments, tool: &Path, place: &Place) -> Result<()> {
    let link = place.stand_in();
    let dir = link.parent().expect("it has one");
    let _ = fs::remove_file(&link);
    let kind = arguments.device.split(':').next().unwrap_or_default();
    let target = if kind == "cuda" { "nvptx" } else { kind };
    let mut build = Command::new(tool);
    build.args(["hostcall", "build", "-q", "--release", "--locked", "--for", target, "--target-dir"]).arg(place.target());
    let status = build.args(FEATURES).arg("-o").arg(dir).current_dir(place.sources()).status()?;
    ensure!(status.success(), "uutils' tools do not build for {kind}: {status}");
    // Both must be where everybody may start them.
    for (from, name) in [(tool, "cargo-hostcall"), (&*std::env::current_exe()?, "xtask")] {
        let to = dir.join(name);
        let _ = fs::remove_file(&to);
        fs::copy(from, to)?;
    }
    std::os::unix::fs::symlink("xtask", &link)?;
    let (written, sources) = (place.written(), place.sources());
    stand_in::Start {
        tool: dir.join("cargo-hostcall"),
        program: dir.join("coreutils.program"),
        device: arguments.device.clone(),
        grants: vec![
            format!("{0}::{0}:special", written.display()),
            format!("{0}::{0}:ro", sources.display()),
            format!("{}::/tmp", place.elsewhere().display()),
            "/dev/shm::/dev/shm:special".into(),
            "/usr/share/zoneinfo::/usr/share/zoneinfo:ro".into(),
        ],
    }
    .write(dir)
}

fn names(tests: &Path) -> Result<Vec<String>> {
    let output = Command::new(tests).arg("--list").output()?;
    ensure!(output.status.success(), "uutils' tests do not list themselves: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect())
}

fn is_superuser() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Runs one test, in a process of its own, with a tool.
fn one(arguments: &Arguments, place: &Place, tool: &Path, name: &str) -> Result<Outcome> {
    let mut words = vec!["timeout", "--kill-after=1", LIMIT, "prlimit", LARGEST];
    if is_superuser() {
        words.extend(NOBODY);
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(place.tests()).args(["--exact", name, "--nocapture"]).current_dir(place.sources());
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C").env("HOME", place.written());
    command.env("TMPDIR", place.written()).env("UUTESTS_BINARY_PATH", tool);
    let output = command.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let outcome = match output.status.success() {
        true if text.contains("; 1 ignored;") => Outcome::Ignored,
        true if text.contains("1 passed;") => Outcome::Passed,
        _ => Outcome::Failed,
    };
    if let (Outcome::Failed, Some(logs)) = (outcome, &arguments.logs) {
        fs::create_dir_all(logs)?;
        fs::write(logs.join(name.replace("::", "-")), [&*output.stdout, b"\n", &*output.stderr].concat())?;
    }
    Ok(outcome)
}

/// What came of all.
#[derive(Default)]
struct Found {
    /// Of each, when it was first run.
    first: Results,
    /// What is not listed, and fails with the tools themselves, too.
    natively: BTreeSet<String>,
    /// What is not listed, and passed when it was run again.
    late: BTreeSet<String>,
}

impl Found {
    /// Without what does not count.
    fn results(&self) -> Results {
        let late = self.late.iter().map(|name| (name.clone(), Outcome::Passed));
        self.first.clone().into_iter().filter(|(name, _)| !self.natively.contains(name)).chain(late).collect()
    }

    fn report(&self, arguments: &Arguments, listed: &Listed<'_>, device: &str, seconds: u64) -> Result<()> {
        let results = self.results();
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for name in failed(&results) {
            *reasons.entry(listed.reason(name).unwrap_or("not listed")).or_default() += 1;
        }
        let count = |wanted| results.values().filter(|outcome| **outcome == wanted).count();
        let (passed, failed, ignored) = (count(Outcome::Passed), count(Outcome::Failed), count(Outcome::Ignored));
        println!(
            "{} tests of uutils on {device}: {passed} passed, {failed} failed, {} failed natively as well, {ignored} ignored by uutils; {seconds} s",
            self.first.len(),
            self.natively.len(),
        );
        for (reason, count) in reasons {
            println!("  {count:5}  {reason}");
        }
        for (names, what) in [(&self.natively, "fails natively as well"), (&self.late, "passed when it was run again")] {
            names.iter().for_each(|name| println!("  {name} {what}"));
        }
        if arguments.native {
            return Ok(());
        }
        let problems = listed.compare(&results, !arguments.filters.is_empty());
        ensure!(problems.is_empty(), "{} are not as they should be:\n  {}", problems.len(), problems.join("\n  "));
        Ok(())
    }
}
