//! What a long link is at, for whoever waits for it.
//!
//! Cargo keeps what its compilers and linkers write until they end. So the program that runs cargo says where its own
//! standard error is ([`PROGRESS_VARIABLE`]), and a link that takes longer than [`PATIENCE`] says there, now and then,
//! which of its steps it is at. Of a step all that is known is the tool that runs, which is what
//! [`Run`](crate::command::Run) reports.

use std::env;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Names a terminal or pipe to which the linker writes what it is at.
pub const PROGRESS_VARIABLE: &str = "HOSTCALL_PROGRESS";

/// How long a link takes that nobody is told of.
const PATIENCE: Duration = Duration::from_secs(3);

/// The tool that runs.
static STEP: Mutex<&'static str> = Mutex::new("reading");

fn step() -> MutexGuard<'static, &'static str> {
    STEP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A tool begins to run.
pub(crate) fn runs(tool: &str) {
    *step() = match tool {
        "llvm-link" => "joining crates",
        "opt" => "optimising",
        "llc" => "generating code",
        "ptxas" => "assembling",
        "nvlink" => "joining machine code",
        "llvm-dis" | "llvm-nm" => "reading",
        _ => "linking",
    };
}

/// How many parts of a program are done, and how many there are, where it is made in parts.
static PARTS: Mutex<Option<(usize, usize)>> = Mutex::new(None);

/// Counts the parts that are done; forgotten when it is dropped.
pub(crate) struct Parts(());

impl Parts {
    pub(crate) fn of(count: usize) -> Parts {
        *parts() = Some((0, count));
        Parts(())
    }

    pub(crate) fn one(&self) {
        if let Some((done, _)) = &mut *parts() {
            *done += 1;
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        *parts() = None;
    }
}

fn parts() -> MutexGuard<'static, Option<(usize, usize)>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Speaks of a link until it is dropped.
pub(crate) struct Progress {
    over: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Of the link of `what`, if somebody wants to know.
    pub(crate) fn of(what: String) -> Option<Progress> {
        let to = PathBuf::from(env::var_os(PROGRESS_VARIABLE)?);
        // Two writers of a regular file write over each other.
        let kind = to.metadata().ok()?.file_type();
        if !(kind.is_char_device() || kind.is_fifo()) {
            return None;
        }
        let to = File::options().write(true).open(to).ok()?;
        Some(Progress::every(PATIENCE, what, to))
    }

    fn every(patience: Duration, what: String, mut to: impl Write + Send + 'static) -> Progress {
        let (over, ended) = mpsc::channel();
        let began = Instant::now();
        let thread = std::thread::spawn(move || {
            let mut wait = patience;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let mut now = step().to_owned();
                if let Some((done, all)) = *parts() {
                    now = format!("{now}, {done} of {all} parts done");
                }
                // As cargo's own lines; whoever does not read them any more misses nothing else.
                let _ = writeln!(to, "     Linking {what}: {now} ({} s)", began.elapsed().as_secs());
                wait = 3 * patience;
            }
        });
        Progress { over: Some(over), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // It writes, and panics nowhere.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    #[test]
    fn a_link_that_takes_long_says_which_tool_runs_until_it_ends() {
        let (from, to) = std::io::pipe().expect("a pipe");
        let progress = Progress::every(Duration::from_millis(1), "hello for there".into(), to);
        let mut lines = BufReader::new(from).lines().map(|line| line.expect("text"));
        for (tool, said) in [("llvm-link", "joining crates"), ("opt", "optimising"), ("llc", "generating code"), ("ld.lld", "linking")] {
            runs(tool);
            let line = lines.find(|line| line.contains(said)).expect("it is said by and by");
            assert!(line.starts_with("     Linking hello for there: "), "{line}");
        }
        drop(progress);
        // It has closed its end: there is an end.
        lines.for_each(drop);
    }
}
