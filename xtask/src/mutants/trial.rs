//! Tests, each in a process of its own: which switches it reaches, and whether it notices one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::tree::Program;

/// A broken rule may write without end, or ask for memory without end: 16 GiB of addresses, files of 1 GiB. What the
/// test started ends with it; its status is told before, since the shell ends, too.
const SHELL: &str = "ulimit -v 16777216; ulimit -f 2097152; ulimit -c 0; \"$0\" \"$@\" >/dev/null 2>&1; echo $?; kill -KILL 0";

/// A test, as it was with no rule broken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Test {
    /// The program's and its own.
    pub(super) name: String,
    pub(super) program: usize,
    own: String,
    milliseconds: u64,
    /// The switches that it reaches.
    pub(super) reached: BTreeSet<usize>,
}

impl Test {
    /// How long it may run with a rule broken, before it hangs.
    fn limit(&self) -> Duration {
        Duration::from_millis(5 * self.milliseconds) + Duration::from_secs(6)
    }
}

/// How a run of a test ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    Hung,
}

/// How the tests take a broken rule.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) enum Outcome {
    /// This test fails.
    Caught(String),
    /// This test hangs.
    Timeout(String),
    /// So many tests reach it, and pass.
    Missed(usize),
}

/// Does `work` with each item, so many at a time, and gives each worker a folder of its own for temporary files.
pub(super) fn spread<T: Send>(jobs: usize, items: Vec<T>, work: impl Fn(T, &Path) -> Result<()> + Sync) -> Result<()> {
    let queue = Mutex::new(items.into_iter());
    let worker = |number: usize| {
        let folder = Folder::new(number)?;
        loop {
            let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some(item) = next else { return Ok(()) };
            work(item, &folder.0)?;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|number| scope.spawn(move || worker(number))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// A folder for temporary files, removed at the end. Its path is short: sockets have names of at most 108 bytes.
struct Folder(PathBuf);

impl Folder {
    fn new(worker: usize) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("hm{}-{worker}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays there is temporary.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// All tests of the programs that pass, with what each of two runs reaches of `switches` switches, and how long the
/// longer one takes.
pub(super) fn record(programs: &[Program], switches: usize, jobs: usize) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for (program, Program { name, file, directory }) in programs.iter().enumerate() {
        let listed = Command::new(file).args(["--list", "--format", "terse"]).current_dir(directory).output()?;
        ensure!(listed.status.success(), "{name} does not list its tests");
        let listed = String::from_utf8(listed.stdout)?;
        for own in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
            let (name, own) = (format!("{name} {own}"), own.to_owned());
            tests.push(Test { name, program, own, milliseconds: 0, reached: BTreeSet::new() });
        }
    }
    let passed = Mutex::new(Vec::new());
    spread(jobs, tests, |mut test, folder| {
        let map = folder.with_extension("reached");
        for _ in 0..2 {
            fs::write(&map, vec![0; switches])?;
            let started = Instant::now();
            let limit = Duration::from_secs(150);
            let end = run(&programs[test.program], &test, ("HOSTCALL_MUTANTS_REACHED", &map.to_string_lossy()), limit, folder)?;
            if end != End::Passed {
                println!("{} fails with no rule broken, and is left out", test.name);
                return Ok(());
            }
            test.milliseconds = test.milliseconds.max(started.elapsed().as_millis() as u64);
            test.reached.extend(fs::read(&map)?.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(number, _)| number));
            if test.reached.is_empty() {
                break;
            }
        }
        fs::remove_file(&map)?;
        passed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(test);
        Ok(())
    })?;
    let mut tests = passed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    tests.sort_by(|a, b| (a.milliseconds, &a.name).cmp(&(b.milliseconds, &b.name)));
    Ok(tests)
}

/// Breaks one rule for those of `tests` that reach it, that of the name `first` before the others in their order, until
/// one notices: fails or hangs twice, because a test may fail or hang once on a busy machine.
pub(super) fn attempt(programs: &[Program], tests: &[Test], number: usize, first: Option<&str>, folder: &Path) -> Result<Outcome> {
    let mut reaching: Vec<&Test> = tests.iter().filter(|test| test.reached.contains(&number)).collect();
    reaching.sort_by_key(|test| Some(test.name.as_str()) != first);
    for test in &reaching {
        let try_for = |limit| run(&programs[test.program], test, ("HOSTCALL_MUTANT", &number.to_string()), limit, folder);
        if try_for(test.limit())? == End::Passed {
            continue;
        }
        match try_for(2 * test.limit())? {
            End::Passed => {}
            End::Failed => return Ok(Outcome::Caught(test.name.clone())),
            End::Hung => return Ok(Outcome::Timeout(test.name.clone())),
        }
    }
    Ok(Outcome::Missed(reaching.len()))
}

/// Runs one test.
fn run(program: &Program, test: &Test, variable: (&str, &str), limit: Duration, folder: &Path) -> Result<End> {
    let mut command = Command::new("sh");
    command.args(["-c", SHELL]).arg(&program.file).args(["--exact", &test.own]);
    command.current_dir(&program.directory).env("CARGO_MANIFEST_DIR", &program.directory);
    command.env("TMPDIR", folder).env("NEXTEST", "1").env(variable.0, variable.1);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().context("a shell for a test")?;
    let end = wait(&mut child, limit)?;
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        fs::remove_dir_all(folder)?;
        fs::create_dir_all(folder)?;
    }
    Ok(end)
}

/// Waits until a test has ended, or ends it.
fn wait(child: &mut Child, limit: Duration) -> Result<End> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    while child.try_wait()?.is_none() {
        if started.elapsed() > limit {
            // Nobody has waited for the shell, so that its group is still its own.
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status()?;
            child.wait()?;
            return Ok(End::Hung);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    let mut status = String::new();
    child.stdout.take().context("the shell's output")?.read_to_string(&mut status)?;
    Ok(if status.trim() == "0" { End::Passed } else { End::Failed })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Three tests: one passes unless the rules 0 or 1 are broken, one reaches nothing, one fails as it is.
    const PROGRAM: &str = r#"#!/bin/sh
case "$1 $2" in
    "--list "*) printf 'm::reaches: test\nm::idle: test\nm::fails: test\nm: benchmark\n'; exit ;;
    *m::fails) exit 101 ;;
    *m::idle) exit 0 ;;
esac
[ -z "$HOSTCALL_MUTANTS_REACHED" ] || printf '\001\001\001\000' > "$HOSTCALL_MUTANTS_REACHED"
case "$HOSTCALL_MUTANT" in
    0) exit 101 ;;
    1) sleep 1000 & wait ;;
esac
"#;

    #[test]
    fn a_broken_rule_is_tried_by_the_tests_that_reach_it_until_one_fails_or_hangs() {
        let folder = Folder::new(1000).unwrap();
        let file = folder.0.with_extension("sh");
        fs::write(&file, PROGRAM).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let programs = [Program { name: "crate::program".to_owned(), file: file.clone(), directory: std::env::temp_dir() }];
        let tests = record(&programs, 4, 2).unwrap();
        let reached = |name: &str| tests.iter().find(|test| test.name == name).map(|test| test.reached.len());
        assert_eq!((tests.len(), reached("crate::program m::reaches"), reached("crate::program m::idle")), (2, Some(3), Some(0)));
        let outcomes = Mutex::new(Vec::new());
        spread(2, (0..4).collect(), |number, folder| {
            let outcome = attempt(&programs, &tests, number, None, folder)?;
            outcomes.lock().unwrap().push((number, outcome));
            Ok(())
        })
        .unwrap();
        let mut outcomes = outcomes.into_inner().unwrap();
        outcomes.sort_by_key(|(number, _)| *number);
        let name = || "crate::program m::reaches".to_owned();
        let expected = [Outcome::Caught(name()), Outcome::Timeout(name()), Outcome::Missed(1), Outcome::Missed(0)];
        assert_eq!(outcomes, (0..).zip(expected).collect::<Vec<_>>());
        fs::remove_file(file).unwrap();
    }
}
